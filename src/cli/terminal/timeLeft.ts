/** What a progress bar says of the time that is left: the package gives words instead of a number while it cannot tell. */
export function timeLeft(seconds: number | string): string {
  const s = Number(seconds);
  if (!(s >= 0 && s < 360_000)) return 'time left not known yet';
  const [h, m] = [Math.floor(s / 3_600), Math.floor((s % 3_600) / 60)];
  if (h > 0) return `${h} h ${m} min left`;
  return m > 0 ? `${m} min ${Math.floor(s % 60)} s left` : `${Math.ceil(s)} s left`;
}

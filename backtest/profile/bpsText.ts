/** Formats bps with one decimal; from 100 on without decimals, below 0.1 with two decimals. */
export function bpsText(x: number | null): string {
  if (x === null) return '–';
  const size = Math.abs(x);
  return x.toFixed(size >= 99.95 ? 0 : size < 0.095 ? 2 : 1).replace(/^-(0(?:\.0+)?)$/, '$1');
}

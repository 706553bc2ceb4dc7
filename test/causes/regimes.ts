/** Changes of regime in a log as they would be on a quiet machine: pauses that its load alone makes are looked through. */

/** What a busy machine brings about by itself, between any two causes. */
const OF_LOAD = ['book stale', 'private data stale'];
const CHANGE = /"regime: ([\w ]+) \((.*)\), was ([\w ]+)"/;

type Change = { readonly at: number; readonly to: string; readonly why: string; readonly was: string };

/**
 * The changes that begin after `since`, a line each. A bot says `quoting` when such a pause is over, and then what it is, or nothing where that is
 * normal: what was before the pause stands in the place of `paused`, and a change to the same is none.
 */
export function regimeLines(log: string, since: number): string {
  const changes: Change[] = [];
  let regime = 'normal';
  let isPausedByLoad = false;
  let over: number | null = null;
  let at = 0;
  const becomes = (change: Change) => {
    if (change.to !== change.was) changes.push(change);
    regime = change.to;
  };
  for (const line of log.split('\n')) {
    const [, to, why, was] = CHANGE.exec(line) ?? [];
    if (to !== undefined) {
      const isOut = was === 'paused' && isPausedByLoad;
      if (over !== null && !isOut) becomes({ at: over, to: 'normal', why: 'no restriction applies', was: regime });
      becomes({ at, to, why: why!, was: isOut ? regime : was! });
      isPausedByLoad = false;
      over = null;
    } else if (over !== null && line !== '') {
      // The next line says nothing of a regime: it is normal.
      becomes({ at: over, to: 'normal', why: 'no restriction applies', was: regime });
      isPausedByLoad = false;
      over = null;
    }
    const pause = /"not quoting: ([\w ]+)/.exec(line)?.[1]?.trim();
    if (pause !== undefined) isPausedByLoad = OF_LOAD.includes(pause);
    if (isPausedByLoad && line.includes('"msg":"quoting"')) over = at;
    at += line.length + 1;
  }
  return changes
    .filter(change => change.at >= since)
    .map(({ to, why, was }) => `regime: ${to} (${why}), was ${was}`)
    .join('\n');
}

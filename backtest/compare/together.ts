/** All recordings of a comparison together: what a bot brought at a tier, with an interval, and in units of the risk that it was given. */
import { intervalOf, intervalTogether } from '../report/interval.ts';
import type { Interval } from '../report/interval.ts';
import { mainModel } from './comparison.ts';
import type { ComparedModel, ComparedTape, Comparison } from './comparison.ts';

/** Sums over recordings, minor currencies taken as one: the same sum was risked on each. */
export type Together = {
  /** Scored runs, how many of them had a fill, and how many were not to be quoted: those count as 0. */
  readonly runs: number;
  readonly filled: number;
  readonly declined: number;
  readonly net: number;
  readonly netInterval: Interval;
  /** Of fills marked after 60 s. */
  readonly after60: number;
  readonly after60Interval: Interval;
  /** Mean of net over what one standard deviation would have cost at full inventory in the traded time; null where no risk was given. */
  readonly inRisk: number | null;
};

/**
 * Null where none of its runs was scored. `anyway`: what was not to be quoted counts as what it brought where it was run all the same. Recordings of the same hours are added up stretch by stretch, as their markets are one; others count as independent.
 */
export function togetherOf(
  { tapes, riskPerHour }: Comparison,
  bot: string,
  tier: string,
  anyway = false,
): Together | null {
  const runs = tapes.flatMap(({ runs: of }) => of.filter(run => run.name === bot && run.tier === tier));
  const declined = anyway ? 0 : runs.filter(run => run.declined !== null && run.unscored === null).length;
  const scored = tapes.flatMap(tape => {
    const run = tape.runs.find(({ name, tier: of }) => name === bot && of === tier);
    const main = mainModel(run?.models ?? []);
    if (main === null || run?.unscored || (!anyway && run?.declined)) return [];
    return [{ tape, main }];
  });
  if (scored.length + declined === 0) return null;
  const sum = (of: (main: ComparedModel) => number): number => scored.reduce((total, { main }) => total + of(main), 0);
  const around = (total: (main: ComparedModel) => number, parts: (main: ComparedModel) => readonly number[]) =>
    intervalTogether(
      sameHours(scored.map(({ tape }) => tape)).map(group => {
        const mains = group.map(i => scored[i]!.main);
        return {
          value: mains.reduce((all, main) => all + total(main), 0),
          // Also of few stretches: better a wide part of the sum than none.
          interval: intervalOf(
            parts(mains[0]!).map((_, at) => mains.reduce((all, main) => all + parts(main)[at]!, 0)),
            2,
          ),
        };
      }),
    );
  const net = (main: ComparedModel): number => Number(main.pnl.total);
  const after60 = (main: ComparedModel): number => main.net60s?.total ?? 0;
  const inRisk = scored.map(({ tape, main }) => net(main) / (Number(riskPerHour) * Math.sqrt(tape.seconds / 3600)));
  return {
    runs: scored.length + declined,
    declined,
    filled: scored.filter(({ main }) => main.fills > 0).length,
    ...{ net: sum(net), netInterval: around(net, ({ stretches }) => stretches.net) },
    ...{ after60: sum(after60), after60Interval: around(after60, ({ stretches }) => stretches.after60) },
    inRisk: riskPerHour === null ? null : inRisk.reduce((total, x) => total + x, 0) / (scored.length + declined),
  };
}

/** Begun within this, and as long within it. */
const ALIKE_MS = 60_000;

/** Places of tapes that tell the same hours, together. */
function sameHours(tapes: readonly ComparedTape[]): readonly (readonly number[])[] {
  const groups: number[][] = [];
  for (const [i, { from, to }] of tapes.entries()) {
    const isAlike = (a: string, b: string): boolean => Math.abs(Date.parse(a) - Date.parse(b)) <= ALIKE_MS;
    const group = groups.find(([first]) => isAlike(tapes[first!]!.from, from) && isAlike(tapes[first!]!.to, to));
    if (group === undefined) groups.push([i]);
    else group.push(i);
  }
  return groups;
}

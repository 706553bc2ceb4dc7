/**
 * Combined results of all recordings of a comparison: net of a bot at a tier, with an interval, and in units of its
 * risk.
 */
import { intervalOf, intervalTogether, type Interval } from '../report/interval.ts';
import { mainModel, type ComparedModel, type ComparedTape, type Comparison } from './comparison.ts';

/**
 * Sums over recordings. Amounts in different quote currencies are added one to one, because every recording has the
 * same number as its risk.
 */
export type Together = {
  /** Number of scored runs. */
  readonly runs: number;
  /** Number of runs with a fill. */
  readonly filled: number;
  /** Number of runs advised against, whose net counts as 0. */
  readonly declined: number;
  readonly net: number;
  readonly netInterval: Interval;
  /** Net of fills valued after 60 s. */
  readonly after60: number;
  readonly after60Interval: Interval;
  /**
   * Mean of net divided by the cost of one standard deviation at full inventory over the traded time; `null` if no risk
   * was given.
   */
  readonly inRisk: number | null;
};

/**
 * Combines runs; `null` if none was scored. `anyway`: runs advised against count with their results if they ran.
 * Recordings of the same hours are added block by block, as one market; others count as independent.
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
          // Few blocks are enough here: a wide interval is better than none.
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

/** Maximum difference of starts and of ends for recordings to count as equal hours. */
const ALIKE_MS = 60_000;

/** Groups the indices of tapes of equal hours. */
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

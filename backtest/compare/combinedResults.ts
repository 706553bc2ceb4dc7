/**
 * Combined results of all recordings of a comparison: net of a bot at a tier, with an interval, and relative to its
 * risk.
 */
import { intervalOf, intervalTogether, type Interval } from '../report/interval.ts';
import { mainModel, type ComparedModel, type ComparedTape, type Comparison } from './comparison.ts';

/**
 * Sums over recordings. Amounts in different quote currencies are added one to one, because the risk is the same number
 * in each currency.
 */
export type Together = {
  /** Number of scored runs. */
  readonly runs: number;
  /** Number of runs with a fill. */
  readonly filled: number;
  /** Number of runs whose recording advised against quoting; their net counts as 0. */
  readonly declined: number;
  readonly net: number;
  readonly netInterval: Interval;
  /** Net, with fills valued 60 s after they occur. */
  readonly after60: number;
  readonly after60Interval: Interval;
  /**
   * Mean over runs of the net divided by the risk. The risk is the loss at full inventory if the price moves one
   * standard deviation over the traded time. `null` if no risk was given.
   */
  readonly inRisk: number | null;
};

/**
 * Combines the runs of a bot at a fee tier; `null` if no run was scored. With `anyway`, runs count with their results
 * even if the first part of the recording advised against quoting. Recordings of the same hours are added block by
 * block, like one market; other recordings count as independent.
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
          // Two blocks are enough here, because a wide interval is better than no interval.
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

/** Maximum difference in ms, of starts and of ends, between recordings that count as having equal hours. */
const ALIKE_MS = 60_000;

/** Groups the indices of the tapes that have equal hours. */
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

/** Terminal output of a backtest and of a comparison. */
import { counted } from '../../../src/core/index.ts';
import { gainText, numberText } from '../../../src/pages/index.ts';
import {
  hedgeTapeText,
  longest,
  longestText,
  mainModel,
  mainOf,
  shownModels,
  tilesTextOf,
  type BacktestReport,
  type ComparedRun,
  type Comparison,
} from '../../index.ts';

/** Maximum number of days in the output, one line per day. For a longer run, no day is listed. */
const DAYS_SHOWN = 31;

/**
 * Describes each fill model in one line; models with equal results share a line. The main run follows: its figures, the
 * reasons for missing quotes, and the results by day. The last lines show the results at other latencies.
 */
export function describeBacktest(report: BacktestReport): string {
  const { book, tape, models, reference, hedge, noReference, noRoutes = [], minor, latencySweep = [], fitted } = report;
  const main = mainOf(models);
  return [
    `${book} on ${tape.source}`,
    ...(reference ?? []).map(other => `  reference ${other.book} on ${other.source}`),
    ...(hedge === undefined ? [] : [`  hedges on ${hedgeTapeText(hedge)}`]),
    ...(noReference === undefined ? [] : [`  ${noReference}`]),
    ...noRoutes.map(line => `  ${line}`),
    ...(fitted === undefined || fitted.fallback === null ? [] : [`  fitted works like expected: ${fitted.fallback}`]),
    ...shownModels(models).map(({ label, fills, pnl, hedges, haltedBecause, strategyFault }) => {
      const gain = (text: string): string => gainText(text, minor);
      const hedging =
        hedges === null
          ? ''
          : `, hedging ${gain(pnl.hedging)} (${counted(hedges.completed, hedges.elsewhere ? 'hedge' : 'conversion')})`;
      const parts = `spread ${gain(pnl.spread)}, inventory ${gain(pnl.inventory)}, fees ${gain(pnl.fees)}${hedging}`;
      const halted = haltedBecause === null ? '' : `; halted: ${haltedBecause}`;
      const fault = strategyFault === undefined ? '' : `; did not quote as it should: ${strategyFault}`;
      return `  ${label.padEnd(12)} ${gain(pnl.total)} ${minor} with ${counted(numberText(fills), 'fill')}: ${parts}${halted}${fault}`;
    }),
    ...(main === null ? [] : mainLines(report, main)),
    ...latencySweep.map(
      ({ latencyMs, pnl, net60s, fills }) =>
        `  latency ${latencyMs} ms: net ${gainText(pnl.total, minor)} ${minor}${net60s === null ? '' : `, or ${gainText(net60s.total, minor)} ${minor} with each fill valued at the mid price 60 s later`}; ${counted(numberText(fills), 'fill')}`,
    ),
  ].join('\n');
}

function mainLines(report: BacktestReport, main: BacktestReport['models'][number]): readonly string[] {
  const { minor } = report;
  const tiles = tilesTextOf(report, main).map(
    ({ name, value, notes }) => `  ${name}: ${value}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}`,
  );
  const silent = (['bid', 'ask'] as const).flatMap(side => {
    const most = main.uptime[side] < 0.9 ? longest(main.missing, side) : null;
    return most === null ? [] : [`  no ${side}; main reason: ${longestText(most)}`];
  });
  const days = main.days.length < 2 || main.days.length > DAYS_SHOWN ? [] : main.days;
  return [
    ...tiles,
    ...silent,
    ...days.map(
      ({ from, pnl, fills }) =>
        `  ${from.slice(0, 10)}: ${gainText(pnl.total, minor)} ${minor}, ${counted(numberText(fills), 'fill')}`,
    ),
  ];
}

/** Describes a comparison with one line per recording, bot and tier. */
export function describeComparison({ tapes, leftOut, hedge }: Comparison): string {
  const lines = tapes.flatMap(({ name, minor, runs }) => [
    name,
    ...runs.map(run => `  ${run.name.padEnd(20)} ${run.tier.padEnd(6)} ${outcomeOf(run, minor)}`),
  ]);
  const hedging = hedge === undefined ? [] : [`hedges on ${hedgeTapeText(hedge)}`];
  return [...lines, ...hedging, ...leftOut.map(({ path, why }) => `left out: ${path}: ${why}`)].join('\n');
}

function outcomeOf(
  { notRun, declined, unscored, models, staggered, feeBps, remarks }: ComparedRun,
  minor: string,
): string {
  const main = mainModel(models);
  if (main === null) return `not run: ${notRun ?? ''}`;
  if (unscored !== null) return `not scored: ${unscored}`;
  const gain = (sum: string | number): string => gainText(sum, minor);
  const totals = shownModels(models).map(({ label, pnl }) => `${label} ${gain(pnl.total)}`);
  const { netInterval: around, net60s, fills } = main;
  const nets = staggered.map(({ net }) => Number(net));
  return [
    ...(declined === null ? [] : [`${declined}; the bot ran because of --anyway`]),
    `net: ${totals.join(', ')} ${minor}${around === null ? '' : ` (95%: ${gain(around.low)} to ${gain(around.high)})`}`,
    ...(net60s === null
      ? []
      : [`net of ${gain(net60s.total)} ${minor} with each fill valued at the mid price 60 s later`]),
    ...(nets.length === 0
      ? []
      : [
          `net of ${gain(Math.min(...nets))} to ${gain(Math.max(...nets))} ${minor} when the run is repeated with later start times`,
        ]),
    `${counted(fills, 'fill')} at a maker fee of ${feeBps} bps`,
    ...remarks,
  ].join('; ');
}

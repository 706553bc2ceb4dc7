/**
 * Summary of a backtest in a few sentences: whether it earned money, under which fill models, the reasons and the
 * caveats.
 */
import { counted } from '../../src/core/index.ts';
import { gapMs, isClosed, wideHoursText } from '../../src/tape/index.ts';
import { durationText, minuteText, sumText } from '../../src/pages/index.ts';
import { AFTER_SECONDS } from '../collect/collect.ts';
import { excludesZero } from './interval.ts';
import { mainOf } from './mainModel.ts';
import type { BacktestReport, ReplayReport } from './report.ts';

const FEW_FILLS = 30;
/** Minimum share of a result that counts as "most of the result" in the text. */
const MOSTLY = 0.6;

/** Returns the summary as paragraphs of plain text; the first is the verdict. */
export function verdictOf(report: BacktestReport): readonly string[] {
  const main = mainOf(report.models);
  if (main === null) return ['No fill model was run.'];
  const crossed = crossedText(main);
  const silent = isSilent(main) ? missingQuotesText(main) : [];
  if (isCrossed(main)) return [[...crossed, ...silent].join(' '), cautions(report, main).join(' ')];
  return [
    [...firstCaveats(report), ...crossed, result(report, main), ...judgement(report, main), ...silent].join(' '),
    ...(main.fills > 0 ? [[groundsText(report, main), afterFills(main)].filter(Boolean).join(' ')] : []),
    [...cautions(report, main), "These numbers do not include reactions of other traders to the bot's orders."].join(
      ' ',
    ),
  ];
}

/**
 * Share of time with a crossed recorded book above which the verdict starts with a warning.
 * Above `CROSSED_MAX`, the profit is not scored.
 */
const CROSSED_SHARE = 0.01;
const CROSSED_MAX = 0.2;

const crossedShare = ({ recorded, seconds }: Pick<ReplayReport, 'recorded' | 'seconds'>): number =>
  recorded.crossedSeconds / seconds;

/** Whether the recorded book was crossed for too long to score the profit. */
export const isCrossed = (main: Pick<ReplayReport, 'recorded' | 'seconds'>): boolean =>
  crossedShare(main) > CROSSED_MAX;

/** Returns a sentence about a recorded book that was crossed for long; empty if the book was not crossed for long. */
export function crossedText(main: Pick<ReplayReport, 'recorded' | 'seconds'>): string[] {
  const share = crossedShare(main);
  if (!(share > CROSSED_SHARE)) return [];
  const found = `The recorded book was crossed, its best bid above its best ask, for ${(share * 100).toFixed(share < 0.1 ? 1 : 0)}% of the time`;
  if (share > CROSSED_MAX) return [`${found}: on such a recording the profit cannot be judged.`];
  return [`${found}: the following numbers include times when the book could not be traded.`];
}

/** Returns the caveats that precede all numbers. */
function firstCaveats({ models, noReference }: BacktestReport): string[] {
  return [
    ...(noReference === undefined ? [] : [`${noReference.charAt(0).toUpperCase()}${noReference.slice(1)}.`]),
    ...models
      .filter(({ haltedBecause }) => haltedBecause !== null)
      .map(({ model, haltedBecause }) => `The ${model} run halted before the end: ${haltedBecause}.`),
    ...models.flatMap(({ model, strategyFault }) =>
      strategyFault === undefined
        ? []
        : [`The strategy of the ${model} run did not quote as it should: ${strategyFault}.`],
    ),
  ];
}

function result(report: BacktestReport, main: ReplayReport): string {
  const others = report.models.filter(other => other !== main);
  const started = `In ${durationText(main.seconds)} of ${report.book}, from ${minuteText(main.from)} to ${minuteText(main.to)} UTC, the strategy ${report.strategy}`;
  const outcome = (model: ReplayReport): string => {
    if (model.fills === 0) return 'traded nothing';
    const sum = moneyText(model.pnl.total, report.minor);
    const fills = counted(model.fills.toLocaleString('en-US'), 'fill');
    const total = Number(model.pnl.total);
    if (total === 0) return `broke even with ${fills}`;
    // The words "made" and "lost" are only for results that are significantly different from zero.
    if (excludesZero(model.netInterval)) return `${total > 0 ? 'made' : 'lost'} ${sum} with ${fills}`;
    return `ended ${sum} ${total > 0 ? 'above' : 'below'} zero, with ${fills}`;
  };
  if (report.models.length > 1 && report.models.every(({ fills }) => fills === 0))
    return `${started} traded nothing under any model.`;
  const beside = others.map(
    model =>
      `under ${modelText(model)} the strategy ${haveSameFills(model, main) ? 'had identical fills' : outcome(model)}`,
  );
  return `${started} ${outcome(main)} under ${modelText(main)}${beside.length > 0 ? `; ${beside.join(', and ')}` : ''}.`;
}

const modelText = ({ model }: ReplayReport): string =>
  model === 'optimistic'
    ? "the optimistic model (every execution that reaches an order's price fills the complete order)"
    : `the ${model} model`;
const haveSameFills = (a: ReplayReport, b: ReplayReport): boolean => a.fills > 0 && a.hash === b.hash;

function judgement({ models, minor }: BacktestReport, main: ReplayReport): string[] {
  if (models.every(({ fills }) => fills === 0)) return ['The profit cannot be judged.'];
  return [...underModels(models, main), ...chanceText(main, minor)];
}

function underModels(models: readonly ReplayReport[], main: ReplayReport): string[] {
  const honest = models.filter(({ model }) => model !== 'optimistic');
  const gains = (list: readonly ReplayReport[]): number => list.filter(({ pnl }) => Number(pnl.total) > 0).length;
  if (honest.length === 0)
    return ['The optimistic model overstates fills; also run the pessimistic or the expected model.'];
  if (models.length < 2) return [];
  if (gains(models) === 0) return ['The strategy made no money under any fill model.'];
  if (gains(honest) === 0)
    return ['The strategy ended above zero only under the optimistic model, which fills more than any real market.'];
  if (gains(honest) < honest.length)
    return ['The queue position of the orders decides whether the strategy ends above zero.'];
  const optimistic = models.find(({ model }) => model === 'optimistic');
  if (optimistic !== undefined && Number(optimistic.pnl.total) < Number(main.pnl.total))
    return ['The net was lower under the optimistic model, so this model is not an upper bound of the profit.'];
  return honest.every(({ netInterval }) => netInterval !== null && netInterval.low > 0)
    ? ['The strategy made money under every model.']
    : ['The strategy ended above zero under every model.'];
}

/** Returns a sentence about whether the profit could be chance. */
function chanceText({ netInterval, stretches }: ReplayReport, minor: string): string[] {
  if (netInterval === null) return [];
  const { low, high } = netInterval;
  const range = `${sumText(low, minor)} to ${sumText(high, minor)} ${minor}`;
  return low < 0 && high > 0
    ? [
        `By an estimate from ${counted(stretches.net.length, 'equal part')} of this run, the net of another run of this length would be ${range} (95% interval). This interval includes zero, so the result may be chance.`,
      ]
    : [
        `By an estimate from ${counted(stretches.net.length, 'equal part')} of this run, the net of another run of this length would be ${range} (95% interval).`,
      ];
}

function groundsText({ minor }: BacktestReport, main: ReplayReport): string {
  const { model, pnl, hedges } = main;
  const [spread, inventory, fees] = [Number(pnl.spread), Number(pnl.inventory), Number(pnl.fees)];
  const parts = [
    `the fills ${spread >= 0 ? 'captured' : 'lost'} ${moneyText(pnl.spread, minor)} against the mid price`,
    `the inventory ${inventory >= 0 ? 'gained' : 'lost'} ${moneyText(pnl.inventory, minor)} as the market moved`,
    fees > 0 ? `rebates earned ${moneyText(pnl.fees, minor)}` : `fees cost ${moneyText(pnl.fees, minor)}`,
  ];
  return `In the ${model} run, ${parts.join(', ')}; ${hedgesText(hedges, minor)}.${inventoryText(main)}`;
}

function hedgesText(hedges: ReplayReport['hedges'], minor: string): string {
  if (hedges === null) return 'nothing was hedged';
  const { completed, cost, costBps } = hedges;
  if (completed === 0) return 'no hedge was executed';
  const paid = Number(cost) >= 0 ? 'cost' : 'brought';
  const each = costBps === null ? '' : `, ${bpsText(Math.abs(costBps))} bps of the hedged value`;
  return `${counted(completed, 'hedge')} ${paid} ${moneyText(cost, minor)}${each}`;
}

/**
 * If most of the result comes from inventory, returns a sentence about its source: price moves soon after the fills, or
 * later market moves.
 */
function inventoryText({ pnl, markouts, volume }: ReplayReport): string {
  const inventory = Number(pnl.inventory);
  const quoting = Math.abs(Number(pnl.spread) + Number(pnl.fees));
  if (!(Math.abs(inventory) > MOSTLY * (quoting + Math.abs(inventory)))) return '';
  const all = markouts.find(({ side }) => side === null);
  const [edge, later] = [all?.bps[0] ?? null, all?.bps[all.seconds.indexOf(AFTER_SECONDS)] ?? null];
  const soon = edge === null || later === null ? 0 : ((later - edge) / 10_000) * Number(volume.minor);
  if (inventory < 0 && soon < MOSTLY * inventory)
    return ' Most of the inventory loss came within a minute of the fills, because takers predicted the market better than the bot.';
  return ' Most of the result comes from price moves of the inventory, so the result depends more on the direction of this market than on the quotes.';
}

function afterFills({ markouts, feesBps }: ReplayReport): string {
  const all = markouts.find(({ side }) => side === null);
  const at = all?.seconds.indexOf(AFTER_SECONDS) ?? -1;
  const mean = all?.bps[at] ?? null;
  const error = all?.errorBps[at] ?? null;
  if (mean === null || feesBps === null) return '';
  const spread = error === null ? '' : ` (standard error ${bpsText(error)})`;
  const net = mean - feesBps;
  const certain = error !== null && Math.abs(net) > 2 * error;
  return `A minute after a fill, the mid price was on average ${bpsText(Math.abs(mean))} bps ${mean >= 0 ? 'in favor of the fill' : 'against the fill'}${spread}, and the fee was ${bpsText(feesBps)} bps. After the fee, a fill ${net >= 0 ? 'gained' : 'lost'} ${bpsText(Math.abs(net))} bps${certain ? '' : ', which is less than two standard errors'}.`;
}

/**
 * Whether the bot quoted both sides for less than half the time. Its few trades then say little about the strategy, and
 * the verdict mentions the reason.
 */
const isSilent = ({ uptime }: ReplayReport): boolean => uptime.both < 0.5;

/** Minimum share of time with quotes. Below this share, the verdict mentions the reason for missing quotes. */
const QUOTED_MIN = 0.9;

function cautions(report: BacktestReport, main: ReplayReport): string[] {
  const { models, tape, noRoutes = [], latencyMs, cancelLatencyMs, fillLatencyMs, warmUpFrom } = report;
  // Routes without recordings are already listed with the flaws of the recording, so they are not repeated.
  const listed: readonly string[] = tape.dirt.map(({ done }) => done);
  const unsimulated = noRoutes.filter(line => !listed.includes(line));
  const gapSeconds = gapMs(tape.gaps.filter(gap => !isClosed(gap))) / 1000;
  const closed = tape.gaps.filter(isClosed);
  const pessimistic = models.find(({ model }) => model === 'pessimistic');
  const same = pessimistic !== undefined && main.model === 'expected' && haveSameFills(pessimistic, main);
  return [
    ...(main.fills > 0 && main.fills < FEW_FILLS
      ? [`${main.fills === 1 ? 'One fill is' : counted(main.fills, 'fill is', 'fills are')} too few for a conclusion.`]
      : []),
    ...(isSilent(main) ? [] : missingQuotesText(main)),
    ...(same
      ? [
          "The pessimistic and the expected model have identical fills, because no recorded order was ahead of the bot's filled orders.",
        ]
      : []),
    ...(main.recorded.ghosts > 0
      ? [
          `${counted(main.recorded.ghosts, 'recorded level was', 'recorded levels were')} removed, because they remained in the book after trades beyond their price.`,
        ]
      : []),
    ...(main.wideHours === undefined ? [] : [wideHoursText(main.wideHours)]),
    ...unsimulated.map(line => `Not simulated: ${line}.`),
    ...(closed.length > 0
      ? [
          `The market was closed for ${durationText(gapMs(closed) / 1000)}, ${closed[0]!.why}; this time is excluded from the results.`,
        ]
      : []),
    ...(gapSeconds > 0 ? [`The recording has gaps of ${durationText(gapSeconds)}.`] : []),
    ...(warmUpFrom === undefined ? [] : [warmUpText(warmUpFrom, main)]),
    Number(latencyMs) >= 0
      ? `Requests took ${latencyMs} ms each way.`
      : `Requests had the latency distribution ${latencyMs}.`,
    ...(cancelLatencyMs === undefined ? [] : [`Cancels took ${latencyText(cancelLatencyMs)}.`]),
    ...(fillLatencyMs === undefined
      ? []
      : [`The bot received notices of its fills after ${latencyText(fillLatencyMs)}.`]),
  ];
}

/** Describes the time before trading, in which rows only built the book. */
export const warmUpText = (warmUpFrom: string, { from }: Pick<ReplayReport, 'from'>): string =>
  `Trading started at ${minuteText(from)}. The ${durationText((Date.parse(from) - Date.parse(warmUpFrom)) / 1000)} of the recording before the start of trading were used only to build the book and to read a history of trades. The strategy started its estimates when trading started.`;
const latencyText = (spec: string): string => (Number(spec) >= 0 ? `${spec} ms` : spec);

/** Describes the main reason for missing quotes of each side. */
function missingQuotesText({ uptime, missing }: ReplayReport): string[] {
  if (Math.min(uptime.bid, uptime.ask) >= QUOTED_MIN) return [];
  const whole = (share: number): string => `${(share * 100).toFixed(0)}%`;
  const [bid, ask] = (['bid', 'ask'] as const).map(side => (uptime[side] < QUOTED_MIN ? longest(missing, side) : null));
  const why =
    bid && ask && bid.reason === ask.reason
      ? ` Main reason for missing quotes: ${longestText(bid)}.`
      : `${bid ? ` Main reason for the missing bid: ${longestText(bid)}.` : ''}${ask ? ` Main reason for the missing ask: ${longestText(ask)}.` : ''}`;
  return [`The bot had a resting bid for ${whole(uptime.bid)} of the time and an ask for ${whole(uptime.ask)}.${why}`];
}

type Longest = { readonly reason: string; readonly seconds: number; readonly of: number };

/**
 * Returns the reason that explains the longest time without an order on `side`, and the total time without an order;
 * `null` if there was always an order. Times are in seconds.
 */
export function longest(missing: ReplayReport['missing'], side: 'bid' | 'ask'): Longest | null {
  const secondsOf = (one: ReplayReport['missing'][number]): number => one[`${side}Seconds`];
  const of = missing.reduce((sum, one) => sum + secondsOf(one), 0);
  const [first] = [...missing].sort((a, b) => secondsOf(b) - secondsOf(a));
  return first === undefined || of === 0 ? null : { reason: first.reason, seconds: secondsOf(first), of };
}

/** Describes a reason with its time, of the total time without an order on the side. */
export const longestText = ({ reason, seconds, of }: Longest): string =>
  `${reason} (${durationText(seconds)} of ${durationText(of)})`;

/** Formats money without its sign, with the decimals of the currency. */
const moneyText = (text: string, currency: string): string =>
  `${sumText(text.replace(/^-/, ''), currency)} ${currency}`;

const bpsText = (bps: number): string => bps.toLocaleString('en-US', { maximumFractionDigits: 2 });

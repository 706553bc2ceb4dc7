/**
 * `puntas surveillance`: measures of market abuse in the bot's own order flow by UTC day, from its recordings. A
 * warning is not a verdict: it only shows which days a supervisor needs to review.
 */
import { DAY_MS, counted, money, moneyOf, textOfMoney, type Instrument, type Millis } from '../../core/index.ts';
import { dayStart, timeText } from '../../messages/timeText.ts';
import { UsageError } from '../../wiring/usageError.ts';
import {
  FlowCollector,
  layeringIn,
  momentumIn,
  stuffingIn,
  washIn,
  type FlowWindows,
  type LayeringCount,
  type MomentumCount,
  type OwnFlow,
  type StuffingCount,
  type WashCount,
} from './ownFlow.ts';
import { replayRuns, type RecordedDays, type RecordingEvidence } from './recordedRuns.ts';

/** Minimum values at which a measure causes a warning. Warnings never stop the bot. */
export const WARN_FROM = {
  /** Number of placed and canceled orders per execution, minus one. */
  orderToTrade: 500,
  /** Requests in one second. */
  peakPerSecond: 30,
  /** Percentage of short-lived orders among the orders canceled unfilled. */
  shortLivedPercent: 50,
  /** Percentage of fills after which orders at several prices of the other side were canceled unfilled. */
  layeredPercent: 50,
  /** Number of trades of the account with itself. */
  selfTrades: 1,
  /** Number of executions that reverse the bot's aggressive trades at a gain. */
  reversals: 1,
} as const;

/**
 * Minimum number of fills or orders for a warning about their percentage. A percentage of fewer fills or orders proves
 * nothing.
 */
const COUNT_MIN = 20;

export type SurveillanceDay = {
  /** Start of the day, UTC. */
  readonly from: Millis;
  readonly layering: LayeringCount;
  readonly stuffing: StuffingCount;
  /** Executed amount of the bot's orders, in base currency with 18 decimals. */
  readonly executed: bigint;
  readonly wash: WashCount;
  readonly momentum: MomentumCount;
  readonly warnings: readonly string[];
};

export type Surveillance = {
  readonly book: string;
  readonly instrument: Instrument;
  readonly windows: FlowWindows;
  readonly days: readonly SurveillanceDay[];
  readonly recordings: readonly RecordingEvidence[];
};

export type SurveillanceAsked = RecordedDays & { readonly windows: FlowWindows };

/**
 * Measures the order flow of the selected days.
 * @throws UsageError if these days have no recording.
 */
export function surveillance({
  dir,
  book,
  windows,
  from = -Infinity,
  to = Infinity,
  onInput,
}: SurveillanceAsked): Surveillance {
  const collector = new FlowCollector();
  const { opened, recordings } = replayRuns(
    dir,
    { from, to: to + DAY_MS },
    run => {
      collector.begin();
      const of = { book: run.book.symbol, instance: run.setup.instance };
      const isOfOther = (id: string) => (run.engine.bookWith(id) ?? run.book) !== run.book;
      return {
        see: (event, commands) => {
          const isHalted = run.book.haltedBecause !== null;
          collector.see({ ...of, isHalted, isOfOther }, event, commands);
          onInput?.(event.at);
        },
        end: () => undefined,
      };
    },
    book,
  );
  const { instrument } = opened.at(-1)!;
  const { flow } = collector;
  const days = daysOfFlow(flow)
    .filter(day => day >= from && day <= to)
    .map(day => surveyedDay(flow, day, windows, instrument));
  if (days.length === 0)
    throw new UsageError(`${dir}: the recordings contain none of the requested days; check --from and --to`);
  return { book: instrument.symbol, instrument, windows, days, recordings };
}

function daysOfFlow({ runs }: OwnFlow): readonly Millis[] {
  const days: Millis[] = [];
  for (const [from, to] of runs)
    for (let day = dayStart(from); day <= to; day += DAY_MS) if (day > (days.at(-1) ?? -Infinity)) days.push(day);
  return days;
}

/** Measures the UTC day that starts at `from`. */
export function surveyedDay(
  flow: OwnFlow,
  from: Millis,
  windows: FlowWindows,
  instrument: Instrument,
): SurveillanceDay {
  const isInDay = (at: Millis): boolean => at >= from && at < from + DAY_MS;
  const day = {
    from,
    layering: layeringIn(flow, isInDay, windows),
    stuffing: stuffingIn(flow, isInDay, windows),
    executed: flow.trades.reduce(
      (sum, { at, isOwn, major }) => (isOwn && isInDay(at) ? sum + moneyOf(major) : sum),
      0n,
    ),
    wash: washIn(flow, isInDay, windows),
    momentum: momentumIn(moneyOf)(flow, isInDay, windows),
  };
  return { ...day, warnings: warningsOf(day, instrument) };
}

type Measured = Omit<SurveillanceDay, 'warnings'>;

function warningsOf(
  { layering, stuffing, wash, momentum, ...day }: Measured,
  instrument: Instrument,
): readonly string[] {
  const { orderToTrade, peakPerSecond, shortLivedPercent, layeredPercent, selfTrades, reversals } = WARN_FROM;
  const ratio = ratiosOf({ stuffing, executed: day.executed }, instrument).number;
  const own = wash.ownBoth + wash.accountBoth + wash.sameTerms;
  return [
    ...(layering.fills >= COUNT_MIN && layering.layered * 100 >= layeredPercent * layering.fills
      ? [`layering: ${layering.layered} of ${counted(layering.fills, 'fill')}; warning at ${layeredPercent}% or more`]
      : []),
    ...(ratio !== null && ratio >= BigInt(orderToTrade) * RATIO_UNIT
      ? [`order-to-trade ratio: ${ratioText(ratio)}; warning at ${orderToTrade} or more`]
      : []),
    ...(stuffing.peakPerSecond >= peakPerSecond
      ? [`most requests in one second: ${stuffing.peakPerSecond}; warning at ${peakPerSecond} or more`]
      : []),
    ...(stuffing.canceledUnfilled >= COUNT_MIN &&
    stuffing.shortLived * 100 >= shortLivedPercent * stuffing.canceledUnfilled
      ? [
          `short-lived: ${stuffing.shortLived} of the ${counted(stuffing.canceledUnfilled, 'order')} canceled unfilled; warning at ${shortLivedPercent}% or more`,
        ]
      : []),
    ...(own >= selfTrades ? [`self-trades: ${own}; warning at ${selfTrades} or more`] : []),
    ...(momentum.reversals >= reversals
      ? [`reversals after aggressive trades: ${momentum.reversals}; warning at ${reversals} or more`]
      : []),
  ];
}

/** One, as a ratio in hundredths. */
const RATIO_UNIT = 100n;

/**
 * Returns the ratios of unexecuted orders to transactions (RTS 9, article 3), in hundredths, rounded down. `number` is
 * placed and canceled orders per execution, minus one. `volume` is placed amount per executed amount, minus one. A
 * ratio is `null` if nothing was executed.
 */
export function ratiosOf(
  { stuffing, executed }: Pick<SurveillanceDay, 'stuffing' | 'executed'>,
  { lotMoney }: Pick<Instrument, 'lotMoney'>,
): { readonly number: bigint | null; readonly volume: bigint | null } {
  const { placed, canceled, executions, placedLots } = stuffing;
  return {
    number: executions === 0 ? null : (BigInt(placed + canceled) * RATIO_UNIT) / BigInt(executions) - RATIO_UNIT,
    volume: executed === 0n ? null : (placedLots * lotMoney * RATIO_UNIT) / executed - RATIO_UNIT,
  };
}

/** Formats a ratio in hundredths with two decimals; `null` becomes a dash. */
export function ratioText(hundredths: bigint | null): string {
  if (hundredths === null) return '–';
  const size = hundredths < 0n ? -hundredths : hundredths;
  return `${hundredths < 0n ? '-' : ''}${size / RATIO_UNIT}.${String(size % RATIO_UNIT).padStart(2, '0')}`;
}

/** Returns the measures as one JSON object. Amounts are exact decimal text; ratios have two decimals, rounded down. */
export function surveillanceJson({ book, instrument, windows, days, recordings }: Surveillance): object {
  return {
    ...{ book, timezone: 'UTC', windows, warnFrom: WARN_FROM },
    days: days.map(day => {
      const { placedLots, ...stuffing } = day.stuffing;
      const { number, volume } = ratiosOf(day, instrument);
      return {
        day: timeText(day.from).slice(0, 10),
        layering: day.layering,
        stuffing: {
          ...stuffing,
          placedAmount: textOfMoney(money(placedLots * instrument.lotMoney)),
          executedAmount: textOfMoney(money(day.executed)),
        },
        orderToTrade: {
          number: number === null ? null : ratioText(number),
          volume: volume === null ? null : ratioText(volume),
        },
        ...{ wash: day.wash, momentum: day.momentum, warnings: day.warnings },
      };
    }),
    recordings,
  };
}

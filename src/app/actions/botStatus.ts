/** `puntas status`: whether a bot runs, what it quotes, holds and earned, how near each limit is, and who holds it back; from its state directory alone. */
import { existsSync } from 'node:fs';
import { pairOf, textOfAmount, textOfMoney, textOfPrice } from '../../core/index.ts';
import type { Clock, Instrument, LimitUse, Millis, Order, Side, Snapshot } from '../../core/index.ts';
import { diskProblem } from '../../live/files/diskRoom.ts';
import type { DiskTrouble } from '../../live/files/diskTrouble.ts';
import { ordersSeenIn } from '../../live/safety/ordersSeen.ts';
import type { OrdersSeen } from '../../live/safety/ordersSeen.ts';
import { actionsIn } from './actionJournal.ts';
import type { ActionEntry } from './actionJournal.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { holdersOf, lifeOf } from '../inspect/botLife.ts';
import type { BotLife, HeldBy } from '../inspect/botLife.ts';
import type { ReplayedMoment } from '../inspect/explain.ts';
import { lastMoment, profitAt } from '../inspect/profitNow.ts';
import type { ProfitNow } from '../inspect/profitNow.ts';
import { shownProfit } from '../../messages/shownProfit.ts';
import type { PrintedProfit } from '../../messages/shownProfit.ts';
import { ledgerFileIn } from '../../live/state/ledgerFile.ts';

/** As `--json` prints it (docs/json.md). Prices and sums are exact decimal text. */
export type BotStatus = {
  /** When it was asked, and up to when the recording goes; null where nothing is recorded. */
  readonly at: Millis;
  readonly recordedTo: Millis | null;
  readonly bot: BotLife;
  /** What is known of its open orders, and since when. */
  readonly openOrders: OpenOrders;
  /** Why the disk of the state takes nothing; null where it does, or where that is not known. */
  readonly disk: DiskTrouble | null;
  /** Empty: nothing does. */
  readonly heldBy: readonly HeldBy[];
  /** Profit since the opening, with the run's part: the number of `puntas report`, the console and the metrics; `null` if none was kept. */
  readonly profit: PrintedProfit | null;
  readonly run: RunStatus | null;
  /** Of `actions.jsonl`; null when nothing was ever done. */
  readonly lastAction: ActionEntry | null;
  /** What to know of the figures. */
  readonly note: string | null;
};

/** `count` is null where nobody knows; `by`: who has read it, the bot as its recording tells. */
export type OpenOrders = {
  readonly count: number | null;
  readonly at: Millis | null;
  readonly by: 'bot' | OrdersSeen['by'] | null;
};

export type RunStatus = {
  readonly number: number;
  readonly since: Millis;
  readonly book: string;
  readonly instance: string;
  readonly regime: { readonly regime: string; readonly since: Millis | null; readonly why: string };
  /** Why nothing is quoted, or a side is not; null when both are. */
  readonly whyNot: string | null;
  /** In the book now, best first; null where that is not known, because the bot shows no life. */
  readonly bids: readonly StatusQuote[] | null;
  readonly asks: readonly StatusQuote[] | null;
  /** As the recording ends. */
  readonly recorded: {
    readonly regime: string;
    readonly bids: readonly StatusQuote[];
    readonly asks: readonly StatusQuote[];
  };
  /** Of the others. */
  readonly market: { readonly bid: string | null; readonly ask: string | null };
  readonly inventory: { readonly currency: string; readonly fromTarget: string };
  readonly holdings: Readonly<Record<string, string>>;
  readonly limits: readonly StatusLimit[];
  readonly fills: number;
  /** Since the run began. */
  readonly profit: Readonly<Record<'total' | 'spread' | 'inventory' | 'fees' | 'hedging', string>> & {
    readonly currency: string;
  };
};

export type StatusQuote = { readonly price: string; readonly amount: string };
/** `share`: used of max, 1 and more is too much. */
export type StatusLimit = {
  readonly limit: string;
  readonly currency: string | null;
  readonly max: string;
  readonly used: string;
  readonly share: number;
};

/** Throws `UsageError` where there is no state. `onInput` as of `explain`. */
export async function botStatus(dir: string, clock: Clock, onInput?: (at: Millis) => void): Promise<BotStatus> {
  if (!existsSync(dir))
    throw new UsageError(`${dir}: no such folder; expected the state directory of a bot (state.dir)`);
  const at = clock.now();
  const moment = lastMoment(dir, onInput);
  const replayed = moment instanceof UsageError ? null : moment;
  const bot = lifeOf(dir, at);
  const recorded = replayed && runOf(replayed);
  const openOrders = openOrdersOf(dir, bot, at, recorded, replayed?.seen.at ?? null);
  return {
    at,
    recordedTo: replayed?.seen.at ?? null,
    bot,
    openOrders,
    disk: diskProblem(dir),
    heldBy: holdersOf(dir, at),
    profit: await profitOf(dir, clock, moment),
    run: recorded && (bot.state === 'silent' ? whileSilent(recorded, openOrders) : recorded),
    lastAction: actionsIn(dir).at(-1) ?? null,
    note: moment instanceof UsageError ? moment.message : (replayed?.difference ?? replayed?.note ?? null),
  };
}

/** By the newest evidence there is: of the bot while it runs, or as it stopped; after that of whoever has looked since its last sign of life. */
function openOrdersOf(
  dir: string,
  { state, beatAgo }: BotLife,
  now: Millis,
  run: RunStatus | null,
  recordedTo: Millis | null,
): OpenOrders {
  const beatAt = beatAgo === null ? null : now - beatAgo;
  const seen = ordersSeenIn(dir);
  const { bids, asks } = run?.recorded ?? {};
  if (state === 'runs' && bids && asks) return { count: bids.length + asks.length, at: recordedTo, by: 'bot' };
  if (state === 'stopped') return { count: 0, at: beatAt, by: 'bot' };
  // What was seen before its last sign of life says nothing of what it sent since.
  if (state === 'silent' && seen !== null && beatAt !== null && seen.at >= beatAt)
    return { count: seen.count, at: seen.at, by: seen.by };
  return { count: null, at: null, by: null };
}

/** What is said of now rests on a bot that shows no life: it is not known, unless another process has looked. */
function whileSilent(run: RunStatus, { count }: OpenOrders): RunStatus {
  const quotes = count === 0 ? [] : null;
  const why = `no heartbeat; ${run.recorded.regime} when it last recorded`;
  return { ...run, regime: { regime: 'unknown', since: null, why }, whyNot: why, bids: quotes, asks: quotes };
}

/** A state file that cannot be read keeps nobody from reading the rest. */
async function profitOf(
  dir: string,
  clock: Clock,
  moment: ReturnType<typeof lastMoment>,
): Promise<PrintedProfit | null> {
  const file = await ledgerFileIn(dir, clock).catch(() => null);
  const profit: ProfitNow | null = profitAt(moment, file);
  const book = file?.book ?? (moment === null || moment instanceof UsageError ? null : moment.setup.book);
  return profit && shownProfit(profit.sinceOpening, profit.run, book === null ? '' : pairOf(book)[1]);
}

function runOf({ engine, seen, rules: { instrument }, setup, run, startedAt }: ReplayedMoment): RunStatus {
  const at = seen.at ?? startedAt;
  const shown = engine.snapshot(at);
  const { regime, since, why } = shown.regime;
  const price = (of: Snapshot['bid']) => (of > 0 ? textOfPrice(instrument, of) : null);
  const { total, spread, inventory, fees, hedging } = shown.profit;
  const silent = shown.quoting === null ? shown.whyNot : whyNothing(shown);
  const [bids, asks] = [quotesOf('buy', shown.orders, instrument), quotesOf('sell', shown.orders, instrument)];
  return {
    ...{ number: run, since: startedAt, book: instrument.symbol, instance: setup.instance },
    regime: { regime, since: Number.isFinite(since) ? since : null, why },
    whyNot: silent,
    ...{ bids, asks, recorded: { regime, bids, asks } },
    market: { bid: price(shown.bid), ask: price(shown.ask) },
    inventory: { currency: instrument.major, fromTarget: textOfMoney(shown.inventory) },
    holdings: Object.fromEntries([...shown.holdings].map(([name, sum]) => [name, textOfMoney(sum)])),
    limits: engine.limitUses(at).map(limitOf),
    fills: shown.fills,
    profit: {
      currency: instrument.minor,
      total: textOfMoney(total),
      spread: textOfMoney(spread),
      inventory: textOfMoney(inventory),
      fees: textOfMoney(fees),
      hedging: textOfMoney(hedging),
    },
  };
}

const whyNothing = ({ quoting, waitsFor }: Snapshot): string | null =>
  waitsFor === null ? quoting : `${quoting ?? ''} (${waitsFor})`;

const quotesOf = (side: Side, orders: readonly Order[], instrument: Instrument): readonly StatusQuote[] =>
  orders
    .filter(order => order.side === side && (order.state === 'open' || order.state === 'partially filled'))
    .toSorted((a, b) => (side === 'buy' ? b.price - a.price : a.price - b.price))
    .map(({ price, amount, filled }) => ({
      price: textOfPrice(instrument, price),
      amount: textOfAmount(instrument, (amount - filled) as typeof amount),
    }));

function limitOf(use: LimitUse): StatusLimit {
  const { limit } = use;
  if (use.currency === null) {
    const { used, max } = use;
    return { limit, currency: null, max: String(max), used: String(Number(used.toFixed(2))), share: used / max };
  }
  const { currency, used, max } = use;
  // For show: parts of ten thousand.
  const share = max > 0n ? Number((used * 10_000n) / max) / 10_000 : used > 0n ? Infinity : 0;
  return { limit, currency, max: textOfMoney(max), used: textOfMoney(used), share };
}

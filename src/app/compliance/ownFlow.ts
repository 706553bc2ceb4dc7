/** Orders, requests and executions of the bot in recorded runs, and the surveillance measures of this order flow. */
import {
  isLocalRefusal,
  opposite,
  type Command,
  type DecimalText,
  type EngineEvent,
  type Millis,
  type OwnTrade,
  type Side,
} from '../../core/index.ts';

/** Order that the bot sent. All times are those of the bot's clock. */
export type FlowOrder = {
  readonly id: string;
  readonly side: Side;
  /** Price in ticks. */
  readonly price: number;
  /** Amount in lots. */
  readonly lots: number;
  readonly sentAt: Millis;
  /** Time of the first cancel of the order; `null` if none was sent. */
  canceledAt: Millis | null;
  /** Whether the first cancel of the order was sent while trading was halted. */
  isKilled: boolean;
  /** Whether the order was rejected, so that it was never in the book. */
  isRejected: boolean;
  /** Whether a part of the order was executed. */
  isFilled: boolean;
};

/** Execution of one order of the account in the bot's book. */
export type FlowTrade = {
  /** Time at which the bot read the execution, on the bot's clock. */
  readonly at: Millis;
  /** Time of the execution on the exchange's clock. */
  readonly createdAt: Millis;
  readonly tid: string;
  readonly side: Side;
  readonly price: DecimalText;
  readonly major: DecimalText;
  readonly isMaker: boolean;
  /** Whether the executed order is the bot's. Other bots and the operator may also place orders on the account. */
  readonly isOwn: boolean;
};

/** Order flow of the replayed runs, in the order of the inputs. */
export type OwnFlow = {
  readonly orders: readonly FlowOrder[];
  readonly trades: readonly FlowTrade[];
  /** Times of the requests that place or cancel orders; one request can cancel several orders. */
  readonly requests: readonly Millis[];
  /** Times of the first and the last input of each run; NaN for a run without inputs. */
  readonly runs: readonly (readonly [from: Millis, to: Millis])[];
};

export type FlowSource = {
  readonly book: string;
  readonly instance: string;
  readonly isHalted: boolean;
  /** Whether the order with an id is in another book of the bot; absent if the bot has only one book. */
  readonly isOfOther?: (id: string) => boolean;
};

/** Collector of the order flow of several runs. */
export class FlowCollector {
  readonly #orders = new Map<string, FlowOrder>();
  readonly #idByOid = new Map<string, string>();
  /** Trades by id, side and order, so that a trade that the exchange lists again in later reads counts once. */
  readonly #trades = new Map<string, FlowTrade>();
  readonly #requests: Millis[] = [];
  readonly #runs: [Millis, Millis][] = [];

  get flow(): OwnFlow {
    return {
      orders: [...this.#orders.values()],
      trades: [...this.#trades.values()],
      requests: this.#requests,
      runs: this.#runs,
    };
  }

  /** Starts the next run. Later inputs belong to this run. */
  begin(): void {
    this.#runs.push([Number.NaN, Number.NaN]);
  }

  /** Records an input and the engine's commands. `isHalted`: whether the engine is halted after the input. */
  see({ book, instance, isHalted, isOfOther }: FlowSource, event: EngineEvent, commands: readonly Command[]): void {
    const run = this.#runs.at(-1)!;
    if (Number.isNaN(run[0])) run[0] = event.at;
    run[1] = event.at;
    if (event.kind === 'trades')
      for (const trade of event.trades) if (trade.book === book) this.#executed(trade, event.at, `${instance}-`);
    if (event.kind === 'placed') {
      const order = this.#orders.get(event.id);
      if (event.outcome.kind === 'refused' && isLocalRefusal(event.outcome.code)) this.#neverSent(event.id);
      else if (event.outcome.kind === 'done') this.#idByOid.set(event.outcome.value.oid, event.id);
      // A rejection as a duplicate id is not counted, because it means that the order had already reached the exchange.
      else if (event.outcome.kind === 'refused' && event.outcome.meaning !== 'duplicate id' && order !== undefined)
        order.isRejected = true;
    }
    for (const command of commands) {
      // One cancel can have orders of several books.
      const ids = command.kind === 'place' ? [command.id] : command.ids;
      if (isOfOther === undefined || !ids.every(isOfOther)) this.#commanded(command, event.at, isHalted);
    }
  }

  #commanded(command: Command, at: Millis, isHalted: boolean): void {
    if (command.kind === 'look') return;
    this.#requests.push(at);
    if (command.kind === 'cancel') {
      for (const order of command.ids.flatMap(id => this.#orders.get(id) ?? [])) {
        if (order.canceledAt !== null) continue;
        order.canceledAt = at;
        order.isKilled = isHalted;
      }
      return;
    }
    const { id, side, price, amount } = command;
    this.#orders.set(id, {
      ...{ id, side, price, lots: amount, sentAt: at },
      ...{ canceledAt: null, isKilled: false, isRejected: false, isFilled: false },
    });
  }

  /** Forgets an order whose placement the client did not send, and its request. */
  #neverSent(id: string): void {
    const order = this.#orders.get(id);
    if (order === undefined) return;
    this.#orders.delete(id);
    this.#requests.splice(this.#requests.lastIndexOf(order.sentAt), 1);
  }

  #executed(trade: OwnTrade, at: Millis, prefix: string): void {
    const { tid, oid, side, createdAt, price, major, maker } = trade;
    const key = `${tid} ${side} ${oid}`;
    if (this.#trades.has(key)) return;
    const id = trade.originId ?? this.#idByOid.get(oid) ?? null;
    const order = id === null ? undefined : this.#orders.get(id);
    if (order !== undefined) order.isFilled = true;
    this.#trades.set(key, {
      ...{ at, createdAt, tid, side, price, major, isMaker: maker },
      isOwn: id?.startsWith(prefix) ?? false,
    });
  }
}

/** Windows of the measures, in ms. */
export type FlowWindows = {
  /** Time after a fill in which a cancel on the other side counts as layering. */
  readonly afterFillMs: Millis;
  /** Lifetime below which a canceled order counts as short-lived. */
  readonly shortLifeMs: Millis;
  /** Time before a fill in which the bot's aggressive trades on the other side count as momentum. */
  readonly momentumMs: Millis;
};

/** Default windows of the measures. */
export const DEFAULT_WINDOWS: FlowWindows = { afterFillMs: 1_000, shortLifeMs: 1_000, momentumMs: 60_000 };

/** Minimum number of prices with canceled orders on the other side for a fill to count as layered. */
export const LAYERS_MIN = 2;
/** Minimum number of aggressive trades on the other side for an execution to count as a reversal. */
export const MOMENTUM_TRADES_MIN = 2;
/** Minimum gain of a reversal against the first aggressive trade, in basis points. */
export const MOMENTUM_GAIN_BPS = 10n;
const SECOND_MS = 1_000;

/** Numbers of fills and of canceled orders in one day, as a measure of layering. */
export type LayeringCount = {
  /** Number of the bot's fills. All executions of one side that were read at the same time count as one fill. */
  readonly fills: number;
  /** Number of fills after which orders at `LAYERS_MIN` or more prices of the other side were canceled unfilled. */
  readonly layered: number;
  /** Number of orders canceled without a fill. */
  readonly canceledUnfilled: number;
  /** Number of orders canceled without a fill, at most `afterFillMs` after a fill on the other side. */
  readonly canceledAfterFill: number;
};

type Part<T> = (flow: OwnFlow, isInDay: (at: Millis) => boolean, windows: FlowWindows) => T;

const isCanceledUnfilled = ({ canceledAt, isFilled, isRejected }: FlowOrder): boolean =>
  canceledAt !== null && !isFilled && !isRejected;

/** Counts fills, and cancels that follow fills on the other side. Each fill and each cancel counts on its own day. */
export const layeringIn: Part<LayeringCount> = ({ orders, trades }, isInDay, { afterFillMs }) => {
  const canceled = orders.filter(isCanceledUnfilled).sort((a, b) => a.canceledAt! - b.canceledAt!);
  const times = canceled.map(({ canceledAt }) => canceledAt!);
  const fills = new Map(trades.filter(({ isOwn }) => isOwn).map(({ at, side }) => [`${at} ${side}`, { at, side }]));
  const after = new Set<FlowOrder>();
  let layered = 0;
  for (const { at, side } of fills.values()) {
    const prices = new Set<number>();
    for (let i = firstFrom(times, at); i < canceled.length && times[i]! <= at + afterFillMs; i++) {
      const order = canceled[i]!;
      if (order.side !== opposite(side) || order.sentAt > at) continue;
      prices.add(order.price);
      after.add(order);
    }
    if (isInDay(at) && prices.size >= LAYERS_MIN) layered++;
  }
  return {
    fills: [...fills.values()].filter(({ at }) => isInDay(at)).length,
    layered,
    canceledUnfilled: times.filter(isInDay).length,
    canceledAfterFill: [...after].filter(({ canceledAt }) => isInDay(canceledAt!)).length,
  };
};

/** Returns the index of the first of the ascending times that is not before `at`. */
function firstFrom(times: readonly Millis[], at: Millis): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const half = (low + high) >> 1;
    if (times[half]! < at) low = half + 1;
    else high = half;
  }
  return low;
}

export type StuffingCount = {
  readonly requests: number;
  /** Maximum number of requests within one second, for all seconds that end in the day. */
  readonly peakPerSecond: number;
  /** Number of placed orders. */
  readonly placed: number;
  /** Number of orders whose first cancel was sent while trading was not halted. */
  readonly canceled: number;
  /** Number of executions of the bot's orders. */
  readonly executions: number;
  /** Total amount of the placed orders, in lots. */
  readonly placedLots: bigint;
  /** Number of orders canceled without a fill. */
  readonly canceledUnfilled: number;
  /** Number of orders canceled without a fill, less than `shortLifeMs` after they were sent. */
  readonly shortLived: number;
};

/** Counts requests, orders, executions and short-lived orders. */
export const stuffingIn: Part<StuffingCount> = ({ orders, trades, requests }, isInDay, { shortLifeMs }) => {
  const placed = orders.filter(({ sentAt }) => isInDay(sentAt));
  const canceled = orders.filter(({ canceledAt }) => canceledAt !== null && isInDay(canceledAt));
  const unfilled = canceled.filter(isCanceledUnfilled);
  return {
    requests: requests.filter(isInDay).length,
    peakPerSecond: peakIn(requests, isInDay),
    placed: placed.length,
    canceled: canceled.filter(({ isKilled }) => !isKilled).length,
    executions: trades.filter(({ at, isOwn }) => isOwn && isInDay(at)).length,
    placedLots: placed.reduce((sum, { lots }) => sum + BigInt(lots), 0n),
    canceledUnfilled: unfilled.length,
    shortLived: unfilled.filter(({ sentAt, canceledAt }) => canceledAt! - sentAt < shortLifeMs).length,
  };
};

function peakIn(requests: readonly Millis[], isInDay: (at: Millis) => boolean): number {
  const times = [...requests].sort((a, b) => a - b);
  let [peak, first] = [0, 0];
  for (let last = 0; last < times.length; last++) {
    while (times[last]! - times[first]! >= SECOND_MS) first++;
    if (isInDay(times[last]!)) peak = Math.max(peak, last - first + 1);
  }
  return peak;
}

export type WashCount = {
  /** Number of trades with the bot on both sides. */
  readonly ownBoth: number;
  /** Number of trades with the account on both sides, and the bot on at most one side. */
  readonly accountBoth: number;
  /**
   * Number of pairs of a buy and a sell with different trade ids but equal time, price and amount, one as maker and the
   * other as taker.
   */
  readonly sameTerms: number;
};

/** Counts trades of the account with itself. */
export const washIn: Part<WashCount> = ({ trades }, isInDay) => {
  const byId = new Map<string, FlowTrade[]>();
  const others = new Map<string, FlowTrade[]>();
  for (const trade of trades.filter(({ at }) => isInDay(at))) listIn(byId, trade.tid).push(trade);
  let [ownBoth, accountBoth, sameTerms] = [0, 0, 0];
  for (const rows of byId.values()) {
    const [buys, sells] = [rows.filter(({ side }) => side === 'buy'), rows.filter(({ side }) => side === 'sell')];
    if (buys.length > 0 && sells.length > 0) {
      if (buys.some(({ isOwn }) => isOwn) && sells.some(({ isOwn }) => isOwn)) ownBoth++;
      else accountBoth++;
    } else for (const row of rows) listIn(others, `${row.createdAt} ${row.price} ${row.major}`).push(row);
  }
  for (const rows of others.values()) {
    const count = (side: Side, isMaker: boolean) =>
      rows.filter(row => row.side === side && row.isMaker === isMaker).length;
    sameTerms +=
      Math.min(count('buy', true), count('sell', false)) + Math.min(count('buy', false), count('sell', true));
  }
  return { ownBoth, accountBoth, sameTerms };
};

export type MomentumCount = {
  /** Number of executions in which the bot took liquidity. */
  readonly taken: number;
  /**
   * Number of executions that follow `MOMENTUM_TRADES_MIN` or more aggressive trades on the other side and gain at
   * least `MOMENTUM_GAIN_BPS` against the first of these trades.
   */
  readonly reversals: number;
};

/**
 * Counts aggressive trades of the bot, and executions that reverse such trades at a gain. `priceOfText` converts a
 * price to a whole number.
 */
export const momentumIn =
  (priceOfText: (text: DecimalText) => bigint): Part<MomentumCount> =>
  ({ trades }, isInDay, { momentumMs }) => {
    const own = trades.filter(({ isOwn }) => isOwn);
    const taken: Record<Side, FlowTrade[]> = { buy: [], sell: [] };
    let reversals = 0;
    for (const trade of own) {
      const before = taken[opposite(trade.side)].filter(({ at }) => at >= trade.at - momentumMs);
      taken[opposite(trade.side)] = before;
      if (isInDay(trade.at) && before.length >= MOMENTUM_TRADES_MIN) {
        const [opened, closed] = [priceOfText(before[0]!.price), priceOfText(trade.price)];
        const gain = trade.side === 'sell' ? closed - opened : opened - closed;
        if (gain * 10_000n >= MOMENTUM_GAIN_BPS * opened) reversals++;
      }
      if (!trade.isMaker) taken[trade.side].push(trade);
    }
    return { taken: own.filter(({ at, isMaker }) => !isMaker && isInDay(at)).length, reversals };
  };

function listIn<T>(map: Map<string, T[]>, key: string): T[] {
  const known = map.get(key);
  if (known !== undefined) return known;
  const list: T[] = [];
  map.set(key, list);
  return list;
}

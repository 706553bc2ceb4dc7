/**
 * Data of one book for charts and lists, collected during a replay: points of market and account, fills with markouts, events,
 * queue positions.
 */
import {
  approximately,
  signOf,
  textOfMoney,
  textOfPrice,
  type Depth,
  type BookEngine,
  type EngineEvent,
  type EngineNews,
  type Fill,
  type Instrument,
  type Millis,
  type Order,
  type ProfitSinceOpening,
  type Snapshot,
} from '../../core/index.ts';
import {
  RECENT_POINTS_MAX,
  type ConsoleHistory,
  type ShownChange,
  type ShownEvent,
  type ShownFill,
  type SideMarkout,
} from '../../console/index.ts';
import type { ConfigChange } from '../../config.ts';
import type { Log } from '../../live/log.ts';
import { logEvent } from '../../messages/eventLog.ts';
import { RunTotals } from '../run/runTotals.ts';
import { unnotedChange } from './history/configHistory.ts';

const WHOLE_MAX = 1_200;
const EVENTS_MAX = 200;
const HOURS_MAX = 1_000;
const FILLS_MAX = 500;
const CHANGES_MAX = 100;
const MARKOUT_AFTER_MS = 60_000;

type Kept = { readonly fill: Fill; markoutBps: number | null };

export class RunHistory {
  readonly instrument: Instrument;
  readonly #run: number;
  #book: BookEngine | null = null;
  #depth: Depth | null = null;
  #at: Millis = 0;
  #mid = Number.NaN;
  #recent: number[][] = [];
  #whole: number[][] = [];
  #wholeStep = 1_000;
  #fills: Kept[] = [];
  /** Fills whose markout is not known yet, because they are less than a minute old; oldest first. */
  #waiting: Kept[] = [];
  readonly #markouts = { bid: { fills: 0, sum: 0, weight: 0 }, ask: { fills: 0, sum: 0, weight: 0 } };
  #events: ShownEvent[] = [];
  #changes: ShownChange[] = [];
  /** Profit since the opening of the ledger, as it was at the end of each UTC hour. */
  #hourEnds: ProfitSinceOpening[] = [];
  #startedAt: Millis | null = null;
  /** Totals of earlier runs: counts, profit and shares of time. */
  #earlier = new RunTotals();
  /** Smallest amount of other traders at an order's price since the order became live, in lots, by origin id. */
  readonly #ahead = new Map<string, number>();
  readonly #log: Log;

  constructor(instrument: Instrument, run: number, startedAt: Millis) {
    this.instrument = instrument;
    this.#run = run;
    // Before the first input has set the time, events get the start time of the run.
    this.#at = startedAt;
    const tell =
      (level: ShownEvent['level']) =>
      (_: object, text: string): void =>
        this.tell({ at: this.#at, who: 'bot', level, text });
    this.#log = { debug: () => undefined, info: tell('info'), warn: tell('warn'), error: tell('error') };
  }

  /** Sets the book from which the data is read. */
  watch(book: BookEngine): void {
    this.#book = book;
    this.#depth = book.riskContext(0).depth;
    book.hourEnds.listen(ended => {
      this.#hourEnds.push(ended);
      if (this.#hourEnds.length > HOURS_MAX) this.#hourEnds.shift();
    });
  }

  /** Continues the charts, fills, events and counts of an earlier run. */
  follow(earlier: RunHistory): void {
    // Points of an earlier run that are later than this run's start are dropped, so that after a clock correction no
    // line goes back in time.
    const before = ([at = 0]: readonly number[]): boolean => at < (this.#startedAt ?? Infinity);
    this.#recent = [...earlier.#recent.filter(before), ...this.#recent].slice(-RECENT_POINTS_MAX);
    this.#wholeStep = Math.max(this.#wholeStep, earlier.#wholeStep);
    this.#whole = [...earlier.#whole.filter(before), ...this.#whole];
    this.#thin();
    this.#fills = [...earlier.#fills, ...this.#fills].slice(-FILLS_MAX);
    this.#waiting = [...earlier.#waiting, ...this.#waiting];
    this.#events = [...earlier.#events, ...this.#events].slice(-EVENTS_MAX);
    this.#changes = [...earlier.#changes, ...this.#changes].slice(-CHANGES_MAX);
    this.#hourEnds = [...earlier.#hourEnds, ...this.#hourEnds].slice(-HOURS_MAX);
    for (const side of ['bid', 'ask'] as const) {
      const [own, theirs] = [this.#markouts[side], earlier.#markouts[side]];
      own.fills += theirs.fills;
      own.sum += theirs.sum;
      own.weight += theirs.weight;
    }
    this.#earlier = earlier.#earlier;
    if (earlier.#book !== null)
      this.#earlier.add(earlier.#book.snapshot(earlier.#at), earlier.#at - (earlier.#startedAt ?? earlier.#at));
  }

  /** Returns the snapshot of this run, to which the counts and times of earlier runs are added. */
  across(now: Snapshot): Snapshot {
    return this.#earlier.with(now, now.at - (this.#startedAt ?? now.at));
  }

  /**
   * Returns the profit since the opening of the ledger, as it was at the end of each replayed UTC hour, oldest first.
   */
  get hourEnds(): readonly ProfitSinceOpening[] {
    return this.#hourEnds;
  }

  get events(): readonly ShownEvent[] {
    return this.#events;
  }

  /** Records events of the engine at the current input. */
  hear(news: EngineNews): void {
    if (news.kind === 'fill') {
      const kept = { fill: news.fill, markoutBps: null };
      this.#fills.push(kept);
      this.#waiting.push(kept);
      if (this.#fills.length > FILLS_MAX) this.#fills.shift();
    }
    logEvent(this.#log, this.instrument, news, 'puntas resume');
  }

  tell(event: ShownEvent): void {
    this.#events.push(event);
    if (this.#events.length > EVENTS_MAX) this.#events.shift();
  }

  /** Records the changes of the configuration since the previous run. */
  changed(changes: readonly ConfigChange[]): void {
    if (changes.length === 0) return;
    this.#changes.push(unnotedChange(this.#run, this.#startedAt ?? this.#at, changes));
  }

  /** Records an input after the engine has processed it. */
  see(event: EngineEvent): void {
    const { at } = event;
    // Markouts are computed first, from the market before this input.
    this.#settleMarkouts(at);
    this.#startedAt ??= at;
    this.#at = at;
    const depth = this.#depth;
    if (depth === null || this.#book === null) return;
    this.#mid = depth.bids > 0 && depth.asks > 0 ? (depth.bidPrices[0]! + depth.askPrices[0]!) / 2 : Number.NaN;
    if (event.kind === 'book' || event.kind === 'placed') this.#seeQueues(depth);
    if (at - (this.#recent.at(-1)?.[0] ?? -Infinity) >= 1_000) this.#sample(at);
  }

  /**
   * Returns the maximum amount of other traders that can be ahead of an order in the queue, in lots; `null` if unknown.
   */
  ahead(order: Order): number | null {
    return this.#ahead.get(order.id) ?? null;
  }

  /** Returns a chart point with the fields of `POINT`. */
  point(at: Millis): readonly number[] {
    const { bid, ask, booked, orders } = this.#book!.snapshot(at);
    const { inventory, sinceOpening } = booked;
    const { profit } = sinceOpening;
    const price = (ticks: number) => (ticks > 0 ? ticks * approximately(this.instrument.tickMoney) : 0);
    const live = (side: Order['side']) =>
      orders.filter(order => order.side === side && isLive(order)).map(({ price: p }) => p);
    const [ourBid, ourAsk] = [Math.max(0, ...live('buy')), Math.min(...live('sell'))];
    return [
      at,
      ...[bid, ask, ourBid, Number.isFinite(ourAsk) ? ourAsk : 0].map(price),
      ...[inventory, profit.total, profit.spread, profit.inventory, profit.fees, profit.hedging].map(approximately),
    ];
  }

  get shown(): ConsoleHistory {
    const price = (fill: Fill) => fill.price * approximately(this.instrument.tickMoney);
    return {
      run: this.#run,
      recent: this.#recent,
      whole: this.#whole,
      fills: this.#fills.map(({ fill }) => [fill.at, signOf(fill.side), price(fill)]),
      changes: this.#changes,
    };
  }

  /** Returns up to `most` fills, newest first. */
  fills(most: number): readonly ShownFill[] {
    const { major, minor } = this.instrument;
    return this.#fills
      .slice(-most)
      .reverse()
      .map(({ fill, markoutBps }) => ({
        at: fill.at,
        side: fill.side === 'buy' ? ('bid' as const) : ('ask' as const),
        price: textOfPrice(this.instrument, fill.price),
        amount: textOfMoney(fill.major),
        fee: `${textOfMoney(fill.fee)} ${fill.feeIn === 'other' ? '' : fill.feeIn === 'major' ? major : minor}`.trim(),
        role: fill.maker ? ('maker' as const) : ('taker' as const),
        id: fill.id,
        markoutBps,
      }));
  }

  get markouts(): readonly SideMarkout[] {
    const { bid, ask } = this.#markouts;
    const both = { fills: bid.fills + ask.fills, sum: bid.sum + ask.sum, weight: bid.weight + ask.weight };
    return Object.entries({ bid, ask, both }).map(([side, { fills, sum, weight }]) => ({
      side: side as SideMarkout['side'],
      fills,
      bps: weight > 0 ? sum / weight : null,
    }));
  }

  #sample(at: Millis): void {
    const point = [...this.point(at)];
    this.#recent.push(point);
    if (this.#recent.length > RECENT_POINTS_MAX) this.#recent.shift();
    if (at - (this.#whole.at(-1)?.[0] ?? -Infinity) < this.#wholeStep) return;
    this.#whole.push(point);
    this.#thin();
  }

  #thin(): void {
    while (this.#whole.length > WHOLE_MAX) {
      this.#whole = this.#whole.filter((_, i) => i % 2 === 0);
      this.#wholeStep *= 2;
    }
  }

  #settleMarkouts(at: Millis): void {
    for (let first = this.#waiting[0]; first && first.fill.at + MARKOUT_AFTER_MS <= at; first = this.#waiting[0]) {
      this.#waiting.shift();
      if (!Number.isFinite(this.#mid)) continue;
      const { side, price, minor } = first.fill;
      first.markoutBps = (signOf(side) * (this.#mid - price) * 10_000) / price;
      const sums = this.#markouts[side === 'buy' ? 'bid' : 'ask'];
      const weight = approximately(minor);
      sums.fills++;
      sums.sum += first.markoutBps * weight;
      sums.weight += weight;
    }
  }

  #seeQueues(depth: Depth): void {
    const live = this.#book!.liveOrders.filter(isLive);
    for (const id of this.#ahead.keys()) if (!live.some(order => order.id === id)) this.#ahead.delete(id);
    for (const { id, side, price } of live) {
      const others = othersAt(depth, side, price);
      if (others === null) continue;
      this.#ahead.set(id, Math.min(this.#ahead.get(id) ?? Infinity, others));
    }
  }
}

const isLive = ({ state }: Order): boolean => state === 'open' || state === 'partially filled' || state === 'canceling';

/** Returns the amount of other traders at a price, in lots; `null` if the price is beyond the known levels. */
function othersAt(depth: Depth, side: Order['side'], price: number): number | null {
  const [prices, amounts, count] =
    side === 'buy' ? [depth.bidPrices, depth.bidAmounts, depth.bids] : [depth.askPrices, depth.askAmounts, depth.asks];
  for (let i = 0; i < count; i++) {
    if (prices[i] === price) return amounts[i]!;
    if (side === 'buy' ? prices[i]! < price : prices[i]! > price) return 0;
  }
  return count < prices.length ? 0 : null;
}

/** What a replay meets on its way, for the console's charts and lists: points of the market and the account, fills with their markouts, events, queue places. */
import { approximately, signOf, textOfMoney, textOfPrice } from '../../core/index.ts';
import type {
  Depth,
  Engine,
  EngineEvent,
  EngineNews,
  Fill,
  Instrument,
  Millis,
  Order,
  Profit,
} from '../../core/index.ts';
import type { ConsoleHistory, ShownEvent, ShownFill, SideMarkout } from '../../console/index.ts';
import type { Log } from '../../live/log.ts';
import { logEvent } from '../messages/eventLog.ts';

const HOUR_MS = 3_600_000;
const RECENT_MAX = 900;
const WHOLE_MAX = 1_200;
const EVENTS_MAX = 200;
const FILLS_MAX = 500;
const MARKOUT_AFTER_MS = 60_000;

type Kept = { readonly fill: Fill; markoutBps: number | null };

export class RunHistory {
  readonly instrument: Instrument;
  readonly #run: number;
  #engine: Engine | null = null;
  #depth: Depth | null = null;
  #at: Millis = 0;
  #mid = Number.NaN;
  readonly #recent: number[][] = [];
  #whole: number[][] = [];
  #wholeStep = 1_000;
  readonly #fills: Kept[] = [];
  /** Those whose minute is not over, oldest first. */
  readonly #waiting: Kept[] = [];
  readonly #markouts = { bid: { fills: 0, sum: 0, weight: 0 }, ask: { fills: 0, sum: 0, weight: 0 } };
  readonly #events: ShownEvent[] = [];
  /** Profit as it stood at the end of each hour UTC; the last is the one that goes on. */
  readonly #hours = new Map<number, Profit>();
  /** By origin id: the least of others that was seen at its price since it was live, in lots. */
  readonly #ahead = new Map<string, number>();
  readonly #log: Log;

  constructor(instrument: Instrument, run: number) {
    this.instrument = instrument;
    this.#run = run;
    const tell =
      (level: ShownEvent['level']) =>
      (_: object, text: string): void =>
        this.tell({ at: this.#at, who: 'bot', level, text });
    this.#log = { debug: () => undefined, info: tell('info'), warn: tell('warn'), error: tell('error') };
  }

  /** The engine that everything is read from. */
  watch(engine: Engine): void {
    this.#engine = engine;
    this.#depth = engine.riskContext(0).depth;
  }

  get events(): readonly ShownEvent[] {
    return this.#events;
  }

  /** News of the engine at the input that it is stepped with. */
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

  /** An input that the engine has taken. */
  see(event: EngineEvent): void {
    const { at } = event;
    // The market that stood until now.
    this.#settleMarkouts(at);
    this.#at = at;
    const depth = this.#depth;
    if (depth === null || this.#engine === null) return;
    this.#mid = depth.bids > 0 && depth.asks > 0 ? (depth.bidPrices[0]! + depth.askPrices[0]!) / 2 : Number.NaN;
    if (event.kind === 'book' || event.kind === 'placed') this.#seeQueues(depth);
    if (at - (this.#recent.at(-1)?.[0] ?? -Infinity) >= 1_000) this.#sample(at);
  }

  /** Others' amount before an order, at most, in lots; null while that is not known. */
  ahead(order: Order): number | null {
    return this.#ahead.get(order.id) ?? null;
  }

  /** As `POINT` says. */
  point(at: Millis): readonly number[] {
    const { bid, ask, profit, inventory, orders } = this.#engine!.snapshot(at);
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
    };
  }

  /** The newest first. */
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

  /** What each hour UTC of this run brought of a part, in the minor currency; the last one so far. */
  hourParts(now: Profit): ReadonlyMap<Millis, Pick<Profit, 'spread' | 'inventory'>> {
    const found = new Map<Millis, Pick<Profit, 'spread' | 'inventory'>>();
    let before: Profit | null = null;
    const last = hourOf(this.#at);
    for (const [hour, end] of new Map([...this.#hours, [last, now] as const])) {
      const less = (part: 'spread' | 'inventory') => (end[part] - (before?.[part] ?? 0n)) as Profit['spread'];
      found.set(hour, { spread: less('spread'), inventory: less('inventory') });
      before = end;
    }
    return found;
  }

  #sample(at: Millis): void {
    const point = [...this.point(at)];
    this.#recent.push(point);
    if (this.#recent.length > RECENT_MAX) this.#recent.shift();
    this.#hours.set(hourOf(at), this.#engine!.snapshot(at).profit);
    if (at - (this.#whole.at(-1)?.[0] ?? -Infinity) < this.#wholeStep) return;
    this.#whole.push(point);
    if (this.#whole.length <= WHOLE_MAX) return;
    this.#whole = this.#whole.filter((_, i) => i % 2 === 0);
    this.#wholeStep *= 2;
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
    const live = this.#engine!.liveOrders.filter(isLive);
    for (const id of this.#ahead.keys()) if (!live.some(order => order.id === id)) this.#ahead.delete(id);
    for (const { id, side, price } of live) {
      const others = othersAt(depth, side, price);
      if (others === null) continue;
      this.#ahead.set(id, Math.min(this.#ahead.get(id) ?? Infinity, others));
    }
  }
}

const hourOf = (at: Millis): Millis => Math.floor(at / HOUR_MS) * HOUR_MS;
const isLive = ({ state }: Order): boolean => state === 'open' || state === 'partially filled' || state === 'canceling';

/** Lots of others at a price; null beyond the levels that are kept. */
function othersAt(depth: Depth, side: Order['side'], price: number): number | null {
  const [prices, amounts, count] =
    side === 'buy' ? [depth.bidPrices, depth.bidAmounts, depth.bids] : [depth.askPrices, depth.askAmounts, depth.asks];
  for (let i = 0; i < count; i++) {
    if (prices[i] === price) return amounts[i]!;
    if (side === 'buy' ? prices[i]! < price : prices[i]! > price) return 0;
  }
  return count < prices.length ? 0 : null;
}

/** Messages about single orders of a book: as recorded, or of a market simulator that runs on the embedded exchange. */
import { createVenue, type Market } from '../../src/sandbox/index.ts';
import { opposite, VirtualClock, type Amount, type Price, type Side } from '../../src/core/index.ts';
import type { FollowedPlace } from '../../src/sandbox/markets/market.ts';
import { FLAG, type MarketRows } from '../../backtest/rows/rows.ts';

/** One change of one resting order, as in the LOBSTER format. Prices in ticks, amounts in lots, times in ms. */
export type OrderMessage = {
  readonly at: number;
  readonly kind: 'limit' | 'cancel' | 'execution';
  /** Side of the resting order. */
  readonly side: Side;
  readonly price: number;
  readonly lots: number;
  /** Time at which the order came to rest; NaN for an order from before the log. */
  readonly born: number;
  /** Whether the message only describes the book at the start of the log. */
  readonly isInitial: boolean;
};

/** Returns the messages of rows that have single orders. */
export function recordedLog(rows: MarketRows): readonly OrderMessage[] {
  const { orders, length, at, flags, place, base } = rows;
  if (orders === null) throw new RangeError('expected a recording of single orders');
  const messages: OrderMessage[] = [];
  for (let row = 0; row < length; row++) {
    if ((flags[row]! & FLAG.trade) !== 0) continue;
    const gone = orders.gone[row]!;
    const born = orders.born[row]!;
    if (gone === 0) continue;
    messages.push({
      at: at[row]!,
      kind: gone < 0 ? 'limit' : orders.executed[row] === 1 ? 'execution' : 'cancel',
      side: (flags[row]! & FLAG.sell) !== 0 ? 'sell' : 'buy',
      price: place[row]! + base,
      lots: Math.abs(gone),
      born: born < 0 ? Number.NaN : at[born]!,
      isInitial: gone < 0 && born < 0,
    });
  }
  return messages;
}

/** Runs a market on the embedded exchange in virtual time, and returns the messages of its orders. */
export function simulatedLog(market: Market, book: string, seconds: number): readonly OrderMessage[] {
  const clock = new VirtualClock();
  const venue = createVenue({ clock, seed: 1 });
  const logger = new LoggedPlace(venue.marketplace(book));
  market.start(logger);
  while ((clock.nextDue() ?? Infinity) <= seconds * 1000) clock.runNext();
  market.stop();
  venue.close();
  return logger.messages;
}

/** Marketplace that logs what a market does. */
class LoggedPlace implements FollowedPlace {
  readonly messages: OrderMessage[] = [];
  readonly #place: FollowedPlace;
  readonly #open = new Map<number, { side: Side; price: number; left: number; born: number }>();

  constructor(place: FollowedPlace) {
    this.#place = place;
    place.onSyntheticFill((id, side, price, amount, maker) => {
      if (maker) this.#log('execution', id, side, price, amount);
    });
  }

  get instrument() {
    return this.#place.instrument;
  }
  get clock() {
    return this.#place.clock;
  }
  get random() {
    return this.#place.random;
  }
  get feed() {
    return this.#place.feed;
  }

  place(side: Side, price: Price, amount: Amount, timeInForce: 'GTC' | 'IOC') {
    const placed = this.#place.place(side, price, amount, timeInForce);
    if (placed.rested > 0) {
      this.#open.set(placed.id, { side, price, left: placed.rested, born: this.#place.clock.now() });
      this.#log('limit', placed.id, side, price, placed.rested);
    }
    return placed;
  }

  cancel(id: number): Amount {
    const canceled = this.#place.cancel(id);
    this.#reduced(id, canceled);
    return canceled;
  }

  reduce(id: number, by: Amount): Amount {
    const before = this.#open.get(id)?.left ?? 0;
    const left = this.#place.reduce(id, by);
    this.#reduced(id, before - left);
    return left;
  }

  enlarge(id: number, by: Amount): void {
    this.#place.enlarge(id, by);
    const order = this.#open.get(id);
    if (order !== undefined) order.left += by;
  }

  takeStanding(side: Side, price: Price, amount: Amount, since: number): Amount {
    return this.#place.takeStanding(side, price, amount, since);
  }
  bestBid(): Price {
    return this.#place.bestBid();
  }
  bestAsk(): Price {
    return this.#place.bestAsk();
  }
  amountAt(side: Side, price: Price): Amount {
    return this.#place.amountAt(side, price);
  }
  accountOrders(side: Side) {
    return this.#place.accountOrders(side);
  }
  queueAt(side: Side, price: Price) {
    return this.#place.queueAt(side, price);
  }
  isLast(id: number): boolean {
    return this.#place.isLast(id);
  }
  hit(id: number, amount: Amount): void {
    this.#place.hit(id, amount);
  }
  onCancel(call: () => void): void {
    this.#place.onCancel(call);
  }
  onSyntheticFill(call: Parameters<FollowedPlace['onSyntheticFill']>[0]): void {
    this.#place.onSyntheticFill(call);
  }

  #reduced(id: number, by: number): void {
    const order = this.#open.get(id);
    if (order && by > 0) this.#log('cancel', id, order.side, order.price, by);
  }

  #log(kind: OrderMessage['kind'], id: number, side: Side, price: number, lots: number): void {
    const at = this.#place.clock.now();
    const order = this.#open.get(id);
    this.messages.push({ at, kind, side, price, lots, born: order?.born ?? Number.NaN, isInitial: false });
    if (!order || kind === 'limit') return;
    order.left -= lots;
    if (order.left <= 0) this.#open.delete(id);
  }
}

/** Amounts by price, with the best prices in order. */
export class MessageBook {
  readonly #lots: Record<Side, Map<number, number>> = { buy: new Map(), sell: new Map() };
  /** Prices, worst first. */
  readonly #prices: Record<Side, number[]> = { buy: [], sell: [] };

  apply({ kind, side, price, lots }: OrderMessage): void {
    const before = this.#lots[side].get(price) ?? 0;
    const after = Math.max(0, before + (kind === 'limit' ? lots : -lots));
    const prices = this.#prices[side];
    const place = this.#placeOf(side, price);
    if (after > 0) {
      this.#lots[side].set(price, after);
      if (before === 0) prices.splice(place, 0, price);
    } else if (this.#lots[side].delete(price)) prices.splice(place, 1);
  }

  /** Returns the best price of a side; NaN if the side is empty. */
  best(side: Side): number {
    return this.#prices[side].at(-1) ?? Number.NaN;
  }

  amountAt(side: Side, price: number): number {
    return this.#lots[side].get(price) ?? 0;
  }

  /** Returns the amount at the best price. */
  touch(side: Side): number {
    return this.#lots[side].get(this.best(side)) ?? 0;
  }

  /** Returns the amount at the best `levels` prices. */
  total(side: Side, levels: number): number {
    let sum = 0;
    for (const price of this.#prices[side].slice(-levels)) sum += this.#lots[side].get(price)!;
    return sum;
  }

  /** Returns the number of the level at a price, 1 for the best; also the number that a new price would get. */
  level(side: Side, price: number): number {
    const prices = this.#prices[side];
    const place = this.#placeOf(side, price);
    return prices.length - place + (prices[place] === price ? 0 : 1);
  }

  /** Whether both sides have a price and the bid is below the ask. */
  get isWhole(): boolean {
    return this.best('buy') < this.best('sell');
  }

  get mid(): number {
    return (this.best('buy') + this.best('sell')) / 2;
  }

  #placeOf(side: Side, price: number): number {
    const prices = this.#prices[side];
    const sign = side === 'buy' ? 1 : -1;
    let [low, high] = [0, prices.length];
    while (low < high) {
      const pivot = (low + high) >> 1;
      if (prices[pivot]! * sign < price * sign) low = pivot + 1;
      else high = pivot;
    }
    return low;
  }
}

/** Taker order: executions of one time against one side. `mid` is the mid price just before. */
export type LoggedTaker = { readonly at: number; readonly sign: 1 | -1; readonly mid: number; lots: number };

/** Returns +1 for executions of a taker's buy order, by the side of the resting order. */
export const takerSign = (side: Side): 1 | -1 => (opposite(side) === 'buy' ? 1 : -1);

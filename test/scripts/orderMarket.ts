/** A market made of single orders that come, go and are met by dice, with real queues and every order's fate known: what no recording at hand tells at so many kinds of books. */
import { amount, normal, price, randomOf, type Random } from '../../src/core/index.ts';
import { finishTape, KIND, SIDE, TapeBuilder, type Tape } from '../../src/tape/index.ts';

/** `reach`: mean distance of a new order from the other side's best, in ticks; `round`: share of orders on prices of ten ticks; `whales`: share of twenty times the amount. Rates a second, cancels an order. */
export type OrderMarketKind = {
  readonly reach: number;
  readonly round: number;
  readonly whales: number;
  readonly limitRate: number;
  readonly marketRate: number;
  readonly cancelRate: number;
};

const usual = { round: 0, whales: 0.02, limitRate: 4, marketRate: 0.4, cancelRate: 0.02 };
/** From books where every price has a queue to books where hardly one has. */
export const ORDER_MARKETS: Readonly<Record<string, OrderMarketKind>> = {
  dense: { ...usual, reach: 5 },
  middling: { ...usual, reach: 30 },
  sparse: { ...usual, reach: 300 },
  'at round prices': { ...usual, reach: 60, round: 0.5 },
  'with large orders': { ...usual, reach: 30, whales: 0.1 },
  busy: { ...usual, reach: 10, limitRate: 8, marketRate: 1, cancelRate: 0.01 },
};

const MIDDLE = 100_000;
const START = 1_000_000;
/** A taker goes no deeper than so many times the mean distance. */
const SWEEP_REACHES = 3;

type Order = { readonly id: number; readonly buys: boolean; readonly tick: number; lots: number };

/** Throws a RangeError when `kind` is none of `ORDER_MARKETS`. */
export function orderMarket(kind: string, seed: number, seconds: number): Tape {
  const found = ORDER_MARKETS[kind];
  if (!found) throw new RangeError(`no made market ${kind}; there are ${Object.keys(ORDER_MARKETS).join(', ')}`);
  const columns = new OrderMarket(found, randomOf(seed)).run(seconds);
  return finishTape({ source: `made market ${kind}`, book: 'btc_usd', tick: '0.01', columns, depth: Infinity });
}

class OrderMarket {
  readonly #kind: OrderMarketKind;
  readonly #random: Random;
  readonly #tape = new TapeBuilder();
  /** Oldest first. */
  readonly #orders: Order[] = [];
  #ids = 0;

  constructor(kind: OrderMarketKind, random: Random) {
    this.#kind = kind;
    this.#random = random;
  }

  run(seconds: number): ReturnType<TapeBuilder['columns']> {
    const { limitRate, marketRate, cancelRate } = this.#kind;
    for (let i = 0; i < (0.8 * limitRate) / cancelRate; i++) this.#place(START);
    for (let at = START; at < START + 1000 * seconds;) {
      const rate = limitRate + marketRate + cancelRate * this.#orders.length;
      at += Math.max(1, Math.round(1000 * (this.#exponential() / rate)));
      const dice = this.#random.next() * rate;
      if (dice < limitRate) this.#place(at);
      else if (dice < limitRate + marketRate) this.#take(at);
      else this.#tell(at, this.#orders[this.#random.integer(0, this.#orders.length - 1)]!, null);
    }
    return this.#tape.columns();
  }

  #place(at: number): void {
    const { reach, round } = this.#kind;
    const buys = this.#random.next() < 0.5;
    const sign = buys ? -1 : 1;
    const other = this.#best(!buys)?.tick ?? MIDDLE - sign * reach;
    let tick = other + sign * (1 + Math.floor(this.#exponential() * reach));
    if (this.#random.next() < round) tick = sign * Math.ceil((sign * tick) / 10) * 10;
    const order = { id: ++this.#ids, buys, tick, lots: this.#lots() };
    this.#orders.push(order);
    this.#tape.order(KIND.add, at, at, buys ? SIDE.buy : SIDE.sell, price(tick), amount(order.lots), order.id);
  }

  #take(at: number): void {
    const buys = this.#random.next() < 0.5;
    const first = this.#best(!buys)?.tick ?? 0;
    let left = 2 * this.#lots();
    for (let met = this.#best(!buys); met && left > 0; met = this.#best(!buys)) {
      if (Math.abs(met.tick - first) > SWEEP_REACHES * this.#kind.reach) return;
      const lots = Math.min(left, met.lots);
      left -= lots;
      met.lots -= lots;
      this.#tell(at, met, met.lots);
    }
  }

  /** It was met and has so much left, or it is canceled. */
  #tell(at: number, order: Order, left: number | null): void {
    const kind = left === null || left === 0 ? KIND.remove : KIND.change;
    const side = order.buys ? SIDE.buy : SIDE.sell;
    this.#tape.order(kind, at, at, side, price(order.tick), amount(left ?? order.lots), order.id);
    if (kind === KIND.remove) this.#orders.splice(this.#orders.indexOf(order), 1);
  }

  /** The oldest at the best price of a side. */
  #best(buys: boolean): Order | undefined {
    let best: Order | undefined;
    for (const order of this.#orders)
      if (order.buys === buys && (!best || (buys ? order.tick > best.tick : order.tick < best.tick))) best = order;
    return best;
  }

  #lots(): number {
    const whale = this.#random.next() < this.#kind.whales ? 20 : 1;
    return Math.max(1, Math.round(100 * whale * Math.exp(normal(this.#random))));
  }

  #exponential(): number {
    return -Math.log(1 - this.#random.next());
  }
}

/**
 * Market with a true queue at each price, and a bot that quotes on it: the events and commands that its recording would
 * have, without an engine. What the shadow must find is planted into the exchange, the wire or the recording.
 */
import {
  instrumentOf,
  money,
  moneyOf,
  OrderBook,
  randomOf,
  textOfAmount,
  textOfMoney,
  textOfPrice,
  type Amount,
  type Command,
  type EngineEvent,
  type Instrument,
  type OrderReport,
  type OwnTrade,
  type Price,
  type Random,
  type Side,
} from '../../../src/core/index.ts';
import { levelModel } from '../../../src/fills/index.ts';
import { ExpectedFills, type ModelOrder } from '../../../backtest/shadow/expectedFills.ts';

/** Differences from the models, from half of the time on. */
export type Planted = {
  /** Fee rate that is charged, in 10^-8; the rules of the book say 100,000. */
  readonly chargedRate?: number;
  readonly placementsMs?: number;
  readonly cancelsMs?: number;
  /** Lots that no book shows and that are ahead of each order of the bot. */
  readonly hiddenLots?: number;
  /** Share of the bot's fills that it gets. */
  readonly fillShare?: number;
  readonly clockMs?: number;
  readonly bookLateMs?: number;
  /** Share of the public trades that are not reported. */
  readonly missingTrades?: number;
  /** Basis points that a hedge costs more than its offer. */
  readonly hedgeBps?: number;
  /** Ticks by which fills are worse than the order's price. */
  readonly worseTicks?: number;
};

export type ShadowWorldOptions = {
  readonly seed: number;
  readonly minutes: number;
  readonly planted?: Planted;
  /** Whether fills come from the fill model, as on paper, and not from the queue. */
  readonly isPaper?: boolean;
  readonly see: (event: EngineEvent, commands: readonly Command[]) => void;
};

export const INSTRUMENT: Instrument = instrumentOf({
  book: 'btc_mxn',
  tickSize: '10',
  minimumAmount: '0.00001',
  maximumAmount: '500',
  minimumPrice: '10',
  maximumPrice: '100000000',
  minimumValue: '1',
  maximumValue: '100000000',
});
/** Lots of one order of the bot. */
const OWN_LOTS = 400_000;
const RATE = 100_000;
const START = 1_767_225_600_000;

/** Order in the queue. `hiddenFor`: order of the bot for which hidden lots are ahead; they go with it. */
type Queued = { lots: number; readonly own: Own | null; readonly hiddenFor?: Own };
type Own = {
  readonly id: string;
  readonly oid: string;
  readonly side: Side;
  readonly price: number;
  left: number;
  isLive: boolean;
  isKnown: boolean;
  isCanceling: boolean;
  createdAt: number;
  model: ModelOrder | null;
};

/** Runs the world, and hands each event to `see` in the order of time. */
export function runShadowWorld({ seed, minutes, planted: plan = {}, isPaper = false, see }: ShadowWorldOptions): void {
  const random = randomOf(seed);
  const market = new QueueMarket(random);
  const end = START + minutes * 60_000;
  const timers: { readonly at: number; readonly order: number; readonly call: () => void }[] = [];
  let now = START;
  let serial = 0;
  const after = (ms: number, call: () => void): void => {
    const timer = { at: now + ms, order: serial++, call };
    let i = timers.length;
    while (i > 0 && timers[i - 1]!.at > timer.at) i--;
    timers.splice(i, 0, timer);
  };
  const planted = (): Planted => (now >= START + (end - START) / 2 ? plan : {});
  const book = new OrderBook();
  const shown: Record<Side, Map<number, number>> = { buy: new Map(), sell: new Map() };
  const model = levelModel('expected');
  const paper = new ExpectedFills(model);
  const own = new Map<string, Own>();
  let unread: OwnTrade[] = [];
  let ids = 0;
  let tids = 0;
  const commands = (kind: Command[]): void => see({ kind: 'timer', at: now }, kind);
  const roundTrip = (): number => 20 - 20 * Math.log(1 - random.next());

  const showBook = (): void => {
    const levels = { buy: market.levels('buy'), sell: market.levels('sell') };
    const bestNow = { buy: market.best('buy'), sell: market.best('sell') };
    if (isPaper)
      for (const order of own.values())
        if (order.model !== null) paper.level(order.model, levels[order.side].get(order.price) ?? 0);
    const tell = (): void => {
      for (const side of ['buy', 'sell'] as const) {
        for (const price of shown[side].keys())
          if (!levels[side].has(price)) book.set(side, price as Price, 0 as Amount);
        for (const [price, lots] of levels[side]) book.set(side, price as Price, lots as Amount);
        shown[side] = levels[side];
      }
      if (bestNow.buy > 0) see({ kind: 'book', at: now, startedAt: null, book }, []);
    };
    const late = planted().bookLateMs ?? 0;
    if (late > 0) after(late, tell);
    else tell();
  };

  const fill = (order: Own, lots: number): void => {
    const { fillShare = 1, chargedRate = RATE, worseTicks = 0, clockMs = 0 } = planted();
    const given = Math.min(order.left, Math.round(lots * fillShare));
    if (!(given > 0)) return;
    order.left -= given;
    const price = order.price + (order.side === 'buy' ? worseTicks : -worseTicks);
    const minor = money(BigInt(price) * BigInt(given) * INSTRUMENT.tickLotMoney);
    const major = textOfAmount(INSTRUMENT, given as Amount);
    const charged = money(((order.side === 'buy' ? moneyOf(major) : minor) * BigInt(chargedRate)) / 100_000_000n);
    unread.push({
      ...{ book: 'btc_mxn', tid: String(++tids), oid: order.oid, originId: order.id, createdAt: now + clockMs },
      ...{ side: order.side, price: textOfPrice(INSTRUMENT, price as Price), major, minor: textOfMoney(minor) },
      ...{ feeAmount: textOfMoney(charged), feeCurrency: order.side === 'buy' ? 'btc' : 'mxn', maker: true },
    });
    if (order.left === 0) {
      order.isLive = false;
      market.leave(order);
      if (order.model !== null) paper.leave(order.model);
    }
    after(300, read);
  };
  const read = (): void => {
    if (unread.length === 0) return;
    const trades = unread;
    unread = [];
    see({ kind: 'trades', at: now, startedAt: now - 30, complete: true, trades }, []);
    for (const [id, order] of own) if (!order.isLive && order.left === 0) own.delete(id);
  };

  const takeFrom = (taker: Side): void => {
    const resting: Side = taker === 'buy' ? 'sell' : 'buy';
    for (const { price, lots, fills } of market.take(resting, market.size())) {
      for (const [order, part] of fills) fill(order, part);
      if (random.next() >= (planted().missingTrades ?? 0))
        see({ kind: 'public trade', at: now, price: price as Price, amount: lots as Amount, side: taker }, []);
      if (!isPaper) continue;
      const before = new Map([...own.values()].map(order => [order, order.model?.left ?? 0]));
      paper.trade(taker, price, lots, now);
      for (const [order, left] of before)
        if (order.model !== null && order.model.left < left) fill(order, left - order.model.left);
    }
  };

  const place = (side: Side, price: number): void => {
    const id = `bot-1-${++ids}`;
    const decidedAt = now;
    const took = roundTrip() + (planted().placementsMs ?? 0);
    const order: Own = {
      ...{ id, oid: `oid${ids}`, side, price, left: OWN_LOTS, isLive: false, isKnown: false, isCanceling: false },
      ...{ createdAt: 0, model: null },
    };
    own.set(id, order);
    commands([{ kind: 'place', id, side, price: price as Price, amount: OWN_LOTS as Amount }]);
    after(took / 2, () => {
      order.createdAt = Math.round(now + (planted().clockMs ?? 0));
      const opposite = market.best(side === 'buy' ? 'sell' : 'buy');
      if (side === 'buy' ? price >= opposite : price <= opposite) return;
      order.isLive = true;
      if (isPaper) order.model = paper.join(side, price, OWN_LOTS, now, market.levels(side).get(price) ?? 0);
      else market.join(order, planted().hiddenLots ?? 0);
    });
    after(took, () => {
      order.isKnown = true;
      see({ kind: 'placed', at: decidedAt + took, id, outcome: { kind: 'done', value: { oid: order.oid } } }, []);
    });
  };
  const cancel = (order: Own): void => {
    order.isCanceling = true;
    const startedAt = now;
    const took = roundTrip() + (planted().cancelsMs ?? 0);
    commands([{ kind: 'cancel', ids: [order.id] }]);
    let isCanceled = false;
    after(took / 2, () => {
      isCanceled = order.isLive;
      order.isLive = false;
      market.leave(order);
      if (order.model !== null) paper.leave(order.model);
    });
    after(took, () => {
      const value = isCanceled ? [order.oid] : [];
      see({ kind: 'canceled', at: now, startedAt, ids: [order.id], outcome: { kind: 'done', value } }, []);
      if (isCanceled) own.delete(order.id);
    });
  };

  const decide = (): void => {
    for (const side of ['buy', 'sell'] as const) {
      const mine = [...own.values()].filter(order => order.side === side);
      const best = market.best(side);
      const wanted = best + (side === 'buy' ? -1 : 1) * random.integer(0, 2);
      for (const order of mine)
        if (order.isKnown && !order.isCanceling && (Math.abs(order.price - best) > 5 || random.next() < 0.06))
          cancel(order);
      if (mine.length === 0) place(side, wanted);
    }
    after(1_000, decide);
  };
  const list = (): void => {
    const orders = [...own.values()]
      .filter(order => order.isLive && order.isKnown)
      .map((order): OrderReport => ({
        ...{ book: 'btc_mxn', oid: order.oid, originId: order.id, side: order.side, type: 'limit', status: 'open' },
        ...{ originalAmount: '0.004', unfilledAmount: '0.004', createdAt: order.createdAt },
      }));
    see({ kind: 'open orders', at: now, startedAt: now, complete: true, orders }, []);
    for (const [id, order] of own) if (order.isKnown && !order.isLive && !order.isCanceling) own.delete(id);
    after(2_000, list);
  };
  const hedge = (): void => {
    const id = `hedge-${++ids}`;
    const mid = (market.best('buy') + market.best('sell')) / 2;
    const value = moneyOf(String(Math.round(mid * 10) * 0.01));
    const offer = { id, give: { currency: 'btc', amount: moneyOf('0.01') }, get: { currency: 'mxn', amount: value } };
    see({ kind: 'conversion', at: now, phase: 'in flight', conversion: offer }, []);
    const got = money((value * BigInt(10_000 - (planted().hedgeBps ?? 0))) / 10_000n);
    after(900, () =>
      see(
        { kind: 'conversion', at: now, phase: 'done', conversion: { ...offer, get: { currency: 'mxn', amount: got } } },
        [],
      ),
    );
    after(120_000, hedge);
  };
  const flow = (): void => {
    const draw = random.next();
    if (draw < 0.2) takeFrom(random.next() < 0.5 ? 'buy' : 'sell');
    else if (draw < 0.55) market.cancelOne();
    else market.addOne();
    market.keep();
    showBook();
    after(-400 * Math.log(1 - random.next()), flow);
  };

  see({ kind: 'rules', at: now, instrument: INSTRUMENT, makerRate: RATE, takerRate: 3 * RATE }, []);
  showBook();
  after(10, flow);
  after(100, decide);
  after(500, list);
  after(60_000, hedge);
  for (let next = timers.shift(); next !== undefined && next.at <= end; next = timers.shift()) {
    now = next.at;
    next.call();
  }
}

/** Whether the book shows an order: it is of others, and not hidden. */
const isShown = ({ own, hiddenFor }: Queued): boolean => own === null && hiddenFor === undefined;

/** Book of others with the bot's orders among them, first come first served. */
class QueueMarket {
  readonly #random: Random;
  readonly #queues: Record<Side, Map<number, Queued[]>> = { buy: new Map(), sell: new Map() };
  #mid = 150_000;

  constructor(random: Random) {
    this.#random = random;
    this.keep();
  }

  best(side: Side): number {
    const prices = [...this.#queues[side]].filter(([, queue]) => queue.some(isShown)).map(([price]) => price);
    return side === 'buy' ? Math.max(0, ...prices) : Math.min(...prices);
  }

  /** Lots of others at each price. */
  levels(side: Side): Map<number, number> {
    const found = new Map<number, number>();
    for (const [price, queue] of this.#queues[side]) {
      const lots = queue.reduce((sum, one) => (isShown(one) ? sum + one.lots : sum), 0);
      if (lots > 0) found.set(price, lots);
    }
    return found;
  }

  size(): number {
    return Math.ceil(-300_000 * Math.log(1 - this.#random.next())) + 1_000;
  }

  /** Fills the empty levels within ten ticks of the mid price. */
  keep(): void {
    if (this.#random.next() < 0.05) this.#mid += this.#random.next() < 0.5 ? 1 : -1;
    for (const side of ['buy', 'sell'] as const) {
      const sign = side === 'buy' ? -1 : 1;
      for (const price of this.#queues[side].keys()) {
        const isThrough = side === 'buy' ? price >= this.#mid : price <= this.#mid;
        const isFar = Math.abs(price - this.#mid) > 14;
        const queue = this.#queues[side].get(price)!;
        if (isFar || isThrough)
          this.#queues[side].set(
            price,
            queue.filter(one => !isShown(one)),
          );
        if (this.#queues[side].get(price)!.length === 0) this.#queues[side].delete(price);
      }
      for (let i = 2; i <= 10; i++) {
        const price = this.#mid + sign * i;
        const queue = this.#queues[side].get(price) ?? [];
        if (!queue.some(isShown)) this.#queues[side].set(price, [...queue, { lots: this.size(), own: null }]);
      }
    }
  }

  addOne(): void {
    const side: Side = this.#random.next() < 0.5 ? 'buy' : 'sell';
    const price = this.#mid + (side === 'buy' ? -1 : 1) * this.#random.integer(1, 8);
    const queue = this.#queues[side].get(price) ?? [];
    this.#queues[side].set(price, [...queue, { lots: this.size(), own: null }]);
  }

  cancelOne(): void {
    const side: Side = this.#random.next() < 0.5 ? 'buy' : 'sell';
    const price = this.#mid + (side === 'buy' ? -1 : 1) * this.#random.integer(1, 8);
    const queue = this.#queues[side].get(price) ?? [];
    const others = queue.filter(isShown);
    if (others.length === 0) return;
    const gone = others[this.#random.integer(0, others.length - 1)]!;
    this.#queues[side].set(
      price,
      queue.filter(one => one !== gone),
    );
  }

  join(own: Own, hiddenLots: number): void {
    const queue = this.#queues[own.side].get(own.price) ?? [];
    const hidden = hiddenLots > 0 ? [{ lots: hiddenLots, own: null, hiddenFor: own }] : [];
    this.#queues[own.side].set(own.price, [...queue, ...hidden, { lots: own.left, own }]);
  }

  leave(own: Own): void {
    const queue = this.#queues[own.side].get(own.price);
    if (queue !== undefined)
      this.#queues[own.side].set(
        own.price,
        queue.filter(one => one.own !== own && one.hiddenFor !== own),
      );
  }

  /** Takes lots from the resting side, best price first. Returns the executions by price, with the bot's part. */
  take(side: Side, most: number): { price: number; lots: number; fills: readonly (readonly [Own, number])[] }[] {
    const prices = [...this.#queues[side].keys()].sort((a, b) => (side === 'buy' ? b - a : a - b));
    const found: { price: number; lots: number; fills: [Own, number][] }[] = [];
    let left = Math.floor(most);
    for (const price of prices) {
      if (!(left > 0)) break;
      const execution: (typeof found)[number] = { price, lots: 0, fills: [] };
      const queue = this.#queues[side].get(price)!;
      for (const one of queue) {
        const part = Math.min(left, one.lots);
        if (!(part > 0)) continue;
        one.lots -= part;
        left -= part;
        execution.lots += part;
        if (one.own !== null) execution.fills.push([one.own, part]);
      }
      this.#queues[side].set(
        price,
        queue.filter(({ lots }) => lots > 0),
      );
      if (execution.lots > 0) found.push(execution);
    }
    return found;
  }
}

/**
 * A small synchronous exchange around one engine: it answers at once, or as the test tells it to, and keeps the truth.
 */
import {
  Engine,
  money,
  OrderBook,
  textOfMoney,
  type Approved,
  type Command,
  type EngineEvent,
  type EngineOptions,
  type Meaning,
  type OrderReport,
  type OwnTrade,
  type PlaceCommand,
  type Quote,
  type Side,
  type Strategy,
  type View,
} from '../../src/core/index.ts';
import { plain } from './market.ts';

export type TrueOrder = {
  id: string;
  oid: string;
  side: Side;
  price: number;
  amount: number;
  filled: number;
  isLive: boolean;
};
/**
 * Outcome of a request: done and told, done and not told, not done and not told, taken and at once canceled by the
 * exchange, or refused with a code.
 */
export type Fate =
  'done' | 'done untold' | 'lost' | 'canceled on arrival' | { readonly code: string; readonly meaning?: Meaning };

/** Levels at these distances from the middle, 10 lots each. */
export const quoteAround = (...distances: number[]): Strategy => ({
  quote: ({ mid }: View): Quote => {
    const side = (sign: number) =>
      distances.map(away => ({
        price: mid + sign * away,
        amount: 10 as never,
        why: [{ name: 'wanted', ticks: mid + sign * away }],
      }));
    return { bids: side(-1), asks: side(1) };
  },
});

/** It decides whenever it is told anything. */
export const PATIENCE: EngineOptions['timing'] = {
  requestDelayMaxMs: 10_000,
  tradeReportDelayMaxMs: 3000,
  cancelAgainMs: 1000,
  decideEveryMs: 0,
  lookEveryMs: 50,
  privateStaleAfterMs: 5000,
};

export class ToyExchange {
  now = 1_000_000;
  bids: [number, number][] = [[990, 50]];
  asks: [number, number][] = [[1010, 50]];
  fateOfPlace: (command: PlaceCommand) => Fate = () => 'done';
  fateOfCancel: () => Fate = () => 'done';
  /** False: look-ups are lost. */
  canLook = true;
  /** False: the book is served without our orders, and the engine is told so. */
  showsOwn = true;
  readonly truth = new Map<string, TrueOrder>();
  readonly log: Approved<Command>[] = [];
  readonly engine: Engine;
  /** As the exchange last showed it. */
  readonly book = new OrderBook();
  #opening = { btc: 0, mxn: 0 };
  #trades: OwnTrade[] = [];
  #tid = 0;

  constructor(options: Partial<EngineOptions> = {}) {
    this.engine = Engine.ofOneBook({
      instrument: plain,
      strategy: quoteAround(2),
      limits: {
        positionMax: 100,
        orderValueMax: 10n ** 9n,
        ordersMax: 20,
        collarBps: 1000,
        staleAfterMs: 3000,
      } as never,
      tolerance: { priceBps: 10, amountShare: 0.5, maxAgeMs: 3_600_000 },
      instance: 'mm',
      run: 7,
      target: null,
      timing: PATIENCE,
      ...options,
    });
  }

  /** Everything up to the first book. */
  open({ btc, mxn }: Readonly<Record<'btc' | 'mxn', number>> = { btc: 1e9, mxn: 1e9 }): this {
    this.step({ kind: 'rules', at: this.now, instrument: plain, makerRate: 0, takerRate: 0 });
    this.#opening = { btc, mxn };
    this.readBalances();
    return this;
  }

  /** Opening amounts with the effect of all fills since. */
  readBalances(): void {
    const { lots, paid } = this.traded;
    const { btc, mxn } = this.#opening;
    const balances = Object.entries({ btc: btc + lots, mxn: mxn - paid }).map(([currency, total]) => ({
      ...{ currency, total: `${total}`, locked: '0', available: `${total}` },
    }));
    this.step({ kind: 'balances', at: this.now, startedAt: this.now, quiet: true, balances });
  }

  /** `ms` later: the book, trades and open orders are read, and time is told. */
  round(ms = 200): this {
    this.now += ms;
    this.readBook();
    this.readPrivate();
    this.step({ kind: 'timer', at: this.now });
    return this;
  }

  rounds(count: number, ms = 200): this {
    for (let n = 0; n < count; n++) this.round(ms);
    return this;
  }

  readPrivate(): void {
    const trades = this.#trades.splice(0);
    this.step({ kind: 'trades', at: this.now, startedAt: this.now, complete: true, trades });
    this.step({
      kind: 'open orders',
      at: this.now,
      startedAt: this.now,
      complete: true,
      orders: this.live.map(o => this.report(o)),
    });
  }

  readBook(): void {
    this.showBook();
    this.step({ kind: 'book', at: this.now, startedAt: this.showsOwn ? this.now : null, book: this.book });
  }

  /** Updates `book` to the levels that a read of the book would show now. */
  showBook(): void {
    const { book } = this;
    book.clear();
    for (const [of, levels] of [
      ['buy', this.bids],
      ['sell', this.asks],
    ] as const) {
      for (const [price, lots] of levels) book.set(of, price as never, lots as never);
      if (!this.showsOwn) continue;
      for (const o of this.live) {
        if (o.side !== of) continue;
        const left = book.amountAt(of, o.price as never) + o.amount - o.filled;
        book.set(of, o.price as never, left as never);
      }
    }
  }

  step(event: EngineEvent): readonly Approved<Command>[] {
    const commands = this.engine.step(event);
    this.log.push(...commands);
    for (const command of commands) this.#carryOut(command);
    return commands;
  }

  get live(): TrueOrder[] {
    return [...this.truth.values()].filter(o => o.isLive);
  }

  /** Lots bought less lots sold by all fills, and money paid less money received. */
  get traded(): { readonly lots: number; readonly paid: number } {
    let [lots, paid] = [0, 0];
    for (const { side, price, filled } of this.truth.values()) {
      lots += side === 'buy' ? filled : -filled;
      paid += price * (side === 'buy' ? filled : -filled);
    }
    return { lots, paid };
  }

  prices(side: Side): number[] {
    return this.live
      .filter(o => o.side === side)
      .map(o => o.price)
      .sort((a, b) => (side === 'buy' ? b - a : a - b));
  }

  places(): Extract<Command, { kind: 'place' }>[] {
    return this.log.flatMap(c => (c.kind === 'place' ? [c] : []));
  }

  /** An order that somebody put there under this id. */
  plant(id: string, side: Side, price: number, amount: number): void {
    this.truth.set(id, { id, oid: `oid-${id}`, side, price, amount, filled: 0, isLive: true });
  }

  fill(id: string, lots: number, maker = true): void {
    const o = this.truth.get(id);
    if (!o?.isLive) return;
    const all = Math.min(lots, o.amount - o.filled);
    o.filled += all;
    if (o.filled === o.amount) o.isLive = false;
    const minor = textOfMoney(money(BigInt(all * o.price) * 10n ** 18n));
    const of = {
      book: plain.symbol,
      tid: String(++this.#tid),
      oid: o.oid,
      originId: o.id,
      // The exchange reports the times of trades in whole seconds.
      createdAt: Math.floor(this.now / 1_000) * 1_000,
      side: o.side,
    } as const;
    this.#trades.push({
      ...of,
      price: String(o.price),
      major: String(all),
      minor,
      feeAmount: '0',
      feeCurrency: 'btc',
      maker,
    });
  }

  /** It trades with the levels that it reaches, at its own price, and what is left of it is gone. */
  take(id: string): void {
    const o = this.truth.get(id)!;
    const [levels, reaches] =
      o.side === 'buy' ? [this.asks, (p: number) => p <= o.price] : [this.bids, (p: number) => p >= o.price];
    if (this.live.some(own => own.side !== o.side && reaches(own.price)))
      throw new Error('it trades with our own order');
    const there = levels.reduce((sum, [price, lots]) => (reaches(price) ? sum + lots : sum), 0);
    if (there > 0) this.fill(id, there, false);
    o.isLive = false;
  }

  report(o: TrueOrder): OrderReport {
    const status = o.isLive
      ? o.filled > 0
        ? 'partially filled'
        : 'open'
      : o.filled === o.amount
        ? 'completed'
        : 'cancelled';
    const of = {
      book: plain.symbol,
      oid: o.oid,
      originId: o.id,
      side: o.side,
      type: 'limit',
      status,
      createdAt: 0,
    } as const;
    return {
      ...of,
      price: String(o.price),
      originalAmount: String(o.amount),
      unfilledAmount: String(o.amount - o.filled),
    };
  }

  #carryOut(command: Approved<Command>): void {
    const at = this.now;
    if (command.kind === 'place') {
      const fate = this.fateOfPlace(command);
      const isTaken = fate === 'done' || fate === 'canceled on arrival';
      if (isTaken || fate === 'done untold') this.plant(command.id, command.side, command.price, command.amount);
      if (fate === 'canceled on arrival') this.truth.get(command.id)!.isLive = false;
      if (command.takes && this.truth.has(command.id)) this.take(command.id);
      const outcome = isTaken
        ? ({ kind: 'done', value: { oid: `oid-${command.id}` } } as const)
        : typeof fate === 'string'
          ? ({ kind: 'unknown', reason: fate } as const)
          : ({ kind: 'refused', message: 'no', ...fate } as const);
      this.step({ kind: 'placed', at, id: command.id, outcome });
      return;
    }
    if (command.kind === 'cancel') {
      const fate = this.fateOfCancel();
      const oids: string[] = [];
      for (const id of command.ids) {
        const o = this.truth.get(id);
        if (!o?.isLive || (fate !== 'done' && fate !== 'done untold')) continue;
        o.isLive = false;
        oids.push(o.oid);
      }
      const outcome =
        fate === 'done' ? ({ kind: 'done', value: oids } as const) : ({ kind: 'unknown', reason: 'lost' } as const);
      this.step({ kind: 'canceled', at, startedAt: at, ids: command.ids, outcome });
      return;
    }
    const found = command.ids.flatMap(id => this.truth.get(id) ?? []).map(o => this.report(o));
    const outcome = this.canLook
      ? ({ kind: 'done', value: found } as const)
      : ({ kind: 'unknown', reason: 'lost' } as const);
    this.step({ kind: 'looked up', at, startedAt: at, ids: command.ids, outcome });
  }
}

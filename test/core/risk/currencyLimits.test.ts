import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  Engine,
  moneyOf,
  OrderBook,
  type Approved,
  type Command,
  type EngineEvent,
  type Instrument,
  type OrderReport,
  type OwnTrade,
  type PlaceCommand,
  type Side,
} from '../../../src/core/index.ts';
import { runsOf } from '../../many.ts';
import { PATIENCE, quoteAround } from '../desk.ts';
import { plain } from '../market.ts';

const BOOKS: readonly Instrument[] = [
  { ...plain, symbol: 'btc_mxn' },
  { ...plain, symbol: 'btc_usd', minor: 'usd' },
  { ...plain, symbol: 'usd_mxn', major: 'usd' },
  { ...plain, symbol: 'eth_usd', major: 'eth', minor: 'usd' },
];
const FUNDS = { btc: 1_000_000, eth: 1_000_000, usd: 1_000_000_000, mxn: 1_000_000_000 } as const;
type Currency = keyof typeof FUNDS;
const LIMITS = { positionMax: 100_000, orderValueMax: 10n ** 9n, ordersMax: 20, collarBps: 1000, staleAfterMs: 3000 };

/** Four books with orders of ten lots at several levels; fills are what the test says. */
class LimitedDesk {
  at = 1_000_000;
  readonly engine: Engine;
  readonly live = new Map<string, PlaceCommand>();
  readonly held: Record<Currency, number> = { btc: 0, eth: 0, usd: 0, mxn: 0 };
  readonly #books: readonly Instrument[];
  #trades: OwnTrade[] = [];
  #tid = 0;

  constructor(limits: Readonly<Partial<Record<Currency, number>>>, books = BOOKS) {
    this.#books = books;
    const currencyLimits = new Map(Object.entries(limits).map(([currency, most]) => [currency, moneyOf(`${most}`)]));
    this.engine = new Engine(
      { instance: 'mm', run: 1, timing: PATIENCE, currencyLimits },
      books.map(instrument => ({
        instrument,
        strategy: quoteAround(20, 30, 40),
        limits: LIMITS as never,
        tolerance: { priceBps: 10, amountShare: 0.5, maxAgeMs: 3_600_000 },
        target: null,
      })),
    );
    for (const instrument of books)
      this.step({ kind: 'rules', ...this.#named(instrument), at: this.at, instrument, makerRate: 0, takerRate: 0 });
    const balances = Object.entries(FUNDS).map(([currency, amount]) => {
      const total = `${amount}`;
      return { currency, total, locked: '0', available: total };
    });
    this.step({ kind: 'balances', at: this.at, startedAt: this.at, quiet: true, balances });
    this.round();
  }

  #named({ symbol }: Instrument): { readonly symbol?: string } {
    return this.#books.length === 1 ? {} : { symbol };
  }

  bookOf(id: string): Instrument {
    return this.#books[this.engine.books.indexOf(this.engine.bookWith(id)!)]!;
  }

  step(event: EngineEvent): void {
    for (const command of this.engine.step(event)) this.#execute(command);
  }

  round(): this {
    this.at += 1_000;
    const at = this.at;
    for (const instrument of this.#books) {
      const book = new OrderBook();
      book.set('buy', 990 as never, 50 as never);
      book.set('sell', 1_010 as never, 50 as never);
      this.step({ kind: 'book', ...this.#named(instrument), at, startedAt: null, book });
    }
    this.step({ kind: 'trades', at, startedAt: at, complete: true, trades: this.#trades.splice(0) });
    this.step({ kind: 'open orders', at, startedAt: at, complete: true, orders: this.#reports() });
    this.step({ kind: 'timer', at });
    return this;
  }

  fill(id: string): void {
    const command = this.live.get(id)!;
    const { symbol, major, minor } = this.bookOf(id);
    this.live.delete(id);
    const [sign, value] = [command.side === 'buy' ? 1 : -1, command.amount * command.price];
    this.held[major as Currency] += sign * command.amount;
    this.held[minor as Currency] -= sign * value;
    this.#trades.push({
      ...{ book: symbol, tid: `${++this.#tid}`, oid: `oid-${id}`, originId: id, createdAt: this.at },
      ...{ side: command.side, price: `${command.price}`, major: `${command.amount}`, minor: `${value}` },
      ...{ feeAmount: '0', feeCurrency: major, maker: true },
    });
  }

  /** The largest |exposure| of a currency that fills of the live orders can lead to. */
  worst(currency: Currency): number {
    let [up, down] = [this.held[currency], this.held[currency]];
    for (const [id, { side, amount, price }] of this.live) {
      const { major, minor } = this.bookOf(id);
      const change = major === currency ? amount : minor === currency ? -amount * price : 0;
      const signed = side === 'buy' ? change : -change;
      if (signed > 0) up += signed;
      else down += signed;
    }
    return Math.max(Math.abs(up), Math.abs(down));
  }

  #reports(): readonly OrderReport[] {
    return [...this.live].map(([id, { side, price, amount }]) => ({
      ...{ book: this.bookOf(id).symbol, oid: `oid-${id}`, originId: id, side, type: 'limit' as const },
      ...{ status: 'open' as const, createdAt: 0, price: `${price}` },
      ...{ originalAmount: `${amount}`, unfilledAmount: `${amount}` },
    }));
  }

  #execute(command: Approved<Command>): void {
    const at = this.at;
    if (command.kind === 'place') {
      this.live.set(command.id, command);
      this.step({ kind: 'placed', at, id: command.id, outcome: { kind: 'done', value: { oid: `oid-${command.id}` } } });
    } else if (command.kind === 'cancel') {
      const value = command.ids.filter(id => this.live.delete(id)).map(id => `oid-${id}`);
      this.step({ kind: 'canceled', at, startedAt: at, ids: command.ids, outcome: { kind: 'done', value } });
    } else {
      const value = this.#reports().filter(({ originId }) => command.ids.includes(originId!));
      this.step({ kind: 'looked up', at, startedAt: at, ids: command.ids, outcome: { kind: 'done', value } });
    }
  }
}

const sidesOf = (desk: LimitedDesk): ReadonlySet<string> =>
  new Set([...desk.live].map(([id, { side }]) => `${desk.bookOf(id).symbol} ${side}`));

describe('limits by currency over all books', () => {
  test('hold after any fills, whatever orders are live', () => {
    const limit = fc.option(fc.integer({ min: 1, max: 200 }), { nil: undefined });
    fc.assert(
      fc.property(
        fc.record({ btc: limit, eth: limit, usd: fc.option(fc.integer({ min: 1, max: 200_000 }), { nil: undefined }) }),
        fc.shuffledSubarray([...BOOKS], { minLength: 1 }),
        fc.array(fc.nat(100), { maxLength: 40 }),
        (drawn, books, fills) => {
          const isLimited = (currency: string, most: number | undefined): boolean =>
            most !== undefined && books.some(({ major }) => major === currency);
          const limits = Object.fromEntries(
            Object.entries(drawn).filter(([currency, most]) => isLimited(currency, most)),
          ) as Partial<Record<Currency, number>>;
          const desk = new LimitedDesk(limits, books);
          for (const which of fills) {
            const ids = [...desk.live.keys()];
            if (ids.length > 0) desk.fill(ids[which % ids.length]!);
            desk.round();
            for (const [currency, most] of Object.entries(limits))
              expect(desk.worst(currency as Currency), currency).toBeLessThanOrEqual(most);
          }
        },
      ),
      runsOf(150, 30),
    );
  });

  test('stop only what would raise the exposure, and say the reason, the room and the key', () => {
    const desk = new LimitedDesk({ btc: 60 });
    const buy = (): string | undefined =>
      [...desk.live].find(([id, { side }]) => side === 'buy' && desk.bookOf(id).major === 'btc')?.[0];
    for (let id = buy(); id !== undefined; id = buy()) {
      desk.fill(id);
      desk.round();
    }
    expect(desk.held.btc).toBe(60);
    expect(sidesOf(desk)).toEqual(
      new Set(['btc_mxn sell', 'btc_usd sell', 'usd_mxn buy', 'usd_mxn sell', 'eth_usd buy', 'eth_usd sell']),
    );
    const { unshown, emptySidesText } = desk.engine.books[1]!.snapshot(desk.at);
    expect(unshown.buy?.reason).toBe('currency limit');
    expect(emptySidesText).toContain('accountLimits allows only 0 btc more over all books');
    expect(desk.engine.books[1]!.limitUses(desk.at)).toContainEqual({
      ...{ limit: 'accountLimits', currency: 'btc', max: moneyOf('60'), used: moneyOf('60') },
    });
  });

  test('count the quote currency of one book that is the base of another', () => {
    const desk = new LimitedDesk({ usd: 25_000 }, BOOKS.slice(0, 3));
    const sells = (): string[] =>
      [...desk.live]
        .filter(([id, { side }]) => side === 'sell' && desk.bookOf(id).symbol === 'btc_usd')
        .map(([id]) => id);
    for (let [id] = sells(); id !== undefined; [id] = sells()) {
      desk.fill(id);
      desk.round();
    }
    expect(desk.held.usd).toBeGreaterThan(15_000);
    expect(desk.held.usd).toBeLessThanOrEqual(25_000);
    expect([...sidesOf(desk)]).toContain('btc_usd buy');
  });

  test('are refused for a currency that is the base of no book', () => {
    expect(() => new LimitedDesk({ usd: 25_000 }, BOOKS.slice(0, 2))).toThrow(
      'usd has a limit, but is the base currency of no book',
    );
  });

  test.each<Side>(['buy', 'sell'])('without a limit, both sides of all books are quoted (%s)', side => {
    const desk = new LimitedDesk({});
    for (const { symbol } of BOOKS) expect([...sidesOf(desk)]).toContain(`${symbol} ${side}`);
  });
});

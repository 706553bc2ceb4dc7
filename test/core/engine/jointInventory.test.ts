import { describe, expect, test } from 'vitest';
import {
  Engine,
  normal,
  OrderBook,
  randomOf,
  type EngineEvent,
  type Instrument,
  type OwnTrade,
  type RestoredLedger,
  type View,
} from '../../../src/core/index.ts';
import { ledgerOf, textOfLedger } from '../../../src/live/recording/ledgerText.ts';
import { PATIENCE, quoteAround } from '../desk.ts';
import { plain } from '../market.ts';

const BOOKS: readonly Instrument[] = [
  { ...plain, symbol: 'btc_mxn' },
  { ...plain, symbol: 'eth_mxn', major: 'eth' },
];
const RULES = { currency: 'mxn', sampleMs: 10_000, halfLifeMs: 3_600_000 };
const LIMITS = { positionMax: 50, orderValueMax: 10n ** 9n, ordersMax: 20, collarBps: 1000, staleAfterMs: 20_000 };

/** Two books whose mid prices move together, around an engine whose strategies keep the positions that they saw. */
class Desk {
  at = 1_000_000;
  readonly engine: Engine;
  readonly seen = new Map<string, number>();
  readonly #random = randomOf(5);
  #bought = 0;
  #first = 0;
  #second = 0;

  readonly #correlation: number;
  readonly #books: readonly Instrument[];
  /** Balances of the account. */
  readonly balances = { btc: 1_000, eth: 1_000, mxn: 1_000_000_000 };

  constructor(correlation: number, joint = true, books = BOOKS) {
    this.#correlation = correlation;
    this.#books = books;
    this.engine = new Engine(
      { instance: 'mm', run: 1, timing: PATIENCE, ...(joint ? { jointInventory: RULES } : {}) },
      books.map(instrument => ({
        instrument,
        strategy: {
          quote: (view: View) => {
            this.seen.set(instrument.symbol, view.skewPosition ?? view.position);
            expect(view.position).toBe(this.#ownLots(instrument));
            return quoteAround(20).quote(view);
          },
        },
        limits: LIMITS as never,
        tolerance: { priceBps: 10, amountShare: 0.5, maxAgeMs: 3_600_000 },
        target: null,
      })),
    );
  }

  /** Lots that the book bought; only foreign trades of `buys` change them. */
  #ownLots({ major }: Instrument): number {
    return major === 'btc' ? this.#bought : 0;
  }

  step(event: EngineEvent): void {
    for (const command of this.engine.step(event))
      if (command.kind === 'place') {
        const outcome = { kind: 'refused', code: 'not-sent', message: 'not sent' } as const;
        this.step({ kind: 'placed', at: this.at, id: command.id, outcome });
      }
  }

  open(): this {
    for (const instrument of this.#books)
      this.step({ kind: 'rules', ...this.#named(instrument), at: this.at, instrument, makerRate: 0, takerRate: 0 });
    const balances = Object.entries(this.balances).map(([currency, amount]) => {
      const total = `${amount}`;
      return { currency, total, locked: '0', available: total };
    });
    this.step({ kind: 'balances', at: this.at, startedAt: this.at, quiet: true, balances });
    return this;
  }

  #named({ symbol }: Instrument): { readonly symbol?: string } {
    return this.#books.length === 1 ? {} : { symbol };
  }

  /** Market data and account reads every ten seconds. */
  run(rounds: number): this {
    for (let k = 0; k < rounds; k++) {
      this.at += RULES.sampleMs;
      this.#first += normal(this.#random);
      this.#second += normal(this.#random);
      const own = [this.#first, this.#correlation * this.#first + (1 - this.#correlation) * this.#second];
      this.#books.forEach((instrument, i) => {
        const book = new OrderBook();
        const mid = Math.round(100_000 + 100 * own[i]!);
        book.set('buy', (mid - 10) as never, 50 as never);
        book.set('sell', (mid + 10) as never, 50 as never);
        this.step({ kind: 'book', ...this.#named(instrument), at: this.at, startedAt: null, book });
      });
      this.step({ kind: 'trades', at: this.at, startedAt: this.at, complete: true, trades: [] });
      this.step({ kind: 'open orders', at: this.at, startedAt: this.at, complete: true, orders: [] });
      this.step({ kind: 'timer', at: this.at });
    }
    return this;
  }

  continuesFrom(before: Desk): this {
    this.#bought = before.#bought;
    return this;
  }

  buys(symbol: string, lots: number): this {
    const { major } = this.#books.find(book => book.symbol === symbol)!;
    this.balances.btc += lots;
    this.balances.mxn -= lots * 100_000;
    const trade: OwnTrade = {
      ...{ book: symbol, tid: `${this.at}`, oid: 'other', createdAt: this.at, side: 'buy', price: '100000' },
      ...{ major: `${lots}`, minor: `${lots * 100_000}`, feeAmount: '0', feeCurrency: major, maker: true },
    };
    this.#bought += lots;
    this.step({ kind: 'trades', at: this.at, startedAt: this.at, complete: true, trades: [trade] });
    return this.run(1);
  }
}

describe('the engine with joint inventory', () => {
  test('a book skews by what the other holds, if their prices move together', () => {
    const desk = new Desk(1).open().run(200).buys('btc_mxn', 20);
    expect(desk.seen.get('eth_mxn')).toBeGreaterThan(15);
    expect(desk.seen.get('btc_mxn')).toBeGreaterThan(15);
    expect(desk.engine.books[1]!.position).toBe(0n);
    expect(desk.engine.books[1]!.snapshot(desk.at).figures).toContainEqual({
      ...{ name: 'joint inventory', unit: 'eth', value: desk.seen.get('eth_mxn') },
    });
  });

  test('each book skews by its own inventory without the rules, and if prices do not move together', () => {
    for (const desk of [new Desk(1, false), new Desk(0)]) {
      desk.open().run(200).buys('btc_mxn', 20);
      expect(Object.fromEntries(desk.seen)).toEqual({ btc_mxn: 20, eth_mxn: 0 });
    }
  });

  test('the inventory by which a book skews its quotes stays within its position limit, except its own', () => {
    const desk = new Desk(1).open().run(200).buys('btc_mxn', 80);
    expect(desk.seen.get('eth_mxn')).toBe(LIMITS.positionMax);
    expect(desk.seen.get('btc_mxn')).toBeLessThanOrEqual(80);
  });

  test('one book skews by its own inventory, and stores no joint moves', () => {
    const desk = new Desk(1, true, BOOKS.slice(0, 1)).open().run(200).buys('btc_mxn', 20);
    expect(desk.seen.get('btc_mxn')).toBe(20);
    expect(desk.engine.ledger([])).not.toHaveProperty('covariance');
  });

  test('the next run knows the joint moves from its first decision', () => {
    const before = new Desk(1).open().run(200).buys('btc_mxn', 20);
    const ledger: RestoredLedger = ledgerOf(textOfLedger(before.engine.ledger([])!));
    const next = new Desk(1);
    next.at = before.at;
    Object.assign(next.balances, before.balances);
    next.step({ kind: 'restore', at: next.at, orders: [], ledger });
    next.open();
    next.continuesFrom(before).run(1);
    expect(next.seen.get('eth_mxn')).toBeGreaterThan(15);
  });
});

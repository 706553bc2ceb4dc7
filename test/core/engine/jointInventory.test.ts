import { describe, expect, test } from 'vitest';
import { moneyOf, normal, randomOf, type View } from '../../../src/core/index.ts';
import { ledgerOf, textOfLedger } from '../../../src/live/recording/ledgerText.ts';
import { quoteAround } from '../toyExchange.ts';
import { BOOKS, SharedAccount, type Balances } from '../sharedAccount.ts';

/** btc_mxn and eth_mxn. */
const TWO = BOOKS.slice(0, 2);
const RULES = { currency: 'mxn', sampleMs: 10_000, halfLifeMs: 3_600_000 };
const LIMITS = { positionMax: 50, staleAfterMs: 20_000 };

/** Two books whose mid prices move together; their strategies keep the inventory by which they skewed. */
class Desk {
  readonly account: SharedAccount;
  readonly seen = new Map<string, number>();
  readonly #correlation: number;
  readonly #random = randomOf(5);
  #first = 0;
  #second = 0;

  constructor(correlation: number, joint = true, books = TWO, balances: Partial<Balances> = { mxn: 1_000_000_000 }) {
    this.#correlation = correlation;
    this.account = new SharedAccount(balances, books, 1, null, {
      ...(joint ? { shared: { jointInventory: RULES } } : {}),
      limits: LIMITS,
      strategyOf: ({ symbol }) => ({
        quote: (view: View) => {
          this.seen.set(symbol, view.skewPosition ?? view.position);
          expect(moneyOf(`${view.position}`)).toBe(this.account.bookOf(symbol).position);
          return quoteAround(20).quote(view);
        },
      }),
    });
  }

  get #mids(): Readonly<Record<string, number>> {
    const second = this.#correlation * this.#first + (1 - this.#correlation) * this.#second;
    const mid = (move: number): number => Math.round(100_000 + 100 * move);
    return { btc_mxn: mid(this.#first), eth_mxn: mid(second) };
  }

  open(): this {
    this.account.open(this.#mids);
    return this;
  }

  /** Market data and account reads every ten seconds. */
  run(rounds: number): this {
    for (let k = 0; k < rounds; k++) {
      this.#first += normal(this.#random);
      this.#second += normal(this.#random);
      this.account.round(RULES.sampleMs, this.#mids);
    }
    return this;
  }

  /** Buys bitcoin outside of the bot, which belongs to btc_mxn. */
  buys(lots: number): this {
    this.account.trade(TWO[0]!, 'buy', 100_000, lots);
    return this.run(1);
  }
}

describe('the engine with joint inventory', () => {
  test('a book skews by what the other holds, if their prices move together', () => {
    const desk = new Desk(1).open().run(200).buys(20);
    expect(desk.seen.get('eth_mxn')).toBeGreaterThan(15);
    expect(desk.seen.get('btc_mxn')).toBeGreaterThan(15);
    expect(desk.account.engine.books[1]!.position).toBe(0n);
    expect(desk.account.engine.books[1]!.snapshot(desk.account.now).figures).toContainEqual({
      ...{ name: 'joint inventory', unit: 'eth', value: desk.seen.get('eth_mxn') },
    });
  });

  test('each book skews by its own inventory without the rules, and if prices do not move together', () => {
    for (const desk of [new Desk(1, false), new Desk(0)]) {
      desk.open().run(200).buys(20);
      expect(Object.fromEntries(desk.seen)).toEqual({ btc_mxn: 20, eth_mxn: 0 });
    }
  });

  test('the inventory by which a book skews its quotes stays within its position limit, except its own', () => {
    const desk = new Desk(1).open().run(200).buys(80);
    expect(desk.seen.get('eth_mxn')).toBe(LIMITS.positionMax);
    expect(desk.seen.get('btc_mxn')).toBeLessThanOrEqual(80);
  });

  test('one book skews by its own inventory, and stores no joint moves', () => {
    const desk = new Desk(1, true, TWO.slice(0, 1)).open().run(200).buys(20);
    expect(desk.seen.get('btc_mxn')).toBe(20);
    expect(desk.account.engine.ledger([])).not.toHaveProperty('covariance');
  });

  test('the next run knows the joint moves from its first decision', () => {
    const { account: before } = new Desk(1).open().run(200).buys(20);
    const ledger = ledgerOf(textOfLedger(before.engine.ledger([])!));
    const next = new Desk(1, true, TWO, before.balances);
    next.account.now = before.now;
    next.account.step({ kind: 'restore', at: before.now, orders: [], ledger });
    next.open();
    expect(next.seen.get('eth_mxn')).toBeGreaterThan(15);
  });
});

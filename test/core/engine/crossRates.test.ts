import { describe, expect, test } from 'vitest';
import { OrderBook, type RestoredLedger, type Side, type View } from '../../../src/core/index.ts';
import { ledgerOf, textOfLedger } from '../../../src/live/recording/ledgerText.ts';
import { lineOf } from '../../../src/live/recording/recording.ts';
import { Replaying } from '../../../src/live/replay/replay.ts';
import { quoteAround } from '../toyExchange.ts';
import { BOOKS, SharedAccount } from '../sharedAccount.ts';

const TRIANGLE = BOOKS.filter(({ symbol }) => symbol !== 'eth_mxn');
const MIDS = { btc_mxn: 900_000, btc_usd: 900, usd_mxn: 1_000 };
const FAR = { ...MIDS, btc_mxn: 960_000 };
/** Less than the costs: both other books have a spread of 2%. */
const NEAR = { ...MIDS, btc_mxn: 903_000 };
type Mids = Readonly<Record<string, number>>;

/** Three books of a triangle with a compared price, read one after another. */
class Desk {
  readonly account: SharedAccount;
  readonly views = new Map<string, View>();

  constructor(isCompared = true, ledger: RestoredLedger | null = null) {
    this.account = this.#newAccount(isCompared);
    if (ledger !== null) this.account.step({ kind: 'restore', at: this.account.now, orders: [], ledger });
    this.account.open(MIDS);
  }

  /** Replays the recording with a new engine. */
  replayed(): ReturnType<Replaying['end']> {
    const replaying = new Replaying(1, this.#newAccount(true).engine);
    for (const line of this.account.lines) expect(replaying.take(lineOf(line))).toBeNull();
    return replaying.end();
  }

  #newAccount(isCompared: boolean): SharedAccount {
    return new SharedAccount({ mxn: 1_000_000_000 }, TRIANGLE, 1, null, {
      ...(isCompared ? { shared: { crossRates: { withinMs: 1_000 } } } : {}),
      limits: { positionMax: 100, staleAfterMs: 20_000 },
      strategyOf: ({ symbol }) => ({
        quote: (view: View) => {
          this.views.set(symbol, { ...view });
          return quoteAround(20).quote(view.fair === undefined ? view : { ...view, mid: view.fair.price });
        },
      }),
    });
  }

  /** Reads the books 10 ms apart, and the account. */
  read(mids: Mids, times = 1): this {
    const { account } = this;
    for (let k = 0; k < times; k++) {
      account.now += 2_000;
      for (const { symbol } of TRIANGLE) {
        account.now += 10;
        const book = new OrderBook();
        const { [symbol]: mid = 0 } = mids;
        book.set('buy', (mid - 10) as never, 50 as never);
        book.set('sell', (mid + 10) as never, 50 as never);
        account.step({ kind: 'book', symbol, at: account.now, startedAt: null, book });
      }
      const at = account.now;
      account.step({ kind: 'trades', at, startedAt: at, complete: true, trades: [] });
      const orders = [...account.live.values()].map(({ command, book, left }) => ({
        ...{ book: book.symbol, oid: `oid-${command.id}`, originId: command.id, side: command.side },
        ...{ type: 'limit', status: 'open', createdAt: 0, price: `${command.price}` },
        ...{ originalAmount: `${command.amount}`, unfilledAmount: `${left}` },
      }));
      account.step({ kind: 'open orders', at, startedAt: at, complete: true, orders: orders as never });
      account.step({ kind: 'timer', at });
    }
    return this;
  }

  fair(symbol: string): number {
    const { fair, mid } = this.views.get(symbol)!;
    return fair?.price ?? mid;
  }

  price(symbol: string, side: Side): number | undefined {
    const all = [...this.account.live.values()];
    return all.find(({ book, command }) => book.symbol === symbol && command.side === side)?.command.price;
  }
}

describe('the engine with cross rates', () => {
  test('corrects the fair value of each book, so that the three agree', () => {
    const desk = new Desk().read(NEAR, 3);
    expect(desk.fair('btc_mxn') / (desk.fair('btc_usd') * desk.fair('usd_mxn'))).toBeCloseTo(1, 6);
    expect(desk.fair('usd_mxn')).toBeGreaterThan(1_000);
    const { fair } = desk.views.get('usd_mxn')!;
    expect(fair?.steps.map(({ name }) => name)).toEqual(['fair value: mid', 'cross rates']);
    expect(fair?.steps.reduce((sum, { ticks }) => sum + ticks, 0)).toBe(fair?.price);
    const { figures } = desk.account.bookOf('usd_mxn').snapshot(desk.account.now);
    expect(figures).toContainEqual({
      ...{
        name: 'cross rates',
        unit: 'bps',
        value: expect.closeTo((desk.fair('usd_mxn') / 1_000 - 1) * 10_000, 6) as number,
      },
    });
  });

  test('without the rules each book has its own price, also if the books disagree', () => {
    const desk = new Desk(false).read(FAR, 3);
    for (const { symbol } of TRIANGLE) expect(desk.views.get(symbol)).not.toHaveProperty('fair');
    expect(desk.price('btc_mxn', 'buy')).toBe(959_980);
  });

  test('books that disagree beyond their costs are pulled or moved, and quoted again once they agree', () => {
    const desk = new Desk().read(MIDS, 3).read(FAR);
    expect(desk.account.bookOf('btc_mxn').snapshot(desk.account.now).emptySidesText).toBeNull();
    desk.read(FAR, 2);
    expect([...desk.account.live.values()].map(({ book }) => book.symbol)).not.toContain('btc_mxn');
    const snapshot = desk.account.bookOf('btc_mxn').snapshot(desk.account.now);
    expect(snapshot.unshown.buy).toMatchObject({
      reason: 'pulled: the cross rates disagree',
      words: 'pulled: the cross rates disagree (btc_mxn, btc_usd, usd_mxn: 645.4 bps)',
    });
    expect(snapshot.emptySidesText).toBe(
      'no bid and no ask: pulled: the cross rates disagree (btc_mxn, btc_usd, usd_mxn: 645.4 bps)',
    );
    expect(snapshot.decisions).toContainEqual(
      expect.objectContaining({ side: 'sell', action: 'not placed', reason: 'pulled: the cross rates disagree' }),
    );
    // The implied prices of the other books are higher, so only their asks move.
    expect(desk.price('btc_usd', 'buy')).toBe(880);
    expect(desk.price('btc_usd', 'sell')).toBeGreaterThanOrEqual(960 + 20);
    expect(desk.price('usd_mxn', 'sell')).toBeGreaterThanOrEqual(1_066 + 20);
    desk.read(MIDS, 5);
    expect(desk.price('btc_mxn', 'buy')).toBeUndefined();
    desk.read(MIDS, 3);
    expect(desk.price('btc_mxn', 'buy')).toBe(899_980);
    expect(desk.price('btc_usd', 'sell')).toBe(920);
  });

  test('a pulled book stays pulled in the next run, until its price agrees', () => {
    const desk = new Desk().read(FAR, 3);
    const ledger = ledgerOf(textOfLedger(desk.account.engine.ledger([])!));
    const next = new Desk(true, ledger);
    expect(next.price('btc_mxn', 'buy')).toBeUndefined();
    expect(next.price('btc_usd', 'buy')).toBe(880);
    expect(next.read(MIDS, 3).price('btc_mxn', 'buy')).toBeUndefined();
    expect(next.read(MIDS, 5).price('btc_mxn', 'buy')).toBe(899_980);
    expect(next.account.bookOf('btc_mxn').stateToSave).not.toHaveProperty('priceDoubt');
    expect(new Desk(false, ledger).price('btc_mxn', 'buy')).toBe(899_980);
  });

  test('a recording with corrections and doubts gives every command again', () => {
    const desk = new Desk().read(NEAR, 3).read(FAR, 3).read(MIDS, 9);
    expect(desk.price('btc_mxn', 'buy')).toBe(899_980);
    const { difference, commands } = desk.replayed();
    expect(difference).toBeNull();
    expect(commands).toBeGreaterThan(20);
  });

  test("the bot's own orders are no part of the compared prices", () => {
    const desk = new Desk().read(MIDS, 3);
    const { account } = desk;
    account.now += 2_000;
    for (const { symbol } of TRIANGLE) {
      account.now += 10;
      const book = new OrderBook();
      const mid = MIDS[symbol as 'btc_mxn'];
      book.set('buy', (mid - 30) as never, 50 as never);
      book.set('sell', (mid + 30) as never, 50 as never);
      for (const [side, price] of [
        ['buy', mid - 20],
        ['sell', mid + 20],
      ] as const)
        book.set(side, price as never, 10 as never);
      account.step({ kind: 'book', symbol, at: account.now, startedAt: account.now, book });
    }
    expect(account.bookOf('btc_usd').crossRead).toMatchObject({ bid: 870, ask: 930 });
  });
});

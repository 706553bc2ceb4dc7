import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { amount, price, VirtualClock } from '../../src/core/index.ts';
import { levelModel } from '../../src/fills/index.ts';
import { FollowedMarket, StoredExchange, type RowChange, type RowStore } from '../../src/sandbox/index.ts';
import { valueOfStored } from '../../src/sandbox/venue/storedText.ts';
import { runsOf } from '../many.ts';
import { kills, MODELS, played, scriptsOfTwo, TWO } from './storedWorld.ts';
import { Trader } from './trader.ts';

const SEVERAL_BOOKS_FORMAT = 2;

describe('a stored exchange with two books that is killed up to 20 times', () => {
  test.each(MODELS)('is to the digit as one that was never killed, and locks money once: %s', model => {
    const seen = { deaths: 0, first: 0, second: 0, both: 0, rejected: 0 };
    fc.assert(
      fc.property(scriptsOfTwo(40), kills(20, 40), (steps, killed) => {
        const never = played(steps, model, 'allow', [], TWO);
        const often = played(steps, model, 'allow', killed, TWO);
        expect(often.result).toEqual(never.result);
        expect(never.result).toMatchObject({ imbalance: [], areTidsRising: true, wrongLocks: [] });
        seen.deaths += often.deaths;
        seen.both += Number(never.result.lockedMax > 0n);
        for (const { book } of never.result.orders) seen[book === TWO[0] ? 'first' : 'second']++;
        seen.rejected += never.result.codes.length;
      }),
      { ...runsOf(100, 6), seed: 12 },
    );
    expect(Object.entries(seen).filter(([, count]) => count === 0)).toEqual([]);
  });
});

class Rows implements RowStore {
  readonly rows = new Map<string, string>();

  read() {
    return [...this.rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, text]) => ({ key, text }));
  }

  write(changes: readonly RowChange[]): void {
    for (const { key, text } of changes) {
      if (text === null) this.rows.delete(key);
      else this.rows.set(key, text);
    }
  }
}

const [FIRST, SECOND] = TWO;
const BALANCES = { btc: '5', eth: '50', mxn: '5000000' };

/** Opens the account in `store` for these books, and shows the market of each. */
function opened(store: RowStore, books: readonly string[], balances: Readonly<Record<string, string>> = BALANCES) {
  const clock = new VirtualClock(1_790_000_000_000);
  const [first = FIRST, ...otherBooks] = books;
  const stored = new StoredExchange({
    ...{ clock, store, seed: 3, balances, volume30d: {}, otherBooks },
    purpose: { follows: 'https://one.example', book: first, instance: 'bot' },
    switches: { engineDelayMinMs: 0, engineDelayMaxMs: 0, tradeRecordDelayMs: 0, rateLimits: 'off' },
    onUnwritten: () => undefined,
    onWritten: () => undefined,
  });
  const sinks = books.map(book => {
    const market = new FollowedMarket(stored.box.marketplace(book), levelModel('pessimistic'));
    const sink = stored.follow(market, undefined, book);
    sink.clear();
    sink.set('buy', price(150_000), amount(100_000));
    sink.set('sell', price(150_010), amount(100_000));
    sink.flush();
    return sink;
  });
  const trader = new Trader({ ...stored.box, respond: stored.respond }, stored.account);
  const rest = (book: string, at: string) => trader.limit(book, 'buy', at, '0.001', { time_in_force: 'postonly' });
  return { stored, sinks, trader, rest };
}

const identityIn = (store: Rows) => valueOfStored(store.rows.get('identity')!) as Record<string, unknown>;
const rowsOf = (store: Rows, book: string) => [...store.rows.keys()].filter(key => key.endsWith(`/${book}`)).sort();

describe('a stored account whose books change', () => {
  test('of one book has the format and the rows that it had before several books', () => {
    const store = new Rows();
    const { stored, rest } = opened(store, [FIRST]);
    rest(FIRST, '1499900');
    stored.close();
    expect(identityIn(store)['version']).toBe(1);
    expect(identityIn(store)).not.toHaveProperty('books');
    expect([...store.rows.keys()].map(key => key.split('/')[0]).sort()).toEqual([
      ...['account', 'capacity', 'commands', 'identity', 'numbers', 'order', 'queues', 'seen'],
      ...['transfer', 'transfer', 'transfer'],
    ]);
  });

  test('goes on with a further book: its orders stay, a new currency gets its opening balance once', () => {
    const store = new Rows();
    const before = opened(store, [FIRST], { btc: '5', mxn: '5000000' });
    const oid = before.rest(FIRST, '1499900');
    before.stored.close();
    const after = opened(store, TWO);
    expect(after.trader.order(oid)).toMatchObject({ status: 'open', book: FIRST });
    expect(after.stored.addedBalances).toEqual({ eth: '50' });
    expect(after.trader.balance('eth').total).toBe('50.00000000');
    expect(after.rest(SECOND, '149990')).toMatch(/^\w{16}$/);
    expect([...after.stored.box.truth().imbalance.values()].filter(sum => sum !== 0n)).toEqual([]);
    after.stored.close();
    expect(identityIn(store)).toMatchObject({ version: SEVERAL_BOOKS_FORMAT, book: FIRST, books: TWO });
    const again = opened(store, TWO);
    expect(again.stored.addedBalances).toEqual({});
    expect(again.trader.balance('eth').total).toBe('50.00000000');
    again.stored.close();
  });

  test('without a book cancels its orders, keeps its balances and trades, and forgets its queues', () => {
    const store = new Rows();
    const before = opened(store, TWO);
    const [kept, gone] = [before.rest(FIRST, '1499900'), before.rest(SECOND, '149990')];
    before.sinks[1]!.trade('sell', price(149_990), amount(50_000));
    const taken = before.trader.limit(SECOND, 'buy', '150010', '0.0005');
    const total = before.trader.balance('eth').total;
    expect(total).not.toBe('50.00000000');
    expect(rowsOf(store, SECOND)).toEqual(['commands', 'numbers', 'queues', 'seen'].map(name => `${name}/${SECOND}`));
    before.stored.close();
    const after = opened(store, [FIRST]);
    expect([kept, gone, taken].map(oid => after.trader.order(oid)!['status'])).toEqual([
      'open',
      'cancelled',
      'completed',
    ]);
    expect(after.trader.balance('eth').total).toBe(total);
    expect(after.stored.liveOrders).toBe(1);
    const locked = after.trader.balance('mxn').locked;
    expect(locked).toBe('1499.90000000');
    const trades = after.trader.get<{ book: string }[]>('GET', '/api/v3/user_trades');
    expect(trades.map(({ book }) => book)).toContain(SECOND);
    expect(rowsOf(store, SECOND)).toEqual([`numbers/${SECOND}`]);
    after.stored.close();
    // An account that has had several books keeps their format, because its trades name their book.
    expect(identityIn(store)).toMatchObject({ version: SEVERAL_BOOKS_FORMAT, books: TWO });
    const back = opened(store, TWO);
    expect(back.stored.liveOrders).toBe(1);
    expect(back.trader.get<{ book: string }[]>('GET', '/api/v3/user_trades')).toEqual(trades);
    back.stored.close();
  });

  test('is refused in a format that is newer, and for another first book', () => {
    const store = new Rows();
    opened(store, TWO).stored.close();
    const text = store.rows.get('identity')!;
    expect(() => opened(store, [SECOND, FIRST])).toThrow(
      /it belongs to bot on btc_mxn of .*this bot is bot on eth_mxn/,
    );
    store.rows.set('identity', text.replace(/"version":2/, '"version":3'));
    expect(() => opened(store, TWO)).toThrow(/a newer version of Puntas wrote it \(format 3, expected 2\)/);
  });
});

describe('a book whose market is stale', () => {
  test('publishes no stream frame, while the other does', () => {
    const { stored, sinks } = opened(new Rows(), TWO);
    const frames: string[] = [];
    const session = stored.box.stream.connect(
      text => void frames.push(text),
      () => undefined,
    );
    stored.box.venue.set({ feedDelayMinMs: 0, feedDelayMaxMs: 0 });
    for (const book of TWO) session.receive(JSON.stringify({ action: 'subscribe', book, type: 'diff-orders' }));
    frames.length = 0;
    stored.box.marketplace(SECOND).feed.isWithheld = true;
    const clock = stored.box.venue.clock as VirtualClock;
    let n = 0;
    const change = () => {
      frames.length = 0;
      for (const sink of sinks) {
        sink.set('buy', price(149_995), amount(10_000 * ++n));
        sink.flush();
      }
      let isOver = false;
      clock.after(10, () => (isOver = true));
      while (!isOver) clock.runNext();
      return [...new Set(frames.map(text => (JSON.parse(text) as { book?: string }).book))].sort();
    };
    expect(change()).toEqual([FIRST]);
    stored.box.marketplace(SECOND).feed.isWithheld = false;
    expect(change()).toEqual([...TWO]);
    stored.close();
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  emptyDepth,
  L3_ORDERS_MAX,
  HELD_MAX,
  instrumentOf,
  moneyOf,
  OrderBook,
  L3Book,
  type Amount,
  type BookDiff,
  type BookSnapshot,
  type OrderChange,
  type PendingOrder,
  type Price,
  type Side,
} from '../../../src/core/index.ts';
import { orderBook } from '../../../src/exchange/bitso/wire/marketReplies.ts';
import { streamFrame } from '../../../src/exchange/bitso/stream/streamFrames.ts';
import { arena, publicCall } from '../../sandbox/trader.ts';
import { runsOf } from '../../many.ts';

const instrument = instrumentOf({
  book: 'btc_mxn',
  tickSize: '10',
  minimumAmount: '0.00001',
  maximumAmount: '500',
  minimumPrice: '500',
  maximumPrice: '20000000',
  minimumValue: '10',
  maximumValue: '10000000',
});

const open = (oid: string, side: Side, price: string, amount: string): OrderChange => ({
  kind: 'open',
  oid,
  side,
  price,
  amount,
});
const gone = (oid: string, filled = false): OrderChange => ({ kind: 'gone', oid, filled });
const step = (sequence: number | bigint, ...changes: OrderChange[]): BookDiff => ({
  book: 'btc_mxn',
  sequence: BigInt(sequence),
  changes,
});
const snapshot = (sequence: number | bigint, rows: [oid: string, side: Side, price: string, amount: string][]) =>
  ({
    book: 'btc_mxn',
    sequence: BigInt(sequence),
    updatedAt: 0,
    bids: rows.filter(row => row[1] === 'buy').map(([oid, , price, amount]) => ({ oid, price, amount })),
    asks: rows.filter(row => row[1] === 'sell').map(([oid, , price, amount]) => ({ oid, price, amount })),
  }) satisfies BookSnapshot;

const LARGEST = Number.MAX_SAFE_INTEGER;
const bestLots = (book: OrderBook): number => book.amountAt('buy', book.best('buy'));
/** Exact lots of an amount, at most those that a level counts. */
function lotsOf(text: string): bigint {
  const lots = moneyOf(text) / instrument.lotMoney;
  return lots > LARGEST ? BigInt(LARGEST) : lots;
}

/** A feed that is live at sequence 10 with one bid of others. */
function fed() {
  const book = new OrderBook();
  const pending: PendingOrder[] = [];
  const own: string[] = [];
  const feed = new L3Book({
    instrument,
    book,
    pending: () => pending,
    onOwn: (oid, change) => void own.push(`${oid} ${change}`),
  });
  feed.seed(snapshot(10, [['a', 'buy', '1000', '0.5']]));
  feed.show();
  const at = (price: number, side: Side = 'buy') => book.amountAt(side, (price / 10) as Price) / 1e8;
  const wait = (id: string, side: Side, price: number, amount: number) =>
    void pending.push({ id, side, price: (price / 10) as Price, amount: Math.round(amount * 1e8) as Amount });
  return { book, feed, pending, own, at, wait };
}

describe('steps', () => {
  test('are applied one after the other; known ones change nothing', () => {
    const { feed, at } = fed();
    expect(feed.take(step(11, open('b', 'buy', '1000', '0.25')))).toBe('applied');
    expect(feed.take(step(11, open('b', 'buy', '1000', '9')))).toBe('old');
    expect(feed.take(step(3, gone('a')))).toBe('old');
    expect(at(1000)).toBe(0.75);
    expect(feed.take(step(12, open('b', 'buy', '1000', '0.05'), gone('a', true)))).toBe('applied');
    expect(at(1000)).toBe(0.05);
  });

  test('are never applied over a gap, and nothing is written until a snapshot closes it', () => {
    const { feed, at } = fed();
    expect(feed.take(step(12, open('b', 'buy', '1010', '1')))).toBe('gap');
    expect(feed.sequence).toBeNull();
    expect(feed.take(step(13, gone('a')))).toBe('held');
    expect([at(1000), at(1010)]).toEqual([0.5, 0]);
    expect(feed.seed(snapshot(10, [['a', 'buy', '1000', '0.5']]))).toBe('too old');
    expect(
      feed.seed(
        snapshot(12, [
          ['a', 'buy', '1000', '0.5'],
          ['b', 'buy', '1010', '1'],
        ]),
      ),
    ).toBe('live');
    feed.show();
    expect(feed.sequence).toBe(13n);
    expect([at(1000), at(1010)]).toEqual([0, 1]);
  });

  test('of a gap among those held leave only what follows it', () => {
    const { feed } = fed();
    feed.markIncomplete();
    for (const sequence of [11, 12, 14, 15]) feed.take(step(sequence));
    expect(feed.seed(snapshot(12, []))).toBe('too old');
    expect(feed.seed(snapshot(13, []))).toBe('live');
    expect(feed.sequence).toBe(15n);
  });

  test('keep every digit of a sequence beyond 2^53', () => {
    const { feed } = fed();
    feed.markIncomplete();
    feed.seed(snapshot(9_007_199_254_740_993n, []));
    expect(feed.take(step(9_007_199_254_740_994n))).toBe('applied');
    expect(feed.take(step(9_007_199_254_740_996n))).toBe('gap');
  });

  test('of a book without ids are not taken', () => {
    const { feed } = fed();
    const entry = { price: '1000', amount: '1' };
    expect(feed.seed({ book: 'btc_mxn', sequence: 1n, updatedAt: 0, bids: [entry], asks: [] })).toBe('no ids');
  });

  test('with prices that cannot be counted leave the order out, and with such an amount keep it at the largest that is counted', () => {
    const { feed, book } = fed();
    const far = '9'.repeat(20);
    expect(
      feed.take(step(11, open('b', 'sell', far, '1'), open('c', 'buy', '1000', far), open('d', 'buy', '0', '1'))),
    ).toBe('applied');
    feed.take(step(12, open('a', 'buy', '1000', '0')));
    expect([bestLots(book), book.levels('buy'), book.levels('sell')]).toEqual([LARGEST, 1, 0]);
  });

  test('whose amounts cannot be counted or read leave every other amount exact', () => {
    const amounts = fc.oneof(
      fc.integer({ min: 1, max: 1_000 }).map(String),
      fc.constantFrom('9'.repeat(20), '90071992.54740991', '90071992.5474099', null),
    );
    const change = fc.record({
      oid: fc.constantFrom('b', 'c', 'd', 'e'),
      amount: fc.option(amounts, { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), changes => {
        const { feed, book } = fed();
        const live = new Map<string, bigint>([['a', lotsOf('1')]]);
        feed.take(step(11, open('a', 'buy', '1000', '1')));
        changes.forEach(({ oid, amount }, i) => {
          const gone = { kind: 'gone', oid, filled: false } as const;
          const now = { kind: 'open', oid, side: 'buy', price: '1000', amount: amount ?? null } as const;
          feed.take(step(12 + i, amount === undefined ? gone : now));
          if (amount === undefined) live.delete(oid);
          else if (amount !== null) live.set(oid, lotsOf(amount));
          else if (!live.has(oid)) live.set(oid, 1n);
          const sum = [...live.values()].reduce((a, b) => a + b, 0n);
          expect(bestLots(book)).toBe(Number(sum > LARGEST ? LARGEST : sum));
        });
      }),
    );
  });

  test('are held, and orders kept, only up to a bound', () => {
    const { feed } = fed();
    feed.markIncomplete();
    for (let sequence = 1; sequence <= HELD_MAX + 3; sequence++) feed.take(step(sequence));
    expect(feed.seed(snapshot(HELD_MAX - 1, []))).toBe('too old');
    expect(feed.seed(snapshot(HELD_MAX, []))).toBe('live');
    expect(feed.sequence).toBe(BigInt(HELD_MAX + 3));
    const entry = { oid: 'a', price: '1000', amount: '1' };
    const bids = Array.from({ length: L3_ORDERS_MAX + 1 }, () => entry);
    expect(feed.seed({ book: 'btc_mxn', sequence: 99_999n, updatedAt: 0, bids, asks: [] })).toBe('too large');
  });

  test('off the tick grid are moved towards the other side', () => {
    const { feed, at } = fed();
    feed.take(step(11, open('b', 'buy', '1001.5', '1'), open('c', 'sell', '1039.9', '1')));
    expect([at(1010), at(1030, 'sell')]).toEqual([1, 1]);
  });
});

describe('orders of ours', () => {
  test('are left out by their oid', () => {
    const { feed, at, own } = fed();
    feed.own('m');
    feed.take(step(11, open('m', 'buy', '1000', '0.1')));
    feed.take(step(12, open('m', 'buy', '1000', '0.04')));
    expect(at(1000)).toBe(0.5);
    feed.take(step(13, gone('m')));
    expect(at(1000)).toBe(0.5);
    expect(own).toEqual(['m filled', 'm gone']);
  });

  test('are left out before the answer to their placement, by what they look like', () => {
    const { feed, at, wait } = fed();
    wait('id-1', 'buy', 1000, 0.1);
    feed.take(step(11, open('m', 'buy', '1000', '0.1')));
    feed.take(step(12, open('x', 'buy', '1000', '0.1')));
    expect(at(1000)).toBe(0.6);
    expect([feed.isOwn('m'), feed.isOwn('x')]).toEqual([true, false]);
  });

  test('are moved out once their oid is known; what was taken for ours and is not comes back', () => {
    const { feed, at, wait, pending } = fed();
    wait('id-1', 'buy', 1000, 0.1);
    feed.take(step(11, open('x', 'buy', '1000', '0.1')));
    feed.take(step(12, open('m', 'buy', '1000', '0.1'), open('y', 'buy', '1000', '0.3')));
    pending.pop();
    expect(feed.own('m', 'id-1')).toBe(true);
    expect(at(1000)).toBe(0.9);
    feed.take(step(13, gone('m')));
    expect(at(1000)).toBe(0.9);
  });

  test('that look the same are not mixed up when one of them never came into the book', () => {
    // From seed 1 of the law below: the first of two alike was canceled on arrival, and the second was taken for it.
    const { feed, at, wait, pending } = fed();
    wait('id-1', 'buy', 1000, 0.1);
    wait('id-2', 'buy', 1000, 0.1);
    feed.take(step(11, open('m-2', 'buy', '1000', '0.1')));
    expect(feed.own('m-1', 'id-1')).toBe(false);
    pending.shift();
    expect([at(1000), feed.isOwn('m-2')]).toEqual([0.5, true]);
    feed.own('m-2', 'id-2');
    pending.shift();
    feed.take(step(12));
    expect(at(1000)).toBe(0.5);
  });

  test('that look the same may be answered in any order, and filled in part before', () => {
    const { feed, at, wait, pending } = fed();
    wait('id-1', 'buy', 1000, 0.1);
    wait('id-2', 'buy', 1000, 0.1);
    feed.take(step(11, open('m-2', 'buy', '1000', '0.1')));
    feed.take(step(12, open('m-1', 'buy', '1000', '0.1'), open('m-2', 'buy', '1000', '0.03')));
    feed.own('m-1', 'id-1');
    expect(at(1000)).toBe(0.5);
    feed.own('m-2', 'id-2');
    pending.length = 0;
    feed.take(step(13));
    expect([at(1000), feed.isOwn('m-1'), feed.isOwn('m-2')]).toEqual([0.5, true, true]);
  });

  test('that look the same stay ours when one of them is refused', () => {
    const { feed, at, wait, pending } = fed();
    wait('id-1', 'buy', 1000, 0.1);
    wait('id-2', 'buy', 1000, 0.1);
    feed.take(step(11, open('m-2', 'buy', '1000', '0.1')));
    pending.shift();
    feed.take(step(12));
    expect(at(1000)).toBe(0.5);
    pending.shift();
    feed.take(step(13));
    expect(at(1000)).toBe(0.6);
  });

  test('are not waited for any longer once told, even while they are still called pending', () => {
    const { feed, at, wait } = fed();
    wait('id-1', 'buy', 1000, 0.1);
    feed.take(step(11, open('x', 'buy', '1000', '0.1'), open('m', 'buy', '1000', '0.1')));
    feed.own('m', 'id-1');
    expect([at(1000), feed.isOwn('x')]).toEqual([0.6, false]);
  });

  test('that were refused give back what was taken for them', () => {
    const { feed, at, wait, pending } = fed();
    wait('id-1', 'buy', 1000, 0.1);
    feed.take(step(11, open('x', 'buy', '1000', '0.1')));
    expect(at(1000)).toBe(0.5);
    pending.pop();
    feed.take(step(12));
    expect(at(1000)).toBe(0.6);
  });

  test('that were seen before their oid was told are moved out then', () => {
    const { feed, at } = fed();
    feed.take(step(11, open('m', 'buy', '1000', '0.1')));
    expect(at(1000)).toBe(0.6);
    expect(feed.own('m')).toBe(true);
    expect(at(1000)).toBe(0.5);
    expect(feed.own('m')).toBe(false);
  });

  test('are not mistaken for orders that were there before a new snapshot', () => {
    const { feed, at, wait } = fed();
    wait('id-1', 'buy', 1000, 0.5);
    feed.seed(snapshot(11, [['a', 'buy', '1000', '0.5']]));
    feed.show();
    expect(at(1000)).toBe(0.5);
  });

  test('know what stands before them, until they lose their place', () => {
    const { feed } = fed();
    feed.own('m');
    feed.own('n');
    feed.take(step(11, open('m', 'buy', '1000', '0.1'), open('b', 'buy', '1000', '2'), open('n', 'buy', '1000', '1')));
    expect([feed.ahead('m'), feed.ahead('n'), feed.aheadOfBest('buy'), feed.aheadOfBest('sell')]).toEqual([
      0.5e8,
      2.5e8,
      0.5e8,
      null,
    ]);
    feed.take(step(12, open('a', 'buy', '1000', '0.2'), open('m', 'buy', '1000', '0.05')));
    expect(feed.ahead('m')).toBe(0.2e8);
    // More at the same price, or another price, goes to the end of the queue.
    feed.take(step(13, open('m', 'buy', '1000', '0.06')));
    expect([feed.ahead('m'), feed.aheadOfBest('buy')]).toEqual([2.2e8, 2.2e8]);
    feed.take(step(14, open('n', 'buy', '1010', '1')));
    expect([feed.ahead('n'), feed.aheadOfBest('buy')]).toEqual([0, 0]);
    feed.markIncomplete();
    expect([feed.ahead('n'), feed.aheadOfBest('buy')]).toEqual([null, null]);
  });
});

test('forgets of the oids that were told the oldest, and never one that is told again and again', () => {
  const { feed, at } = fed();
  const resting = 'resting';
  feed.own(resting);
  feed.take(step(11, open(resting, 'buy', '1000', '3')));
  for (let n = 0; n < 30_000; n++) {
    feed.own(`o${n}`);
    // As each read of open orders tells of it.
    if (n % 1_000 === 0) feed.own(resting);
    if (!feed.isOwn(resting)) throw new Error(`it was forgotten after ${n} others`);
  }
  for (let n = 25_001; n < 30_000; n++) expect(feed.isOwn(`o${n}`)).toBe(true);
  expect(feed.isOwn('o0')).toBe(false);
  expect(feed.isOwn(resting)).toBe(true);
  // A new whole book tells ours from theirs by what is remembered.
  feed.markIncomplete();
  feed.seed(
    snapshot(20, [
      ['a', 'buy', '1000', '0.5'],
      [resting, 'buy', '1000', '3'],
      ['o29999', 'buy', '1000', '2'],
    ]),
  );
  feed.show();
  expect(at(1000)).toBe(0.5);
});

type Op =
  | { kind: 'theirs'; side: Side; level: number; size: number }
  | { kind: 'ours'; side: Side; level: number; size: number; arrives: boolean }
  | { kind: 'cancel'; whose: 'theirs' | 'ours'; index: number }
  | { kind: 'modify'; index: number; level: number }
  | { kind: 'reply'; index: number }
  | { kind: 'deliver'; count: number; fate: 'as is' | 'drop' | 'twice' | 'swap' }
  | { kind: 'snapshot'; late: number };

const side = fc.constantFrom<Side>('buy', 'sell');
const level = fc.integer({ min: 0, max: 8 });
const size = fc.integer({ min: 1, max: 4 });
/** Ours often look the same as each other: answers that are mixed up must show. */
const alike = { level: fc.integer({ min: 3, max: 5 }), size: fc.integer({ min: 1, max: 2 }) };
const arrives = fc.constantFrom(true, true, true, false);
const index = fc.nat(40);
const ops = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('theirs' as const), side, level, size }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('ours' as const), side, ...alike, arrives }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('cancel' as const),
        whose: fc.constantFrom<'theirs' | 'ours'>('theirs', 'ours'),
        index,
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('modify' as const), index, level }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('reply' as const), index: fc.oneof(fc.constant(0), index) }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('deliver' as const),
        count: fc.integer({ min: 1, max: 6 }),
        fate: fc.constantFrom<'as is' | 'drop' | 'twice' | 'swap'>('as is', 'as is', 'as is', 'drop', 'twice', 'swap'),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('snapshot' as const), late: fc.nat(3) }) },
  ),
  { minLength: 20, maxLength: 80, size: 'max' },
);

test('whatever happens to frames and snapshots, every book that is shown is the exchange’s of that step without our orders, and our place in its queues', () => {
  let compared = 0;
  fc.assert(
    fc.property(ops, operations => {
      const world = new World();
      for (const op of operations) world.run(op);
      world.heal();
      compared += world.compared;
    }),
    runsOf(150, 100),
  );
  // The law would be empty if books were hardly ever live.
  expect(compared).toBeGreaterThan(1_000);
});

/** The embedded exchange, somebody else, us, and a feed between frames that wait to be delivered. */
class World {
  compared = 0;
  readonly #arena = arena({ feedDelayMinMs: 0, feedDelayMaxMs: 0 });
  readonly #book = new OrderBook();
  readonly #ourOids = new Set<string>();
  /** Lots that are left of ours in the book. */
  readonly #left = new Map<string, number>();
  readonly #waiting: (PendingOrder & { oid: string | null })[] = [];
  readonly #orders = { theirs: [] as string[], ours: [] as string[] };
  readonly #feed: L3Book;
  /** What the whole of the others' orders was at each step. */
  readonly #history = new Map<bigint, string>();
  #frames: BookDiff[] = [];
  /** Frames that #tellApart has not seen, and what orders of others have ever looked like. */
  #fresh: BookDiff[] = [];
  readonly #othersLooks = new Set<string>();
  #snapshots: { due: number; snapshot: BookSnapshot }[] = [];
  #counter = 0;

  constructor() {
    this.#feed = new L3Book({ instrument, book: this.#book, pending: () => this.#waiting });
    const session = this.#arena.exchange.stream.connect(
      text => {
        const frame = streamFrame(text);
        if (frame.kind !== 'diff') return;
        this.#frames.push(frame.diff);
        this.#fresh.push(frame.diff);
      },
      () => undefined,
    );
    session.receive('{"action":"subscribe","book":"btc_mxn","type":"diff-orders"}');
    this.#remember();
  }

  run(op: Op): void {
    const { ann, bob } = this.#arena;
    const priceOf = (n: number) => String(1_000_000 + n * 10);
    switch (op.kind) {
      case 'theirs':
        this.#orders.theirs.push(bob.limit('btc_mxn', op.side, priceOf(op.level), `0.${op.size}`));
        break;
      case 'ours': {
        const id = `t-1-${++this.#counter}`;
        const price = priceOf(op.level);
        const more = { time_in_force: 'postonly', origin_id: id };
        // No size is shared with those of others, so that fills alone can make theirs look like ours: see #tellApart.
        const oid = op.arrives ? ann.limit('btc_mxn', op.side, price, `0.${op.size}001`, more) : null;
        if (oid !== null) {
          this.#ourOids.add(oid);
          this.#orders.ours.push(oid);
        }
        const ticks = (Number(price) / 10) as Price;
        this.#waiting.push({ id, oid, side: op.side, price: ticks, amount: (op.size * 1e7 + 1e4) as Amount });
        break;
      }
      case 'cancel': {
        const oids = this.#orders[op.whose];
        const oid = oids[op.index % oids.length];
        if (oid) (op.whose === 'ours' ? ann : bob).call('DELETE', `/api/v3/orders/${oid}`);
        break;
      }
      case 'modify': {
        const oid = this.#orders.theirs[op.index % this.#orders.theirs.length];
        if (oid) bob.call('PATCH', `/api/v4/orders/${oid}`, { price: priceOf(op.level) });
        break;
      }
      case 'reply':
        this.#reply(op.index);
        break;
      case 'deliver':
        this.#deliver(op.count, op.fate);
        break;
      case 'snapshot':
        this.#read(op.late);
        break;
    }
    this.#remember();
    this.#tellApart();
    this.#arrive();
  }

  /** What is under way arrives, and a lost book is read again. */
  heal(): void {
    while (this.#waiting.length > 0) this.#reply();
    this.#deliver(Infinity, 'as is');
    this.#snapshots = [];
    const last = [...this.#history.keys()].at(-1)!;
    // A lost last frame is told by a read that is ahead.
    if (this.#feed.sequence !== last) this.#feed.markIncomplete();
    if (this.#feed.sequence === null) {
      this.#read(0);
      this.#arrive();
    }
    expect(this.#feed.sequence).toBe(last);
    this.#compare();
  }

  /** Answers come in any order, and the feed is told before the engine: the order is still pending then. What never arrived just ends. */
  #reply(index = 0): void {
    const answered = this.#waiting[index % this.#waiting.length];
    if (!answered) return;
    if (answered.oid !== null) this.#feed.own(answered.oid, answered.id);
    this.#compare();
    this.#waiting.splice(this.#waiting.indexOf(answered), 1);
    this.#compare();
  }

  /** An order of others may be taken for one of ours that looks the same, until ours is answered: that answer comes first here. */
  #tellApart(): void {
    const look = (side: Side, ticks: number, lots: number) => `${side} ${ticks} ${lots}`;
    for (const { changes } of this.#fresh.splice(0)) {
      for (const change of changes) {
        if (change.kind !== 'open' || this.#ourOids.has(change.oid)) continue;
        this.#othersLooks.add(look(change.side, Number(change.price) / 10, Math.round(Number(change.amount) * 1e8)));
      }
    }
    const isShared = ({ side, price, amount }: PendingOrder) => this.#othersLooks.has(look(side, price, amount));
    for (let at = this.#waiting.findIndex(isShared); at !== -1; at = this.#waiting.findIndex(isShared)) this.#reply(at);
  }

  #deliver(count: number, fate: 'as is' | 'drop' | 'twice' | 'swap'): void {
    const frames = this.#frames.splice(0, count);
    if (fate === 'drop') frames.splice(0, 1);
    if (fate === 'twice') frames.push(...frames);
    if (fate === 'swap') frames.reverse();
    for (const frame of frames) {
      this.#feed.take(frame);
      this.#compare();
    }
  }

  #read(late: number): void {
    // One that is in the book in part under an unknown oid cannot be recognised: its answer comes first here.
    const isInPart = ({ oid, amount }: { readonly oid: string | null; readonly amount: number }) =>
      (this.#left.get(oid ?? '') ?? amount) < amount;
    for (let at = this.#waiting.findIndex(isInPart); at !== -1; at = this.#waiting.findIndex(isInPart)) this.#reply(at);
    const { payload } = publicCall(this.#arena.exchange, '/api/v3/order_book?book=btc_mxn&aggregate=false').body;
    this.#snapshots.push({ due: late, snapshot: orderBook('btc_mxn')(payload) });
  }

  #arrive(): void {
    for (const waiting of this.#snapshots.splice(0)) {
      if (waiting.due-- > 0) this.#snapshots.push(waiting);
      else if (this.#feed.sequence === null && this.#feed.seed(waiting.snapshot) === 'live') this.#compare();
    }
  }

  #remember(): void {
    const { exchange } = this.#arena;
    const { engine } = exchange.venue.books.get('btc_mxn')!;
    const levels: Record<Side, Map<number, number>> = { buy: new Map(), sell: new Map() };
    /** Lots of others before the first of ours, on each side. */
    const ahead: Record<Side, number | null> = { buy: null, sell: null };
    const book = exchange.venue.books.get('btc_mxn')!;
    for (const of of ['buy', 'sell'] as const) {
      let before = 0;
      engine.eachOrder(of, (id, owner, price, left) => {
        const oid = book.oidOf(id, owner);
        if (this.#ourOids.has(oid)) {
          this.#left.set(oid, left);
          ahead[of] ??= before;
        } else {
          levels[of].set(price, (levels[of].get(price) ?? 0) + left);
          before += left;
        }
        return true;
      });
    }
    this.#history.set(
      BigInt(engine.sequence),
      JSON.stringify([[...levels.buy], [...levels.sell], [ahead.buy, ahead.sell]]),
    );
  }

  #compare(): void {
    const { sequence } = this.#feed;
    if (sequence === null) return;
    this.#feed.show();
    // A modification is two steps at once: the one between them was never seen whole.
    const expected = this.#history.get(sequence);
    if (expected === undefined) return;
    const depth = emptyDepth(50);
    this.#book.depth(depth);
    const rows = (prices: Float64Array, amounts: Float64Array, count: number) =>
      Array.from({ length: count }, (_, i) => [prices[i], amounts[i]]);
    const shown = [
      rows(depth.bidPrices, depth.bidAmounts, depth.bids),
      rows(depth.askPrices, depth.askAmounts, depth.asks),
      [this.#feed.aheadOfBest('buy'), this.#feed.aheadOfBest('sell')],
    ];
    expect(JSON.stringify(shown)).toBe(expected);
    this.compared++;
  }
}

/** The engine's book over histories of stream and polls: always the whole book of one moment, from one of both sources. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  instrumentOf,
  shownAmount,
  VirtualClock,
  type BookDiff,
  type BookSnapshot,
  type EngineEvent,
  type Exchange,
  type OrderBook,
  type OrderChange,
  type Outcome,
  type Price,
  type Side,
  type StreamNews,
} from '../../../src/core/index.ts';
import { MarketData } from '../../../src/live/market/marketData.ts';
import { Reads } from '../../../src/live/account/reads.ts';
import { bookRules } from '../../core/market.ts';
import { runsOf } from '../../many.ts';

const instrument = instrumentOf(bookRules({ tickSize: '1' }));
const LOTS = shownAmount(instrument, '1');
type Row = { readonly side: Side; readonly price: number; readonly amount: number };
/** Oids of the bot. They become known at any time, also while they are in the book. */
const OWN = ['o0', 'o1', 'o2'];
/** An order of each book at this price has its sequence for its amount, so that a book tells when it was. */
const SIGN = 200;

type Op =
  | { readonly kind: 'change'; readonly oid: string; readonly to: Row | null; readonly isPrompt: boolean }
  | { readonly kind: 'learn'; readonly oid: string }
  | { readonly kind: 'deliver' | 'drop' | 'alive' | 'poll' | 'down' | 'up' }
  | { readonly kind: 'answer'; readonly isLate: boolean }
  | { readonly kind: 'wait'; readonly ms: number };

const row = fc
  .tuple(fc.constantFrom<Side>('buy', 'sell'), fc.nat(3), fc.integer({ min: 1, max: 5 }))
  .map(([side, level, amount]): Row => ({ side, price: side === 'buy' ? 100 - level : 110 + level, amount }));
const weighted = <T extends Op>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary });
const op: fc.Arbitrary<Op> = fc.oneof(
  weighted(
    7,
    fc.record({
      kind: fc.constant('change' as const),
      oid: fc.constantFrom(...OWN, ...OWN, 'a0', 'a1', 'a2'),
      to: fc.option(row, { freq: 3 }),
      isPrompt: fc.boolean(),
    }),
  ),
  weighted(3, fc.constant<Op>({ kind: 'deliver' })),
  weighted(4, fc.constant<Op>({ kind: 'poll' })),
  weighted(6, fc.record({ kind: fc.constant('answer' as const), isLate: fc.boolean() })),
  weighted(4, fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(10, 30, 90, 600, 1_100) })),
  weighted(1, fc.record({ kind: fc.constant('learn' as const), oid: fc.constantFrom(...OWN) })),
  weighted(
    2,
    fc.constantFrom<Op[]>({ kind: 'alive' }, { kind: 'up' }, { kind: 'up' }, { kind: 'drop' }, { kind: 'down' }),
  ),
);

class World {
  readonly clock = new VirtualClock();
  readonly data: MarketData;
  /** The whole book of each sequence. */
  readonly #books: ReadonlyMap<string, Row>[] = [new Map()];
  readonly #asked: { readonly from: number; readonly aggregate: boolean; done(of: Outcome<BookSnapshot>): void }[] = [];
  #hear: (news: StreamNews) => void = () => undefined;
  #isUp = false;
  #frames: BookDiff[] = [];
  #told: Extract<EngineEvent, { kind: 'book' }> | null = null;
  #toldSequence = 0;
  readonly #known = new Set<string>();
  count = { stream: 0, poll: 0 };

  constructor() {
    const { clock } = this;
    const exchange = {
      limits: { ordersPage: 500, tradesPage: 100, depth: 50 },
      orderBook: (_: string, aggregate: boolean) =>
        new Promise(done => this.#asked.push({ from: this.#now, aggregate, done })),
      trades: async () => ({ kind: 'done', value: [] }),
      budget: () => ({ public: 60, private: 300 }),
    } as unknown as Exchange;
    this.data = new MarketData({
      run: {
        clock,
        time: () => clock.elapsed(),
        log: { debug() {}, info() {}, warn() {}, error() {} },
        step: event => event.kind === 'book' && this.#isTold(event),
      },
      bot: { book: 'btc_mxn', instance: 'mm' },
      venue: {
        exchange,
        stream: {
          start: hear => void (this.#hear = hear),
          restart: () => this.run({ kind: 'down' }),
          close: () => undefined,
        },
      },
      engine: { liveOrders: [] },
      account: {
        reads: new Reads(exchange, 'btc_mxn', undefined, () => clock.elapsed()),
        readTrades: async () => undefined,
        readBalances: async () => undefined,
        look: async () => undefined,
      },
      instrument: () => instrument,
      bookPollMs: 1_000,
      note: () => undefined,
      host: {
        onTurn: () => undefined,
        isWaking: () => false,
        onBroken: error => {
          throw error;
        },
      },
    });
    this.data.start();
  }

  get #now(): number {
    return this.#books.length - 1;
  }

  run(of: Op): void {
    switch (of.kind) {
      case 'change':
        this.#change(of.oid, of.to);
        return of.isPrompt ? this.run({ kind: 'deliver' }) : undefined;
      case 'learn': {
        this.#known.add(of.oid);
        const outcome = { kind: 'done', value: { oid: of.oid } } as const;
        return this.data.learn({ kind: 'placed', at: 0, id: `mm-1-${of.oid}`, outcome });
      }
      case 'deliver':
        return this.#frames.splice(0).forEach(diff => this.#hear({ kind: 'diff', diff }));
      case 'drop':
        return void this.#frames.shift();
      case 'alive':
        return this.#isUp ? this.#hear({ kind: 'alive' }) : undefined;
      case 'up':
        if (this.#isUp) return;
        this.#isUp = true;
        return this.#hear({ kind: 'up' });
      case 'down':
        this.#isUp = false;
        this.#frames = [];
        return this.#hear({ kind: 'down', reason: 'by the test' });
      case 'poll':
        return void this.data.poll();
      case 'answer': {
        const asked = this.#asked.shift();
        return asked?.done({
          kind: 'done',
          value: this.#snapshot(of.isLate ? this.#now : asked.from, asked.aggregate),
        });
      }
      case 'wait':
    }
  }

  #change(oid: string, to: Row | null): void {
    const after = new Map(this.#books.at(-1));
    const changes: OrderChange[] = [];
    const set = (id: string, { side, price, amount }: Row) => {
      after.set(id, { side, price, amount });
      changes.push({ kind: 'open', oid: id, side, price: `${price}`, amount: `${amount}` });
    };
    if (to !== null) set(oid, to);
    else if (after.delete(oid)) changes.push({ kind: 'gone', oid, filled: false });
    set('sign', { side: 'sell', price: SIGN, amount: this.#books.length });
    this.#books.push(after);
    if (this.#isUp) this.#frames.push({ book: 'btc_mxn', sequence: BigInt(this.#now), changes });
  }

  #snapshot(sequence: number, aggregate: boolean): BookSnapshot {
    const rows = (side: Side) =>
      [...this.#books[sequence]!]
        .filter(([, each]) => each.side === side)
        .sort(([, a], [, b]) => (side === 'buy' ? b.price - a.price : a.price - b.price))
        .map(([oid, { price, amount }]) => ({ price: `${price}`, amount: `${amount}`, ...(aggregate ? {} : { oid }) }));
    return { book: 'btc_mxn', sequence: BigInt(sequence), updatedAt: 0, bids: rows('buy'), asks: rows('sell') };
  }

  #isTold(event: Extract<EngineEvent, { kind: 'book' }>): void {
    this.#told = event;
    const sequence = this.check();
    // None is older than the one before, and only the stream's is as new as it is told.
    expect(sequence).toBeGreaterThanOrEqual(this.#toldSequence);
    if (event.startedAt === null) expect(this.data.status.streamUp).toBe(true);
    this.#toldSequence = sequence;
    this.count[event.startedAt === null ? 'stream' : 'poll']++;
    expect(this.#levels()).toEqual(this.#levelsOf(sequence, event.startedAt !== null));
  }

  /** The book, also between two reports: all of it is of one moment, with the bot's orders or without them. Returns its sequence. */
  check(): number {
    const levels = this.#levels();
    const sequence = (levels.get(`sell ${SIGN}`) ?? 0) / LOTS;
    expect([this.#levelsOf(sequence, true), this.#levelsOf(sequence, false)]).toContainEqual(levels);
    return sequence;
  }

  #levels(): ReadonlyMap<string, number> {
    const levels = new Map<string, number>();
    for (const side of ['buy', 'sell'] as const)
      for (const price of [97, 98, 99, 100, 110, 111, 112, 113, SIGN]) {
        const lots = (this.#told?.book as OrderBook | undefined)?.amountAt(side, price as Price) ?? 0;
        if (lots > 0) levels.set(`${side} ${price}`, lots);
      }
    return levels;
  }

  #levelsOf(sequence: number, withOwn: boolean): ReadonlyMap<string, number> {
    const levels = new Map<string, number>();
    for (const [oid, { side, price, amount }] of this.#books[sequence] ?? []) {
      const at = `${side} ${price}`;
      if (withOwn || !this.#known.has(oid)) levels.set(at, (levels.get(at) ?? 0) + amount * LOTS);
    }
    return levels;
  }

  /** From now on all arrives: the book becomes that of the stream, and the newest. */
  async heal(): Promise<void> {
    const isHealed = () => this.#told?.startedAt === null && this.#toldSequence === this.#now;
    for (let seconds = 0; seconds < 130 && !isHealed(); seconds += 5) {
      this.run({ kind: 'up' });
      this.run({ kind: 'change', oid: 'a0', to: { side: 'buy', price: 99, amount: 3 }, isPrompt: true });
      this.run({ kind: 'poll' });
      for (let ms = 0; ms < 5_000; ms += 1_000) {
        this.run({ kind: 'answer', isLate: true });
        await this.clock.advance(1_000);
      }
    }
    expect(isHealed()).toBe(true);
    await this.data.stop();
  }
}

/** The stream is there, with its book. */
const START: readonly Op[] = [{ kind: 'up' }, { kind: 'wait', ms: 30 }, { kind: 'answer', isLate: true }];

test('whatever comes when, the book of the engine is that of one moment: polled with its orders or of the stream without', async () => {
  const count = { stream: 0, poll: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(op, { minLength: 40, maxLength: 120, size: 'max' }), async ops => {
      const world = new World();
      for (const each of [...START, ...ops]) {
        world.run(each);
        await world.clock.advance(each.kind === 'wait' ? each.ms : 40);
        world.check();
      }
      await world.heal();
      count.stream += world.count.stream;
      count.poll += world.count.poll;
    }),
    runsOf(400, 40),
  );
  // Neither source was silent.
  expect(Math.min(count.stream, count.poll)).toBeGreaterThan(30);
});

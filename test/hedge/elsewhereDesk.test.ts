/** An order on another exchange, with the client that ships against the embedded exchange: what is said of it is what became of it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  emptyDepth,
  moneyOf,
  randomOf,
  Secret,
  sleep,
  VirtualClock,
  type ElsewhereOrder,
  type ElsewhereVerdict,
  type WireRequest,
} from '../../src/core/index.ts';
import { exchangeClient } from '../../src/exchange/index.ts';
import { ElsewhereDesk, type SendResult } from '../../src/hedge/index.ts';
import { wireTo, type Fate } from '../live/inProcess.ts';
import { between } from '../draws.ts';
import { isMany, runsOf } from '../many.ts';
import { arena } from '../sandbox/trader.ts';

const TIMES = { requestLifeMs: 30_000, listingDelayMs: 4_000 };
const BAD: Fate = { instead: { status: 502, headers: {}, body: '<html>' } };
const LOCKED_OUT: Fate = {
  instead: { status: 420, headers: {}, body: '{"success":false,"error":{"code":"0801","message":"locked"}}' },
};
const isOrder = ({ method, target }: WireRequest) => method === 'POST' && target.endsWith('/orders');

const fates: fc.Arbitrary<Fate> = fc.oneof(
  fc.constantFrom<Fate>('arrives', 'arrives', 'not sent', 'lost', 'unanswered', BAD),
  fc.integer({ min: 0, max: 29_000 }).map((heldMs): Fate => ({ heldMs })),
);
const worlds = fc.record({
  side: fc.constantFrom<'buy' | 'sell'>('buy', 'sell'),
  /** Offered within the limit of the order, in thousandths of the base currency; the order wants 20. */
  offered: fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 4 }),
  fate: fates,
  lookUps: fc.array(fc.constantFrom<Fate>('arrives', 'lost', 'unanswered', BAD, LOCKED_OUT), { maxLength: 12 }),
  engineDelayMaxMs: fc.constantFrom(0, 20, 3_000),
  tradeRecordDelayMs: fc.constantFrom(0, 400, 3_500),
  /** Number of look-ups after which the process dies; the next one knows only what was on disk. */
  diesAfter: fc.option(fc.integer({ min: 0, max: 6 }), { nil: null }),
  everyMs: fc.constantFrom(500, 2_000, 7_000),
});

test('whatever happens to an order there, it is sent once, and its end is told with exactly the trades that the exchange has', async () => {
  const cameUp = new Set<string>();
  await fc.assert(
    fc.asyncProperty(worlds, async world => {
      const { side, offered, fate, lookUps, engineDelayMaxMs, tradeRecordDelayMs, diesAfter, everyMs } = world;
      const at = arena({ engineDelayMaxMs, tradeRecordDelayMs });
      const { clock, exchange, ann, bob } = at;
      for (const [i, part] of offered.entries())
        bob.limit(
          'btc_mxn',
          side === 'buy' ? 'sell' : 'buy',
          String(1_000_000 + (side === 'buy' ? i : -i) * 100),
          `0.0${String(part).padStart(2, '0')}`,
        );
      await clock.advance(10_000);
      const looks = [...lookUps];
      const client = exchangeClient({
        clock,
        random: randomOf(1),
        transport: wireTo({
          exchange,
          clock,
          random: randomOf(2),
          deadlineMs: 2_000,
          fate: request => (isOrder(request) ? fate : (looks.shift() ?? 'arrives')),
        }),
        credentials: { key: ann.key, secret: new Secret(ann.secret) },
      });
      let sends = 0;
      const counted = { ...client, place: (...of: Parameters<typeof client.place>) => (sends++, client.place(...of)) };
      const { instrument } = exchange.venue.books.get('btc_mxn')!;
      const newDesk = () => new ElsewhereDesk({ client: counted, clock, instrument: () => instrument, times: TIMES });
      const order: ElsewhereOrder = {
        id: 'mmh1x1',
        book: 'btc_mxn',
        side,
        price: side === 'buy' ? '1000500' : '999500',
        amount: '0.02',
      };
      let desk = newDesk();
      let said: SendResult | null = null;
      void desk.send(order).then(result => (said = result));
      await clock.advance(10_000);
      const sent = said as SendResult | null;
      expect(sent).not.toBeNull();
      const verdicts: ElsewhereVerdict[] = [];
      // Each of up to twelve lockouts lasts a minute.
      for (let turn = 0; desk.isOpen && clock.elapsed() < 900_000; turn++) {
        if (turn === diesAfter) {
          const { isAccepted } = desk;
          desk = newDesk();
          desk.restore(order, isAccepted);
        }
        let verdict: ElsewhereVerdict | null = null;
        void desk.find().then(result => (verdict = result));
        while (verdict === null) await clock.advance(500);
        verdicts.push(verdict);
        await clock.advance(everyMs);
      }
      expect([desk.isOpen, sends]).toEqual([false, 1]);
      // No request is pending, and every trade is listed.
      await clock.advance(60_000);
      const truth = exchange.truth().accounts.get(ann.id)!;
      const executed = truth.trades.map(({ tid }) => String(tid)).toSorted();
      const end = verdicts.at(-1);
      if (sent?.kind === 'refused') expect(executed).toEqual([]);
      else if (end?.kind === 'not placed') expect(executed).toEqual([]);
      else {
        if (end?.kind !== 'ended') throw new Error(`ended as ${end?.kind}`);
        expect(end.trades.map(({ tid }) => tid).toSorted()).toEqual(executed);
        expect(end.filled).toBe(end.trades.reduce((sum, { major }) => sum + moneyOf(major), 0n));
      }
      expect(truth.live).toEqual([]);
      cameUp.add(`${sent?.kind} ${end?.kind}${end?.kind === 'ended' && end.filled > 0n ? ' filled' : ''}`);
    }),
    { ...runsOf(2_000, 20), seed: 29 },
  );
  // Few worlds need not have every outcome.
  if (!isMany) return;
  expect([...cameUp].toSorted()).toEqual([
    'refused undefined',
    'sent ended',
    'sent ended filled',
    'unknown ended',
    'unknown ended filled',
    'unknown not placed',
  ]);
});

/** Mostly as early or as late as may be. */
const share = fc.oneof(fc.constantFrom(0, 1, 1), between(0, 1));

/** One order at an exchange that is as late as its times allow, and at times later or blind. */
const slowWorlds = fc.record({
  /** Time that `place` takes: the request waits for its turn, leaves at some moment, and its answer is lost or arrives. */
  placeMs: fc.constantFrom(0, 2_000, 34_000, 90_000),
  leaves: share,
  said: fc.constantFrom('unknown', 'unknown', 'done', 'duplicate id', 'refused'),
  /** Shares of the life of a request and of the delay of a list; `null`: the order never arrives. */
  executes: fc.option(share, { nil: null, freq: 6 }),
  listed: share,
  tradesListed: fc.array(share, { maxLength: 3 }),
  /** Time for which the order stays in the book although it may not, and whether its cancels arrive. */
  restsMs: fc.constantFrom(0, 5_000, 100_000),
  cancels: fc.boolean(),
  /** Time after its end from which the order, but not its trades, is listed no longer. */
  keptMs: fc.constantFrom(0, 3_000, Infinity),
  /** Look-ups in a row that meet the same fate. */
  looks: fc.array(
    fc.tuple(
      fc.constantFrom('sees', 'blind', 'no orders', 'no trades', 'the order is unreadable', 'trades are unreadable'),
      fc.integer({ min: 1, max: 12 }),
    ),
    {
      maxLength: 4,
    },
  ),
  everyMs: fc.constantFrom(1_000, 4_000, 15_000),
  restartsAt: fc.option(fc.integer({ min: 0, max: 20 }), { nil: null, freq: 2 }),
});

test('however long a request hangs before it leaves and lists lag, the end of its order is told late or truly', async () => {
  const cameUp = new Set<string>();
  await fc.assert(
    fc.asyncProperty(slowWorlds, async world => {
      const clock = new VirtualClock();
      const { placeMs, said, executes, restsMs, keptMs } = world;
      const order: ElsewhereOrder = { id: 'mmh1x1', book: 'btc_mxn', side: 'buy', price: '1000', amount: '3' };
      const arrives = said === 'refused' ? null : executes;
      const at = world.leaves * placeMs + (arrives ?? 0) * TIMES.requestLifeMs;
      const listedAt = at + world.listed * TIMES.listingDelayMs;
      const trades = arrives === null ? [] : world.tradesListed;
      let endsAt = at + restsMs;
      const refused = (meaning: string) => ({ kind: 'refused', code: 'x', message: 'no', meaning, status: 400 });
      const failed = { kind: 'unknown', reason: 'no answer' };
      const looks = world.looks.flatMap(([what, count]) => Array.from({ length: count }, () => what));
      let look: (typeof looks)[number] = 'sees';
      let wasBlind = false;
      const report = () => {
        const now = clock.elapsed();
        const isEnded = now >= endsAt;
        const isListed = arrives !== null && now >= listedAt && !(now >= endsAt + keptMs && now >= listedAt + keptMs);
        if (!isListed || look === 'blind' || look === 'the order is unreadable') return [];
        const status = !isEnded ? 'open' : trades.length === 3 ? 'completed' : 'cancelled';
        return [
          {
            ...{ book: 'btc_mxn', oid: 'o1', originId: order.id, side: 'buy', type: 'limit', status, price: '1000' },
            ...{ originalAmount: '3', unfilledAmount: String(3 - trades.length), createdAt: 0 },
          },
        ];
      };
      const answered = <T>(value: readonly T[], isUnreadable: boolean) => ({
        ...{ kind: 'done', value },
        ...(isUnreadable ? { unreadable: [{ reason: 'a row' }] } : {}),
      });
      let sends = 0;
      const client = {
        orderBook: () => Promise.reject(new Error('no book is read')),
        place: async () => {
          sends++;
          await sleep(clock, placeMs);
          return said === 'done' ? { kind: 'done', value: { oid: 'o1' } } : said === 'unknown' ? failed : refused(said);
        },
        lookUp: () => {
          // One look-up misses what the one before it and the one after it see.
          const next = looks.shift() ?? 'sees';
          look = next === 'blind' && wasBlind ? 'sees' : next;
          if (look === 'blind' || look === 'sees') wasBlind = look === 'blind';
          return Promise.resolve(
            look === 'no orders' ? failed : answered(report(), look === 'the order is unreadable'),
          );
        },
        orderTrades: () => {
          const shown = trades.flatMap((share, number) =>
            clock.elapsed() < at + share * TIMES.listingDelayMs
              ? []
              : [
                  {
                    ...{ book: 'btc_mxn', tid: `${number}`, oid: 'o1', createdAt: 0, side: 'buy', price: '1000' },
                    ...{ major: '1', minor: '1000', feeAmount: '0', feeCurrency: 'btc', maker: false },
                  },
                ],
          );
          if (look === 'trades are unreadable') return Promise.resolve(answered([], true));
          return Promise.resolve(look === 'no trades' ? failed : answered(shown, false));
        },
        cancel: () => {
          if (world.cancels) endsAt = Math.min(endsAt, clock.elapsed());
          return Promise.resolve({ kind: 'done', value: [] });
        },
      };
      const instrument = () => expect.unreachable('no book is read');
      const newDesk = () => new ElsewhereDesk({ client: client as never, clock, instrument, times: TIMES });
      let desk = newDesk();
      const sending = desk.send(order);
      await clock.advance(placeMs);
      const told = (await sending).kind;
      expect(told).toBe(said === 'done' ? 'sent' : said === 'refused' ? 'refused' : 'unknown');
      for (let turn = 0; desk.isOpen && clock.elapsed() < 900_000; turn++) {
        if (turn === world.restartsAt) {
          const { isAccepted } = desk;
          (desk = newDesk()).restore(order, isAccepted);
        }
        const verdict = await desk.find();
        cameUp.add(verdict.kind);
        const isOver = verdict.kind === 'not placed' || verdict.kind === 'ended';
        // An unknown order that has ended without a trade may be told as not placed, but not one that was accepted.
        if (said === 'done') expect(verdict.kind).not.toBe('not placed');
        if (isOver && arrives !== null) expect(clock.elapsed()).toBeGreaterThanOrEqual(endsAt);
        if (isOver)
          expect(verdict.kind === 'ended' ? verdict.trades.map(({ tid }) => tid) : []).toEqual(
            trades.map((_, number) => `${number}`),
          );
        expect(desk.isOpen).toBe(!isOver);
        await clock.advance(world.everyMs);
      }
      // The exchange has accepted the order and no longer lists it, and the trades cannot prove its end: that is for a
      // person to state.
      if (desk.isOpen) expect([desk.isAccepted, desk.isUndecidable, trades.length < 3]).toEqual([true, true, true]);
      expect(sends).toBe(1);
    }),
    runsOf(3_000, 150),
  );
  expect([...cameUp].toSorted()).toEqual(['ended', 'live', 'not placed', 'unknown']);
});

test('a streamed book is used while it is young and of the same grid; otherwise the book is read', async () => {
  const { clock, exchange, ann } = arena();
  const { instrument } = exchange.venue.books.get('btc_mxn')!;
  const transport = wireTo({ exchange, clock, random: randomOf(2) });
  const client = exchangeClient({
    ...{ clock, random: randomOf(1), transport },
    credentials: { key: ann.key, secret: new Secret(ann.secret) },
  });
  const depth = emptyDepth(5);
  for (const [ageMs, tick, isStreamed] of [
    [0, instrument.tick, true],
    [1_000, instrument.tick, true],
    [1_001, instrument.tick, false],
    [0, '7', false],
  ] as const) {
    await clock.advance(5_000);
    const streamed = { instrument: { ...instrument, tick }, depth, at: clock.elapsed() - ageMs };
    const desk = new ElsewhereDesk({
      ...{ client, clock, times: TIMES, instrument: () => instrument },
      streamed: () => streamed,
    });
    const read = desk.depth();
    await clock.advance(1_000);
    const found = await read;
    expect(typeof found === 'string' ? found : found.depth === depth).toBe(isStreamed);
  }
});

test('a read book has the levels of each side before its own first damaged, hidden or unreadable one, at most as many as a decision uses', async () => {
  const { clock, exchange } = arena();
  const { instrument } = exchange.venue.books.get('btc_mxn')!;
  const side = fc.record({
    count: fc.integer({ min: 0, max: 60 }),
    damagedAfter: fc.option(fc.nat(60), { nil: undefined }),
    hiddenAt: fc.option(fc.nat(60), { nil: undefined }),
    offGridAt: fc.option(fc.nat(60), { nil: undefined }),
    absurdAt: fc.option(fc.nat(60), { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(side, side, async (bids, asks) => {
      const rows = ({ count, hiddenAt, offGridAt, absurdAt }: typeof bids, sign: number) =>
        Array.from({ length: count }, (_, i) => ({
          price: i === absurdAt ? '9'.repeat(25) : `${1_000_000 + sign * (i + 1) * 10}${i === offGridAt ? '.001' : ''}`,
          amount: i === hiddenAt ? null : `0.0${i + 1}`,
        }));
      const damageOf = ({ damagedAfter: after }: typeof bids) => (after === undefined ? undefined : { after });
      const value = {
        ...{ book: instrument.symbol, bids: rows(bids, -1), asks: rows(asks, 1) },
        damage: { bids: damageOf(bids), asks: damageOf(asks) },
      };
      const client = { orderBook: () => Promise.resolve({ kind: 'done', value }) };
      const desk = new ElsewhereDesk({ client: client as never, clock, times: TIMES, instrument: () => instrument });
      const read = await desk.depth();
      if (typeof read === 'string') throw new Error(read);
      const { depth } = read;
      const ends = ({ count, damagedAfter = 99, hiddenAt = 99, offGridAt = 99, absurdAt = 99 }: typeof bids) =>
        Math.min(count, damagedAfter, hiddenAt, offGridAt, absurdAt, 50);
      expect([depth.bids, depth.asks]).toEqual([ends(bids), ends(asks)]);
      const levelsOf = (prices: Float64Array, amounts: Float64Array, count: number) =>
        Array.from({ length: count }, (_, i) => [
          Number(instrument.tick) * prices[i]!,
          Math.round(Number(instrument.lot) * amounts[i]! * 1e8),
        ]);
      const model = (count: number, sign: number) =>
        Array.from({ length: count }, (_, i) => [
          1_000_000 + sign * (i + 1) * 10,
          Math.round(Number(`0.0${i + 1}`) * 1e8),
        ]);
      expect(levelsOf(depth.bidPrices, depth.bidAmounts, depth.bids)).toEqual(model(depth.bids, -1));
      expect(levelsOf(depth.askPrices, depth.askAmounts, depth.asks)).toEqual(model(depth.asks, 1));
    }),
    runsOf(1_000, 200),
  );
});

test('while an order is on its way there, it is open: no other is sent or restored, and a refusal ends it', async () => {
  const clock = new VirtualClock();
  let answer: (outcome: object) => void = () => undefined;
  const client = { place: () => new Promise(resolve => (answer = resolve)) };
  const instrument = () => expect.unreachable('no book is read');
  const desk = new ElsewhereDesk({ client: client as never, clock, instrument, times: TIMES });
  const order: ElsewhereOrder = { id: 'mmh1x1', book: 'btc_mxn', side: 'buy', price: '1000', amount: '3' };
  for (const [outcome, isOpenAfter] of [
    [{ kind: 'refused', code: 'x', message: 'no', status: 400 }, false],
    [{ kind: 'refused', code: 'x', message: 'twice', meaning: 'duplicate id', status: 400 }, true],
  ] as const) {
    expect(desk.isOpen).toBe(false);
    const sending = desk.send(order);
    expect(desk.isOpen).toBe(true);
    await expect(desk.send(order)).rejects.toThrow('still open');
    expect(() => desk.restore(order, false)).toThrow('still open');
    answer(outcome);
    await sending;
    expect(desk.isOpen).toBe(isOpenAfter);
  }
});

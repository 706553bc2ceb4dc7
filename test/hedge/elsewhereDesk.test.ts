/** An order on another exchange, with the client that ships against the embedded exchange: what is said of it is what became of it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  emptyDepth,
  moneyOf,
  randomOf,
  Secret,
  type ElsewhereOrder,
  type ElsewhereVerdict,
  type WireRequest,
} from '../../src/core/index.ts';
import { exchangeClient } from '../../src/exchange/index.ts';
import { ElsewhereDesk, type SendResult } from '../../src/hedge/index.ts';
import { wireTo, type Fate } from '../live/inProcess.ts';
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
          desk = newDesk();
          desk.restore(order);
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

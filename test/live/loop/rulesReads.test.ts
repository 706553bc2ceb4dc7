/** When the rules and fees of a book are read, and from which answer on they are known again. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { instrumentOf, VirtualClock, type EngineEvent, type Exchange, type OwnTrade } from '../../../src/core/index.ts';
import { ConnectivityLog } from '../../../src/live/connectivityLog.ts';
import { readOnce, readRulesOfBooks, type ListedBooks } from '../../../src/live/loop/opening.ts';
import { RulesReads } from '../../../src/live/loop/rulesReads.ts';
import { memoryLog } from '../../memoryLog.ts';

const ROW = {
  ...{ book: 'btc_mxn', tickSize: '1', minimumAmount: '0.001', maximumAmount: '1000' },
  ...{ minimumPrice: '1', maximumPrice: '10000000', minimumValue: '1', maximumValue: '10000000', tiers: [] },
};
/** Ticks of which the first is that of the run. */
const TICKS = ['1', '0.5'] as const;

/** Reads of an exchange that answers the two requests of a read after `latencyMs`, with the rules as of its first request. */
function reads(onList?: (books: ListedBooks) => void) {
  const clock = new VirtualClock();
  const { log } = memoryLog();
  const state = { tickSize: '1', latencyMs: 100, fails: false };
  const started: number[] = [];
  const steps: EngineEvent[] = [];
  const after = <T>(value: T) => new Promise<T>(resolve => clock.after(state.latencyMs / 2, () => resolve(value)));
  const exchange = {
    availableBooks: () => {
      started.push(clock.elapsed());
      return after(
        state.fails ? { kind: 'unknown', reason: 'no answer' } : { kind: 'done', value: [{ ...ROW, ...state }] },
      );
    },
    fees: () => after({ kind: 'done', value: [{ book: 'btc_mxn', maker: '0.001', taker: '0.002' }] }),
  } as Partial<Exchange> as Exchange;
  const run = { clock, log, time: () => clock.now(), step: (event: EngineEvent) => void steps.push(event) };
  const instrument = instrumentOf(ROW);
  const first = { instrument, makerRate: 100_000, takerRate: 200_000, tier: null };
  const rules = new RulesReads(
    run,
    { exchange, book: 'btc_mxn', first, ...(onList && { onList }) },
    new ConnectivityLog(log, clock),
  );
  return { clock, rules, started, state, steps };
}

test('rules are in doubt from a rejection until an answer to a read that started after it, which starts within two seconds of the last', async () => {
  const op = fc.oneof(
    fc.record({ what: fc.constant('doubt') }),
    fc.record({
      what: fc.constant('wait'),
      ms: fc.oneof(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: 4_000 })),
    }),
    fc.record({ what: fc.constant('exchange'), fails: fc.boolean(), latencyMs: fc.integer({ min: 2, max: 900 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(op, { minLength: 3, maxLength: 14 }), async ops => {
      const { clock, rules, started, state, steps } = reads();
      /** Number of reads that had started before the last rejection; null while the rules are known. */
      let before: number | null = null;
      let answers = 0;
      for (const each of [...ops, { what: 'wait', ms: 4_000 } as const]) {
        if (each.what === 'doubt') {
          rules.doubt();
          before = started.length;
        } else if (each.what === 'exchange') Object.assign(state, { fails: each.fails, latencyMs: each.latencyMs });
        else
          for (let left = each.ms; left > 0; left -= 100) {
            void rules.readWhenDue();
            await clock.advance(Math.min(100, left));
            if (steps.length > answers) {
              answers = steps.length;
              if (before !== null && started.length > before) before = null;
            }
            expect(rules.areInDoubt).toBe(before !== null);
          }
      }
      // A read that failed is repeated after fifteen seconds; otherwise none is later than two seconds after the last.
      state.fails = false;
      for (let s = 0; s < 200; s++) {
        void rules.readWhenDue();
        await clock.advance(100);
      }
      expect(rules.areInDoubt).toBe(false);
    }),
    {
      numRuns: 60,
      // A rejection while a slow read is under way.
      examples: [
        [
          [
            { what: 'exchange', fails: false, latencyMs: 900 },
            { what: 'doubt' },
            { what: 'wait', ms: 300 },
            { what: 'doubt' },
          ],
        ],
      ],
    },
  );
});

test('the next run has the rules of the last answer if their tick is another, and none if it is that of this run again', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...TICKS), { minLength: 1, maxLength: 5 }), async ticks => {
      const { clock, rules, state } = reads();
      for (const tick of ticks) {
        state.tickSize = tick;
        void rules.read();
        await clock.advance(1_000);
        expect(rules.next?.instrument.tick ?? null).toBe(tick === TICKS[0] ? null : tick);
        expect(rules.known.instrument.tick).toBe(TICKS[0]);
      }
    }),
    { numRuns: 20 },
  );
});

test('a trade at a rate that no list explains is checked once, however often it is listed again', async () => {
  const { clock, rules, started } = reads();
  const trade = (tid: string): OwnTrade => ({
    ...{ book: 'btc_mxn', tid, oid: 'a', createdAt: 0, side: 'buy', price: '1000', major: '1', minor: '1000' },
    ...{ feeAmount: '0.01', feeCurrency: 'btc', maker: true },
  });
  for (let s = 0; s < 280; s++) {
    // The second trade is first listed in the pause after the read for the first.
    rules.take({ trades: [trade('1'), ...(s === 0 ? [] : [trade('2')])] });
    void rules.readWhenDue();
    await clock.advance(1_000);
  }
  expect(started).toHaveLength(1);
});

test('a list that was read for one book removes every other book that it lacks, unless a row of it cannot be read', () => {
  fc.assert(
    fc.property(fc.subarray(['btc_mxn', 'eth_mxn', 'usd_mxn']), fc.boolean(), (names, isReadable) => {
      const { rules, steps } = reads();
      rules.listed({ names: new Set(names), isReadable });
      const isRemoved = isReadable && !names.includes('btc_mxn');
      expect(steps.map(({ kind }) => kind)).toEqual(isRemoved ? ['book removed'] : []);
    }),
  );
});

test('books that are no longer listed have their last known rules, if there are any, also in the next change of runs', async () => {
  const exchange = {
    availableBooks: async () => ({ kind: 'done', value: [ROW], unreadable: [] }),
    fees: async () => ({ kind: 'done', value: [{ book: 'btc_mxn', maker: '0.001', taker: '0.002' }], unreadable: [] }),
  } as Partial<Exchange> as Exchange;
  const rulesOf = (book: string) => ({ instrument: instrumentOf({ ...ROW, book }), makerRate: 7, takerRate: 7 });
  const last = { rules: rulesOf('btc_mxn'), others: [rulesOf('eth_mxn')] };
  const symbols = ['btc_mxn', 'eth_mxn'] as const;
  const read = await readRulesOfBooks(exchange, symbols, null, readOnce, last);
  expect([read.rules.makerRate, read.others, read.removed]).toEqual([100_000, last.others, ['eth_mxn']]);
  expect(await readRulesOfBooks(exchange, symbols, read, readOnce)).toEqual(read);
  await expect(readRulesOfBooks(exchange, symbols, null, readOnce)).rejects.toThrow('book eth_mxn is not traded');
});

test('the list of books of a read is reported before its fees are read', async () => {
  const lists: ListedBooks[] = [];
  const { clock, rules, state } = reads(books => lists.push(books));
  void rules.read();
  await clock.advance(state.latencyMs / 2);
  expect(lists).toEqual([{ names: new Set(['btc_mxn']), isReadable: true }]);
});

test('fees are checked once for each side of a trade, of the trades of the own book alone', () => {
  const said: string[] = [];
  const clock = new VirtualClock();
  const { log } = memoryLog();
  const first = { instrument: instrumentOf(ROW), makerRate: 100_000, takerRate: 200_000, tier: null };
  const rules = new RulesReads(
    { clock, log, time: () => clock.now(), step: () => undefined },
    { exchange: {} as Exchange, book: 'btc_mxn', first },
    { also: (_, fields) => void said.push((fields as { readonly tid: string }).tid), say: () => undefined },
  );
  const trade = (tid: string, oid: string, book: string, feeAmount: string): OwnTrade => ({
    ...{ tid, oid, book, side: 'sell', price: '100', major: '1', minor: '100', createdAt: 0, maker: false },
    ...{ feeAmount, feeCurrency: 'mxn' },
  });
  rules.take({
    trades: [
      trade('1', 'a', 'btc_mxn', '0.2'),
      trade('2', 'a', 'btc_mxn', '0.3'),
      trade('2', 'b', 'btc_mxn', '0.3'),
      trade('2', 'a', 'btc_mxn', '0.3'),
      trade('3', 'a', 'eth_mxn', '0.3'),
    ],
  });
  expect(said).toEqual(['2', '2']);
});

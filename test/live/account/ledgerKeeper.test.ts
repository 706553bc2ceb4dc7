/** A crash loses nothing that the journal was given: every change of what it keeps is passed on with the next write. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HourEnds, money, VirtualClock, type HedgeRow } from '../../../src/core/index.ts';
import { HedgeHistory } from '../../../src/hedge/hedgeHistory.ts';
import { LedgerKeeper } from '../../../src/live/account/ledgerKeeper.ts';
import type { Journal } from '../../../src/live/state/journal.ts';
import { ToyExchange } from '../../core/toyExchange.ts';
import { btcMxn, plain } from '../../core/market.ts';

type Kept = Parameters<Journal['keep']>[0];

/** Changes of one hedge that leave its state as it is. */
const CHANGES: readonly Partial<HedgeRow>[] = [
  { acceptedAt: 7 },
  { conversionId: 'c1' },
  { why: 'no answer' },
  { state: 'unknown' },
  { offer: { way: 'rfq', id: 'q1', give: leg('1', 'btc'), get: leg('9', 'mxn'), lifeMs: 1 } },
  { weighed: [{ way: 'rfq', cost: '1', bps: 1, not: null }] },
];

function leg(amount: string, currency: string) {
  return { amount, currency };
}

test('whatever changes is what the journal has after the next call, and without a change the journal is given nothing', () => {
  const op = fc.oneof(
    fc.record({ what: fc.constantFrom('nothing', 'hedge begins', 'fill', 'transfer', 'marker', 'line', 'unreadable') }),
    fc.record({ what: fc.constant('hedge changes'), to: fc.constantFrom(...CHANGES) }),
  );
  fc.assert(
    fc.property(fc.array(op, { minLength: 2, maxLength: 12 }), ops => {
      const clock = new VirtualClock();
      const toy = new ToyExchange().open().rounds(2);
      const { engine } = toy;
      const history = new HedgeHistory({ rows: [], prefix: 'h' }, { time: () => 1, step: () => undefined });
      // A full list of known lines has the same length after each new one.
      let lines: readonly string[] = ['a', 'b'];
      const reads = { taken: { marker: '5', tids: [] as string[] }, uncounted: [] as readonly string[] };
      const kept: Kept[] = [];
      const journal = { keep: (mark: Kept) => void kept.push(mark) };
      const keeper = new LedgerKeeper(
        engine,
        journal,
        reads,
        clock,
        [plain],
        () => history.list,
        () => lines,
      );
      const present = () => ({
        ledger: { causes: engine.ledger([])?.causes },
        live: engine.book.unfinished.map(({ id, filled }) => ({ id, filled })),
        ...{ marker: reads.taken.marker, hedges: history.list, transfers: lines, uncounted: reads.uncounted },
      });
      keeper.keep();
      for (const [n, each] of ops.entries()) {
        const before = kept.length;
        const isOpen = history.list.at(-1)?.state === 'requested' || history.list.at(-1)?.state === 'unknown';
        if (each.what === 'hedge begins' && !isOpen) history.begin(money(1n), {});
        if (each.what === 'hedge changes' && isOpen && 'to' in each) history.change(each.to);
        if (each.what === 'fill') {
          const [order] = toy.live;
          if (order) toy.fill(order.id, 1);
          toy.round();
        }
        if (each.what === 'transfer')
          engine.step({
            ...({
              kind: 'transfer',
              at: toy.now,
              source: `fundings ${n}`,
              cause: 'deposits',
              currency: 'mxn',
            } as const),
            ...{ amount: money(5n), occurredAt: toy.now, why: 'listed' },
          });
        if (each.what === 'marker') reads.taken = { ...reads.taken, marker: String(10 + n) };
        if (each.what === 'line') lines = [...lines.slice(1), `line ${n}`];
        if (each.what === 'unreadable') reads.uncounted = [...reads.uncounted, `c${n}`];
        keeper.keep();
        if (each.what === 'nothing') expect(kept).toHaveLength(before);
        expect(kept.at(-1)).toMatchObject(present());
      }
    }),
    { numRuns: 60 },
  );
});

test('an ended hour is passed on once, at the next call, with the symbol of its book unless that is the first; without a change only each minute', async () => {
  const clock = new VirtualClock();
  const books = ['one', 'two', 'three'].map(symbol => ({ symbol, hourEnds: new HourEnds() }));
  const order = { ...{ id: 'a', price: 5, amount: 9, oid: null }, filled: 2 };
  const engine = {
    ...{ onEntry: () => undefined, books, ledgerVersion: 1, account: { checked: null }, elsewhere: null },
    unfinished: [
      { ...order, filledRest: money(0n) },
      { ...order, id: 'b', filledRest: money(1n) },
      { ...order, id: 'c' },
    ],
    ledger: () => ({ profit: null }),
  };
  const calls: { readonly mark: Kept; readonly hours: readonly object[] }[] = [];
  const journal = { keep: (mark: Kept, _: unknown, hours: readonly object[]) => void calls.push({ mark, hours }) };
  const reads = { taken: { marker: '5', tids: [] }, uncounted: [] };
  const units = [
    { ...plain, tick: '1', lot: '2' },
    { ...btcMxn, symbol: 'two', tick: '3', lot: '4' },
    { ...btcMxn, symbol: 'three', tick: '5', lot: '6' },
  ];
  const keeper = new LedgerKeeper(engine as never, journal as never, reads, clock, units, () => NONE);
  const hoursOf = (names: readonly number[]) => names.map(since => ({ since }));
  keeper.keep();
  expect(calls).toMatchObject([
    {
      mark: {
        units: { tick: '1', lot: '2' },
        bookUnits: { two: { tick: '3', lot: '4' }, three: { tick: '5', lot: '6' } },
      },
      hours: [],
    },
  ]);
  expect(calls[0]!.mark.live.map(row => ('rest' in row ? row.rest : null))).toEqual([
    null,
    '0.000000000000000001',
    null,
  ]);
  books.forEach(({ hourEnds }, i) => hourEnds.end(hoursOf([7 + i])[0] as never, 0));
  keeper.keep();
  keeper.keep();
  expect(calls.slice(1).map(({ hours }) => hours)).toEqual([
    [{ since: 7 }, { since: 8, symbol: 'two' }, { since: 9, symbol: 'three' }],
  ]);
  await clock.advance(59_999);
  keeper.keep();
  expect(calls).toHaveLength(2);
  await clock.advance(1);
  keeper.keep();
  expect(calls).toHaveLength(3);
  keeper.keep(true);
  expect(calls).toHaveLength(4);
});
const NONE: readonly HedgeRow[] = [];

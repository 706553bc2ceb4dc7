/** The list of hedges beside a plain one: what is kept, what is told, and what a start makes of it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { money, type EngineEvent, type HedgeRow, type HedgeState } from '../../src/core/index.ts';
import { HedgeHistory } from '../../src/hedge/hedgeHistory.ts';
import { conversionOf, hedgeComparisonText, isOver, mayStillExecute } from '../../src/hedge/index.ts';
import { ElsewhereRoute } from '../../src/hedge/elsewhereRoute.ts';
import { comparisonRows, describeHedge } from '../../src/hedge/hedgeText.ts';
import { NOW, offerOf, routeOf, rowOf } from './hedgeRows.ts';

const STATES: Readonly<Record<HedgeState, 'begun' | 'may execute' | 'between' | 'over'>> = {
  ...{ requested: 'begun', quoted: 'begun' },
  ...{ accepted: 'may execute', executing: 'may execute', unknown: 'may execute', between: 'between' },
  ...{ completed: 'over', failed: 'over', stranded: 'over' },
};
const states = Object.keys(STATES) as HedgeState[];

function made(rows: readonly HedgeRow[] = []) {
  const told: EngineEvent[] = [];
  let now = NOW;
  const run = { time: () => now, step: (event: EngineEvent) => void told.push(event) };
  return { history: new HedgeHistory({ rows, prefix: 'mm-h7-' }, run), told, passes: (ms: number) => (now += ms) };
}

test.each(states)('a hedge that is %s is over, may execute, waits between its legs, or has only begun', state => {
  const row = rowOf({ state });
  expect([isOver(row), mayStillExecute(row)]).toEqual([STATES[state] === 'over', STATES[state] === 'may execute']);
  const { history } = made([row]);
  expect(history.isMoving).toBe(STATES[state] === 'may execute');
  expect(history.open).toBe(STATES[state] === 'may execute' || STATES[state] === 'between' ? row : undefined);
});

describe('the list of hedges', () => {
  test('has the last twenty that ended of those that were sent, the last twenty of those that were not, and the one that has not ended; every change is told once, with all of it', () => {
    const ends = fc.constantFrom<HedgeState>('completed', 'failed', 'stranded');
    const step = fc.record({
      end: ends,
      isSent: fc.boolean(),
      changes: fc.integer({ min: 0, max: 3 }),
      later: fc.integer({ min: 1, max: 9 }),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 30, maxLength: 60 }), steps => {
        const { history, told, passes } = made();
        let model: HedgeRow[] = [];
        const events: unknown[] = [];
        let at = NOW;
        steps.forEach(({ end, isSent, changes, later }, n) => {
          at = passes(later);
          const begun = rowOf({ id: `mm-h7-${n + 1}`, at, amount: '-3', ...{ dayCost: String(n) } });
          const ofThoseSent = (sent: boolean) => model.filter(row => (row.acceptedAt !== null) === sent);
          for (const group of [ofThoseSent(true), ofThoseSent(false)])
            if (group.length > 20) model = model.filter(row => row !== group[0]);
          model = [...model, begun];
          events.push({ kind: 'hedge', at, row: begun });
          history.begin(money(-3n * 10n ** 18n), { dayCost: String(n) });
          const changed = Array.from({ length: changes }, (_, i) => ({ why: `change ${i}` }));
          for (const to of [...changed, { state: end, acceptedAt: isSent ? at : null }]) {
            at = passes(1);
            const row = { ...model.at(-1)!, ...to };
            model = [...model.slice(0, -1), row];
            events.push({ kind: 'hedge', at, row });
            expect(history.change(to)).toEqual(row);
          }
          expect(history.list).toEqual(model);
        });
        expect(told).toEqual(events);
      }),
      { numRuns: 20 },
    );
  });

  test('changes the last hedge that has not ended, wherever it is, and none that has', () => {
    const { history } = made([rowOf({ id: 'a', state: 'between' }), rowOf({ id: 'b', state: 'failed' })]);
    history.change({ why: 'x' });
    expect(history.list.map(({ id, why }) => [id, why])).toEqual([
      ['a', 'x'],
      ['b', null],
    ]);
    history.change({ state: 'stranded' });
    expect(() => history.change({ why: 'y' })).toThrow('a hedge that has ended cannot be changed');
  });

  test('after a start has no hedge that only began, and counts the waiting times of the others anew', () => {
    const { history, told, passes } = made([
      ...states.map(state => rowOf({ id: state, state, acceptedAt: 5 })),
      rowOf({ id: 'route', state: 'between', route: routeOf({ until: 7 }) }),
      rowOf({ id: 'leg', state: 'unknown', acceptedAt: 5, route: routeOf({ until: 7 }) }),
    ]);
    const now = passes(3_000);
    history.restore(600);
    const ended = { state: 'failed', why: 'the run ended' };
    expect(history.list).toEqual([
      ...states.map(state => ({
        ...rowOf({ id: state, state, acceptedAt: STATES[state] === 'may execute' ? now : 5 }),
        // Between legs without a route: nothing could go on.
        ...(STATES[state] === 'begun' || STATES[state] === 'between' ? ended : {}),
      })),
      rowOf({ id: 'route', state: 'between', route: routeOf({ until: now + 600 }) }),
      rowOf({ id: 'leg', state: 'unknown', acceptedAt: now, route: routeOf({ until: 7 }) }),
    ]);
    expect(told).toEqual([]);
  });
});

describe('the conversion of a hedge', () => {
  const sums = {
    give: { currency: 'btc', amount: 2n * 10n ** 18n },
    get: { currency: 'mxn', amount: 1990n * 10n ** 18n },
  };
  test('is its offer, of a route with what it is worth, and of its second leg under an id of its own', () => {
    expect(conversionOf(rowOf({ offer: offerOf() }))).toEqual({ id: 'h1', ...sums });
    const worth = 1985n * 10n ** 18n;
    expect(conversionOf(rowOf({ offer: offerOf(), route: routeOf() }))).toEqual({ id: 'h1', ...sums, worth });
    const second = rowOf({ offer: offerOf(), route: routeOf({ leg: 2 }) });
    expect(conversionOf(second)).toEqual({ id: 'h1~2', ...sums, worth });
    expect(() => conversionOf(rowOf())).toThrow('hedge h1 has no offer');
  });
});

describe('the words about a hedge', () => {
  test('say how it ended', () => {
    const done = conversionOf(rowOf({ offer: offerOf() }));
    const taken = offerOf({ way: 'book', id: 'mm-7-t1' });
    expect([
      describeHedge(rowOf({ state: 'stranded', why: 'too dear' }), done),
      describeHedge(rowOf({ state: 'failed', why: 'refused' }), done),
      describeHedge(rowOf({ state: 'completed', offer: taken })),
      describeHedge(rowOf({ state: 'completed', offer: taken, why: 'in part' })),
      describeHedge(rowOf({ state: 'completed', why: 'seen' }), done),
    ]).toEqual([
      'hedge h1 is stranded: too dear',
      'hedge h1 was not executed: refused',
      "hedge h1: filled in the bot's book by order mm-7-t1",
      "hedge h1: filled in the bot's book by order mm-7-t1 (in part)",
      'hedge h1: converted 2 btc to 1990 mxn',
    ]);
  });

  test('compare the ways in one line, with their costs in the quote currency', () => {
    const compared = [
      { way: 'rfq', cost: money(-25n * 10n ** 17n), bps: -12.34, rejectedReason: null },
      { way: 'conversion', cost: null, bps: null, rejectedReason: 'no answer' },
      { way: 'wait', cost: money(0n), bps: null, rejectedReason: null },
    ] as const;
    const rows = comparisonRows({ compared } as never);
    expect(rows).toEqual([
      { way: 'rfq', cost: '-2.5', bps: -12.34, not: null },
      { way: 'conversion', cost: null, bps: null, not: 'no answer' },
      { way: 'wait', cost: '0', bps: null, not: null },
    ]);
    expect(hedgeComparisonText(rows)).toBe('rfq -12.3 bps (taken), conversion (no answer), wait (taken)');
  });
});

test('a hedge elsewhere names fees in a third currency, which are in no profit', () => {
  const hedges = new ElsewhereRoute({ instrument: { major: 'btc', minor: 'usdt' } } as never, {} as never);
  const notes = (...fees: readonly (readonly [string, string])[]) =>
    hedges.feesBesides({
      filled: money(1n),
      trades: fees.map(([feeAmount, feeCurrency]) => ({ feeAmount, feeCurrency }) as never),
    });
  expect(notes(['0.1', 'usdt'], ['0.001', 'btc'], ['0', 'bnb'])).toEqual([]);
  expect(notes(['0.1', 'bnb'], ['0.2', 'usdt'], ['0.25', 'bnb'], ['3', 'xyz'])).toEqual([
    'fee of 0.35 bnb, not included in the profit',
    'fee of 3 xyz, not included in the profit',
  ]);
});

/** The request to close everything: taken up once, and over when no order could close the rest. */
import { describe, expect, test } from 'vitest';
import { instrumentOf, moneyOf } from '../../src/core/index.ts';
import type { ElsewhereSetup, HedgeSetup } from '../../src/hedge/index.ts';
import { ElsewhereRoute } from '../../src/hedge/elsewhereRoute.ts';
import { Flattening } from '../../src/hedge/flattening.ts';
import type { HedgeInputs } from '../../src/hedge/hedgeInputs.ts';
import { bookRules } from '../core/market.ts';

/** At least 3 btc and 100 mxn in one order, in lots of one. */
const instrument = instrumentOf(
  bookRules({ tickSize: '1', minimumAmount: '3', maximumAmount: '1000', minimumValue: '100' }),
  '1',
);

/** At least 2 btc and 500 usdt in one order there; 100 bps of margin. */
const there = instrumentOf(
  bookRules({ book: 'btc_usdt', tickSize: '1', minimumAmount: '2', maximumAmount: '1000', minimumValue: '500' }),
  '1',
);
const elsewhereAt = (rate: string | null) =>
  new ElsewhereRoute(
    { instrument: there, marginBps: 100, rate: () => rate && moneyOf(rate) } as unknown as ElsewhereSetup,
    { time: () => 0, step: () => undefined },
  );

function made(ends = true, venues: HedgeSetup['venues'] = ['book'], elsewhere: ElsewhereRoute | null = null) {
  const ended: string[] = [];
  const log: unknown[][] = [];
  const state = { id: null as string | null };
  const flatten = {
    current: () => (state.id === null ? null : { id: state.id, costMax: moneyOf('9') }),
    end: (why: string) => {
      ended.push(why);
      return ends;
    },
  };
  const flattening = new Flattening(
    {
      ...{ flatten, pair: { major: 'btc', minor: 'mxn' } },
      run: { log: { info: (...of) => void log.push(of), warn: () => undefined } },
      setup: { rules: { costMaxBps: 1_000 }, venues },
    },
    elsewhere,
  );
  const isDone = (inventory: string, mid: string) =>
    flattening.isDone({ instrument, inventory: moneyOf(inventory), mid: moneyOf(mid) } as HedgeInputs);
  return { flattening, isDone, ended, log, state };
}

describe('a request to close everything', () => {
  test('is new once, and again under another id or after it was away', () => {
    const { flattening, state } = made();
    const seen = [null, 'a', 'a', 'b', null, 'b', null].map(id => {
      state.id = id;
      return flattening.isNew();
    });
    expect(seen).toEqual([false, true, false, true, false, true, false]);
    expect(flattening.request).toBeNull();
    state.id = 'c';
    expect(flattening.request).toEqual({ id: 'c', costMax: moneyOf('9') });
    expect(flattening.rules).toEqual({ band: 0n, residual: 0n });
  });

  test.each([
    // Three lots at 37.1 less a tenth are worth 100.17: an order.
    ['3', '37.1', false],
    ['-3', '37.1', false],
    ['3', '37', true],
    ['-3', '37', true],
    // 3 x 111.1111 less a tenth: exactly 100 of the 100 that are asked.
    ['4', '27.777777777777777778', false],
    ['2.999', '5000', true],
    ['-2.999', '5000', true],
    ['3.5', '5000', false],
  ])('with %s left at a middle of %s is over: %s', (inventory, mid, isOver) => {
    const { isDone, ended } = made();
    expect(isDone(inventory, mid)).toBe(isOver);
    expect(ended).toHaveLength(isOver ? 1 : 0);
  });

  test.each([
    // The book here would take 4 at 1,000; there they are worth 4 x 1,000 / 20, less 11 %: 178 of 500.
    ['elsewhere', '4', '20', true],
    ['elsewhere', '-4', '20', true],
    ['book and elsewhere', '4', '20', false],
    // 12 whole lots are the least whose value reaches 500; below 3, only the other exchange takes an order.
    ['elsewhere', '11.9', '20', true],
    ['elsewhere', '12', '20', false],
    ['book and elsewhere', '2.5', '3', false],
    ['book and elsewhere', '1.9', '0.1', true],
    // Without a rate, the value there is unknown.
    ['elsewhere', '4', null, false],
    ['elsewhere', '1.9', null, true],
  ])('with the routes %s and %s left at a rate of %s is over: %s', (routes, inventory, rate, isOver) => {
    const venues = routes === 'elsewhere' ? (['elsewhere'] as const) : (['book', 'elsewhere'] as const);
    const { isDone, ended } = made(true, venues, elsewhereAt(rate));
    expect(isDone(inventory, '1000')).toBe(isOver);
    expect(ended).toHaveLength(isOver ? 1 : 0);
  });

  test('says what is left over, and says so only once the end is on disk', () => {
    const nothing = made();
    expect(nothing.isDone('0', '100')).toBe(true);
    expect(nothing.ended).toEqual(['inventory is at its target']);
    expect(nothing.log).toEqual([[{}, 'flatten: inventory is at its target']]);
    const short = made(false);
    expect(short.isDone('-2', '100')).toBe(true);
    expect(short.ended).toEqual([
      'inventory is at its target, except for -2 btc; an order of this amount would be too small',
    ]);
    expect(short.log).toEqual([]);
  });

  test('is none where no operator can ask for it', () => {
    const info = () => {
      throw new Error('nothing ended');
    };
    const without = new Flattening({
      pair: { major: 'btc', minor: 'mxn' },
      run: { log: { info, warn: () => undefined } },
      setup: { rules: { costMaxBps: 1_000 }, venues: ['book'] },
    });
    expect([without.request, without.isNew()]).toEqual([null, false]);
    const view = { instrument, inventory: moneyOf('0'), mid: moneyOf('1') } as HedgeInputs;
    expect(without.isDone(view)).toBe(true);
  });
});

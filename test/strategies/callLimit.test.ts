/** Time limit of calls into the user's own files: each function of a strategy file that loops, in the guard of a bot. */
import { describe, expect, test } from 'vitest';
import { amount, type Strategy } from '../../src/core/index.ts';
import { readTradedConfig } from '../../src/wiring/configFile.ts';
import { kindOf } from '../../strategies/index.ts';
import { callWithin, unlimitedCall } from '../../strategies/ownFiles/callLimit.ts';
import { instrument, viewOf } from './examples.ts';
import { changedOwn, folderWith, OWN_STRATEGY, quotingBy } from './ownFile.ts';

const within = callWithin(200);

describe('a call with a time limit', () => {
  test('returns the result of the call, and throws its error', () => {
    expect(within('quote', () => 5)).toBe(5);
    expect(within('quote', () => undefined)).toBe(undefined);
    const own = new RangeError('own');
    expect(() =>
      within('quote', () => {
        throw own;
      }),
    ).toThrow(own);
  });

  test.each<readonly [string, () => void]>([
    [
      'a loop',
      () => {
        for (;;);
      },
    ],
    [
      'a loop that catches each error',
      () => {
        for (;;) {
          try {
            for (;;);
          } catch {
            continue;
          } finally {
            for (;;);
          }
        }
      },
    ],
    ['a regular expression', () => void /^(?:a+)+$/.test(`${'a'.repeat(40)}b`)],
    [
      'a sort',
      () =>
        void [3, 1, 2].sort(() =>
          (function again(): number {
            for (;;);
          })(),
        ),
    ],
  ])('ends %s, and the next call works', (_, loop) => {
    expect(() => within('quote', loop)).toThrow(
      'quote: expected an end within 0.2 s, found none; look for a loop without an end',
    );
    expect(within('quote', () => 'next')).toBe('next');
  });

  test('shares the limit of the call around it', () => {
    expect(within('make', () => within('quote', () => 7))).toBe(7);
    expect(() =>
      within('make', () =>
        callWithin(60_000)('quote', () => {
          for (;;);
        }),
      ),
    ).toThrow(/^make: expected an end within 0\.2 s/);
  });
});

const LOOP = '{ for (;;); }';
const trade = { at: 1, price: viewOf().lastTrade, amount: amount(1), side: 'buy' } as const;
const madeFrom = (code: string, call = within): Strategy => {
  const { strategy } = readTradedConfig(folderWith(code).yaml);
  return kindOf(strategy, call).make(strategy, instrument);
};

describe('a strategy file that loops', () => {
  test.each<readonly [string, string, (strategy: Strategy) => void]>([
    ['quote', quotingBy('while (view.mid > 0); return silent("x");'), strategy => void strategy.quote(viewOf())],
    [
      'trade',
      changedOwn('trade: ({ side }) => void', `trade: () => ${LOOP}, was: ({ side }: any) => void`),
      strategy => strategy.trade!(trade),
    ],
    ['make', changedOwn('const flow: Flow', `for (;;);\n  const flow: Flow`), () => undefined],
    [
      'trade',
      changedOwn('contract: 1', 'contract: 1, history: () => 60_000').replace(
        'trade: ({ side }) => void',
        `trade: ({ at }) => { while (at > 0); }, was: ({ side }: any) => void`,
      ),
      strategy => strategy.history!({ since: 0, trades: [trade, trade] }),
    ],
    [
      'quote',
      quotingBy('return { get bids() { for (;;); return []; }, asks: [] } as never;'),
      strategy => void strategy.quote(viewOf()),
    ],
  ])(
    'in %s has both sides empty with file and reason, as after an error, and is called no more',
    (name, code, cause) => {
      const strategy = madeFrom(code);
      cause(strategy);
      const before = performance.now();
      const quote = strategy.quote(viewOf());
      strategy.trade?.(trade);
      expect(performance.now() - before).toBeLessThan(150);
      const reason = `./own.ts failed: ${name}: expected an end within 0.2 s, found none; look for a loop without an end; correct the file, and reload it in a running bot`;
      expect(quote).toMatchObject({ bids: [], asks: [], noBid: reason, noAsk: reason });
      expect(strategy.quoteLog?.failure).toBe(reason);
    },
  );

  test.each([
    ['at its load', `${OWN_STRATEGY}for (;;);\n`, /own\.ts: the load: expected an end within 2 s, found none/],
    ['in tolerance', changedOwn('contract: 1', 'contract: 1, tolerance: () => { for (;;); }'), /tolerance, warmup or/],
    [
      'in limitProblems',
      changedOwn('contract: 1', 'contract: 1, limitProblems: () => { for (;;); }'),
      /limitProblems: exp/,
    ],
    [
      'in a check of its parameters',
      changedOwn('.max(50)', '.max(50).refine(() => { for (;;); })'),
      /own\.ts: parameters, .*: expected an end within 2 s, found none; look for a loop without an end/,
    ],
  ])('%s is refused by the reader of the configuration', (_, code, error) => {
    expect(() => readTradedConfig(folderWith(code, { takerBps: 5 }).yaml)).toThrow(error);
  });

  test('has no limit where the caller gives none, so a slow machine changes no backtest', () => {
    const calls: string[] = [];
    const strategy = madeFrom(OWN_STRATEGY, (name, call) => {
      calls.push(name);
      return unlimitedCall(name, call);
    });
    strategy.quote(viewOf());
    strategy.trade!(trade);
    expect(calls).toEqual(['make', 'warmup and history', 'quote', 'trade']);
  });
});

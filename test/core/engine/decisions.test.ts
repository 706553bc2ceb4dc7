/** What the engine says of each level: once, with a word of the closed set, and as the commands have it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ACTIONS,
  REASONS,
  silenceReason,
  type Decision,
  type EngineOptions,
  type Quote,
  type Side,
  type Strategy,
  type View,
} from '../../../src/core/index.ts';
import { Decisions } from '../../../src/core/engine/decisions.ts';
import type { LevelRefusal } from '../../../src/core/quoting/normalizeQuote.ts';
import { ToyExchange, quoteAround, type Fate } from '../toyExchange.ts';

const traced = (options: Partial<EngineOptions> = {}): ToyExchange =>
  new ToyExchange({ isTraced: true, ...options }).open();
const decisionOf = (toy: ToyExchange): Decision => {
  const { decision } = toy.engine.book;
  if (decision === null) throw new Error('nothing was decided');
  return decision;
};
const saidOf = (toy: ToyExchange, side: Side): string[] =>
  decisionOf(toy)
    .decided.filter(one => one.side === side)
    .map(({ action, reason }) => `${action}: ${reason}`);

/** Levels as far from the middle as the numbers say, of so many lots; some are no prices, some too small, some alike. */
const anyLevels: Strategy = {
  quote: ({ mid, at }: View): Quote => {
    const side = (sign: number) =>
      Array.from({ length: (at / 200) % 5 }, (_, i) => {
        const price = i === 3 && at % 1_000 === 0 ? Number.NaN : mid + sign * (1 + Math.floor(i / 2) * 3);
        return { price, amount: (i === 1 ? 0 : 10) as never, why: [{ name: 'wanted', ticks: price }] };
      });
    return { bids: side(-1), asks: side(1) };
  },
};

describe('a decision', () => {
  it('says of each level that a hedge keeps away, and of a side that it empties, that this is why', () => {
    const kept = fc.array(fc.record({ side: fc.constantFrom<Side>('buy', 'sell'), isShown: fc.boolean() }), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(kept, drawn => {
        const levels = drawn.map(({ side }, index) => ({ side, index, price: 100, amount: 10, why: [] }) as never);
        const shown = levels.filter((_, i) => drawn[i]!.isShown);
        const decisions = new Decisions(true);
        decisions.begin(0, null);
        decisions.strategyCalled({ bids: [], asks: [] }, { levels, refusals: [] }, shown);
        for (const level of shown) decisions.placed(level, null);
        const away = drawn.flatMap(({ isShown }, index) => (isShown ? [] : [[index, 'makes way for a hedge']]));
        const told = decisions.last!.decided.filter(({ action }) => action === 'not placed');
        expect(told.map(({ index, reason }) => [index, reason])).toEqual(away);
        for (const side of ['buy', 'sell'] as const) {
          const ofSide = drawn.filter(one => one.side === side);
          const isEmpty = ofSide.every(({ isShown }) => !isShown);
          const reason = ofSide.length === 0 ? 'held back by the strategy' : 'makes way for a hedge';
          expect(decisions.unshown[side]?.reason ?? null).toBe(isEmpty ? reason : null);
        }
      }),
    );
  });

  it('says one thing of each wanted level, and its placements and cancels are the commands', () => {
    const fates = fc.array(fc.constantFrom<Fate>('done', 'lost', 'done untold', { code: '0201' }), { maxLength: 20 });
    const moves = fc.array(fc.integer({ min: -6, max: 6 }), { minLength: 5, maxLength: 30 });
    fc.assert(
      fc.property(fates, moves, fc.boolean(), (of, by, isWild) => {
        const toy = traced(isWild ? { strategy: anyLevels } : { strategy: quoteAround(2, 5) });
        const left = [...of];
        toy.fateOfPlace = () => left.pop() ?? 'done';
        for (const ticks of by) {
          toy.now += 200;
          toy.bids = [[990 + ticks, 50]];
          toy.asks = [[1010 + ticks, 50]];
          toy.readPrivate();
          const placed = toy.places().length;
          toy.readBook();
          const { decided, quote, refusal } = decisionOf(toy);
          expect(quote === null).toBe(refusal !== null && refusal !== 'too many unknown orders');
          if (quote === null) continue;
          for (const side of ['buy', 'sell'] as const) {
            const wanted = side === 'buy' ? quote.bids : quote.asks;
            const told = decided.filter(one => one.side === side && one.index !== null).map(({ index }) => index);
            expect(told.sort()).toEqual(wanted.map((_, i) => i));
          }
          // The toy exchange answers at once, so that a step may hold several decisions: the last one's are among them.
          const now = decided.filter(({ action }) => action === 'placed').map(({ order }) => order?.id);
          expect(
            toy
              .places()
              .slice(placed)
              .map(({ id }) => id),
          ).toEqual(expect.arrayContaining(now));
        }
        const { decisions } = toy.engine.book.snapshot(toy.now);
        const placements = decisions
          .filter(({ action }) => action === 'placed')
          .reduce((sum, { count }) => sum + count, 0);
        expect(placements).toBe(toy.places().length);
      }),
      { numRuns: 60 },
    );
  });

  it.each<readonly [string, (toy: ToyExchange) => void, readonly string[]]>([
    ['kept at its price', () => undefined, ['kept: as wanted']],
    [
      'kept for its place in the queue',
      toy => void ((toy.bids = [[991, 50]]), (toy.asks = [[1011, 50]])),
      ['kept: queue place'],
    ],
    [
      'replaced when the price moved',
      toy => void ((toy.bids = [[960, 50]]), (toy.asks = [[980, 50]])),
      ['canceled: price moved'],
    ],
    [
      'withdrawn with a halt',
      toy => void toy.step({ kind: 'halt', at: toy.now, reason: 'enough' }),
      ['canceled: halted', 'not placed: halted'],
    ],
  ])('tells of a level that is %s', (_, happens, said) => {
    const toy = traced({ tolerance: { priceBps: 20, amountShare: 0.5, maxAgeMs: 3_600_000 } });
    toy.rounds(2);
    happens(toy);
    toy.fateOfCancel = () => 'lost';
    toy.now += 200;
    toy.readBook();
    const all = toy.engine.book.snapshot(toy.now).decisions.filter(({ side }) => side === 'buy');
    expect(all.map(({ action, reason }) => `${action}: ${reason}`)).toEqual(expect.arrayContaining(said.slice()));
  });

  it('tells what a level waits for, and of a side that pauses after refusals', () => {
    const toy = traced();
    toy.fateOfPlace = () => 'lost';
    toy.round();
    toy.round();
    expect(saidOf(toy, 'sell')).toEqual(['waits: its order is unknown']);
    const refused = traced();
    refused.fateOfPlace = () => ({ code: '0201' });
    refused.round();
    expect(saidOf(refused, 'buy')).toEqual(['not placed: paused after refusals']);
    const counts = refused.engine.book.snapshot(refused.now).decisions;
    expect(counts).toContainEqual({ side: 'buy', action: 'not placed', reason: 'refused by the exchange', count: 1 });
  });

  it("gives a silent side the strategy's own words beside the reason", () => {
    const words = 'no fair value: the feed is stale';
    const toy = traced({ strategy: { quote: () => ({ bids: [], asks: [], noBid: words, noAsk: 'a mood' }) } }).round();
    expect(decisionOf(toy).decided).toMatchObject([
      { side: 'buy', reason: 'no fair value', detail: words },
      { side: 'sell', reason: 'held back by the strategy', detail: 'a mood' },
    ]);
  });

  it('is not kept by an engine that was not asked to', () => {
    const toy = new ToyExchange().open().rounds(2);
    expect(toy.engine.book.decision).toBeNull();
    expect(toy.engine.book.snapshot(toy.now).decisions.length).toBeGreaterThan(0);
  });
});

it('there are few enough reasons for the labels of a metric', () => {
  expect(2 * ACTIONS.length * REASONS.length).toBeLessThan(700);
  expect(new Set(REASONS).size).toBe(REASONS.length);
});

it.each([
  ['inventory is at its limit', 'at the cap'],
  ['the reference is stale', 'no fair value'],
  ['the spacing does not earn its fees', 'cannot earn its fees'],
  ['every line is below lowPrice or above highPrice', 'outside its price range'],
  ['pingPong: the other side is next', 'held back by the strategy'],
])('a strategy that says "%s" gives the reason "%s"', (words, reason) => {
  expect(silenceReason(words)).toBe(reason);
});

it('an empty side has its own first refused level, but no cut or merged one, and nothing of the decision before', () => {
  const levels = (first: number) => [first, first + 1].map(price => ({ price, amount: 10 }));
  const quote = { bids: levels(90), asks: levels(110) } as never;
  const decisions = new Decisions(false);
  const merged: LevelRefusal = 'merged into the next level';
  const cut: LevelRefusal = 'cut to the maximum amount';
  const small: LevelRefusal = 'below the minimum amount';
  for (const [reasons, shown] of [
    [[small], 0],
    [[merged, small], 1],
    [[cut, small], 1],
    [[merged], null],
    [[], null],
  ] as const)
    for (const side of ['buy', 'sell'] as const) {
      decisions.begin(0, null);
      const refusals = reasons.map((reason, index) => ({ side, index, reason }));
      decisions.strategyCalled(quote, { levels: [], refusals }, []);
      const word = side === 'buy' ? 'bid' : 'ask';
      expect(decisions.silent).toEqual(reasons.map((reason, n) => `${word} level ${n + 1}: ${reason}`));
      const price = (side === 'buy' ? 90 : 110) + (shown ?? 0);
      expect(decisions.unshown[side]).toEqual(
        shown === null
          ? { reason: 'held back by the strategy', words: null, level: null }
          : { reason: small, words: null, level: { price, amount: 10 } },
      );
      expect(decisions.unshown[side === 'buy' ? 'sell' : 'buy']?.reason).toBe('held back by the strategy');
    }
});

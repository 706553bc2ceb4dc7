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
import { Desk, quoteAround, type Fate } from '../desk.ts';

const traced = (options: Partial<EngineOptions> = {}): Desk => new Desk({ isTraced: true, ...options }).open();
const decisionOf = (desk: Desk): Decision => {
  const { decision } = desk.engine.book;
  if (decision === null) throw new Error('nothing was decided');
  return decision;
};
const saidOf = (desk: Desk, side: Side): string[] =>
  decisionOf(desk)
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
        const desk = traced(isWild ? { strategy: anyLevels } : { strategy: quoteAround(2, 5) });
        const left = [...of];
        desk.fateOfPlace = () => left.pop() ?? 'done';
        for (const ticks of by) {
          desk.now += 200;
          desk.bids = [[990 + ticks, 50]];
          desk.asks = [[1010 + ticks, 50]];
          desk.readPrivate();
          const placed = desk.places().length;
          desk.readBook();
          const { decided, quote, refusal } = decisionOf(desk);
          expect(quote === null).toBe(refusal !== null && refusal !== 'too many unknown orders');
          if (quote === null) continue;
          for (const side of ['buy', 'sell'] as const) {
            const wanted = side === 'buy' ? quote.bids : quote.asks;
            const told = decided.filter(one => one.side === side && one.index !== null).map(({ index }) => index);
            expect(told.sort()).toEqual(wanted.map((_, i) => i));
          }
          // The desk answers at once, so that a step may hold several decisions: the last one's are among them.
          const now = decided.filter(({ action }) => action === 'placed').map(({ order }) => order?.id);
          expect(
            desk
              .places()
              .slice(placed)
              .map(({ id }) => id),
          ).toEqual(expect.arrayContaining(now));
        }
        const { decisions } = desk.engine.book.snapshot(desk.now);
        const placements = decisions
          .filter(({ action }) => action === 'placed')
          .reduce((sum, { count }) => sum + count, 0);
        expect(placements).toBe(desk.places().length);
      }),
      { numRuns: 60 },
    );
  });

  it.each<readonly [string, (desk: Desk) => void, readonly string[]]>([
    ['kept at its price', () => undefined, ['kept: as wanted']],
    [
      'kept for its place in the queue',
      desk => void ((desk.bids = [[991, 50]]), (desk.asks = [[1011, 50]])),
      ['kept: queue place'],
    ],
    [
      'replaced when the price moved',
      desk => void ((desk.bids = [[960, 50]]), (desk.asks = [[980, 50]])),
      ['canceled: price moved'],
    ],
    [
      'withdrawn with a halt',
      desk => void desk.step({ kind: 'halt', at: desk.now, reason: 'enough' }),
      ['canceled: halted', 'not placed: halted'],
    ],
  ])('tells of a level that is %s', (_, happens, said) => {
    const desk = traced({ tolerance: { priceBps: 20, amountShare: 0.5, maxAgeMs: 3_600_000 } });
    desk.rounds(2);
    happens(desk);
    desk.fateOfCancel = () => 'lost';
    desk.now += 200;
    desk.readBook();
    const all = desk.engine.book.snapshot(desk.now).decisions.filter(({ side }) => side === 'buy');
    expect(all.map(({ action, reason }) => `${action}: ${reason}`)).toEqual(expect.arrayContaining(said.slice()));
  });

  it('tells what a level waits for, and of a side that pauses after refusals', () => {
    const desk = traced();
    desk.fateOfPlace = () => 'lost';
    desk.round();
    desk.round();
    expect(saidOf(desk, 'sell')).toEqual(['waits: its order is unknown']);
    const refused = traced();
    refused.fateOfPlace = () => ({ code: '0201' });
    refused.round();
    expect(saidOf(refused, 'buy')).toEqual(['not placed: paused after refusals']);
    const counts = refused.engine.book.snapshot(refused.now).decisions;
    expect(counts).toContainEqual({ side: 'buy', action: 'not placed', reason: 'refused by the exchange', count: 1 });
  });

  it("gives a silent side the strategy's own words beside the reason", () => {
    const words = 'no fair value: the feed is stale';
    const desk = traced({ strategy: { quote: () => ({ bids: [], asks: [], noBid: words, noAsk: 'a mood' }) } }).round();
    expect(decisionOf(desk).decided).toMatchObject([
      { side: 'buy', reason: 'no fair value', detail: words },
      { side: 'sell', reason: 'held back by the strategy', detail: 'a mood' },
    ]);
  });

  it('is not kept by an engine that was not asked to', () => {
    const desk = new Desk().open().rounds(2);
    expect(desk.engine.book.decision).toBeNull();
    expect(desk.engine.book.snapshot(desk.now).decisions.length).toBeGreaterThan(0);
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

import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  Engine,
  OrderBook,
  type Command,
  type EngineEvent,
  type EngineOptions,
  type LivePriceRules,
  type LiveReading,
  type Strategy,
  type TakerRequest,
} from '../../../src/core/index.ts';
import { hedgeInputsOf } from '../../../src/hedge/index.ts';
import { eventOf, LineWriter, lineOf } from '../../../src/live/recording/recording.ts';
import { ToyExchange, PATIENCE } from '../toyExchange.ts';
import { plain } from '../market.ts';

const leg = (feed: string) => ({ feed, divides: false, staleAfterMs: 1_000, frozenAfterMs: 5_000 });
const RULES: LivePriceRules = {
  sources: ['a', 'b'].map(name => ({ name, basisKey: name, legs: [leg(name)], weight: 1, feeBps: 10 })),
  ...{ combine: 'median', divergenceMaxBps: 50, sourcesMin: 1, moveBps: 1, basis: null },
};
/** One level of ten lots, five ticks to each side of the reference. */
const aroundReference: Strategy = {
  quote: ({ reference }) => {
    const level = (away: number) => ({ price: reference!.price + away, amount: 10 as never, why: [] });
    return { bids: [level(-5)], asks: [level(5)] };
  },
};
const deskOf = (rules: Partial<LivePriceRules> = {}, more: Partial<EngineOptions> = {}) =>
  new ToyExchange({ strategy: aroundReference, livePrice: { ...RULES, ...rules }, isTraced: true, ...more });
const book = (mid: number): LiveReading => ({
  ...{ bid: mid - 1, ask: mid + 1, bidAmount: 1, askAmount: 1, sell: mid - 1, buy: mid + 1, lagMs: 3 },
});
const reading = (toy: ToyExchange, feed: string, what: LiveReading | string, startedAt = toy.now): EngineEvent => ({
  ...{ kind: 'source', at: toy.now, startedAt, feed, reading: what },
});
const shown = (toy: ToyExchange) => [toy.prices('buy'), toy.prices('sell')];

test('quotes follow a price there in the step of its reading, and are canceled in the step of its loss', () => {
  const toy = deskOf({}, { timing: { ...PATIENCE, decideEveryMs: 60_000 } })
    .open()
    .round();
  toy.step(reading(toy, 'a', book(1_000)));
  toy.round();
  expect(shown(toy)).toEqual([[995], [1_005]]);
  toy.step(reading(toy, 'a', book(1_006)));
  expect(shown(toy)).toEqual([[1_001], [1_011]]);
  toy.step(reading(toy, 'a', 'the connection is down'));
  expect(shown(toy)).toEqual([[], []]);
  const { quoting, waitsFor, livePrice } = toy.engine.book.snapshot(toy.now);
  expect([quoting, waitsFor]).toEqual([
    'no live price',
    '0 of 2 sources used, at least 1 needed; a lost (a: the connection is down); b no data (b)',
  ]);
  expect(livePrice?.sources.map(({ refusal }) => refusal)).toEqual(['lost', 'no data']);
  toy.round();
  toy.step(reading(toy, 'b', book(1_010)));
  expect(shown(toy)).toEqual([[1_005], [1_015]]);
});

test('a move below moveBps waits for the next decision', () => {
  const toy = deskOf({ moveBps: 50 }, { timing: { ...PATIENCE, decideEveryMs: 1_000 } })
    .open()
    .round();
  toy.step(reading(toy, 'a', book(1_000)));
  toy.round(1);
  expect(shown(toy)).toEqual([[995], [1_005]]);
  expect(toy.step(reading(toy, 'a', book(1_004)))).toEqual([]);
  expect(toy.step(reading(toy, 'a', book(1_006)))).not.toEqual([]);
});

test('a price that leads cancels quotes at once, as one from events does', () => {
  const leader = { basisMemoryMs: 600_000, maxAgeMs: 1_000, share: 1, marginBps: 5 };
  const pull = { pull: { leader }, timing: { ...PATIENCE, decideEveryMs: 60_000 } };
  const toy = deskOf({ moveBps: 1_000 }, pull).open().round();
  toy.step(reading(toy, 'a', book(1_000)));
  toy.round();
  expect(shown(toy)).toEqual([[995], [1_005]]);
  const [ask] = toy.live.filter(({ side }) => side === 'sell');
  expect(toy.step(reading(toy, 'a', book(1_010)))).toEqual([{ kind: 'cancel', ids: [ask!.id] }]);
});

test.each([
  ['is too old, and a newer reading of the other', 2_000, []],
  ['is young enough, and a reading of the other', 500, ['cancel']],
] as const)('a price whose oldest source %s moved it, cancels quotes exactly by that age', (_, passed, expected) => {
  const leader = { basisMemoryMs: 600_000, maxAgeMs: 1_000, share: 1, marginBps: 5 };
  const sources = RULES.sources.map(one => ({ ...one, legs: [{ ...one.legs[0]!, staleAfterMs: 10_000 }] }));
  const rules = { sources, sourcesMin: 2, moveBps: 1_000, divergenceMaxBps: 500 };
  const toy = deskOf(rules, { pull: { leader }, timing: { ...PATIENCE, decideEveryMs: 60_000 } })
    .open()
    .round();
  for (const feed of ['a', 'b']) toy.step(reading(toy, feed, book(1_000)));
  toy.round();
  expect(shown(toy)).toEqual([[995], [1_005]]);
  toy.now += passed;
  expect(toy.step(reading(toy, 'b', book(1_030))).map(({ kind }) => kind)).toEqual(expected);
});

test('without a price elsewhere, quotes go and inventory is still reduced at prices of this book', () => {
  const toy = deskOf().open().round();
  toy.step(reading(toy, 'a', book(1_000)));
  toy.round();
  toy.fill(toy.live.find(({ side }) => side === 'buy')!.id, 10);
  toy.round();
  toy.step(reading(toy, 'a', 'cut'));
  toy.round();
  expect([shown(toy), toy.engine.book.snapshot(toy.now).quoting]).toEqual([[[], []], 'no live price']);
  const terms = { instrument: plain, takerRate: 0, balancesAt: toy.now };
  expect(hedgeInputsOf(toy.engine, terms, toy.now).refusal).toBeNull();
  const take = { side: 'sell', price: 990, amount: 10, until: toy.now + 5_000 } as never as TakerRequest;
  toy.step({ kind: 'take', at: toy.now, ...take, id: 'mm-7-t1' });
  toy.rounds(2);
  expect([toy.places().filter(({ takes }) => takes).length, toy.traded.lots]).toEqual([1, 0]);
  // Each other reason still blocks it.
  toy.now += 60_000;
  expect(hedgeInputsOf(toy.engine, terms, toy.now).refusal).toBe('book stale');
  toy.step({ kind: 'take', at: toy.now, ...take, id: 'mm-7-t2', until: toy.now + 5_000 });
  expect(toy.places().filter(({ takes }) => takes)).toHaveLength(1);
});

test('the basis outlives the run in the ledger', () => {
  const basis: LivePriceRules['basis'] = {
    ...{ sdBps: 2, revertMs: 60_000, driftBps: 2, errorMaxBps: 3 },
    ...{ unknown: 'leave out', bandBps: null },
  };
  const first = deskOf({ basis }).open();
  for (let second = 0; second < 100; second++) {
    first.round(1_000);
    first.step(reading(first, 'a', { ...book(2_000), bidAmount: second }));
  }
  const { price } = first.engine.book.livePrice(first.now)!;
  expect([price?.there, price?.price]).toEqual([2_000, expect.closeTo(1_000, 6)]);
  const ledger = first.engine.ledger([]);
  const second = deskOf({ basis });
  second.now = first.now + 500;
  second.step({ kind: 'restore', at: second.now, orders: [], ledger });
  second.step(reading(second, 'a', book(2_000)));
  expect(second.engine.book.livePrice(second.now)?.price?.price).toBeCloseTo(1_000, 6);
});

type Act = { readonly kind: string; readonly passed: number; readonly mid: number; readonly aged: number };
const act: fc.Arbitrary<Act> = fc.record({
  kind: fc.constantFrom('a', 'a', 'b', 'b', 'lose a', 'lose b', 'cross a', 'round', 'round', 'slept', 'fill'),
  passed: fc.integer({ min: 0, max: 700 }),
  mid: fc.integer({ min: 995, max: 1_005 }),
  aged: fc.integer({ min: 0, max: 800 }),
});

test('over any history: no quote outlives the decision after its last source, and a replay of the recording gives the same commands', () => {
  let placed = 0;
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60 }), fc.integer({ min: 1, max: 2 }), (acts, sourcesMin) => {
      const writer = new LineWriter();
      const lines: string[] = [];
      const [livePrice, timing] = [
        { ...RULES, sourcesMin },
        { ...PATIENCE, privateStaleAfterMs: 1e9 },
      ];
      const toy = deskOf(livePrice, { timing });
      const answers: (readonly Command[])[] = [];
      const { engine } = toy;
      const step = engine.step.bind(engine);
      engine.step = event => {
        lines.push(writer.input(event));
        const at = answers.push([]) - 1;
        const commands = step(event);
        answers[at] = commands;
        return commands;
      };
      toy.open().round();
      for (const { kind, passed, mid, aged } of acts) {
        toy.now += passed;
        const of = kind.at(-1)!;
        if (kind === 'round') toy.round(passed);
        else if (kind === 'slept') toy.step({ kind: 'slept', at: toy.now });
        else if (kind === 'fill') toy.fill(toy.live[0]?.id ?? '', 3);
        else if (kind.startsWith('lose')) toy.step(reading(toy, of, 'gone'));
        else if (kind.startsWith('cross')) toy.step(reading(toy, of, { ...book(mid), bid: mid + 2 }));
        else toy.step(reading(toy, kind, book(mid), toy.now - aged));
        toy.step({ kind: 'timer', at: toy.now });
        const { refusal, sources } = engine.book.livePrice(toy.now)!;
        expect(refusal === null).toBe(sources.filter(one => one.refusal === null).length >= sourcesMin);
        if (refusal !== null) expect(toy.live).toEqual([]);
      }
      placed += toy.places().length;
      const replayed = Engine.ofOneBook({
        ...{ instrument: plain, strategy: aroundReference, livePrice, timing },
        limits: {
          positionMax: 100,
          orderValueMax: 10n ** 9n,
          ordersMax: 20,
          collarBps: 1_000,
          staleAfterMs: 3_000,
        } as never,
        ...{ tolerance: { priceBps: 10, amountShare: 0.5, maxAgeMs: 3_600_000 }, instance: 'mm', run: 7, target: null },
      });
      const levels = new OrderBook();
      lines.forEach((text, i) => {
        const line = lineOf(text);
        if (line.kind !== 'input') throw new Error('expected an input');
        expect(replayed.step(eventOf(line, levels))).toEqual(answers[i]);
      });
    }),
    { numRuns: 60 },
  );
  expect(placed).toBeGreaterThan(0);
});

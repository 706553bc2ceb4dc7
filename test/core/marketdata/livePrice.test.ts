import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LivePrice, type LivePriceRules, type LiveReading, type SourceLeg } from '../../../src/core/index.ts';
import { runsOf } from '../../many.ts';

const leg = (feed: string, more: Partial<SourceLeg> = {}): SourceLeg => ({
  ...{ feed, divides: false, staleAfterMs: 1_000, frozenAfterMs: null },
  ...more,
});
const source = (name: string, ...legs: readonly SourceLeg[]) => ({
  name,
  basisKey: `${name} books`,
  legs,
  weight: 1,
  feeBps: 10,
});
const RULES: LivePriceRules = {
  sources: ['a', 'b', 'c'].map(name => source(name, leg(name))),
  ...{ combine: 'median', divergenceMaxBps: 50, sourcesMin: 1, moveBps: 1, basis: null },
};
const BASIS: NonNullable<LivePriceRules['basis']> = {
  ...{ sdBps: 2, revertMs: 60_000, driftBps: 2, errorMaxBps: 3 },
  ...{ unknown: 'leave out', bandBps: null },
};
const book = (bid: number, ask: number, more: Partial<LiveReading> = {}): LiveReading => ({
  ...{ bid, ask, bidAmount: 1, askAmount: 1, sell: bid, buy: ask, lagMs: null },
  ...more,
});
const made = (rules: Partial<LivePriceRules> = {}, tick = 1) => new LivePrice({ ...RULES, ...rules }, tick);
const refusals = (live: LivePrice, at: number) => live.status(at).sources.map(({ refusal }) => refusal);

describe('one source is not used, and the reason is given', () => {
  const oneSource = { sources: [source('a', leg('a', { frozenAfterMs: 500 }))] };
  const cases: readonly (readonly [string, (live: LivePrice) => void, string])[] = [
    ['before any reading', () => undefined, 'no data'],
    ['after its loss', live => [book(9, 11), 'cut'].forEach(one => live.read('a', 1_000, one)), 'lost'],
    ['when it is old', live => live.read('a', -1, book(9, 11)), 'stale'],
    ['with one side', live => live.read('a', 1_000, book(9, 0)), 'one-sided'],
    ['with a price that is not a number', live => live.read('a', 1_000, book(Number.NaN, 11)), 'one-sided'],
    ['with a bid above the ask', live => live.read('a', 1_000, book(12, 11)), 'crossed'],
    [
      'when prices and amounts stay equal while it answers',
      live => [100, 400, 700].forEach(at => live.read('a', at, book(9, 11))),
      'frozen',
    ],
  ];
  test.each(cases)('%s', (_, does, refusal) => {
    const live = made(oneSource);
    does(live);
    expect(refusals(live, 1_000)).toEqual([refusal]);
    const { price, refusal: why } = live.status(1_000);
    expect(price).toBeNull();
    expect(why).toContain(`a ${refusal}`);
  });

  test('a suspension does not make a frozen book usable again', () => {
    const live = made(oneSource);
    for (const at of [100, 400, 700]) live.read('a', at, book(9, 11));
    live.slept(800);
    expect([refusals(live, 800), live.readings]).toEqual([['no data'], []]);
    live.read('a', 900, book(9, 11));
    expect(refusals(live, 900)).toEqual(['frozen']);
    live.read('a', 950, book(9, 12));
    expect(refusals(live, 950)).toEqual([null]);
  });

  test('a changed amount proves that a book is not frozen, and a new reading ends a loss', () => {
    const live = made(oneSource);
    for (const at of [100, 400, 700]) live.read('a', at, book(9, 11, { bidAmount: at }));
    expect(live.status(1_000).price?.price).toBe(10);
    live.read('a', 750, 'cut');
    live.read('a', 800, book(9, 11));
    expect(refusals(live, 1_000)).toEqual([null]);
  });

  test('a source that differs from the others is left out, and two that differ from each other both are', () => {
    const live = made();
    live.read('a', 0, book(9_999, 10_001));
    live.read('b', 0, book(10_009, 10_011));
    live.read('c', 0, book(10_199, 10_201));
    expect(refusals(live, 0)).toEqual([null, null, 'divergent']);
    expect(live.status(0).price?.price).toBe(10_005);
    live.read('b', 0, 'cut');
    expect(refusals(live, 0)).toEqual(['divergent', 'lost', 'divergent']);
    expect(live.status(0).price).toBeNull();
  });

  test('two sources are compared with each other, and of an even number each with both middle prices', () => {
    const live = made({ sources: ['a', 'b', 'c', 'd'].map(name => source(name, leg(name))) });
    const say = (...mids: readonly number[]) =>
      mids.forEach((mid, i) => live.read('abcd'[i]!, 0, mid === 0 ? 'cut' : book(mid - 1, mid + 1)));
    say(10_000, 10_060, 0, 0);
    expect(
      live
        .status(0)
        .sources.map(({ refusal, detail }) => [refusal, detail])
        .slice(0, 2),
    ).toEqual([
      ['divergent', '-59.8 bps from the other source, maximum 50 bps'],
      ['divergent', '59.8 bps from the other source, maximum 50 bps'],
    ]);
    say(10_000, 10_040, 0, 0);
    expect(live.status(0).price?.price).toBe(10_020);
    say(10_000, 10_001, 10_090, 10_091);
    expect(refusals(live, 0)).toEqual(Array(4).fill('divergent'));
    say(10_000, 10_020, 10_030, 10_100);
    expect(refusals(live, 0)).toEqual([null, null, null, 'divergent']);
  });

  test('a newer book counts also if it is older than the last confirmation of the book before it', () => {
    const live = made(oneSource);
    live.read('a', 900, book(9, 11));
    live.read('a', 890, book(19, 21));
    expect(live.status(1_000)).toMatchObject({ price: { at: 890, price: 20 } });
  });

  test('a source whose readings started before a suspension of the process has no data', () => {
    const live = made(oneSource);
    live.read('a', 900, book(9, 11));
    live.slept(1_000);
    live.read('a', 999, book(9, 11));
    expect(refusals(live, 1_000)).toEqual(['no data']);
  });
});

test('a chain multiplies or divides by its books, sells at the bids and buys at the asks, and is as old as its oldest book', () => {
  const legs = [leg('btc_usd'), leg('usd_mxn')];
  const live = made(
    { sources: [source('a', ...legs), source('b', leg('btc_usd'), leg('mxn_usd', { divides: true }))] },
    0.01,
  );
  live.read('btc_usd', 500, book(99, 101, { sell: 98, buy: 102, lagMs: 3 }));
  live.read('usd_mxn', 700, book(19, 21, { lagMs: -5 }));
  live.read('mxn_usd', 800, book(0.04, 0.05));
  const [a, b] = live.status(1_000).sources;
  expect(a).toMatchObject({ price: 200_100, sell: 186_200, buy: 214_200, ageMs: 500, lagMs: 3 });
  expect(b!.sell).toBeCloseTo(98 / 0.05 / 0.01, 6);
  expect(b!.buy).toBeCloseTo(102 / 0.04 / 0.01, 6);
});

describe('the basis', () => {
  const live = (more: Partial<NonNullable<LivePriceRules['basis']>> = {}, sources = RULES.sources.slice(0, 1)) =>
    made({ sources, basis: { ...BASIS, ...more } });
  /** One second each: this book is 30 bps above the price there. */
  function learn(of: LivePrice, from: number, seconds: number): number {
    for (let second = 0; second < seconds; second++) {
      const at = from + second * 1_000;
      of.read('a', at, book(9_999, 10_001));
      of.learn(at, { mid: 10_030, halfSpread: 1, takerRate: 0 });
    }
    return from + (seconds - 1) * 1_000;
  }

  test('a source without a known basis is left out; with one, this book is quoted at its usual distance', () => {
    const of = live();
    let at = learn(of, 0, 10);
    expect(refusals(of, at)).toEqual(['no basis']);
    at = learn(of, at + 1_000, 120);
    const { price, sources } = of.status(at);
    expect(price?.there).toBe(10_000);
    expect(price?.price).toBeCloseTo(10_030, 6);
    expect(sources[0]!.basisBps).toBeCloseTo(Math.log(1.003) * 10_000, 6);
    expect(sources[0]!.basisErrorBps).toBeLessThan(3);
  });

  test('by configuration, an unknown basis counts as 0', () => {
    const of = live({ unknown: 'zero' });
    expect(of.status(learn(of, 0, 10)).price?.price).toBe(10_000);
  });

  test('a basis of an earlier run counts at once, also for a source at another place of the list', () => {
    const first = live();
    const at = learn(first, 0, 120);
    const second = live({}, [source('z', leg('z')), source('a', leg('a'))]);
    second.restore(first.bases(), at + 5_000);
    second.read('a', at + 5_000, book(9_999, 10_001));
    expect(refusals(second, at + 5_000)).toEqual(['no data', null]);
    expect(second.status(at + 5_000).price?.price).toBeCloseTo(10_030, 6);
  });

  test('a source that reads other books under the same name has no basis, and the old one is kept for its return', () => {
    const first = live();
    const at = learn(first, 0, 120);
    const other = live({}, [{ ...source('a', leg('a')), basisKey: 'a other books' }, source('b', leg('b'))]);
    other.restore(first.bases(), at + 1_000);
    other.read('a', at + 1_000, book(9_999, 10_001));
    expect(refusals(other, at + 1_000)).toEqual(['no basis', 'no data']);
    expect(other.bases()).toEqual(first.bases());
    const without = made();
    without.restore(other.bases(), at + 2_000);
    expect(without.bases()).toEqual(first.bases());
    const again = live();
    again.restore(without.bases(), at + 3_000);
    again.read('a', at + 3_000, book(9_999, 10_001));
    expect(again.status(at + 3_000).price?.price).toBeCloseTo(10_030, 6);
  });

  test('a basis of a version that stored it by name only is named, not used, and not stored again', () => {
    const of = live();
    const old = { at: 0, log: 9, variance: 1e-9 };
    const bases = { a: old, b: old, 'b books': { ...old, log: 1 }, 'a other books': old };
    expect(of.unprovenBases(bases)).toEqual(['a']);
    of.restore(bases, 1_000);
    of.read('a', 1_000, book(9_999, 10_001));
    expect(refusals(of, 1_000)[0]).toBe('no basis');
    expect(Object.keys(of.bases()).sort()).toEqual(['a other books', 'b', 'b books']);
    expect(of.unprovenBases(of.bases())).toEqual([]);
    // Without a basis in the configuration, none is used, and all are kept for a run with one.
    expect(made().unprovenBases(bases)).toEqual([]);
  });

  test('a basis measured in this run replaces the stored one, and at most 32 are stored, the newest', () => {
    const of = live();
    const stored = Array.from({ length: 40 }, (_, i) => [`s${i}`, { at: -i, log: 0, variance: 1 }] as const);
    of.restore(Object.fromEntries([...stored, ['a books', { at: -50, log: 9, variance: 1e-9 }]]), 0);
    learn(of, 1_000, 10);
    const bases = of.bases();
    expect([Object.keys(bases).length, bases['a books']!.at, bases['s30']?.at, bases['s31']]).toEqual([
      ...[32, 10_000, -30, undefined],
    ]);
  });

  test('nothing is learned from a source that is not usable, or while this book has no price', () => {
    const of = live();
    of.read('a', 0, book(9_999, 10_001));
    of.learn(0, { mid: 0, halfSpread: 0, takerRate: 0 });
    of.learn(5_000, { mid: 10_000, halfSpread: 0, takerRate: 0 });
    expect(of.bases()).toEqual({});
  });
});

type Told = {
  readonly feed: string;
  readonly passed: number;
  readonly aged: number;
  readonly what: LiveReading | string;
};
const told: fc.Arbitrary<Told> = fc.record({
  feed: fc.constantFrom('a', 'b', 'c'),
  passed: fc.integer({ min: 0, max: 400 }),
  aged: fc.integer({ min: 0, max: 300 }),
  what: fc.oneof(
    // Few prices, so that a book often stays unchanged.
    { weight: 4, arbitrary: fc.integer({ min: 9_999, max: 10_000 }).map(mid => book(mid - 1, mid + 1)) },
    { weight: 4, arbitrary: fc.integer({ min: 9_950, max: 10_050 }).map(mid => book(mid - 1, mid + 1)) },
    { weight: 1, arbitrary: fc.integer({ min: 9_950, max: 10_050 }).map(mid => book(mid + 1, mid - 1)) },
    fc.constantFrom<LiveReading | string>('cut', book(0, 10_000), book(10_000, Infinity), book(Number.NaN, 10_001)),
  ),
});

type Heard = {
  readonly lost: boolean;
  readonly at: number;
  readonly changedAt: number;
  readonly what: LiveReading;
};

/** Reason why a book is not usable at `at`, whatever the others say; `null` if it is. */
function unusable(heard: Heard | undefined, at: number): string | null {
  if (heard?.lost === true) return 'lost';
  if (heard === undefined) return 'no data';
  if (at - heard.at > 1_000) return 'stale';
  const { bid, ask } = heard.what;
  if (!(bid > 0 && ask > 0 && bid < Infinity && ask < Infinity)) return 'one-sided';
  if (bid > ask) return 'crossed';
  return heard.at - heard.changedAt > 600 ? 'frozen' : null;
}

const medianOf = (sorted: readonly number[]): readonly [low: number, high: number] => [
  sorted[Math.ceil(sorted.length / 2) - 1]!,
  sorted[Math.floor(sorted.length / 2)]!,
];

test('over any history, exactly the sources that are usable and near the others make the price, which is as old as the oldest of them', () => {
  const weights: Readonly<Record<string, number>> = { a: 1, b: 2, c: 3 };
  const rules: Partial<LivePriceRules> = {
    sources: Object.entries(weights).map(([name, weight]) => ({
      ...source(name, leg(name, { frozenAfterMs: 600 })),
      weight,
    })),
  };
  const reached = new Set<string | null>();
  fc.assert(
    fc.property(
      fc.array(told, { maxLength: 40, size: 'medium' }),
      fc.constantFrom<LivePriceRules['combine']>('median', 'weights'),
      fc.integer({ min: 1, max: 3 }),
      (history, combine, sourcesMin) => {
        const live = made({ ...rules, combine, sourcesMin });
        const heard = new Map<string, Heard>();
        let at = 10_000;
        for (const { feed, passed, aged, what } of history) {
          at += passed;
          const startedAt = at - aged;
          live.read(feed, startedAt, what);
          const before = heard.get(feed);
          if (typeof what !== 'string') {
            const isSame = before !== undefined && before.what.bid === what.bid && before.what.ask === what.ask;
            heard.set(feed, { lost: false, at: startedAt, changedAt: isSame ? before.changedAt : startedAt, what });
          } else heard.set(feed, { ...(before ?? { at: -Infinity, changedAt: 0, what: book(0, 0) }), lost: true });
          const { sources, price, refusal } = live.status(at);
          const usable = Object.keys(weights).filter(name => unusable(heard.get(name), at) === null);
          const midOf = (name: string) => (heard.get(name)!.what.bid + heard.get(name)!.what.ask) / 2;
          const [low, high] = medianOf(usable.map(midOf).toSorted((a, b) => a - b));
          const isFar = (name: string) =>
            Math.max(midOf(name) - low, high - midOf(name)) * 10_000 > (50 * (low + high)) / 2;
          const expected = Object.keys(weights).map(
            name => unusable(heard.get(name), at) ?? (isFar(name) ? 'divergent' : null),
          );
          expect(sources.map(one => one.refusal)).toEqual(expected);
          for (const one of expected) reached.add(one);
          const used = usable.filter(name => !isFar(name));
          expect([refusal === null, price !== null]).toEqual(Array(2).fill(used.length >= sourcesMin));
          if (price === null) continue;
          const [below, above] = medianOf(used.map(midOf).toSorted((a, b) => a - b));
          const total = used.reduce((sum, name) => sum + weights[name]!, 0);
          const mean = used.reduce((sum, name) => sum + weights[name]! * midOf(name), 0) / total;
          const together = combine === 'median' ? (below + above) / 2 : mean;
          expect(price.price).toBeCloseTo(together, 6);
          expect(price).toMatchObject({ at: Math.min(...used.map(name => heard.get(name)!.at)), there: price.price });
        }
      },
    ),
    runsOf(1_000, 100),
  );
  const all = [null, 'crossed', 'divergent', 'frozen', 'lost', 'no data', 'one-sided', 'stale'];
  expect([...reached].toSorted()).toEqual(all.toSorted());
});

/** Regimes: the laws of the pure transition, and what an engine does in each. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  firstRegime,
  isReduceOnly,
  nextRegime,
  remaining,
  widenQuote,
  type EngineNews,
  type Quote,
  type RegimeEvent,
  type RegimeRules,
  type RegimeState,
  type Side,
} from '../../../src/core/index.ts';
import { ToyExchange, quoteAround, type Fate } from '../toyExchange.ts';
import { between } from '../../draws.ts';

const RULES = { leaveShare: 0.8, calmMs: 1_000 };
const load = fc.oneof(between(0, 2), fc.constantFrom(0, 0.79, 0.8, 1, Number.NaN));
const anyEvent: fc.Arbitrary<(at: number) => RegimeEvent> = fc.oneof(
  { weight: 8, arbitrary: looks() },
  fc
    .tuple(fc.constantFrom('halt' as const, 'pause' as const, 'reduce' as const), fc.constantFrom('one', 'another'))
    .map(([kind, reason]) => (at: number): RegimeEvent => ({ kind, at, reason })),
  fc
    .constantFrom('resume' as const, 'pause over' as const, 'reduced' as const)
    .map(kind => (at: number): RegimeEvent => ({ kind, at })),
  fc
    .constantFrom(null, 'balances are unread', 'no room')
    .map(unread => (at: number): RegimeEvent => ({ kind: 'balances', at, unread })),
  fc
    .constantFrom(null, 'own.ts failed', 'own.ts returned an invalid quote')
    .map(failure => (at: number): RegimeEvent => ({ kind: 'strategy', at, failure })),
);

function looks() {
  const refusal = fc.constantFrom(null, null, null, 'book stale' as const, 'not ready' as const);
  return fc
    .record({ refusal, wide: load, near: load, loss: fc.constantFrom(null, null, null, 'drawdown') })
    .map(of => (at: number): RegimeEvent => ({ kind: 'look', at, wideWhy: 'the price moves fast', ...of }));
}

/** States after each event, 300 ms apart; the first before any. */
function lived(events: readonly ((at: number) => RegimeEvent)[]) {
  const states: RegimeState[] = [firstRegime];
  const taken = events.map((of, i) => of(300 * (i + 1)));
  for (const event of taken) states.push(nextRegime(states[states.length - 1]!, event, RULES));
  return { states, taken };
}

describe('the transition', () => {
  const lives = fc.array(anyEvent, { minLength: 1, maxLength: 60 });

  it('gives the same state for the same inputs, and the same object where nothing changed', () => {
    fc.assert(
      fc.property(lives, events => {
        const { states, taken } = lived(events);
        expect(lived(events).states).toEqual(states);
        taken.forEach((event, i) => {
          const again = nextRegime(states[i + 1]!, event, RULES);
          expect(again).toBe(states[i + 1]);
        });
      }),
    );
  });

  it('leaves halted only by a resume, and what a person or a loss made reduce only too', () => {
    fc.assert(
      fc.property(lives, events => {
        const { states, taken } = lived(events);
        taken.forEach((event, i) => {
          const [before, after] = [states[i]!, states[i + 1]!];
          if (event.kind === 'resume') {
            expect([after.halt, after.reduce]).toEqual([null, null]);
            return;
          }
          if (before.halt !== null) expect([after.regime, after.why]).toEqual(['halted', before.halt]);
          if (event.kind === 'reduced') expect(after.reduce).toBeNull();
          else if (before.reduce !== null) expect(after.reduce).toBe(before.reduce);
        });
      }),
    );
  });

  it('is what the whole history says: the first halt, the last pause, the last error of the strategy, the first cause to only close, and the last refusal', () => {
    fc.assert(
      fc.property(lives, events => {
        const { states, taken } = lived(events);
        taken.forEach((_, i) => {
          const past = taken.slice(0, i + 1);
          const since = (...ends: readonly string[]) =>
            past.slice(past.findLastIndex(({ kind }) => ends.includes(kind)) + 1);
          const reasons = (kind: string, of: readonly RegimeEvent[]) =>
            of.flatMap(one => (one.kind === kind && 'reason' in one ? [one.reason] : []));
          const looked = past.flatMap(one => (one.kind === 'look' ? [one] : []));
          const told = past.flatMap(one => (one.kind === 'balances' ? [one.unread] : []));
          const closing = since('resume', 'reduced').flatMap(one =>
            one.kind === 'look' ? [one.loss] : one.kind === 'reduce' ? [one.reason] : [],
          );
          const failures = past.flatMap(one => (one.kind === 'strategy' ? [one.failure] : []));
          const expected = {
            halt: reasons('halt', since('resume'))[0] ?? null,
            pause: reasons('pause', since('pause over')).at(-1) ?? null,
            reduce: closing.find(reason => reason !== null) ?? null,
            unread: told.at(-1) ?? null,
            failure: failures.at(-1) ?? null,
            refusal: looked.length === 0 ? ('not ready' as const) : looked.at(-1)!.refusal,
          };
          const { regime, why, near, wide, ...state } = states[i + 1]!;
          expect(state).toMatchObject(expected);
          const { halt, pause, failure, reduce, unread, refusal } = expected;
          const strictest: readonly (readonly [string | null | undefined, string])[] = [
            ...([
              [halt, 'halted'],
              [pause, 'paused'],
              [failure, 'paused'],
              [refusal, 'paused'],
              [reduce, 'reduce only'],
            ] as const),
            ...([
              [unread, 'reduce only'],
              [near && 'inventory is near its limit', 'reduce only'],
            ] as const),
            ...([
              [wide && 'the price moves fast', 'wide'],
              ['no restriction applies', 'normal'],
            ] as const),
          ];
          expect([why, regime]).toEqual(strictest.find(([reason]) => reason !== null));
        });
      }),
      { numRuns: 60 },
    );
  });

  it('closes inventory near its limit until it is below the share of it, at once and for any loads', () => {
    const loads = fc.array(fc.constantFrom(0, 0.79, 0.8, 0.99, 1, 1.5, Number.NaN), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(loads, drawn => {
        let [state, isNear] = [firstRegime, false];
        drawn.forEach((near, i) => {
          const look = { kind: 'look', at: 1.7e12 + i, refusal: null, wide: 0, wideWhy: '', near, loss: null } as const;
          state = nextRegime(state, look, RULES);
          isNear = isNear ? !(near < 0.8) : near >= 1;
          expect([i, state.regime, isReduceOnly(state)]).toEqual([i, isNear ? 'reduce only' : 'normal', isNear]);
        });
      }),
    );
  });

  it('is wide until the market was calm for the whole time without a break, for any loads', () => {
    const loads = fc.array(fc.constantFrom(0, 0.79, 0.8, 0.9, 1, 1.5, Number.NaN), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(loads, fc.integer({ min: 100, max: 600 }), (drawn, everyMs) => {
        let state: RegimeState = { ...firstRegime, refusal: null, regime: 'normal' };
        let [isWide, calmSince]: [boolean, number | null] = [false, null];
        drawn.forEach((wide, i) => {
          const at = 1.7e12 + i * everyMs;
          const look = { kind: 'look', at, refusal: null, wide, wideWhy: 'it moves', near: 0, loss: null } as const;
          state = nextRegime(state, look, RULES);
          const isCalm = wide < 0.8;
          if (isCalm && isWide) calmSince ??= at;
          else calmSince = null;
          if (!isWide) isWide = wide >= 1;
          else if (calmSince !== null && at - calmSince >= RULES.calmMs) [isWide, calmSince] = [false, null];
          expect([i, state.regime]).toEqual([i, isWide ? 'wide' : 'normal']);
        });
      }),
    );
  });

  it('keeps a pause apart: nothing else begins or ends it, and it begins and ends nothing else', () => {
    fc.assert(
      fc.property(lives, events => {
        const { states, taken } = lived(events);
        taken.forEach((event, i) => {
          const [before, after] = [states[i]!, states[i + 1]!];
          const causes = ({ halt, reduce, near, wide, refusal }: RegimeState) => [halt, reduce, near, wide, refusal];
          if (event.kind === 'pause') expect(after.pause).toBe(event.reason);
          else if (event.kind === 'pause over') expect(after.pause).toBeNull();
          else expect(after.pause).toBe(before.pause);
          if (event.kind === 'pause' || event.kind === 'pause over') expect(causes(after)).toEqual(causes(before));
        });
      }),
    );
  });

  it('is the hardest of its causes, and moves `since` only when it or its reason changes', () => {
    fc.assert(
      fc.property(lives, events => {
        const { states } = lived(events);
        states.forEach((state, i) => {
          const { regime, halt, pause, failure, refusal, wide } = state;
          if (halt !== null) expect(regime).toBe('halted');
          else if (pause !== null || failure !== null || refusal !== null) expect(regime).toBe('paused');
          else if (isReduceOnly(state)) expect(regime).toBe('reduce only');
          else expect(regime).toBe(wide === null ? 'normal' : 'wide');
          const before = states[i - 1];
          if (before === undefined) return;
          const isSame = before.regime === regime && before.why === state.why;
          expect(state.since).toBe(isSame ? before.since : 300 * i);
        });
      }),
    );
  });

  it('does not flap: a load between leaving and coming changes nothing, and calm must last', () => {
    const calmNorWide = fc.array(between(0.8, 0.999), { maxLength: 30 });
    fc.assert(
      fc.property(calmNorWide, fc.boolean(), (loads, wasWide) => {
        const look = (wide: number) => (at: number) =>
          ({ kind: 'look', at, refusal: null, wide, wideWhy: 'thin', near: wide, loss: null }) as const;
        const { states } = lived([look(wasWide ? 1 : 0), ...loads.map(look)]);
        expect(new Set(states.slice(1).map(({ regime }) => regime)).size).toBe(1);
      }),
    );
    const calm = (at: number): RegimeEvent => ({
      kind: 'look',
      at,
      refusal: null,
      wide: at > 300 ? 0.1 : 1,
      wideWhy: 'thin',
      near: 0,
      loss: null,
    });
    const { states } = lived(Array.from({ length: 8 }, () => calm));
    expect(states.map(({ regime }) => regime)).toEqual([
      'paused',
      ...Array.from({ length: 5 }, () => 'wide'),
      ...Array.from({ length: 3 }, () => 'normal'),
    ]);
  });

  it('takes what is not known neither for calm nor for a storm', () => {
    const look = (wide: number) => (at: number) =>
      ({ kind: 'look', at, refusal: null, wide, wideWhy: 'thin', near: 0, loss: null }) as const;
    const unknown = Array.from({ length: 20 }, () => look(Number.NaN));
    expect(lived([look(0), ...unknown]).states.at(-1)?.regime).toBe('normal');
    expect(lived([look(1), ...unknown]).states.at(-1)?.regime).toBe('wide');
  });
});

describe('a wide quote', () => {
  it('is never nearer than the narrow one, keeps its waterfall, and multiplies the spread', () => {
    const levels = fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 4 });
    fc.assert(
      fc.property(levels, levels, between(1, 5), (bids, asks, factor) => {
        const side = (away: readonly number[], sign: number) =>
          [...away]
            .sort((a, b) => a - b)
            .map(d => ({
              price: 1_000 + sign * d,
              amount: 5 as never,
              why: [{ name: 'wanted', ticks: 1_000 + sign * d }],
            }));
        const quote: Quote = { bids: side(bids, -1), asks: side(asks, 1) };
        const wide = widenQuote(quote, factor, 1_000);
        quote.bids.forEach(({ price }, i) => expect(wide.bids[i]!.price).toBeLessThanOrEqual(price));
        quote.asks.forEach(({ price }, i) => expect(wide.asks[i]!.price).toBeGreaterThanOrEqual(price));
        for (const { price, why } of [...wide.bids, ...wide.asks])
          expect(why.reduce((sum, { ticks }) => sum + ticks, 0)).toBeCloseTo(price, 9);
        if (bids.length === 0 || asks.length === 0) return;
        const spread = ({ bids: [bid], asks: [ask] }: Quote) => ask!.price - bid!.price;
        expect(spread(wide)).toBeCloseTo(factor * spread(quote), 6);
      }),
    );
  });
});

const ruled = (changes: Partial<RegimeRules>): RegimeRules => ({
  leaveShare: 0.8,
  calmMs: 1_000,
  wide: null,
  reduceOnly: null,
  ...changes,
});
const open = { priceBps: 10, amountShare: 0.5, maxAgeMs: 3_600_000 };

describe('an engine that may only reduce', () => {
  it('never places or keeps what could carry inventory away from its target, or past it, whatever answers and fills do', () => {
    const fates = fc.array(fc.constantFrom<Fate>('done', 'lost', 'done untold', { code: '0201' }), { maxLength: 20 });
    const turns = fc.array(
      fc.record({
        fill: fc.option(fc.integer({ min: 1, max: 10 })),
        cancels: fc.boolean(),
        move: fc.integer({ min: 0, max: 20 }),
      }),
      { minLength: 5, maxLength: 30 },
    );
    fc.assert(
      fc.property(fates, turns, fc.integer({ min: -40, max: 40 }), (of, life, bought) => {
        const toy = new ToyExchange({ strategy: quoteAround(2, 5, 9), tolerance: open }).open().round();
        const side: Side = bought > 0 ? 'buy' : 'sell';
        for (let n = 0; n < Math.abs(bought); n += 5) {
          const order = toy.live.find(one => one.side === side);
          if (order) toy.fill(order.id, Math.min(5, Math.abs(bought) - n));
          toy.round();
        }
        toy.step({ kind: 'reduce', at: toy.now, reason: 'looking at it' });
        const left = [...of];
        toy.fateOfPlace = () => left.pop() ?? 'done';
        for (const { fill, cancels, move } of life) {
          toy.fateOfCancel = () => (cancels ? 'done' : 'lost');
          const any = toy.live[Math.abs(move) % Math.max(1, toy.live.length)];
          if (fill !== null && any) toy.fill(any.id, fill);
          const before = toy.places().length;
          toy.round();
          const { position } = positionOf(toy);
          for (const place of toy.places().slice(before)) {
            expect(place.side).toBe(position > 0 ? 'sell' : 'buy');
          }
          // What still counts and was placed since is never more than there is to close.
          const [bids, asks] = (['buy', 'sell'] as const).map(one =>
            toy.engine.book.unfinished
              .filter(order => order.side === one && isNew(order.id, toy, before))
              .reduce((lots, order) => lots + remaining(order), 0),
          ) as [number, number];
          expect(asks).toBeLessThanOrEqual(Math.max(0, position));
          expect(bids).toBeLessThanOrEqual(Math.max(0, -position));
        }
      }),
      { numRuns: 60 },
    );
  });

  it('goes on when a person resumes, and says each change', () => {
    const news: EngineNews[] = [];
    const toy = new ToyExchange({ onNews: one => news.push(one) }).open().round();
    toy.step({ kind: 'reduce', at: toy.now, reason: 'looking at it' });
    toy.rounds(3);
    expect(toy.live).toEqual([]);
    expect(toy.engine.book.snapshot(toy.now).regime).toMatchObject({ regime: 'reduce only', why: 'looking at it' });
    toy.step({ kind: 'resume', at: toy.now });
    toy.open().rounds(3);
    expect(toy.live).toHaveLength(2);
    const regimes = news.flatMap(one => (one.kind === 'regime' ? [one.to.regime] : []));
    expect(regimes).toEqual(['normal', 'reduce only', 'normal', 'paused', 'normal']);
  });

  it('does so by itself near its limit, until there is room again', () => {
    const toy = new ToyExchange({
      strategy: quoteAround(2),
      regimes: ruled({ reduceOnly: { positionShare: 0.5 } }),
    }).open();
    toy.round();
    for (let n = 0; n < 5; n++) {
      const bid = toy.live.find(({ side }) => side === 'buy');
      if (bid) toy.fill(bid.id, 10);
      toy.rounds(20);
    }
    expect(toy.engine.book.snapshot(toy.now).regime).toMatchObject({ regime: 'reduce only' });
    expect([toy.prices('buy').length, toy.prices('sell').length]).toEqual([0, 1]);
    toy.fill(toy.live[0]!.id, 10);
    toy.rounds(20);
    expect(toy.engine.book.snapshot(toy.now).regime.regime).toBe('reduce only');
    toy.fill(toy.live[0]!.id, 10);
    toy.rounds(20);
    expect(toy.engine.book.snapshot(toy.now).regime.regime).toBe('normal');
    expect(toy.prices('buy')).toHaveLength(1);
  });
});

describe('an engine with a rule for wide markets', () => {
  it.each<readonly [string, NonNullable<RegimeRules['wide']>, (toy: ToyExchange) => void]>([
    ['the market is wide', { factor: 3, marketSpreadBps: 300 }, toy => void (toy.asks = [[1_030, 50]])],
    ['the book is thin', { factor: 3, thin: { lots: 20, withinBps: 200 } }, toy => void (toy.bids = [[990, 5]])],
    [
      'the price moves fast',
      { factor: 3, volatility: { bps: 500, memoryMs: 20_000 } },
      toy => void ((toy.bids = [[1_040, 50]]), (toy.asks = [[1_060, 50]])),
    ],
  ])('quotes wide when %s, and as before when it is calm', (why, wide, storm) => {
    const toy = new ToyExchange({ regimes: ruled({ wide }) }).open().rounds(15);
    expect(toy.engine.book.snapshot(toy.now).regime.regime).toBe('normal');
    const [bids, asks] = [toy.bids, toy.asks];
    storm(toy);
    toy.rounds(15);
    expect(toy.engine.book.snapshot(toy.now).regime).toMatchObject({ regime: 'wide', why });
    expect(toy.prices('sell')[0]! - toy.prices('buy')[0]!).toBeGreaterThanOrEqual(12);
    [toy.bids, toy.asks] = [bids, asks];
    toy.rounds(900);
    expect(toy.engine.book.snapshot(toy.now).regime.regime).toBe('normal');
    expect(toy.prices('sell')[0]! - toy.prices('buy')[0]!).toBe(4);
    expect(toy.engine.book.snapshot(toy.now).regimes.wide).toBe(1);
  });
});

const positionOf = (toy: ToyExchange): { position: number } => ({
  position: Number(toy.engine.book.snapshot(toy.now).booked.inventory / 10n ** 18n),
});
const isNew = (id: string, toy: ToyExchange, before: number): boolean =>
  toy
    .places()
    .slice(before)
    .some(place => place.id === id);

/** Recordings of several books on one clock: each is replayed as alone, at the recorded distance in time from the others. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VirtualClock, amount, price, randomOf, type Clock, type Millis } from '../../../src/core/index.ts';
import { tapeMarket, TapeRounds } from '../../../src/sandbox/index.ts';
import { finishTape, SIDE, TapeBuilder, type Tape } from '../../../src/tape/index.ts';
import { runsOf } from '../../many.ts';
import { ReferenceMarketplace } from './referenceMarketplace.ts';

const EPOCH = 1_700_000_000_000;
/** Pause between two rounds. */
const PAUSE = 1_000;

/** A tape that sets its best bid at each of these times, in ms after `EPOCH`, to the number of the row + 100. */
function tapeAt(source: string, times: readonly number[]): Tape {
  const builder = new TapeBuilder();
  times.forEach((time, i) => {
    const at = EPOCH + time;
    if (i > 0) builder.level(at, at, SIDE.buy, price(99 + i), amount(0));
    builder.level(at, at, SIDE.buy, price(100 + i), amount(5));
  });
  return finishTape({ source, book: 'eth_usd', tick: '0.01', columns: builder.columns(), depth: Infinity });
}

/** The best bids of some tapes that are replayed together. `clock` measures time for the replay. */
function open(tapes: readonly Tape[], clock: Clock) {
  const rounds = new TapeRounds(tapes);
  const places = tapes.map(tape => {
    const place = new ReferenceMarketplace(tape.instrument, clock, randomOf(1));
    tapeMarket(tape, { loop: true, rounds }).start(place);
    return place;
  });
  return { places, bids: () => places.map(place => place.bestBid()) };
}

/** Times of rows: at least two tapes, which all have some time in common. */
const times = fc
  .array(fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 6 }), { minLength: 2, maxLength: 4 })
  .chain(gaps => fc.tuple(...gaps.map(each => first(gaps).map(start => rowTimes(start, each)))));
/** Time of a first row, before the last row of every tape. */
const first = (gaps: readonly (readonly number[])[]) =>
  fc.integer({ min: 0, max: Math.min(...gaps.map(each => sum(each))) });
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const rowTimes = (first: number, gaps: readonly number[]): readonly number[] =>
  gaps.reduce<readonly number[]>((all, gap) => [...all, all.at(-1)! + gap], [first]);

describe('tapes that are replayed together', () => {
  it('have the recorded book at each recorded time, in each round', () =>
    fc.assert(
      fc.asyncProperty(times, async rows => {
        const clock = new VirtualClock();
        const { bids } = open(
          rows.map((each, i) => tapeAt(`tape ${i}`, each)),
          clock,
        );
        const from = Math.max(...rows.map(each => each[0]!));
        const to = Math.min(...rows.map(each => each.at(-1)!));
        for (let round = 0; round < 3; round++) {
          for (let now = from; now < to + PAUSE; now++) {
            // The latest row of each tape until now, and none after the round.
            expect(bids()).toEqual(rows.map(each => 99 + each.filter(time => time <= Math.min(now, to)).length));
            await clock.advance(1);
          }
        }
      }),
      runsOf(60, 4),
    ));

  it('start with the book of the common start, and no trade before it is executed', async () => {
    const clock = new VirtualClock();
    const builder = new TapeBuilder();
    const level = (at: number, bid: number, lots: number) =>
      builder.level(EPOCH + at, EPOCH + at, SIDE.buy, price(bid), amount(lots));
    level(0, 100, 50);
    builder.trade(EPOCH + 500, EPOCH + 500, SIDE.sell, price(100), amount(20));
    level(500, 100, 30);
    level(2_000, 101, 5);
    const columns = builder.columns();
    const early = finishTape({ source: 'early', book: 'eth_usd', tick: '0.01', columns, depth: Infinity });
    const { places } = open([early, tapeAt('late', [1_000, 3_000])], clock);
    const fills: number[] = [];
    places[0]!.onFill = ({ amount: lots }) => void fills.push(lots);
    expect(places.map(place => [place.bestBid(), place.amountAt('buy', place.bestBid())])).toEqual([
      [100, 30],
      [100, 5],
    ]);
    places[0]!.placeFor('user', 'buy', price(100), 10, 'GTC');
    // The round ends at 2 s of recorded time, and the next one starts a second later with the same books.
    await clock.advance(1_000);
    expect(places[0]!.bestBid()).toBe(101);
    await clock.advance(1_000);
    expect(places[0]!.amountAt('buy', price(100))).toBe(40);
    expect(fills).toEqual([]);
  });

  it('stay together after a suspension of the machine, though each wakes at its own time', async () => {
    const base = new VirtualClock();
    let asleep = 0;
    let waking = 0;
    const clock: Clock = {
      now: () => base.now() + asleep,
      elapsed: () => base.elapsed() + asleep,
      after: (ms, run) =>
        base.after(ms, () => {
          if (waking-- > 0) asleep += 30;
          run();
        }),
    };
    const { places } = open([tapeAt('one', [0, 400, 1_000]), tapeAt('other', [0, 400, 1_000])], clock);
    const seen = places.map((place): (readonly [Millis, number])[] => {
      const bids: (readonly [Millis, number])[] = [];
      place.onLevel = (_, bid, lots) => lots > 0 && bids.push([clock.elapsed(), bid]);
      return bids;
    });
    await base.advance(500);
    asleep += 3_600_000;
    waking = 2;
    await base.advance(10_000);
    expect(seen[0]!.length).toBeGreaterThan(9);
    const later = seen.map(bids => bids.slice(-6));
    expect(later[0]).toEqual(later[1]);
  });

  it('are refused if they have no time in common', () => {
    expect(() => new TapeRounds([tapeAt('one', [0, 10]), tapeAt('two', [5, 20]), tapeAt('three', [11, 30])])).toThrow(
      'three: starts at 2023-11-14T22:13:20.011Z, after one ends at 2023-11-14T22:13:20.010Z; replay recordings of the same time together',
    );
    expect(() => new TapeRounds([tapeAt('one', [0, 10]), tapeAt('two', [10, 20])])).not.toThrow();
  });
});

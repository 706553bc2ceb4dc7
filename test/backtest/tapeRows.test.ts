import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FLAG, rowsOfTape, TickBook, type MarketRows } from '../../backtest/index.ts';
import { amount, price } from '../../src/core/index.ts';
import { finishTape, KIND, RecordedBook, SIDE, TapeBuilder, type Tape } from '../../src/tape/index.ts';

const tapeOf = (build: (tape: TapeBuilder) => void, depth = Infinity): Tape => {
  const tape = new TapeBuilder();
  build(tape);
  return finishTape({ source: 'test', book: 'btc_usd', tick: '0.01', columns: tape.columns(), depth });
};

const listed = ({ length, base, at, local, place, lots, flags }: MarketRows) =>
  Array.from({ length }, (_, i) => ({
    at: at[i],
    local: local[i],
    trade: (flags[i]! & FLAG.trade) !== 0,
    side: (flags[i]! & FLAG.sell) !== 0 ? 'sell' : 'buy',
    tick: place[i]! + base,
    lots: lots[i],
  }));

describe('the rows of a tape', () => {
  test('rebuild the same book as the tape itself, pictures and changes mixed', () => {
    const level = fc.record({
      side: fc.constantFrom(SIDE.buy, SIDE.sell),
      away: fc.integer({ min: 1, max: 8 }),
      lots: fc.integer({ min: 0, max: 9 }),
    });
    const moment = fc.record({ picture: fc.boolean(), levels: fc.array(level, { minLength: 1, maxLength: 10 }) });
    fc.assert(
      fc.property(fc.array(moment, { minLength: 1, maxLength: 12 }), moments => {
        const tape = tapeOf(builder => {
          builder.level(1, 1, SIDE.buy, price(1_000), amount(5));
          moments.forEach(({ picture, levels }, i) => {
            const at = 10 * (i + 1);
            if (picture) builder.clear(at, at);
            for (const { side, away, lots } of levels)
              builder.level(at, at, side, price(side === SIDE.buy ? 1_000 - away : 1_000 + away), amount(lots));
          });
        });
        const rows = rowsOfTape(tape);
        const mine = new TickBook(rows);
        for (const { side, tick, lots } of listed(rows))
          if (side === 'buy') mine.setBid(tick - rows.base, lots!);
          else mine.setAsk(tick - rows.base, lots!);
        const recorded = new RecordedBook(tape.columns);
        for (let row = 0; row < tape.columns.length; row++) recorded.apply(row);
        for (let tick = 990; tick <= 1_010; tick++) {
          expect(mine.bids[tick - rows.base]).toBe(recorded.bids.amountOf(tick));
          expect(mine.asks[tick - rows.base]).toBe(recorded.asks.amountOf(tick));
        }
        expect(mine.bid + rows.base).toBe(recorded.bids.length > 0 ? recorded.bids.priceAt(0) : rows.base);
      }),
    );
  });

  describe('of pictures of a limited depth', () => {
    const levelsWithin = (ticks: number, most: number) =>
      fc.uniqueArray(
        fc.record({
          side: fc.constantFrom(SIDE.buy, SIDE.sell),
          away: fc.integer({ min: 1, max: ticks }),
          lots: fc.integer({ min: 0, max: most }),
        }),
        { maxLength: 2 * ticks, selector: ({ side, away }) => `${side} ${away}` },
      );
    const levels = levelsWithin(8, 9);
    type Level = (typeof levels extends fc.Arbitrary<infer T> ? T : never)[number];
    const tick = ({ side, away }: Level) => (side === SIDE.buy ? 1_000 - away : 1_000 + away);

    test('say that a level which left a picture may still exist only if its own side is full and it is deeper than all of it', () => {
      const moment = fc.record({ picture: fc.boolean(), levels });
      fc.assert(
        fc.property(fc.array(moment, { maxLength: 12 }), fc.integer({ min: 1, max: 5 }), (moments, depth) => {
          const rows = rowsOfTape(
            tapeOf(builder => {
              builder.level(1, 1, SIDE.buy, price(1_000), amount(5));
              moments.forEach(({ picture, levels: all }, i) => {
                if (picture) builder.clear(10 * (i + 1), 10 * (i + 1));
                for (const one of all)
                  builder.level(10 * (i + 1), 10 * (i + 1), one.side, price(tick(one)), amount(one.lots));
              });
            }, depth),
          );
          const wanted: string[] = [];
          const book = new Map<string, Level>([['buy 1000', { side: SIDE.buy, away: 0, lots: 5 }]]);
          moments.forEach(({ picture, levels: all }, i) => {
            const there = all.filter(({ lots }) => lots > 0);
            if (picture)
              for (const [name, gone] of book) {
                const same = there.filter(({ side }) => side === gone.side);
                if (same.some(({ away }) => away === gone.away)) continue;
                const isUnseen = same.length >= depth && same.every(({ away }) => away < gone.away);
                wanted.push(`${10 * (i + 1)}: ${name}${isUnseen ? ' may exist' : ' is gone'}`);
                book.delete(name);
              }
            for (const one of all) {
              const name = `${one.side === SIDE.buy ? 'buy' : 'sell'} ${tick(one)}`;
              if (one.lots > 0) book.set(name, one);
              else if (book.delete(name)) wanted.push(`${10 * (i + 1)}: ${name} is gone`);
            }
          });
          const said = listed(rows).flatMap(({ at, side, tick: where, lots }, i) =>
            lots === 0 && (rows.flags[i]! & FLAG.end) === 0
              ? [`${at}: ${side} ${where}${(rows.flags[i]! & FLAG.unseen) !== 0 ? ' may exist' : ' is gone'}`]
              : [],
          );
          expect(said.sort()).toEqual(wanted.sort());
        }),
      );
    });

    test('are of a market in a mirror the same in the mirror, stale and crossed levels among them', () => {
      const trade = fc.record({
        side: fc.constantFrom(SIDE.buy, SIDE.sell),
        tick: fc.integer({ min: 995, max: 1_005 }),
        lots: fc.integer({ min: 1, max: 9 }),
      });
      // So few prices and amounts that a level comes back as it was.
      const moment = fc.record({
        wait: fc.constantFrom(0, 1, 4_000, 11_000),
        picture: fc.boolean(),
        // Now and then a bid above an ask.
        shift: fc.constantFrom(0, 0, 0, 3),
        levels: levelsWithin(3, 2),
        trades: fc.array(trade, { maxLength: 3 }),
      });
      fc.assert(
        fc.property(
          fc.array(moment, { maxLength: 20, size: 'max' }),
          fc.integer({ min: 1, max: 5 }),
          (moments, depth) => {
            const told = (isMirrored: boolean) => {
              const at = (n: number) => price(isMirrored ? 2_000 - n : n);
              const of = (side: Level['side']) => (isMirrored ? (side === SIDE.buy ? SIDE.sell : SIDE.buy) : side);
              const rows = rowsOfTape(
                tapeOf(builder => {
                  let time = 1;
                  for (const side of [SIDE.buy, SIDE.sell] as const)
                    builder.level(time, time, of(side), at(side === SIDE.buy ? 999 : 1_001), amount(5));
                  for (const { wait, picture, shift, levels: all, trades } of moments) {
                    time += wait;
                    for (const { side, tick: where, lots } of trades)
                      builder.trade(time, time, of(side), at(where), amount(lots));
                    if (picture) builder.clear(time, time);
                    for (const one of all) {
                      const where = one.side === SIDE.buy ? tick(one) + shift : tick(one) - shift;
                      builder.level(time, time, of(one.side), at(where), amount(one.lots));
                    }
                  }
                }, depth),
              );
              return listed(rows)
                .map(({ at: when, local, trade: isTrade, side, tick: where, lots }, i) => {
                  const flags = rows.flags[i]! & ~FLAG.sell;
                  // Levels that one picture or one execution takes away are told side by side, in no meant order.
                  const isLeft = lots === 0 && (flags & (FLAG.snapshot | FLAG.ghost)) !== 0;
                  return {
                    line: [
                      when,
                      local,
                      isTrade,
                      (side === 'sell') !== isMirrored,
                      isMirrored ? 2_000 - where : where,
                      lots,
                    ]
                      .concat(isLeft ? flags & ~FLAG.crossed : flags)
                      .join(' '),
                    isLeft,
                  };
                })
                .reduce<string[][]>((groups, { line, isLeft }) => {
                  const last = groups.at(-1);
                  if (isLeft && last) last.push(line);
                  else groups.push([line]);
                  return groups;
                }, [])
                .flatMap(([first, ...left]) => [first, ...left.sort()]);
            };
            expect(told(true)).toEqual(told(false));
          },
        ),
        { numRuns: 300 },
      );
    });
  });

  test('say nothing of a level that a picture shows unchanged: our place in its queue stays', () => {
    const rows = rowsOfTape(
      tapeOf(tape => {
        for (const at of [1, 2, 3]) {
          tape.clear(at, at);
          tape.level(at, at, SIDE.buy, price(100), amount(7));
        }
      }),
    );
    const again = Array.from(rows.flags.subarray(0, rows.length), flags => (flags & FLAG.again) !== 0);
    // But for each picture's end.
    expect(again).toEqual([false, true, true, true]);
  });

  describe('leave out a level that executions go through and that stays', () => {
    const picture = (tape: TapeBuilder, at: number, stuck: number, bid = 104): void => {
      tape.clear(at, at);
      tape.level(at, at, SIDE.buy, price(bid), amount(7));
      tape.level(at, at, SIDE.sell, price(106), amount(7));
      if (stuck > 0) tape.level(at, at, SIDE.sell, price(101), amount(stuck));
    };
    const ghosts = (rows: MarketRows) =>
      listed(rows)
        .filter((_, i) => (rows.flags[i]! & FLAG.ghost) !== 0)
        .map(({ at, side, tick }) => [at, side, tick]);
    const made = (seconds: readonly number[], stuckAt: (at: number) => number) =>
      rowsOfTape(
        tapeOf(tape => {
          for (const second of seconds) {
            picture(tape, 1000 * second, stuckAt(second));
            tape.trade(1000 * second + 500, 1000 * second + 500, SIDE.buy, price(106), amount(1));
          }
        }),
      );

    test('once they have done so for ten seconds, and until it changes', () => {
      const seconds = Array.from({ length: 30 }, (_, i) => i + 1);
      const rows = made(seconds, second => (second < 25 ? 5 : 6));
      expect(ghosts(rows)).toEqual([[11_500, 'sell', 101]]);
      const told = listed(rows).filter(({ tick, trade }) => tick === 101 && !trade);
      expect(told.filter(({ lots }) => lots === 6).map(({ at }) => at)[0]).toBe(25_000);
      const crossed = Array.from(rows.flags.subarray(0, rows.length), (flags, i) => [
        rows.at[i]!,
        flags & FLAG.crossed,
      ]);
      expect(crossed.filter(([at, is]) => is !== 0 && at! > 11_500 && at! < 25_000)).toEqual([]);
      expect(crossed.filter(([at, is]) => is !== 0 && at! < 11_500).length).toBeGreaterThan(0);
    });

    test('a locked book is not crossed', () => {
      const rows = made([1, 2], () => 0);
      expect(rows.flags.subarray(0, rows.length).some(flags => (flags & FLAG.crossed) !== 0)).toBe(false);
      const locked = rowsOfTape(tapeOf(tape => picture(tape, 1000, 5, 101)));
      expect(locked.flags.subarray(0, locked.length).some(flags => (flags & FLAG.crossed) !== 0)).toBe(false);
    });

    test('but none that changes, that is met, or that no picture told again', () => {
      const seconds = Array.from({ length: 30 }, (_, i) => i + 1);
      expect(ghosts(made(seconds, second => second))).toEqual([]);
      const once = tapeOf(tape => {
        picture(tape, 1000, 5);
        for (const at of [2000, 14_000]) tape.trade(at, at, SIDE.buy, price(106), amount(1));
      });
      expect(ghosts(rowsOfTape(once))).toEqual([]);
      const met = tapeOf(tape => {
        for (const second of seconds) {
          picture(tape, 1000 * second, 5, 100);
          tape.trade(
            1000 * second + 500,
            1000 * second + 500,
            SIDE.buy,
            price(second % 5 === 0 ? 101 : 106),
            amount(1),
          );
        }
      });
      expect(ghosts(rowsOfTape(met))).toEqual([]);
    });
  });

  test('are never heard before they happened, nor out of order, whatever the recording says', () => {
    const rows = rowsOfTape(
      tapeOf(tape => {
        tape.level(100, 140, SIDE.buy, price(100), amount(1));
        tape.level(110, 90, SIDE.buy, price(100), amount(2));
        tape.level(200, 205, SIDE.buy, price(100), amount(3));
      }),
      { feed: () => 10 },
    );
    expect(listed(rows).map(row => row.local)).toEqual([140, 140, 210]);
  });

  test('give a trade of unknown side the side that it was nearer to', () => {
    const rows = rowsOfTape(
      tapeOf(tape => {
        tape.level(1, 1, SIDE.buy, price(100), amount(5));
        tape.level(1, 1, SIDE.sell, price(110), amount(5));
        tape.trade(2, 2, SIDE.unknown, price(101), amount(1));
        tape.trade(3, 3, SIDE.unknown, price(109), amount(1));
      }),
    );
    expect(
      listed(rows)
        .filter(row => row.trade)
        .map(row => row.side),
    ).toEqual(['sell', 'buy']);
  });

  test('refuse a tape that has best prices without amounts', () => {
    const tape = { ...tapeOf(builder => builder.level(1, 1, SIDE.buy, price(1), amount(1))), quotesOnly: true };
    expect(() => rowsOfTape(tape)).toThrow(/without amounts/);
  });

  test('leave far prices out of the window and keep what trades in it', () => {
    const rows = rowsOfTape(
      tapeOf(tape => {
        tape.level(1, 1, SIDE.buy, price(1), amount(5));
        tape.level(1, 1, SIDE.sell, price(900_000_000), amount(5));
        tape.level(1, 1, SIDE.sell, price(20_001), amount(5));
        tape.trade(2, 2, SIDE.buy, price(20_001), amount(5));
      }),
    );
    expect(rows.places).toBeLessThan(1 << 22);
    const book = new TickBook(rows);
    for (let i = 0; i < 3; i++) if (rows.flags[i]! & FLAG.sell) book.setAsk(rows.place[i]!, rows.lots[i]!);
    expect(book.ask + rows.base).toBe(20_001);
  });
});

describe('the rows of a tape of single orders', () => {
  const orders = (build: (tape: TapeBuilder) => void) => rowsOfTape(tapeOf(build), { from: 'orders' });

  test('tell an execution before the level that it changed, and leave the trade row out', () => {
    const rows = orders(tape => {
      tape.order(KIND.add, 1, 1, SIDE.sell, price(110), amount(5), 1);
      tape.order(KIND.add, 2, 2, SIDE.sell, price(110), amount(4), 2);
      tape.order(KIND.add, 3, 3, SIDE.buy, price(111), amount(3), 3);
      tape.order(KIND.change, 4, 4, SIDE.sell, price(110), amount(2), 1);
      tape.order(KIND.remove, 4, 4, SIDE.buy, price(111), amount(0), 3);
      tape.trade(4, 4, SIDE.buy, price(110), amount(3), 9);
    });
    expect(listed(rows).map(({ trade, side, tick, lots }) => [trade, side, tick, lots])).toEqual([
      [false, 'sell', 110, 5],
      [false, 'sell', 110, 9],
      [true, 'buy', 110, 3],
      [false, 'sell', 110, 6],
    ]);
    expect([...rows.orders!.born]).toEqual([0, 1, 0, 0]);
    expect([...rows.orders!.executed]).toEqual([0, 0, 1, 1]);
  });

  test('let what is left of a taker rest once it crosses nothing', () => {
    const rows = orders(tape => {
      tape.order(KIND.add, 1, 1, SIDE.sell, price(110), amount(5), 1);
      tape.order(KIND.add, 3, 3, SIDE.buy, price(111), amount(8), 3);
      tape.order(KIND.change, 4, 4, SIDE.buy, price(111), amount(3), 3);
      tape.order(KIND.remove, 4, 4, SIDE.sell, price(110), amount(0), 1);
      tape.trade(4, 4, SIDE.buy, price(110), amount(5), 9);
    });
    expect(listed(rows).at(-1)).toMatchObject({ trade: false, side: 'buy', tick: 111, lots: 3 });
  });

  test('tell a cancel as no execution, and know an order that was there before', () => {
    const rows = orders(tape => {
      tape.order(KIND.add, 1, 1, SIDE.sell, price(110), amount(5), 1);
      tape.order(KIND.remove, 2, 2, SIDE.sell, price(110), amount(5), 1);
      tape.order(KIND.remove, 3, 3, SIDE.buy, price(90), amount(6), 77);
    });
    expect(listed(rows).map(({ trade, tick, lots }) => [trade, tick, lots])).toEqual([
      [false, 90, 6],
      [false, 110, 5],
      [false, 110, 0],
      [false, 90, 0],
    ]);
    expect([...rows.orders!.born]).toEqual([-1, 1, 1, -1]);
  });
});

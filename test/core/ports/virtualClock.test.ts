/** The clock that moves when told, and the dice that fall the same way twice. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exponential, normal, randomOf, sleep, VirtualClock } from '../../../src/core/index.ts';

describe('the virtual clock', () => {
  it('calls timers by due time, and those of equal due time in the order they were set', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 8 }), { maxLength: 40 }),
        fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }),
        (delays, stops) => {
          const clock = new VirtualClock();
          const called: number[] = [];
          const timers = delays.map((ms, n) => clock.after(ms, () => called.push(n)));
          const live = delays
            .map((ms, n) => ({ ms, n }))
            .filter(({ n }) => {
              const isStopped = stops[n]!;
              if (isStopped) timers[n]!.stop();
              return !isStopped;
            });
          const expected = [...live].sort((a, b) => a.ms - b.ms || a.n - b.n).map(({ n }) => n);
          expect(clock.nextDue()).toBe(live.length === 0 ? undefined : Math.min(...live.map(({ ms }) => ms)));
          while (clock.runNext());
          expect(called).toEqual(expected);
          expect(clock.elapsed()).toBe(Math.max(0, ...live.map(({ ms }) => ms)));
        },
      ),
    );
  });

  it('runs timers that timers set, at their own times, and stops at the end of the advance', async () => {
    const clock = new VirtualClock(1000);
    const seen: number[] = [];
    const tick = (): void => {
      seen.push(clock.elapsed());
      clock.after(10, tick);
    };
    clock.after(10, tick);
    await clock.advance(35);
    expect(seen).toEqual([10, 20, 30]);
    expect([clock.elapsed(), clock.now()]).toEqual([35, 1035]);
  });

  it('steps its wall time back and forth while the elapsed time and the timers go on', async () => {
    const clock = new VirtualClock(1_000_000);
    let calls = 0;
    clock.after(10, () => calls++);
    clock.step(-3_600_000);
    expect([clock.now(), clock.elapsed(), clock.nextDue()]).toEqual([1_000_000 - 3_600_000, 0, 10]);
    await clock.advance(10);
    expect(calls).toBe(1);
    clock.step(3_600_000);
    expect(clock.now()).toBe(1_000_010);
  });

  it.each([-5, Number.NaN, 0])('calls a timer of %s ms at once when time moves, before later ones', ms => {
    const clock = new VirtualClock();
    const called: string[] = [];
    clock.after(1, () => called.push('later'));
    clock.after(ms, () => called.push('now'));
    clock.after(2, () => called.push('last'));
    while (clock.runNext());
    expect(called).toEqual(['now', 'later', 'last']);
  });

  it('lets a sleeper sleep its time, or wakes it when the signal aborts, leaving no timer behind', async () => {
    const clock = new VirtualClock();
    const woken: string[] = [];
    const stop = new AbortController();
    void sleep(clock, 10).then(() => woken.push('slept'));
    void sleep(clock, 1000, stop.signal).then(() => woken.push('aborted'));
    await clock.advance(9);
    expect(woken).toEqual([]);
    await clock.advance(1);
    expect(woken).toEqual(['slept']);
    stop.abort();
    await clock.advance(0);
    expect(woken).toEqual(['slept', 'aborted']);
    expect(clock.nextDue()).toBeUndefined();
    await sleep(clock, 1000, stop.signal);
    expect(clock.elapsed()).toBe(10);
  });
});

describe('randomness', () => {
  it('of the same seed is the same, and of another seed is another', () => {
    const draws = (seed: number) => {
      const random = randomOf(seed);
      return Array.from({ length: 20 }, () => [
        random.next(),
        random.integer(1, 6),
        normal(random),
        exponential(random, 3),
      ]);
    };
    fc.assert(
      fc.property(fc.integer(), seed => {
        expect(draws(seed)).toEqual(draws(seed));
        expect(draws(seed)).not.toEqual(draws(seed ^ 1));
      }),
    );
  });

  it('stays within its bounds and reaches both ends of a die', () => {
    const random = randomOf(7);
    const faces = new Set<number>();
    for (let i = 0; i < 1000; i++) {
      const uniform = random.next();
      expect(uniform >= 0 && uniform < 1).toBe(true);
      faces.add(random.integer(1, 6));
      expect(Number.isFinite(normal(random)) && exponential(random, 2) >= 0).toBe(true);
    }
    expect([...faces].sort()).toEqual([1, 2, 3, 4, 5, 6]);
  });
});

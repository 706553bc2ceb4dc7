/** Capacity of the RFQ desk over histories of conversions. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { money, VirtualClock } from '../../../src/core/index.ts';
import { crossesFrom } from '../../../src/sandbox/desks/crossRates.ts';
import { DeskCapacity } from '../../../src/sandbox/desks/deskCapacity.ts';
import { switchesOf } from '../../../src/sandbox/index.ts';
import { runsOf } from '../../many.ts';
import { deskArena } from '../desk.ts';

const { venue } = deskArena().exchange;
const CROSSES = {
  'mxn usd': crossesFrom(venue, 'mxn').get('usd')!,
  'usd mxn': crossesFrom(venue, 'usd').get('mxn')!,
  'btc mxn': crossesFrom(venue, 'btc').get('mxn')!,
};
const names = Object.keys(CROSSES) as (keyof typeof CROSSES)[];

it('the desk takes in any time no more than it holds and what recovers meanwhile, in each direction by itself', () => {
  const step = fc.record({
    name: fc.constantFrom(...names),
    waitMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 0, max: 70_000 })),
    /** Share of what is free, in percent: above 100 is too much. */
    percent: fc.integer({ min: 1, max: 130 }),
  });
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 25 }),
      fc.constantFrom(1_000, 60_000),
      fc.constantFrom(1, 250, 10_000),
      (steps, rfqRefillMs, rfqCapacityPips) => {
        const clock = new VirtualClock(1_790_000_000_000);
        const switches = switchesOf({ rfqRefillMs, rfqCapacityPips });
        const desk = new DeskCapacity(clock);
        const alone = new Map(names.map(name => [name, new DeskCapacity(clock)]));
        const whole = new Map(names.map(name => [name, desk.free(name, CROSSES[name], switches)]));
        const taken: { readonly name: string; readonly at: number; readonly sum: bigint }[] = [];
        for (const { name, waitMs, percent } of steps) {
          clock.after(waitMs, () => undefined);
          clock.runNext();
          const cross = CROSSES[name];
          const free = desk.free(name, cross, switches);
          const sum = money((free * BigInt(percent)) / 100n + 1n);
          expect(desk.take(name, cross, sum, switches)).toBe(sum <= free);
          if (sum <= free) taken.push({ name, at: clock.elapsed(), sum });
          alone.get(name)!.take(name, cross, sum, switches);
          for (const each of names)
            expect(desk.free(each, CROSSES[each], switches)).toBe(alone.get(each)!.free(each, CROSSES[each], switches));
        }
        for (const name of names) {
          const own = taken.filter(each => each.name === name);
          own.forEach((first, i) => {
            let sum = 0n;
            for (const { at, sum: more } of own.slice(i)) {
              sum += more;
              const most = whole.get(name)! * BigInt(rfqRefillMs + at - first.at);
              expect(sum * BigInt(rfqRefillMs) <= most).toBe(true);
            }
          });
        }
        clock.after(rfqRefillMs, () => undefined);
        clock.runNext();
        for (const name of names) expect(desk.free(name, CROSSES[name], switches)).toBe(whole.get(name));
      },
    ),
    runsOf(300, 50),
  );
});

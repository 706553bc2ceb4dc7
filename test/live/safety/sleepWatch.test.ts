import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { booksOf } from '../../../src/config.ts';
import { VirtualClock, type Clock, type Millis } from '../../../src/core/index.ts';
import { SleepWatch } from '../../../src/live/safety/sleepWatch.ts';
import { runsOf } from '../../many.ts';
import { started, worldOf } from '../world.ts';

const SECOND = 1_000;

function hands() {
  const at = { elapsed: 0, wall: 1_000_000 };
  const clock = { now: () => at.wall, elapsed: () => at.elapsed } as unknown as Clock;
  const pass = (elapsed: Millis, wall: Millis = elapsed) => {
    at.elapsed += elapsed;
    at.wall += wall;
  };
  const another = () => new SleepWatch(clock);
  return { watch: another(), another, pass };
}

describe('a process that stood still', () => {
  test.each([
    ['frozen for a minute', 60_000, 60_000, 60_000, true],
    ['frozen for four seconds', 4_000, 4_000, 0, true],
    ['on a machine that was suspended, which only the wall clock shows', 300, 60_300, 60_000, true],
    ['busy for a second', 1_000, 1_000, 0, false],
    ['under a clock that was set back', 500, -3_600_000, 0, false],
    ['under a clock that is drawn along slowly', 500, 501, 0, false],
  ])('%s notices what it must', (_, elapsed, wall, slept, waking) => {
    const { watch, pass } = hands();
    pass(500);
    expect(watch.look()).toBe(0);
    pass(elapsed, wall);
    expect(watch.look()).toBe(slept);
    expect(watch.isWaking).toBe(waking);
    pass(600);
    expect(watch.look()).toBe(0);
    expect(watch.isWaking).toBe(false);
  });

  test('notices each time what a watch that was just born would notice, whatever the clocks did before', () => {
    const turn = fc.tuple(
      fc.constantFrom(100, 300, 499, 500, 1_999, 2_000, 9_999, 10_000, 60_000),
      // Change of the wall clock minus the steady clock: a clock correction, or a suspension of the machine.
      fc.constantFrom(0, 0, 1, 1_999, 2_000, 4_000, 60_000, -1, -2_000, -60_000, -3_600_000),
    );
    fc.assert(
      fc.property(fc.array(turn, { minLength: 2, maxLength: 12 }), turns => {
        const { watch, another, pass } = hands();
        const born: SleepWatch[] = [];
        for (const [elapsed, beyond] of turns) {
          const newest = another();
          pass(elapsed, elapsed + beyond);
          expect(watch.look()).toBe(newest.look());
          born.push(newest);
          expect(watch.isWaking).toBe(born.some(({ isWaking }) => isWaking));
        }
      }),
      runsOf(5_000, 120),
    );
  });
});

/** Clock of a suspended machine: the wall clock jumps, but the steady clock does not. */
class Suspended extends VirtualClock {
  unseen = 0;
  override now(): Millis {
    return super.now() + this.unseen;
  }
}

describe('a bot on a machine that was suspended', () => {
  test.each(['sandbox', 'desk'])(
    'withdraws, and quotes each book again only on what it has read since (%s)',
    async name => {
      const clock = new Suspended();
      const world = worldOf(92, {}, name, clock);
      let isBookLost = false;
      const bot = await started(world, {
        fate: ({ target }) => (isBookLost && target.includes('order_book') ? 'lost' : 'arrives'),
      });
      await clock.advance(20 * SECOND);
      const account = world.box.exchange.venue.accounts.get(world.box.account.id)!;
      const live = () => account.active.size;
      expect(live()).toBeGreaterThan(2);
      [clock.unseen, isBookLost] = [600_000, true];
      const arrived = bot.arrived.length;
      await clock.advance(700);
      expect(bot.log.map(({ text }) => text).join('\n')).toMatch(/process was suspended for 600 s/);
      const first = bot.arrived.slice(arrived).map(({ method }) => method);
      expect(first).toContain('DELETE');
      await clock.advance(2 * SECOND);
      expect(bot.arrived.slice(arrived).map(({ method }) => method)).not.toContain('POST');
      isBookLost = false;
      await clock.advance(30 * SECOND);
      expect(live()).toBeGreaterThan(2);
      const after = bot.arrived.slice(arrived);
      const read = (path: RegExp) => after.findIndex(({ target }) => path.test(target));
      for (const { book } of booksOf(world.config)) {
        const place = after.findIndex(({ method, body }) => method === 'POST' && String(body).includes(`"${book}"`));
        expect(place, book).toBeGreaterThan(-1);
        for (const path of [new RegExp(`order_book.*${book}`), /open_orders/, /user_trades/])
          expect(read(path), `${book} ${path.source}`).toBeLessThan(place);
        expect(read(new RegExp(`order_book.*${book}`)), book).toBeGreaterThan(-1);
      }
      expect((await bot.stop()).summary.ledgerMatches).toBe(true);
      world.end();
    },
  );
});

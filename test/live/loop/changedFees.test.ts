/** Fills that were charged at another fee than the bot's: the fees are read at once, and not again and again in vain. */
import { afterEach, describe, expect, test } from 'vitest';
import { few } from '../../many.ts';
import { started, worldOf, type World } from '../world.ts';

const SECOND = 1_000;
const worlds: World[] = [];
afterEach(() => worlds.splice(0).forEach(world => world.end()));

describe('a fee that changes under a running bot', () => {
  test.each(few([92, 93, 94], 2))('is read within three seconds of the first fill at it (seed %i)', async seed => {
    const world = worldOf(seed);
    worlds.push(world);
    const readsAt: number[] = [];
    const running = await started(world, {
      onArrival: ({ target }) => void (target.includes('/v3/fees') && readsAt.push(world.clock.now())),
    });
    await world.clock.advance(10 * SECOND);
    world.box.exchange.venue.changeBook('btc_mxn', {}, { maker: '0.0044', taker: '0.0066' });
    const told = () => running.log.filter(({ text }) => /was charged 0\.4400% instead of/.test(text));
    const before = readsAt.length;
    let waited = 0;
    for (; told().length === 0 && waited < 280; waited++) await world.clock.advance(SECOND);
    expect(told().length, `no fill within ${waited} s`).toBe(1);
    await world.clock.advance(3 * SECOND);
    expect(readsAt.length).toBe(before + 1);
    expect(running.log.filter(({ text }) => /maker fee .* -> 0\.4400%/.test(text))).toHaveLength(1);
    // The fills from before the change that are listed late ask for nothing more.
    await world.clock.advance(60 * SECOND);
    expect(readsAt.length).toBeLessThanOrEqual(before + 2);
    expect((await running.stop()).summary).toMatchObject({ ledgerMatches: true, openOrdersLeft: 0 });
  });
});

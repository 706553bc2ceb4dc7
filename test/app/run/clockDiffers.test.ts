/** A run whose machine has another time than the exchanges: it says so once for each, and its requests there stay valid. */
import { afterEach, expect, test } from 'vitest';
import { VirtualClock, type Clock } from '../../../src/core/index.ts';
import { openBox } from '../../../src/wiring/embedded.ts';
import { started, worldOf, type World } from '../../live/world.ts';

let world: World | null = null;
afterEach(() => world?.end());

test.each([
  ['ahead of', -7_200_000, '(?:7199|7200) s ahead of'],
  ['behind', 7_200_000, '(?:7199|7200) s behind'],
  ['within a second of', 900, null],
])('a clock %s that of both exchanges is named once for each, and both accounts are read', async (_, aheadMs, said) => {
  const clock = new VirtualClock();
  const ofExchanges: Clock = {
    now: () => clock.now() + aheadMs,
    elapsed: () => clock.elapsed(),
    after: (ms, call) => clock.after(ms, call),
  };
  const plain = worldOf(7, {}, 'elsewhere', clock);
  plain.box.stop();
  const box = openBox(plain.config, ofExchanges, { tapes: [], seed: 7 });
  world = { ...plain, box, end: () => (box.stop(), plain.end()) };
  const run = await started(world);
  await clock.advance(5_000);
  const warned = run.log.filter(({ text }) => /machine's clock/.test(text)).map(({ level, text }) => [level, text]);
  const [here, there] = ['bitso', 'binance'].map(name => [
    'warn',
    expect.stringMatching(new RegExp(`^this machine's clock is ${said} the clock of ${name}; `)) as string,
  ]);
  expect(warned).toEqual(said === null ? [] : [here, there]);
  expect((await run.stop()).summary.halted).toBeUndefined();
});

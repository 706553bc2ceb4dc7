/** RFQ prices in whole runs: asked for no more often than configured, accepted never, and missed by name. */
import { afterEach, expect, test } from 'vitest';
import { replay } from '../../../src/app/inspect/replayCheck.ts';
import { isAccept } from '../../hedge/hedgedWorld.ts';
import { started, worldOf, type World } from '../world.ts';

const worlds: World[] = [];
afterEach(() => worlds.splice(0).forEach(world => world.end()));
/** Every book is thin to it. */
const thin = (): World => {
  const made = worldOf(3, { rfqReference: { amount: '0.01', everyMs: 5_000, thinBps: 0.01, capsSkew: true } });
  worlds.push(made);
  return made;
};

test('a thin book is quoted on beside the RFQ price, which is asked for in time and never accepted; the run replays', async () => {
  const made = thin();
  const running = await started(made);
  await made.clock.advance(60_000);
  const asked = running.arrived.filter(({ target }) => target.endsWith('/rfq/v1/quotes')).length;
  expect(asked).toBeGreaterThan(10);
  expect(asked).toBeLessThanOrEqual(2 * 13);
  const { summary } = await running.stop();
  expect(summary.orders.placed).toBeGreaterThan(0);
  expect(running.arrived.filter(isAccept)).toEqual([]);
  expect(replay(made.stateDir, 'all', () => undefined)).toBe(true);
});

test('without an answer nothing is quoted on it', async () => {
  const made = thin();
  const running = await started(made, { fate: ({ target }) => (target.includes('/rfq/') ? 'lost' : 'arrives') });
  await made.clock.advance(40_000);
  const { summary } = await running.stop();
  expect(summary.orders.placed).toBe(0);
});

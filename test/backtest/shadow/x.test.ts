import { test } from 'vitest';
import { cpSync } from 'node:fs';
import { started, worldOf } from '/work/v-shadow/test/live/world.ts';
test('x', async () => {
  const t = Date.now();
  const world = worldOf(1);
  const running = await started(world);
  for (let s = 0; s < 1200; s++) await world.clock.advance(1000);
  const r = await running.stop();
  console.log(Date.now() - t, r.summary.fills, r.summary.orders, world.config.state.dir);
  cpSync(world.config.state.dir, '/tmp/sh/rec1', { recursive: true });
  world.end();
}, 300000);

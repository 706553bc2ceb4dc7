/** What a newcomer sees of the default configuration, measured in virtual time: when both sides stand, when the first fill comes, what it earns. */
import type { RunResult } from '../../src/app/run/botProcess.ts';
import { started, worldOf } from './world.ts';

export type Demo = RunResult & {
  /** Seconds from the start to the first moment with orders of ours on both sides of the exchange's book; NaN: never. */
  readonly bothSidesAfter: number;
  /** Seconds to the first execution; NaN: never. */
  readonly firstFillAfter: number;
};

export async function demo(
  seed: number,
  seconds: number,
  changes: Parameters<typeof worldOf>[1] = {},
  name = 'sandbox',
): Promise<Demo> {
  const world = worldOf(seed, changes, name);
  const { clock, box } = world;
  const from = clock.now();
  const account = () => box.exchange.venue.accounts.get(box.account.id)!;
  const running = await started(world);
  let bothSidesAfter = Number.NaN;
  for (let second = 0; second < seconds; second++) {
    await clock.advance(1_000);
    const sides = new Set([...account().active.values()].map(order => order.side));
    if (Number.isNaN(bothSidesAfter) && sides.size === 2) bothSidesAfter = (clock.now() - from) / 1_000;
  }
  const result = await running.stop();
  const first = box.exchange.truth().accounts.get(box.account.id)!.trades[0];
  world.end();
  return {
    ...result,
    bothSidesAfter,
    firstFillAfter: first === undefined ? Number.NaN : (first.at - from) / 1_000,
  };
}

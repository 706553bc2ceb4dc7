/** Loaded before a bot that is measured (`node --import`): notes how long each decision takes, by the clock and in processor time, and tells its parent when asked. */
import { isMainThread } from 'node:worker_threads';
import { Engine, type EngineEvent } from '../../src/core/index.ts';

/** Microseconds of each, from the event to its approved commands, in the order in which they were made. */
export type Decisions = { readonly clock: readonly number[]; readonly processor: readonly number[] };

if (isMainThread && process.send !== undefined) {
  let clock: number[] = [];
  let processor: number[] = [];
  const original = Object.getOwnPropertyDescriptor(Engine.prototype, 'step')!;
  const step = original.value as Engine['step'];
  Object.defineProperty(Engine.prototype, 'step', {
    ...original,
    value(this: Engine, event: EngineEvent) {
      // Of all threads of the process: the others sleep while it decides, but for a collector's.
      const used = process.cpuUsage();
      const began = performance.now();
      const commands = step.call(this, event);
      clock.push((performance.now() - began) * 1_000);
      const { user, system } = process.cpuUsage(used);
      processor.push(user + system);
      return commands;
    },
  });
  process.on('message', (asked: { readonly id: number; readonly what: string }) => {
    if (asked.what !== 'decisions') return;
    const answer: Decisions = { clock, processor };
    process.send?.({ id: asked.id, answer });
    [clock, processor] = [[], []];
  });
  process.channel?.unref();
}

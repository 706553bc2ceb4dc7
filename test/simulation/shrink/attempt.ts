/** One try to make a seed fail with less: it counts when the same invariant breaks first. */
import { carryOut, type Task } from '../campaign.ts';
import { classesOf, parseKeep, type Keep, type Part } from '../world/keep.ts';
import type { Strike } from '../world/world.ts';

export type Failure = {
  readonly task: Task;
  readonly law: string;
  readonly what: string;
  readonly atMs: number;
  readonly event: number;
  /** Strikes until it broke. */
  readonly strikes: readonly Strike[];
};

/** Returns null unless the task breaks; with `law` given, unless it breaks that one first. */
export async function attempt(task: Task, law?: string): Promise<Failure | null> {
  const strikes: Strike[] = [];
  const { run } = await carryOut({ ...task, untilBroken: true }, { onStrike: strike => strikes.push(strike) });
  const [first] = run.violations;
  if (!first || run.brokeAt === null || (law !== undefined && first.law !== law)) return null;
  return { task, law: first.law, what: first.what, atMs: first.at, event: run.brokeAt, strikes };
}

/** Parts of a failure that can be left out one by one: its strikes, and classes that work without any. */
export function partsIn({ task, strikes }: Failure): readonly Part[] {
  const keep: Keep = parseKeep(task.keep ?? '');
  const silent = classesOf(keep).filter(fault => keep.get(fault) === null && !strikes.some(one => one.fault === fault));
  return [...silent.map(fault => ({ fault, index: null })), ...strikes.map(({ fault, index }) => ({ fault, index }))];
}

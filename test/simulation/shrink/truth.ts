/**
 * Truth about a planted bug, found without the search for the cause. A fault that is over once it has struck (a lost
 * request) cannot be healed: from the last one that the failure needs, it is settled. A fault that lasts (a full disk)
 * ends by healing: it is settled once the planted change has made a difference under it, as the trace of the same run
 * without it shows. Without any fault it is the violation itself.
 */
import { carryOut, type Task } from '../campaign.ts';
import type { Fault } from '../world/faults.ts';
import { classesOf, parseKeep } from '../world/keep.ts';
import type { Failure } from './attempt.ts';

/** Ended or undone by healing. */
const LASTING: readonly Fault[] = [
  ...(['partitions', 'endpoint partitions', 'lock-outs', 'late books', 'conversion list cut'] as const),
  ...(['frozen book', 'one-sided book', 'crossed book', 'empty book', 'only ours in the book'] as const),
  ...(['late trade records', 'slow matching', 'changed rules', 'disk full', 'freezes', 'sentinel trouble'] as const),
  ...(['crashes at a step', 'crashes in recovery', 'long absences'] as const),
  ...(['removed book', 'suspended trading', 'changed fees'] as const),
];

export type Truth = {
  /** Event in which the last needed fault struck; 0 without one. */
  readonly struck: number;
  /** First event whose trace is another one without the planted bug; that of the violation if there is none. */
  readonly differs: number;
  readonly event: number;
};

export async function truthOf({ task, event, strikes }: Pick<Failure, 'task' | 'event' | 'strikes'>): Promise<Truth> {
  const { planted: _, ...right } = task;
  const [wrong, other] = [await linesOf(task), await linesOf(right)];
  const differs = wrong.find(({ line }, i) => line !== other[i]?.line)?.event ?? event;
  const struck = strikes.at(-1)?.event ?? 0;
  const lasts = classesOf(parseKeep(task.keep ?? '')).some(fault => LASTING.includes(fault));
  const settled = strikes.length === 0 ? event : lasts ? Math.max(struck, differs) : struck;
  return { struck, differs, event: settled };
}

async function linesOf(task: Task): Promise<readonly { readonly line: string; readonly event: number }[]> {
  const lines: { readonly line: string; readonly event: number }[] = [];
  await carryOut({ ...task, untilBroken: true }, { print: (line, event) => lines.push({ line, event }) });
  return lines;
}

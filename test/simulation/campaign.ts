/** Many seeds on several cores, each in a child process that is reused; results come back one by one. */
import { fork, type ChildProcess } from 'node:child_process';
import { FAULTS, type Fault } from './world/faults.ts';
import { PLANTED } from './planted.ts';
import { simulate, type Run, type RunOptions } from './simulate.ts';
import { parseKeep } from './world/keep.ts';
import { parsePlain } from './world/plain.ts';
import { readTable, steering } from './judges/states.ts';

export type Task = {
  readonly seed: number;
  readonly only?: readonly Fault[];
  /** File of the table of pairs that steers the draw of the classes. */
  readonly steer?: string;
  /** Name of a planted bug. */
  readonly planted?: string;
  /** Time with faults, instead of what the seed draws. */
  readonly safetyMs?: number;
  /** As `--keep` and `--plain` take them. */
  readonly keep?: string;
  readonly plain?: string;
  /** Time at which the run is cut off. */
  readonly untilMs?: number;
  /** Ends at the first violation; planted bugs always do. */
  readonly untilBroken?: boolean;
  readonly reloads?: boolean;
  readonly actions?: boolean;
  readonly elsewhere?: boolean;
  readonly books?: boolean;
};

/** `ms` is processor time: what else the machine does is no part of it. */
export type TaskResult = { readonly task: Task; readonly run: Run; readonly ms: number };

/** Carries out one task in this process; `how` watches it, or heals it early. */
export async function carryOut(
  task: Task,
  how: Pick<RunOptions, 'healAfter' | 'onEvent' | 'onStrike' | 'print'> = {},
): Promise<TaskResult> {
  const plant = task.planted === undefined ? undefined : PLANTED.find(one => one.name === task.planted);
  if (task.planted !== undefined && !plant) throw new Error(`no planted bug is called ${task.planted}`);
  const undo = plant?.patch?.();
  const before = process.cpuUsage();
  try {
    const run = await simulate(task.seed, {
      ...how,
      ...onlyOf(task.only ?? plant?.only),
      ...(task.steer === undefined ? {} : { weights: steering(readTable(task.steer)) }),
      ...(task.keep === undefined ? {} : { keep: parseKeep(task.keep) }),
      ...(task.plain === undefined ? {} : { plain: parsePlain(task.plain) }),
      ...(task.untilMs === undefined ? {} : { untilMs: task.untilMs }),
      ...(task.untilBroken === undefined ? {} : { untilBroken: task.untilBroken }),
      ...(task.reloads === true ? { reloads: true } : {}),
      ...(task.actions === true || plant?.actions === true ? { actions: true } : {}),
      ...(task.elsewhere === true || plant?.elsewhere === true ? { elsewhere: true } : {}),
      ...(task.books === true || plant?.books === true ? { books: true } : {}),
      ...(task.safetyMs === undefined ? {} : { safetyMs: task.safetyMs }),
      ...(plant ? { seams: plant.seams(), untilBroken: true } : {}),
    });
    const { user, system } = process.cpuUsage(before);
    return { task, run, ms: (user + system) / 1000 };
  } finally {
    undo?.();
  }
}

const onlyOf = (only: readonly Fault[] | undefined) => (only ? { only } : {});

const COLLECTED_EVERY = 20;

/** What a child does: one task after the other, until the parent goes. */
export function serveTasks(): void {
  let tasks = 0;
  process.on('message', (task: Task) => {
    carryOut(task).then(
      result => {
        // What a seed's database leaves lies outside of the heap, where the collector does not see that it is much.
        if (++tasks % COLLECTED_EVERY === 0) globalThis.gc?.();
        process.send!(result);
      },
      (error: unknown) => {
        console.error(`seed ${task.seed}:`, error);
        process.exit(1);
      },
    );
  });
  process.on('disconnect', () => process.exit(0));
}

/** Runs tasks in `jobs` children. `next` gives the next task or null; results arrive in any order. Rejects when a child breaks. */
export async function runTasks(
  main: string,
  jobs: number,
  next: () => Task | null,
  onResult: (result: TaskResult) => void,
): Promise<void> {
  const children: ChildProcess[] = [];
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const child = fork(main, ['--child'], {
        execArgv: ['--expose-gc'],
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      });
      children.push(child);
      const hand = () => {
        const task = next();
        if (task) child.send(task);
        else {
          child.disconnect();
          resolve();
        }
      };
      child.on('message', (result: TaskResult) => {
        onResult(result);
        hand();
      });
      child.on('exit', code => {
        if (code !== 0) reject(new Error(`a child of the simulation ended with ${code}`));
      });
      hand();
    });
  try {
    await Promise.all(Array.from({ length: jobs }, one));
  } finally {
    for (const child of children) child.kill();
  }
}

/** Fault classes by their place in the list, as `--only` takes them. */
export const classesOf = (numbers: string): readonly Fault[] =>
  numbers === ''
    ? []
    : numbers.split(',').map(text => {
        const fault = FAULTS[Number(text)];
        if (!fault) throw new Error(`--only: no fault class ${text}`);
        return fault;
      });

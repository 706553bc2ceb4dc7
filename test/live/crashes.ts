/** Kills a run in process: its state is copied as a killed process leaves it, and from then on nothing of it reaches the exchange. */
import type { WireRequest } from '../../src/core/index.ts';
import type { Fate } from './inProcess.ts';
import { Folders } from './states.ts';
import { advanceUntil, started, type RunChanges, type Running, type World } from './world.ts';

export type Doomed = {
  readonly running: Running;
  /** The folder that the killed process left, once it is dead. */
  readonly left: () => string | null;
  /** Kills it now. */
  kill(): string;
};

/** Starts a run that dies when `fatal`, or `fatalThere` at the second exchange, says so; the fatal request meets the fate that it names. */
export async function doomed(
  world: World,
  folders: Folders,
  fatal: (request: WireRequest) => Fate | null = () => null,
  changes: RunChanges = {},
  fatalThere: (request: WireRequest) => Fate | null = () => null,
): Promise<Doomed> {
  const dir = (changes.config ?? world.config).state.dir;
  let left: string | null = null;
  const kill = () => (left ??= folders.copyOf(dir));
  const fateOf = (dies: (request: WireRequest) => Fate | null) => (request: WireRequest) => {
    if (left !== null) return 'not sent';
    const fate = dies(request);
    if (fate === null) return 'arrives';
    kill();
    return fate;
  };
  const running = await started(world, { ...changes, fate: fateOf(fatal), fateThere: fateOf(fatalThere) });
  return { running, kill, left: () => left };
}

/** The next start on what a killed run left. */
export const restarted = (world: World, dir: string, changes: RunChanges = {}): Promise<Running> =>
  started(world, { ...changes, config: { ...(changes.config ?? world.config), state: { dir } } });

/** How a start ends that cannot go on; time passes until then. */
export async function failedStart(world: World, dir: string, changes: RunChanges = {}): Promise<unknown> {
  let over = false;
  const ended = restarted(world, dir, changes)
    .then(
      () => null,
      (error: unknown) => error,
    )
    .finally(() => (over = true));
  await advanceUntil(world.clock, 500, () => over);
  return ended;
}

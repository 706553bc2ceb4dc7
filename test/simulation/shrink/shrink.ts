/** Smallest failure that a failing seed contains: fewest faults, plainest configuration, shortest time. */
import type { Task } from '../campaign.ts';
import { swarmOf, type Fault } from '../world/faults.ts';
import { keepOf, keepText, parseKeep, partsOf, type Part } from '../world/keep.ts';
import { PLANTED } from '../planted.ts';
import { PLAINS } from '../world/plain.ts';
import { scenarioOf } from '../world/scenario.ts';
import { attempt, partsIn, type Failure } from './attempt.ts';
import { causeOf, type Cause } from './cause.ts';
import { fewest } from './fewest.ts';

export type Shrunk = { readonly failure: Failure; readonly cause: Cause; readonly tries: number };

/** Lengths of the time of faults that are tried first. */
const SOON_MS = [30_000, 60_000, 120_000, 240_000];
/** With less going wrong the bot does more, and fails sooner or somewhat later. */
const SLACK = { times: 1.25, ms: 30_000 };
/** Strikes of a class that are tried alone where leaving out has left more than three. */
const ALONE_MAX = 40;
const ENOUGH = 3;
/** A failure that is not small by then stays as it is. */
const TRIES_MAX = 400;

/** @throws Error if the task does not fail. */
export async function shrink(failing: Task): Promise<Shrunk> {
  const first = await Shrinking.begin(failing);
  await first.all();
  const second = first.parts.length > ENOUGH ? await otherWay(first) : null;
  return (second !== null && second.parts.length < first.parts.length ? second : first).end();
}

/** Many strikes of a mild class often do what one of another class does: the seed again without the class that has most. */
async function otherWay(first: Shrinking): Promise<Shrinking | null> {
  const count = (fault: Fault): number => first.parts.filter(part => part.fault === fault).length;
  const [most] = first.parts.map(part => part.fault).sort((a, b) => count(b) - count(a));
  const other = await first.without(most!);
  await other?.all();
  return other;
}

class Shrinking {
  readonly #first: Failure;
  #best: Failure;
  #tries = 1;

  private constructor(first: Failure) {
    this.#first = first;
    this.#best = first;
  }

  static async begin({ only, ...task }: Task): Promise<Shrinking> {
    const swarm = swarmOf(task.seed, only);
    const keep = task.keep ?? keepText(keepOf([...swarm.keys()].map(fault => ({ fault, index: null }))));
    const first = await attempt({
      ...{ ...task, keep },
      safetyMs: task.safetyMs ?? scenarioOf(task.seed, swarm).safetyMs,
    });
    if (!first) throw new Error(`seed ${task.seed} does not fail`);
    return new Shrinking(first);
  }

  /** Every later try is shorter by it. */
  async sooner(): Promise<void> {
    for (const safetyMs of SOON_MS) {
      const { task, atMs } = this.#best;
      if (safetyMs < Math.min(task.safetyMs!, atMs) && (await this.#fails({ safetyMs }))) return;
    }
  }

  async all(): Promise<void> {
    await this.sooner();
    await this.classes();
    await this.configuration();
    await this.strikes();
    await this.configuration();
    await this.strikes();
  }

  get parts(): readonly Part[] {
    return partsOf(parseKeep(this.#best.task.keep!));
  }

  /** The failure that it began with, without a class; null when it needs that class. */
  async without(fault: Fault): Promise<Shrinking | null> {
    const parts = partsOf(parseKeep(this.#first.task.keep!)).filter(part => part.fault !== fault);
    const failure = await tried({ ...this.#first.task, keep: keepText(keepOf(parts)) }, this.#first.law);
    return failure && new Shrinking(failure);
  }

  async classes(): Promise<void> {
    await fewest(partsOf(parseKeep(this.#best.task.keep!)), async parts =>
      (await this.#fails({ keep: keepText(keepOf(parts)) })) ? parts : null,
    );
  }

  async strikes(): Promise<void> {
    await this.#failsWith(partsIn(this.#best));
    await this.#lastFew(partsIn(this.#best));
    const parts = await fewest(partsIn(this.#best), fewer => this.#failsWith(fewer));
    if (parts.length > ENOUGH) await this.#oneAlone(parts);
  }

  /** Most failures come soon after what they need. */
  async #lastFew(parts: readonly Part[]): Promise<void> {
    for (let count = 1; count < parts.length; count *= 2) if (await this.#failsWith(parts.slice(-count))) return;
  }

  /** Each setting is put back to its plainest value for as long as it fails. */
  async configuration(): Promise<void> {
    for (const name of PLAINS) {
      const { plain = '', books, planted } = this.#best.task;
      // The settings of several books are in their sections.
      if (books === true || PLANTED.find(one => one.name === planted)?.books === true) return;
      const names = plain === '' ? [] : plain.split(',');
      if (!names.includes(name)) await this.#fails({ plain: [...names, name].join(',') });
    }
  }

  async end(): Promise<Shrunk> {
    const before = this.#tries;
    this.#tries = 0;
    const cause = await causeOf(this.#best);
    // As long with faults as the cause takes, where that is enough without another continuation.
    const safetyMs = cause.isAlways ? 0 : Math.ceil(cause.atMs);
    if (safetyMs < this.#best.task.safetyMs!) await this.#fails({ safetyMs });
    await this.#fails({ untilMs: Math.ceil(this.#best.atMs) });
    // The violation has moved with the time.
    const last = cause.isAlways ? await causeOf(this.#best) : cause;
    return { failure: this.#best, cause: last, tries: before + this.#tries + cause.tries };
  }

  /** A single strike that fails by itself hides among many that only do together. */
  async #oneAlone(parts: readonly Part[]): Promise<void> {
    for (const fault of new Set(parts.map(part => part.fault))) {
      for (let index = 0; index < ALONE_MAX; index++) if (await this.#failsWith([{ fault, index }])) return;
    }
  }

  async #failsWith(parts: readonly Part[]): Promise<readonly Part[] | null> {
    return (await this.#fails({ keep: keepText(keepOf(parts)) })) ? partsIn(this.#best) : null;
  }

  async #fails(change: Partial<Task>): Promise<boolean> {
    const { task, law, atMs } = this.#best;
    if (this.#tries >= TRIES_MAX) return false;
    this.#tries++;
    const untilMs = Math.min(task.untilMs ?? Infinity, Math.ceil(atMs * SLACK.times + SLACK.ms));
    const failure = await tried({ ...task, untilMs, ...change }, law);
    if (failure) this.#best = failure;
    return failure !== null;
  }
}

/** A setting that cannot be had without another one is no failure. */
const tried = (task: Task, law: string): Promise<Failure | null> => attempt(task, law).catch(() => null);

/** Cause of a failure: the first event after which every continuation fails, though nothing else goes wrong. */
import { carryOut, type Task } from '../campaign.ts';
import type { Strike } from '../world/world.ts';
import type { Failure } from './attempt.ts';

export type Cause = {
  /** Every continuation fails from the start, with nothing going wrong: then the event is the violation itself. */
  readonly isAlways: boolean;
  /** Number of the event. */
  readonly event: number;
  readonly atMs: number;
  /** Faults that struck in this event. */
  readonly strikes: readonly Strike[];
  /** First and last line of the trace in this event; where it has none, the last one before it, after the word `after`. */
  readonly line: string;
  readonly tries: number;
};

/** The first continues with the draws of the seed, the others with draws of their own. */
const CONTINUATIONS = 4;
const LINE_MAX = 120;

export async function causeOf(failure: Failure): Promise<Cause> {
  const { untilMs: _, ...task } = failure.task;
  const seen = await watch(failure.task);
  let tries = 1;
  const isInevitable = async (event: number): Promise<boolean> => {
    for (let branch = 0; branch < CONTINUATIONS; branch++) {
      tries++;
      const { run } = await carryOut({ ...task, untilBroken: true }, { healAfter: { event, branch } });
      if (run.violations[0]?.law !== failure.law) return false;
    }
    return true;
  };
  // After the violation itself every continuation has failed.
  let [survives, fails] = [-1, failure.event];
  while (fails - survives > 1) {
    const middle = survives < 0 ? 0 : Math.floor((survives + fails) / 2);
    if (await isInevitable(middle)) fails = middle;
    else survives = middle;
  }
  const isAlways = fails === 0;
  const event = isAlways ? failure.event : fails;
  return { isAlways, event, ...seen(event), tries };
}

type Seen = Pick<Cause, 'atMs' | 'strikes' | 'line'>;

/** Runs a task once more and returns what happened in each of its events. */
async function watch(task: Task): Promise<(event: number) => Seen> {
  const lines: { readonly event: number; readonly line: string }[] = [];
  const strikes: Strike[] = [];
  const timeOf: number[] = [];
  let healed: number | null = null;
  await carryOut(
    { ...task, untilBroken: true },
    {
      onStrike: strike => strikes.push(strike),
      onEvent: atMs => timeOf.push(atMs),
      print: (text, event) => {
        const line = text.trimEnd();
        if (line.endsWith(' heal')) healed = event;
        // Healing happens after the event.
        if (event !== healed) lines.push({ event, line });
      },
    },
  );
  return event => {
    const own = lines.filter(one => one.event === event);
    const before = lines.filter(one => one.event < event);
    return {
      atMs: event === 0 ? 0 : timeOf[event - 1]!,
      strikes: strikes.filter(strike => strike.event === event),
      line: [own[0] ?? { line: `after ${before.at(-1)?.line ?? 'the start'}` }, ...own.slice(1).slice(-1)]
        .map(({ line }) => line.slice(0, LINE_MAX))
        .join(' … '),
    };
  };
}

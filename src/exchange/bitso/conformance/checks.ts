/**
 * Runner and results of conformance checks: each result has name, source, expected answer, found answer and verdict.
 */
import {
  describeRow,
  sleep,
  type Clock,
  type ConformanceCheck,
  type ConformanceOptions,
  type Outcome,
} from '../../../core/index.ts';

/** Name of a check, section of the documents, and expected answer. */
export type Claim = readonly [name: string, source: string, expected: string];

/** Answer of the exchange as text, and whether it is right. `isRight: null` skips the check. */
export type CheckAnswer = { readonly found: string; readonly isRight: boolean | null };

/** Time between two reads of a result that the exchange computes with a delay. */
const AGAIN_MS = 100;
/** Maximum number of reads of a result that the exchange computes with a delay. */
const READS_MAX = 50;

/** Error for an answer other than the success that a check needs. */
class Unanswered extends Error {}

export class Checks {
  readonly done: ConformanceCheck[] = [];
  readonly #clock: Clock;
  readonly #options: Pick<ConformanceOptions, 'tell' | 'isStopped'>;

  constructor(clock: Clock, options: Pick<ConformanceOptions, 'tell' | 'isStopped'>) {
    this.#clock = clock;
    this.#options = options;
  }

  /**
   * Runs one check, and reports its result. After the operator's stop, only a check with `isLast` runs; others are
   * skipped. An error of `answer` fails the check. Returns whether the check passed.
   */
  async check([name, source, expected]: Claim, answer: () => Promise<CheckAnswer>, isLast = false): Promise<boolean> {
    const { found, isRight } =
      !isLast && this.#options.isStopped() ? skipped('stopped by the operator') : await safely(answer);
    const verdict = isRight === null ? 'skipped' : isRight ? 'pass' : 'fail';
    const row: ConformanceCheck = { name, source, expected, found, verdict };
    this.done.push(row);
    this.#options.tell(row);
    return verdict === 'pass';
  }

  /** Checks, for each row, that the exchange rejects the row's call with one of the row's codes. */
  async rejections(
    rows: readonly (readonly [...Claim, codes: readonly string[], call: () => Promise<Outcome<unknown>>])[],
  ) {
    for (const [name, source, expected, codes, call] of rows)
      await this.check([name, source, `${expected}: ${codes.join(' or ')}`], async () =>
        rejectedWith(codes, await call()),
      );
  }

  /** Reads until `isFinal` returns true, for at most five seconds of the clock. Returns the last value. */
  async readUntil<T>(read: () => Promise<Outcome<T>>, isFinal: (value: T) => boolean): Promise<T> {
    let value = valueIn(await read());
    for (let reads = 1; reads < READS_MAX && !isFinal(value); reads++) {
      await sleep(this.#clock, AGAIN_MS);
      value = valueIn(await read());
    }
    return value;
  }
}

async function safely(answer: () => Promise<CheckAnswer>): Promise<CheckAnswer> {
  try {
    return await answer();
  } catch (error) {
    return { found: error instanceof Error ? error.message : String(error), isRight: false };
  }
}

/** Returns an answer that passes. */
export const right = (found: string): CheckAnswer => ({ found, isRight: true });
/** Returns an answer that passes if `isRight`. */
export const judged = (found: string, isRight: boolean): CheckAnswer => ({ found, isRight });
/** Returns an answer that skips the check, with the reason. */
export const skipped = (found: string): CheckAnswer => ({ found, isRight: null });

/** Returns the value of a call. Throws an error with the answer if the call failed or a row is unreadable. */
export function valueIn<T>(outcome: Outcome<T>): T {
  const row = outcome.kind === 'done' ? outcome.unreadable?.[0] : undefined;
  if (outcome.kind === 'done' && row === undefined) return outcome.value;
  throw new Unanswered(row === undefined ? outcomeText(outcome) : `unreadable row: ${describeRow(row)}`);
}

/** Returns the answer of a check that expects a rejection with one of the codes. */
export const rejectedWith = (codes: readonly string[], outcome: Outcome<unknown>): CheckAnswer =>
  judged(outcomeText(outcome), outcome.kind === 'refused' && codes.includes(outcome.code));

/** Describes an outcome without its value. */
export function outcomeText(outcome: Outcome<unknown>): string {
  if (outcome.kind === 'done') return 'accepted';
  return outcome.kind === 'refused'
    ? `rejected with ${outcome.code} (${outcome.message})`
    : `no usable answer (${outcome.reason})`;
}

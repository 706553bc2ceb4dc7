/** Builders of requests from checked values, and joins of their outcomes, for every exchange. */
import { isDecimalText, type DecimalText, type Outcome, type UnreadableRow } from '../../core/index.ts';
import { fault, WireFault } from './wire.ts';

/** Returns a check of text against a shape; the check throws a WireFault on other text. */
export const checked =
  (shape: RegExp, expected: string) =>
  (value: string): string => {
    if (!shape.test(value)) throw fault('argument', expected, value);
    return value;
  };

/** Checks the name of a book. */
export const bookPart = checked(/^[a-z0-9]{1,20}_[a-z0-9]{1,20}$/, 'a book like btc_mxn');

/**
 * Checks unsigned decimal digits, at most 20 before the point and 18 after it; zero is valid. Throws a WireFault on
 * other text.
 */
export function amountPart(value: DecimalText): DecimalText {
  if (!isDecimalText(value)) throw fault('argument', 'decimal digits', value);
  return value;
}

/**
 * Checks an amount above zero, as every order, quote and change needs. Throws a WireFault on zero and on invalid text.
 */
export function positivePart(value: DecimalText): DecimalText {
  if (!/[1-9]/.test(amountPart(value))) throw fault('argument', 'an amount above zero', value);
  return value;
}

/** Returns the digits of a whole number from 1 to `max`. Throws a WireFault on another number. */
export function limitPart(value: number, max: number): string {
  if (!(Number.isSafeInteger(value) && value >= 1 && value <= max)) throw fault('argument', `1 to ${max}`, value);
  return String(value);
}

/**
 * Returns `?a=b&c=d` of the given pairs in order, without undefined values. Does not encode the values, because they
 * are already checked.
 */
export function query(pairs: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(pairs).filter(([, value]) => value !== undefined);
  return given.length === 0 ? '' : `?${given.map(([name, value]) => `${name}=${value ?? ''}`).join('&')}`;
}

/**
 * Splits a list into parts of `size` elements; the last part may be shorter. An empty list has no parts. `size` must be
 * at least 1.
 */
export function chunks<T>(of: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(of.length / size) }, (_, i) => of.slice(i * size, (i + 1) * size));
}

/** Returns a success with its value, and with the unreadable rows if there are any. */
export const doneWith = <T>(value: T, unreadable: readonly UnreadableRow[]): Extract<Outcome<T>, { kind: 'done' }> => ({
  kind: 'done',
  value,
  ...(unreadable.length === 0 ? {} : { unreadable }),
});

/** Reads the content of a successful reply; a content of a wrong shape is an unknown outcome. */
export function readContent<T>(
  content: unknown,
  read: (content: unknown, unreadable: UnreadableRow[]) => T,
): Outcome<T> {
  const unreadable: UnreadableRow[] = [];
  try {
    return doneWith(read(content, unreadable), unreadable);
  } catch (problem) {
    if (problem instanceof WireFault) return { kind: 'unknown', reason: problem.message };
    throw problem;
  }
}

type Failure = Exclude<Outcome<never>, { readonly kind: 'done' }>;

/** Runs a call. An argument that breaks the rules of the interface is a rejection, because nothing was sent for it. */
export async function unlessUnfit<T>(run: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
  try {
    return await run();
  } catch (problem) {
    if (problem instanceof WireFault) return notSent(problem.message);
    throw problem;
  }
}

/** Returns a rejection of a request that was not sent. */
export const notSent = (message: string) => ({ kind: 'refused', code: 'not-sent', message }) as const;

/** Returns the failure of a read before a write as a rejection of the write, which was certainly not sent. */
export const writeNotSent = (failure: Failure, what: string): Extract<Failure, { readonly kind: 'refused' }> =>
  failure.kind === 'refused' ? failure : notSent(`${what} could not be read: ${failure.reason}`);

export type Lists<T> = readonly Outcome<readonly T[]>[];

/**
 * Joins the results of all answered requests; succeeds if at least one was answered. Otherwise returns an unknown
 * outcome rather than a rejected one.
 */
export function anyOf<T>(outcomes: Lists<T>): Outcome<readonly T[]> {
  const answered = outcomes.filter(each => each.kind === 'done');
  if (answered.length > 0 || outcomes.length === 0) return mergeLookUps(answered);
  return outcomes.find(each => each.kind === 'unknown') ?? outcomes[0]!;
}

/** Joins the results if all requests succeeded; otherwise returns the first outcome that is not a success. */
export function allOf<T>(outcomes: Lists<T>): Outcome<readonly T[]> {
  return outcomes.find(each => each.kind !== 'done') ?? mergeLookUps(outcomes.filter(each => each.kind === 'done'));
}

function mergeLookUps<T>(done: readonly Extract<Outcome<readonly T[]>, { kind: 'done' }>[]): Outcome<readonly T[]> {
  return doneWith(
    done.flatMap(each => each.value),
    done.flatMap(each => each.unreadable ?? []),
  );
}

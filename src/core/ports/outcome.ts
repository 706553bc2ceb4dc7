/** How a request to an exchange ended, and what a refusal means, in words that are no exchange's own. */

/** What a refusal means, whatever the exchange's own word for it is. Nothing is ever decided on the word. */
export type Meaning =
  /** An order with this id of ours exists already: our own earlier bytes came through. */
  | 'duplicate id'
  /** The quote was executed before: by our own earlier bytes. */
  | 'executed before'
  /** The book's tick or bounds are others than we know, or it is gone: they are read before anything else is placed. */
  | 'rules'
  /** A nonce that came twice, or a clock that is wrong: the next request may be accepted. If none is, only a person can mend it. */
  | 'nonce'
  /** Nothing is accepted until a person has mended the key, its permissions or the account. */
  | 'person';

/**
 * How a request ended. `done`: answered with success. `refused`: certainly not carried out, with the exchange's code or one of ours.
 * `unknown`: it may or may not have been carried out; never assume either.
 */
export type Outcome<T> =
  | {
      readonly kind: 'done';
      readonly value: T;
      /** Rows of a list that could not be read and are missing in `value`; absent if there are none. */
      readonly unreadable?: readonly UnreadableRow[];
    }
  | {
      readonly kind: 'refused';
      /** For people; the exchange's own, or a `LocalRefusal`. */
      readonly code: string;
      readonly message: string;
      /** HTTP status; absent when nobody answered. */
      readonly status?: number;
      /** Absent: nothing that a bot acts on beyond the refusal itself. */
      readonly meaning?: Meaning;
      /** What a person can do about it, in a clause. */
      readonly remedy?: string;
    }
  | { readonly kind: 'unknown'; readonly reason: string };

/** A row of a list that could not be read, with the parts of its identity that could. */
export type UnreadableRow = {
  /** Row number, field, what was expected and what was found. */
  readonly why: string;
  readonly book?: string;
  /** Currencies that the row is about; absent if not all of them are known. */
  readonly currencies?: readonly string[];
  /** Order id of the exchange. */
  readonly oid?: string;
  /** `null` if the row says that the order has none; absent if that cannot be read. */
  readonly originId?: string | null;
  /** Id of a trade, a transfer or another entry. */
  readonly id?: string;
};

/** One line about the row for a log: its identity and its fault. */
export function describeRow({ why, book, currencies, oid, originId, id }: UnreadableRow): string {
  const parts = [
    ['book', book],
    ['currency', book === undefined ? currencies?.join(' and ') : undefined],
    ['origin id', originId ?? undefined],
    ['oid', oid],
    ['id', id],
  ].flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]));
  return `${why}${parts.length === 0 ? '' : ` (${parts.join(', ')})`}`;
}

/** Refusal codes of our own, beside the exchange's. */
export type LocalRefusal =
  /** No byte of the request left this machine. */
  | 'not-sent'
  /** The request budget did not free a place before the deadline. */
  | 'budget'
  /** The client is closed. */
  | 'closed';

const LOCAL_REFUSALS: readonly string[] = ['not-sent', 'budget', 'closed'] satisfies readonly LocalRefusal[];

/** True when the exchange has not seen the request. */
export const isLocalRefusal = (code: string): boolean => LOCAL_REFUSALS.includes(code);

/** True for a refusal that only a person can mend, for good or where it goes on. */
export const isFatal = (meaning: Meaning | undefined): boolean => meaning === 'person' || meaning === 'nonce';

/** Returns an outcome with another value: `to` of it where it was done. */
export const mapOutcome = <T, U>(outcome: Outcome<T>, to: (value: T) => U): Outcome<U> =>
  outcome.kind === 'done' ? { kind: 'done', value: to(outcome.value) } : outcome;

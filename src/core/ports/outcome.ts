/** Result of a request to an exchange, and the meaning of a rejection independent of the exchange. */

/** Meaning of a rejection, whatever code the exchange uses. Decisions depend only on the meaning, never on the code. */
export type Meaning =
  /** An order with this id exists already: an earlier request of the bot arrived. */
  | 'duplicate id'
  /** The quote was executed by an earlier request of the bot. */
  | 'executed before'
  /** The book's tick or bounds have changed, or the book is gone. The bot reads the rules before it places anything else. */
  | 'rules'
  /** A repeated nonce or a wrong clock. The next request may be accepted; if none is, the operator must fix it. */
  | 'nonce'
  /** The exchange accepts nothing until the operator fixes the key, its permissions or the account. */
  | 'person';

/**
 * Result of a request. `done`: answered with success. `refused`: certainly not executed, with a code of the exchange or
 * a local one. `unknown`: may or may not have been executed; never assume either.
 */
export type Outcome<T> =
  | {
      readonly kind: 'done';
      readonly value: T;
      /** Rows that could not be read and are missing in `value`; absent if there are none. */
      readonly unreadable?: readonly UnreadableRow[];
    }
  | {
      readonly kind: 'refused';
      /** Display-only code of the exchange, or a `LocalRefusal`. */
      readonly code: string;
      readonly message: string;
      /** HTTP status; absent if no answer arrived. */
      readonly status?: number;
      /** Absent if the bot does nothing beyond handling the rejection itself. */
      readonly meaning?: Meaning;
      /** Remedy for the operator, as a clause. */
      readonly remedy?: string;
    }
  | { readonly kind: 'unknown'; readonly reason: string };

/** Unreadable row of a list, with the readable parts of its identity. */
export type UnreadableRow = {
  /** Row number, field, value expected and value found. */
  readonly why: string;
  readonly book?: string;
  /** Currencies of the row; absent unless all are known. */
  readonly currencies?: readonly string[];
  /** Order id of the exchange. */
  readonly oid?: string;
  /** `null` if the order has none; absent if unreadable. */
  readonly originId?: string | null;
  /** Id of a trade, a transfer or another entry. */
  readonly id?: string;
};

/** Describes the row in one log line: fault and identity. */
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

/** Rejection codes that the bot itself produces. */
export type LocalRefusal =
  /** No byte of the request left this machine. */
  | 'not-sent'
  /** The request budget had no free slot before the deadline. */
  | 'budget'
  /** The client is closed. */
  | 'closed';

const LOCAL_REFUSALS: readonly string[] = ['not-sent', 'budget', 'closed'] satisfies readonly LocalRefusal[];

/** Whether the exchange has certainly not seen the request. */
export const isLocalRefusal = (code: string): boolean => LOCAL_REFUSALS.includes(code);

/** Whether only the operator can fix the cause, either now or if the rejection repeats. */
export const isFatal = (meaning: Meaning | undefined): boolean => meaning === 'person' || meaning === 'nonce';

/** Returns an outcome with another value: `to` of it where it was done. */
export const mapOutcome = <T, U>(outcome: Outcome<T>, to: (value: T) => U): Outcome<U> =>
  outcome.kind === 'done' ? { kind: 'done', value: to(outcome.value) } : outcome;

/** Result of a request to an exchange, and the meaning of a rejection in terms that are common to all exchanges. */

/** Meaning of a rejection, independent of the exchange's code. Decisions depend only on the meaning. */
export type Meaning =
  /** An order with this id exists already, because an earlier request of the bot arrived. */
  | 'duplicate id'
  /** An earlier request of the bot executed the quote. */
  | 'executed before'
  /**
   * The book's tick or bounds have changed, or the book no longer exists. The bot reads the rules before it places more
   * orders.
   */
  | 'rules'
  /** A post-only order would have traded immediately. */
  | 'post only'
  /**
   * A repeated nonce or a wrong clock. The next request may be accepted; if all further requests are rejected, the
   * operator must fix the cause.
   */
  | 'nonce'
  /** The exchange accepts no requests until the operator fixes the key, its permissions or the account. */
  | 'person';

/**
 * Result of a request. `done`: answered with success. `refused`: this request was certainly not executed, with a code
 * of the exchange or of the client. `unknown`: may or may not have been executed.
 */
export type Outcome<T> =
  | {
      readonly kind: 'done';
      readonly value: T;
      /** Rows that could not be read and are missing from `value`; absent if none. */
      readonly unreadable?: readonly UnreadableRow[];
    }
  | {
      readonly kind: 'refused';
      /** Code of the exchange, for display only, or a `LocalRefusal`. */
      readonly code: string;
      readonly message: string;
      /** HTTP status; absent if no answer arrived. */
      readonly status?: number;
      /** Meaning of the rejection; absent if the bot needs no special reaction. */
      readonly meaning?: Meaning;
      /** Remedy for the operator, as a clause. */
      readonly remedy?: string;
      /** Present if the exchange may accept a later request without an action of the operator, such as after a rate limit. */
      readonly mayPass?: true;
    }
  | {
      readonly kind: 'unknown';
      readonly reason: string;
      /**
       * Present if the exchange answered that the nonce was not high enough. For a write, this does not prove a
       * rejection, because the answer may be to a copy of the request.
       */
      readonly meaning?: 'nonce';
      /** Remedy for the operator, as a clause. */
      readonly remedy?: string;
    };

/** Row of a list that could not be read. Contains the parts of its identity that are readable. */
export type UnreadableRow = {
  /** Row number, field, expected value and value found. */
  readonly why: string;
  readonly book?: string;
  /** Currencies of the row; absent if any of them is unreadable. */
  readonly currencies?: readonly string[];
  readonly oid?: string;
  /** Origin id; `null` if the order has none, absent if unreadable. */
  readonly originId?: string | null;
  /** Id of a trade, a transfer or another entry. */
  readonly id?: string;
};

/** Describes the row in one log line: the error, then the readable identity. */
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

/** Rejection codes that this program itself produces. */
export type LocalRefusal =
  /** The request was not sent, not even in part. */
  | 'not-sent'
  /** The request budget had no free slot before the deadline. */
  | 'budget'
  /** The book has used its share of a scarce request budget. */
  | 'share'
  /** The client is closed. */
  | 'closed';

/** Configuration section of an exchange: the exchange of the bot, or the exchange of its hedges. */
export type VenueSection = 'exchange' | 'elsewhere';

/**
 * Remedies for rejections by the client itself. Section `elsewhere` has no key for budgets, so its remedies name none.
 */
const LOCAL_REMEDIES: Readonly<Record<VenueSection, Partial<Readonly<Record<LocalRefusal, string>>>>> = {
  exchange: {
    'not-sent': 'check exchange.restUrl, and that the exchange is running and reachable from this machine',
    budget: 'the request budget is used up; wait a minute, or raise exchange.budgets within the limits of the exchange',
  },
  elsewhere: {
    'not-sent': 'check elsewhere.restUrl, and that the exchange is running and reachable from this machine',
    budget: 'the request budget is used up; wait a minute',
  },
};

/** Returns the remedy for a rejection code that Puntas itself sets; `null` for other codes, or if none is known. */
export const localRemedy = (code: string | null, section: VenueSection): string | null =>
  LOCAL_REMEDIES[section][code as LocalRefusal] ?? null;

const LOCAL_REFUSALS: readonly string[] = ['not-sent', 'budget', 'share', 'closed'] satisfies readonly LocalRefusal[];

/** Whether the code is local, so that the exchange has certainly not seen the request. */
export const isLocalRefusal = (code: string): boolean => LOCAL_REFUSALS.includes(code);

/** Whether the operator must fix the cause of a rejection, either immediately or if the rejection repeats. */
export const isFatal = (meaning: Meaning | undefined): boolean => meaning === 'person' || meaning === 'nonce';

type Failure = Exclude<Outcome<unknown>, { readonly kind: 'done' }>;

/** Formats why a request has no value: the code and message of a rejection, or the reason of an unknown outcome. */
export const reasonOfFailure = (outcome: Failure): string =>
  outcome.kind === 'refused' ? `${outcome.code}: ${outcome.message}` : outcome.reason;

/** Formats why a request has no value, with its remedy; `advice` is the remedy if the outcome has none. */
export function textOfFailure(outcome: Failure, advice?: string): string {
  const remedy = outcome.remedy ?? advice;
  return `${reasonOfFailure(outcome)}${remedy === undefined ? '' : `; ${remedy}`}`;
}

/** Returns the outcome with its value, if any, converted by `to`. */
export const mapOutcome = <T, U>(outcome: Outcome<T>, to: (value: T) => U): Outcome<U> =>
  outcome.kind === 'done' ? { kind: 'done', value: to(outcome.value) } : outcome;

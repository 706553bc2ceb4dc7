/** State of one transaction, merged from repeated, unordered events (rfq-and-webhooks 2.5, 2.6). */
import type { Refundable, TransactionEvent, TransactionKind, TransactionStatus } from '../ports/transactionEvents.ts';
import type { Millis } from '../model/units.ts';

/** A value with the `updatedAt` of its event. */
type TimedValue = { readonly value: string; readonly at: Millis };

/**
 * Known state of one transaction. Joining is commutative, associative and idempotent, so order and repetition of events
 * do not matter.
 */
export type TransactionState = {
  readonly id: string;
  readonly kinds: ReadonlySet<TransactionKind>;
  /**
   * Most advanced status. A final status never reverts to an earlier status. If two final statuses were reported, the
   * later status counts, or FAILED if their times are equal.
   */
  readonly status: TimedValue;
  /** All reported final statuses. */
  readonly finals: ReadonlySet<string>;
  /**
   * All other fields by name, each with its newest value as JSON. A later event without a field does not remove that
   * field.
   */
  readonly fields: ReadonlyMap<string, TimedValue>;
  /** State of the refund, which continues even after COMPLETE; null if none is reported. */
  readonly refund: Refund | null;
};

type Refund = {
  readonly status: TimedValue;
  readonly finals: ReadonlySet<string>;
  /** Steps by name and number of the occurrence, because the exchange can retry a step. */
  readonly steps: ReadonlyMap<string, { readonly status: TimedValue; readonly id: TimedValue | null }>;
};

/** Converts one event to the state of its transaction. */
export function transactionFromEvent(event: TransactionEvent): TransactionState {
  const { id, kind, status, updatedAt: at, ...others } = event;
  const { refund, ...fields } = 'refund' in others ? others : { ...others, refund: undefined };
  return {
    id,
    kinds: new Set([kind]),
    status: { value: status, at },
    finals: finalStatuses(status),
    fields: new Map(Object.entries(fields).map(([name, value]) => [name, { value: JSON.stringify(value), at }])),
    refund: refund === undefined ? null : refundOf(refund, at),
  };
}

/** Joins two states of one transaction. */
export function joinTransactions(a: TransactionState, b: TransactionState): TransactionState {
  return {
    id: a.id,
    kinds: union(a.kinds, b.kinds),
    status: furtherStatus(a.status, b.status),
    finals: union(a.finals, b.finals),
    fields: joinMaps(a.fields, b.fields, newerValue),
    refund: joinNullable(a.refund, b.refund, (one, other) => ({
      status: furtherStatus(one.status, other.status),
      finals: union(one.finals, other.finals),
      steps: joinMaps(one.steps, other.steps, (x, y) => ({
        status: furtherStatus(x.status, y.status),
        id: joinNullable(x.id, y.id, newerValue),
      })),
    })),
  };
}

/** Returns contradictions between events, as text for the operator; empty if none. */
export function findContradictions({ kinds, finals, refund }: TransactionState): string[] {
  const said = (what: string, words: ReadonlySet<string>) =>
    words.size > 1 ? [`${what} was reported as ${[...words].sort().join(' and ')}`] : [];
  return [
    ...said('the type', kinds),
    ...said('the final status', finals),
    ...said('the final status of the refund', refund?.finals ?? new Set()),
  ];
}

function refundOf({ status, steps }: NonNullable<Refundable['refund']>, at: Millis): Refund {
  const seen = new Map<string, number>();
  const rows = steps.map(({ step, status: state, id }) => {
    const times = (seen.get(step) ?? 0) + 1;
    seen.set(step, times);
    return [
      `${step} ${times}`,
      { status: { value: state, at }, id: id === undefined ? null : { value: id, at } },
    ] as const;
  });
  return { status: { value: status, at }, finals: finalStatuses(status), steps: new Map(rows) };
}

const RANKS: Readonly<Record<string, number>> = { PENDING: 0, IN_PROGRESS: 1, COMPLETE: 2, FAILED: 2 };
const rankOf = ({ value }: TimedValue): number => RANKS[value] ?? 0;
const finalStatuses = (status: TransactionStatus): ReadonlySet<string> =>
  new Set(status === 'COMPLETE' || status === 'FAILED' ? [status] : []);

/**
 * Returns the newer value. At equal times, returns the value that sorts last, so that order of arrival does not matter.
 * FAILED sorts after COMPLETE.
 */
const newerValue = (a: TimedValue, b: TimedValue): TimedValue =>
  a.at > b.at || (a.at === b.at && a.value >= b.value) ? a : b;
const furtherStatus = (a: TimedValue, b: TimedValue): TimedValue =>
  rankOf(a) === rankOf(b) ? newerValue(a, b) : rankOf(a) > rankOf(b) ? a : b;
const union = <T>(a: ReadonlySet<T>, b: ReadonlySet<T>): ReadonlySet<T> => new Set([...a, ...b]);
const joinNullable = <T>(a: T | null, b: T | null, join: (a: T, b: T) => T): T | null =>
  a === null ? b : b === null ? a : join(a, b);

function joinMaps<T>(a: ReadonlyMap<string, T>, b: ReadonlyMap<string, T>, join: (a: T, b: T) => T): Map<string, T> {
  const joined = new Map(a);
  for (const [name, value] of b) {
    const known = joined.get(name);
    joined.set(name, known === undefined ? value : join(known, value));
  }
  return joined;
}

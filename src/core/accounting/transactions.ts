/** What many tellings of one transaction amount to (rfq-and-webhooks 2.5, 2.6), in whatever order they came. */
import type { Refundable, TransactionEvent, TransactionKind, TransactionStatus } from '../ports/transactionEvents.ts';
import type { Millis } from '../model/units.ts';

/** A value and the `updatedAt` of the event that said so. */
type Told = { readonly value: string; readonly at: Millis };

/**
 * All that is known of one transaction. Joining is commutative, associative and idempotent: any order and repetition of the same events
 * ends in the same state.
 */
export type TransactionState = {
  readonly id: string;
  readonly kinds: ReadonlySet<TransactionKind>;
  /** The furthest: a final status never goes back to one before it; of two final ones the later, and FAILED at the same moment. */
  readonly status: Told;
  /** Every final status that was told. */
  readonly finals: ReadonlySet<string>;
  /** Everything else by name, each as the newest event that has it says, as JSON. A field that a later event leaves out stays. */
  readonly fields: ReadonlyMap<string, Told>;
  /** The refund has a life of its own, also after COMPLETE; null until one is told of. */
  readonly refund: Refund | null;
};

type Refund = {
  readonly status: Told;
  readonly finals: ReadonlySet<string>;
  /** By name and occurrence, because a step can be tried again. */
  readonly steps: ReadonlyMap<string, { readonly status: Told; readonly id: Told | null }>;
};

/** One event as a state. */
export function transactionOf(event: TransactionEvent): TransactionState {
  const { id, kind, status, updatedAt: at, ...others } = event;
  const { refund, ...fields } = 'refund' in others ? others : { ...others, refund: undefined };
  return {
    id,
    kinds: new Set([kind]),
    status: { value: status, at },
    finals: finalsOf(status),
    fields: new Map(Object.entries(fields).map(([name, value]) => [name, { value: JSON.stringify(value), at }])),
    refund: refund === undefined ? null : refundOf(refund, at),
  };
}

/** What two states of one transaction amount to. */
export function joinTransactions(a: TransactionState, b: TransactionState): TransactionState {
  return {
    id: a.id,
    kinds: union(a.kinds, b.kinds),
    status: further(a.status, b.status),
    finals: union(a.finals, b.finals),
    fields: joinMaps(a.fields, b.fields, later),
    refund: either(a.refund, b.refund, (one, other) => ({
      status: further(one.status, other.status),
      finals: union(one.finals, other.finals),
      steps: joinMaps(one.steps, other.steps, (x, y) => ({
        status: further(x.status, y.status),
        id: either(x.id, y.id, later),
      })),
    })),
  };
}

/** What cannot be true of one transaction, for a person to look at; empty when its events agree. */
export function contradictionsOf({ kinds, finals, refund }: TransactionState): string[] {
  const said = (what: string, words: ReadonlySet<string>) =>
    words.size > 1 ? [`${what} is said to be ${[...words].sort().join(' and ')}`] : [];
  return [
    ...said('its type', kinds),
    ...said('its end', finals),
    ...said("its refund's end", refund?.finals ?? new Set()),
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
  return { status: { value: status, at }, finals: finalsOf(status), steps: new Map(rows) };
}

const RANKS: Readonly<Record<string, number>> = { PENDING: 0, IN_PROGRESS: 1, COMPLETE: 2, FAILED: 2 };
const rankOf = ({ value }: Told): number => RANKS[value] ?? 0;
const finalsOf = (status: TransactionStatus): ReadonlySet<string> =>
  new Set(status === 'COMPLETE' || status === 'FAILED' ? [status] : []);

/** The newer; at the same moment the one that sorts last, so that the order of arrival decides nothing. FAILED sorts after COMPLETE. */
const later = (a: Told, b: Told): Told => (a.at > b.at || (a.at === b.at && a.value >= b.value) ? a : b);
const further = (a: Told, b: Told): Told => (rankOf(a) === rankOf(b) ? later(a, b) : rankOf(a) > rankOf(b) ? a : b);
const union = <T>(a: ReadonlySet<T>, b: ReadonlySet<T>): ReadonlySet<T> => new Set([...a, ...b]);
const either = <T>(a: T | null, b: T | null, join: (a: T, b: T) => T): T | null =>
  a === null ? b : b === null ? a : join(a, b);

function joinMaps<T>(a: ReadonlyMap<string, T>, b: ReadonlyMap<string, T>, join: (a: T, b: T) => T): Map<string, T> {
  const joined = new Map(a);
  for (const [name, value] of b) {
    const known = joined.get(name);
    joined.set(name, known === undefined ? value : join(known, value));
  }
  return joined;
}

/** Content of a stored delivery, merged with earlier deliveries about the same transaction. */
import {
  findContradictions,
  joinTransactions,
  transactionFromEvent,
  type TransactionEvent,
  type TransactionState,
  type VenueWebhooks,
} from '../core/index.ts';

export type InboxNews =
  | {
      readonly kind: 'transaction';
      readonly id: string;
      readonly type: TransactionEvent['kind'];
      readonly status: string;
      readonly refund: string | null;
      /** Quote id of a conversion; `null` for other transactions. */
      readonly quoteId: string | null;
      readonly contradictions: readonly string[];
    }
  | { readonly kind: 'unreadable'; readonly why: string };

/** Number of transactions whose state is kept to detect contradictions. */
const STATES_MAX = 10_000;

/**
 * Returns a function that merges events into transactions, and returns `null` for an event that changes nothing. The
 * least recently updated transaction is dropped first.
 */
function transactions(): (event: TransactionEvent) => TransactionState | null {
  const states = new Map<string, TransactionState>();
  return event => {
    const told = transactionFromEvent(event);
    const known = states.get(event.id);
    const state = known === undefined ? told : joinTransactions(known, told);
    states.delete(event.id);
    states.set(event.id, state);
    const [oldest] = states.keys();
    if (states.size > STATES_MAX && oldest !== undefined) states.delete(oldest);
    return known !== undefined && stageOf(known) === stageOf(state) ? null : state;
  };
}

/**
 * Returns the stage of a transaction and of its refund as comparable text. Deliveries that do not change the stage are
 * repeats (rfq-and-webhooks 6, rule 3).
 */
function stageOf({ kinds, status, finals, refund }: TransactionState): string {
  const steps = [...(refund?.steps ?? [])].map(([step, { status: at }]) => `${step}=${at.value}`).sort();
  const ends = [finals, refund?.finals ?? []].map(of => [...of].sort());
  return JSON.stringify([[...kinds].sort(), status.value, refund?.status.value, ends, steps]);
}

/**
 * Returns a reader of deliveries, which must be passed in the order of arrival. The reader returns `null` for a
 * delivery that is not about a transaction or changes nothing.
 */
export function inboxReader(read: VenueWebhooks['read']): (body: Buffer) => InboxNews | null {
  const join = transactions();
  return body => {
    const told = read(body.toString('utf8'));
    if (told.kind === 'unreadable') return { kind: 'unreadable', why: told.reason };
    if (told.kind !== 'transaction') return null;
    const state = join(told.event);
    if (state === null) return null;
    return {
      kind: 'transaction',
      id: told.event.id,
      type: told.event.kind,
      status: state.status.value,
      refund: state.refund?.status.value ?? null,
      quoteId: told.event.kind === 'CONVERSION' ? told.event.quoteId : null,
      contradictions: findContradictions(state),
    };
  };
}

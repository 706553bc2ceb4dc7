/** Execution of one approved command; its outcome is an event for the engine. */
import {
  textOfAmount,
  textOfPrice,
  type Approved,
  type Command,
  type Engine,
  type EngineEvent,
  type Exchange,
  type Instrument,
  type Millis,
  type OrderReport,
  type Outcome,
} from '../../core/index.ts';
import { unreadableOf, withoutContradictions } from '../unreadableRows.ts';
import type { Failed } from '../failedRequest.ts';

export type Sent = {
  readonly event: EngineEvent;
  /** Name of the request in logs. */
  readonly what: string;
  /** Failure of the request; `null` if it succeeded. */
  readonly failed: Failed | null;
};

/** Sends one command that the risk gate has approved. Never rejects because of the exchange or the network. */
export async function send(
  command: Approved<Command>,
  at: {
    readonly exchange: Exchange;
    readonly book: string;
    readonly instrument: Instrument;
    readonly time: () => Millis;
    /** Returns whether orders may still be placed. Called just before an order is sent. */
    readonly mayPlace: () => boolean;
    /**
     * Engine that knows the oids of the bot's orders. A row of a look-up that contradicts a known oid is unreadable.
     */
    readonly engine?: Pick<Engine, 'order'>;
  },
): Promise<Sent> {
  const { exchange, book, instrument, time, mayPlace, engine } = at;
  const startedAt = time();
  switch (command.kind) {
    case 'place': {
      const order = {
        book,
        side: command.side,
        price: textOfPrice(instrument, command.price),
        major: textOfAmount(instrument, command.amount),
        originId: command.id,
        timeInForce: command.takes ? 'immediate or cancel' : 'post only',
      } as const;
      const outcome = await exchange.place(order, mayPlace);
      const event = { kind: 'placed', at: time(), id: command.id, outcome } as const;
      return { event, what: 'place', failed: failureOf(outcome) };
    }
    case 'cancel': {
      const { ids } = command;
      const outcome = await exchange.cancel({ originIds: ids });
      const event = { kind: 'canceled', at: time(), startedAt, ids, outcome: withoutUnreadable(outcome) } as const;
      return { event, what: 'cancel', failed: failureOf(outcome) };
    }
    case 'look': {
      const { ids } = command;
      const answer = await exchange.lookUp({ originIds: ids });
      const outcome =
        answer.kind === 'done'
          ? { ...answer, ...withoutContradictions(answer, { oidOf: id => engine?.order(id)?.oid ?? null }) }
          : answer;
      const event = {
        kind: 'looked up',
        at: time(),
        startedAt,
        ids: answeredIds(ids, outcome),
        outcome: withoutUnreadable(outcome),
      } as const;
      return { event, what: 'look up', failed: failureOf(outcome) };
    }
  }
}

const failureOf = (outcome: Outcome<unknown>): Failed | null => (outcome.kind === 'done' ? null : outcome);

/**
 * Returns the ids for which the answer is complete. An unreadable row makes the answer incomplete for its order, or for
 * all unlisted orders if the row has no id.
 */
function answeredIds(ids: readonly string[], outcome: Outcome<readonly OrderReport[]>): readonly string[] {
  const unreadable = unreadableOf(outcome);
  if (outcome.kind !== 'done' || unreadable.length === 0) return ids;
  const listed = new Set(outcome.value.map(({ originId }) => originId));
  if (unreadable.some(({ originId }) => typeof originId !== 'string')) return ids.filter(id => listed.has(id));
  const isUnreadable = new Set(unreadable.map(({ originId }) => originId));
  return ids.filter(id => !isUnreadable.has(id));
}

/** Removes the unreadable rows, because the engine and recordings do not use them. */
const withoutUnreadable = <T>(outcome: Outcome<T>): Outcome<T> =>
  outcome.kind === 'done' ? { kind: 'done', value: outcome.value } : outcome;

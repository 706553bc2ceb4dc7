/** Carries out one approved command and tells how it ended, as an event for the engine. */
import { textOfAmount, textOfPrice } from '../../core/index.ts';
import type { Approved, Command, EngineEvent, Exchange, Instrument, Millis, Outcome } from '../../core/index.ts';
import type { Failed } from '../failed.ts';

export type Sent = {
  readonly event: EngineEvent;
  /** Names the request in logs. */
  readonly what: string;
  /** How it ended, unless it was done. */
  readonly failed: Failed | null;
};

/** The exchange takes nothing that the risk gate has not approved. Never rejects for what the world does. */
export async function send(
  command: Approved<Command>,
  at: {
    readonly exchange: Exchange;
    readonly book: string;
    readonly instrument: Instrument;
    readonly time: () => Millis;
    /** Whether orders may still be placed, asked when one's turn has come. */
    readonly mayPlace: () => boolean;
  },
): Promise<Sent> {
  const { exchange, book, instrument, time, mayPlace } = at;
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
      const event = { kind: 'canceled', at: time(), startedAt, ids, outcome } as const;
      return { event, what: 'cancel', failed: failureOf(outcome) };
    }
    case 'look': {
      const { ids } = command;
      const outcome = await exchange.lookUp({ originIds: ids });
      const event = { kind: 'looked up', at: time(), startedAt, ids, outcome } as const;
      return { event, what: 'look up', failed: failureOf(outcome) };
    }
  }
}

const failureOf = (outcome: Outcome<unknown>): Failed | null => (outcome.kind === 'done' ? null : outcome);

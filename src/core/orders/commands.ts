/** What may be asked of the exchange. Placements become approved in the risk gate alone; what takes orders out, or looks, is never refused. */
import type { Amount, Price, Side } from '../model/units.ts';

export type PlaceCommand = {
  readonly kind: 'place';
  readonly id: string;
  readonly side: Side;
  readonly price: Price;
  readonly amount: Amount;
  /** It may trade at once, and what of it does not is gone; without, it never does. */
  readonly takes?: true;
};
/** Cancels orders by their origin ids; at most `CANCEL_CHUNK` of them, so that the request's address stays short. */
export type CancelCommand = { readonly kind: 'cancel'; readonly ids: readonly string[] };
/** Asks the exchange what became of orders. */
export type LookCommand = { readonly kind: 'look'; readonly ids: readonly string[] };
export type Command = PlaceCommand | CancelCommand | LookCommand;

declare const approved: unique symbol;
/** A command that passed the gate. Nothing else may be sent. */
export type Approved<C extends Command> = C & { readonly [approved]: true };

export const CANCEL_CHUNK = 50;

/** Cancels and look-ups are never refused; they are cut into chunks. */
export function approveByIds<K extends 'cancel' | 'look'>(
  kind: K,
  ids: readonly string[],
): Approved<Command & { kind: K }>[] {
  const chunks: Approved<Command & { kind: K }>[] = [];
  for (let i = 0; i < ids.length; i += CANCEL_CHUNK) {
    chunks.push({ kind, ids: ids.slice(i, i + CANCEL_CHUNK) } as unknown as Approved<Command & { kind: K }>);
  }
  return chunks;
}

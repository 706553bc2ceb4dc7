/** Commands to the exchange. Only the risk gate approves placements; cancels and look-ups need no check. */
import type { Amount, Price, Side } from '../model/units.ts';

export type PlaceCommand = {
  readonly kind: 'place';
  readonly id: string;
  readonly side: Side;
  readonly price: Price;
  readonly amount: Amount;
  /**
   * If true, the order may trade immediately, and the unfilled amount is canceled. If absent, the order is post-only.
   */
  readonly takes?: true;
};
/** Cancels orders by origin id; at most `CANCEL_CHUNK` per request, which keeps the URL short. */
export type CancelCommand = { readonly kind: 'cancel'; readonly ids: readonly string[] };
/** Queries the state of orders. */
export type LookCommand = { readonly kind: 'look'; readonly ids: readonly string[] };
export type Command = PlaceCommand | CancelCommand | LookCommand;

declare const approved: unique symbol;
/** Command that the risk gate approved, or that needs no approval. No other command may be sent. */
export type Approved<C extends Command> = C & { readonly [approved]: true };

export const CANCEL_CHUNK = 50;

/** Approves cancels or look-ups without a check, in chunks. */
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

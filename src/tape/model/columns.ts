/** Rows of a recording as columns, and the codes of kinds and sides. */
import type { Side } from '../../core/index.ts';

/**
 * Kind of a row.
 * - `clear` starts a new snapshot of the book; the `level` rows after it are the snapshot.
 * - `level` sets the absolute amount at a price; 0 removes the level.
 * - `add`, `change` and `remove` concern one resting order, identified by its id. `change` has the remaining amount,
 *   `remove` the amount that remained: 0 if the order was filled.
 * - `trade` is one execution; its side is the taker's.
 */
export const KIND = { clear: 0, level: 1, trade: 2, add: 3, change: 4, remove: 5 } as const;
export type Kind = (typeof KIND)[keyof typeof KIND];

export const SIDE = { buy: 0, sell: 1, unknown: 2 } as const;
export type SideCode = (typeof SIDE)[keyof typeof SIDE];
/** Returns the code of a side. The code `unknown` is only for recordings without sides. */
export const sideCodeOf = (side: Side): SideCode => (side === 'buy' ? SIDE.buy : SIDE.sell);

export type Columns = {
  readonly length: number;
  readonly kind: Uint8Array;
  readonly side: Uint8Array;
  /** Exchange time in ms, never decreasing; the receive time if the exchange gave no time. */
  readonly at: Float64Array;
  /** Receive time in ms as recorded; the exchange time if the recording has no receive time. */
  readonly local: Float64Array;
  readonly price: Float64Array;
  readonly amount: Float64Array;
  /** Order id of per-order rows, trade id of trades; 0 for rows without an id. */
  readonly id: Float64Array;
};

export const COLUMN_NAMES = ['kind', 'side', 'at', 'local', 'price', 'amount', 'id'] as const;

/** The rows of a recording as columns, and the codes that stand in them. */
import type { Side } from '../../core/index.ts';

/**
 * What a row says. `clear` begins a whole new snapshot of the book: the `level` rows that follow it are all there is.
 * `level` sets the absolute amount at a price, 0 removes it. `add`, `change` (to the amount left) and `remove` (with the
 * amount that was left: 0 when it was filled) concern one resting order, named by its id. `trade` is one execution; its side is the taker's.
 */
export const KIND = { clear: 0, level: 1, trade: 2, add: 3, change: 4, remove: 5 } as const;
export type Kind = (typeof KIND)[keyof typeof KIND];

export const SIDE = { buy: 0, sell: 1, unknown: 2 } as const;
export type SideCode = (typeof SIDE)[keyof typeof SIDE];
/** Never `unknown`: that is for recordings that do not tell the side. */
export const sideCodeOf = (side: Side): SideCode => (side === 'buy' ? SIDE.buy : SIDE.sell);

export type Columns = {
  readonly length: number;
  readonly kind: Uint8Array;
  readonly side: Uint8Array;
  /** Exchange time, never going back. Where the exchange gave none, the receive time. */
  readonly at: Float64Array;
  /** Receive time as recorded. Where the recording has none, the exchange time. */
  readonly local: Float64Array;
  readonly price: Float64Array;
  readonly amount: Float64Array;
  /** Order id of per-order rows, trade id of trades; 0 when there is none. */
  readonly id: Float64Array;
};

export const COLUMN_NAMES = ['kind', 'side', 'at', 'local', 'price', 'amount', 'id'] as const;

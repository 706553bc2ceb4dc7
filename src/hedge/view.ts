/** What a hedger is shown of the bot: one view of one moment, made by whoever drives it, in which nothing changes afterwards. */
import { money, quotingRefusal, roomOf } from '../core/index.ts';
import type {
  Depth,
  Engine,
  Instrument,
  Millis,
  Money,
  RiskLimits,
  RiskRefusal,
  Side,
  Snapshot,
} from '../core/index.ts';

/** Money in 10^-18. */
export type HedgeView = {
  readonly instrument: Instrument;
  /** Of our own orders that take, in parts of 10^-8. */
  readonly takerRate: number;
  readonly limits: RiskLimits | null;
  /** Why nothing is quoted: at the last decision, or because of what is so by now. Null: the book is to go by. */
  readonly refusal: RiskRefusal | null;
  /** The balances equalled the ledger since the start, and since a person last resumed. */
  readonly isReconciled: boolean;
  /** Major beyond its target; below zero: short of it. */
  readonly inventory: Money;
  /** The price of one major in the middle of the book, without our own orders. */
  readonly mid: Money;
  /** The same book's levels. */
  readonly depth: Readonly<Depth>;
  readonly sides: Readonly<Record<Side, SideRoom>>;
  readonly balances: BalancesSeen;
};

/** How much may leave by a side. */
export type SideRoom = {
  /** What is given for it (major when sold, minor when bought) and not in an order of ours that may still take it. Below zero when too much is. */
  readonly free: Money;
  /** Lots by which the worst case may still grow: everything of ours that may live could fill. Never below zero. */
  readonly room: number;
};

/** The last read of the balances beside the ledger. */
export type BalancesSeen = {
  /** When it began, in the engine's time. */
  readonly at: Millis;
  /** Reported minus ours, of the currencies in which that is not zero. */
  readonly differences: readonly { readonly currency: string; readonly difference: Money }[];
};

/** What a driver has beside the engine. */
type Beside = Pick<HedgeView, 'instrument' | 'takerRate'> & { readonly balancesAt: Millis };

/** The view of the moment `at`, in the engine's time. */
export function hedgeViewOf(
  engine: Pick<Engine, 'snapshot' | 'riskContext'> & {
    readonly account: Pick<Engine['account'], 'differences' | 'isReconciled'>;
  },
  { instrument, takerRate, balancesAt }: Beside,
  at: Millis,
): HedgeView {
  const snapshot = engine.snapshot(at);
  const riskContext = engine.riskContext(at);
  const sideOf = (side: Side): SideRoom => ({
    free: freeOf(instrument, snapshot, side),
    room: Math.max(0, roomOf(side, riskContext)),
  });
  return {
    instrument,
    takerRate,
    limits: riskContext.limits,
    // What was so at the last decision need not be so now: a book that has lost a side has no middle.
    refusal: snapshot.quoting ?? quotingRefusal(riskContext),
    isReconciled: engine.account.isReconciled,
    inventory: snapshot.inventory,
    mid: money(((BigInt(snapshot.bid) + BigInt(snapshot.ask)) * instrument.tickMoney) / 2n),
    depth: copyOf(riskContext.depth),
    sides: { buy: sideOf('buy'), sell: sideOf('sell') },
    balances: { at: balancesAt, differences: engine.account.differences() },
  };
}

function freeOf({ major, minor, ...instrument }: Instrument, { orders, holdings }: Snapshot, side: Side): Money {
  const sells = side === 'sell';
  let locked = 0n;
  for (const order of orders) {
    if (order.side !== side) continue;
    const lots = BigInt(order.amount - order.filled);
    locked += sells ? lots * instrument.lotMoney : lots * BigInt(order.price) * instrument.tickLotMoney;
  }
  return money((holdings.get(sells ? major : minor) ?? 0n) - locked);
}

/** The engine's own is written over by the next book. */
const copyOf = ({ bidPrices, bidAmounts, askPrices, askAmounts, bids, asks }: Readonly<Depth>): Readonly<Depth> => ({
  bidPrices: bidPrices.slice(0, bids),
  bidAmounts: bidAmounts.slice(0, bids),
  askPrices: askPrices.slice(0, asks),
  askAmounts: askAmounts.slice(0, asks),
  bids,
  asks,
});

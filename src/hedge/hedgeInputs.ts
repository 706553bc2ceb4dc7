/** Inputs of the hedger: an immutable view of the bot at one time. */
import {
  money,
  hedgeRoomLeft,
  takerPriceBound,
  takingRefusal,
  type Depth,
  type BookEngine,
  type Engine,
  type Instrument,
  type Millis,
  type Money,
  type Price,
  type RiskLimits,
  type RiskRefusal,
  type Side,
  type Snapshot,
} from '../core/index.ts';

/** The bot at one time, as the hedger sees it; sums of money are in units of 10^-18. */
export type HedgeInputs = {
  readonly instrument: Instrument;
  /** Fee rate of the bot's taker orders, in 10^-8. */
  readonly takerRate: number;
  readonly limits: RiskLimits | null;
  /** Reason why the bot cannot hedge, from the last decision or the current data; `null` if the bot can hedge. */
  readonly refusal: RiskRefusal | null;
  /** Whether balances have equaled the ledger at least once since the start or, if later, the last resume. */
  readonly isReconciled: boolean;
  /** Held amount of the base currency minus the inventory target; negative below the target. */
  readonly inventory: Money;
  /** Mid price of one unit of the base currency, from the book without the bot's orders. */
  readonly mid: Money;
  /** Levels of the book from which `mid` was computed. */
  readonly depth: Readonly<Depth>;
  readonly sides: Readonly<Record<Side, SideRoom>>;
  readonly balances: BalancesSeen;
};

/** Capacity for hedging on one side. */
export type SideRoom = {
  /**
   * Funds for a hedge on this side that no order of the bot may still use: base currency for a sell, quote currency for
   * a buy. Negative if orders need more than the balance.
   */
  readonly free: Money;
  /**
   * Lots by which a hedge may still grow the position, assuming that every order that may be live and every pending
   * conversion fills. The bounds on hedge debt can reduce the lots further. Never negative.
   */
  readonly room: number;
  /** Worst price of a taker order on this side that the risk gate approves, in ticks; the collar may be nearer. */
  readonly priceBound: Price;
};

/** Latest balance read, compared with the ledger. */
export type BalancesSeen = {
  /** Start of the read, in engine time. */
  readonly at: Millis;
  /** Reported balance minus ledger balance, for each currency with a difference. */
  readonly differences: readonly { readonly currency: string; readonly difference: Money }[];
};

/**
 * Data that the caller supplies, because the engine does not have it. `balancesAt` is the start of the last balance
 * read.
 */
type DriverData = Pick<HedgeInputs, 'instrument' | 'takerRate'> & { readonly balancesAt: Millis };

/** Creates the view at `at`, in engine time. */
export function hedgeInputsOf(
  engine: {
    readonly book: Pick<BookEngine, 'snapshot' | 'riskContext'>;
    readonly account: Pick<Engine['account'], 'differences' | 'isReconciled'>;
  },
  { instrument, takerRate, balancesAt }: DriverData,
  at: Millis,
): HedgeInputs {
  const snapshot = engine.book.snapshot(at);
  const riskContext = engine.book.riskContext(at);
  const sideOf = (side: Side): SideRoom => ({
    free: freeOf(instrument, snapshot, side),
    room: hedgeRoomLeft(side, riskContext),
    priceBound: takerPriceBound(side, riskContext),
  });
  return {
    instrument,
    takerRate,
    limits: riskContext.limits,
    // The last decision may be outdated, so the current reason is checked too: an empty side of the book, for example,
    // leaves no mid price. A missing price of other exchanges is ignored, because inventory is reduced at prices of
    // this book.
    refusal: (snapshot.quoting === 'no live price' ? null : snapshot.quoting) ?? takingRefusal(riskContext),
    isReconciled: engine.account.isReconciled,
    inventory: snapshot.booked.inventory,
    mid: money(((BigInt(snapshot.bid) + BigInt(snapshot.ask)) * instrument.tickMoney) / 2n),
    depth: copyOf(riskContext.depth),
    sides: { buy: sideOf('buy'), sell: sideOf('sell') },
    balances: { at: balancesAt, differences: engine.account.differences() },
  };
}

function freeOf(
  { major, minor, ...instrument }: Instrument,
  { orders, booked: { holdings } }: Snapshot,
  side: Side,
): Money {
  const sells = side === 'sell';
  let locked = 0n;
  for (const order of orders) {
    if (order.side !== side) continue;
    const lots = BigInt(order.amount - order.filled);
    locked += sells ? lots * instrument.lotMoney : lots * BigInt(order.price) * instrument.tickLotMoney;
  }
  return money((holdings.get(sells ? major : minor) ?? 0n) - locked);
}

/** Copies the depth, because the engine overwrites its own depth with the next book. */
const copyOf = ({ bidPrices, bidAmounts, askPrices, askAmounts, bids, asks }: Readonly<Depth>): Readonly<Depth> => ({
  bidPrices: bidPrices.slice(0, bids),
  bidAmounts: bidAmounts.slice(0, bids),
  askPrices: askPrices.slice(0, asks),
  askAmounts: askAmounts.slice(0, asks),
  bids,
  asks,
});

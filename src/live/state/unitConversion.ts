/** Conversion of a stored state from its units to the current units of the book. */
import {
  amountCeil,
  instrumentOf,
  LOT,
  money,
  moneyOfAmount,
  storedTarget,
  targetMoney,
  textOfAmount,
  textOfMoney,
  textOfPrice,
  worstPrice,
  type Amount,
  type DecimalText,
  type Instrument,
  type RestoredLedger,
  type RestoredOrder,
} from '../../core/index.ts';

/** Tick and lot of a state's prices and amounts. */
export type StateUnits = { readonly tick: DecimalText; readonly lot: DecimalText };

type Left = { readonly orders: readonly RestoredOrder[]; readonly ledger: RestoredLedger | null };

/**
 * Converts the state of an earlier run to the current units of the book. Prices are rounded up for buys and down for
 * sells, and amounts are rounded up; filled amounts stay exact. `written` is `null` for a state of an older Puntas,
 * whose amounts are in units of 10^-8.
 * @throws RangeError with the order or inventory target that the book's units cannot represent.
 */
export function inUnitsOf<T extends Left>(leftovers: T, written: StateUnits | null, to: Instrument): T {
  const { tick, lot } = written ?? { tick: to.tick, lot: LOT };
  if (tick === to.tick && lot === to.lot) return leftovers;
  const from = unbounded(to.symbol, tick, lot);
  return {
    ...leftovers,
    orders: leftovers.orders.map(order => converted(order, from, to)),
    ledger: leftovers.ledger && withTargetIn(leftovers.ledger, from, to),
  };
}

/** Returns an instrument with the given tick and lot, and without limits on prices and amounts. */
const unbounded = (book: string, tickSize: DecimalText, lot: DecimalText): Instrument =>
  instrumentOf(
    {
      ...{ book, tickSize, minimumAmount: lot, maximumAmount: lot, minimumPrice: tickSize, maximumPrice: tickSize },
      ...{ minimumValue: '0', maximumValue: '0' },
    },
    lot,
  );

function converted(order: RestoredOrder, from: Instrument, to: Instrument): RestoredOrder {
  const filled = moneyOfAmount(from, order.filled) + (order.filledRest ?? 0n);
  const rest = money(filled % to.lotMoney);
  try {
    return {
      ...order,
      price: worstPrice(to, order.side, textOfPrice(from, order.price)),
      amount: amountCeil(to, textOfAmount(from, order.amount)),
      filled: Number(filled / to.lotMoney) as Amount,
      ...(rest > 0n || order.filledRest !== undefined ? { filledRest: rest } : {}),
    };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new RangeError(
      `order ${order.id} of an earlier run cannot be expressed in the current units of ${to.symbol} (tick size ${to.tick}, lot size ${to.lot}): ${error.message}`,
    );
  }
}

function withTargetIn(ledger: RestoredLedger, from: Instrument, to: Instrument): RestoredLedger {
  const { targetRest: _, ...others } = ledger;
  const target = targetMoney(from, ledger);
  const stored = storedTarget(to, target);
  if (Number.isSafeInteger(stored.target)) return { ...others, ...stored };
  throw new RangeError(
    `the inventory target in the ledger, ${textOfMoney(target)}, cannot be expressed in lots of ${to.lot}`,
  );
}

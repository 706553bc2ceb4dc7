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

type Left = {
  readonly orders: readonly RestoredOrder[];
  readonly ledger: RestoredLedger | null;
  /** Units of each book but the first, by symbol. */
  readonly bookUnits?: Readonly<Record<string, StateUnits>>;
};

/**
 * Converts the state of an earlier run to the current units of the book. Prices are rounded up for buys and down for
 * sells, and amounts are rounded up; filled amounts stay exact. `written` is `null` for a state of an older Puntas,
 * whose amounts are in units of 10^-8. `others` are the other books; each order is converted to the units of its book.
 * @throws RangeError with the order or inventory target that the book's units cannot represent, or with an order in a
 * book that this run does not have.
 */
export function inUnitsOf<T extends Left>(
  leftovers: T,
  written: StateUnits | null,
  to: Instrument,
  others: readonly Instrument[] = [],
): T {
  const orders = leftovers.orders.map(order => inUnitsOfBook(order, leftovers.bookUnits ?? {}, to, others));
  return inUnitsOfFirst(
    orders.some((order, i) => order !== leftovers.orders[i]) ? { ...leftovers, orders } : leftovers,
    written,
    to,
  );
}

/** Converts an order in a book other than the first. Returns an order in the first book unchanged. */
function inUnitsOfBook(
  order: RestoredOrder,
  written: Readonly<Record<string, StateUnits>>,
  first: Instrument,
  others: readonly Instrument[],
): RestoredOrder {
  const { symbol = first.symbol } = order;
  if (symbol === first.symbol) return order;
  const to = others.find(book => book.symbol === symbol);
  if (to === undefined)
    throw new RangeError(
      `order ${order.id} of an earlier run is in ${symbol}, which this bot does not quote; start the bot once with ${symbol} in books, so that it settles the order`,
    );
  const { tick, lot } = written[symbol] ?? to;
  return tick === to.tick && lot === to.lot ? order : converted(order, unbounded(symbol, tick, lot), to);
}

/** Converts the orders of the first book, and its target. */
function inUnitsOfFirst<T extends Left>(leftovers: T, written: StateUnits | null, to: Instrument): T {
  const { tick, lot } = written ?? { tick: to.tick, lot: LOT };
  if (tick === to.tick && lot === to.lot) return leftovers;
  const from = unbounded(to.symbol, tick, lot);
  return {
    ...leftovers,
    orders: leftovers.orders.map(order =>
      (order.symbol ?? to.symbol) === to.symbol ? converted(order, from, to) : order,
    ),
    // A ledger of several books stores targets without lots.
    ledger:
      leftovers.ledger?.symbol === undefined
        ? leftovers.ledger && withTargetIn(leftovers.ledger, from, to)
        : leftovers.ledger,
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

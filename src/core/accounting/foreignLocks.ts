/** What other programs of the account have locked. */
import { moneyOfAmount, moneyOfValue, valueOf } from '../model/instrument.ts';
import type { Instrument } from '../model/instrument.ts';
import { mayLive } from '../orders/orders.ts';
import type { Order } from '../orders/orders.ts';
import type { Balance } from '../ports/port.ts';
import { money, moneyOf } from '../model/units.ts';
import type { Amount, Money, Side } from '../model/units.ts';

/** Locked beyond our own orders: minor for buys, major for sells. An order of ours that is just on its way may count twice for one read. */
export function lockedByOthers(
  instrument: Instrument,
  orders: Iterable<Order>,
  balances: readonly Balance[],
): Readonly<Record<Side, Money>> {
  const own: Record<Side, bigint> = { buy: 0n, sell: 0n };
  for (const order of orders) {
    if (!mayLive(order)) continue;
    const lots = (order.amount - order.filled) as Amount;
    own[order.side] +=
      order.side === 'buy' ? moneyOfValue(instrument, valueOf(order.price, lots)) : moneyOfAmount(instrument, lots);
  }
  const beyond = (side: Side, currency: string): Money => {
    const locked = moneyOf(balances.find(balance => balance.currency === currency)?.locked ?? '0');
    return money(locked > own[side] ? locked - own[side] : 0n);
  };
  return { buy: beyond('buy', instrument.minor), sell: beyond('sell', instrument.major) };
}

/** Funds locked by orders of other programs in the account. */
import { moneyOfAmount, moneyOfValue, valueOf, type Instrument } from '../model/instrument.ts';
import type { Orders } from '../orders/orders.ts';
import type { Balance } from '../ports/port.ts';
import { money, moneyOf, type Millis, type Money } from '../model/units.ts';

/**
 * Returns the maximum funds that the bot's orders lock in a balance read that started at `startedAt`: quote currency for
 * buys, base currency for sells. An order that ended or was filled after the start counts as before.
 */
export function lockedSince(
  instrument: Instrument,
  orders: Pick<Orders, 'inBookSince' | 'lotsInBookSince'>,
  startedAt: Millis,
): ReadonlyMap<string, Money> {
  let [minor, major] = [0n, 0n];
  for (const order of orders.inBookSince(startedAt, true)) {
    const lots = orders.lotsInBookSince(order, startedAt);
    if (order.side === 'buy') minor += moneyOfValue(instrument, valueOf(order.price, lots));
    else major += moneyOfAmount(instrument, lots);
  }
  return new Map([
    [instrument.minor, money(minor)],
    [instrument.major, money(major)],
  ]);
}

/**
 * Returns the funds locked by orders of other programs, per currency. The result is too low if `own` contains an order
 * of the bot that was still being sent, or had already ended, when the balances were read.
 */
export function lockedByOthers(
  own: ReadonlyMap<string, Money>,
  balances: readonly Balance[],
): ReadonlyMap<string, Money> {
  const beyond = new Map<string, Money>();
  for (const [currency, held] of own) {
    const locked = moneyOf(balances.find(balance => balance.currency === currency)?.locked ?? '0');
    beyond.set(currency, money(locked > held ? locked - held : 0n));
  }
  return beyond;
}

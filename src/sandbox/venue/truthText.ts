/** True state of the exchange as JSON for an operator or a script, in exact decimal text. */
import { money, textOfAmount, textOfMoney, textOfPrice } from '../../core/index.ts';
import { unfilled } from './order.ts';
import type { Truth } from './truth.ts';
import { text8 } from '../wire/wire.ts';

/**
 * Formats balances with eight decimals, prices and amounts with the decimals of the book. Finished orders and trades
 * are only counted.
 */
export function truthText({ accounts, imbalance }: Truth): Record<string, unknown> {
  return {
    accounts: [...accounts.values()].map(account => ({
      id: account.id,
      balances: [...account.balances].map(([currency, { total, locked }]) => ({
        currency,
        total: text8(total),
        locked: text8(locked),
      })),
      live_orders: account.live.map(order => ({
        oid: order.oid,
        origin_id: order.originId ?? null,
        book: order.book,
        side: order.side,
        price: textOfPrice(order.instrument, order.price),
        unfilled: textOfAmount(order.instrument, unfilled(order)),
        status: order.status,
      })),
      finished_orders: account.finished.length,
      trades: account.trades.length,
    })),
    imbalance: Object.fromEntries([...imbalance].map(([currency, sum]) => [currency, textOfMoney(money(sum))])),
  };
}

/**
 * Account routes of the second exchange: balances, commissions, own trades and counts of orders. Source: rest-api.md
 * (account endpoints) of github.com/binance/binance-spot-api-docs at a5e0bc3; sapi: ccxt 4.5.84 js/src/binance.js.
 */
import type { Account } from '../venue/accounts.ts';
import { currenciesOf } from '../venue/currencies.ts';
import type { OwnTradeRecord } from '../venue/ownTrades.ts';
import { text8 } from '../wire/wire.ts';
import {
  bookAsked,
  bookMaybe,
  listLimit,
  pageOfRows,
  timeSpan,
  type BinanceRequest,
  type BinanceRoute,
} from './binanceRoute.ts';
import { commissionOf } from './commissions.ts';
import { REFUSALS } from './failures.ts';
import { ownTradeEntry, wholeTime } from './orderAnswers.ts';
import { symbolOf } from './symbols.ts';

type Signed = BinanceRequest & { readonly account: Account };

export const holdingRoutes: readonly BinanceRoute[] = [
  { method: 'GET', path: '/api/v3/account', security: 'account', weight: 20, handle: holdings },
  { method: 'GET', path: '/api/v3/account/commission', security: 'account', weight: 20, handle: commission },
  {
    method: 'GET',
    path: '/api/v3/myTrades',
    security: 'account',
    weight: fields => (fields.text('orderId') === undefined ? 20 : 5),
    handle: ownTrades,
  },
  { method: 'GET', path: '/api/v3/rateLimit/order', security: 'account', weight: 40, handle: orderCounts },
  { method: 'GET', path: '/sapi/v1/asset/tradeFee', security: 'account', weight: 1, handle: tradeFees },
];

function holdings({ world, account, fields }: Signed): unknown {
  const omits = fields.text('omitZeroBalances') === 'true';
  const [book] = world.venue.books.values();
  const { standard } = commissionOf(world, account, book!);
  const points = (rate: string) => Math.round(Number(rate) * 10_000);
  const all = new Set([...currenciesOf(world.venue), ...account.currencies()]);
  return {
    makerCommission: points(standard.maker),
    takerCommission: points(standard.taker),
    buyerCommission: 0,
    sellerCommission: 0,
    commissionRates: standard,
    canTrade: account.trading,
    canWithdraw: true,
    canDeposit: true,
    brokered: false,
    requireSelfTradePrevention: false,
    preventSor: false,
    updateTime: wholeTime(account.trades.newest()?.at ?? account.createdAt),
    accountType: 'SPOT',
    balances: [...all]
      .sort()
      .filter(currency => !omits || account.total(currency) > 0n)
      .map(currency => ({
        asset: currency.toUpperCase(),
        free: text8(account.available(currency)),
        locked: text8(account.locked(currency)),
      })),
    permissions: ['SPOT'],
    uid: Number(account.id),
  };
}

function commission(ask: Signed): unknown {
  const book = bookAsked(ask);
  const { standard, none, discount } = commissionOf(ask.world, ask.account, book);
  return {
    symbol: symbolOf(book.instrument),
    standardCommission: standard,
    specialCommission: none,
    taxCommission: none,
    discount,
  };
}

function tradeFees(ask: Signed): unknown {
  const { world, account } = ask;
  const one = bookMaybe(ask);
  return (one ? [one] : [...world.venue.books.values()]).map(book => {
    const { tiers, index } = world.venue.tierFor(account, book);
    return {
      symbol: symbolOf(book.instrument),
      makerCommission: tiers[index]!.maker,
      takerCommission: tiers[index]!.taker,
    };
  });
}

function ownTrades(ask: Signed): unknown {
  const { world, account, fields } = ask;
  const { book } = bookAsked(ask).rules;
  const orderId = fields.whole('orderId');
  const fromId = fields.whole('fromId');
  const span = timeSpan(fields);
  const timed = span.from !== undefined || span.to !== undefined;
  if (timed && (orderId !== undefined || fromId !== undefined)) throw REFUSALS.combination();
  const elapsed = world.clock.elapsed();
  const rows: OwnTradeRecord[] = [];
  account.trades.each('asc', undefined, trade => {
    const isAsked = trade.order.book === book && (orderId === undefined || Number(trade.order.oid) === orderId);
    if (isAsked && trade.readableAt <= elapsed) rows.push(trade);
    return true;
  });
  const isFromId = fromId === undefined ? null : ({ ordinal }: OwnTradeRecord) => ordinal >= fromId;
  return pageOfRows(rows, listLimit(fields), span, ({ at }) => at, isFromId).map(ownTradeEntry);
}

function orderCounts({ world, account }: Signed): unknown {
  const { short, day } = world.weights.ordersUsed(account.id);
  const { ordersPer10s, ordersPerDay } = world.switches;
  return [
    { rateLimitType: 'ORDERS', interval: 'SECOND', intervalNum: 10, limit: ordersPer10s, count: short },
    { rateLimitType: 'ORDERS', interval: 'DAY', intervalNum: 1, limit: ordersPerDay, count: day },
  ];
}

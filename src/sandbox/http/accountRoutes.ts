/** Account routes: status, balances, fees and trades (rest-api 4.1, 4.3, 4.5, 4.9, public-facts 9). */
import { money, textOfAmount, textOfMoney, textOfPrice, type Millis, type WireReply } from '../../core/index.ts';
import type { Account } from '../venue/accounts.ts';
import type { Code } from '../wire/codes.ts';
import { isActive } from '../venue/order.ts';
import { isOriginId } from '../venue/orderChecks.ts';
import type { OwnTradeRecord } from '../venue/ownTrades.ts';
import { currenciesOf } from '../venue/currencies.ts';
import { pageOf, readRoute, type PrivateRequest, type Route } from './route.ts';
import type { Switches } from '../switches/switches.ts';
import type { Venue } from '../venue/venue.ts';
import { failure, failureOf, success, text8, timeMillis, timePlain } from '../wire/wire.ts';

export const accountRoutes: readonly Route[] = [
  readRoute('/v3/account_status', accountStatus),
  readRoute('/v3/balance', balance, 'balances'),
  readRoute('/v3/fees', fees),
  readRoute('/v3/user_trades', userTrades),
  readRoute('/v3/user_trades/:tids', userTradesById),
  readRoute('/v3/order_trades', orderTrades),
  readRoute('/v3/order_trades/:oid', orderTrades),
];

function balance({ venue, account }: PrivateRequest): WireReply {
  const currencies = new Set([...currenciesOf(venue), ...account.currencies()]);
  return success({
    balances: [...currencies].map(currency => ({
      currency,
      total: text8(account.total(currency)),
      locked: text8(account.locked(currency)),
      available: text8(account.available(currency)),
    })),
  });
}

function fees({ venue, account }: PrivateRequest): WireReply {
  const rows = [...venue.books.values()].map(book => {
    const { tiers, index, volume } = venue.tierFor(account, book);
    const tier = tiers[index]!;
    const next = tiers[index + 1] ?? tier;
    const percent = (rate: bigint, decimals: number) => textOfMoney(money(rate * 10n ** 12n), decimals);
    const decimal = (rate: bigint) => textOfMoney(money(rate * 10n ** 10n), 8);
    return {
      book: book.rules.book,
      fee_percent: percent(tier.takerRate, 4),
      fee_decimal: decimal(tier.takerRate),
      taker_fee_percent: percent(tier.takerRate, 4),
      taker_fee_decimal: decimal(tier.takerRate),
      maker_fee_percent: percent(tier.makerRate, 4),
      maker_fee_decimal: decimal(tier.makerRate),
      volume_currency: book.fees.group,
      current_volume: textOfMoney(volume, 2),
      next_volume: textOfMoney(tier.bound, 2),
      next_maker_fee_percent: percent(next.makerRate, 3),
      next_taker_fee_percent: percent(next.takerRate, 3),
      nextVolume: textOfMoney(tier.bound, 2),
      nextFee: percent(next.makerRate, 3),
      nextTakerFee: percent(next.takerRate, 3),
    };
  });
  return success({
    fees: rows,
    deposit_fees: [{ currency: 'mxn', method: 'sp', fee: '0.00', is_fixed: true }],
    withdrawal_fees: Object.fromEntries(currenciesOf(venue).map(currency => [currency, '0'])),
  });
}

function userTrades(ask: PrivateRequest): WireReply {
  const { venue, account, query } = ask;
  const book = query.get('book');
  if (book !== undefined && !venue.books.has(book)) return failureOf('0301', book);
  const page = pageOf(ask);
  if (page.kind === 'refused') return failure(page);
  const { limit, sort, marker } = page.value;
  const now = venue.clock.elapsed();
  const found: OwnTradeRecord[] = [];
  account.trades.each(sort, marker, trade => {
    if (trade.readableAt <= now && (book === undefined || trade.order.book === book)) found.push(trade);
    return found.length < limit;
  });
  return success(found.map(trade => userTradeRow(trade, venue.switches)));
}

/**
 * Returns the account's trades with the trade ids in the path (joined with dashes); trades of other accounts are
 * omitted.
 */
function userTradesById({ venue, account, path }: PrivateRequest): WireReply {
  const tids = path['tids']!.split('-').filter(tid => tid !== '');
  if (tids.length > venue.switches.idsPerCallMax || !tids.every(tid => /^\d{1,15}$/.test(tid)))
    return failureOf('0321');
  const now = venue.clock.elapsed();
  const found = [...new Set(tids.map(Number))]
    .sort((a, b) => b - a)
    .flatMap(tid => account.trades.byTid(tid))
    .filter(trade => trade.readableAt <= now);
  return success(found.map(trade => userTradeRow(trade, venue.switches)));
}

/**
 * Returns the trades of the order with the oid in the path or query, or of every order with the origin_id in the query.
 */
function orderTrades({ venue, account, path, query }: PrivateRequest): WireReply {
  const { switches } = venue;
  const oid = path['oid'] ?? query.get('oid');
  const originId = query.get('origin_id');
  if (oid === undefined && originId === undefined) return failureOf('0303', 'oid or origin_id');
  const named = [path['oid'], query.get('oid'), originId].filter(each => each !== undefined);
  if (named.length > 1) return failureOf('0361', 'oid and origin_id');
  if (originId !== undefined && !isOriginId(originId)) return failureOf('0357', 'origin_id');
  venue.forget(account);
  const found = oid !== undefined ? account.trades.byOrder(oid) : account.trades.byOriginId(originId!);
  const now = venue.clock.elapsed();
  const newest = found[found.length - 1];
  if (newest && newest.readableAt > now) return failureOf('0377');
  if (newest) return success([...found].reverse().map(trade => tradeRow(trade, timeMillis, switches)));
  const status = oid !== undefined ? standing(venue, account, oid) : originStanding(account, originId!);
  if (status === 'live') return switches.unmatchedTrades === '0378' ? failureOf('0378') : success([]);
  if (status === 'finished' || switches.unknownOrderTrades === 'empty') return success([]);
  const code: Code = oid !== undefined ? '0312' : '0357';
  return failureOf(code, oid ?? originId);
}

function standing(venue: Venue, account: Account, oid: string): 'live' | 'finished' | 'unknown' {
  const order = venue.find(oid);
  if (order?.account !== account) return 'unknown';
  return isActive(order) ? 'live' : 'finished';
}

function originStanding(account: Account, originId: string): 'live' | 'finished' | 'unknown' {
  if (account.activeOrigins.has(originId)) return 'live';
  return account.finishedOrigins.has(originId) ? 'finished' : 'unknown';
}

/** Returns a row of user_trades, with the margin field that order_trades lacks (rest-api 2.1 and 2.2). */
const userTradeRow = (trade: OwnTradeRecord, switches: Switches): Record<string, string> => ({
  ...tradeRow(trade, timePlain, switches),
  ...(trade.order.marginOrderType !== undefined && { margin_order_type: trade.order.marginOrderType }),
});

/** Returns a trade row with the signs of the wire format: debits are negative (public-facts 9.2). */
function tradeRow(trade: OwnTradeRecord, time: (at: Millis) => string, switches: Switches): Record<string, string> {
  const { order } = trade;
  const { instrument: i, side } = order;
  const buy = side === 'buy';
  return {
    book: order.book,
    created_at: time(trade.at),
    fees_amount: text8(switches.feeSign === 'negative' ? money(-trade.fee) : trade.fee),
    fees_currency: buy ? i.major : i.minor,
    major: `${buy ? '' : '-'}${textOfAmount(i, trade.amount)}`,
    major_currency: i.major,
    maker_side: trade.makerSide,
    minor: `${buy ? '-' : ''}${text8(trade.minor)}`,
    minor_currency: i.minor,
    oid: order.oid,
    ...(order.originId !== undefined && { origin_id: order.originId }),
    price: textOfPrice(i, trade.price),
    side,
    tid: String(trade.tid),
  };
}

/** Default currency of each country in which the exchange operates; USD elsewhere (rest-api 2.5). */
const FIAT_OF: Readonly<Record<string, string>> = { MX: 'MXN', BR: 'BRL', AR: 'ARS', CO: 'COP' };

/** Returns an invented customer, fully verified (rest-api 2.5). */
function accountStatus({ venue, account }: PrivateRequest): WireReply {
  const avatar = venue.switches.avatarField;
  return success({
    client_id: account.id,
    account_creation_date: timePlain(account.createdAt),
    first_name: 'Ana',
    last_name: 'Prueba',
    second_last_name: 'Ejemplo',
    business_name: '',
    entity_type: 'N/A',
    status: account.trading ? 'active' : 'inactive',
    tax_payer_type: 'person',
    verification_level: 4,
    born_in_residence: '1',
    gender: 'F',
    date_of_birth: '01/31/1990',
    country_of_residence: account.country,
    preferred_currency: (FIAT_OF[account.country] ?? 'USD').toLowerCase(),
    user_default_fiat_currency: FIAT_OF[account.country] ?? 'USD',
    daily_limit: '200000.00',
    daily_remaining: '200000.00',
    monthly_limit: '2000000.00',
    monthly_remaining: '2000000.00',
    cash_deposit_allowance: '50000.00',
    cellphone_number: 'verified',
    cellphone_number_stored: '+525500000000',
    email: 'verified',
    email_stored: `account${account.id}@example.com`,
    enabled_two_factor_methods: ['totp'],
    official_id: 'verified',
    origin_of_funds: 'verified',
    proof_of_residency: 'verified',
    signed_contract: 'verified',
    referral_code: '',
    ...(avatar !== 'gravatar_img' && { avatar_img: 'https://example.com/avatar.png' }),
    ...(avatar !== 'avatar_img' && { gravatar_img: 'https://example.com/avatar.png' }),
  });
}

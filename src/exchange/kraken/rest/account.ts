/**
 * Private endpoints of the account: its id, balances, fees and own trades. Sources: docs.kraken.com/api/docs/rest-api,
 * get-extended-balance, get-trade-volume, get-trade-history and get-trades-info; of the id,
 * docs.kraken.com/api-reference/account-data/get-api-key-info.
 */
import {
  byTradeNumber,
  describeRow,
  moneyOf,
  type Balance,
  type BookFee,
  type Outcome,
  type OwnTrade,
  type Page,
  type UnreadableRow,
} from '../../../core/index.ts';
import type { KrakenAsk } from '../wire/protocol.ts';
import {
  accountIdOf,
  krakenBalances,
  krakenFees,
  listedTrades,
  page,
  timeOfTid,
  type KrakenOrder,
  type ListedTrade,
} from '../wire/replies.ts';
import type { KrakenPair } from '../wire/names.ts';
import { doneWith } from '../../wire/requestParts.ts';
import { fault, optional, row } from '../../wire/wire.ts';
import { krakenDecimal } from '../wire/numbers.ts';
import { historyQuery, privateQuery, type orderEndpoints } from './orders.ts';
import { PAGE_ROWS, readOldest } from './pages.ts';
import type { Listing, Pairs } from './pairs.ts';
import type { PlacedOrders } from './placedOrders.ts';

/** Maximum number of trade ids per request. Source: docs.kraken.com/api/docs/rest-api/get-trades-info. */
const TXIDS_PER_REQUEST = 20;
/** Maximum number of books whose fees are requested by name; the fees of other books are computed from the volume. */
const FEE_BOOKS_MAX = 50;

/**
 * Maximum number of own trades that one call returns; the call reads pages of 50. A longer list is read from its end,
 * which costs two more requests. In the lowest tier, a call takes up to a minute. The next call continues after the
 * last trade of this call.
 */
export const TRADES_PER_CALL_MAX = 200;

const TID = /^\d{13,26}$/;

type Trades = Outcome<readonly OwnTrade[]>;
type Lookups = Pick<ReturnType<typeof orderEndpoints>, 'byOids' | 'byOriginIds'>;

export type AccountDependencies = {
  readonly ask: KrakenAsk;
  readonly pairs: Pairs;
  readonly placed: PlacedOrders;
  readonly lookups: Lookups;
  /** Books that this client has used. */
  readonly usedBooks: () => Iterable<string>;
};

/** Returns the endpoints of the account. A call that needs the books reads them first. */
export function accountEndpoints({ ask, pairs, placed, lookups, usedBooks }: AccountDependencies) {
  async function accountBalances(query?: { readonly also: readonly string[] }): Promise<Outcome<readonly Balance[]>> {
    const listing = await pairs.known();
    if (listing.kind !== 'done') return listing;
    const { assets, currencies, decimals } = listing.value;
    const { also } = query ?? {};
    return ask(privateQuery('BalanceEx', {}, krakenBalances({ assets, decimals }, currencies, also)));
  }

  /**
   * Reads the fee rates. For used books, the exchange states them; for other books, they are computed from the fee
   * schedule and the account's 30-day volume.
   */
  async function accountFees(): Promise<Outcome<readonly BookFee[]>> {
    const listing = await pairs.known();
    if (listing.kind !== 'done') return listing;
    const { byBook } = listing.value;
    const used = [...usedBooks()].flatMap(book => byBook.get(book) ?? []).slice(-FEE_BOOKS_MAX);
    const fields = used.length === 0 ? {} : { pair: used.map(({ id }) => id).join(',') };
    return ask(
      privateQuery('TradeVolume', fields, (result, unreadable) => {
        const stated = used.length === 0 ? [] : krakenFees(used)(result, unreadable);
        const volume = optional(row(result, 'result'), 'volume', krakenDecimal) ?? '0';
        const others = [...byBook.values()].filter(pair => !used.includes(pair));
        return [...stated, ...others.flatMap(pair => feeByVolume(pair, volume))];
      }),
    );
  }

  async function userTrades(query: Page & { readonly book?: string } = {}): Promise<Trades> {
    const { marker, sort = 'desc', book } = query;
    const most = sort === 'asc' ? TRADES_PER_CALL_MAX : PAGE_ROWS;
    const { limit = most } = query;
    const listing = await pairs.known();
    if (listing.kind !== 'done') return listing;
    if (!(Number.isSafeInteger(limit) && limit >= 1 && limit <= most))
      return argumentRefused('limit', `1 to ${most}`, limit);
    if (marker !== undefined && !TID.test(marker))
      return argumentRefused('marker', 'a trade id of 13 to 26 digits', marker);
    if (marker !== undefined && sort === 'desc') return argumentRefused('sort', 'asc with a marker', sort);
    const since = marker === undefined ? {} : { start: String(Math.floor(timeOfTid(marker) / 1_000) - 1) };
    const readPage = (offset: number) => ask(tradesPage({ ...since, ofs: String(offset) }, listing.value));
    const isWanted = ({ tid, book: of }: ListedTrade): boolean =>
      (marker === undefined || BigInt(tid) > BigInt(marker)) && (book === undefined || of === book);
    if (sort === 'asc') return pageOf(await readOldest(readPage, limit, isWanted), isWanted, limit, 1);
    const newest = await readPage(0);
    const rows = newest.kind === 'done' ? { ...newest, value: newest.value.rows } : newest;
    return pageOf(rows, isWanted, limit, -1);
  }

  /** Sorts the wanted trades, keeps at most `limit` of them, and adds the data of their orders. */
  async function pageOf(
    outcome: Outcome<readonly ListedTrade[]>,
    isWanted: (trade: ListedTrade) => boolean,
    limit: number,
    direction: 1 | -1,
  ): Promise<Trades> {
    if (outcome.kind !== 'done') return outcome;
    const once = new Map(outcome.value.filter(isWanted).map(trade => [trade.txid, trade]));
    const sorted = [...once.values()].sort((a, b) => direction * byTradeNumber(a, b));
    return completed(sorted.slice(0, limit), outcome.unreadable ?? []);
  }

  const tradesPage = (fields: Readonly<Record<string, string>>, listing: Listing) =>
    historyQuery('TradesHistory', { ...fields, consolidate_taker: 'false' }, (result, unreadable) =>
      page('trades', (value, rows) => listedTrades(value, listing.names, rows))(result, unreadable),
    );

  /**
   * Adds to each trade the origin id of its order. The list of trades has neither origin ids nor fee currencies, so
   * unknown orders are looked up. A trade is unreadable if its order is unreadable, or pays its fee in the base
   * currency.
   */
  async function completed(trades: readonly ListedTrade[], unread: readonly UnreadableRow[]): Promise<Trades> {
    const reasons = new Map<string | undefined, string>();
    const missing = [...new Set(trades.map(({ oid }) => oid))].filter(oid => placed.factsOf(oid) === undefined);
    if (missing.length > 0) {
      const found = await lookups.byOids(missing);
      if (found.kind !== 'done') return found;
      for (const { oid, why } of found.unreadable ?? [])
        reasons.set(oid, `cannot read the order that this trade filled: ${why}`);
    }
    const unreadable = [...unread];
    const value: OwnTrade[] = [];
    for (const { txid, ...trade } of trades) {
      const { book, oid, tid: id } = trade;
      const facts = placed.factsOf(oid);
      if (facts === undefined) {
        const why = reasons.get(oid);
        if (why === undefined) return { kind: 'unknown', reason: `the order ${oid} of trade ${txid} was not found` };
        unreadable.push({ why, book, oid, id });
      } else if (facts.feeSide === 'quote' || moneyOf(trade.feeAmount) === 0n)
        value.push({ ...trade, ...(facts.originId === undefined ? {} : { originId: facts.originId }) });
      else unreadable.push({ why: FEE_IN_BASE, book, oid, id });
    }
    return doneWith(value, unreadable);
  }

  /** Reads the trades of an order. Their sum must equal the executed amount that the order reports. */
  async function orderTrades(of: { readonly oid: string } | { readonly originId: string }): Promise<Trades> {
    const listing = await pairs.known();
    if (listing.kind !== 'done') return listing;
    const oids = 'oid' in of ? [of.oid] : await oidsOf(of.originId);
    if (!('length' in oids)) return oids;
    const found = await lookups.byOids(oids, true);
    if (found.kind !== 'done') return found;
    const ids = found.value.flatMap(({ tradeIds }) => tradeIds);
    const trades: ListedTrade[] = [];
    const unreadable: UnreadableRow[] = [...(found.unreadable ?? [])];
    for (let i = 0; i < ids.length; i += TXIDS_PER_REQUEST) {
      const fields = { txid: ids.slice(i, i + TXIDS_PER_REQUEST).join(',') };
      const some = await ask(
        privateQuery('QueryTrades', fields, (result, rows) => listedTrades(result, listing.value.names, rows)),
      );
      if (some.kind !== 'done') return some;
      trades.push(...some.value);
      unreadable.push(...(some.unreadable ?? []));
    }
    const whole = unreadable.length > 0 || found.value.every(order => isWhole(order, trades));
    if (!whole) return { kind: 'unknown', reason: 'the exchange does not list all trades of the order yet' };
    const sorted = [...trades].sort(byTradeNumber);
    return completed(sorted, unreadable);
  }

  async function oidsOf(originId: string): Promise<readonly string[] | Exclude<Outcome<never>, { kind: 'done' }>> {
    const known = placed.oidOf(originId);
    if (known !== undefined) return [known];
    const found = await lookups.byOriginIds([originId]);
    return found.kind === 'done' ? found.value.map(({ oid }) => oid) : found;
  }

  async function hasTrade(tid: string): Promise<Outcome<boolean>> {
    if (!TID.test(tid)) return argumentRefused('tid', 'a trade id of 13 to 26 digits', tid);
    const found = await userTrades({ marker: String(BigInt(tid) - 1n), sort: 'asc', limit: 1 });
    if (found.kind !== 'done') return found;
    const [row] = found.unreadable ?? [];
    if (found.value.some(trade => trade.tid === tid)) return { kind: 'done', value: true };
    return row === undefined
      ? { kind: 'done', value: false }
      : { kind: 'unknown', reason: `TradesHistory: ${describeRow(row)}` };
  }

  return {
    ...{ balances: accountBalances, fees: accountFees, userTrades, orderTrades },
    account: { id: () => ask(privateQuery('GetApiKeyInfo', {}, accountIdOf)), hasTrade },
  };
}

const FEE_IN_BASE =
  'the order pays its fee in the base currency (oflags fcib), but the list of trades has no fee in this currency; set oflags fciq in the program that placed the order';

const isWhole = ({ oid, originalAmount, unfilledAmount }: KrakenOrder, trades: readonly ListedTrade[]): boolean => {
  const listed = trades.filter(trade => trade.oid === oid).map(({ major }) => moneyOf(major) as bigint);
  return listed.reduce((sum, each) => sum + each, 0n) === moneyOf(originalAmount) - moneyOf(unfilledAmount);
};

/** Returns the rates of a book for a 30-day volume. Each tier applies to volumes below the volume of the tier. */
function feeByVolume({ rules }: KrakenPair, volume: string): readonly BookFee[] {
  const tier = rules.tiers.find(each => moneyOf(volume) < moneyOf(each.volume));
  return tier === undefined ? [] : [{ book: rules.book, maker: tier.maker, taker: tier.taker, currentVolume: volume }];
}

const argumentRefused = (field: string, expected: string, found: unknown) =>
  ({ kind: 'refused', code: 'not-sent', message: fault(field, expected, found).message }) as const;

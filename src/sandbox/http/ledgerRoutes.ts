/**
 * Routes for balance changes: ledger, fundings and withdrawals. General-purpose clients read these lists; a market
 * maker does not (public-facts 9.4).
 */
import { money, moneyOfAmount, type Millis, type Money, type WireReply } from '../../core/index.ts';
import type { Account } from '../venue/accounts.ts';
import { isOriginId } from '../venue/orderChecks.ts';
import type { OwnTradeRecord } from '../venue/ownTrades.ts';
import { done, refused, type Verdict } from '../wire/codes.ts';
import { pageOf, readRoute, type PrivateRequest, type Route } from './route.ts';
import type { Transfer } from '../venue/transfers.ts';
import { failure, failureOf, success, text8, timePlain } from '../wire/wire.ts';

export const ledgerRoutes: readonly Route[] = [
  readRoute('/v3/ledger', ledgerOf(null)),
  readRoute('/v3/ledger/trades', ledgerOf('trade')),
  readRoute('/v3/ledger/fees', ledgerOf('fee')),
  readRoute('/v3/ledger/fundings', ledgerOf('funding')),
  readRoute('/v3/ledger/withdrawals', ledgerOf('withdrawal')),
  readRoute('/v3/fundings', transfersOf('funding')),
  readRoute('/v3/fundings/:ids', transfersOf('funding')),
  readRoute('/v3/withdrawals', transfersOf('withdrawal')),
  readRoute('/v3/withdrawals/:ids', transfersOf('withdrawal')),
];

type Operation = 'trade' | 'fee' | Transfer['kind'];
type Entry = { readonly eid: string; readonly operation: Operation; readonly at: Millis; readonly show: () => unknown };

function ledgerOf(operation: Operation | null): (ask: PrivateRequest) => WireReply {
  return ask => {
    const entries = entriesOf(ask.account, ask.venue.clock.elapsed()).filter(
      entry => operation === null || entry.operation === operation,
    );
    const page = pageByIdOf(ask, entries, entry => entry.eid);
    if (page.kind === 'refused') return failure(page);
    return success(
      page.value.map(({ eid, operation: kind, at, show }) => ({
        eid,
        operation: kind,
        created_at: timePlain(at),
        ...(show() as object),
      })),
    );
  };
}

/** Field of a ledger entry's details that contains the transfer id. */
const DETAILS = { funding: 'fid', withdrawal: 'wid', conversion: 'conversion_id', fee: 'fee_id' } as const;

/** Returns the ledger entries, newest first. A trade and its fee are two entries. */
function entriesOf(account: Account, elapsed: Millis): Entry[] {
  const entries: Entry[] = [];
  account.trades.each('asc', undefined, trade => {
    if (trade.readableAt <= elapsed) entries.push(...entriesOfTrade(trade));
    return true;
  });
  for (const transfer of account.transfers.listed(elapsed)) {
    const { id, kind, updates, at } = transfer;
    entries.push({
      eid: `${kind.slice(0, 1)}${id}`,
      operation: kind,
      at,
      show: () => ({
        balance_updates: updates.map(({ currency, sum }) => ({ currency, amount: text8(sum) })),
        details: { [DETAILS[kind]]: id },
      }),
    });
  }
  return entries.sort((a, b) => b.at - a.at || (a.eid < b.eid ? 1 : -1));
}

function entriesOfTrade({ tid, order, at, amount, minor, fee }: OwnTradeRecord): Entry[] {
  const { instrument: i, side, oid } = order;
  const major = moneyOfAmount(i, amount);
  const signed = (sum: Money, gained: boolean) => text8(gained ? sum : money(-sum));
  const details = { tid, oid };
  return [
    {
      eid: `t${tid}${side}`,
      operation: 'trade',
      at,
      show: () => ({
        balance_updates: [
          { currency: i.major, amount: signed(major, side === 'buy') },
          { currency: i.minor, amount: signed(minor, side === 'sell') },
        ],
        details,
      }),
    },
    {
      eid: `x${tid}${side}`,
      operation: 'fee',
      at,
      show: () => ({
        balance_updates: [{ currency: side === 'buy' ? i.major : i.minor, amount: signed(fee, false) }],
        details,
      }),
    },
  ];
}

/**
 * Returns a handler that lists transfers: all transfers, or the transfers whose ids are in the path (joined with
 * dashes) or in the query (joined with commas).
 */
function transfersOf(kind: 'funding' | 'withdrawal'): (ask: PrivateRequest) => WireReply {
  const [id, ids] = kind === 'funding' ? (['fid', 'fids'] as const) : (['wid', 'wids'] as const);
  return ask => {
    const { venue, account, path, query } = ask;
    if ([path['ids'], query.get(ids), query.get('origin_ids')].filter(each => each !== undefined).length > 1)
      return failureOf('0361', `give only one of IDs in the path, ${ids} and origin_ids`);
    const originIds = query.get('origin_ids')?.split(',') ?? [];
    if (!originIds.every(isOriginId)) return failureOf('0357', 'origin_ids');
    // Transfers of the embedded exchange have no origin_id, so no transfer matches (rest-api 4.11).
    if (originIds.length > 0) return success([]);
    const named = path['ids']?.split('-') ?? query.get(ids)?.split(',');
    const all = account.transfers
      .listed(venue.clock.elapsed())
      .filter(({ kind: of, updates: [moved] }) => of === kind && moved!.sum > 0n === (kind === 'funding'))
      .reverse();
    const wanted = named === undefined ? all : all.filter(transfer => named.includes(transfer.id));
    if (named?.length === 1 && wanted.length === 0) return failureOf(kind === 'funding' ? '0311' : '0310', named[0]);
    const page = pageByIdOf(ask, wanted, transfer => transfer.id);
    if (page.kind === 'refused') return failure(page);
    return success(
      page.value.map(({ id: transferId, at, updates: [moved] }) => ({
        [id]: transferId,
        status: 'complete',
        created_at: timePlain(at),
        currency: moved!.currency,
        asset: moved!.currency,
        method: 'sandbox',
        method_name: 'Sandbox',
        amount: text8(moved!.sum < 0n ? money(-moved!.sum) : moved!.sum),
        details: {},
      })),
    );
  };
}

/** Returns a page of a newest-first list; markers are ids of its entries. */
function pageByIdOf<T>(
  ask: PrivateRequest,
  newestFirst: readonly T[],
  idOf: (each: T) => string,
): Verdict<readonly T[]> {
  const marker = ask.query.get('marker');
  const rest = new Map([...ask.query].filter(([name]) => name !== 'marker'));
  const page = pageOf({ ...ask, query: rest });
  if (page.kind === 'refused') return page;
  const sorted = page.value.sort === 'desc' ? newestFirst : [...newestFirst].reverse();
  const at = marker === undefined ? -1 : sorted.findIndex(each => idOf(each) === marker);
  if (marker !== undefined && at < 0) return refused('0320', 'marker');
  return done(sorted.slice(at + 1, at + 1 + page.value.limit));
}

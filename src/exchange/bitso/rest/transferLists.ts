/**
 * Balance changes in the exchange's ledger, page by page (public-facts 9.4). Every field is checked, because the format
 * is known only from old documentation and a client's samples.
 */
import type { TransferLists, TransferLine, UnreadableRow } from '../../../core/index.ts';
import { buildAndSend } from '../../transport/requestSender.ts';
import type { BitsoAsk, BitsoRequest } from '../wire/protocol.ts';
import { quotePart } from '../wire/path.ts';
import { limitPart, query } from '../../wire/requestParts.ts';
import * as wire from '../../wire/wire.ts';

const PAGE_MAX = 100;
const LISTS: TransferLists['lists'] = [
  { name: 'fundings', of: 'deposits' },
  { name: 'withdrawals', of: 'withdrawals' },
  { name: 'fees', of: 'fees' },
];

/**
 * Returns the private ledger endpoint: 1 to 100 entries per page (public-facts 9.4). Another limit, or a marker that is
 * not an id, is rejected as `not-sent`.
 */
export function transferLists(ask: BitsoAsk): TransferLists {
  return {
    lists: LISTS,
    linesPage: PAGE_MAX,
    transferLines: (list, { marker, limit }) =>
      buildAndSend(ask, (): BitsoRequest<readonly TransferLine[]> => ({
        endpoint: `GET ledger/${list}`,
        lane: 'private read',
        method: 'GET',
        path: `/v3/ledger/${listPart(list)}${query({
          marker: marker === undefined ? undefined : quotePart(marker),
          sort: 'desc',
          limit: limitPart(limit, PAGE_MAX),
        })}`,
        effect: 'read',
        envelope: 'payload',
        read: movements,
      })),
  };
}

const listPart = (name: string): string => {
  if (!LISTS.some(list => list.name === name)) throw wire.fault('list', LISTS.map(list => list.name).join(', '), name);
  return name;
};

/**
 * Reads one page, in the order of the reply; `ref` is the `fid` or `wid` in the details. Throws a WireFault if the
 * shape is wrong.
 */
export const movements = (payload: unknown, unreadable?: UnreadableRow[]): readonly TransferLine[] =>
  wire.rows(payload, movement, unreadable);

function movement(element: unknown): TransferLine {
  const of = wire.row(element);
  const details = wire.optional(of, 'details', (from, field) => wire.row(from[field], field)) ?? {};
  const ref = ['fid', 'wid'].map(name => wire.optional(details, name, wire.identifier)).find(id => id !== undefined);
  return {
    id: wire.identifier(of, 'eid'),
    operation: wire.filled(of, 'operation'),
    createdAt: wire.time(of, 'created_at'),
    updates: wire.list(of['balance_updates'], update, 'balance_updates'),
    ...wire.present({ ref }),
  };
}

function update(element: unknown): TransferLine['updates'][number] {
  const of = wire.row(element, 'balance_updates');
  return { currency: wire.currencyName(of, 'currency').toLowerCase(), amount: wire.sum(of, 'amount') };
}

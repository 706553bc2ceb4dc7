/** Checks of the public calls: rules of the books, order book, trades and ticker. */
import {
  counted,
  instrumentOf,
  moneyOf,
  type AvailableBook,
  type DecimalText,
  type Instrument,
} from '../../../core/index.ts';
import type { Endpoints } from '../rest/endpoints.ts';
import { judged, right, valueIn, type Checks } from './checks.ts';

/** Book of the checks: its rules, and its best prices when the order book was checked. */
export type CheckedMarket = {
  readonly row: AvailableBook;
  readonly instrument: Instrument;
  readonly bid: DecimalText;
  readonly ask: DecimalText;
};

/** Name of a book that no exchange has. */
export const NO_BOOK = 'aaaa_zzzz';

/** Checks the public calls. Returns the book; `null` if its rules or its best prices are unknown. */
export async function publicChecks(client: Endpoints, book: string, checks: Checks): Promise<CheckedMarket | null> {
  let row: AvailableBook | null = null;
  let best: Pick<CheckedMarket, 'bid' | 'ask'> | null = null;
  await checks.check(['books', 'rest-api 4.7', `rules of ${book}: tick, bounds and fees`], async () => {
    row = valueIn(await client.availableBooks()).find(one => one.book === book) ?? null;
    if (row === null) return judged(`no row of ${book}`, false);
    const { tick, priceMin, priceMax, amountMin, amountMax, valueMin, valueMax } = instrumentOf(row);
    const isOrdered = priceMin <= priceMax && amountMin <= amountMax && valueMin <= valueMax;
    const { tiers, flatRate } = row;
    return judged(
      `tick ${tick}, amounts ${row.minimumAmount} to ${row.maximumAmount}, ${counted(tiers.length, 'fee tier')}`,
      isOrdered && (tiers.length > 0 || flatRate !== undefined),
    );
  });
  await checks.check(
    ['order book by price level', 'rest-api 4.6', 'at most 50 prices per side, best price first, bid below ask'],
    async () => {
      const { bids, asks, damage } = valueIn(await client.orderBook(book));
      const why = damage?.bids?.why ?? damage?.asks?.why;
      if (why !== undefined) return judged(why, false);
      const [bid, ask] = [bids[0], asks[0]];
      if (bid === undefined || ask === undefined)
        return judged(`${counted(bids.length, 'bid')}, ${counted(asks.length, 'ask')}`, false);
      best = { bid: bid.price, ask: ask.price };
      return judged(
        `${counted(bids.length, 'bid')}, best ${bid.price}; ${counted(asks.length, 'ask')}, best ${ask.price}`,
        moneyOf(bid.price) < moneyOf(ask.price) &&
          bids.length <= 50 &&
          asks.length <= 50 &&
          isGrouped([...bids, ...asks]),
      );
    },
  );
  await checks.check(
    ['order book with each order', 'rest-api 4.6', 'every order has an id, and the sequence number does not decrease'],
    async () => {
      const first = valueIn(await client.orderBook(book, false));
      const { sequence, bids, asks, damage } = valueIn(await client.orderBook(book, false));
      const why = damage?.bids?.why ?? damage?.asks?.why;
      const without = [...bids, ...asks].filter(({ oid }) => oid === undefined).length;
      return judged(
        why ??
          `${counted(bids.length + asks.length, 'order')}, ${without} without id, sequence ${first.sequence} to ${sequence}`,
        why === undefined && without === 0 && sequence >= first.sequence,
      );
    },
  );
  await checks.check(['public trades', 'rest-api 4.8', 'at most 25 trades, newest first'], async () => {
    const tids = valueIn(await client.trades(book)).map(({ tid }) => tid);
    return judged(counted(tids.length, 'trade'), tids.length <= 25 && isDescending(tids));
  });
  await checks.check(
    [
      'pages of public trades',
      'rest-api 4.8',
      'at most 3 trades per page; with a marker, only older trades than the marker; with sort asc, the oldest trades first',
    ],
    async () => {
      const page = valueIn(await client.trades(book, { limit: 3 })).map(({ tid }) => tid);
      const last = page.at(-1);
      if (last === undefined) return right('no trade yet');
      const older = valueIn(await client.trades(book, { limit: 3, marker: last })).map(({ tid }) => tid);
      const oldest = valueIn(await client.trades(book, { limit: 3, sort: 'asc' })).map(({ tid }) => tid);
      return judged(
        `pages of ${page.length}, ${older.length} and ${oldest.length}`,
        page.length <= 3 && older.length <= 3 && isDescending([...page, ...older]) && isDescending(oldest.toReversed()),
      );
    },
  );
  await checks.check(['ticker', 'public-facts 4.2', 'bid below ask'], async () => {
    const { book: of, bid, ask } = valueIn(await client.ticker(book));
    return judged(
      `${of}: bid ${bid}, ask ${ask}`,
      of === book && bid !== undefined && ask !== undefined && moneyOf(bid) < moneyOf(ask),
    );
  });
  await checks.rejections([['unknown book', 'rest-api 7', 'rejected', ['0301'], () => client.orderBook(NO_BOOK)]]);
  return row === null || best === null
    ? null
    : { row, instrument: instrumentOf(row), ...(best as Pick<CheckedMarket, 'bid' | 'ask'>) };
}

/** Whether no entry has an order id. */
const isGrouped = (entries: readonly { readonly oid?: string }[]): boolean =>
  entries.every(({ oid }) => oid === undefined);

/** Whether each id is lower than the one before it. Ids are whole numbers as text. */
export const isDescending = (ids: readonly string[]): boolean =>
  ids.every((id, i) => i === 0 || BigInt(id) < BigInt(ids[i - 1]!));

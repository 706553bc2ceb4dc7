/** Panels of the page of several books. */
import { div, h, meterRow, none, signedSum, small, type Node } from './elements.ts';
import { clockOf, shownCount, fixed, REGIME_TONE, span, stamp, stopLine, trimmed, withSign } from './texts.ts';
import type { ShownDeskBook, DeskCurrency, DeskView } from './deskView.ts';
import type { ShownEvent } from './view.ts';

/** Address of the page of one book. */
export const bookAddress = (book: string): string => `/?book=${encodeURIComponent(book)}`;

/** Returns a symbol as both currencies, such as `BTC / MXN`. */
export const shownBookName = (book: string): string => book.replace('_', ' / ').toUpperCase();

/** Links to the page of all books and to the page of each book; `null` if the bot has only one book. */
export function bookLinks(books: readonly string[] | undefined, shown: string | null): Node {
  if (books === undefined) return null;
  const link = (name: string, address: string, isShown: boolean) =>
    h('a', { key: name, href: address, ...(isShown ? { 'aria-current': 'page' } : {}) }, name);
  return h(
    'nav',
    { 'aria-label': 'books' },
    link('all books', '/', shown === null),
    ...books.map(book => link(shownBookName(book), bookAddress(book), book === shown)),
  );
}

/** Header of the page of all books. `isUp`: whether the page is connected to the console. */
export function deskHead({ instance, run, bot, at, catchingUp, books }: DeskView, isUp: boolean): Node {
  return [
    h('h1', null, shownCount(books.length, 'book'), small('soft', ` ${instance} · run ${run}`)),
    div(
      'pills',
      small(`pill ${bot.state === 'running' ? 'good' : 'bad'}`, bot.state === 'silent' ? 'no heartbeat' : bot.state),
      ...bot.halts.map(({ what }) => small('pill bad', what)),
      isUp ? null : small('pill bad', 'no connection to the console'),
      catchingUp === null ? null : small('pill fair', `reading the recording: ${Math.floor(catchingUp * 100)}%`),
      bot.state === 'running' && bot.writtenAgoMs !== null && bot.writtenAgoMs > 10_000
        ? small('pill fair', `recording not updated for ${span(bot.writtenAgoMs)}`)
        : null,
    ),
    div('at', h('span', { class: 'why' }, ''), small('', stamp(at), ' UTC')),
  ];
}

/** Warnings of the whole bot and of its books. */
export function deskWarnings({ bot, books, difference, note }: DeskView): Node {
  const stops = [...bot.halts, ...books.flatMap(({ halts }) => halts)];
  const lines = [
    ...stops.map(stopLine),
    ...(difference === null
      ? []
      : [`the replay stopped, because this version of Puntas decides differently from the recording: ${difference}`]),
    ...(note === null ? [] : [note]),
    ...books.flatMap(({ book, unknown }) => (unknown === null ? [] : [`unknown figures of ${book}: ${unknown}`])),
  ];
  return lines.map(line => h('p', { class: 'warning' }, line));
}

/** All books, one row for each. */
export function deskTable({ books }: DeskView): Node {
  return h(
    'table',
    { class: 'desk' },
    h('thead', null, h('tr', null, ...COLUMNS.map(([name]) => h('th', { scope: 'col' }, name)))),
    h(
      'tbody',
      null,
      ...books.map(book =>
        h(
          'tr',
          { key: book.book, 'data-book': book.book },
          ...COLUMNS.map(([name, cell]) => h('td', { 'data-name': name }, cell(book))),
        ),
      ),
    ),
  );
}

/** Columns of the table, each with the content of its cell. */
const COLUMNS: readonly (readonly [name: string, cell: (book: ShownDeskBook) => Node])[] = [
  [
    'book',
    ({ book, strategy }) => [h('a', { href: bookAddress(book) }, shownBookName(book)), small('under', strategy)],
  ],
  [
    'regime',
    ({ regime, refusal, why, halts }) => [
      h('b', { class: REGIME_TONE[regime] ?? '', title: refusal ?? why }, regime),
      small('under', halts[0]?.what ?? (refusal === null ? '' : 'not quoting')),
    ],
  ],
  ['quoted bid', ({ bid, orders }) => [small('bid', bid === null ? '–' : trimmed(bid)), orderCount(orders.bid)]],
  ['quoted ask', ({ ask, orders }) => [small('ask', ask === null ? '–' : trimmed(ask)), orderCount(orders.ask)]],
  [
    'mid',
    ({ mid, market }) => [
      mid === null ? '–' : eightDigits(mid),
      small('under', market.bookAgeMs === null ? 'no book' : `${fixed(market.bookAgeMs / 1_000, 1)} s old`),
    ],
  ],
  [
    'spread, bps',
    ({ spreadBps, quotedBps }) => [
      fixed(spreadBps, 1),
      small('under', quotedBps === null ? 'not quoted' : `quoted ${fixed(quotedBps, 1)}`),
    ],
  ],
  [
    'inventory from target',
    ({ position, positionMax, base, joint }) => [
      position === null ? '–' : `${withSign(position, 4)} ${base}`,
      small(
        'under',
        `${position === null ? '–' : fixed((Math.abs(Number(position)) / (Number(positionMax) || 1)) * 100, 0)}% of ${trimmed(positionMax)}${joint === null ? '' : `, joint ${withSign(joint, 4)}`}`,
      ),
    ],
  ],
  [
    'profit',
    ({ profit, runProfit, quote }) => [
      profit === null ? '–' : [signedSum(profit), ` ${quote}`],
      small('under', runProfit === null ? '' : `run ${withSign(runProfit, 2)}`),
    ],
  ],
  [
    'fills',
    ({ fills, uptime }) => [
      fills === null ? '–' : String(fills),
      small('under', `quoted ${fixed(Math.min(uptime.bid, uptime.ask) * 100, 0)}%`),
    ],
  ],
  [
    'limit used most',
    ({ limit }) =>
      limit === null
        ? '–'
        : [
            small(limit.share >= 0.9 ? 'bad' : limit.share >= 0.6 ? 'fair' : '', `${fixed(limit.share * 100, 0)}%`),
            small('under', limit.limit),
          ],
  ],
];

const orderCount = (orders: number): Node => small('under', shownCount(orders, 'order'));

/** Returns a number with at most eight significant digits. */
const eightDigits = (text: string): string =>
  Number(Number(text).toPrecision(8)).toLocaleString('en-US', { maximumFractionDigits: 8 });

/** Profit since the opening of the ledger, by quote currency. */
export const deskProfits = ({ profits }: DeskView): Node =>
  h(
    'ul',
    { class: 'limits' },
    ...profits.map(({ currency, books, total, run }) =>
      h(
        'li',
        { key: currency, 'data-currency': currency },
        div(
          'row',
          small('', currency, small('soft', `, ${shownCount(books, 'book')}`)),
          total === null
            ? small('soft', 'unknown')
            : small('', signedSum(total), small('soft', run === null ? '' : `, this run ${withSign(run, 2)}`)),
        ),
      ),
    ),
  );

/** Held amount and distance from the target of each currency, over all books. */
export function deskCurrencies({ currencies }: DeskView): Node {
  return h(
    'table',
    null,
    h(
      'thead',
      null,
      h('tr', null, ...['', 'held', 'from target', 'books'].map(name => h('th', { scope: 'col' }, name))),
    ),
    h(
      'tbody',
      null,
      ...currencies.map(({ currency, held, fromTarget, books }) =>
        h(
          'tr',
          { key: currency, 'data-currency': currency },
          h('td', null, currency),
          h('td', null, held === null ? '–' : eightDigits(held)),
          h('td', null, fromTargetText(fromTarget, books)),
          h('td', null, books.length === 0 ? '' : books.length),
        ),
      ),
    ),
  );
}

const fromTargetText = (sum: string | null, books: DeskCurrency['books']): string =>
  sum !== null ? withSign(sum, 4) : books.length === 0 ? '' : 'unknown';

/** Used requests of the account, which all books share. */
export function deskRequests({ budgets }: DeskView): Node {
  if (budgets === null) return none('the bot serves no metrics; check metrics.host and metrics.port');
  return h(
    'ul',
    { class: 'limits' },
    ...(['public', 'private'] as const).map(name => {
      const [left, max] = [budgets[name], name === 'public' ? budgets.publicMax : budgets.privateMax];
      const used = left === null ? null : max - left;
      return h(
        'li',
        { key: name },
        ...meterRow(
          `${name} requests per minute`,
          used === null ? '–' : `${fixed(used, 0)} of ${max} used`,
          used === null ? 0 : used / max,
        ),
      );
    }),
    h(
      'li',
      { key: 'lag' },
      div(
        'row',
        small('', 'event loop, p99'),
        small('soft', budgets.eventLoopP99Ms === null ? '–' : `${fixed(budgets.eventLoopP99Ms, 1)} ms`),
      ),
    ),
  );
}

/** Last fills of all books. */
export function deskFills({ fills }: DeskView): Node {
  if (fills.length === 0) return none('no fill yet');
  return h(
    'ol',
    { class: 'lines scroll' },
    ...fills.map(({ at, book, side, amount, price, markoutBps }) =>
      h(
        'li',
        { key: `${book} ${at} ${side} ${price} ${amount}`, 'data-book': book },
        small('soft', `${clockOf(at)} ${book} `),
        small(side, side === 'bid' ? 'bought' : 'sold'),
        ` ${trimmed(amount)} at ${trimmed(price)}`,
        markoutBps === null ? null : small('soft', `, ${withSign(markoutBps, 1)} bps after 60 s`),
      ),
    ),
  );
}

/** Events of the bot and of its books. */
export const deskEvents = ({ events }: { readonly events: readonly ShownEvent[] }): Node =>
  events.length === 0
    ? none('no events yet')
    : h(
        'ol',
        { class: 'lines scroll' },
        ...events.map(({ at, book, who, level, text }) =>
          h(
            'li',
            { class: level },
            small('soft', `${clockOf(at)}${book === undefined ? '' : ` ${book}`}`),
            ` ${who === 'bot' ? '' : `${who}: `}`,
            text,
          ),
        ),
      );

/**
 * Quotes that another configuration would place now, from a separate engine with the running engine's data. Places
 * nothing.
 */
import {
  amountFloor,
  haveSameGrid,
  isInBook,
  money,
  needsOperator,
  OrderBook,
  pastTradesUpTo,
  priceCeil,
  priceFloor,
  textOfAmount,
  textOfMoney,
  textOfPrice,
  type Amount,
  type Balance,
  type BookEngine,
  type Engine,
  type EngineEvent,
  type Instrument,
  type Millis,
  type Order,
  type OrderReport,
  type Preview,
  type Price,
  type Side,
} from '../../core/index.ts';
import type { Config } from '../../config.ts';
import type { CompleteTrades } from '../../live/market/pastTrades.ts';
import { ledgerOf, textOfLedger } from '../../live/recording/ledgerText.ts';
import type { Rules } from '../../live/rules.ts';
import { engineOf } from '../../wiring/bot.ts';
import { elsewhereNameOf } from '../../wiring/elsewhereHedging.ts';
import type { OwnCall } from '../../../strategies/index.ts';

/** Public trades that are complete since a time. */
export type PastTradesKnown = Pick<Extract<EngineEvent, { kind: 'history' }>, 'since' | 'trades'>;

/**
 * Returns the trades of the last `ms` from those of the current run; `null` if these do not reach back far enough. The
 * next run then reads the others before its first quote, which a preview cannot.
 */
export function pastTradesOfRun(trades: CompleteTrades | null, at: Millis, ms: Millis): PastTradesKnown | null {
  if (trades === null || trades.since > at - ms) return null;
  return pastTradesUpTo({ now: at, ms, since: trades.since }, trades.trades);
}

/** Stops of a book, by their reasons; `null` if there is none. */
export type PreviewedStops = Pick<BookEngine, 'haltedBecause' | 'reducingBecause' | 'pausedBecause'>;

/** Book of the next configuration, with the data that its preview needs. */
export type PreviewedBook = {
  readonly rules: Rules;
  /** Whether the exchange no longer lists the book. Default: `false`. */
  readonly isRemoved?: boolean;
  /** The same book of the running engine; `null` if that engine does not have the book. */
  readonly running: BookEngine | null;
  /** Reference price; `null` without one, or if it has live sources. */
  readonly reference: Extract<EngineEvent, { kind: 'reference' }> | null;
  /** Returns the trades of the last `ms`; `null` if they are not known. Default: they are not. */
  readonly pastTrades?: (ms: Millis) => PastTradesKnown | null;
  /** Order book and stops of a book that the running engine does not have. */
  readonly added?: PreviewedStops & { readonly book: OrderBook | null };
};

/**
 * Returns the likely first decision of the next run for each book of the next configuration, in order. Data that a run
 * collects over time is missing: other traders' trades, RFQ prices, volatility. `balances` are those of currencies that
 * the running bot does not count. `ownCall` makes each call into a strategy file; if omitted, without a time limit.
 * Throws as `engineOf` does.
 */
export function nextPreviews(
  config: Config,
  books: readonly PreviewedBook[],
  running: Engine,
  at: Millis,
  balances: readonly Balance[] = [],
  ownCall?: OwnCall,
): readonly Preview[] {
  const [{ rules }, ...others] = books as readonly [PreviewedBook, ...PreviewedBook[]];
  const ledger = running.ledger([]);
  const engine = engineOf(
    config,
    rules,
    0,
    undefined,
    false,
    others.map(one => one.rules),
    ownCall,
  );
  const named = ({ instrument }: Rules) => (others.length === 0 ? {} : { symbol: instrument.symbol });
  // The ledger is copied as text, because the running engine changes its own ledger.
  engine.step({
    ...{ kind: 'restore', at, orders: [], ledger: ledger === null ? null : ledgerOf(textOfLedger(ledger)) },
    smallestUntil: running.firstFills.until,
  });
  for (const one of books) engine.step({ kind: 'rules', ...named(one.rules), at, ...one.rules });
  for (const [i, { rules: own, pastTrades }] of books.entries()) {
    const { historyMs } = engine.books[i]!;
    // Without the trades, the strategy says that the next run reads them.
    const known = historyMs > 0 ? (pastTrades?.(historyMs) ?? null) : null;
    if (known !== null)
      engine.step({ kind: 'history', ...named(own), at, source: 'the recordings', last: null, ...known });
  }
  engine.step({
    ...{ kind: 'balances', at, startedAt: at, quiet: true },
    balances: [...countedBalances(running), ...balances],
  });
  if (config.elsewhere !== undefined && running.elsewhere !== null && engine.elsewhere !== null) {
    const place = elsewhereNameOf(config.elsewhere);
    const placed = [...running.elsewhere.view.totals].map(([name, total]) => {
      const all = textOfMoney(total);
      return { currency: name.slice(0, name.indexOf('@')), total: all, available: all, locked: '0' };
    });
    const rate = running.books[0]!.snapshot(at).elsewhere?.rate ?? null;
    const event = { kind: 'balances', at, startedAt: at, quiet: true, place, balances: placed } as const;
    engine.step(rate === null ? event : { ...event, rate });
  }
  engine.step({ kind: 'trades', at, startedAt: at, complete: true, trades: [] });
  // The best foreign order of each side is enough, because it decides which levels would cross a foreign order.
  const foreign = books.flatMap(({ running: book }) =>
    (['buy', 'sell'] as const).flatMap(side => {
      if (book === null) return [];
      const { foreignBests, instrument } = book.riskContext(at);
      const best = foreignBests[side];
      return best === null ? [] : [foreignOrder(instrument, side, best, at)];
    }),
  );
  engine.step({ kind: 'open orders', at, startedAt: at, complete: true, orders: foreign });
  for (const { rules: own, isRemoved, running: book, reference, added } of books) {
    const symbol = named(own);
    if (reference !== null) engine.step({ ...reference, ...symbol });
    for (const event of book?.sourceEvents(at) ?? []) engine.step({ ...event, ...symbol });
    const shown = book === null ? added?.book : bookShown(book, own.instrument, at);
    if (shown) engine.step({ kind: 'book', ...symbol, at, startedAt: null, book: shown });
    if (isRemoved === true) engine.step({ kind: 'book removed', ...symbol, at });
    const stops = book ?? added;
    if (!stops) continue;
    const { reducingBecause, pausedBecause, haltedBecause } = stops;
    if (reducingBecause !== null) engine.step({ kind: 'reduce', ...symbol, at, reason: reducingBecause });
    if (pausedBecause !== null) engine.step({ kind: 'pause', ...symbol, at, reason: pausedBecause });
    if (haltedBecause !== null) engine.step({ kind: 'halt', ...symbol, at, reason: haltedBecause });
  }
  return engine.books.map(book => book.preview(at));
}

/**
 * Returns the balances of the account as the running engine counts them. The preview has none of the bot's orders, so
 * only what orders of other programs lock and conversions may still spend is not available.
 */
const countedBalances = ({ account }: Engine): readonly Balance[] =>
  [...account.totals].map(([currency, total]) => {
    const available = account.funds(currency);
    return {
      ...{ currency, total: textOfMoney(total), available: textOfMoney(available) },
      locked: textOfMoney(money(total - available)),
    };
  });

/**
 * Returns the order book that a book of the running engine has, in ticks and lots of `next`. A price off the new ticks
 * is rounded away from the other side.
 */
function bookShown(running: BookEngine, next: Instrument, at: Millis): OrderBook {
  const { depth, instrument } = running.riskContext(at);
  const isSameGrid = haveSameGrid(next, instrument);
  const book = new OrderBook();
  const show = (side: Side, ticks: number, lots: number): void => {
    if (isSameGrid) return book.set(side, ticks as Price, lots as Amount);
    const price = textOfPrice(instrument, ticks as Price);
    const amount = amountFloor(next, textOfAmount(instrument, Math.floor(lots) as Amount));
    if (amount > 0) book.set(side, side === 'buy' ? priceFloor(next, price) : priceCeil(next, price), amount);
  };
  for (let i = 0; i < depth.bids; i++) show('buy', depth.bidPrices[i]!, depth.bidAmounts[i]!);
  for (let i = 0; i < depth.asks; i++) show('sell', depth.askPrices[i]!, depth.askAmounts[i]!);
  return book;
}

/** Returns a report of a foreign order at this price. The amount is 0, because only the price has an effect. */
const foreignOrder = (instrument: Instrument, side: Side, price: Price, at: Millis): OrderReport => ({
  book: instrument.symbol,
  oid: `foreign-${side}`,
  side,
  type: 'limit',
  status: 'open',
  price: textOfPrice(instrument, price),
  originalAmount: '0',
  unfilledAmount: '0',
  createdAt: at,
});

/**
 * Returns a reason in one line if trading would halt immediately, if the strategy file fails, or if the bot could not
 * quote until the operator acts. Returns `null` otherwise, and if the running bot already has the same problem, except
 * for a strategy file.
 */
export function quotesNothing(
  next: Preview,
  { book }: { readonly book: (Pick<PreviewedStops, 'haltedBecause'> & Partial<Pick<BookEngine, 'snapshot'>>) | null },
  at: Millis,
): string | null {
  if (next.halt !== null && (book?.haltedBecause ?? null) === null)
    return `the bot would halt immediately: ${next.halt}`;
  if (next.quote.failure !== undefined) return `the bot would not quote: ${next.quote.failure}`;
  if (!needsOperator(next.unshown) || (book?.snapshot && needsOperator(book.snapshot(at).unshown))) return null;
  return `the bot would not quote: ${next.emptySidesText ?? ''}`;
}

type Row = { readonly price: Price; readonly amount: Amount };

/** Compares the current quotes with the next quotes, one row per level: asks from the highest price down, then bids. */
export function quotesBeside(
  running: { readonly book: Pick<BookEngine, 'liveOrders'> | null },
  next: Preview,
  { instrument }: Pick<Rules, 'instrument'>,
): readonly string[] {
  const text = (row: Row | undefined) =>
    row === undefined ? '-' : `${textOfAmount(instrument, row.amount)} at ${textOfPrice(instrument, row.price)}`;
  const rows = (side: Side): readonly (readonly [string, string, string])[] => {
    const now = sorted(
      side,
      (running.book?.liveOrders ?? []).filter(order => order.side === side && isInBook(order)).map(leftOf),
    );
    const placed = next.levels.filter(({ level, verdict }) => level.side === side && verdict === 'would be placed');
    const then =
      next.refusal === null
        ? sorted(
            side,
            placed.map(({ level }) => level),
          )
        : [];
    const word = side === 'buy' ? 'bid' : 'ask';
    const all = Array.from({ length: Math.max(now.length, then.length) }, (_, i) => i);
    const told = all.map(i => [`${word} ${i + 1}`, text(now[i]), text(then[i])] as const);
    return side === 'buy' ? told : told.toReversed();
  };
  const all = [['', 'now', 'then'] as const, ...rows('sell'), ...rows('buy')];
  const widths = [0, 1].map(column => Math.max(...all.map(row => row[column]!.length)));
  return [
    ...all.map(([name, now, then]) => `  ${name.padEnd(widths[0]!)}  ${now.padEnd(widths[1]!)}  ${then}`),
    ...(next.refusal === null ? [] : [`  then: none, ${next.refusal}`]),
    ...(next.emptySidesText === null ? [] : [`  then: ${next.emptySidesText}`]),
  ];
}

const sorted = (side: Side, rows: readonly Row[]): readonly Row[] =>
  rows.toSorted((a, b) => (side === 'buy' ? b.price - a.price : a.price - b.price));

const leftOf = ({ price, amount, filled }: Order): Row => ({ price, amount: (amount - filled) as Amount });

/**
 * Quotes that another configuration would place now, from a separate engine with the running engine's data. Places
 * nothing.
 */
import {
  isInBook,
  needsOperator,
  OrderBook,
  textOfAmount,
  textOfMoney,
  textOfPrice,
  type Amount,
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
import { ledgerOf, textOfLedger } from '../../live/recording/ledgerText.ts';
import type { Rules } from '../../live/rules.ts';
import { engineOf } from '../../wiring/bot.ts';
import { placeNameOf } from '../../wiring/place.ts';

/**
 * Returns the likely first decision of the next run. Data that a run collects over time is missing: other traders'
 * trades, RFQ prices, volatility. `reference` is the reference price; `null` without one, or if it has live sources.
 * Throws as `engineOf` does.
 */
export function nextPreview(
  config: Config,
  rules: Rules,
  running: Engine,
  at: Millis,
  reference: Extract<EngineEvent, { kind: 'reference' }> | null,
): Preview {
  const { depth, majorFunds, minorFunds, foreignBests, instrument } = running.book.riskContext(at);
  const { major } = rules.instrument;
  const ledger = running.ledger([]);
  const engine = engineOf(config, rules, 0);
  // The ledger is copied as text, because the running engine changes its own ledger.
  engine.step({ kind: 'restore', at, orders: [], ledger: ledger === null ? null : ledgerOf(textOfLedger(ledger)) });
  engine.step({ kind: 'rules', at, ...rules });
  // A history counts as complete here, because the next run reads it before it quotes.
  const since = at - engine.book.historyMs;
  if (since < at) engine.step({ kind: 'history', at, since, source: 'none', last: null, trades: [] });
  const balances = [...running.book.snapshot(at).booked.holdings].map(([currency, total]) => {
    const free = currency === major ? majorFunds : currency === rules.instrument.minor ? minorFunds : total;
    const [all, available] = [textOfMoney(total), textOfMoney(free)];
    return { currency, total: all, available, locked: textOfMoney((total - free) as typeof total) };
  });
  engine.step({ kind: 'balances', at, startedAt: at, quiet: true, balances });
  if (config.elsewhere !== undefined && running.elsewhere !== null && engine.elsewhere !== null) {
    const place = placeNameOf(config.elsewhere);
    const placed = [...running.elsewhere.view.totals].map(([name, total]) => {
      const all = textOfMoney(total);
      return { currency: name.slice(0, name.indexOf('@')), total: all, available: all, locked: '0' };
    });
    const rate = running.book.snapshot(at).elsewhere?.rate ?? null;
    const event = { kind: 'balances', at, startedAt: at, quiet: true, place, balances: placed } as const;
    engine.step(rate === null ? event : { ...event, rate });
  }
  engine.step({ kind: 'trades', at, startedAt: at, complete: true, trades: [] });
  // The best foreign order of each side is enough, because it decides which levels would cross a foreign order.
  const foreign = (['buy', 'sell'] as const).flatMap(side => {
    const best = foreignBests[side];
    return best === null ? [] : [foreignOrder(instrument, side, best, at)];
  });
  engine.step({ kind: 'open orders', at, startedAt: at, complete: true, orders: foreign });
  if (reference !== null) engine.step(reference);
  for (const event of running.book.sourceEvents(at)) engine.step(event);
  const book = new OrderBook();
  for (let i = 0; i < depth.bids; i++) book.set('buy', depth.bidPrices[i] as Price, depth.bidAmounts[i] as Amount);
  for (let i = 0; i < depth.asks; i++) book.set('sell', depth.askPrices[i] as Price, depth.askAmounts[i] as Amount);
  engine.step({ kind: 'book', at, startedAt: null, book });
  if (running.book.reducingBecause !== null) engine.step({ kind: 'reduce', at, reason: running.book.reducingBecause });
  if (running.book.pausedBecause !== null) engine.step({ kind: 'pause', at, reason: running.book.pausedBecause });
  if (running.book.haltedBecause !== null) engine.step({ kind: 'halt', at, reason: running.book.haltedBecause });
  return engine.book.preview(at);
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
 * Returns a reason in one line if trading would halt immediately, or if the bot could not quote until the operator
 * acts. Returns `null` otherwise, and if the running bot already has the same problem.
 */
export function quotesNothing(next: Preview, running: Engine, at: Millis): string | null {
  if (next.halt !== null && running.book.haltedBecause === null) return `the bot would halt immediately: ${next.halt}`;
  if (!needsOperator(next.unshown) || needsOperator(running.book.snapshot(at).unshown)) return null;
  return `the bot would not quote: ${next.emptySidesText ?? ''}`;
}

type Row = { readonly price: Price; readonly amount: Amount };

/** Compares the current quotes with the next quotes, one row per level: asks from the highest price down, then bids. */
export function quotesBeside(
  running: { readonly book: Pick<BookEngine, 'liveOrders'> },
  next: Preview,
  { instrument }: Pick<Rules, 'instrument'>,
): readonly string[] {
  const text = (row: Row | undefined) =>
    row === undefined ? '-' : `${textOfAmount(instrument, row.amount)} at ${textOfPrice(instrument, row.price)}`;
  const rows = (side: Side): readonly (readonly [string, string, string])[] => {
    const now = sorted(
      side,
      running.book.liveOrders.filter(order => order.side === side && isInBook(order)).map(leftOf),
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

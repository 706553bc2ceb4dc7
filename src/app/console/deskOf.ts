/** View of all books of a bot with several books at the newest recorded state, and their sums by currency. */
import { bidOrAsk, money, moneyOf, textOfMoney, textOfPrice, type Millis, type Money } from '../../core/index.ts';
import type { DeskCurrency, DeskProfit, DeskView, ShownDeskBook, ShownEvent, ShownLimit } from '../../console/index.ts';
import { shownProfit } from '../../messages/shownProfit.ts';
import { explanationOf } from '../inspect/explain.ts';
import { shownLimit, noteOf, type OutsideRun } from './consoleView.ts';
import type { BookOfReplay, RunReplay } from './runReplay.ts';

/** Maximum number of fills of each book, of fills and of events of the view. */
const SHOWN_MAX = { ofBook: 10, fills: 20, events: 60 };

/** Returns the view of all books; `null` before the run has read the rules of its books. */
export function deskOf(replay: RunReplay, outside: Omit<OutsideRun, 'kind' | 'runs' | 'ledger'>): DeskView | null {
  const { now, ended } = replay;
  const at = now?.seen.at ?? null;
  if (now === null || at === null) return null;
  const { bot, catchingUp, budgets } = outside;
  const books = now.books.map(each => deskBook(each, at, bot.halts));
  return {
    ...{ kind: 'desk', at, run: replay.run, instance: now.setup.instance, catchingUp, budgets },
    // The stops of a book are in its row.
    bot: { ...bot, halts: bot.halts.filter(({ book }) => book === undefined) },
    difference: ended?.difference ?? null,
    note: noteOf(replay, outside),
    books,
    profits: profitsByQuote(books),
    currencies: currencyRows(books, now.book.snapshot(at).known.holdings),
    fills: now.books
      .flatMap(({ book: { symbol }, history }) =>
        history.fills(SHOWN_MAX.ofBook).map(fill => ({ ...fill, book: symbol })),
      )
      .sort((a, b) => b.at - a.at)
      .slice(0, SHOWN_MAX.fills),
    events: [...outside.events, ...now.books.flatMap(eventsOfBook)]
      .sort((a, b) => b.at - a.at)
      .slice(0, SHOWN_MAX.events),
  };
}

const eventsOfBook = ({ book: { symbol }, history }: BookOfReplay): readonly ShownEvent[] =>
  history.events.map(event => ({ ...event, book: symbol }));

function deskBook(now: BookOfReplay, at: Millis, halts: DeskView['bot']['halts']): ShownDeskBook {
  const { book, setup, seen, history } = now;
  const { instrument } = history;
  const snapshot = history.across(book.snapshot(at));
  const { trades, unknown } = snapshot.known;
  const { market, regime, refusal, figures } = explanationOf(now, seen, instrument, setup);
  const live = snapshot.orders.filter(({ state }) => state === 'open' || state === 'partially filled');
  const prices = (side: 'bid' | 'ask') =>
    live.filter(order => bidOrAsk(order.side) === side).map(({ price }) => price as number);
  const [bids, asks] = [prices('bid'), prices('ask')];
  const [bid, ask] = [bids.length === 0 ? null : Math.max(...bids), asks.length === 0 ? null : Math.min(...asks)];
  const text = (ticks: number | null) =>
    ticks === null ? null : textOfPrice(instrument, ticks as Parameters<typeof textOfPrice>[1]);
  const mid = snapshot.bid > 0 && snapshot.ask > 0 ? (snapshot.bid + snapshot.ask) / 2 : null;
  const profit = trades && shownProfit(trades.sinceOpening, trades.runProfit, instrument.minor);
  return {
    ...{ book: book.symbol, base: instrument.major, quote: instrument.minor, strategy: setup.strategy.name },
    ...{ regime: regime.regime, why: regime.why, refusal, unknown, market },
    halts: halts.filter(each => each.book === book.symbol),
    ...{ bid: text(bid), ask: text(ask) },
    quotedBps: bid === null || ask === null || mid === null ? null : ((ask - bid) / mid) * 10_000,
    mid: market.bid === null || market.ask === null ? null : textOfMoney(midOf(market.bid, market.ask)),
    spreadBps: mid === null ? null : ((snapshot.ask - snapshot.bid) / mid) * 10_000,
    orders: { bid: bids.length, ask: asks.length },
    position: trades && textOfMoney(trades.inventory),
    positionMax: setup.limits.positionMax,
    joint: figures.find(({ name }) => name === 'joint inventory')?.value ?? null,
    profit: profit && profit.total,
    runProfit: profit?.run?.total ?? null,
    fills: trades && trades.fills,
    uptime: snapshot.uptime,
    limit: book
      .limitUses(at)
      .map(shownLimit)
      .reduce<ShownLimit | null>((most, each) => (most === null || each.share > most.share ? each : most), null),
  };
}

const midOf = (bid: string, ask: string): Money => money((moneyOf(bid) + moneyOf(ask)) / 2n);

/** Returns the exact sum; `null` if a part is unknown. */
const sumOrNull = (parts: readonly (string | null)[]): string | null =>
  parts.includes(null) ? null : textOfMoney(money(parts.reduce((sum, part) => sum + moneyOf(part!), 0n)));

function profitsByQuote(books: readonly ShownDeskBook[]): readonly DeskProfit[] {
  return [...new Set(books.map(({ quote }) => quote))].map(currency => {
    const of = books.filter(({ quote }) => quote === currency);
    return {
      ...{ currency, books: of.length },
      total: sumOrNull(of.map(({ profit }) => profit)),
      run: sumOrNull(of.map(({ runProfit }) => runProfit)),
    };
  });
}

function currencyRows(
  books: readonly ShownDeskBook[],
  holdings: ReadonlyMap<string, Money> | null,
): readonly DeskCurrency[] {
  const held = [...(holdings ?? [])].flatMap(([name, sum]) => (sum === 0n ? [] : [name]));
  const names = new Set([...held, ...books.flatMap(({ base, quote }) => [base, quote])]);
  return [...names].toSorted().map(currency => {
    const of = books.filter(({ base }) => base === currency);
    const sum = holdings?.get(currency);
    return {
      currency,
      held: sum === undefined ? null : textOfMoney(sum),
      fromTarget: of.length === 0 ? null : sumOrNull(of.map(({ position }) => position)),
      books: of.map(({ book }) => book),
    };
  });
}

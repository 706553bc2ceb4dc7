/**
 * Tapes of the embedded exchange's seeded markets, recorded in memory and in virtual time, for backtests without a
 * recording.
 */
import { pairOf, VirtualClock, type BookRules, type Millis } from '../../src/core/index.ts';
import {
  createVenue,
  FLOW_PROFILES,
  isLinkedCurrency,
  linkedFlows,
  simulatedMarket,
  type Market,
  type MarketModel,
} from '../../src/sandbox/index.ts';
import { finishTape, sideCodeOf, TapeBuilder, type Tape } from '../../src/tape/index.ts';

const NAMES: Readonly<Record<MarketModel['kind'], string>> = { flow: 'seeded flow', lifelike: 'lifelike market' };

/**
 * Records a tape of the simulated market `model`. `onShare` receives the recorded share of the time, from 0 to 1.
 * Throws RangeError if the embedded exchange has no flow for the book.
 */
export function recordFlow(
  book: string,
  seed: number,
  seconds: number,
  driftBpsPerHour = 0,
  onShare: (share: number) => void = () => undefined,
  model: MarketModel = { kind: 'flow' },
): Tape {
  const profile = FLOW_PROFILES[book];
  if (!profile) throw unknownFlow(book, Object.keys(FLOW_PROFILES).join(', '));
  const market = simulatedMarket(model, { seed, profile, driftBpsPerHour });
  const drift = driftBpsPerHour === 0 ? '' : `, drift ${driftBpsPerHour} bps per hour`;
  const source = `${NAMES[model.kind]} of ${book}, seed ${seed}, ${seconds} s${drift}`;
  return recorded([{ book, market, source }], seed, seconds, onShare)[0]!;
}

/** Books of linked markets, by symbol, with the lag and the noise of each book's prices. */
export type LinkedFlowBooks = Readonly<
  Record<string, { readonly lagMs?: Millis | undefined; readonly noiseBps?: number | undefined }>
>;

/**
 * Records seeded flows whose prices are consistent with each other: one tape per book, in the order of the books.
 * `correlation`: correlation of the moves of any two coins. Throws RangeError if the embedded exchange has no flow for
 * a book.
 */
export function recordLinkedFlows(
  books: LinkedFlowBooks,
  {
    seed,
    seconds,
    correlation,
  }: { readonly seed: number; readonly seconds: number; readonly correlation?: number | undefined },
  onShare: (share: number) => void = () => undefined,
): readonly Tape[] {
  const flows = linkedFlows({ seed, correlation });
  const all = Object.entries(books).map(([book, own]) => {
    const [base, quote] = pairOf(book);
    if (!isLinkedCurrency(base) || !isLinkedCurrency(quote)) throw unknownFlow(book, 'books of linked currencies');
    const source = `linked flow of ${book}, seed ${seed}, ${seconds} s`;
    return { book, market: flows.here(base, quote, false, own), source };
  });
  return recorded(all, seed, seconds, onShare);
}

const unknownFlow = (book: string, expected: string): RangeError =>
  new RangeError(`the embedded exchange has no synthetic order flow for ${book}; expected one of ${expected}`);

/** Runs the markets on one exchange, and records the order book and the trades of each. */
function recorded(
  all: readonly { readonly book: string; readonly market: Market; readonly source: string }[],
  seed: number,
  seconds: number,
  onShare: (share: number) => void,
): readonly Tape[] {
  const clock = new VirtualClock();
  const venue = createVenue({ clock, seed });
  const places = all.map(({ book }) => venue.marketplace(book));
  const tapes = new Map(all.map(({ book }, i) => [book, { tape: new TapeBuilder(), place: places[i]! }]));
  venue.venue.onBookEvent(event => {
    const found = tapes.get(event.book);
    if (found === undefined) return;
    const { tape, place } = found;
    const at = clock.now();
    for (const { takerSide, price, amount, tid } of event.trades) {
      tape.trade(at, at, sideCodeOf(takerSide), price, amount, tid);
    }
    for (const { side, price } of event.changes)
      tape.level(at, at, sideCodeOf(side), price, place.amountAt(side, price));
  });
  all.forEach(({ market }, i) => market.start(places[i]!));
  for (let n = 0; (clock.nextDue() ?? Infinity) <= seconds * 1000; n++) {
    if ((n & 1023) === 0) onShare(clock.elapsed() / (seconds * 1000));
    clock.runNext();
  }
  for (const { market } of all) market.stop();
  venue.close();
  return all.map(({ book, source }, i) => {
    const rules: BookRules | undefined = venue.venue.books.get(book)?.rules;
    if (!rules) throw new RangeError(`the embedded exchange does not list the book ${book}`);
    const columns = tapes.get(book)!.tape.columns();
    const finished = finishTape({ source, book, tick: rules.tickSize, columns, depth: Infinity });
    return { ...finished, rules, instrument: places[i]!.instrument };
  });
}

/** Previews of another configuration, from the recording of the running bot: the quotes before and after, by book. */
import { booksOf, configOfBooks, symbolsOf, type Config } from '../../config.ts';
import type { BookEngine, EngineEvent, Millis, Preview } from '../../core/index.ts';
import type { CompleteTrades } from '../../live/market/pastTrades.ts';
import type { Rules } from '../../live/rules.ts';
import { TradesOfRun } from '../../live/market/recordedTrades.ts';
import { lastConfigOf } from '../inspect/botOfFolder.ts';
import { replayedMoment, type ReplayedMoment } from '../inspect/explain.ts';
import { nextPreviews, pastTradesOfRun, quotesBeside, quotesNothing } from '../run/nextQuotes.ts';
import { withOwn } from '../run/reloading.ts';

type ReferenceEvent = Extract<EngineEvent, { kind: 'reference' }>;

/** Last reference prices and complete trades of the books of a run. */
class SeenMarkets {
  readonly #books: ReadonlyMap<string, TradesOfRun>;
  readonly #references = new Map<string, ReferenceEvent>();

  constructor(books: readonly string[]) {
    this.#books = new Map(books.map(book => [book, new TradesOfRun(-Infinity, book)]));
  }

  see(event: EngineEvent): void {
    for (const [book, trades] of this.#books) {
      trades.see(event);
      if (event.kind === 'reference' && (event.symbol ?? book) === book) this.#references.set(book, event);
    }
  }

  referenceOf(book: string): ReferenceEvent | null {
    return this.#references.get(book) ?? null;
  }

  /** Complete trades of the run; `null` if there are none. */
  tradesOf(book: string): CompleteTrades | null {
    return this.#books.get(book)?.complete ?? null;
  }
}

/** State of the running bot at the end of its recording, with what previews of other configurations need. */
export type RecordedNow = {
  readonly moment: ReplayedMoment;
  readonly markets: SeenMarkets;
  /** Configuration of the run, with all its books. */
  readonly config: Config;
  /** Time of the end of the recording. */
  readonly at: Millis;
};

/**
 * Replays the last run to its end. `onInput` receives the time of each input. `book`: symbol of the shown book. Throws as
 * `replayedMoment` does.
 */
export function recordedNow(stateDir: string, now: Millis, onInput?: (at: Millis) => void, book?: string): RecordedNow {
  const markets = new SeenMarkets(symbolsOf(lastConfigOf(stateDir)));
  const moment = replayedMoment({
    ...{ dir: stateDir, at: null, book, onEvent: event => markets.see(event) },
    ...(onInput !== undefined && { onInput }),
  });
  const config = configOfBooks(moment.books.map(({ setup }) => setup));
  return { moment, markets, config, at: moment.seen.at ?? now };
}

/** Preview of one book. */
export type BookPreview = {
  readonly book: string;
  /** Reason why the bot would halt or not quote the book with this configuration; `null` if there is none. */
  readonly problem: string | null;
  /** Quotes before and after, one row per level. */
  readonly quotes: readonly string[];
};

/** Returns the problems of previews, one line for each book with one. `isNamed`: whether lines name their book. */
export const problemLines = (previews: readonly BookPreview[], isNamed: boolean): readonly string[] =>
  previews.flatMap(({ book, problem }) => (problem === null ? [] : [isNamed ? `${book}: ${problem}` : problem]));

/** Returns the quotes of previews. `isNamed`: whether the name of the book precedes its quotes. */
export const quoteLines = (previews: readonly BookPreview[], isNamed: boolean): readonly string[] =>
  previews.flatMap(({ book, quotes }) => [...(isNamed ? [`${book}:`] : []), ...quotes]);

/** Returns the previews of the books that the run has, in the order of the configuration. */
export function recordedPreviews(config: Config, recorded: RecordedNow): readonly BookPreview[] {
  return previewsOf(config, recorded).map(({ running, rules, next }) => {
    const problem = quotesNothing(next, { book: running }, recorded.at);
    return { book: running.symbol, problem, quotes: quotesBeside({ book: running }, next, rules) };
  });
}

/** Returns the preview of the shown book, with the configuration of the run. */
export function previewOfShown(recorded: RecordedNow): Preview {
  const { engine } = recorded.moment;
  return previewsOf(recorded.config, recorded).find(({ running }) => running === engine.book)!.next;
}

type NextOfBook = { readonly running: BookEngine; readonly rules: Rules; readonly next: Preview };

/** Returns the previews of the books that the run has. They share the account, so all are computed together. */
function previewsOf(config: Config, { moment, markets, at }: RecordedNow): readonly NextOfBook[] {
  const { engine, setup, books: recorded } = moment;
  const books = booksOf(withOwn(config, setup)).flatMap(one => {
    const { book } = one;
    const rules = recorded.find(each => each.setup.book === book)?.rules;
    const running = engine.books.find(({ symbol }) => symbol === book);
    if (rules === undefined || running === undefined) return [];
    const pastTrades = (ms: Millis) => pastTradesOfRun(markets.tradesOf(book), at, ms);
    return [{ one, rules, running, reference: markets.referenceOf(book), pastTrades }];
  });
  if (books.length === 0) return [];
  const previews = nextPreviews(configOfBooks(books.map(({ one }) => one)), books, engine, at);
  return books.map(({ rules, running }, i) => ({ rules, running, next: previews[i]! }));
}

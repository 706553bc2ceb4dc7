/** Long history of each book, kept as text until one of its sources changes. */
import { pairOf } from '../../core/index.ts';
import type { BesideRun } from './besideRun.ts';
import { ledgerOfBook, symbolsInLedger } from './consoleView.ts';
import type { LiveRun } from './liveRun.ts';
import { replayedBook } from './runReplay.ts';
import { changesOfBook, mergedChanges, type NotedChange } from './history/configHistory.ts';
import { longHistory } from './history/longHistory.ts';

/**
 * Long history as JSON, computed at a request. It is computed again only after the ledger was read again, another run
 * started or was read to its end, or a change was noted. At its maximum of entries and hours, it takes about a second.
 */
export class KeptLongHistory {
  readonly #live: LiveRun;
  readonly #beside: BesideRun;
  readonly #noted: () => readonly NotedChange[];
  /** Histories by book; by `undefined` that of the first. */
  readonly #kept = new Map<string | undefined, KeptText>();

  constructor(live: LiveRun, beside: BesideRun, noted: () => readonly NotedChange[]) {
    [this.#live, this.#beside, this.#noted] = [live, beside, noted];
  }

  /** Returns the history of a book; without a symbol, of the first. `null` without a ledger or without the book. */
  text(symbol: string | undefined): string | null {
    const { replay } = this.#live;
    const { ledger } = this.#beside;
    const book = symbol ?? ledger?.book ?? replay?.now?.setup.book;
    const of = replay?.now ? replayedBook(replay.now, symbol) : null;
    if (ledger === null || book === undefined || (symbol !== undefined && of === null)) return null;
    const noted = this.#noted();
    const kept = this.#kept.get(symbol) ?? new KeptText();
    this.#kept.set(symbol, kept);
    return kept.of([ledger, replay?.run, noted.at(-1), this.#live.isCaughtUp], () => {
      const [major, minor] = pairOf(book);
      const at = of?.seen.at ?? null;
      const known = of === null || at === null ? null : of.book.snapshot(at);
      const history = longHistory({
        ...{ run: replay?.run ?? null, at: at ?? -Infinity, names: { book, major, minor } },
        ledger: { entries: ledger.entries, ...ledgerOfBook(ledger, book) },
        otherBooks: symbolsInLedger(ledger).filter(other => other !== book),
        current: known === null || known.known.trades === null ? null : known.booked.sinceOpening,
        changes: changesOfBook(mergedChanges(this.#live.changesOf(symbol), noted), symbol),
        recordedFrom: this.#live.runs[0]?.from ?? null,
      });
      return history === null ? null : JSON.stringify(history);
    });
  }
}

/** Text, such as of a long history, that is kept while its sources stay the same. */
export class KeptText {
  #text: string | null = null;
  #sources: readonly unknown[] | null = null;

  /** Returns the kept text, or that of `make` if a source changed. After an error of `make`, the next call makes it. */
  of(sources: readonly unknown[], make: () => string | null): string | null {
    const isKept = this.#sources !== null && sources.every((each, i) => each === this.#sources?.[i]);
    if (isKept) return this.#text;
    this.#text = make();
    this.#sources = sources;
    return this.#text;
  }
}

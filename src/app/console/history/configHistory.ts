/**
 * Changes of trading in the configuration over all runs, for lines in charts: from the recordings, and from the log of
 * reloads, which also has their reasons and outlives the recordings.
 */
import { join } from 'node:path';
import {
  booksOf,
  configChanges,
  isTradingChange,
  isTrialOrder,
  PARAMETER_DIRECTIONS,
  recordedConfig,
  type Config,
  type ConfigChange,
} from '../../../config.ts';
import type { Millis, ProfitSinceOpening } from '../../../core/index.ts';
import type { ShownChange } from '../../../console/index.ts';
import { TailedLines } from '../../../guard/index.ts';
import { RELOADS_FILE } from '../../../live/mailbox/mailbox.ts';
import { profitSinceOpeningOf, type WrittenProfit } from '../../../live/recording/ledgerText.ts';
import type { RecordedRun } from '../../../live/recording/recordings.ts';

/** Maximum number of changes; the oldest are omitted. */
export const CHANGES_MAX = 200;
/** Maximum length of the text of a change, and of its reason and name, in characters. */
const TEXT_MAX = { change: 300, reason: 200, name: 80 };
/** Maximum number of bytes and lines read of the log of reloads; an entry has about 1 kB. */
const LOG_MAX = { bytes: 2_097_152, lines: 2_000 };

/** Change of the configuration with the profit since the opening at that time; `null` if it was not stored. */
export type NotedChange = ShownChange & {
  readonly profit: ProfitSinceOpening | null;
  /** Books that the change concerns; absent if it concerns all. */
  readonly books?: readonly string[];
};

/**
 * Returns a text of the changes. For a key that is not in `PARAMETER_DIRECTIONS`, only the name is shown, because its
 * value may contain an address.
 */
export const changesText = (changes: readonly Pick<ConfigChange, 'key' | 'from' | 'to'>[]): string =>
  changes
    .map(({ key, from, to }) =>
      Object.hasOwn(PARAMETER_DIRECTIONS, key.replace(OF_BOOK, ''))
        ? `${key}: ${from ?? 'not set'} -> ${to ?? 'not set'}`
        : key,
    )
    .join(', ')
    .slice(0, TEXT_MAX.change);

/** Start of the key of a change in one of several books. */
const OF_BOOK = /^books\.([a-z0-9_]+)(?:\.|$)/;

/** Returns the books of changes; `undefined` if one concerns all books. */
function booksOfChanges(changes: readonly Pick<ConfigChange, 'key'>[]): readonly string[] | undefined {
  const books = changes.map(({ key }) => OF_BOOK.exec(key)?.[1]);
  return books.includes(undefined) ? undefined : [...new Set(books as string[])];
}

/** Returns the changes that concern a book; without a symbol, all. */
export const changesOfBook = (changes: readonly NotedChange[], symbol: string | undefined): readonly NotedChange[] =>
  changes.filter(({ books }) => symbol === undefined || books === undefined || books.includes(symbol));

/** Returns a change without a note. */
export const unnotedChange = (run: number, at: Millis, changes: readonly ConfigChange[]): ShownChange => ({
  ...{ at, text: changesText(changes), run, digest: null, by: null, reason: null },
});

/** Changes between the recorded runs. Recordings are added in the order of their runs. */
export class RecordedChanges {
  #last: { readonly setup: string; readonly config: Config } | null = null;
  /** Changes by book. */
  readonly #found = new Map<string, ShownChange[]>();

  /** Returns the changes of a book, oldest first; without a symbol, those of the first book. */
  of(symbol = this.#last?.config.book ?? ''): readonly ShownChange[] {
    return this.#found.get(symbol) ?? [];
  }

  /** Adds a run. A trial order, or a configuration that cannot be read, is skipped. */
  add({ run, startedAt, setup }: RecordedRun): void {
    // Most runs only continue in a new recording.
    if (setup === this.#last?.setup) return;
    let config: Config;
    try {
      config = recordedConfig(setup);
    } catch {
      return;
    }
    if (isTrialOrder(config)) return;
    const before = this.#last === null ? [] : booksOf(this.#last.config);
    this.#last = { setup, config };
    const isOne = before.length === 1 && booksOf(config).length === 1;
    for (const now of booksOf(config)) {
      const was = isOne ? before[0] : before.find(({ book }) => book === now.book);
      const changes = was === undefined ? [] : configChanges(was, now).filter(isTradingChange);
      if (changes.length === 0) continue;
      this.#found.set(now.book, [...(this.#found.get(now.book) ?? []), unnotedChange(run, startedAt, changes)]);
    }
  }
}

/** Returns a function that returns the noted changes that took effect, oldest first. Each call reads only new lines. */
export function notedChangesIn(stateDir: string): () => readonly NotedChange[] {
  const tail = new TailedLines(join(stateDir, RELOADS_FILE), LOG_MAX, changeInLine);
  return () => {
    try {
      return tail.read();
    } catch {
      // Without the log, the changes of the recordings are still shown.
      return [];
    }
  };
}

/** Returns the recorded changes with the digest, name, reason and profit of their notes. */
export function withNotes(recorded: readonly ShownChange[], noted: readonly NotedChange[]): readonly NotedChange[] {
  const notes = new Map(noted.map(note => [note.run, note]));
  return recorded.map(change => {
    const note = change.run === null ? undefined : notes.get(change.run);
    return note === undefined ? { ...change, profit: null } : { ...note, at: change.at, text: change.text };
  });
}

/** Returns the recorded changes with their notes, and the changes that are only noted, oldest first. */
export function mergedChanges(recorded: readonly ShownChange[], noted: readonly NotedChange[]): readonly NotedChange[] {
  const runs = new Set(recorded.map(({ run }) => run));
  const only = noted.filter(({ run }) => run === null || !runs.has(run));
  return [...withNotes(recorded, noted), ...only].sort((a, b) => a.at - b.at).slice(-CHANGES_MAX);
}

/** Number of hexadecimal digits of a digest that pages get. */
const DIGEST_SHOWN = 8;

/** Returns the change without the fields that pages do not get. */
export const shownChange = ({ at, text, run, digest, by, reason }: ShownChange): ShownChange => ({
  ...{ at, text, run, digest: digest?.slice(0, DIGEST_SHOWN) ?? null, by, reason },
});

/** Returns the change of a line; `null` if nothing took effect, or if the line is not such an entry. */
function changeInLine(line: string): NotedChange | null {
  let found: Readonly<Record<string, unknown>>;
  try {
    found = (JSON.parse(line) ?? {}) as typeof found;
  } catch {
    return null;
  }
  const { at, by, reason, end, lines, changes, run, time, digest, profit } = found;
  if ((end !== 'taken' && end !== 'started') || typeof at !== 'number' || !Array.isArray(changes)) return null;
  const changed = changes.filter(isChanged).filter(isTraded);
  if (changed.length === 0) return null;
  const books = booksOfChanges(changed);
  return {
    at: typeof time === 'number' ? time : at,
    text: changesText(changed),
    run: typeof run === 'number' ? run : runInLines(lines),
    digest: typeof digest === 'string' && /^[0-9a-f]{64}$/.test(digest) ? digest : null,
    by: typeof by === 'string' && by !== '' ? by.slice(0, TEXT_MAX.name) : null,
    reason: typeof reason === 'string' && reason !== '' ? reason.slice(0, TEXT_MAX.reason) : null,
    profit: profitIn(profit),
    ...(books === undefined ? {} : { books }),
  };
}

const isChanged = (value: unknown): value is Pick<ConfigChange, 'key' | 'from' | 'to'> & { takesEffect?: unknown } => {
  const { key, from, to } = (value ?? {}) as Partial<Record<'key' | 'from' | 'to', unknown>>;
  const isText = (each: unknown) => each === null || typeof each === 'string';
  return typeof key === 'string' && isText(from) && isText(to);
};

/** Whether a stored change can affect trading. Without a known `takesEffect`, it may. */
const isTraded = ({ takesEffect }: { readonly takesEffect?: unknown }): boolean =>
  takesEffect !== 'live' && takesEffect !== 'elsewhere';

/** Returns the run in the lines of an entry of an older Puntas, which had no field for it; `null` if there is none. */
function runInLines(lines: unknown): number | null {
  if (!Array.isArray(lines)) return null;
  const run = lines.map(line => /^applied: run (\d{1,15}) resumed /.exec(String(line))?.[1]).find(each => each);
  return run === undefined ? null : Number(run);
}

function profitIn(value: unknown): ProfitSinceOpening | null {
  if (typeof value !== 'object' || value === null) return null;
  try {
    const profit = profitSinceOpeningOf(value as WrittenProfit);
    return typeof profit.at === 'number' ? profit : null;
  } catch {
    return null;
  }
}

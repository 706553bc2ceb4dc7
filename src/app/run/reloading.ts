/**
 * Reload of a running bot's configuration. The file is read and checked, the changes are listed, and all of them take
 * effect at a change of runs. On any error, the previous configuration stays in force.
 */
import { createHash } from 'node:crypto';
import {
  booksOf,
  changedBook,
  configChanges,
  isTradingChange,
  configOfBooks,
  strategyHashesIn,
  withFileIn,
  type Config,
  type ConfigChange,
  type FoundStrategyFile,
} from '../../config.ts';
import {
  describeRow,
  OrderBook,
  repeatEvery,
  type Balance,
  type Clock,
  type Engine,
  type EngineEvent,
  type Millis,
  type VenueClient,
} from '../../core/index.ts';
import { readOnce, readRulesOfBooks, valueOrCannotStart, type RulesOfBooks } from '../../live/loop/opening.ts';
import type { Reloaded } from '../../live/loop/recordingRotation.ts';
import type { Log } from '../../live/log.ts';
import { bookLatchIn, type BookLatch } from '../../live/safety/bookLatch.ts';
import { latchIn } from '../../live/safety/latch.ts';
import { pauseAt } from '../../live/safety/pauseWatch.ts';
import { isAboutCurrency } from '../../live/unreadableRows.ts';
import { writeLevels } from '../../marketdata/index.ts';
import type { CompleteTrades } from '../../live/market/pastTrades.ts';
import { readReference } from '../../live/market/reference.ts';
import type { Rules } from '../../live/rules.ts';
import type { MailMessage } from '../../live/mailbox/kinds.ts';
import type { ReloadBox } from '../../live/mailbox/mailbox.ts';
import { writtenProfit, type WrittenProfit } from '../../live/recording/ledgerText.ts';
import { referenceOf } from '../../wiring/bot.ts';
import type { StrategyApproval } from '../../wiring/configFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { limitedCall } from '../../../strategies/index.ts';
import { sentenceOf } from '../../messages/exits.ts';
import { nextPreviews, pastTradesOfRun, quotesBeside, quotesNothing, type PreviewedBook } from './nextQuotes.ts';

/** Configuration file of the bot. */
export type ConfigSource = {
  readonly file: string;
  /** Configuration as read at the start, before flags changed it. */
  readonly given: Config;
  /**
   * Reads the configuration file, and runs its strategy file if `assertApproved` does not throw.
   * @throws UsageError with all errors, or the error of `assertApproved`.
   */
  read(assertApproved: StrategyApproval): GivenConfig;
  /**
   * Reads the configuration file, but does not run its strategy file.
   * @throws UsageError with all errors.
   */
  inspect(): GivenConfig;
  /** Receives the names of the strategy files in force after each reload, applied or refused. */
  settle?(strategies: readonly string[]): void;
};

/** Configuration as read, with the text of its file. */
type GivenConfig = { readonly config: Config; readonly text: string };

export type ReloadHost = {
  readonly clock: Clock;
  readonly log: Log;
  readonly client: VenueClient;
  readonly box: ReloadBox;
  readonly source: ConfigSource;
  /** Keys that this bot applies only at a start, even if the schema allows a reload. */
  readonly onlyAtStart: readonly string[];
  readonly engine: () => Engine;
  readonly time: () => Millis;
  /** Current configuration. */
  readonly config: () => Config;
  /** Number of the current run. */
  readonly run: () => number;
  /** Last known rules of the books of the current run. */
  readonly lastRules: () => RulesOfBooks;
  /** Resolves to the complete trades of a book in the current run; `null` if there are none. Default: none. */
  readonly tradesOfRun?: (instrument: Rules['instrument']) => Promise<CompleteTrades | null>;
  /**
   * Repeats those checks of a start that depend only on the exchanges in the configuration.
   * @throws UsageError with the reason.
   */
  readonly assertUsable: (config: Config) => void;
  /**
   * Asserts that a strategy file may run without an approval by its digest.
   * @throws UsageError otherwise.
   */
  readonly assertKnown: (found: FoundStrategyFile) => void;
  /**
   * Applies a new configuration. `hasRun`: whether the change needs a new run; otherwise only the log level changes.
   */
  readonly take: (config: Config, hasRun: boolean) => Promise<Reloaded>;
};

/** Reload request. Requests by SIGHUP have no id and no digest. */
export type ReloadAsk = Omit<MailMessage<'reload'>, 'at'>;

/** Configuration that took effect: its run, time by the bot's clock, digest of its file, and the profit until then. */
export type EffectiveNote = {
  /** Run that started with it; `null` if the current run continued. */
  readonly run: number | null;
  readonly time: Millis;
  /** `reloadDigestOf` of the file; `null` if the file no longer has this configuration. */
  readonly digest: string | null;
  /** Booked profit since the opening of the ledger; `null` with several books, or if the time of the opening is unknown. */
  readonly profit: WrittenProfit | null;
};

const LOOK_EVERY_MS = 1_000;

/** Answer to a reload request, the changes of the file, and, if they took effect, the note about it. */
type Applied = Omit<MailMessage<'reloadAnswer'>, 'id'> & {
  readonly changes: readonly ConfigChange[];
  readonly note?: EffectiveNote;
};

/** Changes at a start; `digest` and `run` as in `EffectiveNote`. */
type Starting = Pick<EffectiveNote, 'digest' | 'run'> & { readonly changes: readonly ConfigChange[] };

export class Reloading {
  readonly #host: ReloadHost;
  #given: Config;
  #underWay: Promise<void> = Promise.resolve();
  /** Changes of the start that are not yet in the log of reloads; `null` if there are none. */
  #starting: Starting | null = null;

  constructor(host: ReloadHost) {
    this.#host = host;
    this.#given = host.source.given;
  }

  /** Polls for requests until stopped, and ignores requests to an earlier process. */
  start(): { stop(): Promise<void> } {
    const { box, clock, log } = this.#host;
    quietly(log, () => box.take());
    const timer = repeatEvery(clock, LOOK_EVERY_MS, () => {
      this.#endStart(false);
      quietly(log, () => {
        const asked = box.waiting(sentence => log.warn({}, sentence));
        if (asked === null) return;
        box.take();
        this.ask(asked);
      });
    });
    return {
      stop: () => {
        timer.stop();
        this.#endStart(true);
        return this.#underWay;
      },
    };
  }

  /**
   * Adds the changes of trading since the last recorded run, if any, to the log of reloads. The note waits until the
   * profit is known at a mid price of this run, so the price move of a stop belongs to the previous configuration.
   */
  noteStart(all: readonly ConfigChange[]): void {
    const changes = all.filter(isTradingChange);
    if (changes.length === 0) return;
    this.#starting = { changes, digest: this.#startDigest(), run: this.#host.run() };
    this.#endStart(false);
  }

  /** Writes the pending note of the start, if any. `isLast`: do not wait for the profit any longer. */
  #endStart(isLast: boolean): void {
    const { box, clock, log, engine, time } = this.#host;
    const starting = this.#starting;
    if (starting === null) return;
    let isKnown = false;
    quietly(log, () => {
      const { books } = engine();
      const { known, bid, ask } = books[0]!.snapshot(time());
      isKnown = books.length > 1 || (known.trades !== null && bid > 0 && ask > 0);
    });
    if (!isKnown && !isLast) return;
    this.#starting = null;
    const { changes, digest, run } = starting;
    const note = { ...this.#effective(digest, run), ...(isKnown ? {} : { profit: null }) };
    quietly(log, () =>
      box.note({ at: clock.now(), by: 'start', reason: 'restart', end: 'started', lines: [], changes, ...note }),
    );
  }

  /** Returns the digest of the file; `null` if the file has changed since the start or cannot be read. */
  #startDigest(): string | null {
    try {
      const { config, text } = this.#host.source.inspect();
      const isSame = configChanges(config, comparableTo(config, this.#given)).length === 0;
      return isSame ? reloadDigestOf(text, config) : null;
    } catch {
      return null;
    }
  }

  /** Returns the note about the configuration in force. It never throws, because a change has already taken effect. */
  #effective(digest: string | null, run: number | null): EffectiveNote {
    const { engine, time, log } = this.#host;
    const at = time();
    let profit: WrittenProfit | null = null;
    quietly(log, () => {
      // At a change of runs, trades that were not read yet are booked later, and then belong to the new configuration.
      const { books } = engine();
      const { sinceOpening } = books[0]!.snapshot(at).booked;
      if (sinceOpening.since !== null && books.length === 1) profit = writtenProfit(sinceOpening);
    });
    return { run, time: at, digest, profit };
  }

  /** Handles reload requests one after another, in order of arrival. */
  ask(asked: ReloadAsk): void {
    const { box, clock, log } = this.#host;
    this.#underWay = this.#underWay.then(async () => {
      if (!asked.isPreview) this.#endStart(true);
      const {
        changes,
        note = {},
        ...answer
      } = await this.#apply(asked).catch((error: unknown): Applied => ({
        ...kept(error instanceof UsageError ? error.message.split('\n') : [sentenceOf(error)]),
        changes: [],
      }));
      const { source, config } = this.#host;
      source.settle?.(withFileIn(config()).map(({ strategy }) => strategy.name));
      const { by, reason } = asked;
      // A preview changes nothing, and the bot does not know the part that the asking command adds.
      if (asked.isPreview) log.info({ by, reason }, 'reload: previewed');
      else if (answer.end === 'kept') log.warn({ by, reason }, `reload: ${answer.lines.join('; ')}`);
      else for (const line of answer.lines) log.info({ by, reason }, `reload: ${line}`);
      quietly(log, () => {
        if (!asked.isPreview && (answer.end === 'taken' || answer.end === 'kept'))
          box.note({ at: clock.now(), by, reason, ...answer, changes, ...note });
        box.answer({ id: asked.id, ...answer });
      });
    });
  }

  async #apply(asked: ReloadAsk): Promise<Applied> {
    const { config, assertUsable, take } = this.#host;
    const given = this.#read(asked);
    // A preview runs no strategy file. The asking command compares the keys of the file, and computes the quotes.
    const isShown = ({ key }: ConfigChange) => !(asked.isPreview && isOwnStrategyKey(key, given.config));
    const changes = configChanges(this.#given, given.config).filter(isShown);
    const { books, strategyFailures: failed } = this.#host.engine();
    if (changes.length === 0 && failed.length === 0)
      return { end: 'nothing to do', lines: ['nothing has changed'], changes };
    const refused = refusedChanges(changes, this.#host.onlyAtStart);
    if (refused.length > 0) return { ...kept(refused), changes };
    const next = withOwn(given.config, config());
    assertUsable(next);
    // The strategies of a new run are made again, without the errors.
    const hasRun = failed.length > 0 || changes.some(({ takesEffect }) => takesEffect === 'reload');
    const again = failed.map(
      ({ symbol, failure }) =>
        `the strategy${books.length > 1 ? ` of ${symbol}` : ''} is made again, because ${failure}`,
    );
    // The asking command shows the quotes of strategy files, which this process does not run for a preview.
    const hidden = asked.isPreview ? withFileIn(given.config).map(({ book }) => book) : [];
    const hasQuotes = hasRun && booksOf(given.config).some(({ book }) => !hidden.includes(book));
    const shown = [
      ...changes.map(changeText),
      ...again,
      ...(hasQuotes ? await this.#quotes(next, changes, hidden) : []),
    ];
    if (asked.isPreview) return { end: 'shown', lines: shown, changes };
    const end = await take(next, hasRun);
    if (end.kind === 'kept') return { ...kept([...shown, whyKept(end)]), changes };
    this.#given = given.config;
    const taken = hasRun
      ? `applied: run ${end.run} resumed with the new configuration after ${(end.ms / 1000).toFixed(1)} s`
      : 'applied; no quote was moved';
    const note = this.#effective(reloadDigestOf(given.text, given.config), hasRun ? end.run : null);
    return { end: 'taken', lines: [...shown, taken], changes, note };
  }

  /**
   * Reads the configuration file. The strategy file runs only for a reload, and only if its text is approved: by the
   * digest of the request or, for a request without a digest, by the configuration or an earlier run.
   * @throws UsageError if the file has errors, or differs from the file of the request.
   */
  #read({ digest, isPreview }: ReloadAsk): GivenConfig {
    const { source, assertKnown } = this.#host;
    const assertAsked = (found: string): void => {
      if (digest !== null && digest !== found)
        throw new UsageError(
          `${source.file}, the file of this bot, differs from the previewed file; pass the bot's own file, or try again`,
        );
    };
    let inspected: GivenConfig | null = null;
    const given = isPreview
      ? source.inspect()
      : source.read((found, text) => {
          if (digest === null) return assertKnown(found);
          // The digest is that of all strategy files, and is compared before the first of them runs.
          inspected ??= source.inspect();
          const isInspected = text === inspected.text && strategyHashesIn(inspected.config).includes(found.sha256);
          assertAsked(isInspected ? reloadDigestOf(text, inspected.config) : digestWith(text, [found.sha256]));
        });
    assertAsked(reloadDigestOf(given.text, given.config));
    return given;
  }

  /**
   * Returns lines that compare the current quotes with the quotes of the next configuration. With several books, only
   * the quotes of books with a change are compared. The quotes of books in `hidden` are neither compared nor checked.
   * @throws UsageError if a book would not quote, or if trading would halt immediately.
   */
  async #quotes(next: Config, changes: readonly ConfigChange[], hidden: readonly string[]): Promise<readonly string[]> {
    const { client, engine, lastRules, time, tradesOfRun } = this.#host;
    const configs = booksOf(next);
    const found: (Omit<PreviewedBook, 'running'> & { readonly trades: CompleteTrades | null })[] = [];
    for (const config of configs) {
      const { rules, removed } = await readRulesOfBooks(client, [config.book], null, readOnce, lastRules());
      const reference = await this.#reference(config, rules);
      const quoted = engine().books.find(({ symbol }) => symbol === config.book);
      // A run has complete trades of a book only if its strategy needs a history.
      const trades = (quoted?.historyMs ?? 0) > 0 ? ((await tradesOfRun?.(rules.instrument)) ?? null) : null;
      found.push({
        ...{ rules, reference, trades, isRemoved: removed?.includes(config.book) === true },
        ...(quoted === undefined ? { added: await this.#added(config, rules) } : {}),
      });
    }
    const balances = await this.#newBalances(found.map(({ rules }) => rules));
    const [running, at] = [engine(), time()];
    const runningOf = (book: string) => running.books.find(({ symbol }) => symbol === book) ?? null;
    const books = found.map(({ trades, ...one }, i) => ({
      ...one,
      running: runningOf(configs[i]!.book),
      pastTrades: (ms: Millis) => pastTradesOfRun(trades, at, ms),
    }));
    const previews = nextPreviews(next, books, running, at, balances, limitedCall);
    const isNamed = configs.length > 1 || running.books.length > 1;
    const isShown = (book: string) => !isNamed || changes.some(change => concerns(change, book));
    const lines: string[] = [];
    for (const [i, preview] of previews.entries()) {
      const [{ running: book, rules, added = null }, { book: symbol }] = [books[i]!, configs[i]!];
      if (hidden.includes(symbol)) continue;
      const nothing = quotesNothing(preview, { book: book ?? added }, at);
      if (nothing !== null) throw new UsageError(isNamed ? `${symbol}: ${nothing}` : nothing);
      if (isShown(symbol)) lines.push(...(isNamed ? [`${symbol}:`] : []), ...quotesBeside({ book }, preview, rules));
    }
    return lines;
  }

  /** Reads the order book of a book that the running engine does not have, and the stops that apply to it. */
  async #added({ book, state }: Config, { instrument }: Rules): Promise<NonNullable<PreviewedBook['added']>> {
    const { client, engine } = this.#host;
    const read = valueOrCannotStart(`read the order book of ${book}`, await client.orderBook(book));
    const shown = new OrderBook();
    const damage = writeLevels(read, instrument, shown);
    if (damage !== null) throw new UsageError(`${book}: the order book cannot be read: ${damage}`);
    const [ofBook, ofAccount] = [bookLatchIn(state.dir, book), latchIn(state.dir)];
    const reasonOf = (of: (latch: BookLatch) => { readonly reason: string } | null) =>
      (of(ofBook) ?? of(ofAccount))?.reason ?? null;
    return {
      book: shown,
      haltedBecause: reasonOf(latch => latch.read()) ?? haltOfAll(engine(), state.dir),
      reducingBecause: reasonOf(latch => latch.readReduce()),
      pausedBecause: reasonOf(latch => pauseAt(latch, this.#host.clock.now())),
    };
  }

  /** Reads the balances of the currencies that only the next configuration has. */
  async #newBalances(rules: readonly Rules[]): Promise<readonly Balance[]> {
    const { client, engine, time } = this.#host;
    const { holdings } = engine().books[0]!.snapshot(time()).booked;
    const added = new Set(
      rules.flatMap(({ instrument: { major, minor } }) => [major, minor]).filter(currency => !holdings.has(currency)),
    );
    if (added.size === 0) return [];
    const outcome = await client.balances({ also: [...added] });
    const all = valueOrCannotStart('read balance', outcome);
    const unreadable = (outcome.kind === 'done' && outcome.unreadable) || [];
    const unread = unreadable.find(row => isAboutCurrency(row, [...added]) !== 'no');
    if (unread !== undefined)
      throw new UsageError(
        `balance of ${[...added].join(', ')}: cannot be read: ${describeRow(unread)}; reload again later`,
      );
    return all.filter(({ currency }) => added.has(currency));
  }

  /** Reads the current reference price; `null` if there is none. */
  async #reference(next: Config, { instrument }: Rules): Promise<Extract<EngineEvent, { kind: 'reference' }> | null> {
    const reference = referenceOf(next);
    if (reference === undefined) return null;
    const { client: exchange, time } = this.#host;
    try {
      const read = await readReference({ exchange, instrument: () => instrument, time }, reference);
      return read?.kind === 'reference' ? read : null;
    } finally {
      await reference.close();
    }
  }
}

/** Returns why a reload was refused, with the remedy. */
const whyKept = ({ why, remedy }: Extract<Reloaded, { kind: 'kept' }>): string =>
  remedy === undefined ? why : `${why}; ${remedy}`;

/** Returns the halt of an engine that is not of one book alone, also if the disk did not accept it; `null` if none. */
function haltOfAll({ books }: Engine, dir: string): string | null {
  const isOfAll = ({ symbol, haltedBecause }: (typeof books)[number]) =>
    haltedBecause !== null && bookLatchIn(dir, symbol).read()?.reason !== haltedBecause;
  return books.find(isOfAll)?.haltedBecause ?? null;
}

/** Returns the SHA-256 (hex) of a text. */
export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * Returns the digest of what a reload applies: that of the configuration's text, or, with strategy files, of this text
 * and their SHA-256.
 */
export const reloadDigestOf = (text: string, config: Config): string => digestWith(text, strategyHashesIn(config));

const digestWith = (text: string, strategyHashes: readonly string[]): string =>
  digestOf([text, ...strategyHashes].join('\0'));

/** Whether a key belongs to the section of a strategy file, whose parameters are known only to the file. */
export const isOwnStrategyKey = (key: string, config: Config): boolean =>
  withFileIn(config).some(({ book }) => {
    const start = `books.${book}.`;
    const own = key.startsWith(start) ? key.slice(start.length) : config.books === undefined ? key : '';
    return own === 'strategy' || own.startsWith('strategy.');
  });

/**
 * Returns a recorded configuration with only those parameters of its strategy files that the same book of `config` sets:
 * the defaults of the others are known only to the file, which is not run here.
 */
export function comparableTo(config: Config, recorded: Config): Config {
  const given = booksOf(config);
  if (recorded.books === undefined && given.length === 1) return comparableBook(config, recorded);
  return configOfBooks(
    booksOf(recorded).map(one => {
      const same = given.find(({ book }) => book === one.book);
      return same === undefined ? one : comparableBook(same, one);
    }),
  );
}

function comparableBook({ strategy: given }: Config, recorded: Config): Config {
  const { strategy } = recorded;
  if (!('file' in given) || !('file' in strategy)) return recorded;
  const { name, file: _, ...own } = strategy;
  const isSet = ([key]: readonly [string, unknown]) => key in given;
  return {
    ...recorded,
    strategy: { name, file: given.file, ...Object.fromEntries(Object.entries(own).filter(isSet)) } as never,
  };
}

/** Whether a change is of a book, or of a section that all books share. */
export function concerns({ key }: ConfigChange, symbol: string): boolean {
  const [first, book] = key.split('.');
  return first !== 'books' || book === undefined || book === symbol;
}

/** Returns a line for each change that needs a restart. `onlyAtStart` lists additional keys that need a restart. */
export const refusedChanges = (changes: readonly ConfigChange[], onlyAtStart: readonly string[]): readonly string[] =>
  changes
    .filter(({ key, takesEffect }) => takesEffect === 'restart' || onlyAtStart.includes(key))
    .map(
      change => `${changeText(change)}: ${change.key === 'book' ? OTHER_BOOK : 'takes effect only after a restart'}`,
    );

const OTHER_BOOK =
  'the state directory is bound to the first book; keep this book first, or start another bot with its own state.dir';

/** Formats a change, such as `strategy.halfSpreadBps: 11 -> 13`. */
export function changeText(change: ConfigChange): string {
  const { key, from, to, takesEffect } = change;
  const listed = changedBook(change);
  if (listed !== null)
    return listed.isAdded
      ? `${key}: added; it is quoted from its stored state, if there is one`
      : `${key}: removed; its orders are canceled and verified, and its state is kept`;
  return `${key}: ${from ?? 'not set'} -> ${to ?? 'not set'}${takesEffect === 'elsewhere' ? ' (not read by a running bot)' : ''}`;
}

/** Returns the given configuration, in which the sections that a reload cannot change have the running bot's values. */
export const withOwn = (
  given: Config,
  { book, instance, exchange, paper, metrics, state, webhooks }: Config,
): Config => ({
  ...given,
  ...{ book, instance, exchange, paper, metrics, state, webhooks },
});

/** Last line of the answer to a request that applied nothing. */
export const KEPT_TEXT = 'no change was applied; the previous configuration stays in force';

const kept = (lines: readonly string[]) => ({ end: 'kept', lines: [...lines, KEPT_TEXT] }) as const;

/** Runs `work` and logs its errors: an answer that cannot be written must not stop the bot. */
function quietly(log: Log, work: () => void): void {
  try {
    work();
  } catch (error) {
    log.warn({ error: String(error) }, 'cannot read the reload request, or cannot write its answer');
  }
}

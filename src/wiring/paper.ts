/**
 * Paper trading: an embedded exchange in this process whose market follows another exchange, with play money. The
 * followed exchange is read without a key.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  counted,
  moneyOf,
  pairOf,
  randomOf,
  Secret,
  sleep,
  textOfAmount,
  textOfError,
  textOfMoney,
  type Amount,
  type AvailableBook,
  type VenueClient,
  type Clock,
  type Exchange,
  type Instrument,
  type Transport,
  type StreamTransport,
} from '../core/index.ts';
import {
  booksOf,
  symbolsOf,
  booksText,
  externalReferenceOf,
  readsPerMinute,
  type Config,
  type RemoteSettings,
} from '../config.ts';
import { fittedModel, levelModel, type FillModel } from '../fills/index.ts';
import { Follower } from '../live/market/follower.ts';
import { logOfBook, type Log } from '../live/log.ts';
import { CannotStart, NO_SUCH_BOOK, readBookRow, repeatIfUnknown, valueOrCannotStart } from '../live/loop/opening.ts';
import { claimStateDir } from '../live/files/stateDir.ts';
import {
  openPaperAccount,
  PAPER_ACCOUNT_FILE,
  paperAccountProblem,
  readPaperAccount,
} from '../live/state/paperAccount.ts';
import { claimState } from '../live/state/paperMark.ts';
import type { Owner } from '../live/state/owner.ts';
import { lookInto } from '../live/state/stateSummary.ts';
import {
  booksOfRows,
  feesOf,
  FollowedMarket,
  inProcessStream,
  paperTransport,
  type EmbeddedExchange,
  type FollowedCounts,
  type FollowedQueues,
  NewerStoredAccount,
  OtherStoredAccount,
  StoredExchange,
  UnrestorableAccount,
  type AccountPurpose,
  type RowStore,
  type StoredExchangeOptions,
} from '../sandbox/index.ts';
import type { VenueAccess } from './bot.ts';
import { readFittedFile, type FittedFile } from './fitted/fittedFile.ts';
import { withoutElsewhere } from './elsewhereHedging.ts';
import { UsageError } from './usageError.ts';
import { venueOf } from './venueRegistry.ts';

export type PaperOptions = {
  readonly log: Log;
  /** Whether to leave the paper account unchanged, for a command that only shows quotes. */
  readonly isReadOnly?: boolean;
  /** Moves an earlier account aside, once a new account can be opened; absent if the account continues. */
  readonly setAside?: (purpose: AccountPurpose) => Promise<void>;
  readonly seed: number;
  /** Transports that replace sockets to the followed exchange. */
  readonly transports?: { readonly rest: Transport; readonly stream?: StreamTransport };
  /** Called with an error if an internal invariant is broken. */
  readonly onBroken: (error: unknown) => void;
};

export type Paper = {
  /** Configuration of the bot's run: on the embedded exchange, with a state directory that no live run opens. */
  readonly config: Config;
  readonly venue: VenueAccess;
  readonly exchange: EmbeddedExchange;
  readonly account: { readonly id: string };
  /** Whether the followed exchange lists fee tiers, so that `paper.volume30d` has an effect. */
  readonly hasTiers: boolean;
  /** Returns the counts of a book, by default of the first. */
  counts(book?: string): FollowedCounts;
  stop(): Promise<void>;
};

const READY_WITHIN_MS = 15_000;
const READS_SHARE = 0.9;
/**
 * Volume bound of the single fee tier that is used if the exchange lists no tiers. No account reaches this volume
 * (public facts 4.1).
 */
const NO_BOUND = '9999999999';

/**
 * Resolves when all followed books are available. Rejects with a one-line error if a book cannot be followed, or if the
 * configuration is incomplete.
 */
export async function openPaper(config: Config, clock: Clock, options: PaperOptions): Promise<Paper> {
  const { book, paper } = config;
  const symbols = symbolsOf(config);
  const [followed, balances] = [followedBy(config), balancesOf(config)];
  const { log, seed } = options;
  const fitted = fittedOf(config);
  if (fitted !== null && fitted.fallback !== null)
    log.warn({ book, reason: fitted.fallback }, `fill model fitted works like expected: ${fitted.fallback}`);
  const there = venueOf(config);
  const client = there.connect({
    clock,
    random: randomOf(seed ^ 0x9a),
    restUrl: there.restUrl(followed.restUrl),
    transport: options.transports?.rest,
    deadlineMs: followed.requestTimeoutMs,
    budgets: { public: followed.budgets.publicPerMinute },
  });
  const ends: (() => unknown)[] = [() => client.close()];
  const stop = async () => {
    for (const end of ends.reverse()) await end();
  };
  try {
    const listed = listedOnce(client);
    const rows: AvailableBook[] = [];
    for (const symbol of symbols) rows.push(await readBookRow(listed, symbol));
    for (const line of unusedFees(rows, paper)) log.warn({ book }, line);
    const purpose = { follows: followed.restUrl, book, instance: config.instance };
    const opening = {
      ...exchangeOptions(rows, paper, clock, seed),
      ...{ purpose, balances, otherBooks: symbols.slice(1) },
      volume30d: Object.fromEntries(rows.map(row => [groupOf(row), paper.volume30d])),
    };
    if (options.setAside) {
      await assertCanOpen(client, opening);
      await options.setAside(purpose);
    }
    const store = await storeOf(paper.stateDir, clock, options.isReadOnly === true);
    ends.push(() => store.close());
    // Books that only an earlier run had are still listed, so that the bot can settle its canceled orders there.
    const earlier = continued(paper.stateDir, () => booksOfRows(store.read())).filter(one => !symbols.includes(one));
    const known: AvailableBook[] = [];
    for (const one of earlier) known.push(...(await listedRow(listed, one)));
    const owner = options.isReadOnly === true ? null : await ledgerOwner(paper.stateDir, clock);
    const stored = continued(
      paper.stateDir,
      () =>
        new StoredExchange({
          ...opening,
          ...exchangeOptions([...rows, ...known], paper, clock, seed),
          store,
          ledger: owner?.paperAccount ?? null,
          onUnwritten: error =>
            log.error(
              { reason: textOfError(error) },
              `${paperAccountProblem(paper.stateDir, error).message}; paper trading answers no request until the account can be written`,
            ),
          onWritten: () =>
            log.info({ book }, `the paper account in ${paper.stateDir} can be written again; paper trading continues`),
        }),
    );
    const { box, account } = stored;
    ends.push(() => stored.close());
    if (options.isReadOnly !== true) for (const line of accountLines(stored, balances)) log.info({ book }, line);
    for (const one of box.venue.books.keys()) box.marketplace(one).feed.isWithheld = true;
    const markets = new Map<string, FollowedBook>();
    /** Withholds stream frames of each book without a current market; without any, also the signs of life. */
    const showFresh = () => {
      for (const [one, { follower }] of markets) box.marketplace(one).feed.isWithheld = !follower.isFresh;
      const isFresh = [...markets.values()].some(({ follower }) => follower.isFresh);
      box.venue.set({ streamFrames: isFresh ? 'sent' : 'withheld' });
    };
    for (const [i, one] of symbols.entries()) {
      const market = followBook({ config, clock, options, followed, client, stored, fitted, book: one, i, showFresh });
      markets.set(one, market);
      ends.push(() => market.follower.stop());
    }
    for (const { follower } of markets.values()) follower.start();
    for (const [one, { follower }] of markets)
      await arrival(follower, clock, `read the order book of ${one} from ${followed.restUrl}`);
    for (const [one, { market }] of markets)
      await uncrossed(market, clock, log, `${followed.restUrl}: the order book of ${one} is crossed`);
    const venue: VenueAccess = {
      restUrl: 'http://127.0.0.1/api',
      key: account.key,
      secret: new Secret(account.secret),
      speed: 1,
      // Identifies the account in the bot's state, so it must not change while the account continues.
      born: stored.openedAt,
      transport: paperTransport({
        respond: stored.respond,
        clock,
        books: symbols,
        latencyMs: paper.latencyMs,
        hasMarketData: one => markets.get(one)!.follower.isFresh,
        followedExchange: client,
      }),
      streamTransport: inProcessStream(box.stream, clock),
      paper: {
        opens: stored.opens,
        start: stored.start,
        follows: followed.restUrl,
        followed: client,
        fills: paper.fills,
        outcome: () => outcomeOf(markets),
      },
    };
    return {
      config: runsWith(withFittedHash(config, fitted), followed, balances, [...symbols, ...earlier]),
      hasTiers: rows.some(row => row.tiers.length > 0),
      venue,
      exchange: box,
      account,
      counts: (one = book) => markets.get(one)!.market.counts(),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Returns an access to the list of the followed exchange's books that reads the list once for all books. Unreadable rows
 * stay in the list, and `readBookRow` judges them.
 */
function listedOnce(client: Pick<Exchange, 'availableBooks'>): Pick<Exchange, 'availableBooks'> {
  let list: Awaited<ReturnType<Exchange['availableBooks']>> | null = null;
  return {
    availableBooks: async () => {
      if (list?.kind !== 'done') list = await client.availableBooks();
      return list;
    },
  };
}

/** Returns the row of a book in the list; nothing for a book that the exchange no longer lists. */
async function listedRow(listed: Pick<Exchange, 'availableBooks'>, book: string): Promise<readonly AvailableBook[]> {
  try {
    return [await readBookRow(listed, book)];
  } catch (error) {
    if (error instanceof CannotStart && error.code === NO_SUCH_BOOK) return [];
    throw error;
  }
}

type FollowedBook = { readonly market: FollowedMarket; readonly follower: Follower; readonly instrument: Instrument };

type Following = {
  readonly config: Config;
  readonly clock: Clock;
  readonly options: PaperOptions;
  readonly followed: RemoteSettings;
  readonly client: VenueClient;
  readonly stored: StoredExchange;
  readonly fitted: FittedFile | null;
  readonly book: string;
  /** Place of the book in the configuration. */
  readonly i: number;
  /** Called when the market of the book becomes current or stale. */
  readonly showFresh: () => void;
};

/** Connects one book to its followed market, without starting to follow it. */
function followBook({ config, clock, options, followed, client, stored, fitted, book, i, showFresh }: Following) {
  const { log, onBroken } = options;
  // No two books have the same random numbers.
  const seed = options.seed ^ (i << 16);
  const place = stored.box.marketplace(book);
  const queues: FollowedQueues = {
    arrivals: () => follower.queues.arrivals(),
    lotsUpTo: (side, price, arrival) => follower.queues.lotsUpTo(side, price, arrival),
  };
  const { model, isExpected } = modelOf(config, fitted, seed);
  const market = new FollowedMarket(place, model, isExpected ? queues : null);
  const sink = continued(config.paper.stateDir, () => stored.follow(market, () => follower.freshAt, book));
  const streamWay = streamWayOf(followed, options.transports);
  const follower: Follower = new Follower({
    exchange: client,
    stream:
      streamWay &&
      venueOf(config).marketStream?.({ clock, random: randomOf(seed ^ 0x9b), book, exchange: client, ...streamWay }),
    sink,
    clock,
    log: config.books === undefined ? log : logOfBook(log, book),
    instrument: place.instrument,
    pollMs: config.timing.bookPollMs,
    readsPerMinute: bookReadsPerMinute(config, followed),
    onFresh: showFresh,
    onBroken,
  });
  return { market, follower, instrument: place.instrument };
}

/**
 * Reads the parameters of the fill model `fitted`; `null` for other models. Throws `UsageError` if they cannot be used.
 */
function fittedOf({ paper, book, books }: Config): FittedFile | null {
  if (paper.fills !== 'fitted' || paper.fittedFile === undefined) return null;
  if (books !== undefined && books.length > 1)
    throw new UsageError(
      `paper.fills: expected pessimistic, expected or optimistic with several books, found fitted, whose parameters are those of one book`,
    );
  const found = readFittedFile(paper.fittedFile, book);
  if (typeof found === 'string') throw new UsageError(`paper.fittedFile: ${found}`);
  if (paper.fittedSha256 !== undefined && paper.fittedSha256 !== found.hash)
    throw new UsageError(
      `paper.fittedFile: ${paper.fittedFile}: expected the SHA-256 hash of paper.fittedSha256 (${paper.fittedSha256}), found ${found.hash}`,
    );
  return found;
}

/**
 * Returns the fill model, and whether it estimates queues that an exchange may publish. Without a usable fit, the model
 * is `expected`.
 */
function modelOf(
  { paper: { fills } }: Config,
  fitted: FittedFile | null,
  seed: number,
): { readonly model: FillModel; readonly isExpected: boolean } {
  if (fills !== 'fitted') return { model: levelModel(fills), isExpected: fills === 'expected' };
  if (fitted === null || fitted.fallback !== null) return { model: levelModel('expected'), isExpected: true };
  const random = randomOf(seed ^ 0x9c);
  return { model: fittedModel(fitted.hypotheses, () => random.next()), isExpected: false };
}

/** Adds the hash of the parameters, so that a recording and a promotion know which fit the fills came from. */
const withFittedHash = (config: Config, fitted: FittedFile | null): Config =>
  fitted === null ? config : { ...config, paper: { ...config.paper, fittedSha256: fitted.hash } };

/** Returns the name of the quote currencies whose volume counts together for the fee tier of a book. */
const groupOf = ({ book }: AvailableBook): string => feesOf(pairOf(book)[1]).group;

/** Returns the options of the embedded exchange with the followed books' rules and the configured latency. */
const exchangeOptions = (rows: readonly AvailableBook[], paper: Config['paper'], clock: Clock, seed: number) => ({
  clock,
  seed,
  books: rows.map(row => ({ ...row, fees: { group: groupOf(row), tiers: tiersOf(row, paper.fees) } })),
  // Market data already arrives with the delay of its real transport. Orders and cancels have no real delay, so they
  // get the configured latency.
  switches: {
    engineDelayMinMs: paper.latencyMs,
    engineDelayMaxMs: paper.latencyMs,
    cancelTiming: 'queued',
    streamFrames: 'withheld',
  } as const,
});

/** Returns the rows of the paper account: its file, or with `isReadOnly` a copy of its rows in memory. */
async function storeOf(dir: string, clock: Clock, isReadOnly: boolean): Promise<RowStore & { close(): void }> {
  try {
    if (isReadOnly) {
      const rows = await readPaperAccount(dir, clock);
      return { read: () => rows, write: () => undefined, close: () => undefined };
    }
    claimState(dir, true);
    claimStateDir(dir);
    await assertNoPaperLedger(dir, clock);
    return openPaperAccount(dir);
  } catch (error) {
    throw asUsageError(textOfError(error), error);
  }
}

type Opening = Omit<StoredExchangeOptions, 'store' | 'onUnwritten' | 'onWritten'>;

/** Rejects if a followed book cannot be read, or if no account could be opened with these options. */
async function assertCanOpen(client: Pick<Exchange, 'orderBook'>, opening: Opening): Promise<void> {
  for (const book of [opening.purpose.book, ...(opening.otherBooks ?? [])])
    valueOrCannotStart(`read the order book of ${book}`, await repeatIfUnknown(() => client.orderBook(book)));
  const store: RowStore = { read: () => [], write: () => undefined };
  new StoredExchange({ ...opening, store, onUnwritten: () => undefined, onWritten: () => undefined }).close();
}

/** Returns the owner of a ledger; `null` without a ledger. Rejects with a `UsageError` if the ledger cannot be read. */
async function ledgerOwner(dir: string, clock: Clock): Promise<Owner | null> {
  const look = await lookInto(dir, clock).catch((error: unknown) => {
    throw asUsageError(textOfError(error), error);
  });
  return look?.owner ?? null;
}

/** Rejects if the account file is missing, but the state directory has the ledger of a paper account. */
async function assertNoPaperLedger(dir: string, clock: Clock): Promise<void> {
  if (existsSync(join(dir, PAPER_ACCOUNT_FILE))) return;
  const owner = await ledgerOwner(dir, clock);
  if (owner?.paperAccount !== undefined)
    throw new Error(
      `the state directory ${dir} has the ledger of a paper account, but the account file ${PAPER_ACCOUNT_FILE} is missing; put the file back, or start a new account and ledger with puntas run --paper --fresh`,
    );
}

/** Calls a step that opens the account. Throws a `UsageError` with the remedy if the account cannot be continued. */
function continued<T>(dir: string, step: () => T): T {
  try {
    return step();
  } catch (error) {
    const why = `the paper account in ${dir} cannot be continued: ${textOfError(error)}`;
    if (error instanceof NewerStoredAccount) throw asUsageError(why, error);
    if (error instanceof OtherStoredAccount)
      throw asUsageError(`${why}; give this bot its own paper.stateDir, or move the directory to another name`, error);
    if (error instanceof UnrestorableAccount)
      throw asUsageError(
        `${why}; restore ${dir} from a copy, or start a new account with puntas run --paper --fresh`,
        error,
      );
    if (/SQLITE_|SqliteError/.test(`${(error as NodeJS.ErrnoException).code ?? ''} ${(error as Error).name}`))
      throw asUsageError(paperAccountProblem(dir, error).message, error);
    throw error;
  }
}

function asUsageError(text: string, cause: unknown): UsageError {
  const wrong = new UsageError(text);
  wrong.cause = cause;
  return wrong;
}

/** Returns the lines about an account that was opened or continues. */
function accountLines(stored: StoredExchange, balances: Readonly<Record<string, string>>): readonly string[] {
  const { isContinued, openedAt, liveOrders, account, box, openedWith, addedBalances } = stored;
  const held = box.venue.accounts.get(account.id)!;
  const sums = [...held.currencies()].map(currency => `${textOfMoney(held.total(currency))} ${currency}`);
  if (!isContinued) return [`opened a new paper account: ${sums.join(', ')}`];
  const added = Object.entries(addedBalances).map(([currency, text]) => `${text} ${currency}`);
  const opened = new Date(openedAt).toISOString().slice(0, 16).replace('T', ' ');
  return [
    `continuing the paper account opened ${opened} UTC: ${sums.join(', ')}; orders left by the last run: ${liveOrders}`,
    ...(added.length === 0 ? [] : [`added to the paper account for its new books: ${added.join(', ')}`]),
    ...(isEqualBalances(openedWith, balances)
      ? []
      : [
          'paper.balances was changed and has no effect on the open account; to start a new account with the new balances, add --fresh',
        ]),
  ];
}

function isEqualBalances(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const currencies = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return currencies.every(currency => moneyOf(a[currency] ?? '0') === moneyOf(b[currency] ?? '0'));
}

/**
 * Returns the first output line, which describes the paper trading. Throws a one-line error if the configuration does
 * not allow paper trading.
 */
export function banner(config: Config): string {
  const { fills, latencyMs } = config.paper;
  const { restUrl } = followedBy(config);
  balancesOf(config);
  return `PAPER TRADING: no order is sent to the exchange, and no key is read. Simulated fills on ${booksText(config)} of ${restUrl} (fill model ${fills}, latency ${latencyMs} ms each way)${config.hedge?.elsewhere ? '; paper trading does not hedge on the other exchange (hedge.elsewhere), and inventory.target is ignored: the opening balance is the target' : ''}`;
}

/** Prefix of each line in paper trading. */
export const PAPER_PREFIX = 'paper: ';

/** Returns a log that adds `PAPER_PREFIX` to every line. */
export const onPaper = (log: Log): Log => ({
  debug: (known, text) => log.debug(known, `${PAPER_PREFIX}${text}`),
  info: (known, text) => log.info(known, `${PAPER_PREFIX}${text}`),
  warn: (known, text) => log.warn(known, `${PAPER_PREFIX}${text}`),
  error: (known, text) => log.error(known, `${PAPER_PREFIX}${text}`),
  setLevel: level => log.setLevel?.(level),
});

/** Returns a summary of the followed markets and of the simulated fills; of several books, each with its symbol. */
function outcomeOf(markets: ReadonlyMap<string, FollowedBook>): string {
  const parts = [...markets].map(([book, { market, instrument }]) => {
    const { trades, lots, filledLots } = market.counts();
    const text = (n: number) => textOfAmount(instrument, n as Amount);
    const of = markets.size === 1 ? '' : `${book}: `;
    return `${of}the followed market traded ${text(lots)} ${instrument.major} in ${counted(trades, 'execution')}; paper orders were filled for ${text(filledLots)} ${instrument.major}`;
  });
  return parts.join('. ');
}

function followedBy({ exchange }: Config): RemoteSettings {
  if (exchange.kind === 'remote') return exchange;
  throw new UsageError('--paper needs a remote exchange to follow; set exchange.kind: remote and exchange.restUrl');
}

function balancesOf(config: Config): Readonly<Record<string, string>> {
  const { paper } = config;
  const currencies = [...new Set(symbolsOf(config).flatMap(pairOf))];
  const missing = currencies.filter(currency => paper.balances?.[currency] === undefined);
  if (paper.balances === undefined || missing.length > 0) {
    throw new UsageError(
      `paper.balances: expected opening balances of ${missing.join(' and ')}, like paper: { balances: { ${currencies.join(": '1', ")}: '1000' } }`,
    );
  }
  return paper.balances;
}

/** Returns one line for each fee key of the section `paper` that has no effect on any book. */
const unusedFees = (rows: readonly AvailableBook[], { fees, volume30d }: Config['paper']): readonly string[] => [
  ...(fees !== undefined && rows.every(({ tiers, flatRate }) => tiers.length > 0 || flatRate)
    ? ['paper.fees has no effect, because the followed exchange lists its own fees; remove this key']
    : []),
  ...(rows.every(({ tiers }) => tiers.length === 0) && moneyOf(volume30d) > 0n
    ? ['paper.volume30d has no effect, because the followed exchange lists no fee tiers; remove this key']
    : []),
];

function tiersOf(
  { book, tiers, flatRate }: AvailableBook,
  fallback: Config['paper']['fees'],
): { volume: string; maker: string; taker: string }[] {
  if (tiers.length > 0) return [...tiers];
  const rates = flatRate ?? fallback;
  if (!rates)
    throw new UsageError(
      `paper.fees: the followed exchange lists no fees for ${book}; set paper.fees.maker and paper.fees.taker`,
    );
  return [{ volume: NO_BOUND, ...rates }];
}

/** Returns the configuration of a run on an embedded exchange. `books`: all books that the account has had. */
const runsWith = (
  config: Config,
  followed: RemoteSettings,
  balances: Readonly<Record<string, string>>,
  books: readonly string[],
): Config => ({
  ...withoutElsewhere(config),
  exchange: {
    kind: 'embedded',
    seed: 1,
    engineDelayMs: config.paper.latencyMs,
    market: {
      kind: 'flow',
      ...(books.length === 1 ? {} : { books: Object.fromEntries(books.map(book => [book, { lagMs: 0 }])) }),
    },
    balances: { ...balances },
    volume30d: config.paper.volume30d,
    port: 0,
    budgets: followed.budgets,
    requestTimeoutMs: followed.requestTimeoutMs,
    stream: followed.stream,
    authentication: followed.authentication,
  },
  state: { ...config.state, dir: config.paper.stateDir },
  // Webhooks report transfers, which a paper account does not have.
  webhooks: undefined,
});

function streamWayOf({ stream, streamUrl: url }: RemoteSettings, transports: PaperOptions['transports']) {
  if (transports) return transports.stream && { transport: transports.stream };
  return stream && url !== undefined ? { url } : undefined;
}

/**
 * Returns the number of reads of each complete book per minute: an equal part of a share of the budget of public
 * requests that remains after the reads of reference books. All books together have at least 6.
 */
function bookReadsPerMinute(config: Config, { budgets }: RemoteSettings): number {
  const books = booksOf(config);
  const others = books.reduce((sum, one) => sum + readsPerMinute(externalReferenceOf(one)), 0);
  return Math.max(6, READS_SHARE * (budgets.publicPerMinute - others)) / books.length;
}

/**
 * Waits for the first book, up to `READY_WITHIN_MS`.
 * @throws CannotStart with the last refusal if no book arrives.
 */
async function arrival(follower: Follower, clock: Clock, what: string): Promise<void> {
  const until = clock.elapsed() + READY_WITHIN_MS;
  while (!follower.isFresh) {
    if (clock.elapsed() >= until) {
      if (follower.unread !== null) valueOrCannotStart(what, follower.unread);
      throw new CannotStart(`cannot ${what}: no book within ${READY_WITHIN_MS / 1000} s`, null, true);
    }
    await sleep(clock, 50);
  }
}

/**
 * Waits for the first book that is not crossed, up to the same limit as `arrival`. A crossed book does not show which
 * orders of an earlier process it has passed, so no bot may trade before.
 */
async function uncrossed(market: FollowedMarket, clock: Clock, log: Log, why: string): Promise<void> {
  if (!market.isResuming) return;
  const limit = `${READY_WITHIN_MS / 1000} s`;
  log.warn({}, `${why}; paper trading starts with the first book that is not, and waits at most ${limit}`);
  const until = clock.elapsed() + READY_WITHIN_MS;
  while (market.isResuming) {
    if (clock.elapsed() >= until) throw new CannotStart(`${why} for ${limit}`, null, true);
    await sleep(clock, 50);
  }
}

/**
 * Durable journal of a bot: intents (before orders are sent), the ledger, nonces, and every input of the engine. One
 * folder belongs to one process and one bot.
 */
import { join } from 'node:path';
import type Database from 'libsql';
import {
  moneyOf,
  NO_PROFIT,
  type Amount,
  type Clock,
  type LedgerEntry,
  type Millis,
  type Money,
  type PlaceCommand,
  type Price,
  type RestoredLedger,
  type RestoredOrder,
  type Side,
} from '../../core/index.ts';
import type { HedgeRow } from '../../hedge/index.ts';
import { commitMarkIn, lossOf, stalenessOf, type CommitMark } from './knownCommits.ts';
import { foldEntries, ledgerByEntries, writeEntries } from './ledgerEntries.ts';
import { writeHours, type BookHour } from './profitHours.ts';
import { checkpointOf, textOfCheckpoint, type LedgerCheckpoint } from '../recording/ledgerText.ts';
import { noteClient, NotOurs, ownedAccountIn, ownerIn, takeOwnership, type Owned, type Owner } from './owner.ts';
import { GAP } from '../recording/recording.ts';
import { forgetOld, recorderIn, recordingsIn, RUNS_MAX, type RunRecorder } from '../recording/recordings.ts';
import { claimStateDir } from '../files/stateDir.ts';
import { fromCopy } from './stateCopy.ts';
import type { StateUnits } from './unitConversion.ts';
import {
  atomically,
  closeDatabase,
  commitsIn,
  DamagedState,
  NONCES_ELSEWHERE,
  openDatabase,
  STATE_FILE,
  unusable,
  addOrderBooks,
  hasOrderBooks,
} from './stateFile.ts';
import { sumOf } from './rowChecksums.ts';

export { closeDatabase, DamagedState, openDatabase, STATE_FILE };

/** State of an account from its last run. */
export type Leftovers = {
  readonly orders: readonly RestoredOrder[];
  readonly ledger: RestoredLedger | null;
  /** Id of the newest trade up to which the ledger contains every trade; `undefined` if none. */
  readonly marker: string | undefined;
  /** Hedges that may still execute, and the hedges that ended last. */
  readonly hedges: readonly HedgeRow[];
  /** Ids of listed transfers that the ledger contains or that are older than the ledger; `null` if unknown. */
  readonly transfers: readonly string[] | null;
  /** Currencies with a trade that an earlier run could not read; their balances are not compared. */
  readonly uncounted: readonly string[];
  /** Tick and lot of all prices and amounts in this state; `null` if an older Puntas did not store them. */
  readonly units: StateUnits | null;
  /** Tick and lot of each book but the first, by symbol; absent with one book. */
  readonly bookUnits?: Readonly<Record<string, StateUnits>>;
  /** Adjustments at other exchanges that an older Puntas left out of the sums of the ledger; absent if none. */
  readonly added?: ReadonlyMap<string, Money>;
};

/** Durable upper bound of the nonces of an API key. */
export type NonceStore = {
  /** Upper bound of the nonces that earlier runs may have sent; 0 for the first run. */
  readonly nonceMark: bigint;
  /**
   * Stores `mark` as the new upper bound. A nonce above the previous bound may be sent only after this call has
   * returned.
   */
  reserveNonces(mark: bigint): void;
};

/** Order to be placed. */
export type Intent = PlaceCommand & {
  /** Symbol of the book; absent for an order in the first book. */
  readonly symbol?: string;
};

export type Journal = NonceStore & {
  /** Number of this run, higher than the number of every earlier run, including runs whose state directory was lost. */
  readonly run: number;
  /** Configuration as text, from which the engine was created. */
  readonly setup: string;
  readonly leftovers: Leftovers;
  /**
   * Makes the commands durable, with everything recorded before. Orders may be sent only after `intend` has returned.
   * Throws if the disk accepts no write.
   */
  intend(commands: readonly Intent[], at: Millis): void;
  /** Records that the order can never be live again. Durable after the next flush. */
  ended(id: string, ending: string): void;
  /** Adds one line to the recording: an input of the engine, or its commands. Durable after the next flush. */
  record(line: string): void;
  /**
   * Adds the current ledger and its new entries. The next write makes ledger and entries durable together with the ends
   * of orders, so that the durable end of an order never precedes its fills.
   */
  keep(mark: LedgerCheckpoint, entries: readonly LedgerEntry[], hours?: readonly BookHour[]): void;
  /** Makes everything durable, including the ledger if `mark` is present. Throws if the disk accepts no write. */
  flush(mark?: LedgerCheckpoint): void;
  /** Returns the store of the nonces of an account on the other exchange, by the name of the account. */
  noncesElsewhere(account: string): NonceStore;
  /** Account number at the exchange; `null` while unknown, or if the state is bound to no account. */
  readonly client: string | null;
  /** Stores the account number when it becomes known. */
  ownedBy(client: string): void;
  /** Returns the size of this run's recording, in bytes. */
  recordedBytes(): number;
  /** Whether the disk accepts durable writes; if not, the bot places no order. */
  isWritable(): boolean;
  /**
   * Returns the journal of the next run in this process, as after a restart. Afterwards, `intend` and `flush` of this
   * journal throw, because they would replace the ledger of the next run. If the call throws, this journal can still be
   * used. `setup` is the configuration if it changed; `earlierBytesMax` is the limit for earlier recordings if it
   * changed.
   */
  next(at: Millis, setup?: string, earlierBytesMax?: number): Journal;
  close(): void;
};

export type JournalOptions = {
  /** Name of the account at its exchange; only state of this account is restored. */
  readonly account: string;
  readonly at: Millis;
  /** Configuration as text, required by a replay. */
  readonly setup: string;
  /** Folder of the recordings, and size limit for those of earlier runs. If absent, runs are not recorded. */
  readonly recordings?: { readonly dir: string; readonly earlierBytesMax: number };
  /** Receives the number of every commit, so that a state file that lost commits can be detected. */
  readonly mark?: CommitMark;
};

/**
 * Opens the state directory exclusively for this process. Throws a one-line error if another process has opened the
 * directory, or if the directory belongs to another bot or cannot be written.
 */
export function openJournal(
  dir: string,
  {
    owner,
    client,
    earlierBytesMax,
    onEndedLedger,
    ...options
  }: Omit<JournalOptions, 'recordings' | 'mark'> & {
    readonly owner: Owner;
    /** Account number; present if Puntas requested it from the exchange because the API key changed. */
    readonly client?: string;
    readonly earlierBytesMax: number;
    /** Called if the state had the ledger of an account that ended with its embedded exchange; it is deleted. */
    readonly onEndedLedger?: () => void;
  },
): Journal {
  claimStateDir(dir);
  const file = join(dir, STATE_FILE);
  const loss = lossOf(dir);
  if (loss !== null) throw unusable(file, new Error(loss));
  const db = openDatabase(file, ({ commits, lastRun }) => stalenessOf(dir, commits, lastRun));
  try {
    let owned: Owned = { account: options.account, hasEndedLedger: false };
    atomically(db, () => void (owned = takeOwnership(db, dir, owner, options.account, client)))();
    const mark = commitMarkIn(dir, commitsIn(db));
    const { account, hasEndedLedger } = owned;
    const journal = journalIn(db, { ...options, account, recordings: { dir, earlierBytesMax }, mark });
    if (hasEndedLedger) onEndedLedger?.();
    return journal;
  } catch (error) {
    if (error instanceof NotOurs) {
      closeDatabase(db);
      throw error;
    }
    db.close();
    throw unusable(file, error);
  }
}

/**
 * Maximum number of ended orders that are kept for look-ups; each adds 9 us to a start. Orders that may be live are
 * always kept.
 */
export const ENDED_MAX = 100_000;
/**
 * Maximum number of recording lines that are buffered while the disk accepts no line. If there are more, all buffered
 * lines are replaced by a gap.
 */
const LINES_MAX = 10_000;

/** Returns the journal in an open database. */
export function journalIn(db: Database.Database, options: JournalOptions): Journal {
  const { account, at, setup, recordings, mark } = options;
  const counted = countedIn(db, mark);
  const leftovers = leftoversIn(db, account);
  const nonceMark = nonceMarkIn(db, account);
  const run = nextRun(db, at, recordings?.dir);
  counted(() => beginRun(db, run, account, at))();
  let recorder: RunRecorder | null = null;
  if (recordings) {
    forgetOld(recordings.dir, run, recordings.earlierBytesMax);
    recorder = recorderIn(recordings.dir, { run, startedAt: at, setup, format: 2 });
  }
  const writeIntents = intentsIn(db, account);
  const marks = marksIn(db);
  const reserve = counted((of: string, upTo: bigint) => {
    const text = upTo.toString();
    marks.nonce.run(of, text, sumOf(of, text));
  });
  let lines: string[] = [];
  let endings: Ending[] = [];
  /**
   * Ledger as text. `keep` creates the text immediately, because the objects may change while a full disk delays the
   * write.
   */
  let standing: string | undefined;
  /** Whether the ledger in `standing` has the state of several books. */
  let isOfBooks = false;
  let booked: readonly LedgerEntry[] = [];
  let hours: readonly BookHour[] = [];

  // The recording is written before the intents that it explains.
  const record = () => {
    if (lines.length > 0) recorder?.write(lines);
    lines = [];
  };
  const stand = (mark: LedgerCheckpoint) => {
    [standing, isOfBooks] = [textOfCheckpoint(mark), mark.ledger.symbol !== undefined];
  };
  const write = counted((commands: readonly Intent[], now: Millis) => {
    if (isOfBooks || commands.some(({ symbol }) => symbol !== undefined)) addOrderBooks(db);
    writeIntents(endings, commands, now);
    writeEntries(db, account, booked);
    writeHours(db, account, hours);
    if (standing) marks.mark.run(account, standing, sumOf(account, standing));
  });
  let isWritable = true;
  let isReplaced = false;
  const commit = (commands: readonly Intent[], now: Millis) => {
    if (isReplaced) throw new Error(`cannot write the journal of run ${run}: the next run has taken over`);
    if (lines.length === 0 && commands.length === 0 && endings.length === 0 && !standing) return;
    // If a write throws, `isWritable` stays `false`.
    isWritable = false;
    record();
    if (commands.length > 0 || endings.length > 0 || standing) write(commands, now);
    endings = [];
    standing = undefined;
    [booked, hours] = [[], []];
    isWritable = true;
  };
  return {
    run,
    setup,
    nonceMark,
    leftovers,
    intend: commit,
    ended: (id, ending) => void endings.push([ending, id]),
    record: line => {
      if (lines.length >= LINES_MAX) lines = [GAP];
      lines.push(line);
    },
    keep: (ledger, entries, ended = []) => {
      stand(ledger);
      [booked, hours] = [booked.concat(entries), hours.concat(ended)];
    },
    flush: ledger => {
      if (ledger) stand(ledger);
      commit([], at);
    },
    reserveNonces: upTo => reserve(account, upTo),
    noncesElsewhere: place => {
      const name = `${NONCES_ELSEWHERE} ${place}`;
      return { nonceMark: nonceMarkIn(db, name), reserveNonces: upTo => reserve(name, upTo) };
    },
    client: ownerIn(db)?.client ?? null,
    ownedBy: counted((told: string) => noteClient(db, told)),
    recordedBytes: () => recorder?.bytes ?? 0,
    isWritable: () => isWritable,
    next: (nextAt, another = setup, earlierBytesMax = recordings?.earlierBytesMax ?? 0) => {
      const kept = recordings ? { recordings: { ...recordings, earlierBytesMax } } : {};
      const next = journalIn(db, { ...options, ...kept, at: nextAt, setup: another });
      isReplaced = true;
      recorder?.close();
      return next;
    },
    close: () => {
      recorder?.close();
      closeDatabase(db);
      mark?.close();
    },
  };
}

/** Returns a function that turns `work` into one atomic commit, and counts each commit. */
function countedIn(db: Database.Database, mark: CommitMark | undefined) {
  const count = db.prepare(
    'INSERT INTO commits (one, n, sum) VALUES (1, ?, ?) ON CONFLICT (one) DO UPDATE SET n = excluded.n, sum = excluded.sum',
  );
  return <A extends readonly unknown[]>(work: (...args: A) => void): ((...args: A) => void) => {
    let commits = 0;
    const one = atomically(db, (...args: A) => {
      work(...args);
      // The count is read each time, because the journal of an earlier run of this process may still commit nonces.
      commits = commitsIn(db) + 1;
      count.run(commits, sumOf(commits));
    });
    return (...args) => {
      one(...args);
      mark?.tell(commits);
    };
  };
}

function beginRun(db: Database.Database, run: number, account: string, at: Millis): void {
  const insert = db.prepare('INSERT INTO runs (run, account, started_at, sum) VALUES (?, ?, ?, ?)');
  insert.run(run, account, at, sumOf(account, run, at));
  db.prepare(OLD_RUNS).run(RUNS_MAX);
  db.prepare(OLD_INTENTS).run(ENDED_MAX);
  if (hasOrderBooks(db)) db.exec(OLD_ORDER_BOOKS);
  foldEntries(db, account);
}

/** Returns a function that writes ends of orders, then new intents. */
function intentsIn(db: Database.Database, account: string) {
  const intent = db.prepare(
    'INSERT INTO intents (id, account, side, price, amount, at, sum) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const read = db.prepare(
    'SELECT id, account, side, price, amount, at, ending FROM intents WHERE id = ? AND account = ?',
  );
  const end = db.prepare('UPDATE intents SET ending = ?, sum = ? WHERE id = ? AND account = ?');
  let inBook: Database.Statement | null = null;
  return (endings: readonly Ending[], commands: readonly Intent[], now: Millis): void => {
    for (const [ending, id] of endings) {
      const row = read.get(id, account) as IntentRow | undefined;
      if (row) end.run(ending, sumOfIntent({ ...row, ending }), id, account);
    }
    for (const { id, side, price, amount, symbol } of commands) {
      const sum = sumOfIntent({ id, account, side, price, amount, at: now, ending: null });
      intent.run(id, account, side, price, amount, now, sum);
      if (symbol === undefined) continue;
      inBook ??= db.prepare('INSERT INTO order_books (account, id, book, sum) VALUES (?, ?, ?, ?)');
      inBook.run(account, id, symbol, sumOf(account, id, symbol));
    }
  };
}

/** Returns the statements that write the account's row in the tables `marks` and `nonces`. */
const marksIn = (db: Database.Database) => ({
  mark: db.prepare(
    'INSERT INTO marks (account, mark, sum) VALUES (?, ?, ?) ON CONFLICT (account) DO UPDATE SET mark = excluded.mark, sum = excluded.sum',
  ),
  nonce: db.prepare(
    'INSERT INTO nonces (account, mark, sum) VALUES (?, ?, ?) ON CONFLICT (account) DO UPDATE SET mark = excluded.mark, sum = excluded.sum',
  ),
});

type Ending = readonly [ending: string, id: string];

type IntentRow = {
  readonly id: string;
  readonly account: string;
  readonly side: Side;
  readonly price: number;
  readonly amount: number;
  readonly at: number;
  readonly ending: string | null;
};

const sumOfIntent = ({ id, account, side, price, amount, at, ending }: IntentRow): number =>
  sumOf(id, account, side, ending, price, amount, at);

/**
 * Returns the number of the next run: the seconds since the start of 2020, but at least one more than the last run.
 * Origin ids contain the number, so it must never repeat, even after the state directory was lost.
 */
function nextRun(db: Database.Database, at: Millis, dir: string | undefined): number {
  const { last } = db.prepare('SELECT max(run) AS last FROM runs').get() as { last: number | null };
  const recorded = dir === undefined ? undefined : recordingsIn(dir).at(-1)?.run;
  return Math.max((last ?? 0) + 1, (recorded ?? 0) + 1, Math.floor((at - START_OF_2020) / 1000));
}

const START_OF_2020 = 1_577_836_800_000;

const OLD_RUNS = 'DELETE FROM runs WHERE run <= (SELECT run FROM runs ORDER BY run DESC LIMIT 1 OFFSET ?)';
const OLD_INTENTS = `DELETE FROM intents WHERE ending IS NOT NULL
  AND at <= (SELECT at FROM intents WHERE ending IS NOT NULL ORDER BY at DESC LIMIT 1 OFFSET ?)`;

const OLD_ORDER_BOOKS = `DELETE FROM order_books WHERE NOT EXISTS (
  SELECT 1 FROM intents WHERE intents.account = order_books.account AND intents.id = order_books.id)`;

function nonceMarkIn(db: Database.Database, account: string): bigint {
  const row = db.prepare('SELECT mark FROM nonces WHERE account = ?').get(account) as { mark: string } | undefined;
  return BigInt(row?.mark ?? '0');
}

/**
 * Returns what the next run of this bot would continue, from a copy of the state file; `null` if there is no state of
 * this bot. Rejects if the file cannot be trusted.
 */
export const leftoversOf = (
  dir: string,
  clock: Clock,
  { owner, account }: { readonly owner: Owner; readonly account: string },
): Promise<Leftovers | null> =>
  fromCopy(dir, clock, db => {
    const isThere = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'marks'").get() !== undefined;
    const name = isThere ? ownedAccountIn(db, owner, account) : null;
    return name === null ? null : leftoversIn(db, name);
  });

function leftoversIn(db: Database.Database, account: string): Leftovers {
  const row = db.prepare('SELECT mark FROM marks WHERE account = ?').get(account) as { mark: string } | undefined;
  const stored = row ? checkpointOf(row.mark) : null;
  const { ledger, added } = stored
    ? ledgerByEntries(db, account, stored.ledger, ownerIn(db)?.book ?? null)
    : { ledger: null, added: null };
  const mark = stored && ledger && { ...stored, ledger };
  const known = new Map(mark?.live.map(order => [order.id, order]) ?? []);
  const open = db
    .prepare('SELECT id, side, price, amount, at FROM intents WHERE account = ? AND ending IS NULL ORDER BY at, id')
    .all(account) as IntentRow[];
  const books = booksOfOrders(db, account);
  return {
    orders: open.map(({ id, side, price, amount, at }) => {
      const mine = known.get(id);
      const { filled = 0 as Amount, oid = null, rest } = mine ?? {};
      const [ticks, lots] = [mine?.price ?? price, mine?.amount ?? amount];
      return {
        ...{ id, side, price: ticks as Price, amount: lots as Amount, filled, oid, at },
        ...(books.has(id) ? { symbol: books.get(id)! } : {}),
        ...(rest === undefined ? {} : { filledRest: moneyOf(rest) }),
      };
    }),
    ledger: mark === null ? null : withProfit(mark),
    marker: mark?.marker,
    hedges: mark?.hedges ?? [],
    transfers: mark?.transfers ?? null,
    uncounted: mark?.uncounted ?? [],
    units: mark?.units ?? null,
    ...(mark?.bookUnits ? { bookUnits: mark.bookUnits } : {}),
    ...(added === null || added.size === 0 ? {} : { added }),
  };
}

/** Returns the symbols of the orders that may be live in a book other than the first, by order id. */
function booksOfOrders(db: Database.Database, account: string): ReadonlyMap<string, string> {
  if (!hasOrderBooks(db)) return new Map();
  const rows = db
    .prepare('SELECT id, book FROM order_books JOIN intents USING (account, id) WHERE account = ? AND ending IS NULL')
    .all(account) as { id: string; book: string }[];
  return new Map(rows.map(({ id, book }) => [id, book]));
}

/** Returns the ledger with its profit. An older Puntas stored the profit without time and mid price, or not at all. */
const withProfit = ({ ledger, profit }: Required<LedgerCheckpoint>): RestoredLedger =>
  ledger.profit !== undefined
    ? ledger
    : { ...ledger, profit: { since: null, at: null, twiceMid: null, profit: profit ?? NO_PROFIT } };

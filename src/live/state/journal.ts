/** What must survive the process: intents before they are sent, the ledger, the nonces, and every input of the engine. One folder, one process, one bot. */
import { join } from 'node:path';
import type Database from 'libsql';
import { moneyOf, NO_PROFIT } from '../../core/index.ts';
import type {
  Amount,
  LedgerEntry,
  Millis,
  PlaceCommand,
  Price,
  ProfitSinceOpening,
  RestoredLedger,
  RestoredOrder,
  Side,
} from '../../core/index.ts';
import type { HedgeRow } from '../../hedge/index.ts';
import { commitMarkIn, lossOf, stalenessOf } from './knownCommits.ts';
import type { CommitMark } from './knownCommits.ts';
import { foldEntries, holdAgainst, writeEntries } from './entries.ts';
import { writeHours } from './hours.ts';
import { checkpointOf, textOfCheckpoint } from '../recording/ledgerText.ts';
import type { LedgerCheckpoint } from '../recording/ledgerText.ts';
import { noteClient, NotOurs, ownerIn, takeOwnership } from './owner.ts';
import type { Owner } from './owner.ts';
import { GAP } from '../recording/recording.ts';
import { forgetOld, recorderIn, recordingsIn } from '../recording/recordings.ts';
import type { RunRecorder } from '../recording/recordings.ts';
import { claimStateDir } from '../files/stateDir.ts';
import type { StateUnits } from './units.ts';
import { atomically, closeDatabase, commitsIn, DamagedState, openDatabase, STATE_FILE, unusable } from './stateFile.ts';
import { sumOf } from './sums.ts';

export { closeDatabase, DamagedState, openDatabase, STATE_FILE };

/** What the last run of an account left. */
export type Leftovers = {
  readonly orders: readonly RestoredOrder[];
  readonly ledger: RestoredLedger | null;
  /** Newest own trade that is in the ledger; undefined when there was none. */
  readonly marker: string | undefined;
  /** Conversions that may have been carried out, and the last ones that are over. */
  readonly hedges: readonly HedgeRow[];
  /** Transfers of the exchange's lists that are in the ledger, or were before it began; null when that is not known. */
  readonly transfers: readonly string[] | null;
  /** Currencies of which an earlier run could not read a trade: their balances are not compared. */
  readonly uncounted: readonly string[];
  /** Tick and lot of all prices and amounts here; null where an older Puntas kept none. */
  readonly units: StateUnits | null;
};

export type Journal = {
  /** Number of this run: never used before in this state directory, and above those of a state directory that was lost. */
  readonly run: number;
  /** Everything that its engine was made of, as text. */
  readonly setup: string;
  /** Highest nonce that may have been sent by an earlier run; 0 at the first. */
  readonly nonceMark: bigint;
  readonly leftovers: Leftovers;
  /** Durable when it returns, with everything recorded before: only then may the orders be sent. Throws when the disk does not take it. */
  intend(commands: readonly PlaceCommand[], at: Millis): void;
  /** The order can never live again. Durable with the next flush. */
  ended(id: string, ending: string): void;
  /** One line of the recording: an input of the engine, or the commands that it answered with. Durable with the next flush. */
  record(line: string): void;
  /** The ledger as it stands, and the entries that led there since it was last told: durable with whatever is written next, so that no durable ending is of an order whose fills are not. */
  keep(mark: LedgerCheckpoint, entries: readonly LedgerEntry[], hours?: readonly ProfitSinceOpening[]): void;
  /** Makes everything durable, with the ledger when one is given. Throws when the disk does not take it. */
  flush(mark?: LedgerCheckpoint): void;
  /** No nonce above `mark` may be sent before this returns. */
  reserveNonces(mark: bigint): void;
  /** The number of the account at the exchange; null until it was told, and where none binds the state. */
  readonly client: string | null;
  /** It was told now. */
  ownedBy(client: string): void;
  /** Bytes of this run's recording. */
  recordedBytes(): number;
  /** False while the disk does not take what is to be durable: nothing is placed then. */
  isWritable(): boolean;
  /**
   * The journal of a next run in the same process, as a restart would find it; this one is not to be used any more, unless it throws. `setup`: when its engine
   * is made of something else; `earlierBytesMax`: when the recordings of earlier runs may take something else.
   */
  next(at: Millis, setup?: string, earlierBytesMax?: number): Journal;
  close(): void;
};

export type JournalOptions = {
  /** Names the account at its venue: only what the same account left is taken up again. */
  readonly account: string;
  readonly at: Millis;
  /** Everything that the engine was made of, as text: a replay needs it. */
  readonly setup: string;
  /** Where runs are recorded, and what the recordings of earlier runs may take; absent: nowhere. */
  readonly recordings?: { readonly dir: string; readonly earlierBytesMax: number };
  /** Told of every commit, so that a file that lost some is known for it. */
  readonly mark?: CommitMark;
};

/** Opens the state directory for this process alone. Throws one clear line when another process has it, when it is another bot's, or when it cannot be written. */
export function openJournal(
  dir: string,
  {
    owner,
    client,
    earlierBytesMax,
    ...options
  }: Omit<JournalOptions, 'recordings' | 'mark'> & {
    readonly owner: Owner;
    /** The number of the account, where the exchange was asked for it because the key is another. */
    readonly client?: string;
    readonly earlierBytesMax: number;
  },
): Journal {
  claimStateDir(dir);
  const file = join(dir, STATE_FILE);
  const loss = lossOf(dir);
  if (loss !== null) throw unusable(file, new Error(loss));
  const db = openDatabase(file, ({ commits, lastRun }) => stalenessOf(dir, commits, lastRun));
  try {
    let { account } = options;
    atomically(db, () => void (account = takeOwnership(db, dir, owner, account, client)))();
    const mark = commitMarkIn(dir, commitsIn(db));
    return journalIn(db, { ...options, account, recordings: { dir, earlierBytesMax }, mark });
  } catch (error) {
    if (error instanceof NotOurs) {
      closeDatabase(db);
      throw error;
    }
    db.close();
    throw unusable(file, error);
  }
}

/** Orders that ended are kept up to this many, for those who look for one; each costs a start 9 us. What may live stays. */
export const ENDED_MAX = 100_000;
/** Runs whose recordings are kept at the most. */
export const RUNS_MAX = 500;
/** Lines that wait for a disk that takes nothing; beyond, the recording has a gap. */
const LINES_MAX = 10_000;

/** The journal in an open database. */
export function journalIn(db: Database.Database, options: JournalOptions): Journal {
  const { account, at, setup, recordings, mark } = options;
  const counted = countedIn(db, mark);
  const leftovers = leftoversIn(db, account);
  const nonceMark = nonceMarkIn(db, account);
  const run = nextRun(db, at, recordings?.dir);
  counted(() => beginRun(db, run, account, at))();
  let recorder: RunRecorder | null = null;
  if (recordings) {
    forgetOld(recordings.dir, run, recordings.earlierBytesMax, RUNS_MAX);
    recorder = recorderIn(recordings.dir, { run, startedAt: at, setup, format: 2 });
  }
  const writeIntents = intentsIn(db, account);
  const marks = marksIn(db);
  let lines: string[] = [];
  let endings: Ending[] = [];
  /** As it was when it was told: what it is made of goes on changing while a full disk keeps it waiting. */
  let standing: string | undefined;
  let booked: readonly LedgerEntry[] = [];
  let hours: readonly ProfitSinceOpening[] = [];

  // The recording is never behind the intents that it explains.
  const record = () => {
    if (lines.length > 0) recorder?.write(lines);
    lines = [];
  };
  const write = counted((commands: readonly PlaceCommand[], now: Millis) => {
    writeIntents(endings, commands, now);
    writeEntries(db, account, booked);
    writeHours(db, account, hours);
    if (standing) marks.mark.run(account, standing, sumOf(account, standing));
  });
  let isWritable = true;
  const commit = (commands: readonly PlaceCommand[], now: Millis) => {
    if (lines.length === 0 && commands.length === 0 && endings.length === 0 && !standing) return;
    // One that throws leaves it so.
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
      standing = textOfCheckpoint(ledger);
      [booked, hours] = [booked.concat(entries), hours.concat(ended)];
    },
    flush: ledger => {
      if (ledger) standing = textOfCheckpoint(ledger);
      commit([], at);
    },
    reserveNonces: counted((upTo: bigint) => {
      const text = upTo.toString();
      marks.nonce.run(account, text, sumOf(account, text));
    }),
    client: ownerIn(db)?.client ?? null,
    ownedBy: counted((told: string) => noteClient(db, told)),
    recordedBytes: () => recorder?.bytes ?? 0,
    isWritable: () => isWritable,
    next: (nextAt, another = setup, earlierBytesMax = recordings?.earlierBytesMax ?? 0) => {
      recorder?.close();
      const kept = recordings ? { recordings: { ...recordings, earlierBytesMax } } : {};
      return journalIn(db, { ...options, ...kept, at: nextAt, setup: another });
    },
    close: () => {
      recorder?.close();
      closeDatabase(db);
      mark?.close();
    },
  };
}

/** All of the work or nothing, and it counts as one commit. */
function countedIn(db: Database.Database, mark: CommitMark | undefined) {
  let commits = commitsIn(db);
  const count = db.prepare(
    'INSERT INTO commits (one, n, sum) VALUES (1, ?, ?) ON CONFLICT (one) DO UPDATE SET n = excluded.n, sum = excluded.sum',
  );
  return <A extends readonly unknown[]>(work: (...args: A) => void): ((...args: A) => void) => {
    const one = atomically(db, (...args: A) => {
      work(...args);
      count.run(commits + 1, sumOf(commits + 1));
    });
    return (...args) => {
      one(...args);
      mark?.tell(++commits);
    };
  };
}

function beginRun(db: Database.Database, run: number, account: string, at: Millis): void {
  const insert = db.prepare('INSERT INTO runs (run, account, started_at, sum) VALUES (?, ?, ?, ?)');
  insert.run(run, account, at, sumOf(account, run, at));
  db.prepare(OLD_RUNS).run(RUNS_MAX);
  db.prepare(OLD_INTENTS).run(ENDED_MAX);
  foldEntries(db, account);
}

/** Writes what ended, then what is to be sent. */
function intentsIn(db: Database.Database, account: string) {
  const intent = db.prepare(
    'INSERT INTO intents (id, account, side, price, amount, at, sum) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const read = db.prepare(
    'SELECT id, account, side, price, amount, at, ending FROM intents WHERE id = ? AND account = ?',
  );
  const end = db.prepare('UPDATE intents SET ending = ?, sum = ? WHERE id = ? AND account = ?');
  return (endings: readonly Ending[], commands: readonly PlaceCommand[], now: Millis): void => {
    for (const [ending, id] of endings) {
      const row = read.get(id, account) as IntentRow | undefined;
      if (row) end.run(ending, sumOfIntent({ ...row, ending }), id, account);
    }
    for (const { id, side, price, amount } of commands) {
      const sum = sumOfIntent({ id, account, side, price, amount, at: now, ending: null });
      intent.run(id, account, side, price, amount, now, sum);
    }
  };
}

/** The one row of an account in each of the two. */
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
 * Seconds since the start of 2020, or one above the last run: origin ids begin with it, and must never come again, even when the state
 * directory was lost and nothing remembers them.
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

function nonceMarkIn(db: Database.Database, account: string): bigint {
  const row = db.prepare('SELECT mark FROM nonces WHERE account = ?').get(account) as { mark: string } | undefined;
  return BigInt(row?.mark ?? '0');
}

function leftoversIn(db: Database.Database, account: string): Leftovers {
  const row = db.prepare('SELECT mark FROM marks WHERE account = ?').get(account) as { mark: string } | undefined;
  const mark = row ? checkpointOf(row.mark) : null;
  if (mark !== null) holdAgainst(db, account, mark.ledger.causes);
  const known = new Map(mark?.live.map(order => [order.id, order]) ?? []);
  const open = db
    .prepare('SELECT id, side, price, amount, at FROM intents WHERE account = ? AND ending IS NULL ORDER BY at, id')
    .all(account) as IntentRow[];
  return {
    orders: open.map(({ id, side, price, amount, at }) => {
      const mine = known.get(id);
      const { filled = 0 as Amount, oid = null, rest } = mine ?? {};
      const [ticks, lots] = [mine?.price ?? price, mine?.amount ?? amount];
      return {
        ...{ id, side, price: ticks as Price, amount: lots as Amount, filled, oid, at },
        ...(rest === undefined ? {} : { filledRest: moneyOf(rest) }),
      };
    }),
    ledger: mark === null ? null : withProfit(mark),
    marker: mark?.marker,
    hedges: mark?.hedges ?? [],
    transfers: mark?.transfers ?? null,
    uncounted: mark?.uncounted ?? [],
    units: mark?.units ?? null,
  };
}

/** An older Puntas kept the sums of the profit without their time and mid, or none. */
const withProfit = ({ ledger, profit }: Required<LedgerCheckpoint>): RestoredLedger =>
  ledger.profit !== undefined
    ? ledger
    : { ...ledger, profit: { since: null, at: null, twiceMid: null, profit: profit ?? NO_PROFIT } };

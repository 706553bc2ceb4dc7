/**
 * Registry of trials: one append-only file for all studies of a folder. Each line records a started study, a finished
 * trial, an opened holdout, or the result of a holdout.
 */
import { textOfError } from '../../../src/core/index.ts';
import { openRegularFile, syncFolder, makeFolder } from '../../../src/guard/index.ts';
import { closeSync, constants, existsSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Point } from '../../index.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import type { Measures } from './measures.ts';

/**
 * Hours of a market, in epoch ms. `market` is the book, plus the seed for a seeded flow. `digest` is the hash of the
 * recording's rows.
 */
export type MarketHours = {
  readonly market: string;
  readonly digest: string;
  readonly from: number;
  readonly to: number;
};

type Signed = {
  readonly study: string;
  /** Time of the record, in ISO 8601. */
  readonly at: string;
  /** Name of the operator and of the machine. */
  readonly by: string;
  readonly version: string;
};

export type StudyRecord = Signed & {
  readonly kind: 'study';
  readonly file: string;
  readonly tapes: readonly MarketHours[];
  readonly heldOut: readonly MarketHours[];
};

/**
 * Record of a trial. `done`: run on every piece of the recordings. `pruned`: stopped early as hopeless. `refused`:
 * never run, because the configuration is invalid or cannot earn its fees.
 */
export type TrialRecord = Signed & {
  readonly kind: 'trial';
  /** Number of the trial, from 0, in the order in which the search requested the trials. */
  readonly number: number;
  readonly seed: number;
  readonly tapes: readonly MarketHours[];
  readonly point: Point;
  /** Digest of the complete configuration; `null` if the configuration is invalid. */
  readonly config: string | null;
  readonly state: 'done' | 'pruned' | 'refused';
  readonly why: string | null;
  readonly measures: Measures | null;
  /** Value of the first objective after each piece of the recordings, under the less favorable fill model. */
  readonly soFar: readonly number[];
  /**
   * Profit of each time block under the less favorable fill model, with fills valued after 60 s. Empty if the trial did
   * not finish.
   */
  readonly blocks: readonly number[];
};

/** Neighbor of the best configuration, with one parameter changed; never chosen. */
export type NeighbourRecord = Signed & {
  readonly kind: 'neighbour';
  /** Number of the best trial. */
  readonly of: number;
  /** Name of the changed parameter. */
  readonly key: string;
} & Pick<TrialRecord, 'seed' | 'tapes' | 'point' | 'config' | 'state' | 'why' | 'measures'>;

export type OpenedRecord = Signed & {
  readonly kind: 'opened';
  readonly tapes: readonly MarketHours[];
  readonly config: string;
};

export type HoldoutRecord = Signed & {
  readonly kind: 'holdout';
  readonly measures: Measures;
  readonly blocks: readonly number[];
  readonly config: string;
};

export type RegistryRecord = StudyRecord | TrialRecord | NeighbourRecord | OpenedRecord | HoldoutRecord;

const FILE = 'trials.jsonl';

export class Registry {
  readonly file: string;
  readonly #dir: string;
  #fd: number | null = null;
  readonly #records: RegistryRecord[] = [];
  #read = 0;
  #lines = 0;

  constructor(dir: string) {
    this.#dir = dir;
    this.file = join(dir, FILE);
  }

  /**
   * Returns all records in order, including those that other processes have appended so far. Throws `UsageError` for an
   * invalid line.
   */
  records(): readonly RegistryRecord[] {
    const bytes = this.#appended();
    const end = bytes.lastIndexOf(0x0a) + 1;
    // An incomplete last line is not read, because its writer has not confirmed the record.
    for (const line of bytes.subarray(0, end).toString('utf8').split('\n').slice(0, -1)) {
      this.#lines++;
      const record = line === '' ? null : recordOf(line);
      if (record === undefined)
        throw new UsageError(
          `${this.file}:${this.#lines}: expected a record written by puntas tune, found an invalid line; restore the file from a copy, or use another folder with --registry`,
        );
      if (record !== null) this.#records.push(record);
    }
    this.#read += end;
    return this.#records;
  }

  /** Appends a record durably. Throws `UsageError` if the disk rejects the write. */
  append(record: RegistryRecord): void {
    try {
      const fd = (this.#fd ??= this.#open());
      const bytes = Buffer.from(`${this.#torn(fd)}${JSON.stringify(record)}\n`, 'utf8');
      const written = writeSync(fd, bytes);
      fsyncSync(fd);
      if (written < bytes.length) throw new Error('the disk is full');
    } catch (error) {
      throw new UsageError(`${this.file}: cannot be written: ${textOfError(error)}`);
    }
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  #appended(): Buffer {
    if (!existsSync(this.file)) return Buffer.alloc(0);
    const fd = openRegularFile(this.file);
    try {
      const bytes = Buffer.alloc(Math.max(0, fstatSync(fd).size - this.#read));
      return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, this.#read));
    } finally {
      closeSync(fd);
    }
  }

  #open(): number {
    makeFolder(this.#dir);
    const { O_RDWR, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
    const fd = openSync(this.file, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, 0o644);
    syncFolder(this.#dir);
    return fd;
  }

  /**
   * Returns the text that terminates an incomplete last line and marks it as invalid; empty if the last line is
   * complete.
   */
  #torn(fd: number): string {
    const { size } = fstatSync(fd);
    if (size === 0) return '';
    const last = Buffer.alloc(1);
    readSync(fd, last, 0, 1, size - 1);
    return last[0] === 0x0a ? '' : `${TORN_MARK}\n`;
  }
}

/** Suffix of a line that a crash interrupted. */
const TORN_MARK = ' #torn';

/** Parses a line; returns `null` for a line that a crash interrupted, `undefined` for an invalid line. */
function recordOf(line: string): RegistryRecord | null | undefined {
  if (line.endsWith(TORN_MARK)) return null;
  try {
    const { kind } = JSON.parse(line) as { readonly kind?: unknown };
    return ['study', 'trial', 'neighbour', 'opened', 'holdout'].includes(String(kind))
      ? (JSON.parse(line) as RegistryRecord)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Whether two lists of hours overlap in the same market, or in the same recording under another name. */
export const haveCommonHours = (some: readonly MarketHours[], others: readonly MarketHours[]): boolean =>
  some.some(a => others.some(b => (a.market === b.market || a.digest === b.digest) && a.from < b.to && a.to > b.from));

/** Whether the record is of a trial or a neighbor. */
export const isTrial = (record: RegistryRecord): record is TrialRecord | NeighbourRecord =>
  record.kind === 'trial' || record.kind === 'neighbour';

/** Returns the number of distinct configurations that the studies in the registry have tried on any of `hours`. */
export const trialsOn = (records: readonly RegistryRecord[], hours: readonly MarketHours[]): number =>
  new Set(
    records.flatMap(record =>
      isTrial(record) && record.config !== null && record.state !== 'refused' && haveCommonHours(record.tapes, hours)
        ? [record.config]
        : [],
    ),
  ).size;

/**
 * Returns the trials of one study by number. If two processes wrote records with the same number, the first record
 * counts.
 */
export function trialsOf(records: readonly RegistryRecord[], study: string): ReadonlyMap<number, TrialRecord> {
  const found = new Map<number, TrialRecord>();
  for (const record of records)
    if (record.kind === 'trial' && record.study === study && !found.has(record.number))
      found.set(record.number, record);
  return found;
}

/**
 * Running estimate of the lead of one price over another, from the reads of the last hour. Computed again every minute.
 */
import type { Millis } from '../model/units.ts';
import { randomOf } from '../ports/random.ts';
import { leadLagOf, type LeadLag } from './leadLag.ts';

/** Estimate of the last hour; if there is no `lead`, `reason` says why. */
export type LeadEstimate =
  { readonly lead: LeadLag; readonly reason: null } | { readonly lead: null; readonly reason: string };

/**
 * Smallest difference between two tested lags. Time is divided into intervals of this length, and only the last read of
 * each interval is kept.
 */
const STEP_MS: Millis = 250;
const LAG_MAX_MS: Millis = 10_000;
/** Time for which reads are kept. Most changes of a mid price are noise, so a lead shows only over many minutes. */
const MEMORY_MS: Millis = 3_600_000;
/** Time after which the lag is estimated again. */
const EVERY_MS: Millis = 60_000;
/** Minimum number of reads of each price: two for each time block of the estimate. */
const READS_MIN = 60;

type Reads = { readonly at: Millis[]; readonly log: number[] };

export class RunningLead {
  readonly #x: Reads = { at: [], log: [] };
  readonly #y: Reads = { at: [], log: [] };
  #known: { readonly at: Millis; readonly estimate: LeadEstimate } | null = null;

  /** Adds a read of the price whose lead is estimated. Ignores a read that is older than the last one. */
  readX(at: Millis, price: number): void {
    addRead(this.#x, at, price);
  }

  /** Adds a read of the price that may follow the other price. */
  readY(at: Millis, price: number): void {
    addRead(this.#y, at, price);
  }

  /** Returns an estimate that is at most a minute old. It depends only on the reads and on the times of the calls. */
  estimate(at: Millis): LeadEstimate {
    const age = at - (this.#known?.at ?? -Infinity);
    if (this.#known !== null && age >= 0 && age < EVERY_MS) return this.#known.estimate;
    for (const reads of [this.#x, this.#y]) dropBefore(reads, at - MEMORY_MS);
    const count = Math.min(this.#x.at.length, this.#y.at.length);
    // With too few reads, the result is not cached, so the next call tries again.
    if (count < READS_MIN)
      return {
        lead: null,
        reason: `lead unknown until ${READS_MIN} prices each of the source and of the bot's book are read; ${count} so far`,
      };
    const lead = leadLagOf(this.#x, this.#y, { stepMs: STEP_MS, lagMaxMs: LAG_MAX_MS, random: randomOf(1) });
    const minutes = Math.round((at - Math.max(this.#x.at[0]!, this.#y.at[0]!)) / 60_000);
    const estimate: LeadEstimate =
      lead === null
        ? { lead, reason: `no lead found in the prices of the last ${minutes} min` }
        : { lead, reason: null };
    this.#known = { at, estimate };
    return estimate;
  }
}

/** Adds a read. If the previous read is in the same interval of `STEP_MS`, the new read replaces it. */
function addRead({ at: times, log }: Reads, at: Millis, price: number): void {
  const last = times.at(-1) ?? -Infinity;
  if (!(price > 0 && price < Infinity && at >= last)) return;
  // The intervals are fixed on the clock. If each interval started at the last read, frequent reads would replace each
  // other forever.
  if (Math.floor(at / STEP_MS) === Math.floor(last / STEP_MS)) {
    log[log.length - 1] = Math.log(price);
    times[times.length - 1] = at;
    return;
  }
  times.push(at);
  log.push(Math.log(price));
  if (times.length > (2 * MEMORY_MS) / STEP_MS) dropBefore({ at: times, log }, at - MEMORY_MS);
}

function dropBefore({ at, log }: Reads, from: Millis): void {
  const kept = at.findIndex(time => time >= from);
  const count = kept < 0 ? at.length : kept;
  at.splice(0, count);
  log.splice(0, count);
}

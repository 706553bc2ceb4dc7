/** Hands the ledger over to the journal: entries, balances, marker and live orders of one moment, when they have changed, and now and then for the losses. */
import { sumOfProfits, textOfMoney } from '../../core/index.ts';
import type { Clock, Engine, LedgerEntry, Profit } from '../../core/index.ts';
import type { HedgeRow } from '../../hedge/index.ts';
import type { Journal } from '../state/journal.ts';
import type { StateUnits } from '../state/units.ts';
import type { Reads } from './reads.ts';

const KEEP_EVERY_MS = 60_000;

export class LedgerKeeper {
  readonly #engine: Engine;
  readonly #journal: Pick<Journal, 'keep' | 'leftovers'>;
  readonly #reads: Pick<Reads, 'taken'>;
  readonly #clock: Clock;
  readonly #hedges: () => readonly HedgeRow[];
  readonly #transfers: () => readonly string[] | null;
  readonly #units: StateUnits;
  #kept = { state: '', at: -Infinity };
  #entries: LedgerEntry[] = [];

  constructor(
    engine: Engine,
    journal: Pick<Journal, 'keep' | 'leftovers'>,
    reads: Pick<Reads, 'taken'>,
    clock: Clock,
    units: StateUnits,
    hedges: () => readonly HedgeRow[] = () => [],
    transfers: () => readonly string[] | null = () => null,
  ) {
    engine.account.onEntry(entry => void this.#entries.push(entry));
    this.#transfers = transfers;
    this.#hedges = hedges;
    this.#engine = engine;
    this.#journal = journal;
    this.#reads = reads;
    this.#clock = clock;
    this.#units = units;
  }

  /**
   * It becomes durable with what is written next. Not to be called once something broke: half of an event may be in the ledger then, and
   * a restart reads on from the marker of the last whole one. `isLast`: also when nothing but the profit has changed.
   */
  keep(isLast = false): void {
    const { marker, tids } = this.#reads.taken;
    const live = this.#engine.unfinished.map(({ id, price, amount, filled, filledRest, oid }) => ({
      ...{ id, filled, oid, price, amount },
      ...(filledRest !== undefined && filledRest > 0n ? { rest: textOfMoney(filledRest) } : {}),
    }));
    const hedges = this.#hedges();
    const last = hedges[hedges.length - 1];
    const transfers = this.#transfers();
    const version = [this.#engine.ledgerVersion, transfers === null ? null : transfers.length];
    const state = JSON.stringify([...version, marker, tids.length, live, last?.id, last?.state, last?.acceptedAt]);
    const now = this.#clock.elapsed();
    if (!isLast && state === this.#kept.state && now - this.#kept.at < KEEP_EVERY_MS) return;
    const ledger = this.#engine.ledger(tids);
    if (ledger === null) return;
    const { checked } = this.#engine.account;
    const profit = this.#profit();
    const units = this.#units;
    this.#journal.keep({ ledger, marker, live, hedges, transfers, units, checked, profit }, this.#entries);
    this.#entries = [];
    this.#kept = { state, at: now };
  }

  /** Of all runs since the opening. */
  #profit(): Profit {
    const { profit } = this.#engine.snapshot(this.#clock.now());
    const { profit: before } = this.#journal.leftovers;
    return before === null ? profit : sumOfProfits(before, profit);
  }
}

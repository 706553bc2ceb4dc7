/**
 * Passes the ledger to the journal: entries, balances, position in the list of trades, and live orders, all as of one
 * point in time. Passes it after every change, and also periodically, because losses change with the market price.
 */
import {
  textOfMoney,
  type Clock,
  type Engine,
  type Instrument,
  type LedgerEntry,
  type Millis,
} from '../../core/index.ts';
import type { HedgeRow } from '../../hedge/index.ts';
import type { Journal } from '../state/journal.ts';
import type { BookHour } from '../state/profitHours.ts';
import type { StateUnits } from '../state/unitConversion.ts';
import type { Reads } from './reads.ts';

const KEEP_EVERY_MS = 60_000;

const unitsOf = ({ tick, lot }: StateUnits): StateUnits => ({ tick, lot });

export class LedgerKeeper {
  readonly #engine: Engine;
  readonly #journal: Pick<Journal, 'keep'>;
  readonly #reads: Pick<Reads, 'taken' | 'uncounted'>;
  readonly #clock: Clock;
  /** Returns the hedges and the ids of transfers. A list that has changed is another object. */
  readonly #hedges: () => readonly HedgeRow[];
  readonly #transfers: () => readonly string[] | null;
  readonly #units: StateUnits;
  /** Units of each book but the first, by symbol; `null` with one book. */
  readonly #bookUnits: Readonly<Record<string, StateUnits>> | null;
  #kept: {
    readonly state: string;
    readonly hedges: readonly HedgeRow[];
    readonly transfers: readonly string[] | null;
    readonly at: Millis;
  } | null = null;
  #entries: LedgerEntry[] = [];
  #hours: BookHour[] = [];

  constructor(
    engine: Engine,
    journal: Pick<Journal, 'keep'>,
    reads: Pick<Reads, 'taken' | 'uncounted'>,
    clock: Clock,
    instruments: readonly Instrument[],
    hedges: () => readonly HedgeRow[] = () => [],
    transfers: () => readonly string[] | null = () => null,
  ) {
    engine.onEntry(entry => void this.#entries.push(entry));
    engine.books.forEach(({ symbol, hourEnds }, i) =>
      hourEnds.listen(ended => void this.#hours.push(i === 0 ? ended : { ...ended, symbol })),
    );
    this.#transfers = transfers;
    this.#hedges = hedges;
    this.#engine = engine;
    this.#journal = journal;
    this.#reads = reads;
    this.#clock = clock;
    const [first, ...others] = instruments;
    this.#units = unitsOf(first!);
    this.#bookUnits = others.length === 0 ? null : Object.fromEntries(others.map(book => [book.symbol, unitsOf(book)]));
  }

  /**
   * Passes the ledger to the journal, whose next write makes the ledger durable. Must not be called after an internal
   * error: the ledger may contain half an event, and a restart must continue from the last complete event. With
   * `isLast`, also passes a ledger of which only the profit has changed.
   */
  keep(isLast = false): void {
    const { uncounted } = this.#reads;
    const { marker, tids } = this.#reads.taken;
    const live = this.#engine.unfinished.map(({ id, price, amount, filled, filledRest, oid }) => ({
      ...{ id, filled, oid, price, amount },
      ...(filledRest !== undefined && filledRest > 0n ? { rest: textOfMoney(filledRest) } : {}),
    }));
    const hedges = this.#hedges();
    const transfers = this.#transfers();
    const state = JSON.stringify([this.#engine.ledgerVersion, marker, tids.length, uncounted, live]);
    const now = this.#clock.elapsed();
    const kept = this.#kept;
    const isSame = kept !== null && state === kept.state && hedges === kept.hedges && transfers === kept.transfers;
    if (!isLast && this.#hours.length === 0 && isSame && now - kept.at < KEEP_EVERY_MS) return;
    const ledger = this.#engine.ledger(tids);
    if (ledger === null) return;
    const { checked } = this.#engine.account;
    const checkedThere = this.#engine.elsewhere?.checked ?? null;
    const profit = ledger.profit?.profit ?? null;
    const [units, bookUnits] = [this.#units, this.#bookUnits];
    this.#journal.keep(
      {
        ledger,
        marker,
        live,
        hedges,
        transfers,
        units,
        ...(bookUnits && { bookUnits }),
        uncounted,
        checked,
        checkedThere,
        profit,
      },
      this.#entries,
      this.#hours,
    );
    [this.#entries, this.#hours] = [[], []];
    this.#kept = { state, hedges, transfers, at: now };
  }
}

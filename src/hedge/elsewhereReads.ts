/**
 * Reads of the balances on the other exchange, in a run or a replay: before the first quote, at an interval, and after each
 * hedge there. The engine compares the balances with its ledger of that exchange.
 */
import {
  atPlace,
  sleep,
  textOfMoney,
  tickerInName,
  type Engine,
  type FirstCount,
  type Millis,
  type Balance,
  type Money,
  type Moved,
  type Outcome,
  type VenueClient,
} from '../core/index.ts';
import type { HedgeLog, HedgeRun } from './setup.ts';

/**
 * Interval of reads. `SOON_MS` applies instead until the balances first equal the ledger, while they differ, after a
 * failed read, and after a hedge has started or ended.
 */
const EVERY_MS: Millis = 10_000;
const SOON_MS: Millis = 2_000;
/** Time without a successful read after which no hedge is sent to the other exchange. */
const UNREAD_AFTER_MS: Millis = 60_000;
const MATCH_TRIES = 10;
const MATCH_EVERY_MS = 500;

type Read = Extract<Outcome<readonly Balance[]>, { kind: 'done' }>;
type Failed = Exclude<Outcome<never>, { kind: 'done' }>;

export type ElsewhereReadsOptions = {
  readonly run: Omit<HedgeRun, 'log'> & { readonly log: HedgeLog & { error(fields: object, text: string): void } };
  readonly engine: Engine;
  readonly place: { readonly name: string; readonly client: Pick<VenueClient, 'balances'> };
  /** Base and quote currency of the book on the other exchange. */
  readonly currencies: readonly string[];
  /** Returns a value that changes when a hedge on the other exchange starts or ends. */
  readonly hedgeState: () => string;
  /** Returns the value of one unit of the other book's quote currency; `null` if unknown. */
  readonly rate: () => Money | null;
  /** Returns why a list of balances with its unreadable rows lacks one of the currencies; `null` if it lacks none. */
  readonly unusable: (read: Read, currencies: readonly string[]) => Failed | null;
  /** Called with the reason of each failed read. */
  readonly onUnread: (why: string, text: string) => void;
  /** Called after each read during which no hedge started or ended. */
  readonly onQuiet: () => void;
  /** Returns the count of reconciled hedges there; `undefined` if hedges may have any size. */
  readonly firstHedges: () => FirstCount | undefined;
  /** Called after each comparison of the balances with the ledger, with whether they agreed. */
  readonly onCompared: (agrees: boolean) => void;
};

export class ElsewhereReads {
  readonly #o: ElsewhereReadsOptions;
  #readAt: Millis = -Infinity;
  #triedAt: Millis = -Infinity;
  #startedAt: Millis;
  #failure: string | null = null;
  /** Whether the exchange rate (`rate`) was known at the last read. */
  #isRated = false;
  /** State of the hedges at the last read during which no hedge started or ended. */
  #seen: string | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: ElsewhereReadsOptions) {
    this.#o = options;
    this.#startedAt = options.run.clock.elapsed();
  }

  /** Maximum age of the balances, for the engine. */
  static readonly maxAgeMs: Millis = UNREAD_AFTER_MS;

  /** Reason why the balances are unknown, as text; `null` if they were read recently. */
  get unread(): string | null {
    const since = Math.max(this.#readAt, this.#startedAt);
    const ms = this.#o.run.clock.elapsed() - since;
    if (ms <= UNREAD_AFTER_MS) return null;
    const why = this.#failure === null ? '' : `: ${this.#failure}`;
    return `the balances at ${this.#o.place.name} have not been read for ${Math.round(ms / 1_000)} s${why}`;
  }

  /** Reads the balances if a read is due. */
  async readWhenDue(): Promise<void> {
    const { run, engine, hedgeState, rate } = this.#o;
    const view = engine.elsewhere?.view;
    const isCompared = view?.isReconciled === true && view.checked !== null && view.differences().length === 0;
    const isNewRate = !this.#isRated && rate() !== null;
    const isSoon = !isCompared || isNewRate || this.#failure !== null || this.#seen !== hedgeState();
    if (run.clock.elapsed() - this.#triedAt < (isSoon ? SOON_MS : EVERY_MS)) return;
    await this.read();
  }

  /**
   * Reads the balances. Resolves to `true` if no hedge on the other exchange started or ended during the read. Only one
   * call runs at a time.
   */
  read(): Promise<boolean> {
    const turn = this.#turn.then(() => this.#readNow());
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /** Reads the balances. Resolves to their differences from the ledger, or to `null` if they could not be read. */
  async readMoved(): Promise<Moved | null> {
    const startedAt = this.#o.run.clock.elapsed();
    await this.read();
    return this.#readAt >= startedAt ? (this.#o.engine.elsewhere?.moved ?? null) : null;
  }

  async #readNow(): Promise<boolean> {
    const { run, place, hedgeState, rate } = this.#o;
    const { clock, step, time } = run;
    this.#triedAt = clock.elapsed();
    const before = hedgeState();
    const startedAt = time();
    const also = [...(this.#o.engine.elsewhere?.view.totals.keys() ?? [])].map(tickerInName);
    const outcome = await place.client.balances({ also });
    if (outcome.kind !== 'done') return this.#failed(outcome);
    const failed = this.#o.unusable(outcome, this.#needed());
    if (failed !== null) return this.#failed(failed);
    if (this.#failure !== null) run.log.info({}, `the balances at ${place.name} can be read again`);
    this.#failure = null;
    this.#readAt = this.#triedAt;
    const quiet = before === hedgeState();
    if (quiet) this.#seen = before;
    const value = rate();
    this.#isRated = value !== null;
    const firstHedges = this.#o.firstHedges();
    const last = this.#o.engine.elsewhere?.view.checked;
    step({
      ...{ kind: 'balances', at: time(), startedAt, quiet, place: place.name, balances: outcome.value },
      ...(value === null ? {} : { rate: value }),
      ...(firstHedges && { firstHedges }),
    });
    // While an order is open, a read compares nothing. A difference that a resume books still differed.
    const checked = this.#o.engine.elsewhere?.view.checked ?? null;
    if (checked !== null && checked !== last) this.#o.onCompared(checked.differences.size === 0);
    if (quiet) this.#o.onQuiet();
    return quiet;
  }

  /** Whether the balances equal the ledger; `null` if they could not be read. Reads again after a difference. */
  async match(): Promise<boolean | null> {
    const { run, engine, place } = this.#o;
    let isCompared = false;
    for (let tries = 0; tries < MATCH_TRIES; tries++) {
      if (await this.read()) {
        isCompared = true;
        if (engine.elsewhere?.view.differences().length === 0) return true;
      }
      await sleep(run.clock, MATCH_EVERY_MS);
    }
    if (!isCompared)
      run.log.error(
        {},
        `the balances at ${place.name} could not be read, so they were not compared with the ledger; compare them with the output of puntas ledger`,
      );
    const differences = isCompared ? (engine.elsewhere?.view.differences() ?? []) : [];
    for (const { currency, difference } of differences)
      run.log.error(
        { currency, difference: textOfMoney(difference) },
        `the balances at ${place.name} differ from the ledger (field difference: balance minus ledger)`,
      );
    return isCompared ? false : null;
  }

  /** Currencies that a read must list. Only a currency of which the opened ledger has exactly zero may be missing. */
  #needed(): readonly string[] {
    const { engine, place, currencies } = this.#o;
    const view = engine.elsewhere?.view;
    const isZero = (currency: string) => view?.isOpen === true && view.total(atPlace(currency, place.name)) === 0n;
    return currencies.filter(currency => !isZero(currency));
  }

  #failed(failed: Failed): false {
    const { onUnread, place } = this.#o;
    const why = failed.kind === 'refused' ? `${failed.code} ${failed.message}` : failed.reason;
    this.#failure = why;
    const text = `the balances at ${place.name} cannot be read (${why}); after ${UNREAD_AFTER_MS / 1_000} s without a read, no hedge is sent to ${place.name}`;
    onUnread(why, text);
    return false;
  }
}

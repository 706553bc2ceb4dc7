/** The hedger inside a replay: the bot's own, on a virtual clock that the replay moves, before a desk that lives at the exchange's end. */
import { money, moneyOf, settle, sleep, textOfMoney, VirtualClock } from '../../src/core/index.ts';
import type {
  ConversionLeg,
  Engine,
  EngineEvent,
  EngineNews,
  Instrument,
  Millis,
  Money,
} from '../../src/core/index.ts';
import { explained, Hedger, hedgeViewOf, isOver } from '../../src/hedge/index.ts';
import type { HedgeRow, HedgeSetup } from '../../src/hedge/index.ts';
import type { DeskSum } from '../../src/sandbox/index.ts';
import type { Gap } from '../../src/tape/index.ts';
import type { Collector } from '../collect/collect.ts';
import { ReplayDesk } from '../exchange/desk.ts';
import type { ReplayDeskOptions, DeskScene } from '../exchange/desk.ts';
import type { SimulatedExchange } from '../exchange/simulatedExchange.ts';
import { GapIterator } from '../rows/gapIterator.ts';
import type { Latency } from '../rows/latency.ts';

/** Plain data, so that it can be handed to another thread. */
export type HedgeOptions = {
  readonly setup: Omit<HedgeSetup, 'desk'>;
  /** Begins the origin ids of orders that take the book. */
  readonly orderPrefix: string;
  readonly desk: ReplayDeskOptions;
};

export type HedgingScene = Pick<DeskScene, 'admit' | 'base'> & {
  readonly instrument: Instrument;
  readonly from: Millis;
  readonly balances: Readonly<Record<string, string>>;
  readonly gaps: readonly Gap[];
  readonly latency: Latency;
  readonly engine: Engine;
  readonly exchange: SimulatedExchange;
  readonly collector: Collector;
  readonly takerRate: () => number;
  readonly step: (event: EngineEvent) => void;
  readonly onEnd: (row: ReplayedHedge) => void;
};

/** One hedge that is over. Money as decimal text; what it was asked for in the major currency, above zero when it was to leave. */
export type ReplayedHedge = {
  readonly id: string;
  /** When it was decided on. */
  readonly at: Millis;
  readonly state: 'completed' | 'failed';
  readonly wanted: string;
  /** The way that was taken; null when none was. */
  readonly way: string | null;
  readonly gave: string | null;
  readonly gaveCurrency: string | null;
  readonly got: string | null;
  readonly gotCurrency: string | null;
  /** What the offer cost against the middle when it was weighed. */
  readonly weighedBps: number | null;
  readonly acceptedAt: Millis | null;
  /** When the exchange carried it out, and what it cost against the middle then, a fee included, in the minor currency; null when it did not. */
  readonly executedAt: Millis | null;
  readonly cost: string | null;
  readonly heardAt: Millis;
  /** Why it was not carried out. */
  readonly why: string | null;
  /** Every way with its cost, and why it was not taken. */
  readonly weighed: string;
};

/** What all hedges of a replay came to. Of conversions that were carried out, but for `begun` and `reasons`. */
export type Hedged = {
  readonly requests: number;
  readonly begun: number;
  readonly completed: number;
  readonly major: Money;
  readonly minor: Money;
  /** Against the middle at that time, fees of taking the book included. */
  readonly cost: Money;
  /** Why others were not, most first. */
  readonly reasons: readonly { readonly reason: string; readonly hedges: number }[];
};

const BALANCES_EVERY_MS = 10_000;
const REASONS_MAX = 50;
const QUIET = { info: () => undefined, warn: () => undefined };

type Executed = {
  readonly at: Millis;
  /** What each currency changed by. */
  readonly major: bigint;
  readonly minor: bigint;
  readonly cost: Money;
};

export class Hedging {
  readonly #scene: HedgingScene;
  readonly #clock: VirtualClock;
  readonly #hedger: Hedger;
  readonly #desk: ReplayDesk;
  readonly #reasons = new Map<string, number>();
  #told: readonly HedgeRow[] = [];
  #stopped = false;
  #isDone = false;
  #broken: { readonly error: unknown } | null = null;
  /** Carried out by the desk, and not in our ledger yet; and the last one that is, or that took the book. */
  #unheard: Executed | null = null;
  #heard: Executed | null = null;
  #balancesAt = -Infinity;
  #begun = 0;
  #completed = 0;
  #major = 0n;
  #minor = 0n;
  #cost = 0n;

  constructor({ setup, desk, orderPrefix }: HedgeOptions, scene: HedgingScene) {
    this.#scene = scene;
    const { from, instrument, exchange, base, latency, engine, admit, takerRate, step } = scene;
    this.#clock = new VirtualClock(from);
    const gaps = new GapIterator(scene.gaps);
    this.#desk = new ReplayDesk(desk, {
      clock: this.#clock,
      ...{ instrument, exchange, base, admit },
      there: at => latency.there(at),
      back: at => latency.back(at),
      total: currency => this.#total(currency),
      swap: (pay, receive) => this.#swap(pay, receive),
      isKnown: () => !gaps.isIn(this.#clock.now()),
    });
    this.#hedger = new Hedger({
      setup: { ...setup, desk: this.#desk },
      run: {
        clock: this.#clock,
        time: () => this.#clock.now(),
        log: QUIET,
        step: event => {
          if (event.kind === 'conversion' && event.phase === 'done') this.#hear();
          step(event);
        },
      },
      kept: { rows: [], prefix: 'h', orderPrefix },
      pair: instrument,
      view: () => {
        const beside = { instrument, takerRate: takerRate(), balancesAt: this.#balancesAt };
        return hedgeViewOf(engine, beside, this.#clock.now());
      },
      persist: () => true,
      mayAct: () => !this.#stopped && engine.haltedBecause === null,
    });
    const looking = this.#repeat(
      setup.everyMs,
      () => this.#hedger.turn(),
      () => this.#stopped,
    );
    void looking
      .then(() => this.#hedger.settle(Infinity, () => Promise.resolve()))
      .then(() => void (this.#isDone = true), this.#break);
    void this.#repeat(
      BALANCES_EVERY_MS,
      async () => this.#readBalances(),
      () => this.#isDone,
    );
  }

  /** When something happens next. */
  get dueAt(): Millis {
    return this.#scene.from + (this.#clock.nextDue() ?? Infinity);
  }

  /** After a stop: nothing is under way any more. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Everything that is due by `time`, which both ends have reached. */
  async liveTo(time: Millis): Promise<void> {
    while (this.dueAt <= time) {
      this.#clock.runNext();
      await settle();
      if (this.#broken !== null) throw this.#broken.error;
      this.#tell();
    }
  }

  /** The engine's news. */
  heard(news: EngineNews): void {
    this.#hedger.heard(news);
  }

  /** An order of the hedger has taken something of the book. What each currency changed by, the fee included; `mid` as of `Watcher.filled`. */
  took(major: bigint, minor: bigint, at: Millis, mid: number): void {
    const { instrument, base } = this.#scene;
    const price = BigInt(mid + 2 * base) * instrument.tickMoney;
    const before = this.#heard;
    this.#heard = {
      at: before?.at ?? at,
      major: major + (before?.major ?? 0n),
      minor: minor + (before?.minor ?? 0n),
      cost: money((before?.cost ?? 0n) - (mid === 0 ? 0n : (major * price) / (2n * 10n ** 18n) + minor)),
    };
  }

  /** Nothing new is begun; what is under way is followed to its end. */
  stop(): void {
    this.#stopped = true;
  }

  end(): Hedged {
    return {
      requests: this.#desk.requests,
      begun: this.#begun,
      completed: this.#completed,
      major: money(this.#major),
      minor: money(this.#minor),
      cost: money(this.#cost),
      reasons: [...this.#reasons]
        .map(([reason, hedges]) => ({ reason, hedges }))
        .sort((a, b) => b.hedges - a.hedges || (a.reason < b.reason ? -1 : 1)),
    };
  }

  async #repeat(everyMs: Millis, task: () => Promise<void>, isOver: () => boolean): Promise<void> {
    const clock = this.#clock;
    try {
      await sleep(clock, 0);
      while (!isOver()) {
        const started = clock.elapsed();
        await task();
        await sleep(clock, Math.max(1, everyMs - (clock.elapsed() - started)));
      }
    } catch (error) {
      this.#break(error);
    }
  }

  readonly #break = (error: unknown): void => {
    this.#broken ??= { error };
  };

  /** What the account holds at the exchange. */
  #total(currency: string): Money {
    const { balances, collector, instrument } = this.#scene;
    const change = currency === instrument.major ? collector.moved.major : collector.moved.minor;
    return money(moneyOf(balances[currency] ?? '0') + change);
  }

  #swap(pay: DeskSum, receive: DeskSum): void {
    const { instrument, exchange, collector } = this.#scene;
    if (this.#unheard !== null) throw new Error('the desk carried out two conversions at once');
    const sells = pay.currency === instrument.major;
    const [major, minor] = sells ? [-pay.sum, receive.sum] : [receive.sum, -pay.sum];
    const at = this.#clock.now();
    const cost = collector.converted(money(major), money(minor), at, exchange.twiceMid);
    this.#unheard = { at, major, minor, cost };
  }

  #hear(): void {
    if (this.#unheard === null) throw new Error('the hedger counts a conversion that the desk did not carry out');
    this.#heard = this.#unheard;
    this.#unheard = null;
  }

  /** As we know them, with what the exchange has carried out. */
  #readBalances(): void {
    const { engine, instrument, step } = this.#scene;
    const at = (this.#balancesAt = this.#clock.now());
    const { holdings } = engine.snapshot(at);
    const balances = [instrument.major, instrument.minor].map(currency => {
      const moved = this.#unheard?.[currency === instrument.major ? 'major' : 'minor'] ?? 0n;
      const total = textOfMoney(money((holdings.get(currency) ?? 0n) + moved));
      return { currency, total, locked: '0', available: total };
    });
    step({ kind: 'balances', at, startedAt: at, quiet: true, balances });
  }

  /** Rows that have come to their end since the last time. */
  #tell(): void {
    const { rows } = this.#hedger;
    if (rows === this.#told) return;
    const before = new Set(this.#told.filter(isOver).map(({ id }) => id));
    this.#told = rows;
    for (const row of rows) if (isOver(row) && !before.has(row.id)) this.#ended(row);
  }

  #count({ major, minor, cost }: Executed): void {
    this.#completed++;
    this.#major += major < 0n ? -major : major;
    this.#minor += minor < 0n ? -minor : minor;
    this.#cost += cost;
  }

  #ended({ id, at, state, amount, weighed, offer, acceptedAt, why }: HedgeRow): void {
    this.#begun++;
    const isDone = state === 'completed';
    if (!isDone) {
      const reason = why ?? 'no reason was told';
      const known = this.#reasons.get(reason);
      if (known !== undefined || this.#reasons.size < REASONS_MAX) this.#reasons.set(reason, (known ?? 0) + 1);
    }
    const executed = isDone ? this.#heard : null;
    this.#heard = null;
    if (executed !== null) this.#count(executed);
    const [gave, got] = legsOf(executed, this.#scene.instrument) ?? [offer?.give, offer?.get];
    this.#scene.onEnd({
      id,
      at,
      state: isDone ? 'completed' : 'failed',
      wanted: amount,
      way: offer?.way ?? null,
      gave: gave?.amount ?? null,
      gaveCurrency: gave?.currency ?? null,
      got: got?.amount ?? null,
      gotCurrency: got?.currency ?? null,
      weighedBps: weighed.find(({ way }) => way === offer?.way)?.bps ?? null,
      acceptedAt,
      executedAt: executed?.at ?? null,
      cost: executed && textOfMoney(executed.cost),
      heardAt: this.#clock.now(),
      why,
      weighed: explained(weighed),
    });
  }
}

/** What was given and got. */
function legsOf(executed: Executed | null, instrument: Instrument): readonly [ConversionLeg, ConversionLeg] | null {
  if (executed === null) return null;
  const { major, minor } = executed;
  const leg = (currency: string, change: bigint): ConversionLeg => ({
    currency,
    amount: textOfMoney(money(change < 0n ? -change : change)),
  });
  const [one, other] = [leg(instrument.major, major), leg(instrument.minor, minor)];
  return major < 0n ? [one, other] : [other, one];
}

/**
 * Hedger inside a replay: the hedger of the live bot on a virtual clock that the replay drives, with a simulated desk
 * at the exchange, and with the recorded book of another exchange.
 */
import {
  atPlace,
  money,
  moneyOf,
  multiplyMoneyFloor,
  settle,
  sleep,
  textOfMoney,
  VirtualClock,
  type ConversionLeg,
  type Engine,
  type EngineEvent,
  type EngineNews,
  type HedgeRoute,
  type Instrument,
  type Millis,
  type Money,
  type OwnTrade,
} from '../../src/core/index.ts';
import {
  hedgeComparisonText,
  Hedger,
  hedgeInputsOf,
  isOver,
  ElsewhereReads,
  elsewhereSetupOf,
  stateElsewhere,
  type HedgeRow,
  type HedgeSetup,
  type ElsewhereRunSetup,
  type ElsewhereHedgeTerms,
  type RateSources,
} from '../../src/hedge/index.ts';
import type { DeskSum } from '../../src/sandbox/index.ts';
import type { Gap } from '../../src/tape/index.ts';
import type { Collector } from '../collect/collect.ts';
import { ReplayDesk, type ReplayDeskOptions, type DeskScene } from '../exchange/desk.ts';
import { ElsewhereExchange, type ElsewhereExchangeOptions } from '../exchange/elsewhereExchange.ts';
import type { SimulatedExchange } from '../exchange/simulatedExchange.ts';
import { GapIterator } from '../rows/gapIterator.ts';
import type { Latency } from '../rows/latency.ts';

/** Options of the hedger: plain data, so that a job can be sent to another thread. */
export type HedgeOptions = {
  readonly setup: Omit<HedgeSetup, 'desk'>;
  /** Instance and run from which the ids of taker orders are formed. */
  readonly orders: { readonly instance: string; readonly run: number };
  readonly desk: ReplayDeskOptions;
  /** Other exchange with hedges; absent if there are none. */
  readonly place?: ReplayPlaceOptions;
};

/** Other exchange with hedges: its name in the ledger, the terms of hedges there, and its recording. */
export type ReplayPlaceOptions = {
  readonly name: string;
  readonly terms: ElsewhereHedgeTerms;
  readonly exchange: ElsewhereExchangeOptions;
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
  /** Time of the event that the bot processes. */
  readonly now: () => Millis;
  /** Returns the sources of the other exchange's rate. */
  readonly rateSources: () => RateSources;
  readonly step: (event: EngineEvent) => void;
  readonly onEnd: (row: ReplayedHedge) => void;
};

/**
 * Finished hedge. In the state `stranded`, the proceeds of the first leg are in a third currency. Money is decimal
 * text. `wanted` is in the base currency, positive to sell.
 */
export type ReplayedHedge = {
  readonly id: string;
  /** Time of the decision. */
  readonly at: Millis;
  readonly state: 'completed' | 'failed' | 'stranded';
  readonly wanted: string;
  /** Chosen route; `null` if no route was chosen. */
  readonly way: string | null;
  readonly gave: string | null;
  readonly gaveCurrency: string | null;
  readonly got: string | null;
  readonly gotCurrency: string | null;
  /** Cost of the chosen route against the mid price, as computed at the decision, in bps. */
  readonly weighedBps: number | null;
  readonly acceptedAt: Millis | null;
  /**
   * Execution time at the exchange; `null` if the hedge was not executed. `cost` is against the exchange's mid price at
   * that time, including fees, in the quote currency.
   */
  readonly executedAt: Millis | null;
  readonly cost: string | null;
  readonly heardAt: Millis;
  /** Reason why the hedge was not executed, or was stranded; `null` if there is no reason. */
  readonly why: string | null;
  /** All routes, with their costs and the reasons against them, as text. */
  readonly weighed: string;
};

/**
 * Totals of the hedges of a replay. Amounts include executed conversions and stranded first legs. `begun`, `completed`
 * and `reasons` count hedges.
 */
export type Hedged = {
  readonly requests: number;
  readonly begun: number;
  readonly completed: number;
  readonly major: Money;
  readonly minor: Money;
  /** Cost against the mid price at each execution, including taker fees, in the quote currency. */
  readonly cost: Money;
  /** Reasons why hedges were not executed, most frequent first. */
  readonly reasons: readonly { readonly reason: string; readonly hedges: number }[];
  /** Hedges on the other exchange; `null` if there are none. */
  readonly elsewhere: HedgedElsewhere | null;
};

/** Hedges on the other exchange, in the currencies of its book. */
export type HedgedElsewhere = {
  readonly name: string;
  /** Number of hedges with an execution, and of executions. */
  readonly hedges: number;
  readonly executions: number;
  readonly traded: { readonly major: Money; readonly minor: Money };
  /** Fees that were paid, and balances at the end, by currency. */
  readonly fees: ReadonlyMap<string, Money>;
  readonly holdings: ReadonlyMap<string, Money>;
};

const BALANCES_EVERY_MS = 10_000;
/** Interval at which the replay checks whether a read of the balances on the other exchange is due. */
const PLACE_LOOK_EVERY_MS = 2_000;
const REASONS_MAX = 50;
const SILENT_LOG = { info: () => undefined, warn: () => undefined, error: () => undefined };

type Executed = {
  readonly at: Millis;
  /**
   * Change of the base currency; `minor` is the change of the quote currency. The engine counts a third currency as
   * quote currency of the same value.
   */
  readonly major: bigint;
  readonly minor: bigint;
  readonly cost: Money;
};
/** Conversion that the desk executed, with the amounts that it exchanged. */
type Swapped = Executed & { readonly pay: DeskSum; readonly receive: DeskSum };

export class Hedging {
  readonly #scene: HedgingScene;
  readonly #clock: VirtualClock;
  readonly #hedger: Hedger;
  readonly #desk: ReplayDesk;
  /** Other exchange; `null` if there are no hedges there. */
  readonly #place: Place | null;
  /** Whether a check after a fill is due. */
  #isFilled = false;
  /** Quote currency of the other exchange that the open hedge has received; negative if paid. */
  #quoteThere = 0n;
  #hedgesThere = 0;
  #cashThere = 0n;
  readonly #reasons = new Map<string, number>();
  #told: readonly HedgeRow[] = [];
  #stopped = false;
  #isDone = false;
  #broken: { readonly error: unknown } | null = null;
  /**
   * Conversion that the desk has executed but the bot's ledger does not contain yet. `#heard` is the last execution in
   * the ledger, which may also belong to a taker order.
   */
  #unheard: Swapped | null = null;
  #heard: Executed | null = null;
  #balancesAt = -Infinity;
  /** Balance changes of the account in third currencies; `#worth` is their total value in the quote currency. */
  readonly #thirds = new Map<string, bigint>();
  #worth = 0n;
  #begun = 0;
  #completed = 0;
  #major = 0n;
  #minor = 0n;
  #cost = 0n;

  constructor({ setup, desk, orders, place }: HedgeOptions, scene: HedgingScene) {
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
    this.#place = place ? this.#placeOf(place) : null;
    const elsewhere = this.#place && { elsewhere: this.#place.setup.setup };
    this.#hedger = new Hedger({
      setup: { ...setup, desk: this.#desk, ...elsewhere },
      run: {
        clock: this.#clock,
        time: () => this.#clock.now(),
        log: SILENT_LOG,
        step: event => {
          if (event.kind === 'conversion' && event.phase === 'done') this.#hear();
          step(event);
        },
      },
      kept: { rows: [], prefix: 'h', orders },
      pair: instrument,
      view: () => {
        const beside = { instrument, takerRate: takerRate(), balancesAt: this.#balancesAt };
        const now = this.#clock.now();
        const view = hedgeInputsOf(engine, beside, now);
        this.#place?.setup.observe(now, view);
        return view;
      },
      persist: () => true,
      mayAct: () => !this.#stopped && engine.book.haltedBecause === null,
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
    const there = this.#place;
    if (there !== null)
      void this.#repeat(
        PLACE_LOOK_EVERY_MS,
        () => there.reads.readWhenDue(),
        () => this.#isDone,
      );
  }

  /**
   * Value of the third currencies that the account holds. The bot counts this value as quote currency, which the
   * account does not have.
   */
  get thirdCurrencyValue(): Money {
    return money(this.#worth);
  }

  /** Time of the hedger's next event; Infinity if there is none. */
  get dueAt(): Millis {
    return this.#scene.from + (this.#clock.nextDue() ?? Infinity);
  }

  /** Whether the hedger was stopped and no hedge is pending. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Processes all events of the hedger up to `time`, which the exchange and the bot have reached. */
  async liveTo(time: Millis): Promise<void> {
    while (this.dueAt <= time) {
      this.#clock.runNext();
      await settle();
      if (this.#broken !== null) throw this.#broken.error;
      this.#tell();
    }
  }

  heard(news: EngineNews): void {
    this.#hedger.onNews(news);
    if (news.kind === 'fill' && this.#place !== null) this.#turnAfterFill();
  }

  /** Value of what the hedges on the other exchange received, in the bot's quote currency, at the rates of the hedges. */
  get cashElsewhere(): Money {
    return money(this.#cashThere);
  }

  /** Throws unless the bot's ledger of the other exchange equals the balances there. */
  assertEqualElsewhere(): void {
    if (this.#place === null) return;
    const { name, exchange } = this.#place;
    for (const [currency, balance] of exchange.holdings) {
      const booked = this.#scene.engine.elsewhere?.view.total(atPlace(currency, name));
      if (booked !== balance)
        throw new Error(
          `the accounts at ${name} differ at the end of the replay: the exchange has ${balance} ${currency}, the bot has ${booked}`,
        );
    }
  }

  /**
   * Records an execution of a taker order of the hedger. `major` and `minor` are changes per currency after fees; `mid`
   * is as in `Watcher.filled`.
   */
  onTakerExecution(major: bigint, minor: bigint, at: Millis, mid: number): void {
    const { instrument, base } = this.#scene;
    const price = BigInt(mid + 2 * base) * instrument.tickMoney;
    const cost = money(mid === 0 ? 0n : -((major * price) / (2n * 10n ** 18n) + minor));
    this.#add({ at, major, minor, cost });
  }

  /** Adds an execution to the sums of the hedge, because a hedge may be executed in parts. */
  #add({ at, major, minor, cost }: Executed): void {
    const before = this.#heard ?? { at, major: 0n, minor: 0n, cost: 0n };
    this.#heard = {
      at: before.at,
      major: major + before.major,
      minor: minor + before.minor,
      cost: money(cost + before.cost),
    };
  }

  #placeOf({ name, terms, exchange: options }: ReplayPlaceOptions): Place {
    const exchange = new ElsewhereExchange(options, this.#clock, trade => this.#executedElsewhere(trade));
    const { instrument, takerRate, streamed } = exchange;
    const setup = elsewhereSetupOf(
      { name, account: 'replay', client: exchange, rules: { known: { instrument, takerRate } }, streamed, terms },
      this.#scene.engine,
      { clock: this.#clock, time: () => this.#clock.now() },
      { unread: () => null, readMoved: () => reads.readMoved() },
      this.#scene.rateSources,
    );
    const { engine, step } = this.#scene;
    const reads = new ElsewhereReads({
      run: { clock: this.#clock, time: () => this.#clock.now(), log: SILENT_LOG, step },
      ...{ engine, place: { name, client: exchange }, currencies: [instrument.major, instrument.minor] },
      hedgeState: () => stateElsewhere(this.#hedger.rows),
      rate: setup.rate,
      firstHedges: () => this.#hedger.firstHedges,
      unusable: () => null,
      ...{ onUnread: () => undefined, onQuiet: () => undefined },
      onCompared: agrees => this.#hedger.compared(agrees),
    });
    return { name, exchange, setup, reads };
  }

  /** Checks immediately after a fill, like a run. */
  #turnAfterFill(): void {
    if (this.#isFilled || this.#stopped) return;
    this.#isFilled = true;
    const { from, now } = this.#scene;
    this.#clock.after(now() - from - this.#clock.elapsed(), () => {
      this.#isFilled = false;
      if (!this.#stopped) this.#hedger.turnAfterFill().catch(this.#break);
    });
  }

  /** Values an execution on the other exchange at the rate of its hedge, as the bot's ledger does later. */
  #executedElsewhere({ side, major, minor, feeAmount, feeCurrency }: OwnTrade): void {
    const rate = this.#hedger.rows.findLast(row => !isOver(row))?.elsewhere?.rate;
    if (rate === undefined) throw new Error('the other exchange executed an order without an open hedge');
    const { exchange, instrument } = this.#scene;
    const sign = side === 'buy' ? 1n : -1n;
    const fee = (currency: string): bigint => (currency === feeCurrency ? moneyOf(feeAmount) : 0n);
    const { minor: quote } = this.#place!.exchange.instrument;
    const base = money(sign * moneyOf(major) - fee(instrument.major));
    const there = money(-sign * moneyOf(minor) - fee(quote));
    const cash = multiplyMoneyFloor(there, moneyOf(rate));
    const at = this.#clock.now();
    const cost = this.#scene.collector.hedgedElsewhere(base, cash, at, exchange.twiceMid);
    this.#cashThere += cash;
    this.#quoteThere += there;
    this.#add({ at, major: base, minor: cash, cost });
  }

  /** Stops new hedges; pending hedges are completed. */
  stop(): void {
    this.#stopped = true;
  }

  end(): Hedged {
    const between = this.#hedger.rows.find(({ state }) => state === 'between');
    if (between) this.#ended({ ...between, state: 'stranded', why: 'the replay ended between the two legs' });
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
      elsewhere: this.#endElsewhere(),
    };
  }

  #endElsewhere(): HedgedElsewhere | null {
    if (this.#place === null) return null;
    const { name, exchange } = this.#place;
    const { trades, fees, holdings } = exchange;
    const sum = (of: (trade: OwnTrade) => string): Money =>
      money(trades.reduce((total, trade) => total + moneyOf(of(trade)), 0n));
    return {
      ...{ name, hedges: this.#hedgesThere, executions: trades.length, fees, holdings },
      traded: { major: sum(({ major }) => major), minor: sum(({ minor }) => minor) },
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

  /** Returns the account's balance of a currency at the exchange. */
  #total(currency: string): Money {
    const { balances, collector, instrument } = this.#scene;
    const { major, minor } = collector.moved;
    const change =
      currency === instrument.major
        ? major
        : currency === instrument.minor
          ? minor - this.#worth
          : (this.#thirds.get(currency) ?? 0n);
    return money(moneyOf(balances[currency] ?? '0') + change);
  }

  #swap(pay: DeskSum, receive: DeskSum): void {
    const { instrument, exchange, collector } = this.#scene;
    if (this.#unheard !== null) throw new Error('the desk executed two conversions at the same time');
    const worth = this.#throughThird(pay, -1n) + this.#throughThird(receive, 1n);
    this.#worth += worth;
    const major = changeOf(instrument.major, pay, receive);
    const minor = changeOf(instrument.minor, pay, receive) + worth;
    const at = this.#clock.now();
    const cost = collector.converted(money(major), money(minor), at, exchange.twiceMid);
    this.#unheard = { at, major, minor, cost, pay, receive };
  }

  /**
   * Applies the payment (`sign` -1) or the receipt (1) of a leg of a route. Returns the increase of the value held in a
   * third currency, as the hedger counts it; 0 for the book's two currencies.
   */
  #throughThird({ currency, sum }: DeskSum, sign: bigint): bigint {
    const { major, minor } = this.#scene.instrument;
    if (currency === major || currency === minor) return 0n;
    const route = this.#hedger.rows.findLast(row => !isOver(row))?.route;
    if (route === undefined) throw new Error(`the desk exchanged ${currency} without an open hedge`);
    this.#thirds.set(currency, (this.#thirds.get(currency) ?? 0n) + sign * sum);
    return sign * moneyOf(route.worth);
  }

  #hear(): void {
    if (this.#unheard === null) throw new Error('the hedger counts a conversion that the desk did not execute');
    this.#add(this.#unheard);
    this.#unheard = null;
  }

  /** Delivers the balances to the engine, including executions that its ledger does not contain yet. */
  #readBalances(): void {
    const { engine, instrument, step } = this.#scene;
    const at = (this.#balancesAt = this.#clock.now());
    const { holdings } = engine.book.snapshot(at).booked;
    const unheard = this.#unheard;
    const balances = [instrument.major, instrument.minor, ...this.#thirds.keys()].map(currency => {
      const moved = unheard === null ? 0n : changeOf(currency, unheard.pay, unheard.receive);
      const total = textOfMoney(money((holdings.get(currency) ?? 0n) + moved));
      return { currency, total, locked: '0', available: total };
    });
    step({ kind: 'balances', at, startedAt: at, quiet: true, balances });
  }

  /** Reports the hedges that ended since the last call. */
  #tell(): void {
    const { rows } = this.#hedger;
    if (rows === this.#told) return;
    const before = new Set(this.#told.filter(isOver).map(({ id }) => id));
    this.#told = rows;
    for (const row of rows) if (isOver(row) && !before.has(row.id)) this.#ended(row);
  }

  #count({ major, minor, cost }: Executed, isDone: boolean): void {
    if (isDone) this.#completed++;
    this.#major += major < 0n ? -major : major;
    this.#minor += minor < 0n ? -minor : minor;
    this.#cost += cost;
  }

  #ended({ id, at, state, amount, weighed, offer, acceptedAt, why, route }: HedgeRow): void {
    this.#begun++;
    const isDone = state === 'completed';
    const isStranded = state === 'stranded';
    const way = route === undefined ? (offer?.way ?? null) : `rfq via ${route.via}`;
    if (!isDone) {
      const reason = why ?? 'no reason reported';
      const known = this.#reasons.get(reason);
      if (known !== undefined || this.#reasons.size < REASONS_MAX) this.#reasons.set(reason, (known ?? 0) + 1);
    }
    const executed = isDone || isStranded ? this.#heard : null;
    this.#heard = null;
    if (executed !== null) this.#count(executed, isDone);
    const { instrument } = this.#scene;
    const there = way === 'elsewhere' ? this.#place!.exchange.instrument : null;
    const exchanged = there === null || executed === null ? executed : { ...executed, minor: this.#quoteThere };
    if (there !== null && isDone) this.#hedgesThere++;
    this.#quoteThere = 0n;
    const legs = isStranded && route ? firstLegOf(executed, route, instrument) : legsOf(exchanged, there ?? instrument);
    const [gave, got] = legs ?? [offer?.give, offer?.get];
    this.#scene.onEnd({
      id,
      at,
      state: isDone ? 'completed' : isStranded ? 'stranded' : 'failed',
      wanted: amount,
      way,
      gave: gave?.amount ?? null,
      gaveCurrency: gave?.currency ?? null,
      got: got?.amount ?? null,
      gotCurrency: got?.currency ?? null,
      weighedBps: weighed.find(one => one.way === way)?.bps ?? null,
      acceptedAt,
      executedAt: executed?.at ?? null,
      cost: executed && textOfMoney(executed.cost),
      heardAt: this.#clock.now(),
      why,
      weighed: hedgeComparisonText(weighed),
    });
  }
}

/** Other exchange of a replay, and its last balance read. */
type Place = {
  readonly name: string;
  readonly exchange: ElsewhereExchange;
  readonly setup: ElsewhereRunSetup;
  readonly reads: ElsewhereReads;
};

/** Returns the change of a currency's balance by a conversion. */
const changeOf = (currency: string, pay: DeskSum, receive: DeskSum): bigint =>
  (receive.currency === currency ? receive.sum : 0n) - (pay.currency === currency ? pay.sum : 0n);

/** Returns the amounts that the first leg of a route exchanged. */
function firstLegOf(
  executed: Executed | null,
  { via, holds, worth }: HedgeRoute,
  { major, minor }: Instrument,
): readonly [ConversionLeg, ConversionLeg] {
  const sold = -(executed?.major ?? 0n);
  const give = sold > 0n ? { currency: major, amount: textOfMoney(money(sold)) } : { currency: minor, amount: worth };
  return [give, { currency: via, amount: holds }];
}

/** Returns the amount given and the amount received; `null` if the hedge was not executed. */
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

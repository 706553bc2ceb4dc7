/** Setup of hedges on the other exchange, from its client, its rules, and the terms of the configuration. */
import {
  EwmaVolatility,
  money,
  moneyOf,
  textOfMoney,
  valueFloor,
  type Clock,
  type Engine,
  type EvidenceTimes,
  type HedgeRow,
  type Instrument,
  type Millis,
  type Money,
  type SourceStatus,
} from '../core/index.ts';
import { ElsewhereDesk, type ElsewhereClient, type ElsewhereSetup, type StreamedBook } from './elsewhereDesk.ts';
import { mayStillExecute } from './hedgeText.ts';
import type { HedgeInputs } from './hedgeInputs.ts';

/** Settings of hedges on the other exchange. Amounts of money are in the quote currency of the bot's book. */
export type ElsewhereHedgeTerms = Pick<ElsewhereSetup, 'marginBps' | 'backBps' | 'latencyMs' | 'riskZ' | 'valueMin'> & {
  /** Volatility per hour that is assumed until prices are measured, in bps. */
  readonly volatilityBps: number;
  readonly costMaxBps: number;
  readonly collarBps: number;
  readonly orderValueMax: Money;
  /**
   * Sources of the reference price that give the value of the other book's quote currency; the first usable one counts.
   * `null` if both books have the same quote currency.
   */
  readonly rateSources: readonly string[] | null;
  readonly times: EvidenceTimes;
  /** Number of reconciled hedges after which orders may exceed the smallest size. */
  readonly smallestUntil: number;
};

/** The other exchange, where the bot hedges. */
export type ElsewhereHedging = {
  /** Name of the exchange in the ledger. */
  readonly name: string;
  /** Fingerprint of the exchange's address and of the API key. */
  readonly account: string;
  readonly client: ElsewhereClient;
  readonly rules: { readonly known: { readonly instrument: Instrument; readonly takerRate: number } };
  /** Returns the book of the exchange's stream; absent without a stream. */
  readonly streamed?: (() => StreamedBook | null) | undefined;
  readonly terms: ElsewhereHedgeTerms;
};

const ONE = money(10n ** 18n);
const HOUR_ROOT_BPS = 10_000 * Math.sqrt(3_600);
const MEMORY_MS = 1_800_000;
const SAMPLE_MS = 2_000;
/** Maximum factor by which the volatility may be above or below the configured one. */
const VOLATILITY_FACTOR_MAX = 4;

/** Sources of the reference price, with the value of the other book's quote currency. */
export type RateSources = readonly Pick<SourceStatus, 'name' | 'quoteRate'>[];

/**
 * Returns the value of one unit of the other book's quote currency, in the quote currency of the bot's book, from the
 * first named source that has a value. `null` if no source has one.
 */
export function rateOf(names: ElsewhereHedgeTerms['rateSources'], sources: RateSources): Money | null {
  if (names === null) return ONE;
  for (const name of names) {
    const rate = sources.find(each => each.name === name)?.quoteRate ?? Number.NaN;
    // A price from outside is an estimate, so its digits beyond the twelfth decimal carry no information.
    const exact = rate > 0 && rate < RATE_MAX ? moneyOf(rate.toFixed(12)) : NONE;
    if (exact > 0n) return exact;
  }
  return null;
}

const RATE_MAX = 1e12;
const NONE = money(0n);

export type ElsewhereRunSetup = {
  readonly setup: ElsewhereSetup;
  /**
   * Returns the value of one unit of the other book's quote currency, in the bot's quote currency; `null` if unknown.
   */
  readonly rate: () => Money | null;
  /** Updates the volatility with the mid price of the bot's book, unless the book cannot be used. */
  readonly observe: (at: Millis, view: Pick<HedgeInputs, 'mid' | 'refusal'>) => void;
};

/** Reads of the balances on the other exchange. */
export type ElsewhereBalances = {
  /** Returns why the balances are unknown; `null` if they were read recently. */
  readonly unread: () => string | null;
  readonly readMoved: ElsewhereSetup['readMoved'];
};

/**
 * Returns a run's setup of hedges on the other exchange. `reads`: reads of its balances.
 * `sources`: returns the sources of the exchange rate; by default those of the engine.
 */
export function elsewhereSetupOf(
  place: ElsewhereHedging,
  engine: Engine,
  { clock, time }: { readonly clock: Clock; readonly time: () => Millis },
  reads: ElsewhereBalances,
  sources: () => RateSources = () => engine.book.livePrice(time())?.sources ?? [],
): ElsewhereRunSetup {
  const { client, rules, terms, streamed } = place;
  const { rateSources, volatilityBps, times, costMaxBps, collarBps, orderValueMax, ...others } = terms;
  const volatility = new EwmaVolatility({
    startPerRootSecond: volatilityBps / HOUR_ROOT_BPS,
    memoryMs: MEMORY_MS,
    sampleMs: SAMPLE_MS,
    factorMax: VOLATILITY_FACTOR_MAX,
  });
  const rate = () => rateOf(rateSources, sources());
  const account = engine.elsewhere;
  if (account === null) throw new Error('the engine has no account on the other exchange');
  const setup: ElsewhereSetup = {
    ...others,
    at: { place: place.name, account: place.account },
    desk: new ElsewhereDesk({ client, clock, times, streamed, instrument: () => rules.known.instrument }),
    get instrument() {
      return rules.known.instrument;
    },
    get takerRate() {
      return rules.known.takerRate;
    },
    get bounds() {
      const { instrument } = rules.known;
      const value = rate();
      // Without an exchange rate, the value of an order is unknown, so the maximum is 0.
      const there = value === null ? NONE : money((orderValueMax * ONE) / value);
      const most = valueFloor(instrument, textOfMoney(there));
      return { costMaxBps, collarBps, orderValueMax: most, room: instrument.amountMax };
    },
    perRootSecond: () => volatility.perRootSecond,
    rate,
    funds: currency => account.funds(currency),
    readMoved: reads.readMoved,
    closedBecause: side => reads.unread() ?? account.closedBecause(side),
  };
  return {
    ...{ setup, rate },
    observe: (at, { mid, refusal }) => {
      // If the book has no bid or no ask, the mid price of the view is only half of the other price, so it is not used.
      if (refusal === null) volatility.observe(at, Number(mid));
    },
  };
}

/** Returns a text that changes when a hedge on the other exchange starts or ends. */
export function stateElsewhere(rows: readonly HedgeRow[]): string {
  const row = rows.findLast(({ offer }) => offer?.way === 'elsewhere');
  return row === undefined ? '' : `${row.id} ${mayStillExecute(row) ? 'open' : 'over'}`;
}

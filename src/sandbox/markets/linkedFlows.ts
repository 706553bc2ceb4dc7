/**
 * Markets whose flows share hidden efficient prices: several books of the first exchange, and books of a second
 * exchange. Prices of the second exchange lead those of the first, and differ from them by a basis.
 */
import type { Millis } from '../../core/index.ts';
import { seededFlow } from './flow.ts';
import { FLOW_PROFILES, type FlowProfile } from './flowProfile.ts';
import {
  HiddenPrices,
  hiddenView,
  NO_BASIS,
  saltedSeed,
  type BasisOptions,
  type HiddenViewOptions,
} from './hiddenPrices.ts';
import type { Market } from './market.ts';

export type LinkOptions = {
  readonly seed: number;
  /** Time by which prices of the second exchange move first, in ms; up to 60,000. Default: 0. */
  readonly leadMs?: Millis;
  /**
   * Distance of the price of the first exchange's traded book from the second exchange's price. Default: no distance.
   */
  readonly basis?: BasisOptions;
  /** Standard deviations of the noise of each exchange's prices, in bps. Default: 0.5 and 0.2. */
  readonly noiseBps?: { readonly here: number; readonly there: number };
  /** Correlation of the moves of any two coins, valued in usdt, from 0 to 1. Default: 0. */
  readonly correlation?: number | undefined;
};

/** Differences of one book of the first exchange from the others. */
type LinkedBook = {
  /**
   * Time after which the book's flow sees moves of the hidden efficient prices, in addition to the lead, in ms; up to
   * 60,000. Default: 0.
   */
  readonly lagMs?: Millis | undefined;
  /** Standard deviation of the noise, in bps. Default: the noise of the first exchange. */
  readonly noiseBps?: number | undefined;
};

/** Currency in which the values of all currencies are given; its own value is constant. */
const UNIT = 'usdt';
const MXN_PER_UNIT = 18.5;
/**
 * Divisor of the makers' lags. With the standard lags, the makers' own delays exceed a configured lead or lag of
 * seconds, so this lead or lag could not be measured.
 */
const MAKER_SPEED = 4;

/**
 * Value of a currency's unit at the start, and its moves per minute, in bps. Values that are not from a flow profile
 * are invented.
 */
type Value = { readonly start: number; readonly volatilityBps: number };

const PROFILED_COINS = ['btc', 'eth', 'xrp', 'sol', 'ltc'];
const COINS: ReadonlySet<string> = new Set([...PROFILED_COINS, 'bnb']);

const VALUES: Readonly<Record<string, Value>> = {
  [UNIT]: { start: 1, volatilityBps: 0 },
  usd: { start: 1, volatilityBps: 0 },
  mxn: { start: 1 / MXN_PER_UNIT, volatilityBps: FLOW_PROFILES['usdt_mxn']!.volatilityBps },
  brl: { start: 1 / 5.5, volatilityBps: 3 },
  bnb: { start: 600, volatilityBps: 12 },
  ...Object.fromEntries(
    PROFILED_COINS.map((base): [string, Value] => {
      const { startPrice, volatilityBps } = FLOW_PROFILES[`${base}_mxn`]!;
      return [base, { start: Number(startPrice) / MXN_PER_UNIT, volatilityBps }];
    }),
  ),
};

export type LinkedFlows = {
  /**
   * Returns the flow of a book of the first exchange. `hasBasis`: whether the basis applies to the book; only the
   * traded book has a basis.
   */
  here(base: string, quote: string, hasBasis: boolean, own?: LinkedBook): Market;
  /** Returns the flow of a book of the second exchange. `spreadBps` is the median spread of the book. */
  there(base: string, quote: string, spreadBps: number): Market;
  /** Returns the hidden efficient price of base in quote at the start. */
  startPrice(base: string, quote: string): number;
};

/** Whether linked flows know a currency. */
export const isLinkedCurrency = (currency: string): boolean => VALUES[currency] !== undefined;

/**
 * Returns the linked markets. All markets must start at one time of one clock. Equal options give equal markets. A
 * market does not depend on which of the other markets run.
 */
export function linkedFlows(options: LinkOptions): LinkedFlows {
  const { seed, leadMs = 0, basis = NO_BASIS, noiseBps = { here: 0.5, there: 0.2 }, correlation = 0 } = options;
  const hidden = new HiddenPrices({
    seed: saltedSeed(seed, 'hidden'),
    volatilityBps: Object.fromEntries(
      Object.entries(VALUES).flatMap(([currency, { volatilityBps }]) =>
        volatilityBps > 0 ? [[currency, volatilityBps]] : [],
      ),
    ),
    common: { currencies: COINS, correlation },
  });
  const startPrice = (base: string, quote: string): number => VALUES[base]!.start / VALUES[quote]!.start;
  const flow = (
    where: 'here' | 'there',
    [base, quote]: readonly [string, string],
    profile: FlowProfile,
    seen: Pick<HiddenViewOptions, 'lateMs' | 'basis' | 'noiseBps'>,
  ) => {
    const salt = `${where} ${base} ${quote}`;
    const view = { base, quote, seed: saltedSeed(seed, `view ${salt}`), ...seen };
    return seededFlow({
      seed: saltedSeed(seed, `flow ${salt}`),
      profile: { ...profile, startPrice: startPrice(base, quote).toFixed(8) },
      value: hiddenView(hidden, view),
      makerSpeed: MAKER_SPEED,
    });
  };
  return {
    startPrice,
    here: (base, quote, hasBasis, { lagMs = 0, noiseBps: noise = noiseBps.here } = {}) => {
      const seen = { lateMs: leadMs + lagMs, basis: hasBasis ? basis : NO_BASIS, noiseBps: noise };
      return flow('here', [base, quote], profileOf(base, quote), seen);
    },
    there: (base, quote, spreadBps) => {
      const { typicalAmount, takersPerSecond, ...profile } = profileOf(base, quote);
      // The leading exchange has more and larger orders.
      const busier = { typicalAmount: String(Number(typicalAmount) * 4), takersPerSecond: takersPerSecond * 2 };
      const seen = { lateMs: 0, basis: NO_BASIS, noiseBps: noiseBps.there };
      return flow('there', [base, quote], { ...profile, ...busier, spreadBps }, seen);
    },
  };
}

/** Returns the profile of a book; for another quote currency, the profile of the base currency's book in MXN. */
function profileOf(base: string, quote: string): FlowProfile {
  return FLOW_PROFILES[`${base}_${quote}`] ?? FLOW_PROFILES[`${base}_mxn`] ?? FLOW_PROFILES['eth_usd']!;
}

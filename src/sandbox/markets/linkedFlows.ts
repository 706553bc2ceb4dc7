/** Markets of two exchanges whose flows share hidden prices: the second leads, and a basis is between them. */
import type { Millis } from '../../core/index.ts';
import { seededFlow } from './flow.ts';
import { FLOW_PROFILES, type FlowProfile } from './flowProfile.ts';
import { HiddenPrices, hiddenView, NO_BASIS, saltedSeed, type BasisOptions } from './hiddenPrices.ts';
import type { Market } from './market.ts';

export type LinkOptions = {
  readonly seed: number;
  /** Time by which prices of the second exchange move first, in ms; up to 60,000. */
  readonly leadMs: Millis;
  /** Distance of the first exchange's price from the second's, in its traded book. */
  readonly basis: BasisOptions;
  /** Standard deviations of the noise of each exchange's prices, in bps. */
  readonly noiseBps: { readonly here: number; readonly there: number };
};

/** Currency in which all values are given; it does not move. */
const UNIT = 'usdt';
const MXN_PER_UNIT = 18.5;
/**
 * Divisor of the makers' lags on both exchanges. With the standard lags, makers' own delays exceed a lead of seconds,
 * so that the planted lead could not be measured.
 */
const MAKER_SPEED = 4;

/** Value of a currency's unit at the start, and its moves per minute, in bps. Own choices beside the profiles. */
type Value = { readonly start: number; readonly volatilityBps: number };

const VALUES: Readonly<Record<string, Value>> = {
  [UNIT]: { start: 1, volatilityBps: 0 },
  usd: { start: 1, volatilityBps: 0 },
  mxn: { start: 1 / MXN_PER_UNIT, volatilityBps: FLOW_PROFILES['usdt_mxn']!.volatilityBps },
  brl: { start: 1 / 5.5, volatilityBps: 3 },
  bnb: { start: 600, volatilityBps: 12 },
  ...Object.fromEntries(
    ['btc', 'eth', 'xrp', 'sol', 'ltc'].map((base): [string, Value] => {
      const { startPrice, volatilityBps } = FLOW_PROFILES[`${base}_mxn`]!;
      return [base, { start: Number(startPrice) / MXN_PER_UNIT, volatilityBps }];
    }),
  ),
};

export type LinkedFlows = {
  /** Returns the flow of a book of the first exchange. `hasBasis` if the book is the traded one. */
  here(base: string, quote: string, hasBasis: boolean): Market;
  /** Returns the flow of a book of the second exchange with a median spread. */
  there(base: string, quote: string, spreadBps: number): Market;
  /** Returns the hidden price of base in quote at the start. */
  startPrice(base: string, quote: string): number;
};

/** Whether linked flows know a currency. */
export const isLinkedCurrency = (currency: string): boolean => VALUES[currency] !== undefined;

/** Returns the linked markets. All markets must start at one time of one clock. Equal options give equal markets. */
export function linkedFlows(options: LinkOptions): LinkedFlows {
  const { seed, leadMs, basis, noiseBps } = options;
  const hidden = new HiddenPrices({
    seed: saltedSeed(seed, 'hidden'),
    volatilityBps: Object.fromEntries(
      Object.entries(VALUES).flatMap(([currency, { volatilityBps }]) =>
        volatilityBps > 0 ? [[currency, volatilityBps]] : [],
      ),
    ),
  });
  const startPrice = (base: string, quote: string): number => VALUES[base]!.start / VALUES[quote]!.start;
  const flow = (
    where: 'here' | 'there',
    [base, quote]: readonly [string, string],
    profile: FlowProfile,
    ownBasis: BasisOptions,
  ) => {
    const salt = `${where} ${base} ${quote}`;
    const view = {
      base,
      quote,
      seed: saltedSeed(seed, `view ${salt}`),
      lateMs: where === 'here' ? leadMs : 0,
      basis: ownBasis,
      noiseBps: noiseBps[where],
    };
    return seededFlow({
      seed: saltedSeed(seed, `flow ${salt}`),
      profile: { ...profile, startPrice: startPrice(base, quote).toFixed(8) },
      value: hiddenView(hidden, view),
      makerSpeed: MAKER_SPEED,
    });
  };
  return {
    startPrice,
    here: (base, quote, hasBasis) => flow('here', [base, quote], profileOf(base, quote), hasBasis ? basis : NO_BASIS),
    there: (base, quote, spreadBps) => {
      const { typicalAmount, takersPerSecond, ...profile } = profileOf(base, quote);
      // The leading exchange has more and larger orders.
      const busier = { typicalAmount: String(Number(typicalAmount) * 4), takersPerSecond: takersPerSecond * 2 };
      return flow('there', [base, quote], { ...profile, ...busier, spreadBps }, NO_BASIS);
    },
  };
}

/** Returns the profile of a book; for another quote currency, the profile of the base currency's book in MXN. */
function profileOf(base: string, quote: string): FlowProfile {
  return FLOW_PROFILES[`${base}_${quote}`] ?? FLOW_PROFILES[`${base}_mxn`] ?? FLOW_PROFILES['eth_usd']!;
}

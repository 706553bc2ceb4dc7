/**
 * Profile of a book's seeded flow: a few numbers in bps, seconds and typical amounts that scale all other parameters.
 */
import type { DecimalText } from '../../core/index.ts';

export type FlowProfile = {
  /**
   * Efficient price at the start, in the quote currency. Later prices are between a third and three times this price.
   */
  readonly startPrice: DecimalText;
  /** Median size of taker orders, in the base currency. */
  readonly typicalAmount: DecimalText;
  /** Median quoted spread, in bps. */
  readonly spreadBps: number;
  /** Root mean square move of the efficient price per minute, in bps. */
  readonly volatilityBps: number;
  /** Taker orders per second, informed orders included. */
  readonly takersPerSecond: number;
};

/**
 * Typical values. The spread is between Bitso's production quotes of the 2024 recording (17 bps) and of 2026 (8 bps).
 * The rates come from a recorded day of Gemini, the hourly moves from Bitso in 2020.
 */
const BTC_MXN: FlowProfile = {
  startPrice: '1500000',
  typicalAmount: '0.004',
  spreadBps: 13,
  volatilityBps: 10,
  takersPerSecond: 0.28,
};

/** Profiles by book. Other books need a profile in the configuration. */
export const FLOW_PROFILES: Readonly<Record<string, FlowProfile>> = {
  btc_mxn: BTC_MXN,
  eth_mxn: { ...BTC_MXN, startPrice: '60000', typicalAmount: '0.1', volatilityBps: 13 },
  xrp_mxn: { ...BTC_MXN, startPrice: '40', typicalAmount: '150', spreadBps: 14, volatilityBps: 14 },
  sol_mxn: { ...BTC_MXN, startPrice: '2800', typicalAmount: '2', spreadBps: 14, volatilityBps: 14 },
  ltc_mxn: { ...BTC_MXN, startPrice: '1700', typicalAmount: '3', spreadBps: 14, volatilityBps: 12 },
  btc_brl: { ...BTC_MXN, startPrice: '450000' },
  /** Spread, rate, sizes and volatility come from one recorded day of Gemini. */
  eth_usd: {
    startPrice: '2200',
    typicalAmount: '0.2',
    spreadBps: 4.7,
    volatilityBps: 15,
    takersPerSecond: 0.21,
  },
  btc_usd: { ...BTC_MXN, startPrice: '80000', typicalAmount: '0.01', spreadBps: 7 },
  /** The spread comes from Bitso's production quotes. The volatility is low, as for a pair of fiat currencies. */
  usd_mxn: {
    startPrice: '18.5',
    typicalAmount: '200',
    spreadBps: 4.2,
    volatilityBps: 2.5,
    takersPerSecond: 0.15,
  },
  usdt_mxn: {
    startPrice: '18.5',
    typicalAmount: '200',
    spreadBps: 4.2,
    volatilityBps: 2.5,
    takersPerSecond: 0.2,
  },
};

/**
 * Bots of a comparison: the given configurations, or every strategy with parameters derived from the recording and a
 * cost of risk.
 */
import { readRegularFile, TEXT_FILE } from '../../../src/guard/index.ts';
import { basename } from 'node:path';
import { stringify } from 'yaml';
import type { Measured } from '../../index.ts';
import {
  eightDecimals,
  fourDigits,
  fullMajor,
  LEVELS_A_SIDE,
  ORDERS_IN_FULL,
  strategies,
  type MarketTerms,
  type StrategyName,
} from '../../../strategies/index.ts';
import { loadConfig, type Config } from '../../../src/config.ts';
import { signedRateCeil, type Instrument } from '../../../src/core/index.ts';
import { readTradedConfig, refuseBooks } from '../../../src/wiring/configFile.ts';
import type { QuoteAdvice } from './quoteAdvice.ts';

/** Bot of a comparison. If `config` is `null`, `notRun` says why. */
export type Setup = {
  readonly name: string;
  readonly strategy: string;
  readonly text: string | null;
} & ({ readonly config: Config; readonly notRun: null } | { readonly config: null; readonly notRun: string });

/**
 * Reads configurations and names each by its file name, or by its full path if two file names are equal. Throws
 * `UsageError` with all errors of the first invalid file.
 */
export function givenSetups(files: readonly string[]): readonly Setup[] {
  return givenBots(files).map(({ name, text, config }) => {
    refuseBooks(config, 'a comparison of single books');
    return { name, strategy: config.strategy.name, text, config, notRun: null };
  });
}

/** Configuration of a comparison, with its name, file and text. */
export type GivenBot = {
  readonly name: string;
  readonly file: string;
  readonly text: string;
  readonly config: Config;
};

/** Reads and names configurations like `givenSetups`, also with several books. */
export function givenBots(files: readonly string[]): readonly GivenBot[] {
  const names = files.map(file => basename(file).replace(/\.ya?ml$/, ''));
  return files.map((file, i) => {
    const name = names.indexOf(names[i]!) === i ? names[i]! : file;
    return { name, file, text: readRegularFile(file, TEXT_FILE), config: readTradedConfig(file) };
  });
}

/**
 * Returns the market terms, or text with the reason why no strategy can run. `price` (of one base unit) and
 * `riskPerHour` are in the quote currency. An unknown or negative adverse move counts as 0.
 */
export const termsOf = (
  instrument: Instrument,
  price: number,
  m: Pick<Measured, 'volatilityBps' | 'adverseBps' | 'arrivalsPerMinute' | 'decayPerBps' | 'imbalanceSlope'>,
  riskPerHour: string,
): MarketTerms | string => {
  const [volatility, arrivals, decay] = [m.volatilityBps?.value, m.arrivalsPerMinute?.value, m.decayPerBps?.value];
  if (!(volatility !== undefined && volatility > 0))
    return 'the volatility cannot be measured from the first part of the recording';
  if (!(arrivals !== undefined && decay !== undefined && arrivals > 0 && decay > 0))
    return 'the first part of the recording has too few trades to measure arrivals by distance';
  return {
    instrument,
    price,
    volatilityBps: fourDigits(volatility),
    arrivalsPerMinute: fourDigits(arrivals),
    decayPerBps: fourDigits(decay),
    adverseBps: fourDigits(Math.max(0, m.adverseBps?.value ?? 0)),
    riskPerHour,
    ...(m.imbalanceSlope
      ? { imbalance: { depthBps: m.imbalanceSlope.depthBps, bpsPerDeviation: fourDigits(m.imbalanceSlope.slope) } }
      : {}),
  };
};

/**
 * Returns one setup per strategy, for the maker fee `makerFee`, a fraction as text like '0.005'. If `terms` is text, it
 * is the reason why no strategy can run. With advice, a strategy quotes at the most profitable measured distance, if
 * quoting there pays. Its levels are then only at distances where fills pay, and model strategies get the measured
 * fills.
 */
export function derivedSetups(terms: MarketTerms | string, makerFee: string, advice?: QuoteAdvice): readonly Setup[] {
  return (Object.keys(strategies) as StrategyName[]).map((name): Setup => {
    if (typeof terms === 'string') return { name, strategy: name, text: null, config: null, notRun: terms };
    const parameters = strategies[name].fromMarket(advised(terms, advice), signedRateCeil(makerFee) / 1e4);
    if (typeof parameters === 'string') return { name, strategy: name, text: null, config: null, notRun: parameters };
    const text = stringify(configOf(terms, { name, ...parameters }));
    const loaded = loadConfig(text, name);
    if (!loaded.ok) return { name, strategy: name, text, config: null, notRun: loaded.errors.join('; ') };
    return { name, strategy: name, text, config: loaded.config, notRun: null };
  });
}

function advised(terms: MarketTerms, advice: QuoteAdvice | undefined): MarketTerms {
  if (advice === undefined) return terms;
  const { verdict } = advice;
  const distance = verdict.quote ? verdict.distanceBps : verdict.bestDistanceBps;
  const pays = distance !== null && (verdict.netPerHour?.value ?? 0) > 0;
  return { ...terms, ...(pays && { distanceBps: distance }), ...(advice.profile && { profile: advice.profile }) };
}

function configOf(terms: MarketTerms, strategy: object): object {
  const { instrument, price } = terms;
  const full = fullMajor(terms);
  const most = eightDecimals(1e9);
  return {
    book: instrument.symbol,
    instance: 'compare',
    exchange: {
      kind: 'embedded',
      balances: { [instrument.major]: eightDecimals(3 * full), [instrument.minor]: eightDecimals(3 * full * price) },
    },
    strategy,
    limits: {
      positionMax: eightDecimals(full),
      orderValueMax: eightDecimals((4 * full * price) / ORDERS_IN_FULL),
      ordersMax: 2 * LEVELS_A_SIDE,
      collarBps: 1_000,
      // The limits on losses are out of reach, because a halt would hide the full loss of the run.
      drawdownMax: most,
      dayLossMax: most,
    },
    halts: { fillsPer10Min: 100_000, refusalsPerMinute: 100_000, messagesPerMinute: 100_000 },
  };
}

/** Registry of all strategies: no other file lists them. A `strategy` section selects one, or a strategy file. */
import type { z } from 'zod';
import type { DecimalText, Instrument, Strategy, RequoteTolerance } from '../src/core/index.ts';
import { byName } from './defineStrategy.ts';
import { earningFees } from './fees.ts';
import { fourDigits } from './fromMarket.ts';
import { guarded, recordedStrategy } from './guarded.ts';
import { unlimitedCall, type OwnCall } from './ownFiles/callLimit.ts';
import type { LimitProblem, LimitsAsked } from './parameters.ts';
import { definitionIn, type StrategyCode, type StrategyFile } from './strategyFile.ts';
import { ladder } from './ladder/strategy.ts';
import { avellanedaStoikov } from './avellaneda-stoikov/strategy.ts';
import { glft } from './glft/strategy.ts';
import { grid } from './grid/strategy.ts';
import { imbalance } from './imbalance/strategy.ts';
import { peg } from './peg/strategy.ts';

export { neededBefore, withoutReload } from './guarded.ts';

export const strategies = byName({
  ladder,
  avellanedaStoikov,
  glft,
  grid,
  imbalance,
  peg,
});

export type StrategyName = keyof typeof strategies;

/** Checked parameters of any strategy. The further parameters of a strategy file are known only to the file. */
export type StrategyParameters =
  { readonly [K in StrategyName]: z.infer<(typeof strategies)[K]['parameters']> }[StrategyName] | OwnParameters;

export type OwnParameters = StrategyFile & { readonly amount: DecimalText; readonly levels?: number };

/**
 * Definition of any strategy, without the type of its parameters. Callers must pass the parameters of that strategy.
 */
export type StrategyKind = {
  make(parameters: StrategyParameters, instrument: Instrument): Strategy;
  /** Returns why the parameters cannot earn the maker fee (in parts of 10^-8); `null` if they can. */
  edgeProblem(parameters: StrategyParameters, makerRate: number): string | null;
  /**
   * Returns the conflicts of the parameters with the limits; empty if there are none. `book` has the form
   * <base>_<quote>.
   */
  limitProblems(parameters: StrategyParameters, limits: LimitsAsked, book: string): readonly LimitProblem[];
  tolerance(parameters: StrategyParameters): RequoteTolerance;
  /** Returns the time, in ms, of past trades that the strategy needs; 0 or absent if the strategy needs none. */
  historyMs?(parameters: StrategyParameters): number;
  /** Whether the strategy needs a reference price to quote. */
  readonly needsReference?: true;
};
/**
 * Returns the definition of the strategy that a `strategy` section selects. The strategy does not quote at prices that
 * cannot earn the fees, unless a negative minEdgeBps allows losses for volume. `ownCall` makes each call into a strategy
 * file.
 */
export function kindOf(
  section: { readonly name: StrategyName } | StrategyFile,
  ownCall: OwnCall = unlimitedCall,
): StrategyKind {
  const kind: StrategyKind = isRun(section)
    ? codeKind(section, ownCall)
    : 'file' in section
      ? recordedKind(section)
      : strategies[section.name];
  const paysForVolume = (p: StrategyParameters): boolean => 'minEdgeBps' in p && Number(p.minEdgeBps) < 0;
  return { ...kind, make: (p, instrument) => earningFees(kind.make(p, instrument), paysForVolume(p)) };
}

const isRun = (section: object): section is StrategyCode => 'file' in section && 'code' in section;

/**
 * Whether a section selects a strategy file without its code, as in a recording or in a command that does not trade.
 */
export const isUnread = (section: object): section is StrategyFile => 'file' in section && !isRun(section);

function codeKind(section: StrategyCode, ownCall: OwnCall): StrategyKind {
  const { make, edgeProblem, limitProblems, tolerance, warmup, history, needsReference } = definitionIn(section);
  const own = (p: StrategyParameters) => frozenCopy(parametersIn(p));
  return {
    make: (p, instrument) =>
      guarded(
        section.file,
        instrument,
        frozen => make(own(p), frozen),
        () => ({ warmupMs: warmup(own(p)), historyMs: history(own(p)) }),
        ownCall,
      ),
    edgeProblem: (p, makerRate) => ownCall('edgeProblem', () => edgeProblem(own(p), makerRate)),
    limitProblems: (p, limits, book) => ownCall('limitProblems', () => limitProblems(own(p), limits, book)),
    tolerance: p => ownCall('tolerance', () => tolerance(own(p))),
    historyMs: p => ownCall('history', () => history(own(p))),
    ...(needsReference && { needsReference }),
  };
}

/** Returns the definition of a strategy file in a replay: the quotes are in the recording, so no code is run. */
function recordedKind({ tolerance }: StrategyFile): StrategyKind {
  return {
    make: recordedStrategy,
    edgeProblem: () => null,
    limitProblems: () => [],
    tolerance: () => tolerance ?? { priceBps: 0, amountShare: 1, maxAgeMs: 0 },
  };
}

/** Returns the parameters of a section with a strategy file: its keys without those that every such section has. */
export function parametersIn<T extends object>(section: T): Omit<T, keyof StrategyFile> {
  const {
    name: _,
    file: __,
    sha256: ___,
    code: ____,
    tolerance: _____,
    historyTape: ______,
    ...parameters
  } = section as T & Partial<StrategyFile>;
  return parameters;
}

/** Returns a deeply frozen copy of a JSON value. */
function frozenCopy<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  const copy = Array.isArray(value)
    ? value.map(frozenCopy)
    : Object.fromEntries(Object.entries(value).map(([key, own]) => [key, frozenCopy(own as unknown)]));
  return Object.freeze(copy) as T;
}

/**
 * Returns a `strategy` section: a ladder with one level at `distanceBps` from the mid price. Its skew at positionMax is
 * half of `distanceBps`. `amount` is in the base currency.
 */
export const quotingAt = (distanceBps: number, feeBps: number, amount: string): object => ({
  name: 'ladder' satisfies StrategyName,
  reference: 'mid',
  halfSpreadBps: fourDigits(distanceBps),
  levels: 1,
  amount,
  refreshToleranceBps: fourDigits(Math.max(0.5, distanceBps / 20)),
  // A round trip earns twice the distance minus two fees. The minimum edge is 95% of these earnings, capped at 1 bps.
  minEdgeBps: fourDigits(Math.max(0, Math.min(1, 1.9 * (distanceBps - feeBps)))),
  skew: { priceBpsAtLimit: fourDigits(distanceBps / 2) },
});
export { eightDecimals, fourDigits, fullMajor, fullValueOf, LEVELS_A_SIDE, ORDERS_IN_FULL } from './fromMarket.ts';
export type { MarketTerms } from './fromMarket.ts';
export { loneOrder, noOrder, plainLadder } from './ladder/setups.ts';
export { fairValueProblem, fairValueReachBps, withFairValue } from './fairValue.ts';
export { fairValueParameters } from './fairValueParameters.ts';
export type { FairValueParameters } from './fairValueParameters.ts';
export { limitedCall, unlimitedCall } from './ownFiles/callLimit.ts';
export type { OwnCall } from './ownFiles/callLimit.ts';
export { oneLine, StrategyFileError, thrownText } from './ownFiles/fileErrors.ts';
export { fillModelIn } from './fillModelFile.ts';
export { isTimeAllowed, isToleranceAllowed, sectionSchema, strategyFileOf, strategyIdentity } from './strategyFile.ts';
export { WARMUP_MAX_MS } from './contract.ts';
export type { FileDefinition, StrategyCode, StrategyFile } from './strategyFile.ts';
export type { LimitsAsked } from './parameters.ts';
export { definitionIn };
export { FILE_LAW, STRATEGY_LAWS } from './laws.ts';
export type { Instrument, Strategy };

export { aboveZero, currencyOf, decimalText, sumOfMoney } from './parameters.ts';

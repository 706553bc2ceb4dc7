/**
 * Definition of a strategy in one object, from which checks, configuration, comparison, tuning and pages are derived.
 */
import type { z } from 'zod';
import type { Instrument, RequoteTolerance, Strategy } from '../src/core/index.ts';
import type { MarketTerms } from './fromMarket.ts';
import type { LimitProblem, LimitsAsked } from './parameters.ts';
import type { TuningRange } from './tuning.ts';

/** Names of parameters. A parameter inside a section has the name `section.key`. */
type KeysOf<P> = {
  [K in keyof P & string]: NonNullable<P[K]> extends object ? `${K}.${keyof NonNullable<P[K]> & string}` : K;
}[keyof P & string];

export type StrategyDefinition<Name extends string, Schema extends z.ZodObject> = {
  /**
   * Name of the strategy in the configuration, which is also the name of its folder. No other file contains the name.
   */
  readonly name: Name;
  /** Description of the strategy in one sentence. */
  readonly summary: string;
  /** Inputs that the user must know, in a few words. */
  readonly needs: string;
  /** Zod schema: a strict object in which each key has bounds, a default, and a description with its unit. */
  readonly parameters: Schema;
  /**
   * Meaning of each step that can explain a price or an amount of the strategy, by the name of the step. A `*` in a
   * name is a placeholder. Steps of the section `fairValue` are not included.
   */
  readonly steps: Readonly<Record<string, string>>;
  /** Ranges of the tunable parameters. The user chooses the other parameters: amounts, risk, bounds. */
  readonly tuning: Readonly<Partial<Record<KeysOf<z.infer<Schema>>, TuningRange>>>;
  /**
   * Returns YAML parameters for a market at a maker fee in bps, or text with the reason why the strategy cannot run.
   */
  readonly fromMarket: (terms: MarketTerms, feeBps: number) => Readonly<Record<string, unknown>> | string;
  readonly make: (parameters: z.infer<Schema>, instrument: Instrument) => Strategy;
  /** Returns why the parameters cannot earn the maker fee (in parts of 10^-8); `null` if they can. */
  readonly edgeProblem: (parameters: z.infer<Schema>, makerRate: number) => string | null;
  /**
   * Returns the conflicts of the parameters with the limits; empty if there are none. `book` has the form
   * <base>_<quote>.
   */
  readonly limitProblems: (parameters: z.infer<Schema>, limits: LimitsAsked, book: string) => readonly LimitProblem[];
  /** Returns the differences in price, amount and age up to which a live order is kept. */
  readonly tolerance: (parameters: z.infer<Schema>) => RequoteTolerance;
  /** Whether the strategy needs a reference price to quote. */
  readonly needsReference?: true;
};

/** Returns the definition unchanged. The call lets the compiler check that the types of its members match. */
export const defineStrategy = <const Name extends string, Schema extends z.ZodObject>(
  definition: StrategyDefinition<Name, Schema>,
): StrategyDefinition<Name, Schema> => definition;

type Named = Readonly<Record<string, { readonly name: string }>>;
type ByName<T extends Named> = { readonly [D in T[keyof T] as D['name']]: D };

/** Returns the strategy definitions by name, in the order of `definitions`. */
export const byName = <T extends Named>(definitions: T): ByName<T> =>
  Object.fromEntries(Object.values(definitions).map(definition => [definition.name, definition])) as ByName<T>;

/** Definition of a strategy in one object, the only source for checks, configuration, comparison, tuning and pages. */
import type { z } from 'zod';
import type { Instrument, RequoteTolerance, Strategy } from '../src/core/index.ts';
import type { MarketTerms } from './fromMarket.ts';
import type { LimitProblem, LimitsAsked } from './parameters.ts';
import type { TuningRange } from './tuning.ts';

/** Names of parameters; a parameter inside a section is `section.key`. */
type KeysOf<P> = {
  [K in keyof P & string]: NonNullable<P[K]> extends object ? `${K}.${keyof NonNullable<P[K]> & string}` : K;
}[keyof P & string];

export type StrategyDefinition<Name extends string, Schema extends z.ZodObject> = {
  /** Name in the configuration and of the folder. It is written nowhere else. */
  readonly name: Name;
  /** Description in one sentence. */
  readonly summary: string;
  /** Inputs that the user must know, in a few words. */
  readonly needs: string;
  /** Zod schema: a strict object in which each key has bounds, a default, and `.describe()` with its unit. */
  readonly parameters: Schema;
  /**
   * Meaning of each step that can explain a price or an amount of the strategy, by the name of the step; `*` in a name
   * is a placeholder. Steps of a section `fairValue` are not included.
   */
  readonly steps: Readonly<Record<string, string>>;
  /** Ranges of the tunable parameters. The others are the user's choice: amounts, risk, bounds. */
  readonly tuning: Readonly<Partial<Record<KeysOf<z.infer<Schema>>, TuningRange>>>;
  /** Returns YAML parameters for a market at this maker fee in bps, or text that says why there are none. */
  readonly fromMarket: (terms: MarketTerms, feeBps: number) => Readonly<Record<string, unknown>> | string;
  readonly make: (parameters: z.infer<Schema>, instrument: Instrument) => Strategy;
  /** Returns why the parameters cannot earn this maker fee (parts of 10^-8), or `null`. */
  readonly edgeProblem: (parameters: z.infer<Schema>, makerRate: number) => string | null;
  /** Returns conflicts of the parameters with the limits. `book` has the form <base>_<quote>. */
  readonly limitProblems: (parameters: z.infer<Schema>, limits: LimitsAsked, book: string) => readonly LimitProblem[];
  /** Returns the differences in price, amount and age up to which a live order is kept. */
  readonly tolerance: (parameters: z.infer<Schema>) => RequoteTolerance;
  /** Whether the strategy needs a reference price to quote. */
  readonly needsReference?: true;
};

/** Returns the definition unchanged; the compiler checks its types against each other. */
export const defineStrategy = <const Name extends string, Schema extends z.ZodObject>(
  definition: StrategyDefinition<Name, Schema>,
): StrategyDefinition<Name, Schema> => definition;

type Named = Readonly<Record<string, { readonly name: string }>>;
type ByName<T extends Named> = { readonly [D in T[keyof T] as D['name']]: D };

/** Returns the strategy definitions by name, in the given order. */
export const byName = <T extends Named>(definitions: T): ByName<T> =>
  Object.fromEntries(Object.values(definitions).map(definition => [definition.name, definition])) as ByName<T>;

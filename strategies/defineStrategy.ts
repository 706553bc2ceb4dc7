/** What a strategy's folder says of it, in one object: all that checks, configuration, comparison, tuning and pages know of it. */
import type { z } from 'zod';
import type { Instrument, RequoteTolerance, Strategy } from '../src/core/index.ts';
import type { MarketTerms } from './fromMarket.ts';
import type { LimitProblem, LimitsAsked } from './parameters.ts';
import type { TuningRange } from './tuning.ts';

/** Keys of parameters, and of the sections in them as `section.key`. */
type KeysOf<P> = {
  [K in keyof P & string]: NonNullable<P[K]> extends object ? `${K}.${keyof NonNullable<P[K]> & string}` : K;
}[keyof P & string];

export type StrategyDefinition<Name extends string, Schema extends z.ZodObject> = {
  /** As it is configured, and as its folder is called. Typed nowhere else. */
  readonly name: Name;
  /** What it does, in a sentence. */
  readonly summary: string;
  /** What who uses it must know, in a few words. */
  readonly needs: string;
  /** A strict object; each key with its bounds, its default, and `.describe()` with its unit. */
  readonly parameters: Schema;
  /** Every step that the reasons of its prices and amounts may have, and what it means; `*` in a name stands for what varies. The parts of a section `fairValue` are not its own. */
  readonly steps: Readonly<Record<string, string>>;
  /** What tuning may vary, and how far. What is left out is the user's to say: amounts, risk, bounds. */
  readonly tuning: Readonly<Partial<Record<KeysOf<z.infer<Schema>>, TuningRange>>>;
  /** Parameters for a market, at this maker fee in bps, as the YAML has them; or why none follow from it. */
  readonly fromMarket: (terms: MarketTerms, feeBps: number) => Readonly<Record<string, unknown>> | string;
  readonly make: (parameters: z.infer<Schema>, instrument: Instrument) => Strategy;
  /** Why the parameters cannot earn this maker fee (parts of 10^-8), or null. */
  readonly edgeProblem: (parameters: z.infer<Schema>, makerRate: number) => string | null;
  /** What they ask of the limits and cannot get. `book`: <major>_<minor>. */
  readonly limitProblems: (parameters: z.infer<Schema>, limits: LimitsAsked, book: string) => readonly LimitProblem[];
  /** When a live order is left where it is. */
  readonly tolerance: (parameters: z.infer<Schema>) => RequoteTolerance;
  /** It quotes nothing without a price from elsewhere. */
  readonly needsReference?: true;
};

/** The definition itself, its types checked against each other. */
export const defineStrategy = <const Name extends string, Schema extends z.ZodObject>(
  definition: StrategyDefinition<Name, Schema>,
): StrategyDefinition<Name, Schema> => definition;

type Named = Readonly<Record<string, { readonly name: string }>>;
type ByName<T extends Named> = { readonly [D in T[keyof T] as D['name']]: D };

/** Definitions by the names that they give themselves, in this order. */
export const byName = <T extends Named>(definitions: T): ByName<T> =>
  Object.fromEntries(Object.values(definitions).map(definition => [definition.name, definition])) as ByName<T>;

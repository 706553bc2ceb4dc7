/** How far tuning may vary a parameter, and in which steps. */

/** Where tuning may look for a better value of one parameter. `linear` and `log`: any number between, ends included, in even steps of itself or of its logarithm. */
export type TuningRange =
  | { readonly scale: 'linear' | 'log'; readonly from: number; readonly to: number }
  | { readonly scale: 'choice'; readonly values: readonly (string | number | boolean)[] };

/** Any number from the one to the other, in even steps. */
export const linear = (from: number, to: number): TuningRange => ({ scale: 'linear', from, to });
/** Any number from the one (above 0) to the other, in even steps of the logarithm. */
export const log = (from: number, to: number): TuningRange => ({ scale: 'log', from, to });
/** One of these. */
export const among = (...values: readonly (string | number | boolean)[]): TuningRange => ({ scale: 'choice', values });

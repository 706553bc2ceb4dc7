/** Ranges of tunable parameters, and their scales. */

/**
 * Range of one parameter. With `linear` and `log`, every number from `from` to `to` is allowed. Samples are uniform in
 * the number or in its logarithm.
 */
export type TuningRange =
  | { readonly scale: 'linear' | 'log'; readonly from: number; readonly to: number }
  | { readonly scale: 'choice'; readonly values: readonly (string | number | boolean)[] };

/** Returns a range from `from` to `to`, uniform in the number. */
export const linear = (from: number, to: number): TuningRange => ({ scale: 'linear', from, to });
/** Returns a range from `from` (above 0) to `to`, uniform in the logarithm. */
export const log = (from: number, to: number): TuningRange => ({ scale: 'log', from, to });
/** Returns a choice among the values. */
export const among = (...values: readonly (string | number | boolean)[]): TuningRange => ({ scale: 'choice', values });

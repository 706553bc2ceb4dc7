/** Kinds of switch: a choice between named variants, and a quantity within bounds. */

export type Variant = string | boolean;

export type Choice<V extends Variant> = {
  readonly kind: 'choice';
  readonly variants: readonly V[];
  readonly fallback: V;
  readonly decides: string;
  readonly source: string;
};

export type Quantity = {
  readonly kind: 'quantity';
  readonly min: number;
  readonly max: number;
  readonly fallback: number;
  readonly decides: string;
  readonly source: string;
};

/** Returns a choice between variants; the first variant is the default. */
export const choice = <const V extends Variant>(
  variants: readonly [V, ...V[]],
  decides: string,
  source: string,
): Choice<V> => ({
  kind: 'choice',
  variants,
  fallback: variants[0],
  decides,
  source,
});

/** Returns a quantity: a whole number from `min` to `max`, in the unit that the name or `decides` gives. */
export const quantity = (fallback: number, min: number, max: number, decides: string, source: string): Quantity => ({
  kind: 'quantity',
  min,
  max,
  fallback,
  decides,
  source,
});

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

export type SwitchTable = Readonly<Record<string, Choice<Variant> | Quantity>>;
/** Values of a table's switches. */
export type ValuesOf<T extends SwitchTable> = {
  readonly [K in keyof T]: T[K] extends Choice<infer V> ? V : number;
};

/**
 * Returns `base`, or the default switches if `base` is absent, with the overrides. `ranges` are pairs of switches of
 * which the first must not be above the second. Throws a RangeError with the switch, the value found and the values
 * allowed.
 */
export function withOverrides<T extends SwitchTable>(
  table: T,
  ranges: readonly (readonly [min: keyof T & string, max: keyof T & string])[],
  overrides: Partial<ValuesOf<T>>,
  base?: ValuesOf<T>,
): ValuesOf<T> {
  const found = new Map<string, unknown>(Object.entries(overrides));
  const values = Object.entries(table).map(([name, row]): [string, Variant | number] => {
    const over = found.get(name);
    found.delete(name);
    if (over === undefined) return [name, base ? base[name as keyof T] : row.fallback];
    if (row.kind === 'quantity') {
      const whole = typeof over === 'number' && Number.isSafeInteger(over) ? over : Number.NaN;
      if (whole >= row.min && whole <= row.max) return [name, whole];
      throw new RangeError(
        `switch ${name}: expected a whole number from ${row.min} to ${row.max}, found ${JSON.stringify(over)}`,
      );
    }
    const variant = row.variants.find(v => v === over);
    if (variant !== undefined) return [name, variant];
    throw new RangeError(`switch ${name}: expected one of ${row.variants.join(', ')}, found ${JSON.stringify(over)}`);
  });
  for (const name of found.keys()) throw new RangeError(`unknown switch ${name}`);
  const switches = Object.fromEntries(values) as unknown as ValuesOf<T>;
  for (const [min, max] of ranges) {
    if (!(switches[min] <= switches[max]))
      throw new RangeError(
        `switch ${min}: expected at most ${String(switches[max])} (${max}), found ${String(switches[min])}`,
      );
  }
  return switches;
}

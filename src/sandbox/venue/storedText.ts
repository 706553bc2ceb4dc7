/** Text of stored rows: JSON in which big integers and non-finite numbers keep their exact value. */

/** Returns the value as text. `undefined` fields are omitted. */
export const storedText = (value: unknown): string =>
  JSON.stringify(value, (_key, of: unknown) => {
    if (typeof of === 'bigint') return { $n: of.toString() };
    if (typeof of === 'number' && !Number.isFinite(of)) return { $f: String(of) };
    return of;
  });

/** Returns the value of a text that `storedText` returned. Throws a SyntaxError for other text. */
export const valueOfStored = (text: string): unknown =>
  JSON.parse(text, (_key, of: unknown) => {
    if (typeof of !== 'object' || of === null) return of;
    if ('$n' in of && typeof of.$n === 'string') return BigInt(of.$n);
    return '$f' in of && typeof of.$f === 'string' ? Number(of.$f) : of;
  });

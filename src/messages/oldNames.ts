/** JSON with the old names of renamed keys next to the new ones, for programs that read the old names. */

/** Old names by new name. They are removed in 0.2.0. */
const OLD_NAMES: Readonly<Record<string, string>> = {
  beatAgoMs: 'beatAgo',
  writtenAgoMs: 'writtenAgo',
  heardAgoMs: 'heardAgo',
  figuresAgoMs: 'figuresAgo',
  agoMs: 'ago',
};

/** Returns the value as JSON in which each renamed key also has its old name. */
export const jsonWithOldNames = (value: unknown): string => JSON.stringify(value, withOldNames);

function withOldNames(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value);
  if (!entries.some(([name]) => Object.hasOwn(OLD_NAMES, name))) return value;
  return Object.fromEntries(
    entries.flatMap(([name, own]) => {
      const old = Object.hasOwn(OLD_NAMES, name) ? OLD_NAMES[name] : undefined;
      return old === undefined
        ? [[name, own]]
        : [
            [name, own],
            [old, own],
          ];
    }),
  );
}

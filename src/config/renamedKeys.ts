/** Renamed YAML keys. Old names are accepted for one version, with a warning that contains the new name. */
import { strategies } from '../../strategies/index.ts';

/** First version that rejects the old names. `RENAMED` must be empty in the release of this version. */
export const OLD_KEYS_END = '0.2.0';

/** New last part of a key, by the old path of the key. */
const RENAMED: Readonly<Record<string, string>> = {
  'fairValue.depthImbalance.leanBps': 'bpsPerDeviation',
  'hedge.marginMs': 'quoteLifeMinMs',
  'hedge.rest': 'residual',
  'hedge.ways': 'venues',
  'strategy.leanBps': 'bpsPerDeviation',
  'timing.fenceMs': 'requestDelayMaxMs',
  'timing.settleMs': 'tradeReportDelayMaxMs',
  witness: 'rfqReference',
};

type Path = readonly PropertyKey[];

/** Old and new path of a key. */
export type RenamedKey = { readonly old: readonly string[]; readonly now: readonly string[] };

const KEYS: readonly RenamedKey[] = Object.entries(RENAMED).map(([path, key]) => {
  const old = path.split('.');
  return { old, now: old.with(-1, key) };
});

/**
 * Returns the parsed file with current key names. `taken`: old names that were used; `twice`: old names that were
 * ignored because the file also has the new name.
 */
export function withCurrentKeys(given: unknown): {
  readonly value: unknown;
  readonly taken: readonly RenamedKey[];
  readonly twice: readonly RenamedKey[];
} {
  const [taken, twice]: [RenamedKey[], RenamedKey[]] = [[], []];
  let value = given;
  for (const key of KEYS) {
    const [old, now] = [key.old.at(-1)!, key.now.at(-1)!];
    value = changedAt(value, key.old.slice(0, -1), section => {
      if (!Object.hasOwn(section, old) || !isKnownThere(key, section)) return section;
      const isTwice = Object.hasOwn(section, now);
      (isTwice ? twice : taken).push(key);
      const entries = Object.entries(section);
      return Object.fromEntries(
        isTwice ? entries.filter(([name]) => name !== old) : entries.map(([name, v]) => [name === old ? now : name, v]),
      );
    });
  }
  return { value, taken, twice };
}

/**
 * Whether the strategy has the new key; if not, the old name is reported as an unknown key. The keys of a strategy file
 * are its own.
 */
function isKnownThere({ now }: RenamedKey, { name, file }: Section): boolean {
  if (now[0] === 'strategy' && file !== undefined) return false;
  if (now[0] !== 'strategy' || typeof name !== 'string' || !Object.hasOwn(strategies, name)) return true;
  return Object.hasOwn(strategies[name as keyof typeof strategies].parameters.shape, now[1]!);
}

/**
 * Returns the path with the old key name if the file uses it. `path` has the new names; `taken` lists the old names
 * that the file uses.
 */
export function pathInFile(path: Path, taken: readonly RenamedKey[]): Path {
  const under = taken.find(({ now }) => now.every((step, i) => step === path[i]));
  return under === undefined ? path : [...under.old, ...path.slice(under.old.length)];
}

/** Returns the renamed keys of one section: old name to new name. */
export const oldKeysIn = (section: Path): ReadonlyMap<string, string> =>
  new Map(
    KEYS.filter(({ old }) => old.slice(0, -1).join('.') === section.join('.')).map(({ old, now }) => [
      old.at(-1)!,
      now.at(-1)!,
    ]),
  );

/** Returns the new name of a renamed key; any other name unchanged. */
export const currentKeyName = (key: string): string => KEYS.find(({ old }) => old.at(-1) === key)?.now.at(-1) ?? key;

type Section = Readonly<Record<string, unknown>>;

function changedAt(value: unknown, path: readonly string[], change: (section: Section) => Section): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const section = value as Section;
  const [first, ...rest] = path;
  if (first === undefined) return change(section);
  if (!Object.hasOwn(section, first)) return section;
  const inner = changedAt(section[first], rest, change);
  return inner === section[first] ? section : { ...section, [first]: inner };
}

/** Differences between two checked configurations, by key, and when a running bot applies each. */
import { configSchema, type Config } from './schema.ts';
import { takesEffectIn, type TakesEffect } from './sections/takesEffect.ts';

export type ConfigChange = {
  /** Dotted path, like `strategy.halfSpreadBps`. */
  readonly key: string;
  /** Value as JSON; `null` if absent. */
  readonly from: string | null;
  readonly to: string | null;
  readonly takesEffect: TakesEffect;
};

/** Whether a change can affect trading: the bot applies it at a reload or a restart. */
export const isTradingChange = ({ takesEffect }: Pick<ConfigChange, 'takesEffect'>): boolean =>
  takesEffect === 'reload' || takesEffect === 'restart';

/**
 * Returns the differences in the key order of `from`, then the differences in keys that only `to` has. A list counts as
 * one value.
 */
export function configChanges(from: Config, to: Config): readonly ConfigChange[] {
  const [before, after] = [leavesOf(from), leavesOf(to)];
  const effect = takesEffectIn(configSchema);
  return [...new Set([...before.keys(), ...after.keys()])].flatMap(key => {
    // The text of a strategy file is long, and its hash is part of strategy.name.
    if (key === 'strategy.code' || key === 'strategy.sha256') return [];
    const [was, is] = [before.get(key) ?? null, after.get(key) ?? null];
    if (was === is || hasNestedKeys(key, before) || hasNestedKeys(key, after)) return [];
    return [{ key, from: was, to: is, takesEffect: effect(key.split('.')) }];
  });
}

/**
 * Whether a key is absent from this configuration, but keys below it are present. Only the nested keys are then
 * reported.
 */
const hasNestedKeys = (key: string, leaves: ReadonlyMap<string, string>): boolean =>
  !leaves.has(key) && [...leaves.keys()].some(each => each.startsWith(`${key}.`));

/** Returns the values of a configuration as JSON, by path. */
function leavesOf(value: unknown, path = ''): ReadonlyMap<string, string> {
  const isTree = typeof value === 'object' && value !== null && !Array.isArray(value);
  const keys = isTree ? Object.entries(value).filter(([, each]) => each !== undefined) : [];
  // An empty section counts as a value, so that adding or removing an empty section is a difference.
  if (keys.length === 0) return new Map(value === undefined ? [] : [[path, JSON.stringify(value)]]);
  return new Map(keys.flatMap(([key, each]) => [...leavesOf(each, path === '' ? key : `${path}.${key}`)]));
}

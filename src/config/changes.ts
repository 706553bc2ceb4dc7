/** What differs between two checked configurations, key by key, and when a running bot takes it up. */
import { configSchema } from './schema.ts';
import type { Config } from './schema.ts';
import { takesEffectIn } from './takesEffect.ts';
import type { TakesEffect } from './takesEffect.ts';

export type ConfigChange = {
  /** Like `strategy.halfSpreadBps`. */
  readonly key: string;
  /** As JSON; null where nothing stands. */
  readonly from: string | null;
  readonly to: string | null;
  readonly takesEffect: TakesEffect;
};

/** In the order of the keys of `from`, then what only `to` has; lists are one value. */
export function configChanges(from: Config, to: Config): readonly ConfigChange[] {
  const [before, after] = [leavesOf(from), leavesOf(to)];
  const effect = takesEffectIn(configSchema);
  return [...new Set([...before.keys(), ...after.keys()])].flatMap(key => {
    const [was, is] = [before.get(key) ?? null, after.get(key) ?? null];
    if (was === is || isFilled(key, before) || isFilled(key, after)) return [];
    return [{ key, from: was, to: is, takesEffect: effect(key.split('.')) }];
  });
}

/** A section that is empty on one side is told by the keys of the other. */
const isFilled = (key: string, leaves: ReadonlyMap<string, string>): boolean =>
  !leaves.has(key) && [...leaves.keys()].some(each => each.startsWith(`${key}.`));

/** The values of a configuration as JSON, by their path. */
function leavesOf(value: unknown, path = ''): ReadonlyMap<string, string> {
  const isTree = typeof value === 'object' && value !== null && !Array.isArray(value);
  const keys = isTree ? Object.entries(value).filter(([, each]) => each !== undefined) : [];
  // A section without a key says something by standing there.
  if (keys.length === 0) return new Map(value === undefined ? [] : [[path, JSON.stringify(value)]]);
  return new Map(keys.flatMap(([key, each]) => [...leavesOf(each, path === '' ? key : `${path}.${key}`)]));
}

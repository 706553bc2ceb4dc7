/**
 * Time at which a running bot applies a changed key: marked in the schema, on the key or a parent. A key without a mark
 * needs a restart.
 */
import { z } from 'zod';

/**
 * Time at which a changed key takes effect. `live`: immediately, and quotes stay. `reload`: at the next change of runs.
 * `restart`: only at the next start. `elsewhere`: not used by a bot; another command or process reads the key at its
 * own start.
 */
export type TakesEffect = 'live' | 'reload' | 'restart' | 'elsewhere';

type Mark = { readonly takesEffect: TakesEffect };
export const AT_ONCE: Mark = { takesEffect: 'live' };
export const AT_RELOAD: Mark = { takesEffect: 'reload' };
export const ELSEWHERE: Mark = { takesEffect: 'elsewhere' };

/** Node of a JSON Schema, with the fields that are used here. */
type Node = {
  readonly takesEffect?: TakesEffect;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly oneOf?: readonly Node[];
  readonly anyOf?: readonly Node[];
};

/**
 * Returns a function for the mark of the key at a path: its own mark, or the nearest parent's; `restart` without a
 * mark. Reads the schema only once.
 */
export function takesEffectIn(schema: z.ZodType): (path: readonly string[]) => TakesEffect {
  const root = z.toJSONSchema(schema, { io: 'input' }) as Node;
  return path => {
    let nodes: readonly Node[] = [root];
    let found: TakesEffect = 'restart';
    for (const key of path) {
      nodes = nodes
        .flatMap(node => [node, ...(node.oneOf ?? []), ...(node.anyOf ?? [])])
        .flatMap(({ properties }) => properties?.[key] ?? []);
      found = nodes.find(node => node.takesEffect !== undefined)?.takesEffect ?? found;
    }
    return found;
  };
}

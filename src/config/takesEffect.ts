/**
 * Time at which a running bot applies a changed key: marked in the schema, on a key or a parent. Without a mark, it
 * needs a restart.
 */
import { z } from 'zod';

/**
 * `live`: immediately, and quotes stay. `reload`: at a change of runs. `restart`: only at the next start. `elsewhere`:
 * not used by a bot; another command or process reads it at its own start.
 */
export type TakesEffect = 'live' | 'reload' | 'restart' | 'elsewhere';

type Mark = { readonly takesEffect: TakesEffect };
export const AT_ONCE: Mark = { takesEffect: 'live' };
export const AT_RELOAD: Mark = { takesEffect: 'reload' };
export const ELSEWHERE: Mark = { takesEffect: 'elsewhere' };

/** JSON Schema node, as far as it is used here. */
type Node = {
  readonly takesEffect?: TakesEffect;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly oneOf?: readonly Node[];
  readonly anyOf?: readonly Node[];
};

/**
 * Returns a function for the mark of the key at a path: its own, or the nearest parent's; `restart` without one. The
 * schema is read only once.
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

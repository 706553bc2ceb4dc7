/**
 * Time at which a running bot applies a changed key: `takesEffect` in the schema of the key or of its nearest parent.
 * Without `takesEffect`, a change needs a restart.
 */
import { z } from 'zod';

/**
 * Time at which a changed key takes effect. `live`: immediately, and quotes stay. `reload`: when the next run starts
 * after a reload. `restart`: only when the bot is restarted. `elsewhere`: the bot does not use the key; another command
 * or process reads the key at its own start.
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
 * Returns a lookup by the path of a key. The lookup returns `takesEffect` of the key or of its nearest parent;
 * `restart` if none is set. The schema is read only once.
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

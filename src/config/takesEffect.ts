/** When a running bot takes up a changed key: marked in the schema, on a key or on everything below it. What bears no mark needs a restart. */
import { z } from 'zod';

/**
 * `live`: at once, quotes stay. `reload`: at a change of runs. `restart`: only the next start reads it. `elsewhere`: no bot goes by it; another command or
 * process reads it at its own start.
 */
export type TakesEffect = 'live' | 'reload' | 'restart' | 'elsewhere';

type Mark = { readonly takesEffect: TakesEffect };
export const AT_ONCE: Mark = { takesEffect: 'live' };
export const AT_RELOAD: Mark = { takesEffect: 'reload' };
export const ELSEWHERE: Mark = { takesEffect: 'elsewhere' };

/** What a schema is as JSON Schema, as far as it is walked here. */
type Node = {
  readonly takesEffect?: TakesEffect;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly oneOf?: readonly Node[];
  readonly anyOf?: readonly Node[];
};

/** Of the key at a path: its own mark, or the nearest above it; `restart` without one. The schema is read once for all that are asked. */
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

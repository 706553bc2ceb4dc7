/** The YAML of the pages: whole files, and fragments that are put into a configuration that ships and has their keys. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { NO_CONFIGURATION } from '../../shippedConfigs.ts';
import type { Block } from './found.ts';

type Tree = Record<string, unknown>;

/** What a page leaves to the reader. */
const STANDS_FOR: readonly (readonly [RegExp, string])[] = [
  // Prices of somebody else's server: `test/docs/examples.test.ts` holds these lines, without asking it.
  [/^ +feeds:[^]*$/m, ''],
  [/balances: …/, "balances: { btc: '0.01', mxn: '20000' }"],
];

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);

export function mergedTree(base: Tree, over: Tree): Tree {
  const both = Object.entries(over).map(([key, value]) => {
    const under = base[key];
    return [key, isTree(under) && isTree(value) ? mergedTree(under, value) : value] as const;
  });
  return { ...base, ...Object.fromEntries(both) };
}

export type Fragment = Block & { readonly tree: Tree };

export const fragmentsOf = (blocks: readonly Block[]): readonly Fragment[] =>
  blocks.map(block => {
    const filled = STANDS_FOR.reduce((text, [word, meant]) => text.replace(word, meant), block.text);
    const tree: unknown = parse(filled);
    if (!isTree(tree)) throw new Error(`${block.page}:${block.line}: YAML without keys`);
    return { ...block, tree };
  });

/** The whole configuration that `puntas check` is given for a fragment, and the one that ships on which it rests. */
export function wholeOf(root: string, { page, tree }: Fragment): { readonly base: string; readonly text: string } {
  const files = readdirSync(join(root, 'config')).filter(
    name => name.endsWith('.yaml') && !NO_CONFIGURATION.includes(name),
  );
  const read = (name: string): Tree => parse(readFileSync(join(root, 'config', name), 'utf8')) as Tree;
  const keys = Object.keys(tree);
  if (keys.includes('book') && keys.includes('strategy')) return { base: 'itself', text: stringify(tree) };
  // A strategy's own keys, on its page.
  const strategy = /^strategies\/([\w-]+)\//.exec(page)?.[1];
  if (strategy !== undefined) {
    const base = read(`${strategy}.yaml`);
    return { base: `${strategy}.yaml`, text: stringify(mergedTree(base, { strategy: tree })) };
  }
  // What rests on a price from elsewhere needs to be told where that is.
  if (isTree(tree['fairValue']) && 'reference' in tree['fairValue']) {
    const { reference, timing } = read('peg.yaml');
    const whole = { ...read('sandbox.yaml'), reference, ...(timing === undefined ? {} : { timing }) };
    return { base: 'sandbox.yaml with the reference of peg.yaml', text: stringify(mergedTree(whole, tree)) };
  }
  const base = files.find(name => keys.every(key => key in read(name)) && name !== 'live.yaml') ?? 'sandbox.yaml';
  return { base, text: stringify(mergedTree(read(base), tree)) };
}

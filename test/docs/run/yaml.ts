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

const treeOf = ({ page, line, text }: Block): Fragment => {
  const filled = STANDS_FOR.reduce((all, [word, meant]) => all.replace(word, meant), text);
  const tree: unknown = parse(filled);
  if (!isTree(tree)) throw new Error(`${page}:${line}: YAML without keys`);
  return { page, line, text, tree };
};

/** A table of levels with everything that a mapping has to say; a key of a mapping is put into it. */
const TABLE_OF_LEVELS = { files: '*.csv', kind: 'levels', time: 'time', price: 'price', amount: 'amount' };
const LEVELS_SIDE = { side: { column: 'side', buy: ['B'], sell: ['S'] } };

/** The mapping file in which a fragment is a key of a table; null if the fragment belongs to a configuration. */
export function mappingWith({ page, tree }: Fragment): string | null {
  if (!/\bimporting\b|\bimport\b|mapping/.test(page) || Object.keys(tree).some(key => !MAPPING_KEYS.has(key)))
    return null;
  return stringify({ book: 'btc_usd', tables: [{ ...TABLE_OF_LEVELS, ...LEVELS_SIDE, ...tree }] });
}
const MAPPING_KEYS = new Set(['side', 'removed', 'snapshot', 'time', 'received', 'where', 'price', 'amount']);

/** Whether a fragment names exchanges elsewhere, which `puntas check` would ask: `test/docs/examples.test.ts` loads it. */
const asksElsewhere = ({ tree: { exchange, elsewhere, reference } }: Fragment): boolean =>
  [exchange, elsewhere].some(place => isTree(place) && 'acceptUntried' in place) ||
  (isTree(reference) && 'sources' in reference);

/** Whether a fragment hedges on a second exchange, which the one bot of a page does not have. */
export const hedgesElsewhere = ({ tree: { hedge } }: Fragment): boolean => isTree(hedge) && 'elsewhere' in hedge;

/** Pieces of configurations on the pages. */
export const fragmentsOf = (blocks: readonly Block[]): readonly Fragment[] =>
  blocks.map(treeOf).filter(fragment => mappingWith(fragment) === null && !asksElsewhere(fragment));

/** Pieces of mapping files on the pages, each in a whole mapping. */
export const mappingsOf = (blocks: readonly Block[]): readonly (Block & { readonly mapping: string })[] =>
  blocks.map(treeOf).flatMap(fragment => {
    const mapping = mappingWith(fragment);
    return mapping === null ? [] : [{ ...fragment, mapping }];
  });

/** The whole configuration that `puntas check` is given for a fragment, and the one that ships on which it rests. */
export function wholeOf(root: string, fragment: Fragment): { readonly base: string; readonly text: string } {
  const { page, tree } = fragment;
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
  const others = ['live.yaml', ...('elsewhere' in tree || hedgesElsewhere(fragment) ? [] : ['elsewhere.yaml'])];
  const base = files.find(name => keys.every(key => key in read(name)) && !others.includes(name)) ?? 'sandbox.yaml';
  return { base, text: stringify(mergedTree(read(base), tree)) };
}

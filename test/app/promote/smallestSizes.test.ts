import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { smallestText } from '../../../src/app/promote/candidate.ts';
import { loadConfig, type Config } from '../../../src/config.ts';
import { instrumentOf, moneyOf, textOfMoney } from '../../../src/core/index.ts';

const CONFIGS = fileURLToPath(new URL('../../../config/', import.meta.url));
const SHIPPED = ['sandbox', 'grid', 'peg', 'imbalance', 'glft', 'avellaneda-stoikov', 'hedged', 'elsewhere', 'live'];
const instrument = instrumentOf({
  ...{ book: 'btc_mxn', tickSize: '10', minimumAmount: '0.00000100', maximumAmount: '200' },
  ...{ minimumPrice: '1000', maximumPrice: '20000000', minimumValue: '10', maximumValue: '200000000' },
});
const read = (name: string): { text: string; config: Config } => {
  const text = readFileSync(join(CONFIGS, `${name}.yaml`), 'utf8');
  const loaded = loadConfig(text, name, ['bitso']);
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  return { text, config: loaded.config };
};
const money = (config: Config, ...path: string[]): bigint =>
  moneyOf(path.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], config) as string);

type Schema = { readonly [key: string]: unknown };
const schema = JSON.parse(readFileSync(join(CONFIGS, 'schema.json'), 'utf8')) as Schema;

/** Paths of all keys that hold an amount or a sum of money, by what the page of keys says of them. */
function amountsIn(node: Schema, path: readonly string[] = []): readonly (readonly string[])[] {
  const { description = '', properties = {}, ...rest } = node as { description?: string; properties?: Record<string, Schema> }; // prettier-ignore
  const inside = Object.entries(properties).flatMap(([key, below]) => amountsIn(below, [...path, key]));
  const others = ['anyOf', 'oneOf', 'allOf'].flatMap(key => (rest as Record<string, Schema[] | undefined>)[key] ?? []);
  const own = /\((?:base|quote)\)/.test(description) || ['strategy.risk.amount', 'hedge.risk'].includes(path.join('.'));
  return [...(own ? [path] : []), ...inside, ...others.flatMap(below => amountsIn(below, path))];
}
const isOfTheBot = (name: string): boolean =>
  /^(?:strategy|limits|hedge)\./.test(name) && !/price|optimization\.depth/i.test(name);

describe('the smallest size of a configuration', () => {
  test.each(SHIPPED)('of %s is a configuration whose orders the book takes, also after a fall of a fifth', name => {
    const { text, config } = read(name);
    fc.assert(
      fc.property(fc.integer({ min: 20_000, max: 900_000 }), midTicks => {
        const candidate = { file: '/home/ann/best.yaml', config, text, tuned: null, strategy: null };
        const { text: small, smallest } = smallestText(candidate, '/home/ann', { instrument, midTicks }, 'A test.');
        const loaded = loadConfig(small, name, ['bitso']);
        expect(loaded.ok ? [] : loaded.errors).toEqual([]);
        if (!loaded.ok) return;
        const amount = money(loaded.config, 'strategy', 'amount');
        expect(textOfMoney(smallest.lots)).toBe(loaded.config.strategy.amount);
        expect(amount <= money(config, 'strategy', 'amount')).toBe(true);
        if (smallest.lots === smallest.of) return;
        expect(amount >= moneyOf('0.000001')).toBe(true);
        // Of a price that is a fifth lower the value is still at least 10.
        const value = (amount * BigInt(Math.floor(midTicks * 0.8)) * 10n) / 10n ** 18n;
        expect(value).toBeGreaterThanOrEqual(9n);
        for (const key of ['positionMax', 'drawdownMax', 'dayLossMax', 'orderValueMax']) {
          const was = money(config, 'limits', key);
          const now = money(loaded.config, 'limits', key);
          // In the proportion of the amounts, to the last of eight decimals.
          const exact = (was * smallest.lots) / smallest.of;
          expect(now - exact >= 0n && now - exact <= 10n ** 10n).toBe(true);
        }
      }),
      { numRuns: 10 },
    );
  });

  test('has every amount of the bot in one proportion, and no price and nothing of the market or the account', () => {
    const { text } = read('hedged');
    const tree = parse(text) as Record<'strategy' | 'limits' | 'hedge' | 'pull' | 'regimes', object>;
    const { risk: _, flow: __, ...hedge } = tree.hedge as Record<string, unknown>;
    const all = (own: object, strategy: object): unknown => ({
      ...tree,
      hedge: own,
      limits: { ...tree.limits, orderAmountMax: '0.3' },
      strategy: { ...tree.strategy, priceCeiling: '900000', priceFloor: '1', ...strategy },
      pull: { print: { amount: '3', withinMs: 500 } },
      regimes: { wide: { depthMin: '2' } },
    });
    const banded = { ...hedge, band: '0.04', residual: '0.01', costDayMax: '900' };
    const candidates = [
      ...SHIPPED.map(name => parse(read(name).text) as unknown),
      all(banded, { optimization: { depthAmount: '0.5' } }),
      all(tree.hedge, {}),
    ];
    const seen = new Set<string>();
    for (const candidate of candidates) {
      const own = stringify(candidate);
      const loaded = loadConfig(own, 'own', ['bitso']);
      if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
      const of = { file: '/home/ann/best.yaml', config: loaded.config, text: own, tuned: null, strategy: null };
      const { text: small, smallest } = smallestText(of, '/home/ann', { instrument, midTicks: 100_000 }, 'A test.');
      const after = parse(small) as unknown;
      for (const path of amountsIn(schema)) {
        const [was, now] = [candidate, after].map(from => path.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], from)); // prettier-ignore
        if (typeof was !== 'string') continue;
        const name = path.join('.');
        seen.add(name);
        if (!isOfTheBot(name)) expect([name, now]).toEqual([name, was]);
        else {
          const exact = (moneyOf(was.split(' ')[0]!) * smallest.lots) / smallest.of;
          const off = moneyOf((now as string).split(' ')[0]!) - exact;
          expect([name, off >= -(10n ** 10n) && off <= 10n ** 10n]).toEqual([name, true]);
        }
      }
    }
    expect(amountsIn(schema).map(path => path.join('.')).filter(name => isOfTheBot(name) && !seen.has(name))).toEqual([]); // prettier-ignore
  });

  test('is the candidate itself where that is not larger than what the book asks for', () => {
    const { text } = read('live');
    const tree = parse(text) as { strategy: { amount: string }; limits: object };
    tree.strategy.amount = '0.00001';
    const own = stringify(tree);
    const loaded = loadConfig(own, 'own', ['bitso']);
    if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
    const candidate = { file: '/home/ann/best.yaml', config: loaded.config, text: own, tuned: null, strategy: null };
    const { text: small, smallest } = smallestText(candidate, '/home/ann', { instrument, midTicks: 20_000 }, 'A test.');
    expect(smallest.share).toBe('all');
    expect(parse(small)).toEqual(parse(own));
  });
});

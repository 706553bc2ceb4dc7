/** Keys that decide how a bot trades, beside the keys from which a bot is made. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { isTraded, tradingDigest } from '../../../src/app/promote/tradingDigest.ts';
import { loadConfig, type Config } from '../../../src/config.ts';
import { engineOf, hedgePlanOf, referenceOf } from '../../../src/wiring/bot.ts';
import { shippedConfig } from '../../../src/wiring/configFile.ts';
import { strategyFileOf } from '../../../strategies/index.ts';
import { btcMxn } from '../../core/market.ts';
import { few } from '../../many.ts';

const SHIPPED = few(['hedged', 'live', 'glft', 'sandbox', 'grid', 'peg', 'imbalance', 'avellaneda-stoikov'], 3);
const read = (name: string): Config => {
  const loaded = loadConfig(readFileSync(shippedConfig(name), 'utf8'), name);
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  return loaded.config;
};

/** Sections that the construction of a bot reads, with their values; `undefined` for one that is left out. */
async function sectionsRead(config: Config): Promise<ReadonlyMap<string, unknown>> {
  const seen = new Map<string, unknown>();
  const watched = new Proxy(config, {
    get: (target, key, receiver) => {
      const value: unknown = Reflect.get(target, key, receiver);
      if (typeof key === 'string') seen.set(key, value);
      return value;
    },
  });
  engineOf(watched, { instrument: btcMxn, makerRate: 0, takerRate: 0 }, 1);
  hedgePlanOf(watched);
  await referenceOf(watched)?.close();
  return seen;
}

/** The value with one of its leaves changed, for each leaf. */
function changed(value: unknown): readonly unknown[] {
  if (value === undefined) return [{}];
  if (typeof value !== 'object' || value === null) return [`${JSON.stringify(value)}0`];
  if (Array.isArray(value))
    return value.flatMap((item, i) => changed(item).map(other => (value as readonly unknown[]).with(i, other)));
  return Object.entries(value).flatMap(([key, inner]) => changed(inner).map(other => ({ ...value, [key]: other })));
}

describe.each(SHIPPED)('the trading digest of %s', name => {
  test('differs for any other value in a section from which the bot is made, and has a key for each', async () => {
    const config = read(name);
    const [own, sections] = [tradingDigest(config), await sectionsRead(config)];
    for (const section of ['timing', 'strategy', 'limits', 'halts']) expect([...sections.keys()]).toContain(section);
    for (const [section, value] of sections) {
      expect([section, isTraded(`${section}.key`)]).toEqual([section, true]);
      for (const other of changed(value))
        expect([section, other, tradingDigest({ ...config, [section]: other })]).not.toEqual([section, other, own]);
    }
  });

  test('is the same elsewhere, with other files and other notices', () => {
    const config = read(name);
    for (const section of ['exchange', 'state', 'metrics', 'log'])
      for (const other of changed(config[section as keyof Config]))
        expect(tradingDigest({ ...config, [section]: other })).toBe(tradingDigest(config));
  });
});

test('of a strategy file has its hash, parameters and name of the tape of past trades, and no path or text', () => {
  const own = { ...strategyFileOf('./own.ts', 'text'), historyTape: '/tapes/one', amount: '1' };
  const digest = (changes: object): string => tradingDigest({ ...read('sandbox'), strategy: { ...own, ...changes } });
  for (const changes of [{ file: '/elsewhere/own.ts' }, { code: 'other' }, { historyTape: '/linked/tapes/one' }])
    expect(digest(changes)).toBe(digest({}));
  for (const changes of [
    { sha256: 'other' },
    { historyTape: '/tapes/two' },
    { historyTape: undefined },
    { amount: '2' },
  ])
    expect(digest(changes)).not.toBe(digest({}));
});

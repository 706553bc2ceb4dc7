/** Markets of two exchanges in a box: `config/elsewhere.yaml`, and the same with other links between the exchanges. */
import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { hedgedBookOf, type HedgedBook } from '../../../backtest/index.ts';
import { embeddedFeesOf, loadConfig, type Config } from '../../../src/config.ts';
import { shippedConfig } from '../../../src/wiring/configFile.ts';
import type { BoxTapes } from './boxTapes.ts';

/** Links of the markets, as keys of the section `elsewhere`; the shipped links without them. */
export const LINKS = {
  shipped: {},
  /** The first exchange is often wrong by more than the fees, and returns within a minute. */
  edge: { basis: { constantBps: 0, revertingBps: 15, revertingS: 60 } },
  /** Both exchanges show one price. */
  nothing: { leadMs: 0, noiseBps: { here: 0, there: 0 }, basis: { constantBps: 0, revertingBps: 0, revertingS: 300 } },
} as const;

/** Returns the shipped configuration with other links. */
export function boxedConfig(links: object): Config {
  const shipped = parse(readFileSync(shippedConfig('elsewhere'), 'utf8')) as { readonly elsewhere: object };
  const loaded = loadConfig(stringify({ ...shipped, elsewhere: { ...shipped.elsewhere, ...links } }), 'elsewhere.yaml');
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  return loaded.config;
}

/** Measures the book at the fees and latencies of the configuration, and at 0, 2, 5, 10, 15 and 20 bps. */
export function boxedBook(name: string, config: Config, { quoted, hedge }: BoxTapes): HedgedBook {
  const { elsewhere, exchange, book } = config;
  if (elsewhere?.kind !== 'embedded') throw new Error('expected a second embedded exchange');
  const { maker } = embeddedFeesOf(exchange, book, book)!;
  const venue = {
    ...{ name: 'there', tape: hedge, latencyMs: elsewhere.latencyMs },
    ...{ feeBps: 1e4 * Number(elsewhere.fees.taker), backBps: config.hedge?.elsewhere?.backBps ?? 0 },
  };
  return hedgedBookOf(name, quoted, venue, { makersBps: [1e4 * Number(maker)], latencyMs: 25, seed: 1 });
}

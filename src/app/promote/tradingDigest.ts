/** Keys of a configuration that decide how a bot trades, and their digest. */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { Config } from '../../config.ts';

/** Sections that do not decide how a bot trades: exchange, state folder and monitoring. */
const NOT_TRADED = new Set('exchange state webhooks log metrics alerts console journal paper'.split(' '));

/** Whether a key, such as `strategy.halfSpreadBps`, decides how a bot trades. */
export const isTraded = (key: string): boolean => !NOT_TRADED.has(key.split('.', 1)[0]!);

/**
 * Returns the digest of the keys that decide how a bot trades. Exchange and state folder have no effect on it. A
 * strategy file counts with its hash, not with its path, and its tape of past trades with its name, not with its
 * folder.
 */
export const tradingDigest = (config: Config): string =>
  createHash('sha256')
    .update(JSON.stringify(Object.fromEntries(Object.entries(byHash(config)).filter(([key]) => isTraded(key)))))
    .digest('hex');

function byHash(config: Config): object {
  if (!('file' in config.strategy)) return config;
  const { file: _, code: __, historyTape: tape, ...strategy } = config.strategy;
  return { ...config, strategy: { ...strategy, ...(tape !== undefined && { historyTape: basename(tape) }) } };
}

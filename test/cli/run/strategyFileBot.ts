/** A bot with a strategy file, on an embedded exchange in a process of its own: its orders survive the bot. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { quotingBy } from '../../strategies/ownFile.ts';
import { openExchange } from '../embeddedExchange.ts';
import { ran, type Bench } from '../program.ts';

/**
 * Starts the exchange, and writes a configuration for it whose strategy file has this text, or this body of `quote`.
 * `keysFor`: returns keys of the section `exchange` for an address of its REST interface.
 */
export async function strategyFileBot(
  bench: Bench,
  body: string,
  keys: object = {},
  keysFor: (url: string) => Promise<object> = restUrl => Promise.resolve({ restUrl }),
) {
  const { url, stream, keys: access } = await openExchange(bench.config());
  const own = join(mkdtempSync(join(tmpdir(), 'puntas-loop-')), 'own.ts');
  writeFileSync(own, body.startsWith('/**') ? body : quotingBy(body));
  const exchangeKeys = await keysFor(url);
  const config = bench.config('sandbox', text => {
    const { skew: _, ...tree } = parse(text) as Record<string, unknown>;
    return stringify({
      ...tree,
      strategy: { file: own, halfSpreadBps: 16, amount: '0.006' },
      exchange: { kind: 'remote', streamUrl: stream, ...exchangeKeys },
      ...keys,
    });
  });
  const status = async () => (await ran(['status', '-c', config], access)).stdout.replace(/\s+/g, ' ');
  return { access, config, own, status };
}

/** Counts the calls of `quote`. Not in `flow.share`, which each trade sets. */
export const COUNTED = 'const seen = flow as { calls?: number }; seen.calls = (seen.calls ?? 0) + 1;';
export const QUOTE = 'return around(p, lots, view, [...fairSteps(view)]);';

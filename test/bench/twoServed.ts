/** Two exchanges of this process behind sockets, and the file of a bot that trades on the first one. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { serve, type Switches } from '../../src/sandbox/index.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
export const BOOK = 'btc_mxn';
/** Switches of an exchange that answers at once, as often as it is asked. */
export const AT_ONCE: Partial<Switches> = {
  ...{ rateLimits: 'off', engineDelayMinMs: 0, engineDelayMaxMs: 0, feedDelayMinMs: 0, feedDelayMaxMs: 0 },
};

type Exchange = Parameters<typeof serve>[0];
type Sections = Readonly<Record<string, object | undefined>>;
type Address = { readonly restUrl: string; readonly streamUrl: string };

/**
 * Serves both exchanges, and writes the configuration `shipped` for a bot at the first one. `change` returns the sections
 * that differ; a section that is `undefined` is left out.
 */
export async function twoServed(
  here: Exchange,
  there: Exchange,
  shipped: string,
  change: (shipped: Sections, there: Address) => Sections,
) {
  const options = { host: '127.0.0.1', port: 0 };
  const servers = [await serve(here, options), await serve(there, options)] as const;
  const [hereAt, thereAt] = servers.map(({ url }) => ({ restUrl: url, streamUrl: url.replace('http', 'ws') })) as [
    Address,
    Address,
  ];
  const dir = mkdtempSync(join(tmpdir(), 'puntas-bench-'));
  const [file, state] = [join(dir, 'here.yaml'), join(dir, 'state')];
  const sections = parse(readFileSync(join(ROOT, shipped), 'utf8')) as Sections;
  writeFileSync(
    file,
    stringify({
      ...sections,
      exchange: { kind: 'remote', ...hereAt, budgets: { publicPerMinute: 10_000, privatePerMinute: 10_000 } },
      limits: { ...sections['limits'], collarBps: 500 },
      halts: { messagesPerMinute: 100_000 },
      state: { dir: state },
      metrics: { port: 0 },
      ...change(sections, thereAt),
    }),
  );
  const close = async (): Promise<void> => {
    for (const server of servers) await server.close();
    rmSync(dir, { recursive: true, force: true });
  };
  return { dir, file, state, there: thereAt, close };
}

/** The configuration of a bot that is watched for long: as it ships for the embedded exchange, on free ports and with files of its own; that exchange in its process, or in one of its own. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { freePort } from '../freePort.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The file, in that folder. A run takes two hours, so that a soak sees many of them, and no bad luck ends it. With `exchange` the bot trades there, as an account's. */
export async function soakConfig(
  dir: string,
  exchange?: { readonly url: string; readonly stream: string },
): Promise<string> {
  const tree = parse(readFileSync(join(ROOT, 'config/sandbox.yaml'), 'utf8')) as {
    readonly limits: object;
    readonly [key: string]: unknown;
  };
  const file = join(dir, 'soak.yaml');
  const own = {
    metrics: { port: await freePort() },
    journal: { rollHours: 2 },
    limits: { ...tree.limits, drawdownMax: '500000', dayLossMax: '500000' },
    state: { dir: join(dir, 'state') },
    markouts: {},
    ...(exchange && { exchange: { kind: 'remote', restUrl: exchange.url, streamUrl: exchange.stream } }),
  };
  writeFileSync(file, stringify({ ...tree, ...own }));
  return file;
}

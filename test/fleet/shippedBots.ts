/** Files of several bots on the embedded exchange, each with its own market and console, and of a fleet over them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { freePort } from '../freePort.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Bot of a fleet: its name, its configuration, and the address of its console. */
export type ShippedBot = { readonly name: string; readonly file: string; readonly url: string };

/** Returns `count` bots that ship for the embedded exchange. No loss of theirs halts them. */
export async function shippedBots(dir: string, count: number): Promise<readonly ShippedBot[]> {
  const tree = parse(readFileSync(join(ROOT, 'config/sandbox.yaml'), 'utf8')) as {
    readonly exchange: object;
    readonly limits: object;
  };
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports].map((port, i) => {
    const name = `bot${i}`;
    const file = join(dir, `${name}.yaml`);
    const own = {
      instance: name,
      exchange: { ...tree.exchange, seed: 5 + i },
      limits: { ...tree.limits, drawdownMax: '500000', dayLossMax: '500000' },
      metrics: { port: 0 },
      console: { port },
      state: { dir: join(dir, `state-${name}`) },
    };
    writeFileSync(file, stringify({ ...tree, ...own }));
    return { name, file, url: `http://127.0.0.1:${port}` };
  });
}

/** Writes the file of a fleet over consoles. */
export function fleetFile(dir: string, bots: readonly { readonly name: string; readonly url: string }[]): string {
  const file = join(dir, 'fleet.yaml');
  writeFileSync(file, stringify({ currency: 'mxn', port: 0, bots: bots.map(({ name, url }) => ({ name, url })) }));
  return file;
}

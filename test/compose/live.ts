/** compose.live.yaml: its commands and files without Docker, on an embedded exchange in the place of the real one. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { within } from '../chaos/programs.ts';

type Service = {
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly logging?: { readonly options: Readonly<Record<string, string>> };
};
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { services, volumes } = parse(readFileSync(join(ROOT, 'compose.live.yaml'), 'utf8'), { merge: true }) as {
  services: Readonly<Record<'bot' | 'sentinel' | 'console', Service>>;
  volumes: object;
};
const PATIENCE_MS = Number(process.env['PUNTAS_PATIENCE_MS'] ?? 420_000);
const dir = mkdtempSync(join(tmpdir(), 'puntas-compose-live-'));
const processes = new Map<string, ChildProcess>();
let said = '';

/** Where a path of a container is here. */
const here = (text: string, of: Service): string =>
  of.volumes
    .map(volume => volume.split(':') as [string, string])
    .reduce(
      (path, [from, inside]) => (path.startsWith(`${inside}/`) ? path.replace(inside, join(dir, from)) : path),
      text,
    );

function up(name: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}): void {
  const env = { PATH: process.env['PATH'] ?? '', HOME: dir, ...environment };
  const child = spawn(process.execPath, [...args], { cwd: ROOT, env });
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => void (said = (said + text).slice(-30_000)));
  processes.set(name, child);
}
const service = (name: keyof typeof services): void => {
  const of = services[name];
  const environment = Object.entries(of.environment ?? {}).map(([key, value]) => [key, here(value, of)] as const);
  up(name, ['dist/src/main.js', ...of.command.map(word => here(word, of))], Object.fromEntries(environment));
};

async function sees(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  const quietly = async () => {
    try {
      return await holds();
    } catch {
      return false;
    }
  };
  if (!(await within(PATIENCE_MS, quietly, 500))) throw new Error(`never: ${what}\n${said}`);
}

const TOKEN = 'c0ffee'.repeat(8);
const PAGE = 'http://127.0.0.1:9465';

beforeAll(async () => {
  for (const folder of ['state', 'keys', 'live/config', 'live/bot', 'live/sentinel', 'live/console'])
    mkdirSync(join(dir, folder), { recursive: true, mode: 0o700 });
  up('exchange', ['config/compose/exchange.mjs', '8081', join(dir, 'keys')]);
  await sees('keys', () => existsSync(join(dir, 'keys/sentinel.secret')));
  for (const who of ['bot', 'sentinel'])
    for (const what of ['key', 'secret'])
      writeFileSync(join(dir, 'live', who, what), readFileSync(join(dir, `keys/${who}.${what}`)), { mode: 0o400 });
  writeFileSync(join(dir, 'live/console/operator.token'), `${TOKEN}\n`, { mode: 0o400 });
  const text = readFileSync(join(ROOT, 'config/compose/live.yaml'), 'utf8')
    .replace('https://api.bitso.com', 'http://127.0.0.1:8081')
    .replace('wss://ws.bitso.com', 'ws://127.0.0.1:8081')
    .replace('dir: /state', `dir: ${dir}/state`)
    .replace('/run/secrets', `${dir}/live/console`);
  writeFileSync(join(dir, 'live/config/bot.yaml'), text);
  for (const name of ['sentinel', 'bot', 'console'] as const) service(name);
});
afterAll(async () => {
  const ended = [...processes.values()].map(
    child => new Promise(resolve => (child.exitCode === null ? child.once('exit', resolve) : resolve(null))),
  );
  for (const child of processes.values()) child.kill('SIGTERM');
  await Promise.all(ended);
  rmSync(dir, { recursive: true, force: true });
});

test('the bot quotes under its sentinel, and a person acts on it through the console of this machine', async () => {
  const metrics = async () => (await fetch('http://127.0.0.1:9464/metrics')).text();
  await sees('live quotes', async () => /^puntas_quotes_live\{[^}]*side="buy"[^}]*\} [1-9]/m.test(await metrics()));
  await sees('a sentinel', async () => /^puntas_sentinel_age_seconds\{[^}]*\} \d/m.test(await metrics()));
  const headers = { 'content-type': 'application/json', origin: PAGE };
  await sees('a console', async () => (await fetch(`${PAGE}/session`)).ok);
  const answer = await fetch(`${PAGE}/login`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ token: TOKEN, name: 'ana' }),
  });
  expect(answer.status).toBe(200);
  const { key } = (await answer.json()) as { key: string };
  const cookie = answer.headers.get('set-cookie')!.split(';')[0]!;
  const session = (await (await fetch(`${PAGE}/session`, { headers: { cookie, 'x-puntas-key': key } })).json()) as {
    actions: string[];
  };
  expect(session).toMatchObject({ role: 'operator', whyNot: null });
  expect(session.actions).toEqual(expect.arrayContaining(['pause', 'cancel', 'halt', 'resume', 'reload']));
});

test('the health check of the sentinel passes while it runs, and fails once it has not beaten for half a minute', () => {
  const [, , ...words] = services.sentinel.healthcheck!.test;
  const beat = join(dir, 'state/sentinel.json');
  const passes = (file: string): boolean =>
    spawnSync(process.execPath, [words[0]!, words[1]!.replace('/state/sentinel.json', file)]).status === 0;
  expect(passes(beat)).toBe(true);
  const old = join(dir, 'old.json');
  writeFileSync(old, readFileSync(beat));
  const then = Date.now() / 1000 - 31;
  utimesSync(old, then, then);
  expect(passes(old)).toBe(false);
  expect(passes(join(dir, 'none.json'))).toBe(false);
});

test('every log has a limit, the state a volume, and no two services see the same key', () => {
  for (const of of Object.values(services)) expect(of.logging?.options).toEqual({ 'max-size': '10m', 'max-file': '5' });
  expect(Object.keys(volumes)).toEqual(['state']);
  const keys = Object.values(services).map(({ volumes: of }) => of.find(volume => volume.endsWith(':/run/secrets:ro')));
  expect(new Set(keys).size).toBe(3);
});

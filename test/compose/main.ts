/** compose.yaml: its commands and files, without Docker. Grafana is no Debian package: its files are held against each other. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { within } from '../chaos/programs.ts';

type Service = {
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
};
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const fileOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const { services } = parse(fileOf('compose.yaml'), { merge: true }) as { services: Record<string, Service> };
const PATIENCE_MS = Number(process.env['PUNTAS_PATIENCE_MS'] ?? 420_000);

const dir = mkdtempSync(join(tmpdir(), 'puntas-compose-'));
const said = new Map<string, string>();
const processes = new Map<string, ChildProcess>();

/** Where a path of a container lies here: a folder of this one, or one made for it; the bot's own YAML with its state moved. */
function here(text: string, { volumes = [] }: Service): string {
  if (text === 'config/compose/bot.yaml') return join(dir, 'bot.yaml');
  const mounted = volumes.map(volume => volume.split(':') as [string, string]);
  const found = mounted.find(([, inside]) => text.includes(inside));
  if (found === undefined) return text;
  const [from, inside] = found;
  return text.replace(inside, from.startsWith('./') ? join(ROOT, from) : join(dir, from));
}

/** The service as compose.yaml starts it; `program`: what its image begins. */
function up(name: string, program: readonly string[]): void {
  const service = services[name]!;
  const [file, ...args] = [...(service.entrypoint ?? program), ...(service.command ?? [])].map(word =>
    here(word, service),
  );
  const environment = Object.entries(service.environment ?? {}).map(
    ([key, value]) => [key, here(value, service)] as const,
  );
  const child = spawn(file!, args, { cwd: ROOT, env: { ...process.env, ...Object.fromEntries(environment) } });
  const hear = (text: string) => void said.set(name, ((said.get(name) ?? '') + text).slice(-20_000));
  child.on('error', error => hear(String(error)));
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', hear);
  processes.set(name, child);
}

async function sees(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  const quietly = async () => {
    try {
      return await holds();
    } catch {
      return false;
    }
  };
  if (!(await within(PATIENCE_MS, quietly, 500)))
    throw new Error(`never: ${what}\n${[...said].map(([name, text]) => `${name}: ${text.slice(-3_000)}`).join('\n')}`);
}
const json = async (url: string): Promise<unknown> => (await fetch(url)).json();

beforeAll(async () => {
  for (const name of ['keys', 'state', 'prometheus', 'alertmanager']) mkdirSync(join(dir, name), { mode: 0o700 });
  writeFileSync(join(dir, 'bot.yaml'), fileOf('config/compose/bot.yaml').replace('dir: /state', `dir: ${dir}/state`));
  const main = ['node', 'dist/src/main.js'];
  up('exchange', main);
  await sees('keys', () => existsSync(join(dir, 'keys/sentinel.secret')));
  up('sentinel', main);
  up('bot', main);
  up('console', main);
  up('alertmanager', ['prometheus-alertmanager']);
  up('prometheus', ['prometheus']);
});
afterAll(async () => {
  // What runs the exchange ends it when it is told to.
  const exchange = processes.get('exchange');
  const ended = new Promise(resolve => exchange?.once('exit', resolve));
  for (const child of processes.values()) child.kill(child === exchange ? 'SIGTERM' : 'SIGKILL');
  if (exchange?.exitCode === null) await ended;
  rmSync(dir, { recursive: true, force: true });
});

test('the bot quotes under its sentinel, and Prometheus sees both under the name of the network', async () => {
  const asks = async (expr: string) => {
    const url = `http://127.0.0.1:9090/api/v1/query?query=${encodeURIComponent(expr)}`;
    const { data } = (await json(url)) as { data: { result: { value: [number, string] }[] } };
    return Number(data.result[0]?.value[1]);
  };
  await sees('live quotes', async () => (await asks('sum(puntas_quotes_live{instance="bot:9464"})')) >= 2);
  await sees('a sentinel', async () => (await asks('puntas_sentinel_age_seconds{instance="bot:9464"}')) < 60);
});

test('the console shows the bot, and nobody acts through it', async () => {
  await sees('a view', async () => {
    const leave = new AbortController();
    const { body } = await fetch('http://127.0.0.1:9465/live', { signal: leave.signal });
    const first: unknown = (await body!.getReader().read()).value;
    leave.abort();
    return Buffer.from(first as Uint8Array)
      .toString()
      .includes('"state":"running"');
  });
  expect(await json('http://127.0.0.1:9465/session')).toMatchObject({ hasLogin: false, actions: [] });
});

test('a bot that is killed is an alert in Alertmanager', async () => {
  processes.get('bot')!.kill('SIGKILL');
  await sees('PuntasDown', async () =>
    JSON.stringify(await json('http://127.0.0.1:9093/api/v2/alerts')).includes('PuntasDown'),
  );
});

test('Grafana finds its dashboard and its Prometheus where compose.yaml puts them', () => {
  const { volumes = [], environment = {} } = services['grafana']!;
  expect(volumes).toContain('./config/grafana:/etc/puntas:ro');
  expect(volumes).toContain('./config/grafana/provisioning:/etc/grafana/provisioning:ro');
  const folder = (
    parse(fileOf('config/grafana/provisioning/dashboards/puntas.yaml')) as { providers: { options: object }[] }
  ).providers[0]!.options;
  expect(folder).toMatchObject({ path: '/etc/puntas' });
  expect(environment['GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH']).toBe('/etc/puntas/puntas.json');
  const source = parse(fileOf('config/grafana/provisioning/datasources/prometheus.yaml')) as {
    datasources: { url: string }[];
  };
  expect(Object.keys(services)).toContain(new URL(source.datasources[0]!.url).hostname);
});

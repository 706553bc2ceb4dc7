/** The command `mcp` as a process beside a running bot and its console: thousands of hostile calls, and approvals in a terminal. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { recordFlow } from '../../../backtest/index.ts';
import { TapeWriter } from '../../../src/tape/index.ts';
import { AgentClient } from '../../app/mcp/agentClient.ts';
import { FOREIGN_REQUESTS, HOSTILE_TOOLS, hostileLines } from '../../app/mcp/hostileCalls.ts';
import { asking } from '../../console/asking.ts';
import { Bench, endPrograms, printed, puntas, ran, ROOT } from '../program.ts';

const bench = new Bench();
const children: ChildProcess[] = [];
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await endPrograms();
  bench.clear();
});

const VIEWER = 'viewer-token-0123456789abcdef-012345';
const CALLS = 10_000;
/** Growth of the process that garbage of 10,000 calls may have, in kB; each kept call would add 20 kB and more. */
const GROWTH_MAX_KB = 98_304;

const memoryOf = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);

async function desk() {
  const token = (name: string, text: string): string => {
    writeFileSync(bench.path(name), text, { mode: 0o600 });
    return bench.path(name);
  };
  const viewerTokenFile = token('viewer.token', VIEWER);
  const operatorTokenFile = token('operator.token', 'operator-token-0123456789abcdef-0123');
  const config = bench.config('sandbox', text =>
    stringify({
      ...(parse(text) as object),
      console: { besideRun: false, viewerTokenFile, operatorTokenFile },
    }),
  );
  const { state } = parse(readFileSync(config, 'utf8')) as { state: { dir: string } };
  const bot = puntas(['run', '-c', config]);
  await bot.sees(/"msg":"quoting"/);
  const page = puntas(['console', '-c', config, '--port', '0']);
  const [, url = ''] = await page.sees(/console of \S+ at (http:\S+)/);
  return { config, url, bot, dir: state.dir };
}

function agent(config: string, url: string, more: readonly string[] = []) {
  const args = ['mcp', '-c', config, '--console', url, '--agent', 'a helper', '--calls-per-minute', '1000000', ...more];
  const child = spawn(process.execPath, [join(ROOT, 'dist/src/main.js'), ...args], {
    cwd: ROOT,
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PUNTAS_'))),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  children.push(child);
  const errors: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (part: string) => void errors.push(part));
  const ended = new Promise<number | null>(resolve => child.once('close', resolve));
  return { child, errors, ended, client: new AgentClient(child.stdin, child.stdout) };
}

const fieldOf = (pid: string | number, field: string): string => {
  try {
    return new RegExp(`^${field}:\\s+(.*)$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '';
  } catch {
    return '';
  }
};
const childrenOf = (pid: number): readonly number[] =>
  readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && fieldOf(name, 'PPid') === String(pid))
    .map(Number);
const isRunning = (pid: number): boolean => !/^(?:Z.*)?$/.test(fieldOf(pid, 'State'));

/** Writes a folder of recordings for the agent, with a recording of a minute. */
function recordings(): string {
  const tapes = bench.path('tapes');
  mkdirSync(tapes, { recursive: true });
  const tape = recordFlow('btc_mxn', 5, 60);
  const writer = new TapeWriter({ dir: join(tapes, 'flow'), rules: tape.rules, source: 'flow', blockRows: 900 });
  writer.append(tape.columns);
  writer.close();
  return tapes;
}

/** Files that an action would leave. */
const effects = (dir: string): readonly string[] =>
  readdirSync(dir).filter(name =>
    /^(?:HALTED|PAUSED|REDUCE|FLATTEN|cancel\.json|actions\.jsonl|resum.*|decision-.*)$/.test(name),
  );

test('does nothing by thousands of hostile calls, answers each, and keeps its size; then a person approves what was proposed', async () => {
  const { config, url, bot, dir } = await desk();
  const tapes = recordings();
  const { child, client, errors, ended } = agent(config, url, ['--files', tapes]);
  expect(await client.open2025()).toBe('2025-11-25');
  // No tool of the server is left out of the flood.
  const { result: listed } = await client.ask('tools/list');
  const names = (listed!['tools'] as { name: string }[]).map(({ name }) => name);
  expect(names.sort()).toEqual([...HOSTILE_TOOLS].sort());
  /** Asks for a backtest until there is room for it beside the other calls, and returns the hash of its result. */
  const backtest = async (): Promise<unknown> => {
    for (;;) {
      const { data, error } = await client.call('run_backtest', { tape: 'flow' });
      if (error === undefined) return (data as { readonly hash: string }).hash;
      // A backtest has the lowest priority, so a busy machine may not finish it in its three minutes.
      expect(error).toMatch(/ under way|took longer than/);
      await new Promise(resolve => setTimeout(resolve, 200));
    }
  };
  /** Real backtests in the flood, which must end as one without it. */
  const backtests: Promise<unknown>[] = [];
  const sent: number[] = [];
  const ask = asking(() => url);
  const headers = {
    authorization: `Bearer ${VIEWER}`,
    'content-type': 'application/json',
    'idempotency-key': 'key-0001',
  };
  let [waiting, count, before] = [[] as Promise<unknown>[], 0, 0];
  for (const { id, text } of hostileLines(7, CALLS)) {
    if (id === null) client.send(text);
    else {
      sent.push(id);
      waiting.push(client.sent(id, text));
    }
    if (++count === CALLS / 4) before = memoryOf(child.pid!);
    if (count % (CALLS / 4) === 0) backtests.push(backtest());
    if (waiting.length < 30) continue;
    await Promise.all(waiting);
    waiting = [];
    const [path, body] = FOREIGN_REQUESTS[sent.length % FOREIGN_REQUESTS.length]!;
    const { status } = await ask(path, 'POST', headers, JSON.stringify(body));
    expect([401, 403, 404, 405]).toContain(status);
  }
  await Promise.all(waiting);
  const hashes = await Promise.all(backtests);
  expect(hashes).toHaveLength(4);
  expect(new Set([...hashes, await backtest()]).size).toBe(1);
  // No process of a backtest is left.
  expect(childrenOf(child.pid!).filter(isRunning)).toEqual([]);
  expect(sent.filter(id => client.answered.get(id) !== 1)).toEqual([]);
  expect(client.unnumbered).toBeGreaterThan(CALLS / 10);
  expect(await client.ask('ping')).toMatchObject({ result: {} });
  expect(memoryOf(child.pid!) - before).toBeLessThan(GROWTH_MAX_KB);
  expect(effects(dir)).toEqual([]);
  const proposed = printed(await ran(['proposals', '-c', config, '--json'])) as {
    readonly proposals: readonly { readonly id: string; digest: string; action: string; state: string }[];
  };
  const open = proposed.proposals.filter(({ state }) => state === 'open');
  expect(open.length).toBeGreaterThan(0);
  expect(open.length).toBeLessThanOrEqual(5);

  // A person approves one of them, which is known by its preview and digest.
  const { id, digest } = open.find(({ action }) => action !== 'reload') ?? open[0]!;
  expect((await ran(['approve', id, '-c', config])).stderr).toMatch(
    /approve needs a terminal to confirm; without one, pass --digest/,
  );
  expect((await ran(['approve', id, '-c', config, '--digest', 'f'.repeat(64)])).code).not.toBe(0);
  expect(effects(dir)).toEqual([]);
  const approved = await ran(['approve', id, '-c', config, '--digest', digest, '--by', 'Ana']);
  expect([approved.code, approved.stdout]).toEqual([0, expect.stringMatching(/effect now:/)]);
  const again = await ran(['approve', id, '-c', config, '--digest', digest, '--by', 'Ana']);
  expect([again.code, again.stderr]).toEqual([2, expect.stringMatching(/already decided/)]);
  const journal = readFileSync(join(dir, 'actions.jsonl'), 'utf8').trim().split('\n');
  expect(journal.map(line => JSON.parse(line) as unknown)).toMatchObject([
    { id, by: 'Ana', via: 'agent', agent: 'a helper' },
  ]);
  child.stdin.end();
  expect(await ended).toBe(0);
  expect(errors.join('')).not.toContain(VIEWER);
  bot.signal('SIGTERM');
  await bot.ended;
}, 900_000);

test('backtests on a recording below an allowed folder, one at a time, and on nothing else', async () => {
  const tapes = recordings();
  writeFileSync(bench.path('viewer.token'), VIEWER, { mode: 0o600 });
  const config = bench.config('sandbox', text =>
    stringify({ ...(parse(text) as object), console: { viewerTokenFile: bench.path('viewer.token') } }),
  );
  const { child, client, ended } = agent(config, 'http://127.0.0.1:1', ['--files', tapes]);
  await client.open2025();
  expect((await client.call('run_backtest', { tape: '../viewer.token' })).error).toMatch(/no such file below/);
  expect((await client.call('run_backtest', { tape: 'none' })).error).toMatch(/no such file below/);
  mkdirSync(join(tapes, 'empty'));
  const [one, other] = await Promise.all([
    client.call('run_backtest', { tape: 'empty' }),
    client.call('run_backtest', { tape: 'empty' }),
  ]);
  expect(one.error).toMatch(/recording/);
  expect(other.error).toMatch(/a backtest is under way/);
  const alerts = { webhook: { url: 'https://hooks.example.com/the-secret-of-the-hook' } };
  writeFileSync(join(tapes, 'my.yaml'), stringify({ ...(parse(readFileSync(config, 'utf8')) as object), alerts }));
  const asked = { tape: 'flow', configuration: 'my.yaml' };
  const { data, error } = await client.call('run_backtest', asked);
  expect(error).toBeUndefined();
  expect(data).toMatchObject({ book: 'btc_mxn', models: [{ model: 'pessimistic' }, {}, {}] });
  const text = JSON.stringify(data);
  for (const hidden of ['the-secret-of-the-hook', tapes, bench.path('viewer.token')])
    expect(text).not.toContain(hidden);
  // A server that is killed takes its backtest with it.
  void client.call('run_backtest', asked);
  const wait = () => new Promise(resolve => setTimeout(resolve, 50));
  while (childrenOf(child.pid!).length === 0) await wait();
  const [backtest] = childrenOf(child.pid!);
  child.kill('SIGKILL');
  await ended;
  while (isRunning(backtest!)) await wait();
});

test.each<[string, readonly string[], Record<string, string>, RegExp]>([
  [
    'a secret in the environment',
    [],
    { PUNTAS_API_SECRET: 'x' },
    /must not contain secrets, but contains PUNTAS_API_SECRET/,
  ],
  [
    'an address that is not of this machine',
    ['--console', 'http://evil.example'],
    {},
    /--console: expected an address/,
  ],
  [
    'a folder that is none',
    ['--files', '/nowhere'],
    {},
    /^\/nowhere: no such folder; pass a readable folder with --files$/m,
  ],
  ['no token', [], {}, /an agent needs the token of a viewer/],
])('does not start with %s', async (what, more, environment, line) => {
  writeFileSync(bench.path('viewer.token'), VIEWER, { mode: 0o600 });
  const config = bench.config('sandbox', text =>
    stringify({
      ...(parse(text) as object),
      ...(what === 'no token' ? {} : { console: { viewerTokenFile: bench.path('viewer.token') } }),
    }),
  );
  const { code, stderr, stdout } = await ran(['mcp', '-c', config, ...more], environment);
  expect([code, stderr, stdout]).toEqual([2, expect.stringMatching(line), '']);
});

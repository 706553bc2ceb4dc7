/**
 * Agent server in this process, with a real console server on a real state directory: what it serves, and that nothing
 * acts.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { readBot } from '../../../src/app/actions/botReads.ts';
import { previewAction } from '../../../src/app/actions/previewAction.ts';
import { OPEN_PROPOSALS_MAX, PROPOSAL_MS } from '../../../src/app/actions/proposalDesk.ts';
import type { ActionAsk } from '../../../src/app/actions/actions.ts';
import { consoleActions } from '../../../src/app/console/consoleActions.ts';
import { consoleApi } from '../../../src/app/console/consoleApi.ts';
import { apiProposals, consoleProposals } from '../../../src/app/console/consoleProposals.ts';
import { actionsIn } from '../../../src/app/actions/actionJournal.ts';
import { ANSWER_MAX, serveAgent } from '../../../src/app/mcp/agentServer.ts';
import { allowedPath, BacktestTool } from '../../../src/app/mcp/backtestTool.ts';
import { CallLimits } from '../../../src/app/mcp/callLimits.ts';
import { AgentConsole } from '../../../src/app/mcp/agentConsole.ts';
import { plainJson } from '../../../src/app/mcp/plainJson.ts';
import { docsPages, searchDocs } from '../../../src/app/mcp/docsPages.ts';
import { serveConsole, type ConsoleServer } from '../../../src/console/index.ts';
import { Secret, VirtualClock } from '../../../src/core/index.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { shippedConfig } from '../../../src/wiring/configFile.ts';
import { asking } from '../../console/asking.ts';
import { Folders } from '../../live/states.ts';
import { AgentClient } from './agentClient.ts';
import { FOREIGN_REQUESTS, hostileLines } from './hostileCalls.ts';

const OPERATOR = 'operator-token-0123456789abcdef-0123';
const VIEWER = 'viewer-token-0123456789abcdef-012345';

const folders = new Folders();
afterAll(() => folders.clear());
const open: (ConsoleServer | AbortController)[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await (each instanceof AbortController ? each.abort() : each.close());
});
const pages = docsPages();

async function agent({ token = VIEWER, callsPerMinute = 1e6, files = [] as string[], url = '' } = {}) {
  const dir = folders.fresh();
  mkdirSync(dir, { mode: 0o700 });
  const bot = { stateDir: dir };
  const clock = realClock();
  const preview = async (ask: ActionAsk) => (await previewAction(bot, ask, clock)).lines;
  const api = consoleApi(bot, clock, true, {
    preview,
    proposalPreview: preview,
    summary: () => null,
    events: () => [],
    read: read => readBot(bot, read, clock),
  });
  const actions = Object.assign(
    consoleActions(bot, clock, () => false, preview),
    { proposals: consoleProposals(bot, clock, preview) },
  );
  let secrets = 0;
  const access = {
    ...{ operatorToken: OPERATOR, viewerToken: VIEWER, behindTls: false, onEvent: () => undefined },
    now: () => clock.elapsed(),
    newSecret: () => `secret-${++secrets}-of-the-test-0123456789`,
  };
  const source = {
    scripts: {},
    libraryStyle: '',
    history: () => null,
    longHistory: () => null,
    past: async () => 'null',
  };
  const server = await serveConsole(source, { host: '127.0.0.1', port: 0, access, actions, api });
  const stop = new AbortController();
  open.push(server, stop);
  const [input, output] = [new PassThrough(), new PassThrough()];
  const client = new AgentClient(input, output);
  const ended = serveAgent(
    {
      ...{ input, output, clock, version: '1.2.3', callsPerMinute, agent: 'a helper', pages: () => pages },
      client: new AgentConsole(url === '' ? server.url : url, new Secret(token)),
      backtest: new BacktestTool({ main: '/nowhere.js', folders: files, environment: {}, clock }),
    },
    stop.signal,
  );
  return { dir, url: server.url, client, input, ended, stop };
}

const acted = (dir: string): readonly string[] =>
  readdirSync(dir).filter(name => !/^proposal-p-[a-z2-9]{10}\.json$/.test(name));

describe('a connection', () => {
  test.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])('agrees on the version %s', async version => {
    const { client } = await agent();
    expect(await client.open2025(version)).toBe(version);
    expect(await client.ask('ping')).toMatchObject({ result: {} });
  });

  test('with an unknown version gets one that the server has', async () => {
    const { client } = await agent();
    expect(await client.open2025('1900-01-01')).toMatch(/^2025-/);
  });

  test('without a handshake names its version in each request', async () => {
    const { client } = await agent();
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const { result } = await client.ask('server/discover', { _meta });
    expect(result).toMatchObject({ capabilities: { tools: {}, resources: {} } });
    expect(result?.['supportedVersions']).toContain('2026-07-28');
    const listed = await client.ask('tools/list', { _meta });
    expect(listed.result?.['tools']).toHaveLength(16);
    const status = await client.ask('tools/call', { _meta, name: 'get_status', arguments: {} });
    expect(status.result).toMatchObject({ resultType: 'complete', content: [{ type: 'text' }] });
  });

  test('ends when its input ends, after its answers', async () => {
    const { client, input, ended } = await agent();
    await client.open2025();
    const answer = client.call('get_status');
    input.end();
    expect((await answer).data).toMatchObject({ bot: { state: 'never ran' } });
    await ended;
  });
});

describe('the tools', () => {
  test('read what a viewer reads, and search and check without the console', async () => {
    const { client } = await agent();
    await client.open2025();
    expect((await client.call('get_status')).data).toMatchObject({ bot: { state: 'never ran' }, run: null });
    expect((await client.call('list_events')).data).toEqual([]);
    expect((await client.call('list_proposals')).data).toEqual([]);
    expect((await client.call('list_fills')).error).toMatch(/no ledger yet/);
    expect((await client.call('search_docs', { query: 'hedge debt' })).data).toContainEqual(
      expect.objectContaining({ page: 'hedging' }),
    );
    expect((await client.call('check_configuration', { yaml: 'book: [' })).data).toMatchObject({ isValid: false });
    const sandbox = readFileSync(shippedConfig('sandbox'), 'utf8').replace('name: ladder', 'file: ./own.ts');
    expect((await client.call('check_configuration', { yaml: sandbox })).data).toMatchObject({
      ...{ isValid: true, warnings: [expect.stringMatching(/^strategy\.file: the file is code/)] },
    });
    const { result } = await client.ask('tools/list');
    for (const each of result!['tools'] as { name: string; annotations: { readOnlyHint: boolean } }[])
      expect([each.name, each.annotations.readOnlyHint]).toEqual([each.name, !each.name.startsWith('propose_')]);
  });

  test('propose, and the action happens once an operator approves it in the console', async () => {
    const { client, dir, url } = await agent();
    await client.open2025();
    const { data } = await client.call('propose_pause', { reason: 'odd fills', minutes: 30 });
    const { id, digest } = data as { id: string; digest: string };
    expect(data).toMatchObject({ action: 'pause', agent: 'a helper', minutes: 30, state: 'open' });
    expect(acted(dir)).toEqual([]);
    const ask = asking(() => url);
    const own = { origin: url, 'content-type': 'application/json' };
    const login = await ask('/login', 'POST', own, JSON.stringify({ token: OPERATOR, name: 'Ana' }));
    const headers = {
      ...{ ...own, cookie: String((login.headers['set-cookie'] as string[])[0]).split(';')[0]! },
      'x-puntas-key': (JSON.parse(login.body) as { key: string }).key,
    };
    const post = async (path: string, body: object) =>
      JSON.parse((await ask(path, 'POST', headers, JSON.stringify(body))).body) as Record<string, unknown>;
    expect(await post('/proposals/preview', { id, digest: 'f'.repeat(64) })).toEqual({
      problem: expect.stringMatching(/the digest is not that of the proposal/) as string,
    });
    const preview = await post('/proposals/preview', { id, digest });
    expect(preview).toMatchObject({ action: 'pause', reason: 'odd fills', minutes: 30, costMax: null });
    expect(acted(dir)).toEqual([]);
    await post('/actions/confirm', { id: preview['id'] });
    while (actionsIn(dir).length === 0) await new Promise(resolve => setTimeout(resolve, 5));
    expect(actionsIn(dir)).toMatchObject([{ id, by: 'Ana', via: 'agent', agent: 'a helper', end: 'done' }]);
    expect(latchIn(dir).readPause()).toMatchObject({ who: 'Ana', reason: 'odd fills' });
    expect((await client.call('list_proposals')).data).toMatchObject([{ id, state: 'done', decidedBy: 'Ana' }]);
    expect(await post('/proposals/preview', { id, digest })).toHaveProperty('problem');
    expect(await post('/proposals/reject', { id, digest })).toHaveProperty('problem');
  });

  test('do nothing with the token of an operator', async () => {
    const { client, dir } = await agent({ token: OPERATOR });
    await client.open2025();
    expect((await client.call('get_status')).error).toMatch(/must not have the operator token/);
    expect((await client.call('propose_halt', { reason: 'a reason' })).error).toMatch(/operator token/);
    expect(readdirSync(dir)).toEqual([]);
  });

  test('say that the console does not answer, and never the token', async () => {
    const { client } = await agent({ url: 'http://127.0.0.1:1' });
    await client.open2025();
    const { error } = await client.call('get_status');
    expect(error).toMatch(/^the console at http:\/\/127\.0\.0\.1:1 did not answer/);
    expect(error).not.toContain(VIEWER);
  });
});

describe('the resources', () => {
  test('are the pages and the configuration, and nothing else is', async () => {
    const { client } = await agent();
    await client.open2025();
    const { result } = await client.ask('resources/list');
    const uris = (result!['resources'] as { uri: string }[]).map(({ uri }) => uri);
    expect(uris).toEqual(['puntas://configuration', ...pages.map(({ name }) => `puntas://docs/${name}`)]);
    const page = await client.ask('resources/read', { uri: 'puntas://docs/agents' });
    expect(JSON.stringify(page.result)).toContain('Let an agent read and propose');
    for (const uri of ['puntas://docs/../../package.json', 'file:///etc/passwd', 'puntas://docs/development/x'])
      expect(await client.ask('resources/read', { uri })).toHaveProperty('error');
  });
});

describe('hostile calls', () => {
  test('do nothing, are each answered once, and leave the server as it was', async () => {
    const { client, dir, url } = await agent();
    await client.open2025();
    const sent: number[] = [];
    let answers: Promise<unknown>[] = [];
    for (const { id, text } of hostileLines(1, 400)) {
      if (id === null) client.send(text);
      else {
        sent.push(id);
        answers.push(client.sent(id, text));
      }
      if (answers.length < 24) continue;
      await Promise.all(answers);
      answers = [];
    }
    await Promise.all(answers);
    const ask = asking(() => url);
    const headers = {
      authorization: `Bearer ${VIEWER}`,
      'content-type': 'application/json',
      'idempotency-key': 'key-0001',
    };
    for (const [path, body] of FOREIGN_REQUESTS)
      expect([path, (await ask(path, 'POST', headers, JSON.stringify(body))).status]).toEqual([
        path,
        expect.toSatisfy(status => [401, 403, 404, 405].includes(status as number)) as number,
      ]);
    expect(sent.filter(id => client.answered.get(id) !== 1)).toEqual([]);
    expect(await client.ask('ping')).toMatchObject({ result: {} });
    expect(acted(dir)).toEqual([]);
    expect(readdirSync(dir).length).toBeLessThanOrEqual(OPEN_PROPOSALS_MAX);
    expect(Object.prototype).not.toHaveProperty('approve');
  });
});

describe('the limits', () => {
  test('hold for tools and resources together', async () => {
    const { client } = await agent({ callsPerMinute: 2 });
    await client.open2025();
    const search = () => client.ask('tools/call', { name: 'search_docs', arguments: { query: 'halt' } });
    const page = () => client.ask('resources/read', { uri: 'puntas://docs/agents' });
    const isRefused = (answer: object) => JSON.stringify(answer).includes('at most 2 calls per minute');
    const answers = [await page(), await search(), await page(), await search()];
    expect(answers.map(isRefused)).toEqual([false, false, true, true]);
  });

  test('of calls count by the minute and at the same time, and say so', async () => {
    const clock = new VirtualClock();
    const limits = new CallLimits(clock, 10);
    let release = (): void => undefined;
    const held = new Promise<void>(resolve => (release = resolve));
    const running = Array.from({ length: 8 }, () => limits.run(() => held));
    await expect(limits.run(async () => 1)).rejects.toThrow(/8 calls are under way/);
    release();
    await Promise.all(running);
    await limits.run(async () => 1);
    await limits.run(async () => 1);
    await expect(limits.run(async () => 1)).rejects.toThrow('at most 10 calls per minute; wait 60 s');
    await clock.advance(60_000);
    expect(await limits.run(async () => 1)).toBe(1);
  });

  test('of files keep a backtest below the allowed folders', () => {
    const dir = folders.fresh();
    mkdirSync(join(dir, 'tapes/one'), { recursive: true });
    writeFileSync(join(dir, 'secret'), 'x');
    const root = join(dir, 'tapes');
    expect(allowedPath([root], 'one')).toBe(join(root, 'one'));
    for (const path of ['../secret', 'one/../../secret', '/etc/passwd', join(dir, 'secret'), 'none', 'a\0b', '..', ''])
      expect(() => allowedPath([root], path)).toThrow(/no such file below the folders/);
    expect(() => allowedPath([], 'one')).toThrow(/no folder is allowed/);
  });

  test('of files take a link for the place that it leads to', () => {
    const dir = folders.fresh();
    const places = [
      'tapes',
      'tapes/in',
      'tapes/in/deep',
      'tapes-private',
      'tapes-private/in',
      'tapes2',
      'tape',
      'other',
    ];
    for (const place of places) mkdirSync(join(dir, place), { recursive: true });
    for (const [i, place] of places.entries()) symlinkSync(join(dir, place), join(dir, `tapes/link${i}`));
    for (const root of [join(dir, 'tapes'), join(dir, 'tapes/'), join(dir, 'tapes/link0')])
      for (const [i, place] of places.entries()) {
        const found = () => allowedPath([root], `link${i}`);
        if (`${place}/`.startsWith('tapes/')) expect(found()).toBe(join(dir, place));
        else expect(found, place).toThrow(/no such file below the folders/);
      }
    expect(allowedPath(['/'], dir.slice(1))).toBe(dir);
  });

  test('of addresses keep the token on this machine or behind TLS', () => {
    for (const url of [
      'http://192.168.0.1:9465',
      'http://evil.example',
      'ftp://127.0.0.1',
      'x',
      'http://127.0.0.1.evil.example',
    ])
      expect(() => new AgentConsole(url, new Secret(VIEWER))).toThrow(/--console: expected an address/);
    for (const url of ['http://127.0.0.1:9465', 'http://localhost:1', 'http://[::1]:1', 'https://desk.example'])
      expect(() => new AgentConsole(url, new Secret(VIEWER))).not.toThrow();
  });
});

test('a search prefers sections with more of the words, and bounds its excerpts', () => {
  const hits = searchDocs(pages, 'pause reduce halt', 10);
  expect(hits).toHaveLength(10);
  expect(hits.map(({ page }) => page)).toContain('actions');
  for (const { excerpt } of hits) expect(excerpt.length).toBeLessThanOrEqual(1_200);
  expect(searchDocs(pages, '....', 10).length).toBeLessThanOrEqual(10);
});

describe('JSON for an agent', () => {
  test('marks what was cut, in lists, objects and texts', () => {
    expect(plainJson([1, 2, 3], { text: 10, items: 2, depth: 2 })).toEqual([1, 2, '… (1 more, cut)']);
    expect(plainJson({ a: 1, b: 2, c: 3 }, { text: 10, items: 2, depth: 2 })).toEqual({
      ...{ a: 1, b: 2 },
      '…': '… (1 more, cut)',
    });
    expect(plainJson([1, 2], { text: 10, items: 2, depth: 2 })).toEqual([1, 2]);
  });
});

describe('the list of proposals', () => {
  test('can be answered with as many as there can be, with the longest previews, reasons and results', async () => {
    const dir = folders.fresh();
    mkdirSync(dir, { mode: 0o700 });
    const clock = new VirtualClock();
    const long = Array.from({ length: 200 }, () => '"'.repeat(600));
    const proposals = apiProposals({ stateDir: dir }, clock, async () => long);
    const request = { action: 'halt', reason: '"'.repeat(500), agent: '"'.repeat(100), minutes: null };
    for (let at = 0; at < 27; at++) {
      if (at <= 22) await clock.advance(PROPOSAL_MS);
      else await clock.advance(10_000);
      await proposals.propose(request);
    }
    const all = proposals.list(20) as { state: string; preview?: readonly string[] }[];
    expect(all).toHaveLength(20);
    expect(all.filter(({ state }) => state === 'open')).toHaveLength(5);
    for (const { state, preview } of all) expect(preview !== undefined).toBe(state === 'open');
    expect(all[0]!.preview!.at(-1)).toMatch(/^and \d+ more lines$/);
    expect(JSON.stringify(plainJson(all)).length).toBeLessThan(ANSWER_MAX - 1_000);
    expect(proposals.list(1)).toHaveLength(5);
  });
});

describe('a backtest', () => {
  /** A program that answers as the backtest does, with its arguments and the text of its configuration. */
  const scene = (script: string) => {
    const dir = folders.fresh();
    const root = join(dir, 'allowed');
    mkdirSync(join(root, 'tape'), { recursive: true });
    const main = join(dir, 'main.cjs');
    writeFileSync(main, script);
    return {
      ...{ dir, root },
      tool: new BacktestTool({ main, folders: [root], environment: {}, clock: realClock() }),
      signal: new AbortController().signal,
    };
  };
  const shipped = readFileSync(shippedConfig('sandbox'), 'utf8');

  test('returns its result without the configuration and without absolute paths', async () => {
    const { root, tool, signal } = scene(`
      const { readFileSync } = require('node:fs');
      const at = flag => process.argv[process.argv.indexOf(flag) + 1];
      const config = readFileSync(at('-c'), 'utf8');
      console.log(JSON.stringify({ book: 'btc_mxn', tape: { source: at('--tape') }, config }));
      process.disconnect();`);
    writeFileSync(join(root, 'my.yaml'), `${shipped}\nalerts: { webhook: { url: https://a.example/the-secret } }\n`);
    const told = await tool.run({ tape: 'tape', configuration: 'my.yaml' }, signal);
    expect(told).toEqual({ book: 'btc_mxn', tape: { source: 'tape' } });
  });

  test('refuses a strategy file in any of several books, and does not start', async () => {
    const { dir, root, tool, signal } = scene(
      "require('node:fs').writeFileSync(require('node:path').join(__dirname, 'started'), ''); process.disconnect();",
    );
    const desk = parse(readFileSync(shippedConfig('desk'), 'utf8')) as { books: object[] };
    const books = desk.books.with(1, { ...desk.books[1], strategy: { file: './own.ts', amount: '0.1' } });
    writeFileSync(join(root, 'desk.yaml'), stringify({ ...desk, books }));
    await expect(tool.run({ tape: 'tape', configuration: 'desk.yaml' }, signal)).rejects.toThrow(
      'desk.yaml: a strategy from a file is code, which this tool does not run',
    );
    expect(existsSync(join(dir, 'started'))).toBe(false);
  });

  test('does not run a strategy file that replaces the strategy after the check', async () => {
    const program = fileURLToPath(new URL('../../../dist/src/main.js', import.meta.url));
    const { root, tool, signal } = scene(`
      const { writeFileSync } = require('node:fs');
      const yaml = process.argv[process.argv.indexOf('-c') + 1];
      writeFileSync(yaml, ${JSON.stringify(stringify({ ...(parse(shipped) as object), strategy: { file: './own.ts', amount: '0.006' } }))});
      import(${JSON.stringify(program)});`);
    const marker = join(root, 'was-run');
    writeFileSync(
      join(root, 'own.ts'),
      `process.getBuiltinModule('node:fs').writeFileSync(${JSON.stringify(marker)}, '');`,
    );
    writeFileSync(join(root, 'my.yaml'), shipped);
    await expect(tool.run({ tape: 'tape', configuration: 'my.yaml' }, signal)).rejects.toThrow(
      './own.ts: a strategy file is code, which a backtest with --no-strategy-files does not run',
    );
    expect(existsSync(marker)).toBe(false);
  });

  test('that fails tells its error without absolute paths', async () => {
    const { tool, signal } = scene(`
      process.stderr.write(process.argv.join(' ').replace(process.argv[1], '') + ': no recording');
      process.exitCode = 2;
      process.disconnect();`);
    await expect(tool.run({ tape: 'tape' }, signal)).rejects.toThrow(/^\S+ +backtest --tape tape .*: no recording$/);
  });

  test.each<[string, string, RegExp]>([
    ['viewer.token', 'x', /expected a file that ends in \.yaml or \.yml/],
    [
      'bad.yaml',
      'book: [the-secret',
      /^bad\.yaml: the configuration has errors; an operator can list them with puntas check$/,
    ],
    ['own.yaml', 'strategy: { file: ./own.js }', /the configuration has errors|a strategy from a file/],
  ])('of the configuration %s does not start', async (name, text, why) => {
    const { root, tool, signal } = scene(`require('node:fs').writeFileSync(__dirname + '/started', '')`);
    writeFileSync(join(root, name), text);
    await expect(tool.run({ tape: 'tape', configuration: name }, signal)).rejects.toThrow(why);
    expect(readdirSync(join(root, '..'))).not.toContain('started');
  });

  test('of a link to another file does not start', async () => {
    const { root, tool, signal } = scene('');
    writeFileSync(join(root, 'viewer.token'), 'x');
    symlinkSync(join(root, 'viewer.token'), join(root, 'my.yaml'));
    await expect(tool.run({ tape: 'tape', configuration: 'my.yaml' }, signal)).rejects.toThrow(/ends in \.yaml/);
  });
});

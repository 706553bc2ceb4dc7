/** `puntas init` as a process: what it writes is accepted, what it was not told is said, and nothing is overwritten. */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { init } from '../../src/app/develop/init.ts';
import { QUESTION_NAMES, type QuestionName } from '../../src/app/develop/initQuestions.ts';
import { realClock } from '../../src/live/realClock.ts';
import { memoryLog } from '../memoryLog.ts';
import { openExchange, type EmbeddedExchange } from './embeddedExchange.ts';
import { Bench, ran } from './program.ts';

type Written = {
  readonly book: string;
  readonly exchange: Readonly<Record<string, string>>;
  readonly strategy: Readonly<Record<string, unknown>>;
  readonly limits: Readonly<Record<string, unknown>>;
  readonly inventory?: { readonly target: string };
};

const bench = new Bench();
let exchange: EmbeddedExchange;
beforeAll(async () => {
  exchange = await openExchange(bench.config());
});
afterAll(async () => {
  await exchange.close();
  bench.clear();
});

const inProcess = () => ({ say: () => undefined, clock: realClock(), seed: 1, openLog: () => memoryLog().log });
const keys = () => exchange.keys;
const written = (file: string) => parse(readFileSync(file, 'utf8')) as Written;

test.each(['btc_mxn', 'xrp_mxn', 'usd_mxn'])(
  'what it proposes for %s on the embedded exchange is accepted, and each proposal is told',
  async book => {
    const file = bench.path(`${book}.yaml`);
    const made = await ran(['init', file, '--book', book, '--yes']);
    expect([made.code, made.stdout]).toEqual([0, expect.stringContaining(`written: ${file}`)]);
    expect(made.stderr.match(/^--[a-z-]+ \S+ \(proposed: .+\)$/gm)).toHaveLength(9);
    const text = readFileSync(file, 'utf8');
    expect(text.match(/\(proposed:/g)).toHaveLength(9);
    expect(text).toMatch(/# Read from the exchange: .*maker fee 0\.1/);
    const checked = await ran(['check', '-c', file]);
    expect([checked.code, checked.stderr.includes('unknown key')]).toEqual([0, false]);
    expect(checked.stdout.match(/^ {2}(bid|ask) .* at /gm)).toHaveLength(4);
  },
);

test.each(['123', '007', '1e5', '0x1F', 'true', 'null', 'mm1'])(
  'the name %s stands in it as text, although YAML could read another value',
  async instance => {
    const file = bench.path(`named-${instance}.yaml`);
    const given = { exchange: 'embedded', book: 'btc_mxn', instance };
    expect(await init({ file, given, ask: null, ...inProcess() })).toBeNull();
    expect(written(file)).toMatchObject({ instance, state: { dir: `./state-${instance}` } });
  },
);

test('answers by flags stand in it as they were said, the fees are those of the key, and the doctor passes it', async () => {
  const file = bench.path('own.yaml');
  const flags = {
    exchange: exchange.url,
    stream: exchange.stream,
    book: 'btc_mxn',
    instance: 'own',
    levels: '3',
    target: '1.5',
  };
  const more = {
    'half-spread': '12.5',
    amount: '0.002',
    'position-max': '0.1',
    'drawdown-max': '900',
    'day-loss-max': '800',
  };
  const args = Object.entries({ ...flags, ...more }).flatMap(([name, value]) => [`--${name}`, value]);
  const made = await ran(['init', file, ...args], keys());
  expect([made.code, made.stderr.includes('you hold 1.5')]).toEqual([0, true]);
  const tree = written(file);
  expect(tree).toMatchObject({
    ...{ book: 'btc_mxn', instance: 'own', inventory: { target: '1.5' }, state: { dir: './state-own' } },
    exchange: { kind: 'remote', restUrl: exchange.url, streamUrl: exchange.stream },
    strategy: { halfSpreadBps: 12.5, levels: 3, amount: '0.002' },
    limits: { positionMax: '0.1', drawdownMax: '900', dayLossMax: '800', ordersMax: 10 },
  });
  expect(readFileSync(file, 'utf8')).not.toMatch(new RegExp(`${Object.values(exchange.keys).join('|')}|\\(proposed:`));
  const before = readFileSync(file, 'utf8');
  const again = await ran(['init', file, ...args], keys());
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('is not overwritten')]);
  expect(readFileSync(file, 'utf8')).toBe(before);
  const looked = await ran(['doctor', '-c', file, '--json'], keys());
  const { findings } = JSON.parse(looked.stdout) as { findings: readonly { check: string; result: string }[] };
  // Its metrics are on the usual port, which another test may have.
  expect(findings.filter(({ check, result }) => result === 'fail' && check !== 'metrics')).toEqual([]);
});

test('without a key the fee of the entry tier is taken, and said to be that', async () => {
  const file = bench.path('keyless.yaml');
  const made = await ran(['init', file, '--exchange', exchange.url, '--book', 'btc_mxn', '--yes']);
  expect([made.code, made.stderr]).toEqual([
    0,
    expect.stringMatching(/\(first fee tier\); to read the fee of your account, set its API key/),
  ]);
  expect(written(file).strategy['halfSpreadBps']).toBeGreaterThan(30);
});

/** Its metrics are on the usual port, which another test may have. */
const onFreePort = (file: string) => appendFileSync(file, 'metrics: { port: 0 }\n');

test.each([
  ['without a key', false, []],
  ['with a key, at its fees', true, []],
  ['with a target, from which it starts', false, ['--target', '1.5']],
])('what it writes %s also runs on paper, with quotes on both sides, as it says', async (name, isKeyed, flags) => {
  const file = bench.path(`paper-${name.length}.yaml`);
  const args = ['--exchange', exchange.url, '--stream', exchange.stream, '--book', 'btc_mxn', '--yes', ...flags];
  const made = await ran(['init', file, ...args], isKeyed ? keys() : {});
  expect(made.stdout).toContain(`puntas run --paper -c ${file}`);
  expect(made.stdout.includes('check --paper')).toBe(!isKeyed);
  const { instance, paper } = parse(readFileSync(file, 'utf8')) as { instance: string; paper: object };
  expect(paper).toMatchObject({ stateDir: `./state-${instance}-paper` });
  onFreePort(file);
  const checked = await ran(['check', '--paper', '-c', file]);
  expect([checked.code, checked.stdout.match(/^ {2}(bid|ask) .* at /gm)?.length]).toEqual([0, 4]);
  expect(checked.stdout).not.toContain('not placed');
  const run = await ran(['run', '--paper', '-c', file, '--for', '5s', '--json']);
  const summary = JSON.parse(run.stdout) as { orders: { placed: number } };
  expect([run.code, summary]).toMatchObject([0, { orders: { refused: 0 }, openOrdersLeft: 0, ledgerMatches: true }]);
  expect(summary.orders.placed).toBeGreaterThanOrEqual(4);
});

test('each of the ten is asked in turn, and again where the answer cannot be', async () => {
  const file = bench.path('asked.yaml');
  const answers = [
    '',
    'gold',
    'xrp_mxn',
    'two words',
    'x1',
    '',
    '11',
    '1',
    '2,5',
    '2000000',
    '',
    '0',
    '',
    '',
    '-1',
    '7',
  ];
  const asked: (readonly [string, string | null])[] = [];
  const said: string[] = [];
  const problem = await init({
    ...{ ...inProcess(), file, given: {} },
    say: line => said.push(line),
    ask: ({ name }, wrong) => {
      asked.push([name, wrong]);
      return Promise.resolve(answers[asked.length - 1] ?? 'no answer is left');
    },
  });
  expect(asked.filter(([, wrong]) => wrong === null).map(([name]) => name)).toEqual(QUESTION_NAMES);
  expect(asked.flatMap(([, wrong]) => wrong ?? [])).toEqual([
    'expected <base>_<quote>, like btc_mxn',
    'expected 1 to 12 letters and digits, like mm1',
    'expected a whole number from 1 to 10',
    'expected an amount above zero, like 2000 or 0.01',
    'expected an amount above zero, like 2000 or 0.01',
    'expected an amount like 0.5, or found for the holdings at the first start',
  ]);
  expect(said).toContainEqual(
    expect.stringMatching(/orders of one side need 2000000 xrp.*worth only 50000 xrp; deposit more/),
  );
  expect(problem).toMatch(/^the bot would not quote: no bid: insufficient funds/);
  expect(written(file)).toMatchObject({
    ...{ book: 'xrp_mxn', instance: 'x1', inventory: { target: '7' } },
    exchange: { kind: 'embedded', balances: { xrp: '50000', mxn: '2000000' } },
    strategy: { levels: 1, amount: '2000000' },
  });
});

test('a bot whose state or configuration is there already is not proposed again, and named where it is taken', async () => {
  const path = (name: string) => join(bench.path('named'), name);
  for (const name of ['state-mm1', 'state-mm2-paper']) mkdirSync(path(name), { recursive: true });
  const flags = ['--book', 'btc_mxn', '--yes'];
  for (const [i, name] of ['mm3', 'mm4'].entries()) {
    const { stderr } = await ran(['init', path(`${i}.yaml`), ...flags]);
    expect([stderr.includes(`--instance ${name} (proposed`), stderr.includes('already exists')]).toEqual([true, false]);
  }
  for (const [name, state] of [
    ['mm1', 'state-mm1'],
    ['mm2', 'state-mm2-paper'],
  ] as const) {
    const taken = await ran(['init', path(`other-${name}.yaml`), '--instance', name, ...flags]);
    expect(taken.stderr).toContain(`${state} already exists; the new bot continues with this state`);
  }
});

test('with nobody to be asked, what is missing is named', async () => {
  const file = bench.path('nobody.yaml');
  const { code, stderr, stdout } = await ran(['init', file, '--levels', '2']);
  expect([code, stdout, existsSync(file)]).toEqual([2, '', false]);
  expect(stderr).toMatch(/no terminal to ask the questions; pass --exchange, --book, .* or --yes/);
});

describe('what cannot be is refused with what could, and nothing is written', () => {
  const [book, nowhere] = ['btc_mxn', 'http://127.0.0.1:1'];
  test.each<[string, Partial<Record<QuestionName | 'stream' | 'file', string>>, RegExp]>([
    ['no book', {}, /--book is required: book to trade/],
    [
      'a book that is not there',
      { book: 'btc_eur' },
      /btc_eur is not traded at this exchange; expected one of .*btc_mxn/,
    ],
    ['no exchange', { book, exchange: 'mars' }, /--exchange mars: expected embedded, live or an address/],
    ['plain text to another machine', { exchange: 'http://example.com' }, /expected an encrypted address/],
    ['a stream in plain text', { exchange: nowhere, stream: 'ws://example.com' }, /--stream ws:.*encrypted/],
    ['a port nobody listens on', { exchange: nowhere, book }, /ECONNREFUSED/],
    ['a spread below the fee', { book, 'half-spread': '9' }, /at least 10\.5 bps, which is 0\.5 bps above/],
    ['too small an order', { book, amount: '0.0000001' }, /rejects orders below 0\.0000/],
    ['a limit below one side', { book, 'position-max': '0.00001' }, /at least the sum of all orders of one side/],
    [
      'a folder that is not there',
      { book, file: 'nowhere/new.yaml' },
      /nowhere\/new\.yaml cannot be written: no such file/,
    ],
  ])('%s', async (_, { file: name = 'none.yaml', stream, ...given }, says) => {
    const file = bench.path(name);
    const refused = init({ file, given, ...(stream !== undefined && { stream }), ask: null, ...inProcess() });
    await expect(refused).rejects.toThrow(says);
    expect(existsSync(file)).toBe(false);
  });
});

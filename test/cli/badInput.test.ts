import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openExchange, type EmbeddedExchange } from './embeddedExchange.ts';
import { keysOf } from './jsonPage.ts';
import { Bench, complaints, puntas, ran, ROOT } from './program.ts';

const bench = new Bench();
const taken = createServer();
let port = 0;
let exchange: EmbeddedExchange;

beforeAll(async () => {
  await new Promise<void>(resolve => taken.listen(0, '127.0.0.1', resolve));
  port = (taken.address() as AddressInfo).port;
  exchange = await openExchange(bench.config());
  expect(Object.keys(exchange.face)).toEqual(keysOf('exchange').filter(key => !/^(books$|elsewhere)/.test(key)));
});

test('puntas exchange prints the keys that its page lists, those of a second exchange and of several books too', async () => {
  const several = replaced('    kind: flow\n', '    kind: flow\n    books: { btc_usd: {} }\n');
  const two = puntas(['exchange', '--port', '0', '-c', bench.config('elsewhere', several)]);
  const [line] = await two.sees(/\{"url".*\}/);
  two.signal('SIGTERM');
  await two.ended;
  const face = JSON.parse(line) as { books: string };
  expect(Object.keys(face).sort()).toEqual([...keysOf('exchange')].sort());
  expect(face.books.split(',').sort()).toEqual(['btc_mxn', 'btc_usd', 'usdt_mxn']);
});

afterAll(async () => {
  taken.close();
  await exchange.close();
  bench.clear();
});

const replaced = (from: RegExp | string, to: string) => (text: string) => {
  const changed = text.replace(from, to);
  if (changed === text) throw new Error(`${from} is not in the configuration`);
  return changed;
};
const sandbox = (from: RegExp | string, to: string) => bench.config('sandbox', replaced(from, to));
/** The live configuration, pointed at the exchange that runs beside. */
const live = (change: (text: string) => string = text => text) =>
  bench.config('live', text =>
    change(text.replace('https://api.bitso.com', exchange.url).replace(/^ *streamUrl:.*\n/m, '')),
  );
const keys = (changes: Readonly<Record<string, string>> = {}) => ({
  ...exchange.keys,
  ...changes,
});

type Case = {
  readonly args: () => readonly string[];
  readonly env?: () => Readonly<Record<string, string>>;
  readonly code: number;
  /** What the one line says: what is wrong, and what to do. */
  readonly says: RegExp;
};

const run = (file: string) => ['run', '-c', file, '--for', '2s', '--json'];

const CASES: Readonly<Record<string, Case>> = {
  'broken YAML': {
    args: () => run(sandbox('book: btc_mxn', 'book: [btc_mxn')),
    code: 2,
    says: /\.yaml:\d+:\d+ not valid YAML: /,
  },
  'a tab in YAML, after which a parser is lost': {
    args: () => run(sandbox('  seed: 5', '\tseed: 5')),
    code: 2,
    says: /\.yaml:\d+:\d+ not valid YAML: Tabs are not allowed/,
  },
  'an unknown key': {
    args: () => run(sandbox('instance:', 'instanse:')),
    code: 2,
    says: /instanse: unknown key; did you mean instance\?/,
  },
  'a number where money text is asked': {
    args: () => run(sandbox('amount: "0.004"', 'amount: 0.004')),
    code: 2,
    says: /strategy\.amount: expected text in quotes, found 0\.004, an unquoted number; write amount: "0\.004"/,
  },
  'a book that the embedded exchange has no market for': {
    args: () => run(sandbox(/book: btc_mxn([^]*balances:\n)/, 'book: doge_mxn$1    doge: "1"\n')),
    code: 2,
    says: /no market for doge_mxn; expected one of btc_mxn, .*--tape DIR/,
  },
  'a book that the exchange does not trade': {
    args: () => run(live(replaced('book: btc_mxn', 'book: doge_mxn'))),
    env: keys,
    code: 2,
    says: /book doge_mxn is not traded at this exchange; expected one of .*btc_mxn/,
  },
  'a missing limit': {
    args: () => run(sandbox(/ *orderValueMax:.*\n/, '')),
    code: 2,
    says: /limits\.orderValueMax: missing; required to trade the book/,
  },
  'no limits at all': {
    args: () => run(sandbox(/limits:\n(?: {2}.*\n)+/, '')),
    code: 2,
    says: /limits: missing/,
  },
  'a spread below the fees': {
    args: () => run(sandbox(/halfSpreadBps: [\d.]+/, 'halfSpreadBps: 9')),
    code: 2,
    says: /spread of 18 bps .* below both maker fees \(together 20 bps\) plus minEdgeBps 1; widen the spread to at least 21 bps/,
  },
  'a spread below the fees, asked by check': {
    args: () => ['check', '-c', sandbox(/halfSpreadBps: [\d.]+/, 'halfSpreadBps: 9')],
    code: 2,
    says: /widen the spread to at least 21 bps/,
  },
  'a busy port for metrics': {
    args: () => run(sandbox('metrics:\n  port: 0', `metrics:\n  port: ${port}`)),
    code: 2,
    says: /metrics: port 127\.0\.0\.1:\d+ is in use by another process; set metrics\.port to another port, or start with --metrics-port 0/,
  },
  'a seed for a remote exchange': {
    args: () => [...run(live()), '--seed', '7'],
    env: keys,
    code: 2,
    says: /^--seed needs the embedded exchange; a remote exchange has no seed/,
  },
  'a busy port for the embedded exchange': {
    args: () => run(sandbox('  seed: 5', `  seed: 5\n  port: ${port}`)),
    code: 2,
    says: /cannot listen on 127\.0\.0\.1:\d+: the port is in use by another program; choose another port with exchange\.port/,
  },
  'a busy port for the exchange alone': {
    args: () => ['exchange', '--port', String(port)],
    code: 2,
    says: /the port is in use by another program; choose another port with --port/,
  },
  'a key that the exchange does not know': {
    args: () => run(live()),
    env: () => keys({ PUNTAS_API_KEY: 'nobodysKey12' }),
    code: 2,
    says: /rejected by the exchange \(0201: .*\); check that PUNTAS_API_KEY is an active key of this exchange/,
  },
  'a secret that is not the key’s': {
    args: () => run(live()),
    env: () => keys({ PUNTAS_API_SECRET: 'canaryOfAnotherKey' }),
    code: 2,
    says: /rejected by the exchange \(0215: .*\); check that PUNTAS_API_SECRET is the secret of PUNTAS_API_KEY/,
  },
  'a key and a secret that are missing': {
    args: () => run(live()),
    code: 2,
    says: /no API key in the environment; set PUNTAS_API_KEY and PUNTAS_API_SECRET, .*, or add --paper/,
  },
  'a secret that is missing': {
    args: () => run(live()),
    env: () => ({ PUNTAS_API_KEY: exchange.keys.PUNTAS_API_KEY }),
    code: 2,
    says: /PUNTAS_API_SECRET is not set; set it to the value, or PUNTAS_API_SECRET_FILE to the path of a file with the value/,
  },
  'a secret in the file': {
    args: () => run(live(text => `${text}apiSecret: canary\n`)),
    env: keys,
    code: 2,
    says: /apiSecret: secrets do not belong in this file: set PUNTAS_API_KEY/,
  },
  'an exchange that is not there': {
    args: () => run(live(replaced(/restUrl: .*/, 'restUrl: http://127.0.0.1:9'))),
    env: keys,
    code: 1,
    says: /cannot read available_books: request not sent \(not-sent: .*ECONNREFUSED.*\); check exchange\.restUrl/,
  },
  'a tape folder that is missing': {
    args: () => ['run', '--tape', bench.path('nowhere')],
    code: 2,
    says: /nowhere: no such file or folder/,
  },
  'a tape folder that holds no recording': {
    args: () => ['run', '--tape', `${ROOT}/docs`],
    code: 2,
    says: /docs: no known recording format; known formats: /,
  },
  'a configuration that is missing': {
    args: () => ['run', '-c', bench.path('nowhere.yaml')],
    code: 2,
    says: /nowhere\.yaml: no such file; pass a YAML file with -c FILE/,
  },
  'a duration without a unit': {
    args: () => ['run', '--for', '5'],
    code: 2,
    says: /'--for <duration>' argument '5' is invalid\. expected a duration like 60s, 10m or 2h \(see (?:npx )?puntas run --help\)/,
  },
  'a configuration without -c': {
    args: () => ['run', 'my.yaml'],
    code: 2,
    says: /too many arguments for 'run'\. Expected 0 arguments but got 1; did you mean -c my\.yaml\? \(see (?:npx )?puntas run --help\)/,
  },
  'a second configuration without -c': {
    args: () => ['run', '-c', 'my.yaml', 'your.yaml'],
    code: 2,
    says: /Expected 0 arguments but got 1 \(see (?:npx )?puntas run --help\)/,
  },
  'an unknown command': {
    args: () => ['frob'],
    code: 2,
    says: /unknown command 'frob' \(see (?:npx )?puntas --help\)/,
  },
  'a book that no recording and no configuration has': {
    args: () => ['exchange', '--book', 'eth_mxn', '--port', '0'],
    code: 2,
    says: /--book eth_mxn: without --tape, the book is btc_mxn, from .*sandbox\.yaml; add --tape .*, or -c /,
  },
  'a built-in market beside a recording': {
    args: () => ['calibrate', '--tape', bench.dir, '--flow-seconds', '60'],
    code: 2,
    says: /option '--flow-seconds <n>' cannot be used with option '--tape <dir>'/,
  },
  'a state folder that cannot be made': {
    args: () => ['run', '-c', bench.config(), '--state', `${bench.file('a-file', '')}/state`],
    code: 2,
    says: /a-file\/state/,
  },
};

describe('wrong input ends in one clear line and a code', () => {
  test.each(Object.entries(CASES))('%s', async (_, { args, env, code, says }) => {
    const ended = await ran(args(), env?.() ?? {});
    expect(complaints(ended)).toEqual([expect.stringMatching(says)]);
    expect(ended.stderr).not.toMatch(/^\s+at |canary/m);
    expect(ended.code).toBe(code);
    expect(ended.stdout).toBe('');
  });

  test('paper with a spread below the fees of a new account, and how to go on', async () => {
    const near = (text: string) => text.replace('halfSpreadBps: 65', 'halfSpreadBps: 20');
    const ended = await ran(['check', '--paper', '-c', live(near)]);
    expect(ended.code).toBe(2);
    const said = complaints(ended).join('\n');
    expect(said).toMatch(/the spread of 40 bps .* is below both maker fees .*; widen the spread to at least \d/);
    expect(said).toMatch(/the fees of an account with a 30-day volume of 0 \(paper\.volume30d\)/);
    expect(said).toMatch(/to continue, widen the spread as described above, or .* a higher paper\.volume30d/);
  });

  test('a second instance on the state of the first', async () => {
    const file = bench.config();
    const first = puntas(['run', '-c', file]);
    await first.sees(/"quoting"/);
    const second = await ran(['run', '-c', file, '--for', '2s']);
    expect(complaints(second)).toEqual([
      expect.stringMatching(/the state directory is in use by another process .*state\.dir/),
    ]);
    expect(second.code).toBe(2);
    first.signal('SIGTERM');
    expect((await first.ended).code).toBe(0);
  });
});

/** `puntas doctor` as a process, on the embedded exchange as a process: what is wrong is said, with what to do; its order is sent once. */
import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { findingText } from '../../src/cli/commands/setup.ts';
import { clockFinding } from '../../src/app/doctor/clockFinding.ts';
import { ClockGap } from '../../src/messages/clockGap.ts';
import type { Finding } from '../../src/app/doctor/finding.ts';
import { withOpenHedge } from '../live/openHedge.ts';
import { openExchange, type EmbeddedExchange } from './embeddedExchange.ts';
import { keysOf } from './jsonPage.ts';
import { Bench, printed, puntas, ran } from './program.ts';

type Told = { readonly pass: number; readonly fail: number; readonly findings: readonly Finding[]; left: string[] };
type Account = { readonly id: string; readonly key: string; readonly secret: string };

const bench = new Bench();
let exchange: EmbeddedExchange;
let account: Account;

const open = async (): Promise<Account> =>
  (await exchange.operate('POST', 'accounts', { balances: { btc: '1', mxn: '1000000' } })) as Account;

beforeAll(async () => {
  exchange = await openExchange(bench.config());
  account = await open();
});

afterAll(async () => {
  await exchange.close();
  bench.clear();
});

/** The live configuration at the exchange that runs beside. */
const live = (from: RegExp | string = /$^/, to = '', url = exchange.url) =>
  bench.config('live', text =>
    text
      .replace('https://api.bitso.com', url)
      .replace(/streamUrl: .*/, `streamUrl: ${exchange.stream}`)
      .replace(from, to),
  );
const keys = ({ key, secret }: Account) => ({ PUNTAS_API_KEY: key, PUNTAS_API_SECRET: secret });
const asked = async (config: string, flags: readonly string[] = [], of = account) => {
  const ended = await ran(['doctor', '-c', config, '--json', ...flags], keys(of));
  const told = printed(ended) as Told;
  return { code: ended.code, told, of: (check: string) => told.findings.filter(found => found.check === check) };
};

test('a variable that the configuration does not need, or with a wrong name, is a warning without its value', async () => {
  const wrong = { PUNTAS_TELEGRAM_TOKEN: 'canary', PUNTAS_ALERT_WEBHOOK_SECRETS: 'canary' };
  const ended = await ran(['doctor', '-c', live(), '--json'], { ...keys(account), ...wrong });
  // The checks of CI have variables of their own.
  const found = (printed(ended) as Told).findings.filter(
    ({ check, says }) => check === 'environment' && Object.keys(wrong).some(name => says.startsWith(`${name} `)),
  );
  expect(found.map(({ result, says }) => `${result}: ${says}`).sort()).toEqual([
    'warn: PUNTAS_ALERT_WEBHOOK_SECRETS is not read; the nearest known name is PUNTAS_ALERT_WEBHOOK_SECRET',
    'warn: PUNTAS_TELEGRAM_TOKEN is not read, because the configuration lacks alerts.telegram',
  ]);
  expect(ended.stdout).not.toContain('canary');
});

test('a bot that can start passes; what cannot be known, and what it lacks, are warnings', async () => {
  const { code, told, of } = await asked(live());
  expect(told.findings.filter(({ result }) => result === 'fail')).toEqual([]);
  expect(code).toBe(0);
  expect(Object.keys(told)).toEqual(keysOf('doctor --json').slice(0, 5));
  expect(Object.keys(told.findings[0]!)).toEqual(keysOf('doctor --json').slice(5));
  for (const check of ['sentinel', 'secrets', 'withdrawals']) expect(of(check)[0]?.result).toBe('warn');
  for (const check of ['state', 'key', 'book', "bids' money", "asks' money", 'spread', 'clock', 'requests'])
    expect([check, of(check)[0]?.result]).toEqual([check, 'pass']);
  // A slow disk is a warning, and other programs may be at it.
  expect(of('disk sync')[0]?.says).toMatch(/\d ms/);
  expect(of('stream')[0]?.says).toMatch(/^the stream opens/);
  expect(of('order')).toEqual([]);
});

describe('what is wrong fails, with what to do', () => {
  test.each<[string, [RegExp | string, string], string, RegExp]>([
    ['too little money', [/amount: "?0.0005"?/, "amount: '1'"], "asks' money", /need 2 btc; the balance is 1 btc/],
    ['an order below the minimum', [/amount: "?0.0005"?/, "amount: '0.00000001'"], 'book', /below the minimum/],
    ['a spread below the fees', [/halfSpreadBps: 65/, 'halfSpreadBps: 6'], 'spread', /below both maker fees/],
    [
      'budgets above what is allowed',
      [/privatePerMinute: 200/, 'privatePerMinute: 900'],
      'requests',
      /the exchange allows 60 public and 300 private requests/,
    ],
    ['a sentinel that is needed', [/$/, '\nsentinel: { required: true }\n'], 'sentinel', /the bot would not quote/],
  ])('%s', async (_, [from, to], check, says) => {
    const wide = (text: string) =>
      text.replace(/positionMax: .*/, 'positionMax: "9"').replace(/orderValueMax: .*/, 'orderValueMax: "9000000"');
    const config = live(from, to);
    const { code, of } = await asked(bench.file(`${check}.yaml`, wide(readFileSync(config, 'utf8'))));
    expect(of(check).map(({ result, says: said }) => [result, said])).toContainEqual([
      'fail',
      expect.stringMatching(says),
    ]);
    expect(of(check).find(({ result }) => result === 'fail')?.todo).not.toBeNull();
    expect(code).toBe(1);
  });

  test('a port that is taken, a halt, and a key that others can read; the rest is looked at all the same', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise(resolve => taken.once('listening', resolve));
    const { port } = taken.address() as AddressInfo;
    const config = live(/port: 0/, `port: ${port}`);
    await ran(['halt', '-c', config, '--reason', 'for the test']);
    const [key, secret] = [bench.file('key', account.key), bench.file('secret', account.secret)];
    chmodSync(key, 0o600);
    chmodSync(secret, 0o644);
    const environment = { PUNTAS_API_KEY_FILE: key, PUNTAS_API_SECRET_FILE: secret };
    const told = printed(await ran(['doctor', '-c', config, '--json'], environment)) as Told;
    taken.close();
    const failed = told.findings.filter(({ result }) => result === 'fail');
    expect(failed.map(({ check }) => check)).toEqual(['halt', 'metrics', 'key']);
    expect(failed.map(({ says, todo }) => `${says} -> ${todo}`).join('\n')).toMatch(
      /for the test -> .*puntas resume -c[^]*EADDRINUSE -> choose another metrics\.port[^]*chmod 600/,
    );
    expect(told.findings.map(({ check }) => check)).toContain('clock');
  });

  test('a directory that others can look into is a warning, and without a key each name is told', async () => {
    const config = live();
    const dir = /dir: (.*)/.exec(readFileSync(config, 'utf8'))![1]!;
    mkdirSync(dir);
    chmodSync(dir, 0o755);
    const told = printed(await ran(['doctor', '-c', config, '--json'])) as Told;
    const found = (check: string) => told.findings.find(one => one.check === check);
    expect(found('state')).toMatchObject({ result: 'warn', todo: `chmod 700 ${dir}` });
    expect(found('key')?.says).toMatch(/PUNTAS_API_KEY_FILE to the path .*; PUNTAS_API_SECRET is not set/);
  });

  test('a wrong secret, in a way that a person can act on', async () => {
    const { code, of } = await asked(live(), [], { ...account, secret: 'x'.repeat(32) });
    expect(of('account')[0]?.says).toMatch(/PUNTAS_API_SECRET is the secret of PUNTAS_API_KEY/);
    expect(code).toBe(1);
  });
});

test('orders of its own that live take nothing away: of a bot that runs, and of one that was killed', async () => {
  const small = (await exchange.operate('POST', 'accounts', { balances: { btc: '0.0012', mxn: '1800' } })) as Account;
  const config = live();
  const bot = puntas(['run', '-c', config], keys(small));
  await bot.sees(/bid \d+ .*ask \d+/);
  const looks = async () => {
    const { told, of } = await asked(config, [], small);
    expect(told.findings.filter(({ result }) => result === 'fail')).toEqual([]);
    expect(of('quotes').map(({ result }) => result)).toEqual(['pass']);
    return of;
  };
  expect((await looks())('state')[0]?.says).toMatch(/a bot is running with this directory/);
  bot.signal('SIGKILL');
  await bot.ended;
  expect((await looks())('left orders')).toHaveLength(1);
  const { stdout } = await ran(['check', '-c', config], keys(small));
  expect(stdout).toMatch(/^the live orders of first \(\d\) are treated as canceled/m);
  expect(stdout).not.toMatch(/halt at once|not placed/);
});

describe('the order', () => {
  test('is placed for nobody who was not asked', async () => {
    const { code, stderr } = await ran(['doctor', '-c', live(), '--order'], keys(account));
    expect([code, stderr]).toEqual([2, expect.stringMatching(/a real order.*add --yes/)]);
  });

  test('is accepted, canceled and verified, and its run can be replayed', async () => {
    const config = live();
    const { code, told, of } = await asked(config, ['--order', '--yes']);
    expect(of('order')[0]).toMatchObject({
      result: 'pass',
      says: expect.stringMatching(
        /^buy 0\.0000\d+ btc at 1[234]\d{5} \(first-\d+-1\): accepted and canceled; two reads found no open orders/,
      ) as string,
    });
    expect([code, told.left]).toEqual([0, []]);
    const dir = /dir: (.*)/.exec(readFileSync(config, 'utf8'))![1]!;
    expect((await ran(['replay', dir])).stdout).toMatch(/all commands identical/);
    withOpenHedge(dir);
    const again = await asked(config, ['--order', '--yes']);
    expect(again.of('order')).toMatchObject([
      { result: 'warn', says: 'trial order not sent: hedge h-1 is still open' },
    ]);
    expect(again.told.left).toEqual([]);
  });

  test('that the exchange refuses for good halts, as a bot would, and says so', async () => {
    const closed = await open();
    await exchange.operate('PATCH', `accounts/${closed.id}`, { trading: false });
    const { code, of } = await asked(live(), ['--order', '--yes'], closed);
    expect(of('order')[0]?.says).toMatch(
      /-1\): trading is halted \(place was refused with .*\); two reads found no open orders/,
    );
    expect(code).toBe(1);
  });

  test('whose answer is lost is sent once, looked for, and said to be in doubt no more', async () => {
    let placements = 0;
    const proxy = createServer((incoming, outgoing) => {
      const { method, url = '', headers } = incoming;
      const isPlacement = method === 'POST' && url.endsWith('/orders');
      placements += Number(isPlacement);
      const onward = request(new URL(url, exchange.url), { method, headers }, reply => {
        if (isPlacement) incoming.socket.destroy();
        else {
          outgoing.writeHead(reply.statusCode ?? 500, reply.headers);
          reply.pipe(outgoing);
        }
      });
      incoming.pipe(onward);
    }).listen(0, '127.0.0.1');
    await new Promise(resolve => proxy.once('listening', resolve));
    const { port } = proxy.address() as AddressInfo;
    const short = { requestDelayMaxMs: 6_000, tradeReportDelayMaxMs: 1_000 };
    const tree = parse(readFileSync(live(/$^/, '', `http://127.0.0.1:${port}`), 'utf8')) as { timing: object };
    const config = bench.file('lost.yaml', stringify({ ...tree, timing: { ...tree.timing, ...short } }));
    const { code, told, of } = await asked(config, ['--order', '--yes'], await open());
    proxy.closeAllConnections();
    proxy.close();
    const failed = told.findings.filter(({ result }) => result === 'fail');
    expect({ failed, placements }).toEqual({ failed: [], placements: 1 });
    expect(of('order')[0]?.says).toMatch(
      /did not answer, and the order was not sent again; two reads found no open orders/,
    );
    expect(code).toBe(0);
  });
});

test('a clock is near, behind or ahead by what no answer contradicts', () => {
  const told = (...answers: readonly (readonly [answeredAt: number, now: number, ms: number])[]) => {
    const gap = new ClockGap();
    for (const [answeredAt, now, ms] of answers) gap.hear({ answeredAt, ms }, now);
    return `${clockFinding(gap).result}: ${clockFinding(gap).says}`;
  };
  expect(told([10_000, 10_900, 50])).toMatch(/^pass/);
  expect(told([10_000, 18_000, 50])).toBe("warn: this machine's clock is 7 s ahead of the exchange clock");
  expect(told([90_000, 18_000, 50])).toBe("fail: this machine's clock is 72 s behind the exchange clock");
  // A slow answer proves little, a quick one beside it more.
  expect(told([10_000, 18_000, 9_000])).toMatch(/^pass/);
  expect(told([10_000, 18_000, 9_000], [12_000, 20_000, 10])).toMatch(/^warn: this machine's clock is 7 s/);
  expect(told()).toMatch(/^warn: no answer/);
});

test('a finding fits 80 columns between words, and is has its columns in line', () => {
  const text = findingText(
    { check: "bids' money", result: 'fail', says: 'word '.repeat(40).trim(), todo: 'do '.repeat(30).trim() },
    80,
  );
  expect(Math.max(...text.split('\n').map(row => row.length))).toBeLessThan(80);
  expect(text).toMatch(/^fail {2}bids' money {4}word/);
  expect(findingText({ check: 'a', result: 'pass', says: 'fine', todo: null }, undefined)).toBe(
    'pass  a              fine',
  );
});

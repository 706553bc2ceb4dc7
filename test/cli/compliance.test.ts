/**
 * Tests of `puntas presence`, `surveillance` and `conformance` as processes: exit codes, documented JSON keys, files.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkText } from '../../src/cli/commands/conformance.ts';
import type { ConformanceCheck } from '../../src/core/index.ts';
import { openExchange } from './embeddedExchange.ts';
import { keysOf } from './jsonPage.ts';
import { Bench, printed, ran } from './program.ts';

const bench = new Bench();
afterAll(() => bench.clear());

describe('of a bot that has run', () => {
  let config: string;
  let state: string;
  beforeAll(async () => {
    config = bench.config();
    state = /dir: (\S*state-1)/.exec(readFileSync(config, 'utf8'))![1]!;
    expect((await ran(['run', '-c', config, '--for', '8s'])).code).toBe(0);
  });

  test('presence prints what it writes as JSON beside the page, and names the recording by its hash', async () => {
    const out = bench.path('presence.html');
    const flags = ['--spread-max-bps', '1000', '--size-min', '0.0001'];
    const ended = await ran(['presence', '-c', config, ...flags, '--out', out, '--json']);
    const told = printed(ended) as { days: object[]; hash: string; recordings: { file: string }[]; terms: object };
    expect([ended.code, Object.keys(told), Object.keys(told.days[0]!)]).toEqual([
      ...[0, keysOf('presence').slice(0, Object.keys(told).length), keysOf('presence').slice(Object.keys(told).length)],
    ]);
    expect(told.terms).toEqual({ spreadMaxBps: '1000', sizeMin: '0.0001' });
    expect(JSON.parse(readFileSync(bench.path('presence.json'), 'utf8'))).toEqual(told);
    expect(readFileSync(out, 'utf8')).toContain(told.hash);
    const text = await ran(['presence', '--state', state, ...flags]);
    expect([text.code, text.stdout.includes(told.hash)]).toEqual([0, true]);
    expect(readdirSync(state)).toContain(told.recordings[0]!.file);
  });

  test('surveillance prints its measures, and takes its windows from flags', async () => {
    const ended = await ran(['surveillance', '-c', config, '--after-fill', '5s', '--json']);
    const told = printed(ended) as { windows: { afterFillMs: number }; days: object[] };
    expect([ended.code, told.windows.afterFillMs, Object.keys(told)]).toEqual([
      ...[0, 5_000, keysOf('surveillance').slice(0, Object.keys(told).length)],
    ]);
    const text = (await ran(['surveillance', '--state', state])).stdout;
    expect(text).toMatch(/order flow of the bot on \S+, by UTC day[^]*OTR: /);
    const out = bench.path('report.html');
    const reported = await ran(['report', '--state', state, '--surveillance', '--out', out]);
    expect([reported.code, reported.stdout.includes(text.trim())]).toEqual([0, true]);
    const own = printed(await ran(['surveillance', '--state', state, '--json']));
    expect(JSON.parse(readFileSync(bench.path('report.json'), 'utf8'))).toMatchObject({ surveillance: own });
    expect(readFileSync(out, 'utf8')).toContain('<h2>Own order flow</h2>');
  });

  test('presence, surveillance and its report end with code 1 where the recording is not what this version computes', async () => {
    const [name = ''] = readdirSync(state).filter(file => file.endsWith('.rec'));
    const path = join(state, name);
    const bytes = readFileSync(path);
    bytes[bytes.length - 1]! ^= 1;
    writeFileSync(path, bytes);
    for (const command of [['presence'], ['surveillance'], ['report', '--surveillance']]) {
      const { code, stderr } = await ran([...command, '--state', state]);
      expect([command, code]).toEqual([command, 1]);
      expect(stderr).toMatch(/^the replay by this version of Puntas differs from the recording: run \d+: /m);
    }
  });

  test('wrong flags are one line', async () => {
    for (const [args, line] of [
      [['presence', '-c', config, '--out', 'a.txt'], /^--out: expected a name that ends in \.html, found "a\.txt"\n$/],
      [['presence', '-c', config, '--size-min', '0'], /expected a decimal number above 0/],
      [
        ['surveillance', '-c', config, '--from', '2031-01-01'],
        /no run was recorded in the requested days|none of the requested days/,
      ],
    ] as const) {
      const { code, stderr } = await ran(args);
      expect([args, code]).toEqual([args, 2]);
      expect(stderr).toMatch(line);
    }
  });
});

describe('conformance', () => {
  test('passes on the embedded exchange that it starts, and writes no state', async () => {
    const config = bench.config();
    const ended = await ran(['conformance', '-c', config, '--json']);
    const told = printed(ended) as { fail: number; pass: number; checks: ConformanceCheck[]; left: string[] };
    expect(told.checks.filter(({ verdict }) => verdict === 'fail')).toEqual([]);
    expect([ended.code, told.fail, told.left, Object.keys(told)]).toEqual([0, 0, [], keysOf('conformance')]);
    expect(told.pass).toBeGreaterThan(50);
    expect(existsSync(bench.path('state-2'))).toBe(false);
  });

  test('has its name and section, then what is expected and found, within the columns', () => {
    const check = {
      name: 'fees',
      source: 'public-facts 9.1',
      expected: 'two rates',
      found: 'one',
      verdict: 'fail',
    } as const;
    expect(checkText(check, undefined)).toBe(
      'fail     fees (public-facts 9.1)\n         expected: two rates\n         found: one',
    );
    const long = checkText({ ...check, found: 'word '.repeat(40).trim() }, 60);
    expect(long.split('\n').every(line => line.length < 60)).toBe(true);
  });

  test('only reads a real exchange, places orders with --yes, and trades with --trade', async () => {
    const exchange = await openExchange(bench.config());
    try {
      const balances = { btc: '1', mxn: '1000000' };
      const { key, secret } = (await exchange.operate('POST', 'accounts', { balances })) as {
        key: string;
        secret: string;
      };
      const live = bench.config('live', text => text.replace('https://api.bitso.com', exchange.url));
      const verdictsWith = async (flags: readonly string[]) => {
        const environment = { PUNTAS_API_KEY: key, PUNTAS_API_SECRET: secret };
        const ended = await ran(['conformance', '-c', live, '--json', ...flags], environment);
        const { checks, left } = printed(ended) as { checks: ConformanceCheck[]; left: string[] };
        expect([ended.code, left, checks.filter(({ verdict }) => verdict === 'fail')]).toEqual([0, [], []]);
        return new Map(checks.map(({ name, verdict }) => [name, verdict]));
      };
      const reading = await verdictsWith([]);
      expect([reading.get('orders'), reading.get('trades'), reading.get('register a webhook')]).toEqual([
        'skipped',
        'skipped',
        'skipped',
      ]);
      const placing = await verdictsWith(['--yes']);
      expect([placing.get('cancel by client id'), placing.get('trades')]).toEqual(['pass', 'skipped']);
      const trading = await verdictsWith(['--yes', '--trade']);
      expect([trading.get('buy at once'), trading.get('balances after the sell')]).toEqual(['pass', 'pass']);
    } finally {
      await exchange.close();
    }
  });

  test('trades only with --yes', async () => {
    const live = bench.config('live');
    const { code, stderr } = await ran(['conformance', '-c', live, '--trade']);
    expect([code, stderr]).toEqual([2, '--trade needs --yes\n']);
  });
});

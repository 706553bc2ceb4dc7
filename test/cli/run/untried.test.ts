/** A bot on an exchange whose client has traded only with test doubles, as a user runs it: its start needs a recorded trial order. */
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { readConfig } from '../../../src/wiring/configFile.ts';
import { openExchange, type EmbeddedExchange } from '../embeddedExchange.ts';
import { Bench, printed, ran } from '../program.ts';

type Tree = Record<string, Record<string, unknown>>;
type Told = {
  readonly findings: readonly { readonly check: string; readonly result: string; readonly says: string }[];
};

const bench = new Bench();
let exchange: EmbeddedExchange;
beforeAll(async () => {
  exchange = await openExchange(bench.config('elsewhere'));
});
afterAll(async () => {
  await exchange.close();
  bench.clear();
});

const remoteThere = () => ({
  ...{ kind: 'remote', venue: 'binance', acceptUntried: 'binance' },
  ...{ restUrl: exchange.face['elsewhere']!, streamUrl: exchange.face['elsewhereStream']! },
});

/** Quotes on the first exchange and hedges on the second. */
const hedging = () =>
  bench.config('elsewhere', text =>
    stringify({
      ...(parse(text) as Tree),
      exchange: { kind: 'remote', restUrl: exchange.url, streamUrl: exchange.stream },
      elsewhere: { ...remoteThere(), book: 'btc_usdt' },
    }),
  );

/** Quotes on the second exchange. */
const quoting = () =>
  bench.config('live', text =>
    stringify({
      ...(parse(text) as Tree),
      ...{ book: 'btc_usdt', exchange: remoteThere(), sentinel: undefined },
      limits: { ...(parse(text) as Tree)['limits'], orderValueMax: '5000' },
    }),
  );

const keys = () => ({
  hedging: {
    ...exchange.keys,
    PUNTAS_ELSEWHERE_API_KEY: exchange.face['elsewhereKey']!,
    PUNTAS_ELSEWHERE_API_SECRET: exchange.face['elsewhereSecret']!,
  },
  quoting: { PUNTAS_API_KEY: exchange.face['elsewhereKey']!, PUNTAS_API_SECRET: exchange.face['elsewhereSecret']! },
});

describe.each([
  ['hedges', 'elsewhere', hedging, 'hedging'],
  ['quotes', 'exchange', quoting, 'quoting'],
] as const)('a bot that %s there', (_, section, fileOf, which) => {
  test('is refused with the command until doctor has recorded its trial order, and starts then', async () => {
    const file = fileOf();
    const { dir } = readConfig(file).state;
    const start = () => ran(['run', '-c', file, '--for', '2s'], keys()[which]);
    const doctor = async (...flags: readonly string[]) => {
      const ended = await ran(['doctor', '-c', file, '--json', ...flags], keys()[which]);
      const told = (printed(ended) as Told).findings.filter(({ check }) => check === 'trial record');
      return told.map(({ result, says }) => `${result}: ${says}`);
    };
    const refusal = `${section}: no passed trial order at binance with this address and API key is recorded in ${dir}; run npx puntas doctor -c ${file} --order --yes, then start again`;
    const refused = await start();
    expect([refused.code, refused.stderr.split('\n').filter(line => line.includes(refusal))]).toEqual([2, [refusal]]);
    expect(await doctor()).toEqual([
      `fail: ${section}: the bot would not start, because no passed trial order at binance with this address and API key is recorded in ${dir}`,
    ]);
    const checked = await ran(['check', '-c', file], keys()[which]);
    expect(checked.stdout).toContain(`the bot would not start, because no passed trial order at binance`);
    expect(await doctor('--order', '--yes')).toEqual([`pass: the trial order at binance is recorded in ${dir}`]);
    expect(readdirSync(dir).filter(name => name.startsWith('trial-'))).toHaveLength(1);
    expect(await doctor()).toEqual([]);
    const { code, stderr } = await start();
    expect([code, stderr.includes('no passed trial order')]).toEqual([0, false]);
  });
});

test('a trial order that is refused is not recorded', async () => {
  const file = quoting();
  const wrong = { ...keys().quoting, PUNTAS_API_SECRET: 'another' };
  const { code } = await ran(['doctor', '-c', file, '--order', '--yes'], wrong);
  expect(code).toBe(1);
  const { dir } = readConfig(file).state;
  expect((await ran(['run', '-c', file, '--for', '2s'], keys().quoting)).stderr).toContain(
    `exchange: no passed trial order at binance with this address and API key is recorded in ${dir}`,
  );
});

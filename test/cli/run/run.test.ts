import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { keysOf } from '../jsonPage.ts';
import { Bench, puntas, ran, ROOT } from '../program.ts';
import type { Ended } from '../program.ts';

const bench = new Bench();
afterAll(() => bench.clear());

type Summary = {
  seconds: number;
  book: string;
  orders: Record<'placed' | 'canceled' | 'filled' | 'refused' | 'unknown', number>;
  fills: number;
  position: Record<string, string>;
  pnl: Record<'spread' | 'inventory' | 'fees' | 'hedging' | 'total', string>;
  uptime: Record<'bid' | 'ask', number>;
  requests: number;
  openOrdersLeft: number;
  ledgerMatches: boolean;
};

const summaryOf = ({ stdout }: Ended): Summary => JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Summary;

function freePort(): Promise<number> {
  const probe = createServer();
  return new Promise(resolve =>
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    }),
  );
}

/** All three levels of each side. */
const BOTH_SIDES = /bid [\d.]+ \(3 levels.*ask [\d.]+ \(3 levels/;
const MONEY = /^-?\d+(\.\d+)?$/;

function expectClean(ended: Ended): Summary {
  expect(ended.stderr).not.toMatch(/"level":(50|60)/);
  const summary = summaryOf(ended);
  // A post-only order on a book that a busy machine read late is refused: that none is, is held in virtual time.
  expect(summary).toMatchObject({ openOrdersLeft: 0, ledgerMatches: true });
  expect(ended.code).toBe(0);
  return summary;
}

describe.concurrent('puntas run', () => {
  test('starts afresh on an embedded exchange at the address of an earlier one: what that one knew is gone', async () => {
    const port = await freePort();
    const file = bench.config('sandbox', text => text.replace('seed: 3', `seed: 3\n  port: ${port}`));
    for (const which of ['first', 'second']) {
      const program = puntas(['run', '-c', file, '--json']);
      await program.sees(BOTH_SIDES);
      program.signal('SIGTERM');
      expect(expectClean(await program.ended).orders.placed, which).toBeGreaterThanOrEqual(6);
    }
  });

  test('on the default configuration ends clean, with one JSON object of exactly these keys', async () => {
    const program = puntas(['run', '-c', bench.config(), '--json']);
    await program.sees(BOTH_SIDES);
    program.signal('SIGTERM');
    const ended = await program.ended;
    const summary = expectClean(ended);
    expect(ended.stdout.trimEnd().split('\n').length).toBe(1);
    expect(keysOf('run --json').slice(0, 11)).toEqual(Object.keys(summary));
    expect(Object.keys(summary)).toEqual([
      'seconds',
      'book',
      'orders',
      'fills',
      'position',
      'profit',
      'pnl',
      'uptime',
      'requests',
      'openOrdersLeft',
      'ledgerMatches',
    ]);
    expect(Object.keys(summary.orders)).toEqual(['placed', 'canceled', 'filled', 'refused', 'unknown']);
    expect(Object.keys(summary.pnl)).toEqual(['spread', 'inventory', 'fees', 'hedging', 'total']);
    expect(Object.keys(summary.position)).toEqual(['btc', 'mxn']);
    expect(Object.keys(summary.uptime)).toEqual(['bid', 'ask']);
    for (const text of [...Object.values(summary.position), ...Object.values(summary.pnl)]) expect(text).toMatch(MONEY);
    expect(summary.book).toBe('btc_mxn');
    expect(summary.orders.placed).toBeGreaterThanOrEqual(6);
    for (const share of Object.values(summary.uptime)) {
      expect(share).toBeGreaterThan(0);
      expect(share).toBeLessThanOrEqual(1);
    }
    expect(summary.seconds).toBeGreaterThan(0);
  });

  test('ends by itself after --for, and without --json says what came of it in a few lines for a person', async () => {
    const ended = await ran(['run', '-c', bench.config(), '--for', '4s']);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toMatch(/no order of ours is left\nthe ledger equals the balances to the last digit\n$/);
  });

  test.each(['SIGTERM', 'SIGINT'] as const)('stops cleanly on %s', async signal => {
    const program = puntas(['run', '-c', bench.config(), '--json']);
    await program.sees(/bid \d+ .*ask \d+/);
    program.signal(signal);
    const ended = await program.ended;
    expectClean(ended);
    expect(ended.stderr).toContain(`stopping (${signal})`);
  });

  test.each([0, 100, 300, 600])('stops cleanly when SIGTERM comes during the start, %i ms in', async delay => {
    const program = puntas(['run', '-c', bench.config(), '--json']);
    // Node itself needs some time before any program can listen to a signal.
    await program.sees(/embedded exchange at/);
    await new Promise(resolve => setTimeout(resolve, delay));
    program.signal('SIGTERM');
    expectClean(await program.ended);
  });

  test('takes its secrets out of what it writes, at the most talkative level', async () => {
    const program = puntas(['exchange', '--port', '0', '-c', bench.config()]);
    const [line] = await program.sees(/\{"url".*\}/);
    const account = JSON.parse(line) as { url: string; key: string; secret: string };
    const file = bench.config(
      'live',
      text =>
        text.replace('https://api.bitso.com', account.url).replace(/^ *streamUrl:.*\n/m, '') +
        'log: { level: debug }\n',
    );
    const ended = await ran(['run', '-c', file, '--for', '4s', '--json'], {
      PUNTAS_API_KEY: account.key,
      PUNTAS_API_SECRET: account.secret,
    });
    program.signal('SIGTERM');
    expect((await program.ended).code).toBe(0);
    expectClean(ended);
    expect(ended.stderr + ended.stdout).not.toContain(account.secret);
  });
});

describe('puntas check', () => {
  test('prints the configuration, and the quotes with the steps of each price', async () => {
    const ended = await ran(['check', '-c', bench.config()]);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain('book: btc_mxn');
    expect(ended.stdout.match(/^ {2}(bid|ask) [\d.]+ at \d+ = reference: mid /gm)).toHaveLength(6);
    expect(ended.stdout).not.toContain('not placed');
    expect(ended.stdout).toMatch(
      /^ {2}bid 0\.00600000 at .*; 0\.00600000 = amount 0\.00400000 level 2 \+0\.00200000$/m,
    );
  });

  test('says how inventory changes amounts, and when run would halt on what the account holds', async () => {
    const wanting = (target: string) =>
      bench.config('sandbox', text => text.replace(/target: .*/, `target: '${target}'`));
    const leaning = await ran(['check', '-c', wanting('1.49')]);
    expect(leaning.stdout).toMatch(
      /^ {2}bid .*; 0\.\d+ = amount 0\.00400000 (level 2 \+0\.00200000 )?inventory -0\.\d+/m,
    );
    expect(leaning.stdout).not.toContain('would halt');
    const { code, stdout } = await ran(['check', '-c', wanting('0.5')]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^run would halt at once: position: 1 btc from the target is beyond its limit$/m);
    expect(stdout).toMatch(/no bid: at the cap \(inventory is at its limit\)/);
  });

  test('says that a halt is latched', async () => {
    const file = bench.config();
    const { state } = parse(readFileSync(file, 'utf8')) as { state: { dir: string } };
    latchIn(state.dir).set({ reason: 'drawdown', at: 0, by: 'bot' });
    expect((await ran(['check', '-c', file])).stdout).toMatch(
      /^run would quote nothing: halted by bot: drawdown; look/m,
    );
  });
});

const DATA = process.env['PUNTAS_DATA'] ?? join(ROOT, '../shared/data');
const TAPES = [
  { set: 'gemini-ethusd-2021-07-01-l1-trades', config: 'eth_usd', book: 'eth_usd' },
  { set: 'bitstamp-btcusd-2015-05-01-book-orders-trades', config: 'btc_usd', book: 'btc_usd' },
];

describe.each(TAPES)('puntas run --tape on $set', ({ set, config, book }) => {
  const dir = join(DATA, set);
  const isHere = existsSync(dir);
  if (!isHere) console.warn(`skipped: the recording ${dir} is not here`);

  // How much it quotes and what it is filled is held in virtual time (test/live/tapeRun.test.ts).
  test.skipIf(!isHere)('quotes both sides and ends clean', async () => {
    const program = puntas(['run', '--tape', dir, '--speed', '20', '--json', '-c', bench.config(config)]);
    await program.sees(/bid [\d.]+ \(.*ask [\d.]+ \(/);
    program.signal('SIGTERM');
    const summary = expectClean(await program.ended);
    expect(summary.book).toBe(book);
    expect(summary.orders.placed).toBeGreaterThan(1);
  });
});

import { createServer } from 'node:net';
import { basename, dirname } from 'node:path';
import { mkdirSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { money, moneyOf, textOfMoney, type Side } from '../../../src/core/index.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { EXIT } from '../../../src/messages/exits.ts';
import { readPaperAccount } from '../../../src/live/state/paperAccount.ts';
import type { AccountHoldings } from '../../../src/sandbox/venue/accounts.ts';
import { storedText, valueOfStored } from '../../../src/sandbox/venue/storedText.ts';
import { openExchange, type EmbeddedExchange } from '../embeddedExchange.ts';
import { Bench, puntas, ran, type Program } from '../program.ts';

const bench = new Bench();
let exchange: EmbeddedExchange;
let url = '';

beforeAll(async () => {
  exchange = await openExchange(bench.config());
  ({ url } = exchange);
});
afterAll(async () => {
  await exchange.close();
  bench.clear();
});

/** The configuration that ships for paper, on the exchange of this test and near enough to the touch to be filled. */
let count = 0;
const config = (change: (text: string) => string = text => text): string =>
  bench.config('paper', text =>
    change(
      text
        .replace('https://api.bitso.com', url)
        .replace('wss://ws.bitso.com', url.replace('http', 'ws'))
        .replace('halfSpreadBps: 65', 'halfSpreadBps: 10.2')
        .replace('levelSpacingBps: 15', 'levelSpacingBps: 4')
        .replace('minEdgeBps: 5', 'minEdgeBps: 0')
        .replace(/volume30d: "0"/, 'volume30d: "200000000"')
        .replace('./state-paper', bench.path(`paper-${++count}`)),
    ),
  );

/** Number of processes that are killed, one after another, on one paper account. */
const KILLS = 20;

/** Where no key could be read, were one looked for. */
const NO_KEY = { PUNTAS_API_KEY_FILE: '/nowhere/key', PUNTAS_API_SECRET_FILE: '/nowhere/secret' };

describe.concurrent('puntas run --paper', () => {
  test('trades the market of another process without a key, says that it is paper everywhere, and ends clean', async () => {
    const program = puntas(['run', '--paper', '-c', config(), '--json'], NO_KEY);
    await program.sees(/PAPER TRADING: no order is sent to the exchange, and no key is read/);
    const [, metrics] = await program.sees(/paper: metrics at (http:[^"]+)/);
    await program.sees(/paper: bid \d+ .*ask \d+/);
    expect(await (await fetch(metrics!)).text()).toContain('puntas_paper{book="btc_mxn"} 1');
    program.signal('SIGTERM');
    const ended = await program.ended;
    expect(ended.code).toBe(0);
    expect(ended.stderr).not.toMatch(/"level":(50|60)/);
    const summary = JSON.parse(ended.stdout) as Record<string, unknown>;
    expect(summary).toMatchObject({ openOrdersLeft: 0, ledgerMatches: true, paper: { follows: url } });
    expect(Object.keys(summary['pnl'] as object)).toEqual(
      expect.arrayContaining(['spread', 'inventory', 'fees', 'total']),
    );
    expect(ended.stderr).toMatch(/the followed market traded [\d.]+ btc in \d+ executions/);
  });

  test('on Ctrl-C says what came of it, first that it was paper', async () => {
    const program = puntas(['run', '--paper', '-c', config()], NO_KEY);
    await program.sees(/paper: quoting/);
    program.signal('SIGINT');
    const { code, stdout } = await program.ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/^PAPER TRADING, no real money: fill model pessimistic, live market of http/);
    expect(stdout).toMatch(
      /^profit \S+ mxn since the opening .*\nsince the start of the bot: profit \S+ = spread \S+ \+ inventory \S+ \+ fees \S+\n/m,
    );
  });

  test('never shares its state directory with a run that is not on paper, either way round', async () => {
    const other = bench.config();
    const both = bench.path('both');
    const paper = config();
    expect((await ran(['run', '-c', other, '--state', both, '--for', '2s'])).code).toBe(0);
    const second = await ran(['run', '--paper', '-c', paper, '--state', both, '--for', '2s']);
    expect([second.code, second.stderr]).toEqual([2, expect.stringContaining('a bot that trades without --paper')]);
    const own = bench.path('own');
    expect((await ran(['run', '--paper', '-c', paper, '--state', own, '--for', '2s'])).code).toBe(0);
    const third = await ran(['run', '-c', other, '--state', own, '--for', '2s']);
    expect([third.code, third.stderr]).toEqual([2, expect.stringContaining('belongs to paper trading')]);
    const fourth = await ran(['sentinel', '-c', paper, '--state', own], NO_KEY);
    expect([fourth.code, fourth.stderr]).toEqual([2, expect.stringContaining('belongs to paper trading')]);
  });

  test.each([
    ['a file that is for paper only, without --paper', [], (text: string) => text, /for paper trading only.*--paper/],
    [
      'no opening balance of a currency',
      ['--paper'],
      (text: string) => text.replace(/mxn: "75000"/, 'usd: "5"'),
      /paper\.balances: expected opening balances of mxn/,
    ],
    [
      'a book that is not traded there',
      ['--paper'],
      (text: string) => text.replace('book: btc_mxn', 'book: doge_mxn').replace('btc: ', 'doge: '),
      /book doge_mxn is not traded at this exchange; expected one of/,
    ],
  ] as const)('refuses %s in one line', async (_what, flags, change, line) => {
    const ended = await ran(['run', ...flags, '-c', config(change), '--for', '2s'], NO_KEY);
    expect(ended.code).toBeGreaterThan(0);
    expect(ended.stderr.trimEnd().split('\n').at(-1)).toMatch(line);
  });

  test('refuses a configuration of the embedded exchange, which has nothing to follow', async () => {
    const ended = await ran(['run', '--paper', '-c', bench.config()]);
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining('set exchange.kind: remote')]);
  });
});

describe('a paper account', () => {
  const shown = (file: string) => puntas(['run', '--paper', '-c', file, '--json'], NO_KEY);

  /** State that a process left on disk: sums, orders that are not over, and trades with their text. */
  const onDisk = async (dir: string) => {
    const rows = (await readPaperAccount(dir, realClock())).map(({ key, text }) => ({ key, of: valueOfStored(text) }));
    const under = (name: string) => rows.filter(({ key }) => key.startsWith(name));
    const { total } = under('account')[0]!.of as AccountHoldings;
    // The same sums by another way: the opening balances, and each stored trade with its fee.
    const { balances } = under('identity')[0]!.of as { balances: Record<string, string> };
    const counted = new Map<string, bigint>(Object.entries(balances).map(([name, text]) => [name, moneyOf(text)]));
    const add = (name: string, sum: bigint) => void counted.set(name, (counted.get(name) ?? 0n) + sum);
    for (const { of } of under('trade/')) {
      const { side, lot, amount, minor, fee, feeCurrency } = of as Record<'lot' | 'feeCurrency', string> &
        Record<'minor' | 'fee', bigint> & { side: Side; amount: number };
      const sign = side === 'buy' ? 1n : -1n;
      add('btc', sign * BigInt(amount) * moneyOf(lot));
      add('mxn', -sign * minor);
      add(feeCurrency, -fee);
    }
    return {
      counted: [...counted].map(([currency, sum]) => `${textOfMoney(money(sum))} ${currency}`).sort(),
      sums: total.map(([currency, sum]) => `${textOfMoney(money(sum))} ${currency}`),
      live: under('order/').filter(({ of }) => (of as { finishedAt: unknown }).finishedAt === null).length,
      trades: under('trade/').map(({ key, of }) => `${key} ${storedText(of)}`),
    };
  };

  test('continues over 20 SIGKILLs with what the disk has, its balances to the digit those of its trades, a ledger that equals them, and starts anew with --fresh', async () => {
    const file = config();
    const dir = bench.path(`paper-${count}`);
    let before: Awaited<ReturnType<typeof onDisk>> | null = null;
    const resumed = async (program: Program) => {
      if (before === null) return;
      const [line, orders] = await program.sees(
        /continuing the paper account opened .*; orders left by the last run: (\d+)/,
      );
      for (const sum of before.sums) expect(line).toContain(sum);
      expect(Number(orders)).toBe(before.live);
    };
    const openings = async () => {
      const { stdout } = await ran(['ledger', '-c', file, '--paper', '--json']);
      return stdout.match(/"opening"/g)?.length ?? 0;
    };
    let opened = 0;
    // Without a trade before a kill, nothing would be tried.
    for (let kill = 0; kill < KILLS || before!.trades.length === 0; kill++) {
      expect(kill).toBeLessThan(40);
      const program = shown(file);
      await resumed(program);
      await program.sees(/paper: bid \d+ .*ask \d+/);
      // Killed at another point of its work each time.
      await new Promise(resolve => setTimeout(resolve, 370 * Math.min(kill, 8)));
      program.signal('SIGKILL');
      expect((await program.ended).code).toBeNull();
      const after = await onDisk(dir);
      expect(after.sums.toSorted()).toEqual(after.counted);
      expect(after.trades).toEqual(expect.arrayContaining(before?.trades ?? []));
      before = after;
      if (kill === 0) opened = await openings();
    }
    expect(before!.live).toBeGreaterThan(0);
    const last = shown(file);
    await resumed(last);
    await last.sees(/paper: bid \d+ .*ask \d+/);
    last.signal('SIGTERM');
    const ended = await last.ended;
    expect([ended.code, JSON.parse(ended.stdout)]).toMatchObject([0, { openOrdersLeft: 0, ledgerMatches: true }]);
    // One opening of the ledger, by the first process.
    expect(opened).toBeGreaterThan(0);
    expect(await openings()).toBe(opened);
    const watched = await ran(['status', '--watch', '-c', file, '--paper']);
    expect([watched.code, watched.stdout.trimEnd().split('\n').at(-1)]).toEqual([0, 'the bot has stopped cleanly']);
    const fresh = await ran(['run', '--paper', '--fresh', '-c', file, '--for', '2s'], NO_KEY);
    expect([fresh.code, fresh.stderr]).toEqual([
      0,
      expect.stringMatching(
        /the earlier paper account is in \S+paper-\d+\.20\S+; to return to it, stop the bot, then: mv /,
      ),
    ]);
    expect(fresh.stderr).toMatch(/opened a new paper account: /);
    expect(fresh.stderr).not.toMatch(/continuing the paper account/);
  }, 900_000);

  test('status --watch prints lines of the running bot, ends with Ctrl-C, and says that the bot was killed', async () => {
    const file = config();
    const bot = shown(file);
    await bot.sees(/paper: bid \d+ .*ask \d+/);
    const watch = () => puntas(['status', '--watch', '-c', file, '--paper']);
    const line = /UTC \| runs for \d+ min \| \w.* \| bid .* \| ask .* \| fills \d+/;
    const first = watch();
    await first.sees(line);
    first.signal('SIGINT');
    const left = await first.ended;
    expect([left.code, left.stderr]).toEqual([0, '']);
    expect(left.stdout).not.toMatch(/[^\n\u0020-\u007e]/);
    const second = watch();
    await second.sees(line);
    bot.signal('SIGKILL');
    await bot.ended;
    const ended = await second.ended;
    expect([ended.code, ended.stdout.trimEnd().split('\n').at(-1)]).toEqual([
      EXIT.broken,
      expect.stringMatching(/^the bot is down or sends no heartbeat, and was not stopped; see (?:npx )?puntas status$/),
    ]);
  });

  test('--fresh beside the running bot, and with a configuration that cannot start, moves nothing', async () => {
    const file = config();
    const dir = bench.path(`paper-${count}`);
    const bot = shown(file);
    await bot.sees(/paper: bid \d+ .*ask \d+/);
    const beside = await ran(['run', '--paper', '--fresh', '-c', file, '--for', '2s'], NO_KEY);
    expect([beside.code, beside.stderr]).toEqual([2, expect.stringContaining('a bot is running with this state')]);
    bot.signal('SIGTERM');
    const ended = await bot.ended;
    expect([ended.code, JSON.parse(ended.stdout)]).toMatchObject([0, { ledgerMatches: true }]);
    const wrong = bench.config('paper', text =>
      text
        .replace('https://api.bitso.com', url)
        .replace('book: btc_mxn', 'book: doge_mxn')
        .replace('btc: ', 'doge: ')
        .replace('./state-paper', dir),
    );
    const refused = await ran(['run', '--paper', '--fresh', '-c', wrong, '--for', '2s'], NO_KEY);
    expect([(refused.code ?? 0) > 0, refused.stderr]).toEqual([
      true,
      expect.stringContaining('doge_mxn is not traded'),
    ]);
    expect(await onDisk(dir)).toMatchObject({ live: 0 });
  });

  test.each([
    ['its port in use', /in use/],
    ['fees above its spread', /fees above are the fees of an account/],
  ])('a --fresh start that is refused for %s leaves the earlier account where it was', async (what, why) => {
    const file = config();
    const dir = bench.path(`paper-${count}`);
    expect((await ran(['run', '--paper', '-c', file, '--for', '2s'], NO_KEY)).code).toBe(0);
    const before = await readPaperAccount(dir, realClock());
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise(resolve => other.once('listening', resolve));
    const { port } = other.address() as { port: number };
    const dear = bench.config('paper', text =>
      text
        .replace('https://api.bitso.com', url)
        .replace('wss://ws.bitso.com', url.replace('http', 'ws'))
        .replace('halfSpreadBps: 65', 'halfSpreadBps: 10.2')
        .replace('./state-paper', dir),
    );
    const isPort = what === 'its port in use';
    const args = isPort ? ['-c', file, '--metrics-port', String(port)] : ['-c', dear];
    const refused = await ran(['run', '--paper', '--fresh', ...args, '--for', '2s'], NO_KEY);
    other.close();
    expect([(refused.code ?? 0) > 0, refused.stderr]).toEqual([true, expect.stringMatching(why)]);
    expect(refused.stderr).toContain(`the earlier paper account is again in ${dir}`);
    expect(await readPaperAccount(dir, realClock())).toEqual(before);
    expect(readdirSync(dirname(dir)).filter(name => name.startsWith(`${basename(dir)}.20`))).toEqual([]);
  });

  test('a halt stays: --fresh does not lift it', async () => {
    const file = config();
    expect((await ran(['run', '--paper', '-c', file, '--for', '2s'], NO_KEY)).code).toBe(0);
    expect((await ran(['halt', '-c', file, '--paper', '--reason', 'a test'])).code).toBe(0);
    const fresh = await ran(['run', '--paper', '--fresh', '-c', file, '--for', '2s'], NO_KEY);
    expect([fresh.code, fresh.stderr]).toEqual([2, expect.stringMatching(/trading is held \(halt by .*resume first/)]);
  });

  test('--fresh needs --paper', async () => {
    const ended = await ran(['run', '--fresh', '-c', bench.config(), '--for', '2s']);
    expect([ended.code, ended.stderr]).toEqual([
      2,
      expect.stringContaining('--fresh starts a new paper account; add --paper'),
    ]);
  });
});

test('puntas check --paper prints the quotes that it would place on the followed market', async () => {
  const ended = await ran(['check', '--paper', '-c', config()], NO_KEY);
  expect([ended.code, ended.stdout]).toEqual([0, expect.stringMatching(/^ {2}bid [\d.]+ at \d+ = reference: mid /m)]);
});

describe('after a paper run', () => {
  /** Each command that reads a state directory, with the flags that it needs besides. */
  const READERS: readonly (readonly [name: string, ...more: readonly string[]])[] = [
    ['status'],
    ['report'],
    ['ledger'],
    ['explain'],
    ['replay'],
    ['hedges'],
    ['export', '--rows', 'fills', '--out', bench.path('fills.csv')],
  ];
  let file = '';
  beforeAll(async () => {
    file = config();
    expect((await ran(['run', '--paper', '-c', file, '--for', '3s'], NO_KEY)).code).toBe(0);
  });

  test.each(READERS)('%s reads its state with --paper, and names --paper without it', async (name, ...more) => {
    const shown = await ran([name, '-c', file, '--paper', ...more]);
    expect([shown.code, shown.stderr, shown.stdout.length > 0]).toEqual([0, '', true]);
    const wrong = await ran([name, '-c', file, ...more]);
    expect([wrong.code, wrong.stdout]).toEqual([2, '']);
    expect(wrong.stderr).toMatch(
      /^\S+state-\d+: no such folder; this configuration has run only on paper, so add --paper\n$/,
    );
  });

  test('the console shows its state with --paper, and names --paper without it', async () => {
    const [own, other] = [['--paper'], []].map(flags => puntas(['console', '-c', file, '--port', '0', ...flags]));
    await own!.sees(/console of \S+paper-\d+ at http/);
    await other!.sees(/no such folder; this configuration has run only on paper, so add --paper/);
    await other!.sees(/console of \S+state-\d+ at http/);
    for (const program of [own!, other!]) {
      program.signal('SIGTERM');
      expect((await program.ended).code).toBe(0);
    }
  });

  test('replay refuses a state directory that is named twice', async () => {
    mkdirSync(bench.path('any'));
    const ended = await ran(['replay', bench.path('any'), '-c', file]);
    expect([ended.code, ended.stderr]).toEqual([
      2,
      expect.stringMatching(/any: cannot be combined with -c, --state or --paper/),
    ]);
  });
});

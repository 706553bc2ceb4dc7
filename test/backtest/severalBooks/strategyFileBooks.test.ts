/** Strategy files in a backtest of several books: one instance of a file for each book. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { booksOf, configOfBooks, recordedConfig, type Config, type StrategyConfig } from '../../../src/config.ts';
import { shippedConfig } from '../../../src/wiring/configFile.ts';
import { definitionIn, sectionSchema, strategyFileOf } from '../../../strategies/index.ts';
import { changedOwn, OWN_STRATEGY } from '../../strategies/ownFile.ts';
import { severalBooksConfig, severalBooksJob, severalBooksTapes, runOf, type Reports } from './severalBooksWorld.ts';

const BTC = { amount: '0.004', positionMax: '0.05' };
const ETH = { amount: '0.1', positionMax: '2' };
const RICH = { btc: '2', eth: '40', mxn: '4000000', usd: '200000' };

/** A strategy whose quotes depend on how often its module was asked, and that needs trades of the past. */
const COUNTING = changedOwn('type Flow =', 'let count = 0;\ntype Flow =')
  .replace('const unknown =', 'flow.share = (Math.floor(++count / 60) % 3) / 3;\n      const unknown =')
  .replace('contract: 1', 'contract: 1, history: () => 20_000');

/** A configuration with this strategy file in each book. */
function withFile(config: Config, code: string): Config {
  const own = strategyFileOf('own.ts', code);
  const schema = sectionSchema(definitionIn(own));
  return configOfBooks(
    booksOf(config).map(one => {
      const given = { ...own, amount: one.strategy.amount, halfSpreadBps: 8, levels: 2 };
      return { ...one, strategy: schema.parse(given) as unknown as StrategyConfig };
    }),
  );
}

/** Figures of one book: without ids of orders in the hash, and without figures of the account. */
const ofBook = (reports: Reports) =>
  reports.map(({ fills, decisions, pnl, inventory, uptime, missing }) => ({
    ...{ fills, decisions, pnl, inventory, uptime, missing },
  }));

test('books without a common currency that select one file give the results of separate backtests', () => {
  const books = { btc_mxn: BTC, eth_usd: ETH };
  const tapes = severalBooksTapes(Object.keys(books), 11, 420);
  const config = withFile(severalBooksConfig({ books, balances: RICH }), COUNTING);
  const job = severalBooksJob(config, tapes);
  const together = runOf(job);
  const alone = Object.entries(books).flatMap(([book, wanted], i) => {
    const one = withFile(severalBooksConfig({ books: { [book]: wanted }, balances: RICH }), COUNTING);
    return runOf({ ...job, config: one, books: [job.books[i]!] });
  });
  expect(ofBook(together)).toEqual(ofBook(alone));
  expect(together.every(({ fills }) => fills > 3)).toBe(true);
  // A run in the same process does not change the next.
  expect(runOf(job).map(({ hash }) => hash)).toEqual(together.map(({ hash }) => hash));
});

test('an error of one book is in its report, and the other books trade on', () => {
  const books = { btc_mxn: BTC, eth_mxn: ETH };
  const failing = COUNTING.replace(
    'const unknown =',
    "if (instrument.symbol === 'eth_mxn' && count > 30) throw new Error('no luck');\n      const unknown =",
  );
  const config = withFile(severalBooksConfig({ books, balances: RICH }), failing);
  const [btc, eth] = runOf(severalBooksJob(config, severalBooksTapes(Object.keys(books), 12, 180)));
  expect(btc!.fills).toBeGreaterThan(3);
  expect(btc!.uptime.bid).toBeGreaterThan(0.8);
  expect(btc!.strategyFault).toBe(undefined);
  expect(eth!.strategyFault).toMatch(/^own\.ts:\d+ failed: no luck; /);
  expect(eth!.uptime.bid).toBeLessThan(0.2);
});

test('the command runs the files of all books, and with --no-strategy-files none', () => {
  const dir = mkdtempSync(join(tmpdir(), 'puntas-desk-'));
  const desk = parse(readFileSync(shippedConfig('desk'), 'utf8')) as { books: object[] };
  const strategy = { file: './own.ts', halfSpreadBps: 16, amount: '0.1' };
  const books = desk.books.with(1, { ...desk.books[1], strategy });
  writeFileSync(join(dir, 'own.ts'), OWN_STRATEGY);
  writeFileSync(join(dir, 'desk.yaml'), stringify({ ...desk, books }));
  const main = fileURLToPath(new URL('../../../dist/src/main.js', import.meta.url));
  const all = ['-c', join(dir, 'desk.yaml'), '--flow-seconds', '120', '--models', 'expected', '--json'];
  const run = (...flags: readonly string[]) =>
    spawnSync(process.execPath, [main, 'backtest', ...all, ...flags], { encoding: 'utf8' });
  const report = JSON.parse(run().stdout) as { books: { strategy: string; models: { uptime: { bid: number } }[] }[] };
  expect(report.books[1]!.strategy).toMatch(/^own\.ts@[0-9a-f]{12}$/);
  expect(report.books.every(({ models }) => models[0]!.uptime.bid > 0.9)).toBe(true);
  const refused = run('--no-strategy-files');
  expect([refused.status, refused.stdout]).toEqual([2, '']);
  expect(refused.stderr).toContain(
    './own.ts: a strategy file is code, which a backtest with --no-strategy-files does not run',
  );
  rmSync(dir, { recursive: true });
});

test('a replay without the text of a file is refused, because it would show a silent strategy', () => {
  const books = { btc_mxn: BTC, eth_mxn: ETH };
  const config = withFile(severalBooksConfig({ books, balances: RICH }), COUNTING);
  const unread = recordedConfig(JSON.stringify(config));
  expect(() => runOf(severalBooksJob(unread, severalBooksTapes(Object.keys(books), 12, 30)))).toThrow(
    'btc_mxn: expected the text of its strategy file, found none',
  );
});

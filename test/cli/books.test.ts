/** One bot with three books, as processes: an exchange, a bot that is killed, and the bot that goes on. */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { openExchange, type EmbeddedExchange } from './embeddedExchange.ts';
import { Bench, printed, puntas, ran } from './program.ts';

const bench = new Bench();
const BOOKS = ['btc_mxn', 'eth_mxn', 'btc_usd'];
let exchange: EmbeddedExchange;
let environment: Record<string, string> = {};
let config = '';
let state = '';

beforeAll(async () => {
  exchange = await openExchange(bench.config('desk'));
  environment = exchange.keys;
  config = bench.config('desk', text => {
    const tree = parse(text) as { state: { dir: string }; timing: object };
    state = tree.state.dir;
    // So many polls that every fill is found within a second: nothing of this machine is limited.
    const budgets = { publicPerMinute: 100_000, privatePerMinute: 100_000 };
    return stringify({
      ...tree,
      exchange: { kind: 'remote', restUrl: exchange.url, budgets, requestTimeoutMs: 5_000 },
    });
  });
});

afterAll(async () => {
  await exchange.close();
  bench.clear();
});

type Ended = {
  readonly book: string;
  readonly fills: number;
  readonly ledgerMatches: boolean;
  readonly openOrdersLeft: number;
  readonly others: readonly { readonly book: string; readonly orders: { readonly placed: number } }[];
};

const quotesOf = (book: string): RegExp => new RegExp(`${book}: [^"]*bid[^"]*ask`);

describe('one bot with three books', () => {
  test('check shows the quotes of each, the capital that they need together, and their requests', async () => {
    const { code, stdout } = await ran(['check', '-c', config], environment);
    expect(code).toBe(0);
    for (const book of BOOKS) expect(stdout).toContain(`\n# ${book}\n# quotes that the bot would place now`);
    expect(stdout).toMatch(/# capital that the quotes of all books need together\nbtc: \S+ of 1\.5\neth: \S+ of 30\n/);
    expect(stdout).toMatch(/# requests per minute\npublic, without a stream: 48 of 100000 \(3 books\)\n/);
  });

  test('goes on after kill -9: no order is left, the ledger is exact in every currency, all recordings replay', async () => {
    const first = puntas(['run', '-c', config], environment);
    for (const book of BOOKS) await first.sees(quotesOf(book));
    const status = await ran(['status', '-c', config]);
    for (const book of BOOKS) expect(status.stdout).toContain(book);
    const watch = puntas(['status', '-c', config, '--watch']);
    await watch.sees(/ UTC \| .* \| btc_mxn \| .*bid .* \| eth_mxn \| .*bid .* \| btc_usd \| .*bid /);
    watch.signal('SIGINT');
    await watch.ended;
    first.signal('SIGKILL');
    await first.ended;

    const second = puntas(['run', '-c', config, '--json'], environment);
    for (const book of BOOKS) await second.sees(quotesOf(book));
    second.signal('SIGTERM');
    const ended = await second.ended;
    expect(ended.code, ended.stderr).toBe(0);
    const summary = printed(ended) as Ended;
    expect([summary.ledgerMatches, summary.openOrdersLeft, summary.book]).toEqual([true, 0, BOOKS[0]]);
    expect(summary.others.map(({ book }) => book)).toEqual(BOOKS.slice(1));
    for (const { orders } of summary.others) expect(orders.placed).toBeGreaterThan(0);

    const replayed = await ran(['replay', state, '--all']);
    expect(replayed.stdout.match(/all commands identical/g)).toHaveLength(2);
    const ledger = await ran(['ledger', '-c', config]);
    for (const currency of ['btc', 'eth', 'usd', 'mxn']) expect(ledger.stdout).toContain(currency);
    for (const book of BOOKS) expect(ledger.stdout).toMatch(new RegExp(`^${book}: profit [+-]`, 'm'));
    const report = await ran(['report', '-c', config]);
    expect(report.code, report.stderr).toBe(0);
    for (const book of BOOKS) expect(report.stdout).toMatch(new RegExp(`^${book}, .* UTC days, in `, 'm'));
    expect(report.stdout).toMatch(/^mxn \(btc_mxn, eth_mxn\): /m);
  });

  test('is halted by one command, and its orders in all books are canceled by another', async () => {
    const bot = puntas(['run', '-c', config], environment);
    for (const book of BOOKS) await bot.sees(quotesOf(book));
    bot.signal('SIGKILL');
    await bot.ended;
    const { code, stdout } = await ran(['halt', '-c', config, '--cancel', '--reason', 'the test'], environment);
    expect(code).toBe(0);
    expect(stdout).toContain(`verified: no open orders of desk left on ${BOOKS.join(', ')}`);
    expect((await ran(['resume', '-c', config, '--reason', 'the test'])).code).toBe(0);
  });

  test('is paused in one book by name, over a kill too, and another name is refused in one line', async () => {
    const first = puntas(['run', '-c', config], environment);
    for (const book of BOOKS) await first.sees(quotesOf(book));
    const paused = await ran(['pause', '-c', config, '--book', 'eth_mxn', '--reason', 'the test', '--by', 'ann']);
    expect(paused.code, paused.stderr).toBe(0);
    expect(paused.stdout).toContain('cancels its orders in eth_mxn');
    await first.sees(/eth_mxn: paused by ann: the test/);
    first.signal('SIGKILL');
    await first.ended;

    const second = puntas(['run', '-c', config], environment);
    for (const book of ['btc_mxn', 'btc_usd']) await second.sees(quotesOf(book));
    const { stdout } = await ran(['status', '-c', config, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ heldBy: [{ what: 'pause', book: 'eth_mxn', who: 'ann' }] });
    for (const [flags, error] of [
      [['pause', '--book', 'sol_mxn'], '--book sol_mxn: expected a book of this bot (btc_mxn, eth_mxn, btc_usd)'],
      [['resume', '--book', 'btc_usd'], 'nothing to resume for btc_usd alone'],
      [['halt', '--cancel', '--book', 'btc_usd'], "'--cancel' cannot be used with option '--book <symbol>'"],
    ] as const) {
      const refused = await ran([...flags, '-c', config, '--reason', 'the test'], environment);
      expect([refused.code, refused.stderr.trim().split('\n').length], error).toEqual([2, 1]);
      expect(refused.stderr).toContain(error);
    }
    expect((await ran(['resume', '-c', config, '--book', 'eth_mxn', '--reason', 'the test'])).code).toBe(0);
    await second.sees(quotesOf('eth_mxn'));
    second.signal('SIGTERM');
    expect((await second.ended).code).toBe(0);
  });

  test('commands of one book refuse it in one line', async () => {
    const text = readFileSync(config, 'utf8');
    expect(text).toContain('books:');
    const { code, stderr } = await ran(['run', '--paper', '-c', config], environment);
    expect(code).toBe(2);
    // Paper trading takes several books, but needs a balance of each of their currencies.
    expect(stderr).toContain('paper.balances: expected opening balances of btc and mxn and eth and usd');
    const refused = await ran(['shadow', '--once', '-c', config]);
    expect([refused.code, refused.stderr.trim().split('\n').length]).toEqual([2, 1]);
    expect(refused.stderr).toContain('books: expected one book for the command shadow, found 3');
    const flag = await ran(['backtest', '-c', config, '--threads', '2']);
    expect([flag.code, flag.stderr.trim().split('\n').length]).toEqual([2, 1]);
    expect(flag.stderr).toContain('--threads: not supported with several books');
  });

  test('gets a book and loses a book by a reload, over a kill amid it: no order is left, the ledger is exact', async () => {
    const whole = readFileSync(config, 'utf8');
    const withBooks = (...symbols: readonly string[]): void => {
      const { books, ...file } = parse(whole) as { books: { symbol: string }[] };
      const kept = symbols.map(symbol => books.find(book => book.symbol === symbol));
      writeFileSync(config, stringify({ ...file, books: kept }));
    };
    withBooks('btc_mxn', 'eth_mxn');
    const first = puntas(['run', '-c', config], environment);
    for (const book of ['btc_mxn', 'eth_mxn']) await first.sees(quotesOf(book));
    withBooks(...BOOKS);
    const shown = await ran(['reload', '-c', config, '--preview']);
    expect([shown.code, shown.stderr]).toEqual([0, '']);
    expect(shown.stdout).toMatch(/^books\.btc_usd: added; [^\n]*\nbtc_usd:\n +now +then\n/);
    first.signal('SIGHUP');
    await first.sees(/reload: applied: run \d+ resumed/);
    await first.sees(quotesOf('btc_usd'));

    withBooks('btc_mxn', 'btc_usd');
    first.signal('SIGHUP');
    await first.sees(/reload: books\.eth_mxn: removed|ends because a new configuration applies|eth_mxn: not quoting/);
    first.signal('SIGKILL');
    await first.ended;

    const second = puntas(['run', '-c', config, '--json'], environment);
    for (const book of ['btc_mxn', 'btc_usd']) await second.sees(quotesOf(book));
    withBooks(...BOOKS);
    // Refused while the orders that the killed bot left in eth_mxn are being settled.
    let answer = await ran(['reload', '-c', config, '--reason', 'the test']);
    for (let i = 0; i < 60 && answer.stdout.includes('already changing'); i++)
      answer = await ran(['reload', '-c', config, '--reason', 'the test']);
    expect([answer.code, answer.stdout]).toEqual([0, expect.stringContaining('books.eth_mxn: added')]);
    await second.sees(quotesOf('eth_mxn'));
    second.signal('SIGTERM');
    const ended = await second.ended;
    expect(ended.code, ended.stderr).toBe(0);
    const summary = printed(ended) as Ended;
    expect([summary.ledgerMatches, summary.openOrdersLeft, summary.others.length]).toEqual([true, 0, 2]);
    expect((await ran(['replay', state, '--all'])).code).toBe(0);
    const { stdout } = await ran(['halt', '-c', config, '--cancel', '--reason', 'the test'], environment);
    expect(stdout).toContain(`verified: no open orders of desk left on ${BOOKS.join(', ')}`);
    expect((await ran(['resume', '-c', config, '--reason', 'the test'])).code).toBe(0);
  });
});

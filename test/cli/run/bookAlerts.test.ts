/** Alerts of a real process with several books: each names its book, and a loss that stops all is reported once. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { receivers, SECRET, TOKEN } from '../../alerts/receivers.ts';
import { openExchange, type EmbeddedExchange } from '../embeddedExchange.ts';
import { Bench, puntas, ran, type Program } from '../program.ts';

const bench = new Bench();
const running: Program[] = [];
let at: Awaited<ReturnType<typeof receivers>>;
let exchange: EmbeddedExchange;
let keys: Record<string, string>;
let config: string;
let lossy: string;

type Desk = { readonly books: readonly { readonly symbol: string; readonly limits?: object }[] };

const begin = (...args: Parameters<typeof puntas>): Program => {
  const program = puntas(...args);
  running.push(program);
  return program;
};

/** Returns once the text was received. Rejects after four minutes, with all texts. */
const comes = async (text: RegExp): Promise<void> => {
  const until = Date.now() + 240_000;
  while (!at.received.some(one => text.test(one.text))) {
    if (Date.now() > until) throw new Error(`no ${String(text)} in:\n${at.received.map(one => one.text).join('\n\n')}`);
    await new Promise(resolve => setTimeout(resolve, 50));
  }
};
const linesWith = (words: string): readonly string[] =>
  at.received
    .filter(({ to }) => to === 'telegram')
    .flatMap(({ text }) => text.split('\n'))
    .filter(line => line.includes(words));

beforeAll(async () => {
  at = await receivers();
  exchange = await openExchange(bench.config('desk'));
  keys = { ...exchange.keys, PUNTAS_TELEGRAM_TOKEN: TOKEN, PUNTAS_ALERT_WEBHOOK_SECRET: SECRET };
  let dir: unknown;
  const written = (change: (desk: Desk) => Desk): string =>
    bench.config('desk', text => {
      const tree = parse(text) as Desk & { state: object };
      dir ??= tree.state;
      return stringify({
        ...change(tree),
        state: dir,
        exchange: {
          ...{ kind: 'remote', restUrl: exchange.url, requestTimeoutMs: 5_000 },
          budgets: { publicPerMinute: 100_000, privatePerMinute: 100_000 },
        },
        alerts: {
          ...{ webhook: { url: `${at.url}/hook` }, telegram: { chatId: '-100123', url: at.url } },
          ...{ messagesPer10Min: 100, events: { fill: 'on' } },
        },
      });
    });
  config = written(desk => desk);
  lossy = written(desk => ({
    ...desk,
    books: desk.books.map(book =>
      book.symbol === 'eth_mxn' ? { ...book, limits: { ...book.limits, drawdownMax: '0.01' } } : book,
    ),
  }));
});

afterAll(async () => {
  for (const program of running.reverse()) {
    program.signal('SIGTERM');
    await program.ended;
  }
  await exchange.close();
  at.close();
  bench.clear();
});

test('a halt of one book is one alert with its name, and the others keep quoting', async () => {
  const bot = begin(['run', '-c', config], keys);
  await comes(/^desk \(3 books\)\n\S+ started: /);
  for (const book of ['btc_mxn', 'eth_mxn', 'btc_usd']) await bot.sees(new RegExp(`${book}: [^"]*bid[^"]*ask`));
  await ran(['halt', '-c', config, '--book', 'eth_mxn', '--reason', 'to see an alert']);
  await comes(/ halted: eth_mxn: to see an alert; investigate, then resume with: puntas resume -c .* --book eth_mxn/);
  const { stdout } = await ran(['status', '-c', config, '--json']);
  const { run, otherBooks } = JSON.parse(stdout) as Record<'run', Shown> & { otherBooks: Shown[] };
  expect([run.regime.regime, otherBooks[0]!.regime.regime]).not.toContain(undefined);
  expect(otherBooks[0]!.regime.regime).toBe('halted');
  expect(run.bids.length + run.asks.length).toBeGreaterThan(0);
  // Fills of the other books are reported with their names.
  await comes(/ fill( \(\d+ times\))?: btc_(mxn|usd): /);
  await ran(['resume', '-c', config, '--book', 'eth_mxn', '--reason', 'seen']);
  await comes(/ halted: over: eth_mxn: to see an alert/);
  expect(linesWith(' halted: ')).toHaveLength(2);
  await comes(/ fill( \(\d+ times\))?: eth_mxn: /);
  bot.signal('SIGTERM');
  await bot.ended;
});

type Shown = { readonly regime: { readonly regime: string }; readonly bids: unknown[]; readonly asks: unknown[] };

test('a loss of one book that halts all is one alert with its name, and a halt of the whole bot', async () => {
  const before = linesWith(' halted: ').length;
  const bot = begin(['run', '-c', lossy], keys);
  await comes(/ halted: eth_mxn: drawdown: .*; investigate, then resume with: puntas resume -c /);
  for (const book of ['btc_mxn', 'eth_mxn', 'btc_usd']) await bot.sees(new RegExp(`${book}: [^"]*halted`));
  bot.signal('SIGTERM');
  await bot.ended;
  expect(linesWith(' halted: ').slice(before)).toHaveLength(1);
});

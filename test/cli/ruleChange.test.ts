/** Real processes: an operator changes tick, fees and listing of a book on the embedded exchange while a bot trades there over sockets. */
import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { latchIn } from '../../src/live/latch.ts';
import { Bench, puntas } from './program.ts';

const bench = new Bench();
afterAll(() => bench.clear());

type Face = { readonly url: string; readonly key: string; readonly secret: string; readonly operator: string };
test('a bot quotes on the new tick, with the new fees, and withdraws from a book that is gone, without a halt', async () => {
  const exchange = puntas(['exchange', '-c', bench.config(), '--port', '0']);
  const [line] = await exchange.sees(/^\{"url".*$/m);
  const face = JSON.parse(line) as Face & { readonly operatorToken: string };
  const headers = { authorization: `Bearer ${face.operatorToken}`, 'content-type': 'application/json' };
  const operate = async (method: string, path: string, body?: object): Promise<unknown> => {
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
    const reply = await fetch(`${face.operator}/${path}`, init);
    expect(reply.status).toBe(200);
    return reply.json();
  };
  const tree = parse(readFileSync(bench.config(), 'utf8')) as Record<string, unknown>;
  const state = bench.path('state-of-the-bot');
  const file = bench.file(
    'remote.yaml',
    stringify({
      ...tree,
      // So that the market's next move makes it place anew.
      strategy: { ...(tree['strategy'] as object), refreshToleranceBps: 0.2 },
      state: { dir: state },
      exchange: { kind: 'remote', restUrl: `${face.url}/api`, stream: false },
    }),
  );
  const bot = puntas(['run', '-c', file, '--json'], { PUNTAS_API_KEY: face.key, PUNTAS_API_SECRET: face.secret });
  try {
    await bot.sees(/"msg":"quoting"/);
    await operate('PATCH', 'books/btc_mxn', { tick_size: '500', maker: '0.0004', taker: '0.0008' });
    // It finds out at the first order that is refused, or within five minutes; here another program's order would do it too.
    await bot.sees(/the exchange changed btc_mxn: tick 10 -> 500, maker fee .* -> 0\.0400 %/);
    await bot.sees(/"msg":"run \d+ goes on"/);
    await expect.poll(() => pricesIn(operate), { timeout: 60_000, interval: 500 }).toSatisfy(isOnTick);
    expect(latchIn(state).read()).toBeNull();
    await operate('PATCH', 'books/btc_mxn', { listed: false });
    await bot.sees(/does not list btc_mxn any more: nothing is quoted until it does/);
    expect(latchIn(state).read()).toBeNull();
  } finally {
    bot.signal('SIGKILL');
    exchange.signal('SIGTERM');
    await Promise.all([bot.ended, exchange.ended]);
  }
});

/** Prices of the account's open orders, as the exchange itself has them. */
async function pricesIn(operate: (method: string, path: string) => Promise<unknown>): Promise<string[]> {
  const { accounts } = (await operate('GET', 'truth')) as {
    readonly accounts: readonly { readonly live_orders: readonly { readonly price: string }[] }[];
  };
  return accounts.flatMap(({ live_orders }) => live_orders.map(({ price }) => price));
}

const isOnTick = (prices: readonly string[]): boolean =>
  prices.length >= 2 && prices.every(price => Number(price) % 500 === 0);

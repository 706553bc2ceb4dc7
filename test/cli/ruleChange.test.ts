/** Real processes: an operator changes tick, fees and listing of a book on the embedded exchange while a bot trades there over sockets. */
import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { latchIn } from '../../src/live/safety/latch.ts';
import { openExchange, type EmbeddedExchange } from './embeddedExchange.ts';
import { Bench, puntas, type Program } from './program.ts';

const bench = new Bench();
afterAll(() => bench.clear());

type Operate = EmbeddedExchange['operate'];

/** An exchange and a bot that trades there, each a process, and the way of an operator; both are ended afterwards. */
async function trading(use: (bot: Program, operate: Operate, state: string) => Promise<void>): Promise<void> {
  const { url, keys, operate, close } = await openExchange(bench.config());
  const tree = parse(readFileSync(bench.config(), 'utf8')) as Record<string, unknown>;
  const { dir: state } = tree['state'] as { readonly dir: string };
  const file = bench.file(
    'remote.yaml',
    stringify({
      ...tree,
      // So that the market's next move makes it place anew.
      strategy: { ...(tree['strategy'] as object), refreshToleranceBps: 0.2 },
      exchange: { kind: 'remote', restUrl: `${url}/api`, stream: false },
    }),
  );
  const bot = puntas(['run', '-c', file, '--json'], keys);
  try {
    await bot.sees(/"msg":"quoting"/);
    await use(bot, operate, state);
    expect(latchIn(state).read()).toBeNull();
  } finally {
    bot.signal('SIGKILL');
    await Promise.all([bot.ended, close()]);
  }
}

test('a bot quotes on the new tick, with the new fees, and withdraws from a book that is gone, without a halt', () =>
  trading(async (bot, operate, state) => {
    await operate('PATCH', 'books/btc_mxn', { tick_size: '500', maker: '0.0004', taker: '0.0008' });
    // It finds out at the first order that is refused, or within five minutes.
    await bot.sees(/the exchange changed btc_mxn: tick 10 -> 500, maker fee .* -> 0\.0400%/);
    await bot.sees(/"msg":"run \d+ took over"/);
    await expect.poll(() => pricesIn(operate), { interval: 500 }).toSatisfy(isOnTick);
    expect(latchIn(state).read()).toBeNull();
    await operate('PATCH', 'books/btc_mxn', { listed: false });
    await bot.sees(/no longer lists btc_mxn; nothing is quoted until it lists the book again/);
  }));

test('a bot whose amounts become too small says what is too small and why it quotes nothing, in the log and to a probe', () =>
  trading(async (bot, operate) => {
    const [, url] = await bot.sees(/metrics at (http:\/\/[\d.:]+)\/metrics/);
    await operate('PATCH', 'books/btc_mxn', { minimum_amount: '1' });
    await bot.sees(/the exchange changed btc_mxn: smallest amount 0\.0000006 -> 1; the change applies immediately/);
    const why =
      /no bid and no ask: below the minimum amount \(.* btc is below 1 btc, the exchange's minimum order amount of btc_mxn/;
    await bot.sees(new RegExp(`"nothing is quoted: ${why.source}`));
    const answer = await fetch(`${url!}/readyz`);
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ ready: false, reasons: [expect.stringMatching(why)] });
    // What is below the new bound by itself is not left standing either.
    await expect.poll(() => pricesIn(operate), { interval: 500 }).toEqual([]);
  }));

/** Prices of the account's open orders, as the exchange itself has them. */
async function pricesIn(operate: Operate): Promise<string[]> {
  const { accounts } = (await operate('GET', 'truth')) as {
    readonly accounts: readonly { readonly live_orders: readonly { readonly price: string }[] }[];
  };
  return accounts.flatMap(({ live_orders }) => live_orders.map(({ price }) => price));
}

const isOnTick = (prices: readonly string[]): boolean =>
  prices.length >= 2 && prices.every(price => Number(price) % 500 === 0);

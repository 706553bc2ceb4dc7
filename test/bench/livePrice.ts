/**
 * Time from a price on one exchange to the request of a bot on another: both exchanges in this process, so that one clock has both ends, the bot as a process
 * of its own, sockets between all.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { amount, price } from '../../src/core/index.ts';
import { realClock } from '../../src/live/realClock.ts';
import { createVenue, serve, type Switches } from '../../src/sandbox/index.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const BOOK = 'btc_mxn';
const switches: Partial<Switches> = {
  ...{ rateLimits: 'off', engineDelayMinMs: 0, engineDelayMaxMs: 0, feedDelayMinMs: 0, feedDelayMaxMs: 0 },
};
/** Between the quotes after a move and the next move; no multiple of any interval of the bot. */
const PAUSE_MS = [170, 310] as const;
/** Orders that a move replaces. */
const REPLACED = 3;

export type LivePriceFigures = { readonly moves: number; readonly p50Ms: number; readonly p99Ms: number };

const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

/** Moves the price there `moves` times by 10 bps and waits for the first request about an order here. */
export async function livePriceBench(moves = 300): Promise<LivePriceFigures> {
  const clock = realClock();
  const [there, here] = [createVenue({ clock, switches }), createVenue({ clock, switches })];
  const account = here.openAccount({ balances: { mxn: '9000000', btc: '1.5' }, volume30d: { mxn: '200000000' } });
  let onOrder: (() => void) | null = null;
  let placed = 0;
  const heard: typeof here.respond = (request, peer) => {
    const isOrder = request.target.includes('/v3/orders');
    if (isOrder && request.method !== 'GET') onOrder?.();
    if (isOrder && request.method === 'POST') placed++;
    return here.respond(request, peer);
  };
  for (const { marketplace } of [there, here].map(venue => ({ marketplace: venue.marketplace(BOOK) })))
    for (const [side, mxn] of [
      ['buy', 1_499_000],
      ['sell', 1_504_000],
    ] as const)
      marketplace.place(side, price(mxn / Number(marketplace.instrument.tick)), amount(1_000_000), 'GTC');
  const place = there.marketplace(BOOK);
  const top = () => place.place('sell', price(1_501_000 / Number(place.instrument.tick)), amount(1_000_000), 'GTC').id;
  let best: number | null = top();
  const options = { host: '127.0.0.1', port: 0 };
  const servers = [
    await serve({ respond: there.respond, stream: there.stream }, options),
    await serve({ respond: heard, stream: here.stream }, options),
  ] as const;
  const [thereUrl, hereUrl] = servers.map(({ url }) => url) as [string, string];
  const dir = mkdtempSync(join(tmpdir(), 'puntas-bench-'));
  const file = join(dir, 'here.yaml');
  const stream = (url: string) => url.replace('http', 'ws');
  const shipped = parse(readFileSync(join(ROOT, 'config/sandbox.yaml'), 'utf8')) as { limits: object };
  writeFileSync(
    file,
    stringify({
      ...shipped,
      exchange: {
        ...{ kind: 'remote', restUrl: hereUrl, streamUrl: stream(hereUrl) },
        budgets: { publicPerMinute: 10_000, privatePerMinute: 10_000 },
      },
      reference: {
        sources: [
          {
            ...{ name: 'there', books: [BOOK] },
            from: { venue: 'bitso', restUrl: thereUrl, streamUrl: stream(thereUrl) },
          },
        ],
      },
      fairValue: { withinBps: 100, reference: {} },
      limits: { ...shipped.limits, collarBps: 500 },
      halts: { messagesPerMinute: 100_000 },
      state: { dir: join(dir, 'state') },
      metrics: { port: 0 },
    }),
  );
  const bot = spawn(process.execPath, [join(ROOT, 'dist/src/main.js'), 'run', '-c', file], {
    env: { ...process.env, PUNTAS_API_KEY: account.key, PUNTAS_API_SECRET: account.secret },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  bot.stderr.setEncoding('utf8').on('data', (chunk: string) => (log += chunk));
  const ended = new Promise<void>(resolve => bot.once('close', () => resolve()));
  try {
    const until = performance.now() + 60_000;
    while (!/"bids":3,"asks":3/.test(log)) {
      if (performance.now() > until || bot.exitCode !== null) throw new Error(`the bot does not quote:\n${log}`);
      await pause(100);
    }
    const took: number[] = [];
    for (let move = 0; move < moves; move++) {
      await pause(PAUSE_MS[0] + Math.random() * (PAUSE_MS[1] - PAUSE_MS[0]));
      placed = 0;
      const ms = await new Promise<number>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`no request after a move:\n${log}`)), 10_000);
        const since = performance.now();
        onOrder = () => {
          onOrder = null;
          clearTimeout(timer);
          resolve(performance.now() - since);
        };
        if (best === null) best = top();
        else {
          place.cancel(best);
          best = null;
        }
      });
      took.push(ms);
      // A canceled order is looked up before its place is taken again, at most once per second.
      for (let waited = 0; placed < REPLACED && waited < 3_000; waited += 20) await pause(20);
    }
    took.sort((a, b) => a - b);
    const at = (share: number): number => took[Math.min(took.length - 1, Math.floor(share * took.length))]!;
    return { moves, p50Ms: at(0.5), p99Ms: at(0.99) };
  } finally {
    bot.kill('SIGTERM');
    await ended;
    for (const server of servers) await server.close();
    for (const venue of [there, here]) venue.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

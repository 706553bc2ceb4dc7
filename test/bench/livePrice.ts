/**
 * Time from a price on one exchange to the request of a bot on another: both exchanges in this process, so that one clock has both ends, the bot as a process
 * of its own, sockets between all.
 */
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { amount, price } from '../../src/core/index.ts';
import { realClock } from '../../src/live/realClock.ts';
import { createVenue } from '../../src/sandbox/index.ts';
import { pause } from './pause.ts';
import { Probed } from './probed.ts';
import { AT_ONCE, BOOK, twoServed } from './twoServed.ts';

/** Between the quotes after a move and the next move; no multiple of any interval of the bot. */
const PAUSE_MS = [170, 310] as const;
/** Orders that a move replaces. */
const REPLACED = 3;

export type Percentiles = { readonly p50Ms: number; readonly p99Ms: number };
export type LivePriceFigures = {
  readonly moves: number;
  /** From the frame with the price to the first request about an order. */
  readonly request: Percentiles;
  /** From that frame to the first new order, which is on disk before it is sent. */
  readonly order: Percentiles;
  /** One write to the disk of the bot, until it is durable. */
  readonly write: Percentiles;
  /** Part of the time in which the bot's main thread was ready but waited for a processor: the load of the machine. */
  readonly waitedShare: number;
};

export function percentiles(took: readonly number[]): Percentiles {
  const sorted = took.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}

/** Times of durable writes of one page in a folder. */
export function writesIn(dir: string, count: number): readonly number[] {
  const fd = openSync(join(dir, 'page'), 'w');
  const page = Buffer.alloc(4_096);
  const took = Array.from({ length: count }, () => {
    const since = performance.now();
    writeSync(fd, page);
    fdatasyncSync(fd);
    return performance.now() - since;
  });
  closeSync(fd);
  return took;
}

/** Moves the price there `moves` times by 10 bps and waits for the first request about an order here. */
export async function livePriceBench(moves = 300): Promise<LivePriceFigures> {
  const clock = realClock();
  const [there, here] = [createVenue({ clock, switches: AT_ONCE }), createVenue({ clock, switches: AT_ONCE })];
  const account = here.openAccount({ balances: { mxn: '9000000', btc: '1.5' }, volume30d: { mxn: '200000000' } });
  let onOrder: ((isNew: boolean) => void) | null = null;
  let placed = 0;
  const heard: typeof here.respond = (request, peer) => {
    const isOrder = request.target.includes('/v3/orders');
    if (isOrder && request.method === 'POST') placed++;
    if (isOrder && request.method !== 'GET') onOrder?.(request.method === 'POST');
    return here.respond(request, peer);
  };
  let onFrame: (() => void) | null = null;
  const sent: typeof there.stream = {
    connect: (send, close, socket) =>
      there.stream.connect(
        text => {
          if (text.includes(BOOK)) onFrame?.();
          send(text);
        },
        close,
        socket,
      ),
    close: () => there.stream.close(),
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
  const { dir, file, close } = await twoServed(
    { respond: heard, stream: here.stream },
    { respond: there.respond, stream: sent },
    'config/sandbox.yaml',
    (_, address) => ({
      reference: { sources: [{ ...{ name: 'there', books: [BOOK] }, from: { venue: 'bitso', ...address } }] },
      fairValue: { withinBps: 100, reference: {} },
    }),
  );
  const writes = writesIn(dir, moves);
  const bot = new Probed(['run', '-c', file], {
    env: { PUNTAS_API_KEY: account.key, PUNTAS_API_SECRET: account.secret },
  });
  try {
    await bot.says(/"bids":3,"asks":3/, 60_000);
    const [requests, orders]: [number[], number[]] = [[], []];
    const [since, before] = [performance.now(), await bot.sample()];
    for (let move = 0; move < moves; move++) {
      await pause(PAUSE_MS[0] + Math.random() * (PAUSE_MS[1] - PAUSE_MS[0]));
      placed = 0;
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`no request after a move:\n${bot.heard}`)), 10_000);
        let frameAt: number | null = null;
        let isFirst = true;
        onFrame = () => (frameAt ??= performance.now());
        onOrder = isNew => {
          if (frameAt === null) return;
          const ms = performance.now() - frameAt;
          if (isFirst) requests.push(ms);
          if (isNew) {
            orders.push(ms);
            onOrder = null;
          }
          isFirst = false;
          clearTimeout(timer);
          resolve();
        };
        if (best === null) best = top();
        else {
          place.cancel(best);
          best = null;
        }
      });
      // A canceled order is looked up before its place is taken again, at most once per second.
      for (let waited = 0; placed < REPLACED && waited < 3_000; waited += 20) await pause(20);
      [onFrame, onOrder] = [null, null];
    }
    const waitedMs = (await bot.sample()).queuedMs - before.queuedMs;
    return {
      moves,
      ...{ request: percentiles(requests), order: percentiles(orders), write: percentiles(writes) },
      waitedShare: waitedMs / (performance.now() - since),
    };
  } finally {
    bot.signal('SIGTERM');
    await bot.ended;
    await close();
    for (const venue of [there, here]) venue.close();
  }
}

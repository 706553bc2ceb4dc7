/** Days in the life of the shipped bot beside the embedded exchange, to see whether either grows: the heap once a day, after a forced collection. */
import { clientOf, engineOf } from '../../src/wiring/bot.ts';
import { loadConfig } from '../../src/config.ts';
import {
  randomOf,
  Secret,
  settle,
  TransportFailure,
  VirtualClock,
  type Clock,
  type Millis,
  type Transport,
  type WireReply,
} from '../../src/core/index.ts';
import { journalIn, openDatabase } from '../../src/live/state/journal.ts';
import type { Latch } from '../../src/live/safety/latch.ts';
import { RecordingRotation } from '../../src/live/loop/recordingRotation.ts';
import { createVenue, FLOW_PROFILES, seededFlow } from '../../src/sandbox/index.ts';
import { isSuccess } from './world/wire.ts';
import { OPEN_LATCH } from '../live/openLatch.ts';

export type SoakOptions = {
  readonly days: number;
  readonly seed: number;
  /** Share of requests that are lost, of answers that are lost, and of answers that are errors, each. */
  readonly faults: number;
  /** Called after each simulated day. */
  readonly onDay: (day: SoakDay) => void;
};

export type SoakDay = {
  readonly day: number;
  /** Bytes in use after a forced collection. */
  readonly heap: number;
  readonly rss: number;
  /** Since the start. */
  readonly requests: number;
  readonly orders: number;
  readonly fills: number;
  readonly runs: number;
};

const BOOK = 'btc_mxn';
const DAY_MS = 86_400_000;
const HOP_MS = 15;
const DEADLINE_MS = 5_000;

/** As it ships, but with slower polls: a month has to pass within the hour. What is kept is counted in orders and trades, not in polls. */
const CONFIG = {
  instance: 'soak',
  book: BOOK,
  exchange: { kind: 'embedded', stream: false },
  strategy: { name: 'ladder', halfSpreadBps: 11, levels: 3, levelSpacingBps: 6, amount: '0.004', minEdgeBps: 1 },
  limits: {
    positionMax: '0.3',
    orderValueMax: '50000',
    ordersMax: 12,
    collarBps: 200,
    drawdownMax: '500000',
    dayLossMax: '500000',
  },
  inventory: { target: '5' },
  timing: { decideEveryMs: 5_000, bookPollMs: 5_000, privatePollMs: 10_000, staleAfterMs: 12_000 },
};

/** Rejects when the bot breaks, is halted, or does not leave the exchange as it should. Needs `node --expose-gc`. */
export async function soak({ days, seed, faults, onDay }: SoakOptions): Promise<void> {
  const collect = globalThis.gc;
  if (!collect) throw new Error('the heap is measured after a forced collection: run with node --expose-gc');
  const loaded = loadConfig(JSON.stringify(CONFIG), 'the soak');
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  const { config } = loaded;
  const world = new VirtualClock();
  let touched = true;
  /** Only what reaches the bot leaves promises to settle. */
  const clock: Clock = {
    now: () => world.now(),
    elapsed: () => world.elapsed(),
    after: (ms, call) =>
      world.after(ms, () => {
        touched = true;
        call();
      }),
  };
  const exchange = createVenue({ clock: { ...clock, after: (ms, call) => world.after(ms, call) }, seed });
  const account = exchange.openAccount({
    balances: { btc: '5', mxn: '10000000' },
    volume30d: { mxn: '200000000' },
  });
  const market = seededFlow({ seed, profile: FLOW_PROFILES[BOOK]! });
  market.start(exchange.marketplace(BOOK));

  let requests = 0;
  let orders = 0;
  let fills = 0;
  let runs = 1;
  const random = randomOf(seed);
  const strikes = () => faults > 0 && random.next() < faults;
  const error: WireReply = { status: 502, headers: {}, body: '<html>Bad gateway</html>' };
  const transport: Transport = {
    send: request =>
      new Promise((resolve, reject) => {
        requests++;
        const give = clock.after(DEADLINE_MS, () => reject(new TransportFailure('no complete answer', true)));
        if (strikes()) return;
        world.after(HOP_MS, () => {
          const reply = exchange.respond(request, '127.0.0.1');
          if (request.method === 'POST' && isSuccess(reply)) orders++;
          if (strikes()) return;
          clock.after(HOP_MS, () => {
            give.stop();
            resolve(strikes() ? error : reply);
          });
        });
      }),
    close: () => Promise.resolve(),
  };
  const journal = journalIn(openDatabase(':memory:'), { account: 'soak', at: clock.now(), setup: '' });
  const venue = {
    ...{ restUrl: 'http://127.0.0.1/api', key: account.key, secret: new Secret(account.secret), speed: 1, transport },
  };
  let broken: string | null = null;
  const latch: Latch = {
    ...OPEN_LATCH,
    set: ({ reason }) => void (broken = reason),
  };
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const opening = RecordingRotation.open({
    bot: { book: BOOK, instance: config.instance, resumeCommand: 'puntas resume' },
    clock,
    log: silent,
    venue: { exchange: clientOf(config, venue, clock, seed, { journal }) },
    state: { journal, latch },
    timing: config.timing,
    roll: { afterMs: config.journal.rollHours * 3_600_000, bytes: Infinity, onRolled: () => runs++ },
    makeEngine: (rules, onNews, run) => engineOf(config, rules, run, onNews),
    onNews: news => void (fills += news.kind === 'fill' ? 1 : 0),
  });

  const pass = async (ms: Millis): Promise<void> => {
    const until = world.elapsed() + ms;
    await settle();
    for (let due = world.nextDue(); due !== undefined && due <= until; due = world.nextDue()) {
      world.runNext();
      if (!touched) continue;
      touched = false;
      await settle();
      if (broken !== null) throw new Error(`the bot halted at ${world.elapsed()} ms: ${broken}`);
    }
    await world.advance(until - world.elapsed());
  };
  await pass(1_000);
  const rotation = await opening;
  rotation.start(() => void (broken ??= 'it broke'));
  for (let day = 1; day <= days; day++) {
    await pass(DAY_MS - (day === 1 ? 1_000 : 0));
    collect();
    collect();
    const { heapUsed: heap, rss } = process.memoryUsage();
    onDay({ day, heap, rss, requests, orders, fills, runs });
  }
  const stopping = rotation.stop();
  await pass(120_000);
  const { left, ledgerMatches } = await stopping;
  market.stop();
  exchange.close();
  if (left.length > 0 || !ledgerMatches)
    throw new Error(`the stop left ${left.join(', ')}, ledger ${ledgerMatches ? 'right' : 'wrong'}`);
}

/** Least squares over the days after `from`: MB a day, and the upper end of its 95 % interval. */
export function slopeOf(days: readonly SoakDay[], from: number): { readonly slope: number; readonly upper: number } {
  const points = days.filter(({ day }) => day > from).map(({ day, heap }) => [day, heap / 1e6] as const);
  const n = points.length;
  const mean = (of: (point: readonly [number, number]) => number) => points.reduce((sum, p) => sum + of(p), 0) / n;
  const [x, y] = [mean(([day]) => day), mean(([, heap]) => heap)];
  const sxx = points.reduce((sum, [day]) => sum + (day - x) ** 2, 0);
  const slope = points.reduce((sum, [day, heap]) => sum + (day - x) * (heap - y), 0) / sxx;
  const rest = points.reduce((sum, [day, heap]) => sum + (heap - y - slope * (day - x)) ** 2, 0);
  return { slope, upper: slope + 1.96 * Math.sqrt(rest / (n - 2) / sxx) };
}

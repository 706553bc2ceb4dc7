/**
 * Time from a fill on one exchange to the request of its hedge on another: both exchanges in this process, so that one clock has both ends, the bot as a
 * process of its own, sockets between all.
 */
import { recordTrial } from '../../src/app/untried/untried.ts';
import { amount, price, type Side } from '../../src/core/index.ts';
import { realClock } from '../../src/live/realClock.ts';
import { createSecondExchange, createVenue, type Switches } from '../../src/sandbox/index.ts';
import { accountName } from '../../src/wiring/elsewhere/access.ts';
import { venueNamed } from '../../src/wiring/venueRegistry.ts';
import { percentiles, writesIn, type Percentiles } from './livePrice.ts';
import { pause } from './pause.ts';
import { Probed } from './probed.ts';
import { AT_ONCE, BOOK, twoServed } from './twoServed.ts';

const switches: Partial<Switches> = { ...AT_ONCE, tradeRecordDelayMs: 0 };
/**
 * Between the end of a hedge and the next fill; no multiple of any interval of the bot, and more than the reads of a fill
 * need of the one triggered read per second.
 */
const PAUSE_MS = [1_470, 2_310] as const;
/** Hedges of the smallest size that the first fill becomes, at an exchange that was tried on doubles only. */
const SMALLEST = 20;
/** Prices of the other traders, in mxn, around the bot's quotes. */
const [BID, ASK] = [1_490_000, 1_510_000] as const;

export type FillHedgeFigures = {
  readonly fills: number;
  /** From the fill at the exchange to the order of its hedge at the other. */
  readonly fill: Percentiles;
  /** From the frame that tells of the fill. */
  readonly frame: Percentiles;
  /** From the answer with the trade, which is the first certain knowledge of the fill. */
  readonly answer: Percentiles;
  /** Parts of `fill`, in sequence. */
  readonly stages: {
    readonly fillToFrame: Percentiles;
    readonly frameToRead: Percentiles;
    readonly answerToHedge: Percentiles;
  };
  /** One write to the disk of the bot, until it is durable. */
  readonly write: Percentiles;
  /** Part of the time in which the bot's main thread was ready but waited for a processor: the load of the machine. */
  readonly waitedShare: number;
};

/** Times of one fill; `null` until they are known. */
type Times = { fill: number; frame: number | null; read: number | null; answer: number | null; hedge: number | null };

/** Fills the bot's best quote `fills` times, bids and asks in turn, and waits for the order of the hedge. */
export async function fillHedgeBench(fills = 100): Promise<FillHedgeFigures> {
  const clock = realClock();
  const here = createVenue({ clock, switches });
  const there = createSecondExchange({ clock, switches: { rateLimits: 'off' } });
  const account = here.openAccount({ balances: { mxn: '9000000', btc: '3' }, volume30d: { mxn: '200000000' } });
  const other = there.openAccount({ balances: { mxn: '9000000', btc: '3' } });
  let times: Times | null = null;
  let settled = 0;
  const heard: typeof here.respond = (request, peer) => {
    const isTrades = request.target.includes('/user_trades');
    const askedAt = performance.now();
    const reply = here.respond(request, peer);
    if (isTrades && times?.answer === null && reply.body.includes('"tid"')) {
      [times.read, times.answer] = [askedAt, performance.now()];
    }
    return reply;
  };
  const sent: typeof here.stream = {
    connect: (send, close, socket) =>
      here.stream.connect(
        text => {
          if (times !== null && text.includes('"type":"trades"')) times.frame ??= performance.now();
          send(text);
        },
        close,
        socket,
      ),
    close: () => here.stream.close(),
  };
  const hedged: typeof there.respond = (request, peer) => {
    const { method, target } = request;
    if (method === 'POST' && target.startsWith('/api/v3/order') && times !== null) times.hedge ??= performance.now();
    // The trades of a hedge are read last, and its outcome is then known.
    if (target.startsWith('/api/v3/myTrades')) settled++;
    return there.respond(request, peer);
  };
  const place = here.marketplace(BOOK);
  const ticks = (mxn: number) => price(mxn / Number(place.instrument.tick));
  const far = there.marketplace(BOOK);
  for (const [side, mxn] of [
    ['buy', BID],
    ['sell', ASK],
  ] as const) {
    place.place(side, ticks(mxn), amount(1_000_000_000), 'GTC');
    far.place(side, price(mxn + (side === 'buy' ? 9_500 : -9_500)), amount(5_000_000), 'GTC');
  }
  const served = await twoServed(
    { respond: heard, stream: sent },
    { respond: hedged, stream: there.stream },
    'config/elsewhere.yaml',
    ({ strategy }, address) => ({
      ...{ reference: undefined, fairValue: undefined },
      elsewhere: { ...{ kind: 'remote', venue: 'binance', acceptUntried: 'binance', book: BOOK }, ...address },
      strategy: { ...strategy, levels: 1, halfSpreadBps: 20 },
      inventory: { target: '6' },
    }),
  );
  const { dir, file, state } = served;
  const named = accountName({ restUrl: venueNamed('binance').restUrl(served.there.restUrl), key: other.key });
  const tried = { section: 'elsewhere', name: 'binance', account: named } as const;
  recordTrial(state, tried, 'the exchange is a double', clock.now());
  const writes = writesIn(dir, fills);
  const bot = new Probed(['run', '-c', file], {
    env: {
      ...{ PUNTAS_API_KEY: account.key, PUNTAS_API_SECRET: account.secret },
      ...{ PUNTAS_ELSEWHERE_API_KEY: other.key, PUNTAS_ELSEWHERE_API_SECRET: other.secret },
    },
  });
  const until = async (isTrue: () => boolean, withinMs: number, what: string) => {
    for (let waited = 0; !isTrue(); waited += 5) {
      if (waited > withinMs || bot.isOver) throw new Error(`${what}:\n${bot.heard.slice(-3_000)}`);
      await pause(5);
    }
  };
  const isQuoted = () => place.bestBid() > ticks(BID) && place.bestAsk() < ticks(ASK);
  /** Fills the best quote of a side with an order of another trader. */
  const fill = (side: Side): Times => {
    const best = side === 'buy' ? place.bestBid() : place.bestAsk();
    times = { fill: performance.now(), frame: null, read: null, answer: null, hedge: null };
    place.place(side === 'buy' ? 'sell' : 'buy', best, amount(400_000), 'IOC');
    return times;
  };
  try {
    await until(isQuoted, 60_000, 'no quotes');
    fill('buy');
    await until(() => settled > SMALLEST, 120_000, 'the first hedges did not end');
    const rows: { readonly [stage in keyof Times]: number }[] = [];
    const [since, before] = [performance.now(), await bot.sample()];
    for (let n = 0; n < fills; n++) {
      await pause(PAUSE_MS[0] + Math.random() * (PAUSE_MS[1] - PAUSE_MS[0]));
      await until(isQuoted, 30_000, 'no quotes after a hedge');
      const last = settled;
      const of = fill(n % 2 === 0 ? 'sell' : 'buy');
      await until(() => of.hedge !== null, 20_000, 'no hedge after a fill');
      await until(() => settled > last, 20_000, 'a hedge did not end');
      const { frame, read, answer, hedge } = of;
      if (read === null || answer === null || hedge === null) throw new Error('a hedge before the read of its fill');
      // A poll may read the trade before the frame is sent.
      rows.push({ fill: of.fill, frame: Math.min(frame ?? read, read), read, answer, hedge });
    }
    const waitedMs = (await bot.sample()).queuedMs - before.queuedMs;
    const between = (from: keyof Times, to: keyof Times) => percentiles(rows.map(row => row[to] - row[from]));
    return {
      fills,
      ...{ fill: between('fill', 'hedge'), frame: between('frame', 'hedge'), answer: between('answer', 'hedge') },
      stages: {
        fillToFrame: between('fill', 'frame'),
        frameToRead: between('frame', 'read'),
        answerToHedge: between('answer', 'hedge'),
      },
      write: percentiles(writes),
      waitedShare: waitedMs / (performance.now() - since),
    };
  } finally {
    bot.signal('SIGTERM');
    await bot.ended;
    await served.close();
    for (const venue of [here, there]) venue.close();
  }
}

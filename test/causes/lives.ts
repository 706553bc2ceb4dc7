/**
 * The table: what causes each regime, halt, pause and alert on a real bot with a configuration that ships, and what a
 * person reads then.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SHOWN } from '../runbook/stage.ts';
import type { Life, Step } from './life.ts';
import type { Scene } from './scene.ts';

const ORDERS = /^POST \S*\/v3\/orders/;
const CANCELS = /^DELETE \S*\/v3\/orders/;
const BOOKS = /^GET \S*\/v3\/order_book/;
const OWN = /^GET \S*\/v3\/(?:open_orders|user_trades)/;

/** The line is as it was: it quotes again. */
const mended = (cause: string): Step => ({
  of: [],
  cause,
  does: ({ wire }) => {
    wire.rules = [];
    wire.setStream(true);
  },
  log: ['"msg":"quoting"'],
  ready: true,
});

/** Another program of the account cancels everything: the bot places again. */
const canceledByOthers = async (scene: Scene) => void (await (await scene.same()).cancelAll());

export const LIVES: readonly Life[] = [
  {
    name: 'a sentinel',
    shipped: 'sandbox',
    changes: { sentinel: { required: true, ttlMs: 15_000 } },
    exchange: 'shared',
    begins: 'not quoting: sentinel is missing',
    code: 0,
    steps: [
      {
        of: ['pause: sentinel is missing'],
        cause: 'none is started',
        ready: 'sentinel is missing',
        explain: 'not quoting: sentinel is missing',
        alerts: { PuntasSentinelGone: '… no sentinel heartbeat' },
      },
      {
        of: [],
        cause: '`puntas sentinel` is started',
        does: scene => scene.startSentinel(),
        log: ['"msg":"quoting"'],
        ready: true,
      },
      {
        of: ['pause: held by the sentinel'],
        cause: 'the line of the bot is cut, that of the sentinel is not',
        does: ({ wire }) => {
          wire.rules = [{ of: /./, does: 'lost' }];
        },
        log: [
          'sentinel: cut off: the bot runs but has read nothing for … s, while the exchange answers the sentinel; quotes are blocked until the sentinel sees that this bot reads the exchange again',
          'not quoting: held by the sentinel',
        ],
        ready: 'held by the sentinel',
        explain: 'not quoting: held by the sentinel',
      },
      mended('the line is back'),
      {
        of: ['halt: sentinel: no life'],
        cause: 'SIGSTOP for longer than `sentinel.ttlMs`',
        does: async scene => {
          scene.bot.run.signal('SIGSTOP');
          await scene.latched();
          scene.bot.run.signal('SIGCONT');
        },
        log: [
          'halted: sentinel: the bot has shown no life for … s; frozen: its process … is there; investigate, then resume with: npx puntas resume',
        ],
        halted: 'sentinel: the bot has shown no life for … s; frozen: its process … is there',
        ready: 'halted: …',
        explain: 'regime: halted since …: sentinel: the bot has shown no life for …',
      },
      {
        of: [],
        cause: '`puntas resume`',
        does: scene => scene.types('resume', '--reason', 'looked'),
        log: ['"msg":"quoting"'],
        ready: true,
      },
    ],
  },
  {
    name: 'started anew',
    shipped: 'sandbox',
    // Within it a process has to be started, however busy the machine is.
    changes: { sentinel: { ttlMs: 90_000 } },
    exchange: 'shared',
    code: 1,
    steps: [
      {
        of: ['halt: sentinel: started anew'],
        cause: 'held back as before; then the process is killed, and started before `sentinel.ttlMs` is over',
        does: async scene => {
          scene.startSentinel();
          scene.wire.rules = [{ of: /./, does: 'lost' }];
          await scene.bot.hears(/quotes are blocked/, scene.bot.heard);
          scene.bot.run.signal('SIGKILL');
          await scene.bot.run.ended;
          scene.wire.rules = [];
          await scene.start(/halted: |not quoting: held/);
        },
        log: [
          'halted: sentinel: the bot was started anew while it was held back (cut off: …); investigate, then resume with: npx puntas resume',
        ],
        halted: 'sentinel: the bot was started anew while it was held back (cut off: …)',
        ready: 'halted: …',
        explain: 'regime: halted since …: sentinel: the bot was started anew',
      },
    ],
  },
  {
    name: 'dead',
    shipped: 'sandbox',
    exchange: 'shared',
    code: 0,
    steps: [
      {
        of: [],
        cause: 'SIGKILL',
        does: async ({ bot }) => {
          bot.run.signal('SIGKILL');
          await bot.run.ended;
        },
        // A busy machine may have paused it in its last seconds: `before: normal since`.
        explain: 'normal since …: no restriction applies',
        alerts: { PuntasDown: '… does not answer, and was not stopped cleanly' },
      },
      {
        of: [],
        cause: 'it is started again',
        does: scene => scene.start(SHOWN),
        ready: true,
      },
    ],
  },
  {
    name: 'too many orders',
    shipped: 'sandbox',
    changes: { sentinel: { ttlMs: 600_000 } },
    exchange: 'shared',
    code: 1,
    steps: [
      {
        of: ['halt: sentinel: too many orders'],
        cause:
          'thirteen orders under its name while the process is frozen, and a sentinel with a patient `sentinel.ttlMs`',
        does: async scene => {
          scene.bot.run.signal('SIGSTOP');
          const program = await scene.same();
          for (let i = 0; i < 13; i++) await scene.placeAs(program, `${scene.name}-1-${900 + i}`);
          scene.startSentinel();
          await scene.latched();
          scene.bot.run.signal('SIGCONT');
        },
        log: ['halted: sentinel: … live orders, the limit is 12; investigate, then resume with: npx puntas resume'],
        halted: 'sentinel: … live orders, the limit is 12',
        ready: 'halted: …',
        explain: 'regime: halted since …: sentinel: … live orders, the limit is 12',
      },
    ],
  },
  {
    name: 'the line',
    shipped: 'sandbox',
    exchange: 'shared',
    code: 0,
    steps: [
      {
        of: ['pause: book stale'],
        cause: 'the stream is cut, and no order book is answered',
        does: ({ wire }) => {
          wire.setStream(false);
          wire.rules = [{ of: BOOKS, does: 'lost' }];
        },
        log: ['not quoting: book stale', 'order_book: no usable answer'],
        ready: 'book stale',
        explain: 'not quoting: book stale',
        alerts: { PuntasBookStale: 'btc_mxn: no order book for …s' },
      },
      mended('the line is back'),
      {
        of: ['pause: book crossed'],
        cause: 'the stream is cut, and the order book is answered with a bid above the ask',
        does: ({ wire }) => {
          wire.setStream(false);
          const changed = (text: string) => {
            const told = JSON.parse(text) as { payload: { bids: unknown[]; asks: unknown[] } };
            const { bids, asks } = told.payload;
            return JSON.stringify({
              ...told,
              payload: { ...told.payload, bids: asks.slice(0, 1), asks: bids.slice(0, 1) },
            });
          };
          wire.rules = [{ of: BOOKS, does: { changed } }];
        },
        log: ['not quoting: book crossed'],
        ready: 'book crossed',
        explain: 'not quoting: book crossed',
      },
      mended('the line is back'),
      {
        of: ['pause: private data stale'],
        cause: 'no read of own orders and trades is answered',
        does: ({ wire }) => {
          wire.rules = [{ of: OWN, does: 'lost' }];
        },
        log: ['not quoting: private data stale', '… no usable answer'],
        ready: 'private data stale',
        explain: 'not quoting: private data stale',
        alerts: { PuntasRequestsFailing: '… over a fifth of the requests fail' },
      },
      mended('the line is back'),
    ],
  },
  {
    name: 'a slow line',
    shipped: 'sandbox',
    changes: { exchange: { requestTimeoutMs: 20_000 } },
    exchange: 'shared',
    before: ({ wire }) => {
      wire.rules = [{ of: /./, does: { delayMs: 3_000 } }];
    },
    begins: '"msg":"quoting"',
    code: 0,
    steps: [
      {
        of: [],
        cause: 'every answer takes three seconds',
        alerts: { PuntasRequestsSlow: '… one request in ten takes over …' },
      },
    ],
  },
  {
    name: 'a slow machine',
    shipped: 'sandbox',
    exchange: 'shared',
    code: 0,
    steps: [
      {
        of: [],
        cause: 'the process gets the processor for at most 3 ms, then not for 150 ms, again and again',
        does: scene => scene.starve(),
        alerts: { PuntasLoopSlow: '… one decision in a hundred takes over 50 ms' },
      },
    ],
  },
  {
    name: 'a person',
    shipped: 'sandbox',
    exchange: 'by hand',
    code: 1,
    steps: [
      {
        of: ['regime: normal'],
        cause: '`puntas run`',
        ready: true,
        explain: 'regime: normal since …: no restriction applies',
        metrics: ['puntas_regime{book="btc_mxn",regime="normal"} 1'],
      },
      {
        of: ['regime: reduce only', 'reduce only: a person', 'level: reduce only'],
        cause: '`puntas reduce`',
        does: scene => scene.types('reduce', '--reason', 'before the weekend'),
        log: ['regime: reduce only (before the weekend), was normal'],
        explain: 'bid: not placed: reduce only',
        metrics: ['puntas_not_quoting{book="btc_mxn",reason="bid: reduce only"} 1'],
        alerts: { PuntasNotQuoting: 'btc_mxn: …: bid: reduce only' },
      },
      {
        of: [],
        cause: '`puntas resume`',
        does: scene => scene.types('resume', '--reason', 'the weekend is over'),
        log: ['regime: normal (no restriction applies), was …'],
        ready: true,
      },
      {
        of: ['pause: paused by a person'],
        cause: '`puntas pause`',
        does: scene => scene.types('pause', '--reason', 'a look at the feed', '--by', 'ann'),
        log: ['paused by ann: a look at the feed', 'not quoting: paused by a person'],
        ready: 'paused by a person: a look at the feed',
        explain: 'not quoting: paused by a person',
        metrics: ['puntas_regime{book="btc_mxn",regime="paused"} 1'],
      },
      {
        of: [],
        cause: '`puntas resume`',
        does: scene => scene.types('resume', '--reason', 'the feed is fine'),
        log: ['"msg":"quoting"'],
        ready: true,
      },
      {
        of: ['regime: halted', 'pause: halted', 'halt: a person'],
        cause: '`puntas halt`',
        does: scene => scene.types('halt', '--reason', 'looks wrong to me'),
        log: ['halted: …looks wrong to me; investigate, then resume with: npx puntas resume', 'not quoting: halted'],
        halted: 'looks wrong to me',
        ready: 'halted: …',
        explain: 'regime: halted since …: …looks wrong to me',
        alerts: { PuntasHalted: 'btc_mxn: halted; nothing is quoted until the operator resumes it' },
      },
      {
        of: [],
        cause: '`puntas resume`',
        does: scene => scene.types('resume', '--reason', 'all is well'),
        log: ['"msg":"quoting"'],
        ready: true,
      },
      {
        of: ['halt: the latch cannot be read'],
        cause: 'the file HALTED holds something else',
        does: ({ state }) => writeFileSync(join(state, 'HALTED'), 'what is this'),
        log: ['halted: the latch …HALTED is there but not readable; investigate, then resume with: npx puntas resume'],
        ready: 'halted: …',
        explain: 'regime: halted since …: the latch …HALTED is there but not readable',
      },
      {
        of: ['pause: stopping'],
        cause: 'SIGTERM',
        does: async ({ bot }) => {
          bot.run.signal('SIGTERM');
          await bot.run.ended;
        },
        log: ['stopping (SIGTERM): canceling all orders and verifying that none is left'],
        explain: 'not quoting: stopping',
      },
    ],
  },
  {
    name: 'sources of the reference price',
    shipped: 'sandbox',
    changes: {
      reference: {
        everyMs: 500,
        sources: ['a', 'b', 'c'].map(name => ({ name, books: ['btc_mxn'], from: { feed: name } })),
        feeds: ['a', 'b', 'c'].map(name => ({ name, file: `price-${name}` })),
      },
    },
    exchange: 'shared',
    before: scene => ['a', 'b', 'c'].forEach(name => scene.show(name, '1500000')),
    begins: '"msg":"quoting"',
    code: 0,
    steps: [
      {
        of: [],
        cause: 'one of three sources says 10% more',
        does: scene => scene.show('c', '1650000'),
        ready: true,
        explain: 'source c: not used: divergent (1000.0 bps from the median, maximum 50 bps)',
        metrics: ['puntas_source_state{book="btc_mxn",source="c",state="divergent"} 1'],
        alerts: { PuntasSourceDivergent: 'btc_mxn: source c of the reference price differs from the others' },
      },
      {
        of: ['pause: no live price'],
        cause: 'the other two say nothing readable any more',
        does: scene => ['a', 'b', 'c'].forEach(name => scene.show(name, 'none')),
        log: ['not quoting: no live price (0 of 3 sources used, at least 1 needed; a lost (feed a btc_mxn: …'],
        ready: 'no live price',
        explain: 'not quoting: no live price',
        alerts: { PuntasSourceLost: 'btc_mxn: source … of the reference price is not used: lost' },
      },
      {
        of: [],
        cause: 'they say a price again',
        does: scene => ['a', 'b', 'c'].forEach(name => scene.show(name, '1500000')),
        log: ['the source feed a btc_mxn has prices again', '"msg":"quoting"'],
        ready: true,
      },
    ],
  },
  {
    name: 'a first day',
    shipped: 'live',
    exchange: 'shared',
    balances: { btc: '0.01', mxn: '20000' },
    code: 0,
    steps: [
      {
        of: [],
        cause: 'as it ships, far from the touch',
        ready: true,
        alerts: { PuntasNoFills: 'btc_mxn: no fill for 6 hours while quoting' },
      },
    ],
  },
  {
    name: 'a fast market',
    shipped: 'sandbox',
    changes: { regimes: { wide: { volatilityBps: 1, volatilityMemoryMs: 10_000 } } },
    exchange: 'shared',
    begins: '"msg":"quoting"',
    code: 0,
    steps: [
      {
        of: ['regime: wide', 'wide: the price moves fast'],
        cause: 'the flow market moves, with `volatilityBps: 1`',
        log: ['regime: wide (the price moves fast), was …'],
        explain: 'regime: wide since …: the price moves fast',
        metrics: ['puntas_regime{book="btc_mxn",regime="wide"} 1'],
        ready: true,
      },
    ],
  },
  {
    name: 'the market',
    shipped: 'sandbox',
    changes: {
      // So long an order is on its way, and somebody looks.
      exchange: { requestTimeoutMs: 40_000 },
      regimes: { calmMs: 0, wide: { marketSpreadBps: 30, depthMin: '0.5', depthBps: 50 } },
    },
    exchange: 'by hand',
    // The cancels cannot be verified on a book that is gone.
    code: 3,
    steps: [
      {
        of: ['wide: the market is wide'],
        cause: 'everybody quotes 40 bps apart',
        does: ({ market }) => market.show({ half: 3_000 }),
        log: ['regime: wide (the market is wide), was …'],
        explain: 'regime: wide since …: the market is wide',
        ready: true,
      },
      {
        of: [],
        cause: 'and near again',
        does: ({ market }) => market.show(),
        explain: 'regime: normal since …: no restriction applies',
      },
      {
        of: ['wide: the book is thin'],
        cause: 'everybody shows a tenth',
        does: ({ market }) => market.show({ amount: '0.1' }),
        log: ['regime: wide (the book is thin), was …'],
        explain: 'regime: wide since …: the book is thin',
        ready: true,
      },
      {
        of: [],
        cause: 'and all of it again',
        does: ({ market }) => market.show(),
        explain: 'regime: normal since …: no restriction applies',
      },
      {
        of: ['pause: book one-sided'],
        cause: 'nobody asks',
        does: ({ market }) => market.noAsks(),
        log: ['not quoting: book one-sided'],
        ready: 'book one-sided',
        explain: 'not quoting: book one-sided',
        alerts: { PuntasNotQuoting: 'btc_mxn: …: book one-sided' },
      },
      {
        of: [],
        cause: 'they ask again',
        does: ({ market }) => market.show(),
        log: ['"msg":"quoting"'],
        ready: true,
      },
      {
        of: ['level: its order is being canceled'],
        cause: 'the price moves, and cancels get lost',
        does: async ({ market, wire }) => {
          wire.rules = [{ of: CANCELS, does: 'lost' }];
          await market.show({ mid: 1_502_000 });
        },
        explain: ': waits: its order is being canceled',
      },
      {
        of: ['level: its order is on its way'],
        cause: 'the price moves, and orders take long to arrive',
        does: async ({ market, wire }) => {
          wire.rules = [{ of: ORDERS, does: 'lost' }];
          await market.show();
        },
        explain: ': waits: its order is on its way',
      },
      {
        of: ['pause: book is not traded any more'],
        cause: 'the exchange takes the book off its list',
        does: async scene => {
          scene.wire.rules = [];
          await scene.book({ listed: false });
        },
        log: [
          'the exchange no longer lists btc_mxn; nothing is quoted until it lists the book again',
          'not quoting: book is not traded any more',
        ],
        ready: 'book is not traded any more',
        explain: 'not quoting: book is not traded any more',
      },
    ],
  },
  {
    name: 'unknown orders',
    shipped: 'sandbox',
    changes: {
      exchange: { requestTimeoutMs: 1_000 },
      timing: { requestDelayMaxMs: 5_000, tradeReportDelayMaxMs: 1_000 },
    },
    exchange: 'shared',
    code: 0,
    steps: [
      {
        of: ['pause: too many unknown orders', 'level: its order is unknown'],
        cause: 'the quotes are gone, and no new order is answered',
        does: async scene => {
          scene.wire.rules = [{ of: ORDERS, does: 'lost' }];
          await canceledByOthers(scene);
        },
        log: ['not quoting: too many unknown orders'],
        explain: ': waits: its order is unknown',
        alerts: { PuntasOrdersUnknown: 'btc_mxn: … orders with an unknown outcome in 5 minutes' },
      },
      mended('orders arrive again, and the fence is over'),
    ],
  },
  {
    name: 'unknown outcomes',
    shipped: 'sandbox',
    changes: {
      exchange: { requestTimeoutMs: 1_000 },
      timing: { requestDelayMaxMs: 5_000, tradeReportDelayMaxMs: 1_000 },
      halts: { unknownsPerMinute: 3 },
    },
    exchange: 'shared',
    before: ({ wire }) => {
      wire.rules = [{ of: ORDERS, does: 'lost' }];
    },
    begins: '"msg":"quoting"',
    code: 1,
    steps: [
      {
        of: ['halt: unknown outcomes'],
        cause: 'no order is answered, with `halts.unknownsPerMinute: 3`',
        log: ['halted: unknown outcomes: more than 3 in 1 min; investigate, then resume with: npx puntas resume'],
        halted: 'unknown outcomes: more than 3 in 1 min',
        ready: 'halted: …',
        explain: 'regime: halted since …: unknown outcomes: more than 3 in 1 min',
      },
    ],
  },
  {
    name: 'its own order in the way',
    shipped: 'sandbox',
    changes: {
      exchange: { requestTimeoutMs: 1_000 },
      strategy: { levels: 1 },
      // While it is unknown the price has to rise, and somebody to look.
      timing: { requestDelayMaxMs: 60_000, tradeReportDelayMaxMs: 1_000, shutdownMs: 180_000 },
    },
    exchange: 'by hand',
    code: 0,
    steps: [
      {
        of: ['level: would cross our own order'],
        cause: 'an ask is unknown, and the price rises above it',
        does: async scene => {
          scene.wire.rules = [{ of: /^POST \S*orders .*"side":"sell"/, does: 'lost' }];
          await canceledByOthers(scene);
          await scene.sees('/metrics', /event="unknown"} [1-9]/, () => scene.page('metrics'));
          await scene.market.show({ mid: 1_506_000 });
        },
        explain: 'bid 1: not placed: would cross our own order',
      },
    ],
  },
  {
    name: 'refusals',
    shipped: 'sandbox',
    exchange: 'own',
    code: 1,
    steps: [
      {
        of: ['level: refused by the exchange', 'level: paused after refusals', 'halt: refusals'],
        cause: 'the exchange allows one open order',
        does: async scene => {
          await scene.switches({ openOrdersMax: 1 });
          await canceledByOthers(scene);
        },
        log: [
          '… was rejected (1001): ',
          'halted: refusals: more than 20 in 1 min; investigate, then resume with: npx puntas resume',
        ],
        halted: 'refusals: more than 20 in 1 min',
        ready: 'halted: …',
        explain: 'regime: halted since …: refusals: more than 20 in 1 min',
        metrics: [
          'decision="not placed",reason="refused by the exchange"} ',
          'decision="not placed",reason="paused after refusals"} ',
        ],
        alerts: { PuntasOrdersRefused: 'btc_mxn: the exchange rejects many orders' },
      },
    ],
  },
  {
    name: 'messages',
    shipped: 'sandbox',
    changes: { halts: { messagesPerMinute: 5 } },
    exchange: 'shared',
    begins: '"msg":"quoting"',
    code: 1,
    steps: [
      {
        of: ['halt: messages'],
        cause: 'the first six orders, with `halts.messagesPerMinute: 5`',
        log: ['halted: messages: more than 5 in 1 min; investigate, then resume with: npx puntas resume'],
        halted: 'messages: more than 5 in 1 min',
        ready: 'halted: …',
        explain: 'regime: halted since …: messages: more than 5 in 1 min',
      },
    ],
  },
  {
    name: 'fills',
    shipped: 'sandbox',
    changes: { strategy: { filledOrderDelayMs: 600_000 }, halts: { fillsPer10Min: 1 } },
    exchange: 'by hand',
    before: ({ market }) => market.show({ half: 3_000 }),
    code: 1,
    steps: [
      {
        of: ['level: held back by the strategy'],
        cause: 'somebody sells to its best bid, with `filledOrderDelayMs`',
        does: scene => scene.takenFrom('sell', '0.001'),
        log: ['bought 0.001 btc at … as maker'],
        explain: 'bid: not placed: held back by the strategy (waiting filledOrderDelayMs after a fill)',
        ready: true,
        alerts: { PuntasOneSided: 'btc_mxn: only one side quoted for 10 minutes' },
      },
      {
        of: ['halt: fills'],
        cause: 'somebody buys from its best ask, with `halts.fillsPer10Min: 1`',
        does: scene => scene.takenFrom('buy', '0.001'),
        log: ['halted: fills: more than 1 in 10 min; investigate, then resume with: npx puntas resume'],
        halted: 'fills: more than 1 in 10 min',
        ready: 'halted: …',
        explain: 'regime: halted since …: fills: more than 1 in 10 min',
      },
    ],
  },
  {
    name: 'a large trade',
    shipped: 'sandbox',
    changes: { pull: { print: { amount: '0.001', holdMs: 600_000 } } },
    exchange: 'by hand',
    before: ({ market }) => market.show({ half: 3_000 }),
    code: 0,
    steps: [
      {
        of: ['level: pulled: a large trade'],
        cause: 'somebody sells 0.001 btc to its best bid, with `pull: { print: { amount: "0.001" } }`',
        does: scene => scene.takenFrom('sell', '0.001'),
        log: ['bought 0.001 btc at … as maker'],
        explain: 'bid: not placed: pulled: a large trade',
        ready: true,
      },
    ],
  },
  {
    name: 'losses',
    shipped: 'sandbox',
    changes: {
      inventory: { target: '1.45' },
      limits: { drawdownMax: '100' },
      regimes: { reduceOnly: { drawdownShare: 0.5 } },
    },
    exchange: 'by hand',
    code: 0,
    steps: [
      {
        of: ['reduce only: drawdown'],
        cause: '0.05 btc too much, and the price falls by 1,800, with `drawdownShare: 0.5`',
        does: ({ market }) => market.show({ mid: 1_498_200 }),
        log: [
          'regime: reduce only (drawdown: profit fell … from its peak; from a drawdown of 50, orders only reduce inventory), was …',
        ],
        explain:
          'regime: reduce only since …: drawdown: profit fell … from its peak; from a drawdown of 50, orders only reduce inventory',
        alerts: { PuntasDrawdownNear: 'btc_mxn: profit is … mxn below its highest' },
      },
      {
        of: ['halt: drawdown'],
        cause: 'the price falls further',
        does: ({ market }) => market.show({ mid: 1_496_000 }),
        log: [
          'halted: drawdown: profit fell … from its highest, the limit is 100; investigate, then resume with: npx puntas resume',
        ],
        halted: 'drawdown: profit fell … from its highest, the limit is 100',
        ready: 'halted: …',
        explain: 'regime: halted since …: drawdown: profit fell … from its highest, the limit is 100',
      },
      {
        of: [],
        cause: '`puntas resume`: losses count anew',
        does: scene => scene.types('resume', '--reason', 'looked'),
        log: ['"msg":"quoting"'],
        ready: true,
      },
    ],
  },
  {
    name: 'the loss of a day',
    shipped: 'sandbox',
    changes: { inventory: { target: '1.45' }, limits: { dayLossMax: '100' } },
    exchange: 'by hand',
    code: 1,
    steps: [
      {
        of: [],
        cause: '0.05 btc too much, and the price falls by 1,800',
        does: ({ market }) => market.show({ mid: 1_498_200 }),
        ready: true,
        alerts: { PuntasDayLossNear: 'btc_mxn: … mxn lost since the start of the UTC day' },
      },
      {
        of: ['halt: loss'],
        cause: 'the price falls further',
        does: ({ market }) => market.show({ mid: 1_496_000 }),
        log: [
          'halted: loss: … lost since the start of the UTC day, the limit is 100; investigate, then resume with: npx puntas resume',
        ],
        halted: 'loss: … lost since the start of the UTC day, the limit is 100',
        ready: 'halted: …',
        explain: 'regime: halted since …: loss: … lost since the start of the UTC day, the limit is 100',
      },
    ],
  },
  {
    name: 'inventory',
    shipped: 'sandbox',
    changes: { regimes: { reduceOnly: { positionShare: 0.5 } } },
    exchange: 'by hand',
    code: 0,
    steps: [
      {
        of: ['reduce only: inventory is near its limit'],
        cause: 'a deposit of 0.06 btc, with `positionShare: 0.5`',
        does: scene => scene.deposit('btc', '0.06'),
        log: [
          'booked under deposits: 0.06 btc (…); not counted as profit',
          'regime: reduce only (inventory is near its limit), was …',
        ],
        explain: 'regime: reduce only since …: inventory is near its limit',
      },
      {
        of: ['level: at the cap'],
        cause: 'a deposit of 0.042 btc more: 2% beyond `limits.positionMax`',
        does: scene => scene.deposit('btc', '0.042'),
        explain: 'bid: not placed: at the cap (inventory is at its limit)',
      },
      {
        of: ['halt: position'],
        cause: 'a deposit of 0.2 btc more',
        does: scene => scene.deposit('btc', '0.2'),
        log: [
          'halted: position: … btc from the target is beyond its limit; investigate, then resume with: npx puntas resume',
        ],
        halted: 'position: … btc from the target is beyond its limit',
        ready: 'halted: …',
        explain: 'regime: halted since …: position: … btc from the target is beyond its limit',
      },
      {
        of: ['reduce only: resumed beyond the limit'],
        cause: '`puntas resume`',
        does: scene => scene.types('resume', '--reason', 'a deposit of mine'),
        log: [
          'regime: reduce only (inventory is beyond its limit, and a person has resumed: it is only closed until it is within limits.positionMax), was …',
        ],
        explain: 'regime: reduce only since …: inventory is beyond its limit, and a person has resumed',
        ready: true,
      },
    ],
  },
  {
    name: 'almost at its limit',
    shipped: 'sandbox',
    changes: { strategy: { skew: { sizeRange: null } } },
    exchange: 'by hand',
    code: 0,
    steps: [
      {
        of: ['level: position limit'],
        cause: 'a deposit of 0.095 btc, and amounts that do not lean',
        does: scene => scene.deposit('btc', '0.095'),
        explain: 'bid 3: not placed: position limit',
        ready: true,
        alerts: { PuntasNotQuoting: 'btc_mxn: …: bid: position limit' },
      },
    ],
  },
  {
    name: 'money without a line',
    shipped: 'sandbox',
    changes: { timing: { transferListDelayMaxMs: 40_000 } },
    exchange: 'own',
    before: scene => scene.switches({ transferListDelayMs: 3_600_000 }),
    code: 0,
    steps: [
      {
        of: ['pause: ledger differs from the balances'],
        cause: 'a deposit of 100 mxn that no list shows',
        does: scene => scene.deposit('mxn', '100'),
        log: [
          "the exchange's balances differ from the bot's ledger by 100 mxn (balance minus ledger); quoting is paused. The bot searches the lists of deposits and withdrawals for the cause",
          'not quoting: ledger differs from the balances',
        ],
        ready: 'ledger differs from the balances',
        alerts: { PuntasLedgerDiffers: "… the exchange's balances differ from the ledger" },
      },
      {
        of: ['halt: ledger'],
        cause: 'it stays so, with `transferListDelayMaxMs: 40000`',
        log: [
          "halted: the exchange's balances differ from our ledger by 100 mxn (reported minus ours); investigate, then resume with: npx puntas resume",
        ],
        halted: "the exchange's balances differ from our ledger by 100 mxn",
        ready: 'halted: …',
        explain: "regime: halted since …: the exchange's balances differ from our ledger by 100 mxn",
      },
      {
        of: [],
        cause: '`puntas resume`: it is booked as an adjustment',
        does: scene => scene.types('resume', '--reason', 'mine'),
        log: ['"msg":"quoting"'],
        ready: true,
      },
    ],
  },
  {
    name: 'a later run',
    shipped: 'sandbox',
    changes: { timing: { tradeReportDelayMaxMs: 1_000, shutdownMs: 5_000 } },
    exchange: 'shared',
    code: 3,
    steps: [
      {
        of: ['halt: later run'],
        cause: 'an order under its name of a run that is yet to come',
        does: async scene => scene.placeAs(await scene.same(), `${scene.name}-999999999-1`),
        log: [
          'halted: order … is of a later run of …: another process trades under this name; investigate, then resume with: npx puntas resume',
        ],
        halted: 'order … is of a later run of …: another process trades under this name',
        ready: 'halted: …',
        explain: 'regime: halted since …: order … is of a later run of …: another process trades under this name',
      },
    ],
  },
  {
    name: 'a rival',
    shipped: 'sandbox',
    exchange: 'shared',
    code: 1,
    steps: [
      {
        of: ['regime: paused', 'pause: not ready'],
        cause: 'two orders under its name that it did not place: whoever did may live',
        does: async scene => {
          const rival = await scene.same();
          await Promise.all([1, 2].map(i => scene.placeAs(rival, `${scene.name}-0-${i}`)));
        },
        log: ['not quoting: not ready', '"msg":"quoting"'],
        ready: true,
      },
      {
        of: ['halt: rival'],
        cause: 'more of them within a minute',
        does: async scene => {
          const rival = await scene.same();
          for (let i = 3; !scene.isLatched; i++) await scene.placeAs(rival, `${scene.name}-0-${i}`, true);
        },
        log: [
          'halted: orders of … keep coming that this process did not place: another one trades under this name; investigate, then resume with: npx puntas resume',
        ],
        halted: 'orders of … keep coming that this process did not place: another one trades under this name',
        ready: 'halted: …',
        explain: 'regime: halted since …: orders of … keep coming that this process did not place',
      },
    ],
  },
  {
    name: 'the disk',
    shipped: 'sandbox',
    exchange: 'shared',
    code: 0,
    steps: [
      {
        of: [],
        cause: 'a disk of 24 MB',
        ready: true,
        alerts: { PuntasDiskLow: '… …B left on the disk of the state directory' },
      },
      {
        of: ['pause: the disk does not take the journal', 'level: not sent'],
        cause: 'it is full',
        does: async scene => {
          scene.fill();
          await canceledByOthers(scene);
        },
        log: ['orders cannot be written to disk before they are sent; no order is placed'],
        ready: 'the disk does not take the journal',
        metrics: ['decision="not placed",reason="not sent"} '],
      },
      {
        of: [],
        cause: 'there is room again',
        does: scene => scene.makeRoom(),
        log: ['"bids":3,"asks":3'],
        ready: true,
      },
    ],
  },
  {
    name: 'a refusal for good',
    shipped: 'sandbox',
    exchange: 'shared',
    code: 1,
    ends: 'by itself',
    steps: [
      {
        of: ['halt: something broke'],
        cause: 'the exchange takes the right to trade away',
        does: async scene => {
          await scene.stage.operator('PATCH', `accounts/${scene.account.id}`, { trading: false });
          await canceledByOthers(scene);
        },
        log: [
          'stopping after an internal error: … was refused with 1008: …',
          'halted: … was refused with 1008: …; investigate, then resume with: npx puntas resume',
        ],
        halted: 'was refused with 1008',
        explain: 'regime: halted since …: … was refused with 1008',
        alerts: { PuntasDown: '… does not answer, and was not stopped cleanly' },
      },
    ],
  },
  {
    name: 'small funds, small limits',
    shipped: 'sandbox',
    changes: { limits: { orderValueMax: '8000' } },
    exchange: 'by hand',
    balances: { btc: '1.5', mxn: '5000' },
    begins: '"msg":"quoting"',
    code: 0,
    steps: [
      {
        of: ['level: insufficient funds'],
        cause: '5,000 mxn for a bid of 6,000',
        explain: 'bid 1: not placed: insufficient funds',
        alerts: { PuntasNotQuoting: 'btc_mxn: …: bid: insufficient funds' },
      },
      {
        of: ['level: order value limit'],
        cause: '`limits.orderValueMax: 8000` and an ask of 9,000',
        explain: 'ask 2: not placed: order value limit',
      },
    ],
  },
  {
    name: 'the last trade',
    shipped: 'sandbox',
    changes: { strategy: { reference: 'lastTrade', priceCeiling: '1540000' } },
    exchange: 'by hand',
    begins: 'nothing is quoted: ',
    code: 0,
    steps: [
      {
        of: ['level: no fair value'],
        cause: '`reference: lastTrade` in a market without a trade',
        log: ['nothing is quoted: no bid and no ask: no fair value (no trade was received yet)'],
        explain: 'bid: not placed: no fair value (no trade was received yet)',
        ready: 'no bid and no ask: no fair value (no trade was received yet)',
      },
      {
        of: [],
        cause: 'somebody trades',
        does: ({ market }) => market.takes('buy', '0.01'),
        log: ['"bids":3,"asks":3'],
        ready: true,
      },
      {
        of: ['level: price outside the collar'],
        cause: 'everybody quotes 3 % higher, and trades no more',
        does: ({ market }) => market.show({ mid: 1_550_000 }),
        explain: 'bid 1: not placed: price outside the collar',
      },
      {
        of: ['level: outside its price range'],
        cause: 'somebody trades there, above `priceCeiling`',
        does: ({ market }) => market.takes('buy', '0.001'),
        explain: 'bid: not placed: outside its price range (reference above priceCeiling)',
      },
    ],
  },
  {
    name: 'a driven book',
    shipped: 'sandbox',
    changes: { limits: { orderAmountMax: '0.006', priceMove: { bps: 100 } } },
    exchange: 'by hand',
    begins: '"msg":"quoting"',
    code: 0,
    steps: [
      {
        of: ['level: order amount limit'],
        cause: '`limits.orderAmountMax: 0.006` and an ask of 0.008',
        explain: 'ask 3: not placed: order amount limit',
      },
      {
        of: ['level: price too far from past prices'],
        cause: 'everybody quotes 0.8% higher, with `limits.priceMove: { bps: 100 }`',
        does: ({ market }) => market.show({ mid: 1_512_000 }),
        explain: 'ask 2: not placed: price too far from past prices',
      },
      {
        of: ['pause: price moved too far'],
        cause: 'everybody quotes 3% higher',
        does: ({ market }) => market.show({ mid: 1_545_000 }),
        log: ['not quoting: price moved too far (the mid price 1545000 is … bps from …, the median of the last 60 min'],
        ready: 'price moved too far (the mid price 1545000 is … bps from …',
        explain: 'not quoting: price moved too far',
      },
      {
        of: [],
        cause: 'everybody is back',
        does: ({ market }) => market.show({ mid: 1_500_000 }),
        log: ['"msg":"quoting"'],
        ready: true,
      },
    ],
  },
  {
    name: 'other rules',
    shipped: 'sandbox',
    changes: { halts: { refusalsPerMinute: 1_000 } },
    exchange: 'by hand',
    code: 0,
    steps: [
      ...(
        [
          ['merged into the next level', 'bid 1', { minimum_amount: '0.005' }],
          ['price below the minimum', 'bid 1', { minimum_price: '1499000' }],
          ['price above the maximum', 'ask 1', { maximum_price: '1500500' }],
        ] as const
      ).map(([reason, level, rule]): Step => ({
        of: [`level: ${reason}`],
        cause: `the exchange changes ${Object.entries(rule).flat().join(' to ')}`,
        does: scene => otherRules(scene, rule),
        log: ['the exchange changed btc_mxn: …; the change applies immediately'],
        explain: `${level}: not placed: ${reason}`,
      })),
      ...(
        [
          ['cut to the maximum amount', { maximum_amount: '0.003' }],
          ['cut to the maximum value', { maximum_value: '3000' }],
        ] as const
      ).map(([reason, rule]): Step => ({
        of: [`level: ${reason}`],
        cause: `the exchange changes ${Object.entries(rule).flat().join(' to ')}`,
        does: scene => otherRules(scene, rule),
        log: ['the exchange changed btc_mxn: …; the change applies immediately'],
        metrics: [`puntas_not_quoting{book="btc_mxn",reason="bid level 1: ${reason}"} 1`],
      })),
      {
        of: ['pause: rules of the book changed'],
        cause: 'the exchange changes the tick',
        does: scene => otherRules(scene, { tick_size: '100' }),
        log: [
          'the exchange changed btc_mxn: tick 10 -> 100…; quotes are canceled, and the next run applies the change',
          'not quoting: rules of the book changed',
          'uses a tick or lot size that the exchange has changed; the next run takes over',
          // The line on where it stands, in the new tick.
          'market 1499000 / 1501000',
          '"msg":"quoting"',
        ],
        ready: true,
      },
      {
        of: ['level: below the minimum value'],
        cause: 'the exchange changes minimum_value to 1000000',
        does: scene => otherRules(scene, { minimum_value: '1000000' }),
        explain: 'bid 1: not placed: below the minimum value',
      },
    ],
  },
  {
    name: 'too small',
    shipped: 'sandbox',
    exchange: 'by hand',
    code: 0,
    steps: [
      {
        of: ['level: below the minimum amount'],
        cause: 'the exchange changes minimum_amount to 1',
        does: scene => otherRules(scene, { minimum_amount: '1' }),
        explain: 'bid 1: not placed: below the minimum amount',
      },
    ],
  },
  {
    name: 'higher fees',
    shipped: 'grid',
    exchange: 'by hand',
    code: 0,
    steps: [
      {
        of: ['level: cannot earn its fees'],
        cause: 'a worse fee tier, seen with the next reading of the rules',
        does: scene => otherRules(scene, { maker: '0.006', taker: '0.008', minimum_amount: '0.0061' }),
        log: ['the exchange changed btc_mxn: …; the change applies immediately'],
        explain: 'bid: not placed: cannot earn its fees (the spacing does not earn its fees)',
      },
    ],
  },
  {
    name: 'a small budget',
    shipped: 'sandbox',
    changes: { exchange: { budgets: { privatePerMinute: 30 } }, timing: { privatePollMs: 4_000 } },
    exchange: 'shared',
    code: 0,
    steps: [
      {
        of: [],
        cause: 'thirty private requests a minute are too few',
        log: ['… was not sent: no free slot for …'],
        alerts: { PuntasBudgetSpent: '… no private request can be sent' },
      },
    ],
  },
  {
    name: 'a hedge',
    shipped: 'hedged',
    // A band by hand in place of the one that follows.
    changes: {
      hedge: { venues: ['book'], costMaxBps: 100, band: '0.08', residual: '0.02', risk: null, flow: null },
    },
    exchange: 'by hand',
    before: ({ market }) => market.show({ half: 3_000 }),
    code: 0,
    steps: [
      {
        of: ['level: makes way for a hedge'],
        cause: 'a deposit beyond `hedge.band`, with `venues: [book]`',
        does: scene => scene.deposit('btc', '0.1'),
        log: ['taker order: sell … at … or better; the unfilled rest is canceled'],
        metrics: ['decision="not placed",reason="makes way for a hedge"} '],
      },
    ],
  },
  {
    name: 'no hedge elsewhere',
    shipped: 'elsewhere',
    changes: {
      ...{ reference: null, fairValue: null, inventory: { target: '1.51' } },
      strategy: { halfSpreadBps: 20, levels: 1, skew: { sizeRange: null } },
    },
    exchange: 'by hand',
    there: { btc: '0.01', mxn: '9000000' },
    before: ({ market }) => market.show({ half: 6_000 }),
    code: 0,
    steps: [
      {
        of: ['level: no hedge elsewhere'],
        cause: 'two sales to its best bid, whose hedges use up the btc on the second exchange',
        does: async scene => {
          await scene.takenFrom('sell', '0.004');
          await scene.takenFrom('sell', '0.004');
        },
        log: ['no bid: no hedge elsewhere (no hedge at binance for a larger amount: only … btc is available there)'],
        explain: 'bid 1: not placed: no hedge elsewhere',
      },
    ],
  },
];

/** As the book was opened. */
const USUAL = {
  minimum_amount: '0.00001',
  maximum_amount: '500',
  minimum_price: '10',
  maximum_price: '20000000',
  minimum_value: '10',
  maximum_value: '200000000',
};

/** A refusal makes the bot read the rules anew: otherwise it does every five minutes. */
async function otherRules(scene: Scene, rules: object): Promise<void> {
  await scene.book({ ...USUAL, ...rules });
  await canceledByOthers(scene);
}

/** Prints how the fills of a run through sockets on a tape and of the backtest with that run's latencies agree: `npm run tape:parity`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import {
  fillModel,
  FLAG,
  latencyOf,
  requestsTook,
  rowsOfTape,
  travel,
  type FillRow,
  type OrderRow,
} from '../../backtest/index.ts';
import { BotProcess } from '../../src/app/run/botProcess.ts';
import { engineOf } from '../../src/wiring/bot.ts';
import { readConfig } from '../../src/wiring/configFile.ts';
import { openBox } from '../../src/wiring/embedded.ts';
import { seedNumber, speed as speedFlag } from '../../src/cli/terminal/flags.ts';
import { logger } from '../../src/cli/terminal/logger.ts';
import { tapeOf } from '../../src/cli/commands/source.ts';
import type { Config } from '../../src/config.ts';
import { randomOf, Secret, textOfAmount, textOfPrice } from '../../src/core/index.ts';
import { answeredRequests } from '../../src/live/replay/answeredRequests.ts';
import { realClock } from '../../src/live/realClock.ts';
import { feesOf, serve } from '../../src/sandbox/index.ts';
import type { Tape } from '../../src/tape/index.ts';
import { runReplay } from '../backtest/runReplay.ts';

type Flags = { readonly config: string; readonly tape: string; readonly speed: number; readonly seconds: number };
/** `at`: ms since the tape's first row of the book, when the exchange executed it. */
type Met = { readonly at: number; readonly what: string };
type Live = {
  readonly fills: readonly Met[];
  /** Placements and cancels, in ms since the same row. */
  readonly requests: readonly { readonly sent: number; readonly answered: number }[];
  /** When its first order was decided on, and when it was told to stop. */
  readonly from: number;
  readonly to: number;
};

/** A fill of both is one at the same side, price and amount, no farther apart than this. */
const APART_MS = 2_000;
const RUN = 1;

new Command('tape-parity')
  .description('a run through sockets on a tape, and the backtest with the latencies of that run: every fill of either')
  .requiredOption('-c, --config <file>', 'YAML file for the embedded exchange')
  .requiredOption('--tape <dir>', 'a recording of its book')
  .option('--speed <n>', 'of the run', speedFlag, 1)
  .option('--seconds <n>', 'of the tape', seedNumber, 600)
  .action(async ({ config: file, tape: dir, speed, seconds }: Flags) => {
    const state = mkdtempSync(join(tmpdir(), 'puntas-parity-'));
    try {
      const given = readConfig(file);
      if (given.exchange.kind !== 'embedded') throw new Error(`${file}: expected the embedded exchange`);
      const tape = await tapeOf(dir, given.book);
      // The exchange decides as it answers: the backtest knows one time a way.
      const exchange = { ...given.exchange, engineDelayMs: 0 };
      const config = { ...given, exchange, state: { dir: state }, metrics: { ...given.metrics, port: 0 } };
      const live = await throughSockets(tape, config, speed, seconds);
      print(live, inBacktest(tape, config, live));
    } finally {
      rmSync(state, { recursive: true, force: true });
    }
  })
  .parseAsync()
  .catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  });

async function throughSockets(tape: Tape, config: Config, speed: number, seconds: number): Promise<Live> {
  const clock = realClock(speed);
  const box = openBox(config, clock, { tapes: [tape] });
  // Its market begins at the end of that.
  const begun = clock.now();
  const server = await serve(
    { respond: box.exchange.respond, stream: box.exchange.stream },
    { host: '127.0.0.1', port: 0 },
  );
  let to = 0;
  try {
    await BotProcess.run({
      config,
      venue: {
        restUrl: `${server.url}/api`,
        streamUrl: server.url.replace(/^http/, 'ws'),
        key: box.account.key,
        secret: new Secret(box.account.secret),
        speed,
      },
      clock,
      seed: box.seed,
      log: logger('error', []),
      version: 'parity',
      onStarted: stop =>
        void setTimeout(
          () => {
            to = clock.now() - begun;
            stop('that was all');
          },
          (seconds * 1_000) / speed,
        ),
    });
    const { instrument } = tape;
    const { trades } = box.exchange.truth().accounts.get(box.account.id)!;
    const fills = trades.map(({ at, price, amount, order }) => ({
      at: at - begun,
      what: `${order.side} ${textOfAmount(instrument, amount)} at ${textOfPrice(instrument, price)}`,
    }));
    const requests = answeredRequests(config.state.dir).map(({ sent, answered }) => ({
      sent: sent - begun,
      answered: answered - begun,
    }));
    return {
      fills: fills.filter(({ at }) => at <= to),
      requests,
      from: Math.min(...requests.map(one => one.sent)),
      to,
    };
  } finally {
    await server.close();
    box.stop();
  }
}

function inBacktest(tape: Tape, config: Config, live: Live) {
  const { exchange } = config;
  if (exchange.kind !== 'embedded') throw new Error('expected the embedded exchange');
  const rows = rowsOfTape(tape);
  const origin = rows.at[rows.flags.findIndex(flag => (flag & FLAG.trade) === 0)]!;
  const requests = live.requests.map(({ sent, answered }) => ({ sent: sent + origin, answered: answered + origin }));
  const took = travel(requestsTook(requests, 'the run'), randomOf(1));
  const fills: FillRow[] = [];
  const orders: OrderRow[] = [];
  runReplay({
    instrument: tape.instrument,
    rows,
    gaps: tape.gaps,
    model: fillModel('pessimistic', rows),
    latency: latencyOf(took, took, took),
    fees: { tiers: feesOf(tape.instrument.minor).tiers, volume30d: exchange.volume30d },
    balances: exchange.balances,
    privatePollMs: config.timing.privatePollMs,
    privatePerMinute: exchange.budgets.privatePerMinute,
    decideEveryMs: config.timing.decideEveryMs,
    from: origin + live.from,
    to: origin + live.to,
    engine: (rates, onNews) => engineOf(config, { instrument: tape.instrument, ...rates }, RUN, onNews),
    sink: { fill: row => void fills.push(row), order: row => void orders.push(row) },
  });
  const met = fills.map(({ at, side, amount, price }) => ({ at: at - origin, what: `${side} ${amount} at ${price}` }));
  return {
    fills: met,
    orders: orders.map(one => ({ ...one, placedAt: one.placedAt - origin, endedAt: one.endedAt - origin })),
  };
}

function print(live: Live, back: ReturnType<typeof inBacktest>): void {
  const left = [...back.fills];
  const apart: number[] = [];
  const alone: Met[] = [];
  for (const fill of live.fills) {
    const at = left.findIndex(other => other.what === fill.what && Math.abs(other.at - fill.at) <= APART_MS);
    if (at < 0) alone.push(fill);
    else apart.push(Math.abs(left.splice(at, 1)[0]!.at - fill.at));
  }
  const took = live.requests.map(({ sent, answered }) => answered - sent).sort((a, b) => a - b);
  const middle = (of: readonly number[]) => (of[of.length >> 1] ?? 0).toFixed(1);
  console.log(
    `${live.fills.length} fills of the run, ${back.fills.length} of the backtest; ${apart.length} are the same, half of them within ${middle(apart.sort((a, b) => a - b))} ms; requests took ${middle(took)} ms (median)`,
  );
  for (const { at, what } of alone) {
    const [, side, price] = /^(\w+) .* at (.*)$/.exec(what)!;
    const there = back.orders.some(
      one => one.side === side && one.price === price && one.placedAt <= at && one.endedAt >= at,
    );
    console.log(
      `  run alone       ${(at / 1_000).toFixed(3)} s  ${what}: ${there ? 'the backtest had an order there, and another share of it' : 'the backtest had no order there'}`,
    );
  }
  for (const { at, what } of left) console.log(`  backtest alone  ${(at / 1_000).toFixed(3)} s  ${what}`);
}

#!/usr/bin/env node
/** The command line: finds the configuration, starts what was asked for, and turns every end into an exit code. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { backtest, describeBacktest, modelsOf, rowKindOf } from './cli/backtest.ts';
import { check } from './cli/check.ts';
import { readConfig, shippedConfig, Wrong } from './cli/configFile.ts';
import { startEmbedded } from './cli/embedded.ts';
import type { Embedded } from './cli/embedded.ts';
import { logger } from './cli/logger.ts';
import { remedyOf } from './cli/remedy.ts';
import { run } from './cli/run.ts';
import { sentinel } from './cli/sentinel.ts';
import { replay, resume } from './cli/stateCommands.ts';
import { describe } from './cli/summary.ts';
import type { Venue } from './cli/bot.ts';
import { readSecrets } from './config.ts';
import type { Config } from './config.ts';
import { Secret } from './exchange/index.ts';
import { CannotStart } from './live/opening.ts';
import { realClock } from './live/realClock.ts';
import { openTape } from './tape/index.ts';
import type { Tape } from './tape/index.ts';

/** 0 clean; 1 something broke; 2 wrong use or configuration; 3 orders of ours may be left on the exchange. */
const EXIT = { clean: 0, broken: 1, misused: 2, leftOrders: 3 } as const;

type Source = { readonly config?: string; readonly tape?: string; readonly speed: number; readonly seed?: number };

type BacktestFlags = {
  readonly config?: string;
  readonly tape?: string;
  readonly flowSeconds: number;
  readonly seed?: number;
  readonly models: string;
  readonly from?: string;
  readonly latencyMs: number;
  readonly feedLatencyMs: number;
  readonly out?: string;
  readonly json: boolean;
};

const program = new Command('puntas')
  .description('A market maker: quotes both sides of an order book from a YAML file and an API key.')
  .version(version())
  .exitOverride()
  .configureOutput({
    outputError: (text, write) => write(`${text.replace(/^error: /, '').trimEnd()} (see puntas --help)\n`),
  });

sources(
  program
    .command('run')
    .description('make a market until stopped (Ctrl-C, SIGTERM or --for), then cancel everything and verify'),
)
  .option('--for <duration>', 'stop cleanly after this much real time, like 60s, 10m or 2h', duration)
  .option('--state <dir>', 'state directory, instead of the one in the configuration')
  .option('--json', 'print what came of it as one JSON object, the last line on stdout', false)
  .action(async (options: Source & { for?: number; state?: string; json: boolean }) => {
    const signals = signalsToStop();
    const { config, tape } = await chosen(options);
    const clock = realClock(options.speed);
    await withVenue(config, tape, options, clock, async (venue, log, seed) => {
      const { summary, left, failure } = await run({
        config: options.state === undefined ? config : { ...config, state: { dir: options.state } },
        venue,
        clock,
        seed,
        log,
        version: version(),
        onStarted: (stop, broke) => {
          signals.tell(stop);
          // What nobody caught halts, cancels and is told; it is never logged and gone on from.
          process.on('uncaughtException', broke);
          if (options.for !== undefined) setTimeout(() => stop('the time of --for is over'), options.for).unref();
        },
      });
      for (const id of left) log.error({ id }, `not verified to be gone: ${id}`);
      if (failure !== null) log.error({}, `ended because something broke: ${failure}`);
      console.log(options.json ? JSON.stringify(summary) : describe(summary));
      if (left.length > 0) return EXIT.leftOrders;
      return failure === null && summary.halted === undefined && summary.ledgerMatches ? EXIT.clean : EXIT.broken;
    });
  });

sources(
  program
    .command('check')
    .description('print the checked configuration and the quotes it would place now; places nothing'),
).action(async (options: Source) => {
  const { config, tape } = await chosen(options);
  const clock = realClock(options.speed);
  await withVenue(config, tape, options, clock, async (venue, _log, seed) => {
    console.log(await check(config, venue, clock, seed));
    return EXIT.clean;
  });
});

sources(
  program.command('exchange').description('run the embedded exchange alone, with a funded account for any client'),
)
  .option('--port <n>', 'port on 127.0.0.1', port, 8080)
  .action(async (options: Source & { port: number }) => {
    const signals = signalsToStop();
    const { config, tape } = await chosen(options);
    if (config.exchange.kind !== 'embedded')
      throw new Wrong('this configuration has a remote exchange: nothing to run here');
    const clock = realClock(options.speed);
    const operatorToken = randomBytes(24).toString('base64url');
    const embedded = await startEmbedded(config, clock, {
      tape,
      port: options.port,
      portFrom: '--port',
      operatorToken,
      ...seedOf(options),
    });
    const { origin, key, secret } = embedded;
    const face = {
      url: origin,
      rest: `${origin}/api/v3`,
      stream: origin.replace(/^http/, 'ws'),
      key,
      secret: secret.reveal(),
      book: config.book,
    };
    console.log(JSON.stringify({ ...face, operator: `${origin}/operator`, operatorToken }));
    await new Promise<void>(resolve => signals.tell(() => resolve()));
    await embedded.stop();
    process.exitCode = EXIT.clean;
  });

program
  .command('sentinel')
  .description(
    'watch over a running bot from a second process with its own key: when the bot is dead or frozen, cancel its orders',
  )
  .requiredOption('-c, --config <file>', "the bot's own YAML file")
  .option('--state <dir>', "the bot's state directory, instead of the one in the configuration")
  .action(async (options: { config: string; state?: string }) => {
    const given = readConfig(options.config);
    const config = options.state === undefined ? given : { ...given, state: { dir: options.state } };
    if (config.exchange.kind !== 'remote')
      throw new Wrong('a sentinel needs a remote exchange: the embedded one ends with the bot');
    const venue = remoteVenue(config.exchange.restUrl);
    const log = logger(config.log.level, [venue.secret.reveal()]);
    const ended = new AbortController();
    signalsToStop().tell(() => ended.abort());
    await sentinel(config, venue, realClock(), Math.floor(Math.random() * 2 ** 31), log, ended.signal);
  });

program
  .command('backtest')
  .description('trade a recorded market with the very engine and strategy that run, under several fill models')
  .option('-c, --config <file>', 'YAML file; without it the one that comes with Puntas')
  .option('--tape <dir>', 'the recording; without it the seeded flow is recorded first')
  .option('--flow-seconds <n>', 'length of that flow', seedNumber, 3_600)
  .option('--seed <n>', 'seed of that flow', seedNumber)
  .option('--models <names>', 'fill models, separated by commas', 'pessimistic,expected,optimistic')
  .option('--from <rows>', 'levels or orders: which rows tell the book where a recording has both')
  .option('--latency-ms <n>', 'time to the exchange, and the same back', seedNumber, 25)
  .option('--feed-latency-ms <n>', 'least time from the exchange to us', seedNumber, 0)
  .option('--out <dir>', 'folder for every fill and order as CSV')
  .option('--json', 'print the report as one JSON object', false)
  .action(async (options: BacktestFlags) => {
    const { config, tape } = await chosen({ ...options, speed: 1, isBacktest: true });
    const report = await backtest({
      config,
      tape,
      seed: options.seed ?? (config.exchange.kind === 'embedded' ? config.exchange.seed : 1),
      flowSeconds: options.flowSeconds,
      models: modelsOf(options.models),
      ...(options.from === undefined ? {} : { from: rowKindOf(options.from) }),
      latencyMs: options.latencyMs,
      feedLatencyMs: options.feedLatencyMs,
      ...(options.out === undefined ? {} : { out: options.out }),
      progress: process.stderr.isTTY,
    });
    console.log(options.json ? JSON.stringify(report) : describeBacktest(report));
  });

program
  .command('replay')
  .description('feed a recorded run through the engine again: every command must come out the same')
  .argument('<dir>', 'state directory of the run')
  .option('--run <n>', 'number of the run; without it the last one')
  .option('--all', 'every recorded run', false)
  .action((dir: string, options: { run?: string; all: boolean }) => {
    const which = options.all ? 'all' : options.run === undefined ? 'last' : Number(options.run);
    process.exitCode = replay(dir, which, line => console.log(line)) ? EXIT.clean : EXIT.broken;
  });

program
  .command('resume')
  .description('lift a halt after you have looked: the only way to go on')
  .requiredOption('--reason <text>', 'what you found; kept beside the state')
  .option('--state <dir>', 'state directory', './state')
  .action((options: { reason: string; state: string }) => console.log(resume(options.state, options.reason)));

program.parseAsync().catch((error: unknown) => {
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? EXIT.clean : EXIT.misused);
  console.error(sentenceOf(error));
  if (error instanceof Error && process.env['PUNTAS_DEBUG']) console.error(error.stack);
  process.exit(codeOf(error));
});

function sentenceOf(error: unknown): string {
  const remedy = error instanceof CannotStart ? remedyOf(error.code) : null;
  const sentence = error instanceof Error ? error.message : String(error);
  return remedy === null ? sentence : `${sentence}; ${remedy}`;
}

function codeOf(error: unknown): number {
  if (error instanceof Wrong) return error.code;
  return error instanceof CannotStart && !error.mayPass ? EXIT.misused : EXIT.broken;
}

function sources(command: Command): Command {
  return command
    .option('-c, --config <file>', 'YAML file; without it the default for the embedded exchange')
    .option('--tape <dir>', 'market of the embedded exchange: a recording, replayed in time and looped')
    .option('--speed <n>', 'run both sides this many times faster than real time', speed, 1)
    .option('--seed <n>', 'seed of everything random on the embedded exchange', seedNumber);
}

/** The configuration and, with --tape, the recording; without -c the one that comes with Puntas for the recording's book. */
async function chosen(
  options: Source & { readonly isBacktest?: boolean },
): Promise<{ config: Config; tape: Tape | null }> {
  const given = options.config === undefined ? null : readConfig(options.config);
  const market = given?.exchange.kind === 'embedded' ? given.exchange.market : null;
  const dir = options.tape ?? (market?.kind === 'tape' ? market.dir : undefined);
  if (dir === undefined) return { config: given ?? readConfig(shippedConfig('sandbox')), tape: null };
  if (given?.exchange.kind === 'remote' && !options.isBacktest)
    throw new Wrong('--tape is for the embedded exchange; this configuration has a remote one');
  const tape = await openTape(dir, given ? { book: given.book } : {}).catch((error: unknown) => {
    throw new Wrong(error instanceof Error ? error.message : String(error));
  });
  return { config: given ?? readConfig(shippedConfig(tape.instrument.symbol)), tape };
}

/** Starts the embedded exchange when the configuration asks for it, hands over an address and a key, and cleans up. */
async function withVenue(
  config: Config,
  tape: Tape | null,
  options: Source,
  clock: ReturnType<typeof realClock>,
  work: (venue: Venue, log: ReturnType<typeof logger>, seed: number) => Promise<number>,
): Promise<void> {
  let embedded: Embedded | null = null;
  try {
    let venue: Venue;
    if (config.exchange.kind === 'embedded') {
      embedded = await startEmbedded(config, clock, {
        tape,
        port: config.exchange.port,
        portFrom: 'exchange.port',
        ...seedOf(options),
      });
      const { origin, key, secret, born } = embedded;
      const streamUrl = origin.replace(/^http/, 'ws');
      venue = { restUrl: `${origin}/api`, streamUrl, key, secret, speed: options.speed, born };
    } else {
      if (options.speed !== 1) throw new Wrong('--speed is for the embedded exchange; a remote one keeps its own time');
      const { restUrl, streamUrl } = config.exchange;
      venue = { ...remoteVenue(restUrl), ...(streamUrl === undefined ? {} : { streamUrl }) };
    }
    const log = logger(config.log.level, [venue.secret.reveal()]);
    if (embedded) log.info({ url: embedded.origin }, `embedded exchange at ${embedded.origin}`);
    const seed = embedded?.seed ?? Math.floor(Math.random() * 2 ** 31);
    process.exitCode = await work(venue, log, seed);
  } finally {
    await embedded?.stop();
  }
}

function remoteVenue(address: string): Venue {
  const read = readSecrets(
    process.env,
    path => readFileSync(path, 'utf8'),
    text => new Secret(text),
  );
  if (!read.ok) throw new Wrong(read.errors);
  for (const name of ['PUNTAS_API_KEY', 'PUNTAS_API_SECRET']) delete process.env[name];
  const restUrl = new URL(address).pathname === '/' ? `${address.replace(/\/$/, '')}/api` : address;
  return { restUrl, key: read.secrets.apiKey, secret: read.secrets.apiSecret, speed: 1 };
}

/**
 * The first SIGINT, SIGTERM or SIGHUP (a terminal that is closed) stops cleanly, at the end of the start when it came during the start; a second one leaves at once and says
 * what that may mean.
 */
function signalsToStop(): { tell(stop: (why: string) => void): void } {
  let asked: string | null = null;
  let stop: ((why: string) => void) | null = null;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (asked !== null) {
        console.error(`second ${signal}: leaving without verifying; orders may be left on the exchange`);
        process.exit(EXIT.leftOrders);
      }
      asked = signal;
      stop?.(signal);
    });
  }
  return {
    tell: call => {
      stop = call;
      if (asked !== null) call(asked);
    },
  };
}

const seedOf = ({ seed }: Source): { readonly seed?: number } => (seed === undefined ? {} : { seed });

function speed(text: string): number {
  const n = Number(text);
  if (!(/^\d+(\.\d+)?$/.test(text) && n > 0 && n <= 1000))
    throw new InvalidArgumentError('expected a number above 0, at most 1000.');
  return n;
}

function seedNumber(text: string): number {
  const n = Number(text);
  if (!(/^\d+$/.test(text) && n <= 2_147_483_647))
    throw new InvalidArgumentError('expected a whole number from 0 to 2147483647.');
  return n;
}

function port(text: string): number {
  const n = Number(text);
  if (!(/^\d+$/.test(text) && n <= 65_535)) throw new InvalidArgumentError('expected a port from 0 to 65535.');
  return n;
}

/** Milliseconds of text like 90s, 10m or 2h. */
function duration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(s|m|h)$/.exec(text);
  if (!match) throw new InvalidArgumentError('expected a duration like 60s, 10m or 2h.');
  const ms = Number(match[1]) * { s: 1_000, m: 60_000, h: 3_600_000 }[match[2] as 's' | 'm' | 'h'];
  if (!(ms > 0 && ms <= 2_147_483_647)) throw new InvalidArgumentError('expected at most 24 days.');
  return ms;
}

function version(): string {
  for (const up of ['../package.json', '../../package.json']) {
    try {
      return (JSON.parse(readFileSync(new URL(up, import.meta.url), 'utf8')) as { version: string }).version;
    } catch {
      continue;
    }
  }
  return 'unknown';
}

/** One tape through both drivers: the backtest, and the production session on the embedded exchange, both without latency. */
import { constantLatency, fillModel, FLAG, rowsOfTape, runReplay } from '../../backtest/index.ts';
import type { ModelName } from '../../backtest/index.ts';
import { clientOf, engineOf, marketStreamOf } from '../../src/app/wiring/bot.ts';
import type { Config } from '../../src/config.ts';
import { randomOf, Secret, settle, textOfAmount, textOfPrice, VirtualClock } from '../../src/core/index.ts';
import type { Command, Engine, EngineEvent } from '../../src/core/index.ts';
import { journalIn, openDatabase } from '../../src/live/state/journal.ts';
import { openSession } from '../../src/live/loop/session.ts';
import type { Halt } from '../../src/live/safety/latch.ts';
import { createVenue, feesOf, inProcessStream, tapeMarket } from '../../src/sandbox/index.ts';
import type { Tape } from '../../src/tape/index.ts';
import { wireTo } from '../live/inProcess.ts';
import { heardLog } from '../memoryLog.ts';

/** One command or fill, with its time since the tape's first row, in ms, rounded to microseconds. */
export type Done = { readonly at: number; readonly what: string };
export type Course = { readonly commands: readonly Done[]; readonly fills: readonly Done[] };

/** Between whole milliseconds: at the same moment nobody could say what came first. */
const START_MS = 0.25;
const RUN = 7;

const rounded = (ms: number): number => Math.round(ms * 1000) / 1000;

/** Tells of every order placed or canceled by an engine. */
function watched(engine: Engine, origin: number, into: Done[]): Engine {
  const step = engine.step.bind(engine);
  engine.step = (event: EngineEvent) => {
    const commands = step(event);
    for (const command of commands)
      for (const what of textsOf(command)) into.push({ at: rounded(event.at - origin), what });
    return commands;
  };
  return engine;
}

function textsOf(command: Command): readonly string[] {
  if (command.kind === 'place') return [`place ${command.id} ${command.side} ${command.amount} at ${command.price}`];
  return command.kind === 'cancel' ? command.ids.map(id => `cancel ${id}`) : [];
}

export function inBacktest(tape: Tape, config: Config, ms: number, model: ModelName): Course {
  const rows = rowsOfTape(tape);
  const commands: Done[] = [];
  const fills: Done[] = [];
  const { exchange } = config;
  if (exchange.kind !== 'embedded') throw new Error('expected the embedded exchange');
  // The embedded exchange begins with the first row of the book.
  const origin = rows.at[rows.flags.findIndex(flag => (flag & FLAG.trade) === 0)]!;
  runReplay({
    instrument: tape.instrument,
    rows,
    gaps: [],
    model: fillModel(model, rows),
    latency: constantLatency(0, 0),
    fees: { tiers: feesOf(tape.instrument.minor).tiers, volume30d: exchange.volume30d },
    balances: exchange.balances,
    privatePollMs: config.timing.privatePollMs,
    privatePerMinute: exchange.budgets.privatePerMinute,
    decideEveryMs: config.timing.decideEveryMs,
    from: origin + START_MS,
    to: origin + ms,
    engine: (rates, onNews) =>
      watched(engineOf(config, { instrument: tape.instrument, ...rates }, RUN, onNews), origin, commands),
    sink: {
      fill: ({ at, side, price, amount, orderId }) =>
        void fills.push({ at: rounded(at - origin), what: `${orderId} ${side} ${amount} at ${price}` }),
      order: () => undefined,
    },
  });
  return { commands: until(commands, ms), fills: until(fills, ms) };
}

export async function onEmbedded(
  tape: Tape,
  config: Config,
  ms: number,
): Promise<Course & { readonly problems: readonly string[] }> {
  const { exchange } = config;
  if (exchange.kind !== 'embedded') throw new Error('expected the embedded exchange');
  const clock = new VirtualClock();
  const origin = clock.now();
  const venue = createVenue({
    clock,
    seed: 1,
    switches: {
      engineDelayMinMs: 0,
      engineDelayMaxMs: 0,
      feedDelayMinMs: 0,
      feedDelayMaxMs: 0,
      tradeRecordDelayMs: 0,
    },
    books: [tape.rules],
  });
  const account = venue.openAccount({
    balances: exchange.balances,
    volume30d: { [tape.instrument.minor]: exchange.volume30d },
  });
  const market = tapeMarket(tape, { loop: false });
  market.start(venue.marketplace(config.book));
  await clock.advance(START_MS);
  const wire = wireTo({ exchange: venue, clock, random: randomOf(1), latencyMs: [0, 0] });
  const at = {
    restUrl: 'http://127.0.0.1/api',
    key: account.key,
    secret: new Secret(account.secret),
    speed: 1,
    transport: wire,
    streamTransport: inProcessStream(venue.stream, clock, 0),
  };
  const database = openDatabase(':memory:');
  const journal = { ...journalIn(database, { account: 'parity', at: 0, setup: '' }), run: RUN };
  const commands: Done[] = [];
  const problems: string[] = [];
  const log = heardLog(({ level, text, known }) => {
    if (level === 'warn' || level === 'error') problems.push(`${text} ${JSON.stringify(known)}`);
  });
  const quiet = () => undefined;
  const client = clientOf(config, at, clock, 1, { journal });
  const stream = marketStreamOf(config, at, clock, 1);
  const latch = {
    read: () => null,
    set: ({ reason }: Halt) => void problems.push(reason),
    lift: quiet,
    readHold: () => null,
    setHold: quiet,
    liftHold: quiet,
  };
  const opened = openSession({
    bot: { book: config.book, instance: config.instance, resumeCommand: 'puntas resume' },
    clock,
    log,
    venue: { exchange: client, stream },
    state: { journal, latch },
    timing: config.timing,
    makeEngine: (rules, onNews) => watched(engineOf(config, rules, RUN, onNews), origin, commands),
  });
  let session: Awaited<typeof opened> | null = null;
  void opened.then(value => (session = value));
  while (session === null) {
    await settle();
    if (wire.waiting > 0 && (clock.nextDue() ?? Infinity) <= clock.elapsed()) clock.runNext();
  }
  (session as Awaited<typeof opened>).start(() => problems.push('the loop broke'));
  await clock.advance(ms - clock.elapsed());
  const { instrument } = tape;
  const fills = venue
    .truth()
    .accounts.get(account.id)!
    .trades.map(({ at: when, price, amount, order }) => ({
      at: rounded(when - origin),
      what: `${order.originId} ${order.side} ${textOfAmount(instrument, amount)} at ${textOfPrice(instrument, price)}`,
    }));
  market.stop();
  venue.close();
  client.close().catch(quiet);
  stream?.close();
  database.close();
  return { commands: until(commands, ms), fills: until(fills, ms), problems };
}

const until = (done: readonly Done[], ms: number): readonly Done[] => done.filter(({ at }) => at < ms);

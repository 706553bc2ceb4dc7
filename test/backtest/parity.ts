/** One tape through both drivers: the backtest, and the production session on the embedded exchange, both without latency. */
import { constantLatency, fillModel, FLAG, rowsOfTape, type ModelName } from '../../backtest/index.ts';
import { simulatedDeskOf } from '../../backtest/app/backtest/backtestModel.ts';
import { clientOf, engineOf, hedgeOf, hedgePlanOf, marketStreamOf } from '../../src/wiring/bot.ts';
import type { Config } from '../../src/config.ts';
import {
  moneyOf,
  randomOf,
  Secret,
  settle,
  textOfAmount,
  textOfMoney,
  textOfPrice,
  VirtualClock,
  type Command,
  type Engine,
  type EngineEvent,
} from '../../src/core/index.ts';
import { hedgeComparisonText, isOver, type HedgeRow } from '../../src/hedge/index.ts';
import { journalIn, openDatabase } from '../../src/live/state/journal.ts';
import { Run } from '../../src/live/loop/run.ts';
import type { Halt } from '../../src/live/safety/latch.ts';
import { createVenue, feesOf, inProcessStream, tapeMarket } from '../../src/sandbox/index.ts';
import { bestsOf, type Tape } from '../../src/tape/index.ts';
import { wireTo } from '../live/inProcess.ts';
import { heardLog } from '../memoryLog.ts';
import { OPEN_LATCH } from '../live/openLatch.ts';
import { runHedgedReplay } from './runReplay.ts';

/** One command, fill, or hedge that is over, with its time since the tape's first row, in ms, rounded to microseconds. */
export type Done = { readonly at: number; readonly what: string };
export type Course = {
  readonly commands: readonly Done[];
  readonly fills: readonly Done[];
  readonly hedges: readonly Done[];
};
type Seen = { readonly commands: Done[]; readonly hedges: Done[] };

/** Between whole milliseconds: at the same moment nobody could say what came first. */
const START_MS = 0.25;
const RUN = 7;

const rounded = (ms: number): number => Math.round(ms * 1000) / 1000;

/** Tells of every order placed or canceled by an engine, and of every hedge that it hears the end of. */
function watched(engine: Engine, origin: number, into: Seen): Engine {
  const step = engine.step.bind(engine);
  engine.step = (event: EngineEvent) => {
    if (event.kind === 'hedge' && isOver(event.row)) into.hedges.push(hedgeOver(event.row, event.at, origin));
    const commands = step(event);
    for (const command of commands)
      for (const what of textsOf(command)) into.commands.push({ at: rounded(event.at - origin), what });
    return commands;
  };
  return engine;
}

/** The wire has zeros behind. */
const plain = (amount: string): string => textOfMoney(moneyOf(amount));

/** But its id, which is the run's. */
function hedgeOver(
  { at, state, amount, weighed, offer, acceptedAt, why }: HedgeRow,
  end: number,
  origin: number,
): Done {
  const times = [at, acceptedAt ?? at].map(time => rounded(time - origin)).join(' and ');
  const deal = offer && `${offer.way} ${plain(offer.give.amount)} for ${plain(offer.get.amount)}`;
  return {
    at: rounded(end - origin),
    what: `${state} since ${times}: ${amount} by ${deal} of ${hedgeComparisonText(weighed)}, ${why}`,
  };
}

function textsOf(command: Command): readonly string[] {
  if (command.kind === 'place') return [`place ${command.id} ${command.side} ${command.amount} at ${command.price}`];
  return command.kind === 'cancel' ? command.ids.map(id => `cancel ${id}`) : [];
}

/** `fillNotice`: how long after a fill, whose time it gets, our end hears of it. `beside`: other books, which begin with ours. */
export async function inBacktest(
  tape: Tape,
  config: Config,
  ms: number,
  model: ModelName,
  { fillNotice, beside = [] }: { readonly fillNotice?: (at: number) => number; readonly beside?: readonly Tape[] } = {},
): Promise<Course> {
  const rows = rowsOfTape(tape);
  const seen: Seen = { commands: [], hedges: [] };
  const fills: Done[] = [];
  const plan = hedgePlanOf(config);
  const { exchange } = config;
  if (exchange.kind !== 'embedded') throw new Error('expected the embedded exchange');
  // The embedded exchange begins with the first row of the book.
  const origin = rows.at[rows.flags.findIndex(flag => (flag & FLAG.trade) === 0)]!;
  await runHedgedReplay({
    instrument: tape.instrument,
    rows,
    gaps: tape.gaps,
    model: fillModel(model, rows),
    latency: constantLatency(0, 0),
    fillNotice,
    fees: { tiers: feesOf(tape.instrument.minor).tiers, volume30d: exchange.volume30d },
    balances: exchange.balances,
    privatePollMs: config.timing.privatePollMs,
    privatePerMinute: exchange.budgets.privatePerMinute,
    decideEveryMs: config.timing.decideEveryMs,
    from: origin + START_MS,
    to: origin + ms,
    engine: (rates, onNews) =>
      watched(engineOf(config, { instrument: tape.instrument, ...rates }, RUN, onNews), origin, seen),
    hedge: plan && {
      setup: plan,
      desk: { ...simulatedDeskOf(config, 1), beside: beside.map(bestsOf) },
      orders: { instance: config.instance, run: RUN },
    },
    sink: {
      fill: ({ at, side, price, amount, orderId }) =>
        void fills.push({ at: rounded(at - origin), what: `${orderId} ${side} ${amount} at ${price}` }),
      order: () => undefined,
    },
  });
  return courseOf(seen, fills, ms);
}

export async function onEmbedded(
  tape: Tape,
  config: Config,
  ms: number,
  beside: readonly Tape[] = [],
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
      ...simulatedDeskOf(config, 1).switches,
    },
    books: [tape, ...beside].map(({ rules }) => rules),
  });
  const account = venue.openAccount({
    balances: exchange.balances,
    volume30d: { [tape.instrument.minor]: exchange.volume30d },
  });
  const markets = [tape, ...beside].map(one => {
    const market = tapeMarket(one, { loop: false });
    market.start(venue.marketplace(one.instrument.symbol));
    return market;
  });
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
  const seen: Seen = { commands: [], hedges: [] };
  const problems: string[] = [];
  const log = heardLog(({ level, text, known }) => {
    if (level === 'warn' || level === 'error') problems.push(`${text} ${JSON.stringify(known)}`);
  });
  const client = clientOf(config, at, clock, 1, { journal });
  const stream = marketStreamOf(config, at, clock, 1, client);
  const latch = {
    ...OPEN_LATCH,
    set: ({ reason }: Halt) => void problems.push(reason),
  };
  const opened = Run.open({
    bot: { book: config.book, instance: config.instance, resumeCommand: 'puntas resume' },
    clock,
    log,
    venue: { exchange: client, stream },
    beside: { hedge: hedgeOf(config, client) },
    state: { journal, latch },
    timing: config.timing,
    makeEngine: (rules, onNews) => watched(engineOf(config, rules, RUN, onNews), origin, seen),
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
  for (const market of markets) market.stop();
  venue.close();
  client.close().catch(() => undefined);
  stream?.close();
  database.close();
  return { ...courseOf(seen, fills, ms), problems };
}

const courseOf = ({ commands, hedges }: Seen, fills: readonly Done[], ms: number): Course => ({
  commands: until(commands, ms),
  fills: until(fills, ms),
  hedges: until(hedges, ms),
});
const until = (done: readonly Done[], ms: number): readonly Done[] => done.filter(({ at }) => at < ms);

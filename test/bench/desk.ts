/**
 * Ten books in one engine, with joint inventory and limits by currency: the 99th percentile of a decision of one book,
 * and the memory of one more book.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  Engine,
  instrumentOf,
  moneyOf,
  OrderBook,
  randomOf,
  type Amount,
  type Instrument,
} from '../../src/core/index.ts';
import { kindOf, strategies } from '../../strategies/index.ts';
import { EXAMPLES } from '../strategies/examples.ts';
import { answer, lay, readAccount } from './engine.ts';

const BOOKS = 10;
/** Shorter than the time between the reads of two books, so that each read causes a decision. */
const DECIDE_EVERY_MS = 20;
const READ_EVERY_MS = 50;
const SAMPLE_MS = 60_000;
/** Enough for the 30 samples after which the joint inventory is known. */
const WARM_UP_ROUNDS = (40 * SAMPLE_MS) / (BOOKS * READ_EVERY_MS);

type Desk = {
  readonly engine: Engine;
  readonly instruments: readonly Instrument[];
  readonly mids: number[];
  at: number;
};

const instrumentNamed = (book: string): Instrument =>
  instrumentOf({
    ...{ book, tickSize: '10', minimumAmount: '0.00001', maximumAmount: '500', minimumPrice: '10' },
    ...{ maximumPrice: '20000000', minimumValue: '10', maximumValue: '200000000' },
  });

/** An engine that is ready to quote `count` books, with a ladder of five levels a side in each. */
function openDesk(count: number): Desk {
  const instruments = Array.from({ length: count }, (_, i) => instrumentNamed(`c${i}_mxn`));
  const kind = kindOf({ name: 'ladder' });
  const parameters = strategies.ladder.parameters.parse(EXAMPLES.ladder);
  const engine = new Engine(
    {
      ...{ instance: 'bench', run: 1 },
      timing: {
        ...{ requestDelayMaxMs: 45_000, tradeReportDelayMaxMs: 20_000, cancelAgainMs: 2_000 },
        ...{ decideEveryMs: DECIDE_EVERY_MS, lookEveryMs: 1_000, privateStaleAfterMs: 10_000 },
      },
      jointInventory: { currency: 'mxn', sampleMs: SAMPLE_MS, halfLifeMs: 3_600_000 },
      currencyLimits: new Map(instruments.map(({ major }) => [major, moneyOf('1000')])),
    },
    instruments.map(instrument => ({
      instrument,
      strategy: kind.make(parameters, instrument),
      limits: {
        positionMax: 1_000_000_000 as Amount,
        orderValueMax: (10n ** 16n) as never,
        ...{ ordersMax: 40, collarBps: 1_000, staleAfterMs: 5_000 },
      },
      tolerance: kind.tolerance(parameters),
      target: null,
    })),
  );
  const desk: Desk = { engine, instruments, mids: instruments.map(() => 150_000), at: 0 };
  for (const instrument of instruments)
    engine.step({ kind: 'rules', ...symbolOf(desk, instrument), at: 0, instrument, makerRate: 0, takerRate: 0 });
  const balances = [...instruments.map(({ major }) => major), 'mxn'].map(currency => ({
    ...{ currency, total: '100000000', locked: '0', available: '100000000' },
  }));
  engine.step({ kind: 'balances', at: 0, startedAt: 0, quiet: true, balances });
  return desk;
}

const symbolOf = ({ instruments }: Desk, { symbol }: Instrument) => (instruments.length === 1 ? {} : { symbol });

/** One round: the account is read, then each book changes. Returns the time of each decision in ms, and the commands. */
function round(desk: Desk, random: ReturnType<typeof randomOf>, book: OrderBook): { took: number[]; commands: number } {
  desk.at += READ_EVERY_MS;
  const { engine } = desk;
  let commands = readAccount(engine, desk.at);
  const common = random.integer(-40, 40);
  const took = desk.instruments.map((instrument, i) => {
    desk.at += READ_EVERY_MS;
    desk.mids[i] = desk.mids[i]! + common + random.integer(-10, 10);
    lay(book, desk.mids[i]);
    const event = { kind: 'book', ...symbolOf(desk, instrument), at: desk.at, startedAt: null, book } as const;
    const started = performance.now();
    const decided = engine.step(event);
    const ms = performance.now() - started;
    commands += answer(engine, decided, desk.at);
    return ms;
  });
  return { took, commands };
}

function warm(count: number): { readonly desk: Desk; readonly next: () => ReturnType<typeof round> } {
  const desk = openDesk(count);
  const random = randomOf(1);
  const book = new OrderBook();
  const next = (): ReturnType<typeof round> => round(desk, random, book);
  for (let n = 0; n < WARM_UP_ROUNDS; n++) next();
  return { desk, next };
}

/** Returns the 99th percentile of a decision among ten books, in microseconds, and the memory of one more book, in MB. */
export function deskBench(decisions: number): { readonly p99Micros: number; readonly mbPerBook: number } {
  const { next } = warm(BOOKS);
  const took: number[] = [];
  let commands = 0;
  while (took.length < decisions) {
    const one = next();
    took.push(...one.took);
    commands += one.commands;
  }
  if (commands === 0) throw new Error('nothing was decided');
  took.sort((a, b) => a - b);
  return { p99Micros: took[Math.floor(0.99 * took.length)]! * 1_000, mbPerBook: memoryPerBook() };
}

function memoryPerBook(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = (count: number): number => {
    const { desk } = warm(count);
    collect();
    const { heapUsed, external } = process.memoryUsage();
    if (desk.engine.liveOrders.length === 0) throw new Error('no order is live');
    return heapUsed + external;
  };
  used(1);
  const alone = used(1);
  return (used(BOOKS) - alone) / (BOOKS - 1) / 1e6;
}

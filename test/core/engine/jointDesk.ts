/**
 * The desk of formulas-desk E12 through the engine: four books whose prices move together, fills drawn from their
 * intensity, and strategies that skew by the inventory which the engine gives them.
 */
import {
  Engine,
  instrumentOf,
  normal,
  OrderBook,
  randomOf,
  type Approved,
  type Command,
  type EngineEvent,
  type Instrument,
  type OrderReport,
  type OwnTrade,
  type PlaceCommand,
  type Strategy,
} from '../../../src/core/index.ts';
import { PATIENCE } from '../toyExchange.ts';
import { bookRules } from '../market.ts';
import { DESK, DESK_BOOKS } from '../risk/deskDay.ts';

const STEP_MS = 5_000;
const BOOKS: readonly Instrument[] = (
  [
    ['btc_mxn', '1'],
    ['btc_usd', '0.1'],
    ['usd_mxn', '0.0001'],
    ['eth_mxn', '0.1'],
  ] as const
).map(([book, tickSize]) =>
  instrumentOf(
    bookRules({ book, tickSize, minimumAmount: '0.00001', maximumAmount: '1000000', minimumPrice: tickSize }),
    '0.00001',
  ),
);
const FUNDS = { btc: 100, usd: 1_000_000, eth: 1_000, mxn: 100_000_000 } as const;

type Live = { readonly command: PlaceCommand; readonly book: number };

/** Returns the mean variance of the held value per second with the true covariance, and the earned spread in pesos. */
export function deskThroughEngine(
  seed: number,
  skewsBy: 'own' | 'joint',
  hours: number,
): { readonly risk: number; readonly spread: number; readonly fills: number } {
  const random = randomOf(seed);
  const live = new Map<string, Live>();
  const trades: OwnTrade[] = [];
  let [at, tid, risk, spread] = [1_000_000, 0, 0, 0];
  const logs = DESK.values.map(Math.log);
  const held = [0, 0, 0];
  const engine = new Engine(
    {
      instance: 'mm',
      run: 1,
      timing: PATIENCE,
      ...(skewsBy === 'joint' ? { jointInventory: { currency: 'mxn', sampleMs: 60_000, halfLifeMs: 21_600_000 } } : {}),
    },
    BOOKS.map((instrument, i) => ({
      instrument,
      strategy: skewing(i, instrument),
      limits: {
        positionMax: 10 ** 9,
        orderValueMax: 10n ** 24n,
        ordersMax: 8,
        collarBps: 1000,
        staleAfterMs: 10_000,
      } as never,
      tolerance: { priceBps: 0, amountShare: 0.5, maxAgeMs: 3_600_000 },
      target: null,
    })),
  );

  const step = (event: EngineEvent): void => {
    for (const command of engine.step(event)) execute(command);
  };
  const execute = (command: Approved<Command>): void => {
    if (command.kind === 'place') {
      live.set(command.id, { command, book: engine.books.indexOf(engine.bookWith(command.id)!) });
      step({ kind: 'placed', at, id: command.id, outcome: { kind: 'done', value: { oid: `oid-${command.id}` } } });
    } else {
      const value = command.ids.flatMap(id => live.get(id) ?? []);
      if (command.kind === 'cancel') for (const id of command.ids) live.delete(id);
      const oids = value.map(({ command: { id } }) => `oid-${id}`);
      step(
        command.kind === 'cancel'
          ? { kind: 'canceled', at, startedAt: at, ids: command.ids, outcome: { kind: 'done', value: oids } }
          : {
              kind: 'looked up',
              at,
              startedAt: at,
              ids: command.ids,
              outcome: { kind: 'done', value: value.map(reportOf) },
            },
      );
    }
  };

  for (const instrument of BOOKS)
    step({ kind: 'rules', symbol: instrument.symbol, at, instrument, makerRate: 0, takerRate: 0 });
  const balances = Object.entries(FUNDS).map(([currency, amount]) => {
    const total = `${amount}`;
    return { currency, total, locked: '0', available: total };
  });
  step({ kind: 'balances', at, startedAt: at, quiet: true, balances });

  const steps = (hours * 3_600_000) / STEP_MS;
  for (let n = 0; n < steps; n++) {
    at += STEP_MS;
    move(logs, random);
    const mids = midsOf(logs);
    for (const [id, { command, book: i }] of live) {
      const { fillsPerS, decay } = DESK_BOOKS[i]!;
      const price = command.price * Number(BOOKS[i]!.tick);
      const distance = (command.side === 'buy' ? mids[i]! - price : price - mids[i]!) / mids[i]!;
      const rate = fillsPerS * Math.exp(-decay * Math.max(distance, -1 / decay));
      if (random.next() >= 1 - Math.exp((-rate * STEP_MS) / 1_000)) continue;
      live.delete(id);
      const sign = command.side === 'buy' ? 1 : -1;
      const amount = command.amount * Number(BOOKS[i]!.lot);
      const value = amount * mids[i]! * (BOOKS[i]!.minor === 'mxn' ? 1 : Math.exp(logs[1]!));
      DESK.holds[i]!.forEach((share, c) => (held[c]! += sign * share * value));
      spread += distance * value;
      trades.push(tradeOf(command, BOOKS[i]!, ++tid, at));
    }
    BOOKS.forEach(({ symbol, tick }, i) => {
      const book = new OrderBook();
      const mid = Math.round(mids[i]! / Number(tick));
      book.set('buy', (mid - 1) as never, 10_000 as never);
      book.set('sell', (mid + 1) as never, 10_000 as never);
      step({ kind: 'book', symbol, at, startedAt: null, book });
    });
    step({ kind: 'trades', at, startedAt: at, complete: true, trades: trades.splice(0) });
    const orders = [...live.values()].map(reportOf);
    step({ kind: 'open orders', at, startedAt: at, complete: true, orders });
    step({ kind: 'timer', at });
    risk += DESK.covariance.reduce(
      (sum, row, a) => sum + held[a]! * row.reduce((total, value, b) => total + value * held[b]!, 0),
      0,
    );
  }
  return { risk: risk / steps, spread, fills: tid };
}

/** Quotes both sides of a book, one order each, and skews as E12 does for one book. */
const skewing = (i: number, instrument: Instrument): Strategy => ({
  quote: ({ mid, position, skewPosition = position }) => {
    const { slope, half, value, amount } = DESK_BOOKS[i]!;
    const shift = -slope * ((skewPosition * Number(instrument.lot)) / amount) * value;
    const level = (sign: number) => {
      const price = mid * (1 + shift + sign * half);
      return [
        {
          price,
          amount: Math.round(DESK_BOOKS[i]!.amount / Number(instrument.lot)) as never,
          why: [{ name: 'x', ticks: price }],
        },
      ];
    };
    return { bids: level(-1), asks: level(1) };
  },
});

/** Moves the values of the currencies by one step of the true covariance. */
function move(logs: number[], random: ReturnType<typeof randomOf>): void {
  const draws = logs.map(() => normal(random) * Math.sqrt(STEP_MS / 1_000));
  DESK.root.forEach((row, a) => (logs[a]! += row.reduce((sum, value, b) => sum + value * draws[b]!, 0)));
}

const midsOf = ([btc = 0, usd = 0, eth = 0]: readonly number[]): readonly number[] =>
  [btc, btc - usd, usd, eth].map(Math.exp);

const reportOf = ({ command, book }: Live): OrderReport => ({
  ...{ book: BOOKS[book]!.symbol, oid: `oid-${command.id}`, originId: command.id, side: command.side, type: 'limit' },
  ...{ status: 'open', createdAt: 0, price: (command.price * Number(BOOKS[book]!.tick)).toFixed(4) },
  ...{ originalAmount: amountText(command, book), unfilledAmount: amountText(command, book) },
});

const amountText = (command: PlaceCommand, book: number): string =>
  (command.amount * Number(BOOKS[book]!.lot)).toFixed(5);

function tradeOf(command: PlaceCommand, { symbol, tick, lot, major }: Instrument, tid: number, at: number): OwnTrade {
  const price = BigInt(Math.round(command.price * Number(tick) * 10 ** 4));
  const amount = BigInt(Math.round(command.amount * Number(lot) * 10 ** 5));
  return {
    ...{ book: symbol, tid: `${tid}`, oid: `oid-${command.id}`, originId: command.id, createdAt: at },
    ...{ side: command.side, price: decimal(price, 4), major: decimal(amount, 5), minor: decimal(price * amount, 9) },
    ...{ feeAmount: '0', feeCurrency: major, maker: true },
  };
}

function decimal(units: bigint, places: number): string {
  const digits = `${units}`.padStart(places + 1, '0');
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

/** Recorded orders put, each alone, through the backtest's own exchange, on pictures made from a log of single orders: what a model says against what became of them. */
import { constantLatency, rowsOfTape } from '../../backtest/index.ts';
import { MESSAGE } from '../../backtest/exchange/messageRing.ts';
import { OrderPool, type OwnOrder } from '../../backtest/exchange/ownOrders.ts';
import { SimulatedExchange } from '../../backtest/exchange/simulatedExchange.ts';
import { NO_WATCHER } from '../../backtest/exchange/watcher.ts';
import { BUY, FLAG, SELL, type MarketRows } from '../../backtest/rows/rows.ts';
import { TickBook } from '../../backtest/rows/tickBook.ts';
import { amount, blockBootstrap, price, randomOf, type BootstrapInterval } from '../../src/core/index.ts';
import type { FillModel } from '../../src/fills/index.ts';
import { finishTape, RecordedSide, SIDE, TapeBuilder } from '../../src/tape/index.ts';
import { GRACE_MS, type RecordedOrder } from './queueTruth.ts';

/** Levels a side, and ms between two pictures; 0: a picture of every change. */
export type PictureKind = { readonly depth: number; readonly everyMs: number };

export const DISTANCES = ['improving', 'touch', 'within 2 bps', '2 to 10 bps', 'beyond'] as const;
export type Distance = (typeof DISTANCES)[number];

/** A recorded order that at least one execution reached while its copy would rest: any other fills under no model. Where it stood when it came. */
export type Candidate = {
  readonly order: RecordedOrder;
  readonly until: number;
  readonly behind: boolean;
  readonly distance: Distance;
};

/** Lots that a copy got, and when the last of them, NaN without any. */
export type Told = { readonly lots: number; readonly at: number };

export type Score = {
  readonly orders: number;
  readonly filled: number;
  readonly told: number;
  /** Lots said over lots true. */
  readonly volume: number;
  /** 95 %, from orders drawn again; null where it is one number. */
  readonly volumeInterval: BootstrapInterval | null;
  /** Lots said over lots true, without the order that is furthest off. */
  readonly volumeButOne: number;
  /** The same with each order counted as one, whatever its amount. */
  readonly share: number;
  readonly precision: number;
  readonly recall: number;
  /** Of those filled whole in both, in ms. */
  readonly timeMedianMs: number;
  readonly timeP90Ms: number;
};

/** In order of their coming. */
export function candidatesOf(rows: MarketRows, recorded: readonly RecordedOrder[]): readonly Candidate[] {
  const { at, flags, place, length } = rows;
  const trades: number[] = [];
  for (let row = 0; row < length; row++) if ((flags[row]! & FLAG.trade) !== 0) trades.push(row);
  const reached = recorded.filter(order => {
    const sign = order.side === BUY ? -1 : 1;
    const taker = order.side === SELL ? 0 : FLAG.sell;
    const until = untilOf(order);
    return trades.some(
      row =>
        row >= order.from &&
        at[row]! <= until &&
        (flags[row]! & FLAG.sell) === taker &&
        place[row]! * sign >= order.place * sign,
    );
  });
  const book = new TickBook(rows);
  let row = 0;
  return reached
    .sort((a, b) => a.from - b.from)
    .map(order => {
      for (; row < order.from - 1; row++) apply(book, rows, row);
      const behind = rows.lots[order.from - 1]! > order.lots;
      return { order, until: untilOf(order), behind, distance: distanceOf(order, book, rows.base) };
    });
}

/** A copy stays a minute longer than an order that was filled whole: a late fill is late, and not missing. */
function untilOf({ steps, filled, lots }: RecordedOrder): number {
  const last = steps.at(-1)!;
  if (last.left > 0) return Infinity;
  return filled === lots ? last.at + GRACE_MS : last.at;
}

function apply(book: TickBook, { flags, place, lots }: MarketRows, row: number): void {
  if ((flags[row]! & FLAG.trade) !== 0) return;
  if ((flags[row]! & FLAG.sell) !== 0) book.setAsk(place[row]!, lots[row]!);
  else book.setBid(place[row]!, lots[row]!);
}

function distanceOf({ side, place }: RecordedOrder, { bid, ask, last }: TickBook, base: number): Distance {
  const isEmpty = side === BUY ? bid === 0 : ask === last;
  const away = side === BUY ? bid - place : place - ask;
  if (isEmpty || away < 0) return 'improving';
  if (away === 0) return 'touch';
  const bps = (away / (place + base)) * 10_000;
  return bps <= 2 ? 'within 2 bps' : bps <= 10 ? '2 to 10 bps' : 'beyond';
}

/** What the backtest says of each candidate; each copy is alone, and the order that it copies is not in the pictures. */
export function tellAll(
  rows: MarketRows,
  candidates: readonly Candidate[],
  kind: PictureKind,
  models: readonly ((rows: MarketRows) => FillModel)[],
): readonly (readonly Told[])[] {
  return tellKinds(rows, candidates, [kind], models)[0]!;
}

/** As `tellAll`, for several kinds of pictures together, by kind and model. `onShare`: share of the work done. */
export function tellKinds(
  rows: MarketRows,
  candidates: readonly Candidate[],
  kinds: readonly PictureKind[],
  models: readonly ((rows: MarketRows) => FillModel)[],
  onShare: (share: number) => void = () => undefined,
): readonly (readonly (readonly Told[])[])[] {
  const told: Told[][][] = kinds.map(() => models.map(() => new Array<Told>(candidates.length)));
  const batches = apartInTime(candidates);
  batches.forEach((batch, b) => {
    const orders = batch.map(n => candidates[n]!.order);
    picturesOf(rows, orders, kinds).forEach((view, k) => {
      models.forEach((model, m) => {
        const exchange = new Copies(view, model(view), rows.base - view.base);
        for (const n of batch) told[k]![m]![n] = exchange.live(candidates[n]!);
      });
    });
    onShare((b + 1) / batches.length);
  });
  return told;
}

export function scoreOf(candidates: readonly Candidate[], told: readonly Told[]): Score {
  let [filled, said, both, lots, real, part, realPart] = [0, 0, 0, 0, 0, 0, 0];
  const errors: number[] = [];
  let furthest = { said: 0, real: 0 };
  candidates.forEach(({ order }, n) => {
    const copy = told[n]!;
    if (Math.abs(copy.lots - order.filled) > Math.abs(furthest.said - furthest.real))
      furthest = { said: copy.lots, real: order.filled };
    if (order.filled > 0) filled++;
    if (copy.lots > 0) said++;
    if (order.filled > 0 && copy.lots > 0) both++;
    lots += copy.lots;
    real += order.filled;
    part += copy.lots / order.lots;
    realPart += order.filled / order.lots;
    if (order.filled === order.lots && copy.lots === order.lots) errors.push(Math.abs(copy.at - order.filledAt));
  });
  errors.sort((a, b) => a - b);
  const pairs = candidates.map(({ order }, n) => ({ said: told[n]!.lots, real: order.filled }));
  return {
    ...{ orders: candidates.length, filled, told: said, volume: lots / real },
    volumeInterval: blockBootstrap(pairs, ratioOfSums, { random: randomOf(1) }),
    ...{ volumeButOne: (lots - furthest.said) / (real - furthest.real), share: part / realPart },
    ...{ precision: both / said, recall: both / filled },
    timeMedianMs: errors[errors.length >> 1] ?? Number.NaN,
    timeP90Ms: errors[Math.floor(errors.length * 0.9)] ?? Number.NaN,
  };
}

const ratioOfSums = (of: readonly { said: number; real: number }[]): number =>
  of.reduce((sum, one) => sum + one.said, 0) / of.reduce((sum, one) => sum + one.real, 0);

/** Places in the list, in groups in which no two lives touch. */
function apartInTime(candidates: readonly Candidate[]): readonly (readonly number[])[] {
  const groups: { end: number; readonly members: number[] }[] = [];
  candidates.forEach(({ order, until }, n) => {
    const came = order.steps[0]!.at;
    const group = groups.find(({ end }) => end < came);
    if (group) {
      group.members.push(n);
      group.end = until;
    } else groups.push({ end: until, members: [n] });
  });
  return groups.map(({ members }) => members);
}

/** Copies at the backtest's exchange, one after the other. */
class Copies {
  readonly #exchange: SimulatedExchange;
  readonly #pool = new OrderPool();
  readonly #shift: number;
  readonly #end: number;
  #filledAt = Number.NaN;

  constructor(rows: MarketRows, model: FillModel, shift: number) {
    this.#shift = shift;
    this.#end = rows.at[rows.length - 1]!;
    this.#exchange = new SimulatedExchange(rows, model, constantLatency(0, 0), {
      ...NO_WATCHER,
      filled: (_order, _lots, at) => void (this.#filledAt = at),
    });
  }

  live({ order, until }: Candidate): Told {
    const exchange = this.#exchange;
    const came = order.steps[0]!.at;
    const copy: OwnOrder = this.#pool.take(order.side, order.place + this.#shift, order.lots);
    this.#filledAt = Number.NaN;
    exchange.requests.push(came, MESSAGE.place, copy, copy.lots, came, 0);
    const end = Math.min(until, this.#end);
    exchange.runTo(end);
    if (copy.resting) {
      exchange.requests.push(end, MESSAGE.cancel, copy, 0, end, 0);
      exchange.runTo(end);
    }
    while (exchange.answers.count > 0) exchange.answers.shift();
    return { lots: copy.lots - copy.left, at: this.#filledAt };
  }
}

/** The market as pictures of its best levels and its trades, without some of its orders, for each kind of pictures. */
export function picturesOf(
  rows: MarketRows,
  without: readonly RecordedOrder[],
  kinds: readonly PictureKind[],
): readonly MarketRows[] {
  const { at, flags, place, lots, length, orders, base } = rows;
  const sides = [new RecordedSide(-1), new RecordedSide(1)] as const;
  const absent = new Map(without.map(order => [order.from - 1, { left: 0, order }]));
  const pictures = kinds.map(kind => new Pictures(kind, at[0]!, base, sides));
  for (let row = 0; row < length; row++) {
    const time = at[row]!;
    for (const one of pictures) one.advance(time);
    // The outermost places stand for all prices far away.
    if (place[row]! <= 0 || place[row]! >= rows.places - 1) continue;
    const side = (flags[row]! & FLAG.sell) !== 0 ? SELL : BUY;
    if ((flags[row]! & FLAG.trade) !== 0) {
      for (const one of pictures) one.trade(time, side, place[row]!, lots[row]!);
      continue;
    }
    const born = orders!.born[row]!;
    const own = absent.get(orders!.gone[row]! < 0 ? row : born);
    if (own) own.left -= orders!.gone[row]!;
    let here = 0;
    for (const { left, order } of absent.values()) if (order.place === place[row] && order.side === side) here += left;
    sides[side].set(place[row]!, Math.max(0, lots[row]! - here));
    for (const one of pictures) one.changed = true;
  }
  return pictures.map(one => one.end(at[length - 1]!));
}

/** Pictures of one kind, which share the book with those of other kinds. */
class Pictures {
  readonly #kind: PictureKind;
  readonly #start: number;
  readonly #base: number;
  readonly #sides: readonly [RecordedSide, RecordedSide];
  readonly #tape = new TapeBuilder();
  #next: number;
  /** Whether the book differs from the last picture. */
  changed = false;

  constructor(kind: PictureKind, start: number, base: number, sides: readonly [RecordedSide, RecordedSide]) {
    this.#kind = kind;
    this.#start = start;
    this.#base = base;
    this.#sides = sides;
    this.#next = start;
  }

  /** Takes the picture that is due before the time, of the book as it was until then. */
  advance(time: number): void {
    if (time <= this.#next) return;
    const { everyMs } = this.#kind;
    if (this.changed) this.#show(this.#next);
    this.#next = everyMs > 0 ? this.#start + Math.ceil((time - this.#start) / everyMs) * everyMs : time;
  }

  trade(time: number, taker: typeof BUY | typeof SELL, place: number, lots: number): void {
    this.#tape.trade(time, time, taker === SELL ? SIDE.sell : SIDE.buy, price(place + this.#base), amount(lots));
  }

  end(time: number): MarketRows {
    if (this.changed) this.#show(Math.max(this.#next, time));
    const columns = this.#tape.columns();
    return rowsOfTape(
      finishTape({ source: 'pictures', book: 'btc_usd', tick: '0.01', columns, depth: this.#kind.depth }),
    );
  }

  #show(time: number): void {
    this.changed = false;
    this.#tape.clear(time, time);
    this.#sides.forEach((levels, side) => {
      const code = side === BUY ? SIDE.buy : SIDE.sell;
      for (let i = 0; i < Math.min(this.#kind.depth, levels.length); i++)
        this.#tape.level(time, time, code, price(levels.priceAt(i) + this.#base), amount(levels.amountAt(i)));
    });
  }
}

/** Queue models against the truth: what became of each recorded order, and what a model says from levels and trades alone. */
import { Sweep, type FillModel } from '../../src/fills/index.ts';
import { OwnOrder } from '../../backtest/exchange/ownOrders.ts';
import { BUY, FLAG, SELL, type MarketRows } from '../../backtest/rows/rows.ts';

/** One recorded order that came to rest: when, and how much of it was executed. */
export type RecordedOrder = {
  readonly side: typeof BUY | typeof SELL;
  readonly place: number;
  readonly lots: number;
  /** First row after the one in which it came, and the row in which it went (or the number of rows). */
  readonly from: number;
  readonly to: number;
  readonly filled: number;
  /** Time of its last execution; NaN when there was none. */
  readonly filledAt: number;
  /** What was left of it, from which time on; the first is its coming. */
  readonly steps: readonly { readonly at: number; readonly left: number }[];
};

export type QueueScore = {
  readonly model: string;
  readonly orders: number;
  /** Orders with any execution: really, by the model, and in both. */
  readonly filled: number;
  readonly told: number;
  readonly both: number;
  readonly precision: number;
  readonly recall: number;
  /** Of those filled whole in both: median and 90th percentile of how far the time of the last execution is off, in ms. */
  readonly timeErrorMedianMs: number;
  readonly timeErrorP90Ms: number;
  /** Lots filled by the model over lots really filled. */
  readonly volumeRatio: number;
};

/** A model's order stays this long after the real one was filled: late fills count as late, not as missing. */
export const GRACE_MS = 60_000;

/** Every order that came while the tape ran; needs a tape that tells single orders. */
export function recordedOrders(rows: MarketRows): readonly RecordedOrder[] {
  const { orders, length, flags, place, at } = rows;
  if (orders === null) throw new RangeError('the truth about queues needs a tape that tells single orders');
  type Open = { -readonly [K in keyof RecordedOrder]: RecordedOrder[K] } & {
    left: number;
    readonly steps: { at: number; left: number }[];
  };
  const open = new Map<number, Open>();
  const found: Open[] = [];
  for (let row = 0; row < length; row++) {
    if ((flags[row]! & FLAG.trade) !== 0) continue;
    const born = orders.born[row]!;
    const gone = orders.gone[row]!;
    if (born < 0) continue;
    if (gone < 0) {
      const side = (flags[row]! & FLAG.sell) !== 0 ? SELL : BUY;
      const order = { side, place: place[row]!, lots: -gone, left: -gone, from: row + 1, to: length } as const;
      open.set(row, { ...order, filled: 0, filledAt: Number.NaN, steps: [{ at: at[row]!, left: -gone }] });
      found.push(open.get(row)!);
      continue;
    }
    const order = open.get(born);
    if (!order) continue;
    order.left -= gone;
    order.steps.push({ at: at[row]!, left: order.left });
    if (orders.executed[row] === 1) {
      order.filled += gone;
      order.filledAt = at[row]!;
    }
    if (order.left > 0) continue;
    order.to = row;
    open.delete(born);
  }
  return found;
}

/**
 * Rests a copy of each recorded order where the real one stood, seeing levels without the real one, and scores what a model says.
 * `view`: rows of the same market as a user would have them, such as pictures every few seconds; without it, every change of a level.
 */
export function scoreQueueModel(
  rows: MarketRows,
  recorded: readonly RecordedOrder[],
  model: (rows: MarketRows) => FillModel,
  view?: MarketRows,
): QueueScore {
  const fills = model(view ?? rows);
  const from = view && new View(view, rows);
  let filled = 0;
  let told = 0;
  let both = 0;
  let realLots = 0;
  let toldLots = 0;
  const errors: number[] = [];
  for (const order of recorded) {
    const said = from ? from.follow(order, fills) : follow(rows, order, fills);
    if (order.filled > 0) filled++;
    if (said.lots > 0) told++;
    if (order.filled > 0 && said.lots > 0) both++;
    realLots += order.filled;
    toldLots += said.lots;
    if (order.filled === order.lots && said.lots === order.lots) errors.push(Math.abs(said.at - order.filledAt));
  }
  errors.sort((a, b) => a - b);
  return {
    model: fills.name,
    orders: recorded.length,
    filled,
    told,
    both,
    precision: both / told,
    recall: both / filled,
    timeErrorMedianMs: errors[errors.length >> 1] ?? Number.NaN,
    timeErrorP90Ms: errors[Math.floor(errors.length * 0.9)] ?? Number.NaN,
    volumeRatio: toldLots / realLots,
  };
}

/** The life of the copy: from where the real one came until it went, or a grace longer when it was filled. */
function follow(
  rows: MarketRows,
  real: RecordedOrder,
  model: FillModel,
): { readonly lots: number; readonly at: number } {
  const { flags, place, lots, at, length, orders } = rows;
  const copy = new OwnOrder();
  copy.side = real.side;
  copy.place = real.place;
  copy.lots = real.lots;
  copy.left = real.lots;
  // The real one stands where the copy does: what meets it meets the copy.
  copy.joined = real.from - 1;
  const sign = real.side === BUY ? -1 : 1;
  const sellFlag = real.side === SELL ? FLAG.sell : 0;
  let mine = real.lots;
  model.queue.joined(copy, lots[real.from - 1]! - mine);
  const own = [copy];
  const sweep = new Sweep();
  let filledAt = Number.NaN;
  const until = real.filled === real.lots ? at[real.to]! + GRACE_MS : (at[real.to] ?? Infinity);
  for (let row = real.from; row < length && at[row]! <= until && copy.left > 0; row++) {
    if (row === real.to && real.filled < real.lots) break;
    const there = place[row]!;
    const flag = flags[row]!;
    const isMine = orders!.born[row] === real.from - 1;
    if ((flag & FLAG.trade) !== 0) {
      // A taker of the other side that reached our price.
      if ((flag & FLAG.sell) === sellFlag || there * sign < real.place * sign) continue;
      sweep.begin(at[row]!, sign, place[row]!);
      model.rule.traded(own, sign, there, lots[row]!, () => (filledAt = at[row]!), row, sweep);
    } else if (there === real.place && (flag & FLAG.sell) === sellFlag) {
      const before = lots[row]! + orders!.gone[row]! - mine;
      if (isMine) mine -= orders!.gone[row]!;
      model.queue.changed(copy, Math.max(0, before), Math.max(0, lots[row]! - mine), row);
    }
  }
  return { lots: real.lots - copy.left, at: filledAt };
}

/** The same life seen through other rows of the same market; what the real order had left then is taken out of its level. */
class View {
  readonly #rows: MarketRows;
  readonly #shift: number;
  readonly #levels = new Map<number, number[]>();
  readonly #trades: number[] = [];

  constructor(view: MarketRows, truth: MarketRows) {
    this.#rows = view;
    this.#shift = truth.base - view.base;
    for (let row = 0; row < view.length; row++) {
      if ((view.flags[row]! & FLAG.trade) !== 0) {
        this.#trades.push(row);
        continue;
      }
      const key = keyOf(view.place[row]!, (view.flags[row]! & FLAG.sell) !== 0 ? SELL : BUY);
      const list = this.#levels.get(key);
      if (list) list.push(row);
      else this.#levels.set(key, [row]);
    }
  }

  follow(real: RecordedOrder, model: FillModel): { readonly lots: number; readonly at: number } {
    const { at, lots, flags, place } = this.#rows;
    const sign = real.side === BUY ? -1 : 1;
    const mine = real.place + this.#shift;
    const came = real.steps[0]!.at;
    const went = real.steps.at(-1)!;
    const until = real.filled === real.lots ? went.at + GRACE_MS : went.left > 0 ? Infinity : went.at;
    const copy = Object.assign(new OwnOrder(), { side: real.side, place: mine, lots: real.lots, left: real.lots });
    const levels = this.#levels.get(keyOf(mine, real.side)) ?? [];
    const before = levels.filter(row => at[row]! <= came).at(-1);
    let others = before === undefined ? 0 : lots[before]!;
    model.queue.joined(copy, others);
    const sweep = new Sweep();
    let filledAt = Number.NaN;
    const taker = real.side === SELL ? 0 : FLAG.sell;
    const meets = (row: number): boolean => (flags[row]! & FLAG.sell) === taker && place[row]! * sign >= mine * sign;
    const later = [...levels, ...this.#trades.filter(meets)].filter(row => at[row]! > came && at[row]! <= until);
    for (const row of later.sort((a, b) => a - b)) {
      if (copy.left === 0) break;
      if ((flags[row]! & FLAG.trade) !== 0) {
        sweep.begin(at[row]!, sign, place[row]!);
        model.rule.traded([copy], sign, place[row]!, lots[row]!, () => (filledAt = at[row]!), row, sweep);
        continue;
      }
      const shown = Math.max(0, lots[row]! - leftAt(real, at[row]!));
      model.queue.changed(copy, others, shown, row);
      others = shown;
    }
    return { lots: real.lots - copy.left, at: filledAt };
  }
}

const keyOf = (place: number, side: number): number => place * 2 + side;

function leftAt({ steps }: RecordedOrder, time: number): number {
  let left = 0;
  for (const step of steps) {
    if (step.at > time) break;
    left = step.left;
  }
  return left;
}

/**
 * Comparison of the matching engine with the naive book, on one list of operations. Every fill, removal and result, and
 * the complete book, must be equal.
 */
import { amount, price, value, type Price, type Random, type Side } from '../../src/core/index.ts';
import { MatchingBook, type EngineTimeInForce, type SelfTrade } from '../../src/sandbox/matching/matching.ts';
import { NaiveBook, type NaiveFill } from '../sandbox/matching/naiveBook.ts';
import { differs, type Divergence, type Subject } from './subject.ts';

export type Operation =
  | {
      readonly kind: 'place';
      readonly side: Side;
      readonly price: number;
      readonly amount: number;
      readonly timeInForce: EngineTimeInForce;
      readonly owner: number;
    }
  | {
      readonly kind: 'take';
      readonly side: Side;
      readonly price: number;
      readonly amount: number;
      readonly budget: number | null;
      readonly owner: number;
    }
  /** `which` counts the orders placed so far, the newest being 0. */
  | { readonly kind: 'cancel'; readonly which: number }
  | { readonly kind: 'reduce'; readonly which: number; readonly amount: number }
  | { readonly kind: 'hit'; readonly which: number; readonly amount: number }
  | {
      readonly kind: 'modify';
      readonly which: number;
      readonly price: number;
      readonly amount: number;
      readonly timeInForce: EngineTimeInForce;
    };

const TIMES_IN_FORCE: readonly EngineTimeInForce[] = ['GTC', 'IOC', 'FOK', 'postOnly'];
export const SELF_TRADES: readonly SelfTrade[] = ['allow', 'drop-new', 'remove-old'];

/** Shape of a drawn list: a narrow book whose orders meet, or a wide one with many levels. */
type Shape = { readonly prices: number; readonly amountMax: number; readonly reach: number };

function drawShape(random: Random): Shape {
  return {
    prices: [3, 12, 200, 5_000][random.integer(0, 3)]!,
    amountMax: [2, 30, 1_000_000][random.integer(0, 2)]!,
    reach: [5, 40, 150][random.integer(0, 2)]!,
  };
}

function drawOperation(random: Random, shape: Shape): Operation {
  const side: Side = random.next() < 0.5 ? 'buy' : 'sell';
  // Bids and asks overlap in the middle half.
  const at = 1 + Math.floor(shape.prices * (side === 'buy' ? random.next() * 0.75 : 0.25 + random.next() * 0.75));
  const lots = random.integer(1, shape.amountMax);
  const timeInForce = random.next() < 0.6 ? 'GTC' : TIMES_IN_FORCE[random.integer(0, 3)]!;
  const owner = random.integer(0, 3);
  const which = random.integer(0, shape.reach);
  const kind = random.integer(0, 15);
  if (kind < 8) return { kind: 'place', side, price: at, amount: lots, timeInForce, owner };
  if (kind < 9)
    return {
      ...{ kind: 'take', side, price: at, amount: lots, owner },
      budget: random.next() < 0.5 ? null : random.integer(0, at * lots),
    };
  if (kind < 12) return { kind: 'cancel', which };
  if (kind < 13) return { kind: 'reduce', which, amount: lots };
  if (kind < 14) return { kind: 'hit', which, amount: lots };
  return { kind: 'modify', which, price: at, amount: lots, timeInForce };
}

export const matching: Subject<Operation, SelfTrade> = {
  listLength: 2_000,
  compareEvery: 50,
  drawSetting(random) {
    const shape = drawShape(random);
    const setting = SELF_TRADES[random.integer(0, SELF_TRADES.length - 1)]!;
    return { setting, draw: () => drawOperation(random, shape) };
  },
  divergence,
};

/** Returns the first difference, or `null`. An error of the engine counts as a difference. */
export function divergence(operations: readonly Operation[], selfTrade: SelfTrade, every = 1): Divergence | null {
  const reached = { at: 0 };
  try {
    return compared(operations, selfTrade, every, reached);
  } catch (error) {
    return { at: reached.at, what: `the engine throws ${String(error)}` };
  }
}

/** Compares the whole book every `every` operations. */
function compared(
  operations: readonly Operation[],
  selfTrade: SelfTrade,
  every: number,
  reached: { at: number },
): Divergence | null {
  const naive = new NaiveBook();
  naive.selfTrade = selfTrade;
  const fills: NaiveFill[] = [];
  const prevented: number[] = [];
  const names = new Map<number, number>();
  let taker = -1;
  const book = new MatchingBook({
    executed: (maker, _makerOwner, _taker, _takerOwner, at, traded, makerLeft) =>
      void fills.push({ maker: names.get(maker)!, taker, price: at, amount: traded, makerLeft }),
    prevented: maker => void prevented.push(names.get(maker)!),
  });
  book.selfTrade = selfTrade;
  const ids: number[] = [];
  for (const [at, op] of operations.entries()) {
    reached.at = at;
    const target = 'which' in op ? ids.length - 1 - op.which : ids.length;
    if (target < 0) continue;
    taker = target;
    let results: readonly [unknown, unknown] = [0, 0];
    if (op.kind === 'place') {
      const id = book.place(op.side, price(op.price), amount(op.amount), op.timeInForce, op.owner, at);
      names.set(id, target);
      ids.push(id);
      naive.place(target, op.side, op.price, op.amount, op.timeInForce, op.owner);
      results = [book.leftOf(id), naive.find(target)?.left ?? 0];
    } else if (op.kind === 'take') {
      const budget = op.budget === null ? null : BigInt(op.budget);
      const ours = budget === null ? null : value(budget);
      ids.push(book.take(op.side, price(op.price), amount(op.amount), ours, op.owner, at));
      naive.take(target, op.side, op.price, op.amount, budget, op.owner);
    } else {
      const id = ids[target]!;
      if (op.kind === 'cancel') results = [book.cancel(id), naive.cancel(target)];
      else if (op.kind === 'reduce') results = [book.reduce(id, amount(op.amount)), naive.reduce(target, op.amount)];
      else if (op.kind === 'hit') {
        const order = naive.find(target);
        if (order === undefined || order.left < op.amount) continue;
        // An execution outside the order of the queue, with a taker that has no name.
        taker = -1;
        book.hit(id, amount(op.amount), at);
        naive.fills.push({
          ...{ maker: target, taker, price: order.price, amount: op.amount },
          makerLeft: order.left - op.amount,
        });
        naive.reduce(target, op.amount);
      } else
        results = [
          book.modify(id, price(op.price), amount(op.amount), op.timeInForce),
          naive.modify(target, op.price, op.amount, op.timeInForce),
        ];
    }
    const what =
      differs('result', results[0], results[1]) ??
      differs('sequence', book.sequence, naive.sequence) ??
      differs('number of orders', book.size, naive.size) ??
      differs('fills', fills.length + prevented.length, naive.fills.length + naive.prevented.length) ??
      (fills.length === 0 ? null : differs('fills', JSON.stringify(fills), JSON.stringify(naive.fills))) ??
      (prevented.length === 0 ? null : differs('prevented', prevented.join(), naive.prevented.join())) ??
      differs('best bid', book.bestBid(), naive.sides.buy[0]?.price ?? 0) ??
      differs('best ask', book.bestAsk(), naive.sides.sell[0]?.price ?? 0) ??
      ((at + 1) % every === 0 ? wholeBook(book, naive, names) : null);
    if (what !== null) return { at, what };
    fills.length = prevented.length = naive.fills.length = naive.prevented.length = 0;
  }
  const what = wholeBook(book, naive, names);
  return what === null ? null : { at: operations.length - 1, what };
}

/** Compares every order and every level of both sides. */
function wholeBook(book: MatchingBook, naive: NaiveBook, names: ReadonlyMap<number, number>): string | null {
  for (const side of ['buy', 'sell'] as const) {
    const orders: string[] = [];
    book.eachOrder(side, (id, owner, at, left) => orders.push(`${names.get(id)} ${owner} ${at} ${left}`) > 0);
    const wanted = naive.sides[side].map(order => `${order.name} ${order.owner} ${order.price} ${order.left}`);
    const levels: string[] = [];
    book.eachLevel(side, (at, total, count) => levels.push(`${at} ${total} ${count}`) > 0);
    const totals = new Map<number, [number, number]>();
    for (const { price: at, left } of naive.sides[side]) {
      const [total, count] = totals.get(at) ?? [0, 0];
      totals.set(at, [total + left, count + 1]);
    }
    const wantedLevels = [...totals].map(([at, [total, count]]) => `${at} ${total} ${count}`);
    const what =
      differs(`orders, ${side}`, orders.join('; '), wanted.join('; ')) ??
      differs(`levels, ${side}`, levels.join('; '), wantedLevels.join('; ')) ??
      [...totals]
        .map(([at, [total]]) => differs(`amount at ${at}`, book.amountAt(side, at as Price), total))
        .find(Boolean);
    if (what) return what;
  }
  return null;
}

/**
 * Comparison of the bot's orders with a slow model, on one list of operations. After each operation, states, reserved
 * amounts, evidence, news and commands must be equal.
 */
import {
  amount,
  fundsFor,
  isInBook,
  mayLive,
  money,
  Orders,
  price,
  remaining,
  type Order,
  type OrderNews,
  type OrderReport,
  type Outcome,
  type Random,
  type Side,
} from '../../src/core/index.ts';
import { OrderCounts } from '../../src/core/orders/orderCounts.ts';
import { OriginIds } from '../../src/core/orders/originIds.ts';
import { OrphanOrders } from '../../src/core/orders/orphanOrders.ts';
import { UnknownOrderResolver } from '../../src/core/orders/unknownOrderResolver.ts';
import { plain } from '../core/market.ts';
import {
  CANCEL_AGAIN,
  filledOf,
  leftOf,
  LOOK_EVERY,
  LOT,
  mayLive as modelMayLive,
  OrderModel,
  REQUEST_DELAY,
  stateOf,
  TRADE_DELAY,
  type ModelMemory,
  type ModelOrder,
  type ModelReport,
  type ModelRow,
} from '../core/orders/orderModel.ts';
import { differs, type Divergence, type Subject } from './subject.ts';

/** Row of a list or a look-up. `filled` is in tenths of a lot. `which` counts back from the newest order, 0. */
type Shown = {
  readonly which: number;
  readonly status: OrderReport['status'];
  readonly filled: number;
  /** Lots by which the amount in the row exceeds the amount of the order. */
  readonly more: number;
  readonly isNamed: boolean;
  readonly isOtherBook: boolean;
};

/** One operation. `ago` is the time between the start of a request and its answer, in ms. */
export type OrderOperation =
  | {
      readonly kind: 'place';
      readonly side: Side;
      readonly price: number;
      readonly lots: number;
      readonly takes: boolean;
      readonly isSent: boolean;
    }
  /** Order that the bot did not place, under the bot's name or another name. Later reads may list it. */
  | {
      readonly kind: 'stranger';
      readonly prefix: 'earlier run' | 'this run' | 'later run' | 'another bot';
      readonly side: Side;
      readonly price: number;
      readonly lots: number;
    }
  | { readonly kind: 'send'; readonly which: number }
  | {
      readonly kind: 'answer';
      readonly which: number;
      readonly answer: 'accepted' | 'rejected' | 'exists' | 'lost';
    }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'decide' }
  | { readonly kind: 'cancel'; readonly which: number }
  | {
      readonly kind: 'canceled';
      readonly asked: readonly number[];
      readonly listed: readonly number[];
      readonly end: 'done' | 'refused' | 'lost';
      readonly ago: number;
    }
  | { readonly kind: 'list'; readonly shown: readonly Shown[]; readonly isComplete: boolean; readonly ago: number }
  | {
      readonly kind: 'look-up';
      readonly asked: readonly number[];
      readonly shown: readonly Shown[];
      readonly ago: number;
    }
  | { readonly kind: 'trades read'; readonly ago: number }
  | { readonly kind: 'fill'; readonly which: number; readonly tenths: number; readonly isNamed: boolean }
  /**
   * All evidence that an unknown order never arrived: lists without the order, a look-up, a cancel and a read of
   * trades, numbered from 0. The requests with the number `early` started `ago` earlier.
   */
  | {
      readonly kind: 'no sign';
      readonly which: number;
      readonly lists: number;
      readonly early: number;
      readonly ago: number;
    }
  /** Writes the amounts and ends of all orders to the journal. */
  | { readonly kind: 'save' }
  /** Starts the next run from the journal, after the clock was set back by some ms. */
  | { readonly kind: 'restart'; readonly setBack: number };

/** Parameters of the random operations of one list. */
type Shape = {
  /** Maximum `which` of an operation: the number of orders back from the newest order. */
  readonly reach: number;
  /** Probability of an order that the bot did not place. */
  readonly strangers: number;
};

/** Start time, as large as real times, so that adding two times instead of subtracting them has a visible effect. */
const START = 1.7e12;
const DELAYS = { requestDelayMaxMs: REQUEST_DELAY, tradeReportDelayMaxMs: TRADE_DELAY, cancelAgainMs: CANCEL_AGAIN };
const FUNDS = money(10n ** 24n);
const UNIT = 10n ** 18n;
const SIDES: readonly Side[] = ['buy', 'sell'];
const STATUSES = ['open', 'partially filled', 'queued', 'completed', 'cancelled'] as const;

export const orders: Subject<OrderOperation, ModelMemory> = {
  listLength: 500,
  compareEvery: 10,
  drawSetting(random) {
    const finishedMax = [1, 2, 5, 12][random.integer(0, 3)]!;
    const justEndedMax = random.integer(1, Math.min(3, finishedMax));
    const reach = [0, 1, 3, 8][random.integer(0, 3)]!;
    const shape = { reach, strangers: [0.01, 0.1][random.integer(0, 1)]! };
    return { setting: { finishedMax, justEndedMax }, draw: () => drawOperation(random, shape) };
  },
  divergence(operations, setting, every = 1) {
    return divergenceOf(operations, setting, every, () => undefined);
  },
};

/** Returns the first difference, or `null`. Calls `onNews` with the kind of each news. */
export function divergenceOf(
  operations: readonly OrderOperation[],
  setting: ModelMemory,
  every: number,
  onNews: (kind: string) => void,
): Divergence | null {
  const pair = new Pair(setting, onNews);
  const last = operations.length - 1;
  for (const [at, operation] of operations.entries()) {
    try {
      const isAll = (at + 1) % every === 0 || at === last;
      const what = pair.apply(operation) ?? (isAll ? pair.differenceOfAll() : pair.differenceOfLive());
      if (what !== null) return { at, what };
    } catch (error) {
      return { at, what: `the program throws ${String(error)}` };
    }
  }
  return null;
}

function drawOperation(random: Random, { reach, strangers }: Shape): OrderOperation {
  const pick = <T>(values: readonly T[]): T => values[random.integer(0, values.length - 1)]!;
  const which = () => random.integer(0, reach);
  const several = () => Array.from({ length: random.integer(0, 2) }, which);
  const isLikely = (chance: number) => random.next() < chance;
  const ago = () => pick([0, 0, random.integer(0, 30), random.integer(0, 200)]);
  const shown = (): Shown[] =>
    Array.from({ length: pick([0, 1, 1, 2]) }, () => ({
      ...{ which: which(), status: pick(STATUSES), filled: isLikely(0.4) ? 0 : random.integer(0, 50) },
      ...{ more: isLikely(0.9) ? 0 : 1, isNamed: isLikely(0.7), isOtherBook: isLikely(0.05) },
    }));
  const terms = () => ({ side: pick(SIDES), price: random.integer(1, 9), lots: random.integer(1, 5) });
  if (isLikely(strangers))
    return { kind: 'stranger', prefix: pick(['earlier run', 'this run', 'later run', 'another bot']), ...terms() };
  const kind = random.integer(0, 99);
  if (kind < 9) return { kind: 'place', ...terms(), takes: isLikely(0.2), isSent: isLikely(0.9) };
  if (kind < 12) return { kind: 'send', which: which() };
  if (kind < 22)
    return { kind: 'answer', which: which(), answer: pick(['accepted', 'accepted', 'rejected', 'exists', 'lost']) };
  if (kind < 36)
    return {
      kind: 'wait',
      ms: pick([0, random.integer(0, 30), random.integer(0, 150), pick([10_000, 59_940, 60_000])]),
    };
  if (kind < 48) return { kind: 'decide' };
  if (kind < 53) return { kind: 'cancel', which: which() };
  if (kind < 59)
    return {
      kind: 'canceled',
      ...{ asked: several(), listed: several(), end: pick(['done', 'done', 'done', 'refused', 'lost']), ago: ago() },
    };
  if (kind < 70) return { kind: 'list', shown: shown(), isComplete: isLikely(0.7), ago: ago() };
  if (kind < 78) return { kind: 'look-up', asked: several(), shown: shown(), ago: ago() };
  if (kind < 82) return { kind: 'trades read', ago: ago() };
  if (kind < 91)
    return { kind: 'fill', which: which(), tenths: pick([10, 20, random.integer(1, 50)]), isNamed: isLikely(0.7) };
  if (kind < 95)
    return {
      kind: 'no sign',
      ...{ which: which(), lists: random.integer(3, 5), early: random.integer(0, 7), ago: ago() },
    };
  return isLikely(0.8) ? { kind: 'save' } : { kind: 'restart', setBack: pick([0, 0, random.integer(0, 200)]) };
}

/** Facts about an order that never change. */
type Facts = {
  readonly id: string;
  readonly oid: string;
  readonly side: Side;
  readonly price: number;
  readonly lots: number;
  /** Placement time of the order in the journal; `null` if the bot did not place the order. */
  readonly at: number | null;
};

/** Filled amount of an order in the journal: whole lots, the rest below one lot, and the model's tenths of a lot. */
type Saved = { readonly filled: number; readonly rest: bigint; readonly tenths: number; readonly oid: string | null };

/** Real orders and model orders of one run. */
class Run {
  readonly model: OrderModel;
  readonly news: string[] = [];
  readonly ids: OriginIds;
  readonly orders: Orders;
  readonly orphans: OrphanOrders;
  readonly resolver: UnknownOrderResolver;
  readonly counts = new OrderCounts(() => undefined);
  readonly modelCounts = new Map<string, number>();

  constructor(run: number, memory: ModelMemory) {
    this.model = new OrderModel(run, memory);
    this.ids = new OriginIds('bot', run);
    const onNews = (news: OrderNews) => {
      this.news.push(textOf(news));
      this.counts.count(news);
    };
    this.orders = new Orders(plain, DELAYS, onNews, memory);
    this.orphans = new OrphanOrders(this.ids, this.orders);
    this.resolver = new UnknownOrderResolver(this.orders, LOOK_EVERY);
  }
}

const textOf = (news: OrderNews): string =>
  news.kind === 'ended' ? `ended ${news.order.id} ${news.ending}` : `${news.kind} ${news.order.id}`;

/** Orders and model after the operations so far, over several runs. */
class Pair {
  readonly #memory: ModelMemory;
  readonly #onNews: (news: string) => void;
  /** All orders so far, of all runs. */
  readonly #known: Facts[] = [];
  #now = START;
  #number = 1;
  #run: Run;
  /** Ids of the orders that have ended. */
  #ended = new Set<string>();
  /** Ids of the orders whose end is in the journal. */
  #savedEnds = new Set<string>();
  #saved = new Map<string, Saved>();

  constructor(memory: ModelMemory, onNews: (news: string) => void) {
    this.#memory = memory;
    this.#onNews = onNews;
    this.#run = new Run(this.#number, memory);
  }

  /** Applies the operation to orders and model. Returns the first difference between their results or news. */
  apply(operation: OrderOperation): string | null {
    const what = this.#applied(operation);
    const { news, model } = this.#run;
    if (what !== null) return what;
    if (news.length > 0 || model.news.length > 0) {
      const [found, expected] = [news.join(', '), model.news.join(', ')];
      if (found !== expected) return differs('news', found, expected);
      for (const one of news) this.#count(one);
      news.length = model.news.length = 0;
    }
    return null;
  }

  /** Compares all live orders, and the values derived from them. */
  differenceOfLive(): string | null {
    const { orders, model, orphans } = this.#run;
    const now = this.#now;
    const { live } = orders;
    if (live.length !== model.live.length) return differs('live orders', idsOf(live), idsOf(model.live));
    for (const [i, expected] of model.live.entries()) {
      const what = this.#differenceOf(live[i]!, expected);
      if (what !== null) return what;
    }
    const last = model.justEnded.at(-1)?.closedAt ?? now;
    for (const since of [now - 20, last, last + 1]) {
      const found = Array.from(orders.inBookSince(since), one => `${one.id}: ${orders.lotsInBookSince(one, since)}`);
      const expected = model.inBookSince(since).map(one => `${one.id}: ${model.lotsInBookSince(one, since)}`);
      const what = differs(`lots in the book since ${since}`, found.join(', '), expected.join(', '));
      if (what !== null) return what;
    }
    return (
      differs('reserved, buy', orders.reserved('buy'), model.reserved('buy')) ??
      differs('reserved, sell', orders.reserved('sell'), model.reserved('sell')) ??
      differs('trades missing', orders.areTradesMissing, model.areTradesMissing) ??
      differs('another process', orphans.mayPlaceAgain(now), model.mayPlaceAgain(now))
    );
  }

  /** Compares every order of all runs, funds and counts, and everything that `differenceOfLive` compares. */
  differenceOfAll(): string | null {
    const { orders, model, counts, modelCounts } = this.#run;
    for (const { id, oid } of this.#known) {
      const [found, expected] = [orders.get(id), model.get(id)];
      if (found === undefined || expected === undefined) {
        if (found !== expected) return differs(`order ${id}`, found?.state, expected?.at);
        if (orders.byOid(oid) !== undefined) return `order ${id}: expected to be forgotten, found by its oid`;
        continue;
      }
      const what = this.#differenceOf(found, expected);
      if (what !== null) return what;
    }
    for (const side of SIDES)
      for (const name of ['filled', 'canceled', 'unknown'] as const) {
        const what = differs(`${name}, ${side}`, counts.all[side][name], modelCounts.get(`${side} ${name}`) ?? 0);
        if (what !== null) return what;
      }
    const context = { instrument: plain, orders: orders.live, majorFunds: FUNDS, minorFunds: FUNDS };
    return (
      differs('funds to buy', fundsFor('buy', context), FUNDS - BigInt(model.reservedValue()) * UNIT) ??
      differs('funds to sell', fundsFor('sell', context), FUNDS - BigInt(model.reserved('sell')) * UNIT) ??
      this.differenceOfLive()
    );
  }

  #differenceOf(found: Order, expected: ModelOrder): string | null {
    const { orders, model } = this.#run;
    const { id, oid } = expected;
    const isFound = oid !== null && orders.byOid(oid) === found;
    if (
      found.id === id &&
      found.state === stateOf(expected) &&
      found.filled === filledOf(expected) &&
      found.filledRest === BigInt(expected.traded % LOT) * (UNIT / 10n) &&
      found.oid === oid &&
      found.ending === expected.ending &&
      found.side === expected.side &&
      found.price === expected.price &&
      found.amount === expected.amount &&
      found.takes === expected.takes &&
      found.placedAt === expected.placedAt &&
      isFound === (oid !== null) &&
      remaining(found) === leftOf(expected) &&
      mayLive(found) === modelMayLive(expected) &&
      isInBook(found) === (expected.at === 'open') &&
      orders.isCancelDue(found, this.#now) === model.isCancelDue(expected, this.#now) &&
      (expected.at === 'done' || orders.needsLookUp(found) === model.needsLookUp(expected))
    )
      return null;
    return differs(
      'order',
      [
        ...[found.id, found.state, found.filled, found.filledRest, found.oid, found.ending, found.side, found.price],
        ...[found.amount, found.takes, found.placedAt, isFound, remaining(found), mayLive(found), isInBook(found)],
        ...[orders.isCancelDue(found, this.#now), orders.needsLookUp(found)],
      ].join(' '),
      [
        ...[id, stateOf(expected), filledOf(expected), BigInt(expected.traded % LOT) * (UNIT / 10n), oid],
        ...[expected.ending, expected.side, expected.price, expected.amount, expected.takes, expected.placedAt],
        ...[oid !== null],
        ...[leftOf(expected), modelMayLive(expected), expected.at === 'open'],
        ...[model.isCancelDue(expected, this.#now), model.needsLookUp(expected)],
      ].join(' '),
    );
  }

  #count(news: string): void {
    const [id] = /bot-\d+-\d+/.exec(news)!;
    const kind = news.replace(` ${id}`, '');
    this.#onNews(kind);
    if (kind.startsWith('ended')) this.#ended.add(id);
    const { side } = this.#known.find(one => one.id === id)!;
    const name =
      kind === 'unknown' || kind === 'ended filled'
        ? kind.replace('ended ', '')
        : kind === 'ended canceled' || kind === 'ended vanished'
          ? 'canceled'
          : null;
    const { modelCounts } = this.#run;
    if (name !== null) modelCounts.set(`${side} ${name}`, (modelCounts.get(`${side} ${name}`) ?? 0) + 1);
  }

  #add(id: string, { side, price: ticks, lots }: Pick<Facts, 'side' | 'price' | 'lots'>, at: number | null): Facts {
    const facts = { id, oid: `oid-${id}`, side, price: ticks, lots, at };
    this.#known.push(facts);
    return facts;
  }

  #pick(which: number): Facts | undefined {
    return this.#known[this.#known.length - 1 - which];
  }

  #some(whiches: readonly number[]): readonly Facts[] {
    return [...new Set(whiches.map(which => this.#pick(which)))].filter(one => one !== undefined);
  }

  /** Applies the operation to orders and model. Ignores an operation on an unknown order. */
  #applied(op: OrderOperation): string | null {
    const { orders, model, ids, resolver } = this.#run;
    const now = this.#now;
    if (op.kind === 'place') {
      const { id } = this.#add(`bot-${this.#number}-${this.#known.length}`, op, now);
      model.place(id, op.side, op.price, op.lots, op.takes, now);
      orders.intend(id, op.side, price(op.price), amount(op.lots), now, { takes: op.takes });
      if (op.isSent) this.#send(id);
    } else if (op.kind === 'stranger') {
      const run = { 'earlier run': 0, 'this run': this.#number, 'later run': this.#number + 1, 'another bot': 1 };
      const name = op.prefix === 'another bot' ? 'other' : 'bot';
      this.#add(`${name}-${run[op.prefix]}-${this.#known.length}`, op, null);
    } else if (op.kind === 'wait') this.#now += op.ms;
    else if (op.kind === 'decide') {
      orders.tick(now);
      const together: string[] = [];
      const single = resolver.cancels(now, together);
      for (const id of together) orders.cancelSent(id, now);
      const commands = [
        ...together.map(id => `cancel ${id}`),
        ...single.map(one => (one.kind === 'cancel' ? `cancel ${one.ids.join(' and ')}` : one.kind)),
        ...resolver.looks(now).flatMap(one => (one.kind === 'look' ? one.ids.map(id => `look ${id}`) : [one.kind])),
      ];
      return differs('commands', commands.join(', '), model.decide(now).join(', '));
    } else if (op.kind === 'canceled') {
      const asked = this.#some(op.asked);
      // If a cancel names one order, an unknown oid in its answer is assigned to that order.
      const listed = this.#some(op.listed).filter(
        ({ id, oid }) => asked.length !== 1 || id === asked[0]?.id || model.byOid(oid) !== undefined,
      );
      const outcome: Outcome<readonly string[]> =
        op.end === 'done'
          ? { kind: 'done', value: listed.map(({ oid }) => oid) }
          : op.end === 'lost'
            ? { kind: 'unknown', reason: 'timeout' }
            : { kind: 'refused', code: '0304', message: 'no' };
      this.#canceled(
        asked.map(({ id }) => id),
        outcome,
        now - op.ago,
      );
    } else if (op.kind === 'list') return this.#list(this.#rows(op.shown), op.isComplete, now - op.ago);
    else if (op.kind === 'look-up')
      this.#lookUp(
        this.#some(op.asked).map(({ id }) => id),
        this.#rows(op.shown),
        now - op.ago,
      );
    else if (op.kind === 'trades read') this.#tradesRead(now - op.ago);
    else if (op.kind === 'no sign') {
      const order = model.live.find(one => one.at === 'unknown')?.id ?? this.#pick(op.which)?.id;
      if (order === undefined) return null;
      this.#now += REQUEST_DELAY;
      const startedAt = (part: number) => this.#now - (part === op.early ? op.ago : 0);
      for (let i = 0; i < op.lists; i++) {
        const what = this.#list([], true, startedAt(0));
        if (what !== null) return what;
      }
      this.#lookUp([order], [], startedAt(1));
      this.#canceled([order], { kind: 'done', value: [] }, startedAt(2));
      this.#tradesRead(startedAt(3));
    } else if (op.kind === 'save') this.#save();
    else if (op.kind === 'restart') this.#restart(op.setBack);
    else {
      const facts = this.#pick(op.which);
      if (facts === undefined) return null;
      const { id, oid } = facts;
      const order = model.get(id);
      if (op.kind === 'fill') {
        const owner = ids.ownerOf(
          { oid, ...(op.isNamed ? { originId: id } : {}) } as Parameters<OriginIds['ownerOf']>[0],
          orders,
        );
        const expected = model.ownerOf(op.isNamed ? id : null, oid);
        if (owner !== expected) return differs('owner of a trade', owner, expected);
        // An exchange never fills more than the amount of the order.
        if (owner === null || (order?.traded ?? 0) + op.tenths >= (facts.lots + 1) * LOT) return null;
        const rest = money((BigInt(op.tenths % LOT) * UNIT) / 10n);
        const isKnown = orders.filled(owner, oid, amount(Math.floor(op.tenths / LOT)), now, rest);
        return differs('trade of a known order', isKnown, model.filled(owner, oid, op.tenths, now));
      }
      if (order === undefined) return null;
      if (op.kind === 'send') {
        if (order.at === 'intent') this.#send(id);
      } else if (op.kind === 'cancel') {
        orders.cancelSent(id, now);
        model.cancelSent(id, now);
      } else {
        // Only placements of this run get answers, and only a sent placement can be accepted.
        const isOwn = facts.at !== null && ids.isOfThisRun(id);
        if (!isOwn || order.reported > 0 || (order.at === 'intent' && op.answer === 'accepted')) return null;
        const outcome: Outcome<{ readonly oid: string }> =
          op.answer === 'accepted'
            ? { kind: 'done', value: { oid } }
            : op.answer === 'lost'
              ? { kind: 'unknown', reason: 'timeout' }
              : { kind: 'refused', code: '0403', message: 'no' };
        orders.answered(id, outcome, op.answer === 'exists', now);
        model.answered(id, op.answer, oid, now);
      }
    }
    return null;
  }

  #send(id: string): void {
    this.#run.orders.sent(id);
    this.#run.model.send(id);
  }

  #rows(shown: readonly Shown[]): readonly ModelReport[] {
    return shown.flatMap(({ which, status, filled, more, isNamed, isOtherBook }) => {
      const facts = this.#pick(which);
      if (facts === undefined) return [];
      const { id, oid, side, price: ticks, lots } = facts;
      const original = lots + more;
      const unfilled = Math.max(0, original * LOT - filled);
      return { id: isNamed ? id : null, oid, side, price: ticks, status, original, unfilled, isOtherBook };
    });
  }

  #list(rows: readonly ModelReport[], isComplete: boolean, startedAt: number): string | null {
    const { orders, orphans, model } = this.#run;
    const now = this.#now;
    const reports = rows.map(reportOf);
    const halt = orphans.onOpenOrders({ orders: reports, at: now }, plain, () => undefined);
    orders.read(reports, isComplete, startedAt, now);
    const expected = model.listed(rows, isComplete, startedAt, now);
    const found = halt === null ? null : halt.includes('of a later run') ? 'later run' : 'duplicate';
    return differs('halt', found, expected);
  }

  #lookUp(asked: readonly string[], rows: readonly ModelReport[], startedAt: number): void {
    this.#run.orders.lookedUp(asked, rows.map(reportOf), startedAt, this.#now);
    this.#run.model.lookedUp(asked, rows, startedAt, this.#now);
  }

  #canceled(asked: readonly string[], outcome: Outcome<readonly string[]>, startedAt: number): void {
    this.#run.orders.cancelAnswered(asked, outcome, startedAt, this.#now);
    this.#run.model.cancelEnded(asked);
    if (outcome.kind === 'done') this.#run.model.cancelAnswered(asked, outcome.value, startedAt, this.#now);
  }

  #tradesRead(startedAt: number): void {
    this.#run.orders.tradesRead(startedAt);
    this.#run.model.tradesRead(startedAt);
  }

  #save(): void {
    this.#savedEnds = new Set(this.#ended);
    this.#saved = new Map();
    for (const { id, filled, filledRest, oid } of this.#run.orders.live) {
      const tenths = this.#run.model.get(id)!.traded;
      this.#saved.set(id, { filled, rest: filledRest!, tenths, oid });
    }
  }

  #restart(setBack: number): void {
    this.#number++;
    this.#ended = new Set(this.#savedEnds);
    const run = new Run(this.#number, this.#memory);
    this.#run = run;
    for (const { id, side, price: ticks, lots, at } of this.#known) {
      if (at === null || this.#savedEnds.has(id)) continue;
      const { filled, rest, tenths, oid } = this.#saved.get(id) ?? { filled: 0, rest: 0n, tenths: 0, oid: null };
      const row = { id, side, price: price(ticks), amount: amount(lots), oid, at: at + setBack };
      const more = rest === 0n ? {} : { filledRest: money(rest) };
      run.orders.restore({ ...row, filled: amount(filled), ...more }, this.#now);
      run.model.restore({ ...row, traded: tenths } satisfies ModelRow, this.#now);
    }
  }
}

function reportOf({ id, oid, side, price: at, status, original, unfilled, isOtherBook }: ModelReport): OrderReport {
  return {
    ...{ book: isOtherBook ? 'eth_mxn' : plain.symbol, oid, side, type: 'limit', status, createdAt: START },
    ...{ originalAmount: String(original), unfilledAmount: `${Math.floor(unfilled / LOT)}.${unfilled % LOT}` },
    ...{ price: String(at), ...(id === null ? {} : { originId: id }) },
  };
}

const idsOf = (all: Iterable<{ readonly id: string }>): string => Array.from(all, ({ id }) => id).join(' ');

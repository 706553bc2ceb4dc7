/** A script of requests, market events and time on a stored exchange, which may be killed between any two steps and inside requests and timers. */
import fc from 'fast-check';
import { amount, opposite, price, textOfAmount, textOfPrice, VirtualClock, type Side } from '../../src/core/index.ts';
import { levelModel, type Bound } from '../../src/fills/index.ts';
import {
  FollowedMarket,
  StoredExchange,
  type FollowedQueues,
  type RowStore,
  type Switches,
} from '../../src/sandbox/index.ts';
import { payingCurrency } from '../../src/sandbox/venue/order.ts';
import { Trader } from './trader.ts';

const BOOK = 'btc_mxn';
const BASE = 150_000;
/** Lots in one unit of the scripts: above the book's least amount and value. */
const UNIT = 10_000;
const BALANCES = { btc: '5', mxn: '5000000' };
/** Balances with which both books compete for the quote currency. */
const SCARCE = { btc: '5', mxn: '1200', eth: '5' };

/** `book`: place of its book; absent for the first. */
export type Step = { readonly book?: number } & Act;
type Act =
  | {
      readonly act: 'place';
      readonly side: Side;
      readonly at: number;
      readonly lots: number;
      readonly how: (typeof HOW)[number];
    }
  | { readonly act: 'sweep'; readonly side: Side; readonly lots: number; readonly unit: 'major' | 'minor' }
  | { readonly act: 'bad'; readonly why: (typeof BAD)[number] }
  | { readonly act: 'repeat'; readonly which: number; readonly side: Side; readonly at: number }
  | { readonly act: 'cancel'; readonly which: readonly number[] }
  | { readonly act: 'cancel all' }
  | { readonly act: 'modify'; readonly which: number; readonly lots: number; readonly at: number | null }
  | { readonly act: 'replace'; readonly which: number; readonly lots: number; readonly at: number }
  | { readonly act: 'convert'; readonly side: Side; readonly desk: 'v4' | 'rfq' }
  | { readonly act: 'rest'; readonly side: Side; readonly at: number; readonly lots: number }
  | { readonly act: 'leave'; readonly which: number }
  | { readonly act: 'take'; readonly side: Side; readonly lots: number }
  | { readonly act: 'pass'; readonly ms: number };

const HOW = ['postonly', 'goodtillcancelled', 'immediateorcancel', 'fillorkill'] as const;
/** Orders that the exchange must reject, whatever the account and the book are. */
const BAD = ['tick', 'amount', 'funds', 'book'] as const;

const side = fc.constantFrom<Side>('buy', 'sell');
const lots = fc.integer({ min: 1, max: 9 });
const at = fc.integer({ min: 0, max: 6 });
const step: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      act: fc.constant('place' as const),
      ...{ side, at, lots },
      how: fc.constantFrom(...HOW, 'postonly' as const, 'postonly' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant('sweep' as const),
      ...{ side, lots },
      unit: fc.constantFrom('major' as const, 'minor' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('bad' as const), why: fc.constantFrom(...BAD) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('repeat' as const), which: fc.nat(9), side, at }) },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('cancel' as const),
      which: fc.array(fc.nat(9), { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('cancel all' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ act: fc.constant('modify' as const), which: fc.nat(9), lots, at: fc.option(at) }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('replace' as const), which: fc.nat(9), lots, at }) },
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant('convert' as const),
      side,
      desk: fc.constantFrom('v4' as const, 'rfq' as const),
    }),
  },
  { weight: 6, arbitrary: fc.record({ act: fc.constant('rest' as const), side, at, lots }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constant('leave' as const), which: fc.nat(30) }) },
  {
    weight: 5,
    arbitrary: fc.record({ act: fc.constant('take' as const), side, lots: fc.integer({ min: 1, max: 25 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ act: fc.constant('pass' as const), ms: fc.constantFrom(5, 20, 30, 600, 3_000) }),
  },
);
export const scripts = (length: number): fc.Arbitrary<Step[]> =>
  fc.array(step, { minLength: length / 2, maxLength: length, size: 'max' });

/** Scripts in which each step is of one of two books. */
export const scriptsOfTwo = (length: number): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.tuple(step, fc.nat(1)).map(([act, book]) => ({ ...act, book })),
    { minLength: length / 2, maxLength: length, size: 'max' },
  );

/** Two books with one quote currency, so that their orders need the same money. */
export const TWO = [BOOK, 'eth_mxn'] as const;

/** Steps of the followed market. */
const IS_MARKET: ReadonlySet<Step['act']> = new Set(['rest', 'leave', 'take']);

/** `between`: kills before this step. Otherwise at the write of this number, before it is on disk or just after. */
export type Kill = { readonly where: 'between' | 'before' | 'after'; readonly n: number };
export const kills = (count: number, length: number): fc.Arbitrary<Kill[]> =>
  fc.array(
    fc.record({ where: fc.constantFrom('between' as const, 'before' as const, 'after' as const), n: fc.nat(length) }),
    {
      minLength: count / 2,
      maxLength: count,
    },
  );

export type Model = Bound | 'exact';
export type SelfTrade = Switches['selfTrade'];

/** Keys of rows that a power cut may set back: an older queue position is further back. */
export const IS_VOLATILE: ReadonlySet<string> = new Set(['numbers', 'queues', 'seen']);

/** The first part of a key, before its book or number. */
const kindOf = (key: string): string => key.split('/')[0]!;

/** Rows in memory; a write can be the last of its process. */
class Disk implements RowStore {
  readonly rows: Map<string, string>;
  writes = 0;
  isDead = false;
  /** Whether the last write before the death is on disk. */
  wasWritten = false;
  /** Whether the step is one of the followed market, which a restarted process does not see again: it is killed before or after. */
  isMarket = false;
  /** Keys of other rows that were written without a sync. */
  readonly unsynced: string[] = [];
  /** State after each write: rows, and whether the write was of the market or of a start. */
  readonly history: { readonly rows: ReadonlyMap<string, string>; readonly at: number; readonly isMarket: boolean }[] =
    [];
  readonly #clock: VirtualClock;
  readonly #kills: readonly Kill[];

  constructor(clock: VirtualClock, kills: readonly Kill[] = [], rows: ReadonlyMap<string, string> = new Map()) {
    this.#clock = clock;
    this.#kills = kills;
    this.rows = new Map(rows);
  }

  read() {
    return [...this.rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, text]) => ({ key, text }));
  }

  write(changes: readonly { readonly key: string; readonly text: string | null }[], isDurable: boolean): void {
    if (this.isDead) throw new Error('this process was killed');
    // Only writes that the two runs have in common are counted: neither the regular ones nor those of an opening.
    const isCounted = !this.isMarket && changes.every(({ key }) => kindOf(key) !== 'seen' && key !== 'identity');
    const kill = isCounted ? this.#kills.find(({ where, n }) => where !== 'between' && n === this.writes) : undefined;
    if (isCounted) this.writes++;
    if (kill) [this.isDead, this.wasWritten] = [true, false];
    if (kill?.where === 'before') throw new Error('killed before the write');
    for (const { key, text } of changes) {
      if (text === null) this.rows.delete(key);
      else this.rows.set(key, text);
    }
    this.wasWritten = true;
    if (!isDurable) this.unsynced.push(...changes.map(({ key }) => key).filter(key => !IS_VOLATILE.has(kindOf(key))));
    this.history.push({ rows: new Map(this.rows), at: this.#clock.now(), isMarket: !isCounted });
    if (kill) throw new Error('killed after the write');
  }
}

type Rest = { readonly id: number; readonly side: Side; readonly at: number; lots: number };

const openedOn = (
  clock: VirtualClock,
  store: RowStore,
  selfTrade: SelfTrade,
  books: readonly string[] = [BOOK],
): StoredExchange =>
  new StoredExchange({
    ...{ clock, store, seed: 7 },
    purpose: { follows: 'https://one.example', book: BOOK, instance: 'bot' },
    ...{ balances: books.length === 1 ? BALANCES : SCARCE, volume30d: { mxn: '100000' } },
    otherBooks: books.slice(1),
    switches: {
      ...{ engineDelayMinMs: 25, engineDelayMaxMs: 25, cancelTiming: 'queued', rateLimits: 'off' },
      ...{ tradeRecordDelayMs: 0, finishedVisibleMs: 2_000, selfTrade },
      // An end of a conversion that no random number decides, and a capacity that a few conversions use up.
      ...{ rfqDelayMinMs: 300, rfqDelayMaxMs: 300, rfqFailurePips: 0, rfqCapacityPips: 10 },
    },
    onUnwritten: () => undefined,
    onWritten: () => undefined,
  });

/**
 * Continues with rows that a killed process left, on a market that has passed some prices, and returns what is wrong.
 * `isSame`: whether the next process after this one has the same orders and trades.
 */
export function continuedFrom(rows: ReadonlyMap<string, string>, at: number, model: Model) {
  const clock = new VirtualClock(at);
  const disk = new Disk(clock, [], rows);
  const opened = () => {
    const stored = openedOn(clock, disk, 'allow');
    const market = new FollowedMarket(stored.box.marketplace(BOOK), levelModel(model === 'exact' ? 'expected' : model));
    const sink = stored.follow(market);
    sink.clear();
    sink.set('buy', price(BASE + 2), amount(UNIT));
    sink.set('sell', price(BASE + 3), amount(UNIT));
    sink.flush();
    let isOver = false;
    clock.after(1_000, () => (isOver = true));
    while (!isOver) clock.runNext();
    sink.flush();
    const { accounts, imbalance } = stored.box.truth();
    const own = accounts.get(stored.account.id)!;
    const orders = [...own.live, ...own.finished];
    const filled = (oid: string) =>
      own.trades.reduce((sum, trade) => (trade.order.oid === oid ? sum + trade.amount : sum), 0);
    stored.close();
    return {
      imbalance: [...imbalance.values()].filter(sum => sum !== 0n),
      wrongOrders: orders.filter(order => order.filled !== filled(order.oid)).map(({ oid }) => oid),
      areTidsRising: own.trades.every(({ tid }, i) => i === 0 || tid >= own.trades[i - 1]!.tid),
      orders: orders.map(({ oid, status, filled: lots }) => `${oid} ${status} ${lots}`).sort(),
      trades: own.trades.map(({ tid, order, amount: lots }) => `${tid} ${order.oid} ${lots}`),
    };
  };
  const first = opened();
  const again = opened();
  const isSame =
    again.trades.join() === first.trades.join() && again.orders.every(order => first.orders.includes(order));
  const { imbalance, wrongOrders, areTidsRising } = again;
  return {
    imbalance: [...first.imbalance, ...imbalance],
    wrongOrders: [...first.wrongOrders, ...wrongOrders],
    areTidsRising: first.areTidsRising && areTidsRising,
    isSame,
    trades: first.trades.length,
  };
}

/** State at the end, as an accountant and the client see it. */
export function played(
  steps: readonly Step[],
  model: Model,
  selfTrade: SelfTrade,
  killed: readonly Kill[] = [],
  books: readonly string[] = [BOOK],
) {
  const clock = new VirtualClock();
  const disk = new Disk(clock, killed);
  /** The followed market of each book: its orders, oldest first. */
  const restsOf: Rest[][] = books.map(() => [
    { id: 0, side: 'buy', at: 1, lots: 8 * UNIT },
    { id: 1, side: 'sell', at: 5, lots: 8 * UNIT },
  ]);
  let [restCount, takers, deaths] = [2, 0, 0];
  /** Most money that live orders of both books have locked together. */
  let lockedMax = 0n;
  /** Balances whose locks are not those of the live orders, or exceed the balance. */
  const wrongLocks: string[] = [];
  const totalAt = (b: number, of: Side, place: number): number =>
    restsOf[b]!.reduce((sum, rest) => (rest.side === of && rest.at === place ? sum + rest.lots : sum), 0);
  const best = (b: number, of: Side): number | null => {
    const places = restsOf[b]!.filter(rest => rest.side === of).map(rest => rest.at);
    return places.length === 0 ? null : of === 'buy' ? Math.max(...places) : Math.min(...places);
  };

  const open = () => {
    disk.isDead = false;
    const stored = openedOn(clock, disk, selfTrade, books);
    const followed = books.map((_, b) => follow(stored, b));
    const trader = new Trader({ ...stored.box, respond: stored.respond }, stored.account);
    return { stored, followed, trader };
  };
  const follow = (stored: StoredExchange, b: number) => {
    // A process counts the orders of the followed book itself, in the order in which its first snapshot has them.
    const born = new Map<number, number>();
    const numbered = (rest: Rest) => {
      if (!born.has(rest.id)) born.set(rest.id, born.size + 1);
      return born.get(rest.id)!;
    };
    const queues: FollowedQueues = {
      arrivals: () => born.size,
      lotsUpTo: (of, ticks, arrival) =>
        restsOf[b]!.reduce(
          (sum, rest) =>
            rest.side === of && BASE + rest.at === ticks && (born.get(rest.id) ?? Infinity) <= arrival
              ? sum + rest.lots
              : sum,
          0,
        ),
    };
    const isExact = model === 'exact';
    const market = new FollowedMarket(
      stored.box.marketplace(books[b]!),
      levelModel(isExact ? 'expected' : model),
      isExact ? queues : null,
    );
    const sink = stored.follow(market, undefined, books[b]);
    sink.clear();
    restsOf[b]!.forEach(numbered);
    for (const rest of restsOf[b]!) sink.set(rest.side, price(BASE + rest.at), amount(totalAt(b, rest.side, rest.at)));
    sink.flush();
    return { market, sink, numbered };
  };
  let session = open();
  /** Shows the followed market again, as its events do. A process that is not killed ignores this repetition. */
  const repeat = () => {
    const before = disk.isMarket;
    disk.isMarket = true;
    for (const { sink } of session.followed) if (!disk.isDead) sink.flush();
    disk.isMarket = before;
    if (disk.isDead) reopen();
  };
  const reopen = () => {
    do {
      deaths++;
      session.stored.close();
      // Nonces go on, as those of a client that keeps them on disk.
      session = open();
    } while (disk.isDead);
    // A start executes the commands that are due. The market is repeated after these too.
    repeat();
  };
  if (disk.isDead) reopen();
  /** Lets time pass, and everything happen that is due by then: a kill at that instant would change its order otherwise. */
  const pass = (ms: number) => {
    for (const each of [ms, 0]) {
      let isOver = false;
      clock.after(each, () => (isOver = true));
      while (!isOver) {
        clock.runNext();
        repeat();
      }
    }
  };
  /**
   * Sends requests until the exchange has done them: what the disk does not know, no one has done. `isDeciding`: whether
   * the request that was sent last is the one whose effect counts.
   */
  const ask = (call: (trader: Trader) => unknown, isDeciding: () => boolean = () => true) => {
    try {
      call(session.trader);
    } catch (error) {
      if (!disk.isDead) throw error;
      const isDone = disk.wasWritten && isDeciding();
      reopen();
      if (!isDone) ask(call, isDeciding);
    }
  };
  const show = (b: number, touched: readonly (readonly [Side, number])[]) => {
    const { sink } = session.followed[b]!;
    for (const [of, place] of touched) sink.set(of, price(BASE + place), amount(totalAt(b, of, place)));
    sink.flush();
  };

  let placed = 0;
  const codes: string[] = [];
  const play = (each: Step): void => {
    const b = each.book ?? 0;
    const name = books[b]!;
    const { instrument } = session.stored.box.marketplace(name);
    const units = (n: number) => textOfAmount(instrument, amount(n * UNIT));
    const ticks = (at: number) => textOfPrice(instrument, price(BASE + at));
    // A start shows the whole market again, also what an order has just taken, as each event of the market does. So the
    // commands of two requests are never executed at the same time.
    if (!IS_MARKET.has(each.act)) pass(1);
    switch (each.act) {
      case 'place': {
        const more = { time_in_force: each.how, origin_id: `bot-${placed++}` };
        ask(trader => trader.limit(name, each.side, ticks(each.at), units(each.lots), more));
        return;
      }
      case 'sweep': {
        const sum = each.unit === 'major' ? { major: units(each.lots) } : { minor: String(each.lots * 155) };
        const order = { book: name, side: each.side, type: 'market', origin_id: `bot-${placed++}`, ...sum };
        ask(trader => trader.place(order));
        return;
      }
      case 'bad': {
        const [book, at, lots] = [name, ticks(0), units(1)];
        const [asked, price, major] = {
          tick: [book, `${ticks(0)}.5`, lots],
          amount: [book, at, '0.00000001'],
          funds: [book, at, '500'],
          book: ['doge_mxn', at, lots],
        }[each.why] as [string, string, string];
        let code = '';
        // A rejected order changes nothing, so it is sent again whatever the disk has.
        ask(
          trader => (code = trader.limit(asked, 'buy', price, major, { origin_id: 'bad' })),
          () => false,
        );
        codes.push(code);
        return;
      }
      case 'repeat':
        ask(trader => trader.limit(name, each.side, ticks(each.at), units(1), { origin_id: `bot-${each.which}` }));
        return;
      case 'cancel': {
        const ids = each.which.map(which => `bot-${which}`).join(',');
        ask(trader => trader.call('DELETE', `/api/v3/orders?origin_ids=${ids}`));
        return;
      }
      case 'cancel all':
        ask(trader => trader.call('DELETE', '/api/v3/orders/all'));
        return;
      case 'modify': {
        const change = { major: units(each.lots), ...(each.at === null ? {} : { price: ticks(each.at) }) };
        ask(trader => trader.call('PATCH', `/api/v4/orders?origin_id=bot-${each.which}`, change));
        return;
      }
      case 'replace': {
        const by = { major: units(each.lots), price: ticks(each.at), origin_id: `bot-${placed++}` };
        ask(trader => trader.call('PATCH', `/api/v3/orders?origin_id=bot-${each.which}`, by));
        return;
      }
      case 'convert': {
        const [from, to, sum] = each.side === 'sell' ? ['btc', 'mxn', '0.04'] : ['mxn', 'btc', '60000'];
        let isDeciding = false;
        // A quote ends with its process, so a client that got no answer starts with a new quote.
        ask(
          trader => {
            isDeciding = false;
            const quote = (path: string, fields: Record<string, string>) =>
              trader.call('POST', path, fields).body as unknown as { id?: string; payload?: { id?: string } };
            const id =
              each.desk === 'v4'
                ? quote('/api/v4/currency_conversions', { from_currency: from, to_currency: to, spend_amount: sum })
                    .payload?.id
                : quote('/rfq/v1/quotes', {
                    ...{ source: from.toUpperCase(), target: to.toUpperCase(), source_amount: sum },
                  }).id;
            isDeciding = true;
            if (id === undefined) return;
            if (each.desk === 'v4') trader.call('PUT', `/api/v4/currency_conversions/${id}`);
            else trader.call('POST', '/rfq/v1/conversions', { quote_id: id });
          },
          () => isDeciding,
        );
        return;
      }
      case 'rest': {
        const other = best(b, opposite(each.side));
        if (other !== null && (each.side === 'buy' ? each.at >= other : each.at <= other)) return;
        const rest = { id: restCount++, side: each.side, at: each.at, lots: each.lots * UNIT };
        restsOf[b]!.push(rest);
        session.followed[b]!.numbered(rest);
        return show(b, [[each.side, each.at]]);
      }
      case 'leave': {
        const gone = restsOf[b]![each.which];
        if (!gone) return;
        restsOf[b] = restsOf[b]!.filter(rest => rest !== gone);
        return show(b, [[gone.side, gone.at]]);
      }
      case 'take': {
        takers++;
        const maker = opposite(each.side);
        const touched = new Set<number>();
        for (let left = each.lots * UNIT; left > 0;) {
          const place = best(b, maker);
          const first = restsOf[b]!.find(rest => rest.side === maker && rest.at === place);
          if (!first) break;
          const part = Math.min(left, first.lots);
          const number = session.followed[b]!.numbered(first);
          session.followed[b]!.sink.trade(each.side, price(BASE + first.at), amount(part), {
            takerNumber: takers,
            ...(model === 'exact' ? { maker: number } : {}),
          });
          left -= part;
          first.lots -= part;
          touched.add(first.at);
          if (first.lots === 0) restsOf[b] = restsOf[b]!.filter(rest => rest !== first);
        }
        return show(
          b,
          [...touched].map(place => [maker, place] as const),
        );
      }
      case 'pass':
        return pass(each.ms);
    }
  };
  steps.forEach((each, i) => {
    for (const { where, n } of killed) if (where === 'between' && n === i) reopen();
    disk.isMarket = IS_MARKET.has(each.act);
    play(each);
    repeat();
    const { accounts } = session.stored.box.truth();
    const { live, balances } = accounts.get(session.stored.account.id)!;
    for (const [currency, { total, locked }] of balances) {
      const reserved = live
        .filter(order => payingCurrency(order) === currency)
        .reduce((sum, order) => sum + order.locked + order.reserved, 0n);
      if (reserved !== locked || locked > total) wrongLocks.push(`${currency} ${reserved} ${locked} ${total}`);
    }
    const buys = live.filter(order => order.side === 'buy');
    if (new Set(buys.map(({ book }) => book)).size > 1) {
      const locked = buys.reduce((sum, order) => sum + order.locked, 0n);
      if (locked > lockedMax) lockedMax = locked;
    }
  });
  pass(1_500);
  // From here on, the process lives.
  disk.isMarket = true;
  const { stored, followed, trader } = session;
  stored.box.venue.forget(stored.box.venue.accounts.get(stored.account.id)!);
  const read = (target: string) => trader.call('GET', target).text;
  const shown = books.map(book => {
    const { bids, asks } = trader.get<{ bids: unknown; asks: unknown }>('GET', `/api/v3/order_book?book=${book}`);
    return { bids, asks };
  });
  const { accounts, imbalance } = stored.box.truth();
  const own = accounts.get(stored.account.id)!;
  const orders = [...own.live, ...own.finished].map(order =>
    Object.fromEntries(
      Object.entries(order).filter(
        ([name, value]) => value !== undefined && !['engineId', 'account', 'instrument'].includes(name),
      ),
    ),
  );
  const opening = { btc: 5n * 10n ** 18n, mxn: 5_000_000n * 10n ** 18n };
  const held = (currency: 'btc' | 'mxn') => own.balances.get(currency)?.total ?? 0n;
  const result = {
    balances: own.balances,
    orders,
    trades: own.trades.map(({ order, readableAt: _, ...trade }) => ({ ...trade, oid: order.oid, side: order.side })),
    areTidsRising: own.trades.every(({ tid }, i) => i === 0 || tid >= own.trades[i - 1]!.tid),
    conversions: stored.box.rfq
      .conversionsOf(stored.box.venue.accounts.get(stored.account.id)!)
      .map(({ number, status, createdAt, updatedAt, quote: { sourceSum, targetSum } }) => ({
        ...{ number, status, createdAt, updatedAt, sourceSum, targetSum },
      })),
    loads: stored.box.rfq.loads(),
    codes,
    shown,
    lockedMax,
    wrongLocks,
    profit: held('mxn') - opening.mxn + (held('btc') - opening.btc) * BigInt(BASE * 10),
    queues: followed.map(({ market }) => ({
      ...market.stored(),
      spent: market.stored().spent.toSorted((a, b) => a.price - b.price),
    })),
    numbers: stored.box.venue.numbers,
    answers: ['balance', 'open_orders', 'user_trades', 'ledger', 'fees', 'fundings'].map(path =>
      read(`/api/v3/${path}`),
    ),
    imbalance: [...imbalance.values()].filter(sum => sum !== 0n),
    unsynced: disk.unsynced,
  };
  stored.close();
  return { result, deaths, history: disk.history };
}

export const MODELS: readonly Model[] = ['pessimistic', 'expected', 'optimistic', 'exact'];

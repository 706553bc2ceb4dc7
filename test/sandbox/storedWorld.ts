/** A script of requests, market events and time on a stored exchange, which may be killed between any two steps and inside requests and timers. */
import fc from 'fast-check';
import { amount, opposite, price, textOfAmount, textOfPrice, VirtualClock, type Side } from '../../src/core/index.ts';
import { levelModel, type Bound } from '../../src/fills/index.ts';
import { FollowedMarket, StoredExchange, type FollowedQueues, type RowStore } from '../../src/sandbox/index.ts';
import { Trader } from './trader.ts';

const BOOK = 'btc_mxn';
const BASE = 150_000;
/** Lots in one unit of the scripts: above the book's least amount and value. */
const UNIT = 10_000;
const SIDES = ['buy', 'sell'] as const;
const BALANCES = { btc: '5', mxn: '5000000' };

export type Step =
  | {
      readonly act: 'place';
      readonly side: Side;
      readonly at: number;
      readonly lots: number;
      readonly how: 'postonly' | 'goodtillcancelled' | 'immediateorcancel';
    }
  | { readonly act: 'cancel'; readonly which: number }
  | { readonly act: 'modify'; readonly which: number; readonly lots: number }
  | { readonly act: 'convert'; readonly side: Side }
  | { readonly act: 'rest'; readonly side: Side; readonly at: number; readonly lots: number }
  | { readonly act: 'leave'; readonly which: number }
  | { readonly act: 'take'; readonly side: Side; readonly lots: number }
  | { readonly act: 'pass'; readonly ms: number };

const side = fc.constantFrom<Side>('buy', 'sell');
const lots = fc.integer({ min: 1, max: 9 });
const at = fc.integer({ min: 0, max: 6 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      act: fc.constant('place' as const),
      ...{ side, at, lots },
      how: fc.constant('postonly' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('cancel' as const), which: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('modify' as const), which: fc.nat(9), lots }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('convert' as const), side }) },
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

/** Rows in memory; a write can be the last of its process. */
class Disk implements RowStore {
  readonly rows = new Map<string, string>();
  writes = 0;
  isDead = false;
  /** Whether the last write before the death is on disk. */
  wasWritten = false;
  /** Whether the step is one of the followed market, which a restarted process does not see again: it is killed before or after. */
  isMarket = false;
  readonly #kills: readonly Kill[];

  constructor(kills: readonly Kill[]) {
    this.#kills = kills;
  }

  read() {
    return [...this.rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, text]) => ({ key, text }));
  }

  write(changes: readonly { readonly key: string; readonly text: string | null }[]): void {
    if (this.isDead) throw new Error('this process was killed');
    // Only writes that the two runs have in common are counted: neither the regular ones nor those of an opening.
    const isCounted = !this.isMarket && changes.every(({ key }) => key !== 'seen' && key !== 'identity');
    const kill = isCounted ? this.#kills.find(({ where, n }) => where !== 'between' && n === this.writes) : undefined;
    if (isCounted) this.writes++;
    if (kill) [this.isDead, this.wasWritten] = [true, false];
    if (kill?.where === 'before') throw new Error('killed before the write');
    for (const { key, text } of changes) {
      if (text === null) this.rows.delete(key);
      else this.rows.set(key, text);
    }
    this.wasWritten = true;
    if (kill) throw new Error('killed after the write');
  }
}

type Rest = { readonly id: number; readonly side: Side; readonly at: number; lots: number };

/** What is true at the end, as an accountant and the client see it. */
export function played(steps: readonly Step[], model: Model, killed: readonly Kill[] = [], gapMs = 0) {
  const clock = new VirtualClock();
  const disk = new Disk(killed);
  /** The followed market: its orders, oldest first. */
  let rests: Rest[] = [];
  let [restCount, takers, deaths] = [0, 0, 0];
  const totalAt = (of: Side, place: number): number =>
    rests.reduce((sum, rest) => (rest.side === of && rest.at === place ? sum + rest.lots : sum), 0);
  const best = (of: Side): number | null => {
    const places = rests.filter(rest => rest.side === of).map(rest => rest.at);
    return places.length === 0 ? null : of === 'buy' ? Math.max(...places) : Math.min(...places);
  };

  const open = () => {
    disk.isDead = false;
    const stored = new StoredExchange({
      ...{ clock, store: disk, seed: 7 },
      purpose: { follows: 'https://one.example', book: BOOK, instance: 'bot' },
      ...{ balances: BALANCES, volume30d: { mxn: '100000' } },
      switches: {
        ...{ engineDelayMinMs: 25, engineDelayMaxMs: 25, cancelTiming: 'queued', rateLimits: 'off' },
        ...{ tradeRecordDelayMs: 0, finishedVisibleMs: 2_000, selfTrade: 'drop-new' },
      },
      onUnwritten: () => undefined,
    });
    // A process counts the orders of the followed book itself, in the order in which its first snapshot has them.
    const born = new Map<number, number>();
    const numbered = (rest: Rest) => {
      if (!born.has(rest.id)) born.set(rest.id, born.size + 1);
      return born.get(rest.id)!;
    };
    const queues: FollowedQueues = {
      arrivals: () => born.size,
      lotsUpTo: (of, ticks, arrival) =>
        rests.reduce(
          (sum, rest) =>
            rest.side === of && BASE + rest.at === ticks && (born.get(rest.id) ?? Infinity) <= arrival
              ? sum + rest.lots
              : sum,
          0,
        ),
    };
    const isExact = model === 'exact';
    const market = new FollowedMarket(
      stored.box.marketplace(BOOK),
      levelModel(isExact ? 'expected' : model),
      isExact ? queues : null,
    );
    const sink = stored.follow(market);
    sink.clear();
    rests.forEach(numbered);
    for (const rest of rests) sink.set(rest.side, price(BASE + rest.at), amount(totalAt(rest.side, rest.at)));
    sink.flush();
    const trader = new Trader({ ...stored.box, respond: stored.respond }, stored.account);
    return { stored, market, sink, numbered, trader };
  };
  let session = open();
  const reopen = () => {
    do {
      deaths++;
      session.stored.close();
      // Nonces go on, as those of a client that keeps them on disk.
      session = open();
    } while (disk.isDead);
  };
  if (disk.isDead) reopen();
  /** The followed market repeats what it shows, as it also does at each start; so a start is no news. */
  const repeat = () => {
    disk.isMarket = true;
    if (!disk.isDead) session.sink.flush();
    disk.isMarket = false;
    if (disk.isDead) reopen();
  };
  const pass = (ms: number) => {
    let isOver = false;
    clock.after(ms, () => (isOver = true));
    while (!isOver) {
      clock.runNext();
      repeat();
    }
  };
  /** Sends a request until the exchange has done it: what the disk does not know, no one has done. */
  const ask = (call: (trader: Trader) => unknown) => {
    try {
      call(session.trader);
    } catch (error) {
      if (!disk.isDead) throw error;
      const isDone = disk.wasWritten;
      reopen();
      if (!isDone) ask(call);
    }
  };
  const show = (touched: readonly (readonly [Side, number])[]) => {
    for (const [of, place] of touched) session.sink.set(of, price(BASE + place), amount(totalAt(of, place)));
    session.sink.flush();
  };

  let placed = 0;
  const play = (each: Step): void => {
    const { instrument } = session.stored.box.marketplace(BOOK);
    const units = (n: number) => textOfAmount(instrument, amount(n * UNIT));
    switch (each.act) {
      case 'place': {
        const [ticks, originId] = [textOfPrice(instrument, price(BASE + each.at)), `bot-${placed++}`];
        ask(trader =>
          trader.limit(BOOK, each.side, ticks, units(each.lots), { time_in_force: each.how, origin_id: originId }),
        );
        return;
      }
      case 'cancel':
        ask(trader => trader.call('DELETE', `/api/v3/orders?origin_ids=bot-${each.which}`));
        return;
      case 'modify':
        ask(trader => trader.call('PATCH', `/api/v4/orders?origin_id=bot-${each.which}`, { major: units(each.lots) }));
        return;
      case 'convert': {
        const [from, to, sum] = each.side === 'sell' ? ['btc', 'mxn', '0.01'] : ['mxn', 'btc', '10000'];
        let quote = '';
        ask(trader => {
          const { body } = trader.call('POST', '/api/v4/currency_conversions', {
            ...{ from_currency: from, to_currency: to, spend_amount: sum },
          });
          quote = body.success ? (body.payload as { id: string }).id : '';
        });
        if (quote !== '') ask(trader => trader.call('PUT', `/api/v4/currency_conversions/${quote}`));
        return;
      }
      case 'rest': {
        const other = best(opposite(each.side));
        if (other !== null && (each.side === 'buy' ? each.at >= other : each.at <= other)) return;
        const rest = { id: restCount++, side: each.side, at: each.at, lots: each.lots * UNIT };
        rests.push(rest);
        session.numbered(rest);
        return show([[each.side, each.at]]);
      }
      case 'leave': {
        const gone = rests[each.which];
        if (!gone) return;
        rests = rests.filter(rest => rest !== gone);
        return show([[gone.side, gone.at]]);
      }
      case 'take': {
        takers++;
        const maker = opposite(each.side);
        const touched = new Set<number>();
        for (let left = each.lots * UNIT; left > 0;) {
          const place = best(maker);
          const first = rests.find(rest => rest.side === maker && rest.at === place);
          if (!first) break;
          const part = Math.min(left, first.lots);
          const number = session.numbered(first);
          session.sink.trade(each.side, price(BASE + first.at), amount(part), {
            takerNumber: takers,
            ...(model === 'exact' ? { maker: number } : {}),
          });
          left -= part;
          first.lots -= part;
          touched.add(first.at);
          if (first.lots === 0) rests = rests.filter(rest => rest !== first);
        }
        return show([...touched].map(place => [maker, place] as const));
      }
      case 'pass':
        return pass(each.ms);
    }
  };
  steps.forEach((each, i) => {
    for (const { where, n } of killed) {
      if (where !== 'between' || n !== i) continue;
      if (gapMs > 0) pass(gapMs);
      reopen();
    }
    disk.isMarket = each.act === 'rest' || each.act === 'leave' || each.act === 'take';
    play(each);
    repeat();
  });
  pass(1_500);
  // From here on, the process lives.
  disk.isMarket = true;
  const { stored, market, trader } = session;
  stored.box.venue.forget(stored.box.venue.accounts.get(stored.account.id)!);
  // The market simulator takes trade ids too, one for each of its orders at a level; their number is no fact of the market.
  const ranks = new Map<string, string>();
  const ranked = (text: string) =>
    text.replaceAll(
      /1000\d{5}/g,
      tid => ranks.get(tid) ?? (ranks.set(tid, `trade ${ranks.size + 1}`), ranks.get(tid)!),
    );
  const read = (target: string) => ranked(trader.call('GET', target).text);
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
    trades: own.trades.map(({ order, readableAt: _, tid: _tid, ordinal: _ordinal, ...trade }) => ({
      ...trade,
      oid: order.oid,
    })),
    areTidsRising: own.trades.every(({ tid }, i) => i === 0 || tid > own.trades[i - 1]!.tid),
    profit: held('mxn') - opening.mxn + (held('btc') - opening.btc) * BigInt(BASE * 10),
    queues: { ...market.stored(), spent: market.stored().spent.toSorted((a, b) => a.price - b.price) },
    numbers: stored.box.venue.numbers.orders,
    answers: ['balance', 'open_orders', 'user_trades', 'ledger', 'fees', 'fundings'].map(path =>
      read(`/api/v3/${path}`),
    ),
    imbalance: [...imbalance.values()].filter(sum => sum !== 0n),
  };
  stored.close();
  return { result, deaths };
}

export const MODELS: readonly Model[] = ['pessimistic', 'expected', 'optimistic', 'exact'];
export { SIDES };

/** Tests of parts of the engine against small models: uptime, readiness, rules of the book, view of the market. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  instrumentOf,
  money,
  moneyOf,
  OrderBook,
  Orders,
  silenceReason,
  tierWorth,
  type OrderReport,
  type OrderState,
  type Side,
} from '../../../src/core/index.ts';
import { BookTerms } from '../../../src/core/engine/bookTerms.ts';
import { MarketView } from '../../../src/core/engine/marketView.ts';
import { QuoteUptime } from '../../../src/core/engine/quoteUptime.ts';
import { describeMissingData, QuotingNews } from '../../../src/core/engine/readiness.ts';
import { bookRules, levelsOf, plain } from '../market.ts';
import { runsOf } from '../../many.ts';

const START = 1.7e12;

describe('uptime', () => {
  const states: readonly OrderState[] = [
    'sending',
    'open',
    'partially filled',
    'canceling',
    'unknown',
    'closed-unsettled',
  ];
  const step = fc.record({
    passed: fc.constantFrom(0, 1, 200, 5_000, -10),
    orders: fc.array(fc.record({ side: fc.constantFrom<Side>('buy', 'sell'), state: fc.constantFrom(...states) }), {
      maxLength: 3,
    }),
  });

  it('is the share of the time in which a confirmed order of that side was there', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), steps => {
        const uptime = new QuoteUptime();
        expect([uptime.isRunning, uptime.shares()]).toEqual([false, { bid: 0, ask: 0 }]);
        let [at, latest, total] = [START, START, 0];
        const quoted = { buy: 0, sell: 0 };
        uptime.advanceTo(at, { live: [{ side: 'buy', state: 'open' }] } as never);
        for (const { passed, orders } of steps) {
          at += passed;
          uptime.advanceTo(at, { live: orders } as never);
          const ms = Math.max(0, at - latest);
          latest = Math.max(latest, at);
          total += ms;
          for (const side of ['buy', 'sell'] as const)
            if (orders.some(one => one.side === side && (one.state === 'open' || one.state === 'partially filled')))
              quoted[side] += ms;
        }
        const share = (side: Side) => (total === 0 ? 0 : quoted[side] / total);
        expect([uptime.isRunning, uptime.shares()]).toEqual([true, { bid: share('buy'), ask: share('sell') }]);
      }),
    );
  });
});

describe('what is missing before the first quote', () => {
  const READY = { fees: true, balances: null, account: true, isAlone: true, hasNoEarlierOrders: true };
  it.each([
    [{}, null],
    [{ hasNoEarlierOrders: false }, 'orders of an earlier run may still be open'],
    [
      { hasNoEarlierOrders: false, isAlone: false },
      "the exchange listed open orders with this bot's instance name, but this run did not place them; another process may use this name",
    ],
    [
      { hasNoEarlierOrders: false, isAlone: false, account: false },
      'the open orders and trades of the account have not been read yet',
    ],
    [
      { isAlone: false, account: false, balances: 'the balances have not been read yet' },
      'the balances have not been read yet',
    ],
    [
      { ...READY, fees: false, account: false, balances: 'no balances' },
      'the fees and rules of the book have not been read yet',
    ],
  ])('of %j is told first: %s', (facts, missing) => {
    expect(describeMissingData({ ...READY, ...facts })).toBe(missing);
  });
});

describe('news of quoting', () => {
  const NONE = { buy: null, sell: null };
  const empty = (reason: string) => ({ reason, words: null, level: null }) as never;
  const context = { missing: 'fees', instrument: plain } as never;
  let task = (): string | null => null;
  const newsOf = (news: QuotingNews, refusal: string | null, buy: string | null = null, sell = buy) => {
    const unshown = { buy: buy === null ? null : empty(buy), sell: sell === null ? null : empty(sell) };
    const shown = buy === null && sell === null ? NONE : unshown;
    const all = news.newsAfter(refusal as never, shown, () => context, task);
    return all && [all.kind, all.reason, all.why];
  };

  it('are told once for each change: not ready is where it begins, and one empty side is none', () => {
    const news = new QuotingNews();
    expect(newsOf(news, 'not ready')).toBeNull();
    expect(newsOf(news, null)).toEqual(['quoting', null, null]);
    expect(newsOf(news, null, 'at the cap', null)).toBeNull();
    expect(newsOf(news, null, null, 'at the cap')).toBeNull();
    expect(newsOf(news, null, 'at the cap')).toEqual(['quoting', null, 'no bid and no ask: at the cap']);
    expect(newsOf(news, null, 'at the cap')).toBeNull();
    expect(newsOf(news, null, 'at the cap', 'too old')).toEqual([
      'quoting',
      null,
      'no bid: at the cap; no ask: too old',
    ]);
    expect(newsOf(news, 'halted', 'at the cap')).toEqual(['quoting', 'halted', null]);
    expect(newsOf(news, 'halted')).toBeNull();
    expect(newsOf(news, 'not ready')).toEqual(['quoting', 'not ready', 'fees']);
    expect(newsOf(news, null)).toEqual(['quoting', null, null]);
  });

  it('ask for the facts of the risk only where there is something to tell', () => {
    const news = new QuotingNews();
    const unasked = (): never => {
      throw new Error('asked');
    };
    expect(news.newsAfter('not ready', NONE, unasked, () => null)).toBeNull();
    expect(news.newsAfter(null, NONE, unasked, unasked)).not.toBeNull();
    expect(news.newsAfter('halted', NONE, unasked, unasked)).not.toBeNull();
  });

  it('at the start are what the operator must do, and at a stop before the first quote what is missing', () => {
    const stopped = new QuotingNews();
    expect(newsOf(stopped, 'not ready')).toBeNull();
    expect(newsOf(stopped, 'stopping')).toEqual(['quoting', 'stopping', 'fees']);
    const news = new QuotingNews();
    expect(newsOf(news, 'not ready')).toBeNull();
    for (const text of ['book 1 btc', 'book 2 btc']) {
      task = () => text;
      expect(newsOf(news, 'not ready')).toEqual(['quoting', 'not ready', 'fees']);
      expect(newsOf(news, 'not ready')).toBeNull();
    }
    expect(newsOf(news, null)).toEqual(['quoting', null, null]);
    expect(newsOf(news, 'stopping')).toEqual(['quoting', 'stopping', null]);
  });
});

describe('the rules of the book', () => {
  const CHANGED = 'rules of the book changed';
  const rulesOf = (instrument = plain, more: object = {}) =>
    ({ kind: 'rules', at: START, instrument, makerRate: -20, takerRate: 70, ...more }) as never;
  const instrument = (tickSize: string, lot: string) =>
    instrumentOf(bookRules({ tickSize, minimumAmount: '10', minimumPrice: '10', maximumPrice: '1000000' }), lot);

  it('are known with their fees, a rebate too; without them nothing is quoted', () => {
    const terms = new BookTerms(plain);
    expect([terms.hasFees, terms.refusal, terms.isOutdated]).toEqual([false, null, false]);
    expect(terms.read(rulesOf())).toBe(false);
    expect([terms.hasFees, terms.makerRate, terms.takerRate, terms.tierWorth]).toEqual([true, -20, 70, 0]);
    for (const makerRate of [Number.NaN, 1e8, -1e8, Infinity]) {
      terms.read(rulesOf(plain, { makerRate }));
      expect(terms.hasFees).toBe(false);
    }
    terms.read(rulesOf(plain, { makerRate: 99_999_999 }));
    expect(terms.hasFees).toBe(true);
  });

  it('are those of the last read alone, whatever was read before: rules, fees, tier and refusal', () => {
    const next = { above: money(0n), makerRate: 0, missing: moneyOf('1'), monthly: money(0n) };
    const tierOf = (volume: string) => ({ currency: 'mxn', volume: moneyOf(volume), makerRate: 60_000, next });
    const tiers = [undefined, null, tierOf('0'), tierOf('1.5'), tierOf('9'), { ...tierOf('9'), next: null }];
    const rate = fc.constantFrom(-20, 0, 70, Number.NaN);
    const rules = fc
      .record({
        instrument: fc.constantFrom(
          instrument('1', '1'),
          { ...instrument('1', '1'), amountMin: 7 },
          instrument('5', '1'),
        ),
        ...{ makerRate: rate, takerRate: rate, tier: fc.constantFrom(...tiers) },
      })
      .map(read => ({ kind: 'rules', at: START, ...read }));
    const event = fc.oneof({ weight: 4, arbitrary: rules }, fc.constant({ kind: 'book removed', at: START }));
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 6 }), events => {
        const terms = new BookTerms(instrument('1', '1'));
        let refusal: string | null = null;
        for (const one of events) {
          const isTold = terms.read(one as never);
          expect(isTold).toBe(terms.refusal !== refusal);
          ({ refusal } = terms);
        }
        // The engine ignores rules with another tick and rules that report the removal of the book.
        const last = events.flatMap(one => ('instrument' in one && one.instrument.tick === '1' ? [one] : [])).at(-1);
        const { instrument: of, makerRate, takerRate } = terms;
        expect([of, makerRate, takerRate, terms.tierWorth]).toEqual([
          last?.instrument ?? instrument('1', '1'),
          ...[last?.makerRate ?? Number.NaN, last?.takerRate ?? Number.NaN, last?.tier ? tierWorth(last.tier) : 0],
        ]);
        const end = events.at(-1)!;
        const why = end.kind === 'book removed' ? 'book is not traded any more' : end === last ? null : CHANGED;
        expect([terms.refusal, terms.isOutdated]).toEqual([why, why === CHANGED]);
      }),
    );
  });

  it('of another tick or lot are not taken; the engine is told of each change, once', () => {
    const terms = new BookTerms(instrument('1', '1'));
    terms.read(rulesOf(instrument('1', '1'), { makerRate: 5 }));
    for (const other of [instrument('5', '1'), instrument('1', '10')]) {
      expect(terms.read(rulesOf(other))).toBe(true);
      expect([terms.refusal, terms.isOutdated, terms.makerRate]).toEqual(['rules of the book changed', true, 5]);
      expect(terms.read(rulesOf(other))).toBe(false);
      expect(terms.read({ kind: 'book removed', at: START })).toBe(true);
      expect([terms.refusal, terms.isOutdated]).toEqual(['book is not traded any more', false]);
      expect(terms.read({ kind: 'book removed', at: START })).toBe(false);
      const same = instrument('1', '1');
      expect(terms.read(rulesOf(same, { makerRate: 5 }))).toBe(true);
      expect([terms.refusal, terms.instrument]).toEqual([null, same]);
    }
  });
});

describe('the market as it is seen', () => {
  const bookOf = (bids: readonly (readonly [number, number])[], asks: readonly (readonly [number, number])[]) => {
    const book = new OrderBook();
    for (const [price, lots] of bids) book.set('buy', price as never, lots as never);
    for (const [price, lots] of asks) book.set('sell', price as never, lots as never);
    return book;
  };
  const delays = { requestDelayMaxMs: 100, tradeReportDelayMaxMs: 60, cancelAgainMs: 25 };
  const noOrders = new Orders(plain, delays, () => {});
  const own = fc.record({
    side: fc.constantFrom('buy', 'sell'),
    away: fc.nat(3),
    lots: fc.integer({ min: 1, max: 9 }),
  });
  const happens = fc.record({
    kind: fc.constantFrom('place', 'fill', 'fill', 'untold fill', 'tell', 'end', 'read', 'read', 'sample', 'arrive'),
    which: fc.nat(3),
    lots: fc.integer({ min: 1, max: 9 }),
    passed: fc.nat(2),
  });

  it('has nothing of the bot in a book that was read before an order was filled, canceled or told of, and all of the others in one read after', () => {
    const counts = { exact: 0, safe: 0 };
    fc.assert(
      fc.property(
        fc.array(own, { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat(4), { minLength: 4, maxLength: 4 }),
        fc.array(happens, { maxLength: 30, size: 'max' }),
        (owns, others, history) => {
          const orders = new Orders(plain, delays, () => {});
          const priceOf = (side: Side, away: number) => (side === 'buy' ? 990 - away : 1_010 + away);
          const truth = owns.map(({ side, away, lots }, n) => ({
            ...{ id: `o-${n}`, oid: `oid-${n}`, side, lots, away, isPlaced: false, isOver: false, left: 0, untold: 0 },
          }));
          let now = START;
          let changedAt = now;
          let read: { startedAt: number; book: OrderBook } | null = null;
          /** Returns the true book of the exchange, including the orders of the bot. */
          const sample = () => {
            const level = (side: Side) => (away: number) => {
              const ours = truth.filter(one => one.side === side && one.away === away);
              return [priceOf(side, away), others[away]! + ours.reduce((sum, one) => sum + one.left, 0)] as const;
            };
            const side = (of: Side) => [0, 1, 2, 3].map(level(of)).filter(([, lots]) => lots > 0);
            return bookOf(side('buy'), side('sell'));
          };
          const tell = (one: (typeof truth)[number]) => {
            if (one.untold === 0) return;
            orders.filled(one.id, one.oid, one.untold as never, now);
            one.untold = 0;
          };
          for (const { kind, which, lots, passed } of history) {
            now += passed;
            const one = truth[which % truth.length]!;
            if (kind === 'read') read = { startedAt: now, book: sample() };
            else if (kind === 'sample' && read) read.book = sample();
            else if (kind === 'arrive' && read) {
              const market = new MarketView();
              market.read(read.book, read.startedAt, orders);
              const isExact = changedAt < read.startedAt && truth.every(({ untold }) => untold === 0);
              counts[isExact ? 'exact' : 'safe']++;
              for (const side of ['buy', 'sell'] as const) {
                const seen = levelsOf(market.depth, side);
                const whole = others.map((all, away) => [priceOf(side, away), all]).filter(([, all]) => all! > 0);
                if (isExact && String(seen) !== String(whole)) expect(seen).toEqual(whole);
                const ofOurs = seen.filter(([at, all]) => !whole.some(([price, most]) => price === at && all <= most!));
                if (ofOurs.length > 0) expect(ofOurs).toEqual([]);
              }
            } else if (kind === 'place' && !one.isPlaced) {
              one.isPlaced = true;
              one.left = one.lots;
              changedAt = now;
              orders.intend(one.id, one.side, priceOf(one.side, one.away) as never, one.lots as never, now);
              orders.sent(one.id);
              orders.answered(one.id, { kind: 'done', value: { oid: one.oid } }, false, now);
            } else if (kind === 'tell') {
              if (one.untold > 0) changedAt = now;
              tell(one);
            } else if (one.left > 0 && (kind === 'fill' || kind === 'untold fill')) {
              const all = Math.min(lots, one.left);
              one.left -= all;
              one.untold += all;
              changedAt = now;
              if (kind === 'fill') tell(one);
            } else if (kind === 'end' && one.isPlaced && !one.isOver) {
              one.isOver = true;
              changedAt = now;
              const report = { book: plain.symbol, oid: one.oid, originId: one.id, side: one.side, type: 'limit' };
              const status = one.left > 0 ? 'cancelled' : 'completed';
              const amounts = { originalAmount: `${one.lots}`, unfilledAmount: `${one.left}` };
              one.left = 0;
              orders.lookedUp([one.id], [{ ...report, status, createdAt: now, ...amounts } as OrderReport], now, now);
            }
          }
        },
      ),
      runsOf(5_000, 300),
    );
    expect(Math.min(counts.exact, counts.safe)).toBeGreaterThan(50);
  });

  it('has the middle and the levels of a book that has no orders of the bot as they are', () => {
    const orders = new Orders(plain, delays, () => {});
    orders.intend('o-0', 'sell', 1_010 as never, 10 as never, START);
    const book = bookOf([[990, 10], [989, 3]], [[1_010, 10], [1_012, 7]]); // prettier-ignore
    const market = new MarketView();
    expect([market.isQuotable, market.hearsTrades]).toEqual([false, false]);
    market.read(book, START, orders);
    expect([market.mid, market.isQuotable, market.hearsTrades]).toEqual([1_001, true, false]);
    market.read(book, null, orders);
    expect([levelsOf(market.depth, 'sell').length, market.mid, market.hearsTrades]).toEqual([2, 1_000, true]);
  });

  it.each([
    [[[990, 1]], [[991, 1]], true],
    [[[990, 1]], [[990, 1]], false],
    [[], [[990, 1]], false],
    [[[990, 1]], [], false],
  ] as [[number, number][], [number, number][], boolean][])(
    'of %j and %j is quotable: %s',
    (bids, asks, isQuotable) => {
      const market = new MarketView();
      market.read(bookOf(bids, asks), null, noOrders);
      expect(market.isQuotable).toBe(isQuotable);
    },
  );

  it('forgets prices from elsewhere in a sleep, and takes none whose read began before its end', () => {
    const market = new MarketView();
    const tell = (startedAt: number) => {
      market.apply({ kind: 'reference', at: START + 9, startedAt, price: 7 });
      market.apply({ kind: 'witness', at: START + 9, startedAt, bid: 5, ask: 6 });
      return [market.reference, market.rfqPrices];
    };
    market.apply({ kind: 'public trade', at: START, price: 3 as never });
    const known = (at: number) => [
      { at, price: 7 },
      { at, bid: 5, ask: 6 },
    ];
    expect(tell(START)).toEqual(known(START));
    market.slept(START + 5);
    expect([market.reference, market.rfqPrices, market.lastTrade]).toEqual([null, null, 3]);
    expect(tell(START + 4)).toEqual([null, null]);
    expect(tell(START + 5)).toEqual(known(START + 5));
  });
});

it.each([
  ['microprice not known', 'no fair value'],
  ['reduce only', 'reduce only'],
  ['pulled: the leader moved (-3.0 bps)', 'pulled: the leader moved'],
  ['pulled: a large trade', 'pulled: a large trade'],
  [
    'a hedge is open at binance; with hedge.elsewhere.failuresMax 0, this side waits until the hedge ends',
    'waits for a hedge',
  ],
  ['one order is more inventory than the risk allows: 5', 'at the cap'],
  ['no fair value', 'no fair value'],
  ['no trade was received', 'no fair value'],
  ['no reference was heard', 'no fair value'],
  ['the fair value is 0', 'no fair value'],
  ['the last trade is old', 'no fair value'],
  ['cannot earn its fees', 'cannot earn its fees'],
  ['reference above priceCeiling', 'outside its price range'],
  ['reference below priceFloor', 'outside its price range'],
  ['outside movingPriceBandPct', 'outside its price range'],
  ['known', 'held back by the strategy'],
])('words of a strategy "%s" are counted as "%s"', (words, reason) => {
  expect(silenceReason(words)).toBe(reason);
});

/** Effects of each event on the engine: whether it decides at once, its news, and the view of strategy and operator afterwards. */
import { describe, expect, it } from 'vitest';
import {
  moneyOf,
  textOfMoney,
  type EngineEvent,
  type EngineNews,
  type EngineOptions,
  type HaltLimits,
  type Strategy,
  type View,
} from '../../../src/core/index.ts';
import { ToyExchange, PATIENCE, quoteAround } from '../toyExchange.ts';
import { plain } from '../market.ts';

const START = 1.7e12;
const MINUTE = 60_000;
const FREE = { drawdownMax: 10n ** 30n, dayLossMax: 10n ** 30n };
const halts = { ...FREE, fillsPer10Min: 99, refusalsPerMinute: 99, unknownsPerMinute: 99, messagesPerMinute: 999 };

/** A toy exchange at today's clock that quotes, has been answered, and decides again in a minute if nothing happens. */
function quietDesk(options: Partial<EngineOptions> = {}): ToyExchange {
  const toy = new ToyExchange({
    timing: { ...PATIENCE, privateStaleAfterMs: 600_000, decideEveryMs: MINUTE },
    limits: {
      positionMax: 100,
      orderValueMax: 10n ** 9n,
      ordersMax: 20,
      collarBps: 1000,
      staleAfterMs: 600_000,
    } as never,
    isTraced: true,
    ...options,
  });
  toy.now = START;
  toy.open().round();
  for (let n = 0; n < 3; n++) {
    toy.now += MINUTE;
    toy.readBook();
    toy.readPrivate();
    toy.step({ kind: 'timer', at: toy.now });
  }
  toy.now += 10;
  return toy;
}
const used = (toy: ToyExchange, limit: string) =>
  Number(toy.engine.book.limitUses(toy.now).find(one => one.limit === limit)?.used);

const balances = (toy: ToyExchange, btc: string) => {
  const row = (currency: string, total: string) => ({ currency, total, locked: '0', available: total });
  return {
    kind: 'balances',
    ...{ at: toy.now, startedAt: toy.now, quiet: true },
    balances: [row('btc', btc), row('mxn', '1000000000')],
  } as const;
};
const conversion = {
  id: 'c',
  give: { currency: 'btc', amount: moneyOf('1') },
  get: { currency: 'mxn', amount: moneyOf('9') },
};

describe('an event', () => {
  const at = START;
  const rules = { kind: 'rules', at, instrument: plain, makerRate: 0, takerRate: 0 } as const;
  const transfer: EngineEvent = {
    kind: 'transfer',
    at,
    source: 's',
    cause: 'deposits',
    currency: 'btc',
    amount: moneyOf('1'),
    occurredAt: at,
    why: 'w',
  };
  const take = { kind: 'take', at, id: 'mm-7-900', side: 'buy', price: 1_010, amount: 1, until: Infinity } as never;

  it.each<readonly [string, boolean, (toy: ToyExchange) => EngineEvent]>([
    ['a timer', false, () => ({ kind: 'timer', at })],
    ['a book', false, toy => ({ kind: 'book', at, startedAt: null, book: toy.book })],
    ['a public trade', false, () => ({ kind: 'public trade', at, price: 5 as never })],
    ['a reference', false, () => ({ kind: 'reference', at, startedAt: at, price: 5 })],
    ['RFQ prices', false, () => ({ kind: 'witness', at, startedAt: at, bid: 5, ask: 6 })],
    ['the same rules', false, () => rules],
    ['a book that is removed', true, () => ({ kind: 'book removed', at })],
    ['the same balances', false, toy => balances(toy, '1000000000')],
    ['unread balances', true, () => ({ kind: 'balances unread', at, reason: 'no answer' })],
    ['no trades', false, () => ({ kind: 'trades', at, startedAt: at, complete: true, trades: [] })],
    [
      'the same open orders',
      false,
      toy => ({
        kind: 'open orders',
        ...{ at, startedAt: START, complete: true },
        orders: toy.live.map(one => toy.report(one)),
      }),
    ],
    [
      'a look-up of nothing',
      false,
      () => ({ kind: 'looked up', at, startedAt: at, ids: [], outcome: { kind: 'unknown', reason: 'r' } }),
    ],
    [
      'an answer to a cancel',
      true,
      () => ({ kind: 'canceled', at, startedAt: at, ids: [], outcome: { kind: 'unknown', reason: 'r' } }),
    ],
    ['a conversion', true, () => ({ kind: 'conversion', at, phase: 'planned', conversion })],
    ['a request for a taker order', true, () => take],
    ['a row of a hedge', false, () => ({ kind: 'hedge', at, row: {} as never })],
    ['a transfer', true, () => transfer],
    ['a stop', true, () => ({ kind: 'stop', at })],
    ['a halt', true, () => ({ kind: 'halt', at, reason: 'r' })],
    ['a pause', true, () => ({ kind: 'pause', at, reason: 'r' })],
    ['the end of a pause', true, () => ({ kind: 'pause over', at })],
    ['the start of reduce-only', true, () => ({ kind: 'reduce', at, reason: 'r' })],
    ['the end of reduce-only', true, () => ({ kind: 'reduced', at })],
    ['a sleep', true, () => ({ kind: 'slept', at })],
    ['a word of the sentinel', true, () => ({ kind: 'sentinel', at, alive: true })],
  ])('%s decides at once: %s', (_, decides, eventOf) => {
    const toy = quietDesk();
    expect(toy.engine.book.liveOrders.length).toBe(2);
    const before = toy.engine.book.decision!.at;
    expect(before).toBeLessThan(toy.now);
    toy.step({ ...eventOf(toy), at: toy.now });
    expect(toy.engine.book.decision!.at).toBe(decides ? toy.now : before);
    // Without anything else the next decision is as far away as its rule says.
    expect(toy.engine.decidesAt).toBe(toy.engine.book.decision!.at + MINUTE);
  });

  it.each<readonly [string, EngineEvent, EngineEvent | null, string]>([
    ['halted', { kind: 'halt', at, reason: 'r' }, { kind: 'resume', at }, 'halted'],
    ['paused', { kind: 'pause', at, reason: 'r' }, { kind: 'pause over', at }, 'paused by a person'],
    ['removed', { kind: 'book removed', at }, rules, 'book is not traded any more'],
    [
      'without its sentinel',
      { kind: 'sentinel', at, alive: false },
      { kind: 'sentinel', at, alive: true },
      'sentinel is missing',
    ],
    [
      'held by the sentinel',
      { kind: 'sentinel', at, alive: true, holds: true },
      { kind: 'sentinel', at, alive: true, holds: false },
      'held by the sentinel',
    ],
    ['stopped', { kind: 'stop', at }, null, 'stopping'],
  ])('by which the bot is %s takes out its quotes until another ends it', (_, begin, end, reason) => {
    const toy = quietDesk();
    toy.step({ ...begin, at: toy.now });
    expect([toy.live, toy.engine.book.snapshot(toy.now).quoting]).toEqual([[], reason]);
    if (end === null) return;
    toy.step({ ...end, at: toy.now });
    toy.now += MINUTE;
    toy.readBook();
    toy.readPrivate();
    toy.step(balances(toy, '1000000000'));
    toy.now += MINUTE;
    toy.step({ kind: 'timer', at: toy.now });
    expect([toy.engine.book.snapshot(toy.now).quoting, toy.live.length]).toEqual([null, 2]);
  });

  it('of a sleep makes what was read before it too old: the book, the account, and prices from elsewhere', () => {
    const views: View[] = [];
    const strategy: Strategy = { quote: view => (views.push({ ...view }), quoteAround(2).quote(view)) };
    const toy = quietDesk({ strategy });
    const before = toy.now;
    toy.step({ kind: 'reference', at: before, startedAt: before, price: 5 });
    toy.step({ kind: 'slept', at: (toy.now += 10) });
    expect(toy.live).toEqual([]);
    const quotingLater = () => {
      toy.now += MINUTE;
      toy.step({ kind: 'timer', at: toy.now });
      return toy.engine.book.snapshot(toy.now).quoting;
    };
    expect(quotingLater()).toBe('not ready');
    toy.readPrivate();
    expect(quotingLater()).toBe('book stale');
    toy.step({ kind: 'book', at: toy.now, startedAt: before, book: toy.book });
    expect(quotingLater()).toBe('book stale');
    toy.readBook();
    expect([quotingLater(), views.at(-1)!.reference]).toEqual([null, null]);
  });
});

describe('a fill', () => {
  function filled(maker: boolean, options: Partial<EngineOptions> = {}) {
    const news: EngineNews[] = [];
    const views: View[] = [];
    const strategy: Strategy = { quote: view => (views.push({ ...view }), quoteAround(2, 6).quote(view)) };
    const toy = quietDesk({
      strategy,
      halts: halts as unknown as HaltLimits,
      onNews: one => news.push(one),
      ...options,
    });
    const order = toy.live.find(({ price }) => price === 1_006)!;
    toy.fill(order.id, 4, maker);
    news.length = 0;
    toy.readPrivate();
    return { toy, news, view: views.at(-1)!, id: order.id };
  }

  it('is told with its level and its gain, counted, seen by the strategy, and decided upon at once', () => {
    const { toy, news, view, id } = filled(true);
    const fills = news.filter(({ kind }) => kind === 'fill');
    expect(fills).toMatchObject([{ level: 2, fill: { id, side: 'sell', price: 1_006, maker: true } }]);
    // 4 btc sold 6 above the mid price.
    expect(textOfMoney((fills[0] as Extract<EngineNews, { kind: 'fill' }>).gain!)).toBe('24');
    expect(view).toMatchObject({
      at: toy.now,
      lastBuy: null,
      lastSell: { at: toy.now, side: 'sell', price: 1_006 },
      position: -4,
    });
    expect([toy.engine.book.snapshot(toy.now).booked.fills, used(toy, 'fillsPer10Min')]).toEqual([1, 1]);
    expect(toy.engine.book.order(id)).toMatchObject({ filled: 4, state: 'partially filled' });
    expect(toy.engine.book.decision!.at).toBe(toy.now);
  });

  it('moves the markouts only if the bot was the maker', () => {
    const measured = {
      ...{ horizonMs: 5_000, halfLifeMs: 1e9, minFills: 2, standardErrors: 1, toleratedBps: 0, widenBpsMax: 5 },
    };
    for (const maker of [true, false]) {
      const { toy } = filled(maker, { adverseSelection: measured });
      const version = toy.engine.ledgerVersion;
      toy.now += 1_000;
      toy.readBook();
      const { curves } = toy.engine.book.snapshot(toy.now).markouts!;
      expect(curves.some(one => one.side === 'sell' && one.level === 2 && one.fills[0] === 1)).toBe(maker);
      expect(toy.engine.ledgerVersion > version).toBe(maker);
    }
  });
});

describe('the answer to a placement', () => {
  /** The next two placements are answered so. */
  function answered(fate: ReturnType<ToyExchange['fateOfPlace']>) {
    const news: EngineNews[] = [];
    const toy = new ToyExchange({ halts: halts as unknown as HaltLimits, onNews: one => news.push(one) });
    toy.now = START;
    toy.fateOfPlace = ({ side }) => (side === 'buy' ? fate : 'done');
    toy.open().round();
    const { counts, decisions } = toy.engine.book.snapshot(toy.now);
    const told = news.flatMap(one => (one.kind === 'refused' ? [[one.order.side, one.code, one.message]] : []));
    const notPlaced = decisions.filter(
      one => one.action === 'not placed' && one.side === 'buy' && one.reason !== 'not ready',
    );
    return { toy, counts, told, reasons: notPlaced.map(({ reason, count }) => [reason, count]) };
  }

  it('that took it is counted on its side', () => {
    const { counts, told, reasons } = answered('done');
    expect([counts.buy.placed, counts.sell.placed, counts.buy.refused, told, reasons]).toEqual([1, 1, 0, [], []]);
  });

  it('that refused it is told, counted, and pauses its side', () => {
    const { toy, counts, told, reasons } = answered({ code: '0379' });
    expect([counts.buy.placed, counts.buy.refused, counts.sell.refused]).toEqual([0, 1, 0]);
    expect(told).toEqual([['buy', '0379', 'no']]);
    expect(reasons).toEqual(expect.arrayContaining([['refused by the exchange', 1]]));
    expect([used(toy, 'refusalsPerMinute'), used(toy, 'unknownsPerMinute')]).toEqual([1, 0]);
    const before = toy.places().length;
    toy.rounds(3);
    expect(toy.places().length).toBe(before);
  });

  it('that comes from this process is counted as not sent, and against no limit', () => {
    const { toy, told, reasons } = answered({ code: 'budget' });
    expect(told).toEqual([['buy', 'budget', 'no']]);
    expect(reasons).toEqual(expect.arrayContaining([['not sent', 1]]));
    expect(used(toy, 'refusalsPerMinute')).toBe(0);
  });

  it('that is missing counts as unknown', () => {
    const { toy, counts } = answered('lost');
    expect([counts.buy.unknown, used(toy, 'unknownsPerMinute'), used(toy, 'refusalsPerMinute')]).toEqual([1, 1, 0]);
  });

  it('to an order that was never placed is a mistake of this program', () => {
    const event = { kind: 'placed', at: START, id: 'mm-7-9', outcome: { kind: 'unknown', reason: 'r' } } as const;
    expect(() => new ToyExchange().step(event)).toThrow('answer for order mm-7-9, which was never placed');
  });
});

describe('a limit on messages', () => {
  it('counts each placement and each cancel, and no look-up', () => {
    const toy = new ToyExchange({ strategy: quoteAround(2, 6), halts: halts as unknown as HaltLimits });
    toy.now = START;
    toy.open().round();
    toy.fateOfPlace = () => 'lost';
    toy.bids = [[1_090, 50]];
    toy.asks = [[1_110, 50]];
    toy.rounds(20, 1_000);
    const sent = toy.log.filter(({ kind }) => kind !== 'look').length;
    expect(toy.log.length).toBeGreaterThan(sent);
    expect(used(toy, 'messagesPerMinute')).toBe(sent);
  });
});

describe('a bound that is not configured', () => {
  it('is two unknown orders: with a third nothing is placed', () => {
    const quotingWith = (lost: number) => {
      const toy = new ToyExchange({ strategy: quoteAround(2, 6, 10) });
      let n = 0;
      toy.fateOfPlace = () => (n++ < lost ? 'lost' : 'done');
      return toy.open().round().engine.book.snapshot(toy.now).quoting;
    };
    expect([quotingWith(2), quotingWith(3)]).toEqual([null, 'too many unknown orders']);
  });

  it('of inventory is shown to a strategy as 0, and nothing is pulled, widened or measured', () => {
    const views: View[] = [];
    const toy = new ToyExchange({
      limits: null,
      strategy: { quote: view => (views.push({ ...view }), quoteAround(2).quote(view)) },
    });
    toy.open().round();
    toy.engine.book.preview(toy.now);
    expect(views.at(-1)).toMatchObject({ positionMax: 0, widenBps: { buy: 0, sell: 0 }, tierWorth: 0 });
    expect([toy.engine.book.wantsTrades, toy.engine.book.snapshot(toy.now).markouts]).toEqual([false, null]);
  });
});

it('a strategy sees the fees, the bound of its inventory and the RFQ prices as they were told', () => {
  const views: View[] = [];
  const toy = quietDesk({ strategy: { quote: view => (views.push({ ...view }), { bids: [], asks: [] }) } });
  toy.step({ kind: 'rules', at: toy.now, instrument: plain, makerRate: 30, takerRate: 70 });
  toy.step({ kind: 'witness', at: toy.now, startedAt: toy.now - 3, bid: 5, ask: 6 });
  toy.step({ kind: 'public trade', at: toy.now, price: 999 as never });
  toy.engine.book.preview(toy.now);
  expect(views.at(-1)).toMatchObject({
    ...{ at: toy.now, mid: 1_000, makerRate: 30, takerRate: 70, positionMax: 100, lastTrade: 999 },
    ...{ rfqPrices: { at: toy.now - 3, bid: 5, ask: 6 }, position: 0 },
  });
});

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
import { Desk, PATIENCE, quoteAround } from '../desk.ts';
import { plain } from '../market.ts';

const START = 1.7e12;
const MINUTE = 60_000;
const FREE = { drawdownMax: 10n ** 30n, dayLossMax: 10n ** 30n };
const halts = { ...FREE, fillsPer10Min: 99, refusalsPerMinute: 99, unknownsPerMinute: 99, messagesPerMinute: 999 };

/** A desk at today's clock that quotes, has been answered, and decides again in a minute if nothing happens. */
function quietDesk(options: Partial<EngineOptions> = {}): Desk {
  const desk = new Desk({
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
  desk.now = START;
  desk.open().round();
  for (let n = 0; n < 3; n++) {
    desk.now += MINUTE;
    desk.readBook();
    desk.readPrivate();
    desk.step({ kind: 'timer', at: desk.now });
  }
  desk.now += 10;
  return desk;
}
const used = (desk: Desk, limit: string) =>
  Number(desk.engine.book.limitUses(desk.now).find(one => one.limit === limit)?.used);

const balances = (desk: Desk, btc: string) => {
  const row = (currency: string, total: string) => ({ currency, total, locked: '0', available: total });
  return {
    kind: 'balances',
    ...{ at: desk.now, startedAt: desk.now, quiet: true },
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

  it.each<readonly [string, boolean, (desk: Desk) => EngineEvent]>([
    ['a timer', false, () => ({ kind: 'timer', at })],
    ['a book', false, desk => ({ kind: 'book', at, startedAt: null, book: desk.book })],
    ['a public trade', false, () => ({ kind: 'public trade', at, price: 5 as never })],
    ['a reference', false, () => ({ kind: 'reference', at, startedAt: at, price: 5 })],
    ['RFQ prices', false, () => ({ kind: 'witness', at, startedAt: at, bid: 5, ask: 6 })],
    ['the same rules', false, () => rules],
    ['a book that is removed', true, () => ({ kind: 'book removed', at })],
    ['the same balances', false, desk => balances(desk, '1000000000')],
    ['unread balances', true, () => ({ kind: 'balances unread', at, reason: 'no answer' })],
    ['no trades', false, () => ({ kind: 'trades', at, startedAt: at, complete: true, trades: [] })],
    [
      'the same open orders',
      false,
      desk => ({
        kind: 'open orders',
        ...{ at, startedAt: START, complete: true },
        orders: desk.live.map(one => desk.report(one)),
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
    const desk = quietDesk();
    expect(desk.engine.book.liveOrders.length).toBe(2);
    const before = desk.engine.book.decision!.at;
    expect(before).toBeLessThan(desk.now);
    desk.step({ ...eventOf(desk), at: desk.now });
    expect(desk.engine.book.decision!.at).toBe(decides ? desk.now : before);
    // Without anything else the next decision is as far away as its rule says.
    expect(desk.engine.decidesAt).toBe(desk.engine.book.decision!.at + MINUTE);
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
    const desk = quietDesk();
    desk.step({ ...begin, at: desk.now });
    expect([desk.live, desk.engine.book.snapshot(desk.now).quoting]).toEqual([[], reason]);
    if (end === null) return;
    desk.step({ ...end, at: desk.now });
    desk.now += MINUTE;
    desk.readBook();
    desk.readPrivate();
    desk.step(balances(desk, '1000000000'));
    desk.now += MINUTE;
    desk.step({ kind: 'timer', at: desk.now });
    expect([desk.engine.book.snapshot(desk.now).quoting, desk.live.length]).toEqual([null, 2]);
  });

  it('of a sleep makes what was read before it too old: the book, the account, and prices from elsewhere', () => {
    const views: View[] = [];
    const strategy: Strategy = { quote: view => (views.push({ ...view }), quoteAround(2).quote(view)) };
    const desk = quietDesk({ strategy });
    const before = desk.now;
    desk.step({ kind: 'reference', at: before, startedAt: before, price: 5 });
    desk.step({ kind: 'slept', at: (desk.now += 10) });
    expect(desk.live).toEqual([]);
    const quotingLater = () => {
      desk.now += MINUTE;
      desk.step({ kind: 'timer', at: desk.now });
      return desk.engine.book.snapshot(desk.now).quoting;
    };
    expect(quotingLater()).toBe('not ready');
    desk.readPrivate();
    expect(quotingLater()).toBe('book stale');
    desk.step({ kind: 'book', at: desk.now, startedAt: before, book: desk.book });
    expect(quotingLater()).toBe('book stale');
    desk.readBook();
    expect([quotingLater(), views.at(-1)!.reference]).toEqual([null, null]);
  });
});

describe('a fill', () => {
  function filled(maker: boolean, options: Partial<EngineOptions> = {}) {
    const news: EngineNews[] = [];
    const views: View[] = [];
    const strategy: Strategy = { quote: view => (views.push({ ...view }), quoteAround(2, 6).quote(view)) };
    const desk = quietDesk({
      strategy,
      halts: halts as unknown as HaltLimits,
      onNews: one => news.push(one),
      ...options,
    });
    const order = desk.live.find(({ price }) => price === 1_006)!;
    desk.fill(order.id, 4, maker);
    news.length = 0;
    desk.readPrivate();
    return { desk, news, view: views.at(-1)!, id: order.id };
  }

  it('is told with its level and its gain, counted, seen by the strategy, and decided upon at once', () => {
    const { desk, news, view, id } = filled(true);
    const fills = news.filter(({ kind }) => kind === 'fill');
    expect(fills).toMatchObject([{ level: 2, fill: { id, side: 'sell', price: 1_006, maker: true } }]);
    // 4 btc sold 6 above the mid price.
    expect(textOfMoney((fills[0] as Extract<EngineNews, { kind: 'fill' }>).gain!)).toBe('24');
    expect(view).toMatchObject({
      at: desk.now,
      lastBuy: null,
      lastSell: { at: desk.now, side: 'sell', price: 1_006 },
      position: -4,
    });
    expect([desk.engine.book.snapshot(desk.now).booked.fills, used(desk, 'fillsPer10Min')]).toEqual([1, 1]);
    expect(desk.engine.book.order(id)).toMatchObject({ filled: 4, state: 'partially filled' });
    expect(desk.engine.book.decision!.at).toBe(desk.now);
  });

  it('moves the markouts only if the bot was the maker', () => {
    const measured = {
      ...{ horizonMs: 5_000, halfLifeMs: 1e9, minFills: 2, standardErrors: 1, toleratedBps: 0, widenBpsMax: 5 },
    };
    for (const maker of [true, false]) {
      const { desk } = filled(maker, { adverseSelection: measured });
      const version = desk.engine.ledgerVersion;
      desk.now += 1_000;
      desk.readBook();
      const { curves } = desk.engine.book.snapshot(desk.now).markouts!;
      expect(curves.some(one => one.side === 'sell' && one.level === 2 && one.fills[0] === 1)).toBe(maker);
      expect(desk.engine.ledgerVersion > version).toBe(maker);
    }
  });
});

describe('the answer to a placement', () => {
  /** The next two placements are answered so. */
  function answered(fate: ReturnType<Desk['fateOfPlace']>) {
    const news: EngineNews[] = [];
    const desk = new Desk({ halts: halts as unknown as HaltLimits, onNews: one => news.push(one) });
    desk.now = START;
    desk.fateOfPlace = ({ side }) => (side === 'buy' ? fate : 'done');
    desk.open().round();
    const { counts, decisions } = desk.engine.book.snapshot(desk.now);
    const told = news.flatMap(one => (one.kind === 'refused' ? [[one.order.side, one.code, one.message]] : []));
    const notPlaced = decisions.filter(
      one => one.action === 'not placed' && one.side === 'buy' && one.reason !== 'not ready',
    );
    return { desk, counts, told, reasons: notPlaced.map(({ reason, count }) => [reason, count]) };
  }

  it('that took it is counted on its side', () => {
    const { counts, told, reasons } = answered('done');
    expect([counts.buy.placed, counts.sell.placed, counts.buy.refused, told, reasons]).toEqual([1, 1, 0, [], []]);
  });

  it('that refused it is told, counted, and pauses its side', () => {
    const { desk, counts, told, reasons } = answered({ code: '0379' });
    expect([counts.buy.placed, counts.buy.refused, counts.sell.refused]).toEqual([0, 1, 0]);
    expect(told).toEqual([['buy', '0379', 'no']]);
    expect(reasons).toEqual(expect.arrayContaining([['refused by the exchange', 1]]));
    expect([used(desk, 'refusalsPerMinute'), used(desk, 'unknownsPerMinute')]).toEqual([1, 0]);
    const before = desk.places().length;
    desk.rounds(3);
    expect(desk.places().length).toBe(before);
  });

  it('that comes from this process is counted as not sent, and against no limit', () => {
    const { desk, told, reasons } = answered({ code: 'budget' });
    expect(told).toEqual([['buy', 'budget', 'no']]);
    expect(reasons).toEqual(expect.arrayContaining([['not sent', 1]]));
    expect(used(desk, 'refusalsPerMinute')).toBe(0);
  });

  it('that is missing counts as unknown', () => {
    const { desk, counts } = answered('lost');
    expect([counts.buy.unknown, used(desk, 'unknownsPerMinute'), used(desk, 'refusalsPerMinute')]).toEqual([1, 1, 0]);
  });

  it('to an order that was never placed is a mistake of this program', () => {
    const event = { kind: 'placed', at: START, id: 'mm-7-9', outcome: { kind: 'unknown', reason: 'r' } } as const;
    expect(() => new Desk().step(event)).toThrow('answer for order mm-7-9, which was never placed');
  });
});

describe('a limit on messages', () => {
  it('counts each placement and each cancel, and no look-up', () => {
    const desk = new Desk({ strategy: quoteAround(2, 6), halts: halts as unknown as HaltLimits });
    desk.now = START;
    desk.open().round();
    desk.fateOfPlace = () => 'lost';
    desk.bids = [[1_090, 50]];
    desk.asks = [[1_110, 50]];
    desk.rounds(20, 1_000);
    const sent = desk.log.filter(({ kind }) => kind !== 'look').length;
    expect(desk.log.length).toBeGreaterThan(sent);
    expect(used(desk, 'messagesPerMinute')).toBe(sent);
  });
});

describe('a bound that is not configured', () => {
  it('is two unknown orders: with a third nothing is placed', () => {
    const quotingWith = (lost: number) => {
      const desk = new Desk({ strategy: quoteAround(2, 6, 10) });
      let n = 0;
      desk.fateOfPlace = () => (n++ < lost ? 'lost' : 'done');
      return desk.open().round().engine.book.snapshot(desk.now).quoting;
    };
    expect([quotingWith(2), quotingWith(3)]).toEqual([null, 'too many unknown orders']);
  });

  it('of inventory is shown to a strategy as 0, and nothing is pulled, widened or measured', () => {
    const views: View[] = [];
    const desk = new Desk({
      limits: null,
      strategy: { quote: view => (views.push({ ...view }), quoteAround(2).quote(view)) },
    });
    desk.open().round();
    desk.engine.book.preview(desk.now);
    expect(views.at(-1)).toMatchObject({ positionMax: 0, widenBps: { buy: 0, sell: 0 }, tierWorth: 0 });
    expect([desk.engine.book.wantsTrades, desk.engine.book.snapshot(desk.now).markouts]).toEqual([false, null]);
  });
});

it('a strategy sees the fees, the bound of its inventory and the RFQ prices as they were told', () => {
  const views: View[] = [];
  const desk = quietDesk({ strategy: { quote: view => (views.push({ ...view }), { bids: [], asks: [] }) } });
  desk.step({ kind: 'rules', at: desk.now, instrument: plain, makerRate: 30, takerRate: 70 });
  desk.step({ kind: 'witness', at: desk.now, startedAt: desk.now - 3, bid: 5, ask: 6 });
  desk.step({ kind: 'public trade', at: desk.now, price: 999 as never });
  desk.engine.book.preview(desk.now);
  expect(views.at(-1)).toMatchObject({
    ...{ at: desk.now, mid: 1_000, makerRate: 30, takerRate: 70, positionMax: 100, lastTrade: 999 },
    ...{ rfqPrices: { at: desk.now - 3, bid: 5, ask: 6 }, position: 0 },
  });
});

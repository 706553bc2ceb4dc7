/** The engine at a small exchange that answers at once: what it shows, keeps, takes out and never does. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  instrumentOf,
  remaining,
  textOfMoney,
  type Depth,
  type EngineNews,
  type HaltLimits,
  type Side,
  type Strategy,
} from '../../../src/core/index.ts';
import { Desk, PATIENCE, quoteAround, type Fate } from '../desk.ts';
import { bookRules, levelsOf, plain } from '../market.ts';
import { runsOf } from '../../many.ts';
import { between } from '../../draws.ts';

/** As the desk's engine has it. */
const SETTLE = 3000;

const kinds = (desk: Desk): string[] => desk.log.map(c => c.kind);

describe('the engine', () => {
  it('quotes both sides when rules, balances, orders, trades and a book are known, and not before', () => {
    const desk = new Desk();
    desk.readBook();
    desk.step({ kind: 'rules', at: desk.now, instrument: plain, makerRate: 0, takerRate: 0 });
    desk.readBook();
    expect(desk.engine.book.snapshot(desk.now).quoting).toBe('not ready');
    desk.open();
    desk.readBook();
    expect(desk.log).toEqual([]);
    desk.round();
    expect([desk.prices('buy'), desk.prices('sell')]).toEqual([[998], [1002]]);
    expect(desk.engine.book.snapshot(desk.now).quoting).toBeNull();
  });

  it('decides at the very time that it says, whatever fractions of a millisecond its times have', () => {
    fc.assert(
      // If a sum passes a power of two, it loses binary digits.
      fc.property(fc.integer({ min: 20, max: 41 }), between(0, 1000), (power, before) => {
        const desk = new Desk({ timing: { ...PATIENCE, decideEveryMs: 1000 } }).open();
        let at = 2 ** power - before;
        for (let i = 0; i < 3; i++) {
          desk.step({ kind: 'timer', at });
          expect(desk.engine.decidesAt).toBeGreaterThan(at);
          at = desk.engine.decidesAt;
        }
      }),
    );
  });

  it('without limits places nothing', () => {
    const desk = new Desk({ limits: null }).open().rounds(5);
    expect(desk.log).toEqual([]);
    expect(desk.engine.book.snapshot(desk.now).quoting).toBe('no limits');
  });

  it('keeps its orders while they are within the tolerance', () => {
    const desk = new Desk().open().round();
    const before = desk.log.length;
    desk.asks = [[1011, 50]];
    desk.rounds(10);
    expect(desk.log.length).toBe(before);
    expect([desk.prices('buy'), desk.prices('sell')]).toEqual([[998], [1002]]);
  });

  it('replaces an order beyond the tolerance only when its cancel is proven', () => {
    const desk = new Desk().open().round();
    desk.fateOfCancel = () => 'lost';
    desk.bids = [[1010, 50]];
    desk.asks = [[1030, 50]];
    desk.rounds(10);
    expect(kinds(desk)).toContain('cancel');
    expect(desk.places().length).toBe(2);
    // Told to be canceled, but not yet seen to be gone: still no place for another.
    desk.fateOfCancel = () => 'done';
    desk.canLook = false;
    desk.round(1000);
    expect(desk.live).toEqual([]);
    expect(desk.places().length).toBe(2);
    desk.canLook = true;
    desk.rounds(2);
    expect([desk.prices('buy'), desk.prices('sell')]).toEqual([[1018], [1022]]);
    expect(desk.places().length).toBe(4);
  });

  it.each([
    ['book stale', (desk: Desk) => (desk.now += 3001)],
    ['book one-sided', (desk: Desk) => (desk.bids = [])],
    ['book crossed', (desk: Desk) => (desk.bids = [[1010, 1]])],
    ['halted', (desk: Desk) => desk.step({ kind: 'halt', at: desk.now, reason: 'test' })],
  ] as const)('withdraws everything and places nothing: %s', (reason, happen) => {
    const desk = new Desk().open().round();
    expect(desk.live.length).toBe(2);
    happen(desk);
    desk.now += 200;
    desk.readPrivate();
    if (reason !== 'book stale') desk.readBook();
    desk.step({ kind: 'timer', at: desk.now });
    expect(desk.live).toEqual([]);
    expect(desk.engine.book.snapshot(desk.now).quoting).toBe(reason);
    expect(desk.places().length).toBe(2);
  });

  it('counts the age of a book from the start of the request that brought it, and quotes on none that is too old by that', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_900 }), ms => {
        const desk = new Desk().open().round();
        const startedAt = desk.now;
        desk.now += ms;
        desk.step({ kind: 'book', at: desk.now, startedAt, book: desk.book });
        const { bookAge, quoting } = desk.engine.book.snapshot(desk.now);
        expect([bookAge, quoting, desk.live.length]).toEqual(ms <= 3_000 ? [ms, null, 2] : [ms, 'book stale', 0]);
      }),
    );
  });

  it('decides on the book as the last event showed it, whatever its owner has made of it since', () => {
    const desk = new Desk().open().round();
    const before = desk.log.length;
    desk.book.clear();
    desk.now += 200;
    desk.readPrivate();
    expect(desk.engine.book.preview(desk.now)).toMatchObject({ refusal: null, mid: 1000 });
    expect(desk.log.length).toBe(before);
    desk.step({ kind: 'book', at: desk.now, startedAt: null, book: desk.book });
    expect(desk.engine.book.snapshot(desk.now).quoting).toBe('book one-sided');
  });

  it('is told nothing about its account by a list of open orders that is cut', () => {
    const cut = (desk: Desk): void => {
      desk.now += 200;
      desk.readBook();
      desk.step({ kind: 'trades', at: desk.now, startedAt: desk.now, complete: true, trades: [] });
      const orders = desk.live.map(order => desk.report(order));
      desk.step({ kind: 'open orders', at: desk.now, startedAt: desk.now, complete: false, orders });
    };
    const fresh = new Desk().open();
    for (let n = 0; n < 5; n++) cut(fresh);
    expect([fresh.engine.book.snapshot(fresh.now).quoting, fresh.log]).toEqual(['not ready', []]);
    const quoting = new Desk().open().round();
    for (let n = 0; n < 26; n++) cut(quoting);
    expect([quoting.engine.book.snapshot(quoting.now).quoting, quoting.live]).toEqual(['private data stale', []]);
  });

  it('settles what vanished only by trades that were asked for after the settle time, not by those that came after it', () => {
    const desk = new Desk().open().round();
    const id = desk.live[0]!.id;
    desk.canLook = false;
    desk.truth.get(id)!.isLive = false;
    const show = (): void => {
      const orders = desk.live.map(order => desk.report(order));
      desk.step({ kind: 'open orders', at: desk.now, startedAt: desk.now, complete: true, orders });
    };
    desk.now += SETTLE + 1_000;
    show();
    desk.now += 100;
    show();
    expect(desk.engine.book.order(id)?.state).toBe('closed-unsettled');
    const closedAt = desk.now;
    desk.now += 2 * SETTLE;
    desk.step({ kind: 'trades', at: desk.now, startedAt: closedAt + SETTLE - 1, complete: true, trades: [] });
    expect(desk.engine.book.order(id)?.state).toBe('closed-unsettled');
    desk.step({ kind: 'trades', at: desk.now, startedAt: closedAt + SETTLE, complete: true, trades: [] });
    desk.step({ kind: 'timer', at: desk.now });
    expect(desk.engine.book.order(id)?.state).toBe('done');
  });

  it('withdraws an order that is filled in part like any other', () => {
    const desk = new Desk().open().round();
    for (const { id } of desk.live) desk.fill(id, 3);
    desk.round();
    expect(desk.live.map(({ id }) => desk.engine.book.order(id)?.state)).toEqual([
      'partially filled',
      'partially filled',
    ]);
    desk.bids = [];
    desk.round();
    expect(desk.live).toEqual([]);
  });

  it.each([
    [105, null],
    [106, /^position: 106 btc from the target is beyond its limit/],
  ])('halts when somebody else carried the position %i lots away, with a limit of 100: %s', (lots, halt) => {
    const many = { fillsPer10Min: 99, refusalsPerMinute: 99, unknownsPerMinute: 99, messagesPerMinute: 999 };
    const halts = { ...many, drawdownMax: 10n ** 30n, dayLossMax: 10n ** 30n } as HaltLimits;
    const desk = new Desk({ halts }).open().round();
    desk.plant('somebody-1', 'buy', 900, lots);
    desk.fill('somebody-1', lots);
    desk.rounds(2);
    expect(desk.engine.book.haltedBecause).toEqual(halt === null ? null : expect.stringMatching(halt));
  });

  it('counts no time as quoted while nothing but an order without an answer may be there', () => {
    const desk = new Desk();
    desk.fateOfPlace = () => 'lost';
    desk.open().rounds(20);
    expect(desk.engine.book.unfinished.map(({ state }) => state)).toContain('unknown');
    expect(desk.engine.book.snapshot(desk.now).uptime).toEqual({ bid: 0, ask: 0 });
  });

  it('withdraws when its own account has not been read for long', () => {
    const desk = new Desk().open().round();
    for (let n = 0; n < 30; n++) {
      desk.now += 200;
      desk.readBook();
    }
    expect(desk.engine.book.snapshot(desk.now).quoting).toBe('private data stale');
    expect(desk.live).toEqual([]);
  });

  it('quotes again when the book is whole again', () => {
    const desk = new Desk().open().round();
    desk.bids = [];
    desk.rounds(2);
    desk.bids = [[990, 50]];
    desk.rounds(3);
    expect([desk.prices('buy'), desk.prices('sell')]).toEqual([[998], [1002]]);
  });

  it('takes in and cancels what an earlier run left, 50 at a time, before its first quote', () => {
    const desk = new Desk();
    for (let n = 1; n <= 120; n++) desk.plant(`mm-6-${n}`, n % 2 ? 'buy' : 'sell', n % 2 ? 900 : 1100, 5);
    desk.plant('someone-else', 'buy', 901, 5);
    desk.plant('mmx-1-1', 'buy', 902, 5);
    desk.open();
    desk.fateOfCancel = () => 'lost';
    desk.rounds(5);
    expect(desk.places()).toEqual([]);
    expect(desk.engine.book.snapshot(desk.now).quoting).toBe('not ready');
    desk.fateOfCancel = () => 'done';
    // So many may be of somebody who lives: they get a moment to place again.
    desk.rounds(60);
    expect(desk.live.map(o => o.id).filter(id => id.startsWith('mm-6-'))).toEqual([]);
    expect(desk.live.filter(o => !o.id.startsWith('mm-7-')).map(o => o.id)).toEqual(['someone-else', 'mmx-1-1']);
    const cancels = desk.log.flatMap(c => (c.kind === 'cancel' ? [c.ids] : []));
    for (const ids of cancels) expect(ids.length).toBeLessThanOrEqual(50);
    expect(new Set(cancels.flat()).size).toBe(120);
    expect(desk.places().length).toBe(2);
  });

  it('cancels a leftover whose price is off the tick grid of today', () => {
    const desk = new Desk();
    desk.plant('mm-6-1', 'buy', 900.5, 5);
    desk.showsOwn = false;
    desk.open().rounds(3);
    expect(desk.truth.get('mm-6-1')!.isLive).toBe(false);
  });

  it('after a stop lets only cancels and look-ups pass, until nothing is left', () => {
    const desk = new Desk({ strategy: quoteAround(2, 5, 8) }).open().round();
    expect(desk.live.length).toBe(6);
    const before = desk.log.length;
    desk.fateOfCancel = () => 'lost';
    desk.step({ kind: 'stop', at: desk.now });
    desk.rounds(5, 600);
    desk.fateOfCancel = () => 'done';
    desk.rounds(10, 600);
    expect(new Set(desk.log.slice(before).map(c => c.kind))).toEqual(new Set(['cancel', 'look']));
    expect(desk.live).toEqual([]);
    expect(desk.engine.book.liveOrders).toEqual([]);
  });

  it('quotes the same whether its own orders stand in the book or not', () => {
    const depthLevel = fc.tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 60 }));
    const moves = fc.array(fc.tuple(depthLevel, depthLevel), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(moves, steps => {
        const seen: number[][] = [];
        const commands = [true, false].map(showsOwn => {
          const mids: number[] = [];
          const inner = quoteAround(2, 6);
          const strategy: Strategy = {
            quote(view) {
              mids.push(view.mid, view.depth.bidAmounts[0]!, view.depth.askAmounts[0]!);
              return inner.quote(view);
            },
          };
          const desk = new Desk({ strategy });
          desk.showsOwn = showsOwn;
          desk.open();
          for (const [[down, bid], [up, ask]] of steps) {
            desk.bids = [[1000 - down, bid]];
            desk.asks = [[1000 + up, ask]];
            desk.rounds(2);
          }
          seen.push(mids);
          return desk.log;
        });
        expect(commands[0]).toEqual(commands[1]);
        expect(seen[0]).toEqual(seen[1]);
      }),
      runsOf(60, 25),
    );
  });

  it('sees nothing of its own in a book that was read before it heard of a fill, whatever the clock of the exchange shows', () => {
    const moment = fc.record({
      ...{ passed: fc.nat(900), late: fc.nat(900), which: fc.nat(5), lots: fc.integer({ min: 5, max: 10 }) },
      move: fc.constantFrom(0, 0, 0, 20),
    });
    let fills = 0;
    fc.assert(
      fc.property(fc.array(moment, { minLength: 1, maxLength: 8 }), moments => {
        let depth: Depth | null = null;
        const inner = quoteAround(2, 6);
        const desk = new Desk({ strategy: { quote: view => ((depth = view.depth), inner.quote(view)) } });
        desk.open().rounds(2);
        for (const { passed, late, which, lots, move } of moments) {
          desk.now += passed;
          desk.bids = [[990 + move, 50]];
          desk.asks = [[1010 + move, 50]];
          desk.showBook();
          const startedAt = desk.now;
          desk.now += late;
          const order = desk.live[which];
          if (order) desk.fill(order.id, lots);
          fills += Number(order?.isLive === false);
          desk.readPrivate();
          desk.step({ kind: 'book', at: desk.now, startedAt, book: desk.book });
          const seen = (['buy', 'sell'] as const).map(side => levelsOf(depth!, side));
          if (String(seen) !== String([desk.bids, desk.asks])) expect(seen).toEqual([desk.bids, desk.asks]);
        }
      }),
      // The example fills an order, so that the law never passes without a fill.
      { ...runsOf(500, 20), examples: [[[{ passed: 100, late: 100, which: 0, lots: 10, move: 0 }]]] },
    );
    expect(fills).toBeGreaterThan(0);
  });

  it('takes 0356 for proof that the order exists: it is looked up, not refused, and not placed again', () => {
    const news: EngineNews[] = [];
    const desk = new Desk({ onNews: n => news.push(n) }).open();
    desk.fateOfPlace = () => ({ code: 'taken', meaning: 'duplicate id' });
    desk.round();
    const ids = desk.places().map(c => c.id);
    expect(ids.length).toBe(2);
    expect(desk.engine.book.liveOrders.map(o => o.state)).toEqual(['unknown', 'unknown']);
    expect(desk.engine.book.snapshot(desk.now).counts.buy).toMatchObject({ refused: 0, unknown: 1 });
    expect(news.some(n => n.kind === 'refused')).toBe(false);
    desk.rounds(5);
    expect(desk.log.some(c => c.kind === 'look' && ids.every(id => c.ids.includes(id)))).toBe(true);
    expect(desk.places().length).toBe(2);
  });

  it('backs off when the exchange refuses: a few placements a minute, not a flood', () => {
    const desk = new Desk().open();
    desk.fateOfPlace = () => ({ code: '0379' });
    desk.rounds(300);
    // One minute: after 0, 1, 3, 7, 15 and 31 s on each side.
    expect(desk.places().length).toBeLessThanOrEqual(12);
    expect(desk.places().length).toBeGreaterThanOrEqual(10);
    desk.fateOfPlace = () => 'done';
    desk.rounds(330);
    expect([desk.prices('buy'), desk.prices('sell')]).toEqual([[998], [1002]]);
  });

  it.each([
    ['budget', false],
    ['not-sent', false],
    ['0379', true],
  ])('refused again and again with %s halts: %s, for only the exchange tells of a mistake of ours', (code, halts) => {
    const few = { drawdownMax: 10n ** 30n, dayLossMax: 10n ** 30n, fillsPer10Min: 99 } as never as HaltLimits;
    const limits: HaltLimits = { ...few, refusalsPerMinute: 5, unknownsPerMinute: 99, messagesPerMinute: 999 };
    const desk = new Desk({ halts: limits }).open();
    desk.fateOfPlace = () => ({ code });
    desk.rounds(300);
    expect(desk.engine.book.haltedBecause !== null).toBe(halts);
  });

  it('cancels what is known to live before it asks after what may', () => {
    const desk = new Desk({ strategy: quoteAround(2, 4) }).open();
    const fates: Fate[] = ['lost', 'done', 'done', 'lost'];
    desk.fateOfPlace = () => fates.shift() ?? 'done';
    desk.rounds(5);
    const before = desk.log.length;
    desk.round(1_000);
    desk.step({ kind: 'stop', at: desk.now + 1_000 });
    const cancels = desk.log.slice(before).flatMap(c => (c.kind === 'cancel' ? [c.ids.length] : []));
    expect(cancels.slice(-3)).toEqual([2, 1, 1]);
  });

  it('cancels each unknown by a request of its own, and places no other order for its level until it is resolved', () => {
    const desk = new Desk().open();
    desk.fateOfPlace = () => 'lost';
    desk.round();
    desk.fateOfPlace = () => 'done';
    desk.rounds(45);
    expect(desk.places().length).toBe(2);
    for (const c of desk.log) if (c.kind === 'cancel') expect(c.ids.length).toBe(1);
    // Past the fence and the settle time the levels are free again.
    desk.rounds(60);
    expect([desk.prices('buy'), desk.prices('sell')]).toEqual([[998], [1002]]);
    expect(desk.places().length).toBe(4);
  });

  it('with too many unknown orders places nothing, keeps what still fits, and takes out what the market has left behind', () => {
    const desk = new Desk({ strategy: quoteAround(2, 6, 10), unknownMax: 2 }).open();
    let n = 0;
    desk.fateOfPlace = () => (n++ < 3 ? 'done' : 'lost');
    desk.round();
    expect(desk.engine.book.snapshot(desk.now).quoting).toBe('too many unknown orders');
    const before = desk.places().length;
    desk.rounds(3);
    expect(desk.live.length).toBe(3);
    desk.bids = [[1090, 50]];
    desk.asks = [[1110, 50]];
    desk.rounds(3);
    expect(desk.live).toEqual([]);
    expect(desk.places().length).toBe(before);
  });

  it('takes into its ledger what differs once a person has resumed, but never balances that are older than its trades', () => {
    const desk = new Desk().open().round();
    const btc = (total: string) => {
      const balances = [
        { currency: 'btc', total, locked: '0', available: total },
        {
          currency: 'mxn',
          total: textOfMoney(desk.engine.book.snapshot(desk.now).booked.holdings.get('mxn')!),
          locked: '0',
          available: '0',
        },
      ];
      desk.step({ kind: 'balances', at: desk.now, startedAt: desk.now, quiet: true, balances });
      return textOfMoney(desk.engine.book.snapshot(desk.now).booked.holdings.get('btc')!);
    };
    const held = btc(textOfMoney(desk.engine.book.snapshot(desk.now).booked.holdings.get('btc')!));
    const id = desk.places().find(({ side }) => side === 'sell')!.id;
    desk.fill(id, 10);
    desk.round();
    const after = textOfMoney(desk.engine.book.snapshot(desk.now).booked.holdings.get('btc')!);
    expect(Number(after)).toBeLessThan(Number(held));
    desk.step({ kind: 'halt', at: desk.now, reason: 'test' });
    desk.step({ kind: 'resume', at: desk.now });
    // The balances read last are from before the trade: they are not taken.
    expect(textOfMoney(desk.engine.book.snapshot(desk.now).booked.holdings.get('btc')!)).toBe(after);
    expect(desk.engine.book.snapshot(desk.now).quoting).toBe('not ready');
    // A record that is late looks like a flow, for a while.
    expect(btc(held)).toBe(after);
    desk.now += SETTLE / 2;
    expect(btc(held)).toBe(after);
    // A difference that lasts longer is a transfer.
    desk.now += SETTLE / 2;
    expect(btc(held)).toBe(held);
    desk.round();
    expect(desk.engine.book.snapshot(desk.now).quoting).toBeNull();
  });

  it('quotes nothing on another tick than it counts in, halts nothing, and goes on when the old one is back', () => {
    const desk = new Desk().open().round();
    const changed = instrumentOf(bookRules({ tickSize: '5', minimumAmount: '1', minimumPrice: '5' }), '1');
    desk.step({ kind: 'rules', at: desk.now, instrument: changed, makerRate: 0, takerRate: 0 });
    desk.rounds(2);
    expect([desk.engine.book.haltedBecause, desk.engine.book.isOutdated]).toEqual([null, true]);
    expect(desk.engine.book.snapshot(desk.now).quoting).toBe('rules of the book changed');
    expect(desk.live).toEqual([]);
    desk.step({ kind: 'rules', at: desk.now, instrument: plain, makerRate: 0, takerRate: 0 });
    desk.rounds(3);
    expect([desk.prices('buy'), desk.prices('sell')]).toEqual([[998], [1002]]);
  });

  it('withdraws from a book that is listed no more, by name, and quotes again when it is', () => {
    const desk = new Desk().open().round();
    desk.step({ kind: 'book removed', at: desk.now });
    desk.rounds(2);
    expect(desk.engine.book.snapshot(desk.now).quoting).toBe('book is not traded any more');
    expect(desk.live).toEqual([]);
    desk.step({ kind: 'rules', at: desk.now, instrument: plain, makerRate: 0, takerRate: 0 });
    desk.rounds(3);
    expect([desk.prices('buy'), desk.prices('sell')]).toEqual([[998], [1002]]);
  });

  it('takes new bounds at once, and takes out what they forbid', () => {
    const desk = new Desk().open().round();
    const rules = bookRules({
      tickSize: '1',
      minimumAmount: '20',
      minimumPrice: '1',
      maximumPrice: '1000000',
      minimumValue: '1',
    });
    desk.step({ kind: 'rules', at: desk.now, instrument: instrumentOf(rules, '1'), makerRate: 0, takerRate: 0 });
    desk.rounds(2);
    expect(desk.live).toEqual([]);
    expect(desk.engine.book.snapshot(desk.now).silent).toContain('bid level 1: below the minimum amount');
  });

  it('does not fall over a trade of somebody else that is off the grid', () => {
    const desk = new Desk().open().round();
    const of = {
      book: plain.symbol,
      tid: '900',
      oid: 'theirs',
      createdAt: 0,
      side: 'buy',
      feeCurrency: 'btc',
      maker: false,
    } as const;
    const trade = { ...of, price: '1000.5', major: '1.5', minor: '1500.75', feeAmount: '0' };
    desk.step({ kind: 'trades', at: desk.now, startedAt: desk.now, complete: true, trades: [trade] });
    expect(desk.engine.book.snapshot(desk.now).booked.fills).toBe(0);
    expect(desk.engine.book.snapshot(desk.now).booked.profit.total).toBe(0n);
  });

  it('counts as uptime the share of time with a confirmed quote, from the moment it was ready until the stop', () => {
    const desk = new Desk().open();
    desk.round(1000);
    expect(desk.engine.book.snapshot(desk.now).uptime).toEqual({ bid: 0, ask: 0 });
    desk.rounds(3, 1000);
    const full = desk.engine.book.snapshot(desk.now).uptime;
    expect([full.bid, full.ask]).toEqual([1, 1]);
    const [ask] = desk.live.filter(o => o.side === 'sell');
    desk.fateOfPlace = () => ({ code: '0379' });
    desk.fill(ask!.id, 10);
    desk.rounds(3, 1000);
    const { bid, ask: asks } = desk.engine.book.snapshot(desk.now).uptime;
    expect(bid).toBe(1);
    // Six seconds since it was ready; the fill was known after four of them.
    expect(asks).toBeCloseTo(4 / 6, 10);
    desk.step({ kind: 'stop', at: desk.now });
    desk.rounds(5, 1000);
    expect(desk.engine.book.snapshot(desk.now).uptime.bid).toBe(1);
  });

  it('previews without doing: the same levels that it would place', () => {
    const desk = new Desk({
      limits: { positionMax: 15, orderValueMax: 10n ** 9n, ordersMax: 9, collarBps: 1000, staleAfterMs: 3000 } as never,
    });
    expect(desk.engine.book.preview(desk.now)).toMatchObject({ refusal: 'not ready', levels: [] });
    desk.open();
    desk.readBook();
    const { levels } = desk.engine.book.preview(desk.now);
    expect(levels.map(l => l.level.price)).toEqual([998, 1002]);
    expect(desk.log).toEqual([]);
    desk.bids = [[1020, 1]];
    desk.readBook();
    expect(desk.engine.book.preview(desk.now).levels).toEqual([]);
  });

  it.each([
    [{ instance: 'has-dash' }],
    [{ instance: '' }],
    [{ instance: 'x'.repeat(17) }],
    [{ run: 1.5 }],
    [{ run: -1 }],
    [{ run: 1e21 }],
    [{ run: Number.NaN }],
    [{ instance: 'x'.repeat(16), run: Number.MAX_SAFE_INTEGER }],
  ])('is not built with %j, from which no valid order id could be made', options => {
    expect(() => new Desk(options)).toThrow(RangeError);
  });
});

describe('whatever the exchange does', () => {
  const fate: fc.Arbitrary<Fate> = fc.oneof(
    { weight: 6, arbitrary: fc.constant<Fate>('done') },
    { weight: 1, arbitrary: fc.constantFrom<Fate>('done untold', 'lost', { code: '0379' }, { code: '0356' }) },
  );
  const round = fc.record({
    ms: fc.constantFrom(50, 200, 200, 1000, 4000),
    mid: fc.integer({ min: 900, max: 1100 }),
    spread: fc.integer({ min: -2, max: 20 }),
    place: fate,
    cancel: fc.constantFrom<Fate>('done', 'done', 'done', 'done untold', 'lost'),
    canLook: fc.boolean(),
    fill: fc.tuple(fc.nat(5), fc.integer({ min: 0, max: 10 })),
  });
  const LEVELS = 2;
  const POSITION_MAX = 45;

  function play(rounds: readonly (typeof round extends fc.Arbitrary<infer R> ? R : never)[]): Desk {
    const limits = {
      positionMax: POSITION_MAX,
      orderValueMax: 10n ** 9n,
      ordersMax: 6,
      collarBps: 1000,
      staleAfterMs: 3000,
    } as never;
    const desk = new Desk({ strategy: quoteAround(2, 6), limits, unknownMax: 3 }).open();
    let position = 0;
    for (const r of rounds) {
      desk.bids = [[r.mid - 10, 50]];
      desk.asks = [[r.mid - 10 + r.spread, 50]];
      desk.fateOfPlace = () => r.place;
      desk.fateOfCancel = () => r.cancel;
      desk.canLook = r.canLook;
      const before = desk.places().length;
      desk.round(r.ms);
      const [which, lots] = r.fill;
      const target = desk.live[which];
      if (target) {
        const was = target.filled;
        desk.fill(target.id, lots);
        position += (target.side === 'buy' ? 1 : -1) * (target.filled - was);
      }
      for (const of of ['buy', 'sell'] as Side[]) {
        const live = desk.live.filter(o => o.side === of);
        expect(live.length).toBeLessThanOrEqual(LEVELS);
        const left = live.reduce((sum, o) => sum + o.amount - o.filled, 0);
        expect((of === 'buy' ? position : -position) + left).toBeLessThanOrEqual(POSITION_MAX);
      }
      expect(Math.max(-Infinity, ...desk.prices('buy'))).toBeLessThan(Math.min(Infinity, ...desk.prices('sell')));
      for (const c of desk.places().slice(before)) {
        if (c.side === 'buy') expect(c.price).toBeLessThan(desk.asks[0]![0]);
        else expect(c.price).toBeGreaterThan(desk.bids[0]![0]);
        expect(r.spread).toBeGreaterThan(0);
      }
    }
    return desk;
  }

  it('there are never more orders than levels, the limit holds, nothing crosses, no id comes twice, and equal events give equal commands', () => {
    let busy = 0;
    fc.assert(
      fc.property(fc.array(round, { minLength: 5, maxLength: 40 }), rounds => {
        const [one, other] = [play(rounds), play(rounds)];
        expect(one.log).toEqual(other.log);
        const ids = one.places().map(c => c.id);
        expect(new Set(ids).size).toBe(ids.length);
        for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{1,40}$/);
        busy += ids.length;

        // Then everything is well again: both sides are quoted, and what is reserved is what lives.
        one.fateOfPlace = () => 'done';
        one.fateOfCancel = () => 'done';
        one.canLook = true;
        one.bids = [[990, 50]];
        one.asks = [[1010, 50]];
        one.rounds(90, 1000);
        const { orders, booked, quoting, counts } = one.engine.book.snapshot(one.now);
        expect(quoting).toBeNull();
        expect(orders.map(o => o.id).sort()).toEqual(one.live.map(o => o.id).sort());
        for (const o of orders) expect(remaining(o)).toBe(one.truth.get(o.id)!.amount - one.truth.get(o.id)!.filled);
        const truly = [...one.truth.values()].reduce((sum, o) => sum + (o.side === 'buy' ? 1 : -1) * o.filled, 0);
        expect(booked.inventory).toBe(BigInt(truly) * 10n ** 18n);
        expect(one.live.length).toBeGreaterThan(0);
        expect(counts.buy.placed + counts.sell.placed).toBeLessThanOrEqual(one.places().length);
      }),
      runsOf(80, 40),
    );
    expect(busy).toBeGreaterThan(300);
  });
});

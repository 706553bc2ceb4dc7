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
import { ToyExchange, PATIENCE, quoteAround, type Fate } from '../toyExchange.ts';
import { bookRules, levelsOf, plain } from '../market.ts';
import { runsOf } from '../../many.ts';
import { between } from '../../draws.ts';

/** As the engine of the toy exchange has it. */
const SETTLE = 3000;

const kinds = (toy: ToyExchange): string[] => toy.log.map(c => c.kind);

describe('the engine', () => {
  it('quotes both sides when rules, balances, orders, trades and a book are known, and not before', () => {
    const toy = new ToyExchange();
    toy.readBook();
    toy.step({ kind: 'rules', at: toy.now, instrument: plain, makerRate: 0, takerRate: 0 });
    toy.readBook();
    expect(toy.engine.book.snapshot(toy.now).quoting).toBe('not ready');
    toy.open();
    toy.readBook();
    expect(toy.log).toEqual([]);
    toy.round();
    expect([toy.prices('buy'), toy.prices('sell')]).toEqual([[998], [1002]]);
    expect(toy.engine.book.snapshot(toy.now).quoting).toBeNull();
  });

  it('decides at the very time that it says, whatever fractions of a millisecond its times have', () => {
    fc.assert(
      // If a sum passes a power of two, it loses binary digits.
      fc.property(fc.integer({ min: 20, max: 41 }), between(0, 1000), (power, before) => {
        const toy = new ToyExchange({ timing: { ...PATIENCE, decideEveryMs: 1000 } }).open();
        let at = 2 ** power - before;
        for (let i = 0; i < 3; i++) {
          toy.step({ kind: 'timer', at });
          expect(toy.engine.decidesAt).toBeGreaterThan(at);
          at = toy.engine.decidesAt;
        }
      }),
    );
  });

  it('without limits places nothing', () => {
    const toy = new ToyExchange({ limits: null }).open().rounds(5);
    expect(toy.log).toEqual([]);
    expect(toy.engine.book.snapshot(toy.now).quoting).toBe('no limits');
  });

  it('keeps its orders while they are within the tolerance', () => {
    const toy = new ToyExchange().open().round();
    const before = toy.log.length;
    toy.asks = [[1011, 50]];
    toy.rounds(10);
    expect(toy.log.length).toBe(before);
    expect([toy.prices('buy'), toy.prices('sell')]).toEqual([[998], [1002]]);
  });

  it('replaces an order beyond the tolerance only when its cancel is proven', () => {
    const toy = new ToyExchange().open().round();
    toy.fateOfCancel = () => 'lost';
    toy.bids = [[1010, 50]];
    toy.asks = [[1030, 50]];
    toy.rounds(10);
    expect(kinds(toy)).toContain('cancel');
    expect(toy.places().length).toBe(2);
    // Told to be canceled, but not yet seen to be gone: still no place for another.
    toy.fateOfCancel = () => 'done';
    toy.canLook = false;
    toy.round(1000);
    expect(toy.live).toEqual([]);
    expect(toy.places().length).toBe(2);
    toy.canLook = true;
    toy.rounds(2);
    expect([toy.prices('buy'), toy.prices('sell')]).toEqual([[1018], [1022]]);
    expect(toy.places().length).toBe(4);
  });

  it.each([
    ['book stale', (toy: ToyExchange) => (toy.now += 3001)],
    ['book one-sided', (toy: ToyExchange) => (toy.bids = [])],
    ['book crossed', (toy: ToyExchange) => (toy.bids = [[1010, 1]])],
    ['halted', (toy: ToyExchange) => toy.step({ kind: 'halt', at: toy.now, reason: 'test' })],
  ] as const)('withdraws everything and places nothing: %s', (reason, happen) => {
    const toy = new ToyExchange().open().round();
    expect(toy.live.length).toBe(2);
    happen(toy);
    toy.now += 200;
    toy.readPrivate();
    if (reason !== 'book stale') toy.readBook();
    toy.step({ kind: 'timer', at: toy.now });
    expect(toy.live).toEqual([]);
    expect(toy.engine.book.snapshot(toy.now).quoting).toBe(reason);
    expect(toy.places().length).toBe(2);
  });

  it('counts the age of a book from the start of the request that brought it, and quotes on none that is too old by that', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_900 }), ms => {
        const toy = new ToyExchange().open().round();
        const startedAt = toy.now;
        toy.now += ms;
        toy.step({ kind: 'book', at: toy.now, startedAt, book: toy.book });
        const { bookAge, quoting } = toy.engine.book.snapshot(toy.now);
        expect([bookAge, quoting, toy.live.length]).toEqual(ms <= 3_000 ? [ms, null, 2] : [ms, 'book stale', 0]);
      }),
    );
  });

  it('decides on the book as the last event showed it, whatever its owner has made of it since', () => {
    const toy = new ToyExchange().open().round();
    const before = toy.log.length;
    toy.book.clear();
    toy.now += 200;
    toy.readPrivate();
    expect(toy.engine.book.preview(toy.now)).toMatchObject({ refusal: null, mid: 1000 });
    expect(toy.log.length).toBe(before);
    toy.step({ kind: 'book', at: toy.now, startedAt: null, book: toy.book });
    expect(toy.engine.book.snapshot(toy.now).quoting).toBe('book one-sided');
  });

  it('is told nothing about its account by a list of open orders that is cut', () => {
    const cut = (toy: ToyExchange): void => {
      toy.now += 200;
      toy.readBook();
      toy.step({ kind: 'trades', at: toy.now, startedAt: toy.now, complete: true, trades: [] });
      const orders = toy.live.map(order => toy.report(order));
      toy.step({ kind: 'open orders', at: toy.now, startedAt: toy.now, complete: false, orders });
    };
    const fresh = new ToyExchange().open();
    for (let n = 0; n < 5; n++) cut(fresh);
    expect([fresh.engine.book.snapshot(fresh.now).quoting, fresh.log]).toEqual(['not ready', []]);
    const quoting = new ToyExchange().open().round();
    for (let n = 0; n < 26; n++) cut(quoting);
    expect([quoting.engine.book.snapshot(quoting.now).quoting, quoting.live]).toEqual(['private data stale', []]);
  });

  it('settles what vanished only by trades that were asked for after the settle time, not by those that came after it', () => {
    const toy = new ToyExchange().open().round();
    const id = toy.live[0]!.id;
    toy.canLook = false;
    toy.truth.get(id)!.isLive = false;
    const show = (): void => {
      const orders = toy.live.map(order => toy.report(order));
      toy.step({ kind: 'open orders', at: toy.now, startedAt: toy.now, complete: true, orders });
    };
    toy.now += SETTLE + 1_000;
    show();
    toy.now += 100;
    show();
    expect(toy.engine.book.order(id)?.state).toBe('closed-unsettled');
    const closedAt = toy.now;
    toy.now += 2 * SETTLE;
    toy.step({ kind: 'trades', at: toy.now, startedAt: closedAt + SETTLE - 1, complete: true, trades: [] });
    expect(toy.engine.book.order(id)?.state).toBe('closed-unsettled');
    toy.step({ kind: 'trades', at: toy.now, startedAt: closedAt + SETTLE, complete: true, trades: [] });
    toy.step({ kind: 'timer', at: toy.now });
    expect(toy.engine.book.order(id)?.state).toBe('done');
  });

  it('withdraws an order that is filled in part like any other', () => {
    const toy = new ToyExchange().open().round();
    for (const { id } of toy.live) toy.fill(id, 3);
    toy.round();
    expect(toy.live.map(({ id }) => toy.engine.book.order(id)?.state)).toEqual([
      'partially filled',
      'partially filled',
    ]);
    toy.bids = [];
    toy.round();
    expect(toy.live).toEqual([]);
  });

  it.each([
    [105, null],
    [106, /^position: 106 btc from the target is beyond its limit/],
  ])('halts when somebody else carried the position %i lots away, with a limit of 100: %s', (lots, halt) => {
    const many = { fillsPer10Min: 99, refusalsPerMinute: 99, unknownsPerMinute: 99, messagesPerMinute: 999 };
    const halts = { ...many, drawdownMax: 10n ** 30n, dayLossMax: 10n ** 30n } as HaltLimits;
    const toy = new ToyExchange({ halts }).open().round();
    toy.plant('somebody-1', 'buy', 900, lots);
    toy.fill('somebody-1', lots);
    toy.rounds(2);
    expect(toy.engine.book.haltedBecause).toEqual(halt === null ? null : expect.stringMatching(halt));
  });

  it('counts no time as quoted while nothing but an order without an answer may be there', () => {
    const toy = new ToyExchange();
    toy.fateOfPlace = () => 'lost';
    toy.open().rounds(20);
    expect(toy.engine.book.unfinished.map(({ state }) => state)).toContain('unknown');
    expect(toy.engine.book.snapshot(toy.now).uptime).toEqual({ bid: 0, ask: 0 });
  });

  it('withdraws when its own account has not been read for long', () => {
    const toy = new ToyExchange().open().round();
    for (let n = 0; n < 30; n++) {
      toy.now += 200;
      toy.readBook();
    }
    expect(toy.engine.book.snapshot(toy.now).quoting).toBe('private data stale');
    expect(toy.live).toEqual([]);
  });

  it('quotes again when the book is whole again', () => {
    const toy = new ToyExchange().open().round();
    toy.bids = [];
    toy.rounds(2);
    toy.bids = [[990, 50]];
    toy.rounds(3);
    expect([toy.prices('buy'), toy.prices('sell')]).toEqual([[998], [1002]]);
  });

  it('takes in and cancels what an earlier run left, 50 at a time, before its first quote', () => {
    const toy = new ToyExchange();
    for (let n = 1; n <= 120; n++) toy.plant(`mm-6-${n}`, n % 2 ? 'buy' : 'sell', n % 2 ? 900 : 1100, 5);
    toy.plant('someone-else', 'buy', 901, 5);
    toy.plant('mmx-1-1', 'buy', 902, 5);
    toy.open();
    toy.fateOfCancel = () => 'lost';
    toy.rounds(5);
    expect(toy.places()).toEqual([]);
    expect(toy.engine.book.snapshot(toy.now).quoting).toBe('not ready');
    toy.fateOfCancel = () => 'done';
    // So many may be of somebody who lives: they get a moment to place again.
    toy.rounds(60);
    expect(toy.live.map(o => o.id).filter(id => id.startsWith('mm-6-'))).toEqual([]);
    expect(toy.live.filter(o => !o.id.startsWith('mm-7-')).map(o => o.id)).toEqual(['someone-else', 'mmx-1-1']);
    const cancels = toy.log.flatMap(c => (c.kind === 'cancel' ? [c.ids] : []));
    for (const ids of cancels) expect(ids.length).toBeLessThanOrEqual(50);
    expect(new Set(cancels.flat()).size).toBe(120);
    expect(toy.places().length).toBe(2);
  });

  it('cancels a leftover whose price is off the tick grid of today', () => {
    const toy = new ToyExchange();
    toy.plant('mm-6-1', 'buy', 900.5, 5);
    toy.showsOwn = false;
    toy.open().rounds(3);
    expect(toy.truth.get('mm-6-1')!.isLive).toBe(false);
  });

  it('after a stop lets only cancels and look-ups pass, until nothing is left', () => {
    const toy = new ToyExchange({ strategy: quoteAround(2, 5, 8) }).open().round();
    expect(toy.live.length).toBe(6);
    const before = toy.log.length;
    toy.fateOfCancel = () => 'lost';
    toy.step({ kind: 'stop', at: toy.now });
    toy.rounds(5, 600);
    toy.fateOfCancel = () => 'done';
    toy.rounds(10, 600);
    expect(new Set(toy.log.slice(before).map(c => c.kind))).toEqual(new Set(['cancel', 'look']));
    expect(toy.live).toEqual([]);
    expect(toy.engine.book.liveOrders).toEqual([]);
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
          const toy = new ToyExchange({ strategy });
          toy.showsOwn = showsOwn;
          toy.open();
          for (const [[down, bid], [up, ask]] of steps) {
            toy.bids = [[1000 - down, bid]];
            toy.asks = [[1000 + up, ask]];
            toy.rounds(2);
          }
          seen.push(mids);
          return toy.log;
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
        const toy = new ToyExchange({ strategy: { quote: view => ((depth = view.depth), inner.quote(view)) } });
        toy.open().rounds(2);
        for (const { passed, late, which, lots, move } of moments) {
          toy.now += passed;
          toy.bids = [[990 + move, 50]];
          toy.asks = [[1010 + move, 50]];
          toy.showBook();
          const startedAt = toy.now;
          toy.now += late;
          const order = toy.live[which];
          if (order) toy.fill(order.id, lots);
          fills += Number(order?.isLive === false);
          toy.readPrivate();
          toy.step({ kind: 'book', at: toy.now, startedAt, book: toy.book });
          const seen = (['buy', 'sell'] as const).map(side => levelsOf(depth!, side));
          if (String(seen) !== String([toy.bids, toy.asks])) expect(seen).toEqual([toy.bids, toy.asks]);
        }
      }),
      // The example fills an order, so that the law never passes without a fill.
      { ...runsOf(500, 20), examples: [[[{ passed: 100, late: 100, which: 0, lots: 10, move: 0 }]]] },
    );
    expect(fills).toBeGreaterThan(0);
  });

  it('takes 0356 for proof that the order exists: it is looked up, not refused, and not placed again', () => {
    const news: EngineNews[] = [];
    const toy = new ToyExchange({ onNews: n => news.push(n) }).open();
    toy.fateOfPlace = () => ({ code: 'taken', meaning: 'duplicate id' });
    toy.round();
    const ids = toy.places().map(c => c.id);
    expect(ids.length).toBe(2);
    expect(toy.engine.book.liveOrders.map(o => o.state)).toEqual(['unknown', 'unknown']);
    expect(toy.engine.book.snapshot(toy.now).counts.buy).toMatchObject({ refused: 0, unknown: 1 });
    expect(news.some(n => n.kind === 'refused')).toBe(false);
    toy.rounds(5);
    expect(toy.log.some(c => c.kind === 'look' && ids.every(id => c.ids.includes(id)))).toBe(true);
    expect(toy.places().length).toBe(2);
  });

  it('backs off when the exchange refuses: a few placements a minute, not a flood', () => {
    const toy = new ToyExchange().open();
    toy.fateOfPlace = () => ({ code: '0379' });
    toy.rounds(300);
    // One minute: after 0, 1, 3, 7, 15 and 31 s on each side.
    expect(toy.places().length).toBeLessThanOrEqual(12);
    expect(toy.places().length).toBeGreaterThanOrEqual(10);
    toy.fateOfPlace = () => 'done';
    toy.rounds(330);
    expect([toy.prices('buy'), toy.prices('sell')]).toEqual([[998], [1002]]);
  });

  it.each([
    ['budget', false],
    ['not-sent', false],
    ['0379', true],
  ])('refused again and again with %s halts: %s, for only the exchange tells of a mistake of ours', (code, halts) => {
    const few = { drawdownMax: 10n ** 30n, dayLossMax: 10n ** 30n, fillsPer10Min: 99 } as never as HaltLimits;
    const limits: HaltLimits = { ...few, refusalsPerMinute: 5, unknownsPerMinute: 99, messagesPerMinute: 999 };
    const toy = new ToyExchange({ halts: limits }).open();
    toy.fateOfPlace = () => ({ code });
    toy.rounds(300);
    expect(toy.engine.book.haltedBecause !== null).toBe(halts);
  });

  it('cancels what is known to live before it asks after what may', () => {
    const toy = new ToyExchange({ strategy: quoteAround(2, 4) }).open();
    const fates: Fate[] = ['lost', 'done', 'done', 'lost'];
    toy.fateOfPlace = () => fates.shift() ?? 'done';
    toy.rounds(5);
    const before = toy.log.length;
    toy.round(1_000);
    toy.step({ kind: 'stop', at: toy.now + 1_000 });
    const cancels = toy.log.slice(before).flatMap(c => (c.kind === 'cancel' ? [c.ids.length] : []));
    expect(cancels.slice(-3)).toEqual([2, 1, 1]);
  });

  it('cancels each unknown by a request of its own, and places no other order for its level until it is resolved', () => {
    const toy = new ToyExchange().open();
    toy.fateOfPlace = () => 'lost';
    toy.round();
    toy.fateOfPlace = () => 'done';
    toy.rounds(45);
    expect(toy.places().length).toBe(2);
    for (const c of toy.log) if (c.kind === 'cancel') expect(c.ids.length).toBe(1);
    // Past the fence and the settle time the levels are free again.
    toy.rounds(60);
    expect([toy.prices('buy'), toy.prices('sell')]).toEqual([[998], [1002]]);
    expect(toy.places().length).toBe(4);
  });

  it('with too many unknown orders places nothing, keeps what still fits, and takes out what the market has left behind', () => {
    const toy = new ToyExchange({ strategy: quoteAround(2, 6, 10), unknownMax: 2 }).open();
    let n = 0;
    toy.fateOfPlace = () => (n++ < 3 ? 'done' : 'lost');
    toy.round();
    expect(toy.engine.book.snapshot(toy.now).quoting).toBe('too many unknown orders');
    const before = toy.places().length;
    toy.rounds(3);
    expect(toy.live.length).toBe(3);
    toy.bids = [[1090, 50]];
    toy.asks = [[1110, 50]];
    toy.rounds(3);
    expect(toy.live).toEqual([]);
    expect(toy.places().length).toBe(before);
  });

  it('takes into its ledger what differs once a person has resumed, but never balances that are older than its trades', () => {
    const toy = new ToyExchange().open().round();
    const btc = (total: string) => {
      const balances = [
        { currency: 'btc', total, locked: '0', available: total },
        {
          currency: 'mxn',
          total: textOfMoney(toy.engine.book.snapshot(toy.now).booked.holdings.get('mxn')!),
          locked: '0',
          available: '0',
        },
      ];
      toy.step({ kind: 'balances', at: toy.now, startedAt: toy.now, quiet: true, balances });
      return textOfMoney(toy.engine.book.snapshot(toy.now).booked.holdings.get('btc')!);
    };
    const held = btc(textOfMoney(toy.engine.book.snapshot(toy.now).booked.holdings.get('btc')!));
    const id = toy.places().find(({ side }) => side === 'sell')!.id;
    toy.fill(id, 10);
    toy.round();
    const after = textOfMoney(toy.engine.book.snapshot(toy.now).booked.holdings.get('btc')!);
    expect(Number(after)).toBeLessThan(Number(held));
    toy.step({ kind: 'halt', at: toy.now, reason: 'test' });
    toy.step({ kind: 'resume', at: toy.now });
    // The balances read last are from before the trade: they are not taken.
    expect(textOfMoney(toy.engine.book.snapshot(toy.now).booked.holdings.get('btc')!)).toBe(after);
    expect(toy.engine.book.snapshot(toy.now).quoting).toBe('not ready');
    // A record that is late looks like a flow, for a while.
    expect(btc(held)).toBe(after);
    toy.now += SETTLE / 2;
    expect(btc(held)).toBe(after);
    // A difference that lasts longer is a transfer.
    toy.now += SETTLE / 2;
    expect(btc(held)).toBe(held);
    toy.round();
    expect(toy.engine.book.snapshot(toy.now).quoting).toBeNull();
  });

  it('quotes nothing on another tick than it counts in, halts nothing, and goes on when the old one is back', () => {
    const toy = new ToyExchange().open().round();
    const changed = instrumentOf(bookRules({ tickSize: '5', minimumAmount: '1', minimumPrice: '5' }), '1');
    toy.step({ kind: 'rules', at: toy.now, instrument: changed, makerRate: 0, takerRate: 0 });
    toy.rounds(2);
    expect([toy.engine.book.haltedBecause, toy.engine.book.isOutdated]).toEqual([null, true]);
    expect(toy.engine.book.snapshot(toy.now).quoting).toBe('rules of the book changed');
    expect(toy.live).toEqual([]);
    toy.step({ kind: 'rules', at: toy.now, instrument: plain, makerRate: 0, takerRate: 0 });
    toy.rounds(3);
    expect([toy.prices('buy'), toy.prices('sell')]).toEqual([[998], [1002]]);
  });

  it('withdraws from a book that is listed no more, by name, and quotes again when it is', () => {
    const toy = new ToyExchange().open().round();
    toy.step({ kind: 'book removed', at: toy.now });
    toy.rounds(2);
    expect(toy.engine.book.snapshot(toy.now).quoting).toBe('book is not traded any more');
    expect(toy.live).toEqual([]);
    toy.step({ kind: 'rules', at: toy.now, instrument: plain, makerRate: 0, takerRate: 0 });
    toy.rounds(3);
    expect([toy.prices('buy'), toy.prices('sell')]).toEqual([[998], [1002]]);
  });

  it('takes new bounds at once, and takes out what they forbid', () => {
    const toy = new ToyExchange().open().round();
    const rules = bookRules({
      tickSize: '1',
      minimumAmount: '20',
      minimumPrice: '1',
      maximumPrice: '1000000',
      minimumValue: '1',
    });
    toy.step({ kind: 'rules', at: toy.now, instrument: instrumentOf(rules, '1'), makerRate: 0, takerRate: 0 });
    toy.rounds(2);
    expect(toy.live).toEqual([]);
    expect(toy.engine.book.snapshot(toy.now).silent).toContain('bid level 1: below the minimum amount');
  });

  it('does not fall over a trade of somebody else that is off the grid', () => {
    const toy = new ToyExchange().open().round();
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
    toy.step({ kind: 'trades', at: toy.now, startedAt: toy.now, complete: true, trades: [trade] });
    expect(toy.engine.book.snapshot(toy.now).booked.fills).toBe(0);
    expect(toy.engine.book.snapshot(toy.now).booked.profit.total).toBe(0n);
  });

  it('counts as uptime the share of time with a confirmed quote, from the moment it was ready until the stop', () => {
    const toy = new ToyExchange().open();
    toy.round(1000);
    expect(toy.engine.book.snapshot(toy.now).uptime).toEqual({ bid: 0, ask: 0 });
    toy.rounds(3, 1000);
    const full = toy.engine.book.snapshot(toy.now).uptime;
    expect([full.bid, full.ask]).toEqual([1, 1]);
    const [ask] = toy.live.filter(o => o.side === 'sell');
    toy.fateOfPlace = () => ({ code: '0379' });
    toy.fill(ask!.id, 10);
    toy.rounds(3, 1000);
    const { bid, ask: asks } = toy.engine.book.snapshot(toy.now).uptime;
    expect(bid).toBe(1);
    // Six seconds since it was ready; the fill was known after four of them.
    expect(asks).toBeCloseTo(4 / 6, 10);
    toy.step({ kind: 'stop', at: toy.now });
    toy.rounds(5, 1000);
    expect(toy.engine.book.snapshot(toy.now).uptime.bid).toBe(1);
  });

  it('previews without doing: the same levels that it would place', () => {
    const toy = new ToyExchange({
      limits: { positionMax: 15, orderValueMax: 10n ** 9n, ordersMax: 9, collarBps: 1000, staleAfterMs: 3000 } as never,
    });
    expect(toy.engine.book.preview(toy.now)).toMatchObject({ refusal: 'not ready', levels: [] });
    toy.open();
    toy.readBook();
    const { levels } = toy.engine.book.preview(toy.now);
    expect(levels.map(l => l.level.price)).toEqual([998, 1002]);
    expect(toy.log).toEqual([]);
    toy.bids = [[1020, 1]];
    toy.readBook();
    expect(toy.engine.book.preview(toy.now).levels).toEqual([]);
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
    expect(() => new ToyExchange(options)).toThrow(RangeError);
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

  function play(rounds: readonly (typeof round extends fc.Arbitrary<infer R> ? R : never)[]): ToyExchange {
    const limits = {
      positionMax: POSITION_MAX,
      orderValueMax: 10n ** 9n,
      ordersMax: 6,
      collarBps: 1000,
      staleAfterMs: 3000,
    } as never;
    const toy = new ToyExchange({ strategy: quoteAround(2, 6), limits, unknownMax: 3 }).open();
    let position = 0;
    for (const r of rounds) {
      toy.bids = [[r.mid - 10, 50]];
      toy.asks = [[r.mid - 10 + r.spread, 50]];
      toy.fateOfPlace = () => r.place;
      toy.fateOfCancel = () => r.cancel;
      toy.canLook = r.canLook;
      const before = toy.places().length;
      toy.round(r.ms);
      const [which, lots] = r.fill;
      const target = toy.live[which];
      if (target) {
        const was = target.filled;
        toy.fill(target.id, lots);
        position += (target.side === 'buy' ? 1 : -1) * (target.filled - was);
      }
      for (const of of ['buy', 'sell'] as Side[]) {
        const live = toy.live.filter(o => o.side === of);
        expect(live.length).toBeLessThanOrEqual(LEVELS);
        const left = live.reduce((sum, o) => sum + o.amount - o.filled, 0);
        expect((of === 'buy' ? position : -position) + left).toBeLessThanOrEqual(POSITION_MAX);
      }
      expect(Math.max(-Infinity, ...toy.prices('buy'))).toBeLessThan(Math.min(Infinity, ...toy.prices('sell')));
      for (const c of toy.places().slice(before)) {
        if (c.side === 'buy') expect(c.price).toBeLessThan(toy.asks[0]![0]);
        else expect(c.price).toBeGreaterThan(toy.bids[0]![0]);
        expect(r.spread).toBeGreaterThan(0);
      }
    }
    return toy;
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

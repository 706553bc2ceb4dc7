/** Why a side is empty: said exactly while it is, with the numbers behind it and the key to change. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  instrumentOf,
  needsOperator,
  type EngineNews,
  type EngineOptions,
  type Quote,
  type Side,
  type Snapshot,
  type Strategy,
  type View,
} from '../../../src/core/index.ts';
import { ToyExchange, quoteAround, type Fate } from '../toyExchange.ts';
import { bookRules, plain } from '../market.ts';

const LIMITS = { positionMax: 100, orderValueMax: 10n ** 9n, ordersMax: 20, collarBps: 1000, staleAfterMs: 3000 };
const limited = (change: object, options: Partial<EngineOptions> = {}): ToyExchange =>
  new ToyExchange({ limits: { ...LIMITS, ...change } as never, ...options });
const snapshotOf = (toy: ToyExchange): Snapshot => toy.engine.book.snapshot(toy.now);
const SIDES: readonly Side[] = ['buy', 'sell'];

/** One level of `lots` on each side, `away` from the middle; a side of 0 lots shows nothing and says so. */
const levels = (away: number, bidLots: number, askLots: number): Strategy => ({
  quote: ({ mid }: View): Quote => {
    const side = (sign: number, lots: number) =>
      lots === 0
        ? []
        : [{ price: mid + sign * away, amount: lots as never, why: [{ name: 'wanted', ticks: mid + sign * away }] }];
    return {
      bids: side(-1, bidLots),
      asks: side(1, askLots),
      ...(bidLots === 0 && { noBid: 'pingPong: the other side is next' }),
      ...(askLots === 0 && { noAsk: 'inventory is at its limit' }),
    };
  },
});

describe('what is said of an empty side', () => {
  it('is said exactly while nothing of it is there, on its way or being replaced', () => {
    const lots = fc.constantFrom(0, 1, 10, 60);
    const fates = fc.array(fc.constantFrom<Fate>('done', 'done', 'lost', 'done untold'), { maxLength: 8 });
    fc.assert(
      fc.property(
        fc.record({
          positionMax: fc.constantFrom(5, 20, 100),
          orderValueMax: fc.constantFrom(500n, 10_000n, 10n ** 9n),
          ordersMax: fc.constantFrom(1, 2, 20),
          collarBps: fc.constantFrom(5, 20, 1000),
        }),
        fc.record({ away: fc.constantFrom(2, 9, 40), bid: lots, ask: lots }),
        fc.array(fc.integer({ min: -4, max: 4 }), { minLength: 2, maxLength: 8 }),
        fates,
        (limits, { away, bid, ask }, moves, left) => {
          const news: Extract<EngineNews, { kind: 'quoting' }>[] = [];
          const toy = limited(limits, {
            strategy: levels(away, bid, ask),
            onNews: one => void (one.kind === 'quoting' && news.push(one)),
          }).open();
          toy.fateOfPlace = () => left.pop() ?? 'done';
          for (const ticks of moves) {
            toy.bids = [[990 + ticks, 50]];
            toy.asks = [[1010 + ticks, 50]];
            toy.round();
            const { unshown, emptySidesText: whyNot, quoting } = snapshotOf(toy);
            if (quoting !== null) continue;
            for (const side of SIDES) {
              const isThere = toy.engine.book.liveOrders.some(order => order.side === side);
              expect(unshown[side] === null).toBe(isThere);
            }
            expect(whyNot === null).toBe(unshown.buy === null && unshown.sell === null);
            // The last word of the log is true: quoting, or nothing is and why.
            const isEmpty = unshown.buy !== null && unshown.sell !== null;
            expect(news.at(-1)!.reason).toBeNull();
            expect(news.at(-1)!.why === null).toBe(!isEmpty);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('is told once and not at every decision, and again when it quotes', () => {
    const said: (string | null)[] = [];
    let lots = 10;
    const toy = limited(
      { orderValueMax: 5_000n },
      {
        strategy: { quote: view => levels(2, lots, lots).quote(view) },
        onNews: one => void (one.kind === 'quoting' && said.push(one.reason ?? one.why)),
      },
    ).open();
    toy.rounds(5);
    expect(said).toEqual([expect.stringMatching(/^no bid and no ask: order value limit \(/)]);
    lots = 4;
    toy.rounds(3);
    expect(said.slice(1)).toEqual([null]);
  });

  it.each<readonly [string, ToyExchange, string, boolean]>([
    [
      'the value of an order',
      limited({ orderValueMax: 5_000n }),
      'no bid and no ask: order value limit (10 btc at 998 is worth 9980 mxn, but limits.orderValueMax is 5000 mxn; raise this limit, or lower strategy.amount)',
      true,
    ],
    [
      'the amount of an order',
      limited({ orderAmountMax: 9 }),
      'no bid and no ask: order amount limit (10 btc at 998 is more than limits.orderAmountMax (9 btc); raise this limit, or lower strategy.amount)',
      true,
    ],
    [
      'the distance from past prices',
      limited({ priceMove: { bps: 10, windowMs: 600_000 } }),
      'no bid and no ask: price too far from past prices (10 btc at 998 is 20.0 bps from 1000, the median of the last 10 min, but limits.priceMove.bps is 10)',
      true,
    ],
    [
      'the number of orders',
      limited({ ordersMax: 0 }),
      'no bid and no ask: order count limit (0 orders may be live already, and limits.ordersMax is 0; raise this limit, or quote fewer levels)',
      true,
    ],
    [
      'the position',
      limited({ positionMax: 4 }),
      'no bid and no ask: position limit (the order is for 10 btc, but limits.positionMax (4 btc) allows only 4 btc more)',
      true,
    ],
    [
      'the distance from the middle',
      limited({ collarBps: 10 }),
      'no bid and no ask: price outside the collar (10 btc at 998 is 20.0 bps from the mid price, but limits.collarBps is 10; raise this limit, or quote nearer to the market)',
      true,
    ],
    [
      "a strategy's own mood",
      limited({}, { strategy: levels(2, 0, 0) }),
      'no bid: held back by the strategy (pingPong: the other side is next); no ask: at the cap (inventory is at its limit)',
      false,
    ],
    [
      'a strategy that says nothing',
      limited({}, { strategy: { quote: () => ({ bids: [], asks: [] }) } }),
      'no bid and no ask: held back by the strategy',
      false,
    ],
  ])('has the numbers of %s', (_, toy, text, isLasting) => {
    toy.open();
    toy.round();
    const snapshot = snapshotOf(toy);
    expect(snapshot.emptySidesText).toBe(text);
    expect(needsOperator(snapshot.unshown)).toBe(isLasting);
  });

  it('needs the operator if both sides are too far from past prices, but not if only one is', () => {
    const far = { reason: 'price too far from past prices', words: null, level: null } as const;
    const drift = { reason: 'held back by the strategy', words: null, level: null } as const;
    expect(needsOperator({ buy: far, sell: far })).toBe(true);
    for (const other of [null, drift])
      expect([needsOperator({ buy: far, sell: other }), needsOperator({ buy: other, sell: far })]).toEqual([
        false,
        false,
      ]);
  });

  it('has the funds of each side in its own currency', () => {
    const toy = limited({ positionMax: 10_000, orderValueMax: 10n ** 12n }, { strategy: levels(2, 600, 500) });
    toy.step({ kind: 'rules', at: toy.now, instrument: plain, makerRate: 0, takerRate: 0 });
    const balance = (currency: string, total: string) => ({ currency, total, locked: '0', available: total });
    const balances = [balance('btc', '400'), balance('mxn', '500000.5')];
    toy.step({ kind: 'balances', at: toy.now, startedAt: toy.now, quiet: true, balances });
    toy.round();
    expect(snapshotOf(toy).emptySidesText).toBe(
      'no bid: insufficient funds (600 btc at 998 needs 598800 mxn, but only 500000.5 mxn is available; deposit more, or lower strategy.amount); ' +
        'no ask: insufficient funds (500 btc at 1002 needs 500 btc, but only 400 btc is available; deposit more, or lower strategy.amount)',
    );
    expect(needsOperator(snapshotOf(toy).unshown)).toBe(true);
  });

  const least = (rules: Parameters<typeof bookRules>[0]) => instrumentOf(bookRules({ ...PLAIN, ...rules }), '1');
  const PLAIN = {
    tickSize: '1',
    minimumAmount: '1',
    maximumAmount: '1000000',
    minimumPrice: '1',
    maximumPrice: '1000000',
    minimumValue: '1',
    maximumValue: '1000000000000',
  };
  it.each<readonly [string, Parameters<typeof bookRules>[0], Partial<typeof LIMITS>, string]>([
    [
      'the least amount',
      { minimumAmount: '11' },
      {},
      "below the minimum amount (10 btc is below 11 btc, the exchange's minimum order amount of btc_mxn; raise strategy.amount)",
    ],
    [
      'the least value',
      { minimumValue: '20000' },
      {},
      "below the minimum value (10 btc at 998 is worth 9980 mxn, but the exchange's minimum order value of btc_mxn is 20000 mxn; raise strategy.amount)",
    ],
    [
      'the least value, which the limit forbids',
      { minimumValue: '9000' },
      { orderValueMax: 500n },
      "order value limit (limits.orderValueMax 500 mxn is below 9000 mxn, the exchange's minimum order value of btc_mxn; raise limits.orderValueMax)",
    ],
    [
      'the lowest price',
      { minimumPrice: '2000' },
      {},
      'price below the minimum (the lowest price that the exchange accepts in btc_mxn is 2000; quote nearer to the market)',
    ],
    [
      'the highest price',
      { maximumPrice: '900' },
      {},
      'price above the maximum (the highest price that the exchange accepts in btc_mxn is 900; quote nearer to the market)',
    ],
  ])('names the bound of the exchange: %s', (_, rules, limits, text) => {
    const instrument = least(rules);
    const toy = limited(limits, { instrument });
    toy.step({ kind: 'rules', at: toy.now, instrument, makerRate: 0, takerRate: 0 });
    const balance = (currency: string) => ({ currency, total: '1000000000', locked: '0', available: '1000000000' });
    const balances = [balance('btc'), balance('mxn')];
    toy.step({ kind: 'balances', at: toy.now, startedAt: toy.now, quiet: true, balances });
    toy.round();
    expect(snapshotOf(toy).emptySidesText).toBe(`no bid and no ask: ${text}`);
    expect(needsOperator(snapshotOf(toy).unshown)).toBe(true);
  });

  it('is of one side alone while the other shows something: no person is needed', () => {
    const toy = limited({}, { strategy: levels(2, 10, 0) }).open();
    toy.round();
    const { unshown, emptySidesText: whyNot } = snapshotOf(toy);
    expect(whyNot).toBe('no ask: at the cap (inventory is at its limit)');
    expect(needsOperator(unshown)).toBe(false);
  });
});

describe('what is said while it is not ready', () => {
  it('names what is missing, one thing after the other', () => {
    const toy = new ToyExchange({ strategy: quoteAround(2) });
    expect(snapshotOf(toy).waitsFor).toBe('the fees and rules of the book have not been read yet');
    toy.step({ kind: 'rules', at: toy.now, instrument: plain, makerRate: 0, takerRate: 0 });
    expect(snapshotOf(toy).waitsFor).toBe('the balances have not been read yet');
    toy.open();
    expect(snapshotOf(toy).waitsFor).toBe('the open orders and trades of the account have not been read yet');
    toy.plant('mm-6-1', 'buy', 990, 10);
    toy.fateOfCancel = () => 'lost';
    toy.round();
    expect(snapshotOf(toy).waitsFor).toBe('orders of an earlier run may still be open');
    toy.fateOfCancel = () => 'done';
    toy.rounds(100);
    expect(snapshotOf(toy).waitsFor).toBeNull();
  });
});

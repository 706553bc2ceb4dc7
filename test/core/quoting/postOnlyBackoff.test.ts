/** What holds back a price after a post-only refusal: nothing alike, until the book shows why or a pause is over. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptyDepth, type Depth, type Order, type Price, type Side } from '../../../src/core/index.ts';
import { PostOnlyBackoff } from '../../../src/core/quoting/postOnlyBackoff.ts';

const price = (ticks: number): Price => ticks as Price;

/** One level a side; 0 for none. */
function bookOf(bid: number, ask: number): Depth {
  const depth = emptyDepth(1);
  [depth.bidPrices[0], depth.askPrices[0]] = [bid, ask];
  [depth.bids, depth.asks] = [Number(bid > 0), Number(ask > 0)];
  return depth;
}

let orders = 0;

/** An order of that side and price is placed, and canceled on arrival. */
function refuse(backoff: PostOnlyBackoff, side: Side, at: Price, now: number): void {
  const order = { id: `mm-${++orders}`, side, price: at, filled: 0 } as Order;
  backoff.onPlaced(order.id, side);
  expect(backoff.onOrderEnd(order, 'canceled', now)).toBe(true);
}

/** When an order would be refused that is tried whenever it may be, in a book that shows nothing of it. */
function triesIn(ms: number): number[] {
  const backoff = new PostOnlyBackoff();
  const tries: number[] = [];
  for (let at = 0; at < ms; at += 100) {
    backoff.onBook(bookOf(990, 1_010), null);
    if (backoff.holds('buy', price(1_000), at)) continue;
    tries.push(at / 1_000);
    refuse(backoff, 'buy', price(1_000), at);
  }
  return tries;
}

describe('after a post-only refusal', () => {
  it('nothing of that side at that price or nearer is placed for 5 s, and everything else is', () => {
    fc.assert(
      fc.property(fc.constantFrom('buy', 'sell'), fc.integer({ min: -20, max: 20 }), fc.nat(10_000), (side, by, ms) => {
        const backoff = new PostOnlyBackoff();
        refuse(backoff, side, price(1_000), 0);
        const isAlike = side === 'buy' ? by >= 0 : by <= 0;
        expect(backoff.holds(side, price(1_000 + by), ms)).toBe(isAlike && ms < 5_000);
        expect(backoff.holds(side === 'buy' ? 'sell' : 'buy', price(1_000 + by), ms)).toBe(false);
      }),
    );
  });

  it('a book that never shows why is tried again after pauses that double, up to a minute', () => {
    expect(triesIn(300_000)).toEqual([0, 5, 15, 35, 75, 135, 195, 255]);
  });

  it('a book that shows the other side there releases the price, and the next refusal pauses for 5 s again', () => {
    fc.assert(
      fc.property(fc.integer({ min: 980, max: 1_020 }), fc.boolean(), (best, isBuy) => {
        const backoff = new PostOnlyBackoff();
        const side = isBuy ? 'buy' : 'sell';
        const holds = (at: number) => backoff.holds(side, price(1_000), at);
        refuse(backoff, side, price(1_000), 0);
        refuse(backoff, side, price(1_000), 5_000);
        backoff.onBook(isBuy ? bookOf(0, best) : bookOf(best, 0), null);
        const isShown = isBuy ? best <= 1_000 : best >= 1_000;
        expect(holds(6_000)).toBe(!isShown);
        if (!isShown) return;
        refuse(backoff, side, price(1_000), 7_000);
        expect([holds(11_999), holds(12_000)]).toEqual([true, false]);
      }),
    );
  });

  it('a book that showed why before the refusal was known holds nothing back, one that showed it before the order was placed does', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.boolean(), fc.integer({ min: 980, max: 1_020 }), (isBuy, isLater, best) => {
        const backoff = new PostOnlyBackoff();
        const side = isBuy ? 'buy' : 'sell';
        const order = { id: 'mm-x', side, price: 1_000, filled: 0 } as Order;
        if (isLater) backoff.onPlaced(order.id, side);
        backoff.onBook(isBuy ? bookOf(0, best) : bookOf(best, 0), null);
        backoff.onBook(isBuy ? bookOf(0, 1_100) : bookOf(900, 0), null);
        if (!isLater) backoff.onPlaced(order.id, side);
        expect(backoff.onOrderEnd(order, 'canceled', 900)).toBe(true);
        const isShown = isLater && (isBuy ? best <= 1_000 : best >= 1_000);
        expect(backoff.holds(side, price(1_000), 1_000)).toBe(!isShown);
      }),
    );
  });

  it('an empty side shows nothing', () => {
    const backoff = new PostOnlyBackoff();
    refuse(backoff, 'buy', price(1_000), 0);
    refuse(backoff, 'sell', price(1_000), 0);
    backoff.onBook(bookOf(0, 0), null);
    expect([backoff.holds('buy', price(1_000), 1), backoff.holds('sell', price(1_000), 1)]).toEqual([true, true]);
  });

  it('a book whose read began after it releases the price whatever it shows, and one that began before does not', () => {
    const backoff = new PostOnlyBackoff();
    refuse(backoff, 'sell', price(1_000), 500);
    backoff.onBook(bookOf(990, 1_010), 499);
    expect(backoff.holds('sell', price(1_000), 600)).toBe(true);
    backoff.onBook(bookOf(990, 1_010), 500);
    expect(backoff.holds('sell', price(1_000), 600)).toBe(false);
  });

  it('several levels that were refused at once are one refusal, down to the farthest of them', () => {
    const backoff = new PostOnlyBackoff();
    for (const level of [1_000, 998, 999]) refuse(backoff, 'buy', price(level), 0);
    expect([997, 998, 1_005].map(level => backoff.holds('buy', price(level), 4_999))).toEqual([false, true, true]);
    expect(backoff.holds('buy', price(998), 5_000)).toBe(false);
  });
});

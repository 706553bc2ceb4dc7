/** What holds back a price after a post-only refusal: nothing alike, until the book shows why or a pause is over. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptyDepth, type Depth, type Order, type Price, type Side } from '../../../src/core/index.ts';
import { PostOnlyBackoff } from '../../../src/core/quoting/postOnlyBackoff.ts';
import { runsOf } from '../../many.ts';

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

  it.each([
    [[0, 9_999], 10_000],
    [[0, 10_000], 5_000],
    [[0, 6_000, 25_999], 20_000],
    [[0, 6_000, 26_000], 5_000],
  ])('of the refusals at %j the last pauses for %i ms: a row ends after twice its last pause', (times, ms) => {
    const backoff = new PostOnlyBackoff();
    for (const at of times) refuse(backoff, 'buy', price(1_000), at);
    const holds = (at: number) => backoff.holds('buy', price(1_000), at);
    expect([holds(times.at(-1)! + ms - 1), holds(times.at(-1)! + ms)]).toEqual([true, false]);
  });

  it('refusals during its pause extend what is held to the farthest of them, on either side, and not the pause', () => {
    const later = fc.record({ ms: fc.nat(1_000), by: fc.integer({ min: -20, max: 20 }) });
    fc.assert(
      fc.property(
        fc.constantFrom<Side>('buy', 'sell'),
        fc.array(later, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: -25, max: 25 }),
        (side, refusals, by) => {
          const backoff = new PostOnlyBackoff();
          refuse(backoff, side, price(1_000), 0);
          let now = 0;
          for (const refusal of refusals) refuse(backoff, side, price(1_000 + refusal.by), (now += refusal.ms));
          const all = [0, ...refusals.map(refusal => refusal.by)];
          const isHeld = side === 'buy' ? by >= Math.min(...all) : by <= Math.max(...all);
          expect(backoff.holds(side, price(1_000 + by), 4_999)).toBe(isHeld);
          expect(backoff.holds(side, price(1_000 + by), 5_000)).toBe(false);
          expect(backoff.holds(side === 'buy' ? 'sell' : 'buy', price(1_000 + by), now)).toBe(false);
        },
      ),
    );
  });
});

describe('whatever happens to orders and books', () => {
  const START = 1.7e12;
  const SIDES = ['buy', 'sell'] as const;
  const near = fc.integer({ min: 997, max: 1_003 });
  const step = fc.record({
    kind: fc.constantFrom('place', 'place', 'end', 'end', 'end', 'see', 'book', 'book'),
    passed: fc.constantFrom(0, 0, 0, 0, 1_000, 4_999, 5_000, 9_999, 10_000, 60_000),
    side: fc.constantFrom(...SIDES),
    at: near,
    which: fc.nat(2),
    filled: fc.constantFrom(0, 0, 0, 1),
    ending: fc.constantFrom('canceled', 'canceled', 'vanished', 'filled', 'refused'),
    best: fc.record({ bid: fc.constantFrom(0, 996, 999, 1_001), ask: fc.constantFrom(0, 998, 1_000, 1_004) }),
    readBefore: fc.constantFrom(null, null, null, 0, 5_000),
  });
  type Sent = { readonly order: Order; readonly shown: number[] };
  type Held = { price: number; at: number; until: number; pause: number };

  it('a price is held back exactly while a refusal at it or farther is neither explained nor over', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), steps => {
        const backoff = new PostOnlyBackoff();
        const sent: Sent[] = [];
        const best = { buy: 0, sell: 0 };
        const held: Record<Side, Held | null> = { buy: null, sell: null };
        /** Whether this best price of the other side explains a refusal at `price`. */
        const explains = (side: Side, other: number, price: number) =>
          other > 0 && (side === 'buy' ? other <= price : other >= price);
        let now = START;
        for (const [index, one] of steps.entries()) {
          const { kind, passed, side, at, which, filled, ending, best: of, readBefore } = one;
          now += passed;
          const some = sent[which];
          if (kind === 'place') {
            const order = { id: `o-${index}`, side, price: at, filled: 0 } as Order;
            sent.push({ order, shown: [] });
            backoff.onPlaced(order.id, side);
          } else if (kind === 'see' && some) {
            sent.splice(which, 1);
            backoff.onSeenOrCanceled(some.order.id);
          } else if (kind === 'end') {
            const order = some ? { ...some.order, filled } : ({ id: 'seen', side, price: at, filled } as Order);
            const isRefused = some !== undefined && filled === 0 && (ending === 'canceled' || ending === 'vanished');
            if (some) sent.splice(which, 1);
            expect(backoff.onOrderEnd(order as Order, ending as never, now)).toBe(isRefused);
            const hold = some && held[order.side];
            if (isRefused && !some.shown.some(other => explains(order.side, other, order.price))) {
              if (hold && now < hold.until)
                hold.price = (order.side === 'buy' ? Math.min : Math.max)(hold.price, order.price);
              else {
                // In a row if it comes within twice the last pause.
                const isRow = hold && now < hold.at + 2 * hold.pause;
                const pause = isRow ? Math.min(60_000, 2 * hold.pause) : 5_000;
                held[order.side] = { price: order.price, at: now, until: now + pause, pause };
              }
            }
          } else if (kind === 'book') {
            const startedAt = readBefore === null ? null : now - readBefore;
            backoff.onBook(bookOf(of.bid, of.ask), startedAt);
            for (const quoted of SIDES) {
              const other = quoted === 'buy' ? of.ask : of.bid;
              if (other !== best[quoted])
                for (const { order, shown } of sent) if (order.side === quoted) shown.push(other);
              best[quoted] = other;
              const hold = held[quoted];
              if (hold && (explains(quoted, other, hold.price) || (startedAt !== null && startedAt >= hold.at)))
                held[quoted] = null;
            }
          }
          for (const quoted of SIDES) {
            const hold = held[quoted];
            const isHeld = (ticks: number) =>
              hold !== null && now < hold.until && (quoted === 'buy' ? ticks >= hold.price : ticks <= hold.price);
            const ticks = [996, 997, 998, 999, 1_000, 1_001, 1_002, 1_003, 1_004];
            expect(ticks.map(one => backoff.holds(quoted, price(one), now))).toEqual(ticks.map(isHeld));
          }
        }
      }),
      runsOf(5_000, 250),
    );
  });
});

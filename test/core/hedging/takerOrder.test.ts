/** An order that takes liquidity, in the engine: once, towards the target, within every limit, and never against an order of ours. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  positionRoom,
  TakerOrder,
  textOfMoney,
  type Amount,
  type EngineNews,
  type Price,
  type Side,
  type Strategy,
} from '../../../src/core/index.ts';
import { runsOf } from '../../many.ts';
import { ToyExchange, quoteAround } from '../toyExchange.ts';

const ID = 'mm-7-t1';
const ask = (toy: ToyExchange, side: Side, price: number, amount: number, forMs = 5_000, id = ID) =>
  toy.step({
    kind: 'take',
    at: toy.now,
    id,
    side,
    price: price as Price,
    amount: amount as Amount,
    until: toy.now + forMs,
  });
const taken = (toy: ToyExchange) => toy.places().filter(({ takes }) => takes);
/** Long by so many lots, bought by quotes. `refused`: told of each request that is never sent. */
function long(lots: number, away = 2, refused: string[] = []): ToyExchange {
  const onNews = (news: EngineNews) => {
    if (news.kind === 'not taken') refused.push(`${news.id}: ${news.why}`);
  };
  const toy = new ToyExchange({ strategy: quoteAround(away), onNews }).open();
  for (let left = lots; left > 0; left -= 10) {
    toy.rounds(2);
    toy.fill(toy.live.find(({ side }) => side === 'buy')!.id, Math.min(10, left));
  }
  return toy.rounds(2);
}
const inventory = (toy: ToyExchange) => Number(textOfMoney(toy.engine.book.snapshot(toy.now).booked.inventory));

describe('an order that takes', () => {
  test('is sent once, brings the position back, is over at once, and what it cost is hedging', () => {
    const toy = long(20);
    ask(toy, 'sell', 990, 20);
    toy.rounds(5);
    expect(taken(toy)).toEqual([{ kind: 'place', id: ID, side: 'sell', price: 990, amount: 20, takes: true }]);
    expect(inventory(toy)).toBe(0);
    expect(toy.engine.book.order(ID)?.state).toBe('done');
    // Ten below the middle of 1000, and it is no part of what quotes earned: two below, twenty lots.
    const { hedging, spread } = toy.engine.book.snapshot(toy.now).booked.profit;
    expect([hedging, spread].map(textOfMoney)).toEqual(['-200', '40.0']);
  });

  test('waits until a quote of ours that it would hit is gone, and no such quote is shown meanwhile or while it may live', () => {
    const toy = long(20, 9);
    toy.bids = [[985, 50]];
    toy.asks = [[1015, 50]];
    toy.rounds(3);
    expect(toy.prices('buy')).toEqual([991]);
    toy.fateOfCancel = () => 'lost';
    ask(toy, 'sell', 985, 20, 60_000);
    toy.rounds(3);
    expect(taken(toy)).toEqual([]);
    toy.fateOfCancel = () => 'done';
    for (let n = 0; n < 12; n++) {
      toy.round();
      if (taken(toy).length > 0 && toy.engine.book.order(ID)?.state !== 'done') expect(toy.prices('buy')).toEqual([]);
    }
    expect(taken(toy)).toHaveLength(1);
    expect(inventory(toy)).toBe(0);
    expect(toy.prices('buy')).toEqual([991]);
  });

  test('takes out a quote of ours in its way that is only kept for its place in the queue', () => {
    let away = 9;
    const tolerance = { priceBps: 20, amountShare: 0.5, maxAgeMs: 3_600_000 };
    const toy = new ToyExchange({ strategy: { quote: view => quoteAround(away).quote(view) }, tolerance }).open();
    for (let n = 0; n < 2; n++) {
      toy.rounds(2);
      toy.fill(toy.live.find(({ side }) => side === 'buy')!.id, 10);
    }
    toy.bids = [[985, 50]];
    toy.asks = [[1015, 50]];
    toy.rounds(3);
    away = 10;
    toy.rounds(3);
    // One tick nearer than wanted, within the tolerance.
    expect(toy.prices('buy')).toEqual([991]);
    ask(toy, 'sell', 991, 20, 60_000);
    toy.rounds(6);
    expect(taken(toy)).toHaveLength(1);
  });

  test('while only inventory is closed waits until a quote of ours that closes the same is gone, and closes all of it', () => {
    const toy = long(20);
    toy.step({ kind: 'reduce', at: toy.now, reason: 'before the weekend' });
    toy.rounds(3);
    // It would close what an order of ours closes already.
    expect(toy.live.filter(({ side }) => side === 'sell').length).toBeGreaterThan(0);
    toy.fateOfCancel = () => 'lost';
    ask(toy, 'sell', 990, 20, 60_000);
    toy.rounds(3);
    expect(taken(toy)).toEqual([]);
    toy.fateOfCancel = () => 'done';
    toy.rounds(200);
    expect(taken(toy)).toHaveLength(1);
    expect(inventory(toy)).toBe(0);
  });

  test.each([
    ['beyond the target', 'sell', 990, 21, 'not towards the target'],
    ['away from the target', 'buy', 1010, 5, 'not towards the target'],
    ['outside the collar', 'sell', 800, 20, 'price outside the collar'],
  ] as const)('%s is never sent', (_, side, price, amount, why) => {
    const refused: string[] = [];
    const toy = long(20, 2, refused);
    ask(toy, side, price, amount);
    toy.rounds(5);
    expect(taken(toy)).toEqual([]);
    expect(refused).toEqual([`${ID}: ${why}`]);
  });

  test('is not sent once trading stopped, or too late', () => {
    const refused: string[] = [];
    const stopped = long(20, 2, refused);
    stopped.step({ kind: 'stop', at: stopped.now });
    ask(stopped, 'sell', 990, 20);
    const late = long(20, 2, refused);
    ask(late, 'sell', 990, 20, 0);
    expect(refused).toEqual([`${ID}: stopping`, `${ID}: too late`]);
    expect(taken(stopped).concat(taken(late))).toEqual([]);
  });

  test('whose answer is lost counts in full until it is found, and is never sent again', () => {
    for (const fate of ['done untold', 'lost'] as const) {
      const toy = long(20);
      toy.fateOfPlace = () => fate;
      ask(toy, 'sell', 990, 20);
      expect(toy.engine.book.order(ID)?.state).toBe('unknown');
      // Long 20 and 20 that may be sold: 100 are the limit, and 20 of the room are taken.
      expect(positionRoom('sell', toy.engine.book.riskContext(toy.now))).toBeLessThanOrEqual(100);
      toy.fateOfPlace = () => 'done';
      toy.rounds(200);
      expect(toy.engine.book.order(ID)?.state).toBe('done');
      expect(taken(toy)).toHaveLength(1);
      expect(inventory(toy)).toBe(fate === 'lost' ? 20 : 0);
    }
  });

  test('never trades with an order of ours, wherever quotes and the request are', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 14 }),
        fc.integer({ min: -14, max: 14 }),
        fc.boolean(),
        (away, price, lost) => {
          const toy = long(10, away);
          toy.bids = [[985, 50]];
          toy.asks = [[1015, 50]];
          toy.rounds(2);
          let n = 0;
          toy.fateOfCancel = () => (lost && n++ < 3 ? 'lost' : 'done');
          ask(toy, 'sell', 1000 + price, 10);
          // The exchange of the test throws when two orders of ours meet.
          toy.rounds(15);
          expect(taken(toy).length).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: 60 },
    );
  });
});

/** One thing that happens to a bot with quotes and such orders; `levels` is how many the strategy wants from then on. */
const levels = fc.constantFrom(0, 1, 4);
const happening = fc.oneof(
  fc.record({ kind: fc.constant('round'), levels, ms: fc.constantFrom(50, 1_000) }),
  fc.record({
    kind: fc.constant('fill'),
    levels,
    side: fc.constantFrom<Side>('buy', 'sell'),
    lots: fc.constantFrom(3, 10),
  }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('take'), levels, share: fc.constantFrom(0.3, 1) }) },
  fc.record({ kind: fc.constant('move'), levels, ticks: fc.integer({ min: -20, max: 20 }) }),
  fc.record({ kind: fc.constant('cancels are lost'), levels, count: fc.integer({ min: 1, max: 3 }) }),
);

test('with all quotes filled leaves the position within its limit and the funds above nothing, whatever happens', () => {
  let takenInAll = 0;
  const bounds = fc.tuple(fc.constantFrom(15, 25, 32), fc.constantFrom(15, 35, 1_000));
  fc.assert(
    fc.property(fc.array(happening, { minLength: 10, maxLength: 30 }), bounds, (all, [positionMax, coins]) => {
      let wanted = 4;
      let waiting: string | null = null;
      const onNews = (news: EngineNews) => {
        if (news.kind === 'taking') takenInAll++;
        if (news.kind === 'taking' || news.kind === 'not taken') waiting = null;
      };
      const distances = () => Array.from({ length: wanted }, (_, i) => 2 + i);
      const limits = { positionMax, orderValueMax: 10n ** 9n, ordersMax: 20, collarBps: 1000, staleAfterMs: 3000 };
      const strategy: Strategy = { quote: view => quoteAround(...distances()).quote(view) };
      const toy = new ToyExchange({ strategy, limits: limits as never, onNews }).open({
        btc: coins,
        mxn: 1_000 * coins,
      });
      toy.round();
      let lost = 0;
      toy.fateOfCancel = () => (lost-- > 0 ? 'lost' : 'done');
      all.forEach((one, n) => {
        wanted = one.levels;
        if (one.kind === 'move') {
          toy.bids = [[990 + one.ticks, 50]];
          toy.asks = [[1010 + one.ticks, 50]];
        } else if (one.kind === 'cancels are lost') lost = one.count;
        else if (one.kind === 'round') toy.round(one.ms);
        else if (one.kind === 'fill') {
          const hit = toy.live.find(({ side, id }) => side === one.side && !id.includes('t'));
          if (hit !== undefined) toy.fill(hit.id, one.lots);
          toy.readPrivate();
        } else if (waiting === null && toy.traded.lots !== 0) {
          const { lots } = toy.traded;
          waiting = `mm-7-t${n}`;
          const [side, price] = lots > 0 ? (['sell', toy.bids[0]![0]] as const) : (['buy', toy.asks[0]![0]] as const);
          ask(toy, side, price, Math.ceil(one.share * Math.abs(lots)), 3_000, waiting);
        }
        const worst = { buy: 0, sell: 0, mxn: 0 };
        for (const { side, price, amount, filled } of toy.live) {
          worst[side] += amount - filled;
          if (side === 'buy') worst.mxn += price * (amount - filled);
        }
        const { lots: position, paid } = toy.traded;
        expect(Math.max(position + worst.buy, worst.sell - position)).toBeLessThanOrEqual(positionMax);
        expect(worst.sell).toBeLessThanOrEqual(coins + position);
        expect(worst.mxn).toBeLessThanOrEqual(1_000 * coins - paid);
      });
    }),
    runsOf(2_000, 25),
  );
  // About 29 in the 25 histories of npm test; ten or fewer in one of some hundred runs.
  expect(takenInAll).toBeGreaterThan(0);
});

describe('a request for such an order', () => {
  const NOW = 1_700_000_000_000;
  const request = { id: ID, side: 'sell' as const, price: 990 as Price, amount: 20 as Amount, until: NOW };
  const made = () => {
    const refused: [string, string][] = [];
    return { order: new TakerOrder((...of) => refused.push(of)), refused };
  };

  test('is due until its time has come, ends once, and there is one at a time', () => {
    const { order, refused } = made();
    expect(order.due(NOW)).toBeNull();
    order.refuse('halted');
    expect(() => order.sent()).toThrow('there is no taker order to send');
    order.request(request);
    expect(() => order.request({ ...request, id: 'mm-7-t2' })).toThrow('mm-7-t2 was requested while mm-7-t1 waits');
    const command = { kind: 'place', id: ID, side: 'sell', price: 990, amount: 20, takes: true };
    expect(order.due(NOW - 1)).toEqual(command);
    expect(order.due(NOW)).toBeNull();
    expect(order.due(NOW - 1)).toBeNull();
    order.request(request);
    order.sent();
    expect(order.due(NOW - 1)).toBeNull();
    order.request(request);
    order.refuse('halted');
    order.refuse('halted');
    expect(refused).toEqual([
      [ID, 'too late'],
      [ID, 'halted'],
    ]);
    expect(order.due(NOW - 1)).toBeNull();
  });

  test('blocks every quote that it would trade with, and in reduce-only those of its own side; everything else stays as it is', () => {
    const sides = ['buy', 'sell'] as const;
    for (const side of sides)
      for (const reduceOnly of [false, true]) {
        const { order } = made();
        const levels = sides.flatMap(of => [989, 990, 991].map(price => ({ side: of, price }))) as never[];
        const orders = sides.flatMap(of => [989, 990, 991].map(price => ({ order: { side: of, price } }))) as never[];
        const plan = { place: levels, wait: orders, keep: orders, cancel: [{ order: 'earlier' }] as never[] };
        expect(order.levelsAllowedWith(levels, reduceOnly)).toEqual(levels);
        expect(order.cancelBlockingOrders(plan, reduceOnly)).toEqual(plan);
        order.request({ ...request, side });
        // A sale at 990 meets our bids of 990 and above, a purchase our offers of 990 and below.
        const meets = side === 'sell' ? ['buy 990', 'buy 991'] : ['sell 989', 'sell 990'];
        const same = [989, 990, 991].map(price => `${side} ${price}`);
        const blocked = new Set(reduceOnly ? [...meets, ...same] : meets);
        const isBlocked = (quote: { side: Side; price: number }) => blocked.has(`${quote.side} ${quote.price}`);
        expect(order.levelsAllowedWith(levels, reduceOnly)).toEqual(levels.filter(level => !isBlocked(level)));
        const after = order.cancelBlockingOrders(plan, reduceOnly);
        type Kept = { order: { side: Side; price: number } };
        expect(after).toEqual({
          ...plan,
          keep: (orders as Kept[]).filter(kept => !isBlocked(kept.order)),
          cancel: [
            { order: 'earlier' },
            ...(orders as Kept[])
              .filter(kept => isBlocked(kept.order))
              .map(kept => ({ ...kept, reason: 'level not wanted' })),
          ],
        });
      }
  });
});

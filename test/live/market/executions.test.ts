/** Executions of a followed market: whose order each filled, since when it may have happened, and which belong together. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  amount,
  instrumentOf,
  price,
  textOfAmount,
  textOfPrice,
  type PublicTrade,
  type StreamTrade,
} from '../../../src/core/index.ts';
import { levelModel } from '../../../src/fills/index.ts';
import { Executions } from '../../../src/live/market/executions.ts';
import { FollowedMarket } from '../../../src/sandbox/index.ts';
import { bookRules } from '../../core/market.ts';
import { arena } from '../../sandbox/trader.ts';

const BOOK = 'btc_mxn';
const [NEAR, FAR] = [price(150_003), price(150_005)];
const LOTS = amount(100_000);

/** Two asks of the bot with nothing ahead of them, and a buyer who took the nearer one and went on. */
function filledBy(takers: readonly [string, string]) {
  const { exchange, ann } = arena();
  const place = exchange.marketplace(BOOK);
  const { instrument } = place;
  const oids = [NEAR, FAR].map(ticks =>
    ann.limit(BOOK, 'sell', textOfPrice(instrument, ticks), textOfAmount(instrument, LOTS), {
      time_in_force: 'postonly',
    }),
  );
  const sink = new FollowedMarket(place, levelModel('pessimistic'));
  const executions = new Executions({ instrument, sink, bornOf: () => null });
  [NEAR, FAR].forEach((ticks, i) => {
    const trade: PublicTrade & { makerOid: string; takerOid: string } = {
      book: BOOK,
      tid: String(i + 1),
      createdAt: 1_800_000_000_000,
      price: textOfPrice(instrument, ticks),
      amount: textOfAmount(instrument, LOTS),
      makerSide: 'sell',
      makerOid: `maker-${i}`,
      takerOid: takers[i]!,
    };
    executions.trade(trade, 'live');
  });
  return oids.map(oid => exchange.venue.find(oid)!.filled);
}

test('the lots that a taker would have left at a better price do not fill a worse order of the bot again', () => {
  expect(filledBy(['one', 'one'])).toEqual([LOTS, 0]);
  expect(filledBy(['one', 'another'])).toEqual([LOTS, LOTS]);
});

const op = fc.oneof(
  fc.record({ what: fc.constantFrom('confirm', 'opened', 'closed') }),
  fc.record({
    what: fc.constant('trade'),
    way: fc.constantFrom('live', 'early', 'page'),
    /** An order of the book, one that the book no longer has, or none told. */
    maker: fc.constantFrom('a', 'b', 'gone', null),
    taker: fc.constantFrom('t1', 't2', null),
    second: fc.integer({ min: 1, max: 2 }),
    price: fc.constantFrom('100', '101', '0.2'),
    makerSide: fc.constantFrom('buy', 'sell'),
  }),
);

test('a live execution names the arrival of the order that it filled, 0 if the book no longer has it; any other has the last time up to which all were told', () => {
  fc.assert(
    fc.property(fc.array(op, { minLength: 2, maxLength: 15 }), ops => {
      const born: Readonly<Record<string, number>> = { a: 4, b: 9 };
      const told: unknown[] = [];
      let serial = 0;
      const executions = new Executions({
        instrument: instrumentOf(bookRules({ tickSize: '1' })),
        sink: { mark: () => ++serial, trade: (...all) => void told.push(all) },
        bornOf: oid => born[oid] ?? null,
      });
      const expected: unknown[] = [];
      let [mark, opened, takerNumber, last]: [number, number, number, string | number] = [0, 0, 0, ''];
      for (const [n, each] of ops.entries()) {
        if (each.what === 'confirm') executions.confirm();
        if (each.what === 'opened') executions.opened();
        if (each.what === 'closed') executions.closed();
        if (each.what === 'confirm') mark = serial;
        if (each.what === 'opened') opened = serial;
        if (each.what === 'closed') mark = opened;
        if (!('way' in each)) continue;
        const { way, maker, taker, second, price, makerSide } = each;
        const ids = { ...(maker === null ? {} : { makerOid: maker }), ...(taker === null ? {} : { takerOid: taker }) };
        const trade: StreamTrade = {
          ...{ book: 'btc_mxn', tid: String(n), createdAt: second, price, amount: '1', makerSide },
          ...ids,
        };
        executions.trade(trade, way);
        if ((taker ?? second) !== last) takerNumber++;
        last = taker ?? second;
        // A price below one tick is none.
        if (price === '0.2') continue;
        const when = way === 'live' && maker !== null ? { maker: born[maker] ?? 0 } : { mark };
        const side = makerSide === 'buy' ? 'sell' : 'buy';
        expected.push([side, Number(price), expect.any(Number), { takerNumber, ...when }]);
      }
      expect(told).toEqual(expected);
    }),
    { numRuns: 100 },
  );
});

import { expect, test } from 'vitest';
import { amount, price, textOfAmount, textOfPrice, type PublicTrade } from '../../../src/core/index.ts';
import { levelModel } from '../../../src/fills/index.ts';
import { Executions } from '../../../src/live/market/executions.ts';
import { FollowedMarket } from '../../../src/sandbox/index.ts';
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

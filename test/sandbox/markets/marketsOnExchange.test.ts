import { describe, expect, it } from 'vitest';
import { VirtualClock, amount, price, randomOf } from '../../../src/core/index.ts';
import { BOOKS } from '../../../src/sandbox/venue/books.ts';
import { createVenue } from '../../../src/sandbox/exchange.ts';
import { seededFlow } from '../../../src/sandbox/markets/flow.ts';
import { FLOW_PROFILES } from '../../../src/sandbox/markets/flowProfile.ts';
import type { FollowedPlace, Market } from '../../../src/sandbox/markets/market.ts';
import { tapeMarket } from '../../../src/sandbox/markets/recordedMarket.ts';
import { SIDE, TapeBuilder, finishTape, openTape } from '../../../src/tape/index.ts';
import { itOnRecording } from '../../tape/folder.ts';
import { ReferenceMarketplace } from './referenceMarketplace.ts';

/** What a market did on a marketplace in this time: every house execution, and the best prices after each timer. */
function doings(market: Market, clock: VirtualClock, place: FollowedPlace, seconds: number): string[] {
  const seen: string[] = [];
  place.onSyntheticFill((_id, side, at, lots, maker) =>
    seen.push(`${side} ${lots} at ${at} ${maker ? 'made' : 'taken'}`),
  );
  market.start(place);
  while ((clock.nextDue() ?? Infinity) <= seconds * 1000) {
    clock.runNext();
    seen.push(`${place.bestBid()} ${place.bestAsk()} ${place.amountAt('buy', place.bestBid())}`);
  }
  market.stop();
  return seen;
}

const onExchange = (marketOf: () => Market, book: string, seconds: number, tape?: Parameters<typeof tapeMarket>[0]) => {
  const clock = new VirtualClock();
  const exchange = createVenue({ clock, ...(tape ? { books: [tape.rules] } : {}) });
  return { seen: doings(marketOf(), clock, exchange.marketplace(book), seconds), exchange };
};

describe('on the embedded exchange', () => {
  it.each(BOOKS.map(rules => [rules.book]))('the flow of %s does what it does on a naive one', book => {
    const marketOf = () => seededFlow({ seed: 9, profile: FLOW_PROFILES[book]! });
    const { seen, exchange } = onExchange(marketOf, book, 900);
    const clock = new VirtualClock();
    const { instrument } = exchange.marketplace(book);
    const reference = new ReferenceMarketplace(instrument, clock, randomOf(1));
    expect(seen).toEqual(doings(marketOf(), clock, reference, 900));
    expect(seen.length).toBeGreaterThan(1000);
  });

  it('a tape with every kind of change of a level does what it does on a naive one', () => {
    const random = randomOf(3);
    const builder = new TapeBuilder();
    for (let i = 0; i < 3000; i++) {
      const at = Math.floor(i / 3) * 50;
      const buy = random.next() < 0.5;
      const near = random.integer(1, 5);
      if (i > 20 && random.next() < 0.3) {
        builder.trade(
          at,
          at,
          buy ? SIDE.buy : SIDE.sell,
          price(buy ? 1000 + near : 1000 - near),
          amount(random.integer(1, 50)),
        );
      } else {
        const level = price(buy ? 1000 - near : 1000 + near);
        builder.level(at, at, buy ? SIDE.buy : SIDE.sell, level, amount(random.integer(0, 40)));
      }
    }
    const tape = finishTape({ source: 'made', book: 'eth_usd', tick: '0.01', columns: builder.columns(), depth: 5 });
    const marketOf = () => tapeMarket(tape, { loop: true });
    const clock = new VirtualClock();
    const reference = new ReferenceMarketplace(tape.instrument, clock, randomOf(1));
    const { seen } = onExchange(marketOf, 'eth_usd', 120, tape);
    expect(seen).toEqual(doings(marketOf(), clock, reference, 120));
  });

  itOnRecording(
    'bitstamp-btcusd-2015-05-01-book-orders-trades',
    'a real recording does what it does on a naive one',
    async dir => {
      const tape = await openTape(dir);
      const marketOf = () => tapeMarket(tape, { loop: true });
      const clock = new VirtualClock();
      const reference = new ReferenceMarketplace(tape.instrument, clock, randomOf(1));
      const { seen } = onExchange(marketOf, 'btc_usd', 1200, tape);
      expect(seen).toEqual(doings(marketOf(), clock, reference, 1200));
    },
  );
});

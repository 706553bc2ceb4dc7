import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  amount,
  L3Book,
  price,
  textOfAmount,
  textOfPrice,
  type OrderChange,
  type Price,
  type Side,
} from '../../../src/core/index.ts';
import { levelModel } from '../../../src/fills/index.ts';
import { FollowedMarket, type BookEvent, type EmbeddedExchange } from '../../../src/sandbox/index.ts';
import { arena } from '../trader.ts';

const BOOK = 'btc_mxn';
const BASE = 150_000;
const UNIT = 10_000;

/** Bids lie at 0 to 2, asks at 3 to 5; far behind them is enough for every taker. */
type Step =
  | { readonly act: 'rest'; readonly side: Side; readonly depth: number; readonly lots: number }
  | { readonly act: 'take'; readonly side: Side; readonly lots: number }
  | { readonly act: 'cancel' | 'reduce'; readonly which: number }
  | { readonly act: 'ours'; readonly side: Side; readonly depth: number; readonly lots: number };

const side = fc.constantFrom<Side>('buy', 'sell');
const lots = fc.integer({ min: 1, max: 9 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ act: fc.constant('rest' as const), side, depth: fc.nat(2), lots }) },
  {
    weight: 3,
    arbitrary: fc.record({ act: fc.constant('take' as const), side, lots: fc.integer({ min: 1, max: 25 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ act: fc.constantFrom('cancel' as const, 'reduce' as const), which: fc.nat(30) }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('ours' as const), side, depth: fc.nat(2), lots }) },
);
const scripts = fc.array(step, { minLength: 20, maxLength: 70, size: 'max' });
const priceOf = (of: Side, depth: number): Price => price(of === 'buy' ? BASE + 2 - depth : BASE + 3 + depth);

/** Plays everybody else's part of a script. */
function others(exchange: EmbeddedExchange) {
  const house = exchange.marketplace(BOOK);
  house.place('buy', price(BASE - 50), amount(10 ** 9), 'GTC');
  house.place('sell', price(BASE + 50), amount(10 ** 9), 'GTC');
  const ids: number[] = [];
  return (each: Step) => {
    if (each.act === 'rest') {
      ids.push(house.place(each.side, priceOf(each.side, each.depth), amount(each.lots * UNIT), 'GTC').id);
    } else if (each.act === 'take') {
      const limit = price(each.side === 'buy' ? BASE + 60 : BASE - 60);
      house.place(each.side, limit, amount(each.lots * UNIT), 'IOC');
    } else if (each.act !== 'ours') {
      const id = ids[each.which];
      if (id !== undefined && each.act === 'cancel') house.cancel(id);
      if (id !== undefined && each.act === 'reduce') house.reduce(id, amount(UNIT));
    }
  };
}

function ours() {
  const { exchange, ann } = arena({ selfTrade: 'allow' });
  const { instrument } = exchange.marketplace(BOOK);
  const oids: string[] = [];
  return {
    exchange,
    place: ({ side: of, depth, lots: n }: Extract<Step, { act: 'ours' }>) => {
      const text = textOfAmount(instrument, amount(n * UNIT));
      oids.push(ann.limit(BOOK, of, textOfPrice(instrument, priceOf(of, depth)), text, { time_in_force: 'postonly' }));
    },
    filled: () => oids.map(oid => exchange.venue.find(oid)!.filled as number),
  };
}

/** Our orders stand among the others. */
function really(steps: readonly Step[]): number[][] {
  const mine = ours();
  const play = others(mine.exchange);
  return steps.map(each => {
    if (each.act === 'ours') mine.place(each);
    play(each);
    return mine.filled();
  });
}

/** Our orders stand on paper, beside a market that has none of them. */
function onPaper(steps: readonly Step[]): number[][] {
  const followed = arena().exchange;
  const mine = ours();
  const paper = mine.exchange.marketplace(BOOK);
  const feed: L3Book = new L3Book({
    instrument: paper.instrument,
    book: { set: (of, at, n) => market.set(of, at, n), clear: () => market.clear() },
    pending: () => [],
  });
  const market: FollowedMarket = new FollowedMarket(paper, levelModel('expected'), {
    arrivals: () => feed.arrivals,
    lotsUpTo: (of, at, arrival) => feed.lotsUpTo(of, at, arrival),
  });
  const book = followed.venue.books.get(BOOK)!;
  feed.seed({ book: BOOK, sequence: BigInt(book.engine.sequence), updatedAt: 0, bids: [], asks: [] });
  feed.show();
  market.flush();
  let takers = 0;
  followed.venue.onBookEvent(event => {
    takers++;
    for (const { takerSide, price: at, amount: n, makerOid } of event.trades) {
      market.trade(takerSide, at, n, { takerNumber: takers, maker: feed.arrivalOf(makerOid) ?? 0 });
    }
    feed.take({
      book: BOOK,
      sequence: BigInt(event.sequence),
      changes: event.changes.map(change => told(event, change)),
    });
    market.flush();
  });
  const play = others(followed);
  return steps.map(each => {
    if (each.act === 'ours') mine.place(each);
    play(each);
    return mine.filled();
  });
}

function told({ instrument }: BookEvent, change: BookEvent['changes'][number]): OrderChange {
  const { oid, side: of, status } = change;
  if (status !== 'open') return { kind: 'gone', oid, filled: status === 'completed' };
  const [at, left] = [textOfPrice(instrument, change.price), textOfAmount(instrument, change.left)];
  return { kind: 'open', oid, side: of, price: at, amount: left };
}

/** Leaves the first order of ours on each side. */
function oneASide(steps: readonly Step[]): Step[] {
  const there = new Set<Side>();
  return steps.filter(each => each.act !== 'ours' || (!there.has(each.side) && there.add(each.side)));
}

test('where single orders are told, an order on paper is filled as it would have been among them, lot by lot', () => {
  let fills = 0;
  fc.assert(
    fc.property(scripts, script => {
      const steps = oneASide(script);
      const truth = really(steps);
      expect(onPaper(steps)).toEqual(truth);
      fills += truth.at(-1)!.filter(n => n > 0).length;
    }),
    { numRuns: 60 },
  );
  expect(fills).toBeGreaterThan(15);
});

test('several orders share the first taker that reaches them as they would have', () => {
  fc.assert(
    fc.property(scripts, steps => {
      const truth = really(steps);
      const first = truth.findIndex(filled => filled.some(n => n > 0)) + 1;
      expect(onPaper(steps.slice(0, first))).toEqual(truth.slice(0, first));
    }),
    { numRuns: 60 },
  );
});

/**
 * Tape of the embedded exchange's seeded market, recorded in memory and in virtual time, for backtests without a
 * recording.
 */
import { VirtualClock, type BookRules, type Millis } from '../../src/core/index.ts';
import { createVenue, FLOW_PROFILES, simulatedMarket, type MarketModel } from '../../src/sandbox/index.ts';
import { finishTape, sideCodeOf, TapeBuilder, type Tape } from '../../src/tape/index.ts';

const NAMES: Readonly<Record<MarketModel['kind'], string>> = { flow: 'seeded flow', lifelike: 'lifelike market' };

/**
 * Records a tape of the simulated market `model`. `onShare` receives the share that is recorded, from 0 to 1. Throws a
 * RangeError if the embedded exchange has no flow for the book.
 */
export function recordFlow(
  book: string,
  seed: number,
  seconds: number,
  driftBpsPerHour = 0,
  onShare: (share: number) => void = () => undefined,
  model: MarketModel = { kind: 'flow' },
): Tape {
  const profile = FLOW_PROFILES[book];
  if (!profile) {
    throw new RangeError(
      `the embedded exchange has no synthetic order flow for ${book}; expected one of ${Object.keys(FLOW_PROFILES).join(', ')}`,
    );
  }
  const clock = new VirtualClock();
  const venue = createVenue({ clock, seed });
  const market = simulatedMarket(model, { seed, profile, driftBpsPerHour });
  const place = venue.marketplace(book);
  const tape = new TapeBuilder();
  const level = (side: 'buy' | 'sell', price: Parameters<typeof place.amountAt>[1], at: Millis): void =>
    tape.level(at, at, sideCodeOf(side), price, place.amountAt(side, price));
  venue.venue.onBookEvent(event => {
    if (event.book !== book) return;
    const at = clock.now();
    for (const { takerSide, price, amount, tid } of event.trades) {
      tape.trade(at, at, sideCodeOf(takerSide), price, amount, tid);
    }
    for (const { side, price } of event.changes) level(side, price, at);
  });
  market.start(place);
  for (let n = 0; (clock.nextDue() ?? Infinity) <= seconds * 1000; n++) {
    if ((n & 1023) === 0) onShare(clock.elapsed() / (seconds * 1000));
    clock.runNext();
  }
  market.stop();
  venue.close();
  const rules: BookRules | undefined = venue.venue.books.get(book)?.rules;
  if (!rules) throw new RangeError(`the embedded exchange does not list the book ${book}`);
  const finished = finishTape({
    source: `${NAMES[model.kind]} of ${book}, seed ${seed}, ${seconds} s${driftBpsPerHour === 0 ? '' : `, drift ${driftBpsPerHour} bps per hour`}`,
    book,
    tick: rules.tickSize,
    columns: tape.columns(),
    depth: Infinity,
  });
  return { ...finished, rules, instrument: place.instrument };
}

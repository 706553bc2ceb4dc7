/**
 * Arbitrageur among the books of the embedded exchange: takes from three books around a cycle when their best prices
 * disagree by more than the costs.
 */
import {
  cyclesOf,
  exponential,
  opposite,
  randomOf,
  type Amount,
  type Clock,
  type Leg,
  type Millis,
  type Price,
  type Random,
  type Side,
  type Timer,
} from '../../core/index.ts';
import { saltedSeed } from './hiddenPrices.ts';
import type { Marketplace } from './market.ts';

export type ArbitrageurOptions = {
  readonly seed: number;
  /** Cost of each trade, in bps of what the trade receives. */
  readonly costBps: number;
  /** Mean time between two looks at the prices, in ms. */
  readonly everyMs: Millis;
};

/** Counts of an arbitrageur so far. */
export type ArbitrageCounts = {
  /** Number of looks at the prices. */
  readonly looks: number;
  /** Number of cycles traded. */
  readonly cycles: number;
};

/** Maximum number of cycles that one look trades. */
const CYCLES_AT_ONCE = 1_000;

/** Best price of a book, as one leg of a cycle can trade it. */
type Offer = {
  readonly place: Marketplace;
  readonly side: Side;
  readonly price: Price;
  /** Lots at this price, at most those of one order. */
  readonly lots: number;
  /** Amount received for one unit of what is paid, after costs. */
  readonly rate: number;
  /** Amount paid for one lot, in the currency that is paid. */
  readonly paidPerLot: number;
};

/** One trade of a cycle. */
type Trade = Pick<Offer, 'place' | 'side' | 'price' | 'lots'>;

/**
 * Returns an arbitrageur among the books of `places`, by name. Its orders need no funds, and all three trades of a cycle
 * happen at one time. What the lots of a book leave over is ignored.
 */
export function arbitrageur(
  places: ReadonlyMap<string, Marketplace>,
  options: ArbitrageurOptions,
): { start(): void; stop(): void; counts(): ArbitrageCounts } {
  return new Arbitrageur(places, options);
}

class Arbitrageur {
  readonly #places: ReadonlyMap<string, Marketplace>;
  readonly #cycles: readonly (readonly Leg[])[];
  readonly #keptShare: number;
  readonly #everyMs: Millis;
  readonly #random: Random;
  #timer: Timer | undefined;
  #stopped = false;
  #counts = { looks: 0, cycles: 0 };

  constructor(places: ReadonlyMap<string, Marketplace>, { seed, costBps, everyMs }: ArbitrageurOptions) {
    this.#places = places;
    this.#cycles = cyclesOf([...places.keys()]);
    this.#keptShare = 1 - costBps / 1e4;
    this.#everyMs = everyMs;
    this.#random = randomOf(saltedSeed(seed, 'arbitrageur'));
  }

  start(): void {
    const [place] = this.#places.values();
    if (place !== undefined) this.#sleep(place.clock);
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.stop();
  }

  counts(): ArbitrageCounts {
    return { ...this.#counts };
  }

  #sleep(clock: Clock): void {
    this.#timer = clock.after(exponential(this.#random, this.#everyMs), () => {
      this.#look();
      if (!this.#stopped) this.#sleep(clock);
    });
  }

  /** Trades the best cycle, until no cycle gains or `CYCLES_AT_ONCE` cycles are traded. */
  #look(): void {
    this.#counts.looks++;
    for (let traded = 0; traded < CYCLES_AT_ONCE; traded++) {
      const trades = this.#bestCycle();
      if (trades === null) return;
      for (const { place, side, price, lots } of trades) place.place(side, price, lots as Amount, 'IOC');
      this.#counts.cycles++;
    }
  }

  /**
   * Returns the trades of the cycle with the largest gain in percent; `null` if no cycle gains with at least one lot of
   * each book.
   */
  #bestCycle(): readonly Trade[] | null {
    let best: readonly Trade[] | null = null;
    let most = 1;
    for (const cycle of this.#cycles) {
      const offers = this.#offersOf(cycle);
      const rate = offers?.reduce((product, offer) => product * offer.rate, 1) ?? 0;
      const trades = offers !== null && rate > most ? tradesOf(offers) : null;
      if (trades !== null) [best, most] = [trades, rate];
    }
    return best;
  }

  /** Returns the offer of each leg; `null` if a book has no order on the needed side. */
  #offersOf(cycle: readonly Leg[]): readonly Offer[] | null {
    const offers: Offer[] = [];
    for (const { book, divides } of cycle) {
      const place = this.#places.get(book)!;
      const side = divides ? 'buy' : 'sell';
      const price = divides ? place.bestAsk() : place.bestBid();
      if (price <= 0) return null;
      const { instrument } = place;
      const quoted = price * Number(instrument.tick);
      const lot = Number(instrument.lot);
      offers.push({
        ...{ place, side, price },
        lots: Math.min(place.amountAt(opposite(side), price), instrument.amountMax),
        rate: (divides ? 1 / quoted : quoted) * this.#keptShare,
        paidPerLot: divides ? lot * quoted : lot,
      });
    }
    return offers;
  }
}

/**
 * Returns the trades of a cycle with the largest amount that all of its best prices have; `null` if this amount is below
 * one lot of a book.
 */
function tradesOf(offers: readonly Offer[]): readonly Trade[] | null {
  // Amounts that the legs pay, for one unit of the first currency.
  const paid: number[] = [];
  let perFirst = 1;
  for (const { rate } of offers) {
    paid.push(perFirst);
    perFirst *= rate;
  }
  const first = Math.min(...offers.map(({ lots, paidPerLot }, i) => (lots * paidPerLot) / paid[i]!));
  const trades = offers.map(({ place, side, price, lots, paidPerLot }, i) => ({
    ...{ place, side, price },
    // The book that limits the amount trades all of its lots, although the quotient may be slightly below that number.
    lots: Math.min(lots, Math.floor((first * paid[i]!) / paidPerLot + 1e-3)),
  }));
  return trades.some(({ lots }) => lots < 1) ? null : trades;
}

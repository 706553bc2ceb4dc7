/** Two linked markets as recordings, with a planted lead and a planted edge. */
import { amount, exponential, normal, price, randomOf, type Random } from '../../../src/core/index.ts';
import { finishTape, SIDE, TapeBuilder, type SideCode, type Tape } from '../../../src/tape/index.ts';
import { tapeRules } from '../../../src/tape/model/tapeRules.ts';

export type PlantedPair = {
  /** Delay of the quoted market behind the hedge market, in whole seconds. */
  readonly leadS: number;
  /** Half of the quoted spread, in bps; takers trade at it and beyond. */
  readonly halfSpreadBps: number;
  /** Mean reach of a taker beyond the best price, in bps. */
  readonly reachBps: number;
  /** Takers of both sides per minute. */
  readonly perMinute: number;
  /** Move of the hedge price with a taker, at once and for good, as a part of the taker's distance from the mid price. */
  readonly informed: number;
};

/** The quoted market follows two seconds later, and its takers pay ten bps to anyone. */
export const PAYING: PlantedPair = { leadS: 2, halfSpreadBps: 10, reachBps: 3, perMinute: 8, informed: 0 };
/** Takers know the next move of the hedge price, which is more than they pay. */
export const LOSING: PlantedPair = { leadS: 0, halfSpreadBps: 10, reachBps: 3, perMinute: 8, informed: 1.3 };

/** Price in ticks of a hundredth of a bps. */
const START = 1_000_000;
const TICKS_PER_BPS = 100;
const VOLATILITY_BPS = 1;
const HEDGE_HALF_SPREAD = 50;

/** Random numbers of a seed. The first numbers of neighboring seeds are alike, so they are skipped. */
export function mixedRandom(seed: number): Random {
  const random = randomOf(seed);
  for (let i = 0; i < 50; i++) random.next();
  return random;
}

/**
 * Draws both recordings, from the time 0. The hedge price moves by 1 bps per root second. The quoted price is the hedge
 * price of `leadS` before, times a basis that drifts by 5 bps per hour, plus a mispricing of 2 bps that returns within a
 * minute. The quoted book has a tick ten times as large.
 */
export function plantedPair(seed: number, hours: number, truth: PlantedPair): { quoted: Tape; hedge: Tape } {
  const random = mixedRandom(seed);
  const [quoted, hedge] = [new Side(10), new Side(1)];
  const path = [START];
  let [basis, away] = [0, 0];
  const keep = Math.exp(-1 / 60);
  for (let second = 1; second <= hours * 3_600; second++) {
    let there = path[second - 1]! + TICKS_PER_BPS * VOLATILITY_BPS * normal(random);
    basis += (5 / 60) * normal(random);
    away = keep * away + 2 * Math.sqrt(1 - keep * keep) * normal(random);
    const followed = path[Math.max(0, second - truth.leadS)] ?? there;
    const at = 1_000 * second;
    const here = (truth.leadS === 0 ? there : followed) + TICKS_PER_BPS * (basis + away);
    hedge.touch(at, there, HEDGE_HALF_SPREAD);
    quoted.touch(at, here, TICKS_PER_BPS * truth.halfSpreadBps);
    if (random.next() < truth.perMinute / 60) {
      const sign = random.next() < 0.5 ? 1 : -1;
      const reach = truth.halfSpreadBps + exponential(random, truth.reachBps);
      const tradedAt = at + 300 + Math.floor(400 * random.next());
      quoted.trade(tradedAt, here + sign * TICKS_PER_BPS * reach, sign > 0 ? SIDE.buy : SIDE.sell);
      there += sign * TICKS_PER_BPS * truth.informed * reach;
      if (truth.informed > 0) hedge.touch(tradedAt + 1, there, HEDGE_HALF_SPREAD);
    }
    path.push(there);
  }
  return { quoted: quoted.tape('quoted', 'btc_mxn', '0.1'), hedge: hedge.tape('hedge', 'btc_mxn', '0.01') };
}

/** Last prices of two markets that have nothing in common, one row per second and market. */
export function independentPair(seed: number, hours: number): { quoted: Tape; hedge: Tape } {
  const random = mixedRandom(seed);
  const tapes = ['quoted', 'hedge'].map(name => {
    const builder = new TapeBuilder();
    let ticks = START;
    for (let second = 1; second <= hours * 3_600; second++) {
      ticks += TICKS_PER_BPS * VOLATILITY_BPS * normal(random);
      builder.trade(1_000 * second, 1_000 * second, SIDE.unknown, price(Math.round(ticks)), amount(1));
    }
    const grid = tapeRules('btc_mxn', '0.01');
    return { ...grid, source: name, columns: builder.columns(), gaps: [], flaws: [], depth: 0, quotesOnly: true };
  });
  return { quoted: tapes[0]!, hedge: tapes[1]! };
}

/** One market: its best prices with amounts, and trades. `coarse`: ticks of the path in one tick of the book. */
class Side {
  readonly #builder = new TapeBuilder();
  readonly #coarse: number;
  #laid: readonly number[] = [];

  constructor(coarse: number) {
    this.#coarse = coarse;
  }

  touch(at: number, mid: number, half: number): void {
    const next = [Math.floor((mid - half) / this.#coarse), Math.ceil((mid + half) / this.#coarse)];
    const sides: readonly SideCode[] = [SIDE.buy, SIDE.sell];
    sides.forEach((side, i) => {
      if (this.#laid[i] !== undefined && this.#laid[i] !== next[i])
        this.#builder.level(at, at, side, price(this.#laid[i]), amount(0));
    });
    sides.forEach((side, i) => {
      if (this.#laid[i] !== next[i]) this.#builder.level(at, at, side, price(next[i]!), amount(500_000));
    });
    this.#laid = next;
  }

  trade(at: number, ticks: number, side: SideCode): void {
    this.#builder.trade(at, at, side, price(Math.round(ticks / this.#coarse)), amount(100_000));
  }

  tape(source: string, book: string, tick: string): Tape {
    return finishTape({ source, book, tick, depth: 1, columns: this.#builder.columns() });
  }
}

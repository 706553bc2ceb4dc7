/** A market with known arrivals by distance and a planted move after each taker, so that the best distance is known by formula. */
import { amount, exponential, normal, price, randomOf } from '../../../src/core/index.ts';
import { finishTape, SIDE, TapeBuilder, type Tape } from '../../../src/tape/index.ts';

export type Planted = {
  /** Takers of one side a minute; how far they reach falls by this much per bps. */
  readonly perMinute: number;
  readonly decayPerBps: number;
  /** The middle moves with the taker for good: by `move` bps and this part of his reach. */
  readonly move: number;
  readonly moveOfReach: number;
  /** Of the middle besides, over an hour. */
  readonly volatilityBps: number;
  /** Share of the takers who buy; a half without it. */
  readonly buyers?: number;
  /** So many of the takers know more: after them the middle moves by so many bps more; none without it. */
  readonly informed?: { readonly share: number; readonly bps: number };
};

/**
 * A maker d away is met by exp(-k d) of the takers and keeps, of d, (1 - moveOfReach) d - move - moveOfReach / k: a taker who passes d goes 1/k farther on average.
 * That less the fee, times the arrivals, is largest at this distance.
 */
export const bestDistance = ({ decayPerBps: k, move, moveOfReach }: Planted, feeBps: number): number =>
  1 / k + (move + moveOfReach / k + feeBps) / (1 - moveOfReach);

/** What a maker keeps of distance d, in bps. */
export const keptAt = ({ decayPerBps: k, move, moveOfReach }: Planted, d: number): number =>
  (1 - moveOfReach) * d - move - moveOfReach / k;

const HALF_SPREAD = 50;

/** Ticks of a hundredth of a bps, a touch half a bps from the middle, and takers who go through every price up to their reach. */
export function plantedMarket(seed: number, hours: number, truth: Planted, mirror = false): Tape {
  const random = randomOf(seed);
  const tape = new TapeBuilder();
  const START = 1_000_000;
  const flip = (ticks: number): number => (mirror ? 2 * START - ticks : ticks);
  let mid = START;
  let laid: number[] = [];
  const lay = (at: number): void => {
    const touch = [Math.round(mid) - HALF_SPREAD, Math.round(mid) + HALF_SPREAD];
    if (touch[0] === laid[0]) return;
    const sides = mirror ? [SIDE.sell, SIDE.buy] : [SIDE.buy, SIDE.sell];
    laid.forEach((ticks, i) => tape.level(at, at, sides[i]!, price(flip(ticks)), amount(0)));
    touch.forEach((ticks, i) => tape.level(at, at, sides[i]!, price(flip(ticks)), amount(1_000)));
    laid = touch;
  };
  lay(0);
  let second = 1;
  for (let at = 0; at < hours * 3_600_000;) {
    at += exponential(random, 30_000 / truth.perMinute);
    for (; second * 1_000 <= at; second++) {
      mid += START * (truth.volatilityBps / 10_000 / 60) * normal(random);
      lay(second * 1_000);
    }
    const sign = random.next() < (truth.buyers ?? 0.5) ? 1 : -1;
    const reach = exponential(random, 1 / truth.decayPerBps);
    const ticks = Math.round(mid + sign * reach * 100);
    if (reach * 100 >= HALF_SPREAD) {
      const side = sign > 0 === !mirror ? SIDE.buy : SIDE.sell;
      tape.trade(at, at, side, price(flip(ticks)), amount(100_000));
    }
    const { share, bps } = truth.informed ?? { share: 0, bps: 0 };
    const more = share > 0 && random.next() < share ? bps : 0;
    mid += sign * (truth.move + more + truth.moveOfReach * reach) * 100;
    lay(at + 1);
  }
  return finishTape({ source: `planted ${seed}`, book: 'btc_mxn', tick: '1', depth: 1, columns: tape.columns() });
}

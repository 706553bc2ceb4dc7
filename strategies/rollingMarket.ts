/**
 * Market inputs of a model: volatility and arrivals, configured or estimated in a run. Volatility and distances are
 * shares of the price.
 */
import { z } from 'zod';
import {
  counted,
  EwmaVolatility,
  fitIntensity,
  IntensityMeter,
  type Intensity,
  type Price,
  type SeenTrade,
  type Side,
  type View,
} from '../src/core/index.ts';
import { FillCurve, type FillProfile } from './fillCurve.ts';
import { bps, duration, millisOf } from './parameters.ts';

/** Section `profile`: fills and adverse moves by distance, as measured by `puntas calibrate`. */
const profileParameters = z
  .strictObject({
    distancesBps: z
      .array(bps)
      .min(2)
      .max(50)
      .describe('Ascending distances from the fair value, up to the furthest quote.'),
    fillsPerMinute: z
      .array(z.number().gt(0).max(100_000))
      .max(50)
      .describe('Fills per minute and side at each distance.'),
    adverseBps: z
      .array(z.number().min(-5_000).max(5_000))
      .max(50)
      .describe('Adverse price move in the minute after a fill, for each distance.'),
  })
  .superRefine(({ distancesBps, fillsPerMinute, adverseBps }, context) => {
    const wrong = (key: string, message: string) => context.addIssue({ code: 'custom', path: [key], message });
    for (const [key, { length }] of Object.entries({ fillsPerMinute, adverseBps }))
      if (length !== distancesBps.length)
        wrong(key, `expected ${counted(distancesBps.length, 'number')}, as many as distancesBps; found ${length}`);
    const at = distancesBps.findIndex((d, i) => i > 0 && d <= distancesBps[i - 1]!);
    if (at > 0) wrong('distancesBps', `must ascend: ${distancesBps[at]} follows ${distancesBps[at - 1]}`);
  })
  .describe('Fills and adverse moves by distance, instead of A e^(-k d) and adverseBps.');

/** Section `market`, as written by `puntas calibrate`. */
export const marketParameters = z
  .strictObject({
    volatilityBps: z.number().gt(0).max(10_000).describe('Volatility per hour (sigma).'),
    arrivalsPerMinute: z
      .number()
      .gt(0)
      .max(100_000)
      .describe('Arriving trades per minute and side at the fair value (A).'),
    decayPerBps: z.number().gt(0).max(100).describe('Decay k of arrivals A e^(-k d) with distance d, per bps.'),
    adverseBps: bps.default(0).describe('Adverse price move after a fill (xi).'),
    profile: profileParameters.optional(),
    estimate: z
      .enum(['rolling', 'fixed'])
      .default('rolling')
      .describe('rolling: live volatility and arrival estimates start at these values. fixed: these values apply.'),
    memory: duration.default('30m').describe('Time constant of rolling estimates.'),
    withinFactor: z
      .number()
      .min(1)
      .max(100)
      .default(4)
      .describe('Maximum factor between an estimate and its configured value.'),
  })
  .describe('Market model, from puntas calibrate.');

export type MarketParameters = z.infer<typeof marketParameters>;

const SAMPLE_MS = 2_000;
const WINDOW_MS = 20_000;
/** Distances of virtual orders, in multiples of 1/k. Of all arrivals, 67% reach the nearest and 5% the farthest. */
const DISTANCES = [0.4, 0.8, 1.2, 1.6, 2, 2.5, 3];
/** Weight of the configured arrivals in a fit, as a share of the memory. */
const PRIOR_SHARE = 0.5;
/** Number of windows of 20 s between two fits of arrivals: five minutes in all. */
const REFIT_WINDOWS = 15;
/** Maximum change of an estimate per fit, as a natural logarithm: 0.2 is 22%. */
const REFIT_MAX = 0.2;
/** Minimum number of arrivals in the memory, at all distances together, for a fit to be used. */
const REACHED_MIN = 30;
/** Minimum change of the volatility that triggers new quotes, as a natural logarithm. */
const WORTH = 0.05;

/** Source of the arrival parameters A and k in use. */
export type ArrivalsFrom =
  'configured' | 'configured, too few arrivals' | 'held, fit failed' | 'held, no trades received' | 'followed';

export class RollingMarket {
  readonly #p: MarketParameters;
  readonly #start: { readonly sigma: number; readonly a: number; readonly k: number };
  readonly #volatility: EwmaVolatility;
  readonly #meter: IntensityMeter;
  readonly #profile: FillProfile | null;
  #sigma: number;
  #a: number;
  #k: number;
  #fit: Intensity | null = null;
  #windows = 0;
  #from: ArrivalsFrom = 'configured';

  constructor(p: MarketParameters) {
    this.#p = p;
    const memoryMs = millisOf(p.memory);
    this.#start = {
      sigma: p.volatilityBps / 10_000 / 60,
      a: p.arrivalsPerMinute / 60,
      k: p.decayPerBps * 10_000,
    };
    this.#profile = p.profile === undefined ? null : inShares(p.profile);
    this.#sigma = this.#start.sigma;
    this.#a = this.#start.a;
    this.#k = this.#start.k;
    this.#volatility = new EwmaVolatility({ startPerRootSecond: this.#sigma, memoryMs, sampleMs: SAMPLE_MS });
    this.#meter = new IntensityMeter({
      distances: DISTANCES.map(x => x / this.#k),
      windowMs: WINDOW_MS,
      memoryMs,
    });
  }

  /** Standard deviation per square root of a second, as a share of the price. */
  get sigma(): number {
    return this.#sigma;
  }

  /** Arrivals per second on one side, extrapolated to the fair value (distance 0). */
  get a(): number {
    return this.#a;
  }

  /** Decay of arrivals per unit of distance; the distance is a share of the price. */
  get k(): number {
    return this.#k;
  }

  /** Last fit of arrivals in this run; `null` before the first fit. */
  get fit(): Intensity | null {
    return this.#fit;
  }

  get arrivalsFrom(): ArrivalsFrom {
    return this.#from;
  }

  /**
   * Returns the curve of fills by distance after `fee`, a share of the price; `null` without a profile. The rates are
   * the rates of the profile, scaled by one factor. The factor is the ratio of estimated to configured arrivals, A
   * e^(-k d), at the best distance d.
   */
  curve(fee: number): FillCurve | null {
    if (this.#profile === null) return null;
    const { distance } = new FillCurve(this.#profile, fee).calm;
    const { a, k } = this.#start;
    const level = this.#within((this.#a / a) * Math.exp((k - this.#k) * distance), 1);
    return new FillCurve({ ...this.#profile, rates: this.#profile.rates.map(rate => rate * level) }, fee);
  }

  trade({ at, price, amount, side }: SeenTrade): void {
    if (this.#p.estimate === 'rolling') this.#meter.trade(at, price, amount, side);
  }

  /** Processes a view. Returns true if an estimate has changed enough to requote. */
  look(view: View, fair: number): boolean {
    if (this.#p.estimate === 'fixed') return false;
    return [this.#followVolatility(view, fair), this.#followArrivals(view, fair)].includes(true);
  }

  #followVolatility(view: View, fair: number): boolean {
    if (!this.#volatility.observe(view.at, fair)) return false;
    const now = this.#within(this.#volatility.perRootSecond, this.#start.sigma);
    if (!(Math.abs(Math.log(now / this.#sigma)) > WORTH)) return false;
    this.#sigma = now;
    return true;
  }

  #followArrivals(view: View, fair: number): boolean {
    if (!view.hearsTrades) {
      this.#meter.skip();
      return this.#name('held, no trades received');
    }
    if (!this.#meter.advanceTo(view.at, fair, (side, price) => displayed(view, side, price))) return false;
    if (++this.#windows % REFIT_WINDOWS !== 0) return false;
    const { a, k } = this.#start;
    const prior = { a, k, exposureS: (PRIOR_SHARE * millisOf(this.#p.memory)) / 1_000 };
    const fit = fitIntensity(this.#meter.cells('both'), prior);
    if (fit === null) return this.#name('held, fit failed');
    this.#fit = fit;
    const isEnough = fit.reached >= REACHED_MIN;
    this.#name(isEnough ? 'followed' : 'configured, too few arrivals');
    this.#a = this.#within(step(this.#a, isEnough ? fit.a : a), a);
    this.#k = this.#within(step(this.#k, isEnough ? fit.k : k), k);
    return true;
  }

  /** Sets the source of A and k; returns true if the source changed. */
  #name(from: ArrivalsFrom): boolean {
    if (from === this.#from) return false;
    this.#from = from;
    return true;
  }

  #within(value: number, start: number): number {
    return Math.max(start / this.#p.withinFactor, Math.min(start * this.#p.withinFactor, value));
  }
}

const inShares = ({ distancesBps, fillsPerMinute, adverseBps }: NonNullable<MarketParameters['profile']>) => ({
  distances: distancesBps.map(d => d / 10_000),
  rates: fillsPerMinute.map(fills => fills / 60),
  adverse: adverseBps.map(move => move / 10_000),
});

const step = (from: number, to: number): number => {
  const change = Math.log(to / from);
  return Math.abs(change) <= REFIT_MAX ? to : from * Math.exp(Math.sign(change) * REFIT_MAX);
};

function displayed({ depth }: View, side: Side, price: Price): number {
  const [prices, amounts, count] =
    side === 'buy' ? [depth.bidPrices, depth.bidAmounts, depth.bids] : [depth.askPrices, depth.askAmounts, depth.asks];
  for (let i = 0; i < count; i++) if (prices[i] === price) return amounts[i] ?? 0;
  return 0;
}

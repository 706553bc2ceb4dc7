/** How inventory leaves: what each way out costs now, against what carrying it costs, and the cheapest that is within its limits. */
import type { HedgeWay } from './hedgeRow.ts';
import type { Instrument } from '../model/instrument.ts';
import type { ConversionLeg } from '../ports/port.ts';
import { money, moneyOf } from '../model/units.ts';
import type { Millis, Money } from '../model/units.ts';

export type HedgeRules = {
  /** Inventory beyond the target, either way, that leaves as soon as it can; major currency. */
  readonly band: Money;
  /** What is left of it then. Below the band. */
  readonly residual: Money;
  /** The most that leaving may cost against the middle of the book, in basis points of what leaves. */
  readonly costMaxBps: number;
  /** What carrying inventory as large as the band costs in an hour, in basis points of its value; 0: only the band counts. */
  readonly carryBpsPerHour: number;
  /** How long quotes with their skew are expected to take to bring inventory of the band's size back, in ms. */
  readonly unwindMs: Millis;
  /** What keeping what should leave costs, in basis points of it, where the band follows from risk and flow; absent: by `carryBpsPerHour`. */
  readonly waitBps?: number;
  /** The most that hedges of one UTC day may cost, in the minor currency; absent: no such limit. */
  readonly costDayMax?: Money | undefined;
};

/** A way out with its price. */
export type PricedWay = {
  readonly way: HedgeWay;
  readonly give: ConversionLeg;
  readonly get: ConversionLeg;
  /** What it may cost beyond that price while it is carried out; minor currency. It is weighed with it. */
  readonly risk?: Money;
  /** What it can cost at most, when that is not its price with its risk: such a price is no firm one. */
  readonly most?: Money;
  /** It is priced for comparison only, and this is why. */
  readonly but?: string;
};

/** A way out, or why it is none. */
export type WayOut = PricedWay | { readonly way: HedgeWay; readonly not: string };

/** One line of the comparison. Costs in the minor currency, above zero when they are paid. */
export type Weighed = {
  readonly way: HedgeWay | 'wait';
  readonly cost: Money | null;
  readonly bps: number | null;
  /** Why it is not taken; null for the one that is. */
  readonly not: string | null;
};

export type HedgeDecision = {
  /** What should leave (above zero: sold) or come (below), in the major currency. */
  readonly amount: Money;
  readonly taken: HedgeWay | 'wait';
  /** The most that what is taken can cost; minor currency, never below zero. */
  readonly most: Money;
  readonly weighed: readonly Weighed[];
};

/** What should leave now: nothing while inventory is small; all beyond `residual` when it is past the band, or when carrying it is not free. */
export function toLeave(inventory: Money, { band, residual, carryBpsPerHour }: HedgeRules): Money {
  const size = inventory < 0n ? -inventory : inventory;
  const isLeaving = size > band || (carryBpsPerHour > 0 && size > residual);
  if (!isLeaving || size <= residual) return money(0n);
  return money(inventory > 0n ? size - residual : residual - size);
}

/**
 * What carrying `amount` until quotes bring it back is expected to cost, in the minor currency: the rate per hour at the band, times the
 * time that it takes, times how much of the band it is - twice, because more inventory is carried longer.
 */
export function carryCost(amount: Money, mid: Money, { band, carryBpsPerHour, unwindMs }: HedgeRules): Money {
  const size = amount < 0n ? -amount : amount;
  const value = (size * mid) / ONE;
  // An estimate: parts of a million are enough, and a float never meets a sum.
  const share = band > 0n ? (size * 1_000_000n) / band : 0n;
  const rate = BigInt(Math.round(((carryBpsPerHour * unwindMs) / HOUR_MS) * 1_000_000));
  return money((value * rate * share) / (10_000n * 1_000_000n * 1_000_000n));
}

/**
 * Weighs every way out of `amount` (as of `toLeave`). `middle` is the price of one major in the middle of the book; `dayLeft` what hedges may
 * still cost today, null without a limit; `left` names it where it is another limit.
 */
export function weigh(
  instrument: Instrument,
  amount: Money,
  inventory: Money,
  mid: Money,
  ways: readonly WayOut[],
  rules: HedgeRules,
  dayLeft: Money | null = null,
  left = 'today',
): HedgeDecision {
  const size = amount < 0n ? -amount : amount;
  const isPastBand = (inventory < 0n ? -inventory : inventory) > rules.band;
  const value = (size * mid) / ONE;
  const priced = ways.map(way =>
    'not' in way ? { way: way.way, cost: null, most: NONE, why: way.not } : pricedOf(way),
  );
  const waiting =
    rules.waitBps === undefined
      ? carryCost(amount, mid, rules)
      : money((value * BigInt(Math.round(rules.waitBps * 1e6))) / 10_000_000_000n);

  function pricedOf({ way, give, get, risk = NONE, most, but }: PricedWay) {
    const none = (why: string) => ({ way, cost: null, most: NONE, why });
    const sells = amount > 0n;
    const [from, to] = sells ? [instrument.major, instrument.minor] : [instrument.minor, instrument.major];
    if (give.currency !== from || get.currency !== to) return none('it is of other currencies');
    const [major, minor] = sells
      ? [moneyOf(give.amount), moneyOf(get.amount)]
      : [moneyOf(get.amount), moneyOf(give.amount)];
    if (major > size) return none('it is of more than was asked for');
    if (!(major > 0n)) return none('it is of nothing');
    const fair = (major * mid) / ONE;
    const cost = (sells ? fair - minor : minor - fair) + risk;
    // Of less than all: what stays is carried on. Compared for the whole, so that a small cheap part does not win by being small.
    const whole = money((cost * size) / major);
    const spends = positive(most ?? money(cost));
    const why =
      but ??
      (whole > costLimit(size, mid, rules) || spends > costLimit(major, mid, rules)
        ? `more than ${rules.costMaxBps} bps`
        : dayLeft !== null && spends > dayLeft
          ? `more than is left for ${left}`
          : null);
    return { way, cost: whole, most: spends, why };
  }

  const possible = priced.flatMap(({ way, cost, most, why }) =>
    cost !== null && why === null ? [{ way, cost, most }] : [],
  );
  const cheapest = possible.reduce<(typeof possible)[number] | null>(
    (a, b) => (a === null || b.cost < a.cost ? b : a),
    null,
  );
  const leaves = cheapest !== null && (isPastBand || cheapest.cost < waiting);
  const taken = leaves ? cheapest.way : 'wait';
  const bps = (cost: Money | null) =>
    cost === null || value === 0n ? null : Number((cost * 1_000_000n) / money(value)) / 100;
  return {
    amount,
    taken,
    most: leaves ? cheapest.most : NONE,
    weighed: [
      ...priced.map(({ way, cost, why }) => ({
        way,
        cost,
        bps: bps(cost),
        not: way === taken ? null : (why ?? (leaves ? 'another way costs less' : 'waiting costs less')),
      })),
      {
        way: 'wait' as const,
        cost: waiting,
        bps: bps(waiting),
        not: leaves ? (isPastBand ? 'inventory is past its band' : 'leaving costs less') : null,
      },
    ],
  };
}

/** The most that leaving may cost for so much of the major currency; minor currency, rounded down. */
export function costLimit(major: bigint, mid: Money, { costMaxBps }: HedgeRules): Money {
  return money((((major * mid) / ONE) * BigInt(Math.floor(costMaxBps * 100 + 1e-6))) / 1_000_000n);
}

const ONE = 10n ** 18n;
const HOUR_MS = 3_600_000;
const NONE = money(0n);
const positive = (sum: Money): Money => (sum > 0n ? sum : NONE);

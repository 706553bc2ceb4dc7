/** How inventory leaves: what each way out costs now, against what carrying it costs, and the cheapest that is within its limits. */
import type { Depth } from './book.ts';
import { moneyOfAmount, moneyOfValue, valueOf } from './instrument.ts';
import type { Instrument } from './instrument.ts';
import type { ConversionWay, ConversionLeg } from './port.ts';
import { money, moneyOf, textOfMoney } from './units.ts';
import type { Amount, Millis, Money, Price } from './units.ts';

export type HedgeRules = {
  /** Inventory beyond the target, either way, that leaves as soon as it can; major currency. */
  readonly band: Money;
  /** What is left of it then. Below the band. */
  readonly rest: Money;
  /** The most that leaving may cost against the middle of the book, in basis points of what leaves. */
  readonly costMaxBps: number;
  /** What carrying inventory as large as the band costs in an hour, in basis points of its value; 0: only the band counts. */
  readonly carryBpsPerHour: number;
  /** How long quotes with their skew are expected to take to bring inventory of the band's size back, in ms. */
  readonly unwindMs: Millis;
};

/** A way out with its firm price, or why it is none. */
export type WayOut =
  | { readonly way: ConversionWay | 'book'; readonly give: ConversionLeg; readonly get: ConversionLeg }
  | { readonly way: ConversionWay | 'book'; readonly not: string };

/** One line of the comparison. Costs in the minor currency, above zero when they are paid. */
export type Weighed = {
  readonly way: ConversionWay | 'book' | 'wait';
  readonly cost: Money | null;
  readonly bps: number | null;
  /** Why it is not taken; null for the one that is. */
  readonly not: string | null;
};

export type HedgeDecision = {
  /** What should leave (above zero: sold) or come (below), in the major currency. */
  readonly amount: Money;
  readonly taken: ConversionWay | 'wait';
  readonly weighed: readonly Weighed[];
};

/** What should leave now: nothing while inventory is small; all beyond `rest` when it is past the band, or when carrying it is not free. */
export function toLeave(inventory: Money, { band, rest, carryBpsPerHour }: HedgeRules): Money {
  const size = inventory < 0n ? -inventory : inventory;
  const isLeaving = size > band || (carryBpsPerHour > 0 && size > rest);
  if (!isLeaving || size <= rest) return money(0n);
  return money(inventory > 0n ? size - rest : rest - size);
}

/**
 * What carrying `amount` until quotes bring it back is expected to cost, in the minor currency: the rate per hour at the band, times the
 * time that it takes, times how much of the band it is - twice, because more inventory is carried longer.
 */
export function carryCost(amount: Money, middle: Money, { band, carryBpsPerHour, unwindMs }: HedgeRules): Money {
  const size = amount < 0n ? -amount : amount;
  const value = (size * middle) / ONE;
  // An estimate: parts of a million are enough, and a float never meets a sum.
  const share = band > 0n ? (size * 1_000_000n) / band : 0n;
  const rate = BigInt(Math.round(((carryBpsPerHour * unwindMs) / HOUR_MS) * 1_000_000));
  return money((value * rate * share) / (10_000n * 1_000_000n * 1_000_000n));
}

/** Weighs every way out of `amount` (as of `toLeave`). `middle` is the price of one major in the middle of the book. */
export function weigh(
  instrument: Instrument,
  amount: Money,
  inventory: Money,
  middle: Money,
  ways: readonly WayOut[],
  rules: HedgeRules,
): HedgeDecision {
  const size = amount < 0n ? -amount : amount;
  const isPastBand = (inventory < 0n ? -inventory : inventory) > rules.band;
  const value = (size * middle) / ONE;
  const costMax = (value * BigInt(Math.round(rules.costMaxBps * 100))) / 1_000_000n;
  const priced = ways.map(way => ('not' in way ? { way: way.way, cost: null, why: way.not } : pricedOf(way)));
  const waiting = carryCost(amount, middle, rules);

  function pricedOf({ way, give, get }: Extract<WayOut, { give: ConversionLeg }>) {
    const sells = amount > 0n;
    const [from, to] = sells ? [instrument.major, instrument.minor] : [instrument.minor, instrument.major];
    if (give.currency !== from || get.currency !== to) return { way, cost: null, why: 'it is of other currencies' };
    const [major, minor] = sells
      ? [moneyOf(give.amount), moneyOf(get.amount)]
      : [moneyOf(get.amount), moneyOf(give.amount)];
    if (major > size) return { way, cost: null, why: 'it is of more than was asked for' };
    if (major === 0n) return { way, cost: null, why: 'it is of nothing' };
    const fair = (major * middle) / ONE;
    const cost = money(sells ? fair - minor : minor - fair);
    // Of less than all: what stays is carried on. Compared for the whole, so that a small cheap part does not win by being small.
    const whole = money((cost * size) / major);
    if (way === 'book') return { way, cost: whole, why: 'orders of ours never take liquidity' };
    return { way, cost: whole, why: whole > costMax ? `more than ${rules.costMaxBps} bps` : null };
  }

  const possible = priced.flatMap(({ way, cost, why }) =>
    cost !== null && why === null && way !== 'book' ? [{ way, cost }] : [],
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

/** What taking the book's levels would give for `amount`, after the taker's fee on what is received (parts of 10^-8). */
export function throughBook(instrument: Instrument, depth: Depth, amount: Money, takerRate: number): WayOut {
  const sells = amount > 0n;
  const [prices, amounts, count] = sells
    ? [depth.bidPrices, depth.bidAmounts, depth.bids]
    : [depth.askPrices, depth.askAmounts, depth.asks];
  const fee = BigInt(Math.ceil(takerRate));
  const net = (sum: bigint) => sum - (sum * fee) / 100_000_000n;
  // Bought is what arrives: more must be bought, because the fee is taken from it.
  const wanted = sells ? amount : money((-amount * 100_000_000n) / (100_000_000n - fee));
  let left = wanted as bigint;
  let minor = 0n;
  for (let i = 0; i < count && left > 0n; i++) {
    const lots = amounts[i] as Amount;
    const level = moneyOfAmount(instrument, lots);
    const worth = moneyOfValue(instrument, valueOf(prices[i] as Price, lots));
    const taken = level < left ? level : left;
    minor += (worth * taken) / level;
    left -= taken;
  }
  if (left > 0n) return { way: 'book', not: 'the levels that are seen are not enough' };
  const [give, get] = sells ? [amount, net(minor)] : [minor, -amount];
  const [from, to] = sells ? [instrument.major, instrument.minor] : [instrument.minor, instrument.major];
  return {
    way: 'book',
    give: { currency: from, amount: textOfMoney(money(give)) },
    get: { currency: to, amount: textOfMoney(money(get)) },
  };
}

const ONE = 10n ** 18n;
const HOUR_MS = 3_600_000;

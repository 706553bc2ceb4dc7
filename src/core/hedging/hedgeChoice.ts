/**
 * Choice of a hedge: prices each route, compares the prices with the cost of carrying inventory, and chooses the
 * cheapest within limits.
 */
import { HOUR_MS } from '../model/durations.ts';
import type { HedgeWay } from './hedgeRow.ts';
import type { Instrument } from '../model/instrument.ts';
import type { ConversionLeg } from '../ports/port.ts';
import { money, moneyOf, type Millis, type Money } from '../model/units.ts';

export type HedgeRules = {
  /**
   * Inventory beyond the target, in either direction, above which the bot hedges as soon as possible; base currency.
   */
  readonly band: Money;
  /** Inventory that remains after a hedge; below the band. */
  readonly residual: Money;
  /** Maximum hedge cost against the mid price, in basis points of the hedged amount. */
  readonly costMaxBps: number;
  /**
   * Cost of carrying inventory of the band's size for an hour, in basis points of its value. If 0, only inventory above
   * the band is hedged.
   */
  readonly carryBpsPerHour: number;
  /** Expected time for skewed quotes to reduce inventory of the band's size, in ms. */
  readonly unwindMs: Millis;
  /**
   * Cost of carrying the amount to hedge until quotes reduce it, in basis points of that amount; present if the band is
   * computed from risk and flow. If absent, `carryBpsPerHour` applies.
   */
  readonly waitBps?: number;
  /** Maximum cost of the hedges of one UTC day, in the quote currency; absent for no limit. */
  readonly costDayMax?: Money | undefined;
};

/** Hedge route with its current price. Costs are in the quote currency. */
export type PricedRoute = {
  readonly way: HedgeWay;
  readonly give: ConversionLeg;
  readonly get: ConversionLeg;
  /**
   * Possible additional cost during execution, in the quote currency. The comparison of routes adds this cost to the
   * cost at the current price.
   */
  readonly risk?: Money;
  /**
   * Maximum cost if the price is not firm, in the quote currency; if absent, the cost at the current price plus `risk`.
   */
  readonly costMax?: Money;
  /** Reason why the route is priced only for comparison. */
  readonly comparisonOnlyReason?: string;
};

/** Hedge route, or the reason why it is unavailable. */
export type RouteOption = PricedRoute | { readonly way: HedgeWay; readonly unavailableReason: string };

/** One line of the route comparison. Costs are in the quote currency, positive if paid. */
export type ComparedRoute = {
  readonly way: HedgeWay | 'wait';
  readonly cost: Money | null;
  readonly bps: number | null;
  /** Reason why the route is not chosen; `null` for the chosen route. */
  readonly rejectedReason: string | null;
};

export type HedgeDecision = {
  /** Amount to sell (positive) or buy (negative), in the base currency. */
  readonly amount: Money;
  readonly taken: HedgeWay | 'wait';
  /** Maximum cost of the chosen route, in the quote currency; never negative. */
  readonly costMax: Money;
  readonly compared: readonly ComparedRoute[];
};

/**
 * Returns the amount to hedge now: all inventory beyond `residual` if the inventory exceeds the band or if carrying
 * inventory has a cost. Otherwise returns 0.
 */
export function amountToHedge(inventory: Money, { band, residual, carryBpsPerHour }: HedgeRules): Money {
  const size = inventory < 0n ? -inventory : inventory;
  if (!(size > residual && (size > band || carryBpsPerHour > 0))) return money(0n);
  return money(inventory > 0n ? size - residual : residual - size);
}

/**
 * Returns the expected cost of carrying `amount` until quotes reduce it, in the quote currency. The cost is value times
 * hourly rate times expected time, times the amount's share of the band, because quotes need longer for more inventory.
 */
export function carryCost(amount: Money, mid: Money, { band, carryBpsPerHour, unwindMs }: HedgeRules): Money {
  // Value and share have the sign of the amount, so the sign cancels out.
  const value = (amount * mid) / ONE;
  // Millionths are precise enough for an estimate, and avoid floats for money.
  const share = band > 0n ? (amount * 1_000_000n) / band : 0n;
  const rate = BigInt(Math.round(((carryBpsPerHour * unwindMs) / HOUR_MS) * 1_000_000));
  return money((value * rate * share) / (10_000n * 1_000_000n * 1_000_000n));
}

/**
 * Compares all routes for `amount` (from `amountToHedge`). `mid` is the mid price of one unit of the base currency.
 * `dayLeft` is the remaining hedge budget, `null` for no limit. `left` names the scope of this budget in messages.
 */
export function compareRoutes(
  instrument: Instrument,
  amount: Money,
  inventory: Money,
  mid: Money,
  ways: readonly RouteOption[],
  rules: HedgeRules,
  dayLeft: Money | null = null,
  left = 'today',
): HedgeDecision {
  const size = amount < 0n ? -amount : amount;
  const isPastBand = (inventory < 0n ? -inventory : inventory) > rules.band;
  const value = (size * mid) / ONE;
  const priced = ways.map(way =>
    'unavailableReason' in way ? { way: way.way, cost: null, most: NONE, why: way.unavailableReason } : pricedOf(way),
  );
  const waiting =
    rules.waitBps === undefined
      ? carryCost(amount, mid, rules)
      : money((value * BigInt(Math.round(rules.waitBps * 1e6))) / 10_000_000_000n);

  function pricedOf({ way, give, get, risk = NONE, costMax, comparisonOnlyReason }: PricedRoute) {
    const none = (why: string) => ({ way, cost: null, most: NONE, why });
    const sells = amount > 0n;
    const [from, to] = sells ? [instrument.major, instrument.minor] : [instrument.minor, instrument.major];
    if (give.currency !== from || get.currency !== to) return none('the offer is for other currencies than requested');
    const [major, minor] = sells
      ? [moneyOf(give.amount), moneyOf(get.amount)]
      : [moneyOf(get.amount), moneyOf(give.amount)];
    if (major > size) return none('the offer exceeds the requested amount');
    if (!(major > 0n)) return none("the offer's amount is zero");
    const fair = (major * mid) / ONE;
    const cost = (sells ? fair - minor : minor - fair) + risk;
    // If a route covers only a part of the amount, the bot carries the remaining inventory. Costs are scaled to the
    // full amount, so that a route for a small part does not seem cheap.
    const whole = money((cost * size) / major);
    const spends = positive(costMax ?? money(cost));
    const why =
      comparisonOnlyReason ??
      (whole > hedgeCostMax(size, mid, rules) || spends > hedgeCostMax(major, mid, rules)
        ? `costs more than ${rules.costMaxBps} bps`
        : dayLeft !== null && spends > dayLeft
          ? `exceeds the remaining hedge budget (${left})`
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
    costMax: leaves ? cheapest.most : NONE,
    compared: [
      ...priced.map(({ way, cost, why }) => ({
        way,
        cost,
        bps: bps(cost),
        rejectedReason: way === taken ? null : (why ?? (leaves ? 'another route costs less' : 'waiting costs less')),
      })),
      {
        way: 'wait' as const,
        cost: waiting,
        bps: bps(waiting),
        rejectedReason: leaves ? (isPastBand ? 'inventory is beyond its band' : 'hedging costs less') : null,
      },
    ],
  };
}

/** Returns the maximum hedge cost for an amount of the base currency, in the quote currency, rounded down. */
export function hedgeCostMax(major: bigint, mid: Money, { costMaxBps }: HedgeRules): Money {
  return money((((major * mid) / ONE) * BigInt(Math.floor(costMaxBps * 100 + 1e-6))) / 1_000_000n);
}

const ONE = 10n ** 18n;
const NONE = money(0n);
const positive = (sum: Money): Money => (sum > 0n ? sum : NONE);

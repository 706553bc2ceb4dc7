/**
 * Hedge debt: inventory that another exchange should have hedged, and the maximum lots of orders that this debt still
 * allows on each side (E17).
 */
import type { ElsewhereEvent } from '../accounting/accountEvents.ts';
import type { ElsewhereAccount, ElsewhereBook, ElsewhereLimits } from '../accounting/elsewhereAccount.ts';
import type { Transit } from '../accounting/transit.ts';
import type { Instrument } from '../model/instrument.ts';
import { lotsOnSide, type Order } from '../orders/orders.ts';
import { withoutSides, type Level, type Quote } from '../quoting/strategy.ts';
import { money, moneyOf, multiplyMoneyFloor, textOfMoney, type Money, type Side } from '../model/units.ts';

/** Bounds on inventory that is not hedged. Amounts are in the base currency. */
export type HedgeBounds = ElsewhereLimits & {
  /**
   * Inventory beyond the target, in either direction, that needs no hedge. If the band is computed, this value is its
   * maximum.
   */
  readonly band: Money;
  /** Whether each hedge decision computes the band. If omitted, the band is fixed. */
  readonly isBandComputed?: boolean;
  /** Maximum hedge debt, counted as if every possibly live order of the side that increases the debt had filled. */
  readonly debtMax: Money;
  /**
   * Number of consecutive failed hedges after which the side that increases the debt is not quoted. If 0, this side is
   * not quoted while an order on the other exchange is open.
   */
  readonly failuresMax: number;
  /**
   * Whether the other exchange is the only hedge route. If so, inventory may exceed the band only by what the funds on
   * that exchange can hedge.
   */
  readonly isOnlyRoute: boolean;
};

/** Reason why a side may not add to unhedged inventory. */
export type HedgeRefusal = 'hedge debt limit' | 'waits for a hedge' | 'no hedge elsewhere';

/** Room for orders on one side, and the bound that limits this room. */
export type HedgeRoom = {
  /** Maximum lots of the side's possibly live orders together. Keeps room for a hedge that is due on this side. */
  readonly lots: number;
  /** Maximum lots of the side's possibly live orders and of a hedge on this side together. */
  readonly hedgeLots: number;
  readonly refusal: HedgeRefusal;
  readonly why: () => string;
};
export type HedgeRooms = Readonly<Record<Side, HedgeRoom>>;

/** Inventory of the book, and what may still change it. */
export type Exposure = {
  readonly instrument: Instrument;
  /** Held amount of the base currency minus the target. */
  readonly inventory: Money;
  /**
   * Base currency that pending conversions and orders on the other exchange may still add (`buy`) and remove (`sell`),
   * in lots, rounded up.
   */
  readonly converting: Readonly<Record<Side, number>>;
  /** Mid price of the book, in its quote currency; 0 if unknown. */
  readonly mid: Money;
};

/**
 * Figures of the hedges on another exchange. Amounts are in the base currency, unless the field's name or comment has
 * another currency.
 */
export type ElsewhereFigures = {
  readonly place: string;
  /**
   * Whether the balances on the other exchange are known. Until then, `held`, `quoteHeld`, `funds` and `drift` are
   * counted from 0.
   */
  readonly isOpen: boolean;
  readonly held: Money;
  readonly baseCurrency: string;
  /** Quote currency of the other exchange's book, and the held amount of it. */
  readonly quoteCurrency: string;
  readonly quoteHeld: Money;
  /** Funds that no open order may spend. */
  readonly funds: { readonly base: Money; readonly quote: Money };
  /** Amounts on their way between both exchanges. */
  readonly inTransit: { readonly base: Money; readonly quote: Money };
  /** Value of one unit of `quoteCurrency`, in the quote currency of the bot's book; `null` if unknown. */
  readonly rate: Money | null;
  /** Number of orders on the other exchange whose end is not proven. */
  readonly openOrders: number;
  /** Number of consecutive hedges that executed nothing, since inventory was last within the band. */
  readonly failures: number;
  /**
   * Hedge debt of the side with the larger debt, as if every pending conversion and open order on the other exchange
   * that increases the debt had executed; at least 0.
   */
  readonly debt: Money;
  /** Maximum of the debt. `band` is the inventory beyond the target up to which there is no debt. */
  readonly debtMax: Money;
  readonly band: Money;
  /** Value of the debt at the mid price, in the quote currency of the bot's book. */
  readonly debtValue: Money;
  /** Amount of `quoteCurrency` beyond its target, and its value in the quote currency of the bot's book. */
  readonly drift: Money;
  readonly driftValue: Money | null;
  /** Reason why drift blocks orders on the other exchange, by side; `null` if drift does not block the side. */
  readonly closed: Readonly<Record<Side, string | null>>;
};

/** State between two runs. */
export type HedgeDebtState = {
  readonly place: string;
  /** Number of consecutive hedges that executed nothing. */
  readonly failures: number;
  /** Band of the latest hedge, in the base currency. */
  readonly band: string;
};

/**
 * Amount, in bps, by which a purchase on the other exchange may cost more than the bot's mid price, because of its
 * limit price and fee.
 */
const RESERVE_BPS = 200n;

export class HedgeDebt {
  readonly #book: ElsewhereBook;
  readonly #bounds: HedgeBounds;
  readonly #account: ElsewhereAccount;
  /** Band of the latest hedge; before the first, the configured band or the maximum of a computed one. */
  #band: Money;
  #failures = 0;
  /** Maximum lots that the strategy has wanted on one side. */
  #fullSide = 0;

  constructor(book: ElsewhereBook, bounds: HedgeBounds, account: ElsewhereAccount) {
    if (!(bounds.band >= 0n && bounds.debtMax >= 0n))
      throw new RangeError(
        `expected a band and a debtMax of at least 0, found ${textOfMoney(bounds.band)} and ${textOfMoney(bounds.debtMax)}`,
      );
    if (!(Number.isSafeInteger(bounds.failuresMax) && bounds.failuresMax >= 0))
      throw new RangeError(`expected failuresMax as a whole number of at least 0, found ${bounds.failuresMax}`);
    this.#book = book;
    this.#bounds = bounds;
    this.#band = bounds.band;
    this.#account = account;
  }

  /** State for the next run; `null` if it equals the state in which a run starts. */
  get state(): HedgeDebtState | null {
    const [failures, band] = [this.#failures, this.#band];
    return failures > 0 || band < this.#bounds.band
      ? { place: this.#book.place, failures, band: textOfMoney(band) }
      : null;
  }

  /**
   * Restores the number of failed hedges from an earlier run with this exchange, and that run's computed band if this
   * run computes the band too.
   */
  restore({ place, failures, band }: HedgeDebtState): void {
    if (place !== this.#book.place) return;
    this.#failures = failures;
    if (this.#bounds.isBandComputed === true) this.decided({ band });
  }

  /**
   * Applies a state change of the bot's order on the other exchange. An order that executed nothing is a failed hedge.
   */
  apply(event: ElsewhereEvent): void {
    if (event.phase === 'ended') this.#failures = event.trades.length > 0 ? 0 : this.#failures + 1;
  }

  /** Applies the computed band of a hedge decision. */
  decided({ band }: { readonly band?: string }): void {
    if (band === undefined) return;
    const computed = moneyOf(band);
    this.#band = computed < this.#bounds.band ? computed : this.#bounds.band;
  }

  /** Ends a sequence of failed hedges once the known inventory is within the band. Call this before each decision. */
  check(exposure: Exposure): void {
    if (this.#debt(exposure, 'buy') <= 0n && this.#debt(exposure, 'sell') <= 0n) this.#failures = 0;
  }

  /** Records the amounts of a quote that the strategy wants. */
  wanted(quote: Quote, exposure: Exposure): void {
    this.#fullSide = this.#fullSideWith(quote, exposure);
  }

  /** Returns the room of each side. `quote` is a quote that `wanted` has not recorded; `null` if there is none. */
  rooms(exposure: Exposure, quote: Quote | null = null): HedgeRooms {
    const fullSide = this.#fullSideWith(quote, exposure);
    return { buy: this.#room(exposure, 'buy', fullSide), sell: this.#room(exposure, 'sell', fullSide) };
  }

  /** Returns the quote without the sides that have no room, or whose possibly live orders exceed it. */
  shape(quote: Quote, rooms: HedgeRooms, orders: readonly Order[]): Quote {
    const pulled = (side: Side, { length }: readonly Level[]): string | null => {
      const { lots, why } = rooms[side];
      return length > 0 && !(lots > 0 && lotsOnSide(orders, side) <= lots) ? why() : null;
    };
    return withoutSides(quote, pulled('buy', quote.bids), pulled('sell', quote.asks));
  }

  figures(exposure: Exposure, transit: Pick<Transit, 'held'>): ElsewhereFigures {
    const account = this.#account;
    const { place, major, minor } = this.#book;
    const [bought, sold] = [this.#debt(exposure, 'buy'), this.#debt(exposure, 'sell')];
    const worse = bought > sold ? bought : sold;
    const debt = money(worse > 0n ? worse : 0n);
    return {
      place,
      isOpen: account.isOpen,
      held: account.held,
      baseCurrency: major,
      quoteCurrency: minor,
      quoteHeld: account.quoteHeld,
      funds: { base: account.funds(major), quote: account.funds(minor) },
      inTransit: { base: transit.held(major), quote: transit.held(minor) },
      rate: account.rate,
      openOrders: account.openOrders,
      failures: this.#failures,
      debt,
      debtMax: this.#bounds.debtMax,
      band: this.#band,
      debtValue: multiplyMoneyFloor(debt, exposure.mid),
      drift: account.drift,
      driftValue: account.driftValue,
      closed: { buy: account.closedBecause('buy'), sell: account.closedBecause('sell') },
    };
  }

  /**
   * Returns the debt of `side`, as if all pending conversions and orders on the other exchange that increase it had
   * executed; negative if the inventory is within the band.
   */
  #debt(exposure: Exposure, side: Side): bigint {
    const { instrument, converting } = exposure;
    return beyondTarget(exposure, side) + BigInt(converting[side]) * instrument.lotMoney - this.#band;
  }

  #room(exposure: Exposure, side: Side, fullSide: number): HedgeRoom {
    const { instrument, converting } = exposure;
    const { debtMax, isOnlyRoute } = this.#bounds;
    const { major } = instrument;
    const debt = this.#debt(exposure, side);
    const most: Bound = {
      beyond: debtMax,
      refusal: 'hedge debt limit',
      why: () =>
        `hedge debt is ${textOfMoney(money(debt > 0n ? debt : 0n))} ${major}; if all orders of this side filled, the debt would exceed hedge.elsewhere.debtMax (${textOfMoney(debtMax)} ${major})`,
    };
    const bounds = [most, this.#untilHedged(exposure, debt > 0n, fullSide)];
    if (isOnlyRoute) bounds.push(this.#withinReserves(exposure, side));
    const { beyond, refusal, why } = bounds.reduce((a, b) => (b.beyond < a.beyond ? b : a));
    const worst = beyondTarget(exposure, side) + BigInt(converting[side]) * instrument.lotMoney;
    const isHedgeDue = worst < 0n && this.#debt(exposure, side === 'buy' ? 'sell' : 'buy') > 0n;
    const lots = (from: bigint) => Math.max(0, Number((this.#band + beyond - from) / instrument.lotMoney));
    return { lots: lots(isHedgeDue ? 0n : worst), hedgeLots: lots(worst), refusal, why };
  }

  /**
   * Returns the bound on inventory beyond the band until a hedge ends (E17): a multiple of the largest side of a quote,
   * which grows with each consecutive failed hedge. The bound is 0 for a side in debt that must wait for a hedge.
   */
  #untilHedged({ instrument }: Exposure, isInDebt: boolean, fullSide: number): Bound {
    const { failuresMax } = this.#bounds;
    const { place } = this.#book;
    const refusal = 'waits for a hedge';
    const failures = this.#failures;
    if (isInDebt && failuresMax > 0 && failures >= failuresMax)
      return {
        beyond: 0n,
        refusal,
        why: () =>
          `consecutive failed hedges: ${failures}; with hedge.elsewhere.failuresMax ${failuresMax}, this side waits until a hedge executes or inventory is within its band`,
      };
    if (isInDebt && failuresMax === 0 && this.#account.openOrders > 0)
      return {
        beyond: 0n,
        refusal,
        why: () =>
          `a hedge is open at ${place}; with hedge.elsewhere.failuresMax 0, this side waits until the hedge ends`,
      };
    const sides = failuresMax === 0 ? 1 : Math.min(failures, failuresMax - 1) + 2;
    const beyond = BigInt(sides * fullSide) * instrument.lotMoney;
    const why = () =>
      `hedge due at ${place}: until the hedge ends, inventory may exceed the band by at most ${textOfMoney(money(beyond))} ${instrument.major}, ${sides === 1 ? 'one full side' : `${sides} full sides`} of quotes`;
    return { beyond, refusal, why };
  }

  /**
   * Returns the bound on inventory beyond the band that the funds on the other exchange can still hedge for this side.
   */
  #withinReserves({ mid }: Exposure, side: Side): Bound {
    const { place, major, minor } = this.#book;
    const refusal = 'no hedge elsewhere';
    const account = this.#account;
    const closed = account.closedBecause(side === 'buy' ? 'sell' : 'buy');
    if (closed !== null) return { beyond: 0n, refusal, why: () => `no hedge at ${place}: ${closed}` };
    const { reserves, rate } = account;
    const [free, currency] = side === 'buy' ? [reserves.major, major] : [reserves.minor, minor];
    const price = mid * (BPS + RESERVE_BPS);
    const beyond = side === 'buy' ? free : rate === null || !(price > 0n) ? 0n : (free * rate * BPS) / price;
    const why = () =>
      rate === null && side === 'sell'
        ? `no hedge at ${place}: the value of ${minor} is unknown`
        : `no hedge at ${place} for a larger amount: only ${textOfMoney(free)} ${currency} is available there`;
    return { beyond: beyond > 0n ? beyond : 0n, refusal, why };
  }

  #fullSideWith(quote: Quote | null, { instrument }: Exposure): number {
    if (quote === null) return this.#fullSide;
    const sum = (levels: readonly Level[]) =>
      levels.reduce(
        (lots, { amount }) => (amount > 0 ? lots + Math.min(Math.ceil(amount), instrument.amountMax) : lots),
        0,
      );
    return Math.max(this.#fullSide, sum(quote.bids), sum(quote.asks));
  }
}

type Bound = { readonly beyond: bigint; readonly refusal: HedgeRefusal; readonly why: () => string };

/** Returns how far inventory is from its target in the direction in which fills of this side move it. */
const beyondTarget = ({ inventory }: Exposure, side: Side): bigint => (side === 'buy' ? inventory : -inventory);

const BPS = 10_000n;

/** RFQ desk: pairs, quotes around the books' mid prices, and conversions executed in the background (rfq 1 to 4). */
import { money, type Millis, type Money, type Random } from '../../core/index.ts';
import type { Account } from '../venue/accounts.ts';
import { crossesFrom, type Cross, type Rate } from './crossRates.ts';
import { DeskCapacity, type DeskLoad } from './deskCapacity.ts';
import { DeskTimers } from './deskTimers.ts';
import type { DeskWorld } from './deskWorld.ts';
import { remainingDelay } from '../matching/remainingDelay.ts';
import { keepNewest } from './keepNewest.ts';
import { currenciesOf } from '../venue/currencies.ts';
import { rfqRefused, type RfqVerdict } from './rfqCodes.ts';
import type { Switches } from '../switches/switches.ts';
import { randomUuid } from '../wire/uuid.ts';

export type DeskPair = {
  readonly source: string;
  readonly target: string;
  readonly sourceDecimals: number;
  readonly targetDecimals: number;
  readonly cross: Cross;
};

export type DeskRequest = { readonly pair: DeskPair; readonly fixed: 'source' | 'target'; readonly sum: Money };

export type DeskQuote = {
  readonly id: string;
  readonly account: Account;
  readonly pair: DeskPair;
  readonly sourceSum: Money;
  readonly targetSum: Money;
  /** Units of the target currency per unit of the source currency, rounded down to 12 decimals. */
  readonly rate: Money;
  /** Creation time, in epoch ms; truncated to the second, because times on the wire have no fractions. */
  readonly createdAt: Millis;
  readonly expiresAt: Millis;
  readonly canConfirm: boolean;
  /** Largest tradable sum, for a quote that cannot be confirmed; `null` for any other quote. */
  readonly maxTradable: { readonly sum: Money; readonly currency: string } | null;
  state: 'open' | 'executed' | 'cancelled';
};

export type DeskConversion = {
  readonly id: string;
  /** Serial number of the conversion, counted over all accounts. */
  readonly number: number;
  readonly account: Account;
  readonly quote: DeskQuote;
  readonly createdAt: Millis;
  updatedAt: Millis;
  status: 'PENDING' | 'FAILED' | 'COMPLETED';
  /**
   * Decided outcome: its time, whether the desk is willing to pay, and whether the source sum is locked. `null` after
   * the end.
   */
  pending: { readonly dueAt: Millis; readonly willing: boolean; readonly locked: boolean } | null;
};

/** Maximum number of stored quotes; the oldest are dropped first. */
export const DESK_QUOTES_MAX = 10_000;
/** Maximum number of stored conversions; the oldest are dropped first. */
export const DESK_CONVERSIONS_MAX = 10_000;

const ONE = 10n ** 18n;
const RATE_UNIT = 10n ** 6n;

export class RfqDesk {
  readonly #venue: DeskWorld;
  readonly #random: Random;
  readonly #tell: (conversion: DeskConversion) => void;
  readonly #executed: () => void;
  readonly #capacity: DeskCapacity;
  readonly #quotes = new Map<string, DeskQuote>();
  readonly #conversions = new Map<string, DeskConversion>();
  readonly #blockedAccounts = new Set<string>();
  readonly #timers: DeskTimers;
  #count = 0;

  /**
   * `tell` receives every conversion when it is accepted and when it ends. `executed` is called after each conversion
   * that ends in the background.
   */
  constructor(
    venue: DeskWorld,
    random: Random,
    tell: (conversion: DeskConversion) => void,
    executed: () => void = () => undefined,
  ) {
    this.#venue = venue;
    this.#timers = new DeskTimers(venue.clock);
    this.#executed = executed;
    this.#random = random;
    this.#tell = tell;
    this.#capacity = new DeskCapacity(venue.clock);
  }

  allow(account: Account, allowed: boolean): void {
    if (allowed) this.#blockedAccounts.delete(account.id);
    else this.#blockedAccounts.add(account.id);
  }

  mayUse(account: Account): boolean {
    return !this.#blockedAccounts.has(account.id);
  }

  /**
   * Returns, in each direction, every pair of currencies whose books have bids and asks; `only` restricts the source
   * currency.
   */
  pairs(only?: string): readonly DeskPair[] {
    const sources = currenciesOf(this.#venue).filter(currency => only === undefined || currency === only);
    const { switches } = this.#venue;
    return sources.flatMap(source =>
      [...crossesFrom(this.#venue, source)].map(([target, cross]) => ({
        source,
        target,
        sourceDecimals: deskDecimals(source, 'source', switches),
        targetDecimals: deskDecimals(target, 'target', switches),
        cross,
      })),
    );
  }

  /** Creates a quote. Rounds the computed amount in the desk's favor, and rejects an amount that rounds to zero. */
  quote(account: Account, { pair, fixed, sum }: DeskRequest): RfqVerdict<DeskQuote> {
    const { switches } = this.#venue;
    const rate = subtractSpread(pair.cross.rate, switches);
    const sourceSum = fixed === 'source' ? sum : ceilTo(pair.sourceDecimals, sum * rate.under, rate.over);
    const targetSum = fixed === 'target' ? sum : floorTo(pair.targetDecimals, sum * rate.over, rate.under);
    if (!(sourceSum > 0n && targetSum > 0n))
      return rfqRefused('invalid_provided_amount', 'the amount is too small to convert');
    const free = this.#capacity.free(directionOf(pair), pair.cross, switches);
    const createdAt = wholeSecond(this.#venue.clock.now());
    const quote: DeskQuote = {
      id: randomUuid(this.#random),
      account,
      pair,
      sourceSum,
      targetSum,
      rate: money(((rate.over * ONE) / rate.under / RATE_UNIT) * RATE_UNIT),
      createdAt,
      expiresAt: createdAt + wholeSecond(switches.rfqQuoteLifeMs),
      canConfirm: sourceSum <= free,
      maxTradable: sourceSum <= free ? null : maxTradable(pair, fixed, free, rate, switches),
      state: 'open',
    };
    keepNewest(this.#quotes, quote.id, quote, DESK_QUOTES_MAX);
    return { kind: 'done', value: quote };
  }

  /** Returns a quote of any state until the quote expires. */
  find(account: Account, id: string): RfqVerdict<DeskQuote> {
    const quote = this.#own(account, id);
    if (!quote || this.#expired(quote)) return rfqRefused('quote_not_found');
    return { kind: 'done', value: quote };
  }

  statusOf(quote: DeskQuote): 'ACTIVE' | 'EXPIRED' | 'ACCEPTED' | 'REJECTED' {
    if (quote.state === 'executed') return 'ACCEPTED';
    if (quote.state === 'cancelled') return 'REJECTED';
    return this.#expired(quote) ? 'EXPIRED' : 'ACTIVE';
  }

  /** Cancels an open quote on behalf of the desk. Returns false if no open quote has that id. */
  cancel(id: string): boolean {
    const quote = this.#quotes.get(id);
    if (quote?.state !== 'open') return false;
    quote.state = 'cancelled';
    return true;
  }

  /**
   * Executes a quote once, before the quote expires. A quote that cannot be confirmed gives a conversion that fails.
   */
  convert(account: Account, quoteId: string): RfqVerdict<DeskConversion> {
    const { switches, clock } = this.#venue;
    const quote = this.#own(account, quoteId);
    if (!quote) return rfqRefused('quote_not_found');
    if (this.#expired(quote)) {
      const told = quote.state === 'executed' && switches.rfqExecutedAfterExpiry === 'quote_already_executed';
      return rfqRefused(told ? 'quote_already_executed' : 'quote_not_found');
    }
    const { pair, sourceSum } = quote;
    const poor = !(sourceSum <= account.available(pair.source));
    if (poor && switches.rfqConvertOrder === 'funds first') return rfqRefused('insufficient_funds');
    if (quote.state === 'executed') return rfqRefused('quote_already_executed');
    if (quote.state === 'cancelled') return rfqRefused('quote_cancelled');
    if (poor) return rfqRefused('insufficient_funds');
    quote.state = 'executed';
    const taken = quote.canConfirm && this.#capacity.take(directionOf(pair), pair.cross, sourceSum, switches);
    const unlucky = this.#random.integer(0, 9999) < switches.rfqFailurePips;
    const now = clock.now();
    const conversion: DeskConversion = {
      id: switches.rfqConversionId === 'own' ? randomUuid(this.#random) : quote.id,
      number: this.#count++,
      account,
      quote,
      createdAt: now,
      updatedAt: now,
      status: 'PENDING',
      pending: null,
    };
    keepNewest(this.#conversions, conversion.id, conversion, DESK_CONVERSIONS_MAX);
    const locked = switches.rfqFunds === 'locked at once';
    if (locked) account.lock(pair.source, sourceSum);
    const delay = this.#random.integer(switches.rfqDelayMinMs, switches.rfqDelayMaxMs);
    conversion.pending = { dueAt: now + delay, willing: taken && !unlucky, locked };
    if (delay === 0) {
      this.#settle(conversion);
      return { kind: 'done', value: conversion };
    }
    this.#tell(conversion);
    this.#schedule(conversion);
    return { kind: 'done', value: conversion };
  }

  /** Adds conversions of an earlier process, the oldest first. Those in progress end when they are due. */
  restore(conversions: readonly DeskConversion[]): void {
    for (const conversion of conversions) {
      keepNewest(this.#conversions, conversion.id, conversion, DESK_CONVERSIONS_MAX);
      this.#count = Math.max(this.#count, conversion.number + 1);
      this.#schedule(conversion);
    }
  }

  /** Returns the used capacity, to store for a later process. */
  loads(): readonly DeskLoad[] {
    return this.#capacity.loads();
  }

  /** Continues with the used capacity of an earlier process. */
  restoreLoads(loads: readonly DeskLoad[]): void {
    this.#capacity.restore(loads);
  }

  conversion(id: string): DeskConversion | undefined {
    return this.#conversions.get(id);
  }

  /** Returns an account's conversions, oldest first. */
  conversionsOf(account: Account): DeskConversion[] {
    return [...this.#conversions.values()].filter(conversion => conversion.account === account);
  }

  close(): void {
    this.#timers.stop();
  }

  #own(account: Account, id: string): DeskQuote | undefined {
    const quote = this.#quotes.get(id);
    if (quote?.account !== account) return undefined;
    if (quote.state === 'open' && this.#movedAway(quote)) quote.state = 'cancelled';
    return quote;
  }

  #expired(quote: DeskQuote): boolean {
    return !(this.#venue.clock.now() < quote.expiresAt);
  }

  /** Whether the source currency has lost too much value since the quote. Checked at each access to the quote. */
  #movedAway({ pair }: DeskQuote): boolean {
    const pips = BigInt(this.#venue.switches.rfqCancelMovePips);
    if (pips === 0n) return false;
    const then = pair.cross.rate;
    const now = crossesFrom(this.#venue, pair.source).get(pair.target)?.rate;
    return now === undefined || now.over * then.under * 10_000n < then.over * now.under * (10_000n - pips);
  }

  #schedule(conversion: DeskConversion): void {
    if (conversion.pending === null) return;
    const { clock, switches } = this.#venue;
    this.#timers.after(remainingDelay(conversion.pending.dueAt, clock.now(), switches.rfqDelayMaxMs), () => {
      this.#settle(conversion);
      this.#executed();
    });
  }

  #settle(conversion: DeskConversion): void {
    const { account, quote } = conversion;
    const { willing, locked } = conversion.pending!;
    const { pair, sourceSum, targetSum } = quote;
    conversion.pending = null;
    if (locked) account.lock(pair.source, money(-sourceSum));
    const paid =
      willing &&
      this.#venue.swap(account, { currency: pair.source, sum: sourceSum }, { currency: pair.target, sum: targetSum });
    conversion.status = paid ? 'COMPLETED' : 'FAILED';
    conversion.updatedAt = this.#venue.clock.now();
    this.#tell(conversion);
  }
}

const FIAT: readonly string[] = ['mxn', 'usd', 'brl', 'ars', 'cop', 'eur'];
const STABLE: readonly string[] = ['usdt', 'usdc', 'usds', 'tusd'];

/**
 * Returns the number of decimals of a currency (facts 14): 2 for fiat money, otherwise 8. For a stablecoin as the
 * source, a switch decides.
 */
function deskDecimals(currency: string, side: 'source' | 'target', switches: Switches): number {
  if (FIAT.includes(currency)) return 2;
  return STABLE.includes(currency) && side === 'source' ? switches.rfqStablecoinDecimals : 8;
}

const directionOf = ({ source, target }: DeskPair): string => `${source} ${target}`;

const subtractSpread = ({ over, under }: Rate, { rfqSpreadPips }: Switches): Rate => ({
  over: over * (10_000n - BigInt(rfqSpreadPips)),
  under: under * 10_000n,
});

/** Returns the largest tradable sum, rounded down so that a request for that sum succeeds. */
function maxTradable(
  pair: DeskPair,
  fixed: 'source' | 'target',
  free: Money,
  rate: Rate,
  switches: Switches,
): DeskQuote['maxTradable'] {
  if (switches.rfqMaxTradableIn === 'fixed' && fixed === 'target')
    return { sum: floorTo(pair.targetDecimals, free * rate.over, rate.under), currency: pair.target };
  return { sum: floorTo(pair.sourceDecimals, free, 1n), currency: pair.source };
}

function floorTo(decimals: number, over: bigint, under: bigint): Money {
  const unit = 10n ** BigInt(18 - decimals);
  return money((over / (under * unit)) * unit);
}

function ceilTo(decimals: number, over: bigint, under: bigint): Money {
  const unit = 10n ** BigInt(18 - decimals);
  return money(((over + under * unit - 1n) / (under * unit)) * unit);
}

const wholeSecond = (ms: Millis): Millis => Math.floor(ms / 1000) * 1000;

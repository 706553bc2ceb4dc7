/**
 * Names of currencies and books at Kraken, from its own lists. No name is cut or composed: `XXBTZUSD` is `btc_usd`
 * because the list of pairs has its base `XXBT` and its quote `ZUSD`, and the list of assets their short names `XBT`
 * and `USD`. Sources: docs.kraken.com/api/docs/rest-api/get-asset-info and get-tradable-asset-pairs.
 */
import {
  moneyOf,
  textOfMoney,
  type AvailableBook,
  type FeeTier,
  type Money,
  type UnreadableRow,
} from '../../../core/index.ts';
import { count, fault, filled, list, optional, row, text, type Row } from '../../wire/wire.ts';
import { keyedRows } from './keyedRows.ts';
import { DECIMALS_MAX, krakenDecimal, unfoldedDecimal } from './numbers.ts';

/**
 * Short names of the exchange that differ from the usual tickers. Some are the usual ticker of another currency: `LUNA`
 * is the old chain, elsewhere LUNC. Source: ccxt 4.5.84 js/src/kraken.js, `commonCurrencies`.
 */
const RENAMED: Readonly<Record<string, string>> = {
  ...{ XBT: 'btc', XDG: 'doge', FEE: 'kfee', UST: 'ustc' },
  ...{ LUNA: 'lunc', LUNA2: 'luna', REP: 'repv1', REPV2: 'rep' },
};

/** Returns the currency of a short name, such as `btc` for `XBT` and `usd.f` for `USD.F`. */
export const currencyOfAltname = (altname: string): string => RENAMED[altname] ?? altname.toLowerCase();

/** Currency by the exchange's id or short name, such as `btc` for `XXBT` and `XBT`. */
export type Assets = ReadonlyMap<string, string>;

/** Reads the list of assets. */
export function assetNames(result: unknown): Assets {
  const of = row(result, 'result');
  const names = Object.keys(of).map(id => ({ id, altname: filled(row(of[id], id), 'altname') }));
  // If an id is also the short name of another asset, it counts as the id.
  return new Map([
    ...names.map(({ altname }) => [altname, currencyOfAltname(altname)] as const),
    ...names.map(({ id, altname }) => [id, currencyOfAltname(altname)] as const),
  ]);
}

/**
 * Reads the number of decimals of the balances in each asset, by the exchange's id; an asset without the number is
 * absent.
 */
export function assetDecimals(result: unknown): ReadonlyMap<string, number> {
  const of = row(result, 'result');
  return new Map(
    Object.keys(of).flatMap(id => {
      const decimals = optional(row(of[id], id), 'decimals', count);
      return decimals === undefined ? [] : [[id, decimals] as const];
    }),
  );
}

/**
 * Returns the number of decimals, by currency, to which changes of a balance are rounded: in the balance, or already in
 * the costs and fees of the list of trades. `decimals` are those of balances, by asset id.
 */
export function currencyDecimals(
  assets: Assets,
  decimals: ReadonlyMap<string, number>,
  pairs: readonly Pick<NamedPair, 'quote' | 'costDecimals'>[],
): ReadonlyMap<string, number> {
  const result = new Map<string, number>();
  for (const [id, count] of decimals) {
    const currency = assets.get(id) ?? currencyOfAltname(id);
    result.set(currency, Math.min(count, result.get(currency) ?? Infinity));
  }
  for (const { quote, costDecimals = Infinity } of pairs)
    if (result.has(quote)) result.set(quote, Math.min(costDecimals, result.get(quote)!));
  return result;
}

/** Pair of currencies at the exchange with its names, whether it is traded or not. */
export type NamedPair = {
  /** Name as in trades and fees, such as `XXBTZUSD`. */
  readonly id: string;
  /** Name as in orders, such as `XBTUSD`. */
  readonly altname: string;
  /** Name on the version 1 stream, such as `XBT/USD`; undefined for a dark pool. */
  readonly wsname: string | undefined;
  readonly base: string;
  readonly quote: string;
  readonly book: string;
  /** Number of decimals of costs in the quote currency; absent if not listed. */
  readonly costDecimals?: number;
};

/** Traded book with its rules. */
export type KrakenPair = NamedPair & { readonly rules: AvailableBook };

/** Look-up of pairs by their names, to read orders and trades of any pair. */
export type PairNames = {
  /** Returns the pair with one of its names. */
  readonly named: (name: string) => NamedPair | undefined;
  /**
   * Returns all currencies that an unlisted pair may consist of, judging by its name; `undefined` if there are none.
   */
  readonly currenciesOf: (name: string) => readonly string[] | undefined;
};

/** Creates the look-up of the given pairs. */
export function pairNames(pairs: readonly NamedPair[], assets: Assets): PairNames {
  const byName = new Map(
    pairs.flatMap(pair =>
      [pair.wsname, pair.altname, pair.id].flatMap(name => (name === undefined ? [] : [[name, pair]])),
    ),
  );
  return {
    named: name => byName.get(name),
    currenciesOf: name => {
      const parts = Array.from({ length: Math.min(name.length, NAME_MAX) }, (_, at) => [
        name.slice(0, at),
        name.slice(at),
      ]);
      const found = parts.flatMap(([base = '', quote = '']) => {
        const both = [assets.get(base), assets.get(quote)];
        return both[0] === undefined || both[1] === undefined ? [] : [both[0], both[1]];
      });
      return found.length === 0 ? undefined : [...new Set(found)];
    },
  };
}

/** Maximum number of positions at which a split of a name into base and quote is tried. */
const NAME_MAX = 40;

const CURRENCY = /^[a-z0-9]{1,20}$/;
/**
 * States in which limit orders are accepted. In other states, such as `cancel_only` or `reduce_only`, a book is not
 * listed.
 */
const TRADED: readonly string[] = ['online', 'post_only', 'limit_only'];

/**
 * Reads the list of pairs. Only traded pairs with a `wsname` are books; of all others, such as dark pools, only the
 * names are kept. If several books have the same currencies, all of them count as unreadable. `decimals` are those of
 * the balances, by asset id.
 */
export function assetPairs(
  result: unknown,
  assets: Assets,
  unreadable: UnreadableRow[],
  decimals: ReadonlyMap<string, number> = new Map(),
): { readonly byBook: ReadonlyMap<string, KrakenPair>; readonly all: readonly NamedPair[] } {
  const byBook = new Map<string, KrakenPair>();
  const all: NamedPair[] = [];
  const twice = new Set<string>();
  const listed = keyedRows(
    result,
    'result',
    (id, of) => {
      const isBook =
        optional(of, 'wsname', text) !== undefined && TRADED.includes(optional(of, 'status', text) ?? 'online');
      // A pair that is not traded is skipped if its assets are no longer listed.
      const names = isBook || hasAssets(of, assets) ? namedPair(id, of, assets) : null;
      if (names === null) return null;
      // Names are kept even if the rules of the book turn out to be unreadable.
      all.push(names);
      return isBook ? { ...names, rules: pairRules(names.book, of, decimals.get(text(of, 'base'))) } : null;
    },
    unreadable,
    id => ({ id }),
  );
  for (const pair of listed) {
    if (pair === null) continue;
    if (byBook.has(pair.book)) twice.add(pair.book);
    byBook.set(pair.book, pair);
  }
  for (const book of twice) {
    byBook.delete(book);
    unreadable.push({ why: `several pairs are ${book}`, book });
  }
  return { byBook, all };
}

const hasAssets = (of: Row, assets: Assets): boolean => ['base', 'quote'].every(field => assets.has(String(of[field])));

function namedPair(id: string, of: Row, assets: Assets): NamedPair | null {
  const [base, quote] = [currency(of, 'base', assets), currency(of, 'quote', assets)];
  // A name with characters other than letters and digits, such as that of an asset on hold, is no currency of a book.
  if (!CURRENCY.test(base) || !CURRENCY.test(quote)) return null;
  const wsname = optional(of, 'wsname', text);
  const costDecimals = optional(of, 'cost_decimals', count);
  return {
    ...{ id, altname: filled(of, 'altname'), wsname, base, quote, book: `${base}_${quote}` },
    ...(costDecimals !== undefined && { costDecimals }),
  };
}

/** `baseDecimals`: number of decimals of balances in the base currency; `undefined` if unknown. */
function pairRules(book: string, of: Row, baseDecimals = Infinity): AvailableBook {
  // The exchange accepts amounts with more decimals than its balances have, and rounds what it credits. Source:
  // github.com/ccxt/ccxt/pull/26142.
  const [priceDecimals, lotDecimals] = [count(of, 'pair_decimals'), Math.min(count(of, 'lot_decimals'), baseDecimals)];
  for (const [field, decimals] of Object.entries({ pair_decimals: priceDecimals, lot_decimals: lotDecimals }))
    if (decimals > DECIMALS_MAX) throw fault(field, `at most ${DECIMALS_MAX}`, decimals);
  const tickSize = optional(of, 'tick_size', krakenDecimal) ?? powerOfTenth(priceDecimals);
  return {
    book,
    tickSize,
    lotSize: powerOfTenth(lotDecimals),
    minimumAmount: krakenDecimal(of, 'ordermin'),
    // The exchange publishes no maximum, so this program sets one: the largest number of lots that a double represents
    // exactly.
    maximumAmount: textOfMoney((BigInt(Number.MAX_SAFE_INTEGER) * 10n ** BigInt(18 - lotDecimals)) as Money),
    minimumPrice: tickSize,
    maximumPrice: LARGE,
    minimumValue: optional(of, 'costmin', krakenDecimal) ?? '0',
    maximumValue: LARGE,
    tiers: feeTiers(of),
  };
}

/** Value for a maximum that the exchange does not set. */
const LARGE = '99999999999999999999';
const powerOfTenth = (decimals: number): string => (decimals === 0 ? '1' : `0.${'1'.padStart(decimals, '0')}`);

function currency(of: Row, field: string, assets: Assets): string {
  const found = assets.get(text(of, field));
  if (found === undefined) throw fault(field, "an id from the exchange's list of assets", of[field]);
  return found;
}

/**
 * Reads the fee schedule. Each rate, in percent, applies from its 30-day volume on. A book without a maker schedule
 * charges makers the taker rate.
 */
function feeTiers(of: Row): readonly FeeTier[] {
  const takers = schedule(of, 'fees');
  const makers = optional(of, 'fees_maker', schedule) ?? [];
  const from = [...new Set([...takers, ...makers].map(({ volume }) => volume))].sort((a, b) => (a < b ? -1 : 1));
  const rateAt = (steps: readonly Step[], volume: bigint) => steps.findLast(step => step.volume <= volume)?.rate;
  return from.flatMap((volume, n) => {
    const taker = rateAt(takers, volume);
    if (taker === undefined) return [];
    const maker = rateAt(makers, volume) ?? taker;
    const upTo = from[n + 1];
    return [{ volume: upTo === undefined ? LARGE : textOfMoney(upTo), maker, taker }];
  });
}

type Step = { readonly volume: Money; readonly rate: string };

function schedule(of: Row, field: string): readonly Step[] {
  const steps = list(
    of[field],
    element => {
      const [volume, percent] = list(element, unfoldedDecimal, field);
      if (volume === undefined || percent === undefined) throw fault(field, 'a volume and a rate', element);
      return { volume: moneyOf(volume), rate: percentRate(field, percent) };
    },
    field,
  );
  return [...steps].sort((a, b) => (a.volume < b.volume ? -1 : a.volume > b.volume ? 1 : 0));
}

/** Converts percent to an exact fraction. */
export function percentRate(field: string, percent: string): string {
  const atto = moneyOf(percent);
  if (atto % 100n !== 0n) throw fault(field, 'at most 16 decimals', percent);
  return textOfMoney((atto / 100n) as Money);
}

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
import { krakenDecimal, unfoldedDecimal } from './numbers.ts';

/** Short names of the exchange that differ from the usual tickers. Source: ccxt 4.5.84 js/src/kraken.js, `commonCurrencies`. */
const RENAMED: Readonly<Record<string, string>> = { XBT: 'btc', XDG: 'doge' };

/** Returns the currency of a short name, such as `btc` for `XBT` and `usd.f` for `USD.F`. */
export const currencyOfAltname = (altname: string): string => RENAMED[altname] ?? altname.toLowerCase();

/** Currency by the exchange's id, such as `btc` for `XXBT`. */
export type Assets = ReadonlyMap<string, string>;

/** Reads the list of assets. */
export function assetNames(result: unknown): Assets {
  const of = row(result, 'result');
  return new Map(Object.keys(of).map(id => [id, currencyOfAltname(filled(row(of[id], id), 'altname'))]));
}

/** Book at the exchange, with its rules and its three names. */
export type KrakenPair = {
  /** Name as in trades and fees, such as `XXBTZUSD`. */
  readonly id: string;
  /** Name as in orders, such as `XBTUSD`. */
  readonly altname: string;
  /** Name on the version 1 stream, such as `XBT/USD`. */
  readonly wsname: string;
  readonly base: string;
  readonly quote: string;
  readonly rules: AvailableBook;
};

const CURRENCY = /^[a-z0-9]{1,20}$/;
/** States in which limit orders are accepted. In `cancel_only` and `reduce_only`, a book is not listed. */
const TRADED: readonly string[] = ['online', 'post_only', 'limit_only'];

/**
 * Reads the list of pairs. Pairs without a `wsname` (dark pools) and pairs that are not traded are omitted. Two pairs
 * of the same currencies are both unreadable.
 */
export function assetPairs(
  result: unknown,
  assets: Assets,
  unreadable: UnreadableRow[],
): ReadonlyMap<string, KrakenPair> {
  const pairs = new Map<string, KrakenPair>();
  const twice = new Set<string>();
  const listed = keyedRows(
    result,
    'result',
    (id, of) => assetPair(id, of, assets),
    unreadable,
    id => ({ id }),
  );
  for (const pair of listed) {
    if (pair === null) continue;
    const { book } = pair.rules;
    if (pairs.has(book)) twice.add(book);
    pairs.set(book, pair);
  }
  for (const book of twice) {
    pairs.delete(book);
    unreadable.push({ why: `several pairs are ${book}`, book });
  }
  return pairs;
}

function assetPair(id: string, of: Row, assets: Assets): KrakenPair | null {
  const status = optional(of, 'status', text) ?? 'online';
  const wsname = optional(of, 'wsname', text);
  if (wsname === undefined || !TRADED.includes(status)) return null;
  const [base, quote] = [currency(of, 'base', assets), currency(of, 'quote', assets)];
  // A name with other characters, such as that of an asset on hold, is no currency of a book.
  if (!CURRENCY.test(base) || !CURRENCY.test(quote)) return null;
  const book = `${base}_${quote}`;
  const [priceDecimals, lotDecimals] = [count(of, 'pair_decimals'), count(of, 'lot_decimals')];
  if (lotDecimals > DECIMALS_MAX) throw fault('lot_decimals', `at most ${DECIMALS_MAX}`, lotDecimals);
  const tickSize = optional(of, 'tick_size', krakenDecimal) ?? powerOfTenth(priceDecimals);
  const rules: AvailableBook = {
    book,
    tickSize,
    lotSize: powerOfTenth(lotDecimals),
    minimumAmount: krakenDecimal(of, 'ordermin'),
    // The exchange publishes no maximum. The largest count of lots that is exact is the bound of this program.
    maximumAmount: textOfMoney((BigInt(Number.MAX_SAFE_INTEGER) * 10n ** BigInt(18 - lotDecimals)) as Money),
    minimumPrice: tickSize,
    maximumPrice: LARGE,
    minimumValue: optional(of, 'costmin', krakenDecimal) ?? '0',
    maximumValue: LARGE,
    tiers: feeTiers(of),
  };
  return { id, altname: filled(of, 'altname'), wsname, base, quote, rules };
}

const DECIMALS_MAX = 18;
/** Stands for no maximum. */
const LARGE = '99999999999999999999';
const powerOfTenth = (decimals: number): string => (decimals === 0 ? '1' : `0.${'1'.padStart(decimals, '0')}`);

function currency(of: Row, field: string, assets: Assets): string {
  const found = assets.get(text(of, field));
  if (found === undefined) throw fault(field, 'an id of the list of assets', of[field]);
  return found;
}

/**
 * Reads the fee schedule: rates in percent from a 30-day volume on. A book without a maker schedule charges makers the
 * taker rate.
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

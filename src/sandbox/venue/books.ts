/** Initial books of the embedded exchange, and the fee tiers of each quote group. */
import type { BookRules, DecimalText, FeeTier } from '../../core/index.ts';

export type FeeSchedule = {
  /** Group of the 30-day volume: books quoted in usd and usdt share one group. */
  readonly group: string;
  readonly tiers: readonly FeeTier[];
};

export type BookSetup = BookRules & {
  readonly fees?: FeeSchedule;
  /**
   * Unit of amounts, for a recorded market whose unit differs from the unit of the rules. Default: the unit of the
   * rules.
   */
  readonly lot?: DecimalText;
};

/** Upper bound of the last tier in replies (public-facts 4.1). */
export const NO_BOUND = '9999999999';

/**
 * Builds tiers from rows of upper bound, maker fee and taker fee. The fees in a row are in thousandths of a percent.
 */
const tiers = (rows: readonly (readonly [string, number, number])[]): FeeTier[] =>
  rows.map(([volume, maker, taker]) => ({ volume, maker: fraction(maker), taker: fraction(taker) }));
const fraction = (thousandths: number): string => `0.${String(thousandths).padStart(5, '0')}`;

/** Fees of books quoted in USD, captured live in 2026-09 (public-facts 4.1). */
const USD: FeeSchedule = {
  group: 'usd',
  tiers: tiers([
    ['1000', 300, 360],
    ['5000', 239, 333],
    ['10000', 205, 282],
    ['50000', 171, 243],
    ['100000', 137, 205],
    ['1000000', 114, 154],
    ['5000000', 85, 95],
    ['10000000', 72, 82],
    ['20000000', 60, 69],
    ['30000000', 50, 60],
    [NO_BOUND, 40, 50],
  ]),
};
const MXN: FeeSchedule = {
  group: 'mxn',
  tiers: tiers([
    ['20000', 600, 780],
    ['100000', 590, 760],
    ['500000', 570, 741],
    ['1000000', 560, 728],
    ['1500000', 550, 715],
    ['5000000', 500, 650],
    ['50000000', 450, 585],
    ['150000000', 200, 260],
    [NO_BOUND, 100, 130],
  ]),
};
/** Fees of books quoted in BRL: ten tiers. The first and last tiers are published; the other tiers are invented. */
const BRL: FeeSchedule = {
  group: 'brl',
  tiers: tiers([
    ['541000', 200, 400],
    ['1082000', 190, 380],
    ['2705000', 180, 350],
    ['5410000', 165, 320],
    ['10820000', 150, 290],
    ['27050000', 135, 260],
    ['54100000', 120, 230],
    ['108200000', 105, 200],
    ['270500000', 95, 175],
    [NO_BOUND, 80, 150],
  ]),
};

/** Returns the fee schedule of a quote currency. An unknown currency uses the usd table with its own volume. */
export function feesOf(minor: string): FeeSchedule {
  if (minor === 'usd' || minor === 'usdt' || minor === 'usds') return USD;
  if (minor === 'mxn') return MXN;
  return minor === 'brl' ? BRL : { group: minor, tiers: USD.tiers };
}

/** Returns the rules of a book from its name, tick and minimum and maximum of amount, price and value. */
export const bookRow = (
  book: string,
  tickSize: string,
  [minimumAmount, maximumAmount]: readonly [string, string],
  [minimumPrice, maximumPrice]: readonly [string, string],
  [minimumValue, maximumValue]: readonly [string, string],
): BookRules => ({
  book,
  tickSize,
  minimumAmount,
  maximumAmount,
  minimumPrice,
  maximumPrice,
  minimumValue,
  maximumValue,
});

const MXN_VALUE = ['10.00', '200000000.00'] as const;
const USD_VALUE = ['1.00', '10000000.00'] as const;

/**
 * Rules of the initial books. The rules of btc_mxn are captured from the exchange; the ticks of btc_usd, sol_mxn and
 * ltc_mxn are observed. All other values are invented (public-facts 4.1, 16.3).
 */
export const BOOKS: readonly BookRules[] = [
  bookRow('btc_mxn', '10', ['0.00000060', '600.00000000'], ['100000', '40000000'], MXN_VALUE),
  bookRow('eth_mxn', '1', ['0.00001000', '5000.00000000'], ['1000', '2000000'], MXN_VALUE),
  bookRow('xrp_mxn', '0.001', ['0.10000000', '5000000.00000000'], ['0.100', '5000.000'], MXN_VALUE),
  bookRow('usd_mxn', '0.001', ['0.50000000', '5000000.00000000'], ['1.000', '1000.000'], MXN_VALUE),
  bookRow('usdt_mxn', '0.001', ['0.50000000', '5000000.00000000'], ['1.000', '1000.000'], MXN_VALUE),
  bookRow('sol_mxn', '0.01', ['0.00050000', '500000.00000000'], ['50.00', '90000.00'], MXN_VALUE),
  bookRow('ltc_mxn', '0.1', ['0.00100000', '100000.00000000'], ['50.0', '100000.0'], MXN_VALUE),
  bookRow('btc_usd', '1', ['0.00000060', '600.00000000'], ['5000', '2000000'], USD_VALUE),
  bookRow('eth_usd', '0.1', ['0.00001000', '5000.00000000'], ['50.0', '100000.0'], USD_VALUE),
  bookRow('btc_brl', '1', ['0.00000060', '600.00000000'], ['30000', '10000000'], ['1.00', '50000000.00']),
];

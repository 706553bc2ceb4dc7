/** Smallest order sizes that a book accepts, and the sizes of a configuration reduced in proportion. */
import type { Config } from '../../config.ts';
import { money, moneyOf, textOfMoney, type Money } from '../../core/index.ts';
import type { LastTraded } from './promotionJudge.ts';

export type SmallestAmount = {
  /** Amount of one order, in the base currency. */
  readonly lots: Money;
  /** Amount of one order in the candidate, at least `lots`. */
  readonly of: Money;
  /** `lots` as a share of `of`, such as `1/80`, or `all`. */
  readonly share: string;
  readonly why: string;
};

const UNIT = 10n ** 18n;

/**
 * Returns an order amount that meets the book's minimum amount and value, and is at most the candidate's amount.
 *
 * The book's minimum is raised by a quarter, so that the order stays valid if the price falls by a fifth. If sizes are
 * skewed, the minimum is also doubled, because the smaller side would otherwise never be placed.
 */
export function smallestAmount({ strategy }: Config, { instrument, midTicks }: LastTraded): SmallestAmount {
  const price = BigInt(Math.floor(midTicks));
  const { amountMin, valueMin, lotMoney, major } = instrument;
  // The amount is rounded up, because the exchange rejects a lower value.
  const byValue = price > 0n ? (valueMin + price - 1n) / price : 0n;
  const least = byValue > BigInt(amountMin) ? byValue : BigInt(amountMin);
  const leans = 'skew' in strategy && typeof strategy.skew === 'object' && 'sizeRange' in strategy.skew;
  const lots = (least * (leans ? 10n : 5n) + 3n) / 4n;
  const of = moneyOf(strategy.amount);
  const asked = money(lots * lotMoney);
  const amount = asked < of ? asked : of;
  const which =
    byValue > BigInt(amountMin) ? 'the amount that has the minimum order value' : 'the minimum order amount';
  return {
    ...{ lots: amount, of },
    share: amount === of ? 'all' : `1/${Number(((of * 10n) / amount).toString()) / 10}`,
    why:
      amount === of
        ? `the candidate's own amount, which does not exceed the book's minimum plus a safety margin, ${textOfMoney(asked)} ${major}`
        : `${which}, ${textOfMoney(money(least * lotMoney))} ${major}, plus 25% in case the price falls${leans ? ', doubled because sizes are skewed' : ''}`,
  };
}

/**
 * Keys that are reduced in proportion to the order size. Sizes of the market (a wall, a depth) or of the account (a
 * target) are not reduced.
 */
const SIZES: readonly { readonly path: readonly string[]; readonly round: 'up' | 'down' }[] = [
  { path: ['strategy', 'amount'], round: 'down' },
  { path: ['strategy', 'levelAmountStep'], round: 'down' },
  { path: ['strategy', 'skew', 'sizeRange'], round: 'up' },
  { path: ['strategy', 'risk', 'amount'], round: 'up' },
  { path: ['limits', 'positionMax'], round: 'up' },
  { path: ['limits', 'orderValueMax'], round: 'up' },
  { path: ['limits', 'orderAmountMax'], round: 'up' },
  { path: ['limits', 'drawdownMax'], round: 'up' },
  { path: ['limits', 'dayLossMax'], round: 'up' },
  { path: ['hedge', 'band'], round: 'down' },
  { path: ['hedge', 'residual'], round: 'down' },
  { path: ['hedge', 'risk'], round: 'up' },
  { path: ['hedge', 'costDayMax'], round: 'up' },
  { path: ['hedge', 'elsewhere', 'valueMin'], round: 'down' },
  { path: ['hedge', 'elsewhere', 'driftMax'], round: 'up' },
  { path: ['hedge', 'elsewhere', 'debtMax'], round: 'up' },
];

/** Returns the reduced sizes with their old values; absent keys stay absent. */
export function scaledSizes(
  config: Config,
  { lots, of }: SmallestAmount,
): readonly { readonly path: readonly string[]; readonly value: string; readonly was: string }[] {
  if (lots === of) return [];
  return SIZES.flatMap(({ path, round }) => {
    const was = path.reduce<unknown>((at, key) => (at as Readonly<Record<string, unknown>> | undefined)?.[key], config);
    if (typeof was !== 'string') return [];
    // In a sum of money, such as `5000 mxn`, the currency comes after the digits.
    const [digits = '', ...unit] = was.split(' ');
    const value = [textOfMoney(scaled(moneyOf(digits), lots, of, round)), ...unit].join(' ');
    return [{ path, value, was }];
  });
}

/** Smallest step of an amount: eight decimals, as in the exchange's amounts and sums. */
const STEP = UNIT / 10n ** 8n;

function scaled(sum: Money, lots: Money, of: Money, round: 'up' | 'down'): Money {
  const product = sum * lots;
  const by = of * STEP;
  return money(((round === 'up' ? product + by - 1n : product) / by) * STEP);
}

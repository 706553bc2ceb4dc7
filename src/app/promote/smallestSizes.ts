/** The smallest sizes that a book takes, and a configuration with every size in that proportion. */
import type { Config } from '../../config.ts';
import { money, moneyOf, textOfMoney } from '../../core/index.ts';
import type { Money } from '../../core/index.ts';
import type { LastTraded } from './promotionJudge.ts';

export type SmallestAmount = {
  /** Of one order, in the major currency. */
  readonly lots: Money;
  /** What of the candidate's that is: both as money, 1 at most. */
  readonly of: Money;
  /** In words, such as `1/80`. */
  readonly share: string;
  readonly why: string;
};

const UNIT = 10n ** 18n;

/** The smallest amount and the smallest value of the book, with a quarter more so that a price that falls by a fifth leaves it possible; twice that where sizes lean, or leaned ones were never placed. At most what the candidate has. */
export function smallestAmount({ strategy }: Config, { instrument, midTicks }: LastTraded): SmallestAmount {
  const price = BigInt(Math.floor(midTicks));
  const { amountMin, valueMin, lotMoney, major } = instrument;
  // Rounded up: less would be refused.
  const byValue = price > 0n ? (valueMin + price - 1n) / price : 0n;
  const least = byValue > BigInt(amountMin) ? byValue : BigInt(amountMin);
  const leans = 'skew' in strategy && typeof strategy.skew === 'object' && 'sizeRange' in strategy.skew;
  const lots = (least * (leans ? 10n : 5n) + 3n) / 4n;
  const of = moneyOf(strategy.amount);
  const asked = money(lots * lotMoney);
  const amount = asked < of ? asked : of;
  const which = byValue > BigInt(amountMin) ? 'the smallest value of an order' : 'the smallest amount of an order';
  return {
    ...{ lots: amount, of },
    share: amount === of ? 'all' : `1/${Number(((of * 10n) / amount).toString()) / 10}`,
    why:
      amount === of
        ? `the candidate's own, as the book asks for ${textOfMoney(asked)} ${major}`
        : `${which}, ${textOfMoney(money(least * lotMoney))} ${major}, and a quarter more for a falling price${leans ? ', twice, because its sizes lean' : ''}`,
  };
}

/** Amounts and sums that grow with the size of an order; what is about the market (a wall, a depth) or the account (a target) is not. */
const SIZES: readonly { readonly path: readonly string[]; readonly round: 'up' | 'down' }[] = [
  { path: ['strategy', 'amount'], round: 'down' },
  { path: ['strategy', 'levelAmountStep'], round: 'down' },
  { path: ['strategy', 'skew', 'sizeRange'], round: 'up' },
  { path: ['strategy', 'risk', 'amount'], round: 'up' },
  { path: ['limits', 'positionMax'], round: 'up' },
  { path: ['limits', 'orderValueMax'], round: 'up' },
  { path: ['limits', 'drawdownMax'], round: 'up' },
  { path: ['limits', 'dayLossMax'], round: 'up' },
  { path: ['hedge', 'band'], round: 'down' },
  { path: ['hedge', 'residual'], round: 'down' },
  { path: ['hedge', 'risk'], round: 'up' },
  { path: ['hedge', 'costDayMax'], round: 'up' },
];

/** With what each was. Those that are not there stay so. */
export function scaledSizes(
  config: Config,
  { lots, of }: SmallestAmount,
): readonly { readonly path: readonly string[]; readonly value: string; readonly was: string }[] {
  if (lots === of) return [];
  return SIZES.flatMap(({ path, round }) => {
    const was = path.reduce<unknown>((at, key) => (at as Readonly<Record<string, unknown>> | undefined)?.[key], config);
    if (typeof was !== 'string') return [];
    // A sum of money has its currency behind it.
    const [digits = '', ...unit] = was.split(' ');
    const value = [textOfMoney(scaled(moneyOf(digits), lots, of, round)), ...unit].join(' ');
    return [{ path, value, was }];
  });
}

/** To eight decimals, as amounts and sums of the exchange have them. */
const STEP = UNIT / 10n ** 8n;

function scaled(sum: Money, lots: Money, of: Money, round: 'up' | 'down'): Money {
  const product = sum * lots;
  const by = of * STEP;
  return money(((round === 'up' ? product + by - 1n : product) / by) * STEP);
}

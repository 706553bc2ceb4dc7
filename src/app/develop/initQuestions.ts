/** The ten questions of `puntas init`: text, proposal with its reason, and check of the answer. */
import {
  BOOK_NAME,
  isDecimalText,
  moneyOf,
  moneyOfAmount,
  moneyOfValue,
  textOfMoney,
  valueOf,
  type Amount,
  type Balance,
  type Instrument,
  type Money,
  type Price,
} from '../../core/index.ts';
import { configSchema } from '../../config.ts';
import type { Rules } from '../../live/rules.ts';

export type InitQuestion = {
  /** Name of the question and of its flag. */
  readonly name: QuestionName;
  /** Text of the question: the requested value, with its unit. */
  readonly text: string;
  /** Proposed answer; `null` if only the operator can know it. */
  readonly proposal: string | null;
  readonly why: string;
  /** Returns the problem of an answer; `null` if it is valid. */
  readonly problem: (answer: string) => string | null;
};

export const QUESTION_NAMES = [
  'exchange',
  'book',
  'instance',
  'half-spread',
  'levels',
  'amount',
  'position-max',
  'drawdown-max',
  'day-loss-max',
  'target',
] as const;
export type QuestionName = (typeof QUESTION_NAMES)[number];

/** Market data read before the questions about money. */
export type MarketRead = {
  readonly rules: Rules;
  /** Mid price in ticks, rounded down. */
  readonly mid: Price;
  /** Balances of the account; `null` without a key. */
  readonly balances: readonly Balance[] | null;
};

/** Answer that selects the embedded exchange. */
export const EMBEDDED = 'embedded';
/** Answer that selects the addresses in config/live.yaml. */
export const LIVE = 'live';
/** Answer that omits the key `inventory.target`. */
export const AS_FOUND = 'found';

const NAMES = Array.from({ length: 99 }, (_, i) => `mm${i + 1}`);

/** Returns the reason why the configuration would reject an address; `null` if the address is valid. */
export function addressProblem(addresses: { readonly restUrl: string; readonly streamUrl?: string }): string | null {
  const { error } = configSchema.shape.exchange.safeParse({ kind: 'remote', ...addresses });
  return error?.issues[0]?.message ?? null;
}

/** Questions about exchange, book and name, asked before any data is read. */
export const placeQuestions = {
  exchange: (): InitQuestion => ({
    name: 'exchange',
    text: `exchange to trade on: ${EMBEDDED} (play money), ${LIVE} (the addresses of config/live.yaml), or the https address of a REST interface`,
    proposal: EMBEDDED,
    why: 'no real money is at risk',
    problem: answer =>
      answer === EMBEDDED || answer === LIVE
        ? null
        : /^https?:/.test(answer)
          ? addressProblem({ restUrl: answer })
          : `expected ${EMBEDDED}, ${LIVE} or an address like https://api.example.com`,
  }),
  book: (books: readonly string[]): InitQuestion => ({
    name: 'book',
    text: 'book to trade, <base>_<quote>',
    proposal: null,
    why: '',
    problem: answer =>
      !BOOK_NAME.test(answer)
        ? 'expected <base>_<quote>, like btc_mxn'
        : books.includes(answer)
          ? null
          : `${answer} is not traded at this exchange; expected one of ${books.join(', ')}`,
  }),
  /** Returns the question about the bot's name. `isFree` returns whether no bot has a name yet. */
  instance: (isFree: (name: string) => boolean): InitQuestion => ({
    name: 'instance',
    text: 'name of this bot in its order ids; must differ from the names of other bots of the account',
    proposal: NAMES.find(isFree) ?? null,
    why: 'no bot in this folder uses this name yet',
    problem: answer => (/^[A-Za-z0-9]{1,12}$/.test(answer) ? null : 'expected 1 to 12 letters and digits, like mm1'),
  }),
};

/** Proposed margin above the maker fee, in bps, which compensates adverse selection. */
const OVER_FEE_BPS = 5;

/** Returns the questions about distance and number of levels. */
export const quoteQuestions = ({ rules }: MarketRead): readonly InitQuestion[] => {
  const fee = rules.makerRate / 10_000;
  const least = Math.ceil(10 * fee + 5) / 10;
  return [
    {
      name: 'half-spread',
      text: 'distance of the first level from the mid price, in bps',
      proposal: String(Math.ceil(10 * (fee + OVER_FEE_BPS)) / 10),
      why: `the maker fee of ${fee} bps plus ${OVER_FEE_BPS} bps`,
      problem: answer =>
        !(/^\d+(\.\d+)?$/.test(answer) && Number(answer) <= 1_000)
          ? 'expected a number of bps up to 1000, like 65'
          : Number(answer) >= least
            ? null
            : `a round trip would lose money; expected at least ${least} bps, which is 0.5 bps above the maker fee`,
    },
    {
      name: 'levels',
      text: 'number of price levels on each side',
      proposal: '2',
      why: 'two levels per side are enough for a new bot',
      problem: answer => (/^([1-9]|10)$/.test(answer) ? null : 'expected a whole number from 1 to 10'),
    },
  ];
};

/** Divisor of the smaller balance; the quotient is the proposed amount of an order. */
const SHARE = 100n;
/** Multiple of the minimum order that is proposed without a key or a balance. */
const LEAST_TIMES = 20n;

/** Returns a warning if the balances cannot cover all orders of a side; `null` if they can or are unknown. */
export function balanceWarning({ rules: { instrument: i }, mid, balances }: MarketRead, side: Money): string | null {
  if (balances === null) return null;
  const there = (smallerSide(i, mid, balances) * i.lotMoney) as Money;
  if (there >= side) return null;
  return `the orders of one side need ${textOfMoney(side)} ${i.major}, but the smaller balance is worth only ${textOfMoney(there)} ${i.major}; deposit more, or the bot cannot place all orders`;
}

/** Returns the question about the amount of one order. */
export function amountQuestion({ rules: { instrument: i }, mid, balances }: MarketRead): InitQuestion {
  const least = minimumLots(i, mid);
  const share = balances === null ? 0n : smallerSide(i, mid, balances) / SHARE;
  const isShare = share >= BigInt(least);
  return {
    name: 'amount',
    text: `amount of one order, in ${i.major}`,
    proposal: lotsText(i, isShare ? share : LEAST_TIMES * BigInt(least)),
    why: isShare
      ? 'a hundredth of the smaller of your two balances, by value'
      : `${LEAST_TIMES} times the minimum order amount${balances === null ? '; without an API key, your balances are unknown' : ''}`,
    problem: answer =>
      notAmount(answer) ??
      (moneyOf(answer) >= moneyOfAmount(i, least as Amount)
        ? null
        : `the book rejects orders below ${lotsText(i, BigInt(least))} ${i.major}`),
  };
}

/** Returns the questions about limits. `levels` and `amount` are earlier answers. */
export function limitQuestions(
  { rules: { instrument: i }, mid }: MarketRead,
  levels: number,
  amount: string,
): readonly InitQuestion[] {
  const side = moneyOf(amount) * BigInt(levels);
  const position = 4n * side;
  const worth = (position * BigInt(mid) * i.tickMoney) / 10n ** 18n;
  const loss = twoDigits(worth / 20n);
  const lossQuestion = (name: 'drawdown-max' | 'day-loss-max', text: string): InitQuestion => ({
    name,
    text: `${text}, in ${i.minor}`,
    proposal: textOfMoney(loss as Money),
    why: 'a twentieth of the current value of the maximum position',
    problem: notAmount,
  });
  return [
    {
      name: 'position-max',
      text: `maximum distance of inventory from its target, in ${i.major}`,
      proposal: textOfMoney(position as Money),
      why: 'four times the sum of all orders of one side',
      problem: answer =>
        notAmount(answer) ??
        (moneyOf(answer) >= side
          ? null
          : `expected at least the sum of all orders of one side, ${textOfMoney(side as Money)} ${i.major}`),
    },
    lossQuestion('drawdown-max', 'maximum drawdown of profit before trading halts'),
    lossQuestion('day-loss-max', 'maximum loss in a UTC day before trading halts'),
  ];
}

/** Returns the question about the inventory target. */
export const targetQuestion = ({ rules: { instrument: i }, balances }: MarketRead): InitQuestion => {
  const held = balances?.find(({ currency }) => currency === i.major)?.total;
  return {
    name: 'target',
    text: `target inventory, in ${i.major} (${AS_FOUND} means the holdings at the first start)`,
    proposal: AS_FOUND,
    why:
      held === undefined
        ? 'the holdings are unknown until the first start'
        : `the current holdings are ${textOfMoney(moneyOf(held))} ${i.major}`,
    problem: answer =>
      answer === AS_FOUND || isDecimalText(answer)
        ? null
        : `expected an amount like 0.5, or ${AS_FOUND} for the holdings at the first start`,
  };
};

const notAmount = (answer: string): string | null =>
  isDecimalText(answer) && moneyOf(answer) > 0n ? null : 'expected an amount above zero, like 2000 or 0.01';

/** Returns the minimum order amount in lots, which is also valid at a price 10% below the mid price. */
function minimumLots(i: Instrument, mid: Price): number {
  const far = BigInt(Math.max(1, Math.floor(mid * 0.9)));
  return Math.max(i.amountMin, Number(i.valueMin / far + 1n));
}

/** Returns the smaller of the two balances, by value, in lots. */
function smallerSide(i: Instrument, mid: Price, balances: readonly Balance[]): bigint {
  const total = (currency: string): bigint => moneyOf(balances.find(one => one.currency === currency)?.total ?? '0');
  const bought = total(i.minor) / moneyOfValue(i, valueOf(mid, 1 as Amount));
  const held = total(i.major) / i.lotMoney;
  return bought < held ? bought : held;
}

const lotsText = (i: Instrument, lots: bigint): string => textOfMoney((twoDigits(lots) * i.lotMoney) as Money);

/** Rounds up to two significant digits, enough for a proposal. */
export function twoDigits(n: bigint): bigint {
  const unit = 10n ** BigInt(Math.max(0, n.toString().length - 2));
  return ((n + unit - 1n) / unit) * unit;
}

/** Readers of account replies: orders, trades of the account, balances, fees and status. */
import {
  moneyOf,
  type Balance,
  type BookFee,
  type DecimalText,
  type Millis,
  type OrderReport,
  type OwnTrade,
  type UnreadableRow,
} from '../../../core/index.ts';
import { hundredth } from './marketReplies.ts';
import * as wire from '../../wire/wire.ts';
import type { Row } from '../../wire/wire.ts';

/** Order with the additional fields of a lookup. */
export type OrderDetails = OrderReport & {
  readonly timeInForce?: string;
  readonly originalValue?: DecimalText;
  readonly updatedAt?: Millis;
  readonly marginOrderType?: string;
};

export type TradeDetails = OwnTrade & {
  readonly majorCurrency?: string;
  readonly minorCurrency?: string;
  readonly marginOrderType?: string;
};

export type AccountFees = {
  readonly books: readonly BookFee[];
  readonly deposits: readonly {
    readonly currency: string;
    readonly method: string;
    readonly fee: DecimalText;
    readonly fixed: boolean;
  }[];
  readonly withdrawals: ReadonlyMap<string, DecimalText>;
};

/** Text fields of the account status, with their names on the wire. Interface document 2.5 lists their values. */
const STATUS_WORDS = {
  businessName: 'business_name',
  bornInResidence: 'born_in_residence',
  cellphoneNumber: 'cellphone_number',
  cellphoneNumberStored: 'cellphone_number_stored',
  countryOfResidence: 'country_of_residence',
  dateOfBirth: 'date_of_birth',
  email: 'email',
  emailStored: 'email_stored',
  entityType: 'entity_type',
  firstName: 'first_name',
  gender: 'gender',
  lastName: 'last_name',
  officialId: 'official_id',
  originOfFunds: 'origin_of_funds',
  preferredCurrency: 'preferred_currency',
  proofOfResidency: 'proof_of_residency',
  referralCode: 'referral_code',
  signedContract: 'signed_contract',
  secondLastName: 'second_last_name',
  taxPayerType: 'tax_payer_type',
  userDefaultFiatCurrency: 'user_default_fiat_currency',
} as const;

const STATUS_SUMS = {
  cashDepositAllowance: 'cash_deposit_allowance',
  dailyLimit: 'daily_limit',
  dailyRemaining: 'daily_remaining',
  monthlyLimit: 'monthly_limit',
  monthlyRemaining: 'monthly_remaining',
} as const;

/**
 * All documented fields of the account status. Never log the fields, because they include personal data. The endpoint
 * is marked as work in progress, so only the first two fields are required. `avatarImg` has another name in current
 * replies (public facts 17).
 */
export type AccountStatus = {
  readonly clientId: string;
  readonly status: string;
  readonly createdAt?: Millis;
  readonly verificationLevel?: number;
  readonly avatarImg?: string;
  /** Second factors: any of `totp`, `email` and `fido`. */
  readonly twoFactorMethods: readonly string[];
} & { readonly [name in keyof typeof STATUS_WORDS]?: string } & {
  readonly [name in keyof typeof STATUS_SUMS]?: DecimalText;
};

/**
 * Reads the orders of a look-up or of open orders (rest-api 2.4, public-facts 7). The missing amount of a market order
 * is read as 0. Throws a WireFault if the shape is wrong.
 */
export const orderList = (payload: unknown, unreadable?: UnreadableRow[]): readonly OrderDetails[] =>
  wire.rows(payload, order, unreadable);

function order(element: unknown): OrderDetails {
  const of = wire.row(element);
  const type = wire.oneOf(of, 'type', ['limit', 'market']);
  // A market order by value has no amounts; a limit order must have both.
  const amount = (field: string) =>
    type === 'market' ? (wire.optional(of, field, wire.decimal) ?? '0') : wire.decimal(of, field);
  const [originalAmount, unfilledAmount] = [amount('original_amount'), amount('unfilled_amount')];
  if (type === 'limit' && moneyOf(unfilledAmount) > moneyOf(originalAmount))
    throw wire.fault('unfilled_amount', `at most the original amount ${originalAmount}`, unfilledAmount);
  return {
    book: wire.bookName(of, 'book'),
    oid: wire.exchangeId(of, 'oid'),
    side: wire.side(of, 'side'),
    type,
    status: status(of),
    originalAmount,
    unfilledAmount,
    createdAt: wire.time(of, 'created_at'),
    ...wire.present({
      price: type === 'limit' ? wire.decimal(of, 'price') : wire.optional(of, 'price', wire.decimal),
      originId: wire.optional(of, 'origin_id', wire.originId),
      timeInForce: wire.optional(of, 'time_in_force', wire.text),
      originalValue: wire.optional(of, 'original_value', wire.decimal),
      stop: wire.optional(of, 'stop', wire.decimal),
      triggeredAt: wire.optional(of, 'triggered_at', wire.time),
      updatedAt: wire.optional(of, 'updated_at', wire.time),
      marginOrderType: wire.optional(of, 'margin_order_type', wire.text),
    }),
  };
}

/**
 * Reads the state of an order. Older replies write the partially filled state with a dash (interface document, part 9).
 */
function status(of: Row): OrderReport['status'] {
  if (of['status'] === 'partial-fill') return 'partially filled';
  return wire.oneOf(of, 'status', ['queued', 'open', 'partially filled', 'completed', 'cancelled']);
}

/**
 * Reads user_trades and order_trades (rest-api 2.1, 2.2). Amounts and the fee are unsigned (public-facts 9.2); `side`
 * gives the direction. Throws a WireFault if the shape is wrong.
 */
export const ownTrades = (payload: unknown, unreadable?: UnreadableRow[]): readonly TradeDetails[] =>
  wire.rows(payload, ownTrade, unreadable);

function ownTrade(element: unknown): TradeDetails {
  const of = wire.row(element);
  const side = wire.side(of, 'side');
  const book = wire.bookName(of, 'book');
  const majorCurrency = wire.optional(of, 'major_currency', wire.currencyName);
  const minorCurrency = wire.optional(of, 'minor_currency', wire.currencyName);
  const [major, minor] = book.split('_');
  // The row has its currencies in `book` and in two fields of their own. If the two versions differ, the row is
  // rejected.
  if (majorCurrency !== undefined && majorCurrency.toLowerCase() !== major)
    throw wire.fault('major_currency', `that of ${book}`, majorCurrency);
  if (minorCurrency !== undefined && minorCurrency.toLowerCase() !== minor)
    throw wire.fault('minor_currency', `that of ${book}`, minorCurrency);
  return {
    book,
    tid: wire.integer(of, 'tid').toString(),
    oid: wire.exchangeId(of, 'oid'),
    createdAt: wire.time(of, 'created_at'),
    side,
    ...sums(of, [major!, minor!]),
    // `make_side` is an older name in order_trades (interface document, part 9).
    maker: wire.side(of, of['maker_side'] === undefined ? 'make_side' : 'maker_side') === side,
    ...wire.present({
      originId: wire.optional(of, 'origin_id', wire.originId),
      majorCurrency,
      minorCurrency,
      marginOrderType: wire.optional(of, 'margin_order_type', wire.text),
    }),
  };
}

/**
 * Reads the sums of an execution. Throws a WireFault if value, amount and price disagree, or if the fee exceeds the sum
 * from which the fee is deducted.
 */
function sums(
  of: Row,
  [majorName, minorName]: readonly [string, string],
): Pick<TradeDetails, 'price' | 'major' | 'minor' | 'feeAmount' | 'feeCurrency'> {
  const [price, major, minor] = [wire.decimal(of, 'price'), wire.magnitude(of, 'major'), wire.magnitude(of, 'minor')];
  const [value, stated] = [((moneyOf(price) as bigint) * moneyOf(major)) / MONEY_ONE, moneyOf(minor) as bigint];
  const [larger, smaller] = value > stated ? [value, stated] : [stated, value];
  if (larger - smaller > larger / 100n + MONEY_ONE / 100n)
    throw wire.fault('minor', `about ${major} times ${price}`, minor);
  const [feeAmount, feeCurrency] = [wire.magnitude(of, 'fees_amount'), wire.currencyName(of, 'fees_currency')];
  const taken = { [majorName]: major, [minorName]: minor }[feeCurrency.toLowerCase()];
  if (taken !== undefined && moneyOf(feeAmount) > moneyOf(taken))
    throw wire.fault('fees_amount', `at most ${taken}`, feeAmount);
  return { price, major, minor, feeAmount, feeCurrency };
}

const MONEY_ONE = moneyOf('1') as bigint;

/**
 * Reads balances (rest-api 4.9), each with its total, locked and available amount (rest-api 2.9). Currency names are
 * unchanged.
 */
export const balanceList = (payload: unknown, unreadable?: UnreadableRow[]): readonly Balance[] =>
  wire.rows(
    wire.row(payload)['balances'],
    element => {
      const of = wire.row(element, 'balances');
      const [total, locked, available] = [
        wire.decimal(of, 'total'),
        wire.decimal(of, 'locked'),
        wire.decimal(of, 'available'),
      ];
      // The document defines the available amount as the total minus the locked amount (rest-api 2.9).
      if (moneyOf(available) !== moneyOf(total) - moneyOf(locked))
        throw wire.fault('available', `total ${total} minus locked ${locked}`, available);
      return { currency: wire.currencyName(of, 'currency'), total, locked, available };
    },
    unreadable,
    'balances',
  );

/**
 * Reads fees as fractions, only from the `_decimal` rates. The deprecated rates do not state whether they apply to
 * makers or takers, and clients interpret them differently (public facts 9.1). The next tier's percentage becomes an
 * exact fraction. Throws a WireFault if the shape is wrong.
 */
export function fees(payload: unknown, unreadable?: UnreadableRow[]): AccountFees {
  const whole = wire.row(payload);
  const withdrawals = wire.optional(whole, 'withdrawal_fees', (from, field) => wire.row(from[field], field)) ?? {};
  return {
    books: wire.rows(whole['fees'], bookFee, unreadable, 'fees'),
    deposits:
      wire.optional(whole, 'deposit_fees', (from, field) => wire.rows(from[field], depositFee, unreadable, field)) ??
      [],
    withdrawals: new Map(Object.keys(withdrawals).map(currency => [currency, wire.decimal(withdrawals, currency)])),
  };
}

function bookFee(element: unknown): BookFee {
  const of = wire.row(element, 'fees');
  const nextMaker = wire.optional(of, 'next_maker_fee_percent', wire.decimal);
  return {
    book: wire.bookName(of, 'book'),
    maker: wire.decimal(of, 'maker_fee_decimal'),
    taker: wire.decimal(of, 'taker_fee_decimal'),
    ...wire.present({
      volumeCurrency: wire.optional(of, 'volume_currency', wire.text),
      currentVolume: wire.optional(of, 'current_volume', wire.decimal),
      nextVolume: wire.optional(of, 'next_volume', wire.decimal),
      nextMaker: nextMaker === undefined ? undefined : hundredth('next_maker_fee_percent', nextMaker),
    }),
  };
}

function depositFee(element: unknown): AccountFees['deposits'][number] {
  const of = wire.row(element, 'deposit_fees');
  return {
    currency: wire.currencyName(of, 'currency'),
    method: wire.text(of, 'method'),
    fee: wire.decimal(of, 'fee'),
    fixed: wire.flag(of, 'is_fixed'),
  };
}

/**
 * Reads the account status (rest-api 2.5). Throws a WireFault if `client_id` or `status` is missing, or if a field has
 * a wrong type; text values are not checked.
 */
export function accountStatus(payload: unknown): AccountStatus {
  const of = wire.row(payload);
  return {
    clientId: wire.identifier(of, 'client_id'),
    status: wire.filled(of, 'status'),
    twoFactorMethods: twoFactorMethods(of['enabled_two_factor_methods']),
    ...wire.present({
      createdAt: wire.optional(of, 'account_creation_date', wire.time),
      verificationLevel: wire.optional(of, 'verification_level', wire.count),
      avatarImg: wire.optional(of, 'avatar_img', wire.text) ?? wire.optional(of, 'gravatar_img', wire.text),
      ...fieldsAt(STATUS_WORDS, name => wire.optional(of, name, wire.text)),
      ...fieldsAt(STATUS_SUMS, name => wire.optional(of, name, wire.decimal)),
    }),
  };
}

const fieldsAt = <N extends string>(
  names: Readonly<Record<N, string>>,
  read: (name: string) => string | undefined,
): Readonly<Record<N, string | undefined>> =>
  Object.fromEntries(Object.entries<string>(names).map(([ours, theirs]) => [ours, read(theirs)])) as Record<
    N,
    string | undefined
  >;

/** Reads the second factors. The document describes text, but an example has a list (interface document 2.5). */
function twoFactorMethods(value: unknown): readonly string[] {
  const given = typeof value === 'string' ? [value] : (value ?? []);
  return wire.list(given, method => {
    if (typeof method !== 'string') throw wire.fault('enabled_two_factor_methods', 'words', method);
    return method;
  });
}

/** Reads the id of an order that was accepted or changed. Throws a WireFault if the shape is wrong. */
export const acceptedOrder = (payload: unknown): { readonly oid: string } => ({
  oid: wire.filled(wire.row(payload), 'oid'),
});

/** Reads the ids of the orders that the exchange reports as canceled. Throws a WireFault if the shape is wrong. */
export const canceledOids = (payload: unknown, unreadable?: UnreadableRow[]): readonly string[] =>
  wire.rows(
    payload,
    element => {
      if (typeof element !== 'string' || element === '') throw wire.fault('payload', 'order ids', element);
      return element;
    },
    unreadable,
  );

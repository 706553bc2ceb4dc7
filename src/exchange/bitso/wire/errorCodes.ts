/** Error codes of the exchange with their meaning and the bot's reaction, for both REST interfaces and RFQ. */
import type { Meaning } from '../../../core/index.ts';

/**
 * Reaction to a code. `look it up`: the outcome of the request is unknown or pending; look it up before acting.
 * `already done`: the requested state exists already. `never`: the code does not concern a trading bot, or a repeated
 * request cannot succeed.
 */
export type Advice = 'never' | 'look it up' | 'halt' | 'back off' | 'fix request' | 'funds' | 'already done';

export type ErrorMeaning = { readonly meaning: string; readonly advice: Advice };

/** Returns the entry of a code, or undefined for an unlisted code. */
export const meaningOf = (code: string): ErrorMeaning | undefined => TABLE.get(code);

/** Whether the exchange throttled the request: HTTP 420 or 429, or code 0801 or 0802 (public-facts 10, 11). */
export const isThrottle = (status: number, code?: string): boolean =>
  status === 420 || status === 429 || code === '0801' || code === '0802';

/**
 * Whether this code, as the answer to a write, proves that nothing changed. An unlisted code is proof only in the
 * categories that are checked before execution (failure modes 0.1). A rejected nonce is no proof: a proxy may have sent
 * the request twice, and the code may answer the second copy.
 */
export function provesRefusal(code: string): boolean {
  if (isAboutNonce(code)) return false;
  const known = meaningOf(code);
  return known ? known.advice !== 'look it up' : /^(?:03|04|05|06|17)\d\d$/.test(code);
}

/** Returns the meaning on which a bot acts; undefined for a plain rejection. */
export function actionableMeaning(code: string): Meaning | undefined {
  if (code === '0356') return 'duplicate id';
  if (code === 'quote_already_executed') return 'executed before';
  if (RULE_CODES.has(code)) return 'rules';
  if (isAboutNonce(code)) return 'nonce';
  return meaningOf(code)?.advice === 'halt' ? 'person' : undefined;
}

/** Whether the cause of a code ends without an action of the operator: the exchange is too busy, or failed. */
export function isTransient(code: string): boolean {
  const advice = meaningOf(code)?.advice;
  return advice === 'back off' || advice === 'look it up';
}

/** Whether the cause of the code can be a repeated nonce or a wrong clock. */
const isAboutNonce = (code: string): boolean => NONCE_CODES.has(code);

/** Codes that, as the answer to an order, show that the book no longer exists or its tick or bounds have changed. */
const RULE_CODES: ReadonlySet<string> = new Set([
  ...['0301', '0401', '0402', '0403', '0404', '0405', '0406', '0407', '20'],
]);
const NONCE_CODES: ReadonlySet<string> = new Set(['0201', '0207', '104']);

/**
 * Codes by reaction, as `0000 text`. Categories and meanings: interface document part 7, public facts 10, and RFQ
 * document part 7.
 */
const LISTS: Readonly<Record<Advice, readonly string[]>> = {
  'look it up': [
    '0101 unknown error',
    '0102 invalid ripple withdrawal',
    '0375 internal error',
    '0377 order matched, but its trades are not listed yet',
    '0378 order not matched yet',
    '1000 API temporarily disabled',
    '1002 order could not be processed',
    '1003 the operation timed out',
    '1006 no content',
    '1007 internal error',
    '1101 withdrawal could not be processed',
    '1102 callback could not be registered',
    'fetching_pairs_api_error conversion pairs could not be read',
    'failed_creating_page_token page token could not be created',
    'failed_creating_page_token_placeholder page token could not be created',
    'unexpected unexpected error',
  ],
  halt: [
    '0201 invalid nonce or credentials',
    '0202 key lacks the required permission',
    '0203 invalid login token',
    '0206 the nonce has the wrong type',
    '0207 invalid nonce',
    '0208 authentication required',
    '0209 second factor required',
    '0210 device authentication required',
    '0211 device authentication failed',
    '0213 IP address not allowed for this key',
    '0214 invalid reCAPTCHA',
    '0215 wrong signature',
    '0216 account restricted',
    '0326 key inactive',
    '0327 location not allowed',
    '0346 new terms of service must be accepted',
    '0410 trading not enabled',
    '0701 account not verified',
    '0702 account not verified',
    '0705 account suspended',
    '0706 terms not accepted',
    '0707 second factor locked',
    '1004 deprecated API method',
    '1008 trading disabled for the account',
    '1103 method disabled for all users',
    '104 nonce not above the previous nonce (legacy)',
    'forbidden_request the account is not allowed to use this API',
  ],
  'back off': [
    '0205 too many logins',
    '0212 internal error during authentication',
    '0367 no conversion quote available at present',
    '0801 too many requests',
    '0802 too many attempts at an operation',
    '1001 too many open orders',
    '1009 conversions disabled',
  ],
  funds: [
    '0379 insufficient balance',
    '0501 withdrawal limit of the user exceeded',
    '0502 deposit limit of the user exceeded',
    '0506 the funds are on hold',
    '0601 not enough btc (legacy)',
    '0602 not enough mxn (legacy)',
    'insufficient_funds balance too low',
  ],
  'already done': [
    '0312 unknown order',
    '0356 origin_id already used by an active order',
    '0357 unknown origin_id',
    '0349 already in use',
    'quote_already_executed quote already executed',
  ],
  'fix request': [
    '0301 unknown order book',
    '0302 invalid time in force or invalid time frame',
    '0303 required field missing',
    '0304 field invalid',
    '0306 invalid side',
    '0307 invalid type',
    '0308 both amounts given',
    '0309 no amount given',
    '0313 invalid currency',
    '0320 invalid pagination',
    '0321 invalid trade id',
    '0322 invalid URL',
    '0329 wrong amount field for a market order',
    '0343 incorrect amount',
    '0345 quote expired or invalid',
    '0360 none of the mutually exclusive fields present',
    '0361 more than one of the mutually exclusive fields present',
    '0362 invalid callback URL',
    '0363 invalid transaction id',
    '0372 a field has a value of the wrong type',
    '0373 request expired',
    '0401 order price below the minimum',
    '0402 order price above the maximum',
    '0403 order amount below the minimum',
    '0404 order amount above the maximum',
    '0405 order value below the minimum',
    '0406 order value above the maximum',
    '0407 order price not a multiple of the tick size',
    '0408 order amount zero or negative',
    '0411 market orders disabled on this book',
    '0412 stop price below the minimum',
    '0413 stop price above the maximum',
    '0901 HTTP method not supported',
    '1005 invalid operation',
    '1401 resource not found',
    '20 unknown order book (legacy)',
    'bad_request malformed request',
    'quote_not_found unknown or expired quote',
    'quote_cancelled quote canceled before execution',
    'invalid_source_currency source currency invalid or missing',
    'invalid_target_currency target currency invalid or missing',
    'invalid_source_number_format source amount not a number',
    'invalid_target_number_format target amount not a number',
    'both_amounts_missing source amount and target amount missing',
    'invalid_provided_amount incorrect amount',
    'invalid_source_precision source amount has too many decimals',
    'invalid_target_precision target amount has too many decimals',
    'rfq_conversion_not_found unknown conversion',
    'invalid_page_token_received invalid page token',
  ],
  never: [
    '0204 invalid PIN',
    '0305 invalid SMS code',
    '0310 invalid withdrawal id',
    '0311 invalid funding id',
    '0314 auto-trade',
    '0315 invalid address',
    '0316 invalid ripple currency',
    '0317 invalid SPEI field',
    '0318 invalid SPEI field',
    '0319 invalid SPEI field',
    '0323 invalid phone',
    '0324 invalid phone',
    '0325 invalid phone',
    '0328 invalid country',
    '0330 withdrawals locked',
    '0331 invalid referral code',
    '0332 empty PIN',
    '0333 PIN locked',
    '0334 invalid transfer recipient',
    '0335 invalid SPEI name',
    '0336 KYC lookup',
    '0337 KYC lookup',
    '0338 KYC lookup',
    '0339 e-mail in use',
    '0340 invalid country',
    '0341 invalid postal code',
    '0342 invalid CVU',
    '0344 invalid BIND name',
    '0347 KYC',
    '0348 KYC',
    '0350 currency with balance',
    '0351 invalid CVU',
    '0352 invalid e-mail',
    '0353 withdrawal fee above the maximum',
    '0354 invalid legal entity',
    '0355 invalid hash',
    '0358 invalid password',
    '0359 invalid password',
    '0364 invalid password',
    '0365 second factor',
    '0366 second factor',
    '0368 restricted address',
    '0369 device',
    '0370 file',
    '0371 file',
    '0374 recovery code',
    '0376 transfer limit',
    '0381 contact not found',
    '0382 third-party withdrawals blocked',
    '0384 withdrawal request',
    '0385 withdrawal request',
    '0386 withdrawal request',
    '0387 address not found',
    '0388 provider onboarding',
    '0389 description',
    '0414 code without a published meaning',
    '0415 code without a published meaning',
    '0416 code without a published meaning',
    '0417 code without a published meaning',
    '0418 code without a published meaning',
    '0503 deposit limit of the destination account exceeded',
    '0504 cash-out limit of a phone number exceeded',
    '0703 withdrawals suspended',
    '0704 feature opted out',
    '0708 too many attempts',
    '0709 KYC',
    '0710 password',
    '0723 country rule',
    '0724 no funding method',
    '0725 no withdrawal method',
    '0726 business account',
    '0727 owners',
    '0729 external bank account could not be saved',
    '0730 invalid external bank account',
    '0731 external bank accounts could not be listed',
    '0732 external bank account could not be read',
    ...sequence(711, 722, 'error about beneficiaries, business persons, devices or security actions'),
    '1104 error about a device account',
    '1105 error about a device account',
    '1106 no currencies',
    '1201 phone',
    '1202 phone',
    '1299 phone',
    '1301 one-time password',
    '1302 one-time password',
    '1303 one-time password',
    '1402 one-time password not found',
    ...sequence(1700, 1707, 'code without a published meaning'),
  ],
};

const TABLE: ReadonlyMap<string, ErrorMeaning> = new Map(
  (Object.keys(LISTS) as Advice[]).flatMap(advice =>
    LISTS[advice].map(line => {
      const [code = '', ...meaning] = line.split(' ');
      return [code, { meaning: meaning.join(' '), advice }] as const;
    }),
  ),
);

function sequence(from: number, to: number, meaning: string): readonly string[] {
  return Array.from({ length: to - from + 1 }, (_, i) => `${String(from + i).padStart(4, '0')} ${meaning}`);
}

export type ExchangeError = { readonly code: string; readonly message: string };

/** Code for a reply that has only text. */
export const NO_CODE = 'no-code';

/**
 * Returns the error in a reply of any envelope (v3/v4, legacy numeric, RFQ, webhook registration), or undefined if
 * none.
 */
export function errorIn(reply: unknown): ExchangeError | undefined {
  if (typeof reply !== 'object' || reply === null) return undefined;
  const { error, errors, success } = reply as { error?: unknown; errors?: unknown; success?: unknown };
  const found: unknown = Array.isArray(errors) && errors.length > 0 ? errors[0] : error;
  if (typeof found === 'string') return { code: NO_CODE, message: printableMessage(found) };
  if (typeof found === 'object' && found !== null) {
    const { code, message } = found as { code?: unknown; message?: unknown };
    return { code: codeText(code), message: typeof message === 'string' ? printableMessage(message) : '' };
  }
  return success === false || success === 'false' ? { code: NO_CODE, message: '' } : undefined;
}

/**
 * Returns the code as text. Adds the leading zeros that a numeric code lacks (public facts 3, 4.2), if the result is a
 * listed code.
 */
function codeText(code: unknown): string {
  const written = typeof code === 'number' ? String(code) : code;
  if (typeof written !== 'string' || !/^[\w.-]{1,64}$/.test(written)) return NO_CODE;
  const padded = written.padStart(4, '0');
  return TABLE.has(padded) ? padded : written;
}

/** Shortens a message to one line, because messages reach logs. */
const printableMessage = (message: string): string => message.slice(0, 300).replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');

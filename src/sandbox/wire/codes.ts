/** Four-digit error codes of the embedded exchange, their HTTP status, and the results of request checks. */

/** Message of each code. Puntas chose the messages; codes and meanings come from the documents (public-facts 10). */
const MESSAGES = {
  '0101': 'Unknown error',
  '0201': 'Invalid nonce or invalid credentials',
  '0202': 'The API key lacks the permission for this method',
  '0206': 'The nonce is not a whole number',
  '0207': 'The nonce has an invalid value',
  '0208': 'Authentication is required',
  '0213': 'The API key cannot be used from this IP address',
  '0215': 'Incorrect request signature',
  '0216': 'The account is restricted',
  '0301': 'Unknown order book',
  '0302': 'Invalid time in force or time frame',
  '0303': 'A required field is missing',
  '0304': 'A field is not valid',
  '0306': 'Invalid side',
  '0307': 'Invalid order type',
  '0308': 'More than one amount is given',
  '0309': 'The amount is missing',
  '0310': 'Invalid withdrawal ID',
  '0311': 'Invalid funding ID',
  '0312': 'Invalid order ID',
  '0313': 'Invalid currency',
  '0320': 'Invalid pagination',
  '0321': 'Invalid trade ID',
  '0326': 'The API key is inactive',
  '0329': 'Invalid kind of amount for this order',
  '0343': 'Incorrect amount',
  '0345': 'The quote is unknown or has expired',
  '0356': 'An active order already has this origin_id',
  '0357': 'Invalid origin_id',
  '0360': 'One of the mutually exclusive fields is required, but none is given',
  '0361': 'Only one of the mutually exclusive fields is allowed, but several are given',
  '0367': 'No quote is available now',
  '0372': 'A field has the wrong JSON type',
  '0377': 'The trades of the order are still being processed',
  '0378': 'The order has not been matched yet',
  '0379': 'Insufficient balance',
  '0401': 'The price is below the minimum',
  '0402': 'The price is above the maximum',
  '0403': 'The amount is below the minimum',
  '0404': 'The amount is above the maximum',
  '0405': 'The value (price times amount) is below the minimum',
  '0406': 'The value (price times amount) is above the maximum',
  '0407': 'Invalid precision',
  '0408': 'The amount must be a number above zero',
  '0410': 'Trading is not enabled',
  '0411': 'Market orders are not enabled',
  '0412': 'The stop price is below the minimum',
  '0413': 'The stop price is above the maximum',
  '0705': 'The account is suspended',
  '0801': 'Too many requests',
  '0901': 'The HTTP method is not supported for this path',
  '1000': 'The API is temporarily disabled',
  '1001': 'Too many open orders',
  '1002': 'The order could not be processed',
  '1003': 'The operation timed out',
  '1005': 'Invalid operation',
  '1008': 'Trading is disabled for this account',
  '1009': 'Conversions are disabled',
  '1401': 'Not found',
} as const;

export type Code = keyof typeof MESSAGES;

export type Refused = { readonly kind: 'refused'; readonly code: Code; readonly message: string };
export type Verdict<T> = { readonly kind: 'done'; readonly value: T } | Refused;

/** Returns an accepted result; `value` is the checked value. */
export const done = <T>(value: T): Verdict<T> => ({ kind: 'done', value });
/** Returns a rejection; `about` is appended to the message of the code. */
export const refused = (code: Code, about?: string): Refused => ({
  kind: 'refused',
  code,
  message: about === undefined ? MESSAGES[code] : `${MESSAGES[code]}: ${about}`,
});

/** Returns the HTTP status of a code (public-facts 10). */
export function statusOf(code: Code): number {
  const category = code.slice(0, 2);
  if (category === '01' || category === '11') return 500;
  if (category === '02') return 401;
  if (category === '08') return 420;
  return category === '14' ? 404 : 400;
}

/** Code for a client that exceeded its limit of requests per minute. */
export const LOCKED_OUT = '0801' satisfies Code;
/** Code for an unknown conversion. */
export const NOT_FOUND = '1401' satisfies Code;
export const CODES: readonly Code[] = Object.keys(MESSAGES) as Code[];

/**
 * Error codes of Binance spot with what each proves about a write, and the bot's reaction. Source of the codes: errors.md
 * of github.com/binance/binance-spot-api-docs at a5e0bc3, unless a row names another.
 */
import type { Meaning } from '../../../core/index.ts';
import type { SectionNames } from '../../wire/sectionNames.ts';

/** Row of the table of codes. */
export type VenueCode = {
  /** Code of the exchange, followed by the key of the message if the code has several messages. */
  readonly code: string;
  readonly text: string;
  /** Whether the code, as the answer to a write, proves that the write was not executed. */
  readonly is: 'refused' | 'unknown';
  /** Reaction of the bot; absent for a plain rejection. */
  readonly meaning?: Meaning;
  /** Whether the code reports too many requests. */
  readonly throttled?: true;
  readonly source: string;
};

const PAGE = 'errors.md';
const ROWS: readonly (readonly [is: VenueCode['is'], meaning: Meaning | '', rows: readonly string[]])[] = [
  // A code without an entry counts as unknown, too. The following codes have entries only because errors.md lists them.
  [
    'unknown',
    '',
    [
      '-1000 unknown error while the request was processed',
      '-1001 internal error',
      '-1006 unexpected response from the message bus; execution status unknown',
      '-1007 timeout at the backend; execution status unknown',
      '-1008 server overloaded',
      '-1010 matching engine error without a code of its own',
      '-1016 service shutting down',
      '-2021 cancel-replace failed in part',
      '-2022 cancel-replace failed',
    ],
  ],
  [
    'refused',
    'person',
    [
      '-1002 not authorized',
      '-1022 invalid signature',
      '-2014 invalid format of the API key',
      '-2015 invalid API key, IP address or permissions',
      '-2010:disabled action disabled for this account',
      '-2010:no trading the account may not place or cancel orders',
      '-2010:no permission symbol not permitted for this account',
      '-2010:restricted symbol restricted for this account',
      '-2011:no trading the account may not place or cancel orders',
      '-2011:disabled action disabled for this account',
    ],
  ],
  ['refused', 'nonce', ['-1021 timestamp of the request outside recvWindow or ahead of the exchange clock']],
  [
    'refused',
    'rules',
    [
      '-1111 too much precision',
      '-1121 invalid symbol',
      '-1220 status of the symbol differs from the requested status',
      '-1013:PRICE_FILTER price out of bounds or not a multiple of the tick size',
      '-1013:LOT_SIZE amount out of bounds or not a multiple of the step size',
      '-1013:MIN_NOTIONAL order value below the minimum',
      '-1013:NOTIONAL order value out of bounds',
      '-2010:closed the market is closed',
    ],
  ],
  ['refused', 'duplicate id', ['-2010:duplicate an order with this client id is open']],
  ['refused', 'post only', ['-2010:would take the post-only order would trade immediately']],
  [
    'refused',
    '',
    [
      '-1013 request rejected before it reached the matching engine',
      '-1013:PERCENT_PRICE price too far from the average price',
      '-1013:MAX_NUM_ORDERS too many open orders on the symbol',
      '-1013:MAX_POSITION position limit of the exchange reached',
      '-1014 unsupported combination',
      '-1020 unsupported operation',
      '-1033 name of the FIX session already in use',
      '-1034 too many connections',
      '-1035 logged out',
      '-1100 illegal characters in a parameter',
      '-1101 too many parameters',
      '-1102 mandatory parameter missing or malformed',
      '-1103 unknown parameter',
      '-1104 the exchange did not read all sent parameters',
      '-1105 empty parameter',
      '-1106 parameter sent, but not required',
      '-1108 parameter overflowed',
      '-1112 no orders in the book',
      '-1114 time in force sent, but not required',
      '-1115 invalid time in force',
      '-1116 invalid order type',
      '-1117 invalid side',
      '-1118 new client order id empty',
      '-1119 original client order id empty',
      '-1120 invalid interval',
      '-1122 invalid symbol status',
      '-1125 unknown listen key',
      '-1127 interval too long',
      '-1128 invalid combination of optional parameters',
      '-1130 invalid value of a parameter',
      '-1134 invalid strategy type',
      '-1135 invalid JSON',
      '-1139 invalid ticker type',
      '-1145 invalid cancel restrictions',
      '-1151 symbol listed more than once',
      '-1152 invalid SBE header',
      '-1153 unsupported SBE schema',
      '-1155 SBE not enabled',
      '-1158 order type not supported in an OCO',
      '-1160 iceberg order of an OCO must be GTC',
      '-1161 deprecated SBE schema',
      '-1165 limit order of a buy OCO must have the lower price',
      '-1166 limit order of a sell OCO must have the higher price',
      '-1168 at least one order of an OCO must be contingent',
      '-1169 invalid FIX tag',
      '-1170 FIX tag not defined for this message type',
      '-1171 FIX tag repeated',
      '-1172 FIX tag out of order',
      '-1173 fields of a FIX group out of order',
      '-1174 FIX component invalid',
      '-1175 FIX sequence numbers must be reset for each session',
      '-1176 already logged in',
      '-1177 garbled FIX message',
      '-1178 wrong FIX sender',
      '-1179 wrong FIX sequence number',
      '-1180 FIX logon expected',
      '-1181 too many FIX messages',
      '-1182 conflicting fields',
      '-1183 operation not allowed in a drop-copy session',
      '-1184 drop-copy sessions not supported on this server',
      '-1185 only drop-copy sessions supported on this server',
      '-1186 operation not allowed in an order entry session',
      '-1187 operation not allowed in a market data session',
      '-1188 wrong number of entries in a FIX group',
      '-1189 duplicate entries in a FIX group',
      '-1190 request id invalid',
      '-1191 too many subscriptions',
      '-1194 invalid time unit',
      '-1196 stop loss of a buy OCO must have the higher price',
      '-1197 stop loss of a sell OCO must have the lower price',
      '-1198 take-profit of a buy OCO must have the lower price',
      '-1199 take-profit of a sell OCO must have the higher price',
      '-1210 invalid price type of a pegged order',
      '-1211 invalid offset type of a pegged order',
      '-1221 invalid field of an SBE message',
      '-1222 working order of a one-pays-the-other list (OPO) must be a buy',
      '-1223 pending order of a one-pays-the-other list (OPO) must be a sell',
      '-1224 required parameter of a working order missing',
      '-1225 parameter of a pending order sent, but not required',
      '-2010 order rejected by the matching engine',
      '-2010:funds insufficient balance',
      '-2011 cancel rejected',
      '-2011:unknown the order is not open',
      '-2013 order does not exist',
      '-2016 no trading window',
      '-2026 order archived: ended without fill over 90 days ago',
      '-2035 subscription active',
      '-2036 subscription not active',
      '-2039 client order id does not match the order id',
      '-2042 maximum of subscription ids reached',
      '-2043 no reference price',
    ],
  ],
];

/** Table of all known codes. */
export const BINANCE_CODES: readonly VenueCode[] = [
  ...ROWS.flatMap(([is, meaning, rows]) =>
    rows.map((row): VenueCode => {
      const [, code, text] = /^(-\d+(?::(?:no \w+|would take|\w+))?) (.*)$/.exec(row)!;
      return { code: code!, text: text!, is, ...(meaning === '' ? {} : { meaning }), source: PAGE };
    }),
  ),
  {
    ...{ code: '-1003', text: 'too many requests, too much request weight, or IP address banned', is: 'refused' },
    ...{ throttled: true, source: 'errors.md; rest-api.md, IP limits' },
  },
  {
    ...{ code: '-1015', text: 'too many new orders', is: 'refused' },
    ...{ throttled: true, source: 'errors.md; rest-api.md, Unfilled order count' },
  },
  {
    ...{ code: '-1131', text: 'recvWindow above 60,000 ms', is: 'refused' },
    source: 'ccxt 4.5.84, js/src/binance.js:1774',
  },
  {
    ...{ code: '-2008', text: 'invalid id of the API key', is: 'refused', meaning: 'person' },
    source: 'ccxt 4.5.84, js/src/binance.js:1782',
  },
];

const BY_CODE: ReadonlyMap<string, VenueCode> = new Map(BINANCE_CODES.map(row => [row.code, row]));

/** Keys of messages that share a code (errors.md, "Messages for …" and "Filter failures"). */
const MESSAGES: Readonly<Record<string, readonly (readonly [message: string, key: string])[]>> = {
  '-1013': [
    ['Filter failure: PRICE_FILTER', 'PRICE_FILTER'],
    ['Filter failure: LOT_SIZE', 'LOT_SIZE'],
    ['Filter failure: MIN_NOTIONAL', 'MIN_NOTIONAL'],
    ['Filter failure: NOTIONAL', 'NOTIONAL'],
    ['Filter failure: PERCENT_PRICE', 'PERCENT_PRICE'],
    ['Filter failure: MAX_NUM_ORDERS', 'MAX_NUM_ORDERS'],
    ['Filter failure: MAX_POSITION', 'MAX_POSITION'],
  ],
  '-2010': [
    ['Duplicate order sent', 'duplicate'],
    ['Order would immediately match and take', 'would take'],
    ['Account has insufficient balance', 'funds'],
    ['Market is closed', 'closed'],
    ['This action is disabled on this account', 'disabled'],
    ['This account may not place or cancel orders', 'no trading'],
    ['This symbol is not permitted for this account', 'no permission'],
    ['This symbol is restricted for this account', 'restricted'],
  ],
  '-2011': [
    ['Unknown order sent', 'unknown'],
    ['This account may not place or cancel orders', 'no trading'],
    ['This action is disabled on this account', 'disabled'],
  ],
};

/** Returns the entry of a code; undefined for an unlisted code. */
export const binanceCode = (code: string): VenueCode | undefined => BY_CODE.get(code);

/** Returns the code with the key of its message, if the table has one. */
export function refinedCode(code: string, message: string): string {
  const key = MESSAGES[code]?.find(([start]) => message.startsWith(start))?.[1];
  return key === undefined ? code : `${code}:${key}`;
}

/** Returns the meaning of a code; undefined for a plain rejection. */
export const binanceMeaning = (code: string): Meaning | undefined => BY_CODE.get(code)?.meaning;

/** Whether the cause of a code ends without an action of the operator. */
export const isBinanceTransient = (code: string): boolean => {
  const known = BY_CODE.get(code);
  return known?.throttled === true || known?.is === 'unknown';
};

const binanceRemedies = ({ apiKey, apiSecret }: SectionNames): Readonly<Record<string, string>> => ({
  '-1003':
    'wait until the exchange accepts requests of this IP address again; requests of other programs at this address also count towards the limit',
  '-1015': 'wait 10 seconds; orders of other programs in this account also count towards the limit',
  '-1021':
    'set the clock of this machine to the correct time; if the clock is already correct, requests arrive too late, so check the network connection',
  '-1022': `check that ${apiSecret} is the secret of ${apiKey}`,
  '-1121': 'check the name of the book',
  '-2014': `check ${apiKey}`,
  '-2015':
    'check that the key is active, allows the IP address of this machine, and has the permissions to read and to trade spot (never to withdraw)',
});

/** Returns the remedy of a code as a clause; `null` if none is known. */
export function binanceRemedy(code: string, names: SectionNames): string | null {
  const own = binanceRemedies(names)[code];
  if (own !== undefined) return own;
  const known = BY_CODE.get(code);
  if (known?.meaning === 'person') return `${known.text}: only the account owner can fix this at the exchange`;
  return isBinanceTransient(code) ? 'try again later' : null;
}

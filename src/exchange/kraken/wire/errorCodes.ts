/** Error texts of Kraken spot with their meaning: certainly rejected or outcome unknown, and the reaction to each. */
import type { Meaning } from '../../../core/index.ts';
import type { SectionNames } from '../../wire/sectionNames.ts';

/** Subject of an error text. */
type CodeKind =
  | 'post only'
  | 'request'
  | 'rules'
  | 'funds'
  | 'key'
  | 'nonce'
  | 'budget'
  | 'duplicate'
  | 'market'
  | 'service'
  | 'not used';

export type KrakenCode = {
  /** Text as sent, such as `EOrder:Insufficient funds`. A detail may follow after a further colon. */
  readonly code: string;
  /** Meaning in words. */
  readonly text: string;
  /**
   * Outcome of a write that the exchange answers with this text. A text that is not in the table is `unknown` too. A
   * read that is answered with any error is rejected.
   */
  readonly is: 'refused' | 'unknown';
  /** Meaning to which the bot reacts; absent if the bot has no special reaction to the rejection. */
  readonly meaning?: Meaning;
  /** Whether requests pause after this text. */
  readonly throttled?: true;
  readonly kind: CodeKind;
  readonly source: string;
};

const ERRORS = 'docs.kraken.com/api/docs/guides/spot-errors';
const LIMITS = 'docs.kraken.com/api/docs/guides/spot-rest-ratelimits';
const SUPPORT = 'support.kraken.com/hc/en-us/articles/360001491786';
const ccxt = (line: number): string => `ccxt 4.5.84 js/src/kraken.js:${line}`;

type Listed = readonly [code: string, kind: CodeKind, text: string, source?: string];

/** Texts that come from checks before execution, so the request was certainly not executed. */
const REFUSALS: readonly Listed[] = [
  ['EGeneral:Invalid arguments', 'request', 'the request is malformed, incorrect or ambiguous'],
  ['EGeneral:Unknown method', 'request', 'the endpoint does not exist', SUPPORT],
  ['EAPI:Bad request', 'request', 'the request is malformed', SUPPORT],
  ['ETrade:Invalid request', 'request', 'the trade request is invalid'],
  ['EOrder:Invalid order', 'request', 'the order is invalid', SUPPORT],
  ['EOrder:Unknown order', 'request', 'no open order has this id', ccxt(556)],
  ['EOrder:Unknown position', 'request', 'no position has this id'],
  ['EOrder:Post only order', 'post only', 'the post-only order would have taken liquidity', SUPPORT],
  ['EOrder:Invalid price', 'rules', 'the price is invalid'],
  ['EOrder:Tick size check failed', 'rules', 'the price is not a multiple of the tick size'],
  ['EOrder:Order minimum not met', 'rules', 'the amount is below the minimum amount of the book'],
  ['EOrder:Cost minimum not met', 'rules', 'the value is below the minimum value of the book'],
  ['EQuery:Unknown asset pair', 'rules', 'the book does not exist', SUPPORT],
  ['EQuery:Invalid asset pair', 'rules', 'the name of the book is invalid', ccxt(542)],
  ['EQuery:Unknown asset', 'rules', 'the currency does not exist', ccxt(549)],
  ['EOrder:Insufficient funds', 'funds', 'the balance is too low'],
  ['EOrder:Insufficient margin', 'funds', 'the exchange has no funds for a trade on margin'],
  ['EOrder:Cannot open position', 'funds', 'the account may not trade on margin'],
  ['EOrder:Cannot open opposing position', 'funds', 'the account may not trade on margin'],
  ['EOrder:Margin allowance exceeded', 'funds', 'the margin allowance is used up'],
  ['EOrder:Margin level too low', 'funds', 'the collateral is too low'],
  ['EOrder:Margin position size exceeded', 'funds', 'the position would be too large'],
  ['EOrder:Positions limit exceeded', 'funds', 'the account has too many positions'],
  [
    'EOrder:Reduce only:Non-PC',
    'funds',
    'without Permitted Client certification (Canada), the account may only reduce positions',
  ],
  ['EOrder:Reduce only:No position exists', 'funds', 'there is no position to reduce'],
  ['EBM:limit exceeded:CAL', 'funds', 'the Canadian purchase limit is used up'],
  ['EOrder:Orders limit exceeded', 'budget', 'the account has too many open orders in the book'],
  ['EOrder:Scheduled orders limit exceeded', 'budget', 'the account has too many scheduled orders'],
  ['EOrder:Rate limit exceeded', 'budget', 'the order rate counter of the book is above its threshold'],
  [
    'EOrder:Domain rate limit exceeded',
    'budget',
    'the order rate counter of the master account is above its threshold',
  ],
  ['EAPI:Rate limit exceeded', 'budget', 'the request rate counter of the key is above its maximum', LIMITS],
  ['EAuth:Rate limit exceeded', 'budget', 'too many authentication requests'],
  ['EAuth:Too many requests', 'budget', 'too many authentication requests'],
  ['EAPI:Invalid key', 'key', 'the key is unknown, deleted or suspended'],
  ['EAPI:Invalid signature', 'key', 'the signature does not match: wrong secret'],
  ['EGeneral:Permission denied', 'key', 'the key lacks the required permission'],
  [
    'EGeneral:Temporary lockout',
    'key',
    'access is locked for about 15 minutes, after many requests with an invalid key or nonce',
  ],
  ['EAuth:Account temporary disabled', 'key', 'the account is disabled'],
  ['EAuth:Account unconfirmed', 'key', 'the account is not confirmed'],
  [
    'EAccount:Invalid permissions',
    'key',
    'the account lacks a permission, for example because trading this book is not allowed in its country',
  ],
  ['ETrade:User Locked', 'key', 'the account may not trade', ccxt(568)],
  ['EOrder:Trading agreement required', 'key', 'the trading agreement must be accepted', SUPPORT],
  ['ESession:Invalid session', 'key', 'the session is invalid', ccxt(561)],
  ['EService:Market in cancel_only mode', 'market', 'the book accepts only cancels'],
  ['EService:Market in post_only mode', 'market', 'the book accepts only post-only orders'],
  ['EService:Market in limit_only mode', 'market', 'the book accepts only limit orders', SUPPORT],
  ['EFunding:Max fee exceeded', 'not used', 'the fee of a withdrawal is above its maximum'],
  ['EFunding:Unknown withdraw key', 'not used', 'the withdrawal address is unknown', ccxt(544)],
  ['EFunding:Invalid amount', 'not used', 'the amount of a withdrawal is invalid', ccxt(545)],
  ['EFunding:No funding method', 'not used', 'the currency cannot be deposited', ccxt(563)],
  ['EFunding:Unknown asset', 'not used', 'the currency does not exist', ccxt(564)],
];

/** Texts after which an order may have been executed. */
const UNKNOWNS: readonly Listed[] = [
  // For a write, this text proves no rejection: a proxy may have sent the request twice, and the text may answer the
  // copy.
  ['EAPI:Invalid nonce', 'nonce', 'the nonce is not above the last nonce of the key'],
  [
    'EOrder:Duplicate order',
    'duplicate',
    'an open order has this cl_ord_id',
    'not documented, and not checked on the exchange',
  ],
  ['EOrder:Reduce only:Position is closed', 'funds', 'a reduce-only order was executed in part'],
  ['EService:Unavailable', 'service', 'the matching engine or the API is offline'],
  ['EService:Busy', 'service', 'the API is overloaded', ccxt(548)],
  ['EService:Timeout', 'service', 'the request timed out inside the exchange', SUPPORT],
  ['EService:Deadline elapsed', 'service', 'the deadline of the request passed before the exchange answered'],
  ['EService:Throttled', 'budget', 'too many concurrent requests', LIMITS],
  ['EService: Throttled', 'budget', 'too many concurrent requests', LIMITS],
  ['EGeneral:Too many requests', 'budget', 'too many requests', ccxt(567)],
  ['EDatabase:Internal error', 'service', 'an error inside the exchange', ccxt(547)],
  ['EGeneral:Internal error', 'service', 'an error inside the exchange'],
  ['EGeneral:Unknown error', 'service', 'an error inside the exchange', SUPPORT],
];

const MEANINGS: Partial<Readonly<Record<CodeKind, Meaning>>> = {
  'post only': 'post only',
  rules: 'rules',
  nonce: 'nonce',
  key: 'person',
  duplicate: 'duplicate id',
};

/** Texts about too many orders of the account. After them, other requests do not pause. */
const ORDER_COUNTS: readonly string[] = ['EOrder:Orders limit exceeded', 'EOrder:Scheduled orders limit exceeded'];

const codeRow =
  (is: KrakenCode['is']) =>
  ([code, kind, text, source = ERRORS]: Listed): KrakenCode => {
    const meaning = MEANINGS[kind];
    const isThrottle = kind === 'budget' && !ORDER_COUNTS.includes(code);
    return {
      ...{ code, text, is, kind, source },
      ...(meaning === undefined ? {} : { meaning }),
      ...(isThrottle ? { throttled: true } : {}),
    };
  };

/** Every error text that Kraken or ccxt documents. */
export const KRAKEN_CODES: readonly KrakenCode[] = [
  ...REFUSALS.map(codeRow('refused')),
  ...UNKNOWNS.map(codeRow('unknown')),
];

const BY_TEXT: ReadonlyMap<string, KrakenCode> = new Map(KRAKEN_CODES.map(each => [each.code, each]));

/**
 * Returns the entry of an error text. If it has none, its details after the last colon are dropped until an entry is
 * found.
 */
export function krakenCode(text: string): KrakenCode | undefined {
  for (let part = text; part.includes(':'); part = part.slice(0, part.lastIndexOf(':'))) {
    const found = BY_TEXT.get(part);
    if (found) return found;
  }
  return undefined;
}

/**
 * Returns the meaning to which a bot reacts; `undefined` if a rejection has no special reaction or is not in the table.
 */
export const krakenMeaning = (text: string): Meaning | undefined => krakenCode(text)?.meaning;

const TRANSIENT: readonly CodeKind[] = ['budget', 'service', 'market'];

/**
 * Whether the cause of an error text ends without an action of the operator. Unlisted texts about the service or the
 * database of the exchange count as such causes.
 */
export const isKrakenTransient = (text: string): boolean => {
  const known = krakenCode(text);
  return known === undefined ? /^E(?:Service|Database):/.test(text) : TRANSIENT.some(kind => kind === known.kind);
};

/** Whether the exchange throttled the request. */
export const isKrakenThrottle = (text: string): boolean => krakenCode(text)?.throttled === true;

const krakenRemedies = ({ apiKey, apiSecret }: SectionNames): readonly (readonly [code: string, remedy: string])[] => [
  ['EAPI:Invalid key', `check that ${apiKey} is an active key of this exchange`],
  ['EAPI:Invalid signature', `check that ${apiSecret} is the private key of ${apiKey}`],
  ['EAPI:Invalid nonce', 'use this key in no other program; a new key starts with new nonces'],
  [
    'EGeneral:Permission denied',
    'give the key the permissions to query funds, to query open and closed orders and trades, and to create and cancel orders (never to withdraw)',
  ],
  ['EGeneral:Temporary lockout', 'stop all programs that use the key, check the key, and wait 15 minutes'],
  ['EAPI:Rate limit exceeded', 'wait a minute; requests of other programs with this key also count towards the limit'],
  ['EOrder:Rate limit exceeded', 'place and cancel fewer orders in this book'],
];

/** Returns the remedy of a text as a clause; `null` if none is known. */
export function krakenRemedy(text: string, names: SectionNames): string | null {
  const entry = krakenCode(text);
  if (entry === undefined) return null;
  const own = krakenRemedies(names).find(([code]) => code === entry.code);
  if (own) return own[1];
  if (entry.kind === 'key') return `${entry.text}: only the account owner can fix this at the exchange`;
  return TRANSIENT.includes(entry.kind) ? 'try again later' : null;
}

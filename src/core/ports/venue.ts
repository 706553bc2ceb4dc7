/**
 * Exchange as an entry of the venue registry. To add an exchange, define a value of `ExchangeVenue` and add one line to
 * the registry in `src/wiring/venueRegistry.ts`.
 */
import type { Millis } from '../model/units.ts';
import type { Meaning, Outcome, VenueSection } from './outcome.ts';
import type {
  Clock,
  ConversionDesk,
  Exchange,
  MarketStream,
  TransferLists,
  Random,
  StreamTransport,
  Transport,
} from './port.ts';
import type { ReadBudget } from './readBudget.ts';
import type { TransactionEvent } from './transactionEvents.ts';

/** Name, functions and data that are specific to one exchange. */
export type ExchangeVenue = VenueBasics & (StreamedVenue | { readonly marketStream?: never; readonly streams?: never });

/** Market data stream of a venue. Books of a venue without a stream are polled. */
type StreamedVenue = {
  readonly marketStream: (of: StreamOf) => MarketStream;
  /**
   * Content of the stream: every order, or complete books by levels. A book by levels has `limits.depth` levels per
   * side, or all levels if there are fewer.
   */
  readonly streams: 'orders' | 'levels';
};

type VenueBasics = {
  /** Value of `exchange.venue` in a configuration. */
  readonly name: string;
  /** Returns the full REST URL for the configured address. */
  readonly restUrl: (address: string) => string;
  /** Creates a client without sending anything. */
  readonly connect: (to: Connection) => VenueClient;
  /**
   * Returns the meaning of a rejection code. Readers of recordings need the meaning, because recordings store only
   * codes.
   */
  readonly meaningOf?: (code: string) => Meaning | undefined;
  /** Webhooks; absent if the exchange delivers none. */
  readonly webhooks?: VenueWebhooks;
  /** Runs the checks of the exchange against its interface documents; absent if there are none. */
  readonly conformance?: (options: ConformanceOptions) => Promise<ConformanceResult>;
  /**
   * Rate limits that the exchange publishes, in requests per minute: public requests per address, private requests per
   * account. `privateLowest` is the limit of the lowest account class, if classes differ. Absent if the exchange
   * publishes none.
   */
  readonly allows?: { readonly public: number; readonly private: number; readonly privateLowest?: number };
  /**
   * Returns the budgets from which polls take, for a configured number of private requests per minute. If absent, each
   * private read takes one of these requests.
   */
  readonly readBudgets?: (privatePerMinute: number) => readonly ReadBudget[];
  /** Whether the exchange rejects each nonce below an earlier one of the key; absent if it accepts them in any order. */
  readonly wantsRisingNonces?: true;
  /** Whether the exchange lists orders and trades only per book, so that one bot can quote only one book; absent if not. */
  readonly listsPerBook?: true;
  readonly orderIds: OrderIdRule;
  /**
   * Returns the maximum time after sending at which the exchange may still execute a placement, for the configured
   * request timeout; for a timeout of `Infinity`, the longest possible time. Absent if the exchange has no such
   * maximum.
   */
  readonly requestLifeMs?: (requestTimeoutMs: Millis) => Millis;
  /** Abilities that a hedge needs; absent if the venue has none of them. */
  readonly hedging?: HedgeAbilities;
  /** Keys in `VENUE_KEYS` that this exchange reads; absent if it reads none of them. */
  readonly readsKeys?: readonly VenueKey[];
  /**
   * `doubles` if the client has traded only with test doubles of the exchange: real orders then need
   * `exchange.acceptUntried` and a recorded trial order.
   */
  readonly tried?: 'doubles';
};

/** Keys of the section `exchange` that only some exchanges read. */
export const VENUE_KEYS = ['authentication', 'rfqUrl', 'webhookUrl'] as const;
export type VenueKey = (typeof VENUE_KEYS)[number];

/**
 * Bounds on order ids `<instance>-<run>-<counter>`. The exchange accepts every id within all three bounds, for each
 * kind of order. It may also accept an id with one part beyond its bound if the other parts are shorter.
 */
export type OrderIdRule = {
  /** Maximum number of letters and digits of the instance. */
  readonly instanceMax: number;
  readonly runMax: number;
  readonly counterMax: number;
};

export type HedgeAbilities = {
  /**
   * Way to find an order after a lost answer: a look-up by the bot's order id, or complete lists of open and ended
   * orders with that id; `null` if there is no way.
   */
  readonly lookUp: 'by order id' | 'by complete lists' | null;
  readonly immediateOrCancel: boolean;
  /** Whether each own trade includes its fee and the currency of the fee. */
  readonly tradeFees: boolean;
};

export type Connection = {
  /** Configuration section that the remedies of rejections name; `exchange` if omitted. */
  readonly section?: VenueSection;
  readonly clock: Clock;
  readonly random: Random;
  /**
   * Book of the bot, for an exchange that lists orders, trades and fees only per book. The client then knows only the
   * trades of this book.
   */
  readonly book?: string;
  /** Full REST URL, as `ExchangeVenue.restUrl` returns it. */
  readonly restUrl: string;
  /** Base URL of conversions, if it differs from `restUrl`; `webhookUrl` is the base URL of webhook registration. */
  readonly rfqUrl?: string | undefined;
  readonly webhookUrl?: string | undefined;
  /** Transport that replaces sockets to `restUrl`. The client closes the transport. */
  readonly transport?: Transport | undefined;
  /** Wall time without a complete answer after which the outcome of a request is unknown. */
  readonly deadlineMs: Millis;
  /** Credentials. If absent, only public reads work. */
  readonly credentials?: VenueCredentials;
  /** Maximum number of requests in any minute. */
  readonly budgets: { readonly public: number; readonly private?: number };
  /** Pause that other clients at the same address share; absent for a pause of its own. */
  readonly pause?: AddressPause | undefined;
  readonly onRequest?: ((seen: Observation) => void) | undefined;
};

/**
 * Pause of all requests to one address after the exchange reported too many requests. `until`: its end on the monotonic
 * clock; each client can set a later end.
 */
export type AddressPause = { until: Millis };

export type VenueCredentials = {
  readonly key: string;
  readonly secret: SecretText;
  /** Value of `exchange.authentication` in the configuration, for an exchange with several signing methods. */
  readonly authentication?: string;
  /** Lower bound: every new nonce must be higher than this number. */
  readonly nonceAbove: bigint;
  /**
   * Returns a nonce source that stores its nonces, so that nonces keep increasing after a restart. The client of a
   * single command uses `unstored` instead.
   */
  readonly durable: (source: NonceSource) => NonceSource;
};

/** Returns the source itself: its nonces derive only from the clock. */
export const unstored = (source: NonceSource): NonceSource => source;

/** Text that must not reach a log, such as an API secret. */
export interface SecretText {
  reveal(): string;
}

/** Nonce source; one per API key and process. */
export interface NonceSource {
  next(): string;
  /** Returns the highest nonce issued, or the initial value. After a restart, new nonces must be above this number. */
  last(): bigint;
  /** Whether the exchange requires nonces to arrive in order, so that only one signed request may be pending. */
  readonly ordered: boolean;
}

/** Outcome of one request, for metrics. */
export type Observation = {
  readonly endpoint: string;
  readonly outcome: Outcome<unknown>['kind'];
  /** Code of a rejection; absent for other outcomes. */
  readonly code?: string;
  /** Time from call to outcome, including waiting, on the injected clock. */
  readonly ms: Millis;
  /** HTTP status; absent if no answer arrived. */
  readonly status?: number;
  /** Time of the answer on the exchange's clock, rounded down to whole seconds; absent if the answer has no time. */
  readonly answeredAt?: Millis;
};

/** Exchange client: the interface that the loop needs, and optional features. Calls behave as in `Exchange`. */
export type VenueClient = Exchange & {
  /** Conversions; absent if the exchange has none. */
  readonly desk?: ConversionDesk;
  /** Transfer lists. If absent, the operator must explain transfers. */
  readonly transferLists?: TransferLists;
  /** Identity of the account. If absent, the bot cannot prove that two keys belong to one account. */
  readonly account?: {
    /** Account number at the exchange. */
    id(): Promise<Outcome<string>>;
    hasTrade(tid: string): Promise<Outcome<boolean>>;
  };
  readonly webhooks?: {
    /** Reads the keys with which the exchange signs deliveries. */
    keys(): Promise<Outcome<readonly WebhookKey[]>>;
    register(callbackUrl: string): Promise<Outcome<readonly { readonly id: string; readonly event: string }[]>>;
  };
};

export type StreamOf = {
  readonly clock: Clock;
  readonly random: Random;
  readonly book: string;
  /** Client for the complete book that a stream of changes starts from. */
  readonly exchange: Pick<Exchange, 'orderBook'>;
} & ({ readonly url: string } | { readonly transport: StreamTransport });

export type VenueWebhooks = {
  /**
   * Creates a signature check. The check receives keys through `learn`, and calls `onUnknown` to request missing keys.
   */
  signatures(
    clock: { readonly now: () => Millis; readonly elapsed: () => Millis },
    onUnknown: () => void,
  ): { readonly check: WebhookCheck; readonly learn: (keys: readonly WebhookKey[]) => void };
  /** Parses the body of a delivery. */
  read(body: string): Delivery;
};

export type WebhookKey = {
  readonly id: string;
  /** Public key, as the exchange sends it. */
  readonly key: string;
};

/** Checks whether the exchange signed a body. `header` returns the first value of a header. */
export type WebhookCheck = (
  header: (name: string) => string | undefined,
  body: Uint8Array,
) => Promise<SignatureVerdict>;

/**
 * Verdict on a signature. `later` means that the key was not available yet. `says` is the signed content; two
 * deliveries with equal content count as one delivery, even if their envelopes differ.
 */
export type SignatureVerdict = { readonly kind: 'no' | 'later' } | { readonly kind: 'yes'; readonly says: string };

export type Delivery =
  | { readonly kind: 'transaction'; readonly event: TransactionEvent }
  /** Event of a kind for which no webhook was registered. */
  | { readonly kind: 'other' }
  | { readonly kind: 'unreadable'; readonly reason: string };

export type ConformanceOptions = {
  /** Connection to the exchange, with credentials. */
  readonly connection: Connection;
  readonly book: string;
  /** Prefix of the ids of all orders that the checks place: 1 to 16 letters and digits, and a dash. */
  readonly prefix: string;
  /** Whether the checks may place and cancel orders of the smallest size, far from the market. */
  readonly mayOrder: boolean;
  /** Whether the checks may buy and sell the smallest amount. */
  readonly mayTrade: boolean;
  /** Callback URL that the checks may register for webhooks; `null` if they must not register one. */
  readonly callbackUrl: string | null;
  /** Longest delay after which the exchange still executes a request. */
  readonly requestDelayMaxMs: Millis;
  /** Called with each check as soon as it is known. */
  readonly tell: (check: ConformanceCheck) => void;
  /** Whether the operator has stopped the checks. If so, the remaining checks are skipped. */
  readonly isStopped: () => boolean;
};

/** Result of one conformance check. */
export type ConformanceCheck = {
  readonly name: string;
  /** Section of the exchange's documents. */
  readonly source: string;
  readonly expected: string;
  readonly found: string;
  readonly verdict: 'pass' | 'fail' | 'skipped';
};

export type ConformanceResult = {
  readonly checks: readonly ConformanceCheck[];
  /** Ids of orders of the checks that may still be live. */
  readonly left: readonly string[];
};

/**
 * One exchange as the composition root knows it. To add one, define a value of `ExchangeVenue` and one line in the
 * registry of `src/wiring/venueRegistry.ts`.
 */
import type { Millis } from '../model/units.ts';
import type { Meaning, Outcome } from './outcome.ts';
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
import type { TransactionEvent } from './transactionEvents.ts';

/** Everything specific to one exchange. */
export type ExchangeVenue = {
  /** Value of `exchange.venue` in a configuration. */
  readonly name: string;
  /** Completes the configured address to the full REST URL. */
  readonly restUrl: (address: string) => string;
  /** Creates a client; sends nothing. */
  readonly connect: (to: Connection) => VenueClient;
  /** If absent, books are polled. */
  readonly marketStream?: (of: StreamOf) => MarketStream;
  /** Returns the meaning of a code, for recordings that keep only codes. */
  readonly meaningOf?: (code: string) => Meaning | undefined;
  /** If absent, the exchange delivers no webhooks. */
  readonly webhooks?: VenueWebhooks;
  /** Requests per minute: public ones per address, private ones per account. Absent if the exchange does not publish them. */
  readonly allows?: { readonly public: number; readonly private: number };
};

export type Connection = {
  readonly clock: Clock;
  readonly random: Random;
  /** Value of `ExchangeVenue.restUrl`. */
  readonly restUrl: string;
  /** Base URLs of conversions and of webhook registration, if they differ. */
  readonly rfqUrl?: string | undefined;
  readonly webhookUrl?: string | undefined;
  /** Replaces sockets to `restUrl`; the client closes it. */
  readonly transport?: Transport | undefined;
  /** Real time after which a request without a complete answer is unknown. */
  readonly deadlineMs?: Millis;
  /** If absent, only public reads work. */
  readonly credentials?: VenueCredentials;
  /** Maximum requests in any minute. */
  readonly budgets: { readonly public: number; readonly private?: number };
  readonly onRequest?: ((seen: Observation) => void) | undefined;
};

export type VenueCredentials = {
  readonly key: string;
  readonly secret: SecretText;
  /** `exchange.authentication` of the configuration, for an exchange with several signing methods. */
  readonly authentication?: string;
  /** Every nonce is higher than this. */
  readonly nonceAbove: bigint;
  /** Makes nonces survive a restart. */
  readonly durable?: (source: NonceSource) => NonceSource;
};

/** Text that must not reach a log. */
export interface SecretText {
  reveal(): string;
}

/** Nonce source; one per API key and process. */
export interface NonceSource {
  next(): string;
  /** Highest nonce returned, or the initial mark. A restart must start above it. */
  last(): bigint;
  /** Whether nonces must arrive in order, so that only one signed request may be pending. */
  readonly ordered: boolean;
}

/** Outcome of one request, for metrics. */
export type Observation = {
  readonly endpoint: string;
  readonly outcome: Outcome<unknown>['kind'];
  /** Rejection code. */
  readonly code?: string;
  /** Time from call to outcome, including waiting, on the injected clock. */
  readonly ms: Millis;
  /** HTTP status; absent if no answer arrived. */
  readonly status?: number;
  /** Time of the answer on the exchange's clock, cut to whole seconds; absent if not given. */
  readonly answeredAt?: Millis;
};

/** Exchange client: the interface that the loop needs, and optional features. Calls behave as in `Exchange`. */
export type VenueClient = Exchange & {
  /** If absent, the exchange has no conversions. */
  readonly desk?: ConversionDesk;
  /** If absent, the operator must explain transfers. */
  readonly moneyLists?: TransferLists;
  /** If absent, the bot cannot prove that two keys belong to one account. */
  readonly account?: {
    /** Account number at the exchange. */
    id(): Promise<Outcome<string>>;
    hasTrade(tid: string): Promise<Outcome<boolean>>;
  };
  readonly webhooks?: {
    /** Keys that sign deliveries. */
    keys(): Promise<Outcome<readonly WebhookKey[]>>;
    register(callbackUrl: string): Promise<Outcome<readonly { readonly id: string; readonly event: string }[]>>;
  };
};

export type StreamOf = {
  readonly clock: Clock;
  readonly random: Random;
  readonly book: string;
} & ({ readonly url: string } | { readonly transport: StreamTransport });

export type VenueWebhooks = {
  /** Receives keys through `learn`; calls `onUnknown` to request them. */
  signatures(
    clock: { readonly now: () => Millis; readonly elapsed: () => Millis },
    onUnknown: () => void,
  ): { readonly check: WebhookCheck; readonly learn: (keys: readonly WebhookKey[]) => void };
  /** Parses the body of a delivery. */
  read(body: string): Delivery;
};

export type WebhookKey = {
  readonly id: string;
  /** As the exchange sends it. */
  readonly key: string;
};

/** Checks whether the exchange signed a body. `header` returns the value of a header, or the first of several. */
export type WebhookCheck = (header: (name: string) => string | undefined, body: Buffer) => Promise<SignatureVerdict>;

/** `later` if the key was unavailable. `says` is the signed content: equal content in another envelope is the same delivery. */
export type SignatureVerdict = { readonly kind: 'no' | 'later' } | { readonly kind: 'yes'; readonly says: string };

export type Delivery =
  | { readonly kind: 'transaction'; readonly event: TransactionEvent }
  /** Event of a kind that was not registered. */
  | { readonly kind: 'other' }
  | { readonly kind: 'unreadable'; readonly reason: string };

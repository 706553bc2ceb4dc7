/** An exchange as a whole, as the composition root knows it: adding one is one value of `ExchangeVenue`, and one line in the registry of `src/wiring/venueRegistry.ts`. */
import type { Millis } from '../model/units.ts';
import type { Meaning, Outcome } from './outcome.ts';
import type {
  Clock,
  ConversionDesk,
  Exchange,
  MarketStream,
  MoneyLists,
  Random,
  StreamTransport,
  Transport,
} from './port.ts';
import type { TransactionEvent } from './transactionEvents.ts';

/** Everything that knows how one exchange spells. */
export type ExchangeVenue = {
  /** What `exchange.venue` of a configuration calls it. */
  readonly name: string;
  /** The whole address of the REST interface, of what a configuration says. */
  readonly restUrl: (address: string) => string;
  /** Sends nothing by itself. */
  readonly connect: (to: Connection) => VenueClient;
  /** Absent: books are polled. */
  readonly marketStream?: (of: StreamOf) => MarketStream;
  /** What its codes mean, where recordings have them alone. */
  readonly meaningOf?: (code: string) => Meaning | undefined;
  /** Absent: it delivers nothing. */
  readonly webhooks?: VenueWebhooks;
  /** Requests in a minute that it allows: public ones of an address, private ones of an account. Absent: it does not say. */
  readonly allows?: { readonly public: number; readonly private: number };
};

export type Connection = {
  readonly clock: Clock;
  readonly random: Random;
  /** As `ExchangeVenue.restUrl` gives it. */
  readonly restUrl: string;
  /** Where conversions are asked for, and where webhooks are registered, when elsewhere. */
  readonly rfqUrl?: string | undefined;
  readonly webhookUrl?: string | undefined;
  /** Instead of sockets to `restUrl`. The client closes it. */
  readonly transport?: Transport | undefined;
  /** Real time after which a request without a whole answer is unknown. */
  readonly deadlineMs?: Millis;
  /** Absent: public reads only. */
  readonly credentials?: VenueCredentials;
  /** Requests in any minute. */
  readonly budgets: { readonly public: number; readonly private?: number };
  readonly onRequest?: ((seen: Observation) => void) | undefined;
};

export type VenueCredentials = {
  readonly key: string;
  readonly secret: SecretText;
  /** `exchange.authentication` of the configuration, for an exchange that has several ways to sign. */
  readonly authentication?: string;
  /** Every nonce is higher than this. */
  readonly nonceAbove: bigint;
  /** Makes nonces survive a restart. */
  readonly durable?: (source: NonceSource) => NonceSource;
};

/** A text that must not reach a log. */
export interface SecretText {
  reveal(): string;
}

/** One source per API key and process. */
export interface NonceSource {
  next(): string;
  /** The highest nonce given out (or the mark it started above): what a restart must start above. */
  last(): bigint;
  /** True when the exchange wants them to arrive in order, so that only one signed request may be under way. */
  readonly ordered: boolean;
}

/** What became of one request, for metrics. */
export type Observation = {
  readonly endpoint: string;
  readonly outcome: Outcome<unknown>['kind'];
  /** The code of a refusal. */
  readonly code?: string;
  /** From the call to its outcome, waiting included, on the injected clock. */
  readonly ms: Millis;
  /** HTTP status; absent when no answer came. */
  readonly status?: number;
  /** The exchange's own time of its answer, cut to whole seconds; absent when it did not say. */
  readonly answeredAt?: Millis;
};

/** What the loop needs, and what an exchange may have besides. Every call as in `Exchange`. */
export type VenueClient = Exchange & {
  /** Absent: nothing can be converted there. */
  readonly desk?: ConversionDesk;
  /** Absent: a person explains what came and went. */
  readonly moneyLists?: MoneyLists;
  /** Absent: a key cannot be shown to be of the same account as another. */
  readonly account?: {
    /** Its number at the exchange. */
    id(): Promise<Outcome<string>>;
    hasTrade(tid: string): Promise<Outcome<boolean>>;
  };
  readonly webhooks?: {
    /** Those that deliveries are signed with. */
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
  /** Keys come in by `learn`; `onUnknown` asks for them. */
  signatures(
    clock: { readonly now: () => Millis; readonly elapsed: () => Millis },
    onUnknown: () => void,
  ): { readonly check: WebhookCheck; readonly learn: (keys: readonly WebhookKey[]) => void };
  /** What a delivery says. */
  read(body: string): Delivery;
};

export type WebhookKey = {
  readonly id: string;
  /** As the exchange tells it. */
  readonly key: string;
};

/** Whether a body is signed by the exchange. `header` gives the value of a header, of several the first. */
export type WebhookCheck = (header: (name: string) => string | undefined, body: Buffer) => Promise<SignatureVerdict>;

/** `later` when the key could not be had; when it is signed, what it says: the same in another wrapping is the same delivery. */
export type SignatureVerdict = { readonly kind: 'no' | 'later' } | { readonly kind: 'yes'; readonly says: string };

export type Delivery =
  | { readonly kind: 'transaction'; readonly event: TransactionEvent }
  /** Of a kind of event that was not registered. */
  | { readonly kind: 'other' }
  | { readonly kind: 'unreadable'; readonly reason: string };

/**
 * Sender of requests to the exchange: signatures, budgets and classification of replies, on top of the shared sender.
 */
import type { Clock, NonceSource, Observation, VenueSection } from '../../../core/index.ts';
import { Budget } from '../../transport/budget.ts';
import type { Lane, LaneLimits } from '../../transport/lanes.ts';
import {
  requestSender,
  type ApiEndpoint,
  type ApiRequest,
  type EncodedRequest,
  type ExchangeProtocol,
  type RequestSender,
  type SendRequest,
} from '../../transport/requestSender.ts';
import { classify, type ReplyForm } from './classify.ts';
import { actionableMeaning, isTransient } from './errorCodes.ts';
import { remedyOf } from './remedies.ts';
import { authHeaders, signatureOf, type Credentials } from './sign.ts';

type BitsoForm = ReplyForm & {
  readonly api?: 'rest' | 'rfq' | 'webhooks';
  readonly body?: Readonly<Record<string, unknown>>;
};
/** Request to the exchange before it is signed. */
export type BitsoRequest<T> = ApiRequest<T, BitsoForm>;
/** Sends a request to the exchange. */
export type BitsoAsk = SendRequest<BitsoForm>;

export type AskOptions = {
  readonly clock: Clock;
  readonly apis: Readonly<Record<'rest' | 'rfq' | 'webhooks', ApiEndpoint>>;
  /** Credentials and nonces. If omitted, only public endpoints work. */
  readonly signer?: { readonly credentials: Credentials; readonly nonces: NonceSource };
  /**
   * Request budgets per minute. The limits of the exchange are 60 per address and 300 per account (public facts 11); a
   * lower budget leaves capacity for other programs.
   */
  readonly budgets?: { readonly public?: number; readonly private?: number };
  readonly lanes?: LaneLimits;
  /** Maximum time, by lane, for which a request waits for budget and for its turn. */
  readonly waitMs?: Partial<Readonly<Record<Lane, number>>>;
  /** Whether the exchange checks its rate limit before it handles an order; see `classify`. */
  readonly throttleRefuses?: boolean;
  readonly onRequest?: (seen: Observation) => void;
  readonly section?: VenueSection | undefined;
};

/** Limits of requests per minute: public per address, private per account (public-facts 11). */
export const EXCHANGE_RATE_LIMITS = { public: 60, private: 300 } as const;

/**
 * Creates a sender of requests. Default budgets: 60 public and 300 private requests per minute (public-facts 11). Throws
 * a RangeError on a budget that is not a whole number above 0.
 */
export function bitsoSender(options: AskOptions): RequestSender<BitsoForm, 'public' | 'private'> {
  const { clock, signer, throttleRefuses = false, budgets } = options;
  const protocol: ExchangeProtocol<BitsoForm> = {
    encode: (question, basePath) => encoded(question, basePath, signer),
    // Cancels are exempt from the exchange's limit (public facts 11), so they do not wait for the bot's budget.
    charges: ({ lane }) => [
      lane === 'public read' ? { budget: 'public' } : { budget: 'private', as: lane === 'cancel' ? 'exempt' : 'waits' },
    ],
    classify: (reply, question) => classify(reply, question, throttleRefuses),
    meaningOf: actionableMeaning,
    remedyOf,
    isTransient,
    masked: signer ? [signer.credentials.key, signer.credentials.secret.reveal()] : null,
    ordered: signer?.nonces.ordered ?? false,
  };
  return requestSender({
    ...options,
    protocol,
    budgets: {
      public: new Budget(clock, { perMinute: budgets?.public ?? EXCHANGE_RATE_LIMITS.public }),
      private: new Budget(clock, { perMinute: budgets?.private ?? EXCHANGE_RATE_LIMITS.private }),
    },
  });
}

function encoded(question: BitsoRequest<unknown>, basePath: string, signer: AskOptions['signer']): EncodedRequest {
  const { method } = question;
  const target = basePath + question.path;
  const body = question.body === undefined ? '' : JSON.stringify(question.body);
  const headers = { accept: 'application/json', ...(body === '' ? {} : { 'content-type': 'application/json' }) };
  if (question.lane === 'public read' || !signer) return { method, target, headers, body };
  // The request is signed just before it is sent, so that its nonce is fresh even after a long wait.
  const { credentials, nonces } = signer;
  const nonce = nonces.next();
  const signature = signatureOf(credentials.secret, nonce, { method, target, body });
  return { method, target, headers: { ...headers, ...authHeaders(credentials, nonce, signature) }, body, signature };
}

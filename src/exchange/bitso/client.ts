/**
 * Client of the exchange, with every endpoint of the REST document and of the RFQ and webhook document. Each call
 * resolves to an Outcome.
 */
import type { Clock, NonceSource, Random, Transport } from '../../core/index.ts';
import { account } from './rest/account.ts';
import type { ApiEndpoint } from '../transport/requestSender.ts';
import { bitsoSender, type AskOptions } from './wire/protocol.ts';
import { conversions } from './rest/conversions.ts';
import type { Endpoints } from './rest/endpoints.ts';
import { market } from './rest/market.ts';
import { transferLists } from './rest/transferLists.ts';
import { PAGES } from './wire/path.ts';
import { nonceV2 } from './wire/nonce.ts';
import { orders } from './rest/orders.ts';
import { rfq } from './rest/rfq.ts';
import type { Credentials } from './wire/sign.ts';
import { webhooks } from './rest/webhooks.ts';

/** Client of the exchange with all endpoints. */
export type Client = Endpoints;

export type ClientOptions = Omit<AskOptions, 'apis' | 'signer'> & {
  readonly clock: Clock;
  readonly random: Random;
  /** Transport to the REST address. `close` of the client closes this transport. */
  readonly transport: Transport;
  /** Prefix of every REST path. Default: `/api`. */
  readonly basePath?: string;
  /** Base endpoint of the RFQ interface. Default: the REST host, without a base path. */
  readonly rfq?: ApiEndpoint;
  /** Base endpoint of the webhook interface. Default: the REST host, without a base path. */
  readonly webhooks?: ApiEndpoint;
  /** API key and secret. If omitted, only public endpoints work. */
  readonly credentials?: Credentials;
  /** Nonces, one source per API key. Default: v2 nonces from the given clock and random source. */
  readonly nonces?: NonceSource;
};

/**
 * Creates a client, which sends nothing until a method is called. Every call resolves to an Outcome; without
 * credentials, private calls are rejected as `not-sent`. Throws a RangeError on a request budget that is not a whole
 * number above 0.
 */
export function exchangeClient(options: ClientOptions): Client {
  const { transport, credentials, clock, random } = options;
  const atRoot: ApiEndpoint = { transport, basePath: '' };
  const { ask, budgets, close } = bitsoSender({
    ...options,
    apis: {
      rest: { transport, basePath: options.basePath ?? '/api' },
      rfq: options.rfq ?? atRoot,
      webhooks: options.webhooks ?? atRoot,
    },
    ...(credentials ? { signer: { credentials, nonces: options.nonces ?? nonceV2(clock, random) } } : {}),
  });
  return {
    limits: PAGES,
    // Source: rest-api 4.9.
    listsAllBalances: true,
    ...market(ask),
    ...orders(ask),
    ...account(ask),
    ...conversions(ask),
    ...transferLists(ask),
    ...webhooks(ask),
    rfq: rfq(ask),
    budget: () => ({ public: budgets.public.left(), private: budgets.private.left() }),
    lockOuts: () => ({ public: budgets.public.lockOuts(), private: budgets.private.lockOuts() }),
    close,
  };
}

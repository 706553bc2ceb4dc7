/** Bitso as a venue, for the registry of venues. */
import { describeRow, mapOutcome, type Connection, type ExchangeVenue, type VenueClient } from '../../core/index.ts';
import { exchangeClient, type Client } from './client.ts';
import { conformance } from './conformance/conformance.ts';
import { conversionDesk } from './rest/desk.ts';
import { marketStream } from './stream/stream.ts';
import { socketTransport } from '../transport/streamTransport.ts';
import type { ApiEndpoint } from '../transport/requestSender.ts';
import { EXCHANGE_RATE_LIMITS } from './wire/protocol.ts';
import { httpTransport } from '../transport/transport.ts';
import { splitAddress } from '../wire/address.ts';
import { actionableMeaning } from './wire/errorCodes.ts';
import { nonceV2 } from './wire/nonce.ts';
import { delivery } from './wire/transactionEvents.ts';
import { signatureCheck } from './wire/webhookSignature.ts';

export const bitso: ExchangeVenue = {
  name: 'bitso',
  restUrl: address => (new URL(address).pathname === '/' ? `${address.replace(/\/$/, '')}/api` : address),
  connect: to => venueClient(clientAt(to)),
  marketStream: of =>
    marketStream({ ...of, transport: 'transport' in of ? of.transport : socketTransport({ url: of.url }) }),
  streams: 'orders',
  meaningOf: actionableMeaning,
  webhooks: { signatures: signatureCheck, read: delivery },
  conformance: options => conformance(clientAt, options),
  allows: EXCHANGE_RATE_LIMITS,
  // Order ids have at most 40 characters (rest-api, Conventions).
  orderIds: { instanceMax: 14, runMax: Number.MAX_SAFE_INTEGER, counterMax: 99_999_999 },
  hedging: { lookUp: 'by order id', immediateOrCancel: true, tradeFees: true },
  readsKeys: ['authentication', 'rfqUrl', 'webhookUrl'],
};

function clientAt({ restUrl, rfqUrl, webhookUrl, deadlineMs, credentials, ...to }: Connection): Client {
  const apiAt = (address: string): ApiEndpoint => {
    const { origin, basePath } = splitAddress(address);
    return { transport: httpTransport({ origin, deadlineMs }), basePath };
  };
  const { clock, random, transport, budgets, onRequest, section } = to;
  const rest = transport ? { transport, basePath: splitAddress(restUrl).basePath } : apiAt(restUrl);
  const signed = () => {
    if (!credentials) return {};
    const { key, secret, authentication, nonceAbove, durable } = credentials;
    const headers = authentication === 'headers' ? 'three' : 'authorization';
    return { credentials: { key, secret, headers }, nonces: durable(nonceV2(clock, random, nonceAbove)) } as const;
  };
  return exchangeClient({
    clock,
    random,
    ...rest,
    ...(rfqUrl === undefined ? {} : { rfq: apiAt(rfqUrl) }),
    ...(webhookUrl === undefined ? {} : { webhooks: apiAt(webhookUrl) }),
    ...signed(),
    ...{ budgets, section },
    ...(onRequest ? { onRequest } : {}),
  });
}

/**
 * Adds the optional features of a venue to the client: conversion desk, transfer lists, account checks and webhooks.
 */
export const venueClient = (client: Client): VenueClient => ({
  ...client,
  desk: conversionDesk(client),
  transferLists: client,
  account: {
    id: async () => mapOutcome(await client.accountStatus(), ({ clientId }) => clientId),
    hasTrade: async tid => {
      const outcome = await client.userTradesByTid([tid]);
      const [unreadable] = outcome.kind === 'done' ? (outcome.unreadable ?? []) : [];
      const has = mapOutcome(outcome, trades => trades.some(trade => trade.tid === tid));
      if (unreadable === undefined || (has.kind === 'done' && has.value)) return has;
      return { kind: 'unknown', reason: `user_trades: ${describeRow(unreadable)}` };
    },
  },
  webhooks: {
    keys: client.webhookKeys,
    register: async url => mapOutcome(await client.registerWebhook(url), ({ webhooks }) => webhooks),
  },
});

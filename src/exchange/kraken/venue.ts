/** Kraken spot as a venue, for the registry of venues. */
import type { ExchangeVenue } from '../../core/index.ts';
import { httpTransport } from '../transport/transport.ts';
import { socketTransport } from '../transport/streamTransport.ts';
import { splitAddress } from '../wire/address.ts';
import { krakenClient } from './client.ts';
import { KRAKEN_RATE_LIMITS, krakenReadBudgets } from './wire/protocol.ts';
import { DEPTH } from './rest/market.ts';
import { validMsOf } from './rest/orders.ts';
import { krakenStream } from './stream/stream.ts';
import { KRAKEN_ORDER_IDS } from './wire/clientIds.ts';
import { krakenMeaning } from './wire/errorCodes.ts';
import { risingNonces } from './wire/nonce.ts';

const MEBI = 1024 * 1024;

export const kraken: ExchangeVenue = {
  name: 'kraken',
  restUrl: address => (new URL(address).pathname === '/' ? `${address.replace(/\/$/, '')}/0` : address),
  connect: ({ section, clock, book, restUrl, transport, deadlineMs, credentials, budgets, onRequest }) => {
    const { origin, basePath } = splitAddress(restUrl);
    const rest = {
      transport:
        transport ??
        // The list of pairs has some 1.5 MB, all other replies less than one.
        httpTransport({ origin, deadlineMs, bodyMax: ({ target }) => (target.includes('/AssetPairs') ? 8 : 2) * MEBI }),
      basePath,
    };
    const signed = () => {
      if (!credentials) return {};
      const { key, secret, nonceAbove, durable } = credentials;
      return { signer: { key, secret, nonces: durable(risingNonces(clock, nonceAbove)) } };
    };
    return krakenClient({ clock, book, rest, ...signed(), budgets, validMs: deadlineMs, onRequest, section });
  },
  marketStream: of =>
    krakenStream({
      ...of,
      depth: DEPTH,
      transport: 'transport' in of ? of.transport : socketTransport({ url: of.url }),
    }),
  streams: 'levels',
  meaningOf: krakenMeaning,
  allows: KRAKEN_RATE_LIMITS,
  readBudgets: krakenReadBudgets,
  wantsRisingNonces: true,
  orderIds: KRAKEN_ORDER_IDS,
  requestLifeMs: validMsOf,
  hedging: { lookUp: 'by complete lists', immediateOrCancel: true, tradeFees: true },
  tried: 'doubles',
};

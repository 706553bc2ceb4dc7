/** Binance spot as a venue, for the registry of venues. */
import type { ExchangeVenue } from '../../core/index.ts';
import { socketTransport } from '../transport/streamTransport.ts';
import { httpTransport } from '../transport/transport.ts';
import { splitAddress } from '../wire/address.ts';
import { binanceClient, binanceReadBudgets, expectedSymbol, recvWindowMs, WHOLE_LEVELS } from './client.ts';
import { spotStream, combinedStreamPath } from './stream/stream.ts';
import { binanceMeaning } from './wire/errorCodes.ts';

/** Maximum size of a reply in bytes. Only the list of all symbols is larger than a megabyte. */
const BODY_BYTES_MAX = 2 * 1024 * 1024;
const SYMBOLS_BYTES_MAX = 32 * 1024 * 1024;

export const binanceSpot: ExchangeVenue = {
  name: 'binance',
  restUrl: address => (new URL(address).pathname === '/' ? `${address.replace(/\/$/, '')}/api` : address),
  connect: ({ section, clock, restUrl, transport, deadlineMs, credentials, book, budgets, pause, onRequest }) => {
    const { origin, basePath } = splitAddress(restUrl);
    const bodyMax = ({ target }: { readonly target: string }): number =>
      target.includes('/exchangeInfo') ? SYMBOLS_BYTES_MAX : BODY_BYTES_MAX;
    return binanceClient({
      clock,
      rest: { transport: transport ?? httpTransport({ origin, deadlineMs, bodyMax }), basePath },
      ...{ credentials, book, budgets, deadlineMs, pause, onRequest, section },
    });
  },
  marketStream: ({ clock, random, book, exchange, ...way }) => {
    const symbol = expectedSymbol(book);
    const transport =
      'transport' in way
        ? way.transport
        : socketTransport({ url: `${way.url.replace(/\/$/, '')}${combinedStreamPath(symbol)}` });
    return spotStream({ transport, clock, random, book, symbol, exchange, depth: WHOLE_LEVELS });
  },
  streams: 'levels',
  meaningOf: binanceMeaning,
  readBudgets: binanceReadBudgets,
  // Order ids have at most 36 characters (common knowledge, not checked).
  listsPerBook: true,
  orderIds: { instanceMax: 12, runMax: 99_999_999_999_999, counterMax: 99_999_999 },
  requestLifeMs: recvWindowMs,
  hedging: { lookUp: 'by order id', immediateOrCancel: true, tradeFees: true },
  tried: 'doubles',
};

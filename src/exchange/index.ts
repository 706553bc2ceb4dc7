/** Exports of the exchange protocol for other layers and the composition root. */
export { exchangeClient } from './bitso/client.ts';
export type { Client } from './bitso/client.ts';
export { splitAddress } from './wire/address.ts';
export { actionableMeaning, meaningOf } from './bitso/wire/errorCodes.ts';
export { nonceV2 } from './bitso/wire/nonce.ts';
export { signatureOf } from './bitso/wire/sign.ts';
export { marketStream } from './bitso/stream/stream.ts';
export { socketTransport } from './transport/streamTransport.ts';
export { httpTransport } from './transport/transport.ts';
export { delivery } from './bitso/wire/transactionEvents.ts';
export { bitso, venueClient } from './bitso/venue.ts';
export { signatureCheck } from './bitso/wire/webhookSignature.ts';
export { binanceSpot } from './binance/venue.ts';
export { kraken } from './kraken/venue.ts';

/** Exports of the exchange protocol for other layers and the composition root. */
export { exchangeClient } from './client.ts';
export type { Client } from './client.ts';
export { splitAddress } from './wire/address.ts';
export { actionableMeaning, meaningOf } from './wire/errorCodes.ts';
export { nonceV2 } from './wire/nonce.ts';
export { signatureOf } from './wire/sign.ts';
export { marketStream } from './stream/stream.ts';
export { socketTransport } from './stream/streamTransport.ts';
export { httpTransport } from './transport/transport.ts';
export { delivery } from './wire/transactionEvents.ts';
export { bitso, venueClient } from './venue.ts';
export { signatureCheck } from './wire/webhookSignature.ts';

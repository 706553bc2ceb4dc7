/** What other rooms and the composition root use of the exchange's protocol. */
export { exchangeClient } from './client.ts';
export type { Client, ClientOptions } from './client.ts';
export { splitAddress } from './address.ts';
export type { VenueAddresses } from './address.ts';
export type { Observation } from './ask.ts';
export { meaningOf } from './errors.ts';
export type { Advice, ErrorMeaning } from './errors.ts';
export { nonceV1, nonceV2 } from './nonce.ts';
export type { NonceSource } from './nonce.ts';
export { Secret } from './secret.ts';
export { signatureOf } from './sign.ts';
export type { Credentials } from './sign.ts';
export { marketStream } from './stream.ts';
export { socketTransport } from './streamTransport.ts';
export type { SocketOptions } from './streamTransport.ts';
export { httpTransport } from './transport.ts';
export type { HttpOptions } from './transport.ts';

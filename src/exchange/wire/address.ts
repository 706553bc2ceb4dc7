/** Parser of the exchange's API addresses (public facts 1). */
import { trimmedEnd } from '../../core/index.ts';

/**
 * Splits an address for the transport and the signer: `https://api.bitso.com/api` gives its origin and `/api`. Throws a
 * RangeError on an invalid address.
 */
export function splitAddress(address: string): { readonly origin: string; readonly basePath: string } {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const plain =
    url && !url.search && !url.hash && !url.username && !url.password && /^(https?|wss?):$/.test(url.protocol);
  if (!plain)
    throw new RangeError(`expected an address like https://api.bitso.com/api, found ${JSON.stringify(address)}`);
  return { origin: `${url.protocol}//${url.host}`, basePath: trimmedEnd(url.pathname, '/') };
}

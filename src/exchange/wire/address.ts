/** Where the exchange lives: four addresses that differ by environment (public facts 1). */
import { trimmedEnd } from '../../core/index.ts';

export type VenueAddresses = {
  /** With its base path, such as `https://api.bitso.com/api`. */
  readonly rest: string;
  /** Without the `/rfq/v1` of the paths. */
  readonly rfq: string;
  /** Without the `/v4/webhooks` of the path. */
  readonly webhooks: string;
  readonly stream: string;
};

/** An address as the transport and the signer want it: `https://api.bitso.com/api` is the origin and `/api`. Throws a RangeError on anything else. */
export function splitAddress(address: string): { readonly origin: string; readonly basePath: string } {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const plain =
    url && !url.search && !url.hash && !url.username && !url.password && /^(https?|wss?):$/.test(url.protocol);
  if (!plain)
    throw new RangeError(`expected an address like https://api.bitso.com/api, found ${JSON.stringify(address)}`);
  return { origin: `${url.protocol}//${url.host}`, basePath: trimmedEnd(url.pathname, '/') };
}

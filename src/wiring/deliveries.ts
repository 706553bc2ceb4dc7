/** Transport of the embedded exchange's webhooks over HTTP, with pooled connections for each callback host. */
import { httpTransport } from '../exchange/index.ts';
import type { Transport } from '../core/index.ts';
import type { DeliveryPort } from '../sandbox/index.ts';

/** Time within which a callback must answer completely (rfq 6). */
const DEADLINE_MS = 5_000;
/** Maximum number of connected callback hosts; the least recently used one is dropped. */
const HOSTS_MAX = 16;
/** Maximum number of bytes that are read from a callback's answer. Only the status of the answer is used. */
const BODY_MAX = 64 * 1024;

/**
 * Returns the transport. `post` rejects if there is no complete answer within `DEADLINE_MS`, if the answer
 * exceeds `BODY_MAX` bytes, or if the URL is invalid.
 */
export function httpDeliveries(): DeliveryPort & { close(): Promise<void> } {
  const hosts = new Map<string, Transport>();

  function transportTo(origin: string): Transport {
    // The embedded exchange has already checked that the host is allowed.
    const limits = { deadlineMs: DEADLINE_MS, connections: 8, bodyMax: () => BODY_MAX };
    const found = hosts.get(origin) ?? httpTransport({ origin, ...limits, plainHttp: true });
    hosts.delete(origin);
    hosts.set(origin, found);
    for (const [oldest, transport] of hosts) {
      if (hosts.size <= HOSTS_MAX) break;
      hosts.delete(oldest);
      void transport.close();
    }
    return found;
  }

  return {
    post: async (url, headers, body) => {
      const { origin, pathname, search } = new URL(url);
      const reply = await transportTo(origin).send({ method: 'POST', target: pathname + search, headers, body });
      return reply.status;
    },
    close: async () => {
      await Promise.all([...hosts.values()].map(transport => transport.close()));
      hosts.clear();
    },
  };
}

/** Carries the embedded exchange's webhooks over HTTP, with a few pooled connections per callback host. */
import { httpTransport } from '../exchange/index.ts';
import type { Transport } from '../core/index.ts';
import type { DeliveryPort } from '../sandbox/index.ts';

/** Callback hosts connected to at once; the one unused for longest is let go. */
const HOSTS_MAX = 16;
/** A callback's answer is a status; more than this of a body is not read. */
const BODY_MAX = 64 * 1024;

/** `post` rejects without a whole answer within five seconds (rfq 6), on one of over `BODY_MAX` bytes, and on a url that is none. */
export function httpDeliveries(): DeliveryPort & { close(): Promise<void> } {
  const hosts = new Map<string, Transport>();

  function transportTo(origin: string): Transport {
    // Which hosts are allowed is the exchange's own rule: it asked already.
    const found =
      hosts.get(origin) ?? httpTransport({ origin, connections: 8, bodyMax: () => BODY_MAX, plainHttp: true });
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

/**
 * HTTP listener for deliveries, with its own port, one secret path and small bodies. The listener confirms a delivery
 * only when the delivery is on disk.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Millis, WebhookCheck } from '../../core/index.ts';
import { GuardedServer } from '../../guard/index.ts';
import { DeliveryQueue, type DeliveryCounts, type DeliveryQueueOptions } from './deliveryQueue.ts';
import { KNOWN_SENDERS, Rates, UNKNOWN_SENDERS } from './rates.ts';

export type InboxOptions = DeliveryQueueOptions & {
  readonly host: string;
  /** Port; 0 selects a free port. */
  readonly port: number;
  /** Secret tokens; each can be the last part of the path. Two tokens are valid while the operator replaces a token. */
  readonly tokens: readonly string[];
  /** Addresses and CIDR ranges that may deliver. If empty, every client that knows the path may deliver. */
  readonly sources: readonly string[];
  /** Proxies whose X-Forwarded-For is trusted. */
  readonly proxies: readonly string[];
  readonly now: () => Millis;
  /** Checks whether the exchange signed a body; if absent, signatures are not checked. */
  readonly signed?: WebhookCheck;
};

export type Inbox = {
  /** URL of the listener, without the secret path. */
  readonly url: string;
  readonly counts: Readonly<InboxCounts>;
  /** Returns why deliveries are not stored, for the operator; `null` while deliveries are stored. */
  readonly problem: () => string | null;
  close(): Promise<void>;
};

/**
 * Number of deliveries by outcome. `turnedAway`: the path, address or signature was not accepted. `tooMany`: the
 * delivery exceeded the budget of its address or of all addresses.
 */
export type InboxCounts = DeliveryCounts & { turnedAway: number; tooMany: number };

/**
 * Maximum number of connections, in total and for each address that is not a proxy. The exchange uses few connections.
 * A busy connection is not closed in favor of a new one.
 */
const CONNECTIONS = { all: 512, sender: 64, keepsBusy: true };
const HEADERS_WITHIN_MS = 2_000;
const BODY_WITHIN_MS = 4_000;
/** Maximum idle time of a connection, short because a sender can easily connect again. */
const IDLE_MAX_MS = 5_000;

/** Starts to listen. Rejects with a one-line error if the port is unavailable. */
export async function openInbox(options: InboxOptions): Promise<Inbox> {
  const counts = { stored: 0, repeated: 0, turnedAway: 0, tooMany: 0, waiting: 0, noRoom: 0, failed: 0 };
  const isKnown = options.signed !== undefined || options.sources.length > 0;
  const limits = isKnown ? KNOWN_SENDERS : UNKNOWN_SENDERS;
  const server = new GuardedServer({
    what: 'webhooks',
    host: options.host,
    port: options.port,
    remedies: {
      portInUse: 'set webhooks.port to a free port',
      forbidden: 'set webhooks.port to 1024 or above',
      addressNotLocal: 'set webhooks.host to an address of this machine',
    },
    // The secret path is the credential, so all wrong paths get the same answer.
    allowedHosts: null,
    headers: { 'cache-control': 'no-store' },
    posted: null,
    connections: { anonymous: CONNECTIONS },
    proxies: options.proxies,
    isProxy: allowListOf(options.proxies) ?? (() => false),
    bodyMax: limits.bodyMax,
    headersWithinMs: HEADERS_WITHIN_MS,
    requestWithinMs: HEADERS_WITHIN_MS + BODY_WITHIN_MS,
    idleMax: IDLE_MAX_MS,
  });
  const queue = new DeliveryQueue(options, counts);
  addDeliveryRoute(server.routes, options, queue, counts, new Rates(limits, options.elapsed));
  await server.listen();
  return { url: server.url, counts, problem: () => queue.problem(), close: () => server.close() };
}

function addDeliveryRoute(
  server: FastifyInstance,
  options: InboxOptions,
  queue: DeliveryQueue,
  counts: InboxCounts,
  rates: Rates,
): void {
  const digests = options.tokens.map(digestBytes);
  const allowed = allowListOf(options.sources);
  const turnAway = (reply: FastifyReply) => {
    counts.turnedAway++;
    return answer(reply, 404, 'not found');
  };
  // The body is read as raw bytes, whatever its content type, because signatures cover the bytes and unreadable bodies
  // are stored too.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  // The sender is checked before the body is read, so that a rejected client delays no other client.
  const isWelcome = (request: FastifyRequest): boolean => {
    const { token = '' } = request.params as { token?: string };
    // The token is compared with every digest, so that the duration of the check reveals nothing about the tokens.
    const matches = digests.map(digest => timingSafeEqual(digest, digestBytes(token)));
    return matches.includes(true) && (allowed === null || allowed(request.ip));
  };
  server.post(
    '/hooks/:token',
    {
      onRequest: async (request, reply) => {
        if (!isWelcome(request)) return turnAway(reply);
        // A compressed body could expand without limit. The exchange never compresses.
        if (request.headers['content-encoding'] !== undefined) return answer(reply, 415, 'send the body uncompressed');
        return undefined;
      },
    },
    async (request, reply) => {
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const verdict = await options.signed?.(name => first(request.headers[name]), body);
      // The exchange's key may become available later, so the sender must retry.
      if (verdict?.kind === 'later') return comeAgain(reply);
      if (verdict?.kind === 'no') return turnAway(reply);
      // The budget is checked after the signature, so that unsigned requests do not use the budget of signed ones.
      if (!rates.take(request.ip, body.length)) {
        counts.tooMany++;
        return comeAgain(reply);
      }
      const says = verdict?.kind === 'yes' ? { says: verdict.says } : {};
      const stored = await queue.take({ at: options.now(), from: request.ip, body, ...says });
      return stored ? answer(reply, 200, 'ok') : comeAgain(reply);
    },
  );
  server.setNotFoundHandler(async (_, reply) => turnAway(reply));
  server.setErrorHandler(async (error, _request, reply) => {
    const status = (error as { statusCode?: number }).statusCode ?? 503;
    // A body above the size limit cannot be from the exchange. After any other error, the sender must retry.
    return status === 413 ? answer(reply, 413, 'too large') : comeAgain(reply);
  });
}

const answer = (reply: FastifyReply, code: number, text: string): FastifyReply =>
  reply.code(code).type('text/plain; charset=utf-8').send(text);

const comeAgain = (reply: FastifyReply): FastifyReply => answer(reply.header('retry-after', '5'), 503, 'come again');

const digestBytes = (text: string): Buffer => createHash('sha256').update(text).digest();

const first = (header: string | string[] | undefined): string | undefined =>
  typeof header === 'string' ? header : header?.[0];

/**
 * Returns a check of client addresses; `null` if every address is allowed. The configuration has already validated the
 * entries.
 */
function allowListOf(sources: readonly string[]): ((address: string) => boolean) | null {
  if (sources.length === 0) return null;
  const list = new BlockList();
  for (const source of sources) {
    const [address = '', bits] = source.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return address => {
    const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
    return list.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
  };
}

/** The door for deliveries: its own port, one secret path, small bodies, and no answer before what came is on disk. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import { fastify } from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Millis, WebhookCheck } from '../../core/index.ts';
import { boundCallers, CONNECTIONS } from './callers.ts';
import { Desk } from './desk.ts';
import type { DeskCounts, DeskOptions } from './desk.ts';
import { KNOWN_SENDERS, Rates, UNKNOWN_SENDERS } from './rates.ts';

export type InboxOptions = DeskOptions & {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Last part of the path, one or two while it is being changed. */
  readonly tokens: readonly string[];
  /** Addresses and CIDR ranges that may deliver; empty: whoever knows the path. */
  readonly sources: readonly string[];
  /** Proxies whose X-Forwarded-For is believed. */
  readonly proxies: readonly string[];
  readonly now: () => Millis;
  /** Whether a body is signed by the exchange; absent: not asked. */
  readonly signed?: WebhookCheck;
};

export type Inbox = {
  /** Without the secret path. */
  readonly url: string;
  readonly counts: Readonly<InboxCounts>;
  /** Why nothing is stored, for a person; null while deliveries are. */
  readonly problem: () => string | null;
  close(): Promise<void>;
};

/** `tooMany`: beyond what one address, or all, may deliver. */
export type InboxCounts = DeskCounts & { turnedAway: number; tooMany: number };

const HEADERS_WITHIN_MS = 2_000;
const BODY_WITHIN_MS = 4_000;
/** An idle connection costs the sender nothing to open again. */
const IDLE_MAX_MS = 5_000;

/** Listens. Rejects with one line when the port cannot be had. */
export async function openInbox(options: InboxOptions): Promise<Inbox> {
  const counts = { stored: 0, repeated: 0, turnedAway: 0, tooMany: 0, waiting: 0, noRoom: 0, failed: 0 };
  const isKnown = options.signed !== undefined || options.sources.length > 0;
  const limits = isKnown ? KNOWN_SENDERS : UNKNOWN_SENDERS;
  const server = fastify({
    logger: false,
    bodyLimit: limits.bodyMax,
    requestTimeout: HEADERS_WITHIN_MS + BODY_WITHIN_MS,
    connectionTimeout: 30_000,
    keepAliveTimeout: IDLE_MAX_MS,
    forceCloseConnections: true,
    return503OnClosing: true,
    http: { headersTimeout: HEADERS_WITHIN_MS, connectionsCheckingInterval: 500 },
    routerOptions: { maxParamLength: 256 },
    trustProxy: options.proxies.length > 0 ? [...options.proxies] : false,
  });
  const isProxy = options.proxies.length > 0 ? allowListOf(options.proxies)! : () => false;
  const callers = boundCallers(server.server, CONNECTIONS, isProxy);
  server.addHook('onRequest', async request => callers.busy(request.socket));
  server.addHook('onResponse', async request => callers.idle(request.socket));
  const desk = new Desk(options, counts);
  addDoor(server, options, desk, counts, new Rates(limits, options.elapsed));
  try {
    await server.listen({ host: options.host, port: options.port });
  } catch (error) {
    await server.close();
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new Error(
      `webhooks: cannot listen on ${options.host}:${options.port} (${code}): set webhooks.port to a free one`,
      { cause: error },
    );
  }
  const address = server.server.address();
  if (address === null || typeof address === 'string') throw new Error('the inbox listens on no port');
  const host = isIP(options.host) === 6 ? `[${options.host}]` : options.host;
  return { url: `http://${host}:${address.port}`, counts, problem: () => desk.problem(), close: () => server.close() };
}

function addDoor(server: FastifyInstance, options: InboxOptions, desk: Desk, counts: InboxCounts, rates: Rates): void {
  const digests = options.tokens.map(digestOf);
  const allowed = allowListOf(options.sources);
  const turnAway = (reply: FastifyReply) => {
    counts.turnedAway++;
    return answer(reply, 404, 'not found');
  };
  // Raw bytes whatever they claim to be: a signature is over them, and what cannot be read is kept too.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  // Before the body is read: a stranger makes nobody wait.
  const isWelcome = (request: FastifyRequest): boolean => {
    const { token = '' } = request.params as { token?: string };
    // Every digest is compared, so that the time tells nothing.
    const matches = digests.map(digest => timingSafeEqual(digest, digestOf(token)));
    return matches.includes(true) && (allowed === null || allowed(request.ip));
  };
  server.post(
    '/hooks/:token',
    {
      onRequest: async (request, reply) => {
        if (!isWelcome(request)) return turnAway(reply);
        // A packed body is how a small one becomes a large one; the exchange sends none.
        if (request.headers['content-encoding'] !== undefined) return answer(reply, 415, 'send it as it is');
        return undefined;
      },
    },
    async (request, reply) => {
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const verdict = await options.signed?.(name => first(request.headers[name]), body);
      // A key that cannot be had now may be had later: the sender comes again.
      if (verdict?.kind === 'later') return comeAgain(reply);
      if (verdict?.kind === 'no') return turnAway(reply);
      // After the signature: what is not signed takes nothing from those who sign.
      if (!rates.take(request.ip, body.length)) {
        counts.tooMany++;
        return comeAgain(reply);
      }
      const says = verdict?.kind === 'yes' ? { says: verdict.says } : {};
      const stored = await desk.take({ at: options.now(), from: request.ip, body, ...says });
      return stored ? answer(reply, 200, 'ok') : comeAgain(reply);
    },
  );
  server.setNotFoundHandler(async (_, reply) => turnAway(reply));
  server.setErrorHandler(async (error, _request, reply) => {
    const status = (error as { statusCode?: number }).statusCode ?? 503;
    // Only what no delivery of the exchange can be is refused for good.
    return status === 413 ? answer(reply, 413, 'too large') : comeAgain(reply);
  });
}

const answer = (reply: FastifyReply, code: number, text: string): FastifyReply =>
  reply.code(code).type('text/plain; charset=utf-8').header('cache-control', 'no-store').send(text);

const comeAgain = (reply: FastifyReply): FastifyReply => answer(reply.header('retry-after', '5'), 503, 'come again');

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

const first = (header: string | string[] | undefined): string | undefined =>
  typeof header === 'string' ? header : header?.[0];

/** Null when everybody may come. Entries are checked by the configuration. */
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

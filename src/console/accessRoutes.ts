/**
 * Routes for login and logout, and for the preview, approval and result of an action. Only these routes accept a POST.
 */
import { isIP } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { cleaned, isSame, SESSION_MS, Sessions, type ConsoleAccess, type Role, type Login } from './access.ts';
import {
  APPROVAL_MS,
  Approvals,
  type ActionRequest,
  type ConsoleActions,
  type OnReplayed,
  type ReadProposal,
  type ParameterChange,
} from './approvals.ts';
import type { ApiAccess } from './apiRoutes.ts';
import { BOOK_PATTERN } from './apiSchemas.ts';
import type { CallerRole } from '../guard/index.ts';
import {
  isCost,
  isReasonTooShort,
  NAME_MAX,
  PARAMETER_KEY,
  PARAMETER_MAX,
  PARAMETER_VALUE,
  PAUSE_MINUTES_MAX,
  REASON_MAX,
} from './page/bounds.ts';
import type { ShownSession } from './page/view.ts';

export const POSTED = [
  ...['/login', '/logout', '/actions/preview', '/actions/confirm'],
  ...['/proposals/preview', '/proposals/reject'],
] as const;

/** Checks which requests may read. */
export type RequestAccess = {
  /**
   * Returns `null` if the sender may not read. Otherwise returns a function that repeats this check, because a stream
   * outlives its request.
   */
  mayRead(request: FastifyRequest): (() => boolean) | null;
  /** Returns the role whose connection limit applies to the request. */
  roleOf(request: FastifyRequest): CallerRole;
  /** Checks the bearer token of a request to the API; without one, a login allows reading. */
  apiAccess(request: FastifyRequest): ApiAccess;
};

/** Access guard without tokens: everyone can read, and actions are off. */
export const openAccess: RequestAccess = {
  mayRead: () => () => true,
  roleOf: () => 'anonymous',
  apiAccess: ({ headers }) =>
    headers.authorization === undefined
      ? { role: 'anonymous' }
      : { code: 403, problem: 'no token is configured: console.viewerTokenFile, console.operatorTokenFile' },
};

const KEY_HEADER = 'x-puntas-key';

/** Adds the routes. `port` returns the port on which the server listens. */
export function addAccess(
  server: FastifyInstance,
  access: ConsoleAccess,
  actions: ConsoleActions | null,
  port: () => number,
): RequestAccess {
  const sessions = new Sessions(access);
  const approvals = actions && new Approvals<Login>(actions, access.now, access.newSecret);
  // A cookie is sent to every port of its host, so consoles on one host need different names to keep their logins.
  const cookieName = () => (access.behindTls ? '__Host-puntas' : `puntas-${port()}`);
  const sessionOf = (request: FastifyRequest) => sessions.of(cookieOf(request, cookieName()));
  const needsLogin = access.viewerToken !== null;
  const cookie = (value: string, seconds: number) =>
    `${cookieName()}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${access.behindTls ? '; Secure' : ''}`;

  server.get('/session', async request => shownSession(request, sessionOf(request), access, actions));

  server.post('/login', async (request, reply) => {
    const why = accessBlockedReason(request, access);
    if (why !== null) return replyProblem(reply, 403, why);
    const { token, name } = fieldsOf(request.body);
    if (typeof token !== 'string') return replyProblem(reply, 422, 'expected a token');
    const from = callerOf(request, access);
    const end = sessions.login(token, typeof name === 'string' ? cleaned(name, NAME_MAX) : '', from);
    if (end.kind === 'wait')
      return replyProblem(
        reply.header('retry-after', end.seconds),
        429,
        `too many wrong tokens; try again in ${end.seconds} s`,
      );
    if (end.kind === 'wrong') return replyProblem(reply, 401, 'wrong token');
    if (end.kind === 'nameless') return replyProblem(reply, 422, 'enter your name; it is recorded with your actions');
    reply.header('set-cookie', cookie(end.cookie, SESSION_MS / 1000));
    return { role: end.session.role, key: end.session.key };
  });

  /** Returns the login if the request is allowed; otherwise answers the request and returns `null`. */
  const allowed = (request: FastifyRequest, reply: FastifyReply, role: Role | null): Login | null => {
    const refuse = (code: number, why: string) => (void replyProblem(reply, code, why), null);
    const why = accessBlockedReason(request, access);
    if (why !== null) return refuse(403, why);
    const session = sessionOf(request);
    if (session === null) return refuse(401, 'log in first');
    if (!isSame(String(request.headers[KEY_HEADER] ?? ''), session.key))
      return refuse(403, 'log in again; this page has no valid session key');
    if (role !== null && session.role !== role) return refuse(403, `log in as ${role} for this request`);
    return session;
  };

  server.post('/logout', async (request, reply) => {
    const session = allowed(request, reply, null);
    if (session === null) return reply;
    sessions.end(session);
    reply.header('set-cookie', cookie('', 0));
    return {};
  });
  /** Results of checks, so that one request counts as one attempt. */
  const checks = new WeakMap<FastifyRequest, ApiAccess>();
  const apiAccess = (request: FastifyRequest): ApiAccess => {
    const known = checks.get(request);
    if (known !== undefined) return known;
    const access = checkedApiAccess(request);
    checks.set(request, access);
    return access;
  };
  const checkedApiAccess = (request: FastifyRequest): ApiAccess => {
    const { authorization } = request.headers;
    // A cookie is sent by the browser for any page, so a login reads and never acts here.
    if (authorization === undefined)
      return { role: request.method === 'POST' ? 'anonymous' : (sessionOf(request)?.role ?? 'anonymous') };
    const why = accessBlockedReason(request, access);
    if (why !== null) return { code: 403, problem: why };
    const token = bearerOf(authorization);
    if (token === null) return { code: 401, problem: 'expected Authorization: Bearer TOKEN' };
    const end = sessions.check(token, callerOf(request, access));
    switch (end.kind) {
      case 'right':
        return { role: end.role };
      case 'wrong':
        return { code: 401, problem: 'wrong token' };
      case 'wait':
        return {
          ...{ code: 429, retryAfter: end.seconds },
          problem: `too many wrong tokens; try again in ${end.seconds} s`,
        };
    }
  };
  if (approvals !== null && actions !== null) addActions(server, approvals, actions, allowed);
  return {
    mayRead: request => {
      if (!needsLogin) return () => true;
      const session = sessionOf(request);
      return session && (() => sessions.lives(session));
    },
    roleOf: request => {
      if (request.headers.authorization === undefined) return sessionOf(request)?.role ?? 'anonymous';
      const checked = apiAccess(request);
      return 'role' in checked ? checked.role : 'anonymous';
    },
    apiAccess,
  };
}

/** Returns the token of an Authorization header; `null` if it is not a bearer token. */
const bearerOf = (header: string): string | null => /^Bearer ([\x21-\x7e]{1,512})$/i.exec(header)?.[1] ?? null;

function addActions(
  server: FastifyInstance,
  approvals: Approvals<Login>,
  actions: ConsoleActions,
  allowed: (request: FastifyRequest, reply: FastifyReply, role: Role) => Login | null,
): void {
  server.post('/actions/preview', async (request, reply) => {
    const session = allowed(request, reply, 'operator');
    if (session === null) return reply;
    const asked = requestOf(fieldsOf(request.body), actions.names, session.name);
    if (typeof asked === 'string') return replyProblem(reply, 422, asked);
    return replyWithProgress(reply, async onShare => {
      const opened = await approvals.open(session, asked, onShare);
      return { ...opened, ...asked, endsInMs: APPROVAL_MS };
    });
  });

  const { proposals } = actions;
  if (proposals !== undefined) {
    server.post('/proposals/preview', async (request, reply) => {
      const session = allowed(request, reply, 'operator');
      if (session === null) return reply;
      return replyWithProgress(reply, async onShare => {
        const { action, reason, minutes, book, ...prepared } = await proposals.prepare(
          readProposal(request.body),
          session.name,
          onShare,
        );
        return {
          ...approvals.store(session, prepared),
          ...{ action, reason, minutes, costMax: null, endsInMs: APPROVAL_MS },
          ...(book !== undefined && { book }),
        };
      });
    });
    server.post('/proposals/reject', async (request, reply) => {
      const session = allowed(request, reply, 'operator');
      if (session === null) return reply;
      try {
        proposals.reject(readProposal(request.body), session.name);
        return {};
      } catch (error) {
        return replyProblem(reply, 422, error instanceof Error ? error.message : String(error));
      }
    });
  }

  server.get('/actions/cost', async (request, reply) => {
    const session = allowed(request, reply, 'operator');
    if (session === null) return reply;
    if (!actions.names.includes('flatten'))
      return replyProblem(reply, 422, 'flatten needs a hedger, but the configuration of this bot has no section hedge');
    return replyWithProgress(reply, async onShare => ({ lines: await actions.cost(session.name, onShare) }));
  });

  server.get('/actions/parameters', async (request, reply) => {
    const session = allowed(request, reply, 'operator');
    if (session === null) return reply;
    const { book } = request.query as { readonly book?: unknown };
    if (book !== undefined && (typeof book !== 'string' || !BOOK_PATTERN.test(book)))
      return replyProblem(reply, 422, 'book: expected a symbol like btc_mxn');
    try {
      return actions.parameters(book);
    } catch (error) {
      return replyProblem(reply, 422, error instanceof Error ? error.message : String(error));
    }
  });

  server.post('/actions/confirm', async (request, reply) => {
    const session = allowed(request, reply, 'operator');
    if (session === null) return reply;
    const { id } = fieldsOf(request.body);
    if (typeof id === 'string' && approvals.confirm(session, id)) return reply.code(202).send({ id });
    return replyProblem(
      reply,
      409,
      'this confirmation had no effect, because the preview has expired or was confirmed before; request a new preview',
    );
  });

  server.get<{ Querystring: { id?: string } }>('/actions/outcome', async (request, reply) => {
    const session = allowed(request, reply, 'operator');
    if (session === null) return reply;
    return approvals.outcome(session, String(request.query.id)) ?? replyProblem(reply, 404, 'unknown request');
  });
}

/**
 * Answers with one line of JSON. If the replay of a recording takes long, progress lines precede this line. An error
 * after the first progress line is sent as a line, because the status code has been sent.
 */
async function replyWithProgress(
  reply: FastifyReply,
  work: (onShare: OnReplayed) => Promise<object>,
): Promise<FastifyReply> {
  const line = (of: object): string => `${JSON.stringify(of)}\n`;
  let isBegun = false;
  const onShare = (share: number): void => {
    if (!isBegun) {
      reply.hijack();
      reply.header('content-type', 'application/x-ndjson; charset=utf-8');
      for (const [name, value = ''] of Object.entries(reply.getHeaders())) reply.raw.setHeader(name, value);
    }
    isBegun = true;
    reply.raw.write(line({ share }));
  };
  try {
    const end = await work(onShare);
    if (!isBegun) return reply.send(end);
    reply.raw.end(line(end));
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    if (!isBegun) return replyProblem(reply, 422, problem);
    reply.raw.end(line({ problem }));
  }
  return reply;
}

function readProposal(body: unknown): ReadProposal {
  const { id, digest } = fieldsOf(body);
  return { id: typeof id === 'string' ? id : '', digest: typeof digest === 'string' ? digest : '' };
}

/** Returns the action request, or a message for the operator if a field is invalid. */
function requestOf(fields: Fields, names: readonly string[], by: string): ActionRequest | string {
  const { action, reason, minutes = null, costMax = null, book = null } = fields;
  if (typeof action !== 'string' || !names.includes(action)) return `expected one of ${names.join(', ')}`;
  const why = typeof reason === 'string' ? cleaned(reason, REASON_MAX) : '';
  if (isReasonTooShort(why)) return 'enter the reason in a few words, for the record';
  const isSpan =
    typeof minutes === 'number' && Number.isInteger(minutes) && minutes >= 1 && minutes <= PAUSE_MINUTES_MAX;
  if (minutes !== null && (action !== 'pause' || !isSpan))
    return action === 'pause'
      ? `minutes: expected a whole number from 1 to ${PAUSE_MINUTES_MAX}, or an empty field`
      : 'a number of minutes is only valid for a pause';
  const isSum = typeof costMax === 'string' && isCost(costMax);
  if ((action === 'flatten') !== isSum || (costMax !== null && !isSum))
    return action === 'flatten'
      ? 'enter the maximum total cost, fees included, like 250.50'
      : 'a maximum cost is only valid for flatten';
  const change = action === 'set' ? requestedChange(fields) : null;
  if (typeof change === 'string') return change;
  if (book !== null && (typeof book !== 'string' || !BOOK_PATTERN.test(book)))
    return 'book: expected a symbol like btc_mxn, or none for all books';
  return {
    ...(book === null ? {} : { book }),
    ...{ action, reason: why, by, minutes: isSpan ? minutes : null, costMax: isSum ? costMax : null },
    ...(change === null ? {} : { change }),
  };
}

/** Returns the change of a parameter, or a message for the operator if a field is invalid. */
function requestedChange({ key, value, digest }: Fields): ParameterChange | string {
  if (typeof key !== 'string' || !PARAMETER_KEY.test(key)) return 'choose the parameter to change';
  if (value !== null && (typeof value !== 'string' || !PARAMETER_VALUE.test(value)))
    return `enter the new value: 1 to ${PARAMETER_MAX} printable ASCII characters`;
  if (typeof digest !== 'string' || !/^[0-9a-f]{64}$/.test(digest))
    return 'the list of parameters is missing; close this dialog and open it again';
  return { key, value, digest };
}

function shownSession(
  request: FastifyRequest,
  session: Login | null,
  access: ConsoleAccess,
  actions: ConsoleActions | null,
): ShownSession {
  const isKeyed = session !== null && isSame(String(request.headers[KEY_HEADER] ?? ''), session.key);
  return {
    hasLogin: true,
    mustLogIn: access.viewerToken !== null && session === null,
    role: session?.role ?? null,
    name: session?.name ?? '',
    // Only a page that has the key of an operator's login can execute actions.
    actions: isKeyed && session.role === 'operator' ? (actions?.names ?? []) : [],
    whyNot: accessBlockedReason(request, access),
  };
}

/**
 * Returns the reason why login and actions are off on this connection, or null if they are allowed. Tokens must not
 * travel unencrypted over a network.
 */
function accessBlockedReason({ headers, socket }: FastifyRequest, { behindTls }: ConsoleAccess): string | null {
  if (behindTls) return null;
  const isPassedOn = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-proto', 'x-real-ip'].some(
    name => name in headers,
  );
  if (!isPassedOn && isLoopback(socket.remoteAddress) && isLoopback(headers.host?.replace(/:\d{1,5}$/, '')))
    return null;
  return 'the console is read-only over this connection; connect with ssh -L, or through a TLS proxy with console.behindTls set';
}

/**
 * Returns the caller's address: the last address in X-Forwarded-For if a TLS proxy is in front, otherwise the address
 * of the connection.
 */
function callerOf({ headers, socket }: FastifyRequest, { behindTls }: ConsoleAccess): string {
  const passed = behindTls
    ? String(headers['x-forwarded-for'] ?? '')
        .split(',')
        .at(-1)!
        .trim()
    : '';
  return isIP(passed) === 0 ? (socket.remoteAddress ?? 'an unknown address') : passed;
}

/** Whether the text is an address or a name of this machine. */
const isLoopback = (name = ''): boolean => /^(?:localhost|\[?::1\]?|(?:::ffff:)?127(?:\.\d{1,3}){3})$/i.test(name);

/** Returns the value of a cookie; `null` if absent or if the name occurs more than once. */
function cookieOf({ headers: { cookie = '' } }: FastifyRequest, name: string): string | null {
  const found = cookie
    .split(';')
    .map(each => each.trim().split('='))
    .filter(([each]) => each === name);
  return found.length === 1 ? (found[0]?.[1] ?? null) : null;
}

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (body: unknown): Fields =>
  typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Fields) : {};

/** Answers with a problem as JSON, which the page shows. */
const replyProblem = (reply: FastifyReply, code: number, problem: string): FastifyReply =>
  reply.code(code).send({ problem });

/**
 * HTTP API on the server of the console: the routes of `apiSchemas` with one check of token and role. A bearer token
 * takes the place of the page's login.
 */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requestProblem } from '../guard/index.ts';
import type { Role } from './access.ts';
import type { ActionOver, ActionRequest, ParameterChange } from './approvals.ts';
import {
  API_ACTIONS,
  API_BODY_MAX,
  API_DOCUMENT_PATH,
  API_ROUTES,
  KEY_HEADER_NAME,
  KEY_PATTERN,
  ROLE_HEADER,
  openApiDocument,
  type ApiAction,
  type ApiRouteName,
  type ApiRouteSpec,
} from './apiSchemas.ts';

/** Read of the API; days are UTC days as text. */
export type ApiRead =
  | { readonly what: 'config' }
  | ((
      | { readonly what: 'status' }
      | { readonly what: 'parameters' }
      | { readonly what: 'summary' }
      | { readonly what: 'report'; readonly from?: string; readonly to?: string }
      | { readonly what: 'explain'; readonly at: number | null }
      | { readonly what: 'fills'; readonly max: number }
      | { readonly what: 'events'; readonly max: number }
    ) & {
      /**
       * Symbol of the book of the answer; if absent, all books or, for `explain`, the first book. For `parameters`: the
       * keys of all books.
       */
      readonly book?: string;
    });

/** Proposal of an agent, as it is requested. */
export type ApiProposal = {
  readonly action: string;
  readonly reason: string;
  readonly agent: string;
  readonly minutes: number | null;
  /** Symbol of the book to act on; if absent, the whole bot. */
  readonly book?: string;
};

/** Proposals of agents. Each function rejects with a message for the agent. */
export type ApiProposals = {
  /** Returns all open proposals and, up to `max` in all, the newest closed ones. */
  readonly list: (max: number) => readonly object[];
  readonly propose: (request: ApiProposal) => Promise<object>;
  readonly preview: (request: ApiProposal) => Promise<readonly string[]>;
};

/** Result of an action. `other request`: the key was used for another request, and nothing was done. */
export type ApiActionOver = (ActionOver & { readonly isRepeated: boolean }) | 'other request';

export type ConsoleApi = {
  /** Returns one JSON value. Rejects with a message for the operator. */
  readonly read: (read: ApiRead) => Promise<string>;
  /** Returns the effect of an action. Rejects with a message for the operator. `null` if actions are off. */
  readonly preview: ((request: ActionRequest) => Promise<readonly string[]>) | null;
  /** Executes an action at most once per key. Rejects with a message for the operator. `null` if actions are off. */
  readonly act: ((request: ActionRequest, key: string) => Promise<ApiActionOver>) | null;
  readonly proposals: ApiProposals;
};

/** Result of the check of a request: its role, or the reason for a rejection. */
export type ApiAccess =
  | { readonly role: Role | 'anonymous' }
  | { readonly code: 401 | 403 | 429; readonly problem: string; readonly retryAfter?: number };

/**
 * Maximum number of concurrent reads and previews: of all callers, and of callers that are not operators. Each may
 * replay a recording.
 */
const WORK_MAX = { all: 8, readers: 6 };
const RETRY_AFTER_S = 2;
const ACTIONS_OFF = 'actions are off: console.operatorTokenFile is not set';

/**
 * Adds the routes. `accessOf` returns the role of a request's token; `canReadOpenly` whether reads need no token.
 */
export function addApi(
  server: FastifyInstance,
  api: ConsoleApi,
  accessOf: (request: FastifyRequest) => ApiAccess,
  canReadOpenly: boolean,
): void {
  const document = openApiDocument();
  server.get(API_DOCUMENT_PATH, async (_, reply) => reply.send(document));
  const atWork = { all: 0, readers: 0 };
  const handlers = handlersOf(api, accessOf);
  for (const [name, spec] of Object.entries(API_ROUTES) as [ApiRouteName, ApiRouteSpec][])
    server.route({
      method: spec.method,
      url: spec.path,
      schema: validatedSchema(spec),
      attachValidation: true,
      // The role is checked before the body is read.
      onRequest: async (request, reply) => refuseLow(request, reply, spec),
      errorHandler: (error: FastifyError, _, reply) => {
        const { code, text } = requestProblem(error, API_BODY_MAX);
        problem(reply, code, text);
      },
      handler: async (request, reply) => {
        const handle = handlers[name];
        if (handle === null) return problem(reply, 403, ACTIONS_OFF);
        if (request.validationError !== undefined)
          return problem(reply, 422, request.validationError.message || 'invalid request');
        // Actions are never rejected for load: a stop must not wait for the replays of others.
        const isBounded = spec.hasKey !== true && spec.isKept !== true;
        const access = accessOf(request);
        const reader = 'role' in access && access.role === 'operator' ? 0 : 1;
        if (isBounded && (atWork.all >= WORK_MAX.all || atWork.readers + reader > WORK_MAX.readers))
          return problem(
            reply.header('retry-after', RETRY_AFTER_S),
            503,
            `too many requests are under way; try again in ${RETRY_AFTER_S} s`,
          );
        if (isBounded) count(1, reader);
        try {
          return await handle(request, reply);
        } catch (error) {
          return problem(reply, 422, error instanceof Error ? error.message : String(error));
        } finally {
          if (isBounded) count(-1, -reader);
        }
      },
    });

  function count(all: number, readers: number): void {
    atWork.all += all;
    atWork.readers += readers;
  }

  /** Answers a request whose role is too low; `undefined` if the role suffices. */
  function refuseLow(
    request: FastifyRequest,
    reply: FastifyReply,
    { role: needed, needsToken }: ApiRouteSpec,
  ): FastifyReply | undefined {
    if (needed === 'operator' && api.act === null) return problem(reply, 403, ACTIONS_OFF);
    const access = accessOf(request);
    if ('role' in access) reply.header(ROLE_HEADER, access.role);
    if ('problem' in access) {
      if (access.retryAfter !== undefined) reply.header('retry-after', access.retryAfter);
      if (access.code === 401) reply.header('www-authenticate', 'Bearer');
      return problem(reply, access.code, access.problem);
    }
    if (
      access.role === 'operator' ||
      (needed === 'viewer' && ((canReadOpenly && needsToken !== true) || access.role === 'viewer'))
    )
      return undefined;
    if (access.role === 'anonymous')
      return problem(
        reply.header('www-authenticate', 'Bearer'),
        401,
        `send the token of a ${needed} as Authorization: Bearer TOKEN`,
      );
    return problem(reply, 403, 'this request needs the operator token');
  }
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

function handlersOf(
  { read, preview, act, proposals }: ConsoleApi,
  accessOf: (request: FastifyRequest) => ApiAccess,
): Readonly<Record<ApiRouteName, Handler | null>> {
  const json =
    (of: (query: Readonly<Record<string, string>>) => ApiRead): Handler =>
    async (request, reply) =>
      reply
        .type('application/json; charset=utf-8')
        .send(await read(of(request.query as Readonly<Record<string, string>>)));
  const inBook = ({ book }: Readonly<Record<string, string>>) => (book === undefined ? {} : { book });
  return {
    status: json(query => ({ what: 'status', ...inBook(query) })),
    summary: json(query => ({ what: 'summary', ...inBook(query) })),
    config: json(() => ({ what: 'config' })),
    parameters: json(query => ({ what: 'parameters', ...inBook(query) })),
    report: json(({ from, to, ...query }) => ({
      what: 'report',
      ...inBook(query),
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    })),
    explain: json(({ at, ...query }) => ({
      ...{ what: 'explain', at: at === undefined ? null : Number(at) },
      ...inBook(query),
    })),
    fills: json(({ max = '100', ...query }) => ({ what: 'fills', max: Number(max), ...inBook(query) })),
    events: json(({ max = '50', ...query }) => ({ what: 'events', max: Number(max), ...inBook(query) })),
    session: async request => {
      const access = accessOf(request);
      return { role: 'role' in access ? access.role : 'anonymous' };
    },
    proposals: async ({ query }, reply) => {
      const { max = '10' } = query as Readonly<Record<string, string>>;
      return reply.send(proposals.list(Number(max)));
    },
    propose: async ({ body }) => proposals.propose(proposalFrom(body as Partial<ApiProposal>)),
    proposalPreview: async ({ body }) => ({
      lines: await proposals.preview(proposalFrom(body as Partial<ApiProposal>)),
    }),
    preview:
      preview &&
      (async ({ body }) => {
        const { action, ...asked } = body as { action: string };
        return { lines: await preview(requestFrom(action, { reason: 'a preview', ...asked })) };
      }),
    ...(Object.fromEntries(API_ACTIONS.map(action => [action, act && actionHandler(action, act)])) as Readonly<
      Record<ApiAction, Handler | null>
    >),
  };
}

const actionHandler =
  (action: ApiAction, act: NonNullable<ConsoleApi['act']>): Handler =>
  async ({ body, headers }, reply) => {
    const key = headers[KEY_HEADER_NAME];
    if (typeof key !== 'string' || !KEY_PATTERN.test(key))
      return problem(reply, 422, 'Idempotency-Key: expected 8 to 60 letters, digits, - or _, chosen for this request');
    const over = await act(requestFrom(action, body as object), key);
    if (over === 'other request')
      return problem(reply, 409, 'this Idempotency-Key was used for another request; nothing was done');
    const { end, lines, undo, isRepeated } = over;
    return { id: key, end, lines, isRepeated, ...(undo === undefined ? {} : { undo }) };
  };

function proposalFrom(body: Partial<ApiProposal>): ApiProposal {
  const { action = '', reason = '', agent = '', minutes = null, book } = body;
  return { action, reason, agent, minutes, ...(book !== undefined && { book }) };
}

function requestFrom(action: string, body: object): ActionRequest {
  const { reason = '', by = '', minutes = null, book } = body as Partial<ActionRequest>;
  const { key, value = null, digest } = body as Partial<ParameterChange>;
  const change =
    action === 'set' && key !== undefined && digest !== undefined ? { change: { key, value, digest } } : {};
  return { action, reason, by, minutes, costMax: null, ...(book === undefined ? {} : { book }), ...change };
}

/** Returns the schema in the form of the server's validator. */
function validatedSchema({ query, body }: ApiRouteSpec): object {
  return {
    ...(query === undefined ? {} : { querystring: { type: 'object', properties: query, additionalProperties: false } }),
    ...(body === undefined ? {} : { body }),
  };
}

const problem = (reply: FastifyReply, code: number, text: string): FastifyReply =>
  reply.code(code).send({ problem: text });

/**
 * Routes of the HTTP API with the schemas of their requests and answers. The server validates requests by these
 * schemas, and the OpenAPI document is generated from them.
 */
import type { Role } from './access.ts';
import {
  NAME_MAX,
  PARAMETER_KEY,
  PARAMETER_VALUE,
  PAUSE_MINUTES_MAX,
  REASON_MAX,
  REASON_MIN,
  RECORDED_NAME_MAX,
} from './page/bounds.ts';

/** JSON Schema, as OpenAPI 3.1 and the server's validator read it. */
export type ApiSchema = Readonly<Record<string, unknown>>;

export type ApiRouteSpec = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Role that the route needs. */
  readonly role: Role;
  /** Whether the route needs a token even where others can be read without one. */
  readonly needsToken?: true;
  readonly summary: string;
  /** Schemas of the query parameters, which are text; all are optional. */
  readonly query?: Readonly<Record<string, ApiSchema>>;
  readonly body?: ApiSchema;
  /** Whether the answer is in memory, so that the limit on reads under way does not apply. */
  readonly isKept?: true;
  /** Whether the request needs an idempotency key. */
  readonly hasKey?: true;
  readonly answer: ApiSchema;
};

/** Actions of the API. Flatten and reload need values that only the console's preview binds. */
export const API_ACTIONS = ['pause', 'reduce', 'cancel', 'halt', 'resume', 'set'] as const;
export type ApiAction = (typeof API_ACTIONS)[number];

/** Actions that an agent can propose. */
export const API_PROPOSED = ['pause', 'reduce', 'cancel', 'halt', 'reload'] as const;

/** Pattern of the symbol of a book in a request: that of a configuration. */
export const BOOK_PATTERN = /^[a-z0-9]{2,12}_[a-z0-9]{2,12}$/;

/** Maximum length of the body of a request, in bytes. */
export const API_BODY_MAX = 8_192;
export const API_BASE = '/api/v1';
/** Header of the idempotency key. */
export const KEY_HEADER_NAME = 'idempotency-key';
export const KEY_PATTERN = /^[A-Za-z0-9_-]{8,60}$/;
/**
 * Header with the role of the request's token, so that a program notices a token that permits more than the program
 * needs.
 */
export const ROLE_HEADER = 'x-puntas-role';
/** Path of the summary. */
export const SUMMARY_PATH = `${API_BASE}/summary`;
/** Maximum number of fills of one answer. */
export const FILLS_MAX = 1_000;
/** Maximum number of events of one answer. */
export const API_EVENTS_MAX = 500;

const day = { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: 'UTC day, like 2026-11-01' };
const said = {
  reason: { type: 'string', minLength: REASON_MIN, maxLength: REASON_MAX, description: 'Reason, for the record' },
  by: {
    type: 'string',
    minLength: 1,
    maxLength: NAME_MAX,
    description: 'Name of the operator, for the record; not verified',
  },
};
const book: ApiSchema = { type: 'string', pattern: BOOK_PATTERN.source };
/** Query of a read of one book. */
const ofBook = { book: { ...book, description: 'Book to read, if the bot has several; if omitted, all books' } };
/** Book of a parameter, of a bot with several. */
const ofParameter = {
  book: { ...book, description: 'Book whose keys are meant; if omitted, the keys that all share' },
};
/** Field of an action that can apply to one book. */
const inBook = { book: { ...book, description: 'Book to act on; if omitted, the whole bot' } };
const minutes = {
  type: 'integer',
  minimum: 1,
  maximum: PAUSE_MINUTES_MAX,
  description: 'Duration in minutes; if omitted, the pause ends by resume',
};
const asked = {
  action: { enum: API_PROPOSED },
  agent: {
    type: 'string',
    minLength: 1,
    maxLength: RECORDED_NAME_MAX,
    description: 'Name of the agent, for the record; not verified',
  },
  minutes: { ...minutes, description: 'Duration of a pause in minutes; if omitted, the pause ends by resume' },
  ...inBook,
};
const body = (properties: Readonly<Record<string, ApiSchema>>, required: readonly string[]): ApiSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const lines = { type: 'array', items: { type: 'string' }, description: 'Sentences for the operator' };
const change = {
  key: { type: 'string', pattern: PARAMETER_KEY.source, description: 'Key, like strategy.halfSpreadBps' },
  value: {
    type: ['string', 'null'],
    pattern: PARAMETER_VALUE.source,
    description: 'New value as text; null removes the key',
  },
  digest: {
    type: 'string',
    pattern: '^[0-9a-f]{64}$',
    description: 'digest of the parameters that were read; the change is refused if the file differs',
  },
};
const changeOver: ApiSchema = {
  type: 'object',
  properties: { key: { type: 'string' }, value: { type: ['string', 'null'] }, book: { type: 'string' } },
  required: ['key', 'value'],
  description: 'Change that restores the earlier value; absent if the API cannot make it, as for a tightened limit',
};
/**
 * Returns the query of a list that has a maximum number of elements. `pattern` accepts the numbers from 1 to `most`.
 */
const maxQuery = (pattern: string, most: number, usual: number): Readonly<Record<string, ApiSchema>> => ({
  max: { type: 'string', pattern, description: `Maximum number, up to ${most}; default ${usual}` },
});
const actionAnswer: ApiSchema = {
  type: 'object',
  properties: {
    id: { type: 'string', description: 'Idempotency key; id of the entry in actions.jsonl' },
    end: { enum: ['done', 'refused'], description: 'refused: not executed, or only in part; lines has the reason' },
    lines,
    isRepeated: { type: 'boolean', description: 'Whether this is the result of an earlier request with this key' },
    undo: changeOver,
  },
  required: ['id', 'end', 'lines', 'isRepeated'],
  additionalProperties: false,
};
const proposalAnswer: ApiSchema = {
  type: 'object',
  properties: {
    ...Object.fromEntries(['id', 'action', 'book', 'reason', 'agent', 'digest'].map(key => [key, { type: 'string' }])),
    at: { type: 'string', format: 'date-time' },
    expiresAt: { type: 'string', format: 'date-time' },
    minutes: { type: ['integer', 'null'] },
    preview: lines,
    state: {
      enum: ['open', 'expired', 'rejected', 'approved', 'done', 'refused'],
      description: 'approved: a person approved it, and its result is not recorded',
    },
    decidedBy: { type: ['string', 'null'] },
    result: lines,
  },
  required: ['id', 'action', 'state', 'digest'],
};
const ACTION_SUMMARIES: Readonly<Record<ApiAction, string>> = {
  pause: 'Cancel all orders and pause quoting',
  reduce: 'Quote only to reduce inventory, until a resume',
  cancel: 'Cancel all orders, verify the cancels, then quote again',
  halt: 'Cancel all orders and stop quoting until a resume',
  resume: 'End a pause, a halt or reduce-only',
  set: 'Change one key of the configuration file and reload it; limits can only be tightened',
};

const ACTION_BODIES: Partial<Readonly<Record<ApiAction, ApiSchema>>> = {
  ...Object.fromEntries(
    (['reduce', 'halt', 'resume'] as const).map(action => [action, body({ ...said, ...inBook }, ['reason', 'by'])]),
  ),
  pause: body({ ...said, ...inBook, minutes }, ['reason', 'by']),
  set: body({ ...said, ...ofParameter, ...change }, ['reason', 'by', 'key', 'value', 'digest']),
};

export const API_ROUTES = {
  status: {
    method: 'GET',
    path: `${API_BASE}/status`,
    role: 'viewer',
    summary: 'Process, regime, quotes, inventory, limits and profit, as puntas status --json',
    query: ofBook,
    answer: { type: 'object' },
  },
  summary: {
    method: 'GET',
    path: SUMMARY_PATH,
    role: 'viewer',
    isKept: true,
    summary: 'State, profit, inventory and last fill in short, made once per second; puntas fleet reads it',
    query: ofBook,
    answer: { type: 'object' },
  },
  report: {
    method: 'GET',
    path: `${API_BASE}/report`,
    role: 'viewer',
    summary: 'Profit by day, as puntas report --json',
    query: { from: day, to: day, ...ofBook },
    answer: { type: 'object' },
  },
  explain: {
    method: 'GET',
    path: `${API_BASE}/explain`,
    role: 'viewer',
    summary: 'Quotes with their reasons, level by level, as puntas explain --json',
    query: {
      at: { type: 'string', pattern: '^\\d{1,15}$', description: 'Time in ms since 1970; if omitted, now' },
      book: { ...book, description: 'Book to read, if the bot has several; if omitted, the first book' },
    },
    answer: { type: 'object' },
  },
  fills: {
    method: 'GET',
    path: `${API_BASE}/fills`,
    role: 'viewer',
    summary: 'Last fills of the ledger, newest first, with exact decimal text',
    query: { ...maxQuery('^(?:[1-9]\\d{0,2}|1000)$', FILLS_MAX, 100), ...ofBook },
    answer: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          at: { type: 'string', format: 'date-time' },
          ...Object.fromEntries(
            ['trade', 'order', 'book', 'amount', 'value', 'fee'].map(key => [key, { type: 'string' }]),
          ),
          side: { enum: ['buy', 'sell'] },
          ...Object.fromEntries(
            ['clientOrderId', 'role', 'level', 'price', 'feeCurrency'].map(key => [key, { type: ['string', 'null'] }]),
          ),
        },
        required: ['at', 'trade', 'book', 'side', 'amount', 'value', 'fee'],
      },
    },
  },
  config: {
    method: 'GET',
    path: `${API_BASE}/config`,
    needsToken: true,
    role: 'viewer',
    summary: 'Configuration of the last run; addresses are cut to their origin',
    answer: { type: 'object' },
  },
  events: {
    method: 'GET',
    path: `${API_BASE}/events`,
    role: 'viewer',
    summary: 'Last stops, actions and logins, as the page shows them, newest first',
    query: { ...maxQuery('^(?:[1-9]\\d?|[1-4]\\d{2}|500)$', API_EVENTS_MAX, 50), ...ofBook },
    answer: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          at: { type: 'string', format: 'date-time' },
          ...{ who: { type: 'string' }, level: { enum: ['info', 'warn', 'error'] }, text: { type: 'string' } },
        },
        required: ['at', 'who', 'level', 'text'],
      },
    },
  },
  session: {
    method: 'GET',
    path: `${API_BASE}/session`,
    needsToken: true,
    role: 'viewer',
    summary: 'Role of the token',
    answer: body({ role: { enum: ['viewer', 'operator'] } }, ['role']),
  },
  proposals: {
    method: 'GET',
    path: `${API_BASE}/proposals`,
    needsToken: true,
    role: 'viewer',
    summary: 'Open proposals of agents with their preview, and the last closed ones, newest first',
    query: maxQuery('^(?:[1-9]|1\\d|20)$', 20, 10),
    answer: { type: 'array', items: proposalAnswer },
  },
  propose: {
    method: 'POST',
    path: `${API_BASE}/proposals`,
    needsToken: true,
    role: 'viewer',
    summary: 'Propose an action; nothing happens until a person approves it in the console or a terminal',
    body: body({ ...asked, reason: said.reason }, ['action', 'agent', 'reason']),
    answer: proposalAnswer,
  },
  proposalPreview: {
    method: 'POST',
    path: `${API_BASE}/proposals/preview`,
    needsToken: true,
    role: 'viewer',
    summary: 'Effect of an action that could be proposed; nothing happens',
    body: body(asked, ['action', 'agent']),
    answer: body({ lines }, ['lines']),
  },
  parameters: {
    method: 'GET',
    path: `${API_BASE}/parameters`,
    needsToken: true,
    role: 'viewer',
    summary: 'Keys that set can change, with value, unit, help and permitted direction; and the last changes',
    query: ofParameter,
    answer: {
      type: 'object',
      properties: {
        digest: { type: 'string', description: 'SHA-256 of the file' },
        parameters: { type: 'array', items: { type: 'object' } },
        changes: { type: 'array', items: { type: 'object' } },
      },
      required: ['digest', 'parameters', 'changes'],
    },
  },
  preview: {
    method: 'POST',
    path: `${API_BASE}/preview`,
    role: 'operator',
    summary: 'Effect of an action or of a reload; nothing happens',
    body: body({ action: { enum: [...API_ACTIONS, 'reload'] }, ...said, ...inBook, minutes, ...change }, [
      'action',
      'by',
    ]),
    answer: body({ lines }, ['lines']),
  },
  ...(Object.fromEntries(
    API_ACTIONS.map(action => [
      action,
      {
        method: 'POST',
        path: `${API_BASE}/actions/${action}`,
        role: 'operator',
        summary: ACTION_SUMMARIES[action],
        body: ACTION_BODIES[action] ?? body(said, ['reason', 'by']),
        hasKey: true,
        answer: actionAnswer,
      },
    ]),
  ) as Readonly<Record<ApiAction, ApiRouteSpec>>),
} as const satisfies Readonly<Record<string, ApiRouteSpec>>;
export type ApiRouteName = keyof typeof API_ROUTES;

export const API_DOCUMENT_PATH = '/api/openapi.json';
/** Routes that accept a POST. */
export const API_POSTED: readonly string[] = Object.values<ApiRouteSpec>(API_ROUTES).flatMap(({ method, path }) =>
  method === 'POST' ? [path] : [],
);

const PROBLEM: ApiSchema = {
  type: 'object',
  properties: { problem: { type: 'string', description: 'Problem and remedy, in one sentence' } },
  required: ['problem'],
};
const REFUSALS: Readonly<Record<number, string>> = {
  401: 'No token, or a wrong token',
  403: 'The role of the token is too low, actions are off, or the connection is neither local nor behind TLS',
  422: 'A field is missing or invalid, or there is nothing to read',
  429: 'Too many wrong tokens from this address; Retry-After has the seconds to wait',
  503: 'Too many requests are under way; Retry-After has the seconds to wait',
};

/** Refusals of routes that have a body. */
const BODY_REFUSALS: Readonly<Record<number, string>> = {
  400: 'The body is not valid JSON',
  413: `The body is longer than ${API_BODY_MAX / 1_024} KiB`,
  415: 'The content type is not application/json',
};

/** Returns the OpenAPI 3.1 document of the API. */
export function openApiDocument(): ApiSchema {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [name, route] of Object.entries<ApiRouteSpec>(API_ROUTES))
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(name, route) };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Puntas',
      version: '1',
      description: 'Reads and actions of one bot. Amounts and prices are decimal text. Served by puntas console.',
    },
    servers: [{ url: '/' }],
    components: {
      securitySchemes: {
        viewer: { type: 'http', scheme: 'bearer', description: 'Token of viewers or operators; may be off' },
        operator: { type: 'http', scheme: 'bearer', description: 'Token of operators' },
      },
      schemas: { Problem: PROBLEM },
    },
    paths,
  };
}

function operationOf(
  name: string,
  { summary, role, query = {}, body: asked, hasKey, answer }: ApiRouteSpec,
): ApiSchema {
  const parameters = [
    ...Object.entries(query).map(([key, schema]) => ({ name: key, in: 'query', required: false, schema })),
    ...(hasKey === true
      ? [
          {
            ...{ name: 'Idempotency-Key', in: 'header', required: true },
            description: 'Own id of the request. A repetition with the same key returns the first result.',
            schema: { type: 'string', pattern: KEY_PATTERN.source },
          },
        ]
      : []),
  ];
  const problem = { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } };
  const refusals = {
    ...REFUSALS,
    ...(asked === undefined ? {} : BODY_REFUSALS),
    ...(hasKey === true ? { 409: 'The key was used for another request' } : {}),
  };
  return {
    operationId: name,
    summary,
    security: [{ [role]: [] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(asked === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: asked } } } }),
    responses: {
      200: { description: 'Done', content: { 'application/json': { schema: answer } } },
      ...Object.fromEntries(
        Object.entries(refusals).map(([code, description]) => [code, { description, content: problem }]),
      ),
    },
  };
}

/** Sender of every request of the client: budget, lane, nonce, signature, transport and classification of the reply. */
import {
  maskedText,
  shownText,
  TransportFailure,
  type Clock,
  type Millis,
  type NonceSource,
  type Observation,
  type Outcome,
  type Transport,
  type WireReply,
  type WireRequest,
} from '../../core/index.ts';
import { classify, type ReplyReading } from '../bitso/wire/classify.ts';
import { actionableMeaning } from '../bitso/wire/errorCodes.ts';
import { lanes, URGENCY, type Lane, type LaneLimits } from './lanes.ts';
import { Budget, type Slot } from './budget.ts';
import { remedyOf } from '../bitso/wire/remedies.ts';
import { authHeaders, type Credentials } from '../bitso/wire/sign.ts';
import { WireFault } from '../wire/wire.ts';

/** Base endpoint of one exchange API: REST, RFQ or webhooks. */
export type ApiEndpoint = {
  readonly transport: Transport;
  /** Prefix of the paths, such as `/api`, or empty. The signature covers the prefix too. */
  readonly basePath: string;
};

/** Request before it is signed. */
export type ApiRequest<T> = ReplyReading<T> & {
  /** Name of the endpoint in metrics: one of a fixed set, without ids. */
  readonly endpoint: string;
  readonly lane: Lane;
  readonly api?: 'rest' | 'rfq' | 'webhooks';
  readonly method: WireRequest['method'];
  /** Path and query after the base path, exactly as on the wire. */
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /**
   * Returns whether the request is still needed. Called when the turn of the request comes; if the result is false, the
   * request is rejected and never sent.
   */
  readonly isWanted?: () => boolean;
};

/** Sends a request. Always resolves, with the answer or the reason why there is none. */
export type SendRequest = <T>(question: ApiRequest<T>) => Promise<Outcome<T>>;

export type AskOptions = {
  readonly clock: Clock;
  readonly apis: Readonly<Record<'rest' | 'rfq' | 'webhooks', ApiEndpoint>>;
  /** Credentials and nonces. If omitted, only public endpoints work. */
  readonly signer?: { readonly credentials: Credentials; readonly nonces: NonceSource };
  /**
   * Request budgets per minute. The limits of the exchange are 60 per address and 300 per account (public facts 11); a
   * lower budget leaves capacity for other programs.
   */
  readonly budgets?: { readonly public?: number; readonly private?: number };
  readonly lanes?: LaneLimits;
  /** Maximum time, by lane, for which a request waits for budget and for its turn. */
  readonly waitMs?: Partial<Readonly<Record<Lane, Millis>>>;
  /** Whether the exchange checks its rate limit before it handles an order; see `classify`. */
  readonly throttleRefuses?: boolean;
  readonly onRequest?: (seen: Observation) => void;
};

export type RequestSender = {
  readonly ask: SendRequest;
  readonly budgets: Readonly<Record<'public' | 'private', Budget>>;
  /** Rejects new and waiting requests. Resolves when requests in progress have ended and the transports are closed. */
  readonly close: () => Promise<void>;
};

/** Limits of requests per minute: public per address, private per account (public-facts 11). */
export const EXCHANGE_RATE_LIMITS = { public: 60, private: 300 } as const;

/** Default maximum waits for request budget and turn. A placement that waited longer would be outdated. */
const WAIT_MAX_MS: Readonly<Record<Lane, Millis>> = {
  cancel: 5_000,
  place: 1_000,
  'private read': 5_000,
  'public read': 5_000,
};

/**
 * Creates a sender of requests. Default budgets: 60 public and 300 private requests per minute (public-facts 11).
 * Default maximum waits for budget and turn: 1 s for placements, 5 s for other requests. The sender's own rejections
 * have the codes `not-sent`, `budget` and `closed`. Throws a RangeError on a budget that is not a whole number above 0.
 */
export function requestSender(options: AskOptions): RequestSender {
  const { clock, apis, signer } = options;
  const budgets = {
    public: new Budget(clock, { perMinute: options.budgets?.public ?? EXCHANGE_RATE_LIMITS.public }),
    private: new Budget(clock, { perMinute: options.budgets?.private ?? EXCHANGE_RATE_LIMITS.private }),
  };
  const queues = lanes(options.lanes ?? {}, signer?.nonces.ordered ?? false);
  const underWay = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  async function answer<T>(question: ApiRequest<T>, saw: (reply: WireReply) => void): Promise<Outcome<T>> {
    const { lane } = question;
    const open = lane === 'public read';
    if (closing) return refusal('closed', 'the client is closed');
    if (!open && !signer) return refusal('not-sent', `${question.endpoint} needs an API key`);
    const budget = open ? budgets.public : budgets.private;
    const waitMs = options.waitMs?.[lane] ?? WAIT_MAX_MS[lane];
    const until = clock.elapsed() + waitMs;
    // Cancels are exempt from the exchange's limit (public facts 11), so they do not wait for the bot's budget.
    const slot = lane === 'cancel' ? EXEMPT : await budget.take(URGENCY[lane], waitMs);
    if (!slot) return closing ? refusal('closed', 'the client is closed') : overBudget(question.endpoint, waitMs);
    const isWanted = () => question.isWanted?.() ?? true;
    const mayGo = () => !closing && !(clock.elapsed() > until) && isWanted();
    const outcome = await queues.run(lane, () => send(options, question, slot, budget, saw), mayGo);
    if (outcome) return outcome;
    slot.release();
    if (!isWanted()) return refusal('not-sent', `${question.endpoint} was not sent, because it was no longer needed`);
    return closing ? refusal('closed', 'the client is closed') : overBudget(question.endpoint, waitMs);
  }

  async function ask<T>(question: ApiRequest<T>): Promise<Outcome<T>> {
    const from = clock.elapsed();
    let status: number | undefined;
    let answeredAt = Number.NaN;
    const flight = answer(question, reply => {
      status = reply.status;
      answeredAt = Date.parse(reply.headers['date'] ?? '');
    });
    underWay.add(flight);
    const outcome = withRemedy(maskOutcome(await flight.finally(() => underWay.delete(flight)), signer?.credentials));
    options.onRequest?.({
      endpoint: question.endpoint,
      outcome: outcome.kind,
      ms: clock.elapsed() - from,
      ...(outcome.kind === 'refused' ? { code: outcome.code } : {}),
      ...(status === undefined ? {} : { status }),
      ...(Number.isNaN(answeredAt) ? {} : { answeredAt }),
    });
    return outcome;
  }

  async function close(): Promise<void> {
    budgets.public.close();
    budgets.private.close();
    await Promise.allSettled([...underWay]);
    await Promise.all([...new Set(Object.values(apis).map(api => api.transport))].map(each => each.close()));
  }

  return {
    ask,
    budgets,
    close: () => (closing ??= close()),
  };
}

/** Signs and sends a request and reads the answer. Uses up the slot if the request may have been sent. */
async function send<T>(
  { apis, signer, throttleRefuses = false }: AskOptions,
  question: ApiRequest<T>,
  slot: Slot,
  budget: Budget,
  saw: (reply: WireReply) => void,
): Promise<Outcome<T>> {
  const api = apis[question.api ?? 'rest'];
  const request = requestOf(question, api, signer);
  let reply: WireReply;
  try {
    reply = await api.transport.send(request);
  } catch (problem) {
    const failure = problem instanceof TransportFailure ? problem : new TransportFailure(String(problem), true);
    if (failure.sent) slot.end();
    else slot.release();
    return failure.sent ? { kind: 'unknown', reason: failure.message } : refusal('not-sent', failure.message);
  }
  slot.end();
  saw(reply);
  const { outcome, throttled } = classify(reply, question, throttleRefuses);
  if (throttled) budget.lockOut();
  return outcome;
}

function requestOf(question: ApiRequest<unknown>, api: ApiEndpoint, signer: AskOptions['signer']): WireRequest {
  const { method } = question;
  const target = api.basePath + question.path;
  const body = question.body === undefined ? '' : JSON.stringify(question.body);
  const headers = { accept: 'application/json', ...(body === '' ? {} : { 'content-type': 'application/json' }) };
  if (question.lane === 'public read' || !signer) return { method, target, headers, body };
  // The request is signed just before it is sent, so that its nonce is fresh even after a long wait.
  const auth = authHeaders(signer.credentials, signer.nonces.next(), { method, target, body });
  return { method, target, headers: { ...headers, ...auth }, body };
}

/**
 * Masks credentials in an outcome's texts, which reach logs, the HALTED file and terminals. An exchange or a proxy may
 * echo the request.
 */
function maskOutcome<T>(outcome: Outcome<T>, credentials: Credentials | undefined): Outcome<T> {
  const { key, secret } = credentials ?? {};
  const fit = (text: string) => shownText(maskedText(text, [key ?? '', secret?.reveal() ?? '']));
  switch (outcome.kind) {
    case 'done':
      if (outcome.unreadable === undefined) return outcome;
      return {
        ...outcome,
        unreadable: outcome.unreadable.map(row => ({
          ...row,
          why: fit(row.why),
          ...(row.book === undefined ? {} : { book: fit(row.book) }),
          ...(row.id === undefined ? {} : { id: fit(row.id) }),
        })),
      };
    case 'refused':
      return { ...outcome, code: fit(outcome.code), message: fit(outcome.message) };
    case 'unknown':
      return { ...outcome, reason: fit(outcome.reason) };
  }
}

/** Adds the meaning of the exchange's code and the operator's remedy to a rejection. */
function withRemedy<T>(outcome: Outcome<T>): Outcome<T> {
  // Only rejections have a code. The sender's own codes have neither meaning nor remedy.
  if (outcome.kind !== 'refused') return outcome;
  const [meaning, remedy] = [actionableMeaning(outcome.code), remedyOf(outcome.code)];
  return { ...outcome, ...(meaning === undefined ? {} : { meaning }), ...(remedy === null ? {} : { remedy }) };
}

const EXEMPT: Slot = { end: () => undefined, release: () => undefined };

type Refused = Extract<Outcome<never>, { kind: 'refused' }>;

const refusal = (code: 'not-sent' | 'budget' | 'closed', message: string): Refused => ({
  kind: 'refused',
  code,
  message,
});

const overBudget = (endpoint: string, waitMs: Millis): Refused =>
  refusal('budget', `no free slot for ${endpoint} in the request budget within ${waitMs} ms`);

/**
 * Builds and sends a request. A request that breaks the interface's rules (a WireFault) is rejected here and never
 * sent.
 */
export async function buildAndSend<T>(ask: SendRequest, build: () => ApiRequest<T>): Promise<Outcome<T>> {
  let question: ApiRequest<T>;
  try {
    question = build();
  } catch (problem) {
    if (problem instanceof WireFault) return refusal('not-sent', problem.message);
    throw problem;
  }
  return ask(question);
}

/** Sender of every request of the client: budget, lane, nonce, signature, transport and classification of the reply. */
import {
  localRemedy,
  maskedText,
  shownText,
  TransportFailure,
  type Clock,
  type Meaning,
  type Millis,
  type Observation,
  type Outcome,
  type Transport,
  type UnreadableRow,
  type VenueSection,
  type WireReply,
  type WireRequest,
} from '../../core/index.ts';
import { lanes, URGENCY, type Lane, type LaneLimits } from './lanes.ts';
import type { Budget, Slot } from './budget.ts';
import { SECTION_NAMES, type SectionNames } from '../wire/sectionNames.ts';
import { WireFault } from '../wire/wire.ts';

/** Base endpoint of one API of an exchange. */
export type ApiEndpoint = {
  readonly transport: Transport;
  /** Prefix of the paths, such as `/api`, or empty. The signature covers the prefix too. */
  readonly basePath: string;
};

/** Request before it is signed. `Form`: additional fields that are specific to its exchange. */
export type ApiRequest<T, Form = unknown> = Form & {
  /** Name of the endpoint in metrics: one of a fixed set, without ids. */
  readonly endpoint: string;
  readonly lane: Lane;
  /** Name of the API in `SenderOptions.apis`; default `rest`. */
  readonly api?: string;
  readonly method: WireRequest['method'];
  /** Path and query after the base path, exactly as on the wire. */
  readonly path: string;
  /**
   * Returns whether the request is still needed. Called when the turn of the request comes; if the result is false, the
   * request is rejected and never sent.
   */
  readonly isWanted?: () => boolean;
  /**
   * Effect of the request. A `read` changes nothing, so every error counts as a rejection. A `write` may have taken
   * effect unless the error code proves otherwise.
   */
  readonly effect: 'read' | 'write';
  /** Reads the content. Throws a WireFault on a wrong shape. Adds unreadable rows of a list to `unreadable`. */
  readonly read: (content: unknown, unreadable: UnreadableRow[]) => T;
};

/** Sends a request. Always resolves, with the answer or the reason why there is none. */
export type SendRequest<Form> = <T>(question: ApiRequest<T, Form>) => Promise<Outcome<T>>;

/**
 * Classified reply. `pause` says which budgets pause after a throttled request, and for how long. Default: the budgets
 * that the request used, for a minute.
 */
export type RequestVerdict<T> = {
  readonly outcome: Outcome<T>;
  readonly throttled: boolean;
  readonly pause?: { readonly budgets?: readonly string[]; readonly ms?: Millis };
};

/** Part of a budget that a request uses. */
export type Charge = {
  /** Name of the budget. */
  readonly budget: string;
  /** Default 1. */
  readonly weight?: number;
  /**
   * `waits` (default): the request waits for room. `counts`: it never waits for room, but its weight counts, and it is
   * rejected during a lockout. `exempt`: the exchange does not count it.
   */
  readonly as?: 'waits' | 'counts' | 'exempt';
};

/** Request as it is sent. */
export type EncodedRequest = WireRequest & {
  /** Signature in the request, which is masked in outcomes; absent if it has none. */
  readonly signature?: string;
};

/**
 * Functions that are specific to one exchange: how its requests are signed and counted, and how its replies are
 * classified.
 */
export type ExchangeProtocol<Form> = {
  /** Encodes a request. Called just before sending, so that nonces and times of signed requests are fresh. */
  readonly encode: (question: ApiRequest<unknown, Form>, basePath: string) => EncodedRequest;
  readonly charges: (question: ApiRequest<unknown, Form>) => readonly Charge[];
  readonly classify: <T>(reply: WireReply, question: ApiRequest<T, Form>) => RequestVerdict<T>;
  /** Returns the weight that the exchange reports as used, by name of the budget. */
  readonly usedWeights?: (reply: WireReply) => Readonly<Record<string, number>>;
  /** Returns the meaning of a rejection code; undefined if bots do not react to the code specially. */
  readonly meaningOf: (code: string) => Meaning | undefined;
  /**
   * Returns the operator's remedy as a clause; `null` if none is known. `names`: names of section and key for the
   * clause.
   */
  readonly remedyOf: (code: string, names: SectionNames) => string | null;
  /**
   * Whether the cause of a rejection code ends without an action of the operator: a rate limit, an overload or a failure
   * of the exchange.
   */
  readonly isTransient: (code: string) => boolean;
  /** Texts that are masked in outcomes, such as key and secret; `null` without credentials: only public reads work. */
  readonly masked: readonly string[] | null;
  /** Whether nonces must arrive in order, so that only one request may be pending. */
  readonly ordered: boolean;
};

export type SenderOptions<Form, Name extends string> = {
  /** Configuration section of this client; `exchange` if omitted. */
  readonly section?: VenueSection | undefined;
  readonly clock: Clock;
  readonly protocol: ExchangeProtocol<Form>;
  /** APIs of the exchange, each with its transport. */
  readonly apis: Readonly<Record<string, ApiEndpoint>> & { readonly rest: ApiEndpoint };
  readonly budgets: Readonly<Record<Name, Budget>>;
  readonly lanes?: LaneLimits;
  /** Maximum time, by lane, for which a request waits for budget and for its turn. */
  readonly waitMs?: Partial<Readonly<Record<Lane, Millis>>>;
  readonly onRequest?: (seen: Observation) => void;
};

export type RequestSender<Form, Name extends string> = {
  readonly ask: SendRequest<Form>;
  readonly budgets: Readonly<Record<Name, Budget>>;
  /** Rejects new and waiting requests. Resolves when requests in progress have ended and the transports are closed. */
  readonly close: () => Promise<void>;
};

/** State of one request. */
type Flight = {
  readonly slots: Slot[];
  /** Current step, in the words of the report if the step fails. */
  step: 'the request could not be prepared' | 'the request could not be signed' | 'the answer could not be read';
  /** Whether a byte of the request may have been sent. */
  isSent: boolean;
  signature?: string;
  reply?: WireReply;
  /** Whether the exchange throttled the request. */
  isThrottled?: boolean;
};

/** Gives the slots of a request back to its budgets. If the request may have been sent, its weight still counts. */
function giveBack({ slots, isSent }: Flight): void {
  for (const slot of slots.splice(0))
    if (isSent) slot.end();
    else slot.release();
}

/**
 * Default maximum waits for request budget and turn. A placement that waited longer would be outdated. A cancel is
 * never outdated, and may have to wait behind unanswered requests.
 */
const WAIT_MAX_MS: Readonly<Record<Lane, Millis>> = {
  cancel: 60_000,
  place: 1_000,
  'private read': 5_000,
  'public read': 5_000,
};

/**
 * Creates a sender of requests. Default maximum waits for budget and turn: 60 s for cancels, 1 s for placements, 5 s for
 * reads.
 * The sender's own rejections have the codes `not-sent`, `budget` and `closed`.
 */
export function requestSender<Form, Name extends string>(
  options: SenderOptions<Form, Name>,
): RequestSender<Form, Name> {
  const { clock, apis, protocol, section = 'exchange' } = options;
  const budgets: Readonly<Record<string, Budget>> = options.budgets;
  const queues = lanes(options.lanes ?? {}, protocol.ordered);
  const underWay = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  async function answer<T>(question: ApiRequest<T, Form>, flight: Flight): Promise<Outcome<T>> {
    const { lane } = question;
    if (closing) return refusal('closed', 'the exchange client is closed');
    if (lane !== 'public read' && protocol.masked === null)
      return refusal('not-sent', `${question.endpoint} needs an API key`);
    const waitMs = options.waitMs?.[lane] ?? WAIT_MAX_MS[lane];
    const until = clock.elapsed() + waitMs;
    const hasSlots = await takeSlots(protocol.charges(question), URGENCY[lane], until, flight);
    if (!hasSlots)
      return closing ? refusal('closed', 'the exchange client is closed') : overBudget(question.endpoint, waitMs);
    const isWanted = () => question.isWanted?.() ?? true;
    const mayGo = () => !closing && !(clock.elapsed() > until) && isWanted();
    const outcome = await queues.run(lane, () => send(question, flight), mayGo);
    if (outcome) return outcome;
    if (!isWanted()) return refusal('not-sent', `${question.endpoint} was not sent, because it was no longer needed`);
    return closing ? refusal('closed', 'the exchange client is closed') : overBudget(question.endpoint, waitMs);
  }

  /** Takes room in every budget of a request. Returns false if a budget has no room in time. */
  async function takeSlots(
    charges: readonly Charge[],
    urgency: number,
    until: Millis,
    { slots }: Flight,
  ): Promise<boolean> {
    for (const { budget, weight = 1, as = 'waits' } of charges) {
      if (as === 'exempt') continue;
      const of = budgets[budget]!;
      const slot = as === 'counts' ? of.takeNow(weight) : await of.take(urgency, until - clock.elapsed(), weight);
      if (!slot) return false;
      slots.push(slot);
    }
    return true;
  }

  /** Signs and sends a request and reads the answer. */
  async function send<T>(question: ApiRequest<T, Form>, flight: Flight): Promise<Outcome<T>> {
    const api = apis[question.api ?? 'rest']!;
    flight.step = 'the request could not be signed';
    const { signature, ...request } = protocol.encode(question, api.basePath);
    if (signature !== undefined) flight.signature = signature;
    let reply: WireReply;
    flight.step = 'the answer could not be read';
    flight.isSent = true;
    try {
      reply = await api.transport.send(request);
    } catch (problem) {
      const failure = problem instanceof TransportFailure ? problem : new TransportFailure(String(problem), true);
      flight.isSent = failure.sent;
      return failure.sent ? { kind: 'unknown', reason: failure.message } : refusal('not-sent', failure.message);
    }
    flight.reply = reply;
    giveBack(flight);
    for (const [name, used] of Object.entries(protocol.usedWeights?.(reply) ?? {})) budgets[name]?.raiseTo(used);
    const { outcome, throttled, pause = {} } = protocol.classify(reply, question);
    if (!throttled) return outcome;
    flight.isThrottled = true;
    const paused = pause.budgets ?? protocol.charges(question).map(({ budget }) => budget);
    for (const name of new Set(paused)) budgets[name]?.lockOut(pause.ms);
    return outcome;
  }

  /**
   * Returns the outcome of a request. After an error of this program, the outcome is `unknown` if the request may have
   * been sent, otherwise a rejection.
   */
  async function outcomeOf<T>(question: ApiRequest<T, Form>, flight: Flight): Promise<Outcome<T>> {
    const masked = () => [...(protocol.masked ?? []), ...(flight.signature === undefined ? [] : [flight.signature])];
    try {
      const outcome = maskOutcome(await answer(question, flight), masked);
      return withRemedy(outcome, { ...protocol, section, isThrottled: flight.isThrottled === true });
    } catch (problem) {
      // The text of the error may contain parts of the request, even of its signature, so only the kind of error is
      // shown.
      const why = `${question.endpoint}: ${flight.step} (${kindOfError(problem)})`;
      return flight.isSent ? { kind: 'unknown', reason: why } : refusal('not-sent', why);
    } finally {
      giveBack(flight);
    }
  }

  async function ask<T>(question: ApiRequest<T, Form>): Promise<Outcome<T>> {
    const from = clock.elapsed();
    const flight: Flight = { slots: [], step: 'the request could not be prepared', isSent: false };
    const pending = outcomeOf(question, flight);
    underWay.add(pending);
    const outcome = await pending.finally(() => underWay.delete(pending));
    const { status, headers } = flight.reply ?? {};
    const answeredAt = Date.parse(headers?.['date'] ?? '');
    try {
      options.onRequest?.({
        endpoint: question.endpoint,
        outcome: outcome.kind,
        ms: clock.elapsed() - from,
        ...(outcome.kind === 'refused' ? { code: outcome.code } : {}),
        ...(status === undefined ? {} : { status }),
        ...(Number.isNaN(answeredAt) ? {} : { answeredAt }),
      });
    } catch {
      // An error in the metrics must not replace the outcome of an order.
    }
    return outcome;
  }

  async function close(): Promise<void> {
    for (const budget of Object.values(budgets)) budget.close();
    await Promise.allSettled([...underWay]);
    await Promise.all([...new Set(Object.values(apis).map(api => api.transport))].map(each => each.close()));
  }

  return {
    ask,
    budgets: options.budgets,
    close: () => (closing ??= close()),
  };
}

/**
 * Masks credentials in an outcome's texts, which reach logs, the HALTED file and terminals. An exchange or a proxy may
 * echo the request.
 */
function maskOutcome<T>(outcome: Outcome<T>, masked: () => readonly string[]): Outcome<T> {
  if (outcome.kind === 'done' && outcome.unreadable === undefined) return outcome;
  const secrets = masked();
  const fit = (text: string) => shownText(maskedText(text, secrets));
  switch (outcome.kind) {
    case 'done':
      return { ...outcome, unreadable: outcome.unreadable!.map(row => fittedRow(row, fit)) };
    case 'refused':
      return { ...outcome, code: fit(outcome.code), message: fit(outcome.message) };
    case 'unknown':
      return { ...outcome, reason: fit(outcome.reason) };
  }
}

/** Applies `fit` to every text of a row. */
const fittedRow = ({ why, currencies, ...ids }: UnreadableRow, fit: (text: string) => string): UnreadableRow => ({
  ...(Object.fromEntries(
    Object.entries(ids).map(([name, value]) => [name, typeof value === 'string' ? fit(value) : value]),
  ) as typeof ids),
  why: fit(why),
  ...(currencies === undefined ? {} : { currencies: currencies.map(fit) }),
});

/**
 * Returns the code or name of an error, which are fixed texts, unlike its message: `SQLITE_FULL`,
 * `ERR_OSSL_UNSUPPORTED` or `TypeError`.
 */
function kindOfError(problem: unknown): string {
  const { code, name } = problem instanceof Error ? (problem as NodeJS.ErrnoException) : {};
  return [code, name].find(text => text !== undefined && /^[A-Za-z][A-Za-z0-9_]{2,40}$/.test(text)) ?? 'internal error';
}

type CodeTable = Pick<ExchangeProtocol<never>, 'meaningOf' | 'remedyOf' | 'isTransient'>;

/** Adds to a rejection the meaning of its code, the operator's remedy, and whether its cause may pass. */
function withRemedy<T>(
  outcome: Outcome<T>,
  of: CodeTable & { readonly section: VenueSection; readonly isThrottled: boolean },
): Outcome<T> {
  const { section } = of;
  // Only rejections have a code. `meaningOf` has no meaning for the sender's own codes. On the bot's own exchange, the
  // remedy for such a code is added where the rejection is shown.
  if (outcome.kind !== 'refused') return outcome;
  const { code } = outcome;
  const local = section === 'exchange' ? null : localRemedy(code, section);
  const [meaning, remedy] = [of.meaningOf(code), of.remedyOf(code, SECTION_NAMES[section]) ?? local];
  const mayPass = meaning !== 'person' && (of.isThrottled || of.isTransient(code));
  return {
    ...outcome,
    ...(meaning === undefined ? {} : { meaning }),
    ...(remedy === null ? {} : { remedy }),
    ...(mayPass ? { mayPass } : {}),
  };
}

type Refused = Extract<Outcome<never>, { kind: 'refused' }>;

const refusal = (code: 'not-sent' | 'budget' | 'closed', message: string): Refused => ({
  kind: 'refused',
  code,
  message,
});

const overBudget = (endpoint: string, waitMs: Millis): Refused =>
  refusal('budget', `no free slot for ${endpoint} in the request budget within ${waitMs} ms`);

/**
 * Builds and sends a request. A request that cannot be built, such as one that breaks the interface's rules (a
 * WireFault), is rejected here and never sent.
 */
export async function buildAndSend<T, Form>(
  ask: SendRequest<Form>,
  build: () => ApiRequest<T, NoInfer<Form>>,
): Promise<Outcome<T>> {
  let question: ApiRequest<T, Form>;
  try {
    question = build();
  } catch (problem) {
    const isArgument = problem instanceof WireFault;
    return refusal(
      'not-sent',
      isArgument ? problem.message : `the request could not be built (${kindOfError(problem)})`,
    );
  }
  return ask(question);
}

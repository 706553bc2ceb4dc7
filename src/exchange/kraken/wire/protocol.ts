/** Senders of Kraken's requests: nonces and signatures, call and order counters, and classification of replies. */
import type {
  Clock,
  Millis,
  NonceSource,
  Observation,
  ReadBudget,
  SecretText,
  VenueSection,
  WireReply,
  WireRequest,
} from '../../../core/index.ts';
import { Budget } from '../../transport/budget.ts';
import { decayingMeter } from '../../transport/meters.ts';
import {
  requestSender,
  type ApiEndpoint,
  type ApiRequest,
  type Charge,
  type EncodedRequest,
  type ExchangeProtocol,
  type SendRequest,
} from '../../transport/requestSender.ts';
import { classifyKraken } from './classify.ts';
import { isKrakenTransient, krakenMeaning, krakenRemedy } from './errorCodes.ts';
import { krakenSignature } from './sign.ts';
import type { ServerClock } from './serverClock.ts';

/** Fields of a request that are specific to this exchange. */
export type KrakenForm = {
  /** Fields of the form of a private request, in order and without the nonce. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Increase of the call counter of the key; 1 if omitted. Orders and cancels do not increase it. */
  readonly calls?: number;
  /** Increase of the order counter of a book. */
  readonly orderCount?: { readonly pair: string; readonly weight: number };
  /** Time after sending from which the exchange must not execute the request. */
  readonly validMs?: Millis;
  /** Maximum number of parts (objects, lists, members and elements) in the reply's JSON. */
  readonly partsMax?: number;
};
export type KrakenRequest<T> = ApiRequest<T, KrakenForm>;
export type KrakenAsk = SendRequest<KrakenForm>;

export type KrakenSigner = { readonly key: string; readonly secret: SecretText; readonly nonces: NonceSource };

/** Limits of an account tier: a call counter of the key, and an order counter of each book. */
type Tier = {
  readonly calls: { readonly max: number; readonly perSecond: number };
  readonly orders: { readonly max: number; readonly perSecond: number };
};

/**
 * Tiers by the call counter's decay per minute. Sources: docs.kraken.com/api/docs/guides/spot-rest-ratelimits and
 * spot-ratelimits; support.kraken.com/articles/360045239571-trading-rate-limits.
 */
const TIERS: readonly (readonly [perMinute: number, tier: Tier])[] = [
  [60, { calls: { max: 20, perSecond: 1 }, orders: { max: 180, perSecond: 3.75 } }],
  [30, { calls: { max: 20, perSecond: 0.5 }, orders: { max: 125, perSecond: 2.34 } }],
  [20, { calls: { max: 15, perSecond: 0.33 }, orders: { max: 60, perSecond: 1 } }],
];
const STARTER = TIERS[2]![1];

/**
 * Requests per minute: public per address (about one per second; common knowledge, not checked), private per key (the
 * decay of the call counter in the highest and in the lowest tier).
 */
export const KRAKEN_RATE_LIMITS = { public: 60, private: 60, privateLowest: 20 } as const;

/**
 * Returns the tier of a configured number of private requests per minute: 60 is the tier Pro, 30 Intermediate, 20
 * Starter. A number above every tier does not show which tier the account has, so the lowest is used.
 */
export function tierByCalls(privatePerMinute: number): Tier {
  if (!(privatePerMinute <= KRAKEN_RATE_LIMITS.private)) return STARTER;
  const tier = TIERS.find(([perMinute]) => privatePerMinute >= perMinute)?.[1];
  return tier ?? { ...STARTER, calls: { max: STARTER.calls.max, perSecond: privatePerMinute / 60 } };
}

/** Increase of the call counter by a read of the trade history. */
export const HISTORY_CALLS = 2;

/**
 * Returns the call counter of the tier as a budget of reads: a read of the trade history raises the counter by two, every
 * other private read by one. Order books are public. Source: docs.kraken.com/api/docs/guides/spot-rest-ratelimits.
 */
export const krakenReadBudgets = (privatePerMinute: number): readonly ReadBudget[] => [
  {
    ...{ unit: 'calls of its request counter', perMinute: tierByCalls(privatePerMinute).calls.perSecond * 60 },
    ...{ openOrders: 1, trades: HISTORY_CALLS, balances: 1, book: 0 },
  },
];

/** Pause after the call counter was above its maximum. The documents say a few seconds. */
const CALLS_PAUSE_MS = 15_000;
/**
 * Maximum wait of a private read for room in the call counter. It is long, because a backlog of trades is read page by
 * page and other reads wait behind it: a page takes two counts, which the lowest tier regains in 6 s.
 */
const READ_WAIT_MS = 120_000;
/**
 * Margin by which each counter stays below its maximum, because the exchange lowers its counters only every few
 * seconds.
 */
const SPARE = 1;

export type KrakenSenderOptions = {
  readonly clock: Clock;
  readonly rest: ApiEndpoint;
  readonly signer?: KrakenSigner;
  readonly budgets: { readonly public: number; readonly private?: number };
  readonly serverClock: ServerClock;
  readonly onRequest?: ((seen: Observation) => void) | undefined;
  readonly section?: VenueSection | undefined;
};

export type KrakenSenders = {
  readonly ask: KrakenAsk;
  /** Requests left: public per address, private per key. */
  readonly left: () => { readonly public: number; readonly private: number };
  readonly close: () => Promise<void>;
};

/**
 * Creates the senders: one for public requests, and one for private requests, of which only one is pending because
 * nonces must arrive in order. Throws a RangeError on a budget that is not a whole number above 0.
 */
export function krakenSenders(options: KrakenSenderOptions): KrakenSenders {
  const { clock, rest, signer, serverClock } = options;
  const tier = tierByCalls(options.budgets.private ?? STARTER.calls.perSecond * 60);
  const counter = ({ max, perSecond }: Tier['calls']) =>
    new Budget(clock, { meters: [decayingMeter(max - SPARE, perSecond)] });
  const calls = counter(tier.calls);
  /** Budgets of the private sender. The budget of a book's orders is added with its first order. */
  const budgets: Record<string, Budget> = { calls };
  const shared = {
    classify: <T>(reply: WireReply, question: KrakenRequest<T>) => {
      serverClock.answered(reply.headers['date']);
      return verdictOn(reply, question);
    },
    meaningOf: krakenMeaning,
    remedyOf: krakenRemedy,
    isTransient: isKrakenTransient,
  };

  function verdictOn<T>(reply: WireReply, question: KrakenRequest<T>) {
    const { throttled, outcome } = classifyKraken(reply, question, question.partsMax);
    if (!throttled) return { outcome, throttled };
    const said = outcome.kind === 'refused' ? outcome.code : outcome.kind === 'unknown' ? outcome.reason : '';
    // A full order counter causes no pause: the counter falls by itself, and a cancel would wait for the end of the
    // pause.
    const book = question.orderCount?.pair;
    if (book !== undefined && /EOrder:/.test(said)) {
      budgets[orderBudget(book)]?.raiseTo(tier.orders.max);
      return { outcome, throttled: false };
    }
    const paused = [question.lane === 'public read' ? 'public' : 'calls'];
    return { outcome, throttled, pause: { budgets: paused, ms: pauseOf(said, clock) } };
  }

  const open: ExchangeProtocol<KrakenForm> = {
    ...shared,
    encode: ({ method, path }, basePath) => ({
      ...{ method, target: basePath + path },
      ...{ headers: { accept: 'application/json' }, body: '' },
    }),
    charges: () => [{ budget: 'public' }],
    // The exchange knows the key from private requests, so any of its replies may contain the key.
    masked: signer ? [signer.key, signer.secret.reveal()] : [],
    ordered: false,
  };
  const signed: ExchangeProtocol<KrakenForm> = {
    ...shared,
    encode: (question, basePath) => signedRequest(question, basePath, signer, serverClock),
    charges: question => chargesOf(question),
    masked: signer ? [signer.key, signer.secret.reveal()] : null,
    ordered: true,
  };

  const chargesOf = ({ calls = 1, orderCount, lane }: KrakenRequest<unknown>): readonly Charge[] => {
    // The cancel of an order in an unknown book raises an unknown counter, so it is charged to none.
    if (orderCount === undefined) return lane === 'cancel' ? [] : [{ budget: 'calls', weight: calls }];
    const { pair, weight } = orderCount;
    const budget = orderBudget(pair);
    budgets[budget] ??= counter(tier.orders);
    // A cancel is sent in any case. It raises the counter, so later placements wait for it.
    return [{ budget, weight, as: lane === 'cancel' ? 'counts' : 'waits' }];
  };

  const { onRequest, section } = options;
  const seen = { section, ...(onRequest === undefined ? {} : { onRequest }) };
  // Each sender ends its own requests; the transport is closed after both.
  const apis = {
    rest: {
      ...rest,
      transport: { send: (request: WireRequest) => rest.transport.send(request), close: () => Promise.resolve() },
    },
  };
  const perMinute = Math.min(options.budgets.public, KRAKEN_RATE_LIMITS.public);
  const openSender = requestSender({
    ...{ clock, protocol: open, apis, ...seen },
    budgets: { public: new Budget(clock, { perMinute }) },
  });
  const waitMs = { 'private read': READ_WAIT_MS };
  const signedSender = requestSender({ clock, protocol: signed, apis, budgets, waitMs, ...seen });
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await Promise.all([openSender.close(), signedSender.close()]);
    await rest.transport.close();
  };
  return {
    ask: question => (question.lane === 'public read' ? openSender : signedSender).ask(question),
    left: () => ({ public: openSender.budgets.public.left(), private: calls.left() }),
    close: () => (closing ??= close()),
  };
}

const orderBudget = (pair: string): string => `orders of ${pair}`;

/** Returns the pause after a throttled request. `EService: Throttled: [seconds]` says when to continue. */
function pauseOf(said: string, clock: Clock): Millis {
  const until = /Throttled: ?\[?(\d{10})/.exec(said)?.[1];
  const ms = until === undefined ? CALLS_PAUSE_MS : Number(until) * 1000 - clock.now();
  return Math.min(60_000, Math.max(1_000, ms));
}

function signedRequest(
  { method, path, fields = {}, validMs }: KrakenRequest<unknown>,
  basePath: string,
  signer: KrakenSigner | undefined,
  serverClock: ServerClock,
): EncodedRequest {
  if (!signer) throw new Error('a private request needs an API key');
  const target = basePath + path;
  const nonce = signer.nonces.next();
  const deadline = validMs === undefined ? {} : { deadline: serverClock.textAfter(validMs) };
  const body = new URLSearchParams({ nonce, ...fields, ...deadline }).toString();
  const signature = krakenSignature(signer.secret, target, nonce, body);
  const headers = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
    'api-key': signer.key,
    'api-sign': signature,
  };
  return { method, target, headers, body, signature };
}

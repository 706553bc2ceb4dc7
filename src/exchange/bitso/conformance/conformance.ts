/**
 * Conformance checks of an exchange: the client makes the calls of the interface documents, and each answer is compared
 * with the documented answer. All orders of the checks are canceled at the end.
 */
import {
  counted,
  Secret,
  type Clock,
  type ConformanceOptions,
  type ConformanceResult,
  type Connection,
  type Millis,
  type Observation,
  type VenueCredentials,
} from '../../../core/index.ts';
import type { Endpoints } from '../rest/endpoints.ts';
import { accountChecks, authenticationChecks } from './accountChecks.ts';
import { Checks, judged, right, skipped, valueIn } from './checks.ts';
import { conversionChecks, rfqChecks, webhookChecks } from './deskChecks.ts';
import { leaveNothing, orderChecks, CheckOrders } from './orderChecks.ts';
import { publicChecks, type CheckedMarket } from './publicChecks.ts';
import { tradeChecks } from './tradeChecks.ts';

/** Maximum difference between the exchange's clock and this machine's clock. */
const CLOCK_GAP_MAX_MS: Millis = 60_000;

/** Runs all checks. Never rejects because of an answer of the exchange. */
export async function conformance(
  connect: (to: Connection) => Endpoints,
  options: ConformanceOptions,
): Promise<ConformanceResult> {
  const { connection, book, mayOrder, mayTrade } = options;
  const { clock } = connection;
  const checks = new Checks(clock, options);
  const requests = new RequestCount(clock, connection.onRequest);
  const client = connect({ ...connection, onRequest: seen => requests.see(seen) });
  const other = (credentials: Partial<VenueCredentials>): Endpoints =>
    connect({ ...connection, credentials: { ...connection.credentials!, ...credentials } });
  let own: CheckOrders | null = null;
  let left: readonly string[] = [];
  try {
    const market = await publicChecks(client, book, checks);
    await authenticationChecks(
      {
        withWrongSecret: () => other({ secret: new Secret('not the secret of this key') }),
        withNonces: durable => other({ durable }),
      },
      checks,
    );
    const fee = await accountChecks(client, book, checks);
    if (market !== null) {
      own = new CheckOrders(client, market, options);
      const others = mayOrder || mayTrade ? await othersCheck(client, book, checks) : null;
      if (mayOrder) await orderChecks(client, market, own, checks, others);
      else await withoutChecks('orders', NOT_PERMITTED, checks);
      const reason = !mayTrade
        ? NOT_PERMITTED
        : (others ?? (fee === null ? `the fees of ${book} are not known` : null));
      if (reason === null && fee !== null) await tradeChecks({ client, market, own, checks, fee });
      else await withoutChecks('trades', reason ?? NOT_PERMITTED, checks);
      await deskChecks(client, market, checks, options);
    } else
      for (const what of ['orders', 'trades', 'conversions, RFQ and webhooks'])
        await withoutChecks(what, `the rules or the best prices of ${book} are not known`, checks);
    await requests.check(client, connection, checks);
  } finally {
    if (own !== null) left = await leaveNothing(client, book, own, clock);
    await client.close();
  }
  if (own !== null && own.sent.length > 0)
    await checks.check(
      ['open orders after the checks', 'rest-api 4.4', 'none that these checks placed'],
      () => Promise.resolve(judged(left.length === 0 ? 'none' : left.join(', '), left.length === 0)),
      true,
    );
  return { checks: checks.done, left };
}

async function deskChecks(
  client: Endpoints,
  market: CheckedMarket,
  checks: Checks,
  options: ConformanceOptions,
): Promise<void> {
  await conversionChecks(client, market, checks);
  await rfqChecks(client, market, checks, () => options.connection.clock.now());
  await webhookChecks(client, options.callbackUrl, checks);
}

const NOT_PERMITTED = 'not permitted';

const withoutChecks = (what: string, reason: string, checks: Checks): Promise<boolean> =>
  checks.check([what, 'rest-api 4', `the checks of ${what} pass`], () => Promise.resolve(skipped(reason)));

/**
 * Reads the open orders of the book before the checks place any order. Returns why checks of trades and exact balances
 * must be skipped: the book has open orders of another program, or its orders are unknown. Returns `null` if there are
 * no orders.
 */
async function othersCheck(client: Endpoints, book: string, checks: Checks): Promise<string | null> {
  let reason: string | null = `the open orders of ${book} are not known`;
  await checks.check(['open orders before the checks', 'rest-api 4.4', `none in ${book}`], async () => {
    const { length } = valueIn(await client.openOrders({ book }));
    reason =
      length === 0
        ? null
        : `open orders in ${book} that these checks did not place: ${length}; first stop the bot that placed them`;
    return reason === null ? right('none') : skipped(reason);
  });
  return reason;
}

/** Observer of all requests, for the checks of the request budget and of the exchange's clock. */
class RequestCount {
  readonly #clock: Clock;
  readonly #next: Connection['onRequest'];
  #counted = 0;
  #throttled = 0;
  /** Largest difference between the two clocks, in ms; `null` if no answer has a time. */
  #gapMs: Millis | null = null;

  constructor(clock: Clock, next: Connection['onRequest']) {
    this.#clock = clock;
    this.#next = next;
  }

  see(seen: Observation): void {
    this.#next?.(seen);
    const isSent = seen.status !== undefined || seen.outcome === 'unknown';
    if (!PUBLIC.test(seen.endpoint) && !seen.endpoint.startsWith('DELETE') && isSent) this.#counted++;
    if (seen.status === 420 || seen.status === 429) this.#throttled++;
    if (seen.answeredAt === undefined) return;
    // The time in the answer is rounded down to whole seconds, so the difference is exact only to a second.
    const gap = Math.abs(this.#clock.now() - seen.answeredAt);
    this.#gapMs = Math.max(this.#gapMs ?? 0, gap);
  }

  async check(client: Endpoints, { budgets }: Connection, checks: Checks): Promise<void> {
    await checks.check(
      [
        'request budget',
        'public-facts 11',
        'all requests within the budget, and none rejected with HTTP status 420 or 429',
      ],
      () => {
        const left = client.budget().private;
        const all = budgets.private ?? left;
        const found = `${counted(this.#counted, 'private request')}, not counting cancels; ${left} of ${all} left in the budget; ${this.#throttled} rejected`;
        return Promise.resolve(judged(found, this.#throttled === 0 && all - left <= this.#counted && left >= 0));
      },
    );
    await checks.check(
      ['clock of the exchange', 'public-facts 2.3', 'within a minute of the clock of this machine'],
      () => {
        const gap = this.#gapMs;
        if (gap === null) return Promise.resolve(skipped('no answer contains a time'));
        return Promise.resolve(
          judged(`the two clocks differ by at most ${Math.round(gap)} ms`, gap <= CLOCK_GAP_MAX_MS),
        );
      },
    );
  }
}

/** Pattern of the endpoints that need no key. The names of endpoints are those in the metrics. */
const PUBLIC = /^GET (?:available_books|order_book|trades|ticker|webhook keys)$/;

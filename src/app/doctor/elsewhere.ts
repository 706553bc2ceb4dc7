/**
 * Doctor checks of the other exchange, on which the bot hedges: its support for hedges, the book, the key, the
 * balances, and a trial order that is looked up like a hedge.
 */
import {
  bestOf,
  describeRow,
  multiplyMoneyFloor,
  moneyOf,
  ratePercent,
  reasonOfFailure,
  sleep,
  orderIdOf,
  textOfAmount,
  textOfMoney,
  textOfPrice,
  type Amount,
  type Clock,
  type ElsewhereOrder,
  type Instrument,
  type Millis,
  type Money,
  type Price,
  type Side,
  type VenueClient,
} from '../../core/index.ts';
import type { Config } from '../../config.ts';
import { ElsewhereDesk } from '../../hedge/index.ts';
import { readBookRow } from '../../live/loop/opening.ts';
import { ofElsewhere, ElsewhereRules } from '../../live/loop/elsewhereRules.ts';
import { clientBesideBot, type VenueAccess } from '../../wiring/bot.ts';
import { evidenceTimesOf, oneAccountProblem, elsewhereClientOf, provenAfterMs } from '../../wiring/elsewhereHedging.ts';
import { venueElsewhere } from '../../wiring/venueRegistry.ts';
import { keyFindings } from './account.ts';
import { ClockGap, SET_CLOCK } from '../../messages/clockGap.ts';
import { checkAborted, finding, type Finding } from './finding.ts';
import { recordIfPassed } from './trialRecord.ts';

const { pass, warn, fail } = finding;
const CHECK = 'elsewhere';
/** Distance of the trial order from the best price (10%), at which an immediate order executes nothing. */
const FAR = { buy: [9n, 10n], sell: [11n, 10n] } as const;
/** Interval of look-ups of the trial order. */
const LOOK_EVERY_MS: Millis = 1_000;
/** Additional time for slow look-ups, beyond the time after which a look-up proves the outcome. */
const LOOK_REQUESTS_MS: Millis = 60_000;

type Asking = {
  readonly config: Config;
  readonly clock: Clock;
  readonly seed: number;
  readonly tell: (found: Finding | readonly Finding[]) => void;
  /** Asks the operator for permission before the trial order; if absent, none is placed. */
  readonly mayOrder?: ((what: string) => Promise<boolean>) | undefined;
};

type Place = {
  readonly client: VenueClient;
  readonly instrument: Instrument;
  readonly funds: ReadonlyMap<string, Money>;
};

/**
 * Client of the other exchange, after a public read. All checks share this client, because with several clients more
 * nonces would be rejected.
 */
export type OpenElsewhere = {
  readonly client: VenueClient;
  /** Measured difference between the clocks of this machine and of the other exchange. */
  readonly gap: ClockGap;
};

/**
 * Reads a public list of the other exchange, whose answer shows the time of that exchange. Returns the error if the
 * list cannot be read, and `null` if the bot does not hedge there. The caller closes the client.
 */
export async function openElsewhere(
  { config, clock, seed }: Pick<Asking, 'config' | 'clock' | 'seed'>,
  venue: VenueAccess,
): Promise<OpenElsewhere | { readonly error: unknown } | null> {
  const { elsewhere, hedge } = config;
  if (elsewhere === undefined || hedge?.elsewhere === undefined) return null;
  const gap = new ClockGap();
  let client: VenueClient | undefined;
  try {
    const connected = elsewhereClientOf(config, venue, clock, seed, null, seen => gap.hear(seen, clock.now()));
    if (connected === undefined) return null;
    client = connected;
    await ofElsewhere(venueElsewhere(elsewhere).name, () => readBookRow(connected, elsewhere.book));
    return { client: clientBesideBot(connected, { config, clock, there: venue.elsewhere! }), gap };
  } catch (error) {
    await client?.close();
    return { error };
  }
}

/**
 * Returns why no request with the key may be sent to the other exchange; `null` if requests may be sent. `gaps`: clock
 * differences measured at both exchanges.
 */
export function clockProblemThere({ elsewhere }: Config, gaps: readonly ClockGap[]): string | null {
  if (elsewhere === undefined) return null;
  return gaps.map(gap => gap.nonceProblem(venueElsewhere(elsewhere))).find(problem => problem !== null) ?? null;
}

/**
 * Runs the checks of the other exchange; does nothing if the bot does not hedge there. `home`: client of the bot's own
 * exchange; `clockProblem`: why no request with the key may be sent, or `null`. Never rejects.
 */
export async function checkElsewhere(
  asking: Asking,
  venue: VenueAccess,
  home: VenueClient,
  {
    place,
    clockProblem,
  }: { readonly place: Awaited<ReturnType<typeof openElsewhere>>; readonly clockProblem: string | null },
): Promise<void> {
  const { config, tell } = asking;
  const { elsewhere } = config;
  if (elsewhere === undefined || place === null) return;
  if ('error' in place) return tell(checkAborted(CHECK, place.error));
  if (clockProblem !== null) return tell(fail(CHECK, clockProblem, SET_CLOCK));
  const { client } = place;
  try {
    const { name, tried } = venueElsewhere(elsewhere);
    const one = await oneAccountProblem(config, venue, home, client);
    if (one !== null) return tell(fail(CHECK, one.text, 'fix the cause, then run puntas doctor again'));
    if (elsewhere.kind === 'remote' && tried === 'doubles')
      tell(
        warn(
          CHECK,
          `the client for ${name} was tested only with simulated exchanges (test doubles), so hedges have the smallest size until enough of them have reconciled`,
          'try one order with puntas doctor --order --yes',
        ),
      );
    const rules = new ElsewhereRules(client, name, elsewhere.book);
    await rules.open();
    const { instrument, takerRate } = rules.known;
    tell(pass(CHECK, `${name} lists ${elsewhere.book}, taker fee ${ratePercent(takerRate)}`));
    tell((await keyFindings(client, config.instance, 'elsewhere')).map(one => ({ ...one, check: CHECK })));
    const funds = await readFunds(client, name);
    if ('check' in funds) return tell(funds);
    tell(fundsFinding(funds, name, instrument));
    if (asking.mayOrder) {
      const tried = await trialFinding(asking, { client, instrument, funds }, asking.mayOrder);
      tell([tried, ...recordIfPassed(asking, venue, 'elsewhere', [tried])]);
    }
  } catch (error) {
    tell(checkAborted(CHECK, error));
  }
}

/** Returns the available funds on the other exchange by currency, or a finding if they cannot be read completely. */
async function readFunds(client: VenueClient, name: string): Promise<ReadonlyMap<string, Money> | Finding> {
  const read = await client.balances();
  if (read.kind !== 'done')
    return fail(
      CHECK,
      `the balances at ${name} cannot be read: ${reasonOfFailure(read)}`,
      read.remedy ??
        'check that key and secret (PUNTAS_ELSEWHERE_API_KEY, PUNTAS_ELSEWHERE_API_SECRET) are valid and may read balances',
    );
  const [row] = read.unreadable ?? [];
  if (row) return fail(CHECK, `a balance at ${name} cannot be read: ${describeRow(row)}`, 'run puntas doctor again');
  return new Map(read.value.map(({ currency, available }) => [currency, moneyOf(available)]));
}

function fundsFinding(funds: ReadonlyMap<string, Money>, name: string, { major, minor }: Instrument): Finding {
  const free = (currency: string) => funds.get(currency) ?? moneyOf('0');
  const text = `${textOfMoney(free(major))} ${major} and ${textOfMoney(free(minor))} ${minor} are free at ${name}`;
  const lacks = [major, minor].filter(currency => !(free(currency) > 0n));
  if (lacks.length === 0) return pass(CHECK, text);
  const sides = lacks.length === 1 ? 'only one side' : 'neither side';
  return warn(CHECK, `${text}, so ${sides} can be hedged at ${name}`, `move ${lacks.join(' and ')} to ${name}`);
}

/** Places an immediate order so far from the market that it executes nothing, and looks it up like a hedge. */
async function trialFinding(
  { config, clock }: Asking,
  { client, instrument, funds }: Place,
  mayOrder: (what: string) => Promise<boolean>,
): Promise<Finding> {
  const { elsewhere, instance } = config;
  const times = evidenceTimesOf(config);
  const desk = new ElsewhereDesk({ client, clock, times, instrument: () => instrument });
  const read = await desk.depth();
  if (typeof read === 'string') return fail(CHECK, `trial order not sent: ${read}`, 'run puntas doctor again');
  const [bid, ask] = [bestOf(read.depth, 'buy'), bestOf(read.depth, 'sell')];
  if (!(bid > 0 && ask > 0))
    return fail(
      CHECK,
      `the book ${elsewhere!.book} on the other exchange has no bid or no ask`,
      'run puntas doctor again',
    );
  const free = (currency: string) => funds.get(currency) ?? moneyOf('0');
  const order = (['buy', 'sell'] as const)
    .map(side =>
      farOrder(
        instrument,
        side,
        side === 'buy' ? bid : ask,
        // This order id is new, because no run of a bot has the number 0, and the seconds repeat only after more than
        // three months.
        orderIdOf({ instance, run: 0 }, 'elsewhere', 1 + (Math.floor(clock.now() / 1_000) % 9_000_000)),
      ),
    )
    .find(({ side, price, amount }) =>
      side === 'sell'
        ? free(instrument.major) >= moneyOf(amount)
        : free(instrument.minor) > multiplyMoneyFloor(moneyOf(price), moneyOf(amount)),
    );
  if (order === undefined)
    return fail(
      CHECK,
      'the balances on the other exchange do not cover the smallest order',
      `deposit ${instrument.major} or ${instrument.minor} on the other exchange, then run puntas doctor again`,
    );
  const text = `${order.side} ${order.amount} ${instrument.major} at ${order.price} on ${elsewhere!.book} of the other exchange, immediate-or-cancel, 10% away from the best price`;
  if (!(await mayOrder(text)))
    return warn(
      CHECK,
      `trial order not sent; you declined this order: ${text}`,
      'to place the trial order, run puntas doctor with --order --yes',
    );
  const sent = await desk.send(order);
  if (sent.kind === 'refused') return fail(CHECK, `${text}: rejected (${sent.why})`, 'fix the cause of the rejection');
  const until = clock.elapsed() + provenAfterMs(times) + LOOK_REQUESTS_MS;
  let last = sent.kind === 'unknown' ? sent.why : '';
  while (clock.elapsed() < until) {
    const found = await desk.find();
    if (found.kind === 'ended' && found.filled > 0n)
      return warn(
        CHECK,
        `${text}: accepted, and EXECUTED: ${textOfMoney(found.filled)} ${instrument.major}`,
        'check the account on the other exchange',
      );
    if (found.kind === 'ended') return pass(CHECK, `${text}: accepted, not executed, and found by its id`);
    if (found.kind === 'not placed')
      return warn(
        CHECK,
        `${text}: the order did not reach the exchange${last === '' ? '' : ` (${last})`}`,
        'run puntas doctor again',
      );
    last = found.kind === 'unknown' ? found.reason : 'the order is still in the book';
    await sleep(clock, LOOK_EVERY_MS);
  }
  return fail(CHECK, `${text}: outcome unknown (${last})`, `look for order ${order.id} on the other exchange`);
}

function farOrder(i: Instrument, side: Side, best: Price, id: string): ElsewhereOrder {
  const [over, under] = FAR[side];
  const price = Math.min(i.priceMax, Math.max(i.priceMin, Number((BigInt(best) * over) / under))) as Price;
  const byValue = Number((i.valueMin + i.valueMin / 20n) / BigInt(price) + 1n);
  const amount = Math.max(i.amountMin, byValue) as Amount;
  return { id, book: i.symbol, side, price: textOfPrice(i, price), amount: textOfAmount(i, amount) };
}

/**
 * `puntas halt`: the kill command. It writes the halt to disk and, if requested, cancels the bot's orders, whether a
 * bot runs or not.
 */
import { sleep, type Clock, type Exchange, type Millis, type Outcome, textOfError } from '../../core/index.ts';
import { otherBooksOf, otherBooksWith, type Config } from '../../config.ts';
import { cancelAll, cutText, ordersQuery } from '../../live/safety/cancelAllAndVerify.ts';
import { readHeartbeat } from '../../live/safety/heartbeat.ts';
import { bookLatchIn } from '../../live/safety/bookLatch.ts';
import { latchIn } from '../../live/safety/latch.ts';
import type { Log } from '../../live/log.ts';
import { isPaperState } from '../../live/state/paperMark.ts';
import { ConnectivityLog } from '../../live/connectivityLog.ts';
import { recoverAndCancel } from '../../live/safety/recoverAndCancel.ts';
import { lookInto, nonceMarkOf } from '../../live/state/stateSummary.ts';
import { clientOf, isNonceRefused, sentBesideBot, type VenueAccess } from '../../wiring/bot.ts';
import { checkedReason } from '../../messages/reason.ts';
import { requireStateFolder } from '../../wiring/usageError.ts';
import { EXIT } from '../../messages/exits.ts';
import { ownCommand, type WhichBook } from '../../messages/ownCommand.ts';
import { mayRun, otherStopsText, sourceOfStop } from './botLife.ts';

export type Halted = { readonly text: string; readonly code: number; readonly isLatched: boolean };

/**
 * Writes the halt into a state directory. A failed write is returned, not thrown, so that the caller can still cancel
 * the orders.
 */
export function latchHalt(which: WhichBook, said: string, at: Millis, who?: string): Halted {
  const { stateDir, book } = which;
  const what = book === undefined ? 'trading' : `trading of ${book}`;
  const reason = checkedReason(said);
  if (which.configFile === undefined) requireStateFolder(stateDir);
  const latch = book === undefined ? latchIn(stateDir) : bookLatchIn(stateDir, book);
  const before = latch.read();
  const lift = `investigate, then resume with: ${ownCommand('resume', which)}`;
  if (before !== null)
    return {
      text: `${stateDir}: ${what} is already halted by ${sourceOfStop(before)} (${before.reason}); ${lift}`,
      ...{ code: EXIT.clean, isLatched: true },
    };
  try {
    latch.set({ reason, at, by: 'person', ...(who === undefined ? {} : { who }) });
  } catch (error) {
    // Another command, or the bot, may have written a halt at the same time.
    const other = latch.read();
    if (other !== null)
      return {
        text: `${stateDir}: ${what} is halted by ${sourceOfStop(other)} (${other.reason}); ${lift}`,
        code: EXIT.clean,
        isLatched: true,
      };
    const why = textOfError(error);
    return {
      text: `${stateDir}: THE HALT COULD NOT BE WRITTEN TO DISK (${why}); ${book === undefined ? 'stop the process of the bot, or the bot continues to trade' : `halt the whole bot, for whose halt space is reserved, or ${book} continues to trade: ${ownCommand('halt', { configFile: which.configFile, stateDir })}`}`,
      ...{ code: EXIT.leftOrders, isLatched: false },
    };
  }
  const [halted, there] = book === undefined ? ['halted', ''] : [`halted ${book}`, ` ${book}`];
  const effect = !mayRun(stateDir, at)
    ? `after its next start, the bot does not quote${there}`
    : book === undefined
      ? 'a running bot cancels its orders and stops quoting within seconds, and stays halted after a restart'
      : `a running bot cancels its orders in ${book} and stops quoting there within seconds, also after a restart`;
  const others = book === undefined ? '' : '; its other books continue';
  const also = book === undefined ? '' : otherStopsText(which, 'halt', at);
  return {
    text: `${halted}: ${effect}${others}; ${lift}${also}`,
    ...{ code: EXIT.clean, isLatched: true },
  };
}

/**
 * Returns the reason why this bot has no orders that another process could cancel; `null` if it may have such orders.
 */
export function nothingToCancel({ exchange }: Config, stateDir: string): string | null {
  if (isPaperState(stateDir)) return 'there is nothing to cancel, because paper trading places no real orders';
  if (exchange.kind === 'embedded')
    return "the embedded exchange is part of the bot's process; a running bot cancels its orders itself, and no order remains after the bot ends";
  return null;
}

/**
 * Cancels every order of the bot and verifies the result; returns lines for the operator. Orders listed in the state
 * directory are canceled first, before the exchange is read. A read of open orders counts as proof only when the bot's
 * own requests can no longer be in transit.
 */
export async function cancelOwn(
  config: Config,
  venue: VenueAccess,
  clock: Clock,
  seed: number,
  log: Log,
): Promise<{ readonly lines: readonly string[]; readonly code: number }> {
  const { instance, state, timing } = config;
  const found = await lookInto(state.dir, clock).catch(() => null);
  const otherBooks = otherBooksWith(config, found?.orders ?? []);
  const book = [config.book, ...otherBooks].join(', ');
  const ids = (found?.orders ?? []).map(({ id }) => id);
  const known = ids.filter(id => id.startsWith(`${instance}-`));
  const others = ids.filter(id => !known.includes(id));
  const own = await besideTheBot(config, venue, clock, seed);
  const { exchange } = own;
  try {
    const connectivity = new ConnectivityLog(log, clock);
    if (known.length > 0) await cancelAll({ exchange, connectivity }, known);
    // A bot that stopped normally has verified that none of its requests is pending.
    const requestDelayMaxMs = readHeartbeat(state.dir, 'bot')?.state === 'stopped' ? 0 : timing.requestDelayMaxMs;
    const bounds = { requestDelayMaxMs, withinMs: timing.shutdownMs };
    const { left, canceled, isCut } = await recoverAndCancel({
      exchange,
      clock,
      log,
      book: config.book,
      others: otherBooks,
      instance,
      known,
      ...bounds,
    });
    if (left?.length === 0)
      return {
        lines: [
          `verified: no open orders of ${instance} left on ${book}${canceled > 0 ? ` (orders that were still open and were canceled: ${canceled})` : ''}`,
          ...others.map(id => `order ${id} may still be open`),
          ...(others.length === 0
            ? []
            : [
                `the state in ${state.dir} lists orders of an instance other than ${instance}; cancel them with  ${ownCommand('halt --cancel', { configFile: undefined, stateDir: state.dir })}, or at the exchange`,
              ]),
        ],
        code: others.length === 0 ? EXIT.clean : EXIT.leftOrders,
      };
    // If the list was truncated, each known order was looked up, and `left` lists the orders that remain.
    const remaining = left ?? (isCut ? [] : known);
    return {
      lines: [
        ...(isCut
          ? [cutText(instance, book, known.length)]
          : left === null
            ? ['open orders could not be read; see the log above']
            : []),
        ...[...remaining, ...others].map(id => `order ${id} may still be open`),
        `orders of ${instance} may still be open on ${book}; cancel them at the exchange, or run this command again`,
      ],
      code: EXIT.leftOrders,
    };
  } finally {
    await own.close();
  }
}

type Beside = Pick<Exchange, 'limits' | 'openOrders' | 'cancel' | 'lookUp'>;

/** Maximum time for which the first cancel waits for the read that precedes it, in ms. */
const READ_FIRST_MS = 1_000;
/**
 * Increase of the first nonce with time, so that a later `puntas halt` has higher nonces than an earlier `puntas halt`:
 * nonces per second, and the number of seconds after which the increase restarts from 0.
 */
const [NONCES_PER_SECOND, HALF_DAY_S] = [20n, 43_200n];

/**
 * Opens a client with the bot's key in a second process. Its nonces derive from the clock, like the bot's. An exchange
 * that requires rising nonces accepts the requests of both processes, except a request that arrives after a request
 * with a higher nonce. If two nonces in a row are rejected, the bot's nonces are ahead of the clock. All further
 * requests then have nonces above every nonce that the bot may have used. A read before the first cancel tests the
 * nonces, because many rejected nonces can lock the key.
 */
async function besideTheBot(
  config: Config,
  venue: VenueAccess,
  clock: Clock,
  seed: number,
): Promise<{ readonly exchange: Beside; close(): Promise<void> }> {
  const mark = await nonceMarkOf(config.state.dir, clock).catch(() => 0n);
  const later = (BigInt(Math.floor(clock.now() / 1_000)) % HALF_DAY_S) * NONCES_PER_SECOND;
  const beside = clientOf(config, venue, clock, seed);
  // Client for cancels while the first read has no answer, because a client sends its requests one after another.
  const spare = clientOf(config, venue, clock, seed);
  const above = clientOf(config, venue, clock, seed, { nonceAbove: mark + later });
  let isAbove = false;
  const trying = async <T>(call: (of: Beside) => Promise<Outcome<T>>) => {
    const outcome = await sentBesideBot(() => call(isAbove ? above : beside));
    if (isAbove || !isNonceRefused(outcome)) return outcome;
    isAbove = true;
    return call(above);
  };
  const openOrders: Beside['openOrders'] = ask => trying(of => of.openOrders(ask));
  let first: Promise<unknown> | undefined;
  let isReading = false;
  /**
   * Reads the open orders once before the first cancel. Without stored nonces (`mark` is 0), there is no mark to
   * continue from, and nothing is read.
   */
  const readFirst = async (): Promise<void> => {
    if (first !== undefined || mark === 0n) return;
    const isOver = new AbortController();
    isReading = true;
    first = openOrders(ordersQuery({ book: config.book, others: otherBooksOf(config) })).finally(
      () => (isReading = false),
    );
    await Promise.race([first, sleep(clock, READ_FIRST_MS, isOver.signal)]);
    isOver.abort();
  };
  return {
    exchange: {
      limits: beside.limits,
      openOrders,
      cancel: async ids => {
        await readFirst();
        const wasAbove = isAbove;
        const below = isReading ? spare : beside;
        const outcome = await (isAbove ? above : below).cancel(ids);
        if (wasAbove || !isNonceRefused(outcome)) return outcome;
        // A read, not another cancel, tests the nonces, because a cancel of a young order takes much of the rate
        // budget. This read does not wait for the first read.
        const read = isAbove
          ? null
          : await below.openOrders(ordersQuery({ book: config.book, others: otherBooksOf(config) }));
        if (read !== null && isNonceRefused(read)) isAbove = true;
        const wentAbove = isAbove;
        const again = await (wentAbove ? above : below).cancel(ids);
        // A read with an answer shows that nonces of the clock are accepted: another request overtook the cancel.
        if (wentAbove || read?.kind === 'done' || !isNonceRefused(again)) return again;
        isAbove = true;
        return above.cancel(ids);
      },
      lookUp: ids => trying(of => of.lookUp(ids)),
    },
    close: async () => {
      for (const client of [beside, spare, above]) await client.close();
    },
  };
}

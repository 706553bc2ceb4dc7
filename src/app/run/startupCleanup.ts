/** Cleanup after a failed start: cancels the orders of an earlier run and reports the result. */
import { counted } from '../../core/index.ts';
import { booksText, otherBooksOf, otherBooksWith } from '../../config.ts';
import type { DamagedState, Journal, Leftovers } from '../../live/state/journal.ts';
import { cutText } from '../../live/safety/cancelAllAndVerify.ts';
import { CannotStart } from '../../live/loop/opening.ts';
import { recoverAndCancel, type Recovered } from '../../live/safety/recoverAndCancel.ts';
import { clientOf } from '../../wiring/bot.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { codeOf, EXIT, sentenceOf } from '../../messages/exits.ts';
import { cancelCommand } from './remainingOrders.ts';
import type { RunOptions } from './runOptions.ts';

/** Time limit of the cleanup if the exchange does not answer, in ms; the next start continues it. */
const SHORT_MS = 15_000;

/**
 * Cancels the orders that an earlier run recorded in the journal, after the start failed with `error`. Always rejects.
 */
export async function cleanUpFailedStart(
  error: unknown,
  leftovers: Leftovers['orders'],
  options: RunOptions,
  journal: Journal | undefined,
): Promise<never> {
  const { clock, log, config } = options;
  const why = sentenceOf(error);
  log.error({}, `cannot start: ${why}`);
  // Only requests that were sent recently may still be in transit.
  const newest = Math.max(...leftovers.map(({ at }) => at));
  const requestDelayMaxMs = Math.min(
    config.timing.requestDelayMaxMs,
    Math.max(0, newest + config.timing.requestDelayMaxMs - clock.now()),
  );
  const withinMs = error instanceof CannotStart && error.mayPass ? SHORT_MS : config.timing.shutdownMs;
  const known = leftovers.map(({ id }) => id);
  const { left, canceled, isCut } = await takeOut(
    options,
    requestDelayMaxMs,
    withinMs,
    known,
    otherBooksWith(config, leftovers),
    journal,
  );
  if (left?.length === 0) {
    throw new UsageError(
      `${why}; canceled ${countOf(canceled)} of the last run; two reads of the open orders show none left`,
      codeOf(error),
    );
  }
  const ids = left ?? (isCut ? [] : known);
  throw new UsageError(
    [
      why,
      ...(isCut ? [cutText(config.instance, booksText(config), known.length)] : []),
      ...ids.map(id => `order ${id} may still be open`),
      `canceled ${countOf(canceled)} of the last run, but other orders may still be open; start the bot again, or ${cancelCommand({ configFile: options.configFile, stateDir: config.state.dir })}`,
    ],
    EXIT.leftOrders,
  );
}

/** Cancels the bot's orders without a trusted state, and reports the result with advice. Always rejects. */
export async function cleanUpDamagedState(damaged: DamagedState, options: RunOptions): Promise<never> {
  const { config, log } = options;
  log.error({}, damaged.message);
  // An embedded exchange ends with its run, so no request can be in transit.
  const requestDelayMaxMs = config.exchange.kind === 'embedded' ? 0 : config.timing.requestDelayMaxMs;
  const { left, canceled, isCut } = await takeOut(
    options,
    requestDelayMaxMs,
    config.timing.shutdownMs,
    [],
    otherBooksOf(config),
  );
  const { advice } = damaged;
  if (left?.length === 0)
    throw new UsageError(
      `${damaged.message}. Puntas placed no order, canceled ${countOf(canceled)}, and found no open order of ${config.instance} in two reads. To continue, ${advice}`,
      EXIT.broken,
    );
  const unread = isCut ? cutText(config.instance, booksText(config), 0) : 'open orders could not be read';
  const which = left === null ? unread : left.join(', ');
  throw new UsageError(
    `${damaged.message}. No order was placed, but orders of ${config.instance} may still be open (${which}). First ${cancelCommand({ configFile: options.configFile, stateDir: config.state.dir })}; then ${advice}`,
    EXIT.leftOrders,
  );
}

async function takeOut(
  { config, venue, clock, seed, log }: RunOptions,
  requestDelayMaxMs: number,
  withinMs: number,
  known: readonly string[],
  others: readonly string[],
  journal?: Journal,
): Promise<Recovered> {
  // The nonces of this client are above those of the client that failed.
  const client = clientOf(config, venue, clock, seed, { ...(journal ? { journal } : {}) });
  try {
    return await recoverAndCancel({
      exchange: client,
      clock,
      log,
      book: config.book,
      others,
      instance: config.instance,
      known,
      requestDelayMaxMs,
      withinMs,
      givesUp: true,
    });
  } finally {
    await client.close();
  }
}

const countOf = (n: number): string => counted(n, 'order');

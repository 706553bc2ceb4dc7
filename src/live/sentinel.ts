/** The sentinel: a second process with its own key that takes the bot's orders out when the bot shows no life. It never places an order. */
import { sleep } from '../core/index.ts';
import type { Clock, Exchange, Millis } from '../core/index.ts';
import type { Heart, Watch } from './heart.ts';
import type { Latch } from './latch.ts';
import type { Log } from './loop.ts';

export type SentinelOptions = {
  /** With a key of its own, so that the bot's nonces and lock-outs are not its. */
  readonly exchange: Pick<Exchange, 'openOrders' | 'cancel'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly latch: Latch;
  /** Its own signs of life, for the bot. */
  readonly heart: Heart;
  /** The bot's. */
  readonly watch: Watch;
  readonly book: string;
  readonly instance: string;
  /** The bot is taken for dead when its heart has stood still this long. */
  readonly ttlMs: Millis;
  /** More live orders of the bot than this are a reason too. */
  readonly ordersMax: number;
};

const LOOK_EVERY_MS = 1_000;
const COUNT_EVERY_MS = 10_000;
const CLEAR_EVERY_MS = 500;
const CHUNK = 50;
/** The exchange's default page: a reply of this many may be cut. */
const PAGE = 500;
const EMPTY_READS = 2;

/** Watches until the signal aborts. Never rejects. */
export async function watchOver(options: SentinelOptions, signal: AbortSignal): Promise<void> {
  const { clock, latch, heart, watch } = options;
  let countedAt = -Infinity;
  let cleared = false;
  while (!signal.aborted) {
    heart.beat('alive');
    const still = watch.stillForMs();
    if (still !== null && still <= options.ttlMs) cleared = false;
    const dead =
      still !== null && still > options.ttlMs ? `the bot has shown no life for ${Math.round(still / 1000)} s` : null;
    const halted = latch.read() === null ? null : 'trading is halted';
    let reason = dead ?? halted;
    if (reason === null && clock.elapsed() - countedAt >= COUNT_EVERY_MS) {
      countedAt = clock.elapsed();
      const live = await ours(options);
      if (live !== null && live.length > options.ordersMax)
        reason = `${live.length} live orders, the limit is ${options.ordersMax}`;
    }
    if (reason !== null && !cleared) cleared = await fire(options, reason, halted === null, signal);
    if (reason === null) cleared = false;
    // A halted or dead bot is looked at again: what it sent before may still arrive.
    if (cleared && clock.elapsed() - countedAt >= COUNT_EVERY_MS) {
      countedAt = clock.elapsed();
      cleared = (await ours(options))?.length === 0;
    }
    await sleep(clock, LOOK_EVERY_MS, signal);
  }
  heart.beat('stopped');
}

/** Latches, then cancels until two complete reads show nothing of the bot. True when verified. */
async function fire(options: SentinelOptions, reason: string, latches: boolean, signal: AbortSignal): Promise<boolean> {
  const { clock, latch, log, exchange, heart } = options;
  log.error({ reason }, `sentinel: ${reason}; canceling every order of ${options.instance}`);
  if (latches) latch.set({ reason: `sentinel: ${reason}`, at: clock.now(), by: 'sentinel' });
  for (let empty = 0; empty < EMPTY_READS && !signal.aborted;) {
    heart.beat('alive');
    const live = await ours(options);
    empty = live?.length === 0 ? empty + 1 : 0;
    for (let i = 0; live !== null && i < live.length; i += CHUNK) {
      const outcome = await exchange.cancel({ oids: live.slice(i, i + CHUNK) });
      if (outcome.kind !== 'done')
        log.warn({ outcome: outcome.kind }, 'sentinel: a cancel had no usable answer, trying again');
    }
    if (empty < EMPTY_READS) await sleep(clock, CLEAR_EVERY_MS, signal);
  }
  if (signal.aborted) return false;
  log.error(
    { reason },
    `sentinel: verified that no order of ${options.instance} is left; trading stays halted until puntas resume`,
  );
  return true;
}

/** Oids of the bot's open orders, or null when they could not be read whole. */
async function ours({ exchange, book, instance, log }: SentinelOptions): Promise<string[] | null> {
  const outcome = await exchange.openOrders({ book, limit: PAGE });
  if (outcome.kind !== 'done') {
    log.warn({ outcome: outcome.kind }, 'sentinel: open orders could not be read');
    return null;
  }
  const oids = outcome.value.flatMap(({ oid, originId }) => (originId?.startsWith(`${instance}-`) ? [oid] : []));
  return outcome.value.length >= PAGE && oids.length === 0 ? null : oids;
}

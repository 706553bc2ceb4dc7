/** The sentinel: a second process with its own key that takes the bot's orders out when the bot shows no life. It never places an order. */
import { sleep } from '../core/index.ts';
import type { Millis } from '../core/index.ts';
import { clearOut, found } from './clearOut.ts';
import type { ClearOutOptions } from './clearOut.ts';
import type { Heart, Watch } from './heart.ts';
import type { Latch } from './latch.ts';

/** The exchange is to be reached with a key of its own, so that the bot's nonces and lock-outs are not the sentinel's. */
export type SentinelOptions = ClearOutOptions & {
  readonly latch: Latch;
  /** Its own signs of life, for the bot. */
  readonly heart: Heart;
  /** The bot's. */
  readonly watch: Watch;
  /** The bot is taken for dead when its heart has stood still this long. */
  readonly ttlMs: Millis;
  /** More live orders of the bot than this are a reason too. */
  readonly ordersMax: number;
};

const LOOK_EVERY_MS = 1_000;
const COUNT_EVERY_MS = 10_000;

/** Watches until the signal aborts. Never rejects. */
export async function watchOver(options: SentinelOptions, signal: AbortSignal): Promise<void> {
  const { clock, latch, log, heart, watch, instance } = options;
  let countedAt = -Infinity;
  let cleared = false;
  /** Why to halt, until the disk has taken it: a full one must not keep the cancels back. */
  let owed: string | null = null;
  const latched = (): boolean => {
    if (owed !== null && isLatched(options, owed)) owed = null;
    return owed === null;
  };
  while (!signal.aborted) {
    heart.beat('alive');
    const still = watch.stillForMs();
    const dead =
      still !== null && still > options.ttlMs ? `the bot has shown no life for ${Math.round(still / 1000)} s` : null;
    const halted = latch.read() === null ? null : 'trading is halted';
    let reason = dead ?? halted;
    if (reason === null && clock.elapsed() - countedAt >= COUNT_EVERY_MS) {
      countedAt = clock.elapsed();
      const live = await found(options);
      if (live !== null && live.length > options.ordersMax)
        reason = `${live.length} live orders, the limit is ${options.ordersMax}`;
    }
    if (reason === null) {
      cleared = false;
      owed = null;
    } else if (cleared) latched();
    else {
      log.error({ reason }, `sentinel: ${reason}; canceling every order of ${instance}`);
      if (halted === null) owed = reason;
      if (!latched())
        log.error({}, 'sentinel: the halt cannot be written, it is tried again; a restarted bot would trade');
      cleared = await fire(options, reason, signal, () => {
        latched();
        // Its last sign of life counts from when it came, however long this takes.
        watch.stillForMs();
      });
    }
    // A halted or dead bot is looked at again: what it sent before may still arrive.
    if (cleared && clock.elapsed() - countedAt >= COUNT_EVERY_MS) {
      countedAt = clock.elapsed();
      cleared = (await found(options))?.length === 0;
    }
    await sleep(clock, LOOK_EVERY_MS, signal);
  }
  heart.beat('stopped');
}

/** Cancels until two complete reads show nothing of the bot. True when verified. */
async function fire(
  options: SentinelOptions,
  reason: string,
  signal: AbortSignal,
  onRound: () => unknown,
): Promise<boolean> {
  const { log, heart, instance } = options;
  const left = await clearOut(options, () => {
    heart.beat('alive');
    onRound();
    return !signal.aborted;
  });
  if (left?.length !== 0) return false;
  log.error(
    { reason },
    `sentinel: verified that no order of ${instance} is left; trading stays halted until puntas resume`,
  );
  return true;
}

/** True when trading is halted, by us or by somebody before us. */
function isLatched({ latch, clock }: SentinelOptions, reason: string): boolean {
  try {
    latch.set({ reason: `sentinel: ${reason}`, at: clock.now(), by: 'sentinel' });
    return true;
  } catch {
    return false;
  }
}

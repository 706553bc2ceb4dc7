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
  let wasDead = false;
  /** Why to halt, until the disk has taken it: a full one must not keep the cancels back. */
  let owed: string | null = null;
  /** Why nothing of the bot may live, as of now. Each death is latched once: a person who resumes after it has decided. */
  const look = (): string | null => {
    heart.beat('alive');
    const still = watch.stillForMs();
    const isDead = still !== null && still > options.ttlMs;
    const dead = isDead ? `the bot has shown no life for ${Math.round(still / 1000)} s` : null;
    if (isDead !== wasDead) owed = dead;
    wasDead = isDead;
    if (owed !== null && isLatched(options, owed)) owed = null;
    return dead ?? (latch.read() === null ? owed : 'trading is halted');
  };
  let countedAt = -Infinity;
  let cleared = false;
  while (!signal.aborted) {
    let reason = look();
    if (reason === null && clock.elapsed() - countedAt >= COUNT_EVERY_MS) {
      countedAt = clock.elapsed();
      const live = await found(options);
      if (live !== null && live.length > options.ordersMax) {
        owed = reason = `${live.length} live orders, the limit is ${options.ordersMax}`;
        look();
      }
    }
    if (reason === null) cleared = false;
    else if (!cleared) {
      log.error({ reason }, `sentinel: ${reason}; canceling every order of ${instance}`);
      if (owed !== null)
        log.error({}, 'sentinel: the halt cannot be written, it is tried again; a restarted bot would trade');
      // No longer than there is a reason: a bot that was resumed meanwhile quotes.
      const left = await clearOut(options, () => !signal.aborted && look() !== null);
      cleared = left?.length === 0;
      if (cleared)
        log.error(
          { reason },
          `sentinel: verified that no order of ${instance} is left; trading stays halted until puntas resume`,
        );
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

/** True when trading is halted, by us or by somebody before us. */
function isLatched({ latch, clock }: SentinelOptions, reason: string): boolean {
  try {
    latch.set({ reason: `sentinel: ${reason}`, at: clock.now(), by: 'sentinel' });
    return true;
  } catch {
    return false;
  }
}

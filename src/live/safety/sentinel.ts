/**
 * The sentinel: a second process with its own key that takes the bot's orders out when nobody looks after them. It never places an order.
 *
 * What it does about it depends on what it sees. Dead or frozen, the bot shows no life: its orders are canceled, and trading is halted until a
 * person resumes. Cut off, the bot lives and cannot read the exchange, which answers the sentinel: its orders are canceled and its quotes are
 * held back, until it reads again. When the exchange answers neither, nothing is done, and nothing has to be undone.
 */
import { sleep } from '../../core/index.ts';
import type { Millis } from '../../core/index.ts';
import { cancelAllAndVerify, found } from './cancelAllAndVerify.ts';
import type { CancelAllOptions } from './cancelAllAndVerify.ts';
import { isThere } from './heartbeat.ts';
import type { Heartbeat, HeartbeatRecord, Sight, Watch } from './heartbeat.ts';
import type { Latch } from './latch.ts';
import type { DiskTrouble } from '../files/diskTrouble.ts';
import type { Log } from '../log.ts';
import { ConnectivityLog } from '../connectivityLog.ts';

/** The exchange is to be reached with a key of its own, so that the bot's nonces and lock-outs are not the sentinel's. */
export type SentinelOptions = Omit<CancelAllOptions, 'connectivity'> & {
  readonly log: Log;
  readonly latch: Latch;
  /** Its own signs of life, for the bot. */
  readonly heartbeat: Pick<Heartbeat, 'beat'>;
  /** The bot's. */
  readonly watch: Watch;
  /** The bot is taken for dead when its heartbeat has stood still this long, and for cut off when it has read nothing for so long. */
  readonly ttlMs: Millis;
  /** More live orders of the bot than this are a reason too. */
  readonly ordersMax: number;
  /** What a person types to lift a halt of the bot. */
  readonly resumeCommand: string;
  /** Why the disk of the bot's state takes nothing, or null: then a heartbeat that stands still says little of the bot. */
  readonly diskProblem?: () => DiskTrouble | null;
  /** Receives how many orders of a bot that is down, halted or held are open; 0 only if that is verified. */
  readonly onOrders?: (count: number) => void;
  /** Whoever tells a person. */
  readonly onSight?: (seen: SentinelSight) => void;
};

/** Told at every look, and when no order of the bot is left. */
export type SentinelSight =
  | {
      readonly kind: 'look';
      /** Why it looks dead, long before its orders are canceled where its process can be seen; null when it lives, or has stopped by itself. */
      readonly gone: string | null;
      /** It is halted or held back. */
      readonly isLatched: boolean;
    }
  | { readonly kind: 'verified'; readonly isHalt: boolean; readonly sentence: string };

/** Why it halts the bot, each kind with the form of its sentence. */
type HaltTexts = {
  readonly 'no life': `the bot has shown no life for ${string}`;
  readonly 'too many orders': `${number} live orders, the limit is ${number}`;
  readonly 'started anew': `the bot was started anew while it was held back (${string})`;
};
export type SentinelHalt = keyof HaltTexts;
type HaltReason = HaltTexts[SentinelHalt];

const LOOK_EVERY_MS = 1_000;
const COUNT_EVERY_MS = 10_000;
/** While the bot reads nothing, or the exchange did not answer the last time. */
const ASK_EVERY_MS = 2_000;
/** A lock-out lasts a minute, and may come again at once: who is kept out longer than this no longer looks after its orders. */
const KEPT_OUT_MAX_MS = 150_000;
/** No answer for so long was an outage: then the bot has as long to find out that it is over as a read of it may take. */
const OUTAGE_MS = 15_000;

/** A bot that was kept out has this long to read after it may ask again: one round of reads, each of which may be lost once. */
const READ_ROUND_MS = 15_000;

/** Watches until the signal aborts. Never rejects. */
export async function watchOver(options: SentinelOptions, signal: AbortSignal): Promise<void> {
  const sentinel = new Sentinel(options);
  while (!signal.aborted) {
    await sentinel.turn(signal);
    await sleep(options.clock, LOOK_EVERY_MS, signal);
  }
  options.heartbeat.beat('stopped');
}

class Sentinel {
  readonly #options: SentinelOptions;
  readonly #connectivity: ConnectivityLog;
  #wasGone = false;
  /** Why to halt, until the disk has taken it: a full one must not keep the cancels back. */
  #owed: HaltReason | null = null;
  /** The silence of the bot for which it was held back. Each is decided once: a person who resumes after it has decided. */
  #heldFor: string | null = null;
  /** Why the bot is to be held back, while the disk does not take the hold. */
  #owedHold: string | null = null;
  #countedAt: Millis = -Infinity;
  /** When the exchange last answered, and since when it has done so without an outage. */
  #answeredAt: Millis;
  #answersSince: Millis = -Infinity;
  #isAnswered = true;
  /** When the bot last said that it may send nothing. */
  #keptOutAt: Millis = -Infinity;
  #cleared = false;

  constructor(options: SentinelOptions) {
    this.#options = options;
    this.#connectivity = new ConnectivityLog(options.log, options.clock);
    this.#answeredAt = options.clock.elapsed();
  }

  async turn(signal: AbortSignal): Promise<void> {
    let reason = this.#look();
    if (reason === null) {
      this.#cleared = false;
      const counted = await this.#count();
      const seen = this.#look();
      reason = counted ?? seen;
    }
    if (reason !== null && !this.#cleared) await this.#clear(reason, signal);
    // A halted or dead bot is looked at again: what it sent before may still arrive.
    else if (this.#cleared && this.#isTime(COUNT_EVERY_MS)) {
      const live = await this.#live();
      this.#cleared = live?.length === 0;
      if (live !== null) this.#options.onOrders?.(live.length);
    }
  }

  /** Why nothing of the bot may live, as of now. Each death is latched once: a person who resumes after it has decided. */
  #look(): string | null {
    const { heartbeat, watch, latch } = this.#options;
    heartbeat.beat('alive');
    const sight = watch.look();
    if (sight?.record.state === 'kept out') this.#keptOutAt = this.#options.clock.elapsed();
    const gone = this.#goneBecause(sight);
    if ((gone !== null) !== this.#wasGone) this.#owed = gone;
    this.#wasGone = gone !== null;
    if (this.#owed !== null && this.#isLatched(this.#owed)) this.#owed = null;
    if (gone === null) this.#liftOwnHold(sight);
    const halt = latch.read();
    this.#options.onSight?.({
      kind: 'look',
      gone: gone ?? (sight !== null && isThere(sight.record) === false ? processOf(sight.record, 'gone') : null),
      isLatched: halt !== null || latch.readHold() !== null,
    });
    if (gone !== null) return gone;
    if (halt !== null) return 'trading is halted';
    if (this.#owedHold !== null && (sight === null || sight.unreadMs <= this.#options.ttlMs)) this.#owedHold = null;
    if (this.#owedHold !== null) this.#hold();
    return this.#owed ?? latch.readHold()?.reason.replace(/^sentinel: /, '') ?? this.#owedHold;
  }

  #goneBecause(sight: Sight | null): HaltReason | null {
    if (sight === null || sight.stillMs <= this.#options.ttlMs) return null;
    const there = isThere(sight.record);
    const kind =
      there === null
        ? ''
        : there
          ? `; frozen: ${processOf(sight.record, 'there')}`
          : `; dead: ${processOf(sight.record, 'gone')}`;
    const disk = this.#options.diskProblem?.() ?? null;
    const cause =
      disk === null ? '' : `; the disk of its state takes nothing (${disk}), so no heartbeat can be written`;
    return `the bot has shown no life for ${seconds(sight.stillMs)}${cause}${disk === null ? kind : kind.replace('; frozen: ', '; ')}`;
  }

  /** Looks at the bot's orders every now and then; more often while it lives and says that it reads nothing. */
  async #count(): Promise<string | null> {
    const { watch, ttlMs, ordersMax } = this.#options;
    const isBlind = (): boolean => {
      const sight = watch.look();
      if (sight === null || sight.stillMs > ttlMs || silenceOf(sight.record) === this.#heldFor) return false;
      const wasKeptOut = this.#options.clock.elapsed() - this.#keptOutAt < READ_ROUND_MS;
      return sight.unreadMs > (wasKeptOut ? KEPT_OUT_MAX_MS : ttlMs);
    };
    if (!this.#isTime(isBlind() || !this.#isAnswered ? ASK_EVERY_MS : COUNT_EVERY_MS)) return null;
    const live = await this.#live();
    if (live !== null && live.length > ordersMax)
      return (this.#owed = `${live.length} live orders, the limit is ${ordersMax}`);
    if (!isBlind()) return null;
    if (live === null) {
      const text =
        'the exchange answers neither the running bot nor the sentinel; trading is not halted, and the bot continues when the exchange answers again';
      this.#connectivity.say('neither', {}, text);
    } else if (this.#options.clock.elapsed() - this.#answersSince >= OUTAGE_MS) return this.#hold();
    return null;
  }

  /** The exchange answers us and not the bot. What the disk refuses is acted on all the same: then the reason is returned. */
  #hold(): string | null {
    const { clock, latch, watch } = this.#options;
    const sight = watch.look();
    if (sight === null) return null;
    const { record, unreadMs } = sight;
    const why = `cut off: the bot lives and has read nothing for ${seconds(unreadMs)}, the exchange answers the sentinel`;
    try {
      const { born, reads } = record;
      latch.setHold({ reason: `sentinel: ${why}`, at: clock.now(), by: 'sentinel', born, reads });
      this.#heldFor = silenceOf(record);
      this.#owedHold = null;
    } catch (error) {
      this.#connectivity.say('hold', { error: String(error) }, 'the hold could not be written; retrying', 'error');
      this.#owedHold = why;
    }
    return this.#owedHold;
  }

  /** Only a hold: a halt is lifted by a person. And only for the process that it was for, when that has lived throughout. */
  #liftOwnHold(sight: Sight | null): void {
    const { clock, latch, log, watch, ttlMs, resumeCommand } = this.#options;
    const hold = latch.readHold();
    const record = watch.last;
    if (hold === null || record === null) return;
    const at = clock.now();
    const readsAgain = record.reads > hold.reads && (sight === null || sight.unreadMs <= ttlMs);
    try {
      if (record.born !== hold.born) {
        // Nobody looked after the orders between two processes.
        const why =
          `the bot was started anew while it was held back (${hold.reason.replace(/^sentinel: /, '')})` as const;
        if (!this.#isLatched(why)) return;
        latch.liftHold({ reason: 'it became a halt: the bot was started anew', at, by: 'sentinel' });
        log.error({}, `sentinel: ${why}: trading stays halted; investigate, then resume with: ${resumeCommand}`);
      } else if (readsAgain) {
        const why = 'the bot kept running and reads the exchange again';
        latch.liftHold({ reason: why, at, by: 'sentinel' });
        log.warn({ lifted: hold.reason }, `sentinel: ${why}; its quotes are no longer blocked`);
      }
    } catch (error) {
      this.#connectivity.say('lift', { error: String(error) }, 'the hold could not be lifted; retrying', 'error');
    }
  }

  async #clear(reason: string, signal: AbortSignal): Promise<void> {
    const { log, latch, instance, resumeCommand } = this.#options;
    log.error({ reason }, `sentinel: ${reason}; canceling every order of ${instance}`);
    if (this.#owed !== null)
      log.error(
        {},
        'sentinel: the halt could not be written; retrying; until it is written, a restarted bot would trade',
      );
    // No longer than there is a reason: a bot that was resumed meanwhile quotes.
    const left = await cancelAllAndVerify(
      { ...this.#options, connectivity: this.#connectivity },
      () => !signal.aborted && this.#look() !== null,
    );
    this.#cleared = left?.length === 0;
    if (left !== null) this.#options.onOrders?.(left.length);
    if (!this.#cleared) return;
    const isHalt = latch.read() !== null || this.#owed !== null;
    const next = isHalt
      ? `trading stays halted; investigate, then resume with: ${resumeCommand}`
      : 'its quotes are blocked until it reads the exchange again';
    const sentence = `verified: no open orders of ${instance} left; ${next}`;
    log.error({ reason }, `sentinel: ${sentence}`);
    this.#options.onSight?.({ kind: 'verified', isHalt, sentence: `${reason}; ${sentence}` });
  }

  #isTime(everyMs: Millis): boolean {
    return this.#options.clock.elapsed() - this.#countedAt >= everyMs;
  }

  /** Open orders of the bot, and whether the exchange answers. */
  async #live(): ReturnType<typeof found> {
    const { clock } = this.#options;
    this.#countedAt = clock.elapsed();
    const live = await found({ ...this.#options, connectivity: this.#connectivity });
    const now = clock.elapsed();
    this.#isAnswered = live !== null;
    if (live === null) return null;
    if (now - this.#answeredAt > OUTAGE_MS) this.#answersSince = now;
    this.#answeredAt = now;
    return live;
  }

  /** True when trading is halted, by us or by somebody before us. */
  #isLatched(reason: HaltReason): boolean {
    const { latch, clock } = this.#options;
    try {
      latch.set({ reason: `sentinel: ${reason}`, at: clock.now(), by: 'sentinel' });
      return true;
    } catch {
      return false;
    }
  }
}

const processOf = ({ process: where }: HeartbeatRecord, is: 'there' | 'gone'): string =>
  `its process ${where?.pid} is ${is}`;

/** Names the time from one whole read of a process to the next. */
const silenceOf = ({ born, reads }: HeartbeatRecord): string => `${born}/${reads}`;

const seconds = (ms: Millis): string => `${Math.round(ms / 1000)} s`;

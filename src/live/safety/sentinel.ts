/**
 * Sentinel: a second process with its own key that cancels the bot's orders when the bot cannot. The sentinel never
 * places an order.
 * - The bot is dead or frozen (no heartbeat): the sentinel cancels the bot's orders and halts trading until the
 *   operator resumes.
 * - The bot is disconnected (cannot read the exchange, which answers the sentinel): the sentinel cancels the bot's
 *   orders and holds its quotes until the bot reads again.
 * - The exchange answers neither the bot nor the sentinel: the sentinel does nothing.
 */
import { counted, sleep, type Millis } from '../../core/index.ts';
import { cancelAllAndVerify, found, type CancelAllOptions } from './cancelAllAndVerify.ts';
import { isThere, type Heartbeat, type HeartbeatRecord, type Sight, type Watch } from './heartbeat.ts';
import type { Latch } from './latch.ts';
import type { DiskTrouble } from '../files/diskTrouble.ts';
import type { Log } from '../log.ts';
import { ConnectivityLog } from '../connectivityLog.ts';

/**
 * Options of the sentinel. `exchange` needs an API key of its own, so that bot and sentinel have separate nonces and
 * lockouts.
 */
export type SentinelOptions = Omit<CancelAllOptions, 'connectivity'> & {
  readonly log: Log;
  readonly latch: Latch;
  /** Heartbeat that the sentinel writes for the bot. */
  readonly heartbeat: Pick<Heartbeat, 'beat'>;
  /** Watcher of the bot's heartbeat. */
  readonly watch: Watch;
  /**
   * Timeout in ms. Without a heartbeat for this time, the bot counts as dead. Without a complete read for this time,
   * the bot counts as disconnected.
   */
  readonly ttlMs: Millis;
  /**
   * Maximum number of the bot's live orders in `book` and `others`. If there are more, the sentinel cancels them and
   * halts trading.
   */
  readonly ordersMax: number;
  /**
   * Reads `others` and `ordersMax` of the bot's last run, and its `known` orders. The sentinel calls it before it counts
   * and before it cancels, because a running bot can change all three. Default: they never change.
   */
  readonly readBounds?: () => Promise<OrderBounds>;
  /** Command that ends a halt of the bot. */
  readonly resumeCommand: string;
  /**
   * Returns why the disk of the bot's state accepts no writes; `null` if the disk accepts writes. A bot that runs on a
   * full disk cannot write heartbeats either.
   */
  readonly diskProblem?: () => DiskTrouble | null;
  /** Receives the number of open orders of a bot that is down, halted or on hold; 0 only if verified. */
  readonly onOrders?: (count: number) => void;
  /** Receives the result of each check, to notify the operator. */
  readonly onSight?: (seen: SentinelSight) => void;
};

/**
 * Further books in which a bot may have orders, the maximum number of its live orders in all books, and its `known`
 * orders: those whose end is not on disk.
 */
export type OrderBounds = Pick<SentinelOptions, 'ordersMax'> & {
  readonly others: readonly string[];
  readonly known: readonly string[];
};

/** Result of a check, or the report that all orders of the bot have ended. */
export type SentinelSight =
  | {
      readonly kind: 'look';
      /**
       * Reason why the bot looks dead; `null` if it runs or stopped normally. If the bot's process no longer exists,
       * the reason is reported immediately; the sentinel cancels orders only after `ttlMs`.
       */
      readonly gone: string | null;
      /** Whether the bot is halted or on hold. */
      readonly isLatched: boolean;
    }
  | { readonly kind: 'verified'; readonly isHalt: boolean; readonly sentence: string };

type HaltTexts = {
  readonly 'no life': `the bot has shown no life for ${string}`;
  readonly 'too many orders': `${string}, the limit is ${number}`;
  readonly 'started anew': `the bot was started anew while it was held back (${string})`;
};
export type SentinelHalt = keyof HaltTexts;
type HaltReason = HaltTexts[SentinelHalt];

const LOOK_EVERY_MS = 1_000;
const COUNT_EVERY_MS = 10_000;
/** Pause between reads of the orders while the bot reads nothing, or after a failed read. */
const ASK_EVERY_MS = 2_000;
/**
 * Maximum time for which lockouts excuse a bot without reads. A lockout lasts a minute and may repeat. After this time,
 * the bot counts as disconnected.
 */
const KEPT_OUT_MAX_MS = 150_000;
/**
 * Time without an answer from the exchange that counts as an outage. After the outage, the bot has `OUTAGE_MS` for its
 * next read before it counts as disconnected.
 */
const OUTAGE_MS = 15_000;

/**
 * Time that the bot has for its next read after a lockout. The time is sufficient for one round of reads in which each
 * read fails once.
 */
const READ_ROUND_MS = 15_000;

/** Watches the bot until the signal aborts. Never rejects. */
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
  /** Halt reason that the disk has not accepted yet, kept in memory so that a full disk does not delay the cancels. */
  #owed: HaltReason | null = null;
  /**
   * Id of the gap in the bot's reads for which the sentinel has set a hold. Each gap gets at most one hold, so that a
   * resume by the operator is final.
   */
  #heldFor: string | null = null;
  /** Hold reason that the disk has not accepted yet. */
  #owedHold: string | null = null;
  #countedAt: Millis = -Infinity;
  /** Time of the exchange's last answer. */
  #answeredAt: Millis;
  /** End of the exchange's last outage; -Infinity before the first outage. */
  #answersSince: Millis = -Infinity;
  #isAnswered = true;
  /** Time when the bot last reported a lockout. */
  #keptOutAt: Millis = -Infinity;
  /** Further books of the bot, those of its earlier runs included. */
  #others: readonly string[];
  #ordersMax: number;
  /** Origin ids of the bot's orders whose end is not on disk. */
  #known: readonly string[];
  /** Whether the last read of the bot's books failed. */
  #mayHaveOthers = false;
  /** State in which the sentinel has verified that no order of the bot is open; `null` if it has not verified this. */
  #clearedFor: 'halt' | 'hold' | null = null;

  constructor(options: SentinelOptions) {
    this.#options = options;
    this.#connectivity = new ConnectivityLog(options.log, options.clock);
    this.#answeredAt = options.clock.elapsed();
    this.#others = options.others ?? [];
    this.#ordersMax = options.ordersMax;
    this.#known = options.known ?? [];
  }

  async turn(signal: AbortSignal): Promise<void> {
    let reason = this.#look();
    if (reason === null) {
      this.#clearedFor = null;
      const counted = await this.#count();
      const seen = this.#look();
      reason = counted ?? seen;
    }
    // If a hold has become a halt, the sentinel verifies the orders and reports the result again.
    if (reason !== null && this.#clearedFor !== this.#state()) await this.#clear(reason, signal);
    // Orders of a halted or dead bot are checked again and again, because its earlier requests may still arrive.
    else if (this.#clearedFor !== null && this.#isTime(COUNT_EVERY_MS)) {
      const live = await this.#live();
      if (live?.length !== 0) this.#clearedFor = null;
      if (live !== null) this.#options.onOrders?.(live.length);
    }
  }

  /**
   * Returns the reason why the sentinel must cancel the bot's orders; `null` if orders are allowed. Sets at most one
   * halt each time the bot dies, so that a resume by the operator is final.
   */
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
      disk === null ? '' : `; its state directory cannot be written (${disk}), so no heartbeat can be written`;
    return `the bot has shown no life for ${seconds(sight.stillMs)}${cause}${disk === null ? kind : kind.replace('; frozen: ', '; ')}`;
  }

  /**
   * Counts the bot's orders on the exchange periodically. Returns the reason why the orders must be canceled, or
   * `null`. Counts more often while the bot runs but completes no read of its orders and trades, and after an
   * unanswered count.
   */
  async #count(): Promise<string | null> {
    const { watch, ttlMs } = this.#options;
    const isBlind = (): boolean => {
      const sight = watch.look();
      if (sight === null || sight.stillMs > ttlMs || silenceOf(sight.record) === this.#heldFor) return false;
      const wasKeptOut = this.#options.clock.elapsed() - this.#keptOutAt < READ_ROUND_MS;
      return sight.unreadMs > (wasKeptOut ? KEPT_OUT_MAX_MS : ttlMs);
    };
    if (!this.#isTime(isBlind() || !this.#isAnswered ? ASK_EVERY_MS : COUNT_EVERY_MS)) return null;
    const earlierMax = this.#ordersMax;
    await this.#readBounds();
    const live = await this.#live();
    const { length } = live ?? [];
    // The bot may have been reloaded with a higher limit during the read of its orders.
    if (length > this.#ordersMax) await this.#readBounds();
    // A bot that was reloaded with a lower limit cancels within the time until the next count.
    const ordersMax = Math.max(earlierMax, this.#ordersMax);
    if (length > ordersMax) return (this.#owed = `${counted(length, 'live order')}, the limit is ${ordersMax}`);
    if (!isBlind()) return null;
    if (live === null) {
      const text =
        'the exchange answers neither the running bot nor the sentinel; trading is not halted, and the bot continues when the exchange answers again';
      this.#connectivity.say('neither', {}, text);
    } else if (this.#options.clock.elapsed() - this.#answersSince >= OUTAGE_MS) return this.#hold();
    return null;
  }

  /**
   * Holds the bot's quotes, because the exchange answers the sentinel but the bot reads nothing. Returns `null` if the
   * hold was written. If the disk does not accept the hold, returns the reason of the hold, and the caller cancels the
   * bot's orders.
   */
  #hold(): string | null {
    const { clock, latch, watch } = this.#options;
    const sight = watch.look();
    if (sight === null) return null;
    const { record, unreadMs } = sight;
    const why = `cut off: the bot runs but has read nothing for ${seconds(unreadMs)}, while the exchange answers the sentinel`;
    try {
      const { born, reads } = record;
      latch.setHold({ reason: `sentinel: ${why}`, at: clock.now(), by: 'sentinel', born, reads });
      this.#heldFor = silenceOf(record);
      this.#owedHold = null;
    } catch (error) {
      this.#connectivity.say(
        'hold',
        { error: String(error) },
        "the sentinel's hold on the bot's quotes could not be written to disk; retrying",
        'error',
      );
      this.#owedHold = why;
    }
    return this.#owedHold;
  }

  /**
   * Ends a hold if the bot's process has kept running and reads the exchange again. A halt stays; only the operator
   * ends it.
   */
  #liftOwnHold(sight: Sight | null): void {
    const { clock, latch, log, watch, ttlMs, resumeCommand } = this.#options;
    const hold = latch.readHold();
    const record = watch.last;
    if (hold === null || record === null) return;
    const at = clock.now();
    const readsAgain = record.reads > hold.reads && (sight === null || sight.unreadMs <= ttlMs);
    try {
      if (record.born !== hold.born) {
        // Between the old and the new process, no process watched the orders, so the hold becomes a halt.
        const why =
          `the bot was started anew while it was held back (${hold.reason.replace(/^sentinel: /, '')})` as const;
        if (!this.#isLatched(why)) return;
        latch.liftHold({ reason: 'the bot was restarted, so the hold became a halt', at, by: 'sentinel' });
        log.error({}, `sentinel: ${why}. Trading stays halted; investigate, then resume with: ${resumeCommand}`);
      } else if (readsAgain) {
        const why = 'the bot kept running and reads the exchange again';
        latch.liftHold({ reason: why, at, by: 'sentinel' });
        log.warn({ lifted: hold.reason }, `sentinel: ${why}; the bot's quotes are no longer blocked`);
      }
    } catch (error) {
      this.#connectivity.say(
        'lift',
        { error: String(error) },
        "the sentinel's hold on the bot's quotes could not be lifted; retrying",
        'error',
      );
    }
  }

  async #clear(reason: string, signal: AbortSignal): Promise<void> {
    const { log, instance, resumeCommand } = this.#options;
    log.error({ reason }, `sentinel: ${reason}; canceling every order of ${instance}`);
    if (this.#owed !== null)
      log.error(
        {},
        'sentinel: the halt could not be written to disk; retrying. Until the halt is on disk, a restarted bot would trade',
      );
    await this.#readBounds();
    // The cancels stop when the reason ends, because a resumed bot quotes again.
    const left = await cancelAllAndVerify(this.#cancelOptions, () => !signal.aborted && this.#look() !== null);
    this.#clearedFor = left?.length === 0 ? this.#state() : null;
    if (left !== null) this.#options.onOrders?.(left.length);
    if (this.#clearedFor === null) return;
    const isHalt = this.#clearedFor === 'halt';
    const next = isHalt
      ? `trading stays halted; investigate, then resume with: ${resumeCommand}`
      : "the bot's quotes are blocked until it reads the exchange again";
    const sentence = `verified: no open orders of ${instance} left; ${next}`;
    log.error({ reason }, `sentinel: ${sentence}`);
    this.#options.onSight?.({ kind: 'verified', isHalt, sentence: `${reason}; ${sentence}` });
  }

  get #cancelOptions(): CancelAllOptions {
    const others = this.#others;
    const mayHaveOthers = this.#mayHaveOthers;
    return { ...this.#options, others, mayHaveOthers, known: this.#known, connectivity: this.#connectivity };
  }

  /**
   * Reads the bot's books, its limit and its known orders. If this fails, the bot's orders are looked for in the whole
   * account.
   */
  async #readBounds(): Promise<void> {
    const { readBounds } = this.#options;
    if (readBounds === undefined) return;
    try {
      const { others, ordersMax, known } = await readBounds();
      this.#others = [...new Set([...this.#others, ...others])];
      this.#ordersMax = ordersMax;
      this.#known = known;
      this.#mayHaveOthers = false;
    } catch (error) {
      this.#mayHaveOthers = true;
      this.#connectivity.say(
        'books',
        { error: String(error) },
        "the bot's books cannot be read from its state, so its orders are looked for in all books of the account",
      );
    }
  }

  /** Returns `halt` if trading is halted, and otherwise `hold`: only the bot's quotes are blocked. */
  #state(): 'halt' | 'hold' {
    return this.#options.latch.read() !== null || this.#owed !== null ? 'halt' : 'hold';
  }

  #isTime(everyMs: Millis): boolean {
    return this.#options.clock.elapsed() - this.#countedAt >= everyMs;
  }

  /** Reads the bot's open orders, and records whether the exchange answers. */
  async #live(): ReturnType<typeof found> {
    const { clock } = this.#options;
    this.#countedAt = clock.elapsed();
    const live = await found(this.#cancelOptions);
    const now = clock.elapsed();
    this.#isAnswered = live !== null;
    if (live === null) return null;
    if (now - this.#answeredAt > OUTAGE_MS) this.#answersSince = now;
    this.#answeredAt = now;
    return live;
  }

  /** Halts trading. Returns whether trading is halted, by this call or by an earlier one. */
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

/** Returns an id for a gap in the reads of a bot: its process, and the number of complete reads before the gap. */
const silenceOf = ({ born, reads }: HeartbeatRecord): string => `${born}/${reads}`;

const seconds = (ms: Millis): string => `${Math.round(ms / 1000)} s`;

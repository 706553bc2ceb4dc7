/**
 * The laws of the sentinel, as the world sees it: what a bot leaves that is dead, or cut off, is gone in time; the dead
 * one's trading is latched until a person resumes, the other's is held back until it reads again, and no longer; and
 * nothing is ever placed.
 */
import type { HeartbeatRecord } from '../../../src/live/safety/heartbeat.ts';
import type { Marks } from './sometimes.ts';

export type SentinelPromises = {
  readonly ttlMs: number;
  /** The bot may not quote while the sentinel shows no life. */
  readonly isRequired: boolean;
  /** Nothing is ever wrong: then it never fires. */
  readonly isCalm: boolean;
};

export type SentinelJudgeOptions = {
  readonly now: () => number;
  readonly marks: Marks;
  readonly isLatched: () => boolean;
  readonly isHeld: () => boolean;
  readonly promises: SentinelPromises;
  readonly breaks: (law: string, what: string) => void;
};

/** From the end of its patience to a clean book, and from the end of any trouble of its own. */
const WITHIN_MS = 10_000;
/** A read of open orders may wait for its turn, and for its answer; then what it saw is canceled. */
const DECISION_MS = 16_000;
const LOOK_EVERY_MS = 1_000;
/** A bot beats every other second: after a longer silence it is one that lives again. */
const SILENCE_MS = 6_000;
/** An order that arrives after it has fired is found by a look every ten seconds. */
const ARRIVED_MS = 16_000;
/** A lock-out is borne with for so long. */
const KEPT_OUT_MAX_MS = 150_000;
/** One that may ask again has so long for a round of reads. */
const READ_ROUND_MS = 15_000;
/** After an outage of its own it gives the bot so long to read. */
const OUTAGE_MS = 20_000;
/** The bot looks for the sentinel's life every other second, and gives it a minute. */
const MISSED_AFTER_MS = 60_000 + 2_000 + 1_600 + 1_000;

export class SentinelJudge {
  readonly #options: SentinelJudgeOptions;
  /** When the bot last showed life; null while it does not need to be watched. */
  #beatAt: number | null = null;
  /** Since when it is to be watched: it beat after it had never, or had stopped. */
  #watchedAt = -Infinity;
  /** When it showed life again after a silence: only one that lives is held back. */
  #livesSince = -Infinity;
  /** Time of the last check of its orders, and of the last lock-out. */
  #readAt: number | null = null;
  #keptOutAt = -Infinity;
  #isKeptOut = false;
  /** A read that a full disk kept from being told, and the last one that was told before it was held back. */
  #untoldReadAt = -Infinity;
  #readBeforeHold = -Infinity;
  #heldAt = -Infinity;
  #sentinelBeatAt = -Infinity;
  #upAt: number | null = null;
  #troubleUntil = -Infinity;
  #diskFullAt = -Infinity;
  #latchedAt = -Infinity;
  #liftedAt = -Infinity;
  /** When there last was a reason to cancel. */
  #reasonAt = -Infinity;

  constructor(options: SentinelJudgeOptions) {
    this.#options = options;
  }

  botBeat(state: HeartbeatRecord['state'], read: 'now' | 'earlier' | null): void {
    const at = state === 'stopped' ? null : this.#options.now();
    if (this.#beatAt === null && at !== null) this.#watchedAt = at;
    if (at !== null && !(at - (this.#beatAt ?? -Infinity) <= SILENCE_MS)) this.#livesSince = at;
    this.#beatAt = at;
    // The last statement holds until the next one.
    if (state === 'kept out' || this.#isKeptOut) this.#keptOutAt = this.#options.now();
    this.#isKeptOut = state === 'kept out';
    if (read === 'now' || at === null) this.#readAt = at;
    else if (read === 'earlier') this.#readAt = this.#untoldReadAt;
  }

  readUntold(): void {
    this.#untoldReadAt = this.#options.now();
  }

  sentinelBeat(): void {
    this.#sentinelBeatAt = this.#options.now();
  }

  /** It has started, or woken. */
  sentinelUp(): void {
    this.#upAt = this.#options.now();
  }

  sentinelDown(): void {
    this.#upAt = null;
  }

  /** Something was wrong with what it asked or was told, or will be for so long. */
  trouble(forMs = 0): void {
    this.#troubleUntil = Math.max(this.#troubleUntil, this.#options.now() + forMs);
  }

  diskIsFull(): void {
    this.#diskFullAt = this.#options.now();
  }

  sentinelSent(topic: string): void {
    const { now, breaks, isLatched, isHeld } = this.#options;
    if (topic === 'place') breaks('L5', 'the sentinel placed an order');
    // A hold that a full disk does not take is acted on all the same.
    const readAt = this.#readAt ?? this.#watchedAt;
    const isHoldOwed = this.#diskFullAt > readAt && now() - readAt >= this.#options.promises.ttlMs;
    if (topic === 'cancel' && !isLatched() && !isHeld() && !isHoldOwed && now() - this.#reasonAt > DECISION_MS)
      breaks('L5', 'the sentinel cancels orders of a bot that lives and may trade');
  }

  latched(): void {
    const { now, marks, promises, breaks } = this.#options;
    this.#latchedAt = now();
    marks.see('the sentinel fired');
    if (promises.isCalm) breaks('L5', 'the sentinel fired though nothing was wrong');
    // The sentinel's clock may run fast, and the judge checks for reasons only once per second.
    const isDead = this.#beatAt !== null && now() - this.#beatAt >= promises.ttlMs - LOOK_EVERY_MS;
    if (!isDead && now() - this.#reasonAt > DECISION_MS)
      breaks('L5', 'the sentinel halted a bot that showed life all the time');
  }

  held(): void {
    const { now, promises, breaks } = this.#options;
    this.#heldAt = now();
    this.#readBeforeHold = this.#readAt ?? -Infinity;
    if (promises.isCalm) breaks('L5', 'the sentinel held the bot back though nothing was wrong');
    if (this.#readAt !== null && now() - this.#readAt < promises.ttlMs)
      breaks('L5', `the sentinel held back a bot that had read ${seconds(now() - this.#readAt)} before`);
  }

  holdLifted(by: 'sentinel' | 'person'): void {
    const { now, marks, breaks } = this.#options;
    if (by === 'person') return this.lifted();
    marks.see('the sentinel lifted its own hold');
    // A bot that stopped has read that nothing is left; one that a halt took over from was not lifted.
    const hasRead = (this.#readAt ?? -Infinity) > this.#heldAt || this.#untoldReadAt > this.#readBeforeHold;
    if (this.#beatAt !== null && !this.#options.isLatched() && !hasRead)
      breaks(
        'L5',
        `the sentinel lifted its hold though the bot has read nothing since, for ${seconds(now() - this.#heldAt)}`,
      );
  }

  /** A person has decided that trading may go on. */
  lifted(): void {
    this.#liftedAt = this.#options.now();
  }

  /** `since`: when the process that sends it began to run. */
  placing(id: string, since: number): void {
    const { now, promises, breaks, isHeld } = this.#options;
    if (isHeld()) breaks('L5', `${id} was sent though the sentinel holds the bot back`);
    if (!promises.isRequired) return;
    const still = now() - Math.max(this.#sentinelBeatAt, since);
    if (still > MISSED_AFTER_MS)
      breaks('L5', `${id} was sent though the sentinel has shown no life for ${(still / 1000).toFixed(0)} s`);
  }

  /** Once a second; `live` are orders of ours with the time at which they arrived. */
  look(live: Iterable<{ readonly id: string; readonly arrivedAt: number }>): void {
    const { now, promises, breaks, marks, isLatched, isHeld } = this.#options;
    const isDead = this.#beatAt !== null && now() - this.#beatAt >= promises.ttlMs;
    if (isLatched() || isHeld() || isDead) this.#reasonAt = now();
    if (this.#beatAt === null || this.#upAt === null) return;
    // One that has just begun to look, or to look again, gives the bot its time from there.
    const deadFor = now() - Math.max(this.#beatAt, this.#upAt);
    const cutOffFor = now() - Math.max(this.#readAt ?? this.#watchedAt, this.#upAt);
    const clearFor = now() - Math.max(this.#troubleUntil, this.#upAt);
    // It looks every other second.
    const wasKeptOut = this.#isKeptOut || now() - this.#keptOutAt < READ_ROUND_MS + 2_000;
    const cutOffPatience = (wasKeptOut ? KEPT_OUT_MAX_MS : promises.ttlMs) + WITHIN_MS;
    const mustBeDead = deadFor >= promises.ttlMs + WITHIN_MS && clearFor >= WITHIN_MS;
    const livesFor = now() - this.#livesSince;
    const mustBeCutOff = cutOffFor >= cutOffPatience && clearFor >= OUTAGE_MS + WITHIN_MS && livesFor >= WITHIN_MS;
    // A person who resumes a bot that still reads nothing has decided.
    const isDecided = this.#liftedAt > (this.#readAt ?? -Infinity);
    if (!mustBeDead && (!mustBeCutOff || isDecided)) return;
    marks.see('the sentinel had to have cleared the book');
    const state = mustBeDead
      ? `${seconds(deadFor)} after the last sign of life of the bot`
      : `${seconds(cutOffFor)} after the last whole read of the bot`;
    for (const { id, arrivedAt } of live) if (now() - arrivedAt >= ARRIVED_MS) breaks('L5', `${id} lives ${state}`);
    if (isLatched() || now() - this.#diskFullAt <= WITHIN_MS * 1.5) return;
    if (mustBeDead ? Math.max(this.#latchedAt, this.#liftedAt) < this.#beatAt : !isHeld())
      breaks('L5', `${state} trading is not ${mustBeDead ? 'latched' : 'held back'}`);
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(0)} s`;

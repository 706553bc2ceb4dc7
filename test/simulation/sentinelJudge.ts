/** The laws of the sentinel, as the world sees it: what a bot without life leaves is gone in time, trading is latched, and nothing is ever placed. */
import type { Pulse } from '../../src/live/heart.ts';
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
  readonly promises: SentinelPromises;
  readonly breaks: (law: string, what: string) => void;
};

/** From the end of its patience to a clean book, and from the end of any trouble of its own. */
const WITHIN_MS = 10_000;
/** A read of open orders may wait for its turn, and for its answer; then what it saw is canceled. */
const DECISION_MS = 16_000;
/** An order that arrives after it has fired is found by a look every ten seconds. */
const ARRIVED_MS = 16_000;
/** The bot looks for the sentinel's life every other second, and gives it a minute. */
const MISSED_AFTER_MS = 60_000 + 2_000 + 1_600 + 1_000;

export class SentinelJudge {
  readonly #options: SentinelJudgeOptions;
  /** When the bot last showed life; null while it does not need to be watched. */
  #beatAt: number | null = null;
  /** When it last looked after its orders. One that is kept out for long is dead to the sentinel while it beats: no second halt after a person lifted the first. */
  #aliveAt = -Infinity;
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

  /** One that is kept out lives; for how long that counts is the sentinel's to say. */
  botBeat(state: Pulse['state']): void {
    this.#beatAt = state === 'stopped' ? null : this.#options.now();
    if (state === 'alive') this.#aliveAt = this.#options.now();
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
    const { now, breaks, isLatched } = this.#options;
    if (topic === 'place') breaks('L5', 'the sentinel placed an order');
    if (topic === 'cancel' && !isLatched() && now() - this.#reasonAt > DECISION_MS)
      breaks('L5', 'the sentinel cancels orders of a bot that lives and may trade');
  }

  latched(): void {
    const { now, marks, promises, breaks } = this.#options;
    this.#latchedAt = now();
    marks.see('the sentinel fired');
    if (promises.isCalm) breaks('L5', 'the sentinel fired though nothing was wrong');
  }

  /** A person has decided that trading may go on. */
  lifted(): void {
    this.#liftedAt = this.#options.now();
  }

  /** `since`: when the process that sends it began to run. */
  placing(id: string, since: number): void {
    const { now, promises, breaks } = this.#options;
    if (!promises.isRequired) return;
    const still = now() - Math.max(this.#sentinelBeatAt, since);
    if (still > MISSED_AFTER_MS)
      breaks('L5', `${id} was sent though the sentinel has shown no life for ${(still / 1000).toFixed(0)} s`);
  }

  /** Once a second; `live` are orders of ours with the time at which they arrived. */
  look(live: Iterable<{ readonly id: string; readonly arrivedAt: number }>): void {
    const { now, promises, breaks, marks, isLatched } = this.#options;
    if (isLatched() || (this.#beatAt !== null && now() - this.#beatAt >= promises.ttlMs)) this.#reasonAt = now();
    if (this.#beatAt === null || this.#upAt === null) return;
    const patient = promises.ttlMs + WITHIN_MS;
    // One that has just begun to look, or to look again, gives the bot its time from there.
    const deadFor = now() - Math.max(this.#beatAt, this.#upAt);
    const clearFor = now() - Math.max(this.#troubleUntil, this.#upAt);
    if (deadFor < patient || clearFor < WITHIN_MS) return;
    marks.see('the sentinel had to have cleared the book');
    for (const { id, arrivedAt } of live) {
      if (now() - arrivedAt >= ARRIVED_MS)
        breaks('L5', `${id} lives ${(deadFor / 1000).toFixed(0)} s after the last sign of life of the bot`);
    }
    if (
      !isLatched() &&
      Math.max(this.#latchedAt, this.#liftedAt) < this.#aliveAt &&
      now() - this.#diskFullAt > WITHIN_MS * 1.5
    )
      breaks('L5', `${(deadFor / 1000).toFixed(0)} s after the last sign of life of the bot trading is not latched`);
  }
}

/**
 * Pending alerts of one channel: events are grouped, none is lost, and the rates of lines and messages are limited.
 * There is one record per event and book instead of a queue, so a flood of events needs no additional memory. The record
 * has the last reported state and the number of occurrences since that report. One message is sent at a time. Failed messages
 * are retried with a growing delay; abandoned messages are logged and counted.
 */
import type { Clock, Millis, Timer } from '../core/index.ts';
import { ALERT_EVENT_NAMES, alertKind, type AlertEvent, type AlertMode } from '../config.ts';
import type { Log } from '../live/log.ts';
import { alertKey } from './conditions.ts';
import type { Entry, Message } from './message.ts';

/**
 * Outcome of one attempt to send a message. `later`: not delivered, to be retried; `afterMs` is the delay that the
 * receiver requests, if any.
 */
export type SendOutcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'later'; readonly why: string; readonly afterMs?: Millis }
  | { readonly kind: 'refused'; readonly why: string };

/** Channel that delivers alert messages to the operator. */
export interface AlertChannel {
  /** Name for display, without secrets. */
  readonly name: string;
  /** Sends a message. Never rejects, and ends within a deadline of its own. */
  send(message: Message): Promise<SendOutcome>;
  /** Closes the channel; current and later messages are not delivered. */
  close(): Promise<void>;
}

export type OutboxOptions = {
  /** Clock of real time, even if the bot's clock is accelerated. */
  readonly clock: Clock;
  readonly log: Log;
  readonly channel: AlertChannel;
  /** Title of every message, with the name of the bot. */
  readonly title: () => string;
  /** Prefix of every message id, unique to this outbox. */
  readonly idPrefix: string;
  readonly messagesPer10Min: number;
  readonly modes: Readonly<Record<AlertEvent, AlertMode>>;
};

export const WINDOW_MS = 600_000;
/** Time within which events are grouped, in ms. */
const GROUP_MS = 200;
/**
 * Minimum pause between messages, in ms. With grouping and checks every half second, a cause is reported within five
 * seconds.
 */
export const GAP_MS = 2_000;
/**
 * Maximum number of lines about one event per `WINDOW_MS`, enough for start, end and restart. Further changes wait and
 * are reported as one state.
 */
export const LINES_MAX = 3;
const BACKOFF_MS = { first: 1_000, most: 30_000 };
/** Time after which an undelivered message is abandoned, in ms. */
const GIVE_UP_MS = 3_600_000;
const CLOSE_MS = 4_000;

type Known = {
  readonly event: AlertEvent;
  /** Symbol of the book; absent for an event of the account. */
  readonly book?: string;
  isOn: boolean;
  /** Whether the start of the event was reported and its end was not reported yet. */
  isTold: boolean;
  /** Whether an occurrence since the last report was loud. */
  isLoud: boolean;
  /** Whether any occurrence of this event since its start was loud. */
  wasLoud: boolean;
  text: string;
  at: Millis;
  /** Number of occurrences since the last report. */
  untold: number;
  pendingSince: Millis;
  /** Start of a lasting event, by the monotonic clock in ms. */
  beganAt: Millis;
  /** End of a lasting event, by the monotonic clock in ms. */
  endedAt: Millis;
  readonly toldAt: Millis[];
};

/** Counts of one event since the last call of `takeCounts`. */
export type Count = { happened: number; dropped: number };

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #known = new Map<string, Known>();
  readonly #sentAt: Millis[] = [];
  #counts = new Map<AlertEvent, Count>();
  #timer: Timer | null = null;
  #underWay: Promise<void> | null = null;
  #messages = 0;
  #closing = false;
  #stopWaiting: () => void = () => undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /**
   * Reports an event that happens once, or the start of a lasting event. `isQuiet`: without sound even if the event is
   * loud. A repeated text of a lasting event is reported only if the event becomes loud. `book`: the event is that of one
   * of several books, and independent of the same event of another book.
   */
  raise(event: AlertEvent, text: string, isQuiet = false, book?: string): void {
    const { clock, modes } = this.#options;
    const known = this.#of(event, book);
    const isMoment = alertKind(event).isMoment === true;
    const isLoud = modes[event] === 'on' && !isQuiet;
    const isKnown = !isMoment && known.isOn && known.text === text;
    if (isKnown && (!isLoud || known.wasLoud)) return;
    if (!isKnown) this.#count(event).happened++;
    if (!this.#isPending(known)) known.pendingSince = clock.elapsed();
    if (!known.isOn) known.beganAt = clock.elapsed();
    known.wasLoud = isLoud || (known.isOn && known.wasLoud);
    known.isOn = !isMoment;
    known.text = text;
    if (modes[event] === 'off') return;
    known.isLoud ||= isLoud;
    known.at = clock.now();
    if (!isKnown) known.untold++;
    this.#pump();
  }

  /** Reports the end of a lasting event. */
  end(event: AlertEvent, book?: string): void {
    const { clock } = this.#options;
    const known = this.#known.get(alertKey(event, book));
    if (!known?.isOn) return;
    if (!this.#isPending(known)) known.pendingSince = clock.elapsed();
    known.isOn = false;
    known.endedAt = clock.elapsed();
    known.at = clock.now();
    this.#pump();
  }

  /** Returns the counts of events since the previous call, and resets them. */
  takeCounts(): ReadonlyMap<AlertEvent, Readonly<Count>> {
    const counts = this.#counts;
    this.#counts = new Map();
    return counts;
  }

  /** Sends pending alerts as one message and waits for a bounded time. Logs undelivered alerts. */
  async close(): Promise<void> {
    const { clock, channel } = this.#options;
    this.#closing = true;
    this.#timer?.stop();
    let deadline: Timer | null = null;
    const late = new Promise<void>(resolve => (deadline = clock.after(CLOSE_MS, resolve)));
    const last = (async () => {
      // A message that waits for a retry is retried now.
      this.#stopWaiting();
      await this.#underWay;
      if (this.#pending().length > 0) this.#send(this.#pending());
      await this.#underWay;
    })();
    await Promise.race([last, late]);
    (deadline as Timer | null)?.stop();
    await channel.close();
    // A message that is still undelivered fails because the channel is closed, and is logged.
    await last;
  }

  #of(event: AlertEvent, book?: string): Known {
    const key = alertKey(event, book);
    let known = this.#known.get(key);
    if (!known) {
      known = {
        event,
        ...(book === undefined ? {} : { book }),
        isOn: false,
        isTold: false,
        ...{ isLoud: false, wasLoud: false },
        ...{ text: '', at: 0, untold: 0, pendingSince: 0, beganAt: 0, endedAt: 0 },
        toldAt: [],
      };
      this.#known.set(key, known);
    }
    return known;
  }

  #count(event: AlertEvent): Count {
    const count = this.#counts.get(event) ?? { happened: 0, dropped: 0 };
    this.#counts.set(event, count);
    return count;
  }

  /** Returns pending events in the order of the event table, most severe first. */
  #pending(): readonly Known[] {
    const pending = [...this.#known.values()].filter(known => this.#isPending(known));
    return pending.toSorted((a, b) => ALERT_EVENT_NAMES.indexOf(a.event) - ALERT_EVENT_NAMES.indexOf(b.event));
  }

  #isPending({ untold, isLoud, isTold, isOn }: Known): boolean {
    return untold > 0 || isLoud || (isTold && !isOn);
  }

  /** Sends a message if one is due, or schedules the next attempt. */
  #pump(): void {
    if (this.#underWay !== null || this.#closing) return;
    this.#timer?.stop();
    this.#timer = null;
    const pending = this.#pending();
    if (pending.length === 0) return;
    const { clock } = this.#options;
    const now = clock.elapsed();
    const at = Math.max(
      Math.min(...pending.map(known => this.#mayAt(known))),
      (this.#sentAt.at(-1) ?? -Infinity) + GAP_MS,
    );
    if (at > now) this.#timer = clock.after(at - now, () => this.#pump());
    else this.#send(pending.filter(known => this.#lineAt(known) <= now));
  }

  /** Returns the earliest time at which this event may cause a message. */
  #mayAt(known: Known): Millis {
    const { messagesPer10Min } = this.#options;
    const allowed =
      alertKind(known.event).isCritical === true
        ? messagesPer10Min
        : messagesPer10Min - Math.ceil(messagesPer10Min / 3);
    const slot = (this.#sentAt.at(-allowed) ?? -Infinity) + WINDOW_MS;
    return Math.max(slot, this.#lineAt(known), known.pendingSince + GROUP_MS);
  }

  /** Returns the earliest time at which another line about this event may be sent. */
  #lineAt(known: Known): Millis {
    return (known.toldAt.at(-LINES_MAX) ?? -Infinity) + WINDOW_MS;
  }

  #send(events: readonly Known[]): void {
    const { clock, idPrefix, title } = this.#options;
    const now = clock.elapsed();
    const isSilent = !events.some(({ isLoud }) => isLoud);
    const entries = events.map(known => this.#take(known, now));
    this.#sentAt.push(now);
    if (this.#sentAt.length > this.#options.messagesPer10Min) this.#sentAt.shift();
    const message: Message = {
      id: `${idPrefix}-${++this.#messages}`,
      at: clock.now(),
      title: title(),
      isSilent,
      entries,
    };
    this.#underWay = this.#deliver(message).then(() => {
      this.#underWay = null;
      this.#pump();
    });
  }

  #take(known: Known, now: Millis): Entry {
    const { event, book, isOn, at, beganAt, endedAt, untold: times } = known;
    const isMoment = alertKind(event).isMoment === true;
    // The text includes the duration only if the event did not occur again since its last report.
    const forMs = isOn ? now - beganAt : endedAt - beganAt;
    const text = isMoment || times > 0 ? known.text : `${known.text}, for ${ageText(forMs)}`;
    known.untold = 0;
    known.isTold = isOn;
    known.isLoud = false;
    known.toldAt.push(now);
    if (known.toldAt.length > LINES_MAX) known.toldAt.shift();
    const state = isMoment ? 'once' : isOn ? 'begins' : 'over';
    return { event, ...(book === undefined ? {} : { book }), state, text, at, times };
  }

  async #deliver(message: Message): Promise<void> {
    const { channel, clock, log } = this.#options;
    const began = clock.elapsed();
    for (let waitMs = BACKOFF_MS.first, tries = 1; ; tries++) {
      const delivery = await channel.send(message);
      const ms = Math.round(clock.elapsed() - began);
      if (delivery.kind === 'delivered') {
        if (tries > 1) log.warn({ id: message.id, ms }, `alerts: ${channel.name} accepts messages again`);
        return;
      }
      const { why } = delivery;
      if (delivery.kind === 'refused' || ms >= GIVE_UP_MS || this.#closing) return this.#drop(message, why);
      if (tries === 1)
        log.warn({ id: message.id, why }, `alerts: delivery to ${channel.name} failed: ${why}; retrying`);
      await this.#wait(Math.max(waitMs, delivery.afterMs ?? 0));
      waitMs = Math.min(2 * waitMs, BACKOFF_MS.most);
    }
  }

  #wait(ms: Millis): Promise<void> {
    return new Promise(resolve => {
      const timer = this.#options.clock.after(ms, resolve);
      this.#stopWaiting = () => {
        timer.stop();
        resolve();
      };
    });
  }

  /** Drops a message; its texts are logged and its events counted. */
  #drop({ id, entries }: Message, why: string): void {
    const { channel, log } = this.#options;
    for (const { event, times } of entries) if (event !== 'test') this.#count(event).dropped += times;
    const lost = entries.map(({ event, book, times, text }) => ({ event, ...(book && { book }), times, text }));
    const events = entries.map(({ event }) => event).join(', ');
    log.error({ id, why, lost }, `alerts: delivery to ${channel.name} failed: ${why}; lost alerts: ${events}`);
  }
}

/** Returns a rounded duration, such as 40 s, 12 min or 5 h. */
function ageText(ms: Millis): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 120
    ? `${seconds} s`
    : seconds < 7_200
      ? `${Math.round(seconds / 60)} min`
      : `${Math.round(seconds / 3_600)} h`;
}

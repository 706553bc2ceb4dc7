/**
 * What is still to be told on one channel, and when: grouped, each event a few times in ten minutes, few messages, and nothing forgotten.
 *
 * There is no queue: one record for each event holds what was last said of it and how often it has happened since, so that a flood takes no
 * room. One message is under way at a time. What does not arrive is sent again, later each time; what is given up is logged and counted.
 */
import type { Clock, Millis, Timer } from '../core/index.ts';
import { EVENTS_TOLD, alertKind } from '../config.ts';
import type { AlertEvent, AlertMode } from '../config.ts';
import type { Log } from '../live/log.ts';
import type { Entry, Message } from './message.ts';

/** What became of one try. `later`: not delivered, and may be; `afterMs` as the receiver asks for. */
export type SendOutcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'later'; readonly why: string; readonly afterMs?: Millis }
  | { readonly kind: 'refused'; readonly why: string };

/** A way to a person. */
export interface AlertChannel {
  /** For people; shows no secret. */
  readonly name: string;
  /** Never rejects, and takes no longer than it allows itself. */
  send(message: Message): Promise<SendOutcome>;
  /** What is under way, and what comes after, is not delivered. */
  close(): Promise<void>;
}

export type OutboxOptions = {
  /** Real time: a person does not live faster than that. */
  readonly clock: Clock;
  readonly log: Log;
  readonly channel: AlertChannel;
  /** Begins every message: which bot. */
  readonly title: string;
  /** Begins the id of every message; no other outbox has the same. */
  readonly idPrefix: string;
  readonly messagesPer10Min: number;
  readonly modes: Readonly<Record<AlertEvent, AlertMode>>;
};

export const WINDOW_MS = 600_000;
/** What happens at once goes together. */
const GROUP_MS = 200;
/** Between two messages: with what is grouped, and a look each half second, a cause is told within five. */
export const GAP_MS = 2_000;
/** Of one event in `WINDOW_MS`: it began, it ended, it began again; then as it stands. */
export const LINES_MAX = 3;
const BACKOFF_MS = { first: 1_000, most: 30_000 };
/** A message that does not arrive for so long is given up. */
const GIVE_UP_MS = 3_600_000;
const CLOSE_MS = 4_000;

type Known = {
  isOn: boolean;
  /** Its beginning was told, and its end was not. */
  isTold: boolean;
  /** Loud since it was last told; since it began. */
  isLoud: boolean;
  wasLoud: boolean;
  text: string;
  at: Millis;
  /** How often it has happened since it was last told. */
  untold: number;
  pendingSince: Millis;
  /** When what lasts began, and ended; by the steady clock. */
  beganAt: Millis;
  endedAt: Millis;
  readonly toldAt: Millis[];
};

/** Of one event, since counts were last taken. */
export type Count = { happened: number; dropped: number };

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #known = new Map<AlertEvent, Known>();
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
   * Happens now, or begins. `isQuiet`: silent, even where the event is loud. The same text of what lasts already is nothing new, but that it is
   * loud now may be.
   */
  raise(event: AlertEvent, text: string, isQuiet = false): void {
    const { clock, modes } = this.#options;
    const known = this.#of(event);
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

  /** What lasted is over. */
  end(event: AlertEvent): void {
    const { clock } = this.#options;
    const known = this.#known.get(event);
    if (!known?.isOn) return;
    if (!this.#isPending(known)) known.pendingSince = clock.elapsed();
    known.isOn = false;
    known.endedAt = clock.elapsed();
    known.at = clock.now();
    this.#pump();
  }

  /** Counts since they were last taken. */
  takeCounts(): ReadonlyMap<AlertEvent, Readonly<Count>> {
    const counts = this.#counts;
    this.#counts = new Map();
    return counts;
  }

  /** Sends what is left, as one message, and waits for it as long as a stop may be held up. Says what did not arrive. */
  async close(): Promise<void> {
    const { clock, channel } = this.#options;
    this.#closing = true;
    this.#timer?.stop();
    let deadline: Timer | null = null;
    const late = new Promise<void>(resolve => (deadline = clock.after(CLOSE_MS, resolve)));
    const last = (async () => {
      // A message that waits for its next try is given it now.
      this.#stopWaiting();
      await this.#underWay;
      if (this.#pending().length > 0) this.#send(this.#pending());
      await this.#underWay;
    })();
    await Promise.race([last, late]);
    (deadline as Timer | null)?.stop();
    await channel.close();
    // What was under way or had not gone fails now, and is told in the log.
    await last;
  }

  #of(event: AlertEvent): Known {
    let known = this.#known.get(event);
    if (!known) {
      known = {
        isOn: false,
        isTold: false,
        ...{ isLoud: false, wasLoud: false },
        ...{ text: '', at: 0, untold: 0, pendingSince: 0, beganAt: 0, endedAt: 0 },
        toldAt: [],
      };
      this.#known.set(event, known);
    }
    return known;
  }

  #count(event: AlertEvent): Count {
    const count = this.#counts.get(event) ?? { happened: 0, dropped: 0 };
    this.#counts.set(event, count);
    return count;
  }

  /** The hardest first: the order of their table. */
  #pending(): readonly AlertEvent[] {
    return EVENTS_TOLD.filter(event => {
      const known = this.#known.get(event);
      return known !== undefined && this.#isPending(known);
    });
  }

  #isPending({ untold, isLoud, isTold, isOn }: Known): boolean {
    return untold > 0 || isLoud || (isTold && !isOn);
  }

  /** Sends what may be sent, or comes back when it may. */
  #pump(): void {
    if (this.#underWay !== null || this.#closing) return;
    this.#timer?.stop();
    this.#timer = null;
    const pending = this.#pending();
    if (pending.length === 0) return;
    const { clock } = this.#options;
    const now = clock.elapsed();
    const at = Math.max(
      Math.min(...pending.map(event => this.#mayAt(event))),
      (this.#sentAt.at(-1) ?? -Infinity) + GAP_MS,
    );
    if (at > now) this.#timer = clock.after(at - now, () => this.#pump());
    else this.#send(pending.filter(event => this.#lineAt(event) <= now));
  }

  /** When this event may be the reason for a message. */
  #mayAt(event: AlertEvent): Millis {
    const { messagesPer10Min } = this.#options;
    const allowed =
      alertKind(event).isCritical === true ? messagesPer10Min : messagesPer10Min - Math.ceil(messagesPer10Min / 3);
    const slot = (this.#sentAt.at(-allowed) ?? -Infinity) + WINDOW_MS;
    return Math.max(slot, this.#lineAt(event), this.#of(event).pendingSince + GROUP_MS);
  }

  /** When it may have a line in a message. */
  #lineAt(event: AlertEvent): Millis {
    return (this.#of(event).toldAt.at(-LINES_MAX) ?? -Infinity) + WINDOW_MS;
  }

  #send(events: readonly AlertEvent[]): void {
    const { clock, idPrefix, title } = this.#options;
    const now = clock.elapsed();
    const isSilent = !events.some(event => this.#of(event).isLoud);
    const entries = events.map(event => this.#take(event, now));
    this.#sentAt.push(now);
    if (this.#sentAt.length > this.#options.messagesPer10Min) this.#sentAt.shift();
    const message: Message = { id: `${idPrefix}-${++this.#messages}`, at: clock.now(), title, isSilent, entries };
    this.#underWay = this.#deliver(message).then(() => {
      this.#underWay = null;
      this.#pump();
    });
  }

  #take(event: AlertEvent, now: Millis): Entry {
    const known = this.#of(event);
    const { isOn, at, beganAt, endedAt, untold: times } = known;
    const isMoment = alertKind(event).isMoment === true;
    // Of what was told before, how long it has lasted is the news.
    const forMs = isOn ? now - beganAt : endedAt - beganAt;
    const text = isMoment || times > 0 ? known.text : `${known.text}, for ${durationText(forMs)}`;
    known.untold = 0;
    known.isTold = isOn;
    known.isLoud = false;
    known.toldAt.push(now);
    if (known.toldAt.length > LINES_MAX) known.toldAt.shift();
    return { event, state: isMoment ? 'once' : isOn ? 'begins' : 'over', text, at, times };
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

  /** Its texts stay in the log, and its events in the counts. */
  #drop({ id, entries }: Message, why: string): void {
    const { channel, log } = this.#options;
    for (const { event, times } of entries) if (event !== 'test') this.#count(event).dropped += times;
    const lost = entries.map(({ event, times, text }) => ({ event, times, text }));
    const events = entries.map(({ event }) => event).join(', ');
    log.error({ id, why, lost }, `alerts: ${events} not delivered to ${channel.name}: ${why}`);
  }
}

/** As a person would say it: 40 s, 12 min, 5 h. */
function durationText(ms: Millis): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 120
    ? `${seconds} s`
    : seconds < 7_200
      ? `${Math.round(seconds / 60)} min`
      : `${Math.round(seconds / 3_600)} h`;
}

/**
 * Alerts of one process: the bot is checked twice per second, and alerts go to every channel. Inactive without `alerts`
 * in the YAML.
 */
import { randomBytes } from 'node:crypto';
import { ALERT_EVENT_NAMES, type AlertEvent, type Config } from '../config.ts';
import { DAY_MS, counted, textOfError, type Clock, type Millis, type Timer } from '../core/index.ts';
import type { Log } from '../live/log.ts';
import { UsageError } from '../wiring/usageError.ts';
import { alertSecrets, channelsOf } from './channels.ts';
import { Conditions, type Look } from './conditions.ts';
import { Outbox, type AlertChannel, type Count } from './outbox.ts';

export type AlertsOptions = {
  readonly config: Pick<Config, 'alerts' | 'book' | 'books' | 'instance'>;
  /** Clock of real time, even if the bot's clock is accelerated. */
  readonly clock: Clock;
  readonly log: Log;
  /** Texts that no message may show: the API key and its secret. */
  readonly hidden: readonly string[];
  readonly isPaper?: boolean;
};

/**
 * Duration above which a request is slow, in ms. An alert condition uses the share of slow requests over five minutes.
 */
const SLOW_REQUEST_MS = 2_000;
/**
 * Duration above which a decision is slow, in ms. An alert condition uses the share of slow decisions over five
 * minutes.
 */
const SLOW_DECISION_MS = 50;
const LOOK_EVERY_MS = 500;

/**
 * Starts the alerts; returns `null` if no channel is configured.
 * @throws UsageError if a secret is missing.
 */
export function startAlerts(options: AlertsOptions): Alerts | null {
  const { alerts } = options.config;
  return alerts ? new Alerts(options, channelsOf(alerts, alertSecrets(alerts), options.hidden)) : null;
}

/** Text of the daily digest. `book` is absent if the bot has only one. */
export type DayText = { readonly book?: string; readonly text: string };

export class Alerts {
  readonly #options: AlertsOptions;
  readonly #outboxes: readonly Outbox[];
  readonly #conditions = new Conditions();
  readonly #requests = { all: 0, failed: 0, slow: 0 };
  readonly #decisions = { all: 0, slow: 0 };
  #timer: Timer | null = null;
  #digestFrom: Millis;
  #closed = false;
  /** Title of the messages. A reload can change the books that it names. */
  #title: string;

  constructor(options: AlertsOptions, channels: readonly AlertChannel[]) {
    this.#options = options;
    const { clock, log, config } = options;
    const { messagesPer10Min, events: modes } = config.alerts!;
    this.#digestFrom = clock.now();
    this.#title = titleOf(options, titledBooks(config));
    this.#outboxes = channels.map(
      channel =>
        new Outbox({
          ...{ clock, log, channel, title: () => this.#title, messagesPer10Min, modes },
          idPrefix: `puntas-${randomBytes(6).toString('hex')}`,
        }),
    );
  }

  /** Reports an event that happens once, or the start of a lasting event. `book`: the event is that of one of several. */
  raise(event: AlertEvent, text: string, isQuiet = false, book?: string): void {
    for (const outbox of this.#outboxes) outbox.raise(event, text, isQuiet, book);
  }

  /** Reports the end of a lasting event. */
  end(event: AlertEvent, book?: string): void {
    for (const outbox of this.#outboxes) outbox.end(event, book);
  }

  request(ms: Millis, isDone: boolean): void {
    this.#requests.all++;
    if (!isDone) this.#requests.failed++;
    if (ms > SLOW_REQUEST_MS) this.#requests.slow++;
  }

  decision(ms: Millis): void {
    this.#decisions.all++;
    if (ms > SLOW_DECISION_MS) this.#decisions.slow++;
  }

  /**
   * Starts the checks, which run twice per second, and the daily digest. `now` returns the state of each book, and
   * `dayTexts` the text of each for the digest.
   */
  watch(
    now: () => readonly Omit<Look, 'elapsed' | 'requests' | 'decisions'>[],
    dayTexts: () => readonly DayText[],
  ): void {
    const { clock, log, config } = this.#options;
    let nextDigest = nextAt(config.alerts!.digestAt, clock.now());
    const turn = () => {
      if (this.#closed) return;
      try {
        const counts = { requests: { ...this.#requests }, decisions: { ...this.#decisions } };
        const elapsed = clock.elapsed();
        const books = now();
        this.#title = titleOf(
          this.#options,
          books.map(({ symbol }) => symbol),
        );
        this.#conditions.look(
          books.map(book => ({ ...book, ...counts, elapsed })),
          this,
        );
        if (clock.now() >= nextDigest) {
          nextDigest = nextAt(config.alerts!.digestAt, clock.now());
          this.#digest(dayTexts());
        }
      } catch (error) {
        // A failed alert check must not affect the bot.
        log.error(
          { error: textOfError(error) },
          'alerts: the check of the alert conditions failed; retrying in 500 ms',
        );
      }
      this.#timer = clock.after(LOOK_EVERY_MS, turn);
    };
    turn();
  }

  /** Adds the stop summary `lastWord`, if given, and sends all pending alerts; waits at most four seconds. */
  async close(lastWord?: string): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#timer?.stop();
    for (const outbox of this.#outboxes) {
      const counts = countsText(outbox.takeCounts());
      if (lastWord !== undefined) outbox.raise('stopped', `${lastWord}; ${this.#since()}: ${counts}`);
    }
    await Promise.all(this.#outboxes.map(outbox => outbox.close()));
  }

  #digest(texts: readonly DayText[]): void {
    for (const outbox of this.#outboxes) {
      const counts = countsText(outbox.takeCounts());
      for (const { book, text } of texts)
        if (book === undefined) outbox.raise('digest', `${this.#since()}: ${text}; ${counts}`);
        else outbox.raise('digest', `${this.#since()}: ${text}`, false, book);
      if (texts.length > 1) outbox.raise('digest', `${this.#since()}: ${counts}`);
    }
    this.#digestFrom = this.#options.clock.now();
  }

  #since(): string {
    return `since ${new Date(this.#digestFrom).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  }
}

/**
 * Sends one message on every channel, independently of a running bot.
 * @throws UsageError if no channel is configured or a secret is missing.
 */
export async function testAlerts(
  config: Pick<Config, 'alerts' | 'book' | 'books' | 'instance'>,
  clock: Clock,
): Promise<readonly { readonly name: string; readonly arrived: boolean; readonly says: string }[]> {
  const { alerts } = config;
  if (!alerts)
    throw new UsageError('alerts: no channel is configured; add the section alerts to the YAML (docs/alerts.md)');
  const entry = {
    event: 'test',
    state: 'once',
    text: 'test message: alerts arrive here',
    at: clock.now(),
    times: 1,
  } as const;
  const id = `puntas-${randomBytes(6).toString('hex')}-1`;
  const message = {
    id,
    at: clock.now(),
    title: titleOf({ config }, titledBooks(config)),
    isSilent: false,
    entries: [entry],
  };
  return Promise.all(
    channelsOf(alerts, alertSecrets(alerts), []).map(async channel => {
      const began = clock.elapsed();
      const delivery = await channel.send(message);
      await channel.close();
      const ms = Math.round(clock.elapsed() - began);
      const arrived = delivery.kind === 'delivered';
      return { name: channel.name, arrived, says: arrived ? `delivered after ${ms} ms` : delivery.why };
    }),
  );
}

const titledBooks = ({ book, books }: AlertsOptions['config']): readonly string[] =>
  books?.map(({ symbol }) => symbol) ?? [book];

/** Returns the title that identifies the bot by its instance and its books. */
const titleOf = (
  { config, isPaper = false }: Pick<AlertsOptions, 'config' | 'isPaper'>,
  symbols: readonly string[],
): string =>
  `${isPaper ? 'paper: ' : ''}${config.instance} ${symbols.length === 1 ? symbols[0] : `(${counted(symbols.length, 'book')})`}`;

/** Returns a text with the number of occurrences of each event, and with the number of undelivered alerts. */
function countsText(counts: ReadonlyMap<AlertEvent, Readonly<Count>>): string {
  const words = ALERT_EVENT_NAMES.filter(event => counts.has(event) && event !== 'digest').map(event => {
    const { happened, dropped } = counts.get(event)!;
    return `${event} ${happened}${dropped > 0 ? ` (${dropped} not delivered)` : ''}`;
  });
  return words.length === 0 ? 'no alerts' : words.join(', ');
}

/** Returns the next time after `now` at which the time of day `time` (UTC) occurs, in epoch ms. */
export function nextAt(time: string, now: Millis): Millis {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  const today = Math.floor(now / DAY_MS) * DAY_MS + (hours * 60 + minutes) * 60_000;
  return today > now ? today : today + DAY_MS;
}

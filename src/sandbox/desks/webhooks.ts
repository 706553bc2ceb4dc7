/**
 * Webhooks: registrations for transactions, and deliveries that may be late, out of order, repeated or retried (rfq 4.7
 * and 6).
 */
import type { Clock, Millis, Random, Timer } from '../../core/index.ts';
import type { Account } from '../venue/accounts.ts';
import type { Transaction } from './transactions.ts';
import { transactionPayload } from './transactionPayload.ts';
import { WebhookKeys } from './webhookKeys.ts';
import type { Switches } from '../switches/switches.ts';
import type { Venue } from '../venue/venue.ts';

/** Transport of deliveries: sockets in the program, function calls in a simulation. */
export interface DeliveryPort {
  /** Resolves to the HTTP status of the response; rejects if there is no response. Follows no redirects. */
  post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<number>;
}

export type Registration = { readonly id: number; readonly callbackUrl: string; readonly account: Account };

/** Counts of deliveries by state, for observers of the exchange. */
export type Delivered = {
  waiting: number;
  answered: number;
  refused: number;
  givenUp: number;
  dropped: number;
  skipped: number;
};

type Delivery = {
  readonly registration: Registration;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether the delivery must arrive, because it reports a final status or a change of a refund. */
  readonly final: boolean;
  attempts: number;
  timer: Timer | null;
};

/** Maximum number of waiting deliveries, over all accounts. */
export const DELIVERIES_MAX = 10_000;
/** Maximum number of deliveries in progress; further due deliveries wait. */
export const UNDER_WAY_MAX = 64;

export class Webhooks {
  readonly keys: WebhookKeys;
  readonly counts: Delivered = { waiting: 0, answered: 0, refused: 0, givenUp: 0, dropped: 0, skipped: 0 };
  readonly #venue: Venue;
  readonly #random: Random;
  readonly #port: DeliveryPort | null;
  /** Registrations by account. An account has at most one registration, because there is only one kind of event. */
  readonly #registrations = new Map<string, Registration>();
  readonly #waiting = new Set<Delivery>();
  /** Due deliveries that wait until a delivery in progress ends. */
  readonly #due: Delivery[] = [];
  #underWay = 0;
  #nextId = 1;
  #closed = false;

  /** Creates the webhooks of a venue. Nothing is delivered if `port` is `null`. */
  constructor(venue: Venue, random: Random, port: DeliveryPort | null) {
    this.#venue = venue;
    this.#random = random;
    this.#port = port;
    this.keys = new WebhookKeys(venue.clock, random);
  }

  /** Registers a callback URL. Returns `null` if the account already has a registration. */
  register(account: Account, callbackUrl: string): Registration | null {
    if (this.#registrations.has(account.id)) return null;
    const registration = { id: this.#nextId++, callbackUrl, account };
    this.#registrations.set(account.id, registration);
    return registration;
  }

  registrations(): readonly Registration[] {
    return [...this.#registrations.values()];
  }

  /** Removes a registration with its waiting deliveries. Returns false if no registration has that id. */
  remove(id: number): boolean {
    const registration = this.registrations().find(each => each.id === id);
    if (!registration) return false;
    this.#registrations.delete(registration.account.id);
    for (const delivery of this.#waiting) if (delivery.registration === registration) this.#forget(delivery);
    return true;
  }

  /**
   * Queues deliveries of a transaction's current state. `must`: the state is a final status or a change of a refund.
   */
  publish(transaction: Transaction, must: boolean): void {
    const { switches } = this.#venue;
    const registration = this.#registrations.get(transaction.account.id);
    // Random numbers are drawn even without a registration, so that a registration does not change later random draws.
    const skipped = this.#random.integer(0, 9999) < switches.webhookSkipPips;
    const copies = this.#random.integer(0, 9999) < switches.webhookRepeatPips ? 2 : 1;
    const delays = Array.from({ length: copies }, () => this.#delay(switches));
    if (!registration || !this.#port || this.#closed) return;
    if (skipped && !must) {
      this.counts.skipped++;
      return;
    }
    const payload = JSON.stringify(transactionPayload(transaction, switches.webhookTimeForm));
    const headers = {
      'content-type': 'application/json',
      ...(switches.webhookSignature === 'rsa' ? this.keys.headers(payload) : {}),
    };
    const body = `{"event":"TRANSACTION","payload":${payload}}`;
    for (const delay of delays)
      this.#enqueue({ registration, headers, body, final: must, attempts: 0, timer: null }, delay);
  }

  close(): void {
    this.#closed = true;
    for (const delivery of this.#waiting) this.#forget(delivery);
  }

  #delay({ webhookDelayMinMs, webhookDelayMaxMs }: Switches): Millis {
    return this.#random.integer(webhookDelayMinMs, webhookDelayMaxMs);
  }

  #enqueue(delivery: Delivery, delay: Millis): void {
    if (this.#waiting.size >= DELIVERIES_MAX) {
      const victim = this.#lesser(delivery);
      this.counts.dropped++;
      if (!victim) return;
      this.#forget(victim);
    }
    this.#waiting.add(delivery);
    this.counts.waiting = this.#waiting.size;
    this.#schedule(delivery, delay);
  }

  /**
   * Returns the delivery to drop so that a new delivery can wait: the oldest waiting delivery that need not arrive. If
   * all waiting deliveries must arrive: the oldest if the new delivery must arrive too, otherwise `undefined`.
   */
  #lesser({ final }: Delivery): Delivery | undefined {
    for (const each of this.#waiting) if (!each.final) return each;
    return final ? this.#waiting.values().next().value : undefined;
  }

  #schedule(delivery: Delivery, delay: Millis): void {
    delivery.timer = this.#venue.clock.after(delay, () => {
      delivery.timer = null;
      this.#due.push(delivery);
      this.#next();
    });
  }

  #next(): void {
    while (this.#underWay < UNDER_WAY_MAX) {
      const delivery = this.#due.shift();
      if (!delivery) return;
      if (!this.#waiting.has(delivery)) continue;
      this.#underWay++;
      void this.#attempt(delivery);
    }
  }

  async #attempt(delivery: Delivery): Promise<void> {
    const { switches, clock } = this.#venue;
    delivery.attempts++;
    const { registration, headers, body } = delivery;
    // The URL is checked again, because the switch may have changed since the registration.
    const status = allowedUrl(registration.callbackUrl, switches)
      ? await answerWithin(clock, switches.webhookDeadlineMs, async () =>
          this.#port!.post(registration.callbackUrl, headers, body),
        )
      : 403;
    this.#underWay--;
    if (this.#waiting.has(delivery)) this.#conclude(delivery, status);
    this.#next();
  }

  #conclude(delivery: Delivery, status: number | null): void {
    const { switches } = this.#venue;
    if (status !== null && status >= 200 && status < 300) {
      this.counts.answered++;
      this.#forget(delivery);
    } else if (status !== null && status < 500 && switches.webhookRefused === 'final') {
      this.counts.refused++;
      this.#forget(delivery);
    } else if (delivery.attempts >= switches.webhookAttemptsMax) {
      this.counts.givenUp++;
      this.#forget(delivery);
    } else {
      const wait = switches.webhookBackOffMs * 2 ** (delivery.attempts - 1);
      this.#schedule(delivery, Math.min(wait, switches.webhookBackOffMaxMs));
    }
  }

  #forget(delivery: Delivery): void {
    delivery.timer?.stop();
    this.#waiting.delete(delivery);
    this.counts.waiting = this.#waiting.size;
  }
}

/** Returns the HTTP status of the response, or `null` if there is no response in time. */
function answerWithin(clock: Clock, ms: Millis, ask: () => Promise<number>): Promise<number | null> {
  return new Promise(resolve => {
    const timer = clock.after(ms, () => resolve(null));
    const end = (status: number | null) => {
      timer.stop();
      resolve(status);
    };
    ask().then(end, () => end(null));
  });
}

/** Whether the text is an http or https URL without credentials, on a host that the exchange may post to. */
export function allowedUrl(text: string, { webhookHosts }: Switches): boolean {
  if (text.length > 2048 || !URL.canParse(text)) return false;
  const { protocol, username, password, hostname } = new URL(text);
  if (!/^https?:$/.test(protocol) || username !== '' || password !== '') return false;
  return (
    webhookHosts === 'any' || hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
  );
}

/** Registers the callback URL to which the exchange delivers transaction events. */
import type { UnreadableRow } from '../../core/index.ts';
import { asked } from '../transport/ask.ts';
import type { Ask } from '../transport/ask.ts';
import * as wire from '../wire/wire.ts';

export type WebhookRegistration = { readonly id: string; readonly callbackUrl: string; readonly event: string };
/** What the exchange says of a registration, for a person, and what it has registered. */
export type WebhookRegistrations = { readonly message?: string; readonly webhooks: readonly WebhookRegistration[] };

export type WebhookEndpoints = ReturnType<typeof webhooks>;

/** Registering needs a key, reading the keys of deliveries none (rfq 4.7, public-facts 15). What is no http(s) URL is refused as `not-sent`. */
export function webhooks(ask: Ask) {
  return {
    /** The only kind of event is TRANSACTION. A second registration for it is refused, in words that name it. */
    registerWebhook: (callbackUrl: string) =>
      asked(ask, () => ({
        endpoint: 'POST webhooks',
        lane: 'place',
        door: 'webhooks',
        method: 'POST',
        path: '/v4/webhooks',
        body: { callback_url: callbackUrlPart(callbackUrl), events: ['TRANSACTION'] },
        effect: 'write',
        envelope: 'bare',
        wordsRefuse: true,
        read: registrations,
      })),
    /** The keys that deliveries are signed with, public (public-facts 15). */
    webhookKeys: () =>
      asked(ask, () => ({
        endpoint: 'GET webhook keys',
        lane: 'public read',
        door: 'webhooks',
        method: 'GET',
        path: '/v4/webhooks/public-key',
        effect: 'read',
        envelope: 'list',
        read: keys,
      })),
  };
}

/** One client has the names in camel case. `key` is Base64 of the DER SubjectPublicKeyInfo. */
const keys = (reply: unknown, unreadable?: UnreadableRow[]): readonly WebhookKey[] =>
  wire.rows(reply, webhookKey, unreadable);

type WebhookKey = { readonly id: string; readonly key: string };

function webhookKey(element: unknown): WebhookKey {
  const of = wire.row(element, 'key');
  const either = (snake: string, camel: string) => wire.filled(of, of[snake] === undefined ? camel : snake);
  return { id: either('key_id', 'keyId'), key: either('public_key', 'publicKey') };
}

function callbackUrlPart(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw wire.fault('callbackUrl', 'a public URL', text);
  return text;
}

/** The event's name is compared without case: the sample answer has it in lower case (public facts 17). */
function registrations(reply: unknown, unreadable?: UnreadableRow[]): WebhookRegistrations {
  const of = wire.row(reply);
  return {
    webhooks: wire.rows(of['webhooks'], registration, unreadable, 'webhooks'),
    ...wire.present({ message: wire.optional(of, 'message', wire.text) }),
  };
}

function registration(element: unknown): WebhookRegistration {
  const of = wire.row(element, 'webhooks');
  return {
    id: wire.identifier(of, 'id'),
    callbackUrl: wire.filled(of, 'callback_url'),
    event: wire.filled(of, 'event').toUpperCase(),
  };
}

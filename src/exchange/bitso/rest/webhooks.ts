/**
 * Webhook endpoints: register the callback URL for transaction events, and read the public keys that verify deliveries.
 */
import type { UnreadableRow } from '../../../core/index.ts';
import { buildAndSend } from '../../transport/requestSender.ts';
import type { BitsoAsk, BitsoRequest } from '../wire/protocol.ts';
import * as wire from '../../wire/wire.ts';

export type WebhookRegistration = { readonly id: string; readonly callbackUrl: string; readonly event: string };
/** Webhook registrations of the account, and the exchange's message for the operator. */
export type WebhookRegistrations = { readonly message?: string; readonly webhooks: readonly WebhookRegistration[] };

export type WebhookEndpoints = ReturnType<typeof webhooks>;

/**
 * Returns the webhook endpoints. Registration needs an API key; reading the delivery keys does not (rfq 4.7,
 * public-facts 15). A URL that is not http(s) is rejected as `not-sent`.
 */
export function webhooks(ask: BitsoAsk) {
  return {
    /**
     * Registers the callback URL for TRANSACTION, the only kind of event. The exchange rejects a second registration
     * with an error text but no code.
     */
    registerWebhook: (callbackUrl: string) =>
      buildAndSend(ask, (): BitsoRequest<WebhookRegistrations> => ({
        endpoint: 'POST webhooks',
        lane: 'place',
        api: 'webhooks',
        method: 'POST',
        path: '/v4/webhooks',
        body: { callback_url: callbackUrlPart(callbackUrl), events: ['TRANSACTION'] },
        effect: 'write',
        envelope: 'bare',
        wordsRefuse: true,
        read: registrations,
      })),
    /** Requests the public keys that verify the signatures of deliveries (public-facts 15). */
    webhookKeys: () =>
      buildAndSend(ask, (): BitsoRequest<readonly WebhookKey[]> => ({
        endpoint: 'GET webhook keys',
        lane: 'public read',
        api: 'webhooks',
        method: 'GET',
        path: '/v4/webhooks/public-key',
        effect: 'read',
        envelope: 'list',
        read: keys,
      })),
  };
}

/**
 * Reads the public keys; also accepts the camel-case field names that one client uses. `key` is Base64 of the DER
 * SubjectPublicKeyInfo.
 */
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

/**
 * Reads registrations. Converts the event's name to upper case, because the sample answer has lower case (public facts
 * 17).
 */
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

/** Webhook routes: registration of callback URLs, and the list of signing keys (rfq 4.7, public-facts 15). */
import type { WireReply } from '../../core/index.ts';
import { objectOf } from './parameters.ts';
import type { PrivateRequest, PublicRequest, Route } from './route.ts';
import type { Switches } from '../switches/switches.ts';
import { allowedUrl } from '../desks/webhooks.ts';
import { reply } from '../wire/wire.ts';

export const webhookRoutes: readonly Route[] = [
  { scope: 'private', method: 'POST', pattern: '/v4/webhooks', permission: 'account', handle: register },
  { scope: 'public', method: 'GET', pattern: '/v4/webhooks/public-key', handle: publicKeys },
];

const EVENT = 'TRANSACTION';

/**
 * Registers a webhook after these checks: a JSON object; callback_url on an allowed host; events is a list of
 * TRANSACTION; no registration yet.
 */
function register({ venue, account, body, webhooks }: PrivateRequest): WireReply {
  const { switches } = venue;
  const refuse = (error: string) => refusal(error, switches);
  const fields = objectOf(body);
  if (fields.kind === 'refused') return refuse('the body must be a JSON object');
  const { callback_url: url, events } = fields.value;
  if (typeof url !== 'string') return refuse('callback_url is required');
  if (!allowedUrl(url, { ...switches, webhookHosts: 'any' }))
    return refuse('callback_url must be an http or https URL without user and password, with at most 2048 characters');
  if (!allowedUrl(url, switches)) {
    return refuse('callback_url must be on this machine; this embedded exchange sends only to loopback addresses');
  }
  if (!Array.isArray(events) || events.length === 0) return refuse(`events is required: ["${EVENT}"]`);
  const unknown: unknown = events.find(event => event !== EVENT);
  if (unknown !== undefined) return refuse(`events may only contain ${EVENT}`);
  const registration = webhooks.register(account, url);
  if (!registration) return refuse(`duplicate subscription for event types: ${EVENT}`);
  const event = switches.webhookEventCase === 'upper' ? EVENT : EVENT.toLowerCase();
  return reply(
    200,
    JSON.stringify({
      message: 'Webhook registered',
      webhooks: [{ id: registration.id, callback_url: registration.callbackUrl, event }],
    }),
  );
}

function publicKeys({ webhooks }: PublicRequest): WireReply {
  return reply(200, JSON.stringify(webhooks.keys.list()));
}

const refusal = (error: string, { webhookRefusalStatus }: Switches): WireReply =>
  reply(Number(webhookRefusalStatus), JSON.stringify({ success: false, error }));

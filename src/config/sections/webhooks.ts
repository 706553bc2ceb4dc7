/** Keys of the webhook listener. */
import { z } from 'zod';
import { ELSEWHERE } from './takesEffect.ts';
import { address, addressRange, port } from './values.ts';

export const webhookKeys = z.strictObject({
  host: z
    .string()
    .regex(/^[A-Za-z0-9.:-]{1,253}$/, 'expected a host name or address, like 127.0.0.1')
    .default('127.0.0.1')
    .describe('Listen address; use a TLS proxy in front.'),
  port: port.describe('Port; 0 selects a free port.'),
  callbackUrl: address(/^https?:$/, 'https://bot.example.com')
    .optional()
    .meta(ELSEWHERE)
    .describe('Public address, for puntas webhooks register; the secret path is appended.'),
  sources: z
    .array(addressRange)
    .max(100)
    .default([])
    .describe('Allowed sender addresses and ranges, like 10.0.0.0/8. If empty, all.'),
  proxies: z.array(addressRange).max(20).default([]).describe('Proxies whose X-Forwarded-For is trusted.'),
  signature: z.enum(['off', 'required']).default('off').describe("Whether deliveries need the exchange's signature."),
  keep: z
    .int()
    .min(1_000)
    .max(10_000_000)
    .default(100_000)
    .describe('Maximum stored deliveries; the oldest are deleted.'),
  keepMb: z.number().min(2).max(10_000).default(64).describe('Maximum size of stored deliveries.'),
});

export type WebhookSettings = z.infer<typeof webhookKeys>;

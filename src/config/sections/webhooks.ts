/** Keys of the webhook listener. */
import { z } from 'zod';
import { ELSEWHERE } from './takesEffect.ts';
import { address, addressRange, HOST_NAME, port } from './values.ts';

export const webhookKeys = z.strictObject({
  host: z
    .string()
    .regex(HOST_NAME, 'expected a host name or address, like 127.0.0.1')
    .default('127.0.0.1')
    .describe('Listen address for webhook deliveries, behind a TLS proxy.'),
  port: port.describe('Listen port for webhook deliveries; 0 selects a free port.'),
  callbackUrl: address(/^https?:$/, 'https://bot.example.com')
    .optional()
    .meta(ELSEWHERE)
    .describe(
      'Public base URL of the webhook listener. The command puntas webhooks register adds the secret path and sends the URL to the exchange.',
    ),
  sources: z
    .array(addressRange)
    .max(100)
    .default([])
    .describe(
      'IP addresses and ranges that may send deliveries, like 10.0.0.0/8. If empty, any address may send deliveries.',
    ),
  proxies: z
    .array(addressRange)
    .max(20)
    .default([])
    .describe('IP addresses and ranges of proxies whose X-Forwarded-For header is trusted.'),
  signature: z
    .enum(['off', 'required'])
    .default('off')
    .describe('Whether a delivery must have a valid signature of the exchange.'),
  keep: z
    .int()
    .min(1_000)
    .max(10_000_000)
    .default(100_000)
    .describe('Maximum number of stored deliveries; older deliveries are deleted.'),
  keepMb: z.number().min(2).max(10_000).default(64).describe('Maximum total size of the stored deliveries, in MB.'),
});

export type WebhookSettings = z.infer<typeof webhookKeys>;

/** Keys of the metrics server. */
import { z } from 'zod';
import { HOST_NAME, port } from './values.ts';

export const metricsKeys = z.strictObject({
  host: z
    .string()
    .regex(HOST_NAME, 'expected a host name or address, like 127.0.0.1')
    .default('127.0.0.1')
    .describe('Listen address; 0.0.0.0 only in containers.'),
  port: port.default(9_464).describe('Port; 0 selects a free port.'),
  allowedHosts: z
    .array(z.string().regex(HOST_NAME, 'expected a host name, like bot.internal'))
    .max(20)
    .default([])
    .describe('Further accepted Host headers, without port.'),
});

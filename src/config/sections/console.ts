/** Keys of the console: its address, and the tokens for reading and acting. */
import { z } from 'zod';
import { ELSEWHERE } from './takesEffect.ts';
import { HOST_NAME, port } from './values.ts';

/**
 * Path of the file with a token. The patterns reject a token that is written in the YAML by mistake instead of a path.
 */
const tokenFile = z
  .string()
  .max(4_096)
  .regex(/^\.{0,2}\/|\.[A-Za-z]{1,10}$/, 'expected the path of a file that contains the token, like ./operator.token')
  .optional()
  .meta(ELSEWHERE);

/** Default address of the console. */
export const CONSOLE_DEFAULTS = { host: '127.0.0.1', port: 9_465 } as const;

export const consoleKeys = z
  .strictObject({
    besideRun: z.boolean().default(true).describe('Whether puntas run also starts the console.'),
    host: z
      .string()
      .regex(HOST_NAME, 'expected a host name or address, like 127.0.0.1')
      .default(CONSOLE_DEFAULTS.host)
      .meta(ELSEWHERE)
      .describe('Listen address.'),
    port: port.default(CONSOLE_DEFAULTS.port).meta(ELSEWHERE).describe('Port; 0 selects a free port.'),
    allowedHosts: z
      .array(z.string().regex(HOST_NAME, 'expected a host name, like desk.internal'))
      .max(20)
      .default([])
      .meta(ELSEWHERE)
      .describe('Further accepted Host headers, without port.'),
    operatorTokenFile: tokenFile.describe(
      'File (mode 0600) with the operator token, 32 characters or more. If omitted, the console is read-only.',
    ),
    viewerTokenFile: tokenFile.describe('File with the viewer token. If omitted, reading needs no token.'),
    behindTls: z
      .boolean()
      .default(false)
      .meta(ELSEWHERE)
      .describe('Whether a TLS proxy protects the port. If false, operators log in only from this machine.'),
  })
  .describe('Web console; even {} starts it with puntas run. If omitted, only puntas console starts it, read-only.');
export type ConsoleSettings = z.infer<typeof consoleKeys>;

/** Keys of the console: its address, and the tokens for reading and acting. */
import { z } from 'zod';
import { ELSEWHERE } from './takesEffect.ts';
import { port } from './values.ts';

const NAME = /^[A-Za-z0-9.:-]{1,253}$/;
/** Path of a token's file; a token written here by mistake matches neither pattern. */
const tokenFile = z
  .string()
  .max(4_096)
  .regex(
    /^\.{0,2}\/|\.[A-Za-z]{1,10}$/,
    'expected the path of a file, like ./operator.token; the token itself stands in that file',
  )
  .optional()
  .meta(ELSEWHERE);

/** Default address of the console. */
export const CONSOLE_DEFAULTS = { host: '127.0.0.1', port: 9_465 } as const;

export const consoleKeys = z
  .strictObject({
    besideRun: z
      .boolean()
      .default(true)
      .describe(
        'puntas run starts it as a process of its own, which has no key, and ends it with the run. With false it is started by puntas console alone.',
      ),
    host: z
      .string()
      .regex(NAME, 'expected a host name or address, like 127.0.0.1')
      .default(CONSOLE_DEFAULTS.host)
      .meta(ELSEWHERE)
      .describe('Address on which it listens.'),
    port: port.default(CONSOLE_DEFAULTS.port).meta(ELSEWHERE).describe('Port; 0 takes a free one.'),
    allowedHosts: z
      .array(z.string().regex(NAME, 'expected a host name, like desk.internal'))
      .max(20)
      .default([])
      .meta(ELSEWHERE)
      .describe('Names by which it may be asked besides localhost and its own address (Host header, without port).'),
    operatorTokenFile: tokenFile.describe(
      'File with the token of who may act: pause, resume, reduce, cancel, halt, reload. At least 32 characters, mode 0600. Left out: nobody acts through the console.',
    ),
    viewerTokenFile: tokenFile.describe(
      'File with the token of who may only read, likewise. Left out: whoever reaches the port reads.',
    ),
    behindTls: z
      .boolean()
      .default(false)
      .meta(ELSEWHERE)
      .describe(
        'A proxy with TLS is in front, and nobody reaches the port around it: one may log in and act from other machines. With false only from this one.',
      ),
  })
  .describe(
    'The page on which a person sees the bot, and acts. {} starts it beside a run. Left out: only puntas console shows it, and nobody acts through it.',
  );
export type ConsoleSettings = z.infer<typeof consoleKeys>;

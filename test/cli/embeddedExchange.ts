/** The embedded exchange as a process of its own, for tests whose bots and commands ask it over sockets. */
import { sharedPuntas, type Ended, type Program } from './program.ts';

export type EmbeddedExchange = {
  readonly program: Program;
  /** All keys of its first line. */
  readonly face: Readonly<Record<string, string>>;
  readonly url: string;
  readonly stream: string;
  /** Environment with the key of its funded account. */
  readonly keys: { readonly PUNTAS_API_KEY: string; readonly PUNTAS_API_SECRET: string };
  /** Asks its operator's interface. Rejects with the text of a refusal. */
  readonly operate: (method: string, path: string, body?: object) => Promise<unknown>;
  /** Ends it as an operator would. */
  readonly close: () => Promise<Ended>;
};

/**
 * Starts it with a configuration, for all tests of a file. Its request limits are off: the programs of a test share one
 * address, and ask within seconds what those of a person ask within minutes.
 */
export async function openExchange(config: string, ...flags: readonly string[]): Promise<EmbeddedExchange> {
  const port = flags.includes('--port') ? [] : ['--port', '0'];
  const program = sharedPuntas(['exchange', '-c', config, ...port, ...flags]);
  const face = JSON.parse((await program.sees(/\{"url".*\}/))[0]) as Readonly<Record<string, string>>;
  const operate = async (method: string, path: string, body?: object): Promise<unknown> => {
    // Calls are far apart: a connection that is kept may be closed just when it is used again.
    const headers = { authorization: `Bearer ${face['operatorToken']!}`, connection: 'close' };
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const reply = await fetch(`${face['operator']!}/${path}`, init);
    if (!reply.ok) throw new Error(await reply.text());
    return reply.json();
  };
  await operate('PATCH', 'switches', { rateLimits: 'off' });
  return {
    ...{ program, face, url: face['url']!, stream: face['stream']!, operate },
    keys: { PUNTAS_API_KEY: face['key']!, PUNTAS_API_SECRET: face['secret']! },
    close: () => {
      program.signal('SIGTERM');
      return program.ended;
    },
  };
}

/** A transport in process, and a client over it: replies are scripted, requests are kept. */
import { randomOf, VirtualClock, type Transport, type WireReply, type WireRequest } from '../../../src/core/index.ts';
import { exchangeClient, type ClientOptions } from '../../../src/exchange/bitso/client.ts';
import { Secret } from '../../../src/core/text/secret.ts';

export type Answer = (request: WireRequest) => WireReply | Promise<WireReply>;

export const json = (body: unknown, status = 200): WireReply => ({
  status,
  headers: {},
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

/** `payload` in the envelope of v3 and v4. */
export const ok = (payload: unknown): WireReply => json({ success: true, payload });

export class ScriptedTransport implements Transport {
  readonly requests: WireRequest[] = [];
  closed = false;
  answer: Answer;

  constructor(answer: Answer) {
    this.answer = answer;
  }

  async send(request: WireRequest): Promise<WireReply> {
    this.requests.push(request);
    return this.answer(request);
  }

  async close(): Promise<void> {
    this.closed = true;
  }
}

export const credentials = { key: 'the-key', secret: new Secret('the-secret') };

export function scriptedClient(answer: Answer = () => ok([]), options: Partial<ClientOptions> = {}) {
  const transport = new ScriptedTransport(answer);
  const clock = new VirtualClock();
  const client = exchangeClient({ transport, clock, random: randomOf(1), credentials, ...options });
  return { client, transport, clock };
}

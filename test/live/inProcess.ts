/** The wire to an exchange in the same process: latency drawn from a seed, and every way in which a request can go wrong. */
import {
  sleep,
  TransportFailure,
  type Clock,
  type Millis,
  type Random,
  type Transport,
  type WireReply,
  type WireRequest,
} from '../../src/core/index.ts';
import type { Respond } from '../../src/sandbox/index.ts';

/**
 * What becomes of one request. `not sent`: no byte leaves. `lost`: it never arrives. `unanswered`: it is carried out and the answer is lost.
 * `heldMs`: it arrives that much later, when nobody waits for it any more. `answeredMs`: its answer takes that much longer. `instead`: something else answers, and the exchange never sees it.
 */
export type Fate =
  | 'arrives'
  | 'not sent'
  | 'lost'
  | 'unanswered'
  | { readonly heldMs: Millis }
  | { readonly answeredMs: Millis }
  | { readonly instead: WireReply };

export type WireOptions = {
  readonly exchange: { readonly respond: Respond };
  readonly clock: Clock;
  readonly random: Random;
  /** Each way, uniform between the two. */
  readonly latencyMs?: readonly [number, number];
  readonly deadlineMs?: Millis;
  readonly fate?: (request: WireRequest) => Fate;
  /** Called at the moment at which the exchange sees a request, just before it answers. */
  readonly onArrival?: (request: WireRequest) => void;
};

export type Wire = Transport & {
  /** Requests whose callers wait: while it is above zero, time must pass for anything to go on. */
  readonly waiting: number;
};

const PEER = '127.0.0.1';

export function wireTo(options: WireOptions): Wire {
  const { exchange, clock, random, latencyMs = [2, 40], deadlineMs = 5_000 } = options;
  let waiting = 0;
  const latency = () => sleep(clock, latencyMs[0] + random.next() * (latencyMs[1] - latencyMs[0]));

  const arrive = (request: WireRequest): WireReply => {
    options.onArrival?.(request);
    return exchange.respond(request, PEER);
  };

  async function carry(request: WireRequest, fate: Fate, deadline: Promise<void>): Promise<WireReply> {
    if (fate === 'not sent') throw new TransportFailure('connection refused (by the test)', false);
    await latency();
    if (typeof fate === 'object' && 'instead' in fate) {
      await latency();
      return fate.instead;
    }
    if (typeof fate === 'object' && 'answeredMs' in fate) {
      const reply = arrive(request);
      await sleep(clock, fate.answeredMs);
      return reply;
    }
    if (typeof fate === 'object') clock.after(fate.heldMs, () => arrive(request));
    if (fate === 'arrives') {
      const reply = arrive(request);
      await latency();
      return reply;
    }
    if (fate === 'unanswered') arrive(request);
    await deadline;
    throw new TransportFailure(`no complete answer within ${deadlineMs} ms (by the test)`, true);
  }

  return {
    get waiting() {
      return waiting;
    },
    send: async request => {
      waiting++;
      try {
        return await carry(request, options.fate?.(request) ?? 'arrives', sleep(clock, deadlineMs));
      } finally {
        waiting--;
      }
    },
    close: () => Promise.resolve(),
  };
}

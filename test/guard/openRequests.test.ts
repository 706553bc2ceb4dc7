/** Clients that send requests for months: their memory does not grow, and a close ends what is open. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { JsonReceiver } from '../../src/alerts/receiver.ts';
import { ConsoleClient } from '../../src/fleet/consoleClient.ts';
import { OpenRequests } from '../../src/guard/openRequests.ts';
import { double, json } from '../fleet/doubles.ts';

const WARM = 2_000;
const WINDOWS = 4;
const WINDOW = 5_000;
/** Bytes for each request; a signal that stays in a list has more than 100. */
const KEPT_MAX = 25;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

async function heapAfter(count: number, ask: () => Promise<unknown>): Promise<number> {
  for (let i = 0; i < count; i++) await ask();
  for (let i = 0; i < 5; i++) {
    await new Promise(resolve => setTimeout(resolve, 20));
    collect();
  }
  return process.memoryUsage().heapUsed;
}

const CLIENTS: readonly [string, (url: string) => { ask: () => Promise<unknown>; close: () => Promise<void> }][] = [
  ['console', url => new ConsoleClient({ url, token: () => null, trust: { kind: 'system' } })],
  [
    'receiver of alerts',
    url => {
      const of = new JsonReceiver(text => text, 2_000);
      return { ask: () => of.post(url, {}, '{}'), close: () => of.close() };
    },
  ],
];

test.each(CLIENTS)(
  'after 20,000 requests to a %s, the client has no more memory than before',
  async (_, clientOf) => {
    const server = await double((request, reply) => {
      request.resume();
      json({})(request, reply);
      // The double's own list of requests must not count.
      server.asked.length = 0;
    });
    const client = clientOf(server.url);
    const ask = () => client.ask();
    let before = await heapAfter(WARM, ask);
    const kept: number[] = [];
    for (let i = 0; i < WINDOWS; i++) {
      const after = await heapAfter(WINDOW, ask);
      kept.push((after - before) / WINDOW);
      before = after;
    }
    await client.close();
    await server.close();
    // A leak grows in every window; code that is compiled and other tests of this process grow only in some.
    expect(Math.min(...kept), `bytes for each request, window by window: ${kept.join(', ')}`).toBeLessThan(KEPT_MAX);
  },
  300_000,
);

test('a deadline aborts its own request, and a close aborts all open and later ones', async () => {
  const requests = new OpenRequests();
  const [short, long] = [requests.start(5), requests.start(60_000)];
  await new Promise(resolve => setTimeout(resolve, 30));
  expect((short.signal.reason as Error).name).toBe('TimeoutError');
  expect(long.signal.aborted).toBe(false);
  requests.close();
  expect([long.signal.aborted, requests.start(60_000).signal.aborted]).toEqual([true, true]);
});

test('a deadline aborts its request though memory is collected before it, and so does the signal of a caller', async () => {
  const requests = new OpenRequests();
  const caller = new AbortController();
  // Only the signals are held, as a request that waits for its answer holds its own.
  const signals = Array.from({ length: 50 }, () => requests.start(150).signal);
  const called = Array.from({ length: 50 }, () => requests.start(60_000, caller.signal).signal);
  for (let i = 0; i < 5; i++) {
    collect();
    await new Promise(resolve => setTimeout(resolve, 10));
  }
  caller.abort(new Error('no longer wanted'));
  expect(called.map(({ reason }) => (reason as Error).message)).toEqual(called.map(() => 'no longer wanted'));
  await expect.poll(() => signals.every(({ aborted }) => aborted)).toBe(true);
  expect(new Set(signals.map(({ reason }) => (reason as Error).name))).toEqual(new Set(['TimeoutError']));
});

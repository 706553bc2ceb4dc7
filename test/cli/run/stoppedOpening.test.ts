/** A stop while the first run still reads the history of a strategy file: the read ends, and the process too. */
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { changedOwn } from '../../strategies/ownFile.ts';
import { Bench, endPrograms, puntas } from '../program.ts';
import { strategyFileBot } from './strategyFileBot.ts';

const bench = new Bench();
const ends: (() => void)[] = [];
afterAll(async () => {
  await endPrograms();
  for (const end of ends) end();
  bench.clear();
});

test('SIGTERM during the read of a history ends the bot at once, without an order', async () => {
  let isHeld = true;
  let isHeldOpen = false;
  /** Whether the start went on while the read had no answer; `null` until it sends its next request. */
  let wentOn: boolean | null = null;
  let holds: () => void = () => undefined;
  const held = new Promise<void>(resolve => (holds = resolve));
  /** Passes on each request but those of public trades, which have no answer until the signal. */
  const keysFor = async (url: string): Promise<object> => {
    const server = createServer((asked: IncomingMessage, answer: ServerResponse) => {
      if (isHeld && asked.url!.includes('/trades')) {
        isHeldOpen = true;
        answer.on('close', () => (isHeldOpen = false));
        return holds();
      }
      if (!isHeld) wentOn ??= isHeldOpen;
      const { method, headers } = asked;
      const passed = request(new URL(asked.url!, url), { method, headers }, from => {
        answer.writeHead(from.statusCode!, from.headers);
        from.pipe(answer);
      });
      passed.on('error', () => answer.destroy());
      asked.pipe(passed);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ends.push(() => {
      server.closeAllConnections();
      server.close();
    });
    // Without the stop, the read lasts until this timeout.
    return { restUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requestTimeoutMs: 20_000 };
  };
  const code = changedOwn('contract: 1', 'contract: 1, history: () => 600_000');
  const { access, config } = await strategyFileBot(bench, code, {}, keysFor);
  const bot = puntas(['run', '-c', config], access);
  await held;
  isHeld = false;
  bot.signal('SIGTERM');
  const { code: exit, stderr } = await bot.ended;
  expect(wentOn).toBe(true);
  expect(stderr).not.toMatch(/second SIGTERM|"msg":"quoting"/);
  expect(stderr).toMatch(/stopping \(SIGTERM\): canceling all orders/);
  expect(exit, stderr).toBe(0);
});

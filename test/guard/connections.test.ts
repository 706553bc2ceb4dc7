/** Whoever holds the connections of a server, in whatever way: probes are answered, and operators get in. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { Connections } from '../../src/guard/index.ts';
import { holding } from './holding.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function listening(keepsBusy: boolean, all = 8) {
  const server = createServer();
  const connections = new Connections(server, {
    anonymous: { all, keepsBusy },
    operator: { all: 2 },
  });
  const held: (() => void)[] = [];
  server.on('request', (request, answer) => {
    if (request.headers.authorization === 'operator') connections.setRole(request.socket, 'operator');
    if (request.url === '/hold') held.push(() => answer.end());
    else answer.end('ok');
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => new Promise(resolve => (server.close(resolve), server.closeAllConnections())));
  const { port } = server.address() as AddressInfo;
  const caller = (address?: string) => {
    const made = holding(() => port, address);
    ends.push(() => made.end());
    return made;
  };
  const arrived = async (count: number): Promise<void> => {
    while (held.length < count) await new Promise(resolve => setImmediate(resolve));
  };
  return { caller, held, arrived, connections };
}

describe('connections', () => {
  test.each([64, 200, 400])(
    'that say nothing, %d of them, keep nobody out: the longest silent make room',
    async idle => {
      const { caller, connections } = await listening(true);
      const flood = caller();
      for (let n = 0; n < idle; n++) await flood.idle();
      for (let n = 0; n < 5; n++) {
        expect(await caller().ask('/')).toBe('HTTP/1.1 200 OK');
        for (let more = 0; more < 20; more++) await flood.idle();
      }
      expect(connections.count('anonymous')).toBeLessThanOrEqual(8);
    },
  );

  test('on which a request is under way are not closed for others where they keep their place', async () => {
    const { caller, held, arrived } = await listening(true);
    const underWay = caller().ask('/hold');
    await arrived(1);
    const flood = caller();
    for (let n = 0; n < 50; n++) await flood.idle();
    held[0]!();
    expect(await underWay).toBe('HTTP/1.1 200 OK');
  });

  test('on which nothing but unfinished requests are make room too where they do not keep their place', async () => {
    const { caller, arrived } = await listening(false);
    const flood = caller();
    for (let n = 0; n < 8; n++) void flood.ask('/hold');
    await arrived(8);
    expect(await caller().ask('/')).toBe('HTTP/1.1 200 OK');
  });

  test('of an operator are not closed for anybody else, and he has a pool of his own', async () => {
    const { caller, held, arrived, connections } = await listening(false);
    const operator = caller().ask('/hold', 'Authorization: operator\r\n');
    await arrived(1);
    expect([connections.count('operator'), connections.count('anonymous')]).toEqual([1, 0]);
    const flood = caller();
    for (let n = 0; n < 20; n++) void flood.ask('/hold');
    for (let n = 0; n < 100; n++) await flood.idle();
    held[0]!();
    expect(await operator).toBe('HTTP/1.1 200 OK');
  });
});

/** The guarded server closes what is over its times itself, whatever the client does with its half of the connection. */
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { GuardedServer } from '../../src/guard/index.ts';

const unused = { portInUse: '', forbidden: '', addressNotLocal: '' };

test.each([
  ['headers that never end', 'POST / HTTP/1.1\r\nhost: x\r\n'],
  ['a body that never ends', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{'],
  ['no HTTP', 'hello\r\n\r\n'],
])('a client with %s that reads nothing and keeps writing is closed', async (_, text) => {
  const server = new GuardedServer({
    ...{ what: 'test', host: '127.0.0.1', port: 0, remedies: unused, allowedHosts: null, headers: {}, posted: null },
    ...{ connections: { anonymous: { all: 8 } }, bodyMax: 2_000 },
    ...{ headersWithinMs: 100, requestWithinMs: 200, idleMax: 200 },
  });
  server.routes.post('/', () => 'ok');
  await server.listen();
  // It never reads, so it never learns that the server has ended its half.
  const socket = connect({ port: Number(new URL(server.url).port), host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined).pause();
  try {
    await new Promise<void>(resolve => socket.write(text, () => resolve()));
    while (server.connections.count('anonymous') === 0) await new Promise(resolve => setImmediate(resolve));
    const writing = setInterval(() => void socket.write('a'), 20);
    await expect.poll(() => server.connections.count('anonymous')).toBe(0);
    clearInterval(writing);
  } finally {
    socket.destroy();
    await server.close();
  }
});

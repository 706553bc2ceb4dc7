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

test.each([
  ['that is opened in advance and sends nothing', '', '408 Request Timeout'],
  ['whose headers do not end', 'GET / HTTP/1.1\r\nhost: x\r\n', '408 Request Timeout'],
  ['with headers that are too long', `GET / HTTP/1.1\r\nhost: x\r\na: ${'a'.repeat(20_000)}`, '431 Request Header'],
  ['that is not HTTP', 'hello\r\n\r\n', '400 Bad Request'],
])('a connection %s ends with the answer after which a browser does what is right', async (_, text, status) => {
  const server = new GuardedServer({
    ...{ what: 'test', host: '127.0.0.1', port: 0, remedies: unused, allowedHosts: null, posted: null },
    ...{ headers: { 'x-own': 'yes' }, connections: { anonymous: { all: 8 } }, bodyMax: 2_000 },
    ...{ headersWithinMs: 100, requestWithinMs: 200, idleMax: 200 },
  });
  await server.listen();
  const socket = connect({ port: Number(new URL(server.url).port), host: '127.0.0.1' });
  try {
    let heard = '';
    const closed = new Promise(resolve => socket.on('close', resolve).on('error', () => undefined));
    socket.setEncoding('utf8').on('data', (part: string) => void (heard += part));
    socket.write(text);
    await closed;
    expect(heard).toMatch(new RegExp(`^HTTP/1\\.1 ${status}`));
    expect(heard).toContain('x-own: yes\r\n');
  } finally {
    socket.destroy();
    await server.close();
  }
});

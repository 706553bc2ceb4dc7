import { createServer, type AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { afterEach, describe, expect, test } from 'vitest';
import {
  randomOf,
  VirtualClock,
  type StreamListener,
  type StreamNews,
  type StreamTransport,
} from '../../../../src/core/index.ts';
import { marketStream, socketTransport } from '../../../../src/exchange/index.ts';
import { inProcessStream } from '../../../../src/sandbox/index.ts';
import { arena } from '../../../sandbox/trader.ts';

/** Connections that a test opens, feeds and ends. */
function scripted() {
  const made: { listener: StreamListener; sent: string[]; closed: boolean; at: number }[] = [];
  const clock = new VirtualClock();
  const transport: StreamTransport = {
    connect: listener => {
      const connection = { listener, sent: [] as string[], closed: false, at: clock.elapsed() };
      made.push(connection);
      return { send: frame => void connection.sent.push(frame), close: () => void (connection.closed = true) };
    },
  };
  const news: StreamNews[] = [];
  const stream = marketStream({ transport, clock, random: randomOf(3), book: 'btc_mxn' });
  stream.start(piece => void news.push(piece));
  const last = () => made[made.length - 1]!;
  const say = (frame: object) => last().listener.text(JSON.stringify(frame));
  const subscribed = () => {
    last().listener.open();
    for (const type of ['diff-orders', 'trades']) say({ action: 'subscribe', response: 'ok', time: 1, type });
  };
  return { clock, made, news, stream, last, say, subscribed, kinds: () => news.map(({ kind }) => kind) };
}

describe('a stream', () => {
  test('subscribes both channels on opening, and is up when both are answered', () => {
    const { last, say, kinds } = scripted();
    last().listener.open();
    expect(last().sent.map(text => JSON.parse(text) as object)).toEqual([
      { action: 'subscribe', book: 'btc_mxn', type: 'diff-orders' },
      { action: 'subscribe', book: 'btc_mxn', type: 'trades' },
    ]);
    say({ action: 'subscribe', response: 'ok', time: 1, type: 'diff-orders', book: 'btc_mxn' });
    expect(kinds()).toEqual([]);
    say({ action: 'subscribe', response: 'Already subscribed to channel: trades:btc_mxn', time: 1, type: 'trades' });
    expect(kinds()).toEqual(['up']);
  });

  test('tells a sign of life, data and faults; what is not ours is counted, not told', () => {
    const { say, subscribed, stream, last, kinds } = scripted();
    subscribed();
    say({ type: 'ka' });
    say({ type: 'diff-orders', book: 'btc_mxn', sequence: 5, payload: [] });
    say({ type: 'diff-orders', book: 'eth_mxn', sequence: 5, payload: [] });
    say({ type: 'processed-orders' });
    last().listener.text('{"type":"diff-orders","book":"btc_mxn"}');
    expect(kinds()).toEqual(['up', 'alive', 'diff', 'fault']);
    expect(stream.counts()).toEqual({ connections: 1, frames: 7, ignored: 2, faults: 1 });
  });

  test('connects again after every loss, later each time, never within half of the pause', async () => {
    const { clock, made, kinds } = scripted();
    const pauses: number[] = [];
    for (let i = 0; i < 8; i++) {
      const before = clock.elapsed();
      made[i]!.listener.closed('gone');
      await clock.advance(31_000);
      pauses.push(made[i + 1]!.at - before);
    }
    [1, 2, 4, 8, 16, 30, 30, 30].forEach((seconds, i) => {
      expect(pauses[i]).toBeLessThanOrEqual(seconds * 1000);
      expect(pauses[i]).toBeGreaterThanOrEqual(seconds * 500);
    });
    expect(new Set(kinds())).toEqual(new Set(['down']));
  });

  test('that was good for a minute starts again with a short pause', async () => {
    const { clock, made, last, subscribed, say } = scripted();
    for (let i = 0; i < 6; i++) {
      last().listener.closed('gone');
      await clock.advance(31_000);
    }
    subscribed();
    for (let i = 0; i < 4; i++) {
      await clock.advance(20_000);
      say({ type: 'ka' });
    }
    const before = clock.elapsed();
    last().listener.closed('gone');
    await clock.advance(31_000);
    expect(made[made.length - 1]!.at - before).toBeLessThanOrEqual(1_000);
  });

  test('that says nothing for 60 s is dead; ka every 20 s keeps it alive', async () => {
    const { clock, made, subscribed, say, news } = scripted();
    subscribed();
    for (let i = 0; i < 10; i++) {
      await clock.advance(20_000);
      say({ type: 'ka' });
    }
    expect(made.length).toBe(1);
    await clock.advance(59_000);
    expect(made[0]!.closed).toBe(false);
    await clock.advance(6_100);
    expect(made[0]!.closed).toBe(true);
    expect(news).toContainEqual({ kind: 'down', reason: 'no frame was received for 60000 ms' });
  });

  test('that opens but is never subscribed, or never opens, is given up', async () => {
    const { clock, made, say, news, last } = scripted();
    last().listener.open();
    for (let i = 0; i < 6; i++) {
      await clock.advance(10_000);
      if (made.length === 1) say({ type: 'ka' });
    }
    await clock.advance(6_000);
    expect(news[news.length - 1]).toEqual({
      kind: 'down',
      reason: 'the subscriptions were not confirmed within 60000 ms',
    });
    await clock.advance(70_000);
    expect(news[news.length - 1]).toEqual({ kind: 'down', reason: 'no frame was received for 60000 ms' });
    expect(made.length).toBeGreaterThan(2);
  });

  test('whose subscription is refused says why and tries again', () => {
    const { say, news, last } = scripted();
    last().listener.open();
    say({ action: 'subscribe', type: 'trades', error: 'This book is not supported - btc_mxn', time: 1 });
    expect(news).toEqual([{ kind: 'down', reason: 'the exchange reported: This book is not supported - btc_mxn' }]);
    expect(last().closed).toBe(true);
  });

  test('hears nothing of a connection that it has given up, and nothing after its close', async () => {
    const { clock, made, stream, kinds, subscribed } = scripted();
    subscribed();
    stream.restart('behind');
    made[0]!.listener.text('{"type":"ka"}');
    made[0]!.listener.closed('late');
    expect(kinds()).toEqual(['up', 'down']);
    await clock.advance(1_000);
    expect(made.length).toBe(2);
    stream.close();
    made[1]!.listener.open();
    made[1]!.listener.closed('over');
    await clock.advance(100_000);
    expect([made.length, made[1]!.closed, made[1]!.sent, kinds()]).toEqual([2, true, [], ['up', 'down']]);
  });

  test('of the embedded exchange is up in process, and again after 1011', async () => {
    const { clock, exchange, ann } = arena({ streamCloseEvery: 2 });
    const news: StreamNews[] = [];
    const transport = inProcessStream(exchange.stream, clock, 3);
    const stream = marketStream({ transport, clock, random: randomOf(1), book: 'btc_mxn' });
    stream.start(piece => void news.push(piece));
    await clock.advance(50);
    ann.limit('btc_mxn', 'buy', '1000000', '0.01');
    ann.limit('btc_mxn', 'buy', '1000000', '0.01');
    await clock.advance(2_000);
    expect(news.map(({ kind }) => kind)).toEqual(['up', 'diff', 'diff', 'down', 'up']);
    stream.close();
    await clock.advance(50);
    expect(exchange.venue.listening).toBe(false);
  });
});

describe('over WebSocket', () => {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  const served = async (serve: (server: WebSocketServer) => void, options = {}) => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    ends.push(() => {
      for (const client of server.clients) client.terminate();
      server.close();
    });
    serve(server);
    await new Promise(resolve => server.once('listening', resolve));
    return listened(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, options);
  };

  const listened = (url: string, options = {}) => {
    const told: string[] = [];
    const ended = new Promise<string>(resolve => {
      const connection = socketTransport({ url, ...options }).connect({
        open: () => {
          told.push('open');
          connection.send('hello');
        },
        text: frame => void told.push(frame),
        closed: resolve,
      });
      ends.push(() => connection.close());
    });
    return { told, ended };
  };

  test('text crosses both ways and the end is told once', async () => {
    const { told, ended } = await served(server =>
      server.on('connection', socket =>
        socket.on('message', data => {
          socket.send(`heard ${(data as Buffer).toString()}`);
          socket.close(1011);
        }),
      ),
    );
    expect(await ended).toBe('closed with 1011');
    expect(told).toEqual(['open', 'heard hello']);
  });

  test('a frame over the cap, or a binary one, ends the connection', async () => {
    const large = await served(server => server.on('connection', socket => socket.send('x'.repeat(2_000))), {
      frameMax: 1_000,
    });
    expect(await large.ended).toContain('Max payload');
    const binary = await served(server => server.on('connection', socket => socket.send(Buffer.from([1]))));
    expect(await binary.ended).toBe('a binary frame');
    expect(binary.told).not.toContain('\u0001');
  });

  test('compression is neither asked for nor used', async () => {
    let asked: string | undefined = 'nothing';
    const { ended } = await served(server =>
      server.on('connection', (socket, request) => {
        asked = request.headers['sec-websocket-extensions'];
        socket.close();
      }),
    );
    await ended;
    expect(asked).toBeUndefined();
  });

  test('nobody there, and somebody who never answers, are told within the deadline', async () => {
    const deaf = createServer(() => undefined);
    await new Promise<void>(resolve => deaf.listen(0, '127.0.0.1', resolve));
    ends.push(() => deaf.close());
    const { port } = deaf.address() as AddressInfo;
    expect(await listened(`ws://127.0.0.1:${port}`, { connectDeadlineMs: 50 }).ended).toContain('timed out');
    expect(await listened('ws://127.0.0.1:9').ended).toContain('ECONNREFUSED');
  });

  test('an address must be one, and in the clear only on this machine', () => {
    expect(() => socketTransport({ url: 'ws://example.com' })).toThrow('expected wss://');
    expect(() => socketTransport({ url: 'https://example.com' })).toThrow('expected an address');
    expect(() => socketTransport({ url: 'nonsense' })).toThrow('expected an address');
    expect(() => socketTransport({ url: 'wss://me:word@example.com' })).toThrow('expected an address');
  });
});

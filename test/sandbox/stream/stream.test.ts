import { readFileSync, existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { afterEach, describe, expect, test } from 'vitest';
import { serve, switchesOf, type Served, type Switches } from '../../../src/sandbox/index.ts';
import { RECEIVED_MAX, SESSIONS_MAX } from '../../../src/sandbox/stream/stream.ts';
import { arena, publicCall } from '../trader.ts';

type Frame = Record<string, unknown> & { payload?: never; sequence?: number };

/** A client of the session machine that keeps what it is sent. */
function client(stream: ReturnType<typeof arena>['exchange']['stream']) {
  const frames: Frame[] = [];
  const closes: number[] = [];
  const session = stream.connect(
    text => void frames.push(JSON.parse(text) as Frame),
    code => void closes.push(code),
  );
  return {
    frames,
    closes,
    session,
    say: (fields: object) => session.receive(JSON.stringify(fields)),
    subscribe: (type: string, book = 'btc_mxn') => session.receive(JSON.stringify({ action: 'subscribe', book, type })),
    data: (type: string) => frames.filter(frame => frame['type'] === type && frame.payload !== undefined),
  };
}

const PROMPT: Partial<Switches> = { feedDelayMinMs: 0, feedDelayMaxMs: 0 };
const T0 = 1_790_000_000_000;

describe('a session', () => {
  test('is told that it is subscribed, and that it was already', () => {
    const { exchange } = arena();
    const { frames, subscribe } = client(exchange.stream);
    subscribe('diff-orders');
    subscribe('diff-orders');
    expect(frames).toEqual([
      { action: 'subscribe', response: 'ok', time: T0, type: 'diff-orders', book: 'btc_mxn' },
      {
        action: 'subscribe',
        response: 'Already subscribed to channel: diff-orders:btc_mxn',
        time: T0,
        type: 'diff-orders',
        book: 'btc_mxn',
      },
    ]);
  });

  test.each([
    [{ action: 'subscribe', book: 'xyz', type: 'orders' }, 'This book is not supported - xyz'],
    [{ action: 'subscribe', book: 'BTC_MXN', type: 'orders' }, 'This book is not supported - BTC_MXN'],
    [{ action: 'subscribe', book: 'btc_mxn', type: 'xyz' }, 'This type of channel is not supported - xyz'],
    [{ action: 'xyz', book: 'btc_mxn', type: 'orders' }, 'unknown subscription'],
  ])('that says %o hears "%s" and stays open', (said, error) => {
    const { exchange } = arena();
    const { frames, closes, say } = client(exchange.stream);
    say(said);
    expect(frames).toEqual([{ action: said.action, type: said.type, error, time: T0 }]);
    expect(closes).toEqual([]);
  });

  test.each(['', 'subscribe', '[1]', '7', 'null', '{"action":'])('that says %j hears of an invalid message', text => {
    const { exchange } = arena();
    const { frames, closes, session } = client(exchange.stream);
    session.receive(text);
    expect(frames).toEqual([{ error: 'invalid message', time: T0 }]);
    expect(closes).toEqual([]);
  });

  test('that names no book is closed with 1011 within half a second, without a word', async () => {
    const { clock, exchange } = arena();
    const { frames, closes, say } = client(exchange.stream);
    say({ action: 'subscribe', type: 'orders' });
    await clock.advance(500);
    expect(closes).toEqual([1011]);
    expect(frames).toEqual([]);
  });

  test('hears ka every 20 s, subscribed or not, until it is gone', async () => {
    const { clock, exchange } = arena();
    const { frames, session } = client(exchange.stream);
    await clock.advance(60_000);
    expect(frames).toEqual([{ type: 'ka' }, { type: 'ka' }, { type: 'ka' }]);
    session.gone();
    await clock.advance(60_000);
    expect(frames.length).toBe(3);
  });

  test('hears nothing more of what it unsubscribed', () => {
    const { exchange, ann } = arena(PROMPT);
    const { say, subscribe, data } = client(exchange.stream);
    subscribe('diff-orders');
    ann.limit('btc_mxn', 'buy', '1000000', '0.01');
    say({ action: 'unsubscribe', book: 'btc_mxn', type: 'diff-orders' });
    ann.limit('btc_mxn', 'buy', '1000000', '0.01');
    expect(data('diff-orders').length).toBe(1);
  });

  test('is one of a bounded number, and may say a bounded number of things', () => {
    const { exchange } = arena();
    const talker = client(exchange.stream);
    for (let i = 0; i <= RECEIVED_MAX; i++) talker.session.receive('x');
    expect(talker.closes).toEqual([1008]);
    for (let i = 0; i < SESSIONS_MAX; i++) expect(client(exchange.stream).closes).toEqual([]);
    expect(client(exchange.stream).closes).toEqual([1013]);
  });

  test('costs the books nothing once nobody listens: no event is built', () => {
    const { exchange, ann } = arena(PROMPT);
    const { session, subscribe } = client(exchange.stream);
    expect(exchange.venue.listening).toBe(false);
    subscribe('trades', 'eth_mxn');
    subscribe('trades');
    expect(exchange.venue.listening).toBe(true);
    session.gone();
    expect(exchange.venue.listening).toBe(false);
    ann.limit('btc_mxn', 'buy', '1000000', '0.01');
  });
});

describe('the channels', () => {
  test('diff-orders tells of a rest, a partial fill, the end of it and a cancel, one sequence each', () => {
    const { exchange, ann, bob } = arena(PROMPT);
    const { subscribe, data } = client(exchange.stream);
    subscribe('diff-orders');
    const oid = ann.limit('btc_mxn', 'sell', '1500000', '0.02');
    bob.limit('btc_mxn', 'buy', '1500000', '0.005');
    bob.limit('btc_mxn', 'buy', '1500000', '0.015');
    const other = ann.limit('btc_mxn', 'buy', '1400000', '0.001');
    ann.call('DELETE', `/api/v3/orders/${other}`);
    const frames = data('diff-orders');
    const first = frames[0]!.sequence!;
    expect(first).toBeGreaterThan(2 ** 32);
    expect(frames.map(frame => frame.sequence! - first)).toEqual([0, 1, 2, 3, 4]);
    const common = { o: oid, d: T0, r: '1500000', t: 1 };
    expect(frames.map(frame => frame.payload)).toEqual([
      [{ ...common, a: '0.02000000', v: '30000.00000000', s: 'open', z: T0 }],
      [{ ...common, a: '0.01500000', v: '22500.00000000', s: 'open', z: T0 }],
      [{ ...common, s: 'completed', z: T0 }],
      [{ o: other, d: T0, r: '1400000', t: 0, a: '0.00100000', v: '1400.00000000', s: 'open', z: T0 }],
      [{ o: other, d: T0, r: '1400000', t: 0, a: '0.00100000', v: '1400.00000000', s: 'cancelled', z: 0 }],
    ]);
  });

  test('the end of a sequence is the one that REST tells', () => {
    const { exchange, ann } = arena(PROMPT);
    const { subscribe, data } = client(exchange.stream);
    subscribe('diff-orders');
    ann.limit('btc_mxn', 'sell', '1500000', '0.02');
    const told = publicCall(exchange, '/api/v3/order_book?book=btc_mxn').body.payload as { sequence: string };
    expect(told.sequence).toBe(String(data('diff-orders')[0]!.sequence));
  });

  test('a modified order is cancelled at the old price and opened at the new one, with the next sequence', () => {
    const { exchange, ann } = arena(PROMPT);
    const { subscribe, data } = client(exchange.stream);
    const oid = ann.limit('btc_mxn', 'sell', '1500000', '0.02');
    subscribe('diff-orders');
    ann.get('PATCH', `/api/v4/orders/${oid}`, { price: '1500010' });
    const frames = data('diff-orders');
    expect(frames.map(f => (f.payload! as { o: string; r: string; s: string }[]).map(p => [p.o, p.r, p.s]))).toEqual([
      [[oid, '1500000', 'cancelled']],
      [[oid, '1500010', 'open']],
    ]);
    expect(frames[1]!.sequence! - frames[0]!.sequence!).toBe(1);
  });

  test('cancelled orders carry no amounts when the switch says so', () => {
    const { exchange, ann } = arena({ ...PROMPT, cancelledAmounts: 'absent' });
    const { subscribe, data } = client(exchange.stream);
    const oid = ann.limit('btc_mxn', 'buy', '1400000', '0.001');
    subscribe('diff-orders');
    ann.call('DELETE', `/api/v3/orders/${oid}`);
    expect(data('diff-orders')[0]!.payload).toEqual([{ o: oid, d: T0, r: '1400000', t: 0, s: 'cancelled', z: 0 }]);
  });

  test('trades names both orders, the taker by its side, and the trade by its REST id', () => {
    const { exchange, ann, bob } = arena(PROMPT);
    const { subscribe, data } = client(exchange.stream);
    subscribe('trades');
    const maker = ann.limit('btc_mxn', 'sell', '1500000', '0.02');
    const taker = bob.limit('btc_mxn', 'buy', '1500000', '0.005');
    const [rest] = publicCall(exchange, '/api/v3/trades?book=btc_mxn').body.payload as { tid: number }[];
    expect(data('trades').map(frame => frame.payload)).toEqual([
      [{ i: rest!.tid, a: '0.00500000', r: '1500000', v: '7500.00000000', mo: maker, to: taker, t: 0, x: T0 }],
    ]);
  });

  test('orders shows the best 20 of each side, whole, and only when one of them changes', () => {
    const { exchange, ann } = arena(PROMPT);
    const { subscribe, data } = client(exchange.stream);
    subscribe('orders');
    expect(data('orders')).toEqual([]);
    for (let i = 0; i < 25; i++) ann.limit('btc_mxn', 'buy', String(1_400_000 - i * 10), '0.0010');
    ann.limit('btc_mxn', 'sell', '1500000', '0.035');
    const frames = data('orders');
    expect(frames.length).toBe(21);
    const { bids, asks } = frames[20]!.payload! as Record<'bids' | 'asks', Record<string, unknown>[]>;
    expect(bids.length).toBe(20);
    expect(bids[0]).toEqual(expect.objectContaining({ r: '1400000', a: '0.001', v: '1400', t: 0, s: 'undefined' }));
    expect(asks).toEqual([expect.objectContaining({ r: '1500000', a: '0.035', v: '52500', t: 1, d: T0 })]);
  });

  test('frames come 5 to 50 ms after the event, in the order of the sequence', async () => {
    const { clock, exchange, ann } = arena();
    const { subscribe, data } = client(exchange.stream);
    subscribe('diff-orders');
    for (let i = 0; i < 40; i++) {
      ann.limit('btc_mxn', 'buy', '1000000', '0.001');
      await clock.advance(1);
    }
    await clock.advance(60);
    const frames = data('diff-orders') as unknown as { sequence: number; sent: number; payload: [{ z: number }] }[];
    expect(frames.length).toBe(40);
    frames.forEach(({ sequence, sent, payload: [{ z }] }, i) => {
      expect(sequence).toBe(frames[0]!.sequence + i);
      expect(sent - z).toBeGreaterThanOrEqual(5);
      expect(sent - z).toBeLessThanOrEqual(50);
    });
  });
});

describe('faults', () => {
  const sequences = async (switches: Partial<Switches>, orders: number) => {
    const { clock, exchange, ann } = arena({ ...PROMPT, ...switches });
    const { subscribe, data, closes, frames } = client(exchange.stream);
    subscribe('diff-orders');
    for (let i = 0; i < orders; i++) ann.limit('btc_mxn', 'buy', '1000000', '0.001');
    await clock.advance(60_000);
    const [first] = data('diff-orders');
    return { steps: data('diff-orders').map(frame => frame.sequence! - first!.sequence!), closes, frames };
  };

  test('a lost frame leaves a gap, a repeated one comes twice', async () => {
    expect((await sequences({ streamDropEvery: 3 }, 5)).steps).toEqual([0, 1, 3, 4]);
    expect((await sequences({ streamRepeatEvery: 2 }, 3)).steps).toEqual([0, 1, 1, 2]);
  });

  test('a socket can be closed with 1011 after so many frames', async () => {
    const { steps, closes } = await sequences({ streamCloseEvery: 2 }, 5);
    expect([steps, closes]).toEqual([[0, 1], [1011]]);
  });

  test('without ka nothing is heard of a quiet book, and a withheld stream is silent altogether', async () => {
    expect((await sequences({ streamKeepAliveMs: 0 }, 0)).frames.length).toBe(1);
    expect((await sequences({ streamFrames: 'withheld' }, 3)).frames.length).toBe(1);
  });

  test('a book of which nothing is told takes the sign of life from those alone who hear of no other', async () => {
    const { clock, exchange } = arena({ ...PROMPT, streamKeepAliveMs: 5_000 });
    const [one, two] = [client(exchange.stream), client(exchange.stream)];
    one.subscribe('orders');
    for (const book of ['btc_mxn', 'usd_mxn']) two.subscribe('orders', book);
    const lives = ({ frames }: typeof one) => frames.filter(({ type }) => type === 'ka').length;
    exchange.venue.books.get('btc_mxn')!.feed.silentUntil = clock.elapsed() + 30_000;
    await clock.advance(29_000);
    expect([lives(one), lives(two)]).toEqual([0, 5]);
    await clock.advance(10_000);
    expect([lives(one), lives(two)]).toEqual([2, 7]);
  });

  test('a delay whose bounds are swapped is refused', () => {
    expect(() => switchesOf({ feedDelayMinMs: 60 })).toThrow('feedDelayMinMs');
  });
});

describe('over WebSocket, on the port of REST', () => {
  let served: Served | undefined;
  afterEach(() => served?.close());

  const open = async (path = '/', options = {}) => {
    const world = arena(PROMPT);
    served = await serve(world.exchange, { host: '127.0.0.1', port: 0 });
    const socket = new WebSocket(served.url.replace('http', 'ws') + path, options);
    const next = () =>
      new Promise<Frame>(resolve =>
        socket.once('message', data => resolve(JSON.parse((data as Buffer).toString()) as Frame)),
      );
    const ended = new Promise<number>(resolve => socket.once('close', resolve));
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    return { ...world, socket, next, ended };
  };

  test('any path is served, frames cross both ways, and who is gone listens no more', async () => {
    const { socket, next, ann, exchange, ended } = await open('/any/path');
    socket.send(JSON.stringify({ action: 'subscribe', book: 'btc_mxn', type: 'diff-orders' }));
    expect(await next()).toEqual(expect.objectContaining({ response: 'ok' }));
    const told = next();
    const oid = ann.limit('btc_mxn', 'buy', '1000000', '0.001');
    expect((await told).payload).toEqual([expect.objectContaining({ o: oid })]);
    socket.close();
    await ended;
    await expect.poll(() => exchange.venue.listening).toBe(false);
  });

  test('frames are compressed only for who asks', async () => {
    expect((await open('/', { perMessageDeflate: false })).socket.extensions).toBe('');
    await served!.close();
    expect((await open()).socket.extensions).toContain('permessage-deflate');
  });

  test('a frame of over 4 kB ends the socket, and the server lives', async () => {
    const { socket, ended } = await open();
    socket.send('x'.repeat(5_000));
    expect(await ended).toBe(1009);
    expect((await fetch(`${served!.url}/api/v3/available_books`)).status).toBe(200);
  });

  test('closing the server cuts the sockets and does not wait for them', async () => {
    const { ended } = await open();
    await served!.close();
    expect(await ended).toBe(1006);
  });
});

const recorded = fileURLToPath(
  new URL(
    'bitso-api-fixtures/wire-2026-09/ws_frames.json',
    process.env['PUNTAS_DATA']
      ? `file://${process.env['PUNTAS_DATA']}/`
      : new URL('../../../../shared/data/', import.meta.url),
  ),
);
describe.skipIf(!existsSync(recorded))(`beside the recorded frames (skipped without ${recorded})`, () => {
  /** Keys and types of everything, whatever the values. */
  const shapeOf = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
    if (typeof value !== 'object' || value === null) return typeof value;
    return Object.fromEntries(
      Object.entries(value)
        .sort()
        .map(([key, field]) => [key, shapeOf(field)]),
    );
  };

  test('ours have the same keys, with the same types', async () => {
    const { clock, exchange, ann, bob } = arena(PROMPT);
    const { frames, subscribe } = client(exchange.stream);
    subscribe('orders', 'btc_usd');
    ann.limit('btc_usd', 'buy', '80000', '0.01');
    ann.limit('btc_usd', 'sell', '90000', '0.01');
    subscribe('trades', 'btc_usd');
    bob.limit('btc_usd', 'buy', '90000', '0.001');
    await clock.advance(20_000);
    const { frames: wire } = JSON.parse(readFileSync(recorded, 'utf8')) as { frames: { dir: string; frame: Frame }[] };
    const ours = frames.map(shapeOf);
    const theirs = wire.filter(({ dir }) => dir === 'in').map(({ frame }) => shapeOf(frame));
    expect(theirs.length).toBe(4);
    for (const shape of theirs) expect(ours).toContainEqual(shape);
  });
});

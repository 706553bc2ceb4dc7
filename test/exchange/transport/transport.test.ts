/** The transport against real sockets that misbehave. */
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { TransportFailure, type Transport, type WireRequest } from '../../../src/core/index.ts';
import { httpTransport, type HttpOptions } from '../../../src/exchange/transport/transport.ts';

const get = (target = '/api/v3/balance'): WireRequest => ({ method: 'GET', target, headers: {}, body: '' });
const post: WireRequest = { method: 'POST', target: '/api/v3/orders', headers: {}, body: '{"book":"btc_mxn"}' };

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function listening(server: Server | TcpServer): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
  });
  open.push(async () => {
    const closed = new Promise(resolve => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  return (server.address() as AddressInfo).port;
}

/** Longer than a busy machine needs for anything. */
const deadlineMs = 60_000;

function to(port: number, options: Partial<HttpOptions> = {}): Transport {
  const transport = httpTransport({ origin: `http://127.0.0.1:${port}`, deadlineMs, ...options });
  open.push(() => transport.close());
  return transport;
}

const serving = async (listener: RequestListener, options?: Partial<HttpOptions>) =>
  to(await listening(createServer(listener)), options);

async function failureOf(sending: Promise<unknown>): Promise<TransportFailure> {
  const problem: unknown = await sending.then(
    () => new Error('it was answered'),
    (error: unknown) => error,
  );
  if (!(problem instanceof TransportFailure)) throw problem;
  return problem;
}

/** A failure at the deadline, after the request was sent: a busy machine may not write it within the deadline, and then it is sent again. */
async function failureAfterSending(send: () => Promise<unknown>): Promise<TransportFailure> {
  for (let tries = 0; tries < 50; tries++) {
    const failure = await failureOf(send());
    expect(failure.message).toContain('no complete answer within');
    if (failure.sent) return failure;
  }
  throw new Error('no request was sent');
}

describe('an answered request', () => {
  it('brings status, headers and every byte of the body, and sends target, headers and body as given', async () => {
    const seen: unknown[] = [];
    const transport = await serving((req, res) => {
      let body = '';
      req.setEncoding('utf8');
      req.on('data', (text: string) => (body += text));
      req.on('end', () => {
        seen.push(req.method, req.url, req.headers['x-test'], body);
        res.writeHead(400, { 'Content-Type': 'application/json' }).end('{"é":"日本"}');
      });
    });
    const request = { ...post, target: '/api/v3/orders?oids=a,b', headers: { 'x-test': 'yes' } };
    const reply = await transport.send(request);
    expect(reply.status).toBe(400);
    expect(reply.headers['content-type']).toBe('application/json');
    expect(reply.body).toBe('{"é":"日本"}');
    expect(seen).toEqual(['POST', '/api/v3/orders?oids=a,b', 'yes', '{"book":"btc_mxn"}']);
  });

  it('does not follow a redirect', async () => {
    let hits = 0;
    const transport = await serving((_, res) => {
      hits++;
      res.writeHead(302, { location: '/elsewhere' }).end();
    });
    expect((await transport.send(get())).status).toBe(302);
    expect(hits).toBe(1);
  });

  it('keeps its socket for the next request, and never puts two requests on one at a time', async () => {
    const sockets = new Set<unknown>();
    const busy = new Set<unknown>();
    let shared = false;
    const transport = await serving((req, res) => {
      sockets.add(req.socket);
      shared ||= busy.has(req.socket);
      busy.add(req.socket);
      setTimeout(() => {
        busy.delete(req.socket);
        res.end('{}');
      }, 20);
    });
    for (let i = 0; i < 3; i++) {
      await transport.send(get());
      // undici gives a socket one turn of the event loop to close before it is used again.
      await new Promise(resolve => setTimeout(resolve, 2));
    }
    expect(sockets.size).toBe(1);
    await Promise.all([1, 2, 3, 4].map(() => transport.send(get())));
    expect(shared).toBe(false);
  });
});

describe('a request of which no byte was sent', () => {
  it('is known as such when the port refuses', async () => {
    const server = createTcpServer();
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise(resolve => server.close(resolve));
    const failure = await failureOf(to(port).send(post));
    expect(failure.sent).toBe(false);
    expect(failure.message).toContain('ECONNREFUSED');
  });

  it('is known as such when the name does not resolve', async () => {
    const transport = httpTransport({ origin: 'https://nowhere.invalid', deadlineMs });
    open.push(() => transport.close());
    expect((await failureOf(transport.send(post))).sent).toBe(false);
  });

  it('is known as such when TLS fails', async () => {
    const plain = await listening(createTcpServer(socket => void socket.end('this is not TLS\r\n')));
    const transport = httpTransport({ origin: `https://127.0.0.1:${plain}`, deadlineMs });
    open.push(() => transport.close());
    expect((await failureOf(transport.send(post))).sent).toBe(false);
  });

  it('is known as such when the deadline passed while TLS was being set up, and stays unsent afterwards', async () => {
    let bytes = 0;
    const port = await listening(createTcpServer(socket => void socket.on('data', chunk => (bytes += chunk.length))));
    const transport = httpTransport({ origin: `https://127.0.0.1:${port}`, deadlineMs: 150 });
    open.push(() => transport.close());
    const failure = await failureOf(transport.send(post));
    expect(failure.sent).toBe(false);
    // The ClientHello alone: no request came through in the clear.
    expect(bytes).toBeLessThan(2_000);
  });

  it('is known as such when it waited in vain for a socket, and is not written later', async () => {
    const urls: (string | undefined)[] = [];
    const held: (() => void)[] = [];
    const transport = await serving(
      (req, res) => {
        urls.push(req.url);
        held.push(() => res.end('{}'));
      },
      { connections: 1, deadlineMs: 300 },
    );
    // On a busy machine both deadlines may be seen at once, and then the socket is free for the second: it says so, and another pair is tried.
    let tries = 0;
    for (let wasSent = true; wasSent; tries++) {
      const first = failureOf(transport.send(get(`/first${tries}`)));
      const second = failureOf(transport.send({ ...post, target: `/second${tries}` }));
      expect((await first).sent).toBe(true);
      wasSent = (await second).sent;
      expect(tries).toBeLessThan(50);
    }
    // One more request shows that the lane moved on, past the second.
    const third = transport.send(get('/third'));
    while (!urls.includes('/third')) await new Promise(resolve => setTimeout(resolve, 5));
    held.at(-1)?.();
    await third;
    expect(urls).not.toContain(`/second${tries - 1}`);
    expect(urls.slice(-2)).toEqual([`/first${tries - 1}`, '/third']);
  });
});

describe('a request that may have been carried out', () => {
  it('has a deadline of whole milliseconds, whatever was asked for: three times the speed is a third of the time', async () => {
    const answered = await serving((_, res) => void res.end('ok'), { deadlineMs: 200_000 / 3 });
    expect((await answered.send(post)).body).toBe('ok');
    const silent = await serving(() => undefined, { deadlineMs: 500 / 3 });
    expect((await failureOf(silent.send(post))).message).toContain('within 167 ms');
  });

  it('fails at the deadline when no answer comes', async () => {
    const transport = await serving(() => undefined, { deadlineMs: 200 });
    await failureAfterSending(() => transport.send(post));
  });

  it('fails at the deadline when the body drips for ever', async () => {
    const transport = await serving(
      (_, res) => {
        const drip = setInterval(() => res.write('x'), 10);
        res.on('close', () => clearInterval(drip));
      },
      { deadlineMs: 200 },
    );
    await failureAfterSending(() => transport.send(get()));
  });

  it.each([true, false])('fails once the body is over the cap (length announced: %s)', async announced => {
    let written = 0;
    const transport = await serving(
      (_, res) => {
        if (announced) res.setHeader('content-length', 50_000_000);
        const more = () => {
          while (!res.destroyed && written < 50_000_000) {
            written += 65_536;
            if (!res.write('x'.repeat(65_536))) return void res.once('drain', more);
          }
        };
        more();
      },
      { bodyMax: () => 100_000 },
    );
    const failure = await failureOf(transport.send(get()));
    expect(failure.sent).toBe(true);
    expect(failure.message).toContain('100000 bytes');
    expect(written).toBeLessThan(50_000_000);
  });

  it('lets a whole book be bigger than other replies', async () => {
    const body = `"${'x'.repeat(1.5 * 1024 * 1024)}"`;
    const transport = await serving((_, res) => void res.end(body));
    expect((await transport.send(get('/api/v3/order_book?book=btc_mxn&aggregate=false'))).body.length).toBe(
      body.length,
    );
    expect((await failureOf(transport.send(get()))).message).toContain(`${1024 * 1024} bytes`);
  });

  it('fails when the body is cut short', async () => {
    const transport = await serving((_, res) => {
      res.writeHead(200, { 'content-length': 100 });
      res.write('{"success":true');
      setTimeout(() => res.socket?.end(), 10);
    });
    expect((await failureOf(transport.send(get()))).sent).toBe(true);
  });

  it.each(['before the answer', 'mid-body'])(
    'fails when the connection is reset %s, and is not sent again',
    async when => {
      let hits = 0;
      const transport = await serving((_, res) => {
        hits++;
        if (when === 'mid-body') {
          res.writeHead(200, { 'content-length': 100 });
          res.write('{');
        }
        setTimeout(() => res.socket?.resetAndDestroy(), 10);
      });
      expect((await failureOf(transport.send({ ...get(), method: 'DELETE' }))).sent).toBe(true);
      expect((await failureOf(transport.send(post))).sent).toBe(true);
      expect(hits).toBe(2);
    },
  );

  it('fails when the answer is not HTTP, not UTF-8, or compressed without being asked', async () => {
    const noise = to(
      await listening(createTcpServer(socket => void socket.once('data', () => socket.end('noise\r\n\r\n')))),
    );
    expect((await failureOf(noise.send(get()))).sent).toBe(true);
    const broken = await serving((_, res) => void res.end(Buffer.from([0x22, 0xff, 0xfe, 0x22])));
    expect((await failureOf(broken.send(get()))).message).toContain('UTF-8');
    const zipped = await serving((_, res) => void res.writeHead(200, { 'content-encoding': 'gzip' }).end('x'));
    expect((await failureOf(zipped.send(get()))).message).toContain('gzip');
  });
});

describe('the origin', () => {
  it('must be one, and be https unless it is this machine or plain HTTP is asked for', () => {
    const make = (origin: string, plainHttp?: boolean) => () => {
      const transport = httpTransport({ origin, deadlineMs, ...(plainHttp === undefined ? {} : { plainHttp }) });
      open.push(() => transport.close());
    };
    for (const bad of ['', 'api.bitso.com', 'https://api.bitso.com/api', 'ftp://localhost', 'http://api.bitso.com']) {
      expect(make(bad), bad).toThrow(RangeError);
    }
    expect(make('https://api.bitso.com')).not.toThrow();
    expect(make('http://localhost:8080')).not.toThrow();
    expect(make('http://sandbox:8080', true)).not.toThrow();
  });
});

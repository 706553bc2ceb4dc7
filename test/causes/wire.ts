/** The line between one bot and its exchange: passes everything on, until it is told to lose, delay or change what fits a rule, or to cut the stream. */
import { Agent, createServer, request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

export type Rule = {
  /** Of a method, a path and a body, like `POST /api/v3/orders {...}`. */
  readonly of: RegExp;
  /** lost: neither arrives nor is answered; delayMs: the answer is late; changed: what the exchange answered with something else in its place. */
  readonly does: 'lost' | { readonly delayMs: number } | { readonly changed: (text: string) => string };
};

export type Wire = {
  /** Base addresses for the bot. */
  readonly restUrl: string;
  readonly streamUrl: string;
  /** The first that fits holds; none: everything passes. */
  rules: readonly Rule[];
  /** False cuts the sockets of the stream and lets none in. */
  setStream(isThere: boolean): void;
  close(): Promise<void>;
};

export async function wireTo(restUrl: string, streamUrl: string): Promise<Wire> {
  const [rest, stream] = [new URL(restUrl), new URL(streamUrl)];
  const agent = new Agent({ keepAlive: true });
  const sockets = new Set<Socket>();
  let isStreaming = true;

  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const rule = wire.rules.find(({ of }) =>
      of.test(`${request.method} ${request.url} ${Buffer.concat(chunks).toString()}`),
    );
    const does = rule?.does;
    if (does === 'lost') return;
    const upstream = ask({
      agent,
      host: rest.hostname,
      port: rest.port,
      method: request.method,
      path: request.url,
      headers: request.headers,
    });
    upstream.on('error', () => response.destroy());
    upstream.on('response', answer => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('error', () => response.destroy());
      answer.on('end', () => {
        const text = Buffer.concat(parts).toString();
        const body = does && 'changed' in does ? does.changed(text) : text;
        const headers = { 'content-type': answer.headers['content-type'] ?? 'application/json' };
        const send = () => response.writeHead(answer.statusCode ?? 500, headers).end(body);
        if (does && 'delayMs' in does) setTimeout(send, does.delayMs);
        else send();
      });
    });
    upstream.end(Buffer.concat(chunks));
  };

  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    pass(request, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  server.on('upgrade', (request, client: Socket, head: Buffer) => {
    client.on('error', () => undefined);
    if (!isStreaming) return void client.destroy();
    const upstream = connect(Number(stream.port), stream.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    const lines = [`${request.method} ${request.url} HTTP/1.1`];
    for (let i = 0; i < request.rawHeaders.length; i += 2)
      lines.push(`${request.rawHeaders[i]}: ${request.rawHeaders[i + 1]}`);
    upstream.write(`${lines.join('\r\n')}\r\n\r\n`);
    upstream.write(head);
    upstream.pipe(client);
    client.pipe(upstream);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const here = (url: URL, scheme: string) => `${scheme}://127.0.0.1:${port}${url.pathname.replace(/\/$/, '')}`;
  const wire: Wire = {
    restUrl: here(rest, 'http'),
    streamUrl: here(stream, 'ws'),
    rules: [],
    setStream: isThere => {
      isStreaming = isThere;
      if (!isThere) for (const socket of sockets) socket.destroy();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      agent.destroy();
      server.closeAllConnections();
      return new Promise(resolve => server.close(() => resolve()));
    },
  };
  return wire;
}

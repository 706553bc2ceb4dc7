/** A wire that fails: passes TCP on to the exchange, and delays, loses, cuts, resets or refuses single requests on their way. */
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import type { Random } from '../../src/core/index.ts';

export type Fault = 'delay' | 'hold' | 'drop' | 'reset before' | 'reset after' | 'truncate' | '420';

/** Probability of each, for one request. */
const ODDS: readonly (readonly [Fault, number])[] = [
  ['delay', 0.06],
  ['hold', 0.004],
  ['drop', 0.015],
  ['reset before', 0.01],
  ['reset after', 0.015],
  ['truncate', 0.01],
  ['420', 0.004],
];
const DELAY_MS = [50, 1_500] as const;
/** Longer than the client waits, shorter than the fence. */
const HOLD_MS = [3_000, 10_000] as const;

export type Proxy = {
  readonly port: number;
  /** While true, requests meet faults. */
  faulty: boolean;
  /** While true, nobody gets through: connections are reset, those that stand too. */
  isDown: boolean;
  /** Sees each request as its bytes come; those that it answers with false are lost on their way. */
  onRequest: (text: string) => boolean;
  readonly counts: Readonly<Record<Fault, number>>;
  close(): Promise<void>;
};

export async function proxyTo(target: number, random: Random): Promise<Proxy> {
  const counts: Record<Fault, number> = {
    delay: 0,
    hold: 0,
    drop: 0,
    'reset before': 0,
    'reset after': 0,
    truncate: 0,
    '420': 0,
  };
  const sockets = new Set<Socket>();
  const between = ([from, to]: readonly [number, number]) => from + random.next() * (to - from);
  const draw = (): Fault | null => {
    let x = random.next();
    for (const [fault, odds] of ODDS) if ((x -= odds) < 0) return fault;
    return null;
  };
  const later = (ms: number, call: () => void) => void setTimeout(call, ms).unref();

  const server = createServer(client => {
    if (proxy.isDown) {
      client.on('error', () => undefined);
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(target, '127.0.0.1');
    let answer: 'pass' | 'reset' | 'truncate' | 'drop' = 'pass';
    // Bytes keep their order: what follows a late chunk waits behind it.
    let line: Promise<void> = Promise.resolve();
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        // A held request still arrives when its sender has gone.
        void line.then(() => (socket === client ? upstream : client).end());
      });
    }
    const pass = (chunk: Buffer, ms: number) => {
      line = line.then(async () => {
        if (ms > 0) await new Promise<void>(resolve => later(ms, resolve));
        if (upstream.writable) upstream.write(chunk);
      });
    };
    let isDead = false;
    client.on('data', chunk => {
      if (isDead) return;
      if (proxy.isDown) return void client.resetAndDestroy();
      const isRequest = /^(GET|POST|DELETE) /.test(chunk.subarray(0, 8).toString('latin1'));
      const text = isRequest ? chunk.toString('latin1') : '';
      const isUpgrade = /\r\nupgrade:/i.test(text);
      if (isRequest && !isUpgrade && !proxy.onRequest(text)) {
        isDead = true;
        return;
      }
      const fault = proxy.faulty && isRequest && !isUpgrade ? draw() : null;
      if (fault !== null) counts[fault]++;
      switch (fault) {
        case null:
          return pass(chunk, 0);
        case 'delay':
          return pass(chunk, between(DELAY_MS));
        case 'hold':
          return pass(chunk, between(HOLD_MS));
        case 'drop':
          isDead = true;
          return;
        case 'reset before':
          client.resetAndDestroy();
          return;
        case 'reset after':
          answer = 'reset';
          return pass(chunk, 0);
        case 'truncate':
          answer = 'truncate';
          return pass(chunk, 0);
        case '420': {
          const body = '{"success":false,"error":{"code":"0801","message":"Too many requests (by the proxy)"}}';
          client.end(
            `HTTP/1.1 420 \r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
          );
          return;
        }
      }
    });
    upstream.on('data', chunk => {
      if (proxy.isDown) return void client.resetAndDestroy();
      if (answer === 'drop') return;
      if (answer === 'reset') client.resetAndDestroy();
      else if (answer === 'truncate') client.end(chunk.subarray(0, Math.floor(chunk.length * random.next())));
      else if (client.writable) client.write(chunk);
      if (answer !== 'pass') answer = 'drop';
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const proxy: Proxy = {
    port: (server.address() as AddressInfo).port,
    faulty: false,
    isDown: false,
    onRequest: () => true,
    counts,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise(resolve => server.close(() => resolve()));
    },
  };
  return proxy;
}

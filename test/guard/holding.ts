/** Callers who hold connections of a server, for tests of what others still get. */
import { connect, type Socket } from 'node:net';

export type Holder = {
  /** Opens a connection on which nothing is said. */
  idle(): Promise<Socket>;
  /** Sends one request over a new connection. Resolves to the status line, or `closed`. */
  ask(path: string, headers?: string): Promise<string>;
  end(): void;
};

export function holding(port: () => number, localAddress = '127.0.0.1'): Holder {
  const sockets: Socket[] = [];
  const idle = (): Promise<Socket> =>
    new Promise((resolve, reject) => {
      const socket = connect({ port: port(), host: '127.0.0.1', localAddress }, () => resolve(socket));
      socket.on('error', reject);
      socket.once('connect', () => socket.on('error', () => undefined));
      sockets.push(socket);
    });
  return {
    idle,
    ask: async (path, headers = '') => {
      const socket = await idle();
      return new Promise(resolve => {
        socket.once('data', data => resolve(data.toString('utf8').split('\r\n')[0]!));
        socket.once('close', () => resolve('closed'));
        socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`);
      });
    },
    end: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

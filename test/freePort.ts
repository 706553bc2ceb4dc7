/** A port for a server that another process opens later. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ports that the operating system gives to servers without a port: one of those could be taken meanwhile. */
const [FIRST, COUNT] = [10_240, 22_000];
/** Ports that this process has returned. */
const given = new Set<number>();

export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + randomInt(COUNT);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

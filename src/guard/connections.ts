/** The connections of a server, in a bounded pool for each role: idle connections keep no probe out, and nobody's connections keep an operator out. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Pool } from './pool.ts';
import type { PoolLimits } from './pool.ts';
import { senderOf } from './sender.ts';

/** Role of the caller. A connection is anonymous until a request on it shows a session. */
export type CallerRole = 'anonymous' | 'viewer' | 'operator';

/** Limits of each role's pool; a role that is left out has no connections of its own and stays anonymous. */
export type ConnectionLimits = { readonly anonymous: PoolLimits } & Partial<Record<CallerRole, PoolLimits>>;

export class Connections {
  readonly #pools: Map<CallerRole, Pool<Socket>>;
  readonly #roles = new WeakMap<Socket, CallerRole>();
  readonly #requests = new WeakMap<Socket, number>();
  readonly #isProxy: (address: string) => boolean;

  /** Watches the connections of `server` from now on. `isProxy`: whether many callers share an address, which then has no limit of its own. */
  constructor(server: Server, limits: ConnectionLimits, isProxy: (address: string) => boolean = () => false) {
    this.#pools = new Map(
      (Object.entries(limits) as [CallerRole, PoolLimits][]).map(([role, each]) => [role, new Pool(each)]),
    );
    this.#isProxy = isProxy;
    server.on('connection', (socket: Socket) => {
      this.#move(socket, 'anonymous');
      socket.once('close', () => this.#poolOf(socket)?.delete(socket));
    });
    server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.#count(socket, 1);
      response.once('close', () => this.#count(socket, -1));
    });
    // It is the stream's from here on.
    server.on('upgrade', ({ socket }: IncomingMessage) => this.#count(socket, 1));
  }

  /** Counts the connection of a request among those of `role` from now on. */
  setRole(socket: Socket, role: CallerRole): void {
    const known = this.#pools.has(role) ? role : 'anonymous';
    if (this.#roles.get(socket) === known || this.#poolOf(socket) === undefined) return;
    this.#poolOf(socket)?.delete(socket);
    this.#move(socket, known);
    this.#poolOf(socket)?.mark(socket, (this.#requests.get(socket) ?? 0) > 0);
  }

  /** Connections of a role that are open. */
  count(role: CallerRole): number {
    return this.#pools.get(role)?.size ?? 0;
  }

  #move(socket: Socket, role: CallerRole): void {
    this.#roles.set(socket, role);
    const address = socket.remoteAddress ?? '';
    const close = () => void socket.destroy();
    if (this.#poolOf(socket)?.add(socket, senderOf(address), close, this.#isProxy(address)) !== true) close();
  }

  #count(socket: Socket, more: 1 | -1): void {
    const requests = (this.#requests.get(socket) ?? 0) + more;
    this.#requests.set(socket, requests);
    this.#poolOf(socket)?.mark(socket, requests > 0);
  }

  #poolOf(socket: Socket): Pool<Socket> | undefined {
    const role = this.#roles.get(socket);
    return role === undefined ? undefined : this.#pools.get(role);
  }
}

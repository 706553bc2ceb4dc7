/**
 * Connections of a server, in a bounded pool for each role. Idle connections cannot block probes, and other roles
 * cannot block operators.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Pool, type PoolLimits } from './pool.ts';
import { senderOf } from './sender.ts';

/** Role of the client. A connection is anonymous until one of its requests has a session. */
export type CallerRole = 'anonymous' | 'viewer' | 'operator';

/** Limits of each role's pool. A role without limits has no pool; its connections remain anonymous. */
export type ConnectionLimits = { readonly anonymous: PoolLimits } & Partial<Record<CallerRole, PoolLimits>>;

export class Connections {
  readonly #pools: Map<CallerRole, Pool<Socket>>;
  readonly #roles = new WeakMap<Socket, CallerRole>();
  readonly #requests = new WeakMap<Socket, number>();
  readonly #isProxy: (address: string) => boolean;

  /**
   * Tracks new connections of `server`. `isProxy` returns whether many clients share an address; such an address has no
   * limit of its own.
   */
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
    // After an upgrade, the connection carries a live stream, so it counts as busy.
    server.on('upgrade', ({ socket }: IncomingMessage) => this.#count(socket, 1));
  }

  /** Moves the connection of a request to the pool of `role`. */
  setRole(socket: Socket, role: CallerRole): void {
    const known = this.#pools.has(role) ? role : 'anonymous';
    if (this.#roles.get(socket) === known || this.#poolOf(socket) === undefined) return;
    this.#poolOf(socket)?.delete(socket);
    this.#move(socket, known);
    this.#poolOf(socket)?.mark(socket, (this.#requests.get(socket) ?? 0) > 0);
  }

  /** Returns the number of open connections of a role. */
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

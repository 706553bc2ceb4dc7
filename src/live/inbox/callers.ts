/** Who holds the connections of the door: a bounded number in all and for each address. Whoever is silent for longest makes room for who comes. */
import type { Server, Socket } from 'node:net';
import { senderOf } from './rates.ts';

/** In all, and of one address. */
export type ConnectionLimits = { readonly all: number; readonly address: number };

/** Of an unlisted address: the exchange delivers over a few. */
export const CONNECTIONS: ConnectionLimits = { all: 512, address: 64 };

/**
 * Bounds the connections of a server. One too many closes the oldest on which no request is under way, of the address that has most, so that
 * holding connections keeps nobody out. `isProxy`: many callers come from that address.
 */
export function boundCallers(
  server: Server,
  limits: ConnectionLimits,
  isProxy: (address: string) => boolean,
): { readonly busy: (socket: Socket) => void; readonly idle: (socket: Socket) => void } {
  /** Oldest first; each either has a request under way or not. */
  const callers = new Map<string, Map<Socket, { busy: boolean }>>();
  let count = 0;
  const forget = (sender: string, socket: Socket): void => {
    const own = callers.get(sender);
    if (own?.delete(socket) !== true) return;
    count--;
    if (own.size === 0) callers.delete(sender);
  };
  /** False when every connection of the sender is at work. */
  const makeRoom = (sender: string): boolean => {
    for (const [socket, { busy }] of callers.get(sender) ?? []) {
      if (busy) continue;
      forget(sender, socket);
      socket.destroy();
      return true;
    }
    return false;
  };
  const most = (): string => {
    let found = '';
    let size = -1;
    for (const [sender, own] of callers) if (own.size > size) [found, size] = [sender, own.size];
    return found;
  };
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const sender = senderOf(address);
    const isFull = (callers.get(sender)?.size ?? 0) >= limits.address && !isProxy(address);
    if ((isFull && !makeRoom(sender)) || (count >= limits.all && !makeRoom(most()))) {
      socket.destroy();
      return;
    }
    const own = callers.get(sender) ?? new Map<Socket, { busy: boolean }>();
    callers.set(sender, own.set(socket, { busy: false }));
    count++;
    socket.once('close', () => forget(sender, socket));
  });
  const mark = (socket: Socket, busy: boolean): void => {
    const own = callers.get(senderOf(socket.remoteAddress ?? ''));
    if (own?.has(socket) !== true) return;
    // To the end: the oldest is who has been silent for longest.
    own.delete(socket);
    own.set(socket, { busy });
  };
  return { busy: socket => mark(socket, true), idle: socket => mark(socket, false) };
}

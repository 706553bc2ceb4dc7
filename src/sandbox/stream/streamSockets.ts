/**
 * WebSocket server of the stream: upgrades requests of any path and connects each socket to a session, with bounded
 * sizes.
 */
import type { Server } from 'node:http';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import type { Stream } from './stream.ts';

/** Maximum size of a client's frame, in bytes. A subscription has about 60 bytes. */
const RECEIVED_BYTES_MAX = 4 * 1024;
/** Unread bytes after which a client is disconnected, because it would not catch up. */
const UNREAD_BYTES_MAX = 8 * 1024 * 1024;

/** Serves `stream` on an HTTP server's port. Returns a function that disconnects every socket. */
export function serveStream(server: Server, stream: Stream): () => void {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: RECEIVED_BYTES_MAX,
    // Compresses only if the client requests it (public-facts 12.1).
    perMessageDeflate: { threshold: 1024 },
  });
  server.on('upgrade', (request, socket, head) => {
    // Without a listener, a reset during the upgrade would end the process.
    socket.on('error', () => socket.destroy());
    sockets.handleUpgrade(request, socket, head, client => attach(stream, client, request.url ?? '/'));
  });
  return () => {
    for (const client of sockets.clients) client.terminate();
    sockets.close();
  };
}

function attach(stream: Stream, socket: WebSocket, target: string): void {
  const session = stream.connect(
    text => {
      if (socket.readyState !== socket.OPEN) return;
      if (socket.bufferedAmount > UNREAD_BYTES_MAX) socket.terminate();
      else socket.send(text);
    },
    code => socket.close(code),
    {
      target,
      ping: payload => {
        if (socket.readyState === socket.OPEN) socket.ping(payload);
      },
    },
  );
  socket.on('pong', () => session.pong?.());
  socket.on('message', (data, isBinary) => session.receive(isBinary ? '' : receivedText(data)));
  socket.on('close', () => session.gone());
  // A close event follows every error, so errors need no handling.
  socket.on('error', () => undefined);
}

const receivedText = (data: RawData): string =>
  (Array.isArray(data) ? Buffer.concat(data) : Buffer.isBuffer(data) ? data : Buffer.from(data)).toString('utf8');

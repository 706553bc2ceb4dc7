/** WebSocket transport of the stream: one deadline for the handshake, limited frame size, no compression, text only. */
import { WebSocket, type RawData } from 'ws';
import type { StreamConnection, StreamListener, StreamTransport } from '../../core/index.ts';

export type SocketOptions = {
  /** Address, such as `wss://ws.bitso.com`. */
  readonly url: string;
  /** Maximum time until the socket is open, in wall-clock milliseconds. */
  readonly connectDeadlineMs?: number;
  /** Maximum frame size in bytes; a larger frame ends the connection. */
  readonly frameMax?: number;
  /** Whether to allow ws:// (unencrypted) to another machine. */
  readonly plain?: boolean;
};

/** Maximum frame size in bytes. The frame of a large trade has about 130 bytes for each order that it filled. */
const FRAME_BYTES_MAX = 4 * 1024 * 1024;
/**
 * Maximum unsent bytes. A subscription has some 60 bytes, so more unsent bytes mean that the exchange does not read.
 */
const UNSENT_BYTES_MAX = 64 * 1024;

/** Creates the transport. Throws a RangeError on an invalid address. */
export function socketTransport(options: SocketOptions): StreamTransport {
  const { connectDeadlineMs = 10_000, frameMax = FRAME_BYTES_MAX } = options;
  const url = checkedUrl(options.url, options.plain ?? false);
  return { connect: listener => connect(url, connectDeadlineMs, frameMax, listener) };
}

function connect(url: string, deadlineMs: number, frameMax: number, listener: StreamListener): StreamConnection {
  const socket = new WebSocket(url, {
    handshakeTimeout: deadlineMs,
    maxPayload: frameMax,
    perMessageDeflate: false,
    followRedirects: false,
  });
  let why: string | null = null;
  socket.on('open', () => listener.open());
  socket.on('message', (data, isBinary) => {
    if (why !== null) return;
    if (!isBinary) listener.text(frameText(data));
    else {
      why = 'a binary frame';
      socket.terminate();
    }
  });
  socket.on('ping', () => {
    if (why === null) listener.ping?.();
  });
  // Every error is followed by a close event, so only the reason is stored here.
  socket.on('error', error => void (why ??= error.message));
  socket.on('close', code => listener.closed(why ?? `closed with ${code}`));
  return {
    send: frame => {
      if (socket.readyState !== socket.OPEN) return;
      if (socket.bufferedAmount <= UNSENT_BYTES_MAX) {
        socket.send(frame);
        return;
      }
      why ??= 'the exchange does not read the frames sent to it';
      socket.terminate();
    },
    // Skips the closing handshake, because the connection is no longer needed.
    close: () => {
      why ??= 'this program closed the connection';
      socket.terminate();
    },
  };
}

function checkedUrl(text: string, plain: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^wss?:$/.test(url.protocol) || url.username || url.password || url.hash) {
    throw new RangeError(`expected an address like wss://ws.bitso.com, found ${JSON.stringify(text)}`);
  }
  const local = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url.protocol === 'ws:' && !local && !plain) {
    throw new RangeError(`${text}: expected wss://; ws:// is allowed only for addresses of this machine`);
  }
  return url.href;
}

const frameText = (data: RawData): string =>
  (Array.isArray(data) ? Buffer.concat(data) : Buffer.isBuffer(data) ? data : Buffer.from(data)).toString('utf8');

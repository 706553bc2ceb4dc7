/**
 * Stream of the embedded exchange without sockets: the clock delivers frames in order, so that simulations are
 * deterministic.
 */
import type { Clock, StreamTransport } from '../../core/index.ts';
import type { Stream, StreamSession } from './stream.ts';

/** Returns an in-process transport to a path of the stream, with a delay of `delayMs` in each direction. */
export function inProcessStream(stream: Stream, clock: Clock, delayMs = 0, target = '/'): StreamTransport {
  return {
    connect: listener => {
      let session: StreamSession | null = null;
      let over = false;
      const cross = (call: () => void) => void clock.after(delayMs, call);
      const end = (why: string) =>
        cross(() => {
          if (over) return;
          over = true;
          listener.closed(why);
        });
      cross(() => {
        if (over) return;
        listener.open();
        session = stream.connect(
          text => cross(() => void (over || listener.text(text))),
          code => end(`closed with ${code}`),
          { target },
        );
      });
      return {
        send: frame => cross(() => session?.receive(frame)),
        close: () => {
          cross(() => session?.gone());
          end('this program closed the connection');
        },
      };
    },
  };
}

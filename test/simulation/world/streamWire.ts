/** The market-data stream between the exchange and one life of the bot: frames are lost, connections break or fall silent. */
import type { StreamConnection, StreamTransport } from '../../../src/core/index.ts';
import { inProcessStream, type EmbeddedExchange } from '../../../src/sandbox/index.ts';
import type { Life } from '../processes/life.ts';
import type { World } from './world.ts';

export type StreamWireOptions = {
  readonly world: World;
  readonly exchange: EmbeddedExchange;
  readonly life: Life;
  /** `book`: that of the subscription, once the bot has asked for one. */
  readonly isCut: (book?: string) => boolean;
  readonly onFrame: (book?: string) => void;
};

const DELAY_MS = 8;

export function streamWire({ world, exchange, life, isCut, onFrame }: StreamWireOptions): StreamTransport {
  const inner = inProcessStream(exchange.stream, world.clock, DELAY_MS);
  return {
    connect: listener => {
      // A connection that is cut says nothing: frames just stop coming.
      let book: string | undefined;
      let isSilent = isCut();
      let isOver = false;
      let connection: StreamConnection | null = null;
      const over = (why: string) => {
        if (isOver) return;
        isOver = true;
        life.receive(() => {
          world.touched = true;
          listener.closed(why);
        });
      };
      connection = inner.connect({
        open: () => {
          if (isSilent || isOver) return;
          life.receive(() => {
            world.touched = true;
            listener.open();
          });
        },
        text: frame => {
          if (!life.isAlive) connection?.close();
          isSilent ||= isCut(book);
          if (isSilent || isOver || !life.isAlive) return;
          if (world.strikes('stream faults', 0.004)) {
            world.trace.add('stream frame lost');
            return;
          }
          if (world.strikes('stream faults', 0.0008)) {
            world.marks.see('the stream was lost and came back');
            world.trace.add('stream broken');
            connection?.close();
            over('broken');
            return;
          }
          life.receive(() => {
            if (isOver) return;
            world.touched = true;
            onFrame(book);
            listener.text(frame);
          });
        },
        closed: over,
      });
      return {
        send: frame => {
          book = /"book":"(\w+)"/.exec(frame)?.[1] ?? book;
          if (!isSilent) connection.send(frame);
        },
        close: () => connection.close(),
      };
    },
  };
}

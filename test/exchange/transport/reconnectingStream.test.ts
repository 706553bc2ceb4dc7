/** Errors of any kind while a frame is read, and errors of the listener. */
import { describe, expect, test } from 'vitest';
import { randomOf, VirtualClock, type StreamListener, type StreamNews } from '../../../src/core/index.ts';
import { ReconnectingStream } from '../../../src/exchange/transport/reconnectingStream.ts';
import { WireFault } from '../../../src/exchange/wire/wire.ts';

/** A stream whose protocol returns trades for each frame, after it has thrown the error that the frame names. */
function streamOf(listener: (news: StreamNews) => void) {
  const clock = new VirtualClock();
  const lines: StreamListener[] = [];
  const stream = new ReconnectingStream(
    {
      ...{ clock, random: randomOf(1) },
      transport: {
        connect: line => {
          lines.push(line);
          return { send: () => undefined, close: () => undefined };
        },
      },
    },
    {
      open: () => stream.notify(stream.up()),
      newsOf: frame => {
        if (frame === 'wire') throw new WireFault('price: expected digits');
        if (frame === 'defect') throw new TypeError('of is undefined');
        if (frame === 'inside') stream.notify({ kind: 'trades', trades: [] });
        return { kind: 'trades', trades: [] };
      },
    },
  );
  stream.start(listener);
  lines[0]!.open();
  return { stream, clock, lines };
}

describe('an error while a frame is read', () => {
  test('that the wire explains is a fault; any other ends the connection, and a new one is opened', async () => {
    const news: StreamNews[] = [];
    const { clock, lines } = streamOf(each => news.push(each));
    lines[0]!.text('wire');
    lines[0]!.text('good');
    lines[0]!.text('defect');
    lines[0]!.text('good');
    expect(news).toEqual([
      { kind: 'up' },
      { kind: 'fault', reason: 'price: expected digits' },
      { kind: 'trades', trades: [] },
      { kind: 'down', reason: 'a stream frame could not be read: of is undefined' },
    ]);
    await clock.advance(2_000);
    lines[1]!.open();
    lines[1]!.text('good');
    expect(news.slice(4).map(({ kind }) => kind)).toEqual(['up', 'trades']);
  });
});

test.each(['good', 'inside'])('an error of the listener is not taken for one of the frame (%s)', frame => {
  const kinds: string[] = [];
  const { lines } = streamOf(({ kind }) => {
    kinds.push(kind);
    if (kind === 'trades') throw new WireFault('the listener broke');
  });
  expect(() => lines[0]!.text(frame)).toThrow('the listener broke');
  expect(kinds).toEqual(['up', 'trades']);
});

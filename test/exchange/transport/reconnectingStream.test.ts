/** Errors of any kind while a frame is read, errors of the listener, and the pauses between connections. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { randomOf, VirtualClock, type Random, type StreamListener, type StreamNews } from '../../../src/core/index.ts';
import { ReconnectingStream, type ReconnectOptions } from '../../../src/exchange/transport/reconnectingStream.ts';
import { WireFault } from '../../../src/exchange/wire/wire.ts';
import { runsOf } from '../../many.ts';

/** A stream whose protocol returns trades for each frame, after it has thrown the error that the frame names. */
function streamOf(
  listener: (news: StreamNews) => void,
  {
    random = randomOf(1),
    isUp = () => true,
    isEnded = () => false,
    options = {},
  }: {
    readonly random?: Pick<Random, 'next'>;
    readonly isUp?: () => boolean;
    /** Whether a check of the protocol ends the connection. */
    readonly isEnded?: () => boolean;
    readonly options?: Partial<ReconnectOptions>;
  } = {},
) {
  const clock = new VirtualClock();
  const lines: StreamListener[] = [];
  const closed: number[] = [];
  const stream = new ReconnectingStream(
    {
      ...{ clock, random: random as Random },
      transport: {
        connect: line => {
          const number = lines.push(line) - 1;
          return { send: () => undefined, close: () => void closed.push(number) };
        },
      },
      ...options,
    },
    {
      open: () => void (isUp() && stream.notify(stream.up())),
      newsOf: frame => {
        if (frame === 'wire') throw new WireFault('price: expected digits');
        if (frame === 'defect') throw new TypeError('of is undefined');
        if (frame === 'inside') stream.notify({ kind: 'trades', trades: [] });
        return { kind: 'trades', trades: [] };
      },
      checked: () => {
        if (isEnded()) stream.lose('a check ended it');
      },
    },
  );
  stream.start(listener);
  lines[0]!.open();
  return { stream, clock, lines, closed };
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

/** Lives of connections: whether the subscriptions are confirmed, after how long the connection ends, and by what. */
const lives = fc.array(
  fc.record({
    upAfterMs: fc.option(fc.constantFrom(0, 1_000, 59_000), { nil: null, freq: 4 }),
    livesMs: fc.constantFrom(0, 0, 1, 10_000, 59_999, 60_000, 60_001, 300_000),
    by: fc.constantFrom('closed', 'restart', 'defect', 'check'),
  }),
  { minLength: 1, maxLength: 14 },
);

test('pauses between connections double up to their bound, whatever ends them, and begin again only after one that was up and lasted a minute', async () => {
  let grown = 0;
  await fc.assert(
    fc.asyncProperty(lives, fc.constantFrom(0, 0.5, 1), async (history, share) => {
      let next: (typeof history)[number] | null = null;
      let [downs, isEnded] = [0, false];
      const { stream, clock, lines } = streamOf(({ kind }) => void (downs += kind === 'down' ? 1 : 0), {
        random: { next: () => share },
        isUp: () => next?.upAfterMs === 0,
        isEnded: () => isEnded,
      });
      let losses = 0;
      for (const [number, life] of history.entries()) {
        next = life;
        isEnded = false;
        const connectedAt = clock.elapsed();
        const line = lines.at(-1)!;
        expect(lines).toHaveLength(number + 1);
        if (number > 0) line.open();
        else if (life.upAfterMs === 0) stream.up();
        const isUp = life.upAfterMs !== null && life.upAfterMs <= life.livesMs;
        let lived = 0;
        const pass = async (ms: number) => {
          for (; lived < ms; lived += Math.min(10_000, ms - lived)) {
            line.ping?.();
            await clock.advance(Math.min(10_000, ms - lived));
          }
        };
        if (isUp && life.upAfterMs! > 0) {
          await pass(life.upAfterMs!);
          stream.up();
        }
        // A connection that is not up after a minute is lost by itself.
        const isLate = !isUp && life.livesMs >= 60_000;
        await pass(isLate ? 60_000 : life.livesMs);
        if (isLate) expect(stream.isUp).toBe(false);
        else if (life.by === 'restart') stream.restart('a test');
        else if (life.by === 'check') {
          isEnded = true;
          while (downs === number) clock.runNext();
        } else if (life.by === 'closed') line.closed('reset');
        else line.text('defect');
        if (isUp && clock.elapsed() - connectedAt >= 60_000) losses = 0;
        expect(downs).toBe(number + 1);
        // Late news of a lost connection changes nothing.
        line.closed('late');
        line.text('good');
        const pause = Math.min(30_000, 1_000 * 2 ** losses++) * (1 - share / 2);
        await clock.advance(pause - 1);
        expect(lines).toHaveLength(number + 1);
        await clock.advance(1);
        expect(lines).toHaveLength(number + 2);
        if (losses > 5) grown++;
      }
      expect(stream.counts().connections).toBe(history.length + 1);
      stream.close();
      // No check of an earlier connection goes on.
      expect(clock.nextDue()).toBeUndefined();
    }),
    runsOf(2_000, 40),
  );
  expect(grown).toBeGreaterThan(0);
});

test('a connection is lost at the first check after its time without a frame or without its subscriptions, and says which', async () => {
  const [silenceMs, upWithinMs, checkMs] = [12_000, 30_000, 1_000];
  const event = fc.record({
    // Never at the time of a check.
    afterMs: fc.integer({ min: 0, max: 26 }).map(n => 500 * n),
    kind: fc.constantFrom('ping', 'good', 'wire', 'up'),
  });
  const seen = { silent: 0, late: 0, neither: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 8 }), async events => {
      const news: StreamNews[] = [];
      const { stream, clock, lines } = streamOf(each => news.push(each), {
        options: { silenceMs, upWithinMs },
        isUp: () => false,
      });
      const from = clock.elapsed();
      let [now, heard, isUp, frames] = [250, 0, false, 0];
      const expected: StreamNews[] = [];
      let lost: string | null = null;
      // Each check until this time.
      const checkUntil = (time: number) => {
        for (let at = Math.ceil((now + 1) / checkMs) * checkMs; at < time && lost === null; at += checkMs) {
          if (at - heard >= silenceMs) lost = `no frame was received for ${silenceMs} ms`;
          else if (!isUp && at >= upWithinMs) lost = `the subscriptions were not confirmed within ${upWithinMs} ms`;
        }
        now = time;
      };
      await clock.advance(250);
      for (const { afterMs, kind } of events) {
        checkUntil(now + afterMs);
        await clock.advance(from + now - clock.elapsed());
        if (lost !== null) break;
        if (kind === 'up') {
          stream.up();
          isUp = true;
          continue;
        }
        heard = now;
        if (kind === 'ping') {
          lines[0]!.ping?.();
          if (isUp) expected.push({ kind: 'alive' });
          continue;
        }
        lines[0]!.text(kind);
        frames++;
        expected.push(
          kind === 'good' ? { kind: 'trades', trades: [] } : { kind: 'fault', reason: 'price: expected digits' },
        );
      }
      if (lost !== null) expected.push({ kind: 'down', reason: lost });
      expect(news).toEqual(expected);
      expect(stream.isUp).toBe(isUp && lost === null);
      expect(stream.counts()).toMatchObject({ frames, faults: expected.filter(({ kind }) => kind === 'fault').length });
      seen[lost === null ? 'neither' : /no frame/.test(lost) ? 'silent' : 'late']++;
      stream.close();
    }),
    { ...runsOf(2_000, 150), seed: 7 },
  );
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
});

test.each(['connecting', 'up', 'in a pause'])(
  'a stream that is closed while it is %s closes its connection once, and is silent for ever',
  async when => {
    const news: StreamNews[] = [];
    const { stream, clock, lines, closed } = streamOf(each => news.push(each), { isUp: () => when !== 'connecting' });
    if (when === 'in a pause') lines[0]!.closed('reset');
    const before = news.length;
    stream.close();
    stream.close();
    stream.restart('a test');
    lines[0]!.open();
    for (const frame of ['good', 'defect']) lines[0]!.text(frame);
    lines[0]!.ping?.();
    lines[0]!.closed('late');
    await clock.advance(120_000);
    expect([news.length - before, lines.length, closed, stream.isClosed]).toEqual([0, 1, [0], true]);
    expect(clock.nextDue()).toBeUndefined();
  },
);

test('a restart during a pause changes nothing: the next connection comes at its time, and the pause after it is the second one', async () => {
  const { stream, clock, lines } = streamOf(() => undefined, { random: { next: () => 0 } });
  lines[0]!.closed('reset');
  for (let n = 0; n < 3; n++) {
    await clock.advance(300);
    stream.restart('impatience');
  }
  await clock.advance(99);
  expect(lines).toHaveLength(1);
  await clock.advance(1);
  expect(lines).toHaveLength(2);
  lines[1]!.closed('reset');
  await clock.advance(1_999);
  expect(lines).toHaveLength(2);
  await clock.advance(1);
  expect(lines).toHaveLength(3);
  stream.close();
});

test('a listener that closes the stream receives no more news, not even of the same frame', () => {
  const kinds: string[] = [];
  const { stream, lines } = streamOf(({ kind }) => {
    kinds.push(kind);
    if (kind === 'trades') stream.close();
  });
  lines[0]!.text('inside');
  expect(kinds).toEqual(['up', 'trades']);
});

/** A live stream that stalls without an error: the page of a console says so within seconds, and opens another. */
import { afterEach, expect, test, vi } from 'vitest';
import { State } from '../../src/console/page/state.ts';
import { STALLED_MS, StreamWatch } from '../../src/console/page/streamWatch.ts';

afterEach(() => vi.unstubAllGlobals());

test('a stream counts as stalled after 5 s without a message, and each message starts this time again', () => {
  let now = 0;
  const watch = new StreamWatch(() => now);
  now = STALLED_MS;
  expect(watch.isStalled).toBe(false);
  now++;
  expect([watch.isStalled, watch.silentMs]).toEqual([true, STALLED_MS + 1]);
  watch.heard();
  expect(watch.isStalled).toBe(false);
});

test('the page of a console replaces a stalled stream, and later messages of the old one change nothing', () => {
  const streams: Stream[] = [];
  class Stream {
    static readonly CLOSED = 2;
    readyState = 1;
    onopen: () => void = () => undefined;
    onmessage: (message: { data: string }) => void = () => undefined;
    constructor() {
      streams.push(this);
    }
    close(): void {
      this.readyState = Stream.CLOSED;
    }
  }
  vi.stubGlobal('EventSource', Stream);
  let now = 0;
  let drops = 0;
  const state = new State(
    () => undefined,
    () => void drops++,
    () => now,
  );
  const message = { data: JSON.stringify({ kind: 'waiting', bot: null, trouble: null }) };
  state.listen();
  streams[0]!.onmessage(message);
  now = STALLED_MS;
  state.check();
  expect([state.isUp, drops]).toEqual([true, 0]);
  now++;
  state.check();
  expect([state.isUp, drops, streams[0]!.readyState]).toEqual([false, 1, Stream.CLOSED]);
  streams[0]!.onmessage(message);
  streams[0]!.onopen();
  expect(state.isUp).toBe(false);
  state.listen();
  streams[1]!.onmessage(message);
  expect(state.isUp).toBe(true);
});

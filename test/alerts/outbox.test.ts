/** What is told, when: laws of the outbox over random floods, on a virtual clock and a channel that fails at random. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GAP_MS, LINES_MAX, Outbox, WINDOW_MS, type SendOutcome } from '../../src/alerts/outbox.ts';
import { cut, messageText, type Entry, type Message } from '../../src/alerts/message.ts';
import { ALERT_EVENT_NAMES, alertKind, type AlertEvent, type AlertMode } from '../../src/config.ts';
import { sleep, VirtualClock } from '../../src/core/index.ts';
import { runsOf } from '../many.ts';
import { memoryLog } from '../memoryLog.ts';

const MODES = Object.fromEntries(ALERT_EVENT_NAMES.map(event => [event, 'on'])) as Record<AlertEvent, AlertMode>;

function rig(messagesPer10Min: number, answer: () => SendOutcome, modes = MODES, answerMs = 50) {
  const clock = new VirtualClock();
  const { log, lines } = memoryLog();
  const begun: { at: number; message: Message }[] = [];
  const delivered: { at: number; message: Message }[] = [];
  let close: () => void = () => undefined;
  const closed = new Promise<'closed'>(resolve => (close = () => resolve('closed')));
  const channel = {
    name: 'a test',
    close: async () => close(),
    send: async (message: Message) => {
      if (begun.at(-1)?.message !== message) begun.push({ at: clock.elapsed(), message });
      if ((await Promise.race([closed, sleep(clock, answerMs)])) === 'closed')
        return { kind: 'later' as const, why: 'closed' };
      const what = answer();
      if (what.kind === 'delivered') delivered.push({ at: clock.elapsed(), message });
      return what;
    },
  };
  const outbox = new Outbox({
    clock,
    log,
    channel,
    title: () => 'mm1 btc_mxn',
    idPrefix: 'x',
    messagesPer10Min,
    modes,
  });
  return { clock, outbox, begun, delivered, lines };
}

const arrives = (): SendOutcome => ({ kind: 'delivered' });
const happenings = fc.array(
  fc.record({
    // Some come again and again.
    event: fc.oneof(
      fc.constantFrom('halted' as const, 'bookStale' as const, 'fill' as const),
      fc.constantFrom(...ALERT_EVENT_NAMES),
    ),
    what: fc.constantFrom('raise', 'raise', 'quiet', 'end'),
    text: fc.constantFrom('a', 'b', 'c'),
    book: fc.constantFrom(undefined, undefined, 'btc_mxn', 'eth_mxn'),
    // Bursts, seconds, and minutes apart.
    afterMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 3_000 }), fc.integer({ min: 1, max: 60_000 })),
  }),
  { minLength: 1, maxLength: 250, size: 'max' },
);

test('a flood: few messages by rule, three lines of an event, no happening lost, and the last word on each is how it stands', async () => {
  const fails = fc.array(fc.constantFrom<SendOutcome['kind']>('delivered', 'delivered', 'later', 'refused'), {
    maxLength: 30,
  });
  await fc.assert(
    fc.asyncProperty(happenings, fails, fc.integer({ min: 3, max: 15 }), async (flood, outcomes, most) => {
      const left = [...outcomes];
      const { clock, outbox, begun, delivered } = rig(most, () => {
        const kind = left.shift() ?? 'delivered';
        return kind === 'delivered' ? { kind } : { kind, why: 'a test' };
      });
      const isOn = new Map<string, boolean>();
      for (const { event, what, text, afterMs, book } of flood) {
        await clock.advance(afterMs);
        if (what === 'end') outbox.end(event, book);
        else outbox.raise(event, text, what === 'quiet', book);
        isOn.set(`${event} ${book}`, what !== 'end' && alertKind(event).isMoment !== true);
      }
      await clock.advance(6 * 3_600_000);

      for (const { message } of begun) expect(message.entries).not.toEqual([]);
      for (const { at } of begun)
        expect(begun.filter(other => other.at > at - WINDOW_MS && other.at <= at).length).toBeLessThanOrEqual(most);
      for (const [i, { at }] of begun.slice(1).entries()) expect(at - begun[i]!.at).toBeGreaterThanOrEqual(GAP_MS);
      const linesOf = (event: AlertEvent, book: string | undefined) =>
        begun.filter(({ message }) => message.entries.some(e => e.event === event && e.book === book));
      const counts = outbox.takeCounts();
      for (const event of ALERT_EVENT_NAMES) {
        for (const book of [undefined, 'btc_mxn', 'eth_mxn']) {
          const lines = linesOf(event, book);
          for (const { at } of lines)
            expect(lines.filter(other => other.at > at - WINDOW_MS && other.at <= at).length).toBeLessThanOrEqual(
              LINES_MAX,
            );
          const last = lines.at(-1)?.message.entries.find(entry => entry.event === event && entry.book === book);
          const isOnNow = isOn.get(`${event} ${book}`) === true;
          if (last && last.state !== 'once') expect(last.state).toBe(isOnNow ? 'begins' : 'over');
        }
        const told = delivered.flatMap(({ message }) => message.entries.filter(entry => entry.event === event));
        const times = told.reduce((sum, entry) => sum + entry.times, 0);
        const { happened, dropped } = counts.get(event) ?? { happened: 0, dropped: 0 };
        expect(times + dropped).toBe(happened);
      }
    }),
    { numRuns: 60 },
  );
});

test('a critical event is told within five seconds in any flood of others, while it has lines and messages left', async () => {
  const others = ALERT_EVENT_NAMES.filter(event => alertKind(event).isCritical !== true);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom(...others), fc.integer({ min: 0, max: 20_000 })), {
        maxLength: 150,
        size: 'max',
      }),
      fc.integer({ min: 3, max: 15 }),
      async (flood, most) => {
        const { clock, outbox, delivered } = rig(most, arrives, MODES, 500);
        for (const [i, [event, afterMs]] of flood.entries()) {
          await clock.advance(afterMs);
          outbox.raise(event, `${i}`);
        }
        const at = clock.elapsed();
        outbox.raise('halted', 'drawdown');
        await clock.advance(5_000);
        const told = delivered.find(({ message }) => message.entries.some(({ event }) => event === 'halted'));
        expect((told?.at ?? Infinity) - at).toBeLessThan(5_000);
      },
    ),
    { numRuns: 60 },
  );
});

/** Returns the ms that a duration such as 40 s, 12 min or 5 h stands for, and its unit in ms. */
function msOf(text: string): readonly [ms: number, unit: number] {
  const [, count, unit] = /, for (\d+) (s|min|h)$/.exec(text) ?? [];
  const unitMs = unit === 's' ? 1_000 : unit === 'min' ? 60_000 : 3_600_000;
  return [Number(count) * unitMs, unitMs];
}

test('a message has sound exactly if it is the first about something loud since its event began or its text changed, and how long an event lasted is counted from its own start', async () => {
  const modes = fc.record(
    Object.fromEntries(
      ALERT_EVENT_NAMES.map(event => [event, fc.constantFrom<AlertMode>('on', 'on', 'silent', 'off')]),
    ),
  );
  let owedAgain = 0;
  await fc.assert(
    fc.asyncProperty(happenings, modes, async (flood, drawn) => {
      const { clock, outbox, begun } = rig(15, arrives, drawn as typeof MODES);
      type State = { text: string; start: number; end: number | null; hasBeenLoud: boolean; owesSound: boolean };
      const states = new Map<AlertEvent, State>();
      let checked = 0;
      const check = (): void => {
        for (const { at, message } of begun.slice(checked)) {
          const told = message.entries.map(entry => ({ ...entry, event: entry.event as AlertEvent }));
          expect(message.isSilent).toBe(!told.some(({ event }) => states.get(event)?.owesSound === true));
          for (const { event, times, text } of told) {
            const state = states.get(event)!;
            expect(drawn[event]).not.toBe('off');
            state.owesSound = false;
            if (times > 0 || alertKind(event).isMoment === true) expect(text).toBe(state.text);
            else {
              const [ms, unit] = msOf(text);
              expect(text.startsWith(`${state.text}, for `)).toBe(true);
              // Rounded to seconds first.
              expect(Math.abs(ms - ((state.end ?? at) - state.start))).toBeLessThanOrEqual(unit / 2 + 500);
            }
          }
        }
        checked = begun.length;
      };
      for (const { event, what, text, afterMs } of flood) {
        await clock.advance(afterMs);
        check();
        const known = states.get(event);
        const isOn = known !== undefined && known.end === null && alertKind(event).isMoment !== true;
        if (what === 'end') {
          outbox.end(event);
          if (isOn) known.end = clock.elapsed();
        } else {
          const isLoud = drawn[event] === 'on' && what === 'raise';
          const isNews = !isOn || known.text !== text || !known.hasBeenLoud;
          const hasBeenLoud = isLoud || (isOn && known.hasBeenLoud);
          const owesSound = (isLoud && isNews) || known?.owesSound === true;
          if (isLoud && isNews && known !== undefined) owedAgain++;
          const start = isOn ? known.start : clock.elapsed();
          states.set(event, { text, start, end: null, hasBeenLoud, owesSound });
          outbox.raise(event, text, what === 'quiet');
        }
        check();
      }
      await clock.advance(WINDOW_MS);
      check();
      await clock.advance(6 * 3_600_000);
      check();
      expect([...states].filter(([, { owesSound }]) => owesSound)).toEqual([]);
    }),
    runsOf(200, 30),
  );
  expect(owedAgain).toBeGreaterThan(50);
});

describe('one event', () => {
  test('that flaps is told as it begins, ends and begins; then once more, as it stands, when there is room', async () => {
    const { clock, outbox, delivered } = rig(12, arrives);
    for (let i = 0; i < 20; i++) {
      outbox.raise('bookStale', 'book stale');
      await clock.advance(10_000);
      outbox.end('bookStale');
      await clock.advance(10_000);
    }
    await clock.advance(WINDOW_MS);
    const told = delivered.flatMap(({ message }) => message.entries);
    expect(told.map(({ state, times }) => [state, times])).toEqual([
      ['begins', 1],
      ['over', 0],
      ['begins', 1],
      ['over', 18],
    ]);
  });

  test('is silent or off as it is configured; a silent one becomes loud when it is raised again aloud', async () => {
    const { clock, outbox, delivered } = rig(12, arrives, { ...MODES, wide: 'silent', fill: 'off' });
    outbox.raise('fill', 'bought');
    outbox.raise('wide', 'the book is thin');
    await clock.advance(5_000);
    outbox.raise('bookStale', 'book stale', true);
    await clock.advance(5_000);
    outbox.raise('bookStale', 'book stale', true);
    outbox.raise('bookStale', 'book stale');
    outbox.raise('bookStale', 'book stale');
    await clock.advance(5_000);
    expect(
      delivered.map(({ message }) => [message.entries.map(e => `${e.event} ${e.times}`).join(), message.isSilent]),
    ).toEqual([
      ['wide 1', true],
      ['bookStale 1', true],
      ['bookStale 0', false],
    ]);
    expect(outbox.takeCounts().get('fill')).toEqual({ happened: 1, dropped: 0 });
  });
});

describe('what does not arrive', () => {
  test('is tried again, later each time, under the same id; what happens meanwhile waits for it', async () => {
    let isUp = false;
    const tries: string[] = [];
    const { clock, outbox, delivered, lines } = rig(12, () =>
      isUp ? { kind: 'delivered' } : { kind: 'later', why: 'ECONNREFUSED' },
    );
    outbox.raise('halted', 'drawdown');
    await clock.advance(120_000);
    outbox.raise('reduceOnly', 'a person');
    isUp = true;
    await clock.advance(60_000);
    tries.push(...delivered.map(({ message }) => message.id));
    expect(tries).toEqual(['x-1', 'x-2']);
    expect(lines.map(({ text }) => text)).toEqual([
      'alerts: delivery to a test failed: ECONNREFUSED; retrying',
      'alerts: a test accepts messages again',
    ]);
  });

  test('after an hour, or refused, it is given up: in the log with its text, and in the counts', async () => {
    const { clock, outbox, lines } = rig(12, () => ({ kind: 'later', why: 'answers 500' }));
    outbox.raise('halted', 'drawdown');
    await clock.advance(2 * 3_600_000);
    expect(lines.at(-1)).toMatchObject({
      level: 'error',
      known: { lost: [{ event: 'halted', times: 1, text: 'drawdown' }] },
      text: 'alerts: delivery to a test failed: answers 500; lost alerts: halted',
    });
    expect(outbox.takeCounts().get('halted')).toEqual({ happened: 1, dropped: 1 });
  });

  test('a stop sends what is left at once, and waits no longer than four seconds for a channel that hangs', async () => {
    const quick = rig(3, arrives);
    for (const text of ['a', 'b', 'c', 'd', 'e', 'f']) {
      quick.outbox.raise('halted', text);
      await quick.clock.advance(3_000);
    }
    quick.outbox.raise('stopped', 'stopped');
    const ended = quick.outbox.close();
    await quick.clock.advance(100);
    await ended;
    expect(quick.delivered.at(-1)?.message.entries.map(({ event, times }) => [event, times])).toEqual([
      ['halted', 3],
      ['stopped', 1],
    ]);
    const slow = rig(3, arrives, MODES, 1e9);
    slow.outbox.raise('halted', 'a');
    await slow.clock.advance(1_000);
    slow.outbox.raise('stopped', 'b');
    let isClosed = false;
    void slow.outbox.close().then(() => (isClosed = true));
    await slow.clock.advance(4_000);
    expect(isClosed).toBe(true);
    expect(slow.lines.map(({ text }) => text)).toEqual([
      'alerts: delivery to a test failed: closed; lost alerts: halted',
      'alerts: delivery to a test failed: closed; lost alerts: stopped',
    ]);
  });
});

test('a text fits, has a line for every event, and no half of a character', () => {
  const of = (...units: string[]) => fc.string({ unit: fc.constantFrom(...units), maxLength: 3_000, size: 'max' });
  const text = fc.oneof(of('a', ' ', 'é', '😀'), of('é', '😀', '𝔘'));
  const texts = fc.array(text, { minLength: 1, maxLength: ALERT_EVENT_NAMES.length, size: 'max' });
  fc.assert(
    fc.property(texts, fc.integer({ min: 2_000, max: 5_000 }), (all, max) => {
      const entries = all.map((text, i): Entry => ({
        event: ALERT_EVENT_NAMES[i]!,
        state: 'once',
        text,
        at: 0,
        times: 1,
      }));
      const text = messageText({ title: 'mm1 btc_mxn', entries }, max);
      expect(text.length).toBeLessThanOrEqual(max);
      expect(text).not.toMatch(/\p{Surrogate}/u);
      expect(text.split('\n').length).toBe(1 + all.length);
      for (const { event } of entries) expect(text).toContain(` ${event}: `);
      // Nothing is cut where there is room.
      const whole = `mm1 btc_mxn\n${entries.map(e => `00:00:00 ${e.event}: ${e.text}`).join('\n')}`;
      if (whole.length <= max) expect(text).toBe(whole);
      else expect(text.length).toBeGreaterThan(0.7 * max);
    }),
    { numRuns: 100, endOnFailure: true },
  );
  expect(cut('one two three', 9)).toBe('one two…');
});

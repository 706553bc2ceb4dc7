/** Who is told of a beginning is told of its end, and what lasts is told, whatever its reasons do in between: laws over random lives of a bot. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Conditions } from '../../src/alerts/conditions.ts';
import { Outbox } from '../../src/alerts/outbox.ts';
import type { Message } from '../../src/alerts/message.ts';
import { ALERT_EVENT_NAMES, type AlertEvent, type AlertMode } from '../../src/config.ts';
import { VirtualClock, type Snapshot } from '../../src/core/index.ts';
import { memoryLog } from '../memoryLog.ts';
import { CALM, snapshot, type Bot } from './bots.ts';

const LOOK_MS = 500;
const noCounts = { requests: { all: 0, failed: 0, slow: 0 }, decisions: { all: 0, slow: 0 } };

/** What holds of a bot: the event, how long it must last to be told, and to be loud, and words of what is told. ms. */
type Holding = readonly [event: AlertEvent, holdMs: number, loudMs: number, words: string];
const pausedFor = (quoting: Snapshot['quoting'], ...holding: Holding[]) => [snapshot({ quoting }), holding] as const;
const hidden = (reason: 'at the cap' | 'no fair value') => {
  const side = { reason, words: null, level: null } as const;
  return snapshot({ unshown: { buy: side, sell: side } });
};
const oneSide = (buy: number, sell: number): Bot => ({ ...CALM, quotesLive: { buy, sell } });
const budget = (left: { public: number; private: number }): Bot => ({ ...CALM, budget: left });
const old = (bot: Bot): Bot => ({ ...bot, sentinelAgeMs: 61_000 });
const noLife: Holding = ['sentinelGone', 1_000, 1_000, 'no sentinel heartbeat'];
const BOTS: readonly (readonly [Bot, readonly Holding[]])[] = [
  [CALM, []],
  pausedFor('private data stale', ['notQuoting', 1_000, 120_000, 'private data stale']),
  pausedFor('book crossed', ['notQuoting', 1_000, 120_000, 'book crossed']),
  pausedFor('not ready', ['notQuoting', 30_000, 120_000, 'not ready']),
  pausedFor('stopping', ['notQuoting', 30_000, 120_000, 'the last run has stopped']),
  [hidden('at the cap'), [['notQuoting', 2_000, 120_000, 'at the cap']]],
  [hidden('no fair value'), [['notQuoting', 2_000, 120_000, 'no fair value']]],
  pausedFor('book stale', ['bookStale', 1_000, 30_000, 'book stale']),
  pausedFor('sentinel is missing', ['sentinelGone', 1_000, 1_000, 'is missing']),
  [old(CALM), [noLife]],
  [old(snapshot({ quoting: 'book stale' })), [noLife, ['bookStale', 1_000, 30_000, 'book stale']]],
  [oneSide(3, 0), [['oneSided', 600_000, 600_000, 'one side']]],
  [oneSide(0, 3), [['oneSided', 600_000, 600_000, 'one side']]],
  [budget({ public: 0, private: 9 }), [['budgetSpent', 60_000, 60_000, 'no public']]],
  [budget({ public: 0, private: 0 }), [['budgetSpent', 60_000, 60_000, 'no public or private']]],
];

const delayed = (event: AlertEvent, holdMs: number) => `${event} after ${holdMs}`;

/** What was told of an event that is not over. */
type Open = { text: string; isLoud: boolean };

/** Asked a hundred thousand times: `expect` would take minutes. */
const must = (holds: boolean | undefined, otherwise: string): void => {
  if (holds !== true) throw new Error(otherwise);
};

test('what was told is over when it is over; what lasts is told, loudly in time, and with the reason that lasts', () => {
  const lives = fc.array(
    fc.tuple(
      // Well is as likely as all the rest: an end, and the next occurrence.
      fc.oneof({ weight: 1, arbitrary: fc.constant(0) }, { weight: 4, arbitrary: fc.nat(BOTS.length - 1) }),
      // Moments, and minutes: how many looks, and ms between two.
      fc.oneof(
        fc.tuple(fc.constantFrom(1, 1, 2, 3, 7), fc.constant(LOOK_MS)),
        fc.tuple(fc.constantFrom(7, 13, 26, 130), fc.constant(5_000)),
      ),
    ),
    { minLength: 2, maxLength: 20, size: 'max' },
  );
  fc.assert(
    fc.property(lives, life => {
      const conditions = new Conditions();
      const open = new Map<AlertEvent, Open>();
      const told = {
        raise: (event: AlertEvent, text: string, isQuiet: boolean) =>
          void open.set(event, { text, isLoud: !isQuiet || open.get(event)?.isLoud === true }),
        end: (event: AlertEvent) => must(open.delete(event), `${event} ends, and never began`),
      };
      const since = new Map<string, number>();
      let elapsed = 0;
      for (const [which, [looks, everyMs]] of life) {
        const [bot, holding] = BOTS[which]!;
        const from = elapsed;
        // Of an event, and of its causes that have the same delay.
        const all = holding.flatMap(([event, holdMs]) => [event, delayed(event, holdMs)]);
        for (const each of since.keys()) if (!all.includes(each)) since.delete(each);
        for (const each of all) if (!since.has(each)) since.set(each, from);
        for (let i = 0; i < looks; i++, elapsed += everyMs) {
          conditions.look({ ...bot, ...noCounts, elapsed }, told);
          for (const event of open.keys())
            // The market of this test has no fills: that alone lasts through all of it.
            must(event === 'noFills' || since.has(event), `${event} is over, and nobody is told`);
          for (const [event, holdMs, loudMs, words] of holding) {
            const said = open.get(event);
            const ms = elapsed - since.get(event)!;
            must(elapsed - from < loudMs || said?.text.includes(words), `${event} has this reason now`);
            const isDue = elapsed - since.get(delayed(event, holdMs))! >= holdMs;
            must(!isDue || said !== undefined, `${event} has held, for one reason or the other`);
            must(ms < loudMs || said?.isLoud, `${event} has lasted`);
            must(ms >= loudMs || !said?.isLoud, `${event} is young`);
          }
        }
      }
    }),
    { numRuns: 100 },
  );
});

/** A bot that lives, and what a person is sent of one event. */
function told(event: AlertEvent) {
  const clock = new VirtualClock();
  const sent: { readonly at: number; readonly isSilent: boolean; readonly text: string }[] = [];
  const channel = {
    name: 'a test',
    close: async () => undefined,
    send: async ({ entries, isSilent }: Message) => {
      for (const { event: of, state, text } of entries)
        if (of === event) sent.push({ at: clock.elapsed(), isSilent, text: `${state}: ${text}` });
      return { kind: 'delivered' as const };
    },
  };
  const modes = Object.fromEntries(ALERT_EVENT_NAMES.map(each => [each, 'on'])) as Record<AlertEvent, AlertMode>;
  const options = { clock, log: memoryLog().log, channel, title: 'mm1', idPrefix: 'x', messagesPer10Min: 12, modes };
  const outbox = new Outbox(options);
  const conditions = new Conditions();
  const lives = async (bot: Bot, ms: number) => {
    for (const end = clock.elapsed() + ms; clock.elapsed() < end; await clock.advance(LOOK_MS))
      conditions.look({ ...bot, ...noCounts, elapsed: clock.elapsed() }, outbox);
  };
  return { lives, sent };
}

test('a cause that another took the place of for a moment is told again when it comes again, with how long it lasted', async () => {
  const { lives, sent } = told('sentinelGone');
  const gone = old(snapshot({ quoting: 'sentinel is missing' }));
  await lives(gone, 60_000);
  await lives(old(snapshot({ quoting: 'book stale' })), 500);
  await lives(CALM, 600_000);
  await lives(gone, 120_000);
  await lives(CALM, 10_000);
  expect(sent.map(({ text }) => text)).toEqual([
    'begins: not quoting: sentinel is missing',
    'over: not quoting: sentinel is missing, for 60 s',
    'begins: not quoting: sentinel is missing',
    'over: not quoting: sentinel is missing, for 119 s',
  ]);
});

test('reasons that take turns leave room to be loud in time', async () => {
  const { lives, sent } = told('notQuoting');
  for (let i = 0; i < 40; i++) await lives(snapshot({ quoting: i % 2 === 0 ? 'book crossed' : 'not ready' }), 5_000);
  expect(sent.map(({ isSilent }) => isSilent)).toEqual([true, false]);
  expect(sent[1]!.at).toBeLessThan(125_000);
});

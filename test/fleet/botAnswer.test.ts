/** The fleet accepts the answers of a console; any other answer becomes one clause, and nothing of it reaches a screen as it came. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { emptySummary, summaryOfView, type ConsoleView } from '../../src/console/index.ts';
import { ANSWER_BYTES_MAX, summaryIn } from '../../src/fleet/botAnswer.ts';
import { FULL_VIEW, HOSTILE, poisoned } from '../console/hostileTexts.ts';
import { summaryWith } from './doubles.ts';

/** A view of now. */
const NOW: ConsoleView = { ...FULL_VIEW, catchingUp: null };
const MAKER = { version: '0.1.0', madeAt: 5, money: 'real', speed: 1 } as const;
/** Control and bidirectional characters. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e]/;

/** Returns every text in a value. */
const textsIn = (value: unknown): readonly string[] =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(textsIn)
      : [];

describe('the summary of a console', () => {
  test('of a view with every part is accepted, and nothing of it is lost', () => {
    const summary = summaryOfView(NOW, MAKER);
    expect(summaryIn(JSON.stringify(summary))).toEqual(summary);
    expect(summary.run).toMatchObject({
      book: NOW.book,
      profit: { total: NOW.profit?.total },
      inventory: NOW.position,
    });
  });

  test('has the real age of the last fill, which grows while the bot is stopped, also of an accelerated bot', () => {
    const stopped = { ...NOW.bot, state: 'stopped', beatAgoMs: 3_600_000, writtenAgoMs: 5_000 } as const;
    const [newest] = NOW.fills.last;
    const view = { ...NOW, at: newest!.at + 10_000, bot: stopped };
    const ago = (speed: number) =>
      summaryOfView(view, { ...MAKER, madeAt: newest!.at + 3_610_000, speed }).run?.fills.last?.agoMs;
    expect(ago(1)).toBe(3_610_000);
    expect(ago(10)).toBe(3_601_000);
  });

  test('with a long name is accepted: the name is cut', () => {
    const long = 'n'.repeat(200);
    const limits = [{ limit: long, currency: null, max: '1', used: '0.2', share: 0.2 }];
    const summary = summaryOfView({ ...NOW, strategy: long, instance: long, limits }, MAKER);
    expect(summaryIn(JSON.stringify(summary))).toMatchObject({ run: { strategy: 'n'.repeat(80) } });
  });

  test('of a bot that never ran is accepted', () => {
    const bot = { state: 'never ran', beatAgoMs: null, writtenAgoMs: null, halts: [] } as const;
    const summary = emptySummary(bot, 'no such folder', MAKER);
    expect(summaryIn(JSON.stringify(summary))).toEqual(summary);
  });

  test('of a console that still reads a long recording has no figures and no prices, because they are of an earlier time', () => {
    const { run } = summaryOfView({ ...NOW, catchingUp: 0.417 }, MAKER);
    expect(run).toMatchObject({
      ...{ profit: null, inventory: null, market: { bid: null, ask: null, bookAgeMs: null } },
      unknown: 'the console still reads the recording (41%)',
    });
  });

  test('of a bot without a heartbeat has no inventory, because its last trades were not read', () => {
    const view: ConsoleView = { ...NOW, unknown: null, bot: { ...NOW.bot, state: 'silent' } };
    const { run } = summaryOfView(view, MAKER);
    expect(run).toMatchObject({ inventory: null, profit: { total: view.profit?.total } });
    expect(run?.unknown).toMatch(/sends no heartbeat/);
  });

  test('has the newest fill, the most used limit, and warnings of the last hour alone', () => {
    const event = (level: 'info' | 'warn' | 'error', ago: number) => ({
      at: NOW.at - ago,
      who: 'bot',
      level,
      text: level,
    });
    const { run } = summaryOfView(
      {
        ...NOW,
        events: [event('info', 0), event('warn', 1), event('error', 2), event('error', 3_600_001)],
        limits: [
          { limit: 'a', currency: null, max: '1', used: '0.2', share: 0.2 },
          { limit: 'b', currency: null, max: '1', used: '0.9', share: 0.9 },
        ],
      },
      MAKER,
    );
    expect(run).toMatchObject({ limit: { limit: 'b' }, events: { warnings: 1, errors: 1, last: { level: 'warn' } } });
    expect(run?.fills.last?.at).toBe(NOW.fills.last[0]?.at);
  });

  test.each(HOSTILE.map(text => [text.slice(0, 40), text]))(
    'with the text %j is accepted in every sentence, stays small, and shows no control character',
    (_, text) => {
      const sentences: ConsoleView = {
        ...NOW,
        decision: {
          ...NOW.decision,
          ...{ note: text, difference: text, refusal: text, regime: { regime: 'wide', since: 1, why: text } },
        },
        bot: {
          ...NOW.bot,
          halts: Array.from({ length: 20 }, () => ({ what: 'held', reason: text, at: 1, by: text, until: null })),
        },
        ...{ unknown: text, events: [{ at: NOW.at, who: text, level: 'warn', text }] },
      };
      const body = JSON.stringify(summaryOfView(sentences, MAKER));
      expect(Buffer.byteLength(body)).toBeLessThan(ANSWER_BYTES_MAX);
      expect(summaryIn(body)).toMatchObject({ run: { regime: { regime: 'wide' } } });
      for (const read of [summaryIn(body), summaryIn(JSON.stringify(summaryOfView(poisoned(NOW, text), MAKER)))])
        for (const each of textsIn(read)) expect(each).not.toMatch(CONTROL);
    },
  );
});

test('any JSON, and a summary with any one value replaced, is a clean summary or one short clause', () => {
  const isClean = (body: string): boolean => {
    const read = summaryIn(body);
    return textsIn(read).every(text => !CONTROL.test(text)) && (typeof read !== 'string' || read.length < 300);
  };
  fc.assert(fc.property(fc.json(), isClean));
  fc.assert(fc.property(fc.string(), isClean));
  const keys = Object.keys(summaryWith().run!);
  fc.assert(
    fc.property(fc.constantFrom(...keys), fc.jsonValue(), (key, value) =>
      isClean(JSON.stringify(summaryWith({ [key]: value }))),
    ),
  );
});

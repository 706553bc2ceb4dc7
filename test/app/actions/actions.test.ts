/** What is asked for is cleaned and checked, and the journal loses nothing of it. */
import { appendFileSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { actionsIn, noteAction } from '../../../src/app/actions/actionJournal.ts';
import { ACTION_VIAS, checkedAsk, type ActionAsk } from '../../../src/app/actions/actions.ts';
import { executeAction } from '../../../src/app/actions/executeAction.ts';
import { VirtualClock } from '../../../src/core/index.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { Folders } from '../../live/states.ts';

const folders = new Folders();
afterAll(() => folders.clear());

const fresh = (): string => {
  const dir = folders.fresh();
  mkdirSync(dir, { mode: 0o700 });
  return dir;
};
type Plain = Exclude<ActionAsk, { action: 'flatten' | 'set' }>;
const ask = (changes: Partial<Plain> = {}): ActionAsk => ({
  id: 'a-1',
  action: 'halt',
  reason: 'a look at it',
  by: 'ann',
  via: 'command',
  ...changes,
});

describe('what is asked for', () => {
  test('has no character that cannot be read, is at most 500 long, and stays itself when it is checked again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 700 }), text => {
        const { reason } = checkedAsk(ask({ reason: `four ${text}` }), 0);
        expect(reason).not.toMatch(/[\p{Cc}\p{Cf}]/u);
        expect([...reason].length).toBeLessThanOrEqual(500);
        expect(checkedAsk(ask({ reason }), 0).reason).toBe(reason);
      }),
    );
  });

  test.each(['', '   ', 'ok', '\u0007\u0007\u0007\u0007\u0007', '\u200b\u200b\u200b\u200b', 'a b c'])(
    'needs four characters that can be seen as its reason, not %j; a reload may have none',
    reason => {
      expect(() => checkedAsk(ask({ reason }), 0)).toThrow(/--reason: expected a few words that say why/);
      if (reason.trim() === '') expect(checkedAsk(ask({ action: 'reload', reason }), 0).reason).toBe('');
    },
  );

  test('has somebody who asks, and a pause that is not over before it begins', () => {
    expect(() => checkedAsk(ask({ by: ' \n ' }), 0)).toThrow(/--by/);
    const pause = (untilMs: number) => checkedAsk(ask({ action: 'pause', untilMs }), 1_000);
    expect(() => pause(1_000)).toThrow(/--for/);
    expect(() => pause(Number.NaN)).toThrow(/--for/);
    expect(pause(1_001)).toMatchObject({ untilMs: 1_001 });
  });
});

describe('the journal', () => {
  test('gives back every entry that was written, in order, with any text and all that its action has', () => {
    const text = fc.string();
    const named = { reason: text, by: text, via: fc.constantFrom(...ACTION_VIAS), agent: text };
    const required = ['action', 'reason', 'by', 'via'] as const;
    const book = fc.constantFrom('btc_mxn', 'eth_mxn');
    const ofAction = fc.oneof(
      fc.record(
        { action: fc.constant('pause' as const), ...named, book, untilMs: fc.nat() },
        { requiredKeys: [...required] },
      ),
      fc.record(
        { action: fc.constantFrom('reduce' as const, 'halt' as const, 'resume' as const), ...named, book },
        { requiredKeys: [...required] },
      ),
      fc.record(
        { action: fc.constantFrom('cancel' as const, 'reload' as const), ...named },
        { requiredKeys: [...required] },
      ),
      fc.record(
        { action: fc.constant('flatten' as const), ...named, costMax: text },
        { requiredKeys: [...required, 'costMax'] },
      ),
      fc.record(
        {
          ...{ action: fc.constant('set' as const), ...named, book, key: text },
          ...{ value: fc.option(text), from: fc.option(text), to: fc.option(text) },
        },
        { requiredKeys: [...required, 'key', 'value'] },
      ),
    );
    const anyEntry = fc.record({
      asked: ofAction,
      lines: fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 3 }),
      end: fc.constantFrom('done' as const, 'refused' as const),
    });
    /** Journal entry of a request: a change has its value before and after, and the requested one if it differs. */
    const entryOf = (asked: typeof ofAction extends fc.Arbitrary<infer T> ? T : never): object => {
      if (asked.action !== 'set') return asked;
      const { key, value, from = null, to = value, ...others } = asked;
      return { ...others, change: { key, from, to, ...(to === value ? {} : { asked: value }) } };
    };
    fc.assert(
      fc.property(fc.array(anyEntry, { maxLength: 5 }), entries => {
        const dir = fresh();
        entries.forEach(({ asked, ...end }, i) => noteAction(dir, i, { ...asked, id: `n-${i}` }, end));
        expect(actionsIn(dir)).toEqual(
          entries.map(({ asked, ...end }, i) => ({ id: `n-${i}`, at: i, ...entryOf(asked), ...end })),
        );
      }),
      { numRuns: 60 },
    );
  });

  test('loses only the line that a power cut left half written, and nobody but its owner reads it', () => {
    const dir = fresh();
    const file = join(dir, 'actions.jsonl');
    noteAction(dir, 1, ask(), { end: 'done', lines: [] });
    appendFileSync(file, '{"id":"half","at":2,"act');
    noteAction(dir, 3, ask({ id: 'a-3' }), { end: 'done', lines: ['halted'] });
    expect(actionsIn(dir).map(({ id }) => id)).toEqual(['a-1', 'a-3']);
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(4);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});

describe('an action', () => {
  const clock = new VirtualClock();

  test('that is refused is a line too; one that was asked wrongly is none', async () => {
    const bot = { stateDir: fresh() };
    const end = await executeAction(bot, ask({ action: 'resume' }), clock);
    expect([end.end, end.lines[0]]).toEqual(['refused', expect.stringMatching(/nothing to resume/)]);
    await expect(executeAction(bot, ask({ reason: 'no' }), clock)).rejects.toThrow(/--reason/);
    expect(actionsIn(bot.stateDir).map(({ action, end: of }) => [action, of])).toEqual([['resume', 'refused']]);
  });

  test('names who did it where it holds', async () => {
    const bot = { stateDir: fresh() };
    for (const action of ['pause', 'reduce', 'halt'] as const)
      await executeAction(bot, ask({ action, id: action, by: 'bob', via: 'console' }), clock);
    const latch = latchIn(bot.stateDir);
    expect([latch.readPause()?.who, latch.readReduce()?.who, latch.read()?.who]).toEqual(['bob', 'bob', 'bob']);
    expect(actionsIn(bot.stateDir).map(({ via, by }) => `${by} ${via}`)).toEqual(Array(3).fill('bob console'));
  });
});

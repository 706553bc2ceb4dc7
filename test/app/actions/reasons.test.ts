/** Reasons and names, as every verb that takes them keeps them. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { executeAction } from '../../../src/app/actions/executeAction.ts';
import { promotionJudge } from '../../../backtest/app/promote/checkStage.ts';
import { adjust } from '../../../src/app/inspect/ledger.ts';
import { latchHalt } from '../../../src/app/inspect/halt.ts';
import { reduce, resume } from '../../../src/app/actions/reduceAndResume.ts';
import { checkedBy, checkedReason } from '../../../src/messages/reason.ts';
import { promoteOptions } from '../../../src/app/promote/promote.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { VirtualClock } from '../../../src/core/index.ts';
import { STATE_FILE } from '../../../src/live/state/stateFile.ts';
import { NO_PROGRESS } from '../noProgress.ts';

const root = mkdtempSync(join(tmpdir(), 'puntas-reasons-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A word that can be read, among signs that command terminals, turn writing around or end lines. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom('\u001b[2J', '\u009b31m', '\n', '\r', '\u0000', '\u2028', '\u202e', '\u200b', '\u0007', '\t'),
      fc.string({ unit: 'binary', maxLength: 5 }),
    ),
    { maxLength: 12 },
  )
  .map(parts => `they${parts.join('look')}odd`);

const UNREADABLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Every text in the files of a folder, as whoever reads the JSON in them gets it. */
function textsIn(dir: string): string[] {
  const texts: string[] = [];
  const within = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(within);
  };
  for (const name of readdirSync(dir)) {
    if (name === STATE_FILE) continue;
    for (const line of readFileSync(join(dir, name), 'utf8')
      .split('\n')
      .filter(each => each !== '')) {
      try {
        within(JSON.parse(line));
      } catch {
        texts.push(line);
      }
    }
  }
  return texts;
}

const VERBS: Readonly<Record<string, (dir: string, reason: string, by: string) => unknown>> = {
  ...Object.fromEntries(
    (['pause', 'reduce', 'halt', 'resume'] as const).map(action => [
      action,
      (dir: string, reason: string, by: string) =>
        executeAction({ stateDir: dir }, { id: 'a-1', action, reason, by, via: 'command' }, new VirtualClock()),
    ]),
  ),
  flatten: (dir, reason, by) =>
    executeAction(
      { stateDir: dir },
      { id: 'a-1', action: 'flatten', costMax: '1', reason, by, via: 'command' },
      new VirtualClock(),
    ),
  'halt before it has a folder': (dir, reason, by) => latchHalt({ stateDir: dir }, reason, 1, checkedBy(by)),
  'reduce by the console': (dir, reason, by) => reduce({ stateDir: dir }, reason, 1, checkedBy(by)),
  'resume of a halt': (dir, reason, by) => {
    latchHalt({ stateDir: dir }, 'a halt', 1);
    return resume({ stateDir: dir }, reason, 1, checkedBy(by));
  },
  adjust: (dir, reason, by) => {
    writeFileSync(join(dir, STATE_FILE), '');
    return adjust(dir, { currency: 'btc', amount: '1', reason, by }, new VirtualClock());
  },
  'a promotion': (dir, reason, by) => {
    const clock = new VirtualClock();
    const { reason: kept, by: name } = promoteOptions({
      judge: promotionJudge,
      ...{ liveFile: join(dir, 'my.yaml'), by, reason, needsReason: true, version: '1', threads: 1 },
      ...{ clock, progress: NO_PROGRESS, onInput: () => undefined },
    });
    writeFileSync(join(dir, 'kept.json'), JSON.stringify({ kept, name }));
  },
};

describe('a reason with control characters', () => {
  test.each(Object.entries(VERBS))('(%s) reaches no file as it is', async (_, verb) => {
    await fc.assert(
      fc.asyncProperty(hostile, hostile, async (reason, by) => {
        const dir = mkdtempSync(join(root, 'state-'));
        try {
          await verb(dir, reason, by);
        } catch (error) {
          if (!(error instanceof UsageError)) throw error;
        }
        expect(textsIn(dir).filter(text => UNREADABLE.test(text))).toEqual([]);
        if (existsSync(dir)) rmSync(dir, { recursive: true });
      }),
      { numRuns: 25 },
    );
  });

  test('is one line of what can be read, the same when it is cleaned again, and refused where that says nothing', () => {
    fc.assert(
      fc.property(hostile, text => {
        const kept = checkedReason(text);
        expect(UNREADABLE.test(kept)).toBe(false);
        expect(kept.length).toBeLessThanOrEqual(1_000);
        expect(checkedReason(kept)).toBe(kept);
      }),
    );
    for (const nothing of ['', 'abc', '\u001b\u0007\n\u200b\u202e', ' \t a b c '])
      expect(() => checkedReason(nothing)).toThrow('--reason: expected a few words that say why');
  });
});

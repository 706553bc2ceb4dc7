/** A reload takes what was previewed, or nothing. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { actionsIn } from '../../../src/app/actions/actionJournal.ts';
import { executeAction, executeReload } from '../../../src/app/actions/executeAction.ts';
import { previewAction } from '../../../src/app/actions/previewAction.ts';
import { consoleActions } from '../../../src/app/console/consoleActions.ts';
import { askReload } from '../../../src/app/actions/askReload.ts';
import { digestOf } from '../../../src/app/run/reloading.ts';
import { shippedConfig } from '../../../src/wiring/configFile.ts';
import { VirtualClock } from '../../../src/core/index.ts';
import { ReloadBox } from '../../../src/live/mailbox/mailbox.ts';
import { advancing } from '../../live/world.ts';

const root = mkdtempSync(join(tmpdir(), 'puntas-ask-reload-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const shipped = readFileSync(shippedConfig('sandbox'), 'utf8');
const spread = (bps: number): string => shipped.replace('halfSpreadBps: 16', `halfSpreadBps: ${bps}`);

/** A state directory whose bot answers what it is asked, and has heard of which files. */
function scene() {
  const dir = mkdtempSync(join(root, 'bot-'));
  const [file, clock, box] = [join(dir, 'my.yaml'), new VirtualClock(1_700_000_000_000), new ReloadBox(dir)];
  const taken: (string | null)[] = [];
  const bot = { end: 'taken' as 'taken' | 'kept' };
  const look = () => {
    const asked = box.waiting();
    if (asked !== null) {
      box.take();
      if (!asked.isPreview && bot.end === 'taken') taken.push(asked.digest);
      box.answer({ id: asked.id, end: asked.isPreview ? 'shown' : bot.end, lines: ['a line'] });
    }
    clock.after(500, look);
  };
  look();
  const passing = <T>(work: Promise<T>) => advancing(clock, 250, work);
  let n = 0;
  const previewed = (by: string) =>
    passing(
      askReload({ config: file, state: dir, paper: false, preview: true, reason: '', by, id: `p-${++n}` }, clock),
    );
  const reload = (by: string, digest?: string) => {
    const named = digest === undefined ? {} : { digest };
    const ask = { id: `r-${++n}`, action: 'reload', reason: 'a test', by, via: 'command', ...named } as const;
    return passing(executeReload({ configFile: file, stateDir: dir }, ask, clock));
  };
  return { dir, file, clock, taken, bot, passing, previewed, reload };
}

const bps = fc.integer({ min: 11, max: 14 });

describe('a reload', () => {
  test('takes the file that was previewed, also when the bot kept its own before, and is refused where that says anything else by then', async () => {
    await fc.assert(
      fc.asyncProperty(bps, bps, fc.boolean(), fc.boolean(), async (shown, found, isNamed, isKept) => {
        const { dir, file, taken, bot, previewed, reload } = scene();
        writeFileSync(file, spread(shown));
        const { digest } = await previewed('ann');
        expect(digest).toBe(digestOf(spread(shown)));
        // A bot that could not take it has still to be given what was shown.
        if (isKept) {
          bot.end = 'kept';
          expect((await reload('ann')).end).toBe('kept');
          bot.end = 'taken';
        }
        writeFileSync(file, spread(found));
        const asked = reload('ann', isNamed ? digest.slice(0, 16) : undefined);
        if (shown === found) {
          expect((await asked).end).toBe('taken');
          expect(taken).toEqual([digest]);
        } else {
          await expect(asked).rejects.toThrow('changed since the preview');
          expect([taken, existsSync(join(dir, 'reload.json'))]).toEqual([[], false]);
        }
      }),
      { numRuns: 20, examples: [[11, 12, false, true]] },
    );
  });

  test('a preview for an agent, under whatever name, is none that an operator saw', async () => {
    const { dir, file, taken, clock, passing, previewed, reload } = scene();
    writeFileSync(file, spread(11));
    await previewed('ann');
    writeFileSync(file, spread(12));
    const ask = { id: 'p-agent', action: 'reload', reason: 'a test', by: 'ann', via: 'agent' } as const;
    expect(await passing(previewAction({ configFile: file, stateDir: dir }, ask, clock))).toEqual({
      lines: ['a line'],
    });
    await expect(reload('ann')).rejects.toThrow('changed since the preview');
    expect(taken).toEqual([]);
  });

  test('without a preview, of another operator, or after what was previewed is taken, takes the file as it is', async () => {
    const { file, taken, previewed, reload } = scene();
    writeFileSync(file, spread(11));
    await reload('ann');
    await previewed('ann');
    writeFileSync(file, spread(12));
    await reload('ben');
    writeFileSync(file, spread(13));
    await reload('ann');
    expect(taken).toEqual([11, 12, 13].map(each => digestOf(spread(each))));
  });

  test('of a file that was changed since its preview is refused for an hour, and then takes the file as it is', async () => {
    for (const [ms, isRefused] of [
      [3_598_000, true],
      [3_600_000, false],
    ] as const) {
      const { file, clock, taken, previewed, reload } = scene();
      writeFileSync(file, spread(11));
      await previewed('ann');
      await clock.advance(ms);
      writeFileSync(file, spread(12));
      if (isRefused) await expect(reload('ann')).rejects.toThrow('changed since the preview');
      else expect((await reload('ann')).end).toBe('taken');
      expect(taken.length).toBe(isRefused ? 0 : 1);
    }
  });

  test('is asked of the bot in the state directory that is given, or that of paper trading, or else that of the file', async () => {
    const { dir, file, clock } = scene();
    const [own, paper] = [join(dir, 'own'), join(dir, 'paper')];
    const tree = parse(shipped) as object;
    writeFileSync(file, stringify({ ...tree, state: { dir: own }, paper: { stateDir: paper } }));
    for (const [more, place] of [
      [{ paper: false }, own],
      [{ paper: true }, paper],
      [{ paper: true, state: join(dir, 'given') }, join(dir, 'given')],
    ] as const) {
      const ask = { config: file, preview: false, reason: '', by: 'ann', id: 'r-1', ...more };
      await expect(askReload(ask, clock)).rejects.toThrow(new RegExp(`^${place}: [^/]+; expected the state directory`));
    }
  });

  test('is done for the caller exactly if the bot did not keep its configuration, and is in the journal also if no bot takes it', async () => {
    for (const end of ['taken', 'kept'] as const) {
      const { dir, file, clock, bot, passing } = scene();
      writeFileSync(file, spread(11));
      bot.end = end;
      const ask = { id: 'r-1', action: 'reload', reason: 'a test', by: 'ann', via: 'api' } as const;
      const ended = await passing(executeAction({ configFile: file, stateDir: dir }, ask, clock));
      expect(ended).toEqual({ end: end === 'kept' ? 'refused' : 'done', lines: ['a line'] });
      expect(actionsIn(dir)).toMatchObject([{ ...ask, ...ended }]);
    }
    const dir = mkdtempSync(join(root, 'bot-'));
    const [file, clock] = [join(dir, 'my.yaml'), new VirtualClock(1_700_000_000_000)];
    writeFileSync(file, shipped);
    const ask = { id: 'r-2', action: 'reload', reason: 'a test', by: 'ann', via: 'command' } as const;
    const why = /no bot accepted the request within 10 s/;
    await expect(advancing(clock, 250, executeReload({ configFile: file, stateDir: dir }, ask, clock))).rejects.toThrow(why); // prettier-ignore
    expect(actionsIn(dir)).toMatchObject([{ ...ask, end: 'refused', lines: [expect.stringMatching(why)] }]);
  });

  test('says where it cannot be recorded, whatever the bot answered', async () => {
    for (const end of ['taken', 'kept'] as const) {
      const { dir, file, bot, reload } = scene();
      writeFileSync(file, spread(11));
      mkdirSync(join(dir, 'actions.jsonl'));
      bot.end = end;
      const answer = await reload('ann');
      expect([answer.end, answer.lines[0]]).toEqual([end, 'a line']);
      expect(answer.lines[1]).toContain('this action could not be recorded in actions.jsonl');
    }
  });

  test('that is confirmed in the console takes what was shown there, and nothing else', async () => {
    const { dir, file, clock, taken, passing } = scene();
    writeFileSync(file, spread(11));
    const actions = consoleActions(
      { configFile: file, stateDir: dir },
      clock,
      () => false,
      async () => ['shown'],
    );
    const ask = { action: 'reload', reason: 'a test', by: 'ann', minutes: null, costMax: null } as const;
    const first = await actions.prepare(ask, () => undefined);
    writeFileSync(file, spread(12));
    expect(await first.execute()).toMatchObject({ end: 'refused' });
    expect(taken).toEqual([]);
    const second = await actions.prepare(ask, () => undefined);
    expect(await passing(second.execute())).toMatchObject({ end: 'done' });
    expect(taken).toEqual([digestOf(spread(12))]);
  });
});

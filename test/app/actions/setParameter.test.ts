/** A change of a parameter: the file and the bot end with the same value, whatever happens in between. */
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { actionsIn, noteAction } from '../../../src/app/actions/actionJournal.ts';
import type { SetAsk } from '../../../src/app/actions/actions.ts';
import { executeAction } from '../../../src/app/actions/executeAction.ts';
import { assertFileApplied, plannedChange, recoverChange } from '../../../src/app/actions/setParameter.ts';
import { consoleActions, shownParameters } from '../../../src/app/console/consoleActions.ts';
import { consoleApi } from '../../../src/app/console/consoleApi.ts';
import { digestOf } from '../../../src/app/run/reloading.ts';
import { Approvals } from '../../../src/console/index.ts';
import { VirtualClock, type Clock } from '../../../src/core/index.ts';
import { Mailbox, ReloadBox } from '../../../src/live/mailbox/mailbox.ts';
import { recorderIn } from '../../../src/live/recording/recordings.ts';
import { configOfText, shippedConfig } from '../../../src/wiring/configFile.ts';
import { advancing } from '../../live/world.ts';

const root = mkdtempSync(join(tmpdir(), 'puntas-set-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const shipped = readFileSync(shippedConfig('sandbox'), 'utf8');
const withSpread = (bps: number): string => shipped.replace('halfSpreadBps: 16', `halfSpreadBps: ${bps}`);
const KEY = 'strategy.halfSpreadBps';
/** Three books, of which the second has its own strategy and limits. */
const desk = readFileSync(shippedConfig('desk'), 'utf8');
/** Key with a default, and the text of a file with this key. */
const REMOVABLE = 'strategy.maxOrderAgeMs';
const withKey = (text: string): string => text.replace('  halfSpreadBps:', '  maxOrderAgeMs: 900000\n  halfSpreadBps:');

/** `deafens`: answers previews, and no reload. */
type Behavior = 'takes' | 'keeps' | 'deaf' | 'deafens' | 'mute';

/** A file, a state directory, and a bot that answers as told; `running` is the file that it runs with. */
function scene(behavior: Behavior = 'takes', given = shipped) {
  const dir = mkdtempSync(join(root, 'bot-'));
  const [file, clock, box] = [join(dir, 'my.yaml'), new VirtualClock(1_700_000_000_000), new ReloadBox(dir)];
  writeFileSync(file, given, { mode: 0o640 });
  const bot = { behavior, running: digestOf(given), reloads: 0, onTaken: () => {} };
  const look = () => {
    const asked = bot.behavior === 'deaf' ? null : box.waiting();
    if (asked !== null && (asked.isPreview || bot.behavior !== 'deafens')) {
      box.take();
      const found = digestOf(readFileSync(file, 'utf8'));
      const answer = (end: 'taken' | 'nothing to do' | 'shown' | 'kept') =>
        box.answer({ id: asked.id, end, lines: [`answer: ${end}`] });
      if (bot.behavior === 'mute' && !asked.isPreview) bot.running = found;
      else if (asked.digest !== found) answer('kept');
      else if (found === bot.running) answer('nothing to do');
      else if (asked.isPreview) answer('shown');
      else if (bot.behavior === 'keeps') answer('kept');
      else {
        bot.running = found;
        bot.reloads++;
        bot.onTaken();
        answer('taken');
      }
    }
    clock.after(500, look);
  };
  look();
  const passing = <T>(work: Promise<T>) => advancing(clock, 250, work);
  let n = 0;
  const which = { configFile: file, stateDir: dir };
  const ask = (value: string | null, more: Partial<SetAsk> = {}): SetAsk => ({
    ...{ id: `s-${++n}`, action: 'set', reason: 'a calm market', by: 'ann', via: 'console', key: KEY, value },
    ...more,
  });
  const set = (value: string | null, more: Partial<SetAsk> = {}) =>
    passing(executeAction(which, ask(value, more), clock));
  const text = () => readFileSync(file, 'utf8');
  const left = () => readdirSync(dir).filter(name => /changing|before|\.new$/.test(name));
  return { dir, file, clock, box, bot, which, ask, set, passing, text, left };
}

describe('a change of one of several books', () => {
  test('is written to its own section, and named in journal and undo', async () => {
    const { dir, set, text, which } = scene('takes', desk);
    const end = await set('13', { book: 'eth_mxn' });
    expect(end).toEqual({
      end: 'done',
      lines: ['books.eth_mxn.strategy.halfSpreadBps: 16 -> 13', 'answer: taken'],
      undo: { key: KEY, value: '16', book: 'eth_mxn' },
    });
    const [own, shared] = [...desk.matchAll(/halfSpreadBps: 16/g)].map(({ index }) => index);
    expect(own).toBeLessThan(shared!);
    expect(text()).toBe(desk.replace('halfSpreadBps: 16', 'halfSpreadBps: 13'));
    expect(actionsIn(dir)).toMatchObject([{ book: 'eth_mxn', change: { key: KEY, from: '16', to: '13' } }]);
    expect(shownParameters(which, 'eth_mxn').changes).toMatchObject([{ book: 'eth_mxn', key: KEY, to: '13' }]);
    const { key, value, book } = end.undo!;
    expect((await set(value, { key, book: book! })).end).toBe('done');
    expect(text()).toBe(desk);
  });

  test('to a section that books share changes each of them, says so, and is done once under its id', async () => {
    const { set, text, ask, passing, which, clock, bot } = scene('takes', desk);
    const asked = ask('13', { book: 'btc_usd' });
    const end = await passing(executeAction(which, asked, clock));
    expect(end.lines).toEqual([
      'books.btc_mxn.strategy.halfSpreadBps: 16 -> 13',
      'books.btc_usd.strategy.halfSpreadBps: 16 -> 13',
      'btc_mxn, btc_usd share the section strategy of the file, so each of them changes; to change one book, write its own section into the file',
      'answer: taken',
    ]);
    const at = desk.lastIndexOf('halfSpreadBps: 16');
    expect(text()).toBe(`${desk.slice(0, at)}halfSpreadBps: 13${desk.slice(at + 'halfSpreadBps: 16'.length)}`);
    // A repeated request has its recorded result, the undo included.
    expect(await passing(executeAction(which, asked, clock))).toEqual(end);
    expect(bot.reloads).toBe(1);
    for (const other of [{ book: 'btc_mxn' }, { by: 'ben' }, { value: '14' }, { key: 'strategy.levels' }])
      await expect(passing(executeAction(which, { ...asked, ...other }, clock))).rejects.toThrow(
        /another action was executed under this id/,
      );
    expect(end).toMatchObject({ undo: { key: KEY, value: '16', book: 'btc_usd' } });
    expect((await set('16', { book: 'btc_mxn' })).end).toBe('done');
    expect(text()).toBe(desk);
  });

  test('needs its book, and a limit of each book is only tightened', async () => {
    const { set, text, which } = scene('takes', desk);
    const refused = async (value: string, more: Partial<SetAsk>, why: RegExp) =>
      expect(set(value, more)).rejects.toThrow(why);
    await refused('13', {}, /^strategy\.halfSpreadBps: each book can have its own; choose one of btc_mxn, eth_mxn/);
    await refused('13', { book: 'xrp_mxn' }, /xrp_mxn: expected a book of this bot/);
    await refused('debug', { key: 'log.level', book: 'eth_mxn' }, /log\.level: all books share this key/);
    // 2 is tighter than nothing that this book has, although the others are at 0.1.
    await refused('3', { key: 'limits.positionMax', book: 'eth_mxn' }, /can only tighten a limit.*now 2/);
    await refused('1', { key: 'limits.positionMax', book: 'btc_usd' }, /can only tighten a limit.*now 0\.1/);
    expect(text()).toBe(desk);
    expect((await set('1.5', { key: 'limits.positionMax', book: 'eth_mxn' })).end).toBe('done');
    // Books share this key always, and not a section that each of them can have for itself.
    expect((await set('debug', { key: 'log.level' })).lines).toEqual(['log.level: "info" -> "debug"', 'answer: taken']);
    const listed = (book?: string) => new Map(shownParameters(which, book).parameters.map(one => [one.key, one]));
    expect(listed('eth_mxn').get('limits.positionMax')).toMatchObject({ value: '1.5', books: ['eth_mxn'] });
    expect(listed('btc_mxn').get(KEY)).toMatchObject({ value: '16', books: ['btc_mxn', 'btc_usd'] });
    expect([...listed().keys()]).toEqual(['timing.staleAfterMs', 'log.level'].toSorted((a, b) => (a < b ? -1 : 1)));
    expect(listed('btc_mxn').has('log.level')).toBe(false);
    expect(() => shownParameters(which, 'xrp_mxn')).toThrow(/expected a book of this bot/);
  });

  test('of one without a strategy file is bound to the texts of all files', async () => {
    const own = desk.replace('      name: ladder\n      reference: mid\n', '      file: ./own.ts\n');
    const { which, ask } = scene('deaf', own);
    writeFileSync(join(which.stateDir, 'own.ts'), 'export default 1;');
    const { digest } = shownParameters(which, 'btc_mxn');
    expect(digest).not.toBe(digestOf(own));
    expect(plannedChange(which, { ...ask('13'), book: 'btc_mxn', digest }).reloads.before).toBe(digest);
    const keys = shownParameters(which, 'eth_mxn').parameters.map(({ key }) => key);
    expect(keys).toEqual(expect.arrayContaining([KEY, 'strategy.amount', 'limits.positionMax']));
    expect(keys).not.toContain('strategy.file');
  });

  test('that was interrupted is settled by its book', async () => {
    const { dir, file, ask, bot, passing, which, clock, box } = scene('mute', desk);
    const asked = ask('13', { book: 'eth_mxn' });
    const end = await passing(executeAction(which, asked, clock).catch((error: unknown) => error));
    // The bot took the value, and its answer was lost.
    expect(end).toMatchObject({ end: 'refused' });
    expect(new Mailbox(dir, 'changing').message()).toMatchObject({ book: 'eth_mxn', key: KEY });
    bot.behavior = 'takes';
    expect(await passing(recoverChange(which, clock))).toMatchObject({ end: 'done' });
    expect(actionsIn(dir)).toMatchObject([{ book: 'eth_mxn', end: 'done', change: { key: KEY, to: '13' } }]);
    expect(readFileSync(file, 'utf8')).toContain('halfSpreadBps: 13');
    expect(box.waiting()).toBeNull();
  });
});

describe('a change', () => {
  test('is written with its comments, owner and mode, applied by the bot, and in the journal; its inverse restores the file', async () => {
    const { dir, file, bot, set, text, left, which } = scene();
    const end = await set('13');
    expect(end).toMatchObject({ end: 'done', undo: { key: KEY, value: '16' } });
    expect(end.lines).toEqual([`${KEY}: 16 -> 13`, 'answer: taken']);
    expect([text(), bot.running, statSync(file).mode & 0o777]).toEqual([
      withSpread(13),
      digestOf(withSpread(13)),
      0o640,
    ]);
    expect(actionsIn(dir)).toMatchObject([
      {
        action: 'set',
        by: 'ann',
        reason: 'a calm market',
        via: 'console',
        end: 'done',
        change: { key: KEY, from: '16', to: '13' },
      },
    ]);
    expect(shownParameters(which).changes).toMatchObject([{ key: KEY, from: '16', to: '13', by: 'ann' }]);
    expect((await set('16')).end).toBe('done');
    expect([text(), left()]).toEqual([shipped, []]);
  });

  test('offers an undo, in its result and in the list of changes, exactly if the undo can be previewed', async () => {
    const changes: readonly (readonly [key: string, value: string | null])[] = [
      [KEY, '13'],
      [REMOVABLE, '600000'],
      [REMOVABLE, null],
      ['limits.positionMax', '0.05'],
      ['limits.ordersMax', '8'],
      ['limits.orderAmountMax', '0.5'],
      ['log.level', 'warn'],
    ];
    const { set, which, ask } = scene('takes', `${withKey(shipped)}\nlog:\n  level: info\n`);
    const canPreview = (undo: { readonly key: string; readonly value: string | null }): boolean => {
      try {
        return plannedChange(which, ask(undo.value, { key: undo.key })).lines.length > 0;
      } catch {
        return false;
      }
    };
    const offered: string[] = [];
    for (const [key, value] of changes) {
      const from = shownParameters(which).parameters.find(each => each.key === key)!.value;
      const { end, undo, lines } = await set(value, { key });
      // A limit says before and after that there is no way back from here.
      expect(lines.some(line => line.startsWith(`${key} is a limit`))).toBe(key.startsWith('limits.'));
      expect([key, end, undo !== undefined]).toEqual([key, 'done', canPreview({ key, value: from })]);
      if (undo !== undefined) offered.push(key);
    }
    expect(new Set(offered)).toEqual(new Set([KEY, REMOVABLE, 'log.level']));
    for (const { key, from, canUndo } of shownParameters(which).changes)
      expect([key, canUndo]).toEqual([key, canPreview({ key, value: from })]);
  });

  test('ends with the value in file and bot or in neither, for any answer of the bot and any value', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom<Behavior>('takes', 'keeps', 'deaf', 'deafens'),
        fc.constantFrom('13', '16', '0', '-5', 'wide', '1e2', '12.50'),
        async (behavior, value) => {
          const { bot, set, text, left } = scene(behavior);
          const end = await set(value).catch(() => ({ end: 'refused' as const }));
          expect(digestOf(text())).toBe(bot.running);
          if (end.end !== 'done') expect(text()).toBe(shipped);
          expect(left()).toEqual([]);
        },
      ),
      { numRuns: 15 },
    );
  });

  test('that the bot refuses is journaled as refused, with the file as before', async () => {
    const { dir, set, text } = scene('keeps');
    expect(await set('13')).toMatchObject({
      end: 'refused',
      lines: ['answer: kept', expect.stringContaining('was restored')],
    });
    expect(text()).toBe(shipped);
    expect(actionsIn(dir)).toMatchObject([{ end: 'refused', change: { to: '13' } }]);
  });

  test('whose bot never answers keeps the file, and is settled by asking the bot before the next change', async () => {
    const { dir, bot, set, text, left, which, passing, clock } = scene('mute');
    const end = await set('13');
    expect(end).toMatchObject({ end: 'refused' });
    expect(end.lines.join(' ')).toMatch(/did not answer.*checked before the next change/);
    expect(text()).toBe(withSpread(13));
    bot.behavior = 'takes';
    expect(await passing(recoverChange(which, clock))).toMatchObject({ end: 'done' });
    expect([left(), actionsIn(dir).length]).toEqual([[], 1]);
    expect((await set('14')).end).toBe('done');
  });

  test('that another process begins under its id while the bot is asked keeps the copy of the file for that process', async () => {
    const of = scene();
    of.clock.after(300, () => killed(of, 1, false, { id: 's-1' }));
    await expect(of.set('13')).rejects.toThrow(/another change of a parameter is under way/);
    expect([of.text(), of.bot.reloads]).toEqual([shipped, 0]);
    expect(of.left().toSorted()).toEqual(['changing.json', 'config-before-s-1.yaml']);
  });

  test('of a file that cannot be replaced is refused with why, and restored as it was', async () => {
    const of = scene();
    mkdirSync(join(of.dir, '.my.yaml.s-1.new'));
    const { end, lines } = await of.set('13');
    expect([end, lines]).toEqual([
      'refused',
      [expect.stringMatching(/my\.yaml: cannot be written \(.+\)$/), `${of.file} has its earlier content`],
    ]);
    rmSync(join(of.dir, '.my.yaml.s-1.new'), { recursive: true });
    expect([of.text(), of.bot.reloads, of.left()]).toEqual([shipped, 0, []]);
    expect(actionsIn(of.dir)).toMatchObject([{ end: 'refused', lines, change: { to: '13' } }]);
  });

  test('of a file that was edited while the bot was asked is not undone over the edit', async () => {
    const { clock, file, set, text } = scene('deafens');
    clock.after(3_000, () => writeFileSync(file, `${withSpread(13)}# mine\n`));
    expect((await set('13')).lines.join(' ')).toContain('was edited by someone else');
    expect(text()).toContain('# mine');
  });
});

describe('an error', () => {
  test('after the bot applied the change does not undo it in the file', async () => {
    const { dir, bot, set, text } = scene();
    bot.onTaken = () => {
      rmSync(join(dir, 'changing.json'));
      mkdirSync(join(dir, 'changing.json'));
    };
    await set('13').catch(() => undefined);
    expect([text(), bot.running]).toEqual([withSpread(13), digestOf(withSpread(13))]);
  });
});

describe('before anything is written', () => {
  test.each<[string, string | null, RegExp]>([
    ['limits.drawdownMax', '99999999', /can only tighten a limit/],
    ['limits.drawdownMax', null, /not remove it/],
    ['exchange.kind', 'x', /cannot be changed from a page/],
    [KEY, '16', /already has this value/],
    [KEY, 'wide', /halfSpreadBps/],
    [KEY, '-3', /halfSpreadBps/],
  ])('%s to %j is refused', async (key, value, why) => {
    const { set, text, dir } = scene();
    await expect(set(value, { key })).rejects.toThrow(why);
    expect([text(), actionsIn(dir)]).toEqual([shipped, []]);
  });

  test.each<[string, (file: string) => void, RegExp]>([
    ['a symbolic link', file => (renameSync(file, `${file}.real`), symlinkSync(`${file}.real`, file)), /symbolic link/],
    ['a read-only file', file => chmodSync(file, 0o440), /read-only/],
    ['a file with a second hard link', file => linkSync(file, `${file}.link`), /hard links/],
    ['several documents', file => writeFileSync(file, `${shipped}---\na: 1\n`), /document/],
    [
      'an anchor',
      file => writeFileSync(file, shipped.replace('halfSpreadBps: 16', 'halfSpreadBps: &w 16')),
      /anchor w/,
    ],
  ])('%s is refused by name', async (_, change, why) => {
    const { file, set, text } = scene();
    change(file);
    const before = text();
    await expect(set('13')).rejects.toThrow(why);
    expect(text()).toBe(before);
  });

  test('a file with changes that the bot has not applied is refused, because a reload would apply them too', async () => {
    const { file, which, ask, passing, clock, box } = scene();
    writeFileSync(file, shipped.replace('levels:', 'levels :'));
    const { before } = plannedChange(which, ask('13'));
    await expect(passing(assertFileApplied(which, ask('13'), before.digest, clock))).rejects.toThrow(/has not applied/);
    // The check is not the operator's preview, which a later reload would be bound to.
    expect(box.previewed()).toBeNull();
  });

  test('a file with bytes that are not UTF-8 is refused, because they would be lost', async () => {
    const { file, set } = scene();
    const bytes = Buffer.concat([Buffer.from(`${shipped}# caf`), Buffer.from([0xe9, 0x0a])]);
    writeFileSync(file, bytes);
    await expect(set('13')).rejects.toThrow(/not UTF-8/);
    expect(readFileSync(file)).toEqual(bytes);
  });
});

describe('a confirmation', () => {
  const prepared = (of: ReturnType<typeof scene>, value: string, by = 'ann') =>
    of.passing(
      consoleActions(
        of.which,
        of.clock,
        () => false,
        async () => ['quotes'],
      ).prepare(
        {
          ...{ action: 'set', reason: 'a calm market', by, minutes: null, costMax: null },
          change: { key: KEY, value, digest: digestOf(of.text()) },
        },
        () => undefined,
      ),
    );

  test('after the file was changed does nothing', async () => {
    const of = scene();
    const ready = await prepared(of, '13');
    writeFileSync(of.file, `${shipped}# mine\n`);
    expect(await of.passing(ready.execute())).toMatchObject({
      end: 'refused',
      lines: [expect.stringContaining('changed since')],
    });
    expect([of.text(), of.bot.reloads]).toEqual([`${shipped}# mine\n`, 0]);
  });

  test('of two people at once: one is done, and the other is refused and changes nothing', async () => {
    const of = scene();
    const [ann, bob] = [await prepared(of, '13'), await prepared(of, '14', 'bob')];
    const ends = await of.passing(
      Promise.all(
        [ann, bob].map(each => each.execute().catch((error: unknown) => ({ end: 'refused', lines: [String(error)] }))),
      ),
    );
    expect(ends.map(({ end }) => end).toSorted()).toEqual(['done', 'refused']);
    expect([of.bot.reloads, of.left(), digestOf(of.text())]).toEqual([1, [], of.bot.running]);
  });

  test('of another login, of an old preview, or a second one, does nothing', async () => {
    const of = scene();
    const started = of.clock.elapsed();
    const actions = consoleActions(
      of.which,
      of.clock,
      () => false,
      async () => ['quotes'],
    );
    let n = 0;
    const approvals = new Approvals<string>(
      actions,
      () => of.clock.elapsed(),
      () => `a-${++n}`,
    );
    const open = (value: string) =>
      of.passing(
        approvals.open(
          'ann',
          {
            ...{ action: 'set', reason: 'a calm market', by: 'ann', minutes: null, costMax: null },
            change: { key: KEY, value, digest: digestOf(of.text()) },
          },
          () => undefined,
        ),
      );
    const { id } = await open('13');
    expect([approvals.confirm('bob', id), approvals.confirm('ann', 'a-9')]).toEqual([false, false]);
    const over = new Promise(resolve => approvals.confirm('ann', id, resolve));
    expect(approvals.confirm('ann', id)).toBe(false);
    expect(await of.passing(over)).toMatchObject({ end: 'done', undo: { value: '16' } });
    const old = await open('14');
    await of.clock.advance(61_000);
    expect(approvals.confirm('ann', old.id)).toBe(false);
    expect([of.bot.reloads, of.clock.elapsed() > started]).toEqual([1, true]);
  });
});

/** An id that no process has. */
const GONE = 2 ** 22 + 1;

/** Leaves what a process leaves that was killed after it wrote the file. */
const killed = (
  of: ReturnType<typeof scene>,
  pid: number,
  isWritten = true,
  more: { readonly id?: string; readonly via?: 'api'; readonly host?: string; readonly book?: string } = {},
) => {
  const after = withSpread(13);
  const { id = 'killed-1', via = 'console', host = hostname(), book } = more;
  writeFileSync(join(of.dir, `config-before-${id}.yaml`), shipped);
  expect(
    new Mailbox(of.dir, 'changing').putNew({
      ...{ id, at: of.clock.now(), by: 'ann', reason: 'a calm market', via, file: of.file, key: KEY },
      ...{ from: '16', to: '13', before: digestOf(shipped), after: digestOf(after), host, pid },
      ...(book !== undefined && { book }),
    }),
  ).toBe(true);
  if (isWritten) writeFileSync(of.file, after);
};

describe('a kill', () => {
  test.each([
    ['before the file was written', false, false, shipped, 'refused'],
    ['between the file and the reload', true, false, shipped, 'refused'],
    ['after the bot applied it', true, true, withSpread(13), 'done'],
  ] as const)(
    '%s leaves one value in file and bot, once the next change is asked for',
    async (_, isWritten, isApplied, text, end) => {
      const of = scene();
      killed(of, GONE, isWritten);
      if (isApplied) of.bot.running = digestOf(withSpread(13));
      expect(await of.passing(recoverChange(of.which, of.clock))).toMatchObject({ end });
      expect([of.text(), of.left(), of.bot.running]).toEqual([text, [], digestOf(text)]);
      expect(actionsIn(of.dir)).toMatchObject([{ id: 'killed-1', action: 'set', end }]);
      expect(await of.passing(recoverChange(of.which, of.clock))).toBeNull();
      expect((await of.set('14')).end).toBe('done');
    },
  );

  test('of a process that still runs is none, and its change is not touched', async () => {
    const of = scene();
    killed(of, 1);
    await expect(of.set('14')).rejects.toThrow(/is under way/);
    expect([of.text(), existsSync(join(of.dir, 'changing.json'))]).toEqual([withSpread(13), true]);
  });

  test('whose file was moved since is named with its earlier value, and blocks no later change', async () => {
    const of = scene();
    killed(of, GONE);
    renameSync(of.file, `${of.file}.moved`);
    const { lines } = (await of.passing(recoverChange(of.which, of.clock)))!;
    expect(lines.join(' ')).toMatch(/halfSpreadBps.* was 16/);
    writeFileSync(of.file, shipped);
    expect((await of.set('14')).end).toBe('done');
  });

  test('that two recoveries find at once is settled once, by the answer of the bot', async () => {
    const of = scene();
    killed(of, GONE);
    of.bot.running = digestOf(withSpread(13));
    const [first, second] = await of.passing(
      Promise.allSettled([recoverChange(of.which, of.clock), recoverChange(of.which, of.clock)]),
    );
    expect(first).toMatchObject({ value: { end: 'done' } });
    expect(String((second as PromiseRejectedResult).reason)).toMatch(/is under way/);
    expect([of.text(), of.left(), actionsIn(of.dir).length]).toEqual([withSpread(13), [], 1]);
  });

  test('is not settled while the request of another process is pending', async () => {
    const of = scene('deaf');
    killed(of, GONE);
    const request = { id: 'r-1', at: of.clock.now(), by: 'bob', reason: '', digest: '', isPreview: true };
    of.box.put(request);
    await expect(of.passing(recoverChange(of.which, of.clock))).rejects.toThrow(/still pending/);
    expect([of.text(), actionsIn(of.dir)]).toEqual([withSpread(13), []]);
  });

  test('whose file cannot be restored keeps the copy, and the next recovery tries again', async () => {
    const of = scene();
    killed(of, GONE);
    const copy = join(of.dir, 'config-before-killed-1.yaml');
    writeFileSync(copy, 'damaged');
    const { end, lines } = (await of.passing(recoverChange(of.which, of.clock)))!;
    expect([end, lines.join(' ')]).toEqual(['refused', expect.stringContaining('its copy is damaged')]);
    await expect(of.set('14')).rejects.toThrow(/has not applied/);
    expect([of.left().length, of.bot.reloads]).toEqual([2, 0]);
    writeFileSync(copy, shipped);
    expect(await of.passing(recoverChange(of.which, of.clock))).toMatchObject({ end: 'refused' });
    expect([of.text(), of.left(), actionsIn(of.dir).length]).toEqual([shipped, [], 1]);
  });

  test('that another process settled meanwhile leaves the next change alone', async () => {
    const of = scene();
    killed(of, GONE);
    of.bot.running = digestOf(withSpread(13));
    const recovering = recoverChange(of.which, of.clock);
    const box = new Mailbox(of.dir, 'changing');
    const record = box.message()!;
    box.remove();
    expect(box.putNew({ ...record, id: 'next-1' })).toBe(true);
    await of.passing(recovering);
    expect(box.message()?.id).toBe('next-1');
  });

  test.each([
    ['on a host that cannot be looked at, until five minutes are over', 1, 'elsewhere', 299_999],
    ['on a host that cannot be looked at, however its clock is set', 1, 'elsewhere', -299_999],
    ['that still runs, until five minutes are over', 1, hostname(), 299_999],
  ] as const)('of a process %s is none', async (_, pid, host, ms) => {
    const of = scene();
    killed(of, pid, true, { host });
    const at = of.clock.now();
    const later = (by: number): Clock => ({
      now: () => at + by,
      elapsed: () => of.clock.elapsed(),
      after: (wait, work) => of.clock.after(wait, work),
    });
    await expect(of.passing(recoverChange(of.which, later(ms)))).rejects.toThrow(/is under way/);
    expect(of.text()).toBe(withSpread(13));
    const over = recoverChange(of.which, later(ms + Math.sign(ms)));
    expect(await of.passing(over)).toMatchObject({ end: 'refused' });
    expect(of.text()).toBe(shipped);
  });

  test('that left a change under the id of this process is settled at once', async () => {
    const of = scene();
    killed(of, process.pid);
    expect(await of.passing(recoverChange(of.which, of.clock))).toMatchObject({ end: 'refused' });
    expect([of.text(), of.left()]).toEqual([shipped, []]);
  });

  test('between the journal and the record of the change leaves one line in the journal', async () => {
    const of = scene();
    killed(of, GONE);
    of.bot.running = digestOf(withSpread(13));
    noteAction(of.dir, of.clock.now(), { ...of.ask('13'), id: 'killed-1' }, { end: 'done', lines: ['as it was'] });
    expect(await of.passing(recoverChange(of.which, of.clock))).toMatchObject({ end: 'done' });
    expect([of.left(), actionsIn(of.dir).map(({ id, lines }) => [id, lines])]).toEqual([
      [],
      [['killed-1', ['as it was']]],
    ]);
  });

  test('after the request of the reload takes the request back, so that no later bot applies the change', async () => {
    const of = scene('deaf');
    killed(of, GONE);
    of.box.put({ id: 'killed-1', at: of.clock.now(), by: 'ann', reason: '', digest: null, isPreview: false });
    expect(await of.passing(recoverChange(of.which, of.clock))).toMatchObject({ end: 'refused' });
    expect([of.text(), of.box.waiting()]).toEqual([shipped, null]);
  });

  test('is not settled by the file of another bot, and names the file that it changed', async () => {
    const of = scene();
    killed(of, GONE);
    const other = join(of.dir, 'other.yaml');
    writeFileSync(other, shipped);
    const { end, lines } = (await of.passing(recoverChange({ ...of.which, configFile: other }, of.clock)))!;
    expect([end, lines]).toEqual([
      'refused',
      [expect.stringContaining(`${KEY} in ${of.file}; its earlier value was 16`)],
    ]);
    expect([of.text(), readFileSync(other, 'utf8')]).toEqual([withSpread(13), shipped]);
  });

  test('while no bot runs is done exactly if the last run of its book, or of the only one, had the value', async () => {
    const books = ['btc_mxn', 'eth_mxn', 'btc_usd'] as const;
    const tree = parse(desk) as { strategy: object; books: { symbol: string; strategy?: object }[] };
    for (const [had, book] of [
      ...books.flatMap(one => books.map(other => [one, other] as const)),
      ...['btc_mxn', null].map(one => [one, undefined] as const),
    ]) {
      const of = scene('deaf');
      const spread = (symbol: string) => (symbol === had ? 13 : 16);
      const file =
        book === undefined
          ? withSpread(had === null ? 16 : 13)
          : stringify({
              ...tree,
              books: tree.books.map(one => ({
                ...one,
                strategy: { ...(one.strategy ?? tree.strategy), halfSpreadBps: spread(one.symbol) },
              })),
            });
      const setup = JSON.stringify(configOfText(of.file, file));
      recorderIn(of.dir, { run: 1, startedAt: 1, setup, format: 2 }).close();
      killed(of, GONE, true, { ...(book !== undefined && { book }) });
      const isDone = book === undefined ? had !== null : had === book;
      const { end } = (await of.passing(recoverChange(of.which, of.clock)))!;
      expect([had, book, end, of.text()]).toEqual([
        ...[had, book],
        ...(isDone ? ['done', withSpread(13)] : ['refused', shipped]),
      ]);
    }
  });

  test('while no bot runs restores the file', async () => {
    const of = scene('deaf');
    killed(of, GONE);
    expect(await of.passing(recoverChange(of.which, of.clock))).toMatchObject({ end: 'refused' });
    expect(of.text()).toBe(shipped);
  });
});

describe('by the API', () => {
  const api = (of: ReturnType<typeof scene>) =>
    consoleApi(of.which, of.clock, true, {
      ...{ read: async () => '', preview: async () => ['quotes'], proposalPreview: async () => ['quotes'] },
      ...{ summary: () => null, events: () => [] },
    });
  const request = (of: ReturnType<typeof scene>, value: string | null) => ({
    ...{ action: 'set', reason: 'a calm market', by: 'ann', minutes: null, costMax: null },
    change: { key: KEY, value, digest: digestOf(of.text()) },
  });

  test('a change without a preview is refused while the file has changes that the bot has not applied', async () => {
    const of = scene();
    const edited = `${shipped}# mine\n`;
    writeFileSync(of.file, edited);
    await expect(of.passing(api(of).act!(request(of, '13'), 'key-00003'))).rejects.toThrow(/has not applied/);
    expect([of.text(), of.bot.reloads, of.left()]).toEqual([edited, 0, []]);
  });

  test.each([
    ['after the bot applied it', true, withSpread(13), 'done'],
    ['before the bot applied it', false, shipped, 'refused'],
  ] as const)('a request that is repeated after a kill %s has the recorded result', async (_, isApplied, text, end) => {
    const of = scene();
    const first = request(of, '13');
    killed(of, GONE, true, { id: 'key-00004', via: 'api' });
    if (isApplied) of.bot.running = digestOf(text);
    expect(await of.passing(api(of).act!(first, 'key-00004'))).toMatchObject({ end });
    expect([of.text(), of.bot.running, of.bot.reloads, of.left()]).toEqual([text, digestOf(text), 0, []]);
    expect(actionsIn(of.dir)).toMatchObject([{ id: 'key-00004', end }]);
  });

  test.each(['13.0', '013', '12.50', null])(
    'the next process knows the request of the value %j again, although the bot writes it in another form',
    async value => {
      const of = scene();
      if (value === null) {
        writeFileSync(of.file, withKey(shipped));
        of.bot.running = digestOf(withKey(shipped));
      }
      const asked = request(of, value);
      const first = value === null ? { ...asked, change: { ...asked.change, key: REMOVABLE } } : asked;
      expect(await of.passing(api(of).act!(first, 'key-00005'))).toMatchObject({ end: 'done', isRepeated: false });
      expect(await of.passing(api(of).act!(first, 'key-00005'))).toMatchObject({ end: 'done', isRepeated: true });
      const other = { ...first, change: { ...first.change, value: '14' } };
      expect(await of.passing(api(of).act!(other, 'key-00005'))).toBe('other request');
      expect(of.bot.reloads).toBe(1);
    },
  );

  test('a change is made once per key, is refused for another file, and the parameters are listed', async () => {
    const of = scene();
    const { act, read } = api(of);
    const listed = JSON.parse(await read({ what: 'parameters' })) as ReturnType<typeof shownParameters>;
    expect(listed.digest).toBe(digestOf(shipped));
    const first = request(of, '13');
    expect(await of.passing(act!(first, 'key-00001'))).toMatchObject({ end: 'done', isRepeated: false });
    expect(await of.passing(act!(first, 'key-00001'))).toMatchObject({ end: 'done', isRepeated: true });
    expect(await of.passing(act!({ ...first, change: { ...first.change, value: '14' } }, 'key-00001'))).toBe(
      'other request',
    );
    await expect(of.passing(act!(first, 'key-00002'))).rejects.toThrow(/has changed since it was shown/);
    // The next process finds the result in the journal.
    expect(await of.passing(api(of).act!(first, 'key-00001'))).toMatchObject({ end: 'done', isRepeated: true });
    expect(of.bot.reloads).toBe(1);
  });
});

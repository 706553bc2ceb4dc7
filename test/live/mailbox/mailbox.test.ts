/**
 * Messages in a state directory, of every kind: written whole, read only if nobody else could have written them,
 * executed once.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { noteInJournal, promotionJournal } from '../../../src/app/promote/promotionJournal.ts';
import { startCanceling, type CancelHost } from '../../../src/app/run/cancelRequests.ts';
import { money, VirtualClock } from '../../../src/core/index.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { messageIn, TEXT_MAX } from '../../../src/live/mailbox/fields.ts';
import { MAIL, type MailKind, type MailSpec, type MailMessage } from '../../../src/live/mailbox/kinds.ts';
import { Mailbox, NumberedMailbox, RequestBox } from '../../../src/live/mailbox/mailbox.ts';
import { disk, hookDisk } from '../../app/killedDisk.ts';
import { started } from '../../app/promote/records.ts';
import { memoryLog } from '../../memoryLog.ts';
import { runsOf } from '../../many.ts';

const root = mkdtempSync(join(tmpdir(), 'puntas-mailboxes-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let dir = root;
beforeEach(() => (dir = fresh()));
const fresh = () => mkdtempSync(join(root, 'state-'));

const said = { at: 1_767_225_600_000, by: 'ann', reason: 'a test' };
/** A message of each kind. */
const MESSAGES: { readonly [K in MailKind]: MailMessage<K> } = {
  adjust: { id: 'a1b2c3d4', currency: 'btc', amount: money(-5n), ...said },
  settle: { id: 'H-1', as: 'failed', ...said },
  cancel: { id: 'c-1', ...said },
  cancelAnswer: { id: 'c-1', end: 'gone', lines: ['1 order was live', ''] },
  reload: { id: 'r-1', digest: null, isPreview: false, ...said },
  reloadAnswer: { id: 'r-1', end: 'nothing to do', lines: ['nothing has changed'] },
  reloadPreview: { by: 'ann', at: 1, digest: 'ab12' },
  resuming: { by: 'ann', reason: 'a test', isPause: true },
  changing: {
    ...{ id: 'c-1', via: 'console', file: 'my.yaml', key: 'log.level', from: null, to: 'warn', ...said },
    ...{ before: 'ab12', after: 'cd34', host: 'a', pid: 7 },
  },
  flatten: { id: 'f-1', costMax: money(10n), ...said },
  proposal: {
    ...{ id: 'p-abcdefgh23', at: 1, expiresAt: 2, agent: 'a helper', action: 'pause', reason: 'a test', minutes: 30 },
    ...{ basis: 'ab12', lines: ['4 of 4 live orders would be canceled'], digest: 'cd34' },
  },
  decision: { id: 'p-abcdefgh23', at: 1, by: 'ann', via: 'command', verdict: 'approved', digest: 'cd34' },
  trial: { id: `kraken-${'0'.repeat(32)}`, at: 1, exchange: 'kraken', account: '0'.repeat(32), order: 'accepted' },
  halt: { reason: 'drawdown', at: 1, by: 'bot' },
  reduce: { reason: 'a test', at: 1, by: 'person', who: 'ann' },
  pause: { reason: 'lunch', at: 1, by: 'person', who: 'ann', until: 5 },
  hold: { reason: 'sentinel: cut off', at: 1, by: 'sentinel', born: 7, reads: 3 },
  ordersSeen: { at: 1, by: 'sentinel', count: 0 },
};
const ALL = Object.keys(MAIL) as MailKind[];
const specOf = (kind: MailKind): MailSpec => MAIL[kind];
const idOf = (kind: MailKind): string => (specOf(kind).ids === undefined ? '' : (MESSAGES[kind] as { id: string }).id);
const boxOf = (kind: MailKind, at = dir): Mailbox<MailKind> => new Mailbox(at, kind);
const fileOf = (kind: MailKind): string => boxOf(kind).path(idOf(kind));
/** Content that is found after a file with this message was changed. */
const found = (kind: MailKind, change: (file: string) => void) => {
  boxOf(kind).put(MESSAGES[kind]);
  change(fileOf(kind));
  return boxOf(kind).read(idOf(kind));
};
const rewrite = (change: (message: Record<string, unknown>) => unknown) => (file: string) => {
  const spec = Object.entries(MESSAGES).find(([kind]) => fileOf(kind as MailKind) === file)!;
  const message = JSON.parse(boxOf(spec[0] as MailKind).textOf(spec[1])) as Record<string, unknown>;
  writeFileSync(file, JSON.stringify(change(message)), { mode: 0o600 });
};
const isOwned = process.geteuid !== undefined;

describe('a message of any kind', () => {
  test.each(ALL)('(%s) is read as it was left, and gone once it is removed', kind => {
    const box = boxOf(kind);
    expect(box.read(idOf(kind))).toBeNull();
    box.put(MESSAGES[kind]);
    expect(box.read(idOf(kind))).toEqual({ message: MESSAGES[kind] });
    expect(readdirSync(dir)).toEqual([specOf(kind).file.replace('*', idOf(kind))]);
    expect(statSync(fileOf(kind)).mode & 0o777).toBe(0o600);
    box.remove(idOf(kind));
    expect([box.read(idOf(kind)), readdirSync(dir)]).toEqual([null, []]);
  });

  test('keeps whatever text it is given as one line that can be read, cut where it is endless', () => {
    const box = new Mailbox(dir, 'halt');
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.nat(2), (reason, times) => {
        const given = reason.repeat(100 ** times);
        box.put({ ...MESSAGES.halt, reason: given });
        const read = box.read()!.message!.reason;
        expect(read).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
        const isPrintable = !/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/u.test(given);
        if (isPrintable && given.length <= TEXT_MAX) expect(read).toBe(given);
        else expect(read.length).toBeLessThanOrEqual(Math.min(given.length, TEXT_MAX));
      }),
      {
        ...runsOf(30, 10),
        examples: [
          ['\ud83d\ude00'.repeat(5_000), 0],
          ['a\n\u001b[31m', 0],
          ['"', 2],
        ],
      },
    );
  });

  test('is refused with any unprintable character at any place of any of its texts, and only then, whatever was read before', () => {
    const written = Object.fromEntries(
      ALL.map(kind => [
        kind,
        Object.entries(JSON.parse(boxOf(kind).textOf(MESSAGES[kind])) as Record<string, unknown>),
      ]),
    );
    const change = fc.record({
      kind: fc.constantFrom(...ALL),
      which: fc.nat(3),
      at: fc.nat(20),
      character: fc.option(fc.constantFrom(...UNPRINTABLE), { freq: 4 }),
    });
    fc.assert(
      fc.property(fc.array(change, { minLength: 2, maxLength: 12 }), changes => {
        for (const { kind, which, at, character } of changes) {
          let left = which;
          const corrupt = (value: unknown): unknown => {
            if (Array.isArray(value)) return value.map(corrupt);
            if (typeof value !== 'string' || character === null || left-- !== 0) return value;
            return value.slice(0, at) + character + value.slice(at);
          };
          const given = Object.fromEntries(written[kind]!.map(([key, value]) => [key, corrupt(value)]));
          const isRefused = typeof messageIn(specOf(kind).fields, given) === 'string';
          expect([given, isRefused]).toEqual([given, left < 0]);
        }
      }),
      runsOf(2_000, 200),
    );
  });
  /**
   * Unprintable characters of each kind: control, format, private use, lone surrogate, line and paragraph separator.
   */
  const UNPRINTABLE = [...'\0\n\u001b\u007f\u0085\u200b\u202e\ufeff\ue000\ud800\u2028\u2029'];

  const FLAWS: Readonly<Record<string, readonly [change: (file: string) => void, why: RegExp]>> = {
    'that others can write': [file => chmodSync(file, 0o622), /is writable by other users \(mode 622\).*chmod go-w/],
    'behind a link': [
      file => {
        const elsewhere = join(mkdtempSync(join(root, 'elsewhere-')), 'planted.json');
        renameSync(file, elsewhere);
        symlinkSync(elsewhere, file);
      },
      /: expected a regular file, found a symbolic link/,
    ],
    'that is a pipe': [
      file => {
        rmSync(file);
        expect(spawnSync('mkfifo', [file]).status).toBe(0);
      },
      /: not a regular file/,
    ],
    'that is a folder': [
      file => {
        rmSync(file);
        mkdirSync(file);
      },
      /: not a regular file/,
    ],
    'that is too large': [file => truncateSync(file, 1_048_577), /: larger than \d+ bytes/],
    'that is empty': [file => writeFileSync(file, ''), /: not JSON/],
    'that is cut': [file => truncateSync(file, statSync(file).size - 2), /: not JSON/],
    'that is no object': [file => writeFileSync(file, 'null'), /: expected an object/],
    'that is a list': [file => writeFileSync(file, '[]'), /: expected an object/],
    'with an unknown key': [rewrite(message => ({ ...message, x: 1 })), /: unknown key "x"/],
    'with control characters': [
      rewrite(message => Object.fromEntries(Object.entries(message).map(([key, value]) => [key, corrupted(value)]))),
      /: \w+: expected /,
    ],
  };
  const corrupted = (value: unknown): unknown =>
    typeof value === 'string' ? `${value}\u001b[2J` : Array.isArray(value) ? value.map(corrupted) : value;

  describe.skipIf(!isOwned).each(Object.entries(FLAWS))('%s', (_, [change, why]) => {
    test.each(ALL)('(%s) is refused in one sentence, at once', kind => {
      const refused = found(kind, change)?.refused;
      expect(`${refused?.path}: ${refused?.why}`).toMatch(why);
      expect(refused?.why).not.toMatch(/\p{Cc}/u);
    });
  });

  test.each(ALL)('(%s) is refused without any one of its fields, or with another in its place', kind => {
    const optional = Object.entries(specOf(kind).fields).filter(([, field]) => 'isOptional' in field);
    const keys = Object.keys(specOf(kind).fields);
    for (const key of keys) {
      const without = found(
        kind,
        rewrite(({ [key]: _, ...others }) => others),
      );
      if (optional.some(([name]) => name === key)) expect(without?.message).toBeDefined();
      else expect(without?.refused?.why).toContain(`${key}: expected `);
      const other = found(
        kind,
        rewrite(message => ({ ...message, [key]: { toString: 1 } })),
      );
      expect(other?.refused?.why).toContain(`${key}: expected `);
    }
  });

  test.skipIf(process.geteuid?.() !== 0).each(ALL)('(%s) of another user is refused', kind => {
    const refused = found(kind, file => lchownSync(file, 4_321, 4_321))?.refused;
    expect(refused?.why).toMatch(/belongs to user 4321, but this process runs as user 0/);
  });
});

describe('what holds a bot back', () => {
  const LATCHES = {
    halt: () => latchIn(dir).read(),
    reduce: () => latchIn(dir).readReduce(),
    pause: () => latchIn(dir).readPause(),
    hold: () => latchIn(dir).readHold(),
  };

  test.each(Object.entries(LATCHES))('(%s) counts also where its file is refused, and names it', (kind, read) => {
    expect(read()).toBeNull();
    found(kind as MailKind, file => writeFileSync(file, '{'));
    expect(read()?.reason).toContain(`the latch ${fileOf(kind as MailKind)} is there but not readable`);
    found(kind as MailKind, file => chmodSync(file, 0o622));
    expect(read()?.reason).toContain(`the latch ${fileOf(kind as MailKind)} cannot be read: `);
    expect(read()).toMatchObject({ at: 0, by: 'bot' });
  });
});

describe('a request that a kill interrupts', () => {
  /** Takes cancel requests of a disk; counts how often one was executed. */
  function bot(at: VirtualClock) {
    const books = [{ symbol: 'btc_mxn' }];
    const run = { engine: { books, liveOrders: [], haltedBecause: null, pausedBecause: null } };
    let executed = 0;
    const restartRun = () => Promise.resolve({ kind: 'kept', why: `look ${++executed}` });
    const canceling = startCanceling({
      ...{ clock: at, log: memoryLog().log, instance: 'demo' },
      box: new RequestBox(dir, 'cancel', 'cancelAnswer'),
      rotation: { run, restartRun } as unknown as CancelHost['rotation'],
    });
    return { executed: () => executed, stop: () => canceling.stop() };
  }

  test('is executed at most once: at whatever write the bot dies, and however often it starts again', async () => {
    const unhook = hookDisk();
    try {
      const counts: number[] = [];
      for (let n = 1, isCut = true; isCut; n++) {
        dir = fresh();
        const clock = new VirtualClock();
        const lives = [bot(clock)];
        new Mailbox(dir, 'cancel').put(MESSAGES.cancel);
        [disk.writes, disk.killAt] = [0, n];
        await clock.advance(2_000);
        await lives[0]!.stop();
        isCut = disk.writes >= n;
        disk.killAt = Infinity;
        for (let again = 0; again < 2; again++) {
          lives.push(bot(clock));
          await clock.advance(2_000);
          await lives.at(-1)!.stop();
        }
        counts.push(lives.reduce((sum, { executed }) => sum + executed(), 0));
        expect(new Mailbox(dir, 'cancel').read()).toBeNull();
      }
      // Killed while the request is taken it is not executed; then once, whether the answer is written or not.
      expect(counts).toEqual([0, 0, ...counts.slice(2).map(() => 1)]);
      expect(counts.length).toBeGreaterThan(5);
    } finally {
      disk.killAt = Infinity;
      unhook();
    }
  });

  test('that is refused is reported once and removed; a numbered one stays for a person to look at', () => {
    writeFileSync(boxOf('cancel').path(), '{', { mode: 0o600 });
    writeFileSync(boxOf('adjust').path('a1b2c3d4'), '{', { mode: 0o600 });
    const told: string[] = [];
    for (let look = 0; look < 2; look++)
      expect(new RequestBox(dir, 'cancel', 'cancelAnswer').waiting(line => told.push(line))).toBeNull();
    expect(told).toEqual([`${boxOf('cancel').path()}: not JSON; the file is ignored`]);
    expect(new NumberedMailbox(dir, 'adjust').waiting(line => told.push(line))).toEqual([]);
    expect(told[1]).toContain('adjust-a1b2c3d4.json: not JSON');
    expect(readdirSync(dir)).toEqual(['adjust-a1b2c3d4.json']);
  });
});

describe.skipIf(!isOwned)('a request of either kind, over every history of its file', () => {
  /** Texts of a file and whether they are a request; each with the mode with which it is written. */
  const FILES = {
    good: { text: (kind: 'cancel' | 'reload') => boxOf(kind).textOf(MESSAGES[kind]), mode: 0o600 },
    cut: { text: () => '{', mode: 0o600 },
    list: { text: () => '[]', mode: 0o600 },
    open: { text: (kind: 'cancel' | 'reload') => boxOf(kind).textOf(MESSAGES[kind]), mode: 0o622 },
  };
  const steps = fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('good', 'cut', 'list', 'open') },
      { weight: 1, arbitrary: fc.constantFrom('folder', 'pipe', 'chmod', 'gone', 'restart', 'taken') },
      { weight: 4, arbitrary: fc.constant('look') },
    ),
    { maxLength: 20 },
  );

  test('every rejected file is told when it is first seen, once, and is gone then, unless it cannot be removed; each good one waits', () => {
    fc.assert(
      fc.property(fc.constantFrom('cancel', 'reload'), steps, (kind, history) => {
        dir = fresh();
        const newBox = () => new RequestBox(dir, kind, kind === 'cancel' ? 'cancelAnswer' : 'reloadAnswer');
        const path = boxOf(kind).path();
        let box = newBox();
        /** State of the file, and whether its rejection was told. */
        let is = null as 'good' | 'bad' | 'pipe' | 'folder' | null;
        let isTold = false;
        const put = (now: typeof is) => {
          // Only a person removes a folder.
          if (is === 'folder') rmSync(path, { recursive: true });
          is = now;
        };
        for (const step of history) {
          if (step === 'look') {
            const told: string[] = [];
            const found = box.waiting(sentence => told.push(sentence));
            expect(found).toEqual(is === 'good' ? MESSAGES[kind] : null);
            // A pipe in place of a folder is rejected with the same words.
            const isNew = is === 'bad' || ((is === 'folder' || is === 'pipe') && !isTold);
            expect([step, is, told.length]).toEqual([step, is, Number(isNew)]);
            for (const sentence of told) expect(sentence).toContain(`${path}: `);
            isTold = is === 'folder';
            if (is === 'bad' || is === 'pipe') is = null;
            expect(readdirSync(dir)).toHaveLength(is === null ? 0 : 1);
          } else if (step === 'restart') {
            box = newBox();
            isTold = false;
          } else if (step === 'gone') {
            put(null);
            rmSync(path, { force: true });
          } else if (step === 'taken') {
            if (is !== 'folder') {
              box.take();
              is = null;
            }
          } else if (step === 'chmod') {
            if (is === 'folder' || is === null) continue;
            chmodSync(path, 0o622);
            if (is === 'good') is = 'bad';
          } else if (step === 'pipe') {
            put('pipe');
            rmSync(path, { force: true });
            expect(spawnSync('mkfifo', [path]).status).toBe(0);
          } else if (step === 'folder') {
            // The same folder again, unless something else was there.
            if (is === 'folder') continue;
            rmSync(path, { force: true });
            put('folder');
            mkdirSync(path);
          } else {
            const { text, mode } = FILES[step];
            put(step === 'good' ? 'good' : 'bad');
            rmSync(path, { force: true });
            writeFileSync(path, text(kind));
            chmodSync(path, mode);
          }
        }
      }),
      {
        ...runsOf(2_000, 60),
        examples: [
          ['cancel', ['cut', 'look', 'cut', 'look', 'look']],
          ['reload', ['folder', 'look', 'gone', 'look', 'folder', 'look', 'look', 'pipe', 'look']],
        ],
      },
    );
  });
});

describe('numbered messages', () => {
  test('are found oldest first, and other files are not taken for them', () => {
    const box = new NumberedMailbox(dir, 'adjust');
    for (const [id, at] of [
      ['00000002', 5],
      ['00000001', 5],
      ['00000003', 1],
    ] as const)
      box.put({ ...MESSAGES.adjust, id, at });
    for (const name of ['adjust-.json', 'adjust-XYZ.json', 'adjust-00000009.json.new', 'x-adjust-00000009.json'])
      writeFileSync(join(dir, name), '{}', { mode: 0o600 });
    expect(box.waiting(line => expect.unreachable(line)).map(({ id }) => id)).toEqual([
      '00000003',
      '00000001',
      '00000002',
    ]);
    box.done('00000001');
    expect(box.waiting().map(({ id }) => id)).toEqual(['00000003', '00000002']);
  });

  test('have ids that are part of a file name', () => {
    const box = new NumberedMailbox(dir, 'settle');
    for (const id of ['', '../x', 'a/b', 'a'.repeat(61)])
      expect(() => box.put({ ...MESSAGES.settle, id })).toThrow(/a message cannot have the id/);
    expect(readdirSync(dir)).toEqual([]);
  });
});

describe.skipIf(!isOwned)('what a command leaves for a bot', () => {
  const OPERATORS = ALL.filter(kind => specOf(kind).inTrustedDirOnly);
  const puts: Readonly<Record<string, () => void>> = {
    ...Object.fromEntries(OPERATORS.map(kind => [kind, () => boxOf(kind).put(MESSAGES[kind])])),
    resume: () => latchIn(dir).lift('a test', 1),
    'a promotion': () => void noteInJournal(dir, started(1, 1)),
  };

  test('is every request and pause of an operator, each proposal with its decision, and each trial order', () => {
    const requests = ['adjust', 'settle', 'cancel', 'reload', 'changing', 'flatten'];
    expect(OPERATORS).toEqual([...requests, 'proposal', 'decision', 'trial', 'pause']);
  });

  test.each(Object.entries(puts))('(%s) is not left in a folder that others can write', (_, put) => {
    chmodSync(dir, 0o777);
    expect(put).toThrow(/is writable by other users \(mode 777\)/);
    expect(readdirSync(dir)).toEqual([]);
  });

  test.each(Object.entries(puts))('(%s) is not left beside a file that others can write, or a link', (_, put) => {
    writeFileSync(join(dir, 'journal.db'), '');
    chmodSync(join(dir, 'journal.db'), 0o666);
    expect(put).toThrow(/journal\.db is writable by other users/);
    rmSync(join(dir, 'journal.db'));
    symlinkSync('/etc/hostname', join(dir, 'journal.db'));
    expect(put).toThrow(/journal\.db is a symbolic link/);
  });

  test('and the journal of promotions is not read where others could have written it', () => {
    noteInJournal(dir, started(1, 1));
    expect(promotionJournal(dir).records).toHaveLength(1);
    chmodSync(join(dir, 'journal.jsonl'), 0o606);
    expect(() => promotionJournal(dir)).toThrow(/journal\.jsonl is writable by other users .*chmod go-w/);
    chmodSync(join(dir, 'journal.jsonl'), 0o600);
    mkdirSync(join(dir, 'files'));
    chmodSync(join(dir, 'files'), 0o777);
    expect(() => promotionJournal(dir)).toThrow(/files is writable by other users/);
  });
});

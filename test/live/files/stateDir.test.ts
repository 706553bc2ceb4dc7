import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { moneyOf, VirtualClock } from '../../../src/core/index.ts';
import { NumberedMailbox } from '../../../src/live/mailbox/mailbox.ts';
import { heartbeatIn } from '../../../src/live/safety/heartbeat.ts';
import { bookLatchIn } from '../../../src/live/safety/bookLatch.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { claimState } from '../../../src/live/state/paperMark.ts';
import { Folders, opened } from '../states.ts';

const folders = new Folders();
afterAll(() => folders.clear());

const used = (): string => {
  const dir = folders.fresh();
  opened(dir).close();
  return folders.copyOf(dir);
};
const NOBODY = 65_534;
const isRoot = process.geteuid?.() === 0;

describe('a state directory that others can write', () => {
  test.each([0o770, 0o707, 0o777, 0o720])('(mode %o) is refused with the command that closes it', mode => {
    const dir = used();
    chmodSync(dir, mode);
    expect(() => opened(dir)).toThrow(
      `${dir} is writable by other users (mode ${mode.toString(8)}); check whether it was changed, then chmod go-w ${dir}`,
    );
    chmodSync(dir, 0o755);
    expect(() => opened(dir).close()).not.toThrow();
  });

  test.each(['puntas.db', 'HALTED', 'RESUMED', 'adjust-00000000.json'])('in a file, %s, is refused too', name => {
    const dir = used();
    if (name !== 'puntas.db') writeFileSync(join(dir, name), '{}');
    chmodSync(join(dir, name), 0o666);
    expect(() => opened(dir)).toThrow(`chmod go-w ${join(dir, name)}`);
  });

  test.each(['books', 'books/eth_mxn', 'books/eth_mxn/HALTED'])('in the stops of a book, %s, is refused too', name => {
    const dir = used();
    bookLatchIn(dir, 'eth_mxn').set({ reason: 'odd prices', at: 1, by: 'person' });
    const { mode } = statSync(join(dir, name));
    chmodSync(join(dir, name), mode | 0o022);
    expect(() => opened(dir)).toThrow(`chmod go-w ${join(dir, name)}`);
    const latch = bookLatchIn(dir, 'eth_mxn');
    expect(() => latch.lift('looked', 1)).toThrow(`chmod go-w ${join(dir, name)}`);
    const pause = { reason: 'a pause', at: 1, by: 'person', who: 'ann', until: null } as const;
    expect(() => latch.setPause(pause)).toThrow(`chmod go-w ${join(dir, name)}`);
    chmodSync(join(dir, name), mode);
    expect([latch.read()?.reason, latch.readPause()]).toEqual(['odd prices', null]);
    expect(() => opened(dir).close()).not.toThrow();
  });

  test.each(['books', 'books/eth_mxn', 'books/eth_mxn/PAUSED'])(
    'by a link in the stops of a book, %s, is too',
    name => {
      const dir = used();
      const there = folders.copyOf(folders.fresh());
      mkdirSync(dirname(join(dir, name)), { recursive: true, mode: 0o700 });
      symlinkSync(there, join(dir, name));
      expect(() => opened(dir)).toThrow(`${join(dir, name)} is a symbolic link`);
    },
  );

  test('takes no resume and no booking by a person either', () => {
    const dir = used();
    latchIn(dir).set({ reason: 'loss', at: 1, by: 'bot' });
    chmodSync(dir, 0o777);
    expect(() => latchIn(dir).lift('looked')).toThrow(/chmod go-w/);
    const booking = { id: '00000000', at: 1, currency: 'mxn', amount: moneyOf('5'), reason: 'gift', by: 'me' };
    expect(() => new NumberedMailbox(dir, 'adjust').put(booking)).toThrow(/chmod go-w/);
    expect(latchIn(dir).read()?.reason).toBe('loss');
  });
});

test('a state directory with a file where the folder of the books is expected is refused by its name', () => {
  const dir = used();
  writeFileSync(join(dir, 'books'), '');
  expect(() => opened(dir)).toThrow(`${join(dir, 'books')} is not a folder, expected one; find out who created it`);
});

describe.skipIf(!isRoot)('a state of another user (skipped unless root: only root can make one)', () => {
  test.each(['', 'puntas.db', 'HALTED', 'books', 'books/eth_mxn', 'books/eth_mxn/HALTED'])(
    'is refused by number, also where only %s is theirs',
    name => {
      const dir = used();
      if (name.startsWith('books')) bookLatchIn(dir, 'eth_mxn').set({ reason: 'odd prices', at: 1, by: 'person' });
      if (name === 'HALTED') writeFileSync(join(dir, name), '{}');
      chownSync(join(dir, name), NOBODY, NOBODY);
      expect(() => opened(dir)).toThrow(
        /belongs to user 65534, but this process runs as user 0; run Puntas as user 65534/,
      );
    },
  );
});

describe('a planted link in a state directory', () => {
  test.each(['puntas.db', 'puntas.commits', 'HALTED', 'REDUCE', 'RESUMED', 'resumed.jsonl', 'heartbeat.json.new'])(
    '%s is refused at the start, and names itself',
    name => {
      const dir = used();
      const victim = join(dir, '..', `victim-${name}`);
      writeFileSync(victim, 'precious');
      rmSync(join(dir, name), { force: true });
      symlinkSync(victim, join(dir, name));
      expect(() => opened(dir)).toThrow(`${join(dir, name)} is a symbolic link, expected a regular file`);
      expect(readFileSync(victim, 'utf8')).toBe('precious');
    },
  );

  /** Each writer of the directory, before a link that came while it ran. */
  const writers: [string, string, (dir: string) => void][] = [
    ['the halt', 'HALTED.new', dir => latchIn(dir).set({ reason: 'x', at: 1, by: 'bot' })],
    ['reduce', 'REDUCE.new', dir => latchIn(dir).setReduce({ reason: 'x', at: 1, by: 'bot' })],
    ['the reserve', 'HALTED.reserve.new', dir => latchIn(dir).reserve()],
    ['the heartbeat', 'heartbeat.json.new', dir => heartbeatIn(dir, 'bot', new VirtualClock()).beat('alive')],
    ['what was lifted', 'resumed.jsonl', dir => latchIn(dir).lift('looked')],
    ['the mark of paper', 'PAPER', dir => claimState(dir, true)],
  ];
  test.each(writers)('is not followed by %s', (_, name, write) => {
    const dir = folders.fresh();
    mkdirSync(dir, { mode: 0o700 });
    const victim = `${dir}-victim`;
    symlinkSync(victim, join(dir, name));
    try {
      write(dir);
    } catch {
      // Refused is as good; what counts is the file behind the link.
    }
    expect(existsSync(victim)).toBe(false);
  });

  test('as the folder itself is taken: whoever starts the bot says where it is', () => {
    const dir = used();
    symlinkSync(dir, `${dir}-link`);
    expect(() => opened(`${dir}-link`).close()).not.toThrow();
  });
});

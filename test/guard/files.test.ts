/** Whatever lies under the name of a file: a reading ends at once, with the text or with one clause, and takes no more than its maximum. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { actionTail } from '../../src/app/actions/actionJournal.ts';
import { readConfig } from '../../src/wiring/configFile.ts';
import { feedOf } from '../../src/wiring/feeds.ts';
import { readSecretFile } from '../../src/wiring/secretFiles.ts';
import { boundedBody, readBody, readRegularFile, TailedLines } from '../../src/guard/index.ts';
import { RequestBox } from '../../src/live/mailbox/mailbox.ts';
import { latchIn } from '../../src/live/safety/latch.ts';
import { readHeartbeat } from '../../src/live/safety/heartbeat.ts';
import { mappedRecording } from '../../src/tape/import/mapping/mapped.ts';

const dirs: string[] = [];
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true });
});
const folder = (): string => {
  const dir = mkdtempSync(join(tmpdir(), 'puntas-files-'));
  dirs.push(dir);
  return dir;
};

/** What may lie under a file's name and is no file of a few bytes. */
const STRANGE = {
  'a pipe': (path: string) => execFileSync('mkfifo', ['-m', '600', path]),
  'a folder': (path: string) => mkdirSync(path, { mode: 0o700 }),
  'a device': (path: string) => execFileSync('ln', ['-s', '/dev/zero', path]),
  'a huge file': (path: string) => {
    writeFileSync(path, '', { mode: 0o600 });
    truncateSync(path, 2 ** 40);
  },
} as const;
const names = Object.keys(STRANGE) as (keyof typeof STRANGE)[];
const CLAUSE = /not a regular file|a folder, expected a file|larger than \d+ bytes/;

describe.each(names)('%s', name => {
  const made = (file: string): string => {
    const path = join(folder(), file);
    STRANGE[name](path);
    return path;
  };

  test('is not read as a file', () => expect(() => readRegularFile(made('x'), 1_000)).toThrow(CLAUSE));

  test('is no key file', () => expect(() => readSecretFile(made('key'))).toThrow(CLAUSE));

  test('is no configuration, and the line says what it is', () =>
    expect(() => readConfig(made('bot.yaml'))).toThrow(CLAUSE));

  test('is no mapping', () => expect(mappedRecording(folder(), made('mapping.yaml'))).rejects.toThrow(CLAUSE));

  test('is no price', async () => {
    const feed = feedOf({ file: made('price'), price: [], maxAgeMs: 1_000 } as never);
    expect(await feed.read()).toMatchObject({ kind: 'failed', why: expect.stringMatching(CLAUSE) as string });
  });

  test('is a halt where the latch lies, and nothing where a request, a heartbeat or the journal of actions lies', () => {
    const at = (file: string): string => join(made(file), '..');
    expect(latchIn(at('HALTED')).read()?.reason).toMatch(name === 'a device' ? /found a symbolic link/ : CLAUSE);
    expect(new RequestBox(at('cancel.json'), 'cancel', 'cancelAnswer').waiting()).toBeNull();
    expect(readHeartbeat(at('heartbeat.json'), 'bot')).toBeNull();
    if (name === 'a huge file') expect(actionTail(at('actions.jsonl'))()).toEqual([]);
    else expect(() => actionTail(at('actions.jsonl'))()).toThrow(CLAUSE);
  });
});

describe('a file of a few bytes', () => {
  test('is read whole up to its maximum, and not beyond', () => {
    const path = join(folder(), 'x');
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.nat(400), (text, most) => {
        writeFileSync(path, text);
        const bytes = Buffer.byteLength(text);
        if (bytes <= most) expect(readRegularFile(path, most)).toBe(Buffer.from(text).toString('utf8'));
        else expect(() => readRegularFile(path, most)).toThrow(`larger than ${most} bytes`);
      }),
    );
  });

  test('that says to have none and has some, as those of the kernel do, is read', () =>
    expect(readRegularFile('/proc/self/status', 65_536)).toContain('VmRSS'));
});

describe('the last lines of a file', () => {
  const pieces = fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '\n', '\n', '"'), maxLength: 12 }), {
    maxLength: 20,
  });

  test('are those of the whole file, however it grew, and each byte is parsed once', () => {
    const dir = folder();
    let n = 0;
    fc.assert(
      fc.property(pieces, list => {
        const path = join(dir, `log-${n++}`);
        const parsed: string[] = [];
        const tail = new TailedLines(
          path,
          { bytes: 10_000, lines: 5 },
          line => (parsed.push(line), line === '' ? null : line),
        );
        for (const piece of list) {
          appendFileSync(path, piece);
          tail.read();
        }
        const whole = list.join('').split('\n').slice(0, -1);
        expect(parsed).toEqual(whole);
        expect(tail.read()).toEqual(whole.filter(line => line !== '').slice(-5));
      }),
    );
  });

  test('are read again from the beginning when the file is another one or was cut, and are none when it is gone', () => {
    const path = join(folder(), 'log');
    const tail = new TailedLines(path, { bytes: 100, lines: 5 }, line => line);
    expect(tail.read()).toEqual([]);
    writeFileSync(path, 'one\ntwo\n');
    expect(tail.read()).toEqual(['one', 'two']);
    writeFileSync(path, 'x\n');
    expect(tail.read()).toEqual(['x']);
    rmSync(path);
    expect(tail.read()).toEqual([]);
  });

  test('of a file with more than the maximum are the last ones, without the one that lost its beginning', () => {
    const path = join(folder(), 'log');
    writeFileSync(path, `${'x'.repeat(1_000)}\n${'y'.repeat(50)}\nlast\n`);
    expect(new TailedLines(path, { bytes: 40, lines: 5 }, line => line).read()).toEqual(['last']);
  });
});

describe('a body', () => {
  test('is read up to its maximum; one without an end is given up there', async () => {
    let sent = 0;
    const endless = async function* (): AsyncGenerator<Uint8Array> {
      for (;;) {
        sent += 1_000;
        yield Buffer.alloc(1_000, 'x');
      }
    };
    await expect(readBody(endless(), 10_000)).rejects.toThrow('larger than 10000 bytes');
    const drained = async () => {
      for await (const _ of boundedBody(endless(), 10_000));
    };
    await expect(drained()).rejects.toThrow('larger than 10000 bytes');
    expect(sent).toBe(22_000);
    const short = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('é').subarray(0, 1);
      yield Buffer.from('é').subarray(1);
    };
    expect(await readBody(short(), 2)).toBe('é');
  });
});

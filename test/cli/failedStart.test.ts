/** Starts that fail before the state is opened, after a kill that left orders: real processes, a state as the kill left it. */
import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { readSecretFile } from '../../src/wiring/secretFiles.ts';
import { readConfig } from '../../src/wiring/configFile.ts';
import { openJournal } from '../../src/live/state/journal.ts';
import { OPENING, OWNER, place } from '../live/states.ts';
import { Bench, ran } from './program.ts';

const bench = new Bench();
afterAll(() => bench.clear());

/** A remote configuration, and the state of a killed bot with two orders. */
function killed(): { readonly file: string; readonly dir: string } {
  const file = bench.config('live', text =>
    stringify({ ...(parse(text) as object), exchange: { kind: 'remote', restUrl: 'http://127.0.0.1:9' } }),
  );
  const { state, book, instance } = readConfig(file);
  const owner = { ...OWNER, venue: 'http://127.0.0.1:9/api', book, instance };
  const journal = openJournal(state.dir, { ...OPENING, owner });
  journal.intend([place('live-1-1'), place('live-1-2', 'sell')], OPENING.at);
  journal.close();
  return { file, dir: state.dir };
}

describe('a start after a kill that fails before its state is opened', () => {
  const KEY = { PUNTAS_API_KEY: 'key', PUNTAS_API_SECRET: 'secret' };
  test.each([
    ['whose YAML is wrong', (text: string) => text.replace('book:', 'bok:'), KEY, /bok: /],
    ['whose YAML is no YAML', (text: string) => `${text}\n: [`, KEY, /not valid YAML/],
    [
      'of another bot',
      (text: string) => text.replace(/^instance: .*$/m, 'instance: other'),
      KEY,
      /the state directory/,
    ],
    ['without a key', (text: string) => text, {}, /no API key in the environment; set PUNTAS_API_KEY/],
  ])('%s says how many orders may live, which, and the command that cancels them', async (_, change, keys, says) => {
    const { file, dir } = killed();
    writeFileSync(file, change(readFileSync(file, 'utf8')));
    const { code, stderr } = await ran(['run', '-c', file], keys);
    expect(stderr).toMatch(says);
    expect(stderr).toContain(
      `according to the state in ${dir}, 2 orders of an earlier run may still be open at the exchange:`,
    );
    expect(stderr).toMatch(/^ {2}live-1-1 buy.*\n {2}live-1-2 sell/m);
    // A command that reads a wrong file would end like the start.
    const which = keys === KEY ? `--state ${dir}` : `-c ${file}`;
    expect(stderr).toContain(`puntas halt --cancel ${which} --reason "..."`);
    expect(code).toBe(3);
  });
});

test('a second start beside a bot that runs does not call its orders left over, and cancels nothing', async () => {
  const { file } = killed();
  const { state, book, instance } = readConfig(file);
  const held = openJournal(state.dir, {
    ...OPENING,
    owner: { ...OWNER, venue: 'http://127.0.0.1:9/api', book, instance },
  });
  try {
    const { code, stderr } = await ran(['run', '-c', file], { PUNTAS_API_KEY: 'key', PUNTAS_API_SECRET: 'secret' });
    expect(stderr).toContain('in use by another process');
    expect(stderr).not.toMatch(/may live|halt --cancel/);
    expect(code).toBe(2);
  } finally {
    held.close();
  }
});

describe('what is written', () => {
  test('by a run is open to nobody else, whatever the mask of the shell', async () => {
    const file = bench.config();
    expect((await ran(['run', '-c', file, '--for', '1s'])).code).toBe(0);
    const { dir } = readConfig(file).state;
    expect(readdirSync(dir)).toContain('puntas.db');
    for (const name of ['', ...readdirSync(dir)])
      expect([name, (statSync(join(dir, name)).mode & 0o077).toString(8)]).toEqual([name, '0']);
  });
});

describe('a key file', () => {
  const written = (mode: number): string => {
    const path = bench.file(`key-${mode.toString(8)}`, 'text');
    chmodSync(path, mode);
    return path;
  };
  test.each([0o600, 0o400])('of mode %o is read', mode => {
    expect(readSecretFile(written(mode))).toBe('text');
  });

  test.each([0o640, 0o604, 0o620, 0o602, 0o644, 0o444])(
    'of mode %o is refused, with the command that mends it',
    mode => {
      const path = written(mode);
      expect(() => readSecretFile(path)).toThrow(
        `other users can read or change the file (mode 0${mode.toString(8)}); chmod 600 ${path}`,
      );
    },
  );

  test('that is open to others ends a run with the variable that named it, and prints nothing of it', async () => {
    const { file } = killed();
    const [key, secret] = [written(0o644), bench.file('s', 'the-secret-text')];
    chmodSync(secret, 0o644);
    const ended = await ran(['run', '-c', file], { PUNTAS_API_KEY_FILE: key, PUNTAS_API_SECRET_FILE: secret });
    expect(ended.stderr).toMatch(
      /other users can read or change the file \(mode 0644\); chmod 600 .* \(PUNTAS_API_SECRET_FILE\)$/m,
    );
    expect(ended.stderr).not.toContain('the-secret-text');
  });

  test('behind a link is judged itself', () => {
    const link = bench.path('link');
    symlinkSync(written(0o640), link);
    expect(() => readSecretFile(link)).toThrow(/other users can read or change the file/);
  });
});

import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RecordingCache } from '../../../../backtest/app/tapeStore/recordingCache.ts';
import { storeRecording } from '../../../../backtest/app/tapeStore/recordingFiles.ts';
import { openTapeStore } from '../../../../backtest/app/tapeStore/tapeStore.ts';
import type { StoredFiles } from '../../../../backtest/app/tapeStore/storedFiles.ts';
import { testInMany } from '../../../many.ts';
import { objectStore, type ObjectStore } from '../../../queue/objectStore.ts';

const top = mkdtempSync(join(tmpdir(), 'puntas-store-'));
let s3: ObjectStore;
let made = 0;
const folder = (): string => {
  const dir = join(top, String(++made));
  mkdirSync(dir);
  return dir;
};
const quiet = (): void => undefined;
const fetchRecording = (store: StoredFiles, hash: string, dir: string): Promise<string> =>
  new RecordingCache({ store, dir, bytesMost: Infinity, now: () => 0, tell: quiet }).use([hash], paths =>
    Promise.resolve(paths[hash]!),
  );

beforeAll(async () => void (s3 = await objectStore()));
afterAll(async () => {
  await s3.stop();
  rmSync(top, { recursive: true, force: true });
});

const stores: readonly (readonly [string, () => StoredFiles])[] = [
  ['a folder', () => openTapeStore(folder(), {})],
  ['a bucket', () => openTapeStore(`s3://tapes/of-test-${++made}`, s3.env)],
];

/** Files below a folder, by name. */
function contentOf(dir: string): Record<string, string> {
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile());
  return Object.fromEntries(
    entries.map(entry => {
      const path = join(entry.parentPath, entry.name);
      return [path.slice(dir.length + 1), readFileSync(path, 'base64')] as const;
    }),
  );
}

function written(files: Readonly<Record<string, Uint8Array>>): string {
  const dir = join(folder(), 'recording');
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), bytes);
  }
  return dir;
}

describe.each(stores)('a recording in %s', (_, opened) => {
  test('comes out as it went in, whatever its files hold', async () => {
    const bytes = fc.uint8Array({ maxLength: 3_000 });
    const files = fc.dictionary(fc.constantFrom('a.csv', 'day=1/x.bin', 'day=2/x.bin', 'b c.json', 'ñ'), bytes, {
      minKeys: 1,
    });
    await fc.assert(
      fc.asyncProperty(files, async content => {
        const [store, from] = [opened(), written(content)];
        const hash = await storeRecording(store, from, quiet);
        expect(await storeRecording(store, from, quiet)).toBe(hash);
        const at = await fetchRecording(store, hash, folder());
        expect(contentOf(at)).toEqual(contentOf(from));
      }),
      { numRuns: 8 },
    );
  });

  test('that is one file keeps its name, by which readers know it', async () => {
    const store = opened();
    const file = join(written({ 'trades.csv.gz': Buffer.from('rows') }), 'trades.csv.gz');
    const at = await fetchRecording(store, await storeRecording(store, file, quiet), folder());
    expect(at.endsWith('/trades.csv.gz')).toBe(true);
    expect(readFileSync(at, 'utf8')).toBe('rows');
  });

  test('is refused when the store gives other bytes than its hash says, and nothing of it stays in the cache', async () => {
    const [store, cache] = [opened(), folder()];
    const hash = await storeRecording(store, written({ 'a.csv': Buffer.from('right') }), quiet);
    await store.put(createHash('sha256').update('right').digest('hex'), { text: 'wrong' });
    await expect(fetchRecording(store, hash, cache)).rejects.toThrow(
      /the content of the file \S+ has the hash \S+, which must equal the file name/,
    );
    expect(readdirSync(cache)).toEqual([]);
  });

  test('that nobody put there is told by its hash', async () => {
    const nothing = 'a'.repeat(64);
    await expect(fetchRecording(opened(), nothing, folder())).rejects.toThrow(`${nothing} is missing`);
  });

  test.each(['../out', '/etc/passwd', 'a/../../b', 'a//b', '.', 'a\\b'])(
    'whose list of files names %j is refused',
    async name => {
      const store = opened();
      const file = { name, size: 1, sha256: createHash('sha256').update('x').digest('hex') };
      const text = JSON.stringify({ form: 'puntas recording 1', name: 'tape', isFolder: true, files: [file] });
      const hash = createHash('sha256').update(text).digest('hex');
      await store.put(hash, { text });
      await store.put(file.sha256, { text: 'x' });
      await expect(fetchRecording(store, hash, folder())).rejects.toThrow(
        /expected the list of a recording's files, found an invalid list/,
      );
    },
  );
});

describe('a bucket', () => {
  test('that does not know the credentials says so in one line', async () => {
    const store = openTapeStore('s3://tapes', { ...s3.env, AWS_SECRET_ACCESS_KEY: 'another' });
    await expect(store.get('b'.repeat(64), join(folder(), 'x'), 1_000)).rejects.toThrow(
      /^tapes in s3:\/\/tapes: the store answered with HTTP status 403 \(SignatureDoesNotMatch\); check the credentials/,
    );
    await expect(store.has('b'.repeat(64))).rejects.toThrow(/answered with HTTP status 403/);
  });

  test.each([
    ['s3://Tapes', {}, /expected a folder or s3:\/\/BUCKET\/PREFIX, found "s3:\/\/Tapes"/],
    [
      's3://AKIA1:topsecret@tapes/p',
      {},
      /^(?!.*topsecret).*found an address with characters other than.*put credentials into AWS_/,
    ],
    [
      'S3://AKIA1:topsecret@tapes/p',
      {},
      /^(?!.*topsecret).*found an address with characters other than.*put credentials into AWS_/,
    ],
    ['s3://AKIA1:topsecret', {}, /^(?!.*topsecret).*found an address with characters other than/],
    ['s3:tapes', {}, /expected a folder or s3:\/\/BUCKET\/PREFIX, found "s3:tapes"/],
    ['gs://AKIA1:topsecret@tapes', {}, /expected a folder or s3:\/\/BUCKET\/PREFIX, found gs:\/\/$/],
    ['FILE:///topsecret', {}, /found FILE:\/\/$/],
    ['topsecret@x://tapes', {}, /found another address$/],
    ['s3://tapes', { AWS_ACCESS_KEY_ID: 'a' }, /missing credentials of the store; set AWS_SECRET_ACCESS_KEY$/],
    [
      's3://tapes',
      { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'topsecret', AWS_ENDPOINT_URL: 'ftp://x' },
      /^(?!.*topsecret).*expected an AWS_ENDPOINT_URL or AWS_ENDPOINT_URL_S3 like/,
    ],
  ])('called %s with %o is refused before anything is asked', (place, env, line) => {
    expect(() => openTapeStore(place, env)).toThrow(line);
  });

  test('is known however its scheme is written', () => {
    expect(openTapeStore('S3://tapes/p', s3.env).shown).toBe('s3://tapes/p');
  });

  testInMany('that cannot be reached is tried again, then told', async () => {
    const store = openTapeStore('s3://tapes', { ...s3.env, AWS_ENDPOINT_URL: 'http://127.0.0.1:1' });
    await expect(store.has('b'.repeat(64))).rejects.toThrow(/ECONNREFUSED/);
  });
});

test('a part of a file that was killed while it was copied is none of the store', async () => {
  const dir = folder();
  const from = written({ 'a.csv': Buffer.from('x') });
  const store = openTapeStore(dir, {});
  const hash = await storeRecording(store, from, quiet);
  cpSync(join(dir, hash), join(dir, `${'c'.repeat(64)}.part-1`));
  expect(await store.has('c'.repeat(64))).toBe(false);
});

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { RecordingCache } from '../../../../backtest/app/tapeStore/recordingCache.ts';
import { storeRecording } from '../../../../backtest/app/tapeStore/recordingFiles.ts';
import type { StoredFiles } from '../../../../backtest/app/tapeStore/storedFiles.ts';
import { openTapeStore } from '../../../../backtest/app/tapeStore/tapeStore.ts';
import { runsOf } from '../../../many.ts';

const top = mkdtempSync(join(tmpdir(), 'puntas-cache-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));

let made = 0;
const T0 = Date.UTC(2026, 0, 2);
const MINUTE_MS = 60_000;
const UUID = '0b7f3f3e-6a43-4f0e-9a57-1d2c3b4a5968';

/** A store in a folder, a cache of it, and workers that share both. */
function world(bytesMost = Infinity) {
  const dir = join(top, String(++made));
  const [kept, cached] = [join(dir, 'store'), join(dir, 'cache')];
  const store = openTapeStore(kept, {});
  const said: string[] = [];
  let now = T0;
  return {
    ...{ dir, kept, cached, store, said },
    pass: (ms: number): void => void (now += ms),
    worker: (from: StoredFiles = store) =>
      new RecordingCache({ store: from, dir: cached, bytesMost, now: () => now, tell: line => said.push(line) }),
    /** A recording of these files, in the store. */
    recording: async (name: string, files: Readonly<Record<string, string>>): Promise<string> => {
      mkdirSync(join(dir, name), { recursive: true });
      for (const [file, text] of Object.entries(files)) writeFileSync(join(dir, name, file), text);
      return storeRecording(store, join(dir, name), () => undefined);
    },
  };
}
const pathOf = (cache: RecordingCache, hash: string): Promise<string> =>
  cache.use([hash], paths => Promise.resolve(paths[hash]!));

test.each<[string, (at: string) => void]>([
  ['a.csv does not match its hash', at => writeFileSync(join(at, 'files/tape/a.csv'), 'ROWS')],
  ['a.csv is missing', at => rmSync(join(at, 'files/tape/a.csv'))],
  ["c.csv is not in the recording's list of files", at => writeFileSync(join(at, 'files/tape/c.csv'), 'more')],
  ["the recording's list of files does not match its hash", at => writeFileSync(join(at, 'manifest.json'), '{}')],
  ["the recording's list of files does not match its hash", at => rmSync(join(at, 'manifest.json'))],
])('a recording in the cache of which %s is fetched again, and said once', async (flaw, broken) => {
  const { worker, recording, cached, said } = world();
  const hash = await recording('tape', { 'a.csv': 'rows', 'b.csv': '' });
  await pathOf(worker(), hash);
  broken(join(cached, hash));
  const next = worker();
  const at = await pathOf(next, hash);
  expect(await pathOf(next, hash)).toBe(at);
  expect(readdirSync(at).sort()).toEqual(['a.csv', 'b.csv']);
  expect(readFileSync(join(at, 'a.csv'), 'utf8')).toBe('rows');
  expect(readdirSync(cached)).toEqual([hash]);
  expect(said).toEqual([expect.stringContaining(flaw)]);
  expect(said[0]).toMatch(/; fetching the recording again$/);
});

test('a recording is read for its hash once in a process, and once more when another lies in its place', async () => {
  const { worker, recording, cached, said, dir } = world();
  const hash = await recording('tape', { 'a.csv': 'rows' });
  await pathOf(worker(), hash);
  const cache = worker();
  const at = await pathOf(cache, hash);
  // Nobody looks a second time.
  writeFileSync(join(at, 'a.csv'), 'odd');
  expect(await pathOf(cache, hash)).toBe(at);
  expect(said).toEqual([]);
  cpSync(join(cached, hash), join(dir, 'copy'), { recursive: true });
  rmSync(join(cached, hash), { recursive: true });
  cpSync(join(dir, 'copy'), join(cached, 'for the number of its folder'), { recursive: true });
  cpSync(join(dir, 'copy'), join(cached, hash), { recursive: true });
  expect(readFileSync(join(await pathOf(cache, hash), 'a.csv'), 'utf8')).toBe('rows');
  expect(said).toEqual([expect.stringMatching(/a\.csv does not match its hash/)]);
});

test('what a killed process left half fetched is removed after a minute; what another still fetches is not', async () => {
  const { worker, recording, cached, pass, store } = world();
  const hash = await recording('tape', { 'a.csv': 'rows' });
  const part = (letter: string): string => `${letter.repeat(64)}.part-${UUID}`;
  for (const letter of ['a', 'b']) {
    mkdirSync(join(cached, part(letter), 'files'), { recursive: true });
    const seconds = (T0 + (letter === 'a' ? 0 : 4 * MINUTE_MS)) / 1_000;
    utimesSync(join(cached, part(letter)), seconds, seconds);
  }
  writeFileSync(join(cached, 'notes.txt'), '');
  const other = worker();
  const slow: RecordingCache = worker({
    ...{ shown: 'slow', has: sha256 => store.has(sha256), put: (sha256, content) => store.put(sha256, content) },
    get: async (sha256, to, bytesMax) => {
      pass(2 * MINUTE_MS);
      slow.markInUse();
      await other.tidy();
      return store.get(sha256, to, bytesMax);
    },
  });
  expect(readFileSync(join(await pathOf(slow, hash), 'a.csv'), 'utf8')).toBe('rows');
  expect(readdirSync(cached).sort()).toEqual([hash, part('b'), 'notes.txt'].sort());
});

/** Three recordings of a little more than a kilobyte each. */
async function three(recording: ReturnType<typeof world>['recording']): Promise<readonly [string, string, string]> {
  const [a, b, c] = ['a', 'b', 'c'].map(name => recording(name, { 'rows.csv': name.repeat(1_000) }));
  return [await a!, await b!, await c!];
}
/** Room for two of them. */
const TWO = 2_999;

test('a cache lets go what was not used for longest when another needs the room, and fetches it again when it is asked for', async () => {
  const { worker, recording, cached, pass, said } = world(TWO);
  const [a, b, c] = await three(recording);
  const cache = worker();
  for (const hash of [a, b, a, c]) {
    await pathOf(cache, hash);
    pass(2 * MINUTE_MS);
  }
  expect(readdirSync(cached).sort()).toEqual([a, c].sort());
  expect(readFileSync(join(await pathOf(cache, b), 'rows.csv'), 'utf8')).toBe('b'.repeat(1_000));
  expect(readdirSync(cached).sort()).toEqual([b, c].sort());
  expect(said).toEqual([]);
});

test('a cache lets nothing go that this worker or another uses, says so once, and has its room again afterwards', async () => {
  const { worker, recording, cached, pass, said } = world(TWO);
  const [a, b, c] = await three(recording);
  const [cache, other] = [worker(), worker()];
  await cache.use([a, b], async paths => {
    pass(10 * MINUTE_MS);
    cache.markInUse();
    await other.use([c], async () => {
      pass(10 * MINUTE_MS);
      cache.markInUse();
      other.markInUse();
      await other.tidy();
      expect(readdirSync(cached).sort()).toEqual([a, b, c].sort());
    });
    expect(Object.values(paths).every(path => existsSync(path))).toBe(true);
    pass(2 * MINUTE_MS);
    await cache.tidy();
    expect(readdirSync(cached).sort()).toEqual([a, b].sort());
    await cache.use([c], async () => {
      await cache.tidy();
      expect(readdirSync(cached).sort()).toEqual([a, b, c].sort());
    });
  });
  expect(said).toEqual([expect.stringMatching(/: recordings in use occupy \S+ GB, more than --cache-max \(\S+ GB\)/)]);
  pass(2 * MINUTE_MS);
  await other.tidy();
  expect(readdirSync(cached)).toHaveLength(2);
});

test('every recording of a use is in its place when the work begins and until it ends, however long each fetch takes', async () => {
  const { store, recording, dir } = world();
  const hashes = await three(recording);
  const texts = new Map(hashes.map((hash, i) => [hash, 'abc'[i]!.repeat(1_000)]));
  let caches = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.subarray([...hashes], { minLength: 1 }), { minLength: 1, maxLength: 3 }),
      fc.array(fc.constantFrom(0, 2 * MINUTE_MS), { minLength: 5, maxLength: 5 }),
      async (uses, times) => {
        let [now, fetched] = [T0, 0];
        const cache: RecordingCache = new RecordingCache({
          ...{ dir: join(dir, `cache ${++caches}`), bytesMost: 0, now: () => now, tell: () => undefined },
          store: {
            ...{
              shown: 'slow',
              has: sha256 => store.has(sha256),
              put: (sha256, content) => store.put(sha256, content),
            },
            get: async (sha256, to, bytesMax) => {
              const found = await store.get(sha256, to, bytesMax);
              now += times[fetched++ % times.length]!;
              await cache.tidy();
              return found;
            },
          },
        });
        const work = async (paths: Readonly<Record<string, string>>): Promise<void> => {
          for (const ms of times.slice(0, 2)) {
            for (const [hash, path] of Object.entries(paths))
              expect(readFileSync(join(path, 'rows.csv'), 'utf8')).toBe(texts.get(hash));
            now += ms;
            await cache.tidy();
          }
        };
        await Promise.all(uses.map(used => cache.use(used, work)));
      },
    ),
    runsOf(300, 12),
  );
});

test('what a killed process left half stored is removed after a day', async () => {
  const { recording, kept } = world();
  mkdirSync(kept, { recursive: true });
  const parts = ['a', 'b'].map(letter => `${letter.repeat(64)}.part-${UUID}`);
  for (const part of parts) writeFileSync(join(kept, part), '');
  const yesterday = Date.now() / 1_000 - 90_000;
  utimesSync(join(kept, parts[0]!), yesterday, yesterday);
  await recording('tape', { 'a.csv': 'rows' });
  expect(readdirSync(kept).filter(name => name.includes('part'))).toEqual([parts[1]]);
});

test('files and folders are on the disk before they have their name, and the name after it, in cache and store', async () => {
  const { worker, recording, cached, kept } = world();
  const handle = await open(top, 'r');
  const whole = Object.getPrototypeOf(handle) as { sync: FileHandle['sync'] };
  await handle.close();
  const { sync } = whole;
  const synced: string[] = [];
  whole.sync = function (this: FileHandle) {
    const names = [kept, cached].flatMap(dir =>
      existsSync(dir) ? readdirSync(dir).filter(name => !name.includes('.')) : [],
    );
    synced.push(
      `${readlinkSync(`/proc/self/fd/${this.fd}`).replaceAll(/\.part-[0-9a-f-]+/g, '.part')} ${names.length}`,
    );
    return sync.call(this);
  };
  try {
    const hash = await recording('tape', { 'a.csv': 'rows' });
    expect(synced).toEqual(
      [
        [expect.stringMatching(/\.part 0$/), `${kept} 1`],
        [expect.stringMatching(/\.part 1$/), `${kept} 2`],
      ].flat(),
    );
    synced.length = 0;
    await pathOf(worker(), hash);
    const part = join(cached, `${hash}.part`);
    const before = ['', '/manifest.json', '/files', '/files/tape', '/files/tape/a.csv'].map(name => `${part}${name} 2`);
    expect(synced.slice(0, -1).sort()).toEqual(before.sort());
    expect(synced.at(-1)).toBe(`${cached} 3`);
  } finally {
    whole.sync = sync;
  }
});

/** Recordings for the workers of a queue, whose store or cache is killed at any of its writes: a file under its hash is whole, and the repeated command leaves what one leaves that is not killed. */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RecordingCache } from '../../../../backtest/app/tapeStore/recordingCache.ts';
import { storeRecording } from '../../../../backtest/app/tapeStore/recordingFiles.ts';
import { openTapeStore } from '../../../../backtest/app/tapeStore/tapeStore.ts';
import { disk, hookDisk } from '../../../app/killedDisk.ts';

const top = mkdtempSync(join(tmpdir(), 'puntas-killed-store-'));
const [recording, kept, cached] = ['tape', 'store', 'cache'].map(name => join(top, name)) as [string, string, string];
// Files are made by the clock of the machine.
const T0 = Date.now();
const WHOLE = /^[0-9a-f]{64}$/;
let unhook = (): void => undefined;
beforeAll(() => {
  mkdirSync(join(recording, 'day'), { recursive: true });
  writeFileSync(join(recording, 'day/rows.tape'), 'rows '.repeat(1_000));
  writeFileSync(join(recording, 'notes.json'), '{}');
  unhook = hookDisk();
});
afterAll(() => {
  unhook();
  rmSync(top, { recursive: true, force: true });
});

const stored = (): Promise<string> => storeRecording(openTapeStore(kept, {}), recording, () => undefined);

/** A worker's use of the recording; `now` is in epoch ms. */
function fetched(hash: string, now: number): Promise<string> {
  const store = openTapeStore(kept, {});
  const cache = new RecordingCache({ store, dir: cached, bytesMost: Infinity, now: () => now, tell: () => undefined });
  return cache.use([hash], async paths => readFileSync(join(paths[hash]!, 'day/rows.tape'), 'utf8'));
}

const namesIn = (dir: string): readonly string[] => (existsSync(dir) ? readdirSync(dir).sort() : []);

test('a store that is killed at any write has whole files under their hashes, and the rest when it is repeated', async () => {
  disk.writes = 0;
  const hash = await stored();
  const { writes } = disk;
  const wanted = namesIn(kept);
  expect(wanted).toHaveLength(3);
  expect(writes).toBeGreaterThan(8);
  for (let n = 1; n <= writes; n++) {
    rmSync(kept, { recursive: true, force: true });
    [disk.writes, disk.killAt] = [0, n];
    await expect(stored(), `write ${n}`).rejects.toThrow(/killed/);
    disk.killAt = Infinity;
    for (const name of namesIn(kept).filter(name => WHOLE.test(name))) {
      const is = createHash('sha256')
        .update(readFileSync(join(kept, name)))
        .digest('hex');
      expect({ n, is }).toEqual({ n, is: name });
    }
    // A part of long ago was left by a process that is gone.
    const parts = namesIn(kept).filter(name => !WHOLE.test(name));
    for (const name of parts) utimesSync(join(kept, name), 1, 1);
    expect(await stored()).toBe(hash);
    expect({ n, names: namesIn(kept) }).toEqual({ n, names: wanted });
  }
});

test('a cache that is killed at any write has the recording whole or not at all, and whole when it is asked again', async () => {
  const hash = await stored();
  disk.writes = 0;
  const text = await fetched(hash, T0);
  const { writes } = disk;
  const wanted = namesIn(cached);
  expect([wanted, text]).toEqual([[hash], 'rows '.repeat(1_000)]);
  expect(writes).toBeGreaterThan(6);
  for (let n = 1; n <= writes; n++) {
    rmSync(cached, { recursive: true, force: true });
    [disk.writes, disk.killAt] = [0, n];
    await fetched(hash, T0).catch((error: unknown) => expect(String(error)).toContain('killed'));
    disk.killAt = Infinity;
    expect(namesIn(cached).filter(name => WHOLE.test(name)).length).toBeLessThanOrEqual(1);
    expect(await fetched(hash, T0 + 120_000)).toBe(text);
    expect({ n, names: namesIn(cached) }).toEqual({ n, names: wanted });
  }
});

import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import {
  followRecording,
  forgetOld,
  readRecording,
  recordedRunOf,
  recorderIn,
  recordingLimits,
  recordingName,
  recordingsIn,
  RUNS_MAX,
} from '../../../src/live/recording/recordings.ts';

const root = mkdtempSync(join(tmpdir(), 'puntas-recordings-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;
function fresh(): string {
  const dir = join(root, String(++folders));
  mkdirSync(dir);
  return dir;
}

const MB = 1_000_000;

describe('the recordings of earlier runs', () => {
  test('that are kept are the newest that fit into both limits, whatever their sizes, and the present run is no part of them', () => {
    // Numbers of one to three digits, which a sort of the names would mix up.
    const runs = fc.uniqueArray(fc.integer({ min: 1, max: 120 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(runs, fc.infiniteStream(fc.nat(9)), fc.nat(40), fc.nat(11), (numbers, sizes, maxBytes, which) => {
        const dir = fresh();
        const sizeOf = new Map(numbers.map(run => [run, sizes.next().value as number]));
        for (const [run, size] of sizeOf) writeFileSync(join(dir, recordingName(run)), 'x'.repeat(size));
        for (const other of ['run-x.rec', 'run-5.rec.gz', 'puntas.db']) writeFileSync(join(dir, other), '');
        const sorted = numbers.toSorted((a, b) => a - b);
        expect(recordingsIn(dir)).toEqual(sorted.map(run => ({ run, bytes: sizeOf.get(run) })));
        const current = sorted[which % sorted.length]!;
        const kept: number[] = [];
        let bytes = 0;
        for (const run of sorted.toReversed()) {
          if (run === current) continue;
          bytes += sizeOf.get(run)!;
          if (bytes > maxBytes) break;
          kept.push(run);
        }
        forgetOld(dir, current, maxBytes);
        expect(recordingsIn(dir).map(({ run }) => run)).toEqual([...kept, current].toSorted((a, b) => a - b));
        expect(readdirSync(dir)).toHaveLength(kept.length + 1 + 3);
      }),
      { numRuns: 60 },
    );
  });

  test('are never more than RUNS_MAX beside the present one, however small they are', () => {
    const dir = fresh();
    const count = RUNS_MAX + 3;
    for (let run = 1; run <= count; run++) writeFileSync(join(dir, recordingName(run)), 'x');
    forgetOld(dir, count, Infinity);
    expect(recordingsIn(dir).map(({ run }) => run)).toEqual(Array.from({ length: RUNS_MAX + 1 }, (_, i) => i + 3));
    forgetOld(dir, count, Infinity);
    expect(recordingsIn(dir)).toHaveLength(RUNS_MAX + 1);
  });
});

test('the limits leave room for a recording of twice its usual size within all that is kept', () => {
  expect(recordingLimits({ rollHours: 3, keepMb: 80 })).toEqual({
    afterMs: 10_800_000,
    bytes: 10 * MB,
    recordings: 60 * MB,
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 1, max: 200 }), (keepMb, rollHours) => {
      const { bytes, recordings } = recordingLimits({ keepMb, rollHours });
      expect(recordings + 2 * bytes).toBe(keepMb * MB);
    }),
  );
});

/** Text that does not pack well, always the same. */
function noise(bytes: number): string {
  let text = '';
  for (let i = 0; text.length < bytes; i++) text += createHash('sha512').update(String(i)).digest('base64');
  return text.slice(0, bytes);
}
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

describe('a recording', () => {
  test('is read as far as it is written, batch by batch, with the size and the hash of exactly what was read', () => {
    const batches = fc.array(fc.array(fc.string({ unit: 'binary', maxLength: 40 }), { minLength: 1, maxLength: 4 }), {
      maxLength: 6,
    });
    let run = 0;
    const dir = fresh();
    fc.assert(
      fc.property(batches, all => {
        const lines = all.map(batch => batch.map(line => `i${Buffer.from(line).toString().replaceAll('\n', ' ')}`));
        const of = { run: ++run, startedAt: 5, setup: '{"a":"á"}', format: 2 } as const;
        const recorder = recorderIn(dir, of);
        const path = join(dir, recordingName(run));
        const pieces = followRecording(dir, run);
        expect([pieces.bytesRead, pieces.share]).toEqual([0, 0]);
        expect(pieces.next()).toEqual([JSON.stringify(of)]);
        const sizes = [recorder.bytes];
        for (const batch of lines) {
          expect(pieces.next()).toBeNull();
          const before = recorder.bytes;
          expect([pieces.bytesRead, pieces.share]).toEqual([before, 1]);
          recorder.write(batch);
          expect(readFileSync(path)).toHaveLength(recorder.bytes);
          expect(pieces.share).toBe(before / recorder.bytes);
          expect(pieces.hashOfRead()).toBe(sha256(readFileSync(path).subarray(0, before)));
          expect(pieces.next()).toEqual(batch);
          sizes.push(recorder.bytes);
        }
        expect(pieces.hashOfRead()).toBe(sha256(readFileSync(path)));
        pieces.close();
        recorder.close();
        recorder.close();
        expect(recordedRunOf(dir, run)).toEqual(of);
        expect([...readRecording(dir, run)!.lines]).toEqual(lines.flat());
        // A kill leaves whole batches.
        const copied = fresh();
        copyFileSync(path, join(copied, recordingName(run)));
        const cut = Math.floor(recorder.bytes * 0.6);
        truncateSync(join(copied, recordingName(run)), cut);
        const whole = sizes.filter(size => size <= cut).length;
        const left = readRecording(copied, run);
        expect(left && [...left.lines]).toEqual(whole === 0 ? null : lines.slice(0, whole - 1).flat());
      }),
      { numRuns: 25 },
    );
  });

  test('of more bytes than one read of the hash has the hash of all of them', () => {
    const dir = fresh();
    const recorder = recorderIn(dir, { run: 1, startedAt: 0, setup: '' });
    recorder.write([noise(1_600_000), 'i1', noise(1_000_000)]);
    recorder.close();
    expect(recorder.bytes).toBeGreaterThan(1024 * 1024);
    const pieces = followRecording(dir, 1);
    for (let next = pieces.next(); next !== null; next = pieces.next());
    expect(pieces.hashOfRead()).toBe(sha256(readFileSync(join(dir, recordingName(1)))));
    pieces.close();
  });

  test('is never written over, and is refused under the number of another run', () => {
    const dir = fresh();
    const recorder = recorderIn(dir, { run: 7, startedAt: 0, setup: 'first' });
    recorder.close();
    expect(() => recorderIn(dir, { run: 7, startedAt: 1, setup: 'second' })).toThrow(/EEXIST/);
    expect(recordedRunOf(dir, 7)).toMatchObject({ setup: 'first' });
    copyFileSync(join(dir, recordingName(7)), join(dir, recordingName(8)));
    expect(() => recordedRunOf(dir, 8)).toThrow(RangeError);
  });
});

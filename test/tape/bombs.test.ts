/** Small files that want much: what a recording unpacks to, and how long its headers take to read, is bounded by its size. */
import { createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import yazl from 'yazl';
import { readRecording, recorderIn, recordingsIn } from '../../src/live/recording/recordings.ts';
import { FrameFile } from '../../src/tape/format/frames.ts';
import { hftbacktestGrid } from '../../src/tape/import/hftbacktest.ts';
import { lineBatches } from '../../src/tape/import/lines.ts';
import { columnBuffers, encodeRows, RowsDecoder, SUMMARY_BYTES } from '../../src/tape/format/rowsCodec.ts';
import { TapeBuilder } from '../../src/tape/model/tape.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'puntas-bomb-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const MB = 1_000_000;

describe('a tape of nothing but headers', () => {
  /** A header whose sum is right, of a frame that would end behind the file. */
  function header(tag: string, length: number): Buffer {
    const bytes = Buffer.alloc(16);
    bytes.write(tag, 0, 'latin1');
    bytes.writeUInt32LE(length, 4);
    bytes.writeUInt32LE(crc32(bytes.subarray(0, 12)), 12);
    return bytes;
  }
  /** Bytes that this process has read, also from the cache. */
  const read = (): number => Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))![1]);

  test.runIf(process.platform === 'linux')('a megabyte of them is read a few times over, not once for each', () => {
    const path = join(dir, 'rows.tape');
    const one = header('GAPS', 8 * MB);
    writeFileSync(path, Buffer.concat(Array.from({ length: 65_536 }, () => one)));
    const file = new FrameFile(path);
    const before = read();
    const { frames, end } = file.frames(true);
    file.close();
    expect([frames.length, end]).toEqual([0, 0]);
    expect(read() - before).toBeLessThan(10 * MB);
  });

  test('is refused when there are more than any tape has', () => {
    const path = join(dir, 'rows.tape');
    const one = header('GAPS', 0);
    writeFileSync(path, Buffer.alloc(16 * 250_001, one));
    const file = new FrameFile(path);
    expect(() => file.frames(false)).toThrow(
      /expected a tape of at most 250000 frames, found more before byte 4000000$/,
    );
    file.close();
  });
});

describe('a block of rows', () => {
  test('that says its columns are wider than any number is refused before anything is unpacked', () => {
    const rows = new TapeBuilder();
    for (let n = 0; n < 100; n++) rows.clear(n, n);
    const block = encodeRows(rows.columns(), 0, 100, 0);
    const decode = () => new RowsDecoder().decode(block, columnBuffers(65_536), 0);
    expect(decode()).toBe(100);
    block.writeUInt8(9, SUMMARY_BYTES + 8 + 1);
    expect(decode).toThrow(/a column has 9 planes, expected at most 8/);
  });
});

describe('a recording of the journal', () => {
  const RUN = { run: 7, startedAt: 1, setup: '{}' };

  test('whose piece unpacks to more than is ever written is refused while it unpacks', () => {
    recorderIn(dir, RUN).close();
    const path = join(dir, 'run-7.rec');
    const packed = deflateRawSync(Buffer.alloc(40 * MB, 0x20));
    const head = Buffer.alloc(8);
    head.writeUInt32LE(packed.length, 0);
    head.writeUInt32LE(crc32(packed, 7), 4);
    writeFileSync(path, Buffer.concat([readFileSync(path), head, packed]));
    expect(packed.length).toBeLessThan(MB);
    expect(() => [...readRecording(dir, 7)!.lines]).toThrow(
      /^the recording is damaged, and the rest of it cannot be read: a compressed part unpacks to more than 33554432 bytes$/,
    );
  });

  test('that says its piece is longer than the file is read up to there, and no room is made for it', () => {
    recorderIn(dir, RUN).close();
    const path = join(dir, 'run-7.rec');
    const head = Buffer.alloc(8);
    head.writeUInt32LE(30 * MB, 0);
    writeFileSync(path, Buffer.concat([readFileSync(path), head]));
    expect([...readRecording(dir, 7)!.lines]).toEqual([]);
  });

  test('has many lines that were written at once as several pieces, and gives each back', () => {
    const recorder = recorderIn(dir, RUN);
    const lines = Array.from({ length: 40 }, (_, n) => `${n}${'x'.repeat(MB)}`);
    recorder.write(lines);
    recorder.write(['after']);
    recorder.close();
    expect([...readRecording(dir, 7)!.lines]).toEqual([...lines, 'after']);
    expect(recordingsIn(dir)[0]!.bytes).toBe(recorder.bytes);
  });
});

describe('a packed recording of somebody else', () => {
  test('that unpacks to hundreds of times its size is refused while it unpacks: gz', async () => {
    const path = join(dir, 'x.csv.gz');
    writeFileSync(path, gzipSync(Buffer.alloc(80 * MB, `${'x'.repeat(999)}\n`)));
    let lines = 0;
    const all = async () => {
      for await (const batch of lineBatches(path, () => undefined)) lines += batch.length;
    };
    await expect(all()).rejects.toThrow(
      /x\.csv\.gz: the file unpacks from \d+ to \d+ bytes, more than 250 times as many/,
    );
    expect(lines).toBeLessThan(80_000);
  });

  test('that unpacks to hundreds of times its size is refused before it unpacks: zip', async () => {
    const path = join(dir, 'x.npz');
    const zip = new yazl.ZipFile();
    zip.addBuffer(Buffer.alloc(70 * MB), 'data.npy');
    zip.end();
    await pipeline(zip.outputStream, createWriteStream(path));
    await expect(hftbacktestGrid([path], () => undefined)).rejects.toThrow(
      /x\.npz: the file unpacks from \d+ to 70000000 bytes, more than 250 times as many; if the file is a recording, unpack the file first/,
    );
  });
});

/** Packed files: the same bytes however they are packed, within bounds, and one line for what cannot be unpacked. */
import { execFileSync } from 'node:child_process';
import { createWriteStream, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import yazl from 'yazl';
import { unpackedBytes, unpackedName } from '../../src/tape/import/read/packed.ts';
import { lineBatches } from '../../src/tape/import/lines.ts';
import { openTape } from '../../src/tape/index.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'puntas-packed-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const magic = (word: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(word);
  return bytes;
};
const uint32 = magic;

/** A frame of blocks as they are (RFC 8878), with a window of 1 MiB. */
function zstd(text: Buffer, blockBytes = 100_000): Buffer {
  const blocks: Buffer[] = [];
  for (let at = 0; at < text.length || blocks.length === 0; at += blockBytes) {
    const body = text.subarray(at, at + blockBytes);
    const header = Buffer.alloc(3);
    header.writeUIntLE((body.length << 3) | Number(at + blockBytes >= text.length), 0, 3);
    blocks.push(header, body);
  }
  return Buffer.concat([magic(0xfd2fb528), Buffer.of(0, 10 << 3), ...blocks]);
}

/** A frame of blocks, each of one literal run and a match of what was just written. */
function lz4(text: Buffer, blockBytes = 60_000): Buffer {
  const parts: Buffer[] = [magic(0x184d2204), Buffer.of(0x40, 0x40, 0)];
  for (let at = 0; at < text.length; at += blockBytes) {
    const body = text.subarray(at, at + blockBytes);
    const more = body.length - 15;
    const length = more < 0 ? [] : [...Array<number>(Math.floor(more / 255)).fill(255), more % 255];
    const block = Buffer.concat([Buffer.of((more < 0 ? body.length : 15) << 4), Buffer.from(length), body]);
    parts.push(uint32(block.length), block);
  }
  return Buffer.concat([...parts, uint32(0)]);
}

async function zip(path: string, files: Readonly<Record<string, Buffer>>): Promise<void> {
  const archive = new yazl.ZipFile();
  for (const [name, bytes] of Object.entries(files)) archive.addBuffer(bytes, name);
  archive.end();
  await pipeline(archive.outputStream, createWriteStream(path));
}

async function unpacked(path: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of unpackedBytes(path, () => undefined)) pieces.push(piece);
  return Buffer.concat(pieces);
}

const said = (path: string): Promise<string> =>
  unpacked(path).then(
    bytes => `${bytes.length} bytes`,
    (error: unknown) => (error as Error).message,
  );

describe('the bytes of a file are the same', () => {
  test('plain, gzipped, and in frames of zstd and LZ4, one or several, of blocks of any size', async () => {
    const bytes = fc.uint8Array({ maxLength: 5_000 }).map(of => Buffer.from(of));
    await fc.assert(
      fc.asyncProperty(bytes, bytes, fc.integer({ min: 1, max: 3_000 }), async (one, other, block) => {
        const both = Buffer.concat([one, other]);
        for (const [end, packed] of [
          ['', both],
          ['.gz', Buffer.concat([gzipSync(one), gzipSync(other)])],
          ['.zst', Buffer.concat([zstd(one, block), skippable(other), zstd(other, block)])],
          ['.lz4', Buffer.concat([lz4(one, block), skippable(one), lz4(other, block)])],
        ] as const) {
          writeFileSync(join(dir, `x${end}`), packed);
          expect((await unpacked(join(dir, `x${end}`))).equals(both)).toBe(true);
        }
      }),
      { numRuns: 40 },
    );
  });
  const skippable = (bytes: Buffer) => Buffer.concat([magic(0x184d2a53), uint32(bytes.length), bytes]);

  test('in an archive with one table, whatever a desktop put beside it', async () => {
    const text = Buffer.from('a,b\n1,2\n');
    await zip(join(dir, 'x.zip'), { '__MACOSX/x.csv': Buffer.of(1), 'README.txt': Buffer.of(1), 'in/x.csv': text });
    expect((await unpacked(join(dir, 'x.zip'))).equals(text)).toBe(true);
  });

  /** Repeats within a block, across blocks and from the frame before are only in what real programs write. */
  const text = Buffer.from(
    Array.from({ length: 40_000 }, (_, i) => `${1_700_000_000 + i},${100 + (i % 37)},${i * i}\n`).join(''),
  );
  for (const [program, ...flags] of [
    ['zstd', '-q', '-19', '--long=22'],
    ['zstd', '-q', '-1'],
    ['lz4', '-q', '-BD', '-B4'],
    ['lz4', '-q', '-9', '-B7', '--content-size'],
  ] as const) {
    const isThere = existsSync(`/usr/bin/${program}`);
    const name = `as ${program} ${flags.join(' ')} packs them${isThere ? '' : ` (skipped: no ${program} here)`}`;
    it.skipIf(!isThere)(name, async () => {
      const path = join(dir, 'x');
      writeFileSync(path, text);
      execFileSync(program, [...flags, path, `${path}.${program === 'zstd' ? 'zst' : 'lz4'}`]);
      expect((await unpacked(`${path}.${program === 'zstd' ? 'zst' : 'lz4'}`)).equals(text)).toBe(true);
    });
  }

  test('for the names of formats too', async () => {
    expect(['a.csv.gz', 'a.csv.zst', 'a.csv.lz4', 'a.csv.zip', 'a.csv'].map(unpackedName)).toEqual(
      Array(5).fill('a.csv'),
    );
    const start = 1_757_000_000_000;
    const books = `timestamp,sequence,exchange_timestamp,bid_price_0,bid_size_0,ask_price_0,ask_size_0\n${start / 1000},1,${start},200,3,201,2\n`;
    const trades = `timestamp,price,size,side,trade_id,exchange_timestamp\n${start / 1000},201,0.5,buy,1,${start + 1}\n`;
    writeFileSync(join(dir, 'orderbooks_BTC.csv.zst'), zstd(Buffer.from(books)));
    writeFileSync(join(dir, 'trades_BTC.csv.zst'), zstd(Buffer.from(trades)));
    expect((await openTape(dir)).columns.length).toBe(4);
  });
});

describe('one line says why', () => {
  const frame = (window: number, ...blocks: readonly Buffer[]) =>
    Buffer.concat([magic(0xfd2fb528), Buffer.of(0, window), ...blocks]);
  /** A block of 128 kB of one byte, in four. */
  const repeated = (isLast: boolean) => {
    const bytes = Buffer.alloc(4, 0x41);
    bytes.writeUIntLE((131_072 << 3) | 2 | Number(isLast), 0, 3);
    return bytes;
  };

  it.each<[string, string, Buffer, RegExp]>([
    ['a frame that is cut off', '.zst', zstd(Buffer.alloc(500)).subarray(0, 300), /file is incomplete$/],
    ['a frame that is none', '.zst', Buffer.from('time,price,amount'), /damaged \(no zstd frame\)$/],
    [
      'a window of gigabytes',
      '.zst',
      frame(0xa8, repeated(true)),
      /^the file needs 2147483648 bytes of memory to unpack, more than/,
    ],
    [
      'a dictionary',
      '.zst',
      Buffer.concat([magic(0xfd2fb528), Buffer.of(1, 80, 7)]),
      /^the file is compressed with a dictionary/,
    ],
    [
      'a block that is too long',
      '.zst',
      frame(80, Buffer.of(0xff, 0xff, 0xff)),
      /damaged \(a block has 2097151 bytes, expected at most \d+\)/,
    ],
    [
      'what repeats one byte for ever',
      '.zst',
      frame(80, ...Array<Buffer>(100_000).fill(repeated(false))),
      /^the file unpacks from \d+ to \d+ bytes, more than 250 times as many; if the file is a recording, unpack the file first$/,
    ],
    [
      'blocks so small that each moves a window for nothing',
      '.zst',
      frame(0x88, ...Array<Buffer>(100_000).fill(Buffer.of(0, 0, 0))),
      /^the file has compressed blocks that are too small for its window size; unpack the file first$/,
    ],
    ['an LZ4 frame that is cut off', '.lz4', lz4(Buffer.alloc(500)).subarray(0, 300), /file is incomplete$/],
    ['an LZ4 frame that is none', '.lz4', Buffer.from('time,price,amount'), /damaged \(no LZ4 frame\)$/],
    [
      'an LZ4 block that repeats what is not there',
      '.lz4',
      Buffer.concat([magic(0x184d2204), Buffer.of(0x40, 0x40, 0), uint32(5), Buffer.of(0x10, 65, 9, 9, 0)]),
      /damaged \(an LZ4 block cannot be read\)$/,
    ],
    ['what is no archive', '.zip', Buffer.from('time,price,amount'), /[Ee]nd of central directory/],
    ['a gzipped file that is none', '.gz', Buffer.from('time,price,amount'), /incorrect header check/],
  ])('%s', async (_, end, bytes, why) => {
    writeFileSync(join(dir, `x${end}`), bytes);
    expect(await said(join(dir, `x${end}`))).toMatch(why);
  });

  test('an archive of several tables, or of none', async () => {
    await zip(join(dir, 'x.zip'), { 'a.csv': Buffer.of(1), 'b.csv': Buffer.of(1) });
    expect(await said(join(dir, 'x.zip'))).toBe(
      'the archive contains several files, a.csv and b.csv; unpack the files into a folder',
    );
    await zip(join(dir, 'y.zip'), { 'a.exe': Buffer.of(1) });
    expect(await said(join(dir, 'y.zip'))).toBe('the archive contains no recording; found a.exe');
  });

  test('a line without end, packed to nothing', async () => {
    const path = join(dir, 'x.csv.zst');
    writeFileSync(path, frame(80, ...Array<Buffer>(100).fill(repeated(false)), repeated(true)));
    const all = async () => {
      for await (const batch of lineBatches(path, () => undefined)) expect(batch).toEqual([]);
    };
    await expect(all()).rejects.toThrow(/x\.csv\.zst: a line is longer than 8388608 bytes; expected a text file$/);
  });

  test('any bytes at all, in any packing, and never more than that', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }).map(of => Buffer.from(of)),
      fc
        .tuple(fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.nat(), fc.nat(255), fc.boolean())
        .map(([content, place, byte, isZstd]) => {
          const packed = (isZstd ? zstd : lz4)(Buffer.from(content), 100);
          packed[place % packed.length] = byte;
          return packed;
        }),
    );
    await fc.assert(
      fc.asyncProperty(bytes, fc.constantFrom('.zst', '.lz4', '.gz', '.zip'), async (content, end) => {
        writeFileSync(join(dir, `x${end}`), content);
        expect(await said(join(dir, `x${end}`))).not.toMatch(/\n|undefined|not a function|Cannot read/);
      }),
      { numRuns: 500 },
    );
  });
});

/** Zstandard blocks on which the decompressor would not end. */
import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { unpackedBytes } from '../../src/tape/import/read/packed.ts';
import { checkCompressed, checkFrames, ZSTD_MAGIC } from '../../src/tape/import/read/zstd.ts';
import { between } from '../draws.ts';

const dir = mkdtempSync(join(tmpdir(), 'puntas-zstd-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Bits, lowest first. */
class Bits {
  readonly #bits: number[] = [];

  add(value: number, count: number): this {
    for (let i = 0; i < count; i++) this.#bits.push((value >>> i) & 1);
    return this;
  }

  get bytes(): Buffer {
    const bytes = Buffer.alloc(Math.ceil(this.#bits.length / 8));
    this.#bits.forEach((bit, i) => (bytes[i >>> 3]! |= bit << (i & 7)));
    return bytes;
  }
}

/** Block whose Huffman weights have a table of 2^`log` places, after `zeros` symbols without a place: `share` in all for the next. */
function blockWith({
  log,
  zeros,
  share,
  tail,
}: {
  log: number;
  zeros: number;
  share: number;
  tail: readonly number[];
}): Buffer {
  const size = 2 ** log;
  const bits = new Bits().add(log - 5, 4);
  if (zeros > 0) {
    bits.add(1, log);
    for (let left = zeros - 1; ; left -= 3) {
      bits.add(Math.min(left, 3), 2);
      if (left < 3) break;
    }
  }
  const spare = size - 2;
  const value = share + 1;
  if (value < spare) bits.add(value, log);
  else bits.add(value < size ? value : value + spare, log + 1);
  const weights = Buffer.concat([bits.bytes, Buffer.from(tail)]);
  // Literals in one stream: 8 bytes, packed in as many as follow.
  return Buffer.concat([
    Buffer.of(0b0000_0010 | (8 << 4), (weights.length + 1) << 6, (weights.length + 1) >>> 2, weights.length),
    weights,
  ]);
}
const block = fc.record({
  log: fc.integer({ min: 5, max: 6 }),
  zeros: fc.nat(60),
  tail: fc.array(fc.nat(255), { minLength: 1, maxLength: 20 }),
});

function frameOf(body: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUInt32LE(ZSTD_MAGIC);
  [head[4], head[5]] = [0x20, 8];
  head.writeUIntLE(1 | (2 << 1) | (body.length << 3), 6, 3);
  return Buffer.concat([head, body]);
}

test('weights with one symbol are refused, wherever the symbol is', () => {
  fc.assert(
    fc.property(block, of => {
      const body = blockWith({ ...of, share: 2 ** of.log });
      expect(() => checkCompressed(body)).toThrow(/Huffman weights of one symbol/);
      expect(() => checkFrames(frameOf(body))).toThrow(/Huffman weights of one symbol/);
      expect(() => checkFrames(Buffer.concat([Buffer.from('502a4d1802000000abcd', 'hex'), frameOf(body)]))).toThrow();
    }),
  );
});

test('weights with more symbols are left to the decompressor', () => {
  fc.assert(
    fc.property(block, between(0, 0.999), (of, share) => {
      const places = 1 + Math.floor(share * (2 ** of.log - 1));
      expect(() => checkFrames(frameOf(blockWith({ ...of, share: places })))).not.toThrow();
    }),
  );
});

test('a packed file with such a block is refused, and not read forever', async () => {
  const path = join(dir, 'a.csv.zst');
  // Cut from a file that was damaged at random: its table has 32 places, all for symbol 0.
  writeFileSync(path, frameOf(blockWith({ log: 5, zeros: 0, share: 32, tail: [0xff, 0x01] })));
  const read = async () => {
    for await (const piece of unpackedBytes(path, () => undefined)) void piece;
  };
  await expect(read()).rejects.toThrow(/Huffman weights of one symbol/);
});

test('any bytes are checked without an error of the check itself', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), bytes => {
      try {
        checkFrames(Buffer.concat([frameOf(Buffer.from(bytes)), bytes]));
      } catch (error) {
        expect((error as Error).message).toMatch(/Huffman weights of one symbol/);
      }
    }),
  );
});

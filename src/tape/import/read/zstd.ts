/**
 * Checks of Zstandard data (RFC 8878) before it is decompressed: the decompressor (fzstd 0.1.1) never ends on some
 * damaged blocks.
 */
import { WrongFile } from './findings.ts';

export const ZSTD_MAGIC = 0xfd2f_b528;
/** Whether a Zstandard or LZ4 frame with this magic number is to be skipped. */
export const isSkippable = (magic: number): boolean => magic >>> 4 === 0x0184_d2a5;

/**
 * Sizes, in bytes, of the header fields after the byte of flags, and of the checksum at the end of the frame; 0 for an
 * absent field.
 */
export type FrameSizes = {
  readonly window: 0 | 1;
  readonly dictionary: number;
  readonly content: number;
  readonly checksum: 0 | 4;
};

/** Returns the sizes that the byte of flags (Frame_Header_Descriptor) states. */
export function frameSizes(flags: number): FrameSizes {
  const isSingle = (flags & 0x20) !== 0;
  return {
    window: isSingle ? 0 : 1,
    dictionary: [0, 1, 2, 4][flags & 3]!,
    content: flags >>> 6 > 0 ? 1 << (flags >>> 6) : Number(isSingle),
    checksum: (flags & 4) !== 0 ? 4 : 0,
  };
}

/** Header of a block. `size`: bytes in the file; for a block of one repeated byte, bytes after decompression. */
export type Block = { readonly isLast: boolean; readonly type: number; readonly size: number };

export const BLOCK = { stored: 0, repeated: 1, compressed: 2 };

/** Returns the header of a block from its 24 bits. */
export const blockOf = (bits: number): Block => ({
  isLast: (bits & 1) === 1,
  type: (bits >>> 1) & 3,
  size: bits >>> 3,
});

/** Returns the number of bytes of a block in the file. */
export const packedSize = ({ type, size }: Block): number => (type === BLOCK.repeated ? 1 : size);

/** Throws a WrongFile if the decompressor would not end on one of the blocks. Ignores bytes after the last frame. */
export function checkFrames(bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + 8 <= bytes.length;) {
    const magic = view.getUint32(at, true);
    if (isSkippable(magic)) {
      at += 8 + view.getUint32(at + 4, true);
      continue;
    }
    if (magic !== ZSTD_MAGIC) return;
    const { window, dictionary, content, checksum } = frameSizes(bytes[at + 4]!);
    at += 5 + window + dictionary + content;
    for (let isLast = false; !isLast && at + 3 <= bytes.length;) {
      const block = blockOf(view.getUint16(at, true) + bytes[at + 2]! * 65_536);
      at += 3;
      if (block.type === BLOCK.compressed) checkCompressed(bytes.subarray(at, at + block.size));
      at += packedSize(block);
      isLast = block.isLast;
    }
    at += checksum;
  }
}

/** Sizes of the header of Huffman-coded literals, by its size format, in bytes. */
const LITERALS_HEADER = [3, 3, 4, 5];

/**
 * Throws a WrongFile if the Huffman weights of a compressed block are coded with a table of one symbol (section 4.1.1).
 * A symbol of such a table consumes no bits of the stream, so reading the weights never ends.
 */
export function checkCompressed(block: Uint8Array): void {
  const flags = block[0] ?? 0;
  if ((flags & 3) !== 2) return;
  const tree = LITERALS_HEADER[(flags >>> 2) & 3]!;
  // From 128 on, the weights are stored directly, without a table.
  if (!((block[tree] ?? 128) < 128)) return;
  const at = tree + 1;
  const size = 1 << (((block[at] ?? 0) & 15) + 5);
  let bit = at * 8 + 4;
  // The first probability other than zero decides: if it fills the whole table, there is no other symbol.
  for (let symbol = 0; symbol < 256; symbol++) {
    const width = 31 - Math.clz32(size + 1);
    const value = (bitsAt(block, bit) & (2 ** (width + 1) - 1)) >>> 0;
    const low = value & (2 ** width - 1);
    const spare = 2 ** (width + 1) - 2 - size;
    const isShort = low < spare;
    bit += isShort ? width : width + 1;
    const probability = (isShort ? low : value >= 2 ** width ? value - spare : value) - 1;
    if (probability === size) throw new WrongFile('the compressed data is damaged (Huffman weights of one symbol)');
    if (probability !== 0) return;
    for (let repeat = 3; repeat === 3; bit += 2) {
      repeat = bitsAt(block, bit) & 3;
      symbol += repeat;
    }
  }
}

/** Returns at least 16 bits from a position on, lowest first; bits after the end are 0. */
function bitsAt(bytes: Uint8Array, bit: number): number {
  const at = bit >>> 3;
  return ((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16)) >>> (bit & 7);
}

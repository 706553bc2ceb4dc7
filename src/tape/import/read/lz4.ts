/** LZ4 block decompression, with the preceding 64 kB as history for linked blocks. */

const HISTORY = 65_536;
const MATCH_MIN = 4;

export class Lz4Block {
  readonly #goesOn: boolean;
  readonly #max: number;
  /** Buffer with the history, followed by the current block. */
  readonly #out: Buffer;
  #before = 0;

  /** Creates a decompressor for blocks of at most `max` decompressed bytes. `goesOn`: whether blocks are linked. */
  constructor(max: number, goesOn: boolean) {
    this.#max = max;
    this.#goesOn = goesOn;
    this.#out = Buffer.alloc(HISTORY + max);
  }

  /** Returns the bytes of an uncompressed block and adds them to the history. */
  stored(bytes: Buffer): Buffer {
    bytes.copy(this.#out, this.#before);
    return this.#ended(this.#before + bytes.length);
  }

  /** Decompresses a block; returns `null` if it is invalid. */
  unpack(packed: Buffer): Buffer | null {
    const out = this.#out;
    const limit = this.#before + this.#max;
    let to = this.#before;
    let from = 0;
    const length = (nibble: number): number => {
      let sum = nibble;
      if (nibble < 15) return sum;
      let byte = 255;
      while (byte === 255 && from < packed.length) sum += byte = packed[from++]!;
      return sum;
    };
    while (from < packed.length) {
      const token = packed[from++]!;
      const literals = length(token >>> 4);
      if (from + literals > packed.length || to + literals > limit) return null;
      packed.copy(out, to, from, from + literals);
      from += literals;
      to += literals;
      // The last sequence has no match.
      if (from === packed.length) break;
      if (from + 2 > packed.length) return null;
      const offset = packed.readUInt16LE(from);
      from += 2;
      const match = length(token & 15) + MATCH_MIN;
      if (offset === 0 || offset > to || to + match > limit) return null;
      // A match may overlap the bytes that are being written.
      if (offset >= match) out.copy(out, to, to - offset, to - offset + match);
      else for (let i = 0; i < match; i++) out[to + i] = out[to + i - offset]!;
      to += match;
    }
    return this.#ended(to);
  }

  #ended(end: number): Buffer {
    const piece = Buffer.from(this.#out.subarray(this.#before, end));
    if (this.#goesOn) {
      const kept = Math.min(end, HISTORY);
      this.#out.copy(this.#out, 0, end - kept, end);
      this.#before = kept;
    }
    return piece;
  }
}

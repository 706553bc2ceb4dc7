/**
 * Frames of a stored tape's files: a tag, a length, two checksums and the payload. Readers can distinguish an
 * incomplete last frame from damage before the end.
 */
import { counted } from '../../core/index.ts';
import { openRegularFile } from '../../guard/index.ts';
import { closeSync, fstatSync, readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { SUMMARY_BYTES } from './rowsCodec.ts';

/** Tags of frames. The payload is a block of rows for `ROWS` and `BOOK`, otherwise JSON. */
export const TAG = {
  head: 'HEAD',
  rows: 'ROWS',
  snapshot: 'BOOK',
  rules: 'RULE',
  gap: 'GAPS',
  flaws: 'DIRT',
  end: 'DONE',
} as const;
export type Tag = (typeof TAG)[keyof typeof TAG];

const HEADER = 16;
const TAGS: readonly string[] = Object.values(TAG);
/** Maximum payload size in bytes; a header with a larger length is damaged. */
const LENGTH_MAX = 16 * 1024 * 1024;

/**
 * Maximum number of frames in a file: nearly three per second for a day. A file with more frames is not a tape and is
 * rejected.
 */
const FRAMES_MAX = 250_000;
/** Number of bytes read at a time in the search for headers. */
const WINDOW_BYTES = 64 * 1024;

/** Remedy for damage, appended to error messages. */
export const REMEDY = 'use --skip-damaged to turn damaged blocks into gaps';

/** Tag of a frame, its position in the file, and the length of its payload. */
export type Frame = { readonly tag: Tag; readonly at: number; readonly length: number };

/**
 * Encodes a frame: a header of 16 bytes, then the payload. The header has the tag, the length, the CRC-32 of the
 * payload and the CRC-32 of its own first 12 bytes, little-endian. Only readers check the length; they reject more than
 * 16 MiB.
 */
export function frameOf(tag: Tag, payload: Buffer): Buffer {
  const header = Buffer.alloc(HEADER);
  header.write(tag, 0, 'latin1');
  header.writeUInt32LE(payload.length, 4);
  header.writeUInt32LE(crc32(payload), 8);
  header.writeUInt32LE(crc32(header.subarray(0, 12)), 12);
  return Buffer.concat([header, payload]);
}

/** Encodes the value as JSON in UTF-8, as the payload of a frame. */
export const jsonFrame = (tag: Tag, value: object): Buffer => frameOf(tag, Buffer.from(JSON.stringify(value), 'utf8'));

/**
 * Random access to the frames of one file, or of a copy of its bytes. Throws Errors of one line that name the file and
 * the byte.
 */
export class FrameFile {
  readonly path: string;
  readonly size: number;
  readonly #from: number | Buffer;
  /** Bytes that were read last in the search for headers. */
  #window: Buffer = Buffer.alloc(0);
  /** Offset of `#window` in the file. */
  #windowAt = 0;

  constructor(path: string, copy?: Uint8Array) {
    this.path = path;
    if (copy === undefined) {
      this.#from = openRegularFile(path);
      this.size = fstatSync(this.#from).size;
    } else {
      this.#from = Buffer.from(copy.buffer, copy.byteOffset, copy.byteLength);
      this.size = copy.byteLength;
    }
  }

  close(): void {
    if (typeof this.#from === 'number') closeSync(this.#from);
  }

  /**
   * Returns every frame in order, and the end of the last complete frame. Bytes after this end are a frame that the
   * writer had not finished when it crashed. With `verify`, reads every byte. A frame with a wrong checksum is
   * `damaged` if complete frames follow; at the end of the file it counts as incomplete. Takes time linear in the file
   * size, whatever the content. Throws if there are more than 250,000 frames.
   */
  frames(verify: boolean): {
    readonly frames: readonly Frame[];
    readonly damaged: readonly Frame[];
    readonly end: number;
  } {
    const frames: Frame[] = [];
    const damaged: Frame[] = [];
    let suspects: Frame[] = [];
    let end = 0;
    for (let at = 0; at < this.size;) {
      if (frames.length + damaged.length + suspects.length >= FRAMES_MAX)
        throw new Error(`${this.path}: expected a tape of at most ${FRAMES_MAX} frames, found more before byte ${at}`);
      const frame = this.#headerAt(at);
      const whole = frame !== null && at + HEADER + frame.length <= this.size;
      if (whole && (!verify || this.#isSound(frame))) {
        for (const suspect of suspects) damaged.push(suspect);
        suspects = [];
        frames.push(frame);
        at = end = at + HEADER + frame.length;
      } else if (whole) {
        suspects.push(frame);
        at += HEADER + frame.length;
      } else {
        const next = this.#nextHeader(at + 1);
        if (next < 0) break;
        suspects.push({ tag: TAG.rows, at, length: Math.max(0, next - at - HEADER) });
        at = next;
      }
    }
    return { frames, damaged, end };
  }

  /** Returns the payload of a frame after checking its checksum. */
  payload(frame: Frame): Buffer {
    const bytes = this.#read(frame.at, HEADER + frame.length);
    const payload = bytes.subarray(HEADER);
    if (crc32(payload) !== bytes.readUInt32LE(8))
      throw new Error(`${this.path}: frame ${frame.tag} at byte ${frame.at} is damaged`);
    return payload;
  }

  json(frame: Frame): unknown {
    return JSON.parse(this.payload(frame).toString('utf8'));
  }

  /**
   * Returns the summary at the start of a block of rows, after checking its checksum. The other bytes are checked when
   * the block is decoded.
   */
  summaryBytes(frame: Frame): Buffer {
    if (frame.length < SUMMARY_BYTES)
      throw new Error(`${this.path}: frame ${frame.tag} at byte ${frame.at} is too short`);
    const bytes = this.#read(frame.at + HEADER, SUMMARY_BYTES);
    if (crc32(bytes.subarray(0, SUMMARY_BYTES - 4)) !== bytes.readUInt32LE(SUMMARY_BYTES - 4)) {
      throw new Error(`${this.path}: frame ${frame.tag} at byte ${frame.at} is damaged; ${REMEDY}`);
    }
    return bytes;
  }

  #headerAt(at: number): Frame | null {
    if (at + HEADER > this.size) return null;
    return headerIn(this.#windowFrom(at), at - this.#windowAt, at);
  }

  #isSound(frame: Frame): boolean {
    const bytes = this.#read(frame.at, HEADER + frame.length);
    return crc32(bytes.subarray(HEADER)) === bytes.readUInt32LE(8);
  }

  #nextHeader(from: number): number {
    for (let at = from; at + HEADER <= this.size;) {
      const window = this.#windowFrom(at);
      const begin = at - this.#windowAt;
      for (let i = begin; i + HEADER <= window.length; i++, at++) if (headerIn(window, i, at)) return at;
    }
    return -1;
  }

  /** Returns bytes of the file from `at` on. The file must have at least a complete header there. */
  #windowFrom(at: number): Buffer {
    if (at < this.#windowAt || at + HEADER > this.#windowAt + this.#window.length) {
      this.#window = this.#read(at, Math.min(WINDOW_BYTES, this.size - at));
      this.#windowAt = at;
    }
    return this.#window;
  }

  #read(at: number, length: number): Buffer {
    if (typeof this.#from !== 'number') return this.#from.subarray(at, at + length);
    const bytes = Buffer.allocUnsafe(length);
    for (let done = 0; done < length;) {
      const read = readSync(this.#from, bytes, done, length - done, at + done);
      if (read === 0)
        throw new Error(`${this.path}: ends at byte ${at + done}, ${counted(length - done, 'byte')} too early`);
      done += read;
    }
    return bytes;
  }
}

function headerIn(bytes: Buffer, offset: number, at: number): Frame | null {
  const tag = TAGS.indexOf(bytes.toString('latin1', offset, offset + 4));
  if (tag < 0 || crc32(bytes.subarray(offset, offset + 12)) !== bytes.readUInt32LE(offset + 12)) return null;
  const length = bytes.readUInt32LE(offset + 4);
  return length > LENGTH_MAX ? null : { tag: TAGS[tag] as Tag, at, length };
}

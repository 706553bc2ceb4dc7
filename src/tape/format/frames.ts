/** The frames that a stored tape's files are made of: a tag, a length, two sums, and the bytes. A torn end is told from damage in the middle. */
import { openRegularFile } from '../../guard/index.ts';
import { closeSync, fstatSync, readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { SUMMARY_BYTES } from './rowsCodec.ts';

/** What a frame holds: JSON, or for `ROWS` and `BOOK` a block of rows. */
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
/** No frame is longer; a header that says more is damaged. */
const LENGTH_MAX = 16 * 1024 * 1024;

/** Frames of one file: nearly three a second for a day. More is no tape, and not read to its end. */
const FRAMES_MAX = 250_000;
/** Headers are looked for in so many bytes at a time. */
const WINDOW_BYTES = 64 * 1024;

/** What a person can do about damage. */
export const REMEDY = '--skip-damaged leaves out what is damaged and makes a gap of it';

/** Where a frame lies in its file. */
export type Frame = { readonly tag: Tag; readonly at: number; readonly length: number };

/**
 * A header of 16 bytes, then the payload: tag, length, CRC-32 of the payload, CRC-32 of the 12 bytes before it, little endian. The length is not
 * checked here: above 16 MiB no reader takes it.
 */
export function frameOf(tag: Tag, payload: Buffer): Buffer {
  const header = Buffer.alloc(HEADER);
  header.write(tag, 0, 'latin1');
  header.writeUInt32LE(payload.length, 4);
  header.writeUInt32LE(crc32(payload), 8);
  header.writeUInt32LE(crc32(header.subarray(0, 12)), 12);
  return Buffer.concat([header, payload]);
}

/** The value as JSON in UTF-8; as `frameOf`. */
export const jsonFrame = (tag: Tag, value: object): Buffer => frameOf(tag, Buffer.from(JSON.stringify(value), 'utf8'));

/** One file's frames, read by their place. Throws Errors of one line that name the file and the byte. */
export class FrameFile {
  readonly path: string;
  readonly size: number;
  readonly #fd: number;
  /** The bytes that headers were looked for in last, and where they begin. */
  #window: Buffer = Buffer.alloc(0);
  #windowAt = 0;

  constructor(path: string) {
    this.path = path;
    this.#fd = openRegularFile(path);
    this.size = fstatSync(this.#fd).size;
  }

  close(): void {
    closeSync(this.#fd);
  }

  /**
   * Every frame in order, and the byte at which the last whole one ends: what lies behind it was being written when the writer died.
   * `verify` reads every byte. A frame whose bytes are wrong is `damaged` when whole frames follow; at the end it counts as torn. Linear in
   * the size of the file, whatever is in it; throws when there are more than a quarter of a million frames.
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
        throw new Error(`${this.path}: more than ${FRAMES_MAX} frames up to byte ${at}: this is no tape`);
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

  /** The frame's bytes, checked against their sum. */
  payload(frame: Frame): Buffer {
    const bytes = this.#read(frame.at, HEADER + frame.length);
    const payload = bytes.subarray(HEADER);
    if (crc32(payload) !== bytes.readUInt32LE(8))
      throw new Error(`${this.path}: ${frame.tag} at byte ${frame.at} is damaged`);
    return payload;
  }

  json(frame: Frame): unknown {
    return JSON.parse(this.payload(frame).toString('utf8'));
  }

  /** The first bytes of a block of rows, checked; the whole is when it is decoded. */
  summaryBytes(frame: Frame): Buffer {
    if (frame.length < SUMMARY_BYTES) throw new Error(`${this.path}: ${frame.tag} at byte ${frame.at} is too short`);
    const bytes = this.#read(frame.at + HEADER, SUMMARY_BYTES);
    if (crc32(bytes.subarray(0, SUMMARY_BYTES - 4)) !== bytes.readUInt32LE(SUMMARY_BYTES - 4)) {
      throw new Error(`${this.path}: ${frame.tag} at byte ${frame.at} is damaged; ${REMEDY}`);
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

  /** At least a whole header from `at` on; the file has one there. */
  #windowFrom(at: number): Buffer {
    if (at < this.#windowAt || at + HEADER > this.#windowAt + this.#window.length) {
      this.#window = this.#read(at, Math.min(WINDOW_BYTES, this.size - at));
      this.#windowAt = at;
    }
    return this.#window;
  }

  #read(at: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    for (let done = 0; done < length;) {
      const read = readSync(this.#fd, bytes, done, length - done, at + done);
      if (read === 0) throw new Error(`${this.path}: ends at byte ${at + done}, expected ${length - done} more`);
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

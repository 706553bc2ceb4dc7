/**
 * Bytes of a file in pieces, decompressed by file ending (.gz, .zst, .lz4, .zip). Memory does not grow with the
 * decompressed size.
 */
import { counted } from '../../../core/index.ts';
import { closeSync, type ReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { Decompress } from 'fzstd';
import yauzl, { type Entry, type ZipFile } from 'yauzl';
import { openRegularFile, regularFileStream } from '../../../guard/index.ts';
import { WrongFile } from './findings.ts';
import { Lz4Block } from './lz4.ts';
import { BLOCK, blockOf, checkCompressed, frameSizes, isSkippable, packedSize, ZSTD_MAGIC } from './zstd.ts';

/** Returns the file name without the ending of a compression. */
export const unpackedName = (name: string): string => name.replace(/\.(?:gz|zst|lz4|zip)$/, '');

const CHUNK_BYTES = 256 * 1024;
/**
 * Maximum ratio of decompressed to compressed size, to reject decompression bombs. Recordings have a ratio of about 20,
 * at most 100. Applies only to files that decompress to more than `SMALL_BYTES`.
 */
const UNPACKS_MAX = 250;
const SMALL_BYTES = 64 * 1024 * 1024;

/** Throws a WrongFile if the ratio of decompressed to compressed bytes is above the maximum. */
function checkUnpacked(unpacked: number, packed: number): void {
  if (unpacked > SMALL_BYTES && !(unpacked <= packed * UNPACKS_MAX))
    throw new WrongFile(
      `the file unpacks from ${packed} to ${counted(unpacked, 'byte')}, more than ${UNPACKS_MAX} times as many; if the file is a recording, unpack the file first`,
    );
}

/**
 * Yields the decompressed bytes in pieces. `onBytes` receives the number of file bytes read since the last call. Error
 * messages do not name the file.
 */
export async function* unpackedBytes(path: string, onBytes: (count: number) => void): AsyncGenerator<Buffer> {
  if (path.endsWith('.zip')) {
    yield* zipped(path, onBytes);
    return;
  }
  const file = regularFileStream(path, CHUNK_BYTES);
  const pieces = path.endsWith('.gz')
    ? gunzipped(file)
    : path.endsWith('.zst')
      ? unzstd(new ByteSource(file))
      : path.endsWith('.lz4')
        ? unlz4(new ByteSource(file))
        : (file as AsyncIterable<Buffer>);
  let told = 0;
  let unpacked = 0;
  try {
    for await (const piece of joinedPieces(pieces)) {
      onBytes(file.bytesRead - told);
      told = file.bytesRead;
      checkUnpacked((unpacked += piece.length), file.bytesRead);
      yield piece;
    }
  } finally {
    file.destroy();
  }
}

const PIECE_MIN = 64 * 1024;

/**
 * Joins small pieces. A reader searches each piece together with the unfinished line before it, so many small pieces
 * would be slow.
 */
async function* joinedPieces(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    held.push(piece);
    bytes += piece.length;
    if (bytes < PIECE_MIN && held.length < PIECE_MIN) continue;
    yield held.length === 1 ? piece : Buffer.concat(held, bytes);
    [held, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(held, bytes);
}

async function* gunzipped(file: ReadStream): AsyncGenerator<Buffer> {
  const unzipped = createGunzip({ chunkSize: CHUNK_BYTES });
  // pipe() does not forward errors; without this listener, a missing file would hang the reader.
  file.on('error', error => unzipped.destroy(error));
  yield* file.pipe(unzipped) as AsyncIterable<Buffer>;
}

/**
 * Opens the only entry of an archive that `isWanted` accepts; the archive closes with the entry's stream. Rejects with
 * a WrongFile unless there is exactly one such entry.
 */
export async function openEntry(
  path: string,
  isWanted: (name: string) => boolean,
): Promise<{ readonly entry: Entry; readonly stream: Readable }> {
  const fd = openRegularFile(path);
  const options = { lazyEntries: true, autoClose: false };
  const zip = await promisify<number, yauzl.Options, ZipFile>(yauzl.fromFd)(fd, options).catch((error: unknown) => {
    // If the archive is damaged, yauzl leaves the descriptor open.
    closeSync(fd);
    throw error;
  });
  try {
    const { wanted, names } = await entriesOf(zip, isWanted);
    const [entry, other] = wanted;
    if (other !== undefined)
      throw new WrongFile(
        `the archive contains several files, ${wanted
          .slice(0, 2)
          .map(({ fileName }) => fileName)
          .join(' and ')}; unpack the files into a folder`,
      );
    if (entry === undefined)
      throw new WrongFile(`the archive contains no recording; found ${names.join(', ') || 'nothing'}`);
    // This check of the stated sizes suffices, because yauzl ends the stream with an error if there is more data than
    // the entry states.
    checkUnpacked(entry.uncompressedSize, entry.compressedSize);
    const stream = await promisify<Entry, Readable>(zip.openReadStream.bind(zip))(entry);
    stream.on('close', () => zip.close());
    return { entry, stream };
  } catch (error) {
    zip.close();
    throw error;
  }
}

const ENTRIES_MAX = 10_000;
const NAMES_SHOWN = 3;

/**
 * Returns the first two entries that `isWanted` accepts, and the names of the first `NAMES_SHOWN` entries of any kind.
 */
function entriesOf(
  zip: ZipFile,
  isWanted: (name: string) => boolean,
): Promise<{ readonly wanted: readonly Entry[]; readonly names: readonly string[] }> {
  return new Promise((resolve, reject) => {
    const wanted: Entry[] = [];
    const names: string[] = [];
    let count = 0;
    zip.on('entry', (entry: Entry) => {
      if (names.length < NAMES_SHOWN) names.push(entry.fileName.slice(0, 80));
      if (isWanted(entry.fileName)) wanted.push(entry);
      if (++count > ENTRIES_MAX) reject(new WrongFile(`the archive contains more than ${ENTRIES_MAX} files`));
      else if (wanted.length < 2) zip.readEntry();
      else resolve({ wanted, names });
    });
    zip.on('end', () => resolve({ wanted, names }));
    zip.on('error', reject);
    zip.readEntry();
  });
}

/** Whether an entry is a table; folders, hidden files and desktop metadata are not. */
const isTable = (name: string): boolean =>
  !/(?:^|\/)(?:\.|__MACOSX\/)/.test(name) && /\.(?:csv|tsv|json|jsonl|ndjson|log|data)$/i.test(name);

async function* zipped(path: string, onBytes: (count: number) => void): AsyncGenerator<Buffer> {
  const { entry, stream } = await openEntry(path, isTable);
  const share = entry.uncompressedSize === 0 ? 0 : entry.compressedSize / entry.uncompressedSize;
  for await (const piece of joinedPieces(stream as AsyncIterable<Buffer>)) {
    onBytes(piece.length * share);
    yield piece;
  }
}

/** Reader of exact byte counts from pieces of any length. */
class ByteSource {
  readonly #pieces: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(pieces: AsyncIterable<Buffer>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  /**
   * Returns `count` bytes (a small number); `null` at the end of the file. Rejects with a WrongFile if the file ends
   * within these bytes.
   */
  async take(count: number): Promise<Buffer | null> {
    while (this.#rest.length < count) {
      const next = await this.#pieces.next();
      if (next.done === true) {
        if (this.#rest.length === 0) return null;
        throw new WrongFile('the compressed file is incomplete');
      }
      this.#rest = this.#rest.length === 0 ? next.value : Buffer.concat([this.#rest, next.value]);
    }
    const taken = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(count);
    return taken;
  }

  /** Returns `count` bytes. Unlike `take`, also rejects at the end of the file. */
  async need(count: number): Promise<Buffer> {
    const taken = await this.take(count);
    if (taken === null && count > 0) throw new WrongFile('the compressed file is incomplete');
    return taken ?? Buffer.alloc(0);
  }

  async skip(count: number): Promise<void> {
    for (let left = count; left > 0; left -= CHUNK_BYTES) await this.need(Math.min(left, CHUNK_BYTES));
  }
}

const damaged = (how: string, error?: unknown) =>
  new WrongFile(`the compressed file is damaged (${how})`, { cause: error });

const ZSTD_BLOCK_MAX = 128 * 1024;
/** Maximum window size of Zstandard in bytes, the default limit of the reference implementation. */
const ZSTD_WINDOW_MAX = 128 * 1024 * 1024;
/**
 * Maximum number of bytes that the decompressor moves per decompressed byte, beyond the first megabytes. It moves its
 * complete window for each block, so many tiny blocks would take very long.
 */
const ZSTD_MOVES_MAX = 4_096;
const ZSTD_MOVES_FREE = 16 * 1024 * 1024;

/** Decompresses frame by frame and block by block (RFC 8878), so that each step yields at most 128 kB. */
async function* unzstd(source: ByteSource): AsyncGenerator<Buffer> {
  let moved = 0;
  let unpacked = 0;
  for (let magic = await source.take(4); magic !== null; magic = await source.take(4)) {
    if (isSkippable(magic.readUInt32LE())) {
      await source.skip((await source.need(4)).readUInt32LE());
      continue;
    }
    if (magic.readUInt32LE() !== ZSTD_MAGIC) throw damaged('no zstd frame');
    const flags = (await source.need(1))[0]!;
    const sizes = frameSizes(flags);
    const head = await source.need(sizes.window + sizes.dictionary + sizes.content);
    if (sizes.dictionary > 0) throw new WrongFile('the file is compressed with a dictionary; unpack the file first');
    const window = sizes.window === 0 ? littleEndian(head) : windowOf(head[0]!);
    if (!(window <= ZSTD_WINDOW_MAX))
      throw new WrongFile(
        `the file needs ${counted(window, 'byte')} of memory to unpack, more than the maximum of ${ZSTD_WINDOW_MAX} bytes; unpack the file first`,
      );
    const out: Buffer[] = [];
    const stream = new Decompress(piece => void out.push(Buffer.from(piece.buffer, piece.byteOffset, piece.length)));
    const push = (piece: Buffer, isLast: boolean): void => {
      try {
        stream.push(piece, isLast);
      } catch (error) {
        throw damaged((error as Error).message, error);
      }
    };
    push(Buffer.concat([magic, Buffer.of(flags), head]), false);
    for (let isLast = false; !isLast;) {
      const header = await source.need(3);
      const block = blockOf(header.readUIntLE(0, 3));
      isLast = block.isLast;
      if (block.size > ZSTD_BLOCK_MAX)
        throw damaged(`a block has ${counted(block.size, 'byte')}, expected at most ${ZSTD_BLOCK_MAX}`);
      const body = await source.need(packedSize(block));
      if (block.type === BLOCK.compressed) checkCompressed(body);
      const sum = await source.need(isLast ? sizes.checksum : 0);
      push(Buffer.concat([header, body, sum]), isLast);
      moved += window;
      for (const piece of out.splice(0)) {
        unpacked += piece.length;
        yield piece;
      }
      if (moved > (unpacked + ZSTD_MOVES_FREE) * ZSTD_MOVES_MAX)
        throw new WrongFile(
          'the file has compressed blocks that are too small for its window size; unpack the file first',
        );
    }
  }
}

/** Returns a little-endian number, as in the content size of a frame. A number of two bytes has an offset of 256. */
const littleEndian = (bytes: Buffer): number =>
  bytes.reduceRight((sum, byte) => sum * 256 + byte, 0) + (bytes.length === 2 ? 256 : 0);
const windowOf = (byte: number): number => 2 ** (10 + (byte >>> 3)) * (1 + (byte & 7) / 8);

const LZ4_MAGIC = 0x184d_2204;

/** Decompresses the LZ4 frame format: independent or linked blocks of at most 4 MiB. */
async function* unlz4(source: ByteSource): AsyncGenerator<Buffer> {
  for (let magic = await source.take(4); magic !== null; magic = await source.take(4)) {
    if (isSkippable(magic.readUInt32LE())) {
      await source.skip((await source.need(4)).readUInt32LE());
      continue;
    }
    if (magic.readUInt32LE() !== LZ4_MAGIC) throw damaged('no LZ4 frame');
    const head = await source.need(2);
    const flags = head[0]!;
    const sizes = head[1]!;
    const blockMax = { 4: 65_536, 5: 262_144, 6: 1_048_576, 7: 4_194_304 }[(sizes >>> 4) & 7];
    if (flags >>> 6 !== 1 || blockMax === undefined) throw damaged('an LZ4 frame has an unknown format');
    if ((flags & 1) !== 0) throw new WrongFile('the file is compressed with a dictionary; unpack the file first');
    await source.need(((flags & 8) !== 0 ? 8 : 0) + 1);
    const block = new Lz4Block(blockMax, (flags & 0x20) === 0);
    for (;;) {
      const size = (await source.need(4)).readUInt32LE();
      if (size === 0) break;
      const length = size & 0x7fff_ffff;
      if (length > blockMax) throw damaged(`a block has ${counted(length, 'byte')}, expected at most ${blockMax}`);
      const packed = await source.need(length);
      await source.need((flags & 0x10) !== 0 ? 4 : 0);
      const piece = size >>> 31 === 1 ? block.stored(packed) : block.unpack(packed);
      if (piece === null) throw damaged('an LZ4 block cannot be read');
      yield piece;
    }
    await source.need((flags & 4) !== 0 ? 4 : 0);
  }
}

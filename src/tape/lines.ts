/** Lines of a text file, plain or gzipped, read in chunks: memory does not grow with the file. */
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import type { Readable } from 'node:stream';

const LINE_MAX = 4 * 1024 * 1024;

/** Calls `call` with each line, without its line end; an empty last line is left out. Rejects with the path, and the number of the line where it is one line's fault. */
export async function eachLine(path: string, call: (line: string, number: number) => void): Promise<void> {
  let rest = '';
  let number = 0;
  let reading = false;
  const hand = (line: string) => {
    number++;
    reading = true;
    call(line, number);
    reading = false;
  };
  try {
    for await (const chunk of open(path)) {
      const text = rest + (chunk as Buffer).toString('latin1');
      let from = 0;
      for (let end = text.indexOf('\n', from); end >= 0; end = text.indexOf('\n', from)) {
        hand(text.charCodeAt(end - 1) === 13 ? text.slice(from, end - 1) : text.slice(from, end));
        from = end + 1;
      }
      rest = text.slice(from);
      if (rest.length > LINE_MAX) throw new RangeError(`line ${number + 1} is longer than ${LINE_MAX} bytes`);
    }
    if (rest !== '') hand(rest);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`${path}: ${reading ? `line ${number}: ` : ''}${message}`, { cause: error });
  }
}

function open(path: string): Readable {
  const file = createReadStream(path, { highWaterMark: 256 * 1024 });
  if (!path.endsWith('.gz')) return file;
  const unzipped = createGunzip({ chunkSize: 256 * 1024 });
  // pipe() does not pass errors on; without this a missing file would hang the reader.
  file.on('error', error => unzipped.destroy(error));
  return file.pipe(unzipped);
}

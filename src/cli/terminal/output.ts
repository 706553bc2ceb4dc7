/**
 * Standard output and standard error of this process. No other module writes to them. A failure of an output never ends
 * or blocks a command.
 */
import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { OutputWriter, type DescribeLoss } from './outputWriter.ts';
import { printed } from './terminal.ts';

/** Maximum bytes of log lines buffered while no program reads them. */
const LOG_BYTES_MAX = 1_000_000;

/** Standard output. Unread texts are buffered without limit, because a pager may read them much later. */
const stdout = writerOf(1, Infinity);
const stderr = writerOf(2, LOG_BYTES_MAX);

/** Prints one text with a line end on standard output; control characters other than tab and line end are replaced. Never throws. */
export const print = (text: string): void => stdout().write(`${printed(text, outputTerminal())}\n`);

/** Prints one text with a line end on standard error; control characters other than tab and line end are replaced. Never throws. */
export const printError = (text: string): void => stderr().write(`${printed(text, errorTerminal())}\n`);

/** Writes a text unchanged on standard output. Never throws. */
export const writeOutput = (text: string): void => stdout().write(text);

/** Writes a text unchanged on standard error, such as a line that moves a cursor. Never throws. */
export const writeError = (text: string, describeLoss?: DescribeLoss): void => stderr().write(text, describeLoss);

/**
 * Returns the number of texts that standard output did not accept, and the last error code; `code` is `null` if all
 * were accepted.
 */
export const outputLost = (): { readonly count: number; readonly code: string | null } => ({
  count: stdout().lost,
  code: stdout().lastCode,
});

/** Returns the number of bytes for standard output that no program has read yet. */
export const outputUnread = (): number => stdout().queuedBytes;

/** Waits until both outputs are written; gives up on an output that accepts nothing for `stuckMsMax`. Never rejects. */
export async function settleOutput(stuckMsMax: number): Promise<void> {
  await Promise.all([stdout().settle(stuckMsMax), stderr().settle(Math.min(stuckMsMax, STDERR_STUCK_MS_MAX))]);
}

const STDERR_STUCK_MS_MAX = 2_000;

/** Kind and size of the terminal behind standard output or error. */
export type TerminalSize = { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

/** Returns whether standard output is a terminal, and its width. */
export const outputTerminal = (): TerminalSize => process.stdout;
/** Returns whether standard error is a terminal, and its width. */
export const errorTerminal = (): TerminalSize => process.stderr;

/** Returns standard output as a stream, for a protocol that owns it and handles its errors. */
export const outputStream = (): NodeJS.WriteStream => process.stdout;

/**
 * Returns standard error as a stream, for libraries that prompt and draw on a terminal. Errors of the stream are
 * ignored.
 */
export const errorStream = (): NodeJS.WriteStream => guarded(process.stderr);

function guarded(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  if (stream.listenerCount('error') === 0) stream.on('error', () => undefined);
  return stream;
}

/** Returns a writer that is opened on first use. */
function writerOf(fd: 1 | 2, queuedBytesMax: number): () => OutputWriter {
  let writer: OutputWriter | null = null;
  return () =>
    (writer ??= new OutputWriter({
      write: unblocked(fd),
      after: (ms, call, keepsAlive) => {
        const timer = setTimeout(call, ms);
        if (!keepsAlive) timer.unref();
      },
      now: () => performance.now(),
      queuedBytesMax,
    }));
}

/**
 * Returns a write to `fd` that does not block on a pipe, a socket or a terminal. A pipe or a terminal is reopened,
 * because other processes share the flags of `fd` and may make it blocking. If that fails, a pipe or a socket is made
 * non-blocking, and a terminal stopped by Ctrl-S blocks. A file is written directly, because other writers share its
 * position.
 */
function unblocked(fd: 1 | 2): (bytes: Uint8Array) => number {
  const stream = () => guarded(fd === 1 ? process.stdout : process.stderr);
  try {
    const kind = fstatSync(fd);
    const isPipe = kind.isFIFO() || kind.isSocket();
    if (!isPipe && !(kind.isCharacterDevice() && stream().isTTY)) return bytes => writeSync(fd, bytes);
    // Node makes a pipe non-blocking when it creates a stream of the pipe, and restores the blocking mode at exit.
    if (isPipe) stream();
    const own = openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    return bytes => writeSync(own, bytes);
  } catch {
    // Each write to a closed descriptor fails, and the losses are counted.
    return bytes => writeSync(fd, bytes);
  }
}

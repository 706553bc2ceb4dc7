/** Standard output and standard error of this process. Nothing else writes to them; no failure of theirs ends or blocks a command. */
import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { OutputWriter, type DescribeLoss } from './outputWriter.ts';
import { printed } from './terminal.ts';

/** Maximum bytes of log lines buffered while nothing reads them. */
const LOG_BYTES_MAX = 1_000_000;

/** Standard output, never dropped while it is read: a pager may take any time. */
const stdout = writerOf(1, Infinity);
const stderr = writerOf(2, LOG_BYTES_MAX);

/** Prints one text with a line end on standard output; control characters other than tab and line end are replaced. Never throws. */
export const print = (text: string): void => stdout().write(`${printed(text, outputTerminal())}\n`);

/** Prints one text with a line end on standard error; control characters other than tab and line end are replaced. Never throws. */
export const printError = (text: string): void => stderr().write(`${printed(text, errorTerminal())}\n`);

/** Writes a text as it is on standard output. Never throws. */
export const writeOutput = (text: string): void => stdout().write(text);

/** Writes a text as it is on standard error, such as a line that moves a cursor. Never throws. */
export const writeError = (text: string, describeLoss?: DescribeLoss): void => stderr().write(text, describeLoss);

/**
 * Returns the number of texts that standard output refused, and the last error code; `code` is `null` if there were
 * none.
 */
export const outputLost = (): { readonly count: number; readonly code: string | null } => ({
  count: stdout().lost,
  code: stdout().lastCode,
});

/** Waits until both are written; gives up on one that accepts nothing for `stuckMsMax`. Never rejects. */
export async function settleOutput(stuckMsMax: number): Promise<void> {
  await Promise.all([stdout().settle(stuckMsMax), stderr().settle(Math.min(stuckMsMax, STDERR_STUCK_MS_MAX))]);
}

const STDERR_STUCK_MS_MAX = 2_000;

/** Size and kind of the terminal behind standard output or error. */
export type TerminalSize = { readonly isTTY?: boolean; readonly columns?: number };

/** Returns whether standard output is a terminal, and its width. */
export const outputTerminal = (): TerminalSize => process.stdout;
/** Returns whether standard error is a terminal, and its width. */
export const errorTerminal = (): TerminalSize => process.stderr;

/** Returns standard error as a stream, for libraries that prompt and draw on a terminal. Its errors are ignored. */
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
 * because the flags of `fd` itself are shared with other processes, and any of them may make it blocking. If that
 * fails, a pipe or a socket is made non-blocking, and a stopped terminal (Ctrl-S) blocks. A file is written directly,
 * because its position is shared with other writers.
 */
function unblocked(fd: 1 | 2): (bytes: Uint8Array) => number {
  const stream = () => guarded(fd === 1 ? process.stdout : process.stderr);
  try {
    const kind = fstatSync(fd);
    const isPipe = kind.isFIFO() || kind.isSocket();
    if (!isPipe && !(kind.isCharacterDevice() && stream().isTTY)) return bytes => writeSync(fd, bytes);
    // Node makes a pipe non-blocking when it creates a stream of it, and restores it at its end.
    if (isPipe) stream();
    const own = openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    return bytes => writeSync(own, bytes);
  } catch {
    // A closed descriptor fails at each write; the losses are counted.
    return bytes => writeSync(fd, bytes);
  }
}

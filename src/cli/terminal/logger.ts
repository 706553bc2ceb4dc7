/** The log: pino's JSON lines on stderr, readable on a terminal; secrets never get through, whatever field or sentence they are in. */
import { pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';
import { prettyFactory } from 'pino-pretty';
import { maskedText } from '../../core/index.ts';
import type { Log } from '../../live/log.ts';
import { errorTerminal, writeError } from './output.ts';
import type { TerminalSize } from './output.ts';
import { foldedRow } from '../../messages/wrapped.ts';
import { ownCommandName, withCommandName } from './commandName.ts';
import { terminalColumns } from './terminal.ts';

/** In JSON: a backslash itself, which is none, or a control character other than tab and line end. */
const CONTROL = /\\(?:\\|u00[01][0-9a-f]|u007f|[bfr])/g;
/** What JSON leaves as it is: the other control characters, and marks that turn the direction of what follows. */
const RAW_CONTROL = /[\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** What stands before the text of an information on a terminal. */
const PREFIX = '[HH:MM:ss.lll] INFO: ';

/** How many characters of such a text fit into one row of stderr; off a terminal as many as there are. */
export const lineRoom = (to: TerminalSize = errorTerminal()): number =>
  to.isTTY === true && to.columns !== undefined && to.columns > 0 ? Math.max(20, to.columns - PREFIX.length) : Infinity;

/**
 * `secrets` (secret and key) are masked wherever they turn up, and so are signatures and Authorization headers of any form; no line commands a
 * terminal. `to` takes the lines as JSON; absent: stderr.
 */
export function logger(level: string, secrets: readonly string[], to?: DestinationStream): Log {
  // A line is JSON: what it would unfold to on a terminal is written as escapes in it.
  const mask = (line: string): string =>
    maskedText(withCommandName(line, JSON.stringify(ownCommandName).slice(1, -1)), secrets)
      .replace(CONTROL, sign => (sign === '\\\\' ? sign : '\ufffd'))
      .replace(RAW_CONTROL, '\ufffd');
  const options = {
    level,
    base: null,
    redact: {
      paths: ['secret', 'signature', 'authorization', '*.secret', '*.signature', '*.authorization'],
      censor: '[redacted]',
    },
    hooks: { streamWrite: mask },
  };
  if (to !== undefined) return withLevel(pino(options, to));
  const isTerminal = errorTerminal().isTTY === true;
  const shown = isTerminal ? prettyLine(level) : (line: string) => line;
  const describeLoss = (count: number, code: string) => shown(lossLine(count, code));
  return withLevel(pino(options, { write: line => writeError(shown(line), describeLoss) }));
}

/** Reports log lines that were lost, as a log line. */
const lossLine = (count: number, code: string): string =>
  `${JSON.stringify({ level: 40, time: Date.now(), lost: count, code, msg: `${count} log ${count === 1 ? 'line was' : 'lines were'} lost (${code})` })}\n`;

function prettyLine(level: string): (line: string) => string {
  return prettyFactory({
    ignore: 'pid,hostname',
    translateTime: 'SYS:HH:MM:ss.l',
    hideObject: level !== 'debug',
    messageFormat: (line, key) =>
      [line[key], line['stack']]
        .filter(part => typeof part === 'string')
        .flatMap(text => text.split('\n'))
        .flatMap((row, i) => foldedRow(row, terminalColumns(errorTerminal()), i === 0 ? PREFIX.length + 1 : 0))
        .join('\n'),
  });
}

const withLevel = (log: Logger): Log => Object.assign(log, { setLevel: (level: string) => void (log.level = level) });

/**
 * Log as pino's JSON lines on stderr, formatted if stderr is a terminal. Secrets are masked in every field and message.
 */
import { pino, type DestinationStream, type Logger } from 'pino';
import { prettyFactory } from 'pino-pretty';
import { counted, maskedText } from '../../core/index.ts';
import type { Log } from '../../live/log.ts';
import { errorTerminal, writeError, type TerminalSize } from './output.ts';
import { foldedRow } from '../../messages/wrapped.ts';
import { withInstalledNames } from './installedNames.ts';
import { terminalColumns } from './terminal.ts';

/**
 * Matches escaped control characters in JSON, except tab and line end; also matches an escaped backslash, so that the
 * text after it is not misread.
 */
const CONTROL = /\\(?:\\|u00[01][0-9a-f]|u007f|[bfr])/g;
/** Matches control characters that JSON does not escape, and characters that change the direction of text. */
const RAW_CONTROL = /[\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Prefix of an info line on a terminal. */
const PREFIX = '[HH:MM:ss.lll] INFO: ';

/** Returns how many characters of an info message fit into one row of stderr; Infinity without a terminal. */
export const lineRoom = (to: TerminalSize = errorTerminal()): number =>
  to.isTTY === true && to.columns !== undefined && to.columns > 0 ? Math.max(20, to.columns - PREFIX.length) : Infinity;

/**
 * Returns a log. `secrets` (API key and secret) are masked everywhere, as are signatures and Authorization headers; no
 * line can control a terminal. `to` receives the lines as JSON. Default: stderr.
 */
export function logger(level: string, secrets: readonly string[], to?: DestinationStream): Log {
  // A log line is JSON, so text that could control a terminal is escaped.
  const mask = (line: string): string =>
    maskedText(withInstalledNames(line, true), secrets)
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

/** Returns a log line about the number of lost lines. */
const lossLine = (count: number, code: string): string =>
  `${JSON.stringify({ level: 40, time: Date.now(), lost: count, code, msg: `${counted(count, 'log line was', 'log lines were')} lost (${code})` })}\n`;

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

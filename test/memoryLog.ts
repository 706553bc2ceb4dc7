/** The log that ships, real pino with its masks, into memory instead of stderr: what a test reads is what a person would. */
import { logger } from '../src/cli/terminal/logger.ts';
import type { Log } from '../src/live/log.ts';

export type LogLine = {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly known: Readonly<Record<string, unknown>>;
  readonly text: string;
};

/** Keeps every line. */
export function memoryLog(): { readonly log: Log; readonly lines: readonly LogLine[]; readonly texts: () => string[] } {
  const lines: LogLine[] = [];
  return { log: heardLog(line => void lines.push(line)), lines, texts: () => lines.map(({ text }) => text) };
}

/** Hands over each line as it is written, and keeps none. */
export const heardLog = (hear: (line: LogLine) => void): Log =>
  logger('debug', [], { write: text => hear(lineOf(text)) });

const LEVELS: Readonly<Record<number, LogLine['level']>> = { 20: 'debug', 30: 'info', 40: 'warn', 50: 'error' };

/** Throws on what is no line of pino's. */
export function lineOf(text: string): LogLine {
  const { level, time, msg, ...known } = JSON.parse(text) as Record<string, unknown>;
  const name = LEVELS[Number(level)];
  if (name === undefined || typeof msg !== 'string' || typeof time !== 'number')
    throw new Error(`no line of the log: ${text}`);
  return { level: name, known, text: msg };
}

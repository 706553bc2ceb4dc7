/**
 * Logger interface, a subset of pino: fields first, then the sentence. The functions are methods, because pino's
 * functions need their logger as `this`. The linter reports a detached method (`const write = log.warn`), which would
 * throw.
 */
export interface Log {
  debug(known: object, sentence: string): void;
  info(known: object, sentence: string): void;
  warn(known: object, sentence: string): void;
  error(known: object, sentence: string): void;
  /** Sets the minimum level of written lines; absent if the level is fixed. */
  setLevel?(level: string): void;
}

/** Returns a log of one of several books: each line has the field `book` and begins with the symbol. */
export const logOfBook = (log: Log, book: string): Log => ({
  debug: (known, sentence) => log.debug({ book, ...known }, `${book}: ${sentence}`),
  info: (known, sentence) => log.info({ book, ...known }, `${book}: ${sentence}`),
  warn: (known, sentence) => log.warn({ book, ...known }, `${book}: ${sentence}`),
  error: (known, sentence) => log.error({ book, ...known }, `${book}: ${sentence}`),
});

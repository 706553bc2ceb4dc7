/**
 * The part of pino that the rooms use: first what is known, then the sentence. Methods, because pino's need the logger that they are called
 * on: one that is taken off it (`const write = log.warn`) throws, and the linter sees it.
 */
export interface Log {
  debug(known: object, sentence: string): void;
  info(known: object, sentence: string): void;
  warn(known: object, sentence: string): void;
  error(known: object, sentence: string): void;
  /** From now on lines of this level and above are written; absent where that cannot be changed. */
  setLevel?(level: string): void;
}

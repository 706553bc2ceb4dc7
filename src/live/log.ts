/**
 * Subset of pino that the layers use: fields first, then the sentence. Declared as methods, because pino's functions
 * need their logger as `this`. A detached one (`const write = log.warn`) throws, and the linter reports it.
 */
export interface Log {
  debug(known: object, sentence: string): void;
  info(known: object, sentence: string): void;
  warn(known: object, sentence: string): void;
  error(known: object, sentence: string): void;
  /** Sets the minimum level that is written; absent if it cannot be changed. */
  setLevel?(level: string): void;
}

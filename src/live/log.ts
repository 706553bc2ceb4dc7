/**
 * Logger interface, a subset of pino: fields first, then the sentence. Methods, because pino's functions need their
 * logger as `this`: a detached one (`const write = log.warn`) throws, and the linter reports it.
 */
export interface Log {
  debug(known: object, sentence: string): void;
  info(known: object, sentence: string): void;
  warn(known: object, sentence: string): void;
  error(known: object, sentence: string): void;
  /** Sets the minimum level of written lines; absent if the level is fixed. */
  setLevel?(level: string): void;
}

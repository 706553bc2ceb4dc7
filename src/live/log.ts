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

/**
 * Log interface of the hedger: fields first, then the message. Declares methods, like the interface in `live/log.ts`.
 */
export interface HedgeLog {
  info(known: object, sentence: string): void;
  warn(known: object, sentence: string): void;
}

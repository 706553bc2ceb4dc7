/** Log interface of the hedger: fields first, then the message. Uses methods, as `live/log.ts` does. */
export interface HedgeLog {
  info(known: object, sentence: string): void;
  warn(known: object, sentence: string): void;
}

/** What the hedger needs of a log: first what is known, then the sentence. Methods, as in `live/log.ts`. */
export interface HedgeLog {
  info(known: object, sentence: string): void;
  warn(known: object, sentence: string): void;
}

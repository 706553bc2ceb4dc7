/** The part of pino that the rooms use: first what is known, then the sentence. */
export type Log = Record<'debug' | 'info' | 'warn' | 'error', (known: object, sentence: string) => void>;

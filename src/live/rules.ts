/** The rules of one book and our rates on it, as a run goes by them. */
import type { AccountTier, Instrument } from '../core/index.ts';

export type Rules = {
  readonly instrument: Instrument;
  readonly makerRate: number;
  readonly takerRate: number;
  /** For people: null or absent where the exchange does not tell the volume. */
  readonly tier?: AccountTier | null;
};

/** Rules of one book and the bot's fee rates on it. */
import type { AccountTier, Instrument } from '../core/index.ts';

export type Rules = {
  readonly instrument: Instrument;
  readonly makerRate: number;
  readonly takerRate: number;
  /**
   * Fee tier of the account, for display; `null` or absent if the exchange does not report the account's trading
   * volume.
   */
  readonly tier?: AccountTier | null;
};

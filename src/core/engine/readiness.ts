/** What must be known before anything is quoted: what of it is missing, in words; and the one line that tells whether it quotes. */
import type { EngineNews } from './engineTypes.ts';
import type { RiskRefusal, RiskContext } from '../risk/preTradeRisk.ts';
import { whyNot } from './whyNot.ts';
import type { UnshownSides } from './whyNot.ts';

export type ReadinessFacts = {
  readonly fees: boolean;
  /** What is missing of balances and ledger, in words; null when nothing is. */
  readonly balances: string | null;
  /** Open orders and trades were read. */
  readonly account: boolean;
  /** Nobody else's orders come under this name. */
  readonly alone: boolean;
  /** No order of an earlier run may live. */
  readonly clear: boolean;
};

/** Null when nothing is missing. */
export function missingOf({ fees, balances, account, alone, clear }: ReadinessFacts): string | null {
  if (!fees) return 'rules and fees are not read yet';
  if (balances !== null) return balances;
  if (!account) return 'open orders and trades are not read yet';
  if (!alone) return 'orders of this name came that this run did not place: another process may live';
  return clear ? null : 'orders of an earlier run are not known to be gone yet';
}

/** Tells once of each change: that it quotes, that it may not, or that nothing of what it wants can be shown. */
export class QuotingNews {
  #told: string | null = 'not ready';

  /** After each decision; `riskContext` is asked for only when there is something to tell. */
  heed(
    refusal: RiskRefusal | null,
    unshown: UnshownSides,
    riskContext: () => RiskContext,
  ): Extract<EngineNews, { kind: 'quoting' }> | null {
    const { buy, sell } = unshown;
    const isEmpty = refusal === null && buy !== null && sell !== null;
    const told = isEmpty ? `${buy.reason}, ${sell.reason}` : refusal;
    if (told === this.#told) return null;
    this.#told = told;
    const why = refusal === 'not ready' ? riskContext().missing : isEmpty ? whyNot(unshown, riskContext()) : null;
    return { kind: 'quoting', reason: refusal, why };
  }
}

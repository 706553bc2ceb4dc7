/** Data required before quoting, the text that names missing data, and the report of whether the bot quotes. */
import type { EngineNews } from './engineTypes.ts';
import type { RiskRefusal, RiskContext } from '../risk/preTradeRisk.ts';
import { explainEmptySides, refusalDetail, type EmptySides } from './emptySides.ts';

export type ReadinessFacts = {
  readonly fees: boolean;
  /** Missing balance or ledger data, as text; `null` if complete. */
  readonly balances: string | null;
  /** Whether open orders and trades were read. */
  readonly account: boolean;
  /** Whether no other process uses this instance name. */
  readonly isAlone: boolean;
  /** Whether no order of an earlier run may be live. */
  readonly hasNoEarlierOrders: boolean;
};

/** Returns which data is missing, as text; `null` if complete. */
export function describeMissingData({
  fees,
  balances,
  account,
  isAlone,
  hasNoEarlierOrders,
}: ReadinessFacts): string | null {
  if (!fees) return 'the fees and rules of the book have not been read yet';
  if (balances !== null) return balances;
  if (!account) return 'the open orders and trades of the account have not been read yet';
  if (!isAlone)
    return "the exchange listed open orders with this bot's instance name, but this run did not place them; another process may use this name";
  return hasNoEarlierOrders ? null : 'orders of an earlier run may still be open';
}

/** Reports each change once: the bot quotes, may not quote, or has no level that it can place. */
export class QuotingNews {
  #reported: string | null = 'not ready';

  /**
   * Returns the news after a decision, or `null` if nothing changed. Calls `riskContext` only if there is news.
   * `operatorTask`: returns what the operator must do before the bot is ready, or `null`. Such a task is news even if
   * the bot was not ready before. `severity`: that of the strategy's latest empty quote, if not a warning.
   */
  newsAfter(
    refusal: RiskRefusal | null,
    unshown: EmptySides,
    riskContext: () => RiskContext,
    operatorTask: () => string | null,
    severity: 'error' | 'info' | null = null,
  ): Extract<EngineNews, { kind: 'quoting' }> | null {
    const { buy, sell } = unshown;
    const isEmpty = refusal === null && buy !== null && sell !== null;
    const told = isEmpty
      ? `${buy.reason}, ${sell.reason}${severity === null ? '' : `, ${severity}`}`
      : ((refusal === 'not ready' ? operatorTask() : null) ?? refusal);
    if (told === this.#reported) return null;
    const wasReady = this.#reported !== 'not ready';
    this.#reported = told;
    if (refusal === 'stopping')
      return { kind: 'quoting', reason: refusal, why: wasReady ? null : riskContext().missing };
    const why = isEmpty ? explainEmptySides(unshown, riskContext()) : refusalDetail(refusal, riskContext);
    return { kind: 'quoting', reason: refusal, why, ...(isEmpty && severity !== null && { severity }) };
  }
}

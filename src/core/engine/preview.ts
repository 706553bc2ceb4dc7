/** Preview of a decision: the normalized levels of a quote, and the gate's verdict on each level. */
import { Decisions } from './decisions.ts';
import type { Preview } from './engineTypes.ts';
import { normalizeQuote } from '../quoting/normalizeQuote.ts';
import { approvePlace, type RiskRefusal, type RiskContext } from '../risk/preTradeRisk.ts';
import type { Quote } from '../quoting/strategy.ts';
import { explainEmptySides } from './emptySides.ts';

/** Returns the preview for a market that cannot be quoted; `mid` is NaN. */
export const emptyPreview = (halt: string | null, refusal: RiskRefusal | null): Preview => ({
  halt,
  refusal,
  mid: Number.NaN,
  quote: { bids: [], asks: [] },
  levels: [],
  refusals: [],
  unshown: { buy: null, sell: null },
  emptySidesText: null,
});

/**
 * Returns the preview of a quote; `mid` is in ticks. The gate checks each order as if it were the only new order, so
 * all previewed orders together may exceed funds and limits.
 */
export function previewOf(
  quote: Quote,
  riskContext: RiskContext,
  { halt, refusal, mid }: Pick<Preview, 'halt' | 'refusal' | 'mid'>,
): Preview {
  const normalized = normalizeQuote(riskContext.instrument, riskContext.depth, quote);
  const decisions = new Decisions(false);
  decisions.begin(0, refusal);
  decisions.strategyCalled(quote, normalized, normalized.levels);
  const levels = normalized.levels.map(level => {
    const verdict = approvePlace(
      { kind: 'place', id: '', side: level.side, price: level.price, amount: level.amount },
      riskContext,
    );
    if (typeof verdict === 'string') decisions.notPlaced(level, verdict);
    else decisions.placed(level, null);
    return { level, verdict: typeof verdict === 'string' ? verdict : ('would be placed' as const) };
  });
  const unshown = refusal === null ? decisions.unshown : { buy: null, sell: null };
  const why = explainEmptySides(unshown, riskContext);
  return { halt, refusal, mid, quote, levels, refusals: normalized.refusals, unshown, emptySidesText: why };
}

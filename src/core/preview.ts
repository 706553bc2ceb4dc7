/** Decides without doing: what the rules make of a quote, and what the gate would say to each of its orders. */
import type { Preview } from './engineTypes.ts';
import { legalise } from './legalise.ts';
import { approvePlace } from './risk.ts';
import type { RiskRefusal, Standing } from './risk.ts';
import type { Quote } from './strategy.ts';

/** Nothing can be computed: there is no market to quote on. */
export const emptyPreview = (halt: string | null, refusal: RiskRefusal | null): Preview => ({
  halt,
  refusal,
  mid: Number.NaN,
  quote: { bids: [], asks: [] },
  levels: [],
  refusals: [],
});

export function previewOf(
  quote: Quote,
  standing: Standing,
  { halt, refusal, mid }: Pick<Preview, 'halt' | 'refusal' | 'mid'>,
): Preview {
  const legal = legalise(standing.instrument, standing.depth, quote);
  const levels = legal.levels.map(level => {
    const verdict = approvePlace(
      { kind: 'place', id: '', side: level.side, price: level.price, amount: level.amount },
      standing,
    );
    return { level, verdict: typeof verdict === 'string' ? verdict : ('would be placed' as const) };
  });
  return { halt, refusal, mid, quote, levels, refusals: legal.refusals };
}

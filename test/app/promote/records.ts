/** Promotions made up for tests: lines of a journal as the program writes them. */
import { DEFAULT_CRITERIA } from '../../../backtest/app/promote/criteria.ts';
import type { PromotionRecord, Stage } from '../../../src/app/promote/records.ts';

const signed = (promotion: number, at: number) => ({ promotion, at, by: 'ann', reason: 'a test', version: '1.0.0' });

export const started = (promotion: number, at: number, over: object = {}): PromotionRecord => ({
  ...{ kind: 'started', ...signed(promotion, at), file: '/tmp/best.yaml', candidate: 'c', live: 'whole', trading: 't' },
  ...{ criteria: DEFAULT_CRITERIA, tuned: null },
  ...over,
});

export const approved = (
  promotion: number,
  at: number,
  stage: Stage,
  to: string | null,
  before: string | null,
): PromotionRecord => ({
  ...{ kind: 'approved', ...signed(promotion, at), stage, result: 'passed', findings: [], anyway: false, to, before },
});

export const checked = (promotion: number, at: number, stage: Stage): PromotionRecord => ({
  ...{ kind: 'checked', ...signed(promotion, at), stage, findings: [], result: 'passed' },
});

export const placed = (promotion: number, at: number): PromotionRecord => ({
  kind: 'placed',
  ...signed(promotion, at),
});

export const back = (promotion: number, at: number, from: string | null, to?: string | null): PromotionRecord => ({
  ...{ kind: 'back', ...signed(promotion, at), from },
  ...(to === undefined ? {} : { to }),
});

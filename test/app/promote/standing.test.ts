import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { STAGES, type PromotionRecord, type Stage } from '../../../src/app/promote/records.ts';
import { after, inPlace, NOTHING, type PromotionState } from '../../../src/app/promote/promotionState.ts';
import { approved, back, checked, placed, started } from './records.ts';

/** Any record at all: most cannot follow what was before. */
const anyRecord: fc.Arbitrary<PromotionRecord> = fc
  .record({
    kind: fc.constantFrom('started', 'checked', 'approved', 'placed', 'back'),
    promotion: fc.integer({ min: 1, max: 3 }),
    stage: fc.constantFrom(...STAGES),
    text: fc.option(fc.constantFrom('a', 'b', 'c')),
    before: fc.option(fc.constantFrom('a', 'b', 'c')),
    stays: fc.boolean(),
  })
  .map(({ kind, promotion, stage, text, before, stays }) => {
    if (kind === 'started') return started(promotion, 1);
    if (kind === 'checked') return checked(promotion, 1, stage);
    if (kind === 'approved') return approved(promotion, 1, stage, text, before);
    if (kind === 'placed') return placed(promotion, 1);
    return stays ? back(promotion, 1, before) : back(promotion, 1, before, text);
  });

/** What the machine takes of them, in order. */
function taken(records: readonly PromotionRecord[]): { kept: PromotionRecord[]; standing: PromotionState } {
  const kept: PromotionRecord[] = [];
  let standing = NOTHING;
  for (const record of records)
    try {
      standing = after(standing, record);
      kept.push(record);
    } catch {
      continue;
    }
  return { kept, standing };
}

describe('the machine of promotions', () => {
  test('lets no promotion skip a stage, whatever is asked of it in whatever order', () => {
    fc.assert(
      fc.property(fc.array(anyRecord, { maxLength: 300 }), records => {
        const { kept } = taken(records);
        for (const promotion of [1, 2, 3]) {
          const stages = kept.flatMap(record =>
            record.kind === 'approved' && record.promotion === promotion ? [record.stage] : [],
          );
          expect(stages).toEqual(STAGES.slice(0, stages.length));
          const begun = kept.findIndex(record => record.kind === 'started' && record.promotion === promotion);
          const first = kept.findIndex(record => record.promotion === promotion);
          expect(first).toBe(begun);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('going back as often as something is in place ends with what the live file said before the first one', () => {
    fc.assert(
      fc.property(fc.array(anyRecord, { maxLength: 300 }), records => {
        let { standing } = taken(records);
        const { kept } = taken(records);
        const first = standing.placed[0];
        if (standing.open !== null && standing.open.stage !== 'smallest')
          standing = after(standing, back(standing.open.started.promotion, 2, null));
        if (standing.pending !== null) standing = after(standing, placed(standing.pending.promotion, 2));
        while (standing.placed.length > 0)
          standing = after(standing, back(inPlace(standing)!, 3, null, standing.placed.at(-1)!.before));
        expect(standing.open).toBeNull();
        if (first !== undefined) expect(standing.live).toBe(first.before);
        const touched = kept.some(record => record.kind === 'approved' && record.to !== null);
        expect(standing.live !== undefined).toBe(touched);
      }),
      { numRuns: 300 },
    );
  });

  test('the live file is what the last decision says, and nothing else is decided until it is', () => {
    let standing = NOTHING;
    const go = (record: PromotionRecord) => (standing = after(standing, record));
    go(started(1, 1));
    go(approved(1, 2, 'replay', null, null));
    expect([standing.open?.stage, standing.live]).toEqual(['paper', undefined]);
    go(approved(1, 3, 'paper', 'small', 'old'));
    expect([standing.open?.stage, standing.live, standing.pending]).toEqual([
      'smallest',
      'small',
      { promotion: 1, to: 'small', from: 'old', isBack: false },
    ]);
    expect(() => after(standing, approved(1, 4, 'smallest', 'whole', 'small'))).toThrow(
      'record "approved" of promotion 1 contradicts the lines before it: the last decision has not been written to the live file',
    );
    go(placed(1, 4));
    go(approved(1, 5, 'smallest', 'whole', 'small'));
    go(placed(1, 6));
    expect([standing.open, standing.live, inPlace(standing)]).toEqual([null, 'whole', 1]);
    expect(() => after(standing, back(1, 7, 'whole', 'small'))).toThrow(
      'the restored text is not the previous live file',
    );
    go(back(1, 7, 'whole', 'old'));
    expect([standing.live, inPlace(standing)]).toEqual(['old', null]);
  });

  test('an approval that was not passed is one only where it says that it is all the same', () => {
    const open = after(NOTHING, started(1, 1));
    const stage: Stage = 'replay';
    const failed = { ...approved(1, 2, stage, null, null), result: 'failed' } as PromotionRecord;
    expect(() => after(open, failed)).toThrow('its criteria were failed');
    expect(after(open, { ...failed, anyway: true } as PromotionRecord).open?.stage).toBe('paper');
  });
});

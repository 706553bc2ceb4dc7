import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { carryOut } from './campaign.ts';
import { readCase } from './shrink/fixedCase.ts';
import { parseKeep, partsOf } from './world/keep.ts';

const FOLDER = new URL('cases/', import.meta.url);
const CASES = readdirSync(FOLDER).map(name => ({ name, fixed: readCase(new URL(name, FOLDER).pathname) }));

describe('a shrunk failure', () => {
  it.each(CASES)('$name breaks nothing with the right code', async ({ fixed: { task } }) => {
    const { planted: _, ...right } = task;
    expect((await carryOut(right)).run.violations).toEqual([]);
  });

  it.each(CASES.filter(({ fixed }) => fixed.task.planted !== undefined))(
    '$name needs three faults at most, and breaks with the planted bug where it did',
    async ({ fixed: { task, law, brokeAt } }) => {
      expect(partsOf(parseKeep(task.keep ?? '')).length).toBeLessThanOrEqual(3);
      const { run } = await carryOut(task);
      expect(run.violations[0]?.law).toBe(law);
      expect(run.brokeAt).toBe(brokeAt);
    },
  );

  it('of at least ten planted bugs is kept, of different invariants', () => {
    expect(new Set(CASES.map(({ fixed }) => fixed.task.planted)).size).toBeGreaterThanOrEqual(10);
    expect(new Set(CASES.map(({ fixed }) => fixed.law)).size).toBeGreaterThanOrEqual(8);
  });
});

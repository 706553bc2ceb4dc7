/** What hedges of a day have cost is known from the rows alone, whatever became of each, and after any restart. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { moneyOf, textOfMoney } from '../../../src/core/index.ts';
import type { HedgeRow, HedgeState } from '../../../src/core/index.ts';
import { HedgeRows } from '../../../src/hedge/rows.ts';
import { spentOnDay } from '../../../src/hedge/sizes.ts';

const DAY_MS = 86_400_000;
const ends: readonly HedgeState[] = ['completed', 'failed', 'stranded'];

test('the cost of a day is that of every hedge which was not certainly left undone', () => {
  const hedge = fc.record({
    days: fc.constantFrom(0, 0, 0, 0, 1),
    cost: fc.option(fc.integer({ min: 0, max: 1_000 }), { nil: null }),
    end: fc.constantFrom(...ends),
    restarts: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(hedge, { maxLength: 60 }), list => {
      let now = 10 * DAY_MS;
      let spent = 0;
      const made = (rows: readonly HedgeRow[]) =>
        new HedgeRows({ prefix: 'h', rows, time: () => now, step: () => undefined });
      let rows = made([]);
      for (const { days, cost, end, restarts } of list) {
        if (days > 0) spent = 0;
        now += days * DAY_MS;
        rows.begin(moneyOf('1'), spentOnDay(rows.list, now));
        // Without a cost nothing was accepted.
        if (cost === null) rows.change({ state: 'failed' });
        else {
          rows.change({ state: 'accepted', costMax: String(cost) });
          expect(Number(textOfMoney(spentOnDay(rows.list, now)))).toBe(spent + cost);
          rows.change({ state: end });
          if (end !== 'failed') spent += cost;
        }
        if (restarts) {
          rows = made(rows.list);
          rows.restore(1_000);
        }
        expect(Number(textOfMoney(spentOnDay(rows.list, now)))).toBe(spent);
      }
    }),
  );
});

/** Number from which updates are requested: none is skipped when Telegram starts its numbers again. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UpdateOffset } from '../../../src/app/remote/updateOffset.ts';

const HOUR = 3_600_000;

test('updates are requested after the last one, and all of them after six days without any, whatever its number was', () => {
  const poll = fc.record({
    hours: fc.constantFrom(0, 1, 71, 72, 73, 144),
    ids: fc.array(fc.nat(1_000), { maxLength: 3 }),
  });
  fc.assert(
    fc.property(fc.array(poll, { minLength: 1, maxLength: 12 }), polls => {
      let now = 0;
      const offset = new UpdateOffset({ elapsed: () => now });
      let [last, heardAt]: [number | null, number] = [null, 0];
      for (const { hours, ids } of polls) {
        now += hours * HOUR;
        if (now - heardAt > 144 * HOUR) last = null;
        expect(offset.next()).toBe(last === null ? 0 : last + 1);
        for (const id of ids) {
          offset.heard(id);
          [last, heardAt] = [id, now];
        }
      }
      expect(offset.next()).toBe(last === null ? 0 : last + 1);
    }),
  );
});

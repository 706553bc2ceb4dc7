import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  abandonedCodes,
  isExpired,
  isStudyHere,
  PresenceBoard,
  type Presence,
} from '../../../../backtest/app/queue/presence.ts';
import { runsOf } from '../../../many.ts';

const NOW = 1_700_000_000_000;
const DAY_MS = 86_400_000;
const codeOf = (letter: string): string => letter.repeat(64);

const presence: fc.Arbitrary<Presence> = fc.record({
  kind: fc.constantFrom('worker', 'study'),
  id: fc.constantFrom('one', 'two', 'three'),
  version: fc.constant('0.1.0'),
  code: fc.constantFrom(...['a', 'b', 'c'].map(codeOf)),
  study: fc.constantFrom('', 'first', 'second'),
  who: fc.constant('ann'),
  at: fc.constantFrom(0, 29_999, 30_000, DAY_MS, DAY_MS + 1, 3 * DAY_MS).map(age => NOW - age),
});

test('the queue of a version is abandoned only if all who ever announced it have been gone for more than a day', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(presence, { maxLength: 8 }), fc.constantFrom('a', 'b'), async (all, own) => {
      const jobs = [{ data: 'no presence' }, ...all.map(data => ({ data })), undefined];
      const board = new PresenceBoard({ getJobs: () => Promise.resolve(jobs) } as never);
      const seen = await board.seen(NOW);
      const isGone = ({ at }: Presence): boolean => NOW - at > DAY_MS;
      const abandoned = ['a', 'b', 'c'].map(codeOf).filter(code => {
        const announced = all.filter(one => one.code === code);
        return code !== codeOf(own) && announced.length > 0 && announced.every(isGone);
      });
      expect([...abandonedCodes(seen, codeOf(own))].sort()).toEqual(abandoned);
      expect(seen.forgotten).toEqual(all.filter(isGone));
      expect(seen.known).toEqual(all.filter(one => !isGone(one)));
      expect(seen.here).toEqual(all.filter(({ at }) => NOW - at < 30_000));
    }),
    runsOf(2_000, 100),
  );
});

test('a trial expires if it has waited for more than a day and its study has said nothing for as long, and a study is there for half a minute', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(presence, { maxLength: 6 }),
      fc.constantFrom(0, DAY_MS, DAY_MS + 1),
      async (all, waitedMs) => {
        const board = new PresenceBoard({ getJobs: () => Promise.resolve(all.map(data => ({ data }))) } as never);
        const seen = await board.seen(NOW);
        for (const run of ['first', 'second']) {
          const ages = all.filter(({ study }) => study === run).map(({ at }) => NOW - at);
          const age = Math.min(Infinity, ...ages);
          expect(isStudyHere(run, seen)).toBe(age < 30_000);
          expect(await isExpired(waitedMs, run, () => Promise.resolve(seen))).toBe(waitedMs > DAY_MS && age > DAY_MS);
        }
      },
    ),
    runsOf(2_000, 100),
  );
});

/** Limits on the calls of an agent: which calls are accepted, in any order of starts, ends and failures. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CallLimits } from '../../../src/app/mcp/callLimits.ts';
import { VirtualClock } from '../../../src/core/index.ts';
import { runsOf } from '../../many.ts';

const AT_ONCE_MAX = 8;
const PER_MINUTE = 30;

type Held = { readonly end: () => void; readonly fail: () => void };

const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.constantFrom('held', 'held', 'held', 'held', 'immediate', 'throws', 'rejects', 'nested'),
  },
  { weight: 3, arbitrary: fc.constantFrom('end', 'fail') },
  { weight: 1, arbitrary: fc.constantFrom('wait 59 s', 'wait 1 s') },
);

test('a call is refused exactly above a limit, and a refused or ended call, however it ends, uses no place', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 80, size: 'max' }), async steps => {
      const clock = new VirtualClock();
      const limits = new CallLimits(clock, PER_MINUTE);
      const running: Held[] = [];
      let [since, calls] = [clock.elapsed(), 0];
      /** Counts a further call if it is within the limits. */
      const isAccepted = (atWork = running.length): boolean => {
        if (clock.elapsed() - since >= 60_000) [since, calls] = [clock.elapsed(), 0];
        if (calls >= PER_MINUTE || atWork >= AT_ONCE_MAX) return false;
        calls++;
        return true;
      };
      const outcome = (work: () => Promise<unknown>): Promise<string> =>
        limits.run(work).then(
          () => 'done',
          (error: Error) => error.message,
        );
      const refusal =
        /^(?:at most 30 calls per minute; wait \d+ s|8 calls are under way; try again when one has ended)$/;
      for (const one of steps) {
        const isNext = one === 'end' || one === 'fail' || one.startsWith('wait') ? true : isAccepted();
        switch (one) {
          case 'held': {
            let held: Held | null = null;
            const ended = outcome(
              () =>
                new Promise(
                  (resolve, reject) => (held = { end: () => resolve(1), fail: () => reject(new Error('x')) }),
                ),
            );
            expect(held !== null).toBe(isNext);
            if (held === null) expect(await ended).toMatch(refusal);
            else running.push(held);
            break;
          }
          case 'immediate':
            expect(await outcome(async () => 1)).toMatch(isNext ? /^done$/ : refusal);
            break;
          case 'throws':
            expect(
              await outcome(() => {
                throw new Error('odd');
              }),
            ).toMatch(isNext ? /^odd$/ : refusal);
            break;
          case 'rejects':
            expect(await outcome(async () => Promise.reject(new Error('odd')))).toMatch(isNext ? /^odd$/ : refusal);
            break;
          case 'nested': {
            const isInner = isNext && isAccepted(running.length + 1);
            expect(await outcome(() => limits.run(async () => 1))).toMatch(isInner ? /^done$/ : refusal);
            break;
          }
          case 'end':
          case 'fail': {
            running.shift()?.[one]();
            await Promise.resolve();
            for (let i = 0; i < 5; i++) await Promise.resolve();
            break;
          }
          case 'wait 59 s':
          case 'wait 1 s':
            await clock.advance(one === 'wait 1 s' ? 1_000 : 59_000);
        }
      }
    }),
    runsOf(500, 100),
  );
});

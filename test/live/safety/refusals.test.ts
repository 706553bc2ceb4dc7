import fc from 'fast-check';
import { expect, test } from 'vitest';
import { VirtualClock } from '../../../src/core/index.ts';
import { actionableMeaning } from '../../../src/exchange/index.ts';
import { ConnectivityLog } from '../../../src/live/connectivityLog.ts';
import { Refusals } from '../../../src/live/safety/refusals.ts';
import { runsOf } from '../../many.ts';
import { memoryLog } from '../../memoryLog.ts';

const MINUTE = 60_000;

function world() {
  const clock = new VirtualClock();
  const refusals = new Refusals(clock, new ConnectivityLog(memoryLog().log, clock));
  const refused = (code: string) => {
    const meaning = actionableMeaning(code);
    return refusals.failed('balance', {
      kind: 'refused',
      code,
      message: 'no',
      status: 401,
      ...(meaning && { meaning }),
    });
  };
  const rejectedHere = (code: string) => refusals.failed('balance', { kind: 'refused', code, message: 'no' });
  const unanswered = () => refusals.failed('balance', { kind: 'unknown', reason: 'timeout' });
  return { clock, refusals, refused, rejectedHere, unanswered };
}

test('a refusal that stays is final at once, one that may pass is not, and one that is no matter of a person never is', async () => {
  const { clock, refused } = world();
  for (const code of ['0202', '0215', '0216']) expect(refused(code)).toBe(`balance was refused with ${code}: no`);
  for (const code of ['0201', '0207', '104']) expect([code, refused(code)]).toEqual([code, null]);
  await clock.advance(10 * MINUTE);
  for (const code of ['0379', '0801', '0301', 'nobody']) expect([code, refused(code)]).toEqual([code, null]);
});

test('one that may pass is final after a minute in which nothing was accepted, and in no fewer than three refusals', async () => {
  const { clock, refusals, refused } = world();
  const at = async (ms: number) => (await clock.advance(ms), refused('0201') !== null);
  expect(await at(0)).toBe(false);
  // An outage of ten minutes says nothing of the key.
  expect(await at(10 * MINUTE)).toBe(false);
  expect(await at(0)).toBe(true);
  refusals.accepted();
  expect(await at(0)).toBe(false);
  expect(await at(30_000)).toBe(false);
  expect(await at(29_999)).toBe(false);
  expect(await at(1)).toBe(true);
});

test('only what was accepted clears the count, whatever else was refused, kept here or not answered between', async () => {
  const turn = fc.record({
    passedMs: fc.constantFrom(0, 1, 19_999, 20_000, 30_000, 59_999, MINUTE),
    what: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom('0201', '0207', '104') },
      { weight: 3, arbitrary: fc.constantFrom('budget', 'not-sent', 'closed', 'no answer') },
      { weight: 2, arbitrary: fc.constantFrom('0202', '0301', '0356', '0379', '0801', 'nobody') },
      { weight: 1, arbitrary: fc.constant('accepted') },
    ),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 4, maxLength: 16 }), async turns => {
      const { clock, refusals, refused, rejectedHere, unanswered } = world();
      let mayPass: number[] = [];
      for (const { passedMs, what } of turns) {
        await clock.advance(passedMs);
        if (what === 'accepted') {
          refusals.accepted();
          mayPass = [];
          continue;
        }
        if (isAboutNonce(what)) mayPass.push(clock.elapsed());
        const isFinal =
          what === '0202' || (isAboutNonce(what) && mayPass.length >= 3 && mayPass.at(-1)! - mayPass[0]! >= MINUTE);
        const said = what === 'no answer' ? unanswered() : /^\d|nobody/.test(what) ? refused(what) : rejectedHere(what);
        expect(said !== null).toBe(isFinal);
      }
    }),
    runsOf(2_000, 80),
  );
});

const isAboutNonce = (what: string): boolean => ['0201', '0207', '104'].includes(what);

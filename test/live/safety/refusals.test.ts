import { expect, test } from 'vitest';
import { VirtualClock } from '../../../src/core/index.ts';
import { actionableMeaning } from '../../../src/exchange/index.ts';
import { ConnectivityLog } from '../../../src/live/connectivityLog.ts';
import { Refusals } from '../../../src/live/safety/refusals.ts';
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
  return { clock, refusals, refused };
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

import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { attempt } from './shrink/attempt.ts';
import { causeOf } from './shrink/cause.ts';
import { readCase } from './shrink/fixedCase.ts';
import { shrink } from './shrink/shrink.ts';
import { truthOf } from './shrink/truth.ts';
import { parseKeep, partsOf } from './world/keep.ts';

const FOLDER = new URL('cases/', import.meta.url);
const PLANTED = readdirSync(FOLDER)
  .map(name => ({ name, fixed: readCase(new URL(name, FOLDER).pathname) }))
  .filter(({ fixed }) => fixed.task.planted !== undefined);

describe('the cause of a failure', () => {
  it.each(PLANTED)('of $name is within one event of the truth', async ({ fixed }) => {
    const failure = (await attempt(fixed.task, fixed.law))!;
    const [cause, truth] = [await causeOf(failure), await truthOf(failure)];
    expect(cause.event).toBe(fixed.cause);
    expect(Math.abs(cause.event - truth.event)).toBeLessThanOrEqual(1);
  });

  it('is left with one fault, the plainest configuration and the shortest time of a seed with 39 classes', async () => {
    const { failure } = await shrink({ seed: 15, planted: 'sends with a full disk' });
    expect(failure.law).toBe('S3');
    expect(partsOf(parseKeep(failure.task.keep!))).toEqual([{ fault: 'disk full', index: 0 }]);
    expect(failure.task.untilMs).toBeLessThan(90_000);
    expect(failure.task.safetyMs).toBeLessThanOrEqual(failure.task.untilMs!);
  });
});

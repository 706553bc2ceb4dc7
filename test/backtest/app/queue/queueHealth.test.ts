/** Messages about a queue's connection, beside rules that look at the complete history. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { QueueHealth } from '../../../../backtest/app/queue/queueHealth.ts';

const AGAIN_MS = 60_000;
const LOST = ['connect ECONNREFUSED 10.0.0.1', 'Connection is closed'];
const OTHER = ['a wrong command', 'could not renew lock for job 7', 'Missing lock for job 8. finished'];
const step = fc.record({
  ms: fc.constantFrom(0, 1_000, 20_400, AGAIN_MS - 1, AGAIN_MS),
  text: fc.option(fc.constantFrom(...LOST, ...OTHER)),
});

test('an outage is said once with its first error and once with its whole length, and any other error once a minute', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), steps => {
      let now = 1_000_000;
      const said: string[] = [];
      const health = new QueueHealth(
        'redis://here',
        sentence => said.push(sentence),
        () => now,
      );
      const expected: RegExp[] = [];
      let lostAt: number | null = null;
      const told = new Map<string, number>();
      for (const { ms, text } of steps) {
        now += ms;
        if (text === null) {
          health.works();
          if (lostAt !== null)
            expected.push(new RegExp(`redis://here was restored after ${Math.round((now - lostAt) / 1_000)} s$`));
          lostAt = null;
          continue;
        }
        health.heard(new Error(text));
        if (LOST.includes(text)) {
          if (lostAt === null) expected.push(new RegExp(`redis://here is lost \\(${text}\\); reconnecting$`));
          lostAt ??= now;
          continue;
        }
        // A lock that is lost has one sentence, whichever the job.
        const kind = text.includes('lock') ? 'the queue assigned a trial to another worker' : text;
        if (now - (told.get(kind) ?? -Infinity) < AGAIN_MS) continue;
        told.set(kind, now);
        expected.push(new RegExp(`^redis://here: ${kind}`));
      }
      expect(said).toEqual(expected.map((pattern): unknown => expect.stringMatching(pattern)));
    }),
    { numRuns: 100 },
  );
});

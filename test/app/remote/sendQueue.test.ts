/** Answers leave one after another in their order, each a few times at most, however slow or unwilling the other side is. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SendQueue } from '../../../src/app/remote/sendQueue.ts';
import { sleep, VirtualClock, type Millis } from '../../../src/core/index.ts';
import { runsOf } from '../../many.ts';

const fate = fc.record({
  ms: fc.constantFrom(0, 10, 4_000),
  kind: fc.constantFrom('done', 'fails', 'is final', 'asks to wait', 'asks for half a minute', 'asks for more'),
});
const answer = fc.record({
  pause: fc.constantFrom(0, 0, 5, 5_000),
  fates: fc.array(fate, { minLength: 3, maxLength: 3 }),
});

/** Waits that Telegram asks for, in ms; for more than half a minute, an answer does not wait. */
const ASKED: Readonly<Record<string, Millis>> = {
  'asks to wait': 7_000,
  'asks for half a minute': 30_000,
  'asks for more': 30_001,
};

test('no answer overtakes another or leaves beside it, and each is sent until it is taken, three times at most', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 6 }), async answers => {
      const clock = new VirtualClock();
      const troubles: string[] = [];
      const queue = new SendQueue(clock, line => void troubles.push(line));
      const sent: [number, number][] = [];
      const waits: Millis[] = [];
      let [atOnce, most] = [0, 0];
      for (const [n, { pause, fates }] of answers.entries()) {
        let [tries, failedAt] = [0, 0];
        queue.add(async () => {
          const { ms, kind } = fates[tries]!;
          if (tries > 0) waits.push(clock.elapsed() - failedAt);
          sent.push([n, tries++]);
          most = Math.max(most, ++atOnce);
          await sleep(clock, ms);
          atOnce--;
          failedAt = clock.elapsed();
          if (kind === 'done') return { kind: 'done', value: null };
          return { kind: 'failed', why: kind, afterMs: ASKED[kind] ?? 0, isFinal: kind === 'is final' };
        });
        await clock.advance(pause);
      }
      await clock.advance(600_000);
      const isLast = (kind: string): boolean => ['done', 'is final', 'asks for more'].includes(kind);
      const wanted = answers.flatMap(({ fates }, n) => {
        const last = fates.findIndex(({ kind }) => isLast(kind));
        return fates.slice(0, last < 0 ? 3 : last + 1).map((_, i): [number, number] => [n, i]);
      });
      expect([sent, most]).toEqual([wanted, 1]);
      // A second, then two; longer if the other side asks for it.
      expect(waits).toEqual(
        wanted.flatMap(([n, i]) => (i === 0 ? [] : [Math.max(1_000 * i, ASKED[answers[n]!.fates[i - 1]!.kind] ?? 0)])),
      );
      const isDropped = ({ fates }: (typeof answers)[number]) =>
        fates.find(({ kind }) => isLast(kind))?.kind !== 'done';
      expect(troubles).toHaveLength(answers.filter(isDropped).length);
      queue.close();
    }),
    runsOf(500, 40),
  );
});

test('fifty answers wait while one is sent, and each further one is dropped with a line', async () => {
  const clock = new VirtualClock();
  const troubles: string[] = [];
  const queue = new SendQueue(clock, line => void troubles.push(line));
  const sent: number[] = [];
  for (let n = 0; n < 54; n++)
    queue.add(async () => {
      sent.push(n);
      await sleep(clock, 1_000);
      return { kind: 'done', value: null };
    });
  expect(troubles).toEqual(Array(3).fill('an answer was dropped: too many wait'));
  await clock.advance(100_000);
  expect(sent).toEqual(Array.from({ length: 51 }, (_, n) => n));
  queue.close();
});

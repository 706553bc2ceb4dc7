/** Answers leave one after another in their order, each a few times at most, however slow or unwilling the other side is. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SendQueue } from '../../../src/app/remote/sendQueue.ts';
import { sleep, VirtualClock, type Millis } from '../../../src/core/index.ts';
import { runsOf } from '../../many.ts';

const fate = fc.record({
  ms: fc.constantFrom(0, 10, 4_000),
  kind: fc.constantFrom('done', 'fails', 'is final', 'asks to wait', 'asks to wait long'),
});
const answer = fc.record({
  pause: fc.constantFrom(0, 0, 5, 5_000),
  fates: fc.array(fate, { minLength: 3, maxLength: 3 }),
});

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
          const afterMs = kind === 'asks to wait' ? 7_000 : kind === 'asks to wait long' ? 60_000 : 0;
          return { kind: 'failed', why: kind, afterMs, isFinal: kind === 'is final' };
        });
        await clock.advance(pause);
      }
      await clock.advance(600_000);
      const isLast = (kind: string): boolean => ['done', 'is final', 'asks to wait long'].includes(kind);
      const wanted = answers.flatMap(({ fates }, n) => {
        const last = fates.findIndex(({ kind }) => isLast(kind));
        return fates.slice(0, last < 0 ? 3 : last + 1).map((_, i): [number, number] => [n, i]);
      });
      expect([sent, most]).toEqual([wanted, 1]);
      // A second, then two; longer if the other side asks for it.
      expect(waits).toEqual(
        wanted.flatMap(([n, i]) =>
          i === 0 ? [] : [Math.max(1_000 * i, answers[n]!.fates[i - 1]!.kind === 'asks to wait' ? 7_000 : 0)],
        ),
      );
      const isDropped = ({ fates }: (typeof answers)[number]) =>
        fates.find(({ kind }) => isLast(kind))?.kind !== 'done';
      expect(troubles).toHaveLength(answers.filter(isDropped).length);
      queue.close();
    }),
    runsOf(500, 40),
  );
});

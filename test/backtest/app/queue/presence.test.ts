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

/** Waiting jobs by id, as BullMQ keeps them: a job that is added again under its id keeps its first data. */
function waitingJobs() {
  const jobs = new Map<string, { id: string; data: unknown; updateData: (data: unknown) => Promise<void> }>();
  const queue = {
    add: async (_: string, first: unknown, { jobId }: { readonly jobId: string }) => {
      const job = jobs.get(jobId) ?? {
        id: jobId,
        data: first,
        updateData: async (data: unknown) => void (job.data = data),
      };
      jobs.set(jobId, job);
      return job;
    },
    remove: async (id: string) => Number(jobs.delete(id)),
    getJobs: async (states: readonly string[], from: number, to: number) =>
      states.includes('waiting') ? [...jobs.values()].slice(from, to + 1) : [],
  };
  return new PresenceBoard(queue as never);
}

test('a board shows the last announcement of each participant, a worker and a study of one id apart, and none that has left', async () => {
  const step = fc.record({ leaves: fc.boolean(), presence });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async steps => {
      const board = waitingJobs();
      const last = new Map<string, Presence>();
      for (const { leaves, presence: one } of steps) {
        await (leaves ? board.leave(one) : board.say(one));
        last.delete(leaves ? `${one.kind} ${one.id}` : '');
        if (!leaves) last.set(`${one.kind} ${one.id}`, one);
      }
      const { known, forgotten } = await board.seen(NOW);
      expect(new Set([...known, ...forgotten])).toEqual(new Set(last.values()));
    }),
    runsOf(1_000, 50),
  );
});

test('a board shows a thousand participants', async () => {
  const board = waitingJobs();
  const worker = { kind: 'worker', version: '1', code: codeOf('a'), study: '', who: 'ann', at: NOW } as const;
  for (let n = 0; n < 1_000; n++) await board.say({ ...worker, id: String(n) });
  expect((await board.seen(NOW)).here).toHaveLength(1_000);
});

/** Approvals: which previews act, for whom, when and how often, in any order of events. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Approvals, APPROVAL_MS, type ActionOver, type ActionRequest } from '../../src/console/approvals.ts';
import { settle } from '../../src/core/index.ts';
import { runsOf } from '../many.ts';

const PREVIEWS_MAX = 64;
const REQUEST: ActionRequest = { action: 'halt', reason: 'odd fills', by: 'Ana', minutes: null, costMax: null };

const owner = fc.constantFrom('ana', 'bea');
/** `back`: which preview, counted back from the newest. */
const back = fc.oneof(fc.nat(3), fc.nat(PREVIEWS_MAX + 2));
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('open'),
      owner,
      count: fc.constantFrom(1, 1, 1, 40),
      takesMs: fc.constantFrom(0, 0, 1, 40_000),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('confirm'), owner, back, fails: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('end') }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wait'), ms: fc.constantFrom(1, APPROVAL_MS - 1, APPROVAL_MS) }),
  },
);

type Preview = {
  readonly id: string;
  readonly owner: string;
  readonly endsAt: number;
  state: 'open' | 'under way' | 'done' | 'refused';
};

test('a preview acts once, for its owner, within a minute after it was ready, unless it was dropped; its result is its owner’s alone', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }), async steps => {
      let [time, made, executed] = [0, 0, 0];
      const ends: (() => void)[] = [];
      let nextFails = false;
      let takesMs = 0;
      const approvals = new Approvals<string>(
        {
          prepare: async () => (
            (time += takesMs),
            {
              lines: ['4 orders would be canceled'],
              execute: () => {
                executed++;
                const fails = nextFails;
                return new Promise<ActionOver>((resolve, reject) =>
                  ends.push(() => (fails ? reject(new Error('no disk')) : resolve({ end: 'done', lines: ['halted'] }))),
                );
              },
            }
          ),
        },
        () => time,
        () => `id-${++made}`,
      );
      const all: Preview[] = [];
      const running: { readonly preview: Preview; readonly fails: boolean }[] = [];
      /** Previews that are stored, the oldest first. */
      let kept: Preview[] = [];
      for (const one of steps) {
        if (one.kind === 'open')
          for (let n = 0; n < one.count; n++) {
            ({ takesMs } = one);
            const { id } = await approvals.open(one.owner, REQUEST, () => undefined);
            const preview: Preview = { id, owner: one.owner, endsAt: time + APPROVAL_MS, state: 'open' };
            all.push(preview);
            kept = [...kept, preview].slice(-PREVIEWS_MAX);
          }
        else if (one.kind === 'wait') time += one.ms;
        else if (one.kind === 'end') {
          const [ended] = running.splice(0, 1);
          ends.shift()?.();
          await settle();
          if (ended) ended.preview.state = ended.fails ? 'refused' : 'done';
        } else {
          const preview = all.at(-1 - one.back);
          const isAllowed =
            preview !== undefined &&
            preview.owner === one.owner &&
            preview.state === 'open' &&
            time < preview.endsAt &&
            kept.includes(preview);
          const before = executed;
          nextFails = one.fails;
          expect(approvals.confirm(one.owner, preview?.id ?? 'none')).toBe(isAllowed);
          expect(executed - before).toBe(isAllowed ? 1 : 0);
          if (isAllowed) {
            preview.state = 'under way';
            running.push({ preview, fails: one.fails });
          }
        }
        for (const { id, owner: of, state } of kept.slice(-5)) {
          const found = approvals.outcome(of, id)?.end ?? null;
          expect(found).toBe(state === 'open' ? null : state);
          expect(approvals.outcome(of === 'ana' ? 'bea' : 'ana', id)).toBeNull();
        }
      }
    }),
    runsOf(300, 60),
  );
});

/** Threads of a worker that die at any time: each trial is answered by a thread that has opened its study. */
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ThreadEnded, TrialThreads } from '../../../../backtest/app/queue/trialThreads.ts';
import { failedTrial, trialError } from '../../../../backtest/app/queue/trialWorker.ts';
import { StoreProblem } from '../../../../backtest/app/tapeStore/storedFiles.ts';
import { settle } from '../../../../src/core/index.ts';
import { runsOf } from '../../../many.ts';

/** A thread that answers as the real one does. `text` of a job says how its run ends, `paths` how another work ends. */
const PROGRAM = `
const { parentPort } = require('node:worker_threads');
let taken = null;
parentPort.on('message', work => {
  const answer = result => parentPort.postMessage(result);
  const ends = work.kind === 'run' ? work.job.text : (work.paths[work.kind] ?? 'runs');
  if (work.kind === 'take') taken = null;
  if (ends === 'dies') throw new Error('out of memory');
  if (ends === 'exits') process.exit(3);
  if (ends === 'fails' && (work.kind !== 'run' || taken?.key === work.key)) return answer({ kind: 'failed', message: 'its own error' });
  if (work.kind === 'open') return answer({ kind: 'opened', pieces: [work.setting.study] });
  if (work.kind === 'take') {
    taken = { key: work.key, study: work.setting.study, pieces: work.pieces };
    return answer({ kind: 'taken' });
  }
  if (taken?.key !== work.key) return answer({ kind: 'failed', message: 'not opened' });
  answer({ kind: 'ran', outcome: { study: taken.study, pieces: taken.pieces } });
});`;

const trialDraw = fc.record({
  study: fc.constantFrom('one', 'two', 'three'),
  text: fc.constantFrom('runs', 'runs', 'fails', 'dies', 'exits'),
});
/** After each end of a trial, one of the same study and one of another. */
const AFTER_EACH_END = (['runs', 'fails', 'dies', 'exits'] as const).flatMap(text =>
  [
    ['one', text],
    ['one', 'runs'],
    ['two', 'runs'],
  ].map(([study, ends]) => ({ study: study!, text: ends! })),
);

const HOPELESS = new Error('hopeless');
const isRetried = (error: unknown): boolean =>
  trialError(error, 'a sentence', { hopeless: () => HOPELESS }) !== HOPELESS;

test('a trial is run in its own study by whichever thread, fails with its own error, and is retried if its thread died', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(trialDraw, { minLength: 2, maxLength: 8 }),
      fc.constantFrom(1, 2),
      async (trials, count) => {
        const threads = new TrialThreads(count, () => new Worker(PROGRAM, { eval: true, stderr: true }));
        try {
          const waiting = trials.map(trial => trial);
          const run = async (): Promise<void> => {
            for (let trial = waiting.shift(); trial !== undefined; trial = waiting.shift()) {
              const { study, text } = trial;
              const job = { setting: { study }, text } as never;
              const outcome = await threads.run(job, {}, new Float64Array(1)).catch((error: unknown) => error);
              if (text === 'runs') expect(outcome).toEqual({ study, pieces: [study] });
              else if (text === 'fails') expect(String(outcome)).toBe('Error: its own error');
              else expect(outcome).toBeInstanceOf(ThreadEnded);
              if (text !== 'runs') expect(isRetried(outcome)).toBe(text !== 'fails');
            }
          };
          await Promise.all(Array.from({ length: count }, run));
        } finally {
          await threads.end();
        }
      },
    ),
    { ...runsOf(100, 2), examples: [[AFTER_EACH_END, 1]] },
  );
});

test('a trial whose recording is not there is retried, and any other error is hopeless', () => {
  expect(isRetried(new StoreProblem('missing'))).toBe(true);
  for (const error of [new Error('any'), new TypeError('any'), 'a text']) expect(isRetried(error)).toBe(false);
});

test('after any failure to open or take a study, each study runs on each thread', async () => {
  const failure = fc.record({
    study: fc.constantFrom('one', 'two', 'three'),
    at: fc.constantFrom('open', 'take', 'run'),
    ends: fc.constantFrom('fails', 'dies', 'exits'),
  });
  const jobOf = (study: string, text: string) => ({ setting: { study }, text }) as never;
  await fc.assert(
    fc.asyncProperty(
      fc.array(failure, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(1, 2),
      fc.boolean(),
      async (failures, count, isBegun) => {
        const threads = new TrialThreads(count, () => new Worker(PROGRAM, { eval: true, stderr: true }));
        /** The same trial on each thread at once. */
        const onEach = (study: string, text: string, paths: Readonly<Record<string, string>>) =>
          Promise.all(
            Array.from({ length: count }, () =>
              threads.run(jobOf(study, text), paths, new Float64Array(1)).catch((error: unknown) => error),
            ),
          );
        try {
          if (isBegun) await onEach('one', 'runs', {});
          for (const { study, at, ends } of failures) {
            const outcomes = await onEach(study, at === 'run' ? ends : 'runs', { [at]: ends });
            for (const outcome of outcomes)
              if (outcome instanceof Error) expect(isRetried(outcome)).toBe(ends !== 'fails');
          }
          for (const study of ['one', 'two', 'three'])
            expect(await onEach(study, 'runs', {})).toEqual(
              Array.from({ length: count }, () => ({ study, pieces: [study] })),
            );
        } finally {
          await threads.end();
        }
      },
    ),
    {
      ...runsOf(60, 3),
      examples: [
        [
          [
            { study: 'one', at: 'open', ends: 'dies' },
            { study: 'two', at: 'open', ends: 'fails' },
          ],
          2,
          false,
        ],
        [[{ study: 'two', at: 'take', ends: 'fails' }], 1, true],
      ],
    },
  );
});

test.each([
  ['a file that its store does not give', new StoreProblem('no such file'), true, true],
  ['a thread that died', new ThreadEnded('out of memory'), false, true],
  ['an error of its own', new Error('its own error'), false, false],
  ['something that is no error', 'a text', false, false],
])('a trial fails after %s: whether it waits before, and whether it is retried', async (_, error, waits, isAgain) => {
  const stop = new AbortController();
  let failure = null as Error | null;
  const failing = failedTrial(error, 'a sentence', { hopeless: () => HOPELESS }, stop.signal);
  void failing.then(found => (failure = found));
  await new Promise(resolve => setTimeout(resolve, 20));
  expect(failure === null).toBe(waits);
  // A worker that stops does not wait.
  stop.abort();
  await settle();
  expect(failure).not.toBeNull();
  const found = await failing;
  expect(found === HOPELESS).toBe(!isAgain);
  if (isAgain) expect(found.message).toBe('a sentence');
});

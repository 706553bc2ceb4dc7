import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { medianAfter } from '../../../../backtest/index.ts';
import {
  latenciesFrom,
  plainLatencies,
  queuedOutcomeOf,
  trialJobId,
  trialJobOf,
  type TrialJob,
} from '../../../../backtest/app/queue/trialJob.ts';
import { measuresOf, NO_SUMS } from '../../../../backtest/app/tune/measures.ts';
import { prunerBy, pruningBounds } from '../../../../backtest/app/tune/pruner.ts';
import type { TrialRecord } from '../../../../backtest/app/tune/registry.ts';
import type { StudyKeys } from '../../../../backtest/app/tune/studySchema.ts';
import { between } from '../../../draws.ts';

const hash = (letter: string): string => letter.repeat(64);
const constant = { kind: 'constant', ms: 25 } as const;
const latencies = { orders: constant, cancels: constant, answers: constant, feed: constant };
const job: TrialJob = {
  ...{ form: 1, version: '1.0.0', code: hash('c'), study: hash('d'), run: hash('a'), number: 3 },
  ...{ text: 'a: 1\n', config: hash('e') },
  bounds: [null, 1.25],
  setting: {
    ...{ book: 'btc_mxn', seed: 1, models: ['expected'], objective: 'net60s', segments: 2, startsAfterSeconds: [0] },
    latencies: [latencies],
    tapes: [
      { name: 'a', recorded: { files: hash('a') }, tuned: { market: 'btc_mxn', digest: hash('b'), from: 1, to: 2 } },
    ],
    references: { btc_usd: { files: hash('f'), digest: hash('1') } },
  },
};
const through = <T>(value: T): unknown => JSON.parse(JSON.stringify(value)) as unknown;

describe('a job', () => {
  test('is the same after its way through a queue', () => {
    expect(trialJobOf(through(job))).toEqual(job);
  });

  test.each([
    ['a path instead of a hash', { tapes: [{ ...job.setting.tapes[0], recorded: { path: '/etc' } }] }],
    ['a path as a hash', { tapes: [{ ...job.setting.tapes[0], recorded: { files: '../../etc/passwd' } }] }],
    ['a key that is none', { run: 'rm -rf /' }],
    ['a model that is none', { models: ['require'] }],
    ['too many segments', { segments: 1e9 }],
    ['no tapes', { tapes: [] }],
  ])('with %s is refused', (_, wrong) => {
    expect(trialJobOf({ ...job, setting: { ...job.setting, ...wrong } })).toEqual(expect.any(String));
  });

  test('is refused, and never throws, whatever stands in the queue', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        expect(trialJobOf(value)).toEqual(expect.any(String));
      }),
    );
    for (const key of Object.keys(job)) expect(trialJobOf({ ...job, [key]: undefined })).toEqual(expect.any(String));
  });

  test('has one id under whatever number it is asked for, and another for any other work or run of a study', () => {
    const id = trialJobId(job);
    expect(trialJobId({ ...job, study: hash('0'), number: 9, version: 'x' })).toBe(id);
    for (const other of [{ code: hash('0') }, { run: hash('0') }, { config: hash('0') }, { bounds: [0] }])
      expect(trialJobId({ ...job, ...other })).not.toBe(id);
    expect(trialJobId({ ...job, setting: { ...job.setting, seed: 2 } })).not.toBe(id);
    // As BullMQ wants it.
    expect(id).toMatch(/^t-[0-9a-f]{64}$/);
  });

  test('takes latencies there and back, recorded ones too', () => {
    const recorded = { kind: 'recorded', sent: Float64Array.of(1, 2.5), took: Float64Array.of(3, 0.1) } as const;
    const given = { ...latencies, orders: recorded, fills: { kind: 'lognormal', median: 3, sigma: 0.5 } } as const;
    const plain = through(plainLatencies(given)) as Parameters<typeof latenciesFrom>[0];
    expect(latenciesFrom(plain)).toEqual(given);
  });
});

describe('what a worker says', () => {
  const outcome = { state: 'done', why: null, measures: measuresOf([NO_SUMS]), soFar: [1, 2.5], blocks: [0.1, -3] };

  test('is the same after its way through a queue, in the order in which it is written down', () => {
    expect(JSON.stringify(queuedOutcomeOf(through(outcome)))).toBe(JSON.stringify(outcome));
  });

  test.each([
    ['a measure less', { measures: { net: 1 } }],
    ['a number that is none', { soFar: [null] }],
    ['a state that no worker may say', { state: 'refused' }],
    ['more than was asked', { at: 'now' }],
  ])('is refused with %s', (_, wrong) => {
    expect(queuedOutcomeOf({ ...outcome, ...wrong })).toEqual(expect.any(String));
  });
});

test('bounds that went through a queue stop the trials that the median of all earlier ones stops', () => {
  const course = fc.array(between(-1e6, 1e6), { minLength: 4, maxLength: 4 });
  const least = fc.integer({ min: 1, max: 4 });
  fc.assert(
    fc.property(fc.array(course, { maxLength: 8 }), course, least, least, (earlier, own, trials, pieces) => {
      const pruning = { startAfterTrials: trials, afterPieces: pieces };
      const keys = { objectives: ['uptime'], pruning } as unknown as StudyKeys;
      const made = earlier.map(soFar => ({ state: 'done', soFar }) as unknown as TrialRecord);
      const prune = prunerBy(through(pruningBounds(keys, made)) as readonly (number | null)[], 'uptime');
      for (let piece = 1; piece <= 4; piece++) {
        const soFar = own.slice(0, piece);
        const isStopped = prune(piece, [{ number: 1, soFar }]).has(1);
        const median = medianAfter(soFar.length, earlier, { trialsMin: trials, stepsMin: pieces });
        // A value that is no number is no reason to go on.
        expect(isStopped).toBe(median !== null && !(Math.max(...soFar) >= median));
      }
    }),
  );
});

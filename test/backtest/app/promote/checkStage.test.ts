/** Check of a stage before anything has run in it: what it is compared with, and where it looks. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { DEFAULT_CRITERIA } from '../../../../backtest/app/promote/criteria.ts';
import { promotionJudge } from '../../../../backtest/app/promote/checkStage.ts';
import { paperFile } from '../../../../src/app/promote/candidate.ts';
import type { ReplayEvidence, RunEvidence } from '../../../../src/app/promote/evidence.ts';
import { liveDigestOf } from '../../../../src/app/promote/liveFile.ts';
import { NOTHING, type OpenPromotion } from '../../../../src/app/promote/promotionState.ts';
import { STAGES, type CheckedRecord } from '../../../../src/app/promote/records.ts';
import { tradingDigest } from '../../../../src/app/promote/tradingDigest.ts';
import { realClock } from '../../../../src/live/realClock.ts';
import { readConfig, shippedConfig } from '../../../../src/wiring/configFile.ts';
import { UsageError } from '../../../../src/wiring/usageError.ts';
import { checked, started } from '../../../app/promote/records.ts';
import { NO_PROGRESS } from '../../../app/noProgress.ts';
import { runsOf } from '../../../many.ts';

const root = mkdtempSync(join(tmpdir(), 'puntas-stage-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const [dir, liveFile] = [join(root, 'my.promotions'), join(root, 'my.yaml')];
const sandbox = readFileSync(shippedConfig('sandbox'), 'utf8');
/** The same configuration with an account on a real exchange, which paper trading follows. */
const remote = sandbox.replace(
  /^exchange:\n(?: .*\n)+/m,
  "exchange: { kind: remote, restUrl: 'https://example.com' }\n",
);

type Interval = { readonly low: number; readonly high: number } | null;
const VOLUME = 2_000;
/** A check whose evidence has the interval in bps of the volume. */
const checkOf = (stage: 'replay' | 'paper', interval: Interval): CheckedRecord => {
  const inQuote = interval && { low: (interval.low * VOLUME) / 10_000, high: (interval.high * VOLUME) / 10_000 };
  return {
    ...(checked(1, 1, stage) as CheckedRecord),
    ...(stage === 'replay'
      ? { replay: { interval: inQuote, measures: { volume: VOLUME } } as ReplayEvidence }
      : { run: { interval } as RunEvidence }),
  };
};
const interval = fc.option(fc.record({ low: fc.integer({ min: -90, max: 0 }), high: fc.integer({ min: 1, max: 90 }) }));

test('a stage is compared with its own criteria, in its own state, and with the last stage before it that has an interval', async () => {
  const criteria = {
    ...DEFAULT_CRITERIA,
    paper: { ...DEFAULT_CRITERIA.paper, hoursLeast: 7 },
    smallest: { ...DEFAULT_CRITERIA.smallest, hoursLeast: 9 },
  };
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('paper', 'smallest'),
      fc.constantFrom(sandbox, remote),
      interval,
      interval,
      async (stage, text, replay, paper) => {
        const file = paperFile(dir, 1);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text);
        writeFileSync(liveFile, text);
        const evidence = [checkOf('replay', replay), ...(stage === 'paper' ? [] : [checkOf('paper', paper)])];
        const open: OpenPromotion = {
          started: started(1, 1, { criteria, trading: tradingDigest(readConfig(file)) }) as OpenPromotion['started'],
          ...{ stage: stage, since: 1, checked: null, approved: [], evidence },
        };
        const standing = { ...NOTHING, open, live: liveDigestOf(liveFile) };
        const looking = {
          liveFile,
          dir,
          clock: realClock(),
          progress: NO_PROGRESS,
          onInput: () => undefined,
          threads: 1,
        };
        const { check, traded } = await promotionJudge.checkStage(open, standing, looking);
        const last = [stage === 'paper' ? null : paper, replay].find(found => found !== null);
        const before = evidence.findLast(({ replay: of, run }) => (of ?? run)?.interval);
        const own = readConfig(stage === 'paper' ? file : liveFile);
        expect(traded).toBeNull();
        expect([check.result, check.run?.state]).toEqual([
          'not yet',
          stage === 'paper' && text === remote ? own.paper.stateDir : own.state.dir,
        ]);
        const found = check.findings.map(({ criterion, expected }) => [criterion, expected]);
        expect(found).toContainEqual(['hours', `at least ${criteria[stage as 'paper'].hoursLeast}`]);
        expect(found.filter(([criterion]) => STAGES.some(one => criterion === `as ${one}`))).toEqual(
          last && before
            ? [
                [
                  `as ${before.stage}`,
                  `95% interval of the net overlaps or exceeds the interval of stage ${before.stage}, ${last.low} to ${last.high} bps of the volume (each fill valued at the mid price 60 s later)`,
                ],
              ]
            : [],
        );
        expect(found.some(([criterion]) => criterion === 'ledger')).toBe(stage === 'smallest');
      },
    ),
    {
      ...runsOf(60, 6),
      examples: [
        ['smallest', sandbox, { low: 1, high: 2 }, { low: 3, high: 4 }],
        ['smallest', remote, { low: 1, high: 2 }, null],
        ['paper', sandbox, { low: 1, high: 2 }, null],
        ['paper', remote, null, null],
      ],
    },
  );
});

test('a live file is the evidence of its stage only if it has exactly the text that the promotion wrote', async () => {
  writeFileSync(liveFile, sandbox);
  const own = liveDigestOf(liveFile);
  const open: OpenPromotion = {
    started: started(1, 1, { criteria: DEFAULT_CRITERIA }) as OpenPromotion['started'],
    ...{ stage: 'smallest', since: 1, checked: null, approved: [], evidence: [] },
  };
  const looking = { liveFile, dir, clock: realClock(), progress: NO_PROGRESS, onInput: () => undefined, threads: 1 };
  for (const text of [sandbox, `${sandbox}\n`, remote, null])
    for (const live of [own, 'another', null, undefined]) {
      if (text === null) rmSync(liveFile);
      else writeFileSync(liveFile, text);
      const standing = { ...NOTHING, open, ...(live === undefined ? {} : { live }) };
      const checking = promotionJudge.checkStage(open, standing, looking).then(
        ({ check }) => check.result,
        (error: unknown) => (error instanceof UsageError ? 'refused' : error),
      );
      expect([text, live, await checking]).toEqual([
        text,
        live,
        text === sandbox && live === own ? 'not yet' : 'refused',
      ]);
      writeFileSync(liveFile, sandbox);
    }
});

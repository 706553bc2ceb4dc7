import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runningRatio } from '../../../../backtest/index.ts';
import { DEFAULT_CRITERIA } from '../../../../backtest/app/promote/criteria.ts';
import {
  ledgerFinding,
  modelFinding,
  replayFindings,
  resultOf,
  tradedFindings,
} from '../../../../backtest/app/promote/findings.ts';
import type { ReplayEvidence, RunEvidence } from '../../../../src/app/promote/evidence.ts';
import type { TradedStage } from '../../../../backtest/app/promote/runEvidence.ts';
import type { TunedEvidence } from '../../../../src/app/promote/tunedEvidence.ts';
import { between } from '../../../draws.ts';

const HOUR = 3_600_000;
const tuned: TunedEvidence = {
  ...{ config: 'x', puntas: '0.1.0', study: 'abcdef0123', trial: 4, trials: 30, better: true, net60s: 900 },
  tapes: [
    {
      market: 'btc_mxn',
      digest: 'd1',
      tuned: [new Date(0).toISOString(), new Date(HOUR).toISOString()],
      heldOut: null,
    },
  ],
  ...{ interval: { low: 100, high: 1700 }, deflated: 0.97, pbo: 0.02 },
  holdout: { at: '2026-11-25T00:00:00.000Z', net60s: 300, interval: { low: 20, high: 600 } },
};
const replay: ReplayEvidence = {
  tapes: [{ name: 'unseen', market: 'btc_mxn', digest: 'd2', from: HOUR, to: 3 * HOUR }],
  ...{ models: ['pessimistic'], latenciesMs: ['25'], minor: 'mxn', major: 'btc', interval: { low: 10, high: 900 } },
  measures: {
    ...{ net60s: 500, net: 400, volume: 1e6, fills: 120, uptime: 0.95, drawdown: 50, inventoryMost: 0.02 },
    ...{ inventoryMean: 0.01, orderToTrade: 9, halts: 0 },
  },
};
/** So many blocks of two minutes, each with a net of `net` bps, and half a bps more or less in turn. */
const traded = (blocks: number, net: number, over: Partial<RunEvidence> = {}): TradedStage => {
  const volume = 1000;
  const ratio = runningRatio(
    Array.from({ length: blocks }, (_, i) => ({ volume, net: (volume * (net + (i % 2 === 0 ? 0.5 : -0.5))) / 10_000 })),
  );
  const interval = ratio.interval && { low: 1e4 * ratio.interval.low, high: 1e4 * ratio.interval.high };
  const evidence: RunEvidence = {
    ...{ state: '/state', isPaper: false, others: 0, hours: 30, fills: blocks * 3, judged: blocks * 3, volume: 1e6 },
    runs: [{ run: 1, from: 0, to: 30 * HOUR, sha256: 's', difference: null }],
    ...{ uptime: 0.95, net60sBps: net, interval, halts: [], minor: 'mxn', model: null },
    ledger: { at: HOUR, differences: { btc: '0', mxn: '0.00' } },
    ...over,
  };
  return { evidence, ratio, traded: null };
};
const of = (findings: ReturnType<typeof tradedFindings>, name: string) =>
  findings.find(({ criterion }) => criterion === name);
const { paper } = DEFAULT_CRITERIA;

describe('what a replay is held against', () => {
  test('is the tuning alone where no tapes are named: better than not trading, and a holdout that is opened and above zero', () => {
    const { replay: criteria } = DEFAULT_CRITERIA;
    expect(resultOf(replayFindings(criteria, tuned, null))).toBe('passed');
    expect(resultOf(replayFindings(criteria, { ...tuned, holdout: null }, null))).toBe('not yet');
    expect(resultOf(replayFindings(criteria, { ...tuned, better: false }, null))).toBe('failed');
    const unclear = { ...tuned, holdout: { ...tuned.holdout!, interval: { low: -1, high: 900 } } };
    expect(resultOf(replayFindings(criteria, unclear, null))).toBe('failed');
    expect(resultOf(replayFindings(criteria, null, null))).toBe('failed');
  });

  test('fails on hours that it was tuned on, under whichever name they come', () => {
    const { replay: criteria } = DEFAULT_CRITERIA;
    expect(resultOf(replayFindings(criteria, tuned, replay))).toBe('passed');
    const same = { ...replay, tapes: [{ ...replay.tapes[0]!, market: 'other', digest: 'd1', from: 0 }] };
    expect(of(replayFindings(criteria, tuned, same), 'hours')).toMatchObject({ found: 'unseen', result: 'failed' });
  });

  test('is every measure, and an interval whose lower end is above what is asked for', () => {
    const criteria = { ...DEFAULT_CRITERIA.replay, drawdownMost: 40 };
    const found = replayFindings(criteria, null, { ...replay, interval: { low: -1, high: 900 } });
    expect(found.map(({ criterion, result }) => [criterion, result])).toEqual([
      ...[
        ['net60s', 'failed'],
        ['fills', 'passed'],
        ['uptime', 'passed'],
        ['drawdown', 'failed'],
        ['halts', 'passed'],
      ],
    ]);
  });
});

describe('what a stage that is traded is held against', () => {
  test('passes with every figure where it should be', () => {
    expect(resultOf(tradedFindings(paper, traded(60, 3), { stage: 'replay', low: 1, high: 9 }))).toBe('passed');
  });

  test('is not failed by what more hours can tell', () => {
    const early = tradedFindings(paper, traded(5, 3, { hours: 1, uptime: 0.5 }), null);
    expect(early.filter(({ result }) => result === 'not yet').map(({ criterion }) => criterion)).toEqual([
      ...['hours', 'fills', 'uptime', 'net60s'],
    ]);
    expect(resultOf(early)).toBe('not yet');
    const nothing = tradedFindings(paper, traded(0, Number.NaN, { runs: [], hours: 0, net60sBps: null }), null);
    expect(resultOf(nothing)).toBe('not yet');
  });

  test('an undecided net says how many fills are missing, and fewer are missing the further it is from what is asked for', () => {
    fc.assert(
      fc.property(between(0.02, 0.15), net => {
        const found = (mean: number) => of(tradedFindings(paper, traded(40, mean), null), 'net60s')!;
        const missing = (mean: number) => {
          const { result, found: text } = found(mean);
          expect(result).toBe('not yet');
          return Number(/needs about (\d+) more fills/.exec(text)?.[1]);
        };
        expect(missing(net)).toBeGreaterThan(0);
        expect(missing(net * 0.9)).toBeGreaterThanOrEqual(missing(net));
      }),
    );
    expect(of(tradedFindings(paper, traded(40, -0.05), null), 'net60s')?.found).toContain(
      'the estimated net is below the required value',
    );
    expect(of(tradedFindings(paper, traded(40, -2), null), 'net60s')?.result).toBe('failed');
  });

  test('says of the net in what it is, and how many fills of the last 60 s of a run are not in it', () => {
    const found = (over: Partial<RunEvidence>, blocks = 60) =>
      of(tradedFindings(paper, traded(blocks, 3, over), null), 'net60s')?.found;
    expect(found({})).toMatch(/^3 bps of the volume \(\S+ to \S+ bps\)$/);
    expect(found({ fills: 184 })).toMatch(/ bps\); 4 fills in the last 60 s of a run are excluded$/);
    expect(found({ fills: 17 }, 5)).toMatch(
      /^3 bps of the volume of 15 fills; .*; 2 fills in the last 60 s of a run are excluded/,
    );
    expect(found({ fills: 2, judged: 0, net60sBps: null })).toMatch(
      /^no fill with a known mid price 60 s later; 2 fills in the last 60 s of a run are excluded/,
    );
    const { replay: criteria } = DEFAULT_CRITERIA;
    expect(of(replayFindings(criteria, null, replay), 'net60s')?.found).toBe('500 mxn (10 to 900 mxn)');
    expect(of(replayFindings(criteria, tuned, null), 'holdout')?.found).toBe('300 (20 to 600) in quote currency');
  });

  test('fails below what the stage before promised, a halt, a run that does not replay, and a ledger that differs', () => {
    expect(of(tradedFindings(paper, traded(60, 3), { stage: 'paper', low: 5, high: 9 }), 'as paper')?.result).toBe(
      'failed',
    );
    const halted = traded(60, 3, { halts: [{ at: 1, reason: 'drawdown' }] });
    expect(of(tradedFindings(paper, halted, null), 'halts')).toMatchObject({
      found: '1, the last: drawdown',
      result: 'failed',
    });
    const other = traded(60, 3, { runs: [{ run: 7, from: 0, to: 1, sha256: 's', difference: 'after book at 4' }] });
    expect(of(tradedFindings(paper, other, null), 'runs')?.result).toBe('failed');
    expect(ledgerFinding(traded(1, 1).evidence).result).toBe('passed');
    expect(ledgerFinding({ ...traded(1, 1).evidence, ledger: null }).result).toBe('not yet');
    const differs = { at: 1, differences: { btc: '0.00000001', mxn: '0' } };
    expect(ledgerFinding({ ...traded(1, 1).evidence, ledger: differs })).toMatchObject({
      found: '0.00000001 btc',
      result: 'failed',
    });
  });

  test('with net60sBpsLeast null says nothing of the net, and an optimistic fill model is none', () => {
    const found = tradedFindings({ ...paper, net60sBpsLeast: null }, traded(5, 3), {
      stage: 'replay',
      low: 1,
      high: 2,
    });
    expect(found.map(({ criterion }) => criterion)).toEqual(['runs', 'hours', 'fills', 'uptime', 'halts']);
    const onPaper = { ...traded(1, 1).evidence, isPaper: true, model: 'optimistic' };
    expect(resultOf(modelFinding(paper, onPaper))).toBe('failed');
    expect(resultOf(modelFinding(paper, { ...onPaper, model: 'expected' }))).toBe('passed');
  });
});

import { describe, expect, test } from 'vitest';
import { comparedModel, comparisonPage, hashOfRuns, remarksOf } from '../../backtest/index.ts';
import type { ComparedModel, ComparedRun, ComparedTape, Comparison } from '../../backtest/index.ts';
import { comparisonFigures } from '../../backtest/compare/plots.ts';
import { comparisonWords, scoresOf } from '../../backtest/compare/words.ts';
import type { Plot } from '../../backtest/page/plot.ts';
import { engineOf, tape as flow } from './ladderRun.ts';
import { runs as reports } from './reports.ts';

const PARTS = { library: 'var uPlot = 1;', libraryStyle: '.uplot{}', script: 'export {};' };
const traded = reports().map(comparedModel);
const silent = reports({ engine: engineOf(flow.instrument, { quote: () => ({ bids: [], asks: [] }) }) }).map(
  comparedModel,
);
const LOCKED = [{ what: 'locked books', count: 5_241, done: 'kept' }];

const runOf = (name: string, models: readonly ComparedModel[], change: Partial<ComparedRun> = {}): ComparedRun => ({
  ...{ name, strategy: 'ladder', tier: 'best', feeBps: 10, config: 'book: btc_mxn\n', positionMax: 0.1, models },
  ...{ notRun: null, remarks: remarksOf(models, []) },
  ...change,
});
const tapeOf = (runs: readonly ComparedRun[], change: Partial<ComparedTape> = {}): ComparedTape => ({
  ...{ name: 'flow btc_mxn', source: 'flow', book: 'btc_mxn', major: 'btc', minor: 'mxn', hash: 'a1', dirt: LOCKED },
  ...{ gaps: { count: 1, seconds: 3 }, tapeFrom: '2026-01-01T00:00:00.000Z', from: '2026-01-01T00:05:00.000Z' },
  ...{ to: '2026-01-01T00:20:00.000Z', seconds: 900, measured: null, runs },
  ...change,
});
const whole = (tapes: readonly ComparedTape[], change: Partial<Comparison> = {}): Comparison => ({
  ...{ made: { puntas: '0.0.0', node: '20.0.0' }, latencyMs: '25', feedLatencyMs: '0', seed: 1 },
  ...{ models: ['pessimistic', 'expected', 'optimistic'], riskPerHour: '500', calibratedShare: 0.25 },
  ...{ tapes, leftOut: [{ path: 'notes', why: 'no recording recognised' }], hash: hashOfRuns(tapes) },
  ...change,
});
const both = whole([
  tapeOf([
    runOf('ladder', traded),
    runOf('mute', silent),
    runOf('peg', [], { notRun: 'no price from elsewhere' }),
    runOf('ladder', silent, { tier: 'entry', feeBps: 60 }),
  ]),
]);

const plotsIn = (html: string): readonly Plot[] =>
  JSON.parse(/<script type="application\/json" id="plots">(.*?)<\/script>/s.exec(html)?.[1] ?? '') as readonly Plot[];
const wordsOf = (html: string): string =>
  html.replace(/<(script|style)[^>]*>.*?<\/\1>/gs, ' ').replace(/<[^>]*>/g, ' ');

describe('the page of a comparison', () => {
  test.each([
    ['of runs with and without fills', both],
    ['where nothing could be run', whole([tapeOf([runOf('peg', [], { notRun: 'no price' })])])],
    ['of given configurations', { ...both, riskPerHour: null, calibratedShare: null }],
    ['of one model', { ...both, models: ['expected'], tapes: [tapeOf([runOf('ladder', traded.slice(1, 2))])] }],
  ])('%s has a place for every plot, a value for every name, and no number that is none', (_, comparison) => {
    const html = comparisonPage(comparison, PARTS);
    expect(/NaN|undefined|Infinity/.test(html)).toBe(false);
    const plots = plotsIn(html);
    expect(plots).toEqual(JSON.parse(JSON.stringify(comparisonFigures(comparison).flatMap(figure => figure.plots))));
    expect(new Set(plots.map(({ id }) => id)).size).toBe(plots.length);
    for (const { id, x, lines } of plots) {
      expect(html.split(` id="${id}"`)).toHaveLength(2);
      for (const { values, spans } of lines) {
        expect(values, id).toHaveLength(x.values.length);
        expect(spans?.length ?? x.values.length, id).toBe(x.values.length);
      }
    }
  });

  test('says in the row what was not run, and what had no fill, and why', () => {
    const text = wordsOf(comparisonPage(both, PARTS));
    expect(text).toMatch(/peg\s+best, 10\s+not run: no price from elsewhere/);
    expect(text).toMatch(/mute\s+best, 10\s+both sides quoted 0\.0 % of the time.*nothing was filled/);
    expect(text).toMatch(/notes\s+no recording recognised/);
  });

  test('lets nothing that was put into it become a tag or a script', () => {
    const evil = `</script><img src=x onerror=alert(2)>"' onload='alert(3)`;
    const run = runOf(evil, traded, { config: evil, tier: evil, remarks: [evil] });
    const tape = tapeOf([run, runOf('b', [], { notRun: evil })], { name: evil, minor: evil, source: evil });
    const html = comparisonPage(whole([tape], { leftOut: [{ path: evil, why: evil }] }), PARTS);
    expect(html.match(/<\/script/g)).toHaveLength(3);
    const outside = html.replace(/<(script|style)[^>]*>.*?<\/\1>/gs, '');
    expect(outside.includes('<img') || outside.includes(`"'`) || outside.includes(`' onload`)).toBe(false);
  });
});

describe('in words', () => {
  test('counts what made money by tier, and who had no fill', () => {
    const made = (total: string) =>
      traded.map(model => ({ ...model, pnl: { ...model.pnl, total } })) as readonly ComparedModel[];
    const words = comparisonWords(
      whole([tapeOf([runOf('a', made('1')), runOf('b', made('-1')), runOf('c', silent)])]),
    ).join('\n');
    expect(words).toContain('At the best tier (maker fee 10 bps) 1 of 3 runs made money, 1 had no fill at all.');
    expect(words).toContain('agree to the last unit in 2 of 2 runs');
  });

  test('a score is net over what one deviation would have cost at full inventory in that time', () => {
    const total = traded.map(model => ({ ...model, pnl: { ...model.pnl, total: '-125' } }));
    // A quarter of an hour at 500 an hour: 250.
    expect(scoresOf(whole([tapeOf([runOf('a', total)])])).get('a best')).toBeCloseTo(-0.5, 12);
  });

  test('a remark names a dirty recording, a spent budget and a halt', () => {
    const main = traded[1]!;
    const remarks = (change: Partial<ComparedModel>) =>
      remarksOf([{ ...main, fills: 100, ...change }], LOCKED).join('\n');
    expect(remarks({})).toBe('');
    const missing = [{ reason: 'book crossed', bidSeconds: 5, askSeconds: 6, decisions: 5 }];
    const crossed = { uptime: { bid: 0.4, ask: 0.4, both: 0.4 }, missing, seconds: 10 };
    expect(remarks(crossed)).toBe(
      'both sides quoted 40 % of the time: book crossed (no bid 50 %, no ask 60 % of the time); the recording itself has 5,241 locked books',
    );
    const requests = { ...main.requests, placed: 900, overBudget: 100, lockedOut: 3 };
    expect(remarks({ requests, orders: { ...main.orders, placed: 900 } })).toBe(
      '100 requests (10 %) found no place in the budget of 300 a minute, 3 met a lock-out of the exchange',
    );
    expect(remarks({ haltedBecause: 'drawdown' })).toBe('expected halted itself: drawdown');
  });
});

test('the hash of a comparison changes with any run, and with what could not run', () => {
  const hash = (run: ComparedRun) => hashOfRuns([tapeOf([run])]);
  const base = runOf('a', traded);
  const other = traded.map((model, i) => (i === 2 ? { ...model, hash: 'other' } : model));
  expect(hash(runOf('a', other))).not.toBe(hash(base));
  expect(hash(runOf('a', [], { notRun: 'why' }))).not.toBe(hash(runOf('a', [], { notRun: 'another why' })));
  expect(hash(runOf('a', traded))).toBe(hash(base));
});

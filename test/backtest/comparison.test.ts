import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  againstFirst,
  comparedModel,
  comparisonPage,
  hashOfRuns,
  remarksOf,
  type ComparedModel,
  type ComparedRun,
  type ComparedTape,
  type ComparedVerdict,
  type Comparison,
} from '../../backtest/index.ts';
import { comparisonFigures } from '../../backtest/compare/plots.ts';
import { togetherOf } from '../../backtest/compare/combinedResults.ts';
import { comparisonWords } from '../../backtest/compare/summary.ts';
import type { Plot } from '../../src/pages/index.ts';
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
  ...{
    notRun: null,
    declined: null,
    unscored: null,
    pace: null,
    staggered: [],
    againstFirst: null,
    remarks: remarksOf(models, []),
  },
  ...change,
});
const tapeOf = (runs: readonly ComparedRun[], change: Partial<ComparedTape> = {}): ComparedTape => ({
  ...{ name: 'flow btc_mxn', source: 'flow', book: 'btc_mxn', major: 'btc', minor: 'mxn', hash: 'a1', dirt: LOCKED },
  ...{ gaps: { count: 1, seconds: 3 }, tapeFrom: '2026-01-01T00:00:00.000Z', from: '2026-01-01T00:05:00.000Z' },
  ...{ to: '2026-01-01T00:20:00.000Z', seconds: 900, measured: null, verdicts: [], runs },
  ...change,
});
const whole = (tapes: readonly ComparedTape[], change: Partial<Comparison> = {}): Comparison => ({
  ...{ made: { puntas: '0.0.0', node: '20.0.0' }, latencyMs: '25', feedLatencyMs: '0', seed: 1 },
  ...{ models: ['pessimistic', 'expected', 'optimistic'], riskPerHour: '500', calibratedShare: 0.25, starts: 4 },
  ...{ tapes, leftOut: [{ path: 'notes', why: 'no recording recognised' }], hash: hashOfRuns(tapes) },
  ...change,
});
const INTERVAL = { value: 1, low: -2, high: 3, error: 1 };
const VERDICTS: readonly ComparedVerdict[] = [
  {
    ...{ feeBps: 10, quote: true, why: null, distanceBps: 20, distanceInterval: [15, 30], breakEvenFeeBps: 12 },
    ...{ netPerHour: INTERVAL, rest: { ...INTERVAL, high: -1, fills: 30, seconds: 600 }, right: false },
  },
  {
    ...{ feeBps: 60, quote: false, why: 'too dear', distanceBps: null, distanceInterval: null, breakEvenFeeBps: null },
    ...{ netPerHour: null, rest: null, right: null },
  },
];
const made = (total: string, low: number, high: number) =>
  traded.map(model => ({ ...model, pnl: { ...model.pnl, total }, netInterval: { low, high } }));
const both = whole([
  tapeOf(
    [
      runOf('ladder', traded),
      runOf('shy', [], { notRun: 'do not quote', declined: 'do not quote' }),
      runOf('mute', silent),
      runOf('peg', [], { notRun: 'no price from elsewhere' }),
      runOf('ladder', silent, { tier: 'entry', feeBps: 60 }),
    ],
    { verdicts: VERDICTS },
  ),
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
    expect(text).toMatch(/mute\s+best, 10\s+both sides were quoted 0\.0% of the time.*nothing was filled/);
    expect(text).toMatch(/notes\s+no recording recognised/);
    expect(text).toMatch(/shy\s+best\s+do not quote/);
    expect(text).toMatch(/10\s+quote\s+20\s+15 … 30.*12.*no\s/);
    expect(text).toMatch(/60\s+do not quote: too dear\s+–\s+–\s+none\s+–\s+not known/);
    expect(text).toContain(
      '(at 95% confidence, the later part contradicts this advice in 1), and not quoting on 0 recordings',
    );
  });

  test('colours a net where its interval leaves zero out, and no other', () => {
    const html = comparisonPage(
      whole([tapeOf([runOf('a', made('7', 0.5, 9)), runOf('b', made('-8', -9, -0.5)), runOf('c', made('5', -1, 11))])]),
      PARTS,
    );
    const classes = (net: string) =>
      [...html.matchAll(new RegExp(`<span class="(\\w*)">${net}</span>`, 'g'))].map(([, name]) => name);
    // In the table of all and in that of the recording.
    expect([classes('\\+7\\.00'), classes('−8\\.00'), classes('\\+5\\.00')]).toEqual([
      ['gain', 'gain'],
      ['loss', 'loss'],
      ['', ''],
    ]);
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
  test('counts as made or lost by tier only what its interval tells apart from nothing, and who had no fill', () => {
    const runs = [
      ...[runOf('a', made('1', 0.5, 2)), runOf('b', made('-1', -2, -0.5)), runOf('c', made('5', -1, 11))],
      ...[runOf('f', [], { declined: 'no' }), runOf('g', made('-9', -10, -8), { declined: 'no' })],
      ...[runOf('d', silent), runOf('e', made('9', 8, 10), { unscored: 'crossed' })],
    ];
    const words = comparisonWords(whole([tapeOf(runs)])).join('\n');
    expect(words).toContain(
      'At the best tier (maker fee 10 bps), 1 of 6 runs made money, 1 lost money, 2 were advised not to quote, 1 had a net not significantly different from zero (95%), 1 had no fill.',
    );
    expect(words).toContain('agree exactly in 3 of 3 runs');
    expect(words).toContain(
      'These recordings have no score, because their books were crossed for too long: flow btc_mxn.',
    );
  });

  test('all recordings together: sums, an interval of the same hours stretch by stretch, and units of risk', () => {
    const of = (
      total: string,
      net: readonly number[],
      change: Partial<ComparedTape> = {},
      unscored: string | null = null,
    ) => {
      const stretches = { seconds: 60, net, after60: net };
      return tapeOf(
        [
          runOf(
            'a',
            traded.map(model => ({ ...model, stretches, pnl: { ...model.pnl, total } })),
            { unscored },
          ),
        ],
        change,
      );
    };
    const up = Array.from({ length: 15 }, (_, i) => (i % 2 === 0 ? 30 : -40));
    const down = up.map(gain => -gain);
    const later = { from: '2026-01-02T00:05:00.000Z', to: '2026-01-02T00:20:00.000Z' };
    // A quarter of an hour at 500 an hour: 250.
    expect(togetherOf(whole([of('-125', up)]), 'a', 'best')).toMatchObject({ runs: 1, net: -125, inRisk: -0.5 });
    // The same hours: what one gained the other lost, and nothing is left to chance.
    const same = togetherOf(whole([of('-125', up), of('125', down)]), 'a', 'best');
    expect([same?.net, same?.netInterval]).toEqual([0, { low: 0, high: 0 }]);
    const other = togetherOf(whole([of('-125', up), of('125', down, later)]), 'a', 'best');
    expect(other?.netInterval.low).toBeLessThan(-100);
    expect(togetherOf(whole([of('-125', up, {}, 'crossed')]), 'a', 'best')).toBe(null);
    const [run] = of('-125', up).runs;
    const shy = whole([tapeOf([{ ...run!, declined: 'no' }]), of('125', down, later)]);
    expect(togetherOf(shy, 'a', 'best')).toMatchObject({ runs: 2, declined: 1, net: 125, inRisk: 0.25 });
    expect(togetherOf(shy, 'a', 'best', true)).toMatchObject({ runs: 2, declined: 0, net: 0, inRisk: 0 });
  });

  test('recordings are one market if their starts and their ends are at most a minute apart', () => {
    const net = Array.from({ length: 15 }, (_, i) => (i % 2 === 0 ? 30 : -40));
    const of = (gains: readonly number[], change: Partial<ComparedTape> = {}) =>
      tapeOf(
        [
          runOf(
            'a',
            traded.map(model => ({ ...model, stretches: { seconds: 60, net: gains, after60: gains } })),
          ),
        ],
        change,
      );
    const { from, to } = of(net);
    const moved = (time: string, seconds: number): string => new Date(Date.parse(time) + 1_000 * seconds).toISOString();
    for (const [start, end, isOne] of [
      ...([
        [0, 0, true],
        [60, 60, true],
        [-60, 60, true],
        [60, -60, true],
      ] as const),
      ...([
        [61, 0, false],
        [-61, 0, false],
        [0, 61, false],
        [0, -61, false],
      ] as const),
    ]) {
      const other = of(
        net.map(gain => -gain),
        { from: moved(from, start), to: moved(to, end) },
      );
      const { low, high } = togetherOf(whole([of(net), other]), 'a', 'best')!.netInterval;
      // Gains of one market that cancel each other out have an interval without a width.
      expect([start, end, high - low < 1e-6]).toEqual([start, end, isOne]);
    }
  });

  test('counts advice that the rest contradicts apart from advice that it cannot judge, and names bots that could not run', () => {
    const verdict = (quote: boolean, right: boolean | null): ComparedVerdict => ({ ...VERDICTS[0]!, quote, right });
    const advised = [
      ...[verdict(true, true), verdict(true, false), verdict(true, null), verdict(true, null)],
      ...[verdict(false, false), verdict(false, false), verdict(false, true)],
    ];
    const runs = [
      ...[runOf('a', traded), runOf('b', [], { notRun: 'no memory' })],
      ...[runOf('c', [], { notRun: 'not quoted', declined: 'no' })],
    ];
    const words = comparisonWords(
      whole(advised.map((one, i) => tapeOf(runs, { name: `tape ${i}`, verdicts: [one, verdict(false, false)] }))),
    ).join('\n');
    expect(words).toContain(
      'advise quoting on 4 recordings (at 95% confidence, the later part contradicts this advice in 1, and is too short to judge the advice in 2), and not quoting on 3 recordings (at 95% confidence, the later part contradicts this advice in 2).',
    );
    expect(words).toContain('These bots could not run on every recording: b; the table rows give the reasons.');
  });

  test('a difference is that to the first bot of the tier, in the same stretches of time', () => {
    const of = (net: readonly number[]) =>
      traded.map(model => ({ ...model, stretches: { seconds: 60, net, after60: net } }));
    const wild = Array.from({ length: 30 }, (_, i) => (i % 3 === 0 ? 100 : -50));
    const shifted = wild.map((gain, i) => gain + 1 + (i % 2) / 10);
    const [first, second] = againstFirst([runOf('a', of(wild)), runOf('b', of(shifted))]);
    expect(first?.againstFirst).toBe(null);
    // Alone neither is told apart from nothing.
    expect(second?.againstFirst?.interval?.low).toBeGreaterThan(30);
    expect(second?.againstFirst?.interval?.high).toBeLessThan(33);
  });

  test('a difference is that to the first bot that ran at the same tier, whatever the order of bots and tiers', () => {
    const run = fc.record({ tier: fc.constantFrom('entry', 'own', 'best'), ran: fc.boolean(), total: fc.integer() });
    fc.assert(
      fc.property(fc.array(run, { maxLength: 9 }), all => {
        const found = againstFirst(
          all.map(({ tier, ran, total }, i) => {
            const stretches = { seconds: 60, net: Array<number>(30).fill(total / 30), after60: [] };
            const models = traded.map(model => ({ ...model, pnl: { ...model.pnl, total: `${total}` }, stretches }));
            return runOf(`${i}`, ran ? models : [], { tier });
          }),
        );
        const firsts = new Map<string, number>();
        for (const [i, { tier, ran, total }] of all.entries()) {
          const first = firsts.get(tier);
          const value = ran && first !== undefined ? total - first : null;
          expect(found[i]!.againstFirst?.value ?? null).toBe(value);
          if (ran && first === undefined) firsts.set(tier, total);
        }
      }),
      { numRuns: 40 },
    );
  });

  test('a remark names a dirty recording, a spent budget and a halt', () => {
    const main = traded[1]!;
    const remarks = (change: Partial<ComparedModel>) =>
      remarksOf([{ ...main, fills: 100, ...change }], LOCKED).join('\n');
    expect(remarks({})).toBe('');
    const missing = [{ reason: 'book crossed', bidSeconds: 5, askSeconds: 6, decisions: 5 }];
    const crossed = { uptime: { bid: 0.4, ask: 0.4, both: 0.4 }, missing, seconds: 10 };
    expect(remarks(crossed)).toBe(
      'both sides were quoted 40% of the time; main reason: book crossed (no bid 50%, no ask 60% of the time); the recording itself has 5,241 locked books',
    );
    const requests = { ...main.requests, placed: 900, overBudget: 100, lockedOut: 3 };
    expect(remarks({ requests, orders: { ...main.orders, placed: 900 } })).toBe(
      '100 requests (10%) exceeded the budget of 300 per minute, and the exchange rejected 3 requests during a lockout',
    );
    expect(remarks({ haltedBecause: 'drawdown' })).toBe('expected halted: drawdown');
  });

  test('a remark begins below 90% of quoted time, names the two main reasons, and begins below 30 fills', () => {
    const main = { ...traded[1]!, fills: 30 };
    const remarks = (change: Partial<ComparedModel>) => remarksOf([{ ...main, ...change }], LOCKED).join('\n');
    const missing = ['first', 'second', 'third'].map((reason, i) => ({
      ...{ reason, bidSeconds: 30 - i, askSeconds: 20 - i, decisions: 1 },
    }));
    const quoted = (both: number) => ({ uptime: { bid: 1, ask: 1, both }, missing, seconds: 100 });
    expect(remarks(quoted(0.9))).toBe('');
    expect(remarks(quoted(0.899))).toBe(
      'both sides were quoted 90% of the time; main reasons: first (no bid 30%, no ask 20% of the time), second (no bid 29%, no ask 19% of the time)',
    );
    expect(remarks({ fills: 29, spreadBps: { market: 1, ours: 2 } })).toBe(
      '29 fills, too few for a conclusion (mean spread of the bot: 2.00 bps)',
    );
  });
});

test('a run in a comparison has the fields of its report, and curves with the last value of each interval', () => {
  const [report] = reports();
  const all = { ...report!.markouts[0]!, side: null, level: null, bps: [7, 8], errorBps: [1, 2] };
  for (const length of [1, 255, 256, 257, 512, 513, 1_000]) {
    const [profit, position] = [0, 10_000].map(first => Array.from({ length }, (_, i) => first + i));
    const model = comparedModel({
      ...{ ...report!, fills: 21, decisions: 22, profitBps: 23, feesBps: 24, inventory: '25', refusedPostOnly: 26 },
      ...{
        position: { ...report!.position, meanSize: 31, mostSize: 32 },
        haltedBecause: 'a halt',
        strategyFault: 'a fault',
      },
      markouts: [{ ...all, side: 'buy', bps: [5, 6] }, { ...all, level: 1, bps: [3, 4] }, all],
      series: {
        ...{ fromMs: 41, everyMs: 100 },
        columns: { ...report!.series.columns, profit: profit!, position: position! },
      },
    });
    expect(model).toMatchObject({
      ...{ fills: 21, decisions: 22, profitBps: 23, feesBps: 24, inventory: '25', refusedPostOnly: 26 },
      ...{ positionMean: 31, haltedBecause: 'a halt', strategyFault: 'a fault' },
      ...{ markouts: { bps: [7, 8], errorBps: [1, 2] }, pnl: report!.pnl, stretches: report!.stretches },
    });
    const every = Math.ceil(length / 256);
    const ends = Array.from({ length: Math.ceil(length / every) }, (_, i) => Math.min(length, (i + 1) * every) - 1);
    expect(model.curves).toEqual({
      ...{ fromMs: 41, everyMs: 100 * every },
      ...{ profit: ends.map(i => profit![i]), position: ends.map(i => position![i]) },
    });
  }
});

test('the hash of a comparison changes with any run, and with what could not run', () => {
  const hash = (run: ComparedRun) => hashOfRuns([tapeOf([run])]);
  const base = runOf('a', traded);
  const other = traded.map((model, i) => (i === 2 ? { ...model, hash: 'other' } : model));
  expect(hash(runOf('a', other))).not.toBe(hash(base));
  expect(hash(runOf('a', [], { notRun: 'why' }))).not.toBe(hash(runOf('a', [], { notRun: 'another why' })));
  expect(hash(runOf('a', traded))).toBe(hash(base));
});

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  reportPage,
  reportOf,
  sweptLatency,
  tilesTextOf,
  type BacktestReport,
  type HedgeOptions,
  type ReplayReport,
} from '../../backtest/index.ts';
import { durationText, gainText, moneyDigits, sumText, type Plot } from '../../src/pages/index.ts';
import { figuresOf } from '../../backtest/report/plots.ts';
import { cutUp, intervalOf, intervalTogether, stretchesIn } from '../../backtest/report/interval.ts';
import { verdictOf } from '../../backtest/report/summary.ts';
import { moneyOf, randomOf } from '../../src/core/index.ts';
import { engineOf, runHedged, tape } from './ladderRun.ts';
import { runs, whole } from './reports.ts';

const PARTS = { library: 'var uPlot = 1;', libraryStyle: '.uplot{}', script: 'export {};' };
const made = runs();
/** Pessimistic and expected agree here: told apart by their hashes, they are shown as if they did not. */
const traded = made.map(model => ({ ...model, hash: model.model }));
const silent = runs({ engine: engineOf(tape.instrument, { quote: () => ({ bids: [], asks: [] }) }) });

const plotsIn = (html: string): readonly Plot[] =>
  JSON.parse(/<script type="application\/json" id="plots">(.*?)<\/script>/s.exec(html)?.[1] ?? '') as readonly Plot[];
/** What a person reads. */
const wordsOf = (html: string): string =>
  html.replace(/<(script|style)[^>]*>.*?<\/\1>/gs, ' ').replace(/<[^>]*>/g, ' ');

describe('the page', () => {
  test('has a place and a sentence for every plot, and every plot as many values as times', () => {
    const report = whole(traded);
    const html = reportPage(report, PARTS);
    const plots = plotsIn(html);
    expect(plots).toEqual(JSON.parse(JSON.stringify(figuresOf(report).flatMap(figure => figure.plots))));
    expect(new Set(plots.map(({ id }) => id)).size).toBe(plots.length);
    for (const { id, x, lines } of plots) {
      expect(html.split(` id="${id}"`)).toHaveLength(2);
      expect(lines.length).toBeGreaterThan(0);
      for (const { values, errors } of lines) {
        expect(values, id).toHaveLength(x.values.length);
        expect(errors?.length ?? x.values.length, id).toBe(x.values.length);
      }
    }
    for (const { heading, how } of figuresOf(report)) expect(how, heading).toMatch(/^[A-Z0-9a-z].{40,}\.$/);
  });

  test('shows what it was asked for: all models in every figure over time, hedging in its place', () => {
    const report = whole(traded);
    const labels = (heading: string) =>
      figuresOf(report)
        .find(figure => figure.heading === heading)
        ?.plots.map(({ title, lines }) => [title, ...lines.map(({ label }) => label)]);
    const held = `holding ${sumText(traded[1]!.hold.amount, 'btc')} btc`;
    expect(labels('Equity and drawdown')).toEqual([
      ['Equity', 'pessimistic', 'expected', 'optimistic', held],
      ['Drawdown', 'pessimistic', 'expected', 'optimistic'],
    ]);
    expect(labels('Sources of the profit')?.map(([title]) => title)).toEqual(['pessimistic', 'expected', 'optimistic']);
    expect(labels('Sources of the profit')?.[0]).toContain('hedging');
    expect(labels('Markouts by side')?.[1]).toEqual(['expected', 'bought', 'sold', 'fee']);
    expect(wordsOf(reportPage(report, PARTS))).toMatch(/hash of the recording\s+a1\s/);
  });

  test('shows models that agree in every fill once, under both names, and those that differ each', () => {
    const [pessimistic, expected] = traded;
    expect(made[0]?.hash).toBe(made[1]?.hash);
    const same = whole(made);
    const equity = (report: BacktestReport) => figuresOf(report)[0]?.plots[0]?.lines.map(({ label }) => label);
    expect(equity(same)?.slice(0, 2)).toEqual(['pessimistic = expected', 'optimistic']);
    expect(equity(whole([pessimistic!, expected!]))?.slice(0, 2)).toEqual(['pessimistic', 'expected']);
    const heads = [...reportPage(same, PARTS).matchAll(/<th><i [^>]*><\/i>([^<]*)<\/th>/g)].map(([, name]) => name);
    expect(new Set(heads)).toEqual(new Set(['pessimistic = expected', 'optimistic']));
    expect(verdictOf(same)[0]).toContain('under the pessimistic model the strategy had identical fills');
  });

  test('begins with five tiles and the equity; all else is folded', () => {
    const html = reportPage(whole(traded), PARTS);
    const first = html.slice(html.indexOf('<main>'), html.indexOf('<details'));
    expect([...first.matchAll(/<span class="soft">([^<]*)<\/span>\s*<b>/g)].map(([, name]) => name)).toEqual([
      'net',
      'net with each fill valued at the mid price 60 s later',
      'drawdown',
      'uptime, both sides',
      'fills per day',
    ]);
    const ids = [...first.matchAll(/class="plot [^"]*" id="([^"]*)"/g)].map(([, id]) => id);
    expect(ids).toEqual(['profit', 'drawdown']);
    expect(html.match(/<details/g)?.length).toBeGreaterThan(7);
    expect(html).not.toContain('<details open');
  });

  test('shows money in the digits of its currency, and no sum with more of them', () => {
    const words = wordsOf(reportPage(whole(traded), PARTS));
    // Sums of the minor currency are signed or named; ten decimals are in none of them.
    expect(words).not.toMatch(/\d\.\d{9,}/);
    expect(words).toContain(`${gainText(traded[1]!.pnl.total, 'mxn')} mxn`);
  });

  test('has a sweep of latencies as a table and a plot where one was asked for', () => {
    const swept = [0, 500].map(latencyMs => ({ ...traded[1]!, latencyMs }));
    const html = reportPage(whole(traded, { latencySweep: swept }), PARTS);
    expect(plotsIn(html).find(({ id }) => id === 'latency')?.x.names).toEqual(['0', '500']);
    expect(wordsOf(html)).toMatch(/latency each way, ms\s+net, mxn/);
    expect(wordsOf(reportPage(whole(traded), PARTS))).not.toContain('latency each way, ms');
  });

  test('of a run without a single fill says so, and shows no number that is none', () => {
    const html = reportPage(whole(silent), PARTS);
    expect(wordsOf(html)).not.toMatch(/NaN|undefined|null|Infinity/);
    expect(/NaN|undefined|Infinity/.test(html)).toBe(false);
    expect(wordsOf(html)).toMatch(/traded nothing.*The profit cannot be judged/s);
  });

  test.each([
    ['with fills', traded],
    ['with one model', traded.slice(1, 2)],
    ['with none', []],
  ])('%s has no NaN or undefined anywhere', (_, models) => {
    expect(/NaN|undefined|Infinity/.test(reportPage(whole(models), PARTS))).toBe(false);
  });

  test('lets nothing that was put into it become a tag, a script or an attribute', () => {
    const evil = `</script><script>alert(1)</script><img src=x onerror=alert(2)>"' onload='alert(3)`;
    const models: ReplayReport[] = traded.map(model => ({ ...model, model: evil, haltedBecause: evil }));
    const report: BacktestReport = whole(models, {
      book: evil,
      strategy: evil,
      major: evil,
      minor: evil,
      config: evil,
      hash: evil,
      made: { puntas: evil, node: evil },
      tape: {
        source: evil,
        hash: evil,
        dirt: [{ what: evil, count: 1, done: evil, first: evil }],
        gaps: [{ from: 0, to: 1000, why: evil }],
      },
    });
    const html = reportPage(report, PARTS);
    expect(html.match(/<script/g)).toHaveLength(3);
    expect(html.match(/<\/script/g)).toHaveLength(3);
    const outside = html.replace(/<(script|style)[^>]*>.*?<\/\1>/gs, '');
    expect(outside.includes('<img')).toBe(false);
    // Every quote of it is written out, in text and in attributes.
    expect(outside.includes(`"'`) || outside.includes(`' onload`)).toBe(false);
    // The data says it all the same.
    expect(plotsIn(html)[0]?.lines[0]?.label).toBe(evil);
    const clean = reportPage(whole(traded), PARTS);
    const tags = (text: string) => [...text.matchAll(/<(\/?[a-z0-9]+)/g)].map(([, name]) => name);
    const added = ['tr', 'th', 'td', 'p', 'table', 'tbody', 'thead', 'div'].flatMap(name => [name, `/${name}`]);
    const kinds = (text: string) => new Set(tags(text).filter(name => name !== undefined && !added.includes(name)));
    expect(kinds(html)).toEqual(kinds(clean));
  });

  test('allows its own two scripts by their hash, and fetches nothing', () => {
    const html = reportPage(whole(traded), PARTS);
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? '';
    expect(policy).toMatch(
      /^default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'unsafe-inline'; script-src /,
    );
    for (const text of [PARTS.library, PARTS.script])
      expect(policy).toContain(`'sha256-${createHash('sha256').update(text).digest('base64')}'`);
    expect(/\ssrc=|@import|url\(|href="(?!data:,")|https?:/.exec(html)).toBe(null);
  });
});

describe('the verdict', () => {
  const base = traded[1]!;
  const told = (totals: Readonly<Record<string, number>>, change: Partial<ReplayReport> = {}): string =>
    verdictOf(
      whole(
        Object.entries(totals).map(([model, total]) => ({
          ...base,
          model,
          hash: model,
          fills: 100,
          pnl: { ...base.pnl, total: String(total) },
          ...change,
        })),
      ),
    ).join('\n');

  test.each([
    [{ pessimistic: 1, expected: 2, optimistic: 3 }, 'The strategy ended above zero under every model.'],
    [
      { pessimistic: -1, expected: 2, optimistic: 3 },
      'The queue position of the orders decides whether the strategy ends above zero.',
    ],
    [{ pessimistic: -1, expected: -2, optimistic: 3 }, 'The strategy ended above zero only under the optimistic model'],
    [{ pessimistic: -1, expected: -2, optimistic: -3 }, 'The strategy made no money under any fill model.'],
    [{ optimistic: 3 }, 'The optimistic model overstates fills'],
    [{ pessimistic: 1, expected: 2, optimistic: -3 }, 'this model is not an upper bound of the profit'],
  ])('of %j is that: %s', (totals, sentence) => {
    expect(told(totals)).toContain(sentence);
  });

  test('names what it rests on, and what halted it', () => {
    const pnl = { spread: '10', inventory: '-2', fees: '-5', hedging: '0', total: '3' };
    const text = told({ expected: 3 }, { pnl, haltedBecause: 'drawdown: too deep' });
    expect(text).toContain(
      'captured 10.00 mxn against the mid price, the inventory lost 2.00 mxn as the market moved, fees cost 5.00 mxn',
    );
    expect(text).toContain('halted before the end: drawdown: too deep');
    expect(told({ expected: 3 }, { fills: 5 })).toContain('5 fills are too few for a conclusion.');
  });

  test('names what kept a side out for longest, not what is first or most frequent', () => {
    const missing = [
      { reason: 'insufficient funds', bidSeconds: 0, askSeconds: 500, decisions: 1000 },
      { reason: 'book stale', bidSeconds: 290, askSeconds: 10, decisions: 9 },
      { reason: 'would cross the book', bidSeconds: 160, askSeconds: 0, decisions: 800 },
    ];
    expect(told({ expected: 3 }, { uptime: { bid: 0.5, ask: 1, both: 0.5 }, missing })).toContain(
      'The bot had a resting bid for 50% of the time and an ask for 100%. Main reason for the missing bid: book stale (5 min of 8 min).',
    );
    const both = told({ expected: 3 }, { uptime: { bid: 0.5, ask: 0.4, both: 0.4 }, missing });
    expect(both).toContain(
      'Main reason for the missing bid: book stale (5 min of 8 min). Main reason for the missing ask: insufficient funds (8 min of 9 min).',
    );
    const one = [{ reason: 'book stale', bidSeconds: 60, askSeconds: 60, decisions: 9 }];
    expect(told({ expected: 3 }, { uptime: { bid: 0, ask: 0, both: 0 }, missing: one })).toContain(
      'Main reason for missing quotes: book stale (60 s of 60 s).',
    );
  });

  test('calls nothing a bound, and begins with what must be known before a number is believed', () => {
    for (const totals of [{ expected: 3, optimistic: 2 }, { optimistic: 3 }, { expected: -1, optimistic: 1 }])
      expect(told(totals)).not.toMatch(/\b(?<!not an upper )bound\b/);
    expect(told({ expected: 3 }, { haltedBecause: 'drawdown' })).toMatch(/^The expected run halted before/);
    expect(verdictOf(whole(traded, { noReference: 'nothing is quoted' }))[0]).toMatch(/^Nothing is quoted\. In /);
  });

  test('says of a profit whether its parts tell it apart from chance', () => {
    const netInterval = { low: -1.234, high: 7 };
    expect(told({ expected: 3 }, { netInterval })).toContain(
      'the net of another run of this length would be −1.23 to 7.00 mxn (95% interval). This interval includes zero, so the result may be chance.',
    );
    const sure = told({ pessimistic: 2, expected: 3 }, { netInterval: { low: 1, high: 7 } });
    expect(sure).not.toContain('includes zero');
    expect(sure).toContain('made 3.00 mxn with 100 fills under the expected model');
    expect(sure).toContain('The strategy made money under every model.');
  });

  test('calls nothing made or lost that may be chance', () => {
    for (const [total, netInterval] of [
      [3, { low: -1, high: 7 }],
      [-3, { low: -7, high: 1 }],
      [3, null],
    ] as const)
      expect(told({ pessimistic: total, expected: total }, { netInterval })).not.toMatch(
        / (made|lost) [\d,.]+ mxn|made money under every/,
      );
    expect(told({ expected: -3 }, { netInterval: { low: -7, high: -1 } })).toContain('lost 3.00 mxn');
  });

  test('begins with a recording that was crossed for long, and says nothing about profit on one that mostly was', () => {
    const crossed = (share: number, ghosts = 0) =>
      told({ pessimistic: 1, expected: 3 }, { seconds: 1000, recorded: { ghosts, crossedSeconds: 1000 * share } });
    expect(crossed(0.009)).not.toContain('crossed');
    expect(crossed(0.02)).toMatch(/^The recorded book was crossed, .* for 2.0% of the time/);
    expect(crossed(0.02)).toContain('The strategy ended above zero');
    expect(crossed(0.3)).toMatch(/^The recorded book was crossed, .* for 30% of the time: .* cannot be judged/);
    expect(crossed(0.3)).not.toMatch(/ made | ended /);
    const [net] = tilesTextOf(whole([]), { ...base, seconds: 10, recorded: { ghosts: 0, crossedSeconds: 3 } });
    expect(net?.value).toBe('not scored');
    expect(crossed(0, 2)).toContain('2 recorded levels were removed');
  });

  test('tells a loss to those who knew better from a loss to the direction of the market', () => {
    const pnl = { spread: '10', inventory: '-100', fees: '-5', hedging: '0', total: '-95' };
    const curve = (later: number) => ({
      ...base.markouts[0]!,
      bps: base.markouts[0]!.seconds.map((_, i) => (i === 0 ? 10 : later)),
    });
    const volume = { major: '1', minor: '100000' };
    expect(told({ expected: -95 }, { pnl, volume, markouts: [curve(0)] })).toContain('predicted the market better');
    expect(told({ expected: -95 }, { pnl, volume, markouts: [curve(10)] })).toContain('the direction of this market');
  });
});

test.each([
  ['12.345678901234', 'mxn', '12.35'],
  ['-3', 'usdt', '−3.00'],
  ['-0.004', 'usd', '−0.004'],
  ['1234567.8', 'jpy', '1,234,568'],
  ['0.123456789012', 'btc', '0.12345679'],
  ['0', 'usd', '0.00'],
])('%s of %s is shown as %s', (sum, currency, text) => {
  expect(sumText(sum, currency)).toBe(text);
});

test('a gain has its sign, and a currency the decimals that its holders know', () => {
  expect([gainText('5', 'usd'), gainText('-5', 'usd'), gainText('0', 'usd')]).toEqual(['+5.00', '−5.00', '0.00']);
  expect(['mxn', 'usdt', 'jpy', 'btc', 'eth'].map(moneyDigits)).toEqual([2, 2, 0, 8, 8]);
});

describe('the interval around a sum over time', () => {
  test('is cut into at most forty stretches of at least a minute, and there is none of fewer than twenty', () => {
    expect([30, 1199, 1200, 86_400].map(stretchesIn)).toEqual([0, 19, 20, 40]);
    expect(cutUp([1, NaN, 3, 2, 2, 5], 'last', 3)).toEqual([1, 1, 3]);
    expect(cutUp([1, 2, 3, 4], 'sum', 2)).toEqual([3, 7]);
    expect(intervalOf(Array.from({ length: 19 }, (_, i) => i))).toBe(null);
    expect(intervalOf(Array.from({ length: 20 }, () => 0))).toBe(null);
  });

  test('is as wide as the sum varies, and holds the truth about as often as it says', () => {
    const random = randomOf(3);
    const gain = (): number => random.next() + random.next() + random.next() - 1.5;
    let held = 0;
    const widths: number[] = [];
    for (let n = 0; n < 300; n++) {
      const found = intervalOf(Array.from({ length: 40 }, gain))!;
      widths.push(found.high - found.low);
      if (found.low <= 0 && found.high >= 0) held++;
    }
    // A quarter is the variance of a sum of three uniform numbers.
    expect(widths.reduce((sum, x) => sum + x, 0) / 300).toBeCloseTo(2 * 1.96 * Math.sqrt(40 / 4), 0);
    expect(held / 300).toBeGreaterThan(0.9);
  });

  test('of a sum of independent parts is that of their distances as squares', () => {
    const parts = [
      { value: 1, interval: { low: -2, high: 13 } },
      { value: 2, interval: { low: -2, high: 7 } },
      { value: 3, interval: null },
    ];
    expect(intervalTogether(parts)).toEqual({ low: 1, high: 19 });
  });
});

test.each([
  [1.234, '1.23 s'],
  [119, '119 s'],
  [3599, '1 h'],
  [5400, '1 h 30 min'],
  [86_399, '24 h'],
  [200_000, '2 d 7 h'],
])('%f seconds are %s', (seconds, text) => {
  expect(durationText(seconds)).toBe(text);
});

test('the documentation names every key of the report', () => {
  const page = readFileSync(new URL('../../docs/backtest-figures.md', import.meta.url), 'utf8');
  const names = new Set<string>();
  const currencies = ['btc', 'mxn'];
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) value.slice(0, 1).forEach(walk);
    else if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value)) {
        names.add(name);
        walk(inner);
      }
  };
  walk(
    whole(
      traded.map(model => ({ ...model, holdings: {} })),
      { latencySweep: traded.map(model => sweptLatency(1, model)), fillLatencyMs: '5', warmUpFrom: '' },
    ),
  );
  expect([...names].filter(name => !currencies.includes(name) && !new RegExp(`\\b${name}\\b`).test(page))).toEqual([]);
});

test('a run with a hedger tells what its hedges cost, in all and of what they exchanged, and why others were not carried out; one without has no such part', async () => {
  const hedge: HedgeOptions = {
    orders: { instance: 'test', run: 1 },
    desk: { timeoutMs: 5_000, refusedShare: 0.3, lostShare: 0, seed: 1 },
    setup: {
      ...{
        venues: ['rfq'],
        everyMs: 2_000,
        pauseMs: 10_000,
        quoteLifeMinMs: 5_000,
        requestDelayMaxMs: 50_000,
        tradeReportDelayMaxMs: 20_000,
      },
      rules: {
        ...{ band: moneyOf('0.01'), residual: moneyOf('0') },
        ...{ costMaxBps: 30, carryBpsPerHour: 0, unwindMs: 600_000 },
      },
    },
  };
  const { result, hedges } = await runHedged({ hedge });
  const model = reportOf(tape.instrument, result);
  const done = hedges.filter(({ executedAt }) => executedAt !== null);
  const of = (currency: string): number =>
    done.reduce(
      (sum, { gave, gaveCurrency, got, gotCurrency }) =>
        sum + (gaveCurrency === currency ? Number(gave) : 0) + (gotCurrency === currency ? Number(got) : 0),
      0,
    );
  const cost = done.reduce((sum, one) => sum + Number(one.cost), 0);
  expect(done.length).toBeGreaterThan(0);
  expect(Number(model.hedges!.volume.minor)).toBeCloseTo(of('mxn'), 4);
  expect(Number(model.hedges!.volume.major)).toBeCloseTo(of('btc'), 8);
  expect([Number(model.hedges!.cost), model.hedges!.costBps]).toEqual([
    expect.closeTo(cost, 4),
    expect.closeTo((10_000 * cost) / of('mxn'), 4),
  ]);
  const words = wordsOf(reportPage(whole([model]), PARTS));
  expect(words).toMatch(/Hedges\s+The bot hedges inventory beyond the band/);
  expect(words).toContain('hedges not executed: no way out was taken');
  expect(verdictOf(whole([model])).join(' ')).toMatch(/\d+ hedges cost [\d.,]+ mxn, \d[\d.]* bps of the hedged value/);
  const plain = reportPage(whole(traded), PARTS);
  expect(wordsOf(plain)).not.toContain('The bot hedges inventory beyond the band');
  expect(verdictOf(whole(traded)).join(' ')).toContain('nothing was hedged');
});

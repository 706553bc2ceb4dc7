import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { reportPage, reportOf } from '../../backtest/index.ts';
import type { BacktestReport, HedgeOptions, ReplayReport } from '../../backtest/index.ts';
import type { Plot } from '../../backtest/page/plot.ts';
import { figuresOf } from '../../backtest/report/plots.ts';
import { durationText, verdictOf } from '../../backtest/report/verdict.ts';
import { moneyOf } from '../../src/core/index.ts';
import { engineOf, runHedged, tape } from './ladderRun.ts';
import { runs, whole } from './reports.ts';

const PARTS = { library: 'var uPlot = 1;', libraryStyle: '.uplot{}', script: 'export {};' };
const traded = runs();
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
    expect(labels('Profit')).toEqual([['Profit', 'pessimistic', 'expected', 'optimistic']]);
    expect(labels('Where it came from')?.map(([title]) => title)).toEqual(['pessimistic', 'expected', 'optimistic']);
    expect(labels('Where it came from')?.[0]).toContain('hedging');
    expect(labels('Markouts by side')?.[1]).toEqual(['expected', 'bought', 'sold', 'fee']);
    expect(wordsOf(reportPage(report, PARTS))).toMatch(/hash of the recording\s+a1\s/);
  });

  test('of a run without a single fill says so, and shows no number that is none', () => {
    const html = reportPage(whole(silent), PARTS);
    expect(wordsOf(html)).not.toMatch(/NaN|undefined|null|Infinity/);
    expect(/NaN|undefined|Infinity/.test(html)).toBe(false);
    expect(wordsOf(html)).toMatch(/traded nothing.*Nothing can be said about its profit/s);
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
    const added = ['tr', 'th', '/th', 'td', '/td', 'p', '/p', 'table', 'tbody', 'thead', 'div'].flatMap(name => [
      name,
      `/${name}`,
    ]);
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
  const made = (totals: Readonly<Record<string, number>>, change: Partial<ReplayReport> = {}): string =>
    verdictOf(
      whole(
        Object.entries(totals).map(([model, total]) => ({
          ...base,
          model,
          fills: 100,
          pnl: { ...base.pnl, total: String(total) },
          ...change,
        })),
      ),
    ).join('\n');

  test.each([
    [{ pessimistic: 1, expected: 2, optimistic: 3 }, 'It made money under every one of them.'],
    [{ pessimistic: -1, expected: 2, optimistic: 3 }, 'Whether it makes money hangs on its place in the queue.'],
    [{ pessimistic: -1, expected: -2, optimistic: 3 }, 'It made money only where every touch fills'],
    [{ pessimistic: -1, expected: -2, optimistic: -3 }, 'It made money under none of them.'],
    [{ optimistic: 3 }, 'That bound is no estimate'],
  ])('of %j is that: %s', (totals, sentence) => {
    expect(made(totals)).toContain(sentence);
  });

  test('names what it rests on, and what halted it', () => {
    const pnl = { spread: '10', inventory: '-2', fees: '-5', hedging: '0', total: '3' };
    const text = made({ expected: 3 }, { pnl, haltedBecause: 'drawdown: too deep' });
    expect(text).toContain('captured 10 mxn, what it held then lost 2 mxn as the market moved, fees took 5 mxn');
    expect(text).toContain('halted itself before the end: drawdown: too deep');
    const seldom = { uptime: { bid: 0.5, ask: 1, both: 0.5 }, missing: [{ reason: 'book stale', decisions: 9 }] };
    expect(made({ expected: 3 }, seldom)).toContain(
      'a bid in the market for 50 % of the time and an ask for 100 %, most often for this reason: book stale',
    );
    expect(made({ expected: 3 }, { fills: 5 })).toContain('With 5 fills little can be concluded.');
  });

  test('tells a loss to those who knew better from a loss to the direction of the market', () => {
    const pnl = { spread: '10', inventory: '-100', fees: '-5', hedging: '0', total: '-95' };
    const curve = (later: number) => ({
      ...base.markouts[0]!,
      bps: base.markouts[0]!.seconds.map((_, i) => (i === 0 ? 10 : later)),
    });
    const volume = { major: '1', minor: '100000' };
    expect(made({ expected: -95 }, { pnl, volume, markouts: [curve(0)] })).toContain('knew better');
    expect(made({ expected: -95 }, { pnl, volume, markouts: [curve(10)] })).toContain('the direction of this market');
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
  const page = readFileSync(new URL('../../docs/backtest.md', import.meta.url), 'utf8');
  const names = new Set<string>();
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) value.slice(0, 1).forEach(walk);
    else if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value)) {
        names.add(name);
        walk(inner);
      }
  };
  walk(whole(traded.map(model => ({ ...model, holdings: {} }))));
  expect([...names].filter(name => !new RegExp(`\\b${name}\\b`).test(page))).toEqual([]);
});

test('a run with a hedger tells what its hedges cost, and why others were not carried out; one without has no such part', async () => {
  const hedge: HedgeOptions = {
    orderPrefix: 'test-1-t',
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
  const { result } = await runHedged({ hedge });
  const model = reportOf(tape.instrument, result);
  const words = wordsOf(reportPage(whole([model]), PARTS));
  expect(words).toMatch(/Hedges\s+Inventory past its band/);
  expect(words).toContain('not: no way out was taken');
  expect(verdictOf(whole([model])).join(' ')).toMatch(/\d+ hedges cost [\d.,]+ mxn, \d[\d.]* bps of what left/);
  const plain = reportPage(whole(traded), PARTS);
  expect(wordsOf(plain)).not.toContain('Inventory past its band');
  expect(verdictOf(whole(traded)).join(' ')).toContain('nothing was hedged');
});

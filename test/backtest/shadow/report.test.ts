/** Texts of a shadow for people: lines, page, metrics. */
import { describe, expect, test } from 'vitest';
import { shadowMetrics, SHADOW_METRICS } from '../../../backtest/shadow/metrics.ts';
import { newMemory } from '../../../backtest/shadow/memory.ts';
import { shadowPage } from '../../../backtest/shadow/page.ts';
import { shadowReport } from '../../../backtest/shadow/report.ts';
import { shadowLines, shadowWords } from '../../../backtest/shadow/summary.ts';
import { shadowed } from './shadowed.ts';
import { INSTRUMENT } from './world.ts';

const PARTS = { library: '', libraryStyle: '', script: '' };
const { memory } = shadowed({ seed: 1, minutes: 90, planted: { chargedRate: 150_000 } });
const report = shadowReport(memory, INSTRUMENT, 'expected', 1);

describe('a report', () => {
  test('says the cause first, and the sum of the gap with its parts', () => {
    expect(shadowWords(report)[0]).toBe(
      'Divergence on btc_mxn: fee (fees differ from the rates in the rules of the book).',
    );
    const text = shadowLines(report).join('\n');
    expect(text).toMatch(/^ {2}fee +[−-][\d,.]+ +[−-][\d,.]+ +charged fees differ/m);
    expect(text).toMatch(/^ {2}fees +\d+ +fee +alarm$/m);
    expect(text).toMatch(/^ {2}\S+Z fee: fees: stays above its normal value of 0 bps; last [\d.]+ bps$/m);
  });

  test('of nothing says that no divergence was found', () => {
    const empty = shadowReport(newMemory(), INSTRUMENT, 'expected', 0);
    expect(shadowWords(empty)[0]).toBe('No divergence on btc_mxn: no detector raises an alarm.');
    expect(empty.perHour).toBe(null);
    expect(shadowPage(empty, PARTS)).toContain('No alarm was raised.');
  });

  test('as a page has every section, and escapes what a recording says', () => {
    const hostile = {
      ...report,
      decision: { run: 1, at: 0, text: '<script>alert(1)</script>' },
      alarms: report.alarms.map(alarm => ({ ...alarm, text: '<img src=x>' })),
    };
    const page = shadowPage(hostile, PARTS);
    expect(page).not.toMatch(/<script>alert|<img src=x>/);
    for (const name of ['The gap by hour', 'Parts of the gap', 'Detectors', 'Alarms', 'Largest differences'])
      expect(page).toContain(`<h2>${name}</h2>`);
  });

  test('as metrics has each metric with help, type and series of its labels', () => {
    const text = shadowMetrics(report, memory.alarmCounts, { behindSeconds: 1.5 });
    for (const { name, labels, type } of SHADOW_METRICS) {
      expect(text).toContain(`# TYPE ${name} ${type}`);
      const samples = [...text.matchAll(new RegExp(`^${name}\\{(.*)\\} (\\S+)$`, 'gm'))];
      expect(samples.length, name).toBeGreaterThan(0);
      for (const [, found, value] of samples) {
        expect([...found!.matchAll(/(\w+)="/g)].map(([, label]) => label)).toEqual(['book', ...labels]);
        expect(Number.isFinite(Number(value))).toBe(true);
      }
    }
    expect(text).toContain('puntas_shadow_alarm{book="btc_mxn",cause="fee"} 1');
    expect(text).toContain('puntas_shadow_alarm{book="btc_mxn",cause="clock"} 0');
  });
});

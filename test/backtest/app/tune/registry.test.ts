import { appendFileSync, existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { requireOpeningAllowed, requireTuningAllowed } from '../../../../backtest/app/tune/holdoutRule.ts';
import {
  haveCommonHours,
  Registry,
  trialsOf,
  trialsOn,
  type MarketHours,
  type OpenedRecord,
  type RegistryRecord,
  type TrialRecord,
} from '../../../../backtest/app/tune/registry.ts';
import { folder } from './studies.ts';

const HOUR = 3_600_000;
const hours = (from: number, to: number, market = 'btc_mxn', digest = `${market} ${from} ${to}`): MarketHours => ({
  ...{ market, digest, from: from * HOUR, to: to * HOUR },
});
const signed = { study: 'one', at: '2026-01-02T00:00:00.000Z', by: 'ana@desk', version: '1' };
const trial = (
  number: number,
  config: string,
  tapes: readonly MarketHours[],
  other: Partial<TrialRecord> = {},
): TrialRecord => ({
  ...{ kind: 'trial', ...signed, number, config, tapes, seed: 1, point: { x: number }, state: 'done', why: null },
  ...{ measures: null, soFar: [], blocks: [1, 2], ...other },
});
const opened = (tapes: readonly MarketHours[], study = 'one'): OpenedRecord => ({
  kind: 'opened',
  ...signed,
  study,
  tapes,
  config: 'c',
});

describe('the registry', () => {
  test('gives back what was appended, to whoever opens it, and to who had it open what others appended', () => {
    const dir = folder();
    const [mine, theirs] = [new Registry(dir), new Registry(dir)];
    expect(mine.records()).toEqual([]);
    mine.append(trial(0, 'a', [hours(0, 1)]));
    theirs.append(trial(1, 'b', [hours(0, 1)]));
    mine.append(trial(2, 'c', [hours(0, 1)]));
    for (const registry of [mine, theirs, new Registry(dir)])
      expect(registry.records()).toEqual(['a', 'b', 'c'].map((config, i) => trial(i, config, [hours(0, 1)])));
    mine.close();
    theirs.close();
  });

  test('holds every whole line, wherever a kill cut off the last one, and goes on behind it', () => {
    const dir = folder();
    const first = new Registry(dir);
    first.append(trial(0, 'a', [hours(0, 1)]));
    const whole = readFileSync(first.file).length;
    first.append(trial(1, 'b', [hours(0, 1)]));
    first.close();
    const both = readFileSync(first.file);
    for (const cut of [whole + 1, whole + 20, both.length - 1]) {
      writeFileSync(first.file, both);
      truncateSync(first.file, cut);
      const next = new Registry(dir);
      expect(next.records().map(record => (record as TrialRecord).number)).toEqual([0]);
      next.append(trial(2, 'c', [hours(0, 1)]));
      next.close();
      const seen = new Registry(dir).records() as readonly TrialRecord[];
      expect(seen.map(({ number }) => number)).toEqual([0, 2]);
    }
  });

  test('gives each record as soon as it is whole, and once, however the bytes of its writer arrive', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 8 }), fc.integer({ min: 1, max: 3 }), (cuts, count) => {
        const registry = new Registry(folder());
        const made = Array.from({ length: count }, (_, i) => trial(i, `configuración ${i}`, [hours(0, 1)]));
        const text = Buffer.from(made.map(record => `${JSON.stringify(record)}\n`).join(''));
        const ends = [...new Set([...cuts.map(cut => cut % text.length), text.length])].sort((a, b) => a - b);
        let from = 0;
        mkdirSync(join(registry.file, '..'), { recursive: true });
        for (const end of ends) {
          appendFileSync(registry.file, text.subarray(from, end));
          from = end;
          const whole = text.subarray(0, end).filter(byte => byte === 0x0a).length;
          expect(registry.records()).toEqual(made.slice(0, whole));
        }
      }),
      { numRuns: 40 },
    );
  });

  test('refuses a line that is no record, by its number', () => {
    const registry = new Registry(folder());
    registry.append(trial(0, 'a', [hours(0, 1)]));
    appendFileSync(registry.file, '{"kind":"note"}\n');
    expect(() => new Registry(join(registry.file, '..')).records()).toThrow(/trials\.jsonl:2: expected a record/);
    expect(existsSync(registry.file)).toBe(true);
    registry.close();
  });

  test('counts each configuration once that was ever run on any of the hours, of all studies', () => {
    const records: RegistryRecord[] = [
      trial(0, 'a', [hours(0, 4)]),
      trial(1, 'b', [hours(0, 4)], { state: 'pruned' }),
      trial(2, 'c', [hours(0, 4)], { state: 'refused' }),
      trial(0, 'a', [hours(3, 5)], { study: 'two' }),
      trial(1, 'd', [hours(3, 5)], { study: 'two' }),
      trial(2, 'e', [hours(5, 6)], { study: 'two' }),
      trial(3, 'f', [hours(3, 5, 'eth_mxn')], { study: 'two' }),
      trial(4, 'g', [hours(3, 5, 'imported', 'same bytes')], { study: 'two' }),
    ];
    expect(trialsOn(records, [hours(3, 5)])).toBe(3);
    expect(trialsOn(records, [hours(3, 5, 'btc_mxn', 'same bytes')])).toBe(4);
    expect(trialsOn(records, [hours(6, 9)])).toBe(0);
  });

  test('has of two processes that made one trial the first', () => {
    const twice = [trial(0, 'a', []), trial(0, 'b', []), trial(1, 'c', [], { study: 'two' })];
    expect([...trialsOf(twice, 'one').values()].map(({ config }) => config)).toEqual(['a']);
  });

  test('hours meet exactly when one market has a moment of both', () => {
    const span = fc.tuple(
      fc.integer({ min: 0, max: 20 }),
      fc.integer({ min: 1, max: 5 }),
      fc.constantFrom('btc_mxn', 'eth_mxn'),
    );
    fc.assert(
      fc.property(span, span, ([a, long, one], [b, wide, other]) => {
        const [mine, theirs] = [hours(a, a + long, one), hours(b, b + wide, other)];
        const moments = Array.from({ length: 60 }, (_, i) => (i + 0.5) / 2);
        const both = moments.some(at => at > a && at < a + long && at > b && at < b + wide);
        expect(haveCommonHours([mine], [theirs])).toBe(one === other && both);
        expect(haveCommonHours([theirs], [mine])).toBe(haveCommonHours([mine], [theirs]));
      }),
    );
  });
});

describe('the law of the holdout', () => {
  const own = { study: 'one', tapes: [hours(0, 3)], heldOut: [hours(3, 4)] };

  test('lets a study tune and open that nobody has seen the holdout of', () => {
    const records = [trial(0, 'a', own.tapes), trial(0, 'b', [hours(4, 9)], { study: 'two' })];
    expect(() => requireTuningAllowed(records, own)).not.toThrow();
    expect(() => requireOpeningAllowed(records, own)).not.toThrow();
  });

  test('opens it once: the second is told who it was and when', () => {
    const records = [trial(0, 'a', own.tapes), opened(own.heldOut)];
    expect(() => requireOpeningAllowed(records, own)).toThrow(
      /^the holdout was opened by ana@desk at 2026-01-02T00:00:00\.000Z \(study one\), and can be opened only once; its hours are btc_mxn 1970-01-01T03:00:00Z/,
    );
    // Another study with a part of the same hours neither.
    expect(() =>
      requireOpeningAllowed(records, { study: 'two', tapes: [hours(8, 9)], heldOut: [hours(3.5, 5)] }),
    ).toThrow(/was opened by ana@desk/);
  });

  test('lets nobody tune on hours of an open holdout, nor hold them out', () => {
    const records = [opened([hours(3, 4)])];
    for (const of of [
      { study: 'two', tapes: [hours(2, 3.5)], heldOut: [hours(5, 6)] },
      { study: 'two', tapes: [hours(5, 6)], heldOut: [hours(3.9, 5)] },
      own,
    ])
      expect(() => requireTuningAllowed(records, of)).toThrow(
        /^a holdout with hours of this study was opened by ana@desk at 2026-01-02/,
      );
    expect(() =>
      requireTuningAllowed(records, { study: 'two', tapes: [hours(4, 6)], heldOut: [hours(6, 7)] }),
    ).not.toThrow();
  });

  test('opens no hours that any registered trial covers, stopped early or not', () => {
    for (const state of ['done', 'pruned'] as const) {
      const records = [trial(0, 'a', [hours(3.5, 6)], { state, study: 'two' })];
      const refusal =
        /^holdout hours of this study were used for tuning by ana@desk at 2026-01-02T00:00:00\.000Z \(study two\)/;
      expect(() => requireOpeningAllowed(records, own)).toThrow(refusal);
      expect(() => requireTuningAllowed(records, own)).toThrow(refusal);
    }
    expect(() => requireOpeningAllowed([trial(0, 'a', [hours(3.5, 6)], { state: 'refused' })], own)).not.toThrow();
  });

  test('gives it to the first of two that open it at once', () => {
    const [first, second] = [opened(own.heldOut), opened(own.heldOut, 'two')];
    const records = [first, second];
    expect(() => requireOpeningAllowed(records, own, first)).not.toThrow();
    expect(() => requireOpeningAllowed(records, { ...own, study: 'two' }, second)).toThrow(/was opened by ana@desk/);
  });
});

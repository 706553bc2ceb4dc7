import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../../../src/config.ts';
import { Registry, type TrialRecord } from '../../../../backtest/app/tune/registry.ts';
import { tune } from '../../../../backtest/app/tune/tune.ts';
import { folder, options, studyFile } from './studies.ts';

const trialLines = (dir: string): readonly TrialRecord[] =>
  new Registry(dir).records().filter((record): record is TrialRecord => record.kind === 'trial');

describe('a study', () => {
  test('gives the same again from its registry, and from a half of it, without a trial more than are missing', async () => {
    const dir = folder();
    const file = studyFile(dir);
    const [whole, half] = [join(dir, 'whole'), join(dir, 'half')];
    const first = await tune(options(file, whole));
    const made = trialLines(whole);
    expect(made.map(({ number, state }) => [number, state])).toEqual([0, 1, 2, 3].map(n => [n, 'done']));
    expect((await tune(options(file, whole))).tuning).toEqual(first.tuning);
    expect(trialLines(whole)).toHaveLength(4);

    const registry = new Registry(half);
    for (const record of new Registry(whole).records())
      if (record.kind === 'study' || (record.kind === 'trial' && [0, 2, 3].includes(record.number)))
        registry.append(record);
    registry.close();
    expect((await tune(options(file, half))).tuning).toEqual(first.tuning);
    expect(trialLines(half).map(({ number }) => number)).toEqual([0, 2, 3, 1]);
  });

  test('goes on for longer with the trials that it has', async () => {
    const dir = folder();
    const search = { algorithm: 'tpe', seed: 1, batch: 2 };
    const short = await tune(options(studyFile(dir, { search: { ...search, trials: 3 } }), dir));
    const long = await tune(options(studyFile(dir, { search: { ...search, trials: 6 } }), dir));
    expect(long.tuning.study).toBe(short.tuning.study);
    expect(long.tuning.trials.slice(0, 3)).toEqual(short.tuning.trials);
    const fresh = await tune(options(studyFile(dir, { search: { ...search, trials: 6 } }), join(dir, 'fresh')));
    expect(fresh.tuning.trials).toEqual(long.tuning.trials);
  });

  test('counts the trials of other studies on its hours, and those make its best less certain', async () => {
    const dir = folder();
    const file = studyFile(dir);
    const alone = (await tune(options(file, join(dir, 'a')))).tuning;
    const registry = new Registry(join(dir, 'b'));
    const [one] = trialLines(join(dir, 'a'));
    for (let i = 0; i < 500; i++) registry.append({ ...one!, study: 'another', number: i, config: `other ${i}` });
    registry.close();
    const among = (await tune(options(file, join(dir, 'b')))).tuning;
    expect(among.counts.onTheseTapes).toBe(alone.counts.onTheseTapes + 500);
    expect(among.evidence!.deflated.threshold).toBeGreaterThan(alone.evidence!.deflated.threshold);
    expect(among.evidence!.deflated.probability).toBeLessThan(alone.evidence!.deflated.probability);
  });

  test('says that nothing is better than not trading where no trial keeps the constraints, and has no configuration', async () => {
    const dir = folder();
    const { tuning, yaml } = await tune(options(studyFile(dir, { constraints: { fills: { min: 100_000 } } }), dir));
    expect(tuning.verdict).toEqual({ better: false, words: ['no trial both completed and satisfied the constraints'] });
    expect([tuning.chosen, yaml]).toEqual([null, null]);
    expect(tuning.trials.every(({ breaks }) => breaks.includes('fills'))).toBe(true);
    await expect(
      tune(options(studyFile(dir, { constraints: { fills: { min: 100_000 } } }), dir, { openHoldout: true })),
    ).rejects.toThrow(/so the holdout was not opened/);
    expect(new Registry(dir).records().some(({ kind }) => kind === 'opened')).toBe(false);
  });

  test('refuses, and does not count, a configuration that loses its fees', async () => {
    const dir = folder();
    const { tuning } = await tune(
      options(
        studyFile(dir, {
          parameters: { 'strategy.halfSpreadBps': { choice: [2, 20] } },
          search: { algorithm: 'sobol', trials: 4, batch: 4 },
        }),
        dir,
      ),
    );
    const refused = tuning.trials.filter(({ state }) => state === 'refused');
    expect(refused.length).toBeGreaterThan(0);
    for (const { why, point } of refused)
      expect([point['strategy.halfSpreadBps'], why]).toEqual([2, expect.stringMatching(/fee/)]);
    expect(tuning.counts.onTheseTapes).toBe(1);
  });

  test('with two objectives has a front that none of the others is better than', async () => {
    const dir = folder();
    const { tuning } = await tune(
      options(
        studyFile(dir, { objectives: ['net60s', 'inventoryMost'], search: { algorithm: 'tpe', trials: 6, batch: 2 } }),
        dir,
      ),
    );
    expect(tuning.front.length).toBeGreaterThan(0);
    const of = (number: number) => tuning.trials[number]!.measures!;
    for (const member of tuning.front)
      for (const { number } of tuning.trials) {
        const [a, b] = [of(member), of(number)];
        const beaten = b['net60s']! >= a['net60s']! && b['inventoryMost']! <= a['inventoryMost']!;
        expect(beaten && (b['net60s']! > a['net60s']! || b['inventoryMost']! < a['inventoryMost']!)).toBe(false);
      }
  });

  test('writes the best as a configuration with its evidence, whose paths lead where they led', async () => {
    const dir = folder();
    const { tuning, yaml } = await tune(options(studyFile(dir), dir));
    const text = yaml!(join(dir, 'made'));
    const loaded = loadConfig(text, 'best.yaml');
    expect(loaded.ok && loaded.config.strategy).toMatchObject({
      levels: tuning.trials[tuning.chosen!]!.point['strategy.levels'],
    });
    expect(text).toMatch(/^# Found by puntas tune \(test\) as trial \d+ of \d+ in study [0-9a-f]{12}/);
    expect(text.replaceAll('\n# ', ' ')).toMatch(
      /deflated Sharpe ratio is 0\.\d\d, with 9 configurations tried so far on the tuning hours/,
    );
    // Nothing of what the first file says of itself is left.
    expect(text).not.toMatch(/it earns \+|\$schema/);
    const before = parse(readFileSync(join(process.cwd(), 'config/sandbox.yaml'), 'utf8')) as { limits: object };
    expect((parse(text) as { limits: object }).limits).toEqual(before.limits);
  });
});

describe('the holdout of a study', () => {
  test('is opened once, on record before it is read; then nobody tunes on these hours', async () => {
    const dir = folder();
    const file = studyFile(dir);
    const closed = await tune(options(file, dir));
    expect(closed.tuning.holdout).toBeNull();
    const opened = await tune(options(file, dir, { openHoldout: true }));
    expect(opened.tuning.holdout).toMatchObject({ by: 'tester@here', at: '2026-01-02T00:00:00.000Z' });
    expect(
      new Registry(dir)
        .records()
        .slice(-2)
        .map(({ kind }) => kind),
    ).toEqual(['opened', 'holdout']);
    // Shown again, and not opened again.
    expect((await tune(options(file, dir))).tuning).toEqual(opened.tuning);
    await expect(tune(options(file, dir, { openHoldout: true }))).rejects.toThrow(
      /^the holdout was opened by tester@here at 2026-01-02T00:00:00\.000Z/,
    );
    const more = studyFile(dir, { search: { algorithm: 'sobol', seed: 1, trials: 6, batch: 2 } }, 'more.yaml');
    const other = studyFile(dir, { search: { algorithm: 'random', trials: 2 } }, 'other.yaml');
    for (const again of [more, other])
      await expect(tune(options(again, dir))).rejects.toThrow(
        /^a holdout with hours of this study was opened by tester@here/,
      );
    expect(trialLines(dir)).toHaveLength(4);
  });

  test('is spent when the process dies between the record and the result', async () => {
    const dir = folder();
    const file = studyFile(dir);
    const progress = {
      begin: (_: number, what: string) => {
        if (what === 'the holdout') throw new Error('killed here');
      },
      at: () => undefined,
      end: () => undefined,
    };
    await expect(tune(options(file, dir, { openHoldout: true, progress }))).rejects.toThrow('killed here');
    await expect(tune(options(file, dir, { openHoldout: true }))).rejects.toThrow(/was opened by tester@here/);
  });

  test('is refused where its hours were tuned on before', async () => {
    const dir = folder();
    await tune(options(studyFile(dir, { search: { algorithm: 'sobol', trials: 1 } }, 'early.yaml'), dir));
    const late = studyFile(dir, { holdout: { lastShare: 0.4 } });
    const refusal = /^holdout hours of this study were used for tuning by tester@here at 2026-01-02T00:00:00\.000Z/;
    await expect(tune(options(late, dir))).rejects.toThrow(refusal);
    await expect(tune(options(late, dir, { openHoldout: true }))).rejects.toThrow(refusal);
  });

  test('and what is tuned on have no hour in common within a study', async () => {
    const dir = folder();
    const tapes = [600, 1_200].map((seconds, i) => ({ name: `t${i}`, flow: { seconds, seed: 11 } }));
    await expect(tune(options(studyFile(dir, { tapes, holdout: { tapes: ['t0'] } }), dir))).rejects.toThrow(
      /t0 and t1 share hours of btc_mxn, built-in flow, seed 11/,
    );
  });
});

/** Studies whose trials another process runs, in place of replays: what is left when that fails, and what two processes do at once. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { measuresOf, NO_SUMS } from '../../../../backtest/app/tune/measures.ts';
import { Registry, type OpenedRecord, type RegistryRecord } from '../../../../backtest/app/tune/registry.ts';
import { tune, type StudySetup, type TuneOptions } from '../../../../backtest/app/tune/tune.ts';
import type { AskedTrial, TrialOutcome } from '../../../../backtest/app/tune/trialRuns.ts';
import type { TrialExecutor } from '../../../../backtest/app/tune/trialExecutor.ts';
import { tunedEvidenceIn } from '../../../../src/app/promote/tunedEvidence.ts';
import { shippedConfig } from '../../../../src/wiring/configFile.ts';
import { runsOf } from '../../../many.ts';
import { folder, options, studyFile } from './studies.ts';

const SHORT = {
  tapes: [{ name: 'flow', flow: { seconds: 430, seed: 11 } }],
  parameters: { 'strategy.halfSpreadBps': { linear: [12, 30] }, 'strategy.levels': { integer: [1, 3] } },
  ...{ segments: 1, holdout: { lastShare: 0.45 } },
};

/** An outcome that depends on the configuration alone. */
const outcomeOf = ({ config }: AskedTrial): TrialOutcome => {
  const net60s = 1_000 * Number(config.strategy.amount) - ('halfSpreadBps' in config.strategy ? Number(config.strategy.halfSpreadBps) : 0); // prettier-ignore
  const measures = measuresOf([{ ...NO_SUMS, net60s, fills: 9 }]);
  return { state: 'done', why: null, measures, soFar: [net60s], blocks: [net60s / 2, net60s / 2] };
};

/** An executor that fails after `most` trials in all. */
function executor(most = Infinity): TrialExecutor & { readonly asked: readonly string[] } {
  const asked: string[] = [];
  return {
    asked,
    run: (batch, _, __, onEnded) => {
      for (const one of batch) {
        if (asked.length >= most) return Promise.reject(new Error('stopped'));
        asked.push(one.digest);
        onEnded(one, outcomeOf(one));
      }
      return Promise.resolve();
    },
    end: () => Promise.resolve(),
  };
}
const tuned = (file: string, registry: string, by: TrialExecutor, other: Partial<TuneOptions> = {}) =>
  tune(options(file, registry, { elsewhere: () => Promise.resolve(by), ...other }));
const textsIn = (registry: string): readonly string[] =>
  new Registry(registry)
    .records()
    .map(record => JSON.stringify(record))
    .sort();

describe('a study whose trials are run elsewhere', () => {
  test('has after any interruptions the records of one that was not interrupted, and runs no trial twice', async () => {
    const dir = folder();
    const file = studyFile(dir, { ...SHORT, search: { algorithm: 'sobol', seed: 1, trials: 3, batch: 2 } });
    const whole = executor();
    const { tuning } = await tuned(file, join(dir, 'whole'), whole);
    const wanted = textsIn(join(dir, 'whole'));
    expect(new Set(wanted.map(text => (JSON.parse(text) as { key?: string }).key)).size).toBeGreaterThan(2);
    let made = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 3 }), async stops => {
        const registry = join(dir, String(++made));
        const asked: string[] = [];
        for (const most of [...stops, Infinity]) {
          const by = executor(most);
          const result = await tuned(file, registry, by).catch((error: unknown) => error);
          asked.push(...by.asked);
          if (most === Infinity) expect((result as typeof tuned extends () => infer R ? Awaited<R> : { tuning: unknown }).tuning).toEqual(tuning); // prettier-ignore
        }
        expect(textsIn(registry)).toEqual(wanted);
        expect(asked.sort()).toEqual([...whole.asked].sort());
      }),
      { ...runsOf(40, 1), examples: [[[4, 1]]] },
    );
  });

  test('is another study at other fees, of which it has no trials', async () => {
    const dir = folder();
    const file = studyFile(dir, { ...SHORT, search: { algorithm: 'sobol', seed: 1, trials: 1, batch: 1 } });
    const setups: StudySetup[] = [];
    for (const venueFees of [undefined, { maker: '0', taker: '0.001' }, { maker: '0.0001', taker: '0.001' }])
      await tune(
        options(file, dir, {
          ...(venueFees && { venueFees: venueFees }),
          elsewhere: setup => {
            setups.push(setup);
            return Promise.resolve(executor());
          },
        }),
      );
    expect(new Set(setups.map(({ digest }) => digest)).size).toBe(3);
    expect(new Set(setups.map(({ run }) => run)).size).toBe(3);
    const trials = new Registry(dir).records().filter((record: RegistryRecord) => record.kind === 'trial');
    expect(new Set(trials.map(({ config }) => config)).size).toBe(3);
  });

  test('writes a best configuration without the comments of values that changed, with all others, and with its evidence', async () => {
    const dir = folder();
    const noted = readFileSync(shippedConfig('sandbox'), 'utf8')
      .split('\n')
      .filter(line => !line.trim().startsWith('#'))
      .map(line => /^( +)(\w+): ([^#{[]+)$/.exec(line) ?? line)
      .map(found =>
        typeof found === 'string' ? found : `${found[1]}# above ${found[2]} end\n${found[0]} # beside ${found[2]} end`,
      ) // prettier-ignore
      .join('\n');
    writeFileSync(join(dir, 'noted.yaml'), noted);
    const search = { algorithm: 'sobol', seed: 1, trials: 1, batch: 1 };
    const { tuning, yaml } = await tuned(studyFile(dir, { ...SHORT, search, config: 'noted.yaml' }), dir, executor());
    const text = yaml!(dir);
    const changed = ['halfSpreadBps', 'levels'];
    const notes = noted.match(/# (?:above|beside) \w+ end/g)!;
    expect(notes.length).toBeGreaterThan(20);
    for (const note of notes)
      expect([note, text.includes(note)]).toEqual([note, !changed.includes(note.split(' ')[2]!)]);
    expect(tunedEvidenceIn(text)).toMatchObject({
      ...{ study: tuning.study, trial: tuning.chosen, better: tuning.verdict.better, holdout: null },
      ...{ trials: tuning.evidence!.deflated.trials, net60s: tuning.evidence!.net },
      tapes: tuning.tapes.map(({ market, digest, tuned: span, heldOut }) => ({ market, digest, tuned: span, heldOut })),
    });
  });

  test('does not look at its holdout if another process recorded its opening first', async () => {
    const dir = folder();
    const file = studyFile(dir, { ...SHORT, search: { algorithm: 'sobol', seed: 1, trials: 1, batch: 1 } });
    await tuned(file, dir, executor());
    const other = new Registry(dir);
    const study = other.records().find(record => record.kind === 'study')!;
    let isOpened = false;
    // Between its look at the registry and its own record, the other process opens the same holdout.
    const now = (): number => {
      if (!isOpened)
        other.append({
          ...{
            kind: 'opened',
            study: 'f'.repeat(64),
            at: '2026-01-01T00:00:00.000Z',
            by: 'bob@there',
            version: 'test',
          },
          ...{ tapes: (study as { heldOut: OpenedRecord['tapes'] }).heldOut, config: 'c' },
        });
      isOpened = true;
      return Date.UTC(2026, 0, 2);
    };
    await expect(tuned(file, dir, executor(), { openHoldout: true, now })).rejects.toThrow(
      /^the holdout was opened by bob@there/,
    );
    expect(other.records().some(({ kind }) => kind === 'holdout')).toBe(false);
    other.close();
  });
});

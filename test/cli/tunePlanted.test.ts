/** `puntas tune` on tapes whose truth is planted: where quoting pays it says so, with a configuration that may run; where nothing is left after the fee it says that too. */
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { Tuning } from '../../backtest/index.ts';
import { shippedConfig } from '../../src/wiring/configFile.ts';
import { storedPlanted } from '../backtest/profile/storedPlanted.ts';
import type { Planted } from '../backtest/profile/plantedMarket.ts';
import { Bench, ran } from './program.ts';

const bench = new Bench();
afterAll(() => bench.clear());

/** The maker fee of the shipped configuration, in bps. */
const FEE = 10;
const DECAY = 0.06;
/** A maker d away keeps 0.8 d - 4.3 bps, ten bps of fee not taken off: at 35 bps more than ten are left. */
const EDGE: Planted = { perMinute: 6, decayPerBps: DECAY, move: 1, moveOfReach: 0.2, volatilityBps: 20 };
/** What a taker reaches is what the middle moves, but for the fee: at every distance exactly nothing is left. */
const NONE: Planted = { ...EDGE, move: -1 / DECAY - FEE, moveOfReach: 1 };

const study = (name: string, seed: number, truth: Planted): readonly string[] => {
  const path = storedPlanted(bench.path(`${name}-tape`), seed, 2, truth);
  const file = bench.file(
    `${name}.yaml`,
    stringify({
      config: shippedConfig('sandbox'),
      tapes: [{ name: 'planted', path }],
      parameters: {
        'strategy.halfSpreadBps': { linear: [11, 60] },
        'strategy.levels': { integer: [1, 3] },
        'strategy.skew.priceBpsAtLimit': { linear: [0, 20] },
      },
      search: { algorithm: 'tpe', seed, trials: 8, batch: 4 },
      ...{ segments: 2, models: ['expected'] },
    }),
  );
  const out = ['--out', bench.path(`${name}.html`), '--yaml', bench.path(`${name}-best.yaml`)];
  return ['tune', '-c', file, '--registry', bench.path(`${name}-registry`), ...out];
};

const numbersOf = (name: string): Tuning => JSON.parse(readFileSync(bench.path(`${name}.json`), 'utf8')) as Tuning;

describe.each([1, 2, 3])('seed %i', seed => {
  test('an edge is found, holds on its holdout, and is a configuration that puntas check takes', async () => {
    const flags = study(`edge-${seed}`, seed, EDGE);
    const yaml = bench.path(`edge-${seed}-best.yaml`);
    const { code, stdout } = await ran([...flags, '--open-holdout']);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^In the tuning hours and in the holdout, trial \d+ is better than not\s+trading\./),
    ]);
    expect(stdout).toContain(`configuration: ${yaml}`);
    const { verdict, evidence, holdout } = numbersOf(`edge-${seed}`);
    expect(verdict).toEqual({ better: true, words: [] });
    expect([evidence!.interval!.low > 0, evidence!.deflated.probability >= 0.95]).toEqual([true, true]);
    expect(evidence!.paths.every(net => net > 0)).toBe(true);
    expect(holdout!.net).toBeGreaterThan(0);
    expect(readFileSync(yaml, 'utf8')).toContain('# In the tuning hours');
    const checked = await ran(['check', '-c', yaml]);
    expect([checked.code, checked.stdout]).toEqual([0, expect.stringMatching(/bid [\d.]+ at \d+/)]);
  });

  test('without it nothing is better than not trading, and no configuration is written', async () => {
    const flags = study(`none-${seed}`, seed, NONE);
    const yaml = bench.path(`none-${seed}-best.yaml`);
    const { code, stdout } = await ran(flags);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^No trial is better than not trading: /)]);
    expect(existsSync(yaml)).toBe(false);
    const { counts, verdict } = numbersOf(`none-${seed}`);
    // It is not that nothing was tried, or nothing filled.
    expect([verdict.better, counts.feasible > 4]).toEqual([false, true]);
  });
});

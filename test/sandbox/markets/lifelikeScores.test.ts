/** The lifelike market beside recordings of single orders, as docs/development/evidence/lifelike.md states it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAKER_SECONDS, MAKER_SEEDS, makerWorth, type MakerWorth } from '../../bench/imbalanceMaker.ts';
import { pooledSamples } from '../../bench/orderFlowScores.ts';
import {
  FIGURES_FILE,
  marketSamples,
  measureRecordings,
  ORDER_FLOW_SETS,
  scoreRows,
  SCORE_SEEDS,
  textOfFigures,
} from '../../bench/scoreTable.ts';

const DATA = process.env['PUNTAS_DATA'] ?? '../shared/data';
const lifelike = marketSamples('lifelike');
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

describe('the lifelike market beside Bitstamp 2015', () => {
  const rows = scoreRows({
    lifelike,
    flow: marketSamples('flow'),
    poisson: marketSamples('poisson'),
  });

  // Other versions of the engine may compute an exponential with another last bit: a few rows by L1 are within chance.
  it('is nearer than a book without memory in 15 of 20 scores or more, and by L1 in 13', () => {
    expect(rows).toHaveLength(20);
    expect(rows.filter(row => row.isNearerL1).length).toBeGreaterThanOrEqual(13);
    expect(rows.filter(row => row.isNearerWasserstein).length).toBeGreaterThanOrEqual(15);
  });

  it('is nearer than the default market in 15 of 20 scores or more, by both distances', () => {
    expect(rows.filter(row => row.lifelike.l1 < row.flow.l1).length).toBeGreaterThanOrEqual(15);
    expect(rows.filter(row => row.lifelike.wasserstein < row.flow.wasserstein).length).toBeGreaterThanOrEqual(15);
  });
});

describe.each(SCORE_SEEDS.map((seed, i) => [seed, i] as const))('the lifelike market with seed %i', (_, i) => {
  const { imbalanceR, impact, gapMemory, sideMemory } = lifelike[i]!.dynamics;

  it('has the recorded prediction by imbalance, impact and memory', () => {
    // Recorded: 0.06 to 0.21.
    expect(imbalanceR).toBeGreaterThan(0.06);
    expect(imbalanceR).toBeLessThan(0.21);
    // Recorded after 15 s: 0.3 to 6.5 spreads.
    expect(impact[2]).toBeGreaterThan(0.3);
    expect(impact[2]).toBeLessThan(6.5);
    // Recorded in the logs of single orders: 0.34 and 0.46.
    expect(gapMemory).toBeGreaterThan(0.3);
    expect(gapMemory).toBeLessThan(0.5);
    expect(sideMemory[0]).toBeGreaterThan(0.2);
  });
});

it('the lifelike market predicts less by imbalance where that is not planted', () => {
  const planted = pooledSamples(lifelike).dynamics.imbalanceR;
  const rest = pooledSamples(marketSamples('no signal')).dynamics.imbalanceR;
  expect(planted).toBeGreaterThan(rest + 0.01);
});

describe('a maker at the best prices of the lifelike market, without fees', () => {
  const runs = (imbalanceSignal: boolean) =>
    MAKER_SEEDS.map(seed => makerWorth({ kind: 'lifelike', imbalanceSignal }, seed, MAKER_SECONDS));
  const [planted, off] = [runs(true), runs(false)];
  const worthOf = (of: readonly MakerWorth[], pick: (one: MakerWorth) => readonly number[]) => mean(of.flatMap(pick));

  it('gains more by the imbalance where that was planted', () => {
    const gain = (of: readonly MakerWorth[]) =>
      worthOf(of, one => one.withImbalance) - worthOf(of, one => one.againstImbalance);
    expect(gain(off)).toBeLessThan(0);
    expect(gain(planted)).toBeGreaterThan(gain(off));
  });

  it('earns, and is filled within a minute more often than not', () => {
    expect(worthOf(planted, one => one.all)).toBeGreaterThan(0);
    const quick = planted.filter(({ firstFillS }) => firstFillS <= 60).length;
    expect(quick).toBeGreaterThan(planted.length / 2);
  });
});

it.runIf(ORDER_FLOW_SETS.every(set => existsSync(join(DATA, set))))(
  'the committed statistics are those of the recordings (npm run score:flow -- --measure writes them)',
  async () => {
    expect(textOfFigures(await measureRecordings(DATA))).toBe(readFileSync(FIGURES_FILE, 'utf8'));
  },
);

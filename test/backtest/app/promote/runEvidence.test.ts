/** Evidence of a stage from the recordings of real runs in virtual time, beside what each run said at its end. */
import { createHash } from 'node:crypto';
import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tradedStage, type TradedStage } from '../../../../backtest/app/promote/runEvidence.ts';
import type { Config } from '../../../../src/config.ts';
import { recordedRunOf, recordingsIn } from '../../../../src/live/recording/recordings.ts';
import { ledgerFileIn } from '../../../../src/live/state/ledgerFile.ts';
import { sandboxConfig, started, worldOf, type World } from '../../../live/world.ts';
import { sized } from '../../../many.ts';

/** Half spread and fill model of each run; the second half spread is another configuration. */
const RUNS = [
  [16, 'expected'],
  [22, 'expected'],
  [16, 'optimistic'],
] as const;
const top = mkdtempSync(join(tmpdir(), 'puntas-evidence-'));
let world: World;
/** Fills that each run reported at its end. */
const fillsOf: number[] = [];
const configOf = (halfSpreadBps: number, fills: string): Config =>
  sandboxConfig({ strategy: { halfSpreadBps }, paper: { fills }, state: { dir: world.stateDir } });

beforeAll(async () => {
  world = worldOf(5);
  for (const [halfSpreadBps, fills] of RUNS) {
    const running = await started(world, { config: configOf(halfSpreadBps, fills) });
    await world.clock.advance(sized(120_000, 45_000));
    fillsOf.push((await running.stop()).summary.fills!);
  }
});
afterAll(() => {
  world.end();
  rmSync(top, { recursive: true, force: true });
});

const startOf = (at: number): number => recordedRunOf(world.stateDir, recordingsIn(world.stateDir)[at]!.run)!.startedAt;
const lookAt = (
  dir: string,
  since: number,
  onInput = (): void => undefined,
  fills = 'expected',
): Promise<TradedStage> => tradedStage({ dir, config: configOf(16, fills), since, clock: world.clock, onInput });

test('the evidence of a stage is that of all runs of its configuration that started in it, and of no others', async () => {
  expect(fillsOf.reduce((sum, fills) => sum + fills, 0)).toBeGreaterThan(0);
  for (const [at, since] of [
    ...RUNS.map((_, i) => [i, startOf(i)] as const),
    [RUNS.length, startOf(RUNS.length - 1) + 1] as const,
  ]) {
    const { evidence, traded } = await lookAt(world.stateDir, since);
    const own = RUNS.flatMap(([bps], i) => (i >= at && bps === 16 ? [i] : []));
    const files = own.map(i => recordingsIn(world.stateDir)[i]!.run);
    expect(evidence.runs.map(({ run, difference }) => [run, difference])).toEqual(files.map(run => [run, null]));
    expect(evidence.others).toBe(RUNS.length - at - own.length);
    expect(evidence.fills).toBe(own.reduce((sum, i) => sum + fillsOf[i]!, 0));
    const hours = evidence.runs.reduce((sum, { from, to }) => sum + (to - from) / 3_600_000, 0);
    expect(evidence.hours).toBeCloseTo(hours, 9);
    expect(evidence.runs.every(({ from, to }) => from >= since && to > from)).toBe(true);
    expect(evidence.uptime > 0).toBe(own.length > 0);
    expect([evidence.isPaper, evidence.model]).toEqual([false, null]);
    expect(traded?.instrument.symbol).toBe(own.length > 0 ? 'btc_mxn' : undefined);
  }
});

test('a ledger counts only if it was compared since the start of the stage', async () => {
  const { ledger } = (await lookAt(world.stateDir, 1)).evidence;
  expect(ledger).toMatchObject({ differences: {} });
  expect((await lookAt(world.stateDir, ledger!.at)).evidence.ledger).toEqual(ledger);
  expect((await lookAt(world.stateDir, ledger!.at + 1)).evidence.ledger).toBeNull();
});

test.each(['here', 'there'] as const)(
  'a ledger of two exchanges counts from the older of its two comparisons on, here the one %s',
  async older => {
    const both = worldOf(7, { timing: { shutdownMs: 20_000 } }, 'elsewhere');
    let isOut = false;
    const unread = (place: typeof older, list: RegExp) => (request: { readonly target: string }) =>
      isOut && place === older && list.test(request.target) ? ('not sent' as const) : ('arrives' as const);
    const running = await started(both, {
      fate: unread('here', /\/balance/),
      fateThere: unread('there', /\/account\?/),
    });
    await both.clock.advance(20_000);
    isOut = true;
    await both.clock.advance(40_000);
    await running.stop();
    const { stateDir: dir, config, clock } = both;
    const { checked, checkedThere } = (await ledgerFileIn(dir, clock))!;
    const at = { here: checked!.at, there: checkedThere!.at };
    expect(at[older]).toBe(Math.min(at.here, at.there));
    expect(at.here).not.toBe(at.there);
    const ledgerSince = async (since: number) =>
      (await tradedStage({ dir, config, since, clock, onInput: () => undefined })).evidence.ledger;
    expect(await ledgerSince(at[older])).toEqual({ at: at[older], differences: {} });
    expect(await ledgerSince(at[older] + 1)).toBeNull();
    both.end();
  },
);

test('a recording that grows during the check is judged by what it was, and one that cannot be read is named', async () => {
  const dir = join(top, 'growing');
  mkdirSync(dir);
  const { run } = recordingsIn(world.stateDir).at(-1)!;
  const file = join(dir, `run-${run}.rec`);
  copyFileSync(join(world.stateDir, `run-${run}.rec`), file);
  const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
  const sha256 = hashOf(readFileSync(file));
  let hasGrown = false;
  const { evidence } = await lookAt(dir, 1, () => {
    if (!hasGrown) appendFileSync(file, 'x');
    hasGrown = true;
  });
  expect(evidence.runs).toMatchObject([{ run, sha256, difference: null }]);
  writeFileSync(join(dir, 'run-999.rec'), 'what is no recording');
  await expect(lookAt(dir, 1)).rejects.toThrow(
    /run 999 cannot be read \(.*\); move the recording of the run to another folder$/,
  );
  expect((await lookAt(join(top, 'nothing'), 1)).evidence).toMatchObject({
    runs: [],
    others: 0,
    hours: 0,
    ledger: null,
  });
});

test('on paper, the fills of another model than that of the configuration are no evidence, whichever came last', async () => {
  const dir = join(top, 'paper');
  mkdirSync(dir);
  writeFileSync(join(dir, 'PAPER'), '');
  const all = recordingsIn(world.stateDir).map(({ run }) => run);
  for (const run of all) copyFileSync(join(world.stateDir, `run-${run}.rec`), join(dir, `run-${run}.rec`));
  for (const model of ['expected', 'optimistic']) {
    const { evidence } = await lookAt(dir, 1, () => undefined, model);
    const own = RUNS.findIndex(([bps, fills]) => bps === 16 && fills === model);
    expect(evidence.runs.map(({ run }) => run)).toEqual([all[own]]);
    expect([evidence.isPaper, evidence.model, evidence.others]).toEqual([true, model, 2]);
    expect(evidence.fills).toBe(fillsOf[own]);
  }
});

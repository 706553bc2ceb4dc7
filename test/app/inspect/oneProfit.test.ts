/** One question, one number: profit since the opening and the run's part of it, on every surface, over reloads, restarts and crashes. */
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { botStatus } from '../../../src/app/actions/botStatus.ts';
import { BesideRun } from '../../../src/app/console/besideRun.ts';
import { consoleView } from '../../../src/app/console/consoleView.ts';
import { LiveRun } from '../../../src/app/console/liveRun.ts';
import { ledger } from '../../../src/app/inspect/ledger.ts';
import { lastMoment, profitAt } from '../../../src/app/inspect/profitNow.ts';
import { profitReport, reportJson } from '../../../src/app/inspect/profitReport.ts';
import type { PrintedProfit } from '../../../src/messages/shownProfit.ts';
import { moneyOf } from '../../../src/core/index.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { ledgerFileIn } from '../../../src/live/state/ledgerFile.ts';
import { doomed, restarted } from '../../live/crashes.ts';
import { Folders } from '../../live/states.ts';
import { started, worldOf, type Running, type World } from '../../live/world.ts';
import { few } from '../../many.ts';

const folders = new Folders();
const worlds: World[] = [];
afterEach(() => worlds.splice(0).forEach(world => world.end()));
afterAll(() => folders.clear());

type Shown = Readonly<Record<'status' | 'report' | 'ledger' | 'console', PrintedProfit>> & {
  readonly days: bigint;
  readonly hours: number;
};

/** Each surface asks for itself, as its command does. */
async function shownIn(world: World, dir: string): Promise<Shown> {
  const clock = realClock();
  const file = (await ledgerFileIn(dir, clock))!;
  const report = profitReport(file, {}, world.clock.now(), undefined, profitAt(lastMoment(dir), file));
  const [line = ''] = await ledger(dir, { entries: false, form: 'json' }, clock);
  const live = new LiveRun(dir, world.clock);
  live.start();
  while (live.catchingUp !== null) await world.clock.advance(0);
  const beside = new BesideRun({ ...world.config, state: { dir } }, world.clock);
  await beside.readLedger();
  const outside = { bot: beside.bot(null), runs: live.runs, catchingUp: null, budgets: null, events: [], note: null };
  const view = consoleView(live.replay!, { ...outside, kind: 'live', ledger: beside.ledger })!;
  live.stop();
  return {
    status: (await botStatus(dir, { ...clock, now: () => world.clock.now() })).profit!,
    report: (reportJson(report) as { profit: PrintedProfit }).profit,
    ledger: (JSON.parse(line) as { profit: PrintedProfit }).profit,
    console: view.profit!,
    days: report.total.net,
    hours: view.hours.reduce((sum, { net }) => sum + Number(net), 0),
  };
}

/** They all say the same, and days and hours add up to it. */
async function agree(world: World, dir: string): Promise<PrintedProfit> {
  const { status, report, ledger: ofLedger, console: page, days, hours } = await shownIn(world, dir);
  expect(status.run).not.toBeNull();
  expect(report).toEqual(status);
  expect(ofLedger).toEqual(status);
  expect(page).toEqual(status);
  expect(days).toBe(moneyOf(status.total));
  expect(Math.abs(hours - Number(status.total))).toBeLessThan(0.02 * 50);
  return status;
}

/** The bot's own page of metrics at a moment at which the recording has all that the engine was told. */
async function metricsAgree(world: World, dir: string, { log }: Running): Promise<void> {
  const url = log.map(({ text }) => /metrics at (\S+)/.exec(text)?.[1]).findLast(found => found !== undefined)!;
  const sumOf = (page: string, name: string): number =>
    page
      .split('\n')
      .filter(line => line.startsWith(`${name}{`))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  let told: readonly number[] = [];
  for (let looks = 0; looks < 60; looks++) {
    // The page is kept for a second.
    await world.clock.advance(1_010);
    const page = await (await fetch(url)).text();
    const { total, run } = (await botStatus(dir, realClock())).profit!;
    const off = Math.abs(sumOf(page, 'puntas_profit_since_opening') - Number(total));
    const runOff = Math.abs(sumOf(page, 'puntas_profit_run') - Number(run?.total));
    if (off < 1e-6 && runOff < 1e-6) return;
    told = [off, runOff];
  }
  expect(told).toEqual([0, 0]);
}

describe('profit', () => {
  test.each(few([51, 52], 1))('is one number on every surface, whatever became of the runs (seed %i)', async seed => {
    const world = worldOf(seed, { limits: { drawdownMax: '9000', dayLossMax: '9000' } });
    worlds.push(world);
    const limits = { ...world.config.limits, ordersMax: world.config.limits.ordersMax + 1 } as never;
    const config = { ...world.config, limits };
    const read = () => ({ config, text: 'another' });
    const source = { file: 'bot.yaml', given: world.config, read, inspect: read };
    const first = await started(world, { source });
    await world.clock.advance(400_000);
    const early = await agree(world, world.stateDir);
    first.hangUp();
    await world.clock.advance(60_000);
    expect(first.log.some(({ text }) => /reload/.test(text))).toBe(true);
    const before = await agree(world, world.stateDir);
    await metricsAgree(world, world.stateDir, first);
    const ended = await first.stop();
    const stopped = await agree(world, world.stateDir);
    // A run ends with what its last line says.
    expect(ended.summary.profit).toEqual(stopped);
    expect(stopped.run?.total).not.toBe(ended.summary.pnl!.total);
    expect(moneyOf(ended.summary.pnl!.total)).toBe(moneyOf(stopped.total));
    expect(before.since).toBe(early.since);
    expect(stopped.since).toBe(before.since);

    await world.clock.advance(300_000);
    const second = await doomed({ ...world, config: world.config }, folders);
    await world.clock.advance(200_000);
    const again = await agree(world, world.stateDir);
    expect(again.since).toBe(before.since);
    await metricsAgree(world, world.stateDir, second.running);
    const left = second.kill();
    await second.running.stop();
    const crashed = await agree(world, left);

    await world.clock.advance(3 * 3_600_000);
    const third = await restarted(world, left);
    await world.clock.advance(200_000);
    const last = await agree(world, left);
    expect([last.since, last.currency]).toEqual([before.since, 'mxn']);
    expect(last.at! > crashed.at!).toBe(true);
    const end = await third.stop();
    expect(end.summary.profit).toEqual(await agree(world, left));
  });
});

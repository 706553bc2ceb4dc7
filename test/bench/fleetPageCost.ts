/**
 * Cost of the fleet page for the bots beside it: the 99th percentile (p99) of the decisions of four bots, with `puntas fleet` and an open page of it, and without, in
 * short turns. Each bot has its console in both. `node dist/test/bench/fleetPageCost.js [--bots 4] [--turns 20] [--seconds 10] [--speed 5] [--json]`
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fleetFile, shippedBots } from '../fleet/shippedBots.ts';
import { OpenPages } from './openPages.ts';
import { pause } from './pause.ts';
import { Probed } from './probed.ts';
import { isLoadedTurn, ratioLines, turnRatios, type Turn } from './turnRatio.ts';

const { values } = parseArgs({
  options: {
    bots: { type: 'string', default: '4' },
    turns: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '10' },
    speed: { type: 'string', default: '5' },
    json: { type: 'boolean', default: false },
  },
});
const [botCount = 4, turns = 20, seconds = 10] = [values.bots, values.turns, values.seconds].map(Number);
/** The page is started or ended, and what that takes is over. */
const SETTLES_MS = 4_000;
const WARM_UP_MS = 20_000;

const dir = mkdtempSync(join(tmpdir(), 'puntas-fleet-cost-'));
const bots: Probed[] = [];
let fleet: Probed | null = null;
try {
  const shipped = await shippedBots(dir, botCount);
  for (const { file } of shipped) {
    const bot = new Probed(['run', '-c', file, '--speed', values.speed], { probe: 'decisions' });
    bots.push(bot);
    await bot.says(/"msg":"quoting"/);
    await bot.says(/console of \S+ at http/);
  }
  const file = fleetFile(dir, shipped);
  await pause(WARM_UP_MS);
  const taken: Turn[] = [];
  const loads: number[] = [];
  let views = 0;
  const ofAll = async (): Promise<Turn['decisions']> => {
    const each = await Promise.all(bots.map(bot => bot.decisions()));
    return { clock: each.flatMap(({ clock }) => clock), processor: each.flatMap(({ processor }) => processor) };
  };
  for (let turn = 0; turn < turns; turn++) {
    const isLoaded = isLoadedTurn(turn);
    let page: OpenPages | null = null;
    if (isLoaded) {
      fleet = new Probed(['fleet', '-c', file]);
      const [, url] = await fleet.says(/fleet of \d+ bots at (http:[\w.:/]+)/);
      page = new OpenPages(url!);
      await page.open(1);
    }
    await pause(SETTLES_MS);
    await ofAll();
    const before = page?.views ?? 0;
    await pause(seconds * 1_000);
    taken.push({ isLoaded, decisions: await ofAll() });
    loads.push(loadavg()[0]!);
    views += (page?.views ?? 0) - before;
    page?.close();
    fleet?.signal('SIGTERM');
    await fleet?.ended;
    fleet = null;
  }
  const found = turnRatios(taken);
  const decisions = taken.reduce((sum, one) => sum + one.decisions.clock.length, 0);
  const machine = { node: process.version, cores: cpus().length, load: [Math.min(...loads), Math.max(...loads)] };
  if (values.json) console.log(JSON.stringify({ bots: botCount, turns, seconds, decisions, views, ...found, machine }));
  else {
    console.log(
      `${decisions} decisions of ${botCount} bots in ${turns} turns of ${seconds} s, ${views} views of the fleet page; Node ${machine.node}, ${machine.cores} cores, load ${machine.load.join(' to ')}`,
    );
    for (const line of ratioLines(found, 'the fleet page')) console.log(line);
  }
} finally {
  const left = fleet === null ? bots : [fleet, ...bots];
  for (const program of left) program.signal('SIGINT');
  await Promise.all(left.map(({ ended }) => ended));
  rmSync(dir, { recursive: true, force: true });
}

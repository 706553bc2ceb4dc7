/**
 * What open pages of the console cost a bot: the 99th percentile (p99) of its decisions with 100 pages and with none, in short turns, so that what else the machine
 * does comes to both. `node dist/test/bench/openPagesCost.js [--pages 100] [--turns 20] [--seconds 8] [--speed 20] [--json]`
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { OpenPages } from './openPages.ts';
import { Probed } from './probed.ts';
import { soakConfig } from './soakConfig.ts';
import { pause } from './pause.ts';
import { isLoadedTurn, ratioLines, turnRatios, type Turn } from './turnRatio.ts';

const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '100' },
    turns: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '8' },
    speed: { type: 'string', default: '20' },
    json: { type: 'boolean', default: false },
  },
});
const [pageCount = 100, turns = 20, seconds = 8] = [values.pages, values.turns, values.seconds].map(Number);
/** Pages are opened or closed, and what that takes is over. */
const SETTLES_MS = 2_000;
const WARM_UP_MS = 20_000;
const dir = mkdtempSync(join(tmpdir(), 'puntas-pages-'));
let bot: Probed | null = null;
let shown: Probed | null = null;
try {
  const file = await soakConfig(dir);
  bot = new Probed(['run', '-c', file, '--speed', values.speed], { probe: 'decisions' });
  await bot.says(/"msg":"quoting"|as maker/);
  shown = new Probed(['console', '-c', file, '--port', '0']);
  const [, url] = await shown.says(/console of \S+ at (http:\/\/127\.0\.0\.1:\d+)/);
  await pause(WARM_UP_MS);
  const taken: Turn[] = [];
  let views = 0;
  for (let turn = 0; turn < turns; turn++) {
    const isLoaded = isLoadedTurn(turn);
    const pages = new OpenPages(url!);
    await pages.open(isLoaded ? pageCount : 0);
    await pause(SETTLES_MS);
    await bot.decisions();
    const before = pages.views;
    await pause(seconds * 1_000);
    taken.push({ isLoaded, decisions: await bot.decisions() });
    views += pages.views - before;
    pages.close();
    if (process.stderr.isTTY) process.stderr.write(`\r${turn + 1} of ${turns} turns`);
  }
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[2K');
  const found = turnRatios(taken);
  const decisions = taken.reduce((sum, one) => sum + one.decisions.clock.length, 0);
  if (values.json) console.log(JSON.stringify({ pages: pageCount, turns, seconds, decisions, views, ...found }));
  else {
    console.log(`${decisions} decisions in ${turns} turns of ${seconds} s, ${views} views to ${pageCount} pages`);
    for (const line of ratioLines(found, `${pageCount} pages`)) console.log(line);
  }
} finally {
  for (const program of [shown, bot]) program?.signal('SIGINT');
  await Promise.all([shown?.ended, bot?.ended]);
  rmSync(dir, { recursive: true, force: true });
}

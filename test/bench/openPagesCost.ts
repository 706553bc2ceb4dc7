/**
 * What open pages of the console cost a bot: the 99th percentile (p99) of its decisions with 100 pages and with none, in short turns, so that what else the machine
 * does comes to both. `node dist/test/bench/openPagesCost.js [--pages 100] [--turns 20] [--seconds 8] [--speed 20] [--json]`
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { randomOf } from '../../src/core/index.ts';
import { OpenPages } from './openPages.ts';
import { Probed } from './probed.ts';
import type { Decisions } from './decisionProbe.ts';
import { soakConfig } from './soakConfig.ts';
import { pause } from './pause.ts';

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
const RESAMPLES = 2_000;

type Turn = { readonly pages: number; readonly decisions: Decisions; readonly views: number };
type By = keyof Decisions;

const quantile = (all: readonly number[], share: number): number =>
  all.toSorted((a, b) => a - b)[Math.min(all.length - 1, Math.floor(all.length * share))] ?? Number.NaN;
const median = (all: readonly number[]): number => quantile(all, 0.5);
const p99 = (all: readonly Turn[], by: By): number =>
  quantile(
    all.flatMap(({ decisions }) => decisions[by]),
    0.99,
  );

/** Of all decisions with pages to all without, and the middle 95 % of that over resampled pairs of neighbouring turns. */
function ratioOf(pairs: readonly (readonly [without: Turn, withPages: Turn])[], by: By) {
  const of = (some: typeof pairs) =>
    p99(
      some.map(([, one]) => one),
      by,
    ) /
    p99(
      some.map(([one]) => one),
      by,
    );
  const random = randomOf(1);
  const drawn = Array.from({ length: RESAMPLES }, () =>
    of(pairs.map(() => pairs[random.integer(0, pairs.length - 1)]!)),
  );
  const single = pairs.map(pair => of([pair]));
  return {
    without: p99(
      pairs.map(([one]) => one),
      by,
    ),
    withPages: p99(
      pairs.map(([, one]) => one),
      by,
    ),
    ratio: of(pairs),
    low: quantile(drawn, 0.025),
    high: quantile(drawn, 0.975),
    medianOfTurns: median(single),
  };
}

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
  // ABBA: what grows or shrinks meanwhile comes to both alike.
  for (let turn = 0; turn < turns; turn++) {
    const count = turn % 4 === 0 || turn % 4 === 3 ? 0 : pageCount;
    const pages = new OpenPages(url!);
    await pages.open(count);
    await pause(SETTLES_MS);
    await bot.decisions();
    const before = pages.views;
    await pause(seconds * 1_000);
    taken.push({ pages: count, decisions: await bot.decisions(), views: pages.views - before });
    pages.close();
    if (process.stderr.isTTY) process.stderr.write(`\r${turn + 1} of ${turns} turns`);
  }
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[2K');
  const pairs = Array.from({ length: Math.floor(turns / 2) }, (_, i) => {
    const two = taken.slice(2 * i, 2 * i + 2);
    return [two.find(({ pages }) => pages === 0)!, two.find(({ pages }) => pages > 0)!] as const;
  });
  const found = { processor: ratioOf(pairs, 'processor'), clock: ratioOf(pairs, 'clock') };
  const views = taken.reduce((sum, one) => sum + one.views, 0);
  const decisions = taken.reduce((sum, one) => sum + one.decisions.clock.length, 0);
  if (values.json) console.log(JSON.stringify({ pages: pageCount, turns, seconds, decisions, views, ...found }));
  else {
    console.log(`${decisions} decisions in ${turns} turns of ${seconds} s, ${views} views to ${pageCount} pages`);
    for (const [name, { without, withPages, ratio, low, high, medianOfTurns }] of Object.entries(found))
      console.log(
        `p99 of a decision, by the ${name}: ${without.toFixed(0)} µs without pages, ${withPages.toFixed(0)} µs with; ` +
          `ratio ${ratio.toFixed(3)} (95 %: ${low.toFixed(3)} to ${high.toFixed(3)}; median of pairs of turns ${medianOfTurns.toFixed(3)})`,
      );
  }
} finally {
  for (const program of [shown, bot]) program?.signal('SIGINT');
  await Promise.all([shown?.ended, bot?.ended]);
  rmSync(dir, { recursive: true, force: true });
}

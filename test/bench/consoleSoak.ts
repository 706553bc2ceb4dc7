/**
 * Whether anything grows: the shipped bot at twenty times speed and its console with ten open pages, sampled every half minute for an hour, with a trend of
 * each figure. The embedded exchange is a process of its own and shown beside them. `node dist/test/bench/consoleSoak.js [--minutes 60] [--every 30] [--speed 20] [--pages 10] [--json] [--out FILE]`; with PUNTAS_BROWSER one page more, in a real browser.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { BrowserPage, type PageSample } from './browserPage.ts';
import { OpenPages } from './openPages.ts';
import { Probed, type ProbedSample } from './probed.ts';
import { soakConfig } from './soakConfig.ts';
import { soakPlot, soakTable, verdictOf, type Row } from './soakReport.ts';
import { pause } from './pause.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    every: { type: 'string', default: '30' },
    speed: { type: 'string', default: '20' },
    pages: { type: 'string', default: '10' },
    json: { type: 'boolean', default: false },
    /** The JSON, and beside it the plot as SVG. */
    out: { type: 'string' },
  },
});
const [minutes, every, speed, pageCount] = [values.minutes, values.every, values.speed, values.pages].map(Number) as [
  number,
  number,
  number,
  number,
];
/** What a run begins with is no growth: so much of the time comes before what is measured. */
const WARM_UP = 0.15;

/** What `puntas exchange` prints. */
type Face = Readonly<Record<'url' | 'stream' | 'rest' | 'key' | 'secret' | 'book', string>>;

/** What its clock says, by its book. */
async function marketTime({ rest, book }: Face): Promise<number> {
  const answer = await fetch(`${rest}/ticker?book=${book}`, { headers: { connection: 'close' } });
  const { payload } = (await answer.json()) as { readonly payload: { readonly created_at: string } };
  return Date.parse(payload.created_at);
}

/** The bot on that exchange, with its clock. */
async function botOn(face: Face, file: string): Promise<Probed> {
  const times = [speed, await marketTime(face), Date.now()].map(String);
  return new Probed([file, ...times], {
    module: fileURLToPath(new URL('fastBot.js', import.meta.url)),
    env: { PUNTAS_API_KEY: face.key, PUNTAS_API_SECRET: face.secret },
  });
}

function rowOf(
  hours: number,
  [bot, shown, exchange]: readonly [ProbedSample, ProbedSample, ProbedSample],
  pages: OpenPages,
  page: PageSample | null,
): Row {
  const {
    run = 0,
    fills,
    bot: seen,
  } = JSON.parse(pages.last || '{}') as {
    readonly run?: number;
    readonly fills?: { readonly count: number };
    readonly bot?: { readonly state: string };
  };
  return {
    hours,
    bot,
    console: shown,
    exchange,
    page,
    views: pages.views,
    lost: pages.lost,
    run,
    fills: fills?.count ?? 0,
    state: seen?.state ?? 'not seen',
  };
}

const dir = mkdtempSync(join(tmpdir(), 'puntas-soak-'));
const rows: Row[] = [];
let exchange: Probed | null = null;
let bot: Probed | null = null;
let shown: Probed | null = null;
let browser: BrowserPage | null = null;
const pages: OpenPages[] = [];
let hasBroken = false;
try {
  exchange = new Probed(['exchange', '-c', await soakConfig(dir), '--port', '0', '--speed', String(speed)]);
  const face = JSON.parse((await exchange.says(/^\{.*\}$/m))[0]) as Face;
  const file = await soakConfig(dir, face);
  bot = await botOn(face, file);
  await bot.says(/"msg":"quoting"|as maker/);
  shown = new Probed(['console', '-c', file, '--port', '0']);
  const [, url] = await shown.says(/console of \S+ at (http:\/\/127\.0\.0\.1:\d+)/);
  const open = new OpenPages(url!);
  pages.push(open);
  await open.open(pageCount);
  const executable = process.env['PUNTAS_BROWSER'];
  if (executable !== undefined) browser = await BrowserPage.open(executable, url!);
  const began = performance.now();
  for (let i = 1; i <= Math.round((minutes * (1 + WARM_UP) * 60) / every); i++) {
    await pause(began + i * every * 1_000 - performance.now());
    const hours = (performance.now() - began) / 3_600_000;
    const samples = [await bot.sample(), await shown.sample(), await exchange.sample()] as const;
    rows.push(rowOf(hours, samples, open, (await browser?.sample()) ?? null));
    const last = rows.at(-1)!;
    console.error(
      `${(hours * 60).toFixed(1)} min: bot ${(last.bot.heap / 1e6).toFixed(1)} MB, ${last.bot.fds} fds, p99 ${last.bot.delay.p99.toFixed(0)} ms; console ${(last.console.heap / 1e6).toFixed(1)} MB, ${last.console.fds} fds, p99 ${last.console.delay.p99.toFixed(0)} ms; exchange ${(last.exchange.heap / 1e6).toFixed(1)} MB; ${last.views} views, run ${last.run}, ${last.state}`,
    );
    if (values.out !== undefined) writeFileSync(values.out, JSON.stringify({ speed, pages: pageCount, every, rows }));
  }
} catch (error) {
  hasBroken = true;
  console.error(error instanceof Error ? error.message : error);
} finally {
  for (const open of pages) open.close();
  await browser?.close();
  for (const program of [shown, bot]) program?.signal('SIGINT');
  await Promise.all([shown?.ended, bot?.ended]);
  exchange?.signal('SIGINT');
  await exchange?.ended;
  rmSync(dir, { recursive: true, force: true });
}
const verdict = verdictOf(rows, (minutes * WARM_UP) / 60);
const report = { speed, pages: pageCount, every, minutes: (rows.at(-1)?.hours ?? 0) * 60, verdict, rows };
if (values.out !== undefined) {
  writeFileSync(values.out, `${JSON.stringify(report)}\n`);
  writeFileSync(`${values.out.replace(/\.json$/, '')}.svg`, soakPlot(rows));
}
console.log(values.json ? JSON.stringify(report) : soakTable(verdict));
if (hasBroken || verdict.some(({ is, isBeside }) => is === 'grows' && !isBeside)) process.exitCode = 1;

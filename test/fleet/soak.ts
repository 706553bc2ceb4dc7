/**
 * The fleet page over many bots, as real processes: whether each view is whole and exact, whether it is true, and how late it is; one bot is killed and
 * started again meanwhile, and one is halted. `node dist/test/fleet/soak.js [--bots 50] [--real 50] [--minutes 10] [--json]`. Bots beyond `--real` are
 * servers of this process that answer as a console does. With PUNTAS_BROWSER, a page of a phone's size is open in a real browser too. Ends with 1 for a fault.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium, type Browser, type Page } from 'playwright-core';
import { money, moneyOf, textOfMoney } from '../../src/core/index.ts';
import type { BotSummary, FleetView } from '../../src/console/index.ts';
import { pause } from '../bench/pause.ts';
import { killAll, start, type Running } from '../chaos/programs.ts';
import { double, growing, type Double } from './doubles.ts';
import { fleetFile, shippedBots, type ShippedBot } from './shippedBots.ts';

const { values } = parseArgs({
  options: {
    bots: { type: 'string', default: '50' },
    real: { type: 'string', default: '50' },
    minutes: { type: 'string', default: '10' },
    json: { type: 'boolean', default: false },
  },
});
const [botCount, realCount, minutes] = [values.bots, values.real, values.minutes].map(Number) as [
  number,
  number,
  number,
];
if (!(realCount >= 3 && botCount >= realCount && minutes > 0))
  throw new Error('expected --real of at least 3, --bots of at least --real, --minutes above 0');

const START_WITHIN_MS = 600_000;
/** Bots that start at the same time. */
const START_TOGETHER = 4;
/** Longest time until the page shows what has become of a bot: pauses of a silent console, on a busy machine. */
const SHOWN_WITHIN_MS = 120_000;
const PHONE = { width: 390, height: 844 };

const faults: string[] = [];
const fault = (text: string): void => void (faults.length < 50 && faults.push(text));
const say = (text: string): void => void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
const quantile = (all: readonly number[], share: number): number =>
  all.toSorted((a, b) => a - b)[Math.min(all.length - 1, Math.floor(all.length * share))] ?? Number.NaN;
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

async function sees(program: Running, pattern: RegExp): Promise<RegExpExecArray> {
  for (const until = Date.now() + START_WITHIN_MS; ;) {
    const found = pattern.exec(program.stdout()) ?? pattern.exec(program.stderr());
    if (found !== null) return found;
    if (program.isOver() || Date.now() > until)
      throw new Error(`not seen: ${pattern}\n${program.stdout().slice(-500)}\n${program.stderr().slice(-2_000)}`);
    await pause(100);
  }
}

async function startBot({ file }: ShippedBot): Promise<Running> {
  const program = start(['run', '-c', file]);
  await sees(program, /"msg":"quoting"/);
  await sees(program, /console of \S+ at http/);
  return program;
}

/** Reads a field of a process and of all that it started. */
function sumOfTree(pid: number, of: (pid: number) => number): number {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return (
      of(pid) + (children === '' ? [] : children.split(' ')).reduce((sum, one) => sum + sumOfTree(Number(one), of), 0)
    );
  } catch {
    return 0;
  }
}
const rssMb = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024;
/** Processor time of a process, in s. */
const cpuSeconds = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
};

/** Views of one open page, each judged when it comes. */
class JudgedViews {
  readonly gaps: number[] = [];
  readonly ages: number[] = [];
  /** Reasons of rows that were silent while their bot ran, with their numbers. */
  readonly silences: Record<string, number> = {};
  /** Name of the bot that is killed on purpose; null if there is none. */
  away: string | null = null;
  last: FleetView | null = null;
  #at = Date.now();
  readonly #end = new AbortController();

  /** Reads the stream of the page until `close`. */
  async read(url: string): Promise<void> {
    const { signal } = this.#end;
    const reply = await fetch(`${url}/live`, { signal });
    const decoder = new TextDecoder();
    let text = '';
    try {
      for await (const chunk of reply.body!) {
        text += decoder.decode(chunk, { stream: true });
        const lines = text.split('\n');
        text = lines.pop()!;
        for (const line of lines) if (line.startsWith('data: ')) this.#judge(JSON.parse(line.slice(6)) as FleetView);
      }
      fault('the stream of the page ended');
    } catch (error) {
      if (!signal.aborted) fault(`the stream of the page: ${String(error)}`);
    }
  }

  close(): void {
    this.#end.abort();
  }

  /** Forgets the figures so far. */
  reset(): void {
    this.gaps.length = this.ages.length = 0;
    for (const reason of Object.keys(this.silences)) delete this.silences[reason];
  }

  #judge(view: FleetView): void {
    this.gaps.push(Date.now() - this.#at);
    this.#at = Date.now();
    this.last = view;
    if (view.bots.length !== botCount) fault(`a view has ${view.bots.length} rows, expected ${botCount}`);
    for (const { money: kind, profit, bots } of view.sums) {
      const rows = view.bots.filter(row => row.money === kind);
      const sum = textOfMoney(money(rows.reduce((all, row) => all + moneyOf(row.profit ?? '0'), 0n)));
      if (profit !== sum || bots !== rows.length)
        fault(`${kind}: sum ${profit} of ${bots}, but the rows have ${sum} of ${rows.length}`);
    }
    for (const { name, state, heardAgoMs, problem } of view.bots) {
      if (name === this.away) continue;
      this.ages.push(heardAgoMs);
      if (state !== 'silent') continue;
      const reason = String(problem).slice(0, 60);
      this.silences[reason] = (this.silences[reason] ?? 0) + 1;
    }
  }
}

/** Waits until the view is as expected, and returns the time. */
async function shownAfter(
  views: JudgedViews,
  what: string,
  isShown: (rows: FleetView['bots']) => boolean,
): Promise<number> {
  const began = Date.now();
  while (views.last === null || !isShown(views.last.bots)) {
    if (Date.now() - began > SHOWN_WITHIN_MS) {
      fault(`${what}: not shown within ${seconds(SHOWN_WITHIN_MS)}`);
      return Number.NaN;
    }
    await pause(20);
  }
  const took = Date.now() - began;
  say(`${what}: shown after ${seconds(took)}`);
  return took;
}

const summaryOf = async ({ url }: ShippedBot): Promise<BotSummary['run']> => {
  const reply = await fetch(`${url}/api/v1/summary`);
  return ((await reply.json()) as BotSummary).run;
};

const dir = mkdtempSync(join(tmpdir(), 'puntas-fleet-soak-'));
const doubles: Double[] = [];
let browser: Browser | null = null;
try {
  const bots = await shippedBots(dir, realCount);
  const programs: Running[] = [];
  const pids = (): number[] =>
    readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim().split(' ').map(Number);
  for (let i = 0; i < realCount; i += START_TOGETHER) {
    programs.push(...(await Promise.all(bots.slice(i, i + START_TOGETHER).map(startBot))));
    say(`${programs.length} of ${realCount} bots quote, load ${loadavg()[0]!.toFixed(1)}`);
  }
  for (let i = realCount; i < botCount; i++)
    doubles.push(
      await double(growing({ instance: `double${i}`, profit: { total: `${i}.5`, run: '1', since: `day ${i}` } })),
    );
  const botsMb = pids().reduce((sum, pid) => sum + sumOfTree(pid, rssMb), 0);
  const botPids = new Set(pids());
  const fleet = start([
    'fleet',
    '-c',
    fleetFile(dir, [...bots, ...doubles.map(({ url }, i) => ({ name: `double${i}`, url }))]),
  ]);
  const [, url] = await sees(fleet, /fleet of \d+ bots at (http:\S+)/);
  const fleetPid = pids().find(pid => !botPids.has(pid))!;

  const noise: string[] = [];
  let page: Page | null = null;
  const { PUNTAS_BROWSER: executablePath } = process.env;
  if (executablePath !== undefined) {
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    page = await browser.newPage({ viewport: PHONE });
    page.on('pageerror', error => noise.push(error.message));
    page.on('console', message => noise.push(message.text()));
    page.on('response', reply => void (reply.ok() || noise.push(`${reply.status()} ${reply.url()}`)));
    await page.goto(url!);
  }
  const views = new JudgedViews();
  const reading = views.read(url!);
  const rowOf = (name: string) => (rows: FleetView['bots']) => rows.find(row => row.name === name);
  await shownAfter(views, 'answers of all bots', rows => rows.every(({ state }) => state === 'heard'));
  views.reset();
  const [cpuBefore, rssBefore, began] = [cpuSeconds(fleetPid), rssMb(fleetPid), Date.now()];
  const loads: number[] = [];
  const isAfter = (share: number): boolean => Date.now() - began > share * minutes * 60_000;
  const [killed, halted] = [bots[0]!, bots[1]!];
  const shown: Record<string, number> = {};
  let [compared, equal, turn] = [0, 0, 0];

  const steps: readonly (readonly [share: number, step: () => Promise<void>])[] = [
    [
      0.3,
      async () => {
        views.away = killed.name;
        programs[0]!.signal('SIGKILL');
        const row = rowOf(killed.name);
        const isSilent = (rows: FleetView['bots']) => row(rows)?.state === 'silent' && row(rows)?.ownProfit !== null;
        shown['kill'] = await shownAfter(views, 'a killed bot, with its last figures', isSilent);
      },
    ],
    [
      0.5,
      async () => {
        programs[0] = await startBot(killed);
        const row = rowOf(killed.name);
        const isBack = (rows: FleetView['bots']) => row(rows)?.state === 'heard' && row(rows)?.bot === 'running';
        shown['restart'] = await shownAfter(views, 'its next process, since it quotes', isBack);
        views.away = null;
      },
    ],
    [
      0.7,
      async () => {
        const reason = 'to see it on the page';
        await start(['halt', '-c', halted.file, '--reason', reason]).ended;
        const row = rowOf(halted.name);
        const isTold = (rows: FleetView['bots']) =>
          row(rows)?.alerts.some(({ text }) => text.includes(reason)) ?? false;
        shown['halt'] = await shownAfter(views, 'a halt', isTold);
      },
    ],
  ];
  const acting = (async () => {
    for (const [share, step] of steps) {
      while (!isAfter(share)) await pause(100);
      await step();
    }
  })();
  // A bot without a fill between two of its own answers is the same on the page between them.
  while (!isAfter(1)) {
    const bot = bots[2 + (turn++ % (realCount - 2))]!;
    const before = await summaryOf(bot);
    await pause(3_000);
    const row = rowOf(bot.name)(views.last?.bots ?? []);
    const after = await summaryOf(bot);
    loads.push(loadavg()[0]!);
    if (before?.fills.count !== after?.fills.count || before?.inventory !== after?.inventory) continue;
    compared++;
    // An answer that is late on a busy machine is shown with its age.
    if (row?.fillCount === after?.fills.count && row?.inventory === after?.inventory) equal++;
    else if ((row?.heardAgoMs ?? 0) < 2_000)
      fault(
        `${bot.name}: the page has ${row?.fillCount} fills, ${row?.inventory}; its console ${after?.fills.count}, ${after?.inventory}`,
      );
  }
  await acting;
  const took = (Date.now() - began) / 1_000;
  if (page !== null) {
    const [rows, width] = await page.evaluate<[number, number]>(
      "[document.querySelectorAll('tr[data-bot]').length, document.documentElement.scrollWidth]",
    );
    if (rows !== botCount || width > PHONE.width) fault(`the browser shows ${rows} rows, ${width} px wide`);
    for (const text of noise) fault(`the browser says: ${text}`);
  }
  const report = {
    ...{ bots: botCount, real: realCount, processes: 2 * realCount + 1, minutes, botsMb: Math.round(botsMb) },
    ...{
      views: views.gaps.length,
      gapMedianMs: quantile(views.gaps, 0.5),
      gapP99Ms: quantile(views.gaps, 0.99),
      gapMaxMs: Math.max(...views.gaps),
    },
    ...{
      ageMedianMs: quantile(views.ages, 0.5),
      ageP99Ms: quantile(views.ages, 0.99),
      ageMaxMs: quantile(views.ages, 1),
    },
    ...{ rows: views.ages.length, silences: views.silences, compared, equal },
    shownAfterMs: shown,
    fleet: { cpuShare: (cpuSeconds(fleetPid) - cpuBefore) / took, rssBeforeMb: rssBefore, rssAfterMb: rssMb(fleetPid) },
    machine: {
      node: process.version,
      cores: cpus().length,
      loadMedian: quantile(loads, 0.5),
      loadMax: Math.max(...loads),
    },
    hasBrowser: page !== null,
    faults,
  };
  console.log(JSON.stringify(report, null, values.json ? undefined : 1));
  views.close();
  await reading;
  await browser?.close();
  fleet.signal('SIGTERM');
  for (const program of programs) program.signal('SIGTERM');
  const ends = await Promise.all([fleet, ...programs].map(({ ended }) => ended));
  // The halted bot ends with 1.
  if (ends.some(({ code }, i) => code !== (i === 2 ? 1 : 0)))
    fault(`exit codes ${ends.map(({ code }) => code).join()}`);
  say(faults.length === 0 ? 'no fault' : `faults: ${faults.join('; ')}`);
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  await browser?.close();
  killAll();
  await Promise.all(doubles.map(each => each.close()));
  rmSync(dir, { recursive: true, force: true });
}

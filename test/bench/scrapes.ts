/** What scrapes cost a bot: requests of a bot that quotes on an exchange of its own process, with so many scrapes a second and without, in turns. */
import { SHOWN, Stage } from '../runbook/stage.ts';
import { pause, within } from '../chaos/programs.ts';

const [perSecond = 200, seconds = 10, rounds = 5] = process.argv.slice(2).map(Number);

type Counts = { readonly requests: number; readonly requestSeconds: number; readonly cpuSeconds: number };

async function page(url: string): Promise<string> {
  const reply = await fetch(`${url}/metrics`);
  return reply.text();
}

async function counts(url: string): Promise<Counts> {
  // A page that was rendered before this moment may be served for a second.
  await pause(1_100);
  const text = await page(url);
  const sum = (name: string) =>
    [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))].reduce(
      (all, [, value]) => all + Number(value),
      0,
    );
  return {
    requests: sum('puntas_request_seconds_count'),
    requestSeconds: sum('puntas_request_seconds_sum'),
    cpuSeconds: sum('process_cpu_seconds_total'),
  };
}

/** Asks at that rate, whether or not answers come; returns how many were answered. */
async function scrape(url: string, rate: number): Promise<number> {
  let answered = 0;
  const asked: Promise<void>[] = [];
  const began = performance.now();
  for (let i = 0; performance.now() - began < seconds * 1000; i++) {
    await pause(Math.max(0, began + (i * 1000) / rate - performance.now()));
    asked.push(
      page(url).then(
        () => void answered++,
        () => undefined,
      ),
    );
  }
  await Promise.all(asked);
  return answered;
}

const median = (all: readonly number[]): number => all.toSorted((a, b) => a - b)[all.length >> 1]!;

const stage = new Stage();
try {
  await stage.openExchange();
  await stage.operator('PATCH', 'switches', { rateLimits: 'off' });
  const bot = stage.run(stage.config());
  await bot.hears(SHOWN);
  const url = /metrics at (\S+)\/metrics/.exec(bot.run.stderr())![1]!;
  if (!(await within(60_000, async () => (await page(url)).includes('puntas_request_seconds_count'))))
    throw new Error();
  const found: { quiet: number; scraped: number; cpu: number; answered: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const before = await counts(url);
    await pause(seconds * 1000);
    const between = await counts(url);
    const answered = await scrape(url, perSecond);
    const after = await counts(url);
    const ms = (from: Counts, to: Counts) =>
      ((to.requestSeconds - from.requestSeconds) * 1000) / (to.requests - from.requests);
    const cpu = after.cpuSeconds - between.cpuSeconds - (between.cpuSeconds - before.cpuSeconds);
    found.push({ quiet: ms(before, between), scraped: ms(between, after), cpu: (cpu * 1000) / answered, answered });
  }
  const quiet = median(found.map(one => one.quiet));
  const scraped = median(found.map(one => one.scraped));
  const ratios = found.map(one => one.scraped / one.quiet);
  console.log(
    `a request of the bot: ${quiet.toFixed(1)} ms, under ${perSecond} scrapes/s ${scraped.toFixed(1)} ms; ` +
      `ratio ${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}); ` +
      `a scrape costs the bot ${median(found.map(one => one.cpu)).toFixed(2)} ms of processor time, ` +
      `${Math.round(median(found.map(one => one.answered)) / seconds)}/s were answered`,
  );
} finally {
  await stage.close();
}

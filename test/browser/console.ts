/** The console in a real browser, beside a bot on the embedded exchange: `.ci/browser.sh` runs it. PUNTAS_BROWSER says where the browser is. */
import { renameSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ShownElsewhere } from '../../src/console/index.ts';
import { Bench, puntas, ran, sharedPuntas, type Program } from '../cli/program.ts';
import { doomed } from '../live/crashes.ts';
import { Folders } from '../live/states.ts';
import { worldOf } from '../live/world.ts';
import { freePort } from '../freePort.ts';
import { enoughToShow, picture } from './picture.ts';

const bench = new Bench();
const folders = new Folders();
/** An hour of it is made in a third of the time. */
const QUIET = {
  timing: { decideEveryMs: 5_000, bookPollMs: 10_000, privatePollMs: 10_000, staleAfterMs: 30_000 },
};
/** What waits for a bot waits as long as a slow machine needs. */
const SLOW = { timeout: 120_000 };
const PANELS = [
  'tiles',
  'depth',
  'regime',
  'limits',
  'levels',
  'orders',
  'profit',
  'results',
  'fills',
  'budgets',
  'hedges',
  'ledger',
  'events',
];

let browser: Browser;
let config: string;
let bot: Program;
let shown: Program;
let url: string;
let pages: Page[] = [];

const trades = (): Program => sharedPuntas(['run', '-c', config, '--speed', '10']);

beforeAll(async () => {
  browser = await chromium.launch({ executablePath: process.env['PUNTAS_BROWSER'] ?? '', args: ['--no-sandbox'] });
  const metrics = `metrics:\n  port: ${await freePort()}`;
  config = bench.config('sandbox', text => `${text.replace(/^metrics:\n {2}port: 0$/m, metrics)}markouts: {}\n`);
  bot = trades();
  shown = sharedPuntas(['console', '-c', config, '--port', '0']);
  url = (await shown.sees(/console of \S+ at (http:\/\/127\.0\.0\.1:\d+)/))[1]!;
  await bot.sees(/as maker/);
  await enoughToShow();
}, 600_000);

afterEach(async () => {
  for (const page of pages) await page.close();
  pages = [];
});

afterAll(async () => {
  await browser?.close();
  for (const program of [shown, bot]) program?.signal('SIGINT');
  await Promise.all([shown?.ended, bot?.ended]);
  bench.clear();
}, 120_000);

/** Opens the page and waits until it shows the bot. Gives back everything that it complained of or asked for elsewhere. */
async function opened(width = 1600, colorScheme: 'light' | 'dark' = 'light', at = url) {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
  pages.push(page);
  const noise: string[] = [];
  page.on('console', message => noise.push(`console: ${message.text()} ${message.location().url}`));
  page.on('pageerror', error => noise.push(`error: ${error.message}`));
  page.on('request', request => {
    const isOwn = request.url().startsWith(`${at}/`);
    if (!isOwn || request.method() !== 'GET') noise.push(`request: ${request.method()} ${request.url()}`);
  });
  await page.goto(at);
  await page.locator('html[data-shown^=live][data-points]').waitFor(SLOW);
  return { page, noise };
}

const attribute = (page: Page, name: string): Promise<string | null> => page.locator('html').getAttribute(name);
/** Until the page shows another moment. */
async function changes(page: Page): Promise<void> {
  await page.locator(`html:not([data-shown="${await attribute(page, 'data-shown')}"])`).waitFor(SLOW);
}
const isPast = (page: Page): Promise<void> => page.locator('html[data-shown^=past]').waitFor(SLOW);
const isLive = (page: Page): Promise<void> => page.locator('html[data-shown^=live]').waitFor(SLOW);
const inPage = <T>(page: Page, expression: string): Promise<T> => page.evaluate<T>(expression);
const text = (page: Page, id: string): Promise<string> => page.locator(`#${id}`).innerText();

/** Cells and figures that reach out of what shows them. */
const CUT_OFF = `[...document.querySelectorAll('.panel td, .panel th, .tile b, .tile span, .limits .row span')]
  .filter(cell => {
    const frame = (innerWidth <= 720 ? null : cell.closest('.wide')) ?? cell.closest('.tile, .panel');
    const [own, shown] = [cell.getBoundingClientRect(), frame.getBoundingClientRect()];
    const canMove = innerWidth <= 720 && cell.closest('.wide') !== null && cell.closest('.at-profit') === null;
    return own.width > 0 && !canMove && (own.right > shown.right + 0.5 || own.left < shown.left - 0.5);
  })
  .map(cell => (cell.closest('.panel')?.className ?? 'tile') + ': ' + cell.textContent)`;

describe('the page', () => {
  test.each([
    [1600, 'light'],
    [1600, 'dark'],
    [1440, 'light'],
    [1280, 'dark'],
    [1000, 'dark'],
    [390, 'light'],
    [390, 'dark'],
  ] as const)('at %d px, %s, shows every panel, fits, and asks nobody else', async (width, scheme) => {
    const { page, noise } = await opened(width, scheme);
    await page.locator('#depth tr.own').first().waitFor(SLOW);
    for (const id of PANELS) expect((await text(page, id)).trim(), id).not.toBe('');
    expect(await page.locator('.at-elsewhere').isVisible()).toBe(false);
    expect(await page.locator('.plot canvas').count()).toBe(4);
    expect(await inPage<number>(page, 'document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    // No text is cut off; on a phone a wide table can be moved sideways, and profit is narrow enough without it.
    expect(await inPage<string[]>(page, CUT_OFF)).toEqual([]);
    expect(await inPage<string>(page, 'document.body.innerText')).not.toMatch(/NaN|undefined|Infinity|\[object/);
    expect(await inPage<string>(page, 'getComputedStyle(document.body).backgroundColor')).toBe(
      scheme === 'dark' ? 'rgb(11, 14, 18)' : 'rgb(244, 245, 247)',
    );
    expect(noise).toEqual([]);
  });

  test('draws price, quotes and fills, inventory between its limits, and profit', async () => {
    const { page } = await opened();
    await page.locator('#range-opening').click();
    await page.locator('html[data-range=opening]').waitFor(SLOW);
    expect(await page.locator('#results li').count()).toBeGreaterThan(0);
    await page.locator('#range-day').click();
    const colours = await inPage<number[]>(
      page,
      `[...document.querySelectorAll('.plot canvas')].map(canvas =>
        new Set(new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size)`,
    );
    for (const count of colours) expect(count).toBeGreaterThan(4);
    await page.locator('#price-plot .u-over').hover();
    expect(await text(page, 'price-plot-read')).toMatch(/\d\d:\d\d:\d\d {2}best bid [\d,.]+ {2}best ask/);
  });

  test('changes as the bot does, and says the same of its orders as puntas explain', async () => {
    const { page, noise } = await opened();
    for (let i = 0; i < 3; i++) await changes(page);
    // Of one moment, because the bot goes on.
    const quoted = () => page.locator('#levels p b').filter({ hasNotText: 'no price' }).count();
    await page.keyboard.press('ArrowLeft');
    await isPast(page);
    // A machine that is too busy for it has a bot that quotes nothing for seconds.
    for (let i = 0; i < 20 && (await quoted()) === 0; i++) {
      await page.keyboard.press('l');
      await isLive(page);
      await changes(page);
      await page.keyboard.press('ArrowLeft');
      await isPast(page);
    }
    const at = (await attribute(page, 'data-shown'))!.split(' ')[1]!;
    const told = await ran(['explain', '-c', config, '--json', '--at', new Date(Math.ceil(Number(at))).toISOString()]);
    const { levels } = JSON.parse(told.stdout) as { levels: { side: string; level: number; price: string | null }[] };
    const wanted = levels.filter(({ price }) => price !== null);
    expect(wanted.length).toBeGreaterThan(0);
    for (const { side, level, price } of wanted) {
      const tab = page.locator('#levels .tabs button', { hasText: `${side} ${level}` });
      await tab.click();
      await tab.and(page.locator('[aria-pressed=true]')).waitFor(SLOW);
      expect(await page.locator('#levels p b').innerText()).toBe(price);
    }
    expect(noise).toEqual([]);
  });
});

describe('a bot that hedges on another exchange', () => {
  test('has a panel with the figures of puntas status, which fits at each width', async () => {
    const metrics = `metrics:\n  port: ${await freePort()}`;
    const hedged = bench.config('elsewhere', yaml => yaml.replace(/^metrics:\n {2}port: 0$/m, metrics));
    const trader = puntas(['run', '-c', hedged, '--speed', '4']);
    await trader.sees(/filled on the other exchange by order/);
    trader.signal('SIGINT');
    await trader.ended;
    const watcher = puntas(['console', '-c', hedged, '--port', '0']);
    try {
      const at = (await watcher.sees(/console of \S+ at (http:\/\/127\.0\.0\.1:\d+)/))[1]!;
      const { stdout } = await ran(['status', '-c', hedged, '--json']);
      const { elsewhere } = (JSON.parse(stdout) as { run: { elsewhere: ShownElsewhere } }).run;
      const { books, sources, hedging } = elsewhere;
      const { debtMax, currency, inventory, last } = hedging!;
      for (const [width, scheme] of [
        [1600, 'light'],
        [1280, 'dark'],
        [390, 'dark'],
      ] as const) {
        const { page, noise } = await opened(width, scheme, at);
        await page.locator('.at-elsewhere').waitFor(SLOW);
        const panel = (await text(page, 'elsewhere')).replace(/\s+/g, ' ');
        for (const { name, bid, ask } of books) expect(panel).toMatch(new RegExp(`${name}.* ${bid} ${ask} `));
        expect(sources.map(({ name, price }) => `${name} ${price}`)).toEqual([expect.stringMatching(/^there \d/)]);
        expect(panel).toContain(`there ${sources[0]!.price} `);
        expect(panel).toContain(` of ${debtMax} ${currency} (band 0.001)`);
        for (const { exchange, base } of inventory)
          expect(panel).toContain(`${exchange} ${(base ?? '–').replace(/\.?0+$/, '')}`);
        expect(last.length).toBeGreaterThan(0);
        for (const { paidBps } of last) if (paidBps !== null) expect(panel).toContain(`${paidBps.toFixed(1)} bps`);
        expect(await inPage<number>(page, 'document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
        expect(await inPage<string[]>(page, CUT_OFF)).toEqual([]);
        expect(panel).not.toMatch(/NaN|undefined|Infinity|\[object/);
        expect(noise).toEqual([]);
      }
    } finally {
      watcher.signal('SIGINT');
      await watcher.ended;
    }
  });
});

describe('the slider', () => {
  test('goes back to a moment and forth again, and live is as it was', async () => {
    const { page, noise } = await opened();
    await picture(page, 'console', 1500, 1160);
    await picture(page, 'console-phone', 390, 844);
    const [from, to] = [
      await page.locator('#slider').getAttribute('min'),
      await page.locator('#slider').getAttribute('max'),
    ].map(Number) as [number, number];
    const seen: number[] = [];
    for (const share of [0.5, 0.25, 0.75]) {
      const at = Math.round(from + share * (to - from));
      await page.locator('#slider').fill(String(at));
      await isPast(page);
      if (seen.length > 0) await page.locator(`html:not([data-shown="past ${seen.at(-1)}"])`).waitFor(SLOW);
      const moment = Number((await attribute(page, 'data-shown'))!.split(' ')[1]);
      expect(moment).toBeLessThanOrEqual(at + 1_000);
      expect(at - moment).toBeLessThan(60_000);
      expect(await text(page, 'when')).toMatch(/ ago$/);
      seen.push(moment);
    }
    expect(seen[1]! < seen[0]! && seen[0]! < seen[2]!).toBe(true);
    await page.locator('#live').click();
    await isLive(page);
    await changes(page);
    expect(noise).toEqual([]);
  });
});

describe('an hour of recording', () => {
  const TOKEN = 'hour-token-0123456789abcdef-01234567';
  let dir: string;
  let past: Program;
  let at: string;
  let beating: NodeJS.Timeout;

  beforeAll(async () => {
    // In virtual time, as any run of the bot; its state is left as it was when the process was killed.
    const world = worldOf(83, QUIET);
    const hour = await doomed(world, folders);
    await world.clock.advance(62 * 60_000);
    dir = hour.kill();
    await hour.running.stop();
    world.end();
    const token = join(dir, 'operator.token');
    writeFileSync(token, TOKEN, { mode: 0o600 });
    const yaml = bench.config('sandbox', text => `${text}console: ${JSON.stringify({ operatorTokenFile: token })}\n`);
    past = sharedPuntas(['console', '-c', yaml, '--state', dir, '--port', '0']);
    at = (await past.sees(/console of \S+ at (http:\/\/127\.0\.0\.1:\d+)/))[1]!;
    // Somebody lives there, as far as a console can see.
    const beat = { counter: 1, state: 'running', born: 0, reads: 1, process: { pid: process.pid, host: hostname() } };
    // Written whole, as a bot does: a reader of half a heartbeat takes it for none.
    const beats = () => {
      writeFileSync(join(dir, 'heartbeat.new'), JSON.stringify({ ...beat, counter: ++beat.counter }));
      renameSync(join(dir, 'heartbeat.new'), join(dir, 'heartbeat.json'));
    };
    beats();
    beating = setInterval(beats, 1_000);
  }, 600_000);

  afterAll(async () => {
    clearInterval(beating);
    past?.signal('SIGINT');
    await past?.ended;
    folders.clear();
  });

  test('is gone back, and forth again', async () => {
    const { page, noise } = await opened(1600, 'light', at);
    await page.locator('#head', { hasNotText: 'reading the recording' }).waitFor(SLOW);
    const shown = async () => (await attribute(page, 'data-shown'))?.split(' ') ?? [];
    const now = Number((await shown())[1]);
    for (const minutes of [61, 1, 30, 61, 60]) {
      const asked = Math.round(now - minutes * 60_000);
      await page.locator('#slider').fill(String(asked));
      const isThere = async () => {
        const [kind, moment] = await shown();
        return kind === 'past' && asked + 1_000 - Number(moment) >= 0 && asked - Number(moment) < 15_000;
      };
      await expect.poll(isThere, { timeout: 120_000, interval: 50 }).toBe(true);
    }
    // The minute of then, not of now; the moment shown is that of a decision, up to a second later.
    expect(await text(page, 'when')).toMatch(/, (?:1 h 0 m|59 m 59 s) ago$/);
    await page.keyboard.press('l');
    await page.locator(`html[data-shown="live ${now}"]`).waitFor(SLOW);
    expect(noise).toEqual([]);
  });

  test('has a bar for each hour and each day: the parts that its row says, and their net', async () => {
    const { page, noise } = await opened(1600, 'light', at);
    await page.locator('#head', { hasNotText: 'reading the recording' }).waitFor(SLOW);
    const rowsOf = async (by: 'hour' | 'day') =>
      (
        await page
          .locator('#profit table', { hasText: `${by}, ` })
          .locator('tbody tr')
          .allInnerTexts()
      ).map(row => {
        const [from = '', ...sums] = row.split('\t');
        return { from, sums: sums.slice(0, 3).map(sum => Number(sum.replaceAll(',', ''))) };
      });
    const areas = () =>
      inPage<readonly [number, number]>(
        page,
        `(() => {
          const canvas = document.querySelector('#hours-plot canvas');
          const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
          const count = (r, g, b) => data.reduce((n, v, i) => n + (i % 4 === 0 && v === r && data[i + 1] === g && data[i + 2] === b), 0);
          return [count(0x00, 0x67, 0xa8), count(0xcf, 0x22, 0x2e)];
        })()`,
      );
    expect((await rowsOf('hour')).length).toBe(2);
    for (const by of ['hour', 'day'] as const) {
      const rows = await rowsOf(by);
      const { width } = (await page.locator('#hours-plot .u-over').boundingBox())!;
      await page.locator('#hours-plot .u-over').hover({ position: { x: width - 3, y: 20 } });
      const told = await text(page, 'hours-plot-read');
      const { from, sums } = rows[0]!;
      expect(told.startsWith(by === 'day' ? from.slice(5) : from), `${told} of ${from}`).toBe(true);
      const [net, trading, fees] = ['net', 'trading', 'fees'].map(part =>
        Number(new RegExp(`${part} (\\S+)`).exec(told)![1]!.replaceAll(',', '')),
      );
      expect([net, trading, fees]).toEqual(sums);
      // As large as they are: what trading brought against what it cost.
      const [gain, loss] = [1, 2].map(part => rows.reduce((all, row) => all + Math.abs(row.sums[part]!), 0));
      const [up, down] = await areas();
      expect(Math.min(gain!, loss!)).toBeGreaterThan(0);
      expect(up / down / (gain! / loss!)).toBeGreaterThan(0.8);
      expect(up / down / (gain! / loss!)).toBeLessThan(1.25);
      await page.keyboard.press('p');
      await page.locator('#period', { hasText: by === 'hour' ? 'by day' : 'by hour' }).waitFor(SLOW);
      // A frame, in which it is drawn.
      await inPage(page, 'new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))');
    }
    expect(noise).toEqual([]);
  });

  test('is replayed for a preview beside everything else that is asked of the console', async () => {
    const own = { origin: at, 'content-type': 'application/json' };
    const post = (path: string, body: object, more: Record<string, string> = {}) =>
      fetch(`${at}${path}`, { method: 'POST', headers: { ...own, ...more }, body: JSON.stringify(body) });
    const login = await post('/login', { token: TOKEN, name: 'Ana' });
    const { key } = (await login.json()) as { key: string };
    const as = { cookie: login.headers.get('set-cookie')!.split(';')[0]!, 'x-puntas-key': key };
    const ended: string[] = [];
    const preview = post('/actions/preview', { action: 'pause', reason: 'a look at the feed' }, as).then(
      async answer => {
        const told = (await answer.text()).trim().split('\n');
        ended.push('preview');
        return told;
      },
    );
    for (let i = 0; i < 3; i++) {
      await (await fetch(`${at}/healthz`)).text();
      ended.push('health');
    }
    const lines = await preview;
    expect(ended.slice(0, 3)).toEqual(['health', 'health', 'health']);
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({
      action: 'pause',
      lines: expect.arrayContaining([expect.stringMatching(/^\d+ of \d+ live orders would be canceled/)]) as string[],
    });
  });
});

describe('keys alone', () => {
  test('go through time and levels, and change range and colours', async () => {
    const { page, noise } = await opened();
    await page.keyboard.press('Shift+ArrowLeft');
    await isPast(page);
    const there = await attribute(page, 'data-shown');
    await page.keyboard.press('ArrowLeft');
    await page.locator(`html:not([data-shown="${there}"])`).waitFor(SLOW);
    expect(Number((await attribute(page, 'data-shown'))!.split(' ')[1])).toBeLessThan(Number(there!.split(' ')[1]));
    await page.keyboard.press('l');
    await isLive(page);
    await page.locator('#levels .tabs button').nth(3).waitFor(SLOW);
    const pressed = page.locator('#levels .tabs button[aria-pressed=true]');
    const first = (await pressed.innerText()).split(' ').slice(0, 2).join(' ');
    await page.keyboard.press('j');
    await pressed.filter({ hasNotText: first }).waitFor(SLOW);
    await page.keyboard.press('r');
    expect(await page.locator('#range-day').getAttribute('aria-pressed')).toBe('true');
    await page.keyboard.press('t');
    expect(await attribute(page, 'data-theme')).toBe('dark');
    await page.keyboard.press('?');
    expect(await page.locator('#help').isVisible()).toBe(true);
    await page.keyboard.press('Escape');
    expect(await page.locator('#help').isVisible()).toBe(false);
    expect(noise).toEqual([]);
  });

  test('reach everything that can be pressed, and one sees where they are', async () => {
    const { page } = await opened();
    const reached = new Set<string>();
    for (let i = 0; i < 24; i++) {
      await page.keyboard.press('Tab');
      const [name, outline] = await inPage<[string, string]>(
        page,
        `[document.activeElement.id || document.activeElement.className, getComputedStyle(document.activeElement).outlineStyle]`,
      );
      if (name !== '') expect(outline, name).not.toBe('none');
      reached.add(name.split(' ')[0]!);
    }
    for (const name of ['keys', 'theme', 'slider', 'live', 'range-recent', 'bid', 'ask'])
      expect([...reached]).toContain(name);
  });
});

describe('an open page', () => {
  test('shows what a person halted for as text, whatever it says', async () => {
    const evil = `<img src=x onerror=alert(1)><script>alert(2)</script>`;
    const { page, noise } = await opened();
    page.on('dialog', dialog => noise.push(`dialog: ${dialog.message()}`));
    expect((await ran(['halt', '-c', config, '--reason', evil])).code).toBe(0);
    await page.locator('.warning', { hasText: evil }).waitFor(SLOW);
    expect(await page.locator('img').count()).toBe(0);
    expect((await ran(['resume', '-c', config, '--reason', 'it was a test'])).code).toBe(0);
    await page.locator('#events li', { hasText: ': lifted: it was a test' }).waitFor(SLOW);
    await page.locator('.warning', { hasText: evil }).waitFor({ state: 'detached', ...SLOW });
    expect(noise).toEqual([]);
  });

  test('sees the bot stop, and the next run of it, without being opened anew', async () => {
    const { page, noise } = await opened();
    const run = /run (\d+)/.exec(await text(page, 'head'))![1]!;
    bot.signal('SIGINT');
    await page.locator('.pill', { hasText: 'stopped' }).waitFor(SLOW);
    expect((await bot.ended).code).toBe(0);
    bot = trades();
    await page.locator('.pill', { hasText: 'running' }).waitFor(SLOW);
    await page
      .locator('h1')
      .filter({ hasNotText: `run ${run}` })
      .waitFor(SLOW);
    await page.locator('#depth tr.own').first().waitFor(SLOW);
    // What was before the restart is still there to go back to, and in the ledger.
    expect(Number(await page.locator('#slider').getAttribute('min'))).toBeLessThan(
      Number(await page.locator('#slider').getAttribute('max')) - 10_000,
    );
    await page.keyboard.press('Home');
    await isPast(page);
    expect(await text(page, 'head')).toContain(`run ${run}`);
    expect(noise).toEqual([]);
  });
});

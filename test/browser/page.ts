/** The report's page in a real browser, from disk: `.ci/browser.sh` runs it. PUNTAS_BROWSER says where the browser is. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reportPage, recordFlow } from '../../backtest/index.ts';
import { TapeWriter } from '../../src/tape/index.ts';
import { profitReport } from '../../src/app/inspect/profitReport.ts';
import { profitPage } from '../../src/app/inspect/reportPage.ts';
import { madeLedger } from '../app/inspect/madeLedger.ts';
import { plantedMarket } from '../backtest/profile/plantedMarket.ts';
import { runs, whole } from '../backtest/reports.ts';
import { Bench, ran, ROOT } from '../cli/program.ts';
import { picture } from './picture.ts';

const bench = new Bench();
const SIZES = [
  [1400, 'light'],
  [1400, 'dark'],
  [400, 'light'],
] as const;

let browser: Browser;
let traded: string;
let silent: string;
let compared: string;
let scouted: string;
let earned: string;

beforeAll(async () => {
  browser = await chromium.launch({ executablePath: process.env['PUNTAS_BROWSER'] ?? '', args: ['--no-sandbox'] });
  const report = async (name: string, config: string, ...flags: readonly string[]): Promise<string> => {
    const out = bench.path(name);
    const ended = await ran(['backtest', '-c', config, '--flow-seconds', '300', '--out', out, ...flags]);
    expect([ended.code, ended.stderr]).toEqual([0, '']);
    return out;
  };
  const quoting = (bps: string) =>
    bench.config('sandbox', text => text.replace('halfSpreadBps: 16', `halfSpreadBps: ${bps}`));
  // Nearer than it ships: as many fills in five minutes that the three models differ.
  traded = await report('traded.html', quoting('10.6'), '--latency-sweep', '0,500');
  silent = await report('silent.html', quoting('150'));
  const flow = recordFlow('btc_mxn', 5, 480);
  const writer = new TapeWriter({ dir: bench.path('flow'), rules: flow.rules, source: 'flow' });
  writer.append(flow.columns);
  writer.close();
  compared = bench.path('compared.html');
  // Eight minutes prove of no bot that it pays.
  const ended = await ran(['compare', '--tape', bench.path('flow'), '--risk', '500', '--anyway', '--out', compared]);
  expect([ended.code, ended.stderr]).toEqual([0, '']);
  scouted = bench.path('scouted.html');
  for (const n of [1, 2, 3]) {
    const { columns, rules } = plantedMarket(n, 1, {
      ...{ perMinute: 6, decayPerBps: 0.1, move: 1, moveOfReach: 0.2 * n, volatilityBps: 40 },
    });
    const tape = new TapeWriter({ dir: bench.path(`books/number-${n}`), rules, source: 'planted', depth: 1 });
    tape.append(columns);
    tape.close();
  }
  const looked = await ran(['scout', '--tape', bench.path('books'), '--fees', '4', '--out', scouted]);
  expect([looked.code, looked.stderr]).toEqual([0, '']);
  earned = bench.path('earned.html');
  const { resolve } = createRequire(import.meta.url);
  const parts = {
    library: readFileSync(resolve('uplot/dist/uPlot.iife.min.js'), 'utf8'),
    libraryStyle: readFileSync(resolve('uplot/dist/uPlot.min.css'), 'utf8'),
    script: readFileSync(`${ROOT}/dist/src/pages/script/draw.js`, 'utf8'),
  };
  writeFileSync(earned, profitPage([profitReport(madeLedger(21), {}, 0)], parts));
}, 600_000);

afterAll(async () => {
  await browser?.close();
  bench.clear();
});

/** Opens the page and gives back everything that it complained of or asked for. */
async function opened(path: string, width = 1400, colorScheme: 'light' | 'dark' = 'light') {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
  const noise: string[] = [];
  page.on('console', message => noise.push(`console: ${message.text()}`));
  page.on('pageerror', error => noise.push(`error: ${error.message}`));
  page.on('dialog', dialog => {
    noise.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  const own = pathToFileURL(path).href;
  page.on('request', request => {
    if (request.url() !== own && !request.url().startsWith('data:')) noise.push(`request: ${request.url()}`);
  });
  await page.goto(own);
  await page.waitForFunction('document.documentElement.dataset.drawn !== undefined');
  await nextFrame(page);
  return { page, noise };
}

// What runs inside the page is text: the rest of the project knows no browser.
const inPage = <T>(page: Page, expression: string): Promise<T> => page.evaluate<T>(expression);
/** Whatever is folded, drawn too. */
const unfold = async (page: Page): Promise<void> => {
  await inPage(page, `document.querySelectorAll('details.part').forEach(part => { part.open = true; })`);
  await nextFrame(page);
};
const nextFrame = (page: Page): Promise<void> =>
  inPage(page, 'new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(() => resolve())))');
const paperOf = (page: Page): Promise<string> => inPage(page, 'getComputedStyle(document.body).backgroundColor');
const pictureOf = (page: Page, id: string): Promise<string> =>
  inPage(page, `document.querySelector('#${id} canvas').toDataURL()`);

/** Of each plot, how many colours its canvas has. */
const coloursOf = (page: Page): Promise<readonly (readonly [string, number])[]> =>
  inPage(
    page,
    `[...document.querySelectorAll('.plot')].map(place => {
      const canvas = place.querySelector('canvas');
      const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
      return [place.id, new Set(pixels).size];
    })`,
  );

describe.each([
  ['a run that traded', () => traded, 8],
  ['a run without a fill', () => silent, 8],
  ['a comparison', () => compared, 8],
  ['a look at three books', () => scouted, 8],
  ['profit by day', () => earned, 7],
])('the page of %s', (_, path, plots) => {
  test.each(SIZES)('at %d px, %s, draws every plot, fits, and asks for nothing', async (width, scheme) => {
    const { page, noise } = await opened(path(), width, scheme);
    await unfold(page);
    expect(noise).toEqual([]);
    const colours = await coloursOf(page);
    expect(colours.length).toBeGreaterThanOrEqual(plots);
    for (const [id, count] of colours) expect(count, id).toBeGreaterThan(4);
    expect(await inPage<number>(page, 'document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    expect(await inPage<string>(page, 'document.body.innerText')).not.toMatch(/NaN|undefined|Infinity/);
    expect(await paperOf(page)).toBe(scheme === 'dark' ? 'rgb(15, 19, 24)' : 'rgb(255, 255, 255)');
    await page.close();
  });
});

const testForPictures = process.env['PUNTAS_PICTURES'] === undefined ? () => undefined : test;
testForPictures('the first screen of an hour of the default, for the docs', async () => {
  const hour = bench.path('hour.html');
  const told = await ran(['backtest', '-c', 'config/sandbox.yaml', '--flow-seconds', '3600', '--out', hour]);
  expect([told.code, told.stderr]).toEqual([0, '']);
  const { page } = await opened(hour);
  await picture(page, 'backtest-report', 1280, 800);
  await page.close();
});

test('a reader of a comparison sees the bots named at their dots, and the ranges of the models behind them', async () => {
  const { page, noise } = await opened(compared);
  expect(await page.locator('#net-0').getAttribute('aria-label')).toBe('flow btc_mxn');
  const plot = page.locator('#net-0 .u-over');
  await plot.scrollIntoViewIfNeeded();
  await plot.hover();
  await nextFrame(page);
  expect(await page.locator('#net-0 .u-legend').innerText()).toMatch(/bot\s*(ladder|avellaneda…|glft|grid|imbalance)/);
  const before = await pictureOf(page, 'net-0');
  await page.locator('#net-0 .u-legend .u-series').nth(1).click();
  await nextFrame(page);
  expect(await pictureOf(page, 'net-0')).not.toBe(before);
  await page.locator('details summary').first().click();
  expect(await page.locator('details pre').first().innerText()).toContain('book: btc_mxn');
  expect(noise).toEqual([]);
  await page.close();
});

describe('the first screen', () => {
  test.each(['light', 'dark'] as const)(
    'has five tiles, equity and drawdown, and the page ends within two screens, %s',
    async scheme => {
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: scheme });
      for (const path of [traded, silent]) {
        await page.goto(pathToFileURL(path).href);
        await page.waitForFunction('document.documentElement.dataset.drawn !== undefined');
        await nextFrame(page);
        const bottoms = (of: string): Promise<number[]> =>
          inPage(page, `[...document.querySelectorAll('${of}')].map(place => place.getBoundingClientRect().bottom)`);
        const tiles = await bottoms('.tile');
        expect(tiles).toHaveLength(5);
        // In one row.
        expect(new Set(tiles.map(Math.round)).size).toBe(1);
        expect(await bottoms('#profit canvas, #drawdown canvas')).toHaveLength(2);
        for (const bottom of await bottoms('#profit canvas, #drawdown canvas')) expect(bottom).toBeLessThanOrEqual(800);
        expect(await inPage<number>(page, 'document.documentElement.scrollHeight')).toBeLessThanOrEqual(1600);
        expect(await inPage<string>(page, 'document.documentElement.dataset.drawn')).toBe('2');
      }
      await page.close();
    },
  );

  test('unfolds: what was folded is drawn when it is opened, as wide as the page', async () => {
    const { page, noise } = await opened(traded);
    expect(await page.locator('#latency canvas').count()).toBe(0);
    await page.locator('summary', { hasText: 'Latency' }).click();
    await page.locator('#latency canvas').waitFor();
    const box = await page.locator('#latency canvas').boundingBox();
    expect(box?.width).toBeGreaterThan(1000);
    expect(noise).toEqual([]);
    await page.close();
  });
});

describe('a reader', () => {
  test('sees values under the pointer, zooms all plots over time at once, and comes back', async () => {
    const { page, noise } = await opened(traded);
    const plot = page.locator('#profit .u-over');
    await plot.scrollIntoViewIfNeeded();
    const box = await plot.boundingBox();
    if (!box) throw new Error('the plot has no place');
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width / 2, y);
    await nextFrame(page);
    const legend = await page.locator('#profit .u-legend').innerText();
    expect(legend).toMatch(/2026-01-01 00:0\d:\d\d/);
    expect(legend).toMatch(/expected\s*-?\d/);

    const before = [await pictureOf(page, 'profit'), await pictureOf(page, 'drawdown')];
    await page.mouse.move(box.x + box.width * 0.3, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, y, { steps: 5 });
    await page.mouse.up();
    await nextFrame(page);
    const zoomed = [await pictureOf(page, 'profit'), await pictureOf(page, 'drawdown')];
    expect(zoomed[0]).not.toBe(before[0]);
    expect(zoomed[1]).not.toBe(before[1]);
    await page.mouse.dblclick(box.x + box.width / 2, y);
    await nextFrame(page);
    expect([await pictureOf(page, 'profit'), await pictureOf(page, 'drawdown')]).toEqual(before);
    expect(noise).toEqual([]);
    await page.close();
  });

  test('changes between light and dark, and the width of the window, and the plots follow', async () => {
    const { page, noise } = await opened(traded);
    const light = await pictureOf(page, 'profit');
    await page.click('#theme');
    await nextFrame(page);
    expect(await pictureOf(page, 'profit')).not.toBe(light);
    expect(await paperOf(page)).toBe('rgb(15, 19, 24)');
    await page.setViewportSize({ width: 500, height: 900 });
    await nextFrame(page);
    await nextFrame(page);
    const widest = await inPage<number>(
      page,
      `Math.max(...[...document.querySelectorAll('canvas')].map(canvas => canvas.getBoundingClientRect().width))`,
    );
    expect(widest).toBeLessThanOrEqual(500);
    expect(noise).toEqual([]);
    await page.close();
  });

  test('is safe from what was put into the report: it is shown, and nothing of it runs', async () => {
    const evil = `</script><script>alert(1)</script><img src=x onerror=alert(2)>"' onload='alert(3)`;
    const read = (path: string) => readFileSync(path, 'utf8');
    const library = createRequire(import.meta.url);
    const html = reportPage(
      whole(
        runs().map(model => ({ ...model, model: evil, haltedBecause: evil })),
        { book: evil, strategy: evil, minor: evil, major: evil, config: evil },
      ),
      {
        library: read(library.resolve('uplot/dist/uPlot.iife.min.js')),
        libraryStyle: read(library.resolve('uplot/dist/uPlot.min.css')),
        script: read(`${ROOT}/dist/src/pages/script/draw.js`),
      },
    );
    writeFileSync(bench.path('evil.html'), html);
    const { page, noise } = await opened(bench.path('evil.html'));
    await unfold(page);
    expect(noise).toEqual([]);
    expect(await page.locator('h1').innerText()).toBe(`Backtest: ${evil} on ${evil}`);
    expect(await page.locator('pre').innerText()).toBe(evil);
    expect(await page.locator('img').count()).toBe(0);
    expect((await page.locator('#profit .u-legend').innerText()).includes('<img')).toBe(true);
    await page.close();
  });

  test('is led nowhere by a recording that says markup where a number is meant', async () => {
    const evil = `<form id="lure" action="https://evil.example/"><button>go</button></form><base href="https://evil.example/">`;
    const read = (path: string) => readFileSync(path, 'utf8');
    const library = createRequire(import.meta.url);
    const dirt = [{ what: evil, count: evil as never, done: evil, first: evil }];
    const gaps = [{ from: 0, to: 1, why: evil }];
    const html = reportPage(whole(runs(), { tape: { source: evil, hash: evil, dirt, gaps } }), {
      library: read(library.resolve('uplot/dist/uPlot.iife.min.js')),
      libraryStyle: read(library.resolve('uplot/dist/uPlot.min.css')),
      script: read(`${ROOT}/dist/src/pages/script/draw.js`),
    });
    writeFileSync(bench.path('lure.html'), html);
    const { page, noise } = await opened(bench.path('lure.html'));
    await unfold(page);
    expect(noise).toEqual([]);
    expect(await page.locator('form, base, main button:not(#theme)').count()).toBe(0);
    expect(await inPage<string>(page, 'document.body.innerText')).toContain('<form id="lure"');
    // Were there markup all the same, the page's policy would hold it: nothing is sent, no address means another.
    const held = await inPage<string>(
      page,
      `(() => {
        document.body.insertAdjacentHTML('beforeend', '<base href="https://evil.example/"><form id="late" action="https://evil.example/"></form>');
        document.getElementById('late').submit();
        return document.baseURI;
      })()`,
    );
    await nextFrame(page);
    expect([held, page.url()]).toEqual([
      pathToFileURL(bench.path('lure.html')).href,
      pathToFileURL(bench.path('lure.html')).href,
    ]);
    expect(noise.filter(text => !/Refused|violates|Content Security Policy/.test(text))).toEqual([]);
    await page.close();
  });
});

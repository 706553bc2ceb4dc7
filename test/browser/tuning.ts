/** The tuner's page in a real browser, from disk: `.ci/browser.sh` runs it. PUNTAS_BROWSER says where the browser is; PUNTAS_PICTURES=docs writes the picture of docs/tuning.md anew. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { keysOfStudy } from '../backtest/app/tune/studies.ts';
import { storedPlanted } from '../backtest/profile/storedPlanted.ts';
import { Bench, ran } from '../cli/program.ts';

const bench = new Bench();
let browser: Browser;
let tuned: string;
let front: string;

beforeAll(async () => {
  browser = await chromium.launch({ executablePath: process.env['PUNTAS_BROWSER'] ?? '', args: ['--no-sandbox'] });
  const pageOf = async (name: string, keys: object): Promise<string> => {
    const file = bench.file(`${name}.yaml`, stringify(keysOfStudy(keys)));
    const out = bench.path(`${name}.html`);
    const ended = await ran(['tune', '-c', file, '--registry', bench.path(name), '--out', out, '--open-holdout']);
    expect([ended.code, ended.stdout]).toEqual([0, expect.stringContaining(`page: ${out}`)]);
    return out;
  };
  const truth = { perMinute: 6, decayPerBps: 0.06, move: 1, moveOfReach: 0.2, volatilityBps: 20 };
  const path = storedPlanted(bench.path('planted'), 1, 2, truth);
  tuned = await pageOf('tuned', {
    ...{ tapes: [{ name: 'planted', path }], search: { algorithm: 'tpe', seed: 1, trials: 16, batch: 4 } },
    parameters: {
      'strategy.halfSpreadBps': { linear: [11, 60] },
      'strategy.levels': { integer: [1, 3] },
      'strategy.reference': { choice: ['mid', 'weightedMid'] },
      'strategy.amount': { log: [0.001, 0.008] },
    },
    pruning: { startAfterTrials: 4 },
  });
  front = await pageOf('front', {
    ...{ objectives: ['net60s', 'inventoryMost'], search: { algorithm: 'sobol', seed: 1, trials: 6, batch: 2 } },
  });
}, 600_000);

afterAll(async () => {
  await browser?.close();
  bench.clear();
});

/** Opens the page, unfolds it, and gives back everything that it complained of or asked for. */
async function opened(path: string, width: number, colorScheme: 'light' | 'dark') {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
  const noise: string[] = [];
  page.on('console', message => noise.push(`console: ${message.text()}`));
  page.on('pageerror', error => noise.push(`error: ${error.message}`));
  const own = pathToFileURL(path).href;
  page.on('request', request => {
    if (request.url() !== own && !request.url().startsWith('data:')) noise.push(`request: ${request.url()}`);
  });
  await page.goto(own);
  await page.waitForFunction('document.documentElement.dataset.drawn !== undefined');
  await page.evaluate(`document.querySelectorAll('details.part').forEach(part => { part.open = true; })`);
  await nextFrame(page);
  return { page, noise };
}

const nextFrame = (page: Page): Promise<void> =>
  page.evaluate('new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(() => resolve())))');

test.each([
  ['a study', 1400, 'light'],
  ['a study', 1400, 'dark'],
  // Eighty columns of a window beside a terminal, and a telephone.
  ['a study', 640, 'light'],
  ['a study', 400, 'light'],
  ['two objectives', 1400, 'dark'],
  ['two objectives', 400, 'light'],
] as const)(
  'the page of %s at %d px, %s, draws every plot, fits, and asks for nothing',
  async (name, width, scheme) => {
    const isFront = name === 'two objectives';
    const { page, noise } = await opened(isFront ? front : tuned, width, scheme);
    expect(noise).toEqual([]);
    const colours = await page.evaluate<
      readonly (readonly [string, number])[]
    >(`[...document.querySelectorAll('.plot')].map(place => {
    const canvas = place.querySelector('canvas');
    const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    return [place.id, new Set(pixels).size];
  })`);
    const ids = colours.map(([id]) => id);
    expect(ids).toEqual(expect.arrayContaining(['search', 'gains', 'paths', 'forward', 'parameter-0', 'parameter-1']));
    expect(ids.includes('front')).toBe(isFront);
    for (const [id, count] of colours) expect(count, id).toBeGreaterThan(4);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    const text = await page.evaluate<string>('document.body.innerText');
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
    expect(text).toMatch(/better than not trading/i);
    expect(await page.evaluate<string>('getComputedStyle(document.body).backgroundColor')).toBe(
      scheme === 'dark' ? 'rgb(15, 19, 24)' : 'rgb(255, 255, 255)',
    );
    const pictures = process.env['PUNTAS_PICTURES'];
    if (pictures !== undefined) {
      const shot = `tuning-${isFront ? 'front-' : ''}${width}-${scheme}.png`;
      const isOfDocs = !isFront && width === 1400 && scheme === 'light';
      if (isOfDocs) await page.screenshot({ path: join(pictures, 'tuning.png') });
      else if (pictures !== 'docs') await page.screenshot({ path: join(pictures, shot), fullPage: true });
    }
    await page.close();
  },
);

/** An operator with a phone changes the spread of a running bot five times, each with a preview, and undoes the last; then the charts and results over these reloads. */
import { readFileSync, writeFileSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { actionsIn } from '../../src/app/actions/actionJournal.ts';
import { Bench, ran, sharedPuntas, type Program } from '../cli/program.ts';
import { pause } from '../bench/pause.ts';
import { freePort } from '../freePort.ts';
import { picture } from './picture.ts';

const bench = new Bench();
const SLOW = { timeout: 120_000 };
const TOKEN = `operator-${'0123456789abcdef'.repeat(2)}`;
const PHONE = { width: 390, height: 844 };
const KEY = 'strategy.halfSpreadBps';
const SPREADS = ['17', '19', '18', '22', '20'] as const;

let browser: Browser;
let config: string;
let state: string;
let bot: Program;
let url: string;

beforeAll(async () => {
  browser = await chromium.launch({ executablePath: process.env['PUNTAS_BROWSER'] ?? '', args: ['--no-sandbox'] });
  const file = bench.path('operator.token');
  writeFileSync(file, `${TOKEN}\n`, { mode: 0o600 });
  const port = await freePort();
  config = bench.config(
    'sandbox',
    text =>
      `${text.replace(/^metrics:\n {2}port: 0$/m, `metrics:\n  port: ${port}`)}console: ${JSON.stringify({ port: 0, operatorTokenFile: file })}\n`,
  );
  state = /dir: (.*state-\d+)/.exec(readFileSync(config, 'utf8'))![1]!;
  bot = sharedPuntas(['run', '-c', config, '--speed', '4']);
  url = (await bot.sees(/console of \S+ at (http:\/\/127\.0\.0\.1:\d+)/))[1]!;
  await bot.sees(/"msg":"quoting"/);
}, 600_000);

afterAll(async () => {
  await browser?.close();
  bot?.signal('SIGINT');
  await bot?.ended;
  bench.clear();
}, 120_000);

const spread = (): number =>
  (parse(readFileSync(config, 'utf8')) as { strategy: { halfSpreadBps: number } }).strategy.halfSpreadBps;
const fits = (page: Page) => page.evaluate<boolean>(`document.documentElement.scrollWidth <= ${PHONE.width}`);
/** Half spread in bps that the running bot quotes with, from the reasons of its levels; null while it has none. */
const quotedBps = async (): Promise<number | null> => {
  const { stdout } = await ran(['explain', '-c', config, '--json']);
  const { fair, levels } = JSON.parse(stdout) as {
    readonly fair: { readonly ticks: number } | null;
    readonly levels: readonly { readonly steps: readonly { readonly name: string; readonly ticks: number }[] }[];
  };
  const step = levels.flatMap(({ steps }) => steps).find(({ name }) => name === 'spread');
  return fair === null || step === undefined ? null : Math.round((Math.abs(step.ticks) / fair.ticks) * 10_000);
};

/** Previews and confirms what the open dialog has, and returns the preview and the result. */
async function confirmed(page: Page): Promise<{ readonly preview: string; readonly end: string }> {
  const before = spread();
  await page.locator('#next').click();
  await page.locator('#confirm').waitFor(SLOW);
  const preview = await page.locator('#dialog .told').innerText();
  expect(await fits(page)).toBe(true);
  // A preview changes nothing.
  expect(spread()).toBe(before);
  await page.locator('#confirm').click();
  await page.locator('#dialog h2', { hasText: /: (?:done|refused)$/ }).waitFor(SLOW);
  return {
    preview,
    end: `${await page.locator('#dialog h2').innerText()}\n${await page.locator('#dialog .told').innerText()}`,
  };
}

test('changes the spread with a preview, undoes it, and shows each reload in charts and results', async () => {
  const page = await browser.newPage({ viewport: PHONE, isMobile: true, hasTouch: true });
  const noise: string[] = [];
  page.on('pageerror', error => noise.push(`error: ${error.message}`));
  page.on('dialog', dialog => noise.push(`dialog: ${dialog.message()}`));
  page.on('request', request => void (request.url().startsWith(`${url}/`) || noise.push(`request: ${request.url()}`)));
  // Until the answer, the dialog must not have the values of an earlier one.
  await page.route('**/actions/parameters*', async route => {
    await pause(500);
    await route.continue();
  });
  await page.goto(url);
  await page.locator('#login').tap(SLOW);
  await page.locator('#token').fill(TOKEN);
  await page.locator('#who').fill('Ana');
  await page.locator('#next').tap();
  await page.locator('html[data-shown^=live]').waitFor(SLOW);
  await page.locator('#depth tr.own').first().waitFor(SLOW);

  let before = '16';
  for (const [i, value] of SPREADS.entries()) {
    await page.locator('[data-action=set]').tap();
    await page.locator('#parameter').selectOption(KEY);
    expect(await page.locator('#value').inputValue()).toBe(before);
    await page.locator('#value').fill(value);
    await page.locator('#reason').fill(`spread number ${i + 1}`);
    const { preview, end } = await confirmed(page);
    expect(preview).toContain(`${KEY}: ${before} -> ${value}`);
    // The quotes before and after.
    expect(preview).toMatch(/bid/);
    expect(end).toMatch(/^Parameter: done\n[^]*applied: run \d+ resumed with the new configuration/);
    expect(spread()).toBe(Number(value));
    if (i < SPREADS.length - 1) await page.locator('#close').tap();
    before = value;
  }

  // The result of the last change offers its undo, which is a change with a preview like any other.
  await page.locator('#undo').tap();
  await page.locator('#parameter').waitFor(SLOW);
  expect([await page.locator('#parameter').inputValue(), await page.locator('#value').inputValue()]).toEqual([
    KEY,
    SPREADS.at(-2),
  ]);
  await page.locator('#reason').fill('the spread before was better');
  await picture(page, 'console-phone-undo', PHONE.width, PHONE.height);
  const undone = await confirmed(page);
  expect(undone.preview).toContain(`${KEY}: ${SPREADS.at(-1)} -> ${SPREADS.at(-2)}`);
  expect(undone.end).toMatch(/^Parameter: done\n/);
  await page.locator('#close').tap();
  expect(spread()).toBe(Number(SPREADS.at(-2)));
  const sets = actionsIn(state).filter(({ action }) => action === 'set');
  expect(sets.map(({ by, end }) => `${by} ${end}`)).toEqual(new Array<string>(6).fill('Ana done'));
  // The bot quotes with it.
  await expect.poll(quotedBps, { timeout: 120_000, interval: 1_000 }).toBe(Number(SPREADS.at(-2)));

  // Six reloads: a result for each configuration, newest first, with its reason, and a mark in the charts.
  await page.locator('#range-opening').tap();
  await page.locator('html[data-range=opening]').waitFor(SLOW);
  const results = page.locator('#results li');
  await expect.poll(() => results.count(), { timeout: 120_000 }).toBe(SPREADS.length + 2);
  const texts = await results.allInnerTexts();
  for (const [i, reason] of [
    'the spread before was better',
    ...SPREADS.map((_, at) => `spread number ${SPREADS.length - at}`),
  ].entries())
    expect(texts[i]).toContain(reason);
  expect(texts.join('\n')).not.toMatch(/NaN|undefined|Infinity/);
  expect(await page.locator('.plot canvas').count()).toBe(4);
  const colors = await page.evaluate<number[]>(
    `[...document.querySelectorAll('.plot canvas')].map(canvas =>
      new Set(new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size)`,
  );
  for (const count of colors) expect(count).toBeGreaterThan(2);
  expect(await fits(page)).toBe(true);
  await picture(page, 'console-phone-results', PHONE.width, PHONE.height);
  expect(noise).toEqual([]);
  await page.close();
});

/** The console of a running bot with three books in a real browser: the page of all books, that of one, and an action on one. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { actionsIn } from '../../src/app/actions/actionJournal.ts';
import { Bench, sharedPuntas, type Program } from '../cli/program.ts';
import { freePort } from '../freePort.ts';
import { enoughToShow, picture } from './picture.ts';

const bench = new Bench();
const SLOW = { timeout: 120_000 };
const TOKEN = `operator-${'0123456789abcdef'.repeat(2)}`;
const BOOKS = ['btc_mxn', 'eth_mxn', 'btc_usd'] as const;

let browser: Browser;
let state: string;
let bot: Program;
let url: string;

beforeAll(async () => {
  browser = await chromium.launch({ executablePath: process.env['PUNTAS_BROWSER'] ?? '', args: ['--no-sandbox'] });
  const file = bench.path('operator.token');
  writeFileSync(file, `${TOKEN}\n`, { mode: 0o600 });
  const port = await freePort();
  const config = bench.config(
    'desk',
    text =>
      `${text.replace(/^metrics:\n {2}port: 0$/m, `metrics:\n  port: ${port}`)}console: ${JSON.stringify({ port: 0, operatorTokenFile: file })}\n`,
  );
  state = /dir: (.*state-\d+)/.exec(readFileSync(config, 'utf8'))![1]!;
  bot = sharedPuntas(['run', '-c', config]);
  url = (await bot.sees(/console of \S+ at (http:\/\/127\.0\.0\.1:\d+)/))[1]!;
}, 600_000);

afterAll(async () => {
  await browser?.close();
  bot?.signal('SIGINT');
  await bot?.ended;
  bench.clear();
}, 120_000);

/** Opens a page and keeps whatever it should not have done. */
async function opened(path: string, width: number): Promise<{ page: Page; noise: string[] }> {
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  const noise: string[] = [];
  page.on('pageerror', error => noise.push(`error: ${error.message}`));
  page.on('request', request => void (request.url().startsWith(`${url}/`) || noise.push(`request: ${request.url()}`)));
  await page.goto(`${url}${path}`);
  return { page, noise };
}

const row = (page: Page, book: string) => page.locator(`tr[data-book=${book}]`);
const isWide = (page: Page, width: number) =>
  page.evaluate<boolean>(`document.documentElement.scrollWidth <= ${width}`);

test.each([1400, 390])('shows all books at %d px, and leads to the page of each', async width => {
  const { page, noise } = await opened('/', width);
  for (const book of BOOKS) {
    await row(page, book).waitFor(SLOW);
    await row(page, book).getByText('normal').waitFor(SLOW);
  }
  await page.locator('#desk-requests', { hasText: 'private requests per minute' }).waitFor(SLOW);
  const text = await page.locator('body').innerText();
  expect(text).not.toMatch(/NaN|undefined|Infinity/);
  expect(text).toMatch(/mxn, 2 books/);
  expect(await isWide(page, width)).toBe(true);
  expect(await page.locator('.time').isVisible()).toBe(false);
  if (width > 1000) {
    await enoughToShow();
    await picture(page, 'console-desk', 1280, 640);
  }
  await row(page, 'eth_mxn').locator('a').click();
  await page.locator('html[data-shown^=live]').waitFor(SLOW);
  expect(await page.locator('h1').innerText()).toMatch(/^ETH \/ MXN/);
  await page.locator('#price-plot canvas').waitFor(SLOW);
  expect(await page.locator('.time').isVisible()).toBe(true);
  expect(await isWide(page, width)).toBe(true);
  await page.locator('#books a', { hasText: 'all books' }).click();
  await row(page, 'btc_usd').waitFor(SLOW);
  expect(noise).toEqual([]);
  await page.close();
});

test('says that the bot does not have a book', async () => {
  const { page, noise } = await opened('/?book=xrp_mxn', 800);
  await page.getByText('xrp_mxn: expected a book of this bot (btc_mxn, eth_mxn, btc_usd)').waitFor(SLOW);
  expect(noise).toEqual([]);
  await page.close();
});

test('pauses one book, whose quotes go, while the others go on; and resumes it', async () => {
  const { page, noise } = await opened('/', 1400);
  await page.locator('#login').click(SLOW);
  await page.locator('#token').fill(TOKEN);
  await page.locator('#who').fill('Ana');
  await page.locator('#next').click();
  const act = async (action: string, label: string) => {
    await page.locator(`[data-action=${action}]`).click(SLOW);
    await page.locator('#book').selectOption('eth_mxn');
    await page.locator('#reason').fill('to see one book');
    await page.locator('#next').click();
    await page.locator('#confirm').waitFor(SLOW);
    expect(await page.locator('#confirm').innerText()).toBe(`Confirm: ${label} eth_mxn`);
    expect(await page.locator('#dialog .told').innerText()).toContain('eth_mxn');
    await page.locator('#confirm').click();
    await page.locator('#dialog h2', { hasText: /: done$/ }).waitFor(SLOW);
    await page.locator('#close').click();
  };
  for (const book of BOOKS) await row(page, book).getByText('normal').waitFor(SLOW);
  await act('pause', 'Pause');
  await row(page, 'eth_mxn').locator('b', { hasText: 'paused' }).waitFor(SLOW);
  await row(page, 'eth_mxn').getByText('0 orders').first().waitFor(SLOW);
  for (const book of ['btc_mxn', 'btc_usd'] as const) {
    expect(await row(page, book).innerText()).toMatch(/normal|wide/);
    expect(await row(page, book).innerText()).not.toContain('0 orders');
  }
  expect(await page.locator('#warnings').innerText()).toMatch(/^paused eth_mxn by Ana at .*: to see one book$/);
  expect(existsSync(`${state}/PAUSED`)).toBe(false);
  expect(actionsIn(state).at(-1)).toMatchObject({ action: 'pause', book: 'eth_mxn', by: 'Ana', via: 'console' });
  await act('resume', 'Resume');
  await row(page, 'eth_mxn').locator('b', { hasText: 'normal' }).waitFor(SLOW);
  expect(await page.locator('#warnings').innerText()).toBe('');
  // On the page of a book, this book is chosen; an action that is always on all books says so.
  await row(page, 'btc_usd').locator('a').click();
  await page.locator('[data-action=halt]').click(SLOW);
  expect(await page.locator('#book').inputValue()).toBe('btc_usd');
  await page.locator('#close').click();
  await page.locator('[data-action=cancel]').click();
  await page.getByText('This action applies to all books.').waitFor(SLOW);
  expect(noise).toEqual([]);
  await page.close();
});

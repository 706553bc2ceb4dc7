/** The fleet page in a real browser: fifty bots, some with hostile texts; order, search, a phone, and a login. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readFleet, startFleet } from '../../src/app/fleet/fleet.ts';
import type { ConsoleServer } from '../../src/console/index.ts';
import { realClock } from '../../src/live/realClock.ts';
import { ROOT } from '../cli/program.ts';
import { HOSTILE } from '../console/hostileTexts.ts';
import { double, growing, json, summaryWith, type Double } from '../fleet/doubles.ts';
import { picture } from './picture.ts';

const SLOW = { timeout: 60_000 };
const BOTS = 50;
const TOKEN = 'viewer-token-0123456789abcdef-012345';
const dir = mkdtempSync(join(tmpdir(), 'puntas-fleet-'));

let browser: Browser;
let open: ConsoleServer;
let closed: ConsoleServer;
const doubles: Double[] = [];

beforeAll(async () => {
  browser = await chromium.launch({ executablePath: process.env['PUNTAS_BROWSER'] ?? '', args: ['--no-sandbox'] });
  for (let i = 0; i < BOTS; i++) {
    const text = HOSTILE[i % HOSTILE.length]!.slice(0, 400);
    const profit = { total: `${i - 10}.25`, run: '1', since: `opening ${i}` };
    const run = { instance: `bot${i}`, profit, ...(i % 2 === 0 ? { refusal: text } : {}) };
    let madeAt = 1;
    doubles.push(
      await double(
        i === 7
          ? (_, reply) => void reply.destroy()
          : i % 2 === 0
            ? (request, reply) => json(summaryWith(run, { note: text, madeAt: madeAt++ }))(request, reply)
            : growing(run),
      ),
    );
  }
  const start = (name: string, more: string) => {
    const file = join(dir, name);
    const bots = doubles.map(({ url }, i) => `  - { name: b${i}, url: "${url}" }\n`).join('');
    writeFileSync(file, `currency: mxn\nport: 0\n${more}bots:\n${bots}`);
    return startFleet({
      ...{ config: readFleet(file), clock: realClock(), version: '0.1.0', environment: {} },
      scripts: pathToFileURL(`${ROOT}/dist/src/console/page/`),
    });
  };
  writeFileSync(join(dir, 'page.token'), TOKEN, { mode: 0o600 });
  open = await start('open.yaml', '');
  closed = await start('closed.yaml', 'viewerTokenFile: ./page.token\n');
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await open?.close();
  await closed?.close();
  await Promise.all(doubles.map(each => each.close()));
  rmSync(dir, { recursive: true, force: true });
});

/** Opens a page and keeps whatever it should not have done. */
async function opened({ url }: ConsoleServer): Promise<{ page: Page; noise: string[] }> {
  const page = await browser.newPage();
  const noise: string[] = [];
  page.on('dialog', dialog => {
    noise.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', message => noise.push(`console: ${message.text()}`));
  page.on('pageerror', error => noise.push(`error: ${error.message}`));
  page.on('request', request => {
    if (!request.url().startsWith(`${url}/`)) noise.push(`request: ${request.url()}`);
  });
  await page.goto(url);
  return { page, noise };
}

/** Waits until an expression holds. The page's policy allows no `waitForFunction`, which evaluates text within the page. */
async function holds(page: Page, expression: string): Promise<void> {
  for (let left = SLOW.timeout / 100; left > 0; left--) {
    if (await page.evaluate<boolean>(expression)) return;
    await page.waitForTimeout(100);
  }
  throw new Error(`never: ${expression}`);
}
const shown = (page: Page, count: number) =>
  holds(page, `document.querySelectorAll('tr[data-bot]').length === ${count}`);
const names = (page: Page) =>
  page.evaluate<string[]>("[...document.querySelectorAll('tr[data-bot]')].map(row => row.dataset.bot)");

test('fifty bots are on one page, the silent one first; texts of theirs do nothing; all fit a phone', async () => {
  const { page, noise } = await opened(open);
  await page.setViewportSize({ width: 1280, height: 900 });
  await shown(page, BOTS);
  await holds(page, "document.querySelector('tr[data-bot]').dataset.bot === 'b7'");
  await holds(page, "!document.body.innerText.includes('waiting')");
  // Those that were heard: -10.25, … -1.25 without -3.25, then 0.25, … 39.25.
  expect(await page.locator('.total').textContent()).toBe('+735.75 mxn');
  expect(await page.locator('tr[data-bot=b7]').textContent()).toMatch(/silent for \d+ s: the connection broke off/);
  expect(await page.locator('tr[data-bot=b3] a').getAttribute('href')).toBe(doubles[3]!.url);

  await page.getByRole('button', { name: 'Profit', exact: true }).click();
  await holds(page, "document.querySelector('tr[data-bot]').dataset.bot === 'b49'");
  await page.getByRole('button', { name: 'Profit ▾' }).click();
  await holds(page, "document.querySelector('tr[data-bot]').dataset.bot === 'b0'");
  // Unknown values are last in both directions.
  expect((await names(page)).at(-1)).toBe('b7');

  await page.fill('#search', 'BOT4 normal');
  await shown(page, 11);
  expect((await names(page)).toSorted()).toEqual(['b4', ...Array.from({ length: 10 }, (_, i) => `b${40 + i}`)]);
  await page.fill('#search', '');
  await shown(page, BOTS);
  await picture(page, 'fleet', 1280, 900);

  await page.setViewportSize({ width: 390, height: 844 });
  await page.waitForTimeout(500);
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  await page.getByRole('button', { name: 'Bot', exact: true }).click();
  await holds(page, "document.querySelector('tr[data-bot]').dataset.bot === 'b0'");
  await picture(page, 'fleet-phone', 390, 844);
  expect(noise).toEqual([]);
  await page.close();
});

test('a page with a viewer token shows nothing before the login, says what is wrong, and all after it', async () => {
  const { page } = await opened(closed);
  await page.locator('#login').waitFor(SLOW);
  expect(await page.locator('tr[data-bot]').count()).toBe(0);
  await page.fill('#token', 'a-wrong-token-0123456789abcdef-0123');
  await page.getByRole('button', { name: 'Log in' }).click();
  await holds(page, "document.getElementById('login-problem').textContent === 'wrong token'");
  await page.fill('#token', TOKEN);
  await page.getByRole('button', { name: 'Log in' }).click();
  await shown(page, BOTS);
  expect(await page.locator('#login').isVisible()).toBe(false);
  await page.close();
});

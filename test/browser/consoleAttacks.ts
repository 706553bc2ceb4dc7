/** The console's page in a real browser, fed with texts that want to be more than text: from views, moments, previews and outcomes. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pageScripts } from '../../src/app/console/pageScripts.ts';
import { serveConsole, type ConsoleServer } from '../../src/console/index.ts';
import { ROOT } from '../cli/program.ts';
import { FULL_LONG, FULL_VIEW, HOSTILE, poisoned } from '../console/hostileTexts.ts';

const SLOW = { timeout: 60_000 };
const TOKEN = 'operator-token-0123456789abcdef-0123';

let browser: Browser;
let server: ConsoleServer;
/** What the console of the test says next, everywhere. */
let evil = '';

const LIBRARY_STYLE = createRequire(import.meta.url).resolve('uplot/dist/uPlot.min.css');
const HISTORY = { run: 3, recent: [FULL_VIEW.point], whole: [FULL_VIEW.point], fills: [[7_000_000, -1, 1]] };

beforeAll(async () => {
  browser = await chromium.launch({ executablePath: process.env['PUNTAS_BROWSER'] ?? '', args: ['--no-sandbox'] });
  let made = 0;
  server = await serveConsole(
    {
      scripts: pageScripts(pathToFileURL(`${ROOT}/dist/src/console/page/`)),
      libraryStyle: readFileSync(LIBRARY_STYLE, 'utf8'),
      history: () => JSON.stringify(HISTORY),
      longHistory: () => JSON.stringify(poisoned(FULL_LONG, evil)),
      past: async () => {
        if (evil.length % 2 === 1) throw new Error(evil);
        return JSON.stringify({ view: poisoned({ ...FULL_VIEW, kind: 'past' }, evil), history: HISTORY });
      },
    },
    {
      ...{ host: '127.0.0.1', port: 0 },
      access: {
        ...{ operatorToken: TOKEN, viewerToken: null, behindTls: false },
        now: () => performance.now(),
        newSecret: () => `secret-${++made}`,
        onEvent: () => undefined,
      },
      actions: {
        names: ['pause', 'halt', 'flatten', evilAction],
        cost: async () => [evil, evil],
        parameters: () => ({ digest: 'ab', parameters: [], changes: [] }),
        prepare: async () => ({ lines: [evil, evil], execute: async () => ({ end: 'refused', lines: [evil] }) }),
      },
    },
  );
}, 60_000);

/** Of a name that no page knows there is no button. */
const evilAction = `<img src=x onerror=alert(1)>`;

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

const inPage = <T>(page: Page, expression: string): Promise<T> => page.evaluate<T>(expression);

/** Opens the page and keeps whatever it should not have done. */
async function opened(): Promise<{ page: Page; noise: string[] }> {
  const page = await browser.newPage();
  const noise: string[] = [];
  page.on('dialog', dialog => {
    noise.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', message => noise.push(`console: ${message.text()}`));
  page.on('pageerror', error => noise.push(`error: ${error.message}`));
  page.on('request', request => {
    if (!request.url().startsWith(`${server.url}/`)) noise.push(`request: ${request.url()}`);
  });
  page.on('framenavigated', frame => void (frame.url().startsWith(server.url) || noise.push(`went to ${frame.url()}`)));
  await page.goto(server.url);
  return { page, noise };
}

/** What a page of ours has none of, but for what its own file says. */
const FOREIGN = `[
  ...document.querySelectorAll('img, iframe, object, embed, base, svg, math, details, meta[http-equiv], a, style, [autofocus]'),
  ...[...document.querySelectorAll('script')].filter(({ src }) => !src.startsWith(location.origin + '/')),
  ...[...document.querySelectorAll('link')].filter(({ href }) => !href.startsWith(location.origin + '/')),
  ...[...document.querySelectorAll('form')].filter(form => form.hasAttribute('action') || form.closest('dialog') === null),
  ...[...document.querySelectorAll('*')].filter(({ attributes }) =>
    [...attributes].some(({ name, value }) => /^on/i.test(name) || (name === 'style' && /url\\(|expression/i.test(value)))),
].map(({ outerHTML }) => outerHTML.slice(0, 200))`;

const shows = async (page: Page, at: number): Promise<void> => {
  await page.locator(`html[data-shown="live ${at}"]`).waitFor(SLOW);
  await inPage(page, 'new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
};

describe('every text of a view', () => {
  test.each(HOSTILE.map((text, i) => [i, text.slice(0, 60), text] as const))(
    'is text, whatever it is: %i %j',
    async (i, _, text) => {
      evil = text;
      const { page, noise } = await opened();
      const at = FULL_VIEW.at + 1_000 * (i + 1);
      server.send(JSON.stringify({ ...poisoned(FULL_VIEW, evil), at, point: [at, ...FULL_VIEW.point.slice(1)] }));
      await shows(page, at);
      // It did arrive, in the name, in a warning and among the events.
      const seen = (id: string) => inPage<string>(page, `document.querySelector('${id}').textContent`);
      for (const place of ['#warnings', '#events', '#levels', '#hedges', '#ledger'])
        expect(await seen(place), place).toContain(evil);
      for (const key of ['j', 'r', 't']) await page.keyboard.press(key);
      expect(await inPage(page, FOREIGN)).toEqual([]);
      await page.keyboard.press('ArrowLeft');
      await page
        .locator(evil.length % 2 === 1 ? '#warnings .warning' : 'html[data-shown^=past]')
        .first()
        .waitFor(SLOW);
      expect(await inPage(page, FOREIGN)).toEqual([]);
      expect(noise).toEqual([]);
      await page.close();
    },
  );
});

describe('every text of an action', () => {
  test('is text, whatever it is: what it would do, why, who asks, what became of it', async () => {
    const { page, noise } = await opened();
    await page.locator('#login').click();
    await page.locator('#token').fill(TOKEN);
    await page.locator('#who').fill(`<img src=x onerror=alert(1)>`);
    await page.locator('#next').click();
    await page.locator('[data-action=halt]').waitFor(SLOW);
    expect(await page.locator('#actions button').allInnerTexts()).toEqual(['Pause', 'Halt', 'Flatten', 'Log out']);
    evil = HOSTILE[2]!;
    await page.locator('[data-action=flatten]').click();
    await page.locator('#cost li', { hasText: evil }).first().waitFor(SLOW);
    expect(await inPage(page, FOREIGN)).toEqual([]);
    await page.locator('#close').click();
    for (const text of HOSTILE.filter(({ length }) => length <= 400)) {
      evil = text;
      await page.locator('[data-action=halt]').click();
      await page.locator('#reason').fill(`why: ${text}`);
      await page.locator('#next').click();
      await page.locator('#confirm').waitFor(SLOW);
      const told = () => inPage<string>(page, `document.querySelector('#dialog .told').textContent`);
      expect(await told()).toBe(`${evil}${evil}`);
      expect(await inPage(page, FOREIGN)).toEqual([]);
      await page.locator('#confirm').click();
      await page.locator('#dialog h2', { hasText: 'Halt: refused' }).waitFor(SLOW);
      expect(await told()).toBe(evil);
      expect(await inPage(page, FOREIGN)).toEqual([]);
      await page.locator('#close').click();
    }
    expect(noise).toEqual([]);
    await page.close();
  });
});

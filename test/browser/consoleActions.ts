/** Actions on the console's page in a real browser, beside a bot on the embedded exchange: each with its preview and reason, by keys alone, and many at random. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { actionsIn } from '../../src/app/actions/actionJournal.ts';
import { randomOf } from '../../src/core/index.ts';
import { Bench, ran, sharedPuntas, type Program } from '../cli/program.ts';
import { freePort } from '../freePort.ts';
import { picture } from './picture.ts';

const bench = new Bench();
const SLOW = { timeout: 120_000 };
const [OPERATOR, VIEWER] = ['operator', 'viewer'].map(role => `${role}-${'0123456789abcdef'.repeat(2)}`) as [
  string,
  string,
];
/** In the environment of the bot, which needs none on the embedded exchange. */
const SECRETS = {
  PUNTAS_TELEGRAM_TOKEN: 'telegram-secret-of-the-bot',
  PUNTAS_ALERT_WEBHOOK_SECRET: 'alert-secret-of-the-bot',
};
/** Of the random explorer; another one is given in the environment. */
const SEED = Number(process.env['PUNTAS_EXPLORER_SEED'] ?? 16);
const STEPS = Number(process.env['PUNTAS_EXPLORER_STEPS'] ?? 25);

let browser: Browser;
let config: string;
let state: string;
let bot: Program;
let url: string;
let metrics: string;
let pages: Page[] = [];

beforeAll(async () => {
  browser = await chromium.launch({ executablePath: process.env['PUNTAS_BROWSER'] ?? '', args: ['--no-sandbox'] });
  const token = (name: string, text: string) => {
    const file = bench.path(`${name}.token`);
    writeFileSync(file, `${text}\n`, { mode: 0o600 });
    return file;
  };
  const tokens = { operatorTokenFile: token('operator', OPERATOR), viewerTokenFile: token('viewer', VIEWER) };
  const port = await freePort();
  config = bench.config(
    'hedged',
    text =>
      text
        .replace(/^metrics:\n {2}port: 0$/m, `metrics:\n  port: ${port}`)
        // Something is there to be closed.
        .replace(/target: .*/, "target: '1.45'") + `console: ${JSON.stringify({ port: 0, ...tokens })}\n`,
  );
  state = /dir: (.*state-\d+)/.exec(readFileSync(config, 'utf8'))![1]!;
  bot = sharedPuntas(['run', '-c', config], SECRETS);
  // It comes beside the run, without having been started.
  url = (await bot.sees(/console of \S+ at (http:\/\/127\.0\.0\.1:\d+)/))[1]!;
  metrics = (await bot.sees(/metrics at (http:\/\/\S+)\/metrics/))[1]!;
}, 600_000);

afterEach(async () => {
  for (const page of pages) await page.close();
  pages = [];
  if (held().length > 0)
    for (let i = 0; i < 2 && held().length > 0; i++)
      await ran(['resume', '-c', config, '--reason', 'the next test begins']);
});

afterAll(async () => {
  await browser?.close();
  bot?.signal('SIGINT');
  await bot?.ended;
  bench.clear();
}, 120_000);

async function opened(width = 1600): Promise<{ page: Page; noise: string[] }> {
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  pages.push(page);
  const noise: string[] = [];
  page.on('pageerror', error => noise.push(`error: ${error.message}`));
  page.on('dialog', dialog => noise.push(`dialog: ${dialog.message()}`));
  page.on('request', request => void (request.url().startsWith(`${url}/`) || noise.push(`request: ${request.url()}`)));
  await page.goto(url);
  await page.locator('#login').waitFor(SLOW);
  return { page, noise };
}

async function logIn(page: Page, token = OPERATOR, who = 'Ana'): Promise<void> {
  await page.locator('#login').click();
  await page.locator('#token').fill(token);
  await page.locator('#who').fill(who);
  await page.locator('#next').click();
  await page.locator('#logout').waitFor(SLOW);
  // The next key does nothing to the bot.
  await page.locator('#logout:focus').waitFor(SLOW);
  await page.locator('html[data-shown^=live]').waitFor(SLOW);
}

/** Previews and confirms, and gives back both texts. */
async function act(
  page: Page,
  action: string,
  reason: string,
  minutes?: number,
  costMax = '500',
): Promise<{ preview: string; end: string }> {
  await page.locator(`[data-action=${action}]`).click();
  await page.locator('#reason').fill(reason);
  if (action === 'flatten') await page.locator('#max-cost').fill(costMax);
  if (minutes !== undefined) await page.locator('#minutes').fill(String(minutes));
  await page.locator('#next').click();
  await page.locator('#confirm').waitFor(SLOW);
  const preview = await page.locator('#dialog .told').innerText();
  await page.locator('#confirm').click();
  await page.locator('#dialog h2', { hasText: /: (?:done|refused)$/ }).waitFor(SLOW);
  const end = `${await page.locator('#dialog h2').innerText()}\n${await page.locator('#dialog .told').innerText()}`;
  await page.locator('#close').click();
  return { preview, end };
}

const FILES = {
  ...{ halted: 'HALTED', paused: 'PAUSED', held: 'HELD', 'reduce only': 'REDUCE', flatten: 'FLATTEN' },
} as const;
/** What the state directory says that holds. */
const held = (): string[] =>
  Object.entries(FILES).flatMap(([what, file]) => (existsSync(`${state}/${file}`) ? [what] : []));
const ready = async (): Promise<string> => (await fetch(`${metrics}/readyz`)).text();
const pills = async (page: Page): Promise<readonly string[]> => page.locator('#head .pill').allInnerTexts();
const warnings = async (page: Page): Promise<string> => (await page.locator('#warnings').innerText()).trim();

/** In how far the page says other than the files and the bot's own probe; empty when it does not. */
async function differences(page: Page): Promise<string[]> {
  const [files, shown, told, probe] = [held(), await pills(page), await warnings(page), await ready()];
  const found: string[] = [];
  for (const [what, file] of Object.entries(FILES)) {
    const says = told.split('\n').some(line => line.startsWith(`${what} by `));
    if (files.includes(what) !== says) found.push(`${file} ${files.includes(what) ? 'is' : 'is not'} there: ${told}`);
  }
  const isStill = files.includes('halted') || files.includes('paused');
  if (isStill && !shown.some(pill => pill === 'halted' || pill === 'paused'))
    found.push(`quoting nothing: ${shown.join()}`);
  if (!isStill && files.length === 0 && shown.some(pill => /^(?:halted|held|reduce only)$/.test(pill)))
    found.push(shown.join());
  if (isStill && /^ok/.test(probe)) found.push(`the probe says ${probe}`);
  return found;
}

/** The page has caught up: what it shows is what the bot is, soon after the last action, and stays so. */
async function agrees(page: Page): Promise<void> {
  await expect.poll(() => differences(page), { timeout: 120_000, interval: 300 }).toEqual([]);
}

describe('each action', () => {
  test('shows what it would do, asks why, does it, and is among the events with who and why', async () => {
    const { page, noise } = await opened();
    await logIn(page);
    await page.locator('#depth tr.own').first().waitFor(SLOW);
    for (const [action, minutes, holds] of [
      ['pause', 30, ['paused']],
      ['resume', undefined, []],
      ['reduce', undefined, ['reduce only']],
      ['resume', undefined, []],
      ['cancel', undefined, []],
      ['halt', undefined, ['halted']],
      ['resume', undefined, []],
    ] as const) {
      const reason = `trying ${action} out`;
      const before = actionsIn(state).length;
      const { preview, end } = await act(page, action, reason, minutes);
      expect(preview.trim(), action).not.toBe('');
      expect(end, action).toMatch(/: done\n/);
      expect(held()).toEqual(holds);
      const entry = actionsIn(state).slice(before);
      expect(entry).toEqual([expect.objectContaining({ action, reason, by: 'Ana', via: 'console', end: 'done' })]);
      await page
        .locator('#events li', { hasText: `Ana: ${action}` })
        .filter({ hasText: reason })
        .first()
        .waitFor(SLOW);
      await agrees(page);
    }
    expect(noise).toEqual([]);
  });

  test('pause takes every order out of the book, and resume brings them back', async () => {
    const { page } = await opened();
    await logIn(page);
    await page.locator('#depth tr.own').first().waitFor(SLOW);
    await page.locator('[data-action=pause]').click();
    await page.locator('#reason').fill('lunch');
    await page.locator('#next').click();
    await page.locator('#confirm').waitFor(SLOW);
    await picture(page, 'console-preview', 1280, 800);
    await page.locator('#close').click();
    const { preview } = await act(page, 'pause', 'lunch');
    expect(preview).toMatch(/live orders would be canceled/);
    await page
      .locator('#depth tr.own')
      .first()
      .waitFor({ state: 'detached', ...SLOW });
    await page.locator('.warning', { hasText: /^paused by Ana at .*: lunch$/ }).waitFor(SLOW);
    await act(page, 'resume', 'back from lunch');
    await page.locator('#depth tr.own').first().waitFor(SLOW);
  });

  test('a proposal of an agent is text, and acts once an operator has previewed and confirmed it', async () => {
    const { page, noise } = await opened();
    const reason = '<img src=x onerror=alert(1)> odd fills';
    const proposed = await fetch(`${url}/api/v1/proposals`, {
      method: 'POST',
      headers: { authorization: `Bearer ${VIEWER}`, 'content-type': 'application/json' },
      body: JSON.stringify({ action: 'pause', reason, agent: 'a <b>helper</b>', minutes: 5 }),
    });
    const { id } = (await proposed.json()) as { id: string };
    await logIn(page);
    const before = actionsIn(state).length;
    await picture(page, 'console-proposal', 1280, 800);
    await page.locator(`[data-proposal=${id}]`).click();
    expect(await page.locator('#dialog').innerText()).toContain(reason);
    await page.locator('#next').click();
    await page.locator('#confirm').waitFor(SLOW);
    expect(held()).toEqual([]);
    await page.locator('#back').click();
    await page.locator('#next').click();
    await page.locator('#confirm').click(SLOW);
    await page.locator('#dialog h2', { hasText: /: done$/ }).waitFor(SLOW);
    await page.locator('#close').click();
    expect(held()).toEqual(['paused']);
    expect(actionsIn(state).slice(before)).toMatchObject([{ id, by: 'Ana', via: 'agent', reason }]);
    await page.locator('#proposals li', { hasText: 'done by Ana' }).waitFor(SLOW);
    expect(noise).toEqual([]);
  });

  test('reload shows what changes, and takes what was previewed alone', async () => {
    const { page } = await opened();
    await logIn(page);
    const text = readFileSync(config, 'utf8');
    const changed = text.replace('halfSpreadBps: 11', 'halfSpreadBps: 12');
    expect(changed).not.toBe(text);
    writeFileSync(config, changed);
    await page.locator('[data-action=reload]').click();
    await page.locator('#reason').fill('a wider spread');
    await page.locator('#next').click();
    await page.locator('#confirm').waitFor(SLOW);
    expect(await page.locator('#dialog .told').innerText()).toContain('strategy.halfSpreadBps: 11 -> 12');
    writeFileSync(config, text.replace('halfSpreadBps: 11', 'halfSpreadBps: 13'));
    await page.locator('#confirm').click();
    await page.locator('#dialog h2', { hasText: 'Reload: refused' }).waitFor(SLOW);
    expect(await page.locator('#dialog .told').innerText()).toContain(
      'the configuration file has changed since the preview',
    );
    await page.locator('#close').click();
    writeFileSync(config, changed);
    const { end } = await act(page, 'reload', 'a wider spread');
    expect(end).toMatch(/: done\n[^]*applied: run \d+ resumed with the new configuration/);
  });

  test('flatten says first what it costs, takes a bound, and is begun with that bound', async () => {
    const { page, noise } = await opened();
    await logIn(page);
    await page.locator('[data-action=flatten]').click();
    await page.locator('#cost li', { hasText: /inventory is / }).waitFor(SLOW);
    // Without a bound there is no preview.
    await page.locator('#reason').fill('the week is over');
    await page.locator('#next').click();
    expect(await page.evaluate<boolean>(`document.getElementById('max-cost').validity.valueMissing`)).toBe(true);
    expect(held()).toEqual([]);
    await page.locator('#close').click();
    const { preview, end } = await act(page, 'flatten', 'the week is over', undefined, '900.50');
    expect(preview).toContain('total cost: at most 900.50 in quote currency, fees included');
    expect(end).toMatch(/: done\n[^]*total cost of at most 900\.5/);
    expect(actionsIn(state).at(-1)).toMatchObject({ action: 'flatten', costMax: '900.50', by: 'Ana', via: 'console' });
    await page.locator('#events li', { hasText: 'Ana: flatten for at most 900.50' }).first().waitFor(SLOW);
    // The bot has heard it. That the hedger closes everything then, within the bound, is in test/hedge/flatten.test.ts: it rests up to half a minute first.
    await page.locator('.warning', { hasText: /^reduce only by Ana at .*: flatten: the week is over$/ }).waitFor(SLOW);
    await page.locator('#regime b', { hasText: 'reduce only' }).waitFor(SLOW);
    await agrees(page);
    expect(noise).toEqual([]);
  });

  test('cannot be confirmed without a reason, nor after its minute is over', async () => {
    const { page } = await opened();
    await logIn(page);
    await page.locator('[data-action=halt]').click();
    await page.locator('#reason').fill('   a ');
    await page.locator('#next').click();
    await page.locator('#dialog [role=alert]', { hasText: 'enter the reason in a few words' }).waitFor(SLOW);
    await page.locator('#reason').fill('a good reason');
    // A minute that is short: that the console itself takes no late one is in test/console/access.test.ts.
    await page.route('**/actions/preview', async route => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...((await answer.json()) as object), endsInMs: 3_000 } });
    });
    await page.locator('#next').click();
    await page.locator('#confirm').waitFor(SLOW);
    await page.locator('#left', { hasText: 'preview the action again' }).waitFor(SLOW);
    expect(await page.locator('#confirm').count()).toBe(0);
    expect(held()).toEqual([]);
    await page.locator('#back').click();
    expect(await page.locator('#reason').inputValue()).toBe('a good reason');
  });
});

describe('the process of the console beside a run', () => {
  test('has none of the secrets of the bot in its environment', () => {
    const read = (file: string) => readFileSync(`/proc/${file}`, 'utf8');
    expect(read(`${bot.pid}/environ`)).toContain(SECRETS.PUNTAS_TELEGRAM_TOKEN);
    const children = read(`${bot.pid}/task/${bot.pid}/children`).trim().split(' ');
    const consoles = children.filter(pid => read(`${pid}/cmdline`).split('\0').includes('console'));
    expect(consoles).toHaveLength(1);
    expect(read(`${consoles[0]}/environ`)).not.toMatch(/SECRET|TOKEN|API_KEY|secret/);
  });
});

describe('who is not an operator', () => {
  test('sees nothing of the bot without a login, reads as a viewer, and has nothing to act with', async () => {
    const { page } = await opened();
    await page.locator('.warning', { hasText: 'log in to see the bot' }).waitFor(SLOW);
    expect(await page.locator('#head').innerText()).toBe('');
    await page.locator('#login').click();
    await page.locator('#token').fill('not the token');
    await page.locator('#next').click();
    await page.locator('#dialog [role=alert]', { hasText: 'wrong token' }).waitFor(SLOW);
    await page.keyboard.press('Escape');
    await logIn(page, VIEWER, '');
    expect(await page.locator('[data-action]').count()).toBe(0);
    await page.locator('#logout').click();
    await page.locator('.warning', { hasText: 'log in to see the bot' }).waitFor(SLOW);
    expect(await page.locator('#head').isVisible()).toBe(false);
  });
});

describe('keys alone', () => {
  test('log in, act and close; a key of the page typed as a reason is a letter', async () => {
    const { page, noise } = await opened(390);
    const { keyboard } = page;
    await keyboard.press('a');
    await keyboard.press('Enter');
    await keyboard.type(OPERATOR);
    await keyboard.press('Tab');
    await keyboard.type('Luz');
    await keyboard.press('Enter');
    await page.locator('html[data-role=operator][data-shown^=live]').waitFor(SLOW);
    await keyboard.press('a');
    expect(await page.evaluate<string>('document.activeElement.dataset.action')).toBe('pause');
    await keyboard.press('Enter');
    await keyboard.type('a jolly l? rt, by keys');
    await keyboard.press('Tab');
    await keyboard.type('5');
    await keyboard.press('Enter');
    await page.locator('#confirm').waitFor(SLOW);
    // Whoever presses Enter once more has confirmed nothing.
    await keyboard.press('Enter');
    expect(held()).toEqual([]);
    await keyboard.press('Tab');
    expect(await page.evaluate<string>('document.activeElement.id')).toBe('confirm');
    await keyboard.press('Enter');
    await page.locator('#dialog h2', { hasText: 'Pause: done' }).waitFor(SLOW);
    await keyboard.press('Escape');
    expect(actionsIn(state).at(-1)).toMatchObject({ action: 'pause', by: 'Luz', reason: 'a jolly l? rt, by keys' });
    expect(await page.locator('html').getAttribute('data-theme')).toBe(null);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    expect(noise).toEqual([]);
  });
});

describe('whatever a person does', () => {
  test(`the page never says other than the bot: ${STEPS} steps of seed ${SEED}`, async () => {
    const { page, noise } = await opened();
    await logIn(page);
    const random = randomOf(SEED);
    const one = <T>(of: readonly T[]): T => of[Math.floor(random.next() * of.length)]!;
    const steps: string[] = [];
    const does: Readonly<Record<string, () => Promise<unknown>>> = {
      pause: () => act(page, 'pause', 'the explorer pauses', one([undefined, 1, 30])),
      resume: () => act(page, 'resume', 'the explorer resumes'),
      reduce: () => act(page, 'reduce', 'the explorer reduces'),
      cancel: () => act(page, 'cancel', 'the explorer cancels'),
      flatten: () => act(page, 'flatten', 'the explorer flattens'),
      halt: () => act(page, 'halt', 'the explorer halts'),
      'resume by a command': () => ran(['resume', '-c', config, '--reason', 'the explorer at a terminal']),
      'halt by a command': () => ran(['halt', '-c', config, '--reason', 'the explorer at a terminal']),
      'preview and leave': async () => {
        await page.locator(`[data-action=${one(['pause', 'halt', 'reduce'])}]`).click();
        await page.locator('#reason').fill('the explorer only looks');
        await page.locator('#next').click();
        await page.locator('#confirm').waitFor(SLOW);
        await page.keyboard.press('Escape');
      },
      'go back and live again': async () => {
        await page.keyboard.press('ArrowLeft');
        await page.locator('html[data-shown^=past]').waitFor(SLOW);
        await page.keyboard.press('l');
        await page.locator('html[data-shown^=live]').waitFor(SLOW);
      },
      'keys of the page': () => page.keyboard.press(one(['j', 'k', 'r', 't', 'Escape'])),
      'load the page anew': async () => {
        await page.reload();
        await page.locator('html[data-role=operator][data-shown^=live]').waitFor(SLOW);
      },
      'log out and in': async () => {
        await page.locator('#logout').click();
        await page.locator('html[data-role=nobody]').waitFor(SLOW);
        await logIn(page, OPERATOR, one(['Ana', 'Bea']));
      },
    };
    for (let i = 0; i < STEPS; i++) {
      const step = one(Object.keys(does));
      steps.push(step);
      try {
        await does[step]!();
        await agrees(page);
      } catch (error) {
        throw new Error(`seed ${SEED}, after ${steps.join(' | ')}: ${String(error)}`, { cause: error });
      }
    }
    expect(noise).toEqual([]);
  }, 1_800_000);
});

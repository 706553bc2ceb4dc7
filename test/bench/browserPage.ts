/** One open page of the console in a real browser, and what it has on its heap. */
import { chromium } from 'playwright-core';
import type { Browser, CDPSession } from 'playwright-core';

export type PageSample = {
  /** Bytes in use after a forced collection. */
  readonly heap: number;
  /** Elements and texts of the document, also those that are no longer shown but still held. */
  readonly nodes: number;
  readonly listeners: number;
};

export class BrowserPage {
  readonly #browser: Browser;
  readonly #session: CDPSession;

  private constructor(browser: Browser, session: CDPSession) {
    this.#browser = browser;
    this.#session = session;
  }

  /** Resolves when the page shows a bot. */
  static async open(executablePath: string, url: string): Promise<BrowserPage> {
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    await page.goto(url);
    await page.locator('html[data-shown^=live][data-points]').waitFor({ timeout: 120_000 });
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    return new BrowserPage(browser, session);
  }

  async sample(): Promise<PageSample> {
    await this.#session.send('HeapProfiler.collectGarbage');
    const { metrics } = await this.#session.send('Performance.getMetrics');
    const of = (name: string): number => metrics.find(each => each.name === name)?.value ?? 0;
    return { heap: of('JSHeapUsedSize'), nodes: of('Nodes'), listeners: of('JSEventListeners') };
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }
}

/** One open page of the console in a real browser, and what it has on its heap. */
import { chromium, type Browser, type CDPSession, type Page } from 'playwright-core';

export type PageSample = {
  /** Bytes in use after a forced collection. */
  readonly heap: number;
  /** Elements and texts, also those that are no longer shown but still held; without the table of profit, which gets a row each hour until it has 48. */
  readonly nodes: number;
  readonly listeners: number;
};

const NODES_OF_PROFIT =
  '(walker => { let n = 0; while (walker.nextNode()) n++; return n; })(document.createTreeWalker(document.getElementById("profit")))';

export class BrowserPage {
  readonly #browser: Browser;
  readonly #page: Page;
  readonly #session: CDPSession;

  private constructor(browser: Browser, page: Page, session: CDPSession) {
    this.#browser = browser;
    this.#page = page;
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
    return new BrowserPage(browser, page, session);
  }

  async sample(): Promise<PageSample> {
    await this.#session.send('HeapProfiler.collectGarbage');
    const { metrics } = await this.#session.send('Performance.getMetrics');
    const of = (name: string): number => metrics.find(each => each.name === name)?.value ?? 0;
    const rows = await this.#page.evaluate<number>(NODES_OF_PROFIT);
    return { heap: of('JSHeapUsedSize'), nodes: of('Nodes') - rows, listeners: of('JSEventListeners') };
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }
}

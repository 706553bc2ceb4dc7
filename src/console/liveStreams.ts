/**
 * Streams of views to open pages, in a bounded pool for each role. A slow page skips views. It neither delays other
 * pages nor uses more memory.
 */
import type { ServerResponse } from 'node:http';
import { Pool, senderOf, type CallerRole } from '../guard/index.ts';

/**
 * Maximum number of open pages of each role. A further page closes the oldest page of the sender with the most pages;
 * the browser then reconnects.
 */
const PAGES_MAX: Readonly<Record<CallerRole, number>> = { anonymous: 200, viewer: 100, operator: 32 };

type Page = { readonly to: ServerResponse; readonly may: () => boolean; isFull: boolean; hasMissed: boolean };

export class LiveStreams {
  readonly #pages = new Set<Page>();
  readonly #pools = {
    anonymous: new Pool<Page>({ all: PAGES_MAX.anonymous }),
    viewer: new Pool<Page>({ all: PAGES_MAX.viewer }),
    operator: new Pool<Page>({ all: PAGES_MAX.operator }),
  };
  #last: string | null = null;

  get count(): number {
    return this.#pages.size;
  }

  /**
   * Sends every view to the page, until the page closes or `may` returns false. `address`: address of the page's
   * connection.
   */
  add(to: ServerResponse, may: () => boolean, role: CallerRole, address: string): void {
    const page: Page = { to, may, isFull: false, hasMissed: false };
    const pool = this.#pools[role];
    const forget = (): void => {
      this.#pages.delete(page);
      pool.delete(page);
    };
    this.#pages.add(page);
    pool.add(page, senderOf(address), () => {
      forget();
      to.end();
    });
    to.on('close', forget);
    to.on('error', forget);
    to.on('drain', () => {
      page.isFull = false;
      if (page.hasMissed && this.#last !== null && page.may()) write(page, this.#last);
    });
    write(page, this.#last ?? ': nothing yet\n\n');
  }

  /** Sends a view to every page, as JSON on one line. */
  send(view: string): void {
    this.#last = `data: ${view}\n\n`;
    this.#dismiss();
    for (const page of this.#pages) write(page, this.#last);
  }

  /** Sends a keep-alive to each page. */
  ping(): void {
    this.#dismiss();
    for (const page of this.#pages) if (!page.isFull) page.isFull = !page.to.write(': still here\n\n');
  }

  close(): void {
    for (const { to } of this.#pages) to.end();
    this.#pages.clear();
  }

  /** Ends the streams of pages that may no longer read. */
  #dismiss(): void {
    for (const page of this.#pages) {
      if (page.may()) continue;
      this.#pages.delete(page);
      page.to.end();
    }
  }
}

function write(page: Page, text: string): void {
  page.hasMissed = page.isFull;
  if (!page.isFull) page.isFull = !page.to.write(text);
}

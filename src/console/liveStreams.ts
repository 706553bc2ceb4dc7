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

/**
 * Open page. `book`: symbol of the book that the page shows; `undefined` if the page shows the bot or all its books.
 */
type Page = {
  readonly book: string | undefined;
  readonly to: ServerResponse;
  readonly may: () => boolean;
  isFull: boolean;
  hasMissed: boolean;
};

export class LiveStreams {
  readonly #pages = new Set<Page>();
  readonly #pools = {
    anonymous: new Pool<Page>({ all: PAGES_MAX.anonymous }),
    viewer: new Pool<Page>({ all: PAGES_MAX.viewer }),
    operator: new Pool<Page>({ all: PAGES_MAX.operator }),
  };
  /** Newest view of each book, by symbol. The view of the bot has the key `undefined`. */
  readonly #last = new Map<string | undefined, string>();

  get count(): number {
    return this.#pages.size;
  }

  /** Symbols of the books of the open pages, each once; `undefined` for a page of the bot. */
  get books(): readonly (string | undefined)[] {
    return [...new Set([...this.#pages].map(({ book }) => book))];
  }

  /**
   * Sends every view of the book, or of the bot without `book`, to the page, until the page closes or `may` returns
   * false. `address`: address of the page's connection.
   */
  add(to: ServerResponse, may: () => boolean, role: CallerRole, address: string, book?: string): void {
    const page: Page = { book, to, may, isFull: false, hasMissed: false };
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
      const last = this.#last.get(book);
      if (page.hasMissed && last !== undefined && page.may()) write(page, last);
    });
    write(page, this.#last.get(book) ?? ': nothing yet\n\n');
  }

  /** Sends a view to every page of the book, as JSON on one line. Without a book, to every page of the bot. */
  send(view: string, book?: string): void {
    const text = `data: ${view}\n\n`;
    this.#dismiss();
    const pages = [...this.#pages].filter(page => page.book === book);
    // Views of books without a page are dropped. Otherwise, requests with many symbols would fill the memory.
    for (const known of this.#last.keys())
      if (known !== undefined && known !== book && !this.books.includes(known)) this.#last.delete(known);
    if (book === undefined || pages.length > 0) this.#last.set(book, text);
    for (const page of pages) write(page, text);
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

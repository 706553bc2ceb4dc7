/** Open pages of the console, as the browser's `EventSource` reads them: an HTTP request each whose answer does not end. */
import { get, type IncomingMessage } from 'node:http';

export class OpenPages {
  readonly #url: string;
  readonly #pages: IncomingMessage[] = [];
  /** Views that came, of all pages together. */
  views = 0;
  bytes = 0;
  /** Pages whose stream ended without us. */
  lost = 0;
  /** The newest view, as JSON. */
  last = '';

  /** `url` of the console. */
  constructor(url: string) {
    this.#url = url;
  }

  get count(): number {
    return this.#pages.length;
  }

  /** Resolves when the console has answered each. Rejects when it refuses one. */
  async open(count: number): Promise<void> {
    for (let i = 0; i < count; i++) this.#pages.push(await this.#opened());
  }

  close(): void {
    for (const page of this.#pages.splice(0)) page.destroy();
  }

  #opened(): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      get(`${this.#url}/live`, { agent: false, headers: { accept: 'text/event-stream' } }, answer => {
        if (answer.statusCode !== 200) {
          answer.resume();
          reject(new Error(`the console answered ${answer.statusCode} to an open page`));
          return;
        }
        let line = '';
        answer.setEncoding('utf8').on('data', (text: string) => {
          this.bytes += Buffer.byteLength(text);
          const lines = (line + text).split('\n');
          line = lines.pop()!;
          for (const each of lines) {
            if (!each.startsWith('data: ')) continue;
            this.views++;
            this.last = each.slice('data: '.length);
          }
        });
        answer.on('close', () => {
          if (this.#pages.includes(answer)) this.lost++;
        });
        answer.on('error', () => undefined);
        resolve(answer);
      }).on('error', reject);
    });
  }
}

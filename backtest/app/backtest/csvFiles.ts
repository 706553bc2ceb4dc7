/** CSV files of every fill and order of a backtest, written during the run so that memory stays bounded. */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  fillLine,
  FILLS_HEADER,
  hedgeLine,
  HEDGES_HEADER,
  orderLine,
  ORDERS_HEADER,
  type ReplaySink,
} from '../../index.ts';
import { written } from '../../../src/wiring/outFiles.ts';

/** `hedges` is absent without a hedger. */
export type CsvPaths = { readonly fills: string; readonly orders: string; readonly hedges?: string };

/**
 * Opens the files; overwrites them and creates missing folders. Buffers up to 64 kB until `close`. All operations throw
 * `UsageError` if the disk rejects the write.
 */
export function openCsv(paths: CsvPaths): { readonly sink: ReplaySink; close(): void } {
  const fills = new CsvFile(paths.fills, FILLS_HEADER);
  const orders = new CsvFile(paths.orders, ORDERS_HEADER);
  const hedges = paths.hedges === undefined ? null : new CsvFile(paths.hedges, HEDGES_HEADER);
  return {
    sink: {
      fill: row => fills.add(fillLine(row)),
      order: row => orders.add(orderLine(row)),
      hedge: row => hedges?.add(hedgeLine(row)),
    },
    close: () => {
      fills.close();
      orders.close();
      hedges?.close();
    },
  };
}

const BLOCK = 1 << 16;

class CsvFile {
  readonly #path: string;
  readonly #file: number;
  #text: string;

  constructor(path: string, header: string) {
    this.#path = path;
    this.#file = written(path, () => {
      mkdirSync(dirname(path), { recursive: true });
      return openSync(path, 'w');
    });
    this.#text = `${header}\n`;
  }

  add(line: string): void {
    this.#text += `${line}\n`;
    if (this.#text.length >= BLOCK) this.#flush();
  }

  close(): void {
    this.#flush();
    closeSync(this.#file);
  }

  #flush(): void {
    written(this.#path, () => {
      for (let rest = Buffer.from(this.#text); rest.length > 0;) rest = rest.subarray(writeSync(this.#file, rest));
    });
    this.#text = '';
  }
}

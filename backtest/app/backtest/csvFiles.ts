/** CSV files of every fill and order of a backtest, written during the run so that memory stays bounded. */
import {
  fillLine,
  FILLS_HEADER,
  hedgeLine,
  HEDGES_HEADER,
  orderLine,
  ORDERS_HEADER,
  type ReplaySink,
} from '../../index.ts';
import { openOutput, type OutputFile } from '../../../src/guard/index.ts';
import { written } from '../../../src/wiring/outFiles.ts';

/** Paths of the CSV files; `hedges` is absent if the bot has no hedger. */
export type CsvPaths = { readonly fills: string; readonly orders: string; readonly hedges?: string };

export type CsvOutput = {
  readonly sink: ReplaySink;
  /** Writes the remaining rows and gives the files their final names. */
  finish(): void;
  /** Removes the unfinished files. */
  discard(): void;
};

/**
 * Opens the files and creates missing folders. Existing files are unchanged until `finish`. Buffers up to 64 kB per
 * file. All operations throw `UsageError` if the disk rejects the write.
 */
export function openCsv(paths: CsvPaths): CsvOutput {
  const opened: CsvFile[] = [];
  const open = (path: string, header: string): CsvFile => {
    const file = new CsvFile(path, header);
    opened.push(file);
    return file;
  };
  const discard = (): void => {
    for (const file of opened) file.discard();
  };
  try {
    const fills = open(paths.fills, FILLS_HEADER);
    const orders = open(paths.orders, ORDERS_HEADER);
    const hedges = paths.hedges === undefined ? null : open(paths.hedges, HEDGES_HEADER);
    return {
      sink: {
        fill: row => fills.add(fillLine(row)),
        order: row => orders.add(orderLine(row)),
        hedge: row => hedges?.add(hedgeLine(row)),
      },
      finish: () => {
        for (const file of opened) file.finish();
      },
      discard,
    };
  } catch (error) {
    discard();
    throw error;
  }
}

const BLOCK = 1 << 16;

class CsvFile {
  readonly #path: string;
  readonly #file: OutputFile;
  #text: string;

  constructor(path: string, header: string) {
    this.#path = path;
    this.#file = written(path, () => openOutput(path));
    this.#text = `${header}\n`;
  }

  add(line: string): void {
    this.#text += `${line}\n`;
    if (this.#text.length >= BLOCK) this.#flush();
  }

  finish(): void {
    this.#flush();
    written(this.#path, () => this.#file.finish());
  }

  discard(): void {
    this.#file.discard();
  }

  #flush(): void {
    written(this.#path, () => this.#file.write(this.#text));
    this.#text = '';
  }
}

/** The files of a backtest: the page, its numbers as JSON, and every fill and order as CSV. */
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fillLine, FILLS_HEADER, orderLine, ORDERS_HEADER, pageOf } from '../../backtest/index.ts';
import type { BacktestReport, PageParts, ReplaySink } from '../../backtest/index.ts';
import { Wrong } from './configFile.ts';

export type ReportFiles = {
  readonly page: string;
  readonly json: string;
  csv(kind: 'fills' | 'orders', model: string): string;
};

/** NAME.html: that page, and NAME.json, NAME-fills-MODEL.csv, NAME-orders-MODEL.csv beside it; else a folder with report.html and the rest. */
export function reportFiles(out: string): ReportFiles {
  if (/\.html?$/i.test(out)) {
    const stem = out.replace(/\.html?$/i, '');
    return { page: out, json: `${stem}.json`, csv: (kind, model) => `${stem}-${kind}-${model}.csv` };
  }
  return {
    page: join(out, 'report.html'),
    json: join(out, 'report.json'),
    csv: (kind, model) => join(out, `${kind}-${model}.csv`),
  };
}

/** Written as they come, so that no run is too long for memory. */
export function openCsv(files: ReportFiles, model: string): { readonly sink: ReplaySink; close(): void } {
  const fills = new CsvFile(files.csv('fills', model), FILLS_HEADER);
  const orders = new CsvFile(files.csv('orders', model), ORDERS_HEADER);
  return {
    sink: { fill: row => fills.add(fillLine(row)), order: row => orders.add(orderLine(row)) },
    close: () => {
      fills.close();
      orders.close();
    },
  };
}

export function writeReport(files: ReportFiles, report: BacktestReport): void {
  written(files.json, () => writeFileSync(files.json, `${JSON.stringify(report)}\n`));
  written(files.page, () => writeFileSync(files.page, pageOf(report, pageParts())));
}

/** The chart library as it was installed, and the page's script as it was built beside this file. */
function pageParts(): PageParts {
  const library = createRequire(import.meta.url);
  const read = (path: string): string => readFileSync(path, 'utf8');
  return {
    library: read(library.resolve('uplot/dist/uPlot.iife.min.js')),
    libraryStyle: read(library.resolve('uplot/dist/uPlot.min.css')),
    script: readFileSync(new URL('../../backtest/page/draw.js', import.meta.url), 'utf8'),
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

function written<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new Wrong(`--out: ${path} cannot be written (${code})`);
  }
}

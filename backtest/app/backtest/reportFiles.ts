/** Files of a backtest: the page, its numbers as JSON, and every fill and order as CSV. */
import { join } from 'node:path';
import { reportPage, type BacktestReport } from '../../index.ts';
import { pageParts, writePage } from '../../../src/wiring/outFiles.ts';
import type { CsvPaths } from './csvFiles.ts';

export type ReportFiles = {
  readonly page: string;
  readonly json: string;
  csv(model: string, hedges: boolean): CsvPaths;
};

/**
 * Returns the file names. For NAME.html, the other files are NAME.json, NAME-fills-MODEL.csv, NAME-orders-MODEL.csv
 * and, with a hedger, NAME-hedges-MODEL.csv. Otherwise, `out` is a folder with report.html, report.json,
 * fills-MODEL.csv and so on.
 */
export function reportFiles(out: string): ReportFiles {
  if (/\.html?$/i.test(out)) {
    const stem = out.replace(/\.html?$/i, '');
    return {
      page: out,
      json: `${stem}.json`,
      csv: (model, hedges) => ({
        fills: `${stem}-fills-${model}.csv`,
        orders: `${stem}-orders-${model}.csv`,
        ...(hedges && { hedges: `${stem}-hedges-${model}.csv` }),
      }),
    };
  }
  return {
    page: join(out, 'report.html'),
    json: join(out, 'report.json'),
    csv: (model, hedges) => ({
      fills: join(out, `fills-${model}.csv`),
      orders: join(out, `orders-${model}.csv`),
      ...(hedges && { hedges: join(out, `hedges-${model}.csv`) }),
    }),
  };
}

/**
 * Writes the JSON in one line, then the page; replaces existing files. Throws `UsageError` if a file cannot be written.
 */
export const writeReport = ({ page, json }: ReportFiles, report: BacktestReport): void =>
  writePage(page, json, report, () => reportPage(report, pageParts()));

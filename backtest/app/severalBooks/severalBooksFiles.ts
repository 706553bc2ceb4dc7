/** Files of a backtest of several books: one page for all, and the files of a backtest for each book. */
import { basename, dirname, join, relative } from 'node:path';
import { severalBooksPage, type SeveralBooksReport } from '../../index.ts';
import { pageParts, writePage } from '../../../src/wiring/outFiles.ts';
import { reportFiles, writeReport, type ReportFiles } from '../backtest/reportFiles.ts';

export type SeveralBooksFiles = { readonly all: ReportFiles; readonly of: (book: string) => ReportFiles };

/**
 * Returns the file names. For NAME.html, the page of a book is NAME-BOOK.html. Otherwise, `out` is a folder with
 * report.html, and a folder for each book.
 */
export function severalBooksFiles(out: string): SeveralBooksFiles {
  const all = reportFiles(out);
  if (all.page !== out) return { all, of: book => reportFiles(join(out, book)) };
  const stem = basename(out).replace(/\.html?$/i, '');
  return { all, of: book => reportFiles(join(dirname(out), `${stem}-${book}.html`)) };
}

/** Writes the pages and the JSON of all books and of each; throws `UsageError` if a file cannot be written. */
export function writeSeveralBooks({ all, of }: SeveralBooksFiles, report: SeveralBooksReport): void {
  for (const book of report.books) writeReport(of(book.book), book);
  const pages = report.books.map(({ book }) => relative(dirname(all.page), of(book).page));
  writePage(all.page, all.json, report, () => severalBooksPage(report, pages, pageParts()));
}

/** `puntas calibrate --fills`: flags and output of a fitted fill model. */
import { realClock } from '../../src/live/realClock.ts';
import { jsonBeside, pageParts, writePage } from '../../src/wiring/outFiles.ts';
import { UsageError } from '../../src/wiring/usageError.ts';
import { progressBar } from '../../src/cli/terminal/progressBar.ts';
import { print, printError } from '../../src/cli/terminal/output.ts';
import { fittedFillsOf } from '../app/calibrate/ownFills.ts';
import { fittedPage } from '../fitted/fittedPage.ts';
import { fittedLines } from '../fitted/fittedText.ts';

type OwnFillsFlags = {
  readonly dir: string;
  readonly book: string | undefined;
  readonly seed: number;
  readonly out: string | undefined;
  readonly json: boolean;
};

/**
 * Fits the model, prints the result, and writes the page and the parameter file. Rejects with `UsageError` for wrong
 * use.
 */
export async function calibrateFills({ dir, book, seed, out, json }: OwnFillsFlags): Promise<void> {
  if (out !== undefined && !/\.html?$/i.test(out))
    throw new UsageError(`--out: expected a name that ends in .html, found ${JSON.stringify(out)}`);
  const report = await fittedFillsOf({
    ...{ dir, book, seed, clock: realClock(), progress: progressBar() },
    onTrouble: line => printError(`calibrate: ${line}`),
  });
  if (out !== undefined) writePage(out, jsonBeside(out), report, () => fittedPage(report, pageParts()));
  const files = out === undefined ? [] : [`parameters: ${jsonBeside(out)}`, `page: ${out}`];
  print(json ? JSON.stringify(report) : [...fittedLines(report), ...files].join('\n'));
}

/** Runs the comparison of docs/development/evidence/comparison.md over the recordings of ../shared/data and writes its figures: `npm run compare:docs`. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { comparisonPage } from '../../backtest/index.ts';
import { compare } from '../../backtest/app/compare/compare.ts';
import { pageParts } from '../../src/wiring/outFiles.ts';
import { progressBar } from '../../src/cli/terminal/progressBar.ts';
import { version } from '../../src/cli/terminal/version.ts';
import { COMPARED, comparisonTables, figuresOfComparison, withTables } from './comparisonFigures.ts';
import { sessionTapes } from './sessionTapes.ts';

type Flags = { readonly data: string; readonly threads: number };

new Command('comparison-docs')
  .description(
    'the figures of docs/development/evidence/comparison.md: docs/development/evidence/comparison.json and the tables of the page; its page in reports/',
  )
  .option('--data <dir>', 'the recordings', '../shared/data')
  .option('--threads <n>', 'runs at once', Number, 2)
  .action(async ({ data, threads }: Flags) => {
    const work = mkdtempSync(join(tmpdir(), 'puntas-comparison-'));
    try {
      const paths = [data, await sessionTapes(data, work)];
      const comparison = await compare({ ...COMPARED, paths, threads, version: version(), progress: progressBar() });
      mkdirSync('reports', { recursive: true });
      writeFileSync('reports/comparison.json', `${JSON.stringify(comparison)}\n`);
      writeFileSync('reports/comparison.html', comparisonPage(comparison, pageParts()));
      const figures = figuresOfComparison(comparison);
      writeFileSync('docs/development/evidence/comparison.json', `${JSON.stringify(figures)}\n`);
      const page = readFileSync('docs/development/evidence/comparison.md', 'utf8');
      writeFileSync('docs/development/evidence/comparison.md', withTables(page, comparisonTables(figures)));
      for (const { path, why } of comparison.leftOut) console.log(`left out: ${path}: ${why}`);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  })
  .parse();

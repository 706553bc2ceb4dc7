/** Measures searches on known functions and the judge on made studies, and writes docs/development/evidence/tune-search.md: `npm run tune:search-table`. */
import { existsSync, writeFileSync } from 'node:fs';
import { Command } from 'commander';
import type { SearchName } from '../../backtest/tune/search/search.ts';
import { errorRates } from './plantedStudies.ts';
import { KNOWN, medianOf, trialsToFind } from './knownFunctions.ts';
import { BUDGETS, ratesTable, searchPage, searchTable, type SearchRow } from './searchPage.ts';

const PAGE = 'docs/development/evidence/tune-search.md';

new Command('search-table')
  .description('how many trials each search needs on known functions, and how often the judge is right')
  .option('--seeds <count>', 'of each function and search', '50')
  .option('--studies <count>', 'made studies of each kind', '100')
  .action(({ seeds, studies }: { readonly seeds: string; readonly studies: string }) => {
    if (!existsSync('docs')) throw new Error('run it in a checkout: there is no docs/ here');
    const rows = KNOWN.map(known => rowOf(known, Number(seeds)));
    console.log(searchTable(rows));
    const rates = errorRates(Number(studies));
    console.log(`\n${ratesTable(rates)}`);
    writeFileSync(PAGE, searchPage(Number(seeds), rows, rates));
  })
  .parse();

/** Every search on one function. */
function rowOf(known: (typeof KNOWN)[number], seeds: number): SearchRow {
  const found = (name: SearchName) => {
    const trials = Array.from({ length: seeds }, (_, i) => trialsToFind(name, known, i + 1, BUDGETS[name]));
    return { median: medianOf(trials), share: trials.filter(Number.isFinite).length / seeds };
  };
  return {
    name: known.name,
    within: known.within,
    found: { random: found('random'), sobol: found('sobol'), tpe: found('tpe'), cmaEs: found('cmaEs') },
  };
}

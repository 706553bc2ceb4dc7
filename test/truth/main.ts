/**
 * Compares two readers of the logs of single orders, and measures the fill models on them: `npm run queue:truth`. With
 * `-- --check` it only compares. With `-- --page` it writes docs/development/evidence/queue-truth.md; what was computed
 * is kept in `--results FILE`, from which a run that was broken off continues.
 * With `-- --fitted` it measures fitted fill models instead; their page is fitted-fills.md.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compareReadings, ORDER_LOGS, readByImporter, readByPython, type OwnReading } from './logs.ts';
import { truthCandidates, truthCells, wantedSnapshots } from './table.ts';
import { truthPage, type TruthResults } from './page.ts';
import { fillReturns, FILL_TAPES } from './fillReturns.ts';
import { fittedEvidence, fittedEvidencePage } from './fitted.ts';

const PAGE = 'docs/development/evidence/queue-truth.md';
const FITTED_PAGE = 'docs/development/evidence/fitted-fills.md';

const {
  data,
  check,
  fitted,
  page,
  results: file,
  only,
} = parseArgs({
  options: {
    data: { type: 'string', default: process.env['PUNTAS_DATA'] ?? '../shared/data' },
    check: { type: 'boolean', default: false },
    fitted: { type: 'boolean', default: false },
    page: { type: 'boolean', default: false },
    results: { type: 'string' },
    only: { type: 'string' },
  },
}).values;

let found: TruthResults =
  file !== undefined && existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as TruthResults)
    : { readers: [], cells: [], returns: [] };
const keep = (more: Partial<TruthResults>): void => {
  found = { ...found, ...more };
  if (file !== undefined) writeFileSync(file, JSON.stringify(found));
};

/** Compares both readers on a log. Returns whether they agree. */
function agree(name: string, set: string, own: OwnReading): boolean {
  const other = readByPython(join(data, set));
  const { equal, filled, difference } = compareReadings(own, other);
  keep({
    readers: [
      ...found.readers.filter(one => one.log !== name),
      { log: name, orders: equal, filled, unmatched: other.unmatched.length },
    ],
  });
  console.log(
    `${name}: ${equal} orders are equal, ${filled} of them filled; ${other.unmatched.length} trades or reductions without a match`,
  );
  if (difference !== null) console.log(`${name}: DIFFERENCE: ${difference}`);
  return difference === null && other.unmatched.length === 0 && filled > 0;
}

async function measure(): Promise<boolean> {
  let same = true;
  for (const { name, set } of ORDER_LOGS) {
    if (only !== undefined && only !== name) continue;
    const own = await readByImporter(join(data, set));
    same = agree(name, set, own) && same;
    if (check) continue;
    const candidates = truthCandidates(own);
    for (const together of [false, true].map(drawn => wantedSnapshots().filter(one => one.drawn === drawn))) {
      const wanted = together.filter(
        ({ depth, everyMs }) =>
          !found.cells.some(cell => cell.log === name && cell.depth === depth && cell.everyMs === everyMs),
      );
      if (wanted.length === 0) continue;
      const cells = truthCells(own.rows, candidates, wanted, share =>
        console.log(`${name}: ${(100 * share).toFixed(0)} % of ${wanted.length} kinds of snapshots`),
      );
      keep({ cells: [...found.cells, ...cells.map(cell => ({ log: name, ...cell }))] });
    }
  }
  if (check) return same;
  for (const tape of FILL_TAPES) {
    if (found.returns.some(({ name }) => name === tape.name) || (only !== undefined && only !== 'returns')) continue;
    const row = await fillReturns(data, tape);
    keep({ returns: [...found.returns, row] });
    console.log(JSON.stringify(row));
  }
  if (page) writeFileSync(PAGE, await truthPage(found));
  return same;
}

async function measureFitted(): Promise<boolean> {
  const evidence = await fittedEvidence(data, line => console.log(line));
  if (page) writeFileSync(FITTED_PAGE, await fittedEvidencePage(evidence));
  return true;
}

process.exitCode = (await (fitted ? measureFitted() : measure())) ? 0 : 1;

/** The figures of docs/development/benches.md name the commit, the day and the machine that they were measured on, and are written by one command. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { EXAMPLES, NAMES } from '../strategies/examples.ts';
import { PAGE, tablesIn, tablesOf, withTables, type Measured } from './page.ts';

const page = readFileSync(new URL(`../../${PAGE}`, import.meta.url), 'utf8');
const SAYS =
  /^Measured at commit [0-9a-f]{7,}(?: with changes that are not committed)? on \d{4}-\d\d-\d\d: \d+ x .+, Node v\d+\.\d+\.\d+, /;

test('the page of the benches says commit, day, machine and Node of its tables, which stand between two markers', () => {
  expect(tablesIn(page)).toMatch(SAYS);
  for (const name of NAMES) expect(tablesIn(page)).toContain(`| ${name} | `);
});

test('new tables replace those between the markers and nothing else; a page without markers is refused', () => {
  const both = Object.fromEntries(
    [
      ...[
        'engine.decidingStepsPerSecond',
        'engine.decidingP99Micros',
        'engine.bookParsesPerSecond',
        'engine.decidingToParsing',
      ],
      ...['engine.quietStepsPerSecond', 'http.ordersPerSecond', 'http.bareRequestsPerSecond', 'http.ordersToBare'],
      ...[
        'matching.operationsPerSecond',
        'matching.otherOperationsPerSecond',
        'matching.toOther',
        'strategy.ladder.p99Micros',
      ],
    ].map(name => [name, { median: 2, rounds: [1, 2, 3] }]),
  );
  const machine = '2 x a processor, Node v20.19.0, linux x64';
  const measured: Measured = {
    commit: 'abc1234',
    date: '2026-01-02',
    machine,
    size: 'full',
    figures: both,
    backtest: {},
    tapes: {},
  };
  const tables = tablesOf(measured);
  expect(tables).toMatch(SAYS);
  expect(tables).toContain('2.00 (1.00 to 3.00)');
  const written = withTables(page, tables);
  expect(tablesIn(written)).toBe(tables);
  expect(withTables(written, tablesIn(page))).toBe(page);
  expect(() => withTables('# Benches', tables)).toThrow(/expected the lines/);
});

test('each strategy is measured with parameters of its own', () => {
  const texts = NAMES.map(name => JSON.stringify(EXAMPLES[name]));
  expect(new Set(texts).size).toBe(NAMES.length);
});

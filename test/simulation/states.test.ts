import { expect, test } from 'vitest';
import { addRun, ALL_PAIRS, emptyTable, mergeTable, steering, unvisited, VisitedPairs } from './judges/states.ts';
import { FAULTS, swarmOf, type Fault } from './world/faults.ts';

const moment = {
  order: ['open', 'unknown'],
  regime: ['normal'],
  latch: ['open'],
  sentinel: ['none'],
  book: ['polled'],
  hedge: ['off'],
} as const;

const tableOf = (runs: readonly (readonly [pairs: readonly string[], classes: readonly Fault[]])[]) => {
  const table = emptyTable();
  for (const [pairs, classes] of runs) addRun(table, { pairs, classes });
  return table;
};

test('a moment visits each pair of values of two parts, and never two values of one part', () => {
  const visited = new VisitedPairs();
  visited.add(moment);
  visited.add(moment);
  // Five pairs with each of two order states, and ten without them.
  expect(visited.names).toHaveLength(2 * 5 + 10);
  expect(visited.names).toContain('order unknown, hedge off');
  expect(visited.names.every(name => ALL_PAIRS.includes(name))).toBe(true);
  expect(unvisited(tableOf([[visited.names, []]]))).toHaveLength(ALL_PAIRS.length - 20);
});

test('tables of two campaigns merge into the table of both, in either order', () => {
  const [one, two] = [ALL_PAIRS.slice(0, 3), ALL_PAIRS.slice(2, 5)];
  const runs = [
    [one, ['crashes']],
    [two, ['crashes', 'resets']],
  ] as const;
  const both = tableOf(runs);
  for (const [a, b] of [runs, [...runs].reverse()] as const) {
    const table = tableOf([a]);
    mergeTable(table, tableOf([b]));
    expect(table).toEqual(both);
  }
});

test('a class that was on where rare pairs were visited is drawn more often, within its bounds, by the same draws', () => {
  const [usual, rare] = [ALL_PAIRS.slice(0, 9), ALL_PAIRS.slice(9, 12)];
  const table = tableOf([
    ...Array.from({ length: 9 }, (): [readonly string[], readonly Fault[]] => [usual, ['resets']]),
    [
      [...usual, ...rare],
      ['crashes', 'resets'],
    ],
  ]);
  const weights = steering(table);
  expect([weights.get('crashes'), weights.get('resets'), weights.get('latency')]).toEqual([0.85, 0.5, undefined]);
  const share = (fault: Fault) =>
    Array.from({ length: 500 }, (_, i) => swarmOf(i * 10 + 1, undefined, weights)).filter(swarm => swarm.has(fault))
      .length / 500;
  expect(share('crashes')).toBeGreaterThan(0.8);
  expect(share('latency')).toBeLessThan(0.6);
  // Intensities are those of the seed, so that a strike of a steered seed is found again without the table.
  for (const [fault, intensity] of swarmOf(7, undefined, weights))
    expect(swarmOf(7, FAULTS).get(fault)).toBe(intensity);
});

/** The list of survivors, what counts as a new one, which tests are near a file, and what a run takes. */
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { keyOf, standardMutants, type Mutant } from './mutants.ts';
import { pageOf } from './page.ts';
import { KeptResults } from './results.ts';
import { hashOfTests, roomOf, testFilesIn, WHOLE } from './rooms.ts';
import { drawn, sourcesBelow } from './selection.ts';
import {
  countsOf,
  gainedOf,
  interval,
  listedSurvivors,
  openOf,
  type Figures,
  type ListedSurvivor,
  type Outcome,
} from './survivors.ts';

const FILE = 'src/a.ts';
const mutantOf = (mutation: string, mutator = 'EqualityOperator'): Mutant => ({
  file: FILE,
  line: 3,
  mutator,
  context: 'f',
  text: 'if (a < b) return;',
  mutation,
  id: mutation,
});
const outcomeOf = (mutation: string, status: string, mutator?: string): Outcome => ({
  mutant: mutantOf(mutation, mutator),
  isOwn: false,
  status,
});
const listed = (mutation: string): ListedSurvivor => ({ ...mutantOf(mutation), reason: 'both are the same here' });
const figuresOf = (...mutations: readonly string[]): Figures => {
  const counts = countsOf(mutations.map(mutation => outcomeOf(mutation, 'Survived')));
  const open = mutations.map(one => mutantOf(one)).map(({ context, text, mutation }) => ({ context, text, mutation }));
  const file = { file: FILE, commit: 'abc1234', standard: counts, own: counts, open };
  return { commit: 'abc1234', machine: '2 x CPU', node: 'v20', date: '2026-11-26', files: [file] };
};

describe('the list of survivors', () => {
  const list = listedSurvivors();

  test('has a reason for each, and no mutant twice', () => {
    for (const { reason } of list) expect(reason.trim().length).toBeGreaterThan(10);
    expect(new Set(list.map(keyOf)).size).toBe(list.length);
  });

  test('has only mutants of Stryker that the code still has', async () => {
    const stale: string[] = [];
    for (const file of new Set(list.map(one => one.file))) {
      const { mutants } = await standardMutants(file, readFileSync(file, 'utf8'));
      const known = new Set(mutants.map(keyOf));
      // Our own need the types of the whole program: their line must still be there.
      const isOwn = ({ mutation }: ListedSurvivor): boolean => /^[A-Z]\w+: /.test(mutation);
      const lines = new Set(mutants.map(({ context, text }) => `${context}\n${text}`));
      for (const one of list.filter(({ file: of }) => of === file))
        if (isOwn(one) ? !lines.has(`${one.context}\n${one.text}`) : !known.has(keyOf(one))) stale.push(keyOf(one));
    }
    expect(stale).toEqual([]);
  });
});

describe('a survivor', () => {
  test('is open without a reason, unless it is only words', () => {
    const outcomes = [
      outcomeOf('a < b -> a <= b', 'Survived'),
      outcomeOf('a < b -> true', 'NoCoverage'),
      outcomeOf('a < b -> false', 'Killed'),
      outcomeOf('a < b -> a > b', 'Timeout'),
      outcomeOf(`'the disk is full' -> ""`, 'Survived', 'StringLiteral'),
      outcomeOf(`'open' -> ""`, 'Survived', 'StringLiteral'),
    ];
    const open = openOf(outcomes, [listed('a < b -> true')]).map(({ mutation }) => mutation);
    expect(open).toEqual(['a < b -> a <= b', `'open' -> ""`]);
    expect(countsOf(outcomes)).toEqual({ killed: 1, timeouts: 1, survived: 3, uncovered: 1, static: 0 });
  });

  test('is new if the last whole run of its file did not have it', () => {
    const [kept, added] = ['a < b -> true', 'a < b -> false'].map(mutation => mutantOf(mutation));
    expect(gainedOf([kept!, added!], figuresOf(kept!.mutation), false)).toEqual([added]);
    expect(gainedOf([kept!, added!], figuresOf(kept!.mutation), true)).toEqual([added]);
  });

  test('of a file that never had a whole run is new only if the file has changed', () => {
    const open = [mutantOf('a < b -> true')];
    expect(gainedOf(open, null, true)).toEqual(open);
    expect(gainedOf(open, null, false)).toEqual([]);
  });
});

test('the page has each file, the reasons of survivors that stay, and the count of those without', () => {
  const page = pageOf(figuresOf('a < b -> true', 'a || b -> a && b'), [listed('a < b -> true')]);
  expect(page).toContain('| `src/a.ts` (abc1234) | 2 | 0.0 % | 2 | 0.0 % | 4 | 0 | 0 | 0 |');
  expect(page).toContain('| `src/a.ts` `f` | `a < b -> true` | both are the same here |');
  expect(page).toContain('| `src/a.ts` | 2 |');
});

describe('the tests near a file', () => {
  test('are there for every file of a whole run', () => {
    const files = sourcesBelow(WHOLE);
    expect(files.length).toBeGreaterThan(200);
    for (const file of files) {
      const { nearest, further } = roomOf(file);
      for (const tests of [nearest, ...further.map(one => [one])])
        expect(
          testFilesIn(tests).filter(name => name.endsWith('.test.ts')),
          `${file}: ${tests.join()}`,
        ).not.toEqual([]);
    }
  });

  test('are those of the folder with its name, or of the table', () => {
    expect(roomOf('src/core/risk/killSwitch.ts')).toMatchObject({ nearest: ['test/core/risk'], isSlow: false });
    expect(roomOf('src/live/loop/loop.ts')).toMatchObject({ nearest: ['test/live/loop'], isSlow: true });
    expect(roomOf('strategies/glft/strategy.ts').nearest).toEqual(['test/strategies']);
    expect(() => roomOf('src/main.ts')).toThrow('no folder of tests');
  });

  test('are told apart by their content', () => {
    expect(hashOfTests(['test/core/risk'])).toBe(hashOfTests(['test/core/risk']));
    expect(hashOfTests(['test/core/risk'])).not.toBe(hashOfTests(['test/core/orders']));
  });
});

describe('a draw', () => {
  const all = Array.from({ length: 50 }, (_, n) => ({ mutant: mutantOf(`${n} -> ${n + 1}`) }));

  test('has as many as are asked for, the same for a seed in whatever order they come', () => {
    const orders = fc.shuffledSubarray(all, { minLength: all.length });
    fc.assert(
      fc.property(orders, fc.nat(60), fc.string(), (shuffled, count, seed) => {
        const found = drawn(shuffled, count, seed);
        expect(new Set(found).size).toBe(Math.min(count, all.length));
        expect(found).toEqual(drawn(all, count, seed));
      }),
      { numRuns: 20 },
    );
    expect(drawn(all, 10, '1')).not.toEqual(drawn(all, 10, '2'));
  });

  test('has the interval of Wilson', () => {
    const [low, high] = interval(85, 100);
    // (85 + z²/2 ± z √(85·15/100 + z²/4)) / (100 + z²) with z = 1.96, by hand.
    expect(low).toBeCloseTo(0.7672, 3);
    expect(high).toBeCloseTo(0.9069, 3);
    expect(interval(0, 0)).toEqual([0, 1]);
  });
});

describe('results that are kept', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'puntas-mutation-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const [mutant, other] = [mutantOf('a < b -> true'), mutantOf('a < b -> false')];
  const open = (text = 'code', tests = 'hash') => new KeptResults(folder, FILE, text, tests);

  test('are there again for the same file and the same tests, and for no other', () => {
    open().keep(mutant, 'Killed');
    expect(open().statusOf(mutant)).toBe('Killed');
    expect(open().statusOf(other)).toBeUndefined();
    expect(open('other code').statusOf(mutant)).toBeUndefined();
    expect(open('code', 'other tests').statusOf(mutant)).toBeUndefined();
  });

  test('survive a process that was killed in the middle of a line', () => {
    open().keep(mutant, 'Killed');
    appendFileSync(join(folder, readdirSync(folder)[0]!), '{"key":"src/a.ts","sta');
    open().keep(other, 'Survived');
    expect([mutant, other].map(one => open().statusOf(one))).toEqual(['Killed', 'Survived']);
  });
});

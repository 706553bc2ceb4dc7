/** Section of a strategy file: the same results of its functions are allowed at load and in the check of the file. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { functionsVerdict } from '../../src/app/develop/strategyCheck.ts';
import {
  definitionIn,
  sectionSchema,
  strategyFileOf,
  WARMUP_MAX_MS,
  type FileDefinition,
} from '../../strategies/index.ts';
import { runsOf } from '../many.ts';
import { changedOwn } from './ownFile.ts';

const TOLERANCE = { priceBps: 1, amountShare: 0.1, maxAgeMs: 1_000 };

/** Errors of a section whose file has these results. */
function problemsOf(results: { warmup?: unknown; history?: unknown; tolerance?: unknown }): readonly string[] {
  const { warmup = 0, history = 0, tolerance = TOLERANCE } = results;
  const definition = {
    parameters: z.strictObject({ amount: z.string() }),
    ...{ warmup: () => warmup, history: () => history, tolerance: () => tolerance },
  } as unknown as FileDefinition;
  const section = { file: './own.ts', sha256: '', name: 'own.ts@1', code: '', amount: '1' };
  const read = sectionSchema(definition).safeParse(section);
  return read.success ? [] : read.error.issues.map(({ message }) => message);
}

/** Value of a text of the file. */
const valueOf = (text: string): unknown =>
  (/^'|null/.test(text) ? JSON.parse(text.replaceAll("'", '"')) : Number(text)) as unknown;

/** Verdict of the check of a file about a function with this result; `null` if it is allowed. */
function checkOf(name: string, result: string): string | null {
  const code = changedOwn('contract: 1', `contract: 1, ${name}: () => (${result}) as never`);
  return functionsVerdict(strategyFileOf('./own.ts', code), null).violation;
}

describe('a time of a strategy file', () => {
  const time = fc.oneof(
    fc.integer({ min: -10, max: WARMUP_MAX_MS + 10 }),
    fc.constantFrom(-1, 0, WARMUP_MAX_MS, WARMUP_MAX_MS + 1, NaN, Infinity, -Infinity, '5', null, [], {}),
    fc.double(),
  );
  test.each(['warmup', 'history'])('as its %s is allowed exactly from 0 to a day, as a number', name => {
    fc.assert(
      fc.property(time, ms => {
        const isAllowed = typeof ms === 'number' && ms >= 0 && ms <= 86_400_000;
        const expected = `expected a file whose function ${name} returns 0 to 86400000 ms`;
        expect(problemsOf({ [name]: ms })).toEqual(isAllowed ? [] : [expected]);
      }),
      runsOf(300, 100),
    );
  });

  test.each(
    ['warmup', 'history'].flatMap(name =>
      ['0', '86400000', '86400001', '-1', 'NaN', "'5'", 'null'].map(ms => [name, ms]),
    ),
  )('as its %s of %s is judged alike at load and in the check of the file', (name, ms) => {
    const problems = problemsOf({ [name]: valueOf(ms) });
    expect(checkOf(name, ms) === null).toBe(problems.length === 0);
  });
});

test.each(
  Object.keys(TOLERANCE).flatMap(key => ['0', '1e9', '-1', 'NaN', 'Infinity', "'5'", 'null'].map(at => [key, at])),
)('a tolerance with %s %s is judged alike at load and in the check of the file', (key, at) => {
  const value = valueOf(at);
  const isAllowed = typeof value === 'number' && value >= 0 && value < Infinity;
  expect(problemsOf({ tolerance: { ...TOLERANCE, [key]: value } }).length === 0).toBe(isAllowed);
  const text = Object.entries({ ...TOLERANCE, [key]: at }).map(([name, of]) => `${name}: ${of}`);
  expect(checkOf('tolerance', `{ ${text.join(', ')} }`) === null).toBe(isAllowed);
});

test.each(['name', 'file', 'sha256', 'code', 'tolerance', 'historyTape'])(
  'a parameter cannot have the name %s, which the section of every file has',
  key => {
    const code = changedOwn('takerBps: z', `${key}: z.string().optional(),\n  takerBps: z`);
    expect(() => definitionIn(strategyFileOf('./own.ts', code))).toThrow(
      `./own.ts: parameters: ${key} is a reserved key of strategy files; rename the parameter`,
    );
  },
);

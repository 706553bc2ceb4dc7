/** Nothing that stops or changes quoting is without a row that causes it on a real bot, or a reason why that cannot be. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ELSEWHERE, KINDS } from '../causes/kinds.ts';
import { kindsOf } from '../causes/life.ts';
import { LIVES } from '../causes/lives.ts';
import { regimeLines } from '../causes/regimes.ts';

const caused = LIVES.flatMap(({ steps }) => steps.flatMap(kindsOf));
const elsewhere = ELSEWHERE.map(({ of }) => of);

test('each regime, halt, pause, reason of a level and alert has a row, or a test that holds it instead', () => {
  expect(KINDS.filter(kind => !caused.includes(kind) && !elsewhere.includes(kind))).toEqual([]);
});

test('a row names no other kind, and what is held elsewhere has none', () => {
  expect(caused.filter(kind => !KINDS.includes(kind))).toEqual([]);
  expect(elsewhere.filter(kind => caused.includes(kind) || !KINDS.includes(kind))).toEqual([]);
});

test('each row that causes something says what a person reads of it', () => {
  for (const { name, steps } of LIVES)
    for (const step of steps) {
      const { log = [], explain, metrics = [], alerts = {}, ready } = step;
      const read = log.length + metrics.length + Object.keys(alerts).length + Number(explain !== undefined);
      if (kindsOf(step).length > 0) expect(read, `${name}: ${step.cause}`).toBeGreaterThan(0);
      // A halt and a pause are never ready.
      if (step.of.some(kind => /^(?:halt|pause): /.test(kind)) && !step.of.includes('pause: stopping'))
        expect(ready === true && !log.some(line => line.includes('quoting"')), `${name}: ${step.cause}`).toBe(false);
    }
});

test('what is held elsewhere is in a test that speaks of it', () => {
  for (const { of, test: file } of ELSEWHERE) {
    const words = of.slice(of.indexOf(': ') + 2);
    expect(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'), file).toContain(words);
  }
});

const said = (...texts: string[]): string => texts.map(text => `{"level":30,"msg":"${text}"}\n`).join('');

test('a pause that the load of the machine makes is no regime of its own', () => {
  const [stale, on] = ['not quoting: book stale', 'quoting'];
  const wide = 'regime: wide (the book is thin), was normal';
  const normal = 'regime: normal (no restriction applies), was wide';
  for (const log of [
    said(wide, normal),
    said(stale, on, 'another', wide, stale, 'regime: wide (the book is thin), was paused', on, normal),
    said(stale, 'regime: wide (the book is thin), was paused', on, 'another', normal),
    said(wide, stale, on, 'another'),
    said(wide, stale, on, 'regime: wide (the book is thin), was paused', 'another', normal),
  ])
    expect(regimeLines(log, 0)).toBe(`${wide}\n${normal}`);
  expect(regimeLines(said(wide, normal), said(wide).length)).toBe(normal);
});

test('any other pause is one, and so is a change that the bot does not mean', () => {
  const other = said('not quoting: book crossed', 'regime: wide (the book is thin), was paused', 'quoting');
  expect(regimeLines(other, 0)).toBe('regime: wide (the book is thin), was paused');
  const flaps = said('regime: wide (x), was normal', 'regime: normal (y), was wide', 'regime: wide (x), was normal');
  expect(regimeLines(flaps, 0).split('\n')).toHaveLength(3);
});

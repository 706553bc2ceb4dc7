/** The page of files and variables names those that the code uses. */
import { expect, test } from 'vitest';
import { STATE_FILES, VARIABLES } from './pages/environmentReference.ts';
import { sourcesIn } from '../imports.ts';

const sources = ['src', 'backtest'].flatMap(sourcesIn);
const text = sources.map(file => file.text).join('\n');

test('every variable that the code names is on the page, and no other', () => {
  const named = new Set([...text.matchAll(/PUNTAS_[A-Z_]*[A-Z]/g)].map(([name]) => name.replace(/_FILE$/, '')));
  const bases = [...named].filter(name => name !== 'PUNTAS_API' && name !== 'PUNTAS_ELSEWHERE');
  expect(bases.filter(name => !(name in VARIABLES))).toEqual([]);
  expect(Object.keys(VARIABLES).filter(name => !named.has(name))).toEqual([]);
});

test('every file of the state directory is named in the code', () => {
  const quoted = Object.keys(STATE_FILES).filter(name => name !== 'run-N.rec');
  expect(quoted.filter(name => !text.includes(`'${name}'`))).toEqual([]);
  expect(text).toContain('run-${');
});

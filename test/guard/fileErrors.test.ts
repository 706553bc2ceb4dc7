/** Sentences for errors of the file system, from errors as Node throws them. */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { fileProblem, pathLine } from '../../src/guard/index.ts';

/** Error of the system with this code, which root cannot cause. */
const refusal = (code: string): Error =>
  Object.assign(new Error(`${code}: refused, open 'x'`), { code, syscall: 'open' });

const thrownBy = (call: () => unknown): unknown => {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error('expected an error of the system');
};

test('a path without permission is said so for its use, also by EPERM', () => {
  for (const code of ['EACCES', 'EPERM']) {
    expect(fileProblem(refusal(code), 'read')).toBe('no permission to read');
    expect(pathLine('my.yaml', refusal(code), 'write', 'choose another')).toBe(
      'my.yaml: no permission to write; choose another',
    );
  }
});

test('a path that cannot serve has a sentence and no text of the system', () => {
  const dir = tmpdir();
  expect(
    fileProblem(
      thrownBy(() => readFileSync(`${dir}/puntas-missing`)),
      'read',
    ),
  ).toBe('no such file');
  expect(
    fileProblem(
      thrownBy(() => readFileSync(dir)),
      'read',
    ),
  ).toBe('a folder, expected a file');
  expect(
    fileProblem(
      thrownBy(() => writeFileSync(dir, '')),
      'write',
    ),
  ).toBe('a folder, expected a file');
  expect(
    fileProblem(
      thrownBy(() => readdirSync(process.execPath)),
      'read',
    ),
  ).toBe('a part of the path is a file, expected a folder');
  expect(fileProblem(refusal('EWHATEVER'), 'read')).toBe('EWHATEVER');
  expect(fileProblem(new Error('too large'), 'read')).toBe('too large');
});

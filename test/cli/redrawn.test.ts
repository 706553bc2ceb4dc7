import { expect, test } from 'vitest';
import { redrawn } from '../../src/cli/terminal/redrawn.ts';

/** A terminal of a few rows that understands what `redrawn` writes, and nothing else. */
function terminal(columns: number, rows: number) {
  const lines: string[] = [''];
  let at = 0;
  const write = (text: string) => {
    for (const part of text.matchAll(/\u001b\[(\d*)([AJ])|\r|\n|[^\u001b\r\n]+/g)) {
      const [all, count, what] = part;
      if (what === 'A') at = Math.max(0, at - Number(count));
      else if (what === 'J') lines.splice(at, Infinity, '');
      else if (all === '\n') lines[++at] ??= '';
      else if (all !== '\r') lines[at] += all;
    }
  };
  return { lines, draw: redrawn({ write, size: () => ({ columns, rows }) }) };
}

test('replaces the rows written before, however many there were, and leaves what was above', () => {
  const { lines, draw } = terminal(20, 10);
  draw(['one', 'two', 'three']);
  draw(['four']);
  expect(lines).toEqual(['four', '']);
  draw(['five', 'six']);
  expect(lines).toEqual(['five', 'six', '']);
});

test('never writes a row wider than the terminal, nor more rows than it can go back', () => {
  const { lines, draw } = terminal(5, 3);
  draw(['123456789', 'b', 'c', 'd']);
  expect(lines).toEqual(['1234', 'b', '']);
});

import fc from 'fast-check';
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
  return { lines, draw: redrawn({ remedy: 'enlarge it', write, size: () => ({ columns, rows }) }) };
}

test('replaces the rows written before, however many there were, and leaves what was above', () => {
  const { lines, draw } = terminal(20, 10);
  draw(['one', 'two', 'three']);
  draw(['four']);
  expect(lines).toEqual(['four', '']);
  draw(['five', 'six']);
  expect(lines).toEqual(['five', 'six', '']);
});

test('never writes a row wider than the terminal, nor more rows than it can go back, and says how many it hides', () => {
  const rows = fc.array(fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 30 }), { minLength: 1 });
  fc.assert(
    fc.property(rows, fc.integer({ min: 2, max: 40 }), fc.integer({ min: 1, max: 12 }), (drawn, columns, height) => {
      const { lines, draw } = terminal(columns, height);
      draw(['before']);
      draw(drawn);
      const shown = lines.slice(0, -1);
      const isCut = drawn.length > Math.max(1, height - 1);
      const whole = isCut ? shown.slice(0, -1) : shown;
      expect(shown.length).toBeLessThanOrEqual(Math.max(1, height - 1));
      expect(whole).toEqual(drawn.slice(0, whole.length).map(row => row.slice(0, columns - 1)));
      const hidden = drawn.length - whole.length;
      if (isCut)
        expect(shown.at(-1)).toBe(`${hidden} line${hidden === 1 ? '' : 's'} hidden: enlarge it`.slice(0, columns - 1));
      else expect(hidden).toBe(0);
    }),
  );
});

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { FLOWS, ROWS, columnOf, flowStatistics } from '../../bench/flowTable.ts';

// Not to the digit: other versions of the engine may compute a sine with another last bit, and all that follows differs.
it('the table in docs/development/evidence/market-model.md is what the flow does now (npm run calibrate:flow prints it)', () => {
  const lines = readFileSync('docs/development/evidence/market-model.md', 'utf8').split('\n');
  const cellsOf = (name: string) => {
    const line = lines.find(one => one.startsWith(`| ${name} |`));
    return line?.split('|').map(cell => cell.trim());
  };
  FLOWS.forEach((flow, i) => {
    const now = columnOf(flowStatistics(flow));
    ROWS.forEach(([name], row) => {
      const documented = Number(cellsOf(name)?.[i + 2]);
      const difference = Math.abs(documented - Number(now[row]));
      expect(difference, `${flow.book}, ${name}`).toBeLessThanOrEqual(0.1 + Math.abs(documented) / 4);
    });
  });
});

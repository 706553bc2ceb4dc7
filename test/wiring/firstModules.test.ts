/** Modules that the program loads before it checks its limits: few, because a low limit on open files prevents more. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../cli/program.ts';

test('the program loads at most ten modules before it has checked its limits', () => {
  const found = new Set<string>();
  const load = (path: string): void => {
    if (found.has(path)) return;
    found.add(path);
    for (const [, name] of readFileSync(path, 'utf8').matchAll(/^(?:import|export|\}) [^;]*?from '(\.[^']+)';/gm))
      load(join(dirname(path), name!));
  };
  load(join(ROOT, 'src/main.ts'));
  expect([...found].map(path => path.slice(ROOT.length)).length).toBeLessThanOrEqual(10);
});

/** Brings the built program, and the scripts beside it, up to date before the tests that run them. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export function setup(): void {
  const cwd = fileURLToPath(new URL('../..', import.meta.url));
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'build:scripts'], { cwd, encoding: 'utf8' });
  if (status === 0) return;
  // The compiler writes what it can in spite of wrong types, and they fail a check of their own; what runs is still up to date.
  console.warn(`npm run build:scripts: ${stdout}${stderr}`);
  if (!existsSync(`${cwd}/dist/src/main.js`)) throw new Error('the program cannot be built: see npm run build:scripts');
}

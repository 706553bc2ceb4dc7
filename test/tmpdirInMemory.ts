/** The folder in memory for temporary files (vitest.config.js): made before the tests, removed after them. */
import { mkdirSync, rmSync } from 'node:fs';
import type { TestProject } from 'vitest/node';

export default function setup({ config }: TestProject): () => void {
  const folder = config.env['TMPDIR'];
  if (typeof folder !== 'string') throw new Error('expected TMPDIR in the environment of the tests');
  mkdirSync(folder, { mode: 0o700, recursive: true });
  return () => rmSync(folder, { recursive: true, force: true });
}

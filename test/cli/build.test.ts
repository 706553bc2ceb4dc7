/** What `npm start` does before the bot starts: a person sees that it works. */
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ROOT } from './program.ts';

const dir = mkdtempSync(join(tmpdir(), 'puntas-build-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** A folder of sources whose compiler ends with the code, `after` something was said. */
function buildOf(code: number, isLong: boolean): Promise<{ readonly stderr: string; readonly code: number | null }> {
  const at = mkdtempSync(join(dir, 'clone-'));
  for (const folder of ['config/image', 'node_modules/typescript/bin', 'dist/src'])
    mkdirSync(join(at, folder), { recursive: true });
  cpSync(join(ROOT, 'config/image/build.mjs'), join(at, 'config/image/build.mjs'));
  writeFileSync(join(at, 'dist/src/main.js'), '');
  writeFileSync(join(at, 'node_modules/typescript/package.json'), '{"name":"typescript"}');
  writeFileSync(
    join(at, 'node_modules/typescript/bin/tsc'),
    `const { existsSync } = require('node:fs');
    setInterval(() => (${!isLong} || existsSync('said')) && process.exit(${code}), 20)`,
  );
  const child = spawn(process.execPath, ['config/image/build.mjs'], { cwd: at, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    writeFileSync(join(at, 'said'), '');
  });
  return new Promise(resolve => child.on('close', ended => resolve({ stderr, code: ended })));
}

test('a build that takes long says that it builds, and ends as the compiler does', async () => {
  const [long, broken] = await Promise.all([buildOf(0, true), buildOf(2, false)]);
  expect(long).toEqual({ code: 0, stderr: expect.stringMatching(/^building Puntas: \d+ s .*\n/) as string });
  expect(broken.code).toBe(2);
});

test('npm start builds with it', () => {
  expect(statSync(join(ROOT, 'dist/src/main.js')).mode & 0o111).not.toBe(0);
});

/** What `npm start` does before the bot starts: a person sees that it works. */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ROOT } from './program.ts';

const dir = mkdtempSync(join(tmpdir(), 'puntas-build-'));
afterAll(() => rmSync(dir, { recursive: true }));

type Built = { readonly stderr: string; readonly code: number | null; readonly isFailed: boolean };

/** A folder of sources whose compiler ends with the code, `after` something was said. */
function buildOf(code: number, isLong: boolean): Promise<Built> {
  const at = mkdtempSync(join(dir, 'clone-'));
  for (const folder of ['config/image', 'node_modules/typescript-native/bin', 'dist/src'])
    mkdirSync(join(at, folder), { recursive: true });
  cpSync(join(ROOT, 'config/image/build.mjs'), join(at, 'config/image/build.mjs'));
  writeFileSync(join(at, 'dist/src/main.js'), '');
  writeFileSync(join(at, 'node_modules/typescript-native/package.json'), '{"name":"typescript"}');
  writeFileSync(
    join(at, 'node_modules/typescript-native/bin/tsc'),
    `const { existsSync } = require('node:fs');
    setInterval(() => (${!isLong} || existsSync('said')) && process.exit(${code}), 20)`,
  );
  const child = spawn(process.execPath, ['config/image/build.mjs'], { cwd: at, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    writeFileSync(join(at, 'said'), '');
  });
  return new Promise(resolve =>
    child.on('close', code => resolve({ stderr, code, isFailed: existsSync(join(at, 'dist/failed')) })),
  );
}

test('a build that takes long says that it builds, and ends as the compiler does', async () => {
  const [long, broken] = await Promise.all([buildOf(0, true), buildOf(2, false)]);
  expect(long).toEqual({
    code: 0,
    isFailed: false,
    stderr: expect.stringMatching(/^building Puntas: \d+ s .*\n/) as string,
  });
  expect(broken.code).toBe(2);
});

test('what a failed build left is not run, until a build succeeds', async () => {
  const [broken, mended] = [await buildOf(2, false), await buildOf(0, false)];
  expect([broken.isFailed, mended.isFailed]).toEqual([true, false]);
  const after = commandIn('failed', 'console.log("it runs")', true);
  expect([after.status, after.stdout]).toEqual([2, '']);
  expect(after.stderr).toMatch(
    /^puntas: the last build failed; see the errors, then build it in \S+ with: npm run build\n$/,
  );
});

/** The command in a folder whose build, if there is one, prints its arguments. */
function commandIn(name: string, build: string | null, isFailed = false) {
  const at = join(dir, name);
  mkdirSync(join(at, 'bin'), { recursive: true });
  mkdirSync(join(at, 'dist/src'), { recursive: true });
  cpSync(join(ROOT, 'bin/puntas.mjs'), join(at, 'bin/puntas.mjs'));
  if (build !== null) writeFileSync(join(at, 'dist/src/main.js'), build);
  if (isFailed) writeFileSync(join(at, 'dist/failed'), '');
  return spawnSync(process.execPath, [join(at, 'bin/puntas.mjs'), 'run', '--json'], { encoding: 'utf8' });
}

test('the command says in one line how to build before the first build, and runs the build after it', () => {
  const before = commandIn('unbuilt', null);
  expect([before.status, before.stdout]).toEqual([2, '']);
  expect(before.stderr).toMatch(/^puntas: not built yet; build it in \S+unbuilt\/ with: npm run build\n$/);
  const after = commandIn('built', 'console.log(process.argv.slice(2).join(" ")); process.exitCode = 3;');
  expect([after.status, after.stdout, after.stderr]).toEqual([3, 'run --json\n', '']);
});

test('npm start builds with it', () => {
  expect(statSync(join(ROOT, 'dist/src/main.js')).mode & 0o111).not.toBe(0);
});

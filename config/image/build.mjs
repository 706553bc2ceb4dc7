// Compiles the program to dist/ and makes it executable; says what it does while that takes more than a second.
// Usage: node config/image/build.mjs
import { spawn } from 'node:child_process';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const { columns, isTTY } = process.stderr;
const compiler = join(createRequire(import.meta.url).resolve('typescript-native/package.json'), '../bin/tsc');
const FAILED = 'dist/failed';
const began = performance.now();
let isTold = false;
let nextMs = 2_000;

/** A row that is written over on a terminal; elsewhere a line every ten seconds. */
function tell() {
  const ms = performance.now() - began;
  const seconds = Math.round(ms / 1000);
  if (!isTTY && ms < nextMs) return;
  nextMs = ms + 10_000;
  const text = `building Puntas: ${seconds} s (only after a change)`;
  process.stderr.write(isTTY ? `\r${text.slice(0, (columns || 80) - 1)}\x1b[K` : `${text}\n`);
  isTold = true;
}

const ticking = setInterval(tell, 1_000);
const child = spawn(process.execPath, [compiler, '-b', 'tsconfig.build.json'], { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', code => {
  clearInterval(ticking);
  if (isTold && isTTY) process.stderr.write('\r\x1b[K');
  // The compiler also writes code with wrong types; bin/puntas.mjs does not run it.
  if (code === 0) {
    rmSync(FAILED, { force: true });
    chmodSync('dist/src/main.js', 0o755);
  } else writeFileSync(FAILED, '');
  process.exitCode = code ?? 1;
});

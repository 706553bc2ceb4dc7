#!/usr/bin/env node
// The command `puntas`. It is a file of the repository and not of the build, because npm links only files that exist when it installs.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const main = new URL('../dist/src/main.js', import.meta.url);
const isFailed = existsSync(new URL('../dist/failed', import.meta.url));
if (existsSync(main) && !isFailed) await import(main.href);
else {
  const folder = fileURLToPath(new URL('..', import.meta.url));
  const why = isFailed ? 'the last build failed; see the errors, then' : 'not built yet;';
  console.error(`puntas: ${why} build it in ${folder} with: npm run build`);
  process.exitCode = 2;
}

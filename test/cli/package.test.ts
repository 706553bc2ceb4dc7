/** What is shipped: the program and its configurations, and nothing that only developers run. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './program.ts';

type Package = { readonly bin: Readonly<Record<string, string>>; readonly scripts: Readonly<Record<string, string>> };

test('the package has what the program needs and no script of developers', () => {
  const { bin, scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Package;
  const packed = execFileSync('npm', ['pack', '--dry-run', '--json'], { cwd: ROOT, encoding: 'utf8' });
  const [{ files }] = JSON.parse(packed) as [{ files: readonly { readonly path: string }[] }];
  const paths = files.map(({ path }) => path);
  const shipped = [...Object.values(bin), 'dist/src/main.js'];
  expect(paths).toEqual(
    expect.arrayContaining([
      ...shipped,
      'dist/backtest/app/backtest/backtestThread.js',
      'config/sandbox.yaml',
      'docs/configuration.md',
      'LICENSE',
    ]),
  );
  const developers = Object.values(scripts)
    .flatMap(script => [...script.matchAll(/node (dist\/\S+\.js)/g)].map(([, path]) => path!))
    .filter(path => !shipped.includes(path));
  expect(developers).toContain('dist/test/scripts/golden.js');
  expect(paths.filter(path => developers.includes(path))).toEqual([]);
  expect(
    paths.filter(
      path =>
        !/^(bin|dist\/(src|strategies|backtest)|config|docs\/(adr|mappings|sources))\/|^docs\/[\w-]+\.(md|png|svg)$|^[\w.]+$/.test(
          path,
        ),
    ),
  ).toEqual([]);
});

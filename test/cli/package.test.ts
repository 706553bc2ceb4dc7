/** What is shipped: the program, its configurations and pages, nothing that only developers run; and what others may import. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { SAMPLE_FILES } from '../../src/wiring/shipped/shippedFiles.ts';
import { ownStrategyOnPage } from '../docs/ownStrategy.ts';
import { ROOT } from './program.ts';
// @ts-expect-error A script of the release without types.
import { packedPage as untyped } from '../../config/image/packedLinks.mjs';

const packedPage = untyped as (
  text: string,
  page: string,
  isPacked: (path: string) => boolean,
  repository: string | undefined,
) => string;

type Package = {
  readonly private?: boolean;
  readonly bin: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
};
type Packed = {
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
};

/** Bounds in bytes, some tenth above what it is: the page of keys and the pictures are the largest files. */
const PACKED_MAX = 4_400_000;
const UNPACKED_MAX = 11_400_000;

const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const { bin, scripts, private: isPrivate } = JSON.parse(textOf('package.json')) as Package;
const packed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
  cwd: ROOT,
  encoding: 'utf8',
});
const [{ files, size, unpackedSize }] = JSON.parse(packed) as [Packed];
const paths = files.map(({ path }) => path);
const filesIn = (folder: string, name: RegExp): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(path => name.test(path))
    .map(path => `${folder}/${path}`);

const dir = mkdtempSync(join(tmpdir(), 'puntas-package-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('the package has every module with its types, the pages, the samples, and nothing else', () => {
  const modules = ['src', 'strategies', 'backtest'].flatMap(folder => filesIn(folder, /(?<!\.d)\.ts$/));
  const expected = [
    ...['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'SECURITY.md', ...Object.values(bin)],
    ...modules.flatMap(path => ['js', 'd.ts'].map(ending => `dist/${path.replace(/ts$/, ending)}`)),
    ...SAMPLE_FILES,
    ...filesIn('docs', /^[\w-]+\.(?:md|png|svg)$|^(?:adr|sources)\/[\w-]+\.md$|^development\/strategies\.md$/),
    ...filesIn('strategies', /^[\w-]+\/(?:README\.md|quotes\.svg)$/),
  ];
  expect([...paths].sort()).toEqual([...expected].sort());
});

test('every page that the page of strategy files links to is in the package', () => {
  const page = textOf('docs/strategy-files.md');
  const linked = [...page.matchAll(/\]\(([\w/-]+\.md)/g)].map(([, path]) => `docs/${path}`);
  expect(linked.length).toBeGreaterThan(3);
  expect(linked.filter(path => !paths.includes(path))).toEqual([]);
});

test('it is small, and has no script of developers', () => {
  expect(size).toBeLessThan(PACKED_MAX);
  expect(unpackedSize).toBeLessThan(UNPACKED_MAX);
  const developers = Object.values(scripts).flatMap(script =>
    [...script.matchAll(/node (dist\/\S+\.js)/g)].map(([, path]) => path!),
  );
  expect(developers).toContain('dist/test/scripts/golden.js');
  expect(paths.filter(path => developers.includes(path))).toEqual(['dist/src/main.js']);
});

test('the tree cannot be published: only the release makes a package of it that can', () => {
  expect(isPrivate).toBe(true);
});

const isShipped = (target: string) => paths.some(path => path === target || path.startsWith(`${target}/`));
/** Relative links and images of a page, as paths from the root. */
const linksOf = (text: string, page: string): readonly string[] =>
  [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/\]\(([^()\s]+)\)|src="([^"]+)"/g)]
    .map(([, link, image]) => (link ?? image!).split('#')[0]!)
    .filter(link => link !== '' && !/^[a-z]+:/.test(link))
    .map(link => join(dirname(page), link).replace(/\/$/, ''));

test.each([['https://github.com/some/name/blob/v1'], [undefined]])(
  'every relative link of a page, as it is released for %s, leads to a shipped file',
  repository => {
    const pages = paths.filter(path => path.endsWith('.md'));
    const released = pages.map(page => ({ page, text: packedPage(textOf(page), page, isShipped, repository) }));
    const links = released.flatMap(({ page, text }) => linksOf(text, page));
    expect(links.length).toBeGreaterThan(300);
    expect(links.filter(target => !isShipped(target))).toEqual([]);
    // What leads out of the package is in the repository, and is not lost.
    const left = pages.flatMap(page => linksOf(textOf(page), page)).filter(target => !isShipped(target));
    expect(left.length).toBeGreaterThan(20);
    for (const target of left) expect(existsSync(join(ROOT, target)), target).toBe(true);
    const absolute = released.flatMap(({ text }) => [...text.matchAll(/\]\(https:\/\/github\.com\/some\/name\//g)]);
    expect(absolute).toHaveLength(repository === undefined ? 0 : left.length);
  },
);

test('the strategy file of the page type-checks and runs on `puntas/strategy`, and a tape on `puntas/tape`; nothing else is exported', () => {
  const own = join(dir, 'own');
  mkdirSync(join(own, 'node_modules'), { recursive: true });
  symlinkSync(ROOT, join(own, 'node_modules/puntas'));
  writeFileSync(join(own, 'package.json'), '{ "type": "module", "private": true }');
  writeFileSync(join(own, 'my-strategy.ts'), ownStrategyOnPage());
  writeFileSync(join(own, 'closed.ts'), "// @ts-expect-error\nimport 'puntas/dist/src/core/index.js';\n");
  writeFileSync(
    join(own, 'tape.ts'),
    "import { openStoredTape, TapeWriter } from 'puntas/tape';\nconsole.log(typeof openStoredTape, typeof TapeWriter);\n",
  );
  const compiler = join(ROOT, 'node_modules/typescript-native/bin/tsc');
  const flags = ['--strict', '--target', 'es2023', '--module', 'nodenext', '--rootDir', '.', '--outDir', 'out'];
  // A strategy file needs no package but Puntas; the types of a tape need those of Node.
  execFileSync(process.execPath, [compiler, ...flags, 'my-strategy.ts', 'closed.ts'], { cwd: own });
  symlinkSync(join(ROOT, 'node_modules/@types'), join(own, 'node_modules/@types'));
  execFileSync(process.execPath, [compiler, ...flags, '--types', 'node', 'tape.ts'], { cwd: own });
  const runs =
    "const { default: own } = await import('./out/my-strategy.js');" +
    "console.log(own.contract, own.parameters.parse({ amount: '1', halfSpreadBps: 9 }).levels);";
  expect(
    execFileSync(process.execPath, ['--input-type=module', '-e', runs], { cwd: own, encoding: 'utf8' }).trim(),
  ).toBe('1 1');
  expect(execFileSync(process.execPath, ['out/tape.js'], { cwd: own, encoding: 'utf8' }).trim()).toBe(
    'function function',
  );
  const schema = "import s from 'puntas/schema.json' with { type: 'json' }; console.log(typeof s.properties.book);";
  expect(
    execFileSync(process.execPath, ['--input-type=module', '-e', schema], { cwd: own, encoding: 'utf8' }).trim(),
  ).toBe('object');
});

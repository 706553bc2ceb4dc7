/** The shipped files in the hands of a user without a clone, and the paths by which pages, help and messages name them. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { readStudy } from '../../../backtest/app/tune/study.ts';
import { readCriteria } from '../../../backtest/app/promote/criteria.ts';
import { readFleet } from '../../../src/app/fleet/fleet.ts';
import { writeSamples } from '../../../src/app/develop/samples.ts';
import { EXAMPLES } from '../../../src/cli/terminal/examples.ts';
import { pagesFolder, withInstalledNames, withPagePaths } from '../../../src/cli/terminal/installedNames.ts';
import { readConfig } from '../../../src/wiring/configFile.ts';
import { packageFolder, SAMPLE_FILES } from '../../../src/wiring/shipped/shippedFiles.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const dir = mkdtempSync(join(tmpdir(), 'puntas-samples-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();

describe('samples', () => {
  test('are the files of the package, under the same paths, and are written once', () => {
    const folder = join(dir, 'new');
    expect(writeSamples(folder)).toEqual(SAMPLE_FILES.map(path => join(folder, path)));
    expect(filesIn(folder)).toEqual([...SAMPLE_FILES].sort());
    for (const path of SAMPLE_FILES) expect(readFileSync(join(folder, path), 'utf8'), path).toBe(textOf(path));
    expect(writeSamples(folder)).toEqual([]);
  });

  test('overwrite nothing: with one changed file, nothing is written and that file is named', () => {
    const folder = join(dir, 'changed');
    writeSamples(folder);
    rmSync(join(folder, 'config/live.yaml'));
    writeFileSync(join(folder, 'config/tune.yaml'), 'mine: true\n');
    expect(() => writeSamples(folder)).toThrow(`${folder}/config/tune.yaml: already exists with other content`);
    expect(existsSync(join(folder, 'config/live.yaml'))).toBe(false);
    expect(readFileSync(join(folder, 'config/tune.yaml'), 'utf8')).toBe('mine: true\n');
  });

  test('are accepted where they are written, with what they name beside them', () => {
    const folder = join(dir, 'read');
    writeSamples(folder);
    const configs = SAMPLE_FILES.filter(path => /^config\/(?:compose\/)?[\w-]+\.yaml$/.test(path));
    expect(configs.length).toBeGreaterThan(10);
    for (const path of configs) {
      const file = join(folder, path);
      if (path.endsWith('tune.yaml')) expect(readStudy(file).configFile).toBe(join(folder, 'config/sandbox.yaml'));
      else if (path.endsWith('promote.yaml')) expect(readCriteria(file).replay.tapes).toHaveLength(1);
      else if (path.endsWith('fleet.yaml')) expect(readFleet(file).bots.length).toBeGreaterThan(1);
      else expect(readConfig(file).book).toMatch(/_/);
      const schema = /\$schema=(\S+)/.exec(readFileSync(file, 'utf8'))?.[1];
      if (schema !== undefined) expect(existsSync(resolve(dirname(file), schema)), path).toBe(true);
    }
  });

  test('are named to whoever asks for one that is not there yet; another missing file is not one of them', () => {
    const names = ['config/tune.yaml', './config/live.yaml'];
    const from = process.cwd();
    process.chdir(dir);
    try {
      for (const name of names) expect(() => readConfig(name)).toThrow('no such file; write the shipped files');
      expect(() => readStudy('config/tune.yaml')).toThrow('puntas samples');
      expect(() => readConfig('config/mine.yaml')).toThrow('pass a YAML file with -c FILE');
    } finally {
      process.chdir(from);
    }
  });
});

/** Shipped files of a clone alone, each with why nobody without one needs it. */
const OF_A_CLONE: Readonly<Record<string, string>> = {
  'config/compose/bot.yaml': 'the bot of compose.yaml, which builds the image',
};

describe('a path of a shipped file', () => {
  const pages = [
    'README.md',
    ...filesIn(join(ROOT, 'docs'))
      .filter(name => /^[\w-]+\.md$/.test(name))
      .map(name => `docs/${name}`),
    ...filesIn(join(ROOT, 'strategies'))
      .filter(name => name.endsWith('README.md'))
      .map(name => `strategies/${name}`),
  ];
  const sources = ['src', 'backtest', 'strategies'].flatMap(folder =>
    filesIn(join(ROOT, folder))
      .filter(name => name.endsWith('.ts'))
      .map(name => `${folder}/${name}`),
  );
  const named = (text: string): readonly string[] =>
    [...text.matchAll(/(?<![\w/])(?:\.\.\/)*((?:config|docs\/mappings)\/[\w./-]+\.(?:ya?ml|json))/g)].map(
      ([, path]) => path!,
    );

  test('that a page, an example or a message names is one that samples writes', () => {
    const found = [...pages, ...sources].flatMap(file => named(textOf(file)).map(path => ({ file, path })));
    expect(found.length).toBeGreaterThan(30);
    expect(named('see ../config/tune.yaml, live/config/bot.yaml')).toEqual(['config/tune.yaml']);
    const known = [...SAMPLE_FILES, ...Object.keys(OF_A_CLONE)];
    expect(found.filter(({ path }) => !known.includes(path))).toEqual([]);
    for (const path of Object.keys(OF_A_CLONE)) expect(found.map(one => one.path)).toContain(path);
    const examples = Object.values(EXAMPLES).flatMap(list => list.flatMap(([command]) => named(command)));
    expect(examples).toContain('config/tune.yaml');
  });

  test('or of a script of a clone stands beside that word, but where upgrading.md says what a release has instead', () => {
    const read = 'read `npm start` on these pages as `npx puntas run`, and leave out `npm ci` and `npm run build`';
    expect(textOf('docs/upgrading.md')).toContain(read);
    const lines = [...pages, ...SAMPLE_FILES.filter(path => path.endsWith('.yaml'))]
      .filter(path => path !== 'docs/upgrading.md')
      .flatMap(path => textOf(path).split('\n'))
      .filter(line => /\bnpm (?:run|ci|start|test)\b/.test(line) && !line.startsWith('<!-- '));
    expect(lines.length).toBeGreaterThan(4);
    expect(lines.filter(line => !/^npm ci && npm (?:start|test|run build)\b|\bclone\b/.test(line))).toEqual([]);
  });

  test('of a page, in a message, is one that exists, and is printed as the working directory sees it', () => {
    const strings = sources.flatMap(file =>
      [...textOf(file).matchAll(/(?<![\w/.])docs\/[\w-]+\.md/g)].map(([path]) => ({ file, path })),
    );
    expect(strings.length).toBeGreaterThan(10);
    expect(strings.filter(({ path }) => !existsSync(join(ROOT, path)))).toEqual([]);
    const text = 'see docs/paper.md, (docs/sentinel.md), node_modules/x/docs/paper.md and https://a.b/docs/paper.md';
    expect(withPagePaths(text, '/p/$&/docs')).toBe(
      'see /p/$&/docs/paper.md, (/p/$&/docs/sentinel.md), node_modules/x/docs/paper.md and https://a.b/docs/paper.md',
    );
    const names = { command: 'docker exec "a" puntas', pages: '/my "docs"' };
    const line = JSON.stringify({ text: 'run puntas check (docs/paper.md)' });
    expect(JSON.parse(withInstalledNames(line, true, names))).toEqual({
      text: 'run docker exec "a" puntas check (/my "docs"/paper.md)',
    });
    expect(packageFolder()).toBe(ROOT);
    expect(pagesFolder(ROOT)).toBe('docs');
    expect(pagesFolder(dirname(ROOT.replace(/\/$/, '')))).toMatch(/^[\w-]+\/docs$/);
    expect(pagesFolder(dir)).toBe(join(ROOT, 'docs'));
    expect(pagesFolder(dir, dir)).toBe('docs');
  });
});

/** The checks of `.ci/run` and `.ci/full`, the workflow that runs both, and the one that publishes. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { planIn } from '../docs/run/pages.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const textOf = (path: string): string => readFileSync(`${ROOT}/${path}`, 'utf8');
const listOf = (name: string) =>
  [...textOf(`.ci/${name}`).matchAll(/^ +'(?:& )?([a-z0-9-]+) +(\w+\.sh)([^']*)'/gm)].map(
    ([, check, script, words]) => ({
      check: check!,
      script: script!,
      words: words!.trim(),
    }),
  );
const [run, full] = [listOf('run'), listOf('full')];

test('every check is a script, and every script of .ci is a check or is used by one', () => {
  for (const { script } of [...run, ...full]) expect(existsSync(`${ROOT}/.ci/${script}`), script).toBe(true);
  const all = readdirSync(`${ROOT}/.ci`).filter(name => name.endsWith('.sh'));
  const used = [...textOf('CONTRIBUTING.md').matchAll(/`\.ci\/(\w+\.sh)`/g)].map(([, name]) => name!);
  const texts = ['run', 'full', ...all].map(name => textOf(`.ci/${name}`)).join('\n');
  const unused = all.filter(
    name => !new RegExp(`(?:'(?:& )?[a-z0-9-]+ +|\\.ci/|/)${name.replace('.', '\\.')}`).test(texts),
  );
  expect(unused.filter(name => !used.includes(name))).toEqual([]);
});

test('the runner lists the checks as they are written', () => {
  for (const [name, list] of [['run', run] as const, ['full', full] as const])
    expect(
      execFileSync('bash', [`${ROOT}/.ci/${name}`, '--list'], { encoding: 'utf8' })
        .trim()
        .split('\n'),
    ).toEqual(list.map(({ check }) => check));
});

test('every project of the tests is run by a check', () => {
  const projects = [...textOf('vitest.config.js').matchAll(/name: '(\w+)'/g)].map(([, name]) => name!);
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
  const projectsOf = (script: string) => [...scripts[script]!.matchAll(/--project (\w+)/g)].map(([, name]) => name!);
  expect(run.filter(({ script }) => script === 'test.sh').map(({ words }) => words)).toEqual(['', 'slower']);
  const long = full.filter(({ script }) => script === 'long.sh').flatMap(({ words }) => words.split(' '));
  // The project of ccxt is run by the check of the same name.
  expect(textOf('.ci/ccxt.sh')).toContain('--project ccxt');
  expect([...projectsOf('test'), ...projectsOf('test:slower'), ...long, 'ccxt'].sort()).toEqual([...projects].sort());
  expect(long.sort()).toEqual(projectsOf('test:long').sort());
});

/** The driver of conformance takes fewer ways to the exchange where a file does not ask for all. */
const triesFewer = (text: string): boolean =>
  /from '(?:\.\.?\/)+many\.ts'/.test(text) || (/^everyWay\(/m.test(text) && !/\bWAYS\b/.test(text));

test('every test that tries less in npm test tries all in the project of many', () => {
  const config = textOf('vitest.config.js');
  const listed = config.slice(config.indexOf('const MANY'), config.indexOf('.map(', config.indexOf('const MANY')));
  const files = readdirSync(`${ROOT}/test`, { recursive: true, encoding: 'utf8' }).filter(name =>
    name.endsWith('.test.ts'),
  );
  // The check of ccxt tries all of its own project.
  expect(textOf('.ci/ccxt.sh')).toContain('PUNTAS_TEST_MANY=true');
  const fewer = files.filter(name => name !== 'ccxt/ccxtMarket.test.ts' && triesFewer(textOf(`test/${name}`)));
  expect([...listed.matchAll(/'([\w/]+)'/g)].map(([, name]) => `${name}.test.ts`).sort()).toEqual(fewer.sort());
});

test('every script of package.json is run by a check, at least at its smallest size', () => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
  const checks = [...new Set([...run, ...full].map(({ script }) => script))].map(name => textOf(`.ci/${name}`));
  const pages = planIn(ROOT).sessions.flatMap(({ commands }) => commands.map(({ typed }) => typed));
  /** Text that runs scripts: the checks, the list of `.ci/scripts.sh`, the pages' commands, and scripts that begin others. */
  const texts = [...checks, ...pages, ...Object.values(scripts), textOf('test/cli/build.ts')];
  const runs = (name: string): boolean =>
    texts.some(text =>
      new RegExp(`(?:npm (?:run (?:--silent )?)?|'run', '--silent', '|^ +['"])${name}(?![\\w:-])`, 'm').test(text),
    );
  expect(Object.keys(scripts).filter(name => !runs(name))).toEqual([]);
  expect(runs('a-script-that-nothing-runs')).toBe(false);
});

type Step = { readonly uses?: string; readonly run?: string };
type Job = {
  readonly needs?: string;
  readonly environment?: string;
  readonly permissions?: object;
  readonly env?: Readonly<Record<string, string>>;
  readonly strategy?: { readonly matrix: { readonly check: string } };
  readonly steps: readonly Step[];
};
type Workflow = { readonly on: object; readonly permissions: object; readonly jobs: Readonly<Record<string, Job>> };
const workflowOf = (name: string) => parse(textOf(`.github/workflows/${name}`)) as Workflow;
const workflows = readdirSync(`${ROOT}/.github/workflows`);

test('the workflow runs .ci/run on each push, and each check of .ci/full by itself', () => {
  const { on, jobs } = workflowOf('ci.yml');
  expect(Object.keys(on)).toEqual(['push', 'pull_request', 'schedule', 'workflow_dispatch']);
  expect(jobs['run']!.steps.map(step => step.run)).toContain('bash .ci/run');
  expect(jobs['full']!.strategy!.matrix.check).toContain('fromJSON(needs.list.outputs.checks)');
  expect(jobs['full']!.steps.map(step => step.run)).toContain("bash .ci/full --only '${{ matrix.check }}'");
});

test.each(workflows)(
  '%s pins what it uses, reads only by default, needs jobs that exist, and runs scripts that parse',
  name => {
    const { permissions, jobs } = workflowOf(name);
    expect(permissions).toEqual({ contents: 'read' });
    for (const { needs, steps } of Object.values(jobs)) {
      if (needs !== undefined) expect(Object.keys(jobs)).toContain(needs);
      for (const { uses, run } of steps) {
        if (uses !== undefined) expect(uses).toMatch(/@[0-9a-f]{40}$/);
        if (run === undefined) continue;
        execFileSync('bash', ['-n'], { input: run });
        for (const [, script] of run.matchAll(/bash (\.ci\/[\w.]+)/g))
          expect(existsSync(`${ROOT}/${script}`)).toBe(true);
      }
    }
  },
);

test('a release is published from a tag alone, after the checks, with the approval of an environment that alone has the token', () => {
  const { on, jobs } = workflowOf('release.yml');
  expect(on).toEqual({ push: { tags: ['v*'] } });
  const { check, package: published, image } = jobs;
  expect(check!.steps.map(step => step.run)).toContain('bash .ci/run');
  for (const job of [published!, image!]) expect(job).toMatchObject({ needs: 'check', environment: 'release' });
  expect(published!.permissions).toEqual({ contents: 'read', 'id-token': 'write' });
  expect(image!.permissions).toEqual({ contents: 'read', packages: 'write' });
  const secrets = (job: Job) => [...JSON.stringify(job).matchAll(/secrets\.(\w+)/g)].map(([, secret]) => secret);
  expect(Object.values(jobs).map(secrets)).toEqual([[], ['NPM_TOKEN'], ['GITHUB_TOKEN']]);
  const publishing = workflows.flatMap(name =>
    Object.entries(workflowOf(name).jobs).filter(([, { steps }]) =>
      steps.some(({ run }) => /npm publish|buildx build|docker push/.test(run ?? '')),
    ),
  );
  expect(publishing.map(([job]) => job)).toEqual(['package', 'image']);
  expect(published!.steps.at(-1)!.run).toContain('--provenance');
  expect(image!.steps.at(-1)!.run).toContain('--provenance=mode=max --sbom=true');
});

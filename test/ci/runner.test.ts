/** `.ci/runner.sh`, with checks of a few milliseconds in a repository of their own: what runs, what counts, and what is not run again. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const RUNNER = fileURLToPath(new URL('../../.ci/runner.sh', import.meta.url));
/** What each check does, besides writing its name to `ran`. */
const SCRIPTS = {
  'install.sh': 'mkdir -p node_modules',
  'types.sh': 'mkdir -p dist',
  'good.sh': 'echo fine "$@"',
  'bad.sh': "echo 'Error: it broke'; exit 1",
  // Fails the first time only.
  'flaky.sh': 'touch ../flaked-$((++n)); [ -e ../once ] || { touch ../once; exit 1; }',
  'skipped.sh': "echo 'skipped: no recordings'; exit 77",
  'counted.sh': `echo '{"numPassedTests":5,"numFailedTests":0,"numPendingTests":2}' > "$PUNTAS_CI_OUT/tests.json"`,
  'leaves.sh': 'sleep 300 > /dev/null 2>&1 & echo $! > ../left',
};
const NEEDED = ["'install install.sh'", "'types types.sh'"];

let dir: string;
let root: string;

const git = (...words: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'commit.gpgsign=false', ...words], {
    cwd: root,
    encoding: 'utf8',
  });

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'puntas-ci-'));
  root = join(dir, 'tree');
  mkdirSync(join(root, '.ci'), { recursive: true });
  copyFileSync(RUNNER, join(root, '.ci/runner.sh'));
  for (const [name, text] of Object.entries(SCRIPTS))
    writeFileSync(join(root, '.ci', name), `echo ${name.replace('.sh', '')} >> ../ran\n${text}\n`);
  writeFileSync(join(root, '.gitignore'), 'node_modules\ndist\n');
  writeFileSync(join(root, '.ci/list'), '');
  git('init', '--quiet');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'begin');
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

type Ran = {
  readonly code: number | null;
  readonly out: string;
  readonly last: string;
  readonly ran: readonly string[];
};

/** Runs these checks; `resumes` as `.ci/full` does. */
function runs(
  checks: readonly string[],
  { resumes = false, ci = 'false', words = [] }: { resumes?: boolean; ci?: string; words?: readonly string[] } = {},
): Ran {
  const list = join(dir, 'list');
  const settings = resumes ? 'RESUMES=yes\nPAGE=evidence/page.md\n' : '';
  writeFileSync(list, `CHECKS=(${checks.join('\n')})\n${settings}source ${join(root, '.ci/runner.sh')}\n`);
  const { PUNTAS_CI_OUT: _out, ...env } = process.env;
  const before = ranSoFar().length;
  const { status, stdout, stderr } = spawnSync('bash', [list, ...words], {
    cwd: root,
    encoding: 'utf8',
    env: { ...env, CI: ci, ...(resumes ? {} : { PUNTAS_CI_OUT: join(dir, 'out') }) },
  });
  const out = stdout + stderr;
  return { code: status, out, last: stdout.trimEnd().split('\n').at(-1)!, ran: ranSoFar().slice(before) };
}

const ranSoFar = (): readonly string[] =>
  existsSync(join(dir, 'ran')) ? readFileSync(join(dir, 'ran'), 'utf8').trim().split('\n') : [];

test('checks run in their order, and the last line counts checks and tests', () => {
  const { code, last, out, ran } = runs(["'a good.sh one'", "'b counted.sh'", "'& c good.sh two'"]);
  expect([code, last]).toEqual([0, '8 passed, 0 failed, 2 skipped']);
  expect(out).toContain('fine one');
  expect(ran[0]).toBe('good');
  expect(ran).toHaveLength(3);
});

test('a check that fails runs once, fails the whole, and its error is in the table', () => {
  const { code, last, out, ran } = runs(["'a flaky.sh'", "'b bad.sh'", "'c good.sh'"]);
  expect([code, last]).toEqual([1, '1 passed, 2 failed']);
  expect(ran).toEqual(['flaky', 'bad', 'good']);
  expect(out).toMatch(/\| b \| failed \| \d+ \| \d+ \| 0 \| 0 \| Error: it broke \|/);
});

test('nothing runs after an installation that failed', () => {
  writeFileSync(join(root, '.ci/install.sh'), 'exit 1\n');
  const { code, last, ran } = runs([...NEEDED, "'a good.sh'"]);
  expect([code, last, ran]).toEqual([1, '0 passed, 3 failed', []]);
});

test('a skip is counted; with CI=true it fails, unless ../shared is missing', () => {
  const checks = ["'a good.sh'", "'b skipped.sh'"];
  expect(runs(checks).last).toBe('1 passed, 0 failed, 1 skipped');
  expect(runs(checks, { ci: 'true' })).toMatchObject({ code: 0, last: '1 passed, 0 failed, 1 skipped' });
  mkdirSync(join(dir, 'shared'));
  expect(runs(checks, { ci: 'true' })).toMatchObject({ code: 1, last: '1 passed, 1 failed, 1 skipped' });
  expect(runs(["'a counted.sh'"], { ci: 'true' })).toMatchObject({ code: 1, last: '5 passed, 1 failed, 2 skipped' });
});

test('a process that a check leaves running is killed', () => {
  // It is found at any step of its start, before it has its own command line too.
  expect(runs(["'a leaves.sh'"]).out).toMatch(/left running, now killed: \S/);
  const status = `/proc/${readFileSync(join(dir, 'left'), 'utf8').trim()}/status`;
  // Where nothing collects orphans, a killed one stays as a zombie.
  expect(existsSync(status) ? readFileSync(status, 'utf8') : 'State:\tZ').toMatch(/^State:\tZ/m);
});

test('a check that lasts longer than it may is killed and fails', () => {
  writeFileSync(join(root, '.ci/slow.sh'), 'sleep 300\n');
  const { code, last, out } = runs(["'a slow.sh'\n)\nLONGEST=1\nCHECKS+=("]);
  expect([code, last]).toEqual([1, '0 passed, 1 failed']);
  expect(out).toContain('not ok: killed after 1 s');
});

test('a resumable run goes on where it was broken off: results of the same tree stand, failures too; older ones are shown with their commit', () => {
  const some = [...NEEDED, "'a good.sh'", "'b bad.sh'"];
  expect(runs(some, { resumes: true })).toMatchObject({
    code: 1,
    last: '3 passed, 1 failed',
    ran: ['install', 'types', 'good', 'bad'],
  });
  const all = [...some, "'c counted.sh'"];
  expect(runs(all, { resumes: true })).toMatchObject({
    code: 1,
    last: '9 passed, 1 failed, 2 skipped',
    ran: ['counted'],
  });
  expect(runs(all, { resumes: true, words: ['--only', 'a'] })).toMatchObject({
    code: 0,
    last: '3 passed, 0 failed',
    ran: [],
  });

  appendFileSync(join(root, '.ci/list'), 'a change\n');
  const changed = runs(all, { resumes: true, words: ['--only', 'a'] });
  expect(changed).toMatchObject({ last: '3 passed, 0 failed', ran: ['install', 'types', 'good'] });
  expect(changed.out).toMatch(
    new RegExp(`\\| c \\| passed at ${git('rev-parse', '--short', 'HEAD').trim()} \\| .*\\| 2 \\|`),
  );
  expect(runs([...all, "'d good.sh'"], { resumes: true, words: ['--only', 'a'] }).out).toContain('| d | not run |');
});

test('a failure is not undone by a later pass: --again adds a run, and both are in the table', () => {
  const checks = [...NEEDED, "'a flaky.sh'"];
  expect(runs(checks, { resumes: true })).toMatchObject({ code: 1, last: '2 passed, 1 failed' });
  const again = runs(checks, { resumes: true, words: ['--again', 'a'] });
  expect(again).toMatchObject({ code: 1, last: '2 passed, 1 failed', ran: ['flaky'] });
  expect(again.out).toContain('| a | failed; runs: failed passed |');
});

test('what needs the installation runs it again when what it makes has gone', () => {
  const checks = [...NEEDED, "'a good.sh'"];
  runs(checks, { resumes: true });
  rmSync(join(root, 'node_modules'), { recursive: true });
  expect(runs(checks, { resumes: true, words: ['--only', 'a'] }).ran).toEqual(['install']);
});

test('the page has commit, machine, Node and a row for each check, and committing it runs nothing again', () => {
  const checks = [...NEEDED, "'a good.sh'", "'b good.sh'"];
  runs(checks, { resumes: true, words: ['--page'] });
  const page = readFileSync(join(root, 'evidence/page.md'), 'utf8');
  expect(page).toMatch(
    new RegExp(`^Commit ${git('rev-parse', '--short', 'HEAD').trim()}, \\d{4}-\\d\\d-\\d\\d\\.$`, 'm'),
  );
  expect(page).toContain(`Node ${process.version}`);
  expect(page.match(/^\| \S+ \| passed \|/gm)).toHaveLength(4);
  git('add', '--all');
  git('commit', '--quiet', '--message', 'the page');
  expect(runs(checks, { resumes: true }).ran).toEqual([]);
});

test('an unknown option, an unknown check and a line that is no check are refused by name', () => {
  expect(runs(["'a good.sh'"], { words: ['--fast'] }).last).toContain('--fast: unknown option');
  expect(runs(["'a good.sh'"], { words: ['--only', 'b'] }).last).toMatch(/^--only: expected a name of .*, found b$/);
  expect(runs(["'a good'"])).toMatchObject({ code: 2, ran: [] });
});

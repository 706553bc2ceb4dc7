/** Plants each edit of the table into the built program as the tests load it, and demands that its test fails with it and passes without. */
import { mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { JsxEmit, ModuleKind, ScriptTarget, transpileModule } from 'typescript';
import { startVitest, type TestModule, type Vite } from 'vitest/node';
import { EDITS, type Edit } from './edits.ts';

const ROOT = process.cwd();
const AS_IT_IS = 'as it is';
/** A test that fails with one of these tells of an edit that is no program, not of a bug that was found. */
const NO_FINDING = /^(ReferenceError|SyntaxError)/;

/** Memory where there is room, as in vitest.config.js: one of the tests alone syncs 31,000 times, which a busy disk takes minutes for. */
const SHM = '/dev/shm';
function isRoomy(): boolean {
  try {
    const { bavail, bsize } = statfsSync(SHM);
    return bavail * bsize > 2e9;
  } catch {
    return false;
  }
}
const TMPDIR = mkdtempSync(join(process.env['TMPDIR'] ?? (isRoomy() ? SHM : tmpdir()), 'puntas-planted-'));

/** `--part 1/2` runs every second edit from the first, `--part 2/2` the others. Other arguments select edits by name. */
const part = process.argv[2] === '--part' ? /^([1-9])\/([1-9])$/.exec(process.argv[3] ?? '') : undefined;
const [, which = '1', of = '1'] = part ?? [];
if (part === null || Number(which) > Number(of))
  throw new Error(`--part: expected a part like 1/2, found ${process.argv[3] ?? 'nothing'}`);
const wanted = process.argv.slice(part === undefined ? 2 : 4);
const edits = EDITS.filter(
  ({ name }, i) =>
    i % Number(of) === Number(which) - 1 && (wanted.length === 0 || wanted.some(words => name.includes(words))),
);

/** Where the text to replace begins; says what is wrong when it is not there exactly once. */
function placeOf({ name, file, from }: Edit, code: string): number {
  const parts = code.split(from).length - 1;
  if (parts !== 1)
    throw new Error(
      `planted "${name}": expected its text once in ${file}, found it ${parts} times: bring test/planted/edits.ts up to date with the code`,
    );
  return code.indexOf(from);
}

/** Returns the arguments of a process that has the edit in its built program; the tree itself is never touched. */
function withEdit(edit: Edit, n: number): readonly string[] {
  const text = readFileSync(join(ROOT, edit.file), 'utf8');
  const at = placeOf(edit, text);
  const { outputText } = transpileModule(text.slice(0, at) + edit.to + text.slice(at + edit.from.length), {
    fileName: edit.file,
    compilerOptions: {
      target: ScriptTarget.ES2023,
      module: ModuleKind.ES2022,
      jsx: JsxEmit.ReactJSX,
      jsxImportSource: 'preact',
      verbatimModuleSyntax: true,
      rewriteRelativeImportExtensions: true,
    },
  });
  const code = join(TMPDIR, `edited-${n}.js`);
  writeFileSync(code, outputText);
  const hook = pathToFileURL(join(ROOT, 'dist/test/planted/editedFile.js'));
  hook.searchParams.set('file', pathToFileURL(join(ROOT, 'dist', edit.file.replace(/tsx?$/, 'js'))).href);
  hook.searchParams.set('code', code);
  return ['--import', hook.href];
}

for (const edit of edits) placeOf(edit, readFileSync(join(ROOT, edit.file), 'utf8'));

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const { builtProgram } = (await import(pathToFileURL(join(ROOT, 'vitest.config.js')).href)) as {
  readonly builtProgram: Vite.Plugin;
};
const inProject = (name: string, include: readonly string[], execArgv: readonly string[]) => ({
  plugins: [builtProgram],
  root: ROOT,
  test: {
    name,
    include: [...new Set(include)],
    server: { deps: { external: [/\/dist\/(src|strategies|backtest)\//] } },
    // As for these tests in the project of many.
    testTimeout: 300_000,
    hookTimeout: 180_000,
    retry: 0,
    execArgv: [...execArgv],
    env: { PUNTAS_TEST_MANY: 'true', TMPDIR },
  },
});
const vitest = await startVitest(
  'test',
  [],
  {
    config: false,
    root: ROOT,
    watch: false,
    maxWorkers: 2,
    reporters: [{}],
    testNamePattern: `(${edits.map(({ title }) => escaped(title)).join('|')})$`,
    projects: [
      inProject(
        AS_IT_IS,
        edits.map(({ test }) => test),
        [],
      ),
      ...edits.map((edit, n) => inProject(edit.name, [edit.test], withEdit(edit, n))),
    ],
  },
  {},
);
const modules = vitest.state.getTestModules();

/** What became of an edit's test in one project: null when it passed, its message when it failed. Throws when it did not run. */
function resultOf(project: string, { name, test, title }: Edit): string | null {
  const found = modules.find(module => module.project.name === project && module.moduleId === join(ROOT, test));
  const [broken] = found?.errors() ?? [];
  if (!found || broken)
    throw new Error(`planted "${name}": ${test} could not be loaded: ${broken?.message ?? 'no such file'}`);
  return outcomeOf(found, name, title);
}

function outcomeOf(module: TestModule, name: string, title: string): string | null {
  // A law for several strategies is a test of one name for each.
  const results = [...module.children.allTests()].filter(test => test.name === title).map(test => test.result());
  const failed = results.find(({ state }) => state === 'failed');
  if (failed === undefined && !results.some(({ state }) => state === 'passed'))
    throw new Error(`planted "${name}": expected a test called "${title}" in ${module.moduleId}, found none`);
  return failed === undefined ? null : messageOf(failed.errors?.[0]);
}

/** On one line; of a property its counterexample and why. */
function messageOf(error: { readonly name?: string; readonly message: string; readonly cause?: unknown } | undefined) {
  const cause = error?.cause instanceof Error || typeof error?.cause === 'object' ? error.cause : null;
  const { name = 'Error', message } = (cause as { name?: string; message: string } | null) ?? error ?? { message: '' };
  return `${name}: ${message}`.replace(/\u001b\[\d+m/g, '').replace(/\s+/g, ' ');
}

/** Empty when the edit was found. */
function flawOf(edit: Edit): string {
  try {
    const before = resultOf(AS_IT_IS, edit);
    if (before !== null) return `its test fails without it: ${before}`;
    const after = resultOf(edit.name, edit);
    if (after === null) return `"${edit.title}" in ${edit.test} passes with it`;
    if (NO_FINDING.test(after)) return `it is no program: ${after}`;
    console.log(`found: ${edit.name}: ${after.slice(0, 160)}`);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const flaws = edits.flatMap(edit => {
  const flaw = flawOf(edit);
  return flaw === '' ? [] : [`NOT FOUND: ${edit.name}: ${flaw}`];
});
for (const flaw of flaws) console.error(flaw);
console.log(JSON.stringify({ planted: edits.length, found: edits.length - flaws.length }));
await vitest.close();
rmSync(TMPDIR, { recursive: true, force: true });
process.exit(flaws.length === 0 && edits.length > 0 ? 0 : 1);

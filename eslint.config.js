// Lint rules of this project: no clock, dice, timer or network outside the files that own them. General rules, with types, are in .oxlintrc.json.
import * as parser from '@typescript-eslint/parser';

// Node 20 forgets a timeout inside AbortSignal.any when memory is collected.
const lostDeadline = {
  object: 'AbortSignal',
  property: 'any',
  message: 'A timeout in it is lost; use OpenRequests of src/guard.',
};
const outsideWorld = [
  { object: 'Date', property: 'now', message: 'Take the time from the injected Clock.' },
  { object: 'performance', property: 'now', message: 'Take the time from the injected Clock.' },
  { object: 'Math', property: 'random', message: 'Take randomness from the injected Random.' },
  { object: 'crypto', property: 'randomUUID', message: 'Take randomness from the injected Random.' },
  { object: 'process', property: 'hrtime', message: 'Take the time from the injected Clock.' },
];

// A failed write to either of them may end a process, and a full pipe may stop it.
const outputOnly = {
  selector:
    'MemberExpression[object.name="process"]:matches([property.name=/^(stdout|stderr)$/], [property.value=/^(stdout|stderr)$/]), VariableDeclarator[init.name="process"] Property[key.name=/^(stdout|stderr)$/]',
  message: 'Print through src/cli/terminal/output.ts, or take a function that prints.',
};
// A pipe under a file's name waits for ever, and a large file fills the memory.
const bounded =
  'Read files through guard/files.ts and bodies through guard/body.ts: regular files only, up to a maximum.';
const wholeFiles = name => ({ name, importNames: ['readFile', 'readFileSync'], message: bounded });
// With `recursive`, it never returns in /proc, where a folder that exists is reported as missing.
const folders = name => ({
  name,
  importNames: ['mkdir', 'mkdirSync'],
  message: 'Make folders through makeFolder of guard/folders.ts: a recursive mkdir may never return.',
});
const unboundedReads = [
  // What is opened for reading by a path; of a folder only, to sync it.
  "CallExpression[callee.name=/^open(Sync)?$/][arguments.1.value='r']:not([arguments.0.name=/^(dir|folder)$/])",
  // The body of an answer as a whole.
  'CallExpression[callee.property.name=/^(text|json|arrayBuffer|blob|bytes|formData)$/][callee.object.name=/^(answer|response|body)$/]',
  "CallExpression[callee.property.name=/^(text|json|arrayBuffer|blob|bytes|formData)$/][callee.object.property.name='body']",
].map(selector => ({ selector, message: bounded }));

// A time limit says that something hangs, never that it is slow: a busy machine needs ten times as long. That of the project is enough.
const SHORT = '[value<180000]';
const shortTimeouts = [
  `CallExpression[callee.name=/^(test|it|(before|after)(All|Each))$/] > Literal${SHORT}`,
  `CallExpression[callee.callee.property.name=/^(each|runIf|skipIf)$/] > Literal${SHORT}`,
  `CallExpression > ObjectExpression.arguments:nth-child(2) > Property[key.name='timeout'] > Literal${SHORT}`,
].map(selector => ({ selector, message: 'Leave the time limit to vitest.config.js, or take a longer one.' }));

/** After another object takes the place of process.env, stubs are set on it and removed from the first one. */
const otherEnvironment = {
  selector: "AssignmentExpression[left.object.name='process'][left.property.name='env']",
  message: 'process.env is one object for all test files of a worker: use vi.stubEnv and vi.unstubAllEnvs.',
};

// fc.double draws by the exponent: of its numbers between 0 and 1, 97% are below 1e-10.
const unevenDraws = [':not([value.type="Literal"])', '[value.value=0]'].map(min => ({
  selector: `CallExpression[callee.object.name='fc'][callee.property.name=/^(double|float)$/] > ObjectExpression > Property[key.name='min']${min}`,
  message: 'Draw with between of test/draws.ts: fc.double between these bounds draws almost only numbers near 0.',
}));

export default [
  { ignores: ['website/', 'dist/', 'coverage/', 'node_modules/', '*.js', 'bin/', 'config/'] },
  {
    files: ['**/*.ts'],
    languageOptions: { parser },
    linterOptions: { reportUnusedDisableDirectives: 'off' },
    rules: { 'no-restricted-properties': ['error', lostDeadline] },
  },
  {
    files: ['src/**/*.ts', 'strategies/**/*.ts', 'backtest/**/*.ts'],
    // The page's script runs in a browser.
    ignores: ['src/guard/files.ts', 'src/guard/folders.ts', 'src/console/page/**', 'src/cli/terminal/output.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        { paths: ['node:fs', 'node:fs/promises'].flatMap(name => [wholeFiles(name), folders(name)]) },
      ],
      'no-restricted-syntax': ['error', outputOnly, ...unboundedReads],
      'no-console': 'error',
    },
  },
  { files: ['test/**/*.ts'], rules: { 'no-restricted-syntax': ['error', ...unevenDraws, otherEnvironment] } },
  {
    files: ['test/**/*.test.ts'],
    rules: { 'no-restricted-syntax': ['error', ...shortTimeouts, ...unevenDraws, otherEnvironment] },
  },
  {
    files: ['src/guard/files.ts', 'src/guard/folders.ts', 'src/console/page/**/*.ts'],
    rules: { 'no-console': 'error', 'no-restricted-syntax': ['error', outputOnly] },
  },
  {
    files: ['src/**/*.ts', 'strategies/**/*.ts', 'backtest/**/*.ts'],
    ignores: [
      'src/main.ts',
      'src/live/realClock.ts',
      'src/core/ports/virtualClock.ts',
      'src/guard/openRequests.ts',
      'src/alerts/**',
      'src/app/**',
      'src/cli/**',
      'src/messages/**',
      'src/wiring/**',
      'backtest/app/**',
      'backtest/commands/**',
    ],
    rules: {
      'no-restricted-properties': ['error', lostDeadline, ...outsideWorld],
      'no-restricted-globals': ['error', 'setTimeout', 'setInterval', 'setImmediate', 'fetch', 'performance'],
    },
  },
];

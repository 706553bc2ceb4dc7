import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse, parseDocument, stringify } from 'yaml';
import { amount, silenceReason, type Instrument, type Quote, type View } from '../../src/core/index.ts';
import { digestOfYaml } from '../../src/app/promote/tunedEvidence.ts';
import { configOf } from '../../backtest/app/tune/parameters.ts';
import { reloadDigestOf } from '../../src/app/run/reloading.ts';
import { configChanges, loadConfig, recordedConfig, strategyHashIn, type Config } from '../../src/config.ts';
import { readConfig, readTradedConfig, readTradedText, shippedConfig } from '../../src/wiring/configFile.ts';
import { movePaths } from '../../src/wiring/movedPaths.ts';
import { guarded } from '../../strategies/guarded.ts';
import { definitionIn, kindOf, strategyFileOf, type StrategyCode } from '../../strategies/index.ts';
import { silent } from '../../strategies/quoteLevels.ts';
import { ToyExchange } from '../core/toyExchange.ts';
import { plain } from '../core/market.ts';
import { instrument, viewOf } from './examples.ts';
import { changedOwn, folderWith, OWN_STRATEGY, quotingBy } from './ownFile.ts';

/** Lines that refuse a configuration, without the path and place of the YAML file. */
function errorsOf(code: string, keys?: object): readonly string[] {
  const { yaml } = folderWith(code, keys);
  try {
    readTradedConfig(yaml);
  } catch (error) {
    return (error as Error).message.split('\n').map(line => line.replace(/^.*?bot\.yaml:\d+:\d+ /, ''));
  }
  return [];
}

const strategyOf = (config: Config) => kindOf(config.strategy).make(config.strategy, instrument);
const madeFrom = (code: string) => strategyOf(readTradedConfig(folderWith(code).yaml));

describe('a strategy file', () => {
  test('in TypeScript, in a folder without packages, quotes with its own parameters', () => {
    const config = readTradedConfig(folderWith(OWN_STRATEGY, { takerBps: 5 }).yaml);
    expect(config.strategy).toMatchObject({ file: './own.ts', code: OWN_STRATEGY, takerBps: 5, levelSpacingBps: 10 });
    const strategy = strategyOf(config);
    const before = strategy.quote(viewOf());
    strategy.trade!({ at: 1, price: viewOf().lastTrade, amount: amount(1), side: 'buy' });
    const after = strategy.quote(viewOf());
    // 5 bps of 150,000 ticks.
    expect(after.bids[0]!.price - before.bids[0]!.price).toBeCloseTo(75, 0);
    expect([before.bids.length, before.asks.length]).toEqual([2, 2]);
  });

  test('in JavaScript, with all names of the module under one, quotes too', () => {
    const code = `import * as puntas
  from "puntas/strategy";
export default puntas.defineStrategy({
  contract: 1,
  parameters: puntas.z.object({ amount: puntas.aboveZero }),
  make: () => ({ quote: () => puntas.silent('no wish') }),
});`;
    expect(
      strategyOf(readTradedConfig(folderWith(code, { halfSpreadBps: undefined, levels: undefined }).yaml)).quote(
        viewOf(),
      ),
    ).toMatchObject({ noBid: 'no wish' });
  });

  test('has a name with its file and the hash of its text, and another text is a change of the configuration', () => {
    const { dir, yaml } = folderWith(OWN_STRATEGY);
    const before = readTradedConfig(yaml);
    expect(before.strategy.name).toMatch(/^own\.ts@[0-9a-f]{12}$/);
    writeFileSync(join(dir, 'own.ts'), `${OWN_STRATEGY}\n`);
    const after = readTradedConfig(yaml);
    expect(configChanges(before, after)).toEqual([
      {
        key: 'strategy.name',
        from: JSON.stringify(before.strategy.name),
        to: JSON.stringify(after.strategy.name),
        takesEffect: 'reload',
      },
    ]);
  });

  test('is part of the record of a run, whose replay quotes what was recorded and has no code', () => {
    const config = readTradedConfig(folderWith(OWN_STRATEGY).yaml);
    const recorded = recordedConfig(JSON.stringify(config));
    const { code: _, ...kept } = config.strategy as StrategyCode;
    expect(recorded.strategy).toEqual(kept);
    expect('code' in recorded.strategy).toBe(false);
    expect(kindOf(recorded.strategy).tolerance(recorded.strategy)).toEqual(
      kindOf(config.strategy).tolerance(config.strategy),
    );
    const [own, replayed] = [strategyOf(config), strategyOf(recorded)];
    const quote = own.quote(viewOf());
    expect(replayed.quote(viewOf()).noBid).toBe('the recording has no quote of the strategy file yet');
    replayed.quoteLog!.give(JSON.parse(JSON.stringify(own.quoteLog!.take())) as Quote[]);
    expect(replayed.quote(viewOf())).toEqual(quote);
    expect(replayed.quote(viewOf())).toEqual(quote);
  });

  test('starts its variables anew for each strategy', () => {
    const code = quotingBy("count += 1; return silent('quote ' + count);").replace(
      'type Flow',
      'let count = 0;\ntype Flow',
    );
    const config = readTradedConfig(folderWith(code).yaml);
    const [one, other] = [strategyOf(config), strategyOf(config)];
    expect([one, one, other].map(strategy => strategy.quote(viewOf()).noBid)).toEqual([
      'quote 1',
      'quote 2',
      'quote 1',
    ]);
  });
});

test('an unknown key of a section with a strategy file gets the keys that the file can have', () => {
  expect(errorsOf(OWN_STRATEGY, { zzzz: 1 })).toEqual([
    expect.stringMatching(/^strategy\.zzzz: unknown key; known keys: (?:\w+, )*takerBps, file, historyTape, sha256$/),
  ]);
  for (const key of ['code', 'tolerance', 'name'])
    expect(errorsOf(OWN_STRATEGY, { zzzz: 1 })[0]).not.toMatch(new RegExp(`\\b${key}\\b`));
  expect(errorsOf(OWN_STRATEGY, { takerBp: 1 })).toEqual(['strategy.takerBp: unknown key; did you mean takerBps?']);
});

describe('a fault of a strategy file is one line that says what was expected, what was found, and where', () => {
  const faults: readonly (readonly [name: string, code: string, line: string | RegExp])[] = [
    [
      'a syntax error',
      changedOwn('type Flow =', 'type Flow'),
      /^strategy\.file: \.\/own\.ts:5:\d+: .*; correct the syntax$/,
    ],
    [
      'an enum',
      changedOwn('type Flow', 'enum Way { up }\ntype Flow'),
      'strategy.file: ./own.ts:5:1: TypeScript enum is not supported in strip-only mode; correct the syntax',
    ],
    [
      'await at the top',
      changedOwn('const parameters', 'await 1;\nconst parameters'),
      /^strategy\.file: \.\/own\.ts:7: await is only valid.*; correct the syntax$/,
    ],
    [
      'an error at load',
      changedOwn('const parameters', "throw new Error('no luck');\nconst parameters"),
      'strategy.file: ./own.ts:7: threw at load: no luck; correct the file',
    ],
    [
      'an import of a further file',
      changedOwn('import type {', "import { x } from './other.ts';\nimport type {"),
      /^strategy\.file: \.\/own\.ts:3: expected imports of puntas\/strategy only, found \.\/other\.ts; a strategy is one file/,
    ],
    [
      'an import of a package',
      changedOwn('import type {', "import { z as y } from 'zod';\nimport type {"),
      /:3: expected imports of puntas\/strategy only, found zod;/,
    ],
    [
      'a computed import',
      changedOwn('type Flow', "void import('./other.ts');\ntype Flow"),
      /:5: expected imports of puntas\/strategy only, found \.\/other\.ts;/,
    ],
    [
      'an import of a default',
      changedOwn('import type {', "import puntas from 'puntas/strategy';\nimport type {"),
      /:3: expected import \{ NAME, .* puntas\/strategy has no default export$/,
    ],
    [
      'import.meta',
      changedOwn('type Flow', 'const here = import.meta.url;\ntype Flow'),
      /:5: import\.meta does not exist in a strategy file; remove it/,
    ],
    [
      'an unknown name of the module',
      changedOwn('fairSteps,', 'fairStep,'),
      /own\.ts:\d+: threw at load: puntas\/strategy has no value fairStep; correct the name, or write type fairStep/,
    ],
    [
      'no export',
      changedOwn('export default defineStrategy', 'const own = defineStrategy'),
      'strategy.file: ./own.ts: expected a strategy as the default export, found nothing; write export default defineStrategy({ … })',
    ],
    [
      'another export',
      changedOwn('const parameters', 'export const parameters'),
      /:7: expected one export, export default defineStrategy/,
    ],
    [
      'an export that is a function',
      changedOwn(/defineStrategy\(\{[^]*/, 'quoting;'),
      /expected a strategy as the default export, found a function;/,
    ],
    [
      'no contract',
      changedOwn('contract: 1, ', ''),
      './own.ts: expected contract: 1, found nothing; this Puntas runs strategies of contract 1 only',
    ],
    [
      'a later contract',
      changedOwn('contract: 1', 'contract: 2'),
      './own.ts: expected contract: 1, found 2; this Puntas runs strategies of contract 1 only',
    ],
    [
      'parameters that are no schema',
      changedOwn('parameters, make', 'parameters: { amount: 1 }, make'),
      /parameters: expected a zod object, found another object;/,
    ],
    [
      'parameters without an amount',
      changedOwn('...spreadParameters,', ''),
      /parameters: expected the key amount, found "takerBps"; add amount: aboveZero/,
    ],
    [
      'a parameter with the name of a fixed key',
      changedOwn('takerBps: z', 'file: z.string(), takerBps: z'),
      /parameters: file is a reserved key of strategy files; rename the parameter/,
    ],
    ['no make', changedOwn('make: quoting', 'make: 3'), /make: expected a function, found 3;/],
    [
      'parameters that JSON cannot hold',
      changedOwn('takerBps: z.number().min(0).max(50).default(2)', 'takerBps: z.number().default(2).transform(BigInt)'),
      /expected a file whose parameters are JSON values after the check/,
    ],
    [
      'a check of parameters that throws',
      changedOwn('.default(2)', '.default(2).refine(() => { throw new Error("oh"); })'),
      /^strategy\.file: \.\/own\.ts: oh$/,
    ],
    [
      'a check of limits that throws',
      changedOwn('contract: 1', 'contract: 1, limitProblems: () => { throw new Error("oh"); }'),
      'strategy.file: ./own.ts: limitProblems failed: oh; correct the file',
    ],
    [
      'a tolerance without numbers',
      changedOwn('contract: 1', 'contract: 1, tolerance: () => ({})'),
      /function tolerance returns priceBps, amountShare and maxAgeMs/,
    ],
    [
      'too long',
      `${OWN_STRATEGY}//${'x'.repeat(70_000)}`,
      /expected at most 65536 characters, found \d+; shorten the file/,
    ],
  ];

  test.each(faults)('%s', (_, code, line) => {
    const errors = errorsOf(code);
    expect(errors.length).toBe(1);
    expect(errors[0]).toMatch(line);
  });

  test('a missing file, a folder, a name next to the file, and an unknown key', () => {
    expect(errorsOf(OWN_STRATEGY, { file: './none.ts' })[0]).toMatch(
      /^strategy\.file: \.\/none\.ts: no such file; expected a strategy file, relative to the folder/,
    );
    expect(errorsOf(OWN_STRATEGY, { file: '.' })[0]).toMatch(
      /^strategy\.file: \.: a folder, expected a file; expected a strategy file, relative to the folder/,
    );
    expect(errorsOf(OWN_STRATEGY, { file: 7 })).toEqual(['strategy.file: expected a path like "./my-strategy.ts"']);
    expect(errorsOf(OWN_STRATEGY, { name: 'ladder' })).toEqual([
      'strategy.name: a strategy has a name or a file; remove one of these two keys',
    ]);
    expect(errorsOf(OWN_STRATEGY, { code: 'x' })).toEqual(['strategy.code: unknown key; remove it']);
    expect(errorsOf(OWN_STRATEGY, { takerBp: 3 })).toEqual(['strategy.takerBp: unknown key; did you mean takerBps?']);
    expect(errorsOf(OWN_STRATEGY, { takerBps: 99 })).toEqual(['strategy.takerBps: expected at most 50, found 99']);
    expect(errorsOf(OWN_STRATEGY, { levels: 20 })[0]).toMatch(/^strategy\.amount: the amounts of 20 levels/);
  });

  test('and further errors of the YAML are reported with it', () => {
    const { dir, yaml } = folderWith(changedOwn('contract: 1', 'contract: 9'));
    writeFileSync(join(dir, 'bot.yaml'), readFileSync(yaml, 'utf8').replace('instance:', 'instanc:'));
    expect(() => readTradedConfig(yaml)).toThrow(/contract: 1, found 9[^]*instanc|instanc[^]*contract: 1, found 9/);
  });
});

test.each([
  ['sets', 'globalThis.mine = 1'],
  ['sets by another name', 'global.mine = 1'],
  ['sets of itself', 'globalThis.globalThis.mine = 1'],
  ['replaces', 'globalThis.Math = {}'],
  ['defines', "Object.defineProperty(globalThis, 'mine', { value: 1 })"],
  ['assigns', 'Object.assign(globalThis, { mine: 1 })'],
  ['deletes', 'delete globalThis.Math'],
])(
  'a file that %s a property of globalThis is told to keep its memory in make: all backtests would share it',
  (_, line) => {
    const code = changedOwn('type Flow', `${line};\ntype Flow`);
    expect(() => definitionIn(strategyFileOf('./own.ts', code))).toThrow(
      /own\.ts:\d+: threw at load: this file cannot set globalThis\.\w+; keep its memory in the variables of make/,
    );
    expect([typeof Math.max, 'mine' in globalThis]).toEqual(['function', false]);
  },
);

test('a file reads the globals of Node, and by globalThis gets what it gets by name', () => {
  const lines = [
    "if ((globalThis as any).Math.max(1, 2) !== 2 || (globalThis as any).structuredClone([7])[0] !== 7) throw new Error('no');",
    "if ((globalThis as any).process !== process || (globalThis as any).setTimeout !== setTimeout) throw new Error('other');",
  ];
  const code = changedOwn('type Flow', `declare const setTimeout: unknown; ${lines.join(' ')}\ntype Flow`);
  expect(definitionIn(strategyFileOf('./own.ts', code)).parameters).toBeDefined();
});

test('a parameter of a file may have the old name of a key of a shipped strategy', () => {
  const code = OWN_STRATEGY.replaceAll('takerBps', 'leanBps');
  const sandbox = parse(readFileSync(shippedConfig('sandbox'), 'utf8')) as object;
  const strategy = { file: './own.ts', amount: '0.01', halfSpreadBps: 30, leanBps: 3 };
  const loaded = loadConfig(stringify({ ...sandbox, strategy }), 'my.yaml', undefined, {
    isRun: true,
    read: () => code,
  });
  expect(loaded.ok ? loaded.warnings : loaded.errors).toEqual([]);
});

/** Descriptors of all members of the objects of the language in this process, by path. */
function intrinsics(): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>();
  const seen = new Set<unknown>();
  const walk = (path: string, one: unknown): void => {
    if ((typeof one !== 'object' && typeof one !== 'function') || one === null || seen.has(one)) return;
    seen.add(one);
    for (const key of Reflect.ownKeys(one)) {
      const { value, get, set } = Reflect.getOwnPropertyDescriptor(one, key) as {
        readonly [member in 'value' | 'get' | 'set']: unknown;
      };
      const at = `${path}.${String(key)}`;
      found
        .set(`${at} value`, typeof value === 'object' ? null : value)
        .set(`${at} get`, get)
        .set(`${at} set`, set);
      walk(at, value);
    }
  };
  for (const name of [
    'Object',
    'Array',
    'Function',
    'Math',
    'JSON',
    'Number',
    'String',
    'Promise',
    'Map',
    'Error',
    'Date',
  ])
    walk(name, Reflect.get(globalThis, name));
  return found;
}

describe('what a file does to the objects of the language', () => {
  const WAYS: readonly string[] = [
    "Object.defineProperty(Object.prototype, 'price', { get() { return 5; }, configurable: true });",
    'Math.floor = () => 1;',
    '(Array.prototype as any).map = () => [];',
    "JSON.stringify = (() => '{}') as never;",
    'Number.isFinite = (() => true) as never;',
    'Promise.prototype.then = (() => undefined) as never;',
    "(Error.prototype as any).message = 'mine';",
    '(Function.prototype as any).call = () => 7;',
    '(globalThis as any).Map = Array;',
    'for (const key of Object.getOwnPropertyNames(Math)) delete (Math as any)[key];',
  ];

  test.each(WAYS)('stays in the file: %s', way => {
    const before = intrinsics();
    const code = changedOwn('const flow', `(Object.prototype as any).mine = true; try { ${way} } catch {} const flow`);
    const { make, parameters } = definitionIn(strategyFileOf('./own.ts', code));
    const values = parameters.parse({ amount: '0.01', halfSpreadBps: 30 });
    expect(typeof make(values as never, instrument).quote).toBe('function');
    expect(intrinsics()).toEqual(before);
    // Nor does another file see it.
    const other = changedOwn('const flow', "if ('mine' in {}) throw new Error('shared'); const flow");
    expect(typeof definitionIn(strategyFileOf('./own.ts', other)).make(values as never, instrument).quote).toBe(
      'function',
    );
  });
});

/** Counts each evaluation of a file that has this line. */
const COUNTED = '(globalThis as any).ownRuns.count += 1;\n';
const ownRuns = { count: 0 };
Object.assign(globalThis, { ownRuns });
const runs = (): number => ownRuns.count;

describe('no code is run', () => {
  const code = changedOwn('type Flow', `${COUNTED}type Flow`);

  test('but that of a file: a key with code in the YAML, next to whatever other keys, is refused by name', () => {
    const before = runs();
    const sandbox = parse(readFileSync(shippedConfig('sandbox'), 'utf8')) as { readonly strategy: object };
    const keys = fc.record(
      {
        name: fc.constantFrom('ladder', 'own.ts', 'own.ts@0123456789ab'),
        file: fc.constantFrom('./own.ts', 'own.ts'),
        code: fc.constant(code),
        tolerance: fc.constant({ priceBps: 1, amountShare: 1, maxAgeMs: 1 }),
        sha256: fc.constantFrom('0'.repeat(64), strategyFileOf('./own.ts', code).sha256),
        amount: fc.constant('0.01'),
        halfSpreadBps: fc.constant(16),
        parameters: fc.constant({ code }),
      },
      { requiredKeys: ['code'] },
    );
    const isRun = fc.boolean();
    fc.assert(
      fc.property(keys, isRun, (strategy, run) => {
        const read = () => '// a file without a strategy';
        const loaded = loadConfig(stringify({ ...sandbox, strategy }), 'my.yaml', undefined, { isRun: run, read });
        expect(loaded.ok).toBe(false);
        const own = loadConfig(
          stringify({ ...sandbox, strategy: { ...sandbox.strategy, ...strategy, name: 'ladder', file: undefined } }),
          'my.yaml',
        );
        expect(own.ok ? '' : own.errors.join('\n')).toMatch(/strategy\.code: unknown key/);
      }),
      { numRuns: 100 },
    );
    expect(configOf(stringify({ ...sandbox, strategy: { file: './own.ts', amount: '1', code } }))).toMatch(
      /strategy\.code: unknown key/,
    );
    expect(runs()).toBe(before);
    expect(readTradedConfig(folderWith(code).yaml).strategy.name).toMatch(/^own\.ts@/);
    expect(runs()).toBe(before + 1);
  });

  test('by a command that only shows or stops a bot: it reads its configuration even if the file is missing or wrong', () => {
    const { dir, yaml } = folderWith('for (;;);');
    expect(readConfig(yaml).strategy).toMatchObject({ file: './own.ts', amount: '0.006' });
    expect(readConfig(yaml).strategy.name).toMatch(/^own\.ts@[0-9a-f]{12}$/);
    expect('code' in readConfig(yaml).strategy).toBe(false);
    writeFileSync(join(dir, 'own.ts'), 'no (code');
    expect(readConfig(yaml).state.dir).toBe(join(dir, 'state'));
    rmSync(join(dir, 'own.ts'));
    const { strategy } = readConfig(yaml);
    expect(strategy.name).toBe('own.ts@unread');
    expect(kindOf(strategy).make(strategy, instrument).quote(viewOf()).bids).toEqual([]);
  });

  test('only commands that trade, and the workers and judges that replay, may read a configuration to run it', () => {
    const files = ['src', 'backtest'].flatMap(folder =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter(path => path.endsWith('.ts'))
        .map(path => join(folder, path)),
    );
    const having = (pattern: RegExp) => files.filter(path => pattern.test(readFileSync(path, 'utf8'))).sort();
    expect(having(/readTraded(?:Config|Text)|tradedConfigOfText/)).toEqual([
      'backtest/app/compare/compareSetups.ts',
      'backtest/app/promote/checkStage.ts',
      'backtest/app/tune/study.ts',
      // Several books; with --no-strategy-files, every file is refused.
      'backtest/commands/backtest.ts',
      'backtest/commands/recordings.ts',
      'src/app/actions/strategyPreview.ts',
      'src/app/promote/candidate.ts',
      'src/cli/commands/source.ts',
      'src/cli/commands/trade.ts',
      'src/wiring/configFile.ts',
    ]);
    expect(having(/isRun: true|strategyFileOf\(|definitionIn\(/)).toEqual([
      'backtest/app/tune/parameters.ts',
      'backtest/app/tune/study.ts',
      // Only name and hash of a fill model.
      'backtest/commands/backtest.ts',
      'src/app/develop/checkStrategy.ts',
      'src/app/develop/strategyCheck.ts',
      // Only name and hash of a text.
      'src/app/promote/earlierStrategy.ts',
      'src/app/run/approvedStrategy.ts',
      'src/config/strategyFiles.ts',
    ]);
  });
});

describe('the key sha256', () => {
  const { sha256 } = strategyFileOf('./own.ts', OWN_STRATEGY);

  test('lets only the text with this hash run', () => {
    expect(errorsOf(OWN_STRATEGY, { sha256 })).toEqual([]);
    expect(errorsOf(`${OWN_STRATEGY}\n`, { sha256 })[0]).toMatch(
      /^strategy\.sha256: expected the SHA-256 [0-9a-f]{64}, found [0-9a-f]{64}: \.\/own\.ts is not the approved text;/,
    );
    expect(errorsOf(OWN_STRATEGY, { sha256: 'abc' })[0]).toMatch(/^strategy\.sha256: expected 64 hexadecimal digits/);
  });
});

describe('imports', () => {
  const imported = (clause: string, rest = OWN_STRATEGY): readonly string[] =>
    errorsOf(rest.replace(/^import \{ amountFloor.*$/m, clause));
  const all = 'amountFloor, defineStrategy, fairSteps, quoteAround as around, silent, spreadParameters, unknownIn, z';

  test.each([
    ['with comments', `import { /* a } as */ ${all}, // as x\n} from 'puntas/strategy';`],
    ['of a name called as', `import { ${all}, silent as as } from 'puntas/strategy';`],
    ['of one name under two', `import { ${all}, silent as $quiet, silent as größe } from 'puntas/strategy';`],
    [
      'of nothing',
      `import 'puntas/strategy'; import {} from 'puntas/strategy'; import { ${all} } from 'puntas/strategy';`,
    ],
  ])('%s are read', (_, clause) => {
    expect(imported(clause)).toEqual([]);
  });

  test('below the code that uses them count too, and all lines keep their numbers', () => {
    const line = `import {\n${all} }\nfrom 'puntas/strategy';`;
    const [, above] = /(import \{ amountFloor.*\n)/.exec(OWN_STRATEGY)!;
    const below = `${OWN_STRATEGY.replace(above!, '')}${line}\nthrow new Error('here');\n`;
    const at = below.split('\n').findIndex(text => text.startsWith('throw')) + 1;
    expect(errorsOf(below)).toEqual([`strategy.file: ./own.ts:${at}: threw at load: here; correct the file`]);
  });
});

test('an end of the process and an error of several lines at load are one line', () => {
  expect(errorsOf(changedOwn('type Flow', 'process.exit(0);\ntype Flow'))).toEqual([
    'strategy.file: ./own.ts:5: threw at load: this file cannot call process.exit; correct the file',
  ]);
  expect(errorsOf(changedOwn('type Flow', "throw new Error('a\\n\\u001b[2Jb');\ntype Flow"))).toEqual([
    'strategy.file: ./own.ts:5: threw at load: a [2Jb; correct the file',
  ]);
});

describe('while a bot runs', () => {
  /** Quote of a strategy whose file has this body of `quote`. */
  const quoteOf = (body: string) => madeFrom(quotingBy(body)).quote(viewOf());

  test('an error empties both sides until the strategy is made again, with a reason that names the file', () => {
    const code = quotingBy(
      "flow.share += 1; if (flow.share === 2) throw new Error('no luck'); return silent('fine ' + flow.share);",
    );
    const strategy = madeFrom(code);
    const texts = [1, 2, 3].map(() => strategy.quote(viewOf()).noBid);
    const failed = './own.ts:17 failed: no luck; correct the file, and reload it in a running bot';
    expect(texts).toEqual(['fine 1', failed, failed]);
    expect(silenceReason(failed)).toBe('held back by the strategy');
    expect(madeFrom(code).quote(viewOf()).noAsk).toBe('fine 1');
  });

  test('an error in the copy of a promotion has its line, and the short hash in its path', () => {
    const code = quotingBy("throw new Error('no luck');");
    const { sha256 } = strategyFileOf('own.ts', code);
    const section = { ...strategyFileOf(`my.promotions/files/${sha256}/own.ts`, code), amount: '1', halfSpreadBps: 16 };
    const strategy = kindOf(section).make(section, instrument);
    expect(strategy.quote(viewOf()).noBid).toBe(
      `my.promotions/files/${sha256.slice(0, 12)}/own.ts:17 failed: no luck; correct the file, and reload it in a running bot`,
    );
  });

  test('a promise is an error of its function, and its rejection does not end the process', async () => {
    const refused = (name: string) =>
      new RegExp(
        `failed: ${name} returned a promise, but must return its result at once, because the bot does not wait; remove`,
      );
    const rejecting = "async quote(view) { throw new Error('later'); }";
    const codes = {
      quote: quotingBy('').replace('quote(view) {  }', rejecting),
      trade: changedOwn(
        'trade: ({ side }) => void (',
        "trade: async ({ side }) => { throw new Error('later'); }, was: ({ side }: any) => void (",
      ),
      make: changedOwn('make: quoting', 'make: (async () => ({ quote: () => silent("x") })) as never'),
    };
    for (const [name, code] of Object.entries(codes)) {
      const strategy = madeFrom(code);
      strategy.trade?.({ at: 1, price: viewOf().lastTrade, amount: amount(1), side: 'buy' });
      expect(strategy.quote(viewOf()).noBid).toMatch(refused(name));
      expect(strategy.quoteLog?.failure).toMatch(refused(name));
    }
    // An unhandled rejection would fail this test.
    await new Promise(resolve => setTimeout(resolve, 1));
    for (const [name, result] of Object.entries({ warmup: '5', history: '5', tolerance: '({})', limitProblems: '[]' }))
      expect(errorsOf(changedOwn('contract: 1', `contract: 1, ${name}: (async () => ${result}) as never`))[0]).toMatch(
        new RegExp(`${name} returned a promise, but must`),
      );
  });

  test('a price far beyond the other side empties both sides with a reason, and one within 200 bps of it does not', () => {
    const at = 'const at = (price: number) => [{ price, amount: lots, why: [{ name: `x`, ticks: price }] }];';
    const bid = (share: number) =>
      quoteOf(`${at} return { bids: at(view.depth.askPrices[0]! * ${share}), asks: [], noAsk: 'none' };`);
    const ask = (share: number) =>
      quoteOf(`${at} return { bids: [], noBid: 'none', asks: at(view.depth.bidPrices[0]! * ${share}) };`);
    expect([bid(1.0199).bids.length, bid(1.0201).bids.length]).toEqual([1, 0]);
    expect([ask(0.9801).asks.length, ask(0.9799).asks.length]).toEqual([1, 0]);
    expect(bid(1.5).noAsk).toBe(
      './own.ts returned an invalid quote: bids[0].price: expected at most 200 bps above the best ask of the book, found 5000; correct the file, and reload it in a running bot',
    );
    expect(ask(0.5).failure).toContain('asks[0].price: expected at most 200 bps below the best bid of the book, found');
    // A price far away from the market is no danger; the collar refuses it.
    expect([bid(0.5).bids.length, ask(2).asks.length]).toEqual([1, 1]);
  });

  test('a call that would end the process empties both sides with a reason instead', () => {
    expect(quoteOf("process.exit(1); return silent('x');").noBid).toMatch(
      /^\.\/own\.ts:17 failed: this file cannot call process\.exit; correct the file/,
    );
    expect(quoteOf('const process = 3; return silent(`x ${process}`);').noBid).toBe('x 3');
    expect(quoteOf('return silent(process.version);').noBid).toBe(process.version);
    expect(madeFrom(changedOwn('type Flow', 'const process = 1;\ntype Flow')).quote(viewOf()).bids.length).toBe(2);
  });

  test.each(['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'process.nextTick'])(
    'a call of %s, which could freeze the bot later, empties both sides, and is refused at load',
    name => {
      expect(quoteOf(`${name}(() => undefined); return silent('x');`).noBid).toMatch(
        `./own.ts:17 failed: this file cannot call ${name}; correct the file`,
      );
      expect(errorsOf(changedOwn('type Flow', `${name}(() => undefined);\ntype Flow`))).toEqual([
        `strategy.file: ./own.ts:5: threw at load: this file cannot call ${name}; correct the file`,
      ]);
      const own = name.split('.').at(-1)!;
      expect(quoteOf(`const ${own} = 3; return silent(String(${own}));`).noBid).toBe('3');
      expect(quoteOf(`return silent(typeof ${name});`).noBid).toBe('function');
    },
  );

  test('it learns for the time of its warm-up without a quote, and says how long', () => {
    const code = changedOwn('contract: 1', 'contract: 1, warmup: p => 1_000 * p.takerBps');
    const strategy = strategyOf(readTradedConfig(folderWith(code, { takerBps: 5 }).yaml));
    const at = (ms: number) => strategy.quote({ ...viewOf(), at: 1_000_000 + ms });
    strategy.trade!({ at: 1_000_000, price: viewOf().lastTrade, amount: amount(1), side: 'buy' });
    expect(at(1_500).noBid).toBe('./own.ts learns from the market for 5 s before it quotes; 4 s left');
    expect([at(4_999).asks.length, at(5_000).asks.length]).toEqual([0, 2]);
    // The trade of that time counts.
    const [, skewed] = [madeFrom(code), at(6_000)];
    expect(skewed.bids[0]!.why.find(({ name }) => name === 'takers')!.ticks).toBeGreaterThan(0);
    expect(errorsOf(changedOwn('contract: 1', 'contract: 1, warmup: () => -1'))[0]).toMatch(
      /^strategy\.file: expected a file whose function warmup returns 0 to 86400000 ms/,
    );
  });

  test('it gets its history before the first quote, and waits for the rest of it without a quote', () => {
    const code = changedOwn('contract: 1', 'contract: 1, history: p => 1_000 * p.takerBps');
    const made = () => strategyOf(readTradedConfig(folderWith(code, { takerBps: 5 }).yaml));
    const trade = { at: 999_000, price: viewOf().lastTrade, amount: amount(1), side: 'buy' } as const;
    const [strategy, whole, none] = [made(), made(), made()];
    const at = (of: typeof strategy, ms: number) => of.quote({ ...viewOf(), at: 1_000_000 + ms });
    expect(strategy.historyMs).toBe(5_000);
    strategy.history!({ since: 998_000, trades: [trade] });
    expect(at(strategy, 0).noBid).toBe('./own.ts needs the trades of 5 s and has 2 s; quotes in 3 s');
    const quote = at(strategy, 3_000);
    expect(quote.bids[0]!.why.find(({ name }) => name === 'takers')!.ticks).toBeGreaterThan(0);
    whole.history!({ since: 995_000, trades: [] });
    expect([at(whole, 0).asks.length, at(none, 0).asks.length, at(none, 5_000).asks.length]).toEqual([2, 0, 2]);
    // Until it has them, the file is not called for a quote.
    const counting = madeFrom(
      quotingBy("flow.share += 1; return silent('call ' + flow.share);").replace(
        'contract: 1',
        'contract: 1, history: () => 5_000',
      ),
    );
    expect([0, 4_999, 5_000].map(ms => at(counting, ms).noBid)).toEqual([
      './own.ts needs the trades of 5 s, which are read when a run starts; quotes in at most 5 s',
      './own.ts needs the trades of 5 s, which are read when a run starts; quotes in at most 1 s',
      'call 1',
    ]);
    // Lost trades start it again.
    strategy.history!({ since: 1_003_500, trades: [] });
    expect([at(strategy, 4_000).noAsk, at(strategy, 8_500).noAsk]).toEqual([
      './own.ts needs the trades of 5 s and has 1 s; quotes in 5 s',
      undefined,
    ]);
    expect(madeFrom(OWN_STRATEGY).historyMs).toBe(undefined);
  });

  test('it is silent while trades may be missing, and no late trade makes its history longer than it is', () => {
    const code = changedOwn('contract: 1', 'contract: 1, history: p => 1_000 * p.takerBps');
    const strategy = strategyOf(readTradedConfig(folderWith(code, { takerBps: 5 }).yaml));
    const at = (ms: number) => strategy.quote({ ...viewOf(), at: 1_000_000 + ms });
    strategy.history!({ since: 990_000, trades: [] });
    strategy.historyGap!(true);
    expect(at(0).noBid).toBe(
      './own.ts waits for the latest public trades, which the bot reads from the exchange, so that none is missing',
    );
    expect([at(60_000).bids, at(60_000).asks, at(60_000).isLearning]).toEqual([[], [], true]);
    strategy.historyGap!(false);
    expect(at(60_000).bids.length).toBe(2);
    // A new start ends the gap; a trade from before it that is reported late does not count.
    strategy.historyGap!(true);
    strategy.history!({ since: 1_060_000, trades: [] });
    strategy.trade!({ at: 1_000_000, price: viewOf().lastTrade, amount: amount(1), side: 'buy' });
    expect(at(61_000).noBid).toBe('./own.ts needs the trades of 5 s and has 1 s; quotes in 4 s');
    expect(at(65_000).bids.length).toBe(2);
    expect(madeFrom(OWN_STRATEGY)).not.toHaveProperty('historyGap');
  });

  test('a history needs the function trade, the stream, and a time; a tape for it needs a history', () => {
    const deaf = changedOwn('contract: 1', 'contract: 1, history: () => 1').replace(
      'trade: ({ side })',
      'heard: ({ side }: any)',
    );
    expect(madeFrom(deaf).quote(viewOf()).noBid).toMatch(
      /failed: history: expected a strategy with the function trade;/,
    );
    expect(errorsOf(changedOwn('contract: 1', 'contract: 1, history: () => NaN'))[0]).toMatch(
      /^strategy\.file: expected a file whose function history returns 0 to 86400000 ms/,
    );
    expect(errorsOf(OWN_STRATEGY, { historyTape: './tape' })).toEqual([
      'strategy.historyTape: expected no tape, because the strategy file needs no history, found ./tape',
    ]);
    const { dir, yaml } = folderWith(changedOwn('contract: 1', 'contract: 1, history: () => 1'), {
      historyTape: './tape',
    });
    expect(readTradedConfig(yaml).strategy).toMatchObject({ historyTape: join(dir, 'tape') });
    writeFileSync(yaml, readFileSync(yaml, 'utf8').replace(/exchange:\n/, 'exchange:\n  stream: false\n'));
    expect(() => readTradedConfig(yaml)).toThrow(
      /strategy\.file: needs the stream.*enable the stream, or remove the function history from the file/,
    );
  });

  test('errors in make and in trade count too', () => {
    const inMake = madeFrom(changedOwn('const lots =', "throw new Error('no luck');\n  const lots ="));
    expect(inMake.quote(viewOf()).noBid).toMatch(/^\.\/own\.ts:13 failed: no luck;/);
    const inTrade = madeFrom(
      changedOwn(
        'trade: ({ side }) =>',
        'trade: ({ side }) => { throw new Error(side); },\n    other: (side: string) =>',
      ),
    );
    expect(inTrade.quote(viewOf()).bids.length).toBe(2);
    inTrade.trade!({ at: 1, price: viewOf().lastTrade, amount: amount(1), side: 'buy' });
    expect(inTrade.quote(viewOf()).noBid).toMatch(/^\.\/own\.ts:16 failed: buy;/);
    const noQuote = madeFrom(changedOwn('make: quoting', 'make: () => 3 as never'));
    expect(noQuote.quote(viewOf()).noAsk).toMatch(/failed: make: expected a strategy with the function quote/);
  });

  test.each([
    ['nothing', 'return;', /expected an object, found nothing/],
    ['a list', 'return [];', /bids: expected a list of levels, found nothing/],
    [
      'levels without numbers',
      "return { bids: [{ price: '1', amount: 1, why: [] }], asks: [] };",
      /bids\[0\]\.price: expected a finite number, found "1"/,
    ],
    [
      'a step that is not finite',
      "return { bids: [{ price: 1, amount: 1, why: [{ name: 'x', ticks: -1 / 0 }] }], asks: [] };",
      /bids\[0\]\.why\[0\]\.ticks: expected a finite number, found -Infinity/,
    ],
    [
      'steps of an amount without lots',
      'return { bids: [], asks: [{ price: 1, amount: 1, why: [], amounts: [7n] }] };',
      /asks\[0\]\.amounts\[0\]: expected \{ name, lots \}, found 7/,
    ],
    [
      'levels without steps',
      'return { bids: [], asks: [{ price: 1, amount: 1 }] };',
      /asks\[0\]\.why: expected a list of \{ name, ticks \}, found nothing/,
    ],
    [
      'a thousand levels',
      'return { bids: [], asks: Array(1000).fill({ price: 1, amount: 1, why: [] }) };',
      /asks: expected at most 100 levels, found 1000/,
    ],
    [
      'figures without units',
      "return { bids: [], asks: [], figures: [{ name: 'x', value: 1 }] };",
      /figures\[0\]\.unit: expected text of at most 400 characters, found nothing/,
    ],
    [
      'a reason that is no text',
      'return { bids: [], asks: [], noBid: 3 };',
      /noBid: expected text of at most 400 characters, found 3/,
    ],
  ])('%s as a quote empties both sides with a reason, and a later quote counts', (_, body, reason) => {
    const { bids, asks, noBid } = quoteOf(body);
    expect([bids, asks]).toEqual([[], []]);
    expect(noBid).toMatch(reason);
    expect(noBid).toMatch(/^\.\/own\.ts returned an invalid quote: /);
  });

  test('each view is as the engine has it, however the rules of the book change, and its instrument is frozen', () => {
    /** Instruments that differ from the first one in one field each. */
    const instruments = [
      instrument,
      ...Object.entries(instrument).map(([name, value]) => ({
        ...instrument,
        [name]: typeof value === 'number' ? value + 1 : typeof value === 'bigint' ? value + 1n : `${value}9`,
      })),
    ] as readonly Instrument[];
    const changes = fc.record({
      instrument: fc.constantFrom(...instruments),
      makerRate: fc.nat(9),
      takerRate: fc.nat(9),
      position: fc.integer(),
      widenBps: fc.record({ buy: fc.nat(9), sell: fc.nat(9) }),
    });
    fc.assert(
      fc.property(fc.array(changes, { minLength: 1, maxLength: 10 }), all => {
        const seen: { readonly view: View; readonly isFrozen: boolean }[] = [];
        const quote = (view: View) => {
          seen.push({ view: structuredClone(view), isFrozen: Object.isFrozen(view.instrument) });
          return silent('no wish');
        };
        const strategy = guarded('own.ts', instrument, () => ({ quote }));
        const views = all.map(change => viewOf(change));
        for (const view of views) strategy.quote(view);
        expect(seen).toEqual(views.map(view => ({ view, isFrozen: true })));
      }),
      { numRuns: 20, examples: [[instruments.map(one => ({ ...viewOf(), instrument: one }))]] },
    );
  });

  test('nothing that the engine uses can be changed: not the view, not the parameters, not the instrument, not a returned quote', () => {
    const changes = `const set = (of: any): void => {
      for (const key of Object.keys(of)) {
        if (typeof of[key] === 'object' && of[key] !== null && !ArrayBuffer.isView(of[key])) set(of[key]);
        try { if (ArrayBuffer.isView(of[key])) (of[key] as any).fill(1); else of[key] = 7; } catch { /* frozen */ }
      }
    };
    set(view); set(p); set(instrument);
    const level = { price: 1, amount: lots, why: [{ name: 'x', ticks: 1 }] };
    setLater.push(level);
    for (const earlier of setLater) set(earlier);
    level.price = 1; level.amount = lots;
    level.why = [{ name: 'x', ticks: 1 }];
    return { bids: [level], asks: [], noAsk: 'none' };`;
    const code = quotingBy(changes).replace('type Flow', 'const setLater: any[] = [];\ntype Flow');
    const source = { at: 1, price: 5 } as never;
    const view = {
      ...viewOf(),
      fair: { price: 5, steps: [{ name: 'mid', ticks: 5 }] },
      reference: { at: 1, price: 5, live: { there: 5, sources: [source] } },
      rfqPrices: { at: 1, bid: 1, ask: 2 },
      lastBuy: { at: 1, side: 'buy', price: viewOf().lastTrade } as const,
      lastSell: { at: 1, side: 'sell', price: viewOf().lastTrade } as const,
    };
    const before = structuredClone(view);
    const config = readTradedConfig(folderWith(code).yaml);
    const given = structuredClone(config.strategy);
    const strategy = strategyOf(config);
    const quote = strategy.quote(view);
    expect(quote).toMatchObject({ bids: [{ price: 1 }], noAsk: 'none' });
    strategy.quote(view);
    expect(quote).toMatchObject({ bids: [{ price: 1, why: [{ name: 'x', ticks: 1 }] }] });
    expect(view).toEqual(before);
    expect(config.strategy).toEqual(given);
    expect(Object.isFrozen(instrument)).toBe(false);
  });

  test('an engine cancels the orders of a strategy that fails, and places none', () => {
    const code = quotingBy(
      "if (view.mid > 100_500) throw new Error('too high'); return around(p, lots, view, [...fairSteps(view)]);",
    );
    const parameters = { ...strategyFileOf('./own.ts', code), halfSpreadBps: 20, amount: '5', levels: 1 };
    const { strategy } = readTradedConfig(folderWith(code).yaml);
    const kind = kindOf(strategy);
    const toy = new ToyExchange({
      instrument: plain,
      strategy: kind.make({ ...strategy, ...parameters }, plain),
      tolerance: kind.tolerance(strategy),
      limits: {
        positionMax: amount(100),
        orderValueMax: 10n ** 9n,
        ordersMax: 20,
        collarBps: 1000,
        staleAfterMs: 3000,
      },
    } as never).open();
    const at = (mid: number) => {
      toy.bids = [[mid - 50, 500]];
      toy.asks = [[mid + 50, 400]];
      toy.round();
      toy.round();
      return toy.live.length;
    };
    expect([at(100_000), at(101_000), at(100_000)]).toEqual([2, 0, 0]);
    expect(toy.engine.book.preview(toy.now).quote.noBid).toBe(
      './own.ts:17 failed: too high; correct the file, and reload it in a running bot',
    );
  });
});

test('a configuration that moves to another folder still finds its strategy file', () => {
  const { dir, yaml } = folderWith(OWN_STRATEGY);
  const document = parseDocument(readFileSync(yaml, 'utf8'));
  const below = join(dir, 'live');
  movePaths(document, dir, below);
  expect(document.getIn(['strategy', 'file'])).toBe('../own.ts');
  mkdirSync(below);
  writeFileSync(join(below, 'bot.yaml'), String(document));
  expect(readTradedConfig(join(below, 'bot.yaml')).strategy).toMatchObject({ code: OWN_STRATEGY });
});

test('a preview of a reload, and the evidence of a study, count for the text of the strategy file too', () => {
  const { dir, yaml } = folderWith(OWN_STRATEGY);
  const digests = () => {
    const { config, text } = readTradedText(yaml);
    return [reloadDigestOf(text, config), digestOfYaml(text, strategyHashIn(config))];
  };
  const before = digests();
  expect(digests()).toEqual(before);
  writeFileSync(join(dir, 'own.ts'), `${OWN_STRATEGY}\n`);
  const after = digests();
  for (const [i, digest] of before.entries()) expect(after[i]).not.toBe(digest);
});

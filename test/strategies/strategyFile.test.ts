import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { amount, silenceReason } from '../../src/core/index.ts';
import { digestOfYaml } from '../../src/app/promote/tunedEvidence.ts';
import { digestOf } from '../../src/app/run/reloading.ts';
import { configChanges, recordedConfig, strategyTextIn, type Config } from '../../src/config.ts';
import { readConfig, readConfigText } from '../../src/wiring/configFile.ts';
import { movePaths } from '../../src/wiring/movedPaths.ts';
import { kindOf, strategyFileOf } from '../../strategies/index.ts';
import { Desk } from '../core/desk.ts';
import { plain } from '../core/market.ts';
import { instrument, viewOf } from './examples.ts';
import { changedOwn, folderWith, OWN_STRATEGY, quotingBy } from './ownFile.ts';

/** Lines that refuse a configuration, without the path and place of the YAML file. */
function errorsOf(code: string, keys?: object): readonly string[] {
  const { yaml } = folderWith(code, keys);
  try {
    readConfig(yaml);
  } catch (error) {
    return (error as Error).message.split('\n').map(line => line.replace(/^.*?bot\.yaml:\d+:\d+ /, ''));
  }
  return [];
}

const strategyOf = (config: Config) => kindOf(config.strategy).make(config.strategy, instrument);
const madeFrom = (code: string) => strategyOf(readConfig(folderWith(code).yaml));

describe('a strategy file', () => {
  test('in TypeScript, in a folder without packages, quotes with its own parameters', () => {
    const config = readConfig(folderWith(OWN_STRATEGY, { takerBps: 5 }).yaml);
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
      strategyOf(readConfig(folderWith(code, { halfSpreadBps: undefined, levels: undefined }).yaml)).quote(viewOf()),
    ).toMatchObject({ noBid: 'no wish' });
  });

  test('has a name with its file and the hash of its text, and another text is a change of the configuration', () => {
    const { dir, yaml } = folderWith(OWN_STRATEGY);
    const before = readConfig(yaml);
    expect(before.strategy.name).toMatch(/^own\.ts@[0-9a-f]{12}$/);
    writeFileSync(join(dir, 'own.ts'), `${OWN_STRATEGY}\n`);
    const after = readConfig(yaml);
    expect(configChanges(before, after)).toEqual([
      {
        key: 'strategy.name',
        from: JSON.stringify(before.strategy.name),
        to: JSON.stringify(after.strategy.name),
        takesEffect: 'reload',
      },
    ]);
  });

  test('is part of the record of a run: the record quotes without the file', () => {
    const config = readConfig(folderWith(OWN_STRATEGY).yaml);
    const recorded = recordedConfig(JSON.stringify(config));
    expect(JSON.stringify(recorded)).toBe(JSON.stringify(config));
    expect(strategyOf(recorded).quote(viewOf())).toEqual(strategyOf(config).quote(viewOf()));
  });

  test('starts its variables anew for each strategy', () => {
    const code = quotingBy("count += 1; return silent('quote ' + count);").replace(
      'type Flow',
      'let count = 0;\ntype Flow',
    );
    const config = readConfig(folderWith(code).yaml);
    const [one, other] = [strategyOf(config), strategyOf(config)];
    expect([one, one, other].map(strategy => strategy.quote(viewOf()).noBid)).toEqual([
      'quote 1',
      'quote 2',
      'quote 1',
    ]);
  });
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
      /:3: puntas\/strategy has no default export;/,
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
      /parameters: file is a key of every strategy file; rename the parameter/,
    ],
    ['no make', changedOwn('make: quoting', 'make: 3'), /make: expected a function, found 3;/],
    [
      'parameters that JSON cannot hold',
      changedOwn('takerBps: z.number().min(0).max(50).default(2)', 'takerBps: z.number().default(2).transform(BigInt)'),
      /must be JSON values after the check/,
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
      /tolerance: expected priceBps, amountShare and maxAgeMs/,
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
      /^strategy\.file: \.\/none\.ts: no such file in .*; expected a strategy file, relative to the folder/,
    );
    expect(errorsOf(OWN_STRATEGY, { file: '.' })[0]).toMatch(/^strategy\.file: \.: cannot be read/);
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
    expect(() => readConfig(yaml)).toThrow(/contract: 1, found 9[^]*instanc|instanc[^]*contract: 1, found 9/);
  });
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
    const failed = './own.ts failed: no luck; correct the file, then run puntas reload';
    expect(texts).toEqual(['fine 1', failed, failed]);
    expect(silenceReason(failed)).toBe('held back by the strategy');
    expect(madeFrom(code).quote(viewOf()).noAsk).toBe('fine 1');
  });

  test('errors in make and in trade count too', () => {
    const inMake = madeFrom(changedOwn('const lots =', "throw new Error('no luck');\n  const lots ="));
    expect(inMake.quote(viewOf()).noBid).toMatch(/^\.\/own\.ts failed: no luck;/);
    const inTrade = madeFrom(
      changedOwn(
        'trade: ({ side }) =>',
        'trade: ({ side }) => { throw new Error(side); },\n    other: (side: string) =>',
      ),
    );
    expect(inTrade.quote(viewOf()).bids.length).toBe(2);
    inTrade.trade!({ at: 1, price: viewOf().lastTrade, amount: amount(1), side: 'buy' });
    expect(inTrade.quote(viewOf()).noBid).toMatch(/^\.\/own\.ts failed: buy;/);
    const noQuote = madeFrom(changedOwn('make: quoting', 'make: () => 3 as never'));
    expect(noQuote.quote(viewOf()).noAsk).toMatch(/failed: make: expected a strategy with the function quote/);
  });

  test.each([
    ['nothing', 'return;', /expected an object, found undefined/],
    ['a list', 'return [];', /bids: expected a list of levels/],
    [
      'levels without numbers',
      "return { bids: [{ price: '1', amount: 1, why: [] }], asks: [] };",
      /bids\[0\]: expected \{ price: number/,
    ],
    ['levels without steps', 'return { bids: [], asks: [{ price: 1, amount: 1 }] };', /asks\[0\]: expected/],
    [
      'a thousand levels',
      'return { bids: [], asks: Array(1000).fill({ price: 1, amount: 1, why: [] }) };',
      /asks: expected at most 100 levels, found 1000/,
    ],
    [
      'figures without units',
      "return { bids: [], asks: [], figures: [{ name: 'x', value: 1 }] };",
      /figures: expected/,
    ],
    ['a reason that is no text', 'return { bids: [], asks: [], noBid: 3 };', /noBid: expected text/],
  ])('%s as a quote empties both sides with a reason, and a later quote counts', (_, body, reason) => {
    const { bids, asks, noBid } = quoteOf(body);
    expect([bids, asks]).toEqual([[], []]);
    expect(noBid).toMatch(reason);
    expect(noBid).toMatch(/^\.\/own\.ts returned an invalid quote: /);
  });

  test('the book of the engine stays as it is when a strategy changes its view', () => {
    const view = viewOf();
    const before = structuredClone(view.depth);
    madeFrom(quotingBy("view.depth.bidPrices.fill(1); view.depth.bids = 0; return silent('done');")).quote(view);
    expect(view.depth).toEqual(before);
  });

  test('an engine cancels the orders of a strategy that fails, and places none', () => {
    const code = quotingBy(
      "if (view.mid > 100_500) throw new Error('too high'); return around(p, lots, view, [...fairSteps(view)]);",
    );
    const parameters = { ...strategyFileOf('./own.ts', code), halfSpreadBps: 20, amount: '5', levels: 1 };
    const { strategy } = readConfig(folderWith(code).yaml);
    const kind = kindOf(strategy);
    const desk = new Desk({
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
      desk.bids = [[mid - 50, 500]];
      desk.asks = [[mid + 50, 400]];
      desk.round();
      desk.round();
      return desk.live.length;
    };
    expect([at(100_000), at(101_000), at(100_000)]).toEqual([2, 0, 0]);
    expect(desk.engine.book.preview(desk.now).quote.noBid).toBe(
      './own.ts failed: too high; correct the file, then run puntas reload',
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
  expect(readConfig(join(below, 'bot.yaml')).strategy).toMatchObject({ code: OWN_STRATEGY });
});

test('a preview of a reload, and the evidence of a study, count for the text of the strategy file too', () => {
  const { dir, yaml } = folderWith(OWN_STRATEGY);
  const digests = () => {
    const { config, text } = readConfigText(yaml);
    return [digestOf(text, config), digestOfYaml(text, strategyTextIn(config))];
  };
  const before = digests();
  expect(digests()).toEqual(before);
  writeFileSync(join(dir, 'own.ts'), `${OWN_STRATEGY}\n`);
  const after = digests();
  for (const [i, digest] of before.entries()) expect(after[i]).not.toBe(digest);
});

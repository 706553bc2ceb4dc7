import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { copiedFunctions, reusedNames, unusedExports } from './declarations.ts';
import { foldersOf, foldersInCircles } from './folders.ts';
import { arrowsIn, parsed, root, sourcesIn, type Arrow } from './imports.ts';

/**
 * The map: what a room may import. Rooms of this project by name (then only through the files in DOORS), packages by theirs.
 * A file that wants more is in the wrong room, or the room is missing: change the map in the same commit and say why.
 */
const MAY: Readonly<Record<string, readonly string[]>> = {
  core: ['decimal.js', 'pure-rand'],
  config: ['core', 'strategies', 'zod', 'yaml'],
  exchange: ['core', 'undici', 'p-queue', 'ws'],
  ccxt: ['core', 'guard', 'undici'],
  marketdata: ['core'],
  tape: [
    'core',
    'marketdata',
    'guard',
    'yauzl',
    'fzstd',
    'hyparquet-writer',
    'csv-parse',
    'hyparquet',
    'hyparquet-compressors',
    'yaml',
    'zod',
  ],
  fills: [],
  guard: ['fastify'],
  sandbox: ['core', 'tape', 'fills', 'guard', 'ws'],
  hedge: ['core'],
  live: ['core', 'marketdata', 'hedge', 'guard', 'libsql', 'fastify'],
  monitor: ['core', 'guard', 'prom-client', 'fastify'],
  console: ['guard', 'fastify', 'uplot', 'preact'],
  fleet: ['core', 'guard', 'console', 'undici', 'zod'],
  pages: ['uplot'],
  strategies: ['core', 'zod', '@swc/wasm-typescript', 'es-module-lexer'],
  backtest: ['core', 'tape', 'fills', 'guard', 'pages', 'sandbox', 'strategies', 'config', 'hedge'],
};

/** Only here does a room speak to the machine. `node:` modules that only compute are everybody's. */
const NODE: Readonly<Record<string, readonly string[]>> = {
  core: [],
  config: [],
  // A strategy file is compiled and evaluated.
  strategies: ['node:module', 'node:vm'],
  hedge: [],
  marketdata: [],
};
const COMPUTING = ['node:assert', 'node:crypto', 'node:util', 'node:zlib', 'node:events', 'node:stream', 'node:buffer'];

const EXPORTED = /^export (?:abstract )?(?:async )?(?:type|interface|class|const|function\*?) (\w+)/gm;

/** Exported for tests and generated pages alone: tables that both go through from end to end. */
const FOR_TESTS: readonly string[] = [
  'src/monitor/metrics.ts: ALERT_NAMES',
  'src/console/page/view.ts: POINT',
  'src/sandbox/desks/rfqCodes.ts: RFQ_CODES',
  'src/sandbox/wire/codes.ts: CODES',
  // The closed form of the index is compared with the integral of the loss.
  'src/core/budget/informationValue.ts: lossRate',
  'src/core/budget/informationValue.ts: lossCount',
  'src/core/budget/informationValue.ts: readValue',
];

/** Written twice, because no room that both may import is the place for it. */
const WRITTEN_TWICE: readonly string[] = [
  'src/exchange/transport/streamTransport.ts: frameText, src/sandbox/stream/streamSockets.ts: receivedText',
];

/** Names that three files and more give to different functions. No name is added, and no number raised. */
const REUSED_NAMES: Readonly<Record<string, number>> = {
  ...{
    refused: 3,
    bps: 3,
    done: 3,
    windowOf: 3,
    costOf: 3,
    configOf: 3,
    endOf: 3,
    table: 3,
    ledgerOf: 3,
    timeText: 3,
    status: 3,
    idOf: 3,
    entriesOf: 3,
    span: 3,
    summed: 3,
    textAt: 3,
    valueAt: 3,
    level: 3,
    stepOf: 3,
    fees: 3,
    failureOf: 3,
    quoteOf: 3,
    choice: 3,
    rulesOf: 3,
    quotes: 3,
    placesOf: 3,
    around: 3,
    median: 3,
  },
  ...{
    share: 4,
    reasonOf: 4,
    refusal: 4,
    tell: 4,
    lineOf: 4,
    outcomeOf: 4,
    startOf: 4,
    linesOf: 4,
    priceOf: 4,
    tableOf: 4,
    place: 4,
    checked: 4,
    failed: 4,
  },
  ...{ levelsOf: 5, rowsOf: 5, opened: 5, written: 5, stateOf: 5, answer: 5, tiersOf: 5 },
  ...{ partsOf: 6, books: 6 },
  ...{ trades: 8 },
};

const files = ['src', 'strategies', 'backtest'].flatMap(sourcesIn);
const rooms = Object.keys(MAY);

describe('the arrows between rooms', () => {
  test.each(rooms)('%s imports only what the map allows', room => {
    const wrong = files
      .filter(file => roomOf(file.path) === room)
      .flatMap(file =>
        file.arrows
          .filter(({ to }) => !to.startsWith('node:'))
          // The class of ccxt is a file of a package that the user installs.
          .filter(({ to }) => !(room === 'ccxt' && to === '(computed)'))
          .filter(({ to }) => !allowed(room, to))
          .map(({ to }) => `${file.path} imports ${to}`),
      );
    expect(wrong).toEqual([]);
  });

  test('every file is in a room of the map, or is the composition root', () => {
    const homeless = files.map(file => file.path).filter(path => roomOf(path) === null);
    expect(homeless).toEqual([]);
  });

  test.each(rooms)('what the page of the map lets %s import is what is let here', room => {
    const row = rowsOfMap('room').find(([names]) => /`(?:\.\.\/)?(\w+)\/`/.exec(names!)?.[1] === room);
    const last = row?.at(-1) ?? '';
    const words = new Set([...last.split(/[^\w.-]+/), ...(last.match(/@[\w-]+\/[\w.-]+/g) ?? [])]);
    const known = [...rooms, ...Object.values(MAY).flat()].filter(name => name !== room);
    expect([...new Set(known)].filter(name => words.has(name)).sort()).toEqual([...MAY[room]!].sort());
  });

  test('no room imports the composition root', () => {
    const wrong = arrowsOf(({ to }) => roomOf(to) === 'root').filter(({ from }) => roomOf(from) !== 'root');
    expect(wrong).toEqual([]);
  });

  test('a room is entered through its door: its index, or the file that the map names', () => {
    const wrong = arrowsOf(({ to }) => rooms.includes(roomOf(to) ?? '')).filter(
      ({ from, to }) => roomOf(from) !== roomOf(to) && roomOf(from) !== 'root' && !isDoor(to),
    );
    expect(wrong).toEqual([]);
  });

  test('the app prints nothing and reads no flag: it imports nothing of the command line, and leaves console and exit code alone', () => {
    const app = files.filter(({ path }) => /^(?:(?:src|backtest)\/app|src\/(?:alerts|messages|wiring))\//.test(path));
    const printing = ['commander', 'cli-progress', 'pino', 'pino-pretty', 'node:process', 'node:console'];
    const wrong = app.flatMap(({ path, text, arrows }) => [
      ...arrows
        .filter(({ to }) => /^(?:src\/(?:cli\/|main\.ts)|backtest\/commands\/)/.test(to) || printing.includes(to))
        .map(({ to }) => to),
      ...(text.match(/\bconsole\.\w|\bprocess\.(?:exit|std|argv)\w*/g) ?? []).map(word => `${path}: ${word}`),
    ]);
    expect(wrong).toEqual([]);
    expect(app.length).toBeGreaterThan(20);
  });

  test('the rooms of the root are layers: each imports only those below it', () => {
    const layers = ['src/wiring/', 'src/messages/', 'src/alerts/', 'src/app/', 'src/cli/'];
    const layerOf = (path: string) => layers.findIndex(layer => path.startsWith(layer));
    const wrong = arrowsOf(({ to }) => layerOf(to) >= 0).filter(
      ({ from, to }) => layerOf(from) >= 0 && layerOf(to) > layerOf(from),
    );
    expect(wrong).toEqual([]);
  });

  test('the command line is one file, which main.ts loads: what else has flags of its own is for developers, in test/', () => {
    const programs = files
      .filter(({ text }) => /\.parse(?:Async)?\(\)|\bparseArgs\b/.test(text))
      .map(({ path }) => path);
    expect(programs).toEqual(['src/cli/program.ts']);
  });

  test.each([
    ['decimal.js', 'src/core/model/instrument.ts'],
    ['pure-rand', 'src/core/ports/random.ts'],
  ])('%s is imported by %s alone', (name, path) => {
    const users = arrowsOf(({ to }) => to === name || to.startsWith(`${name}/`)).map(({ from }) => from);
    expect([...new Set(users)]).toEqual([path]);
  });

  test('monitor takes types from core, and of its functions only the one that makes money a float for showing', () => {
    const wrong = files
      .filter(file => roomOf(file.path) === 'monitor')
      .flatMap(file => file.arrows.filter(({ to, typesOnly }) => roomOf(to) === 'core' && !typesOnly))
      .filter(({ names }) => names.some(name => name !== 'approximately'));
    expect(wrong).toEqual([]);
  });

  test.each(Object.keys(NODE))('%s reaches no file, socket or process', room => {
    const wrong = files
      .filter(file => roomOf(file.path) === room)
      .flatMap(file =>
        file.arrows
          .filter(({ to }) => to.startsWith('node:') && !COMPUTING.includes(to) && !NODE[room]?.includes(to))
          .map(({ to }) => `${file.path} imports ${to}`),
      );
    expect(wrong).toEqual([]);
  });

  test('files do not import each other in a circle, types counted', () => {
    expect(circles()).toEqual([]);
  });

  test('nor do the folders of a room', () => {
    expect(foldersInCircles(foldersOf(files))).toEqual([]);
  });
});

/** `src` is what trades; research is under `backtest`, its commands included, and uses what trades. */
describe('what trades', () => {
  /** The one file that names research: the list of commands, which loads the one that was typed. */
  const LIST = 'src/cli/commands/index.ts';
  const trading = files.filter(({ path }) => /^(?:src|strategies)\//.test(path));

  test('imports nothing of research, but for the commands that the list loads', () => {
    const wrong = trading.flatMap(({ path, arrows }) =>
      arrows
        .filter(({ to }) => /^backtest(?:\/|$)/.test(to))
        .filter(({ to }) => path !== LIST || !to.startsWith('backtest/commands/'))
        .map(({ to }) => `${path} imports ${to}`),
    );
    expect(wrong).toEqual([]);
    expect(filesNaming('backtest/')).toEqual([LIST]);
  });

  test('loads a command of research only if that command was typed', () => {
    const { text, arrows } = files.find(({ path }) => path === LIST)!;
    const research = arrows.filter(({ to }) => to.startsWith('backtest/'));
    expect(research.length).toBeGreaterThan(4);
    expect(text.match(/^import .*backtest/gm)).toBe(null);
    expect(text.match(/await import\('[./]*backtest\/commands\/\w+\.ts'\)/g)).toHaveLength(research.length);
  });

  test('does not start a thread of research by its path, nor import by a name that is put together', () => {
    const computed = trading.filter(({ arrows }) => arrows.some(({ to }) => to === '(computed)'));
    // The class of ccxt is a file of a package that the user installs.
    expect(computed.map(({ path }) => path)).toEqual(['src/ccxt/ccxtThread.ts']);
  });

  /** Files of what trades that have such a path in a string, of an import or a thread. */
  function filesNaming(path: string): readonly string[] {
    const inString = new RegExp(`['"\`][./]*${path}`);
    return trading.filter(({ text }) => inString.test(text)).map(file => file.path);
  }
});

/**
 * A strategy is one folder and one entry of the registry. Other code that knows a strategy by its name would have to learn the next one's too. Tests may
 * name those that they are about; so may YAML and prose, which are written for people.
 */
describe('a strategy', () => {
  const names = readdirSync(join(root, 'strategies'), { withFileTypes: true })
    .filter(entry => entry.isDirectory() && existsSync(join(root, 'strategies', entry.name, 'README.md')))
    .map(({ name }) => name);
  /** A word that says something else there. */
  const OTHER_WORDS = ['src/pages/script/draw.ts: grid'];

  test('is named by its folder and by the registry alone', () => {
    const outside = files.filter(({ path }) => path !== 'strategies/index.ts');
    const told = outside.flatMap(({ path, text }) =>
      namesIn(path, text, names)
        .filter(name => !path.startsWith(`strategies/${name}/`))
        .map(name => `${path}: ${name}`),
    );
    expect(told.filter(line => !OTHER_WORDS.includes(line))).toEqual([]);
  });

  test('is seen where it is named: in a comparison, in a table, in an import', () => {
    const seen = (text: string) => namesIn('src/x.ts', text, names);
    expect(seen("if (name === 'glft') stop();")).toEqual(['glft']);
    expect(seen('const of = { ladder: 1, peg: 2, more: 3 };')).toEqual(['ladder', 'peg']);
    expect(seen("import { x } from '../strategies/ladder/strategy.ts';")).toEqual(['ladder']);
    expect(seen("import { of } from './grid.ts'; const { imbalance } = truth; const all = { imbalance };")).toEqual([]);
  });
});

/** A row that cannot be read must not lose the others, and a list must not be believed whole that has such a row. */
describe('a list of the exchange', () => {
  /** Read as a whole, each with what it would mean in part. */
  const WHOLE: Readonly<Record<string, readonly string[]>> = {
    // Filters are one rule; a level of a book has no meaning without its neighbors.
    'src/exchange/binance/stream/stream.ts': ["of['b']", "of['a']"],
    'src/exchange/binance/wire/replies.ts': ["of['filters']", "of['bids']", "of['asks']", 'element'],
    // Words of one field.
    'src/exchange/bitso/wire/accountReplies.ts': ['given'],
    // A tier too few is another schedule; the rows of a side prove each other's place.
    'src/exchange/bitso/wire/marketReplies.ts': ['of[field]', 'of[field]'],
    // A line moves all of its balances.
    'src/exchange/bitso/rest/transferLists.ts': ["of['balance_updates']"],
    // A step of a book is taken whole.
    'src/exchange/bitso/stream/streamFrames.ts': ["of['payload']"],
  };
  /** Not lists of rows: the reader of one itself, chunks of a frame, and the errors of a refusal. */
  const NO_LISTS = [
    'src/exchange/wire/wire.ts',
    'src/exchange/transport/streamTransport.ts',
    'src/exchange/bitso/wire/errorCodes.ts',
    'src/exchange/binance/wire/protocol.ts',
  ];
  /** Callers that need no judgment of rows, each with its reason. */
  const PASSES_ON: Readonly<Record<string, string>> = {
    'src/app/run/ownState.ts': 'presence alone is evidence',
    'src/app/develop/init.ts': 'offers books to choose from',
    'src/app/inspect/halt.ts': 'hands outcomes on',
    'src/wiring/bot.ts': 'hands outcomes on',
    'src/app/doctor/previewNow.ts': 'asks Reads',
    'src/live/account/balanceReads.ts': 'asks Reads',
    'src/live/safety/recoverAndCancel.ts': 'hands outcomes on',
    'src/live/loop/sends.ts': 'hands outcomes on to the engine, which judges them',
  };

  test('is read row by row, by the one reader, but for what has no meaning in part', () => {
    const found = Object.fromEntries(
      files
        .filter(({ path }) => path.startsWith('src/exchange/') && path !== 'src/exchange/wire/wire.ts')
        .map(({ path, text }) => [path, [...text.matchAll(/\bwire\.list\(\s*([^,]+),/g)].map(([, of]) => of!)] as const)
        .filter(([, lists]) => lists.length > 0),
    );
    expect(found).toEqual(WHOLE);
    const others = files
      .filter(({ path }) => path.startsWith('src/exchange/'))
      .filter(({ path, text }) => !NO_LISTS.includes(path) && /Array\.isArray/.test(text));
    expect(others.map(({ path }) => path)).toEqual([]);
  });

  test('is judged by whoever asks for it: its unread rows, or a reason why they do not matter', () => {
    const CALL =
      /\.(?:availableBooks|fees|openOrders|userTrades|orderTrades|lookUp|balances|moneyMoved|userTradesByTid)\(|exchange\.trades\(/;
    const deaf = files
      .filter(({ path }) => path.startsWith('src/') && !/^src\/(?:exchange|sandbox)\//.test(path))
      .filter(({ path, text }) => CALL.test(text) && !/unreadable/i.test(text) && PASSES_ON[path] === undefined);
    expect(deaf.map(({ path }) => path)).toEqual([]);
  });
});

/** The meaning of a flag is looked for in one place; two parsers of one form came apart once. */
test('values of flags are parsed in the files of flags', () => {
  const parsers = files.filter(({ arrows }) =>
    arrows.some(
      ({ to, names, typesOnly }) => to === 'commander' && !typesOnly && names.includes('InvalidArgumentError'),
    ),
  );
  expect(parsers.map(({ path }) => path).sort()).toEqual(['backtest/commands/flags.ts', 'src/cli/terminal/flags.ts']);
});

/** A process can be killed at any moment. What it leaves under the name of a file must not be a part of that file. */
describe('a file is written', () => {
  /** Every function of a library that changes the content of a file. */
  const WRITES =
    /^(?:(?:writeFile|appendFile|copyFile|cp|truncate|ftruncate|writev?)(?:Sync)?|createWriteStream|open|fileWriter|parquetWriteFile|\*)$/;
  const LIBRARIES = /^(?:(?:node:)?fs(?:\/promises)?|hyparquet-writer)$/;
  /** Files that write by themselves, each with the reason why a killed process leaves no part under a final name. */
  const BY_ITSELF: Readonly<Record<string, string>> = {
    'src/guard/durableFiles.ts': 'the writer of all others',
    // Standard output and error.
    'src/main.ts': 'writes to standard error',
    'src/cli/terminal/output.ts': 'writes to standard output and error',
    'src/app/run/frozenProcess.ts': 'writes to standard error',
    // Append-only; readers ignore what follows the last whole line or frame.
    'src/live/recording/recordings.ts': 'pieces with length and checksum',
    'src/tape/format/tapeWriter.ts': 'frames with length and checksum',
    'backtest/app/tune/registry.ts': 'lines; one that was cut off is marked',
    // Cut back to the last whole frame.
    'src/tape/format/recoverDay.ts': 'cuts off a partial frame',
    // One write of 32 bytes in place; it must need no space on a full disk.
    'src/live/state/knownCommits.ts': 'a number of fixed length, which is unknown while it cannot be read',
    // Never read as a result.
    'src/live/files/diskTrouble.ts': 'a trial file without content',
    'src/live/state/stateCopy.ts': 'a private copy, which ends with its process',
    'src/tape/format/lastDay.ts': 'a copy in the folder of an unfinished import, which is renamed when it is whole',
    // Gigabytes without blocking, under a temporary name, renamed when their hash is right.
    'backtest/app/tapeStore/folderStore.ts': 'a part, renamed when it is whole',
    'backtest/app/tapeStore/s3Store.ts': 'a part in the folder that the cache renames',
  };

  test('by the writer that makes it whole or absent, but for those that say why', () => {
    const writers = files.filter(({ arrows }) =>
      arrows.some(({ to, names, typesOnly }) => !typesOnly && LIBRARIES.test(to) && names.some(isWrite)),
    );
    expect(writers.map(({ path }) => path).sort()).toEqual(Object.keys(BY_ITSELF).sort());
  });

  test('and the test sees every way to write one', () => {
    const seen = (text: string) =>
      arrowsIn('src/x.ts', text).some(({ to, names }) => LIBRARIES.test(to) && names.some(isWrite));
    for (const way of [
      "import { writeFileSync as put } from 'node:fs';",
      "import { appendFile } from 'node:fs/promises';",
      "import { createWriteStream } from 'fs';",
      "import * as fs from 'node:fs';",
      "import fs from 'node:fs';",
      "import fs, { existsSync } from 'node:fs';",
      "const { cp } = await import('node:fs/promises');",
      "import { fileWriter } from 'hyparquet-writer';",
    ])
      expect([way, seen(way)]).toEqual([way, true]);
    expect(seen("import { existsSync, readFileSync, openSync, renameSync } from 'node:fs';")).toBe(false);
  });

  function isWrite(name: string): boolean {
    return WRITES.test(name);
  }
});

describe('every folder', () => {
  const folders = new Map<string, number>();
  for (const { path } of files) folders.set(dirname(path), (folders.get(dirname(path)) ?? 0) + 1);

  test('has a line in the map', () => {
    const map = readFileSync(join(root, 'src/README.md'), 'utf8');
    const named = new Set(
      [...map.matchAll(/`((?:\.\.\/)?[\w/-]+)\/?`/g)].map(([, name]) => join('src', name!.replace(/\/$/, ''))),
    );
    const unnamed = [...folders.keys()].filter(folder => !named.has(folder) && !isStrategy(folder));
    expect(unnamed).toEqual(['src']);
  });

  test('has that line once, and no line is of what is not there', () => {
    for (const title of ['room', 'folder']) {
      const told = rowsOfMap(title).flatMap(([names]) => [...names!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
      expect(told.length).toBeGreaterThan(10);
      expect(told.filter((name, i) => told.indexOf(name) !== i)).toEqual([]);
      expect(told.filter(name => !existsSync(join(root, 'src', name)))).toEqual([]);
    }
  });

  test('has at most 20 files', () => {
    expect([...folders].filter(([, count]) => count > 20)).toEqual([]);
  });
});

describe('every file', () => {
  test('opens with a sentence that says what it is for', () => {
    const silent = files.filter(({ text }) => !/^(#!.*\n)?\/\*\*\s(?:\*\s)?\s*\S[^]{10,}?[.:?][^]*?\*\//.test(text));
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  test('has a name that says what is in it', () => {
    const vague = files.filter(({ path }) => /(util|helper|common|misc|manager|handler|service)s?\b/i.test(path));
    expect(vague.map(({ path }) => path)).toEqual([]);
  });

  test('exports by name only', () => {
    expect(files.filter(({ text }) => /^export default /m.test(text)).map(({ path }) => path)).toEqual([]);
  });
});

describe('every exported name', () => {
  test('is declared in one file', () => {
    const declared = new Map<string, Set<string>>();
    for (const { path, text } of files)
      for (const [, name] of text.matchAll(EXPORTED)) declared.set(name!, (declared.get(name!) ?? new Set()).add(path));
    const twice = [...declared]
      .filter(([, paths]) => paths.size > 1)
      .map(([name, paths]) => `${name}: ${[...paths].join(', ')}`);
    expect(twice).toEqual([]);
  });

  test('is used by the program itself, not by tests alone', () => {
    const unused = unusedExports(files);
    expect(unused.filter(line => !FOR_TESTS.includes(line))).toEqual([]);
    expect(FOR_TESTS.filter(line => !unused.includes(line))).toEqual([]);
    const told = { path: 'src/a.ts', text: 'export const a = 1; export const b = 1; const c = b; // a' };
    expect(unusedExports([told])).toEqual(['src/a.ts: a']);
  });

  test('of a function has a comment that says what the name does not', () => {
    expect(files.flatMap(({ path, text }) => uncommentedIn(path, text))).toEqual([]);
    const seen = (text: string) => uncommentedIn('src/x.ts', text);
    expect(seen('export const f: F = (\n  a: number,\n): number => a;')).toEqual(['src/x.ts: f']);
    expect(seen('// no\nexport async function* g() {}\nexport const [a, b] = [1, 2];')).toEqual(['src/x.ts: g']);
    expect(seen('/** What it is. */\nexport const f = <T>(a: T) => a;')).toEqual([]);
  });
});

describe('a function', () => {
  test('has a name that at most two files give to different functions; the list may only shrink', () => {
    const found = [...reusedNames(files)].filter(([, count]) => count > 2);
    const more = found.filter(([name, count]) => count > (REUSED_NAMES[name] ?? 2));
    expect(more.map(([name, count]) => `${name}: ${count} files; name what each of them does`)).toEqual([]);
    const gone = Object.keys(REUSED_NAMES).filter(name => !found.some(([one]) => one === name));
    expect(gone.map(name => `${name} is no longer reused: take it out of the list`)).toEqual([]);
  });

  test('is not written twice', () => {
    expect(copiedFunctions(files).filter(line => !WRITTEN_TWICE.includes(line))).toEqual([]);
    const twice = ['src/a.ts', 'src/b.ts'].map((path, i) => ({
      path,
      text: `/** ${i} */\nexport const name${i} = (value: number): string => value.toFixed(8).replace(/0+$/, '');`,
    }));
    expect(copiedFunctions(twice)).toEqual(['src/a.ts: name0, src/b.ts: name1']);
    expect([...reusedNames(twice)]).toEqual([]);
  });
});

test('the test can see: there are files, and arrows between them and to packages', () => {
  expect(files.length).toBeGreaterThan(20);
  expect(arrowsOf(({ to }) => to === 'zod').length).toBeGreaterThan(0);
  expect(arrowsOf(({ to }) => to.startsWith('src/core/')).length).toBeGreaterThan(20);
  expect(allowed('strategies', 'src/monitor/index.ts')).toBe(false);
  expect(allowed('strategies', 'src/core/model/units.ts')).toBe(true);
  expect(allowed('core', 'zod')).toBe(false);
  const ways =
    "type A = import('./a.ts').A; void import('./b.ts'); export type { C } from './c.ts'; import { type D } from './d.ts';";
  expect(arrowsIn('src/x.ts', ways).map(({ to }) => to)).toEqual(['src/a.ts', 'src/b.ts', 'src/c.ts', 'src/d.ts']);
  const arrows = ['a b', 'b c', 'c a', 'd a'].map(way => ({ from: way[0]!, to: way[2]!, imports: 1 }));
  expect(foldersInCircles([{ name: 'room', folders: [], arrows }])).toEqual(['a > b', 'b > c', 'c > a']);
});

/** src/core/model/units.ts is core; src/config.ts is config; main.ts, the command line, the app and what it is put together with are the root, and research's commands and app; a strategy's folder is strategies. */
function roomOf(path: string): string | null {
  if (/^(?:src\/(?:main\.ts$|(?:cli|app|alerts|messages|wiring)\/)|backtest\/(?:app|commands)\/)/.test(path))
    return 'root';
  const [, room] = /^src\/(\w+)(?:\/|\.ts$)/.exec(path) ?? /^(strategies|backtest)\//.exec(path) ?? [];
  return room !== undefined && room in MAY ? room : null;
}

function allowed(room: string, to: string): boolean {
  const other = roomOf(to);
  if (other === room) return true;
  const may = MAY[room] ?? [];
  if (other !== null) return may.includes(other);
  return may.some(name => to === name || to.startsWith(`${name}/`));
}

/** A strategy's own folder: what is in it says its README. */
const isStrategy = (folder: string): boolean => folder.startsWith('strategies/');

const isDoor = (path: string): boolean => /\/index\.ts$/.test(path) || path === 'src/config.ts';

function arrowsOf(keep: (arrow: Arrow) => boolean): readonly { readonly from: string; readonly to: string }[] {
  return files.flatMap(file => file.arrows.filter(keep).map(({ to }) => ({ from: file.path, to })));
}

/** The rows of a table of the map, as cells, by the title of its first column. */
function rowsOfMap(title: string): readonly (readonly string[])[] {
  const map = readFileSync(join(root, 'src/README.md'), 'utf8');
  const [, table = ''] = map.split(`\n| ${title} |`);
  const rows = table.split('\n\n')[0]!.split('\n').slice(2);
  return rows.map(row => row.split('|').slice(1, -1));
}

/** Exported functions without a comment of their own right above. */
function uncommentedIn(path: string, text: string): readonly string[] {
  const source = parsed(path, text);
  return source.statements.flatMap(node => {
    const isExported =
      ts.canHaveModifiers(node) && node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    if (isExported !== true || /\*\/\n$/.test(text.slice(node.getFullStart(), node.getStart()))) return [];
    if (ts.isFunctionDeclaration(node)) return [`${path}: ${node.name?.text}`];
    if (!ts.isVariableStatement(node)) return [];
    return node.declarationList.declarations
      .filter(({ initializer: is }) => is && (ts.isArrowFunction(is) || ts.isFunctionExpression(is)))
      .map(({ name }) => `${path}: ${name.getText()}`);
  });
}

/** Names of strategies that the text goes by: whole strings, folders of imports, and the keys of a table with two of them or more. */
function namesIn(path: string, text: string, names: readonly string[]): readonly string[] {
  const found: string[] = [];
  if (!names.some(name => text.includes(name))) return found;
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node))
      found.push(...names.filter(name => node.text === name || node.text.includes(`/${name}/`)));
    const members = ts.isObjectLiteralExpression(node)
      ? node.properties
      : ts.isTypeLiteralNode(node)
        ? node.members
        : [];
    const keys = members
      .flatMap(({ name }) => (name && ts.isIdentifier(name) ? [name.text] : []))
      .filter(key => names.includes(key));
    if (keys.length > 1) found.push(...keys);
    ts.forEachChild(node, visit);
  };
  visit(parsed(path, text));
  return found;
}

/** Circles of imports, of types too, each told once from its first file. */
function circles(): readonly string[] {
  const byPath = new Map(files.map(file => [file.path, file]));
  const done = new Set<string>();
  const found: string[] = [];
  const walk = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path);
    if (at >= 0) {
      found.push([...trail.slice(at), path].join(' > '));
      return;
    }
    if (done.has(path)) return;
    for (const { to } of byPath.get(path)?.arrows ?? []) walk(to, [...trail, path]);
    done.add(path);
  };
  for (const { path } of files) walk(path, []);
  return found;
}

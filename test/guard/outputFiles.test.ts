/** Files under a name that a person gave: killed at any write they are what they were or what they become, and repeated they are what they would be had nobody killed. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { simulatedAccountOf } from '../../backtest/app/backtest/backtest.ts';
import { runJobs } from '../../backtest/app/backtest/backtestModel.ts';
import { marketOf, spanOf } from '../../backtest/app/backtest/market.ts';
import { recordFlow, type LatencySpec } from '../../backtest/index.ts';
import { newStrategy } from '../../src/app/develop/newStrategy.ts';
import { amount, price } from '../../src/core/index.ts';
import { appendLine, createDurably, openOutput, writeOutputFile } from '../../src/guard/index.ts';
import { claimState } from '../../src/live/state/paperMark.ts';
import { exportTape, openStoredTape, SIDE, TapeWriter } from '../../src/tape/index.ts';
import { readShipped } from '../../src/wiring/configFile.ts';
import { writePage } from '../../src/wiring/outFiles.ts';
import { disk, hookDisk } from '../app/killedDisk.ts';
import { RULES, START } from '../tape/storedRows.ts';

const top = mkdtempSync(join(tmpdir(), 'puntas-outputs-'));
const [dir, tape] = [join(top, 'out'), join(top, 'tape')];
let unhook = (): void => undefined;
beforeAll(() => {
  const writer = new TapeWriter({ dir: tape, rules: RULES, source: 'a test' });
  for (let i = 0; i < 50; i++) writer.level(START + i, START + i, SIDE.buy, price(10 + i), amount(100 + i));
  writer.close();
  unhook = hookDisk();
});
afterAll(() => {
  unhook();
  rmSync(top, { recursive: true, force: true });
});
beforeEach(() => mkdirSync(dir));
afterEach(() => {
  disk.killAt = Infinity;
  rmSync(dir, { recursive: true, force: true });
});

/** A backtest of a minute with its CSV files. */
async function replayed(): Promise<void> {
  const config = readShipped('sandbox');
  const flow = recordFlow(config.book, 7, 60);
  const feed: LatencySpec = { kind: 'constant', ms: 5 };
  const latencies = { orders: feed, cancels: feed, answers: feed, feed };
  const { rows, instrument, firstTicks } = marketOf(flow, { latencies, seed: 7 });
  const job = {
    ...({ config, instrument, seed: 7, gaps: [], routes: [], model: 'optimistic', latencies } as const),
    ...{ csv: { fills: join(dir, 'fills.csv'), orders: join(dir, 'orders.csv') } },
    ...simulatedAccountOf(config, instrument, firstTicks),
    ...spanOf(flow),
  };
  await runJobs([job], rows, () => undefined);
}

const exported = (name: string): Promise<void> => exportTape(openStoredTape(tape), join(dir, name), () => undefined);
const madeAnew = (file: string): void => {
  try {
    createDurably(file, 'book: btc_mxn\n', 0o666);
  } catch (error) {
    // A command that is repeated although it was done is refused.
    expect(error).toMatchObject({ code: 'EEXIST' });
  }
};

/** Commands with the files that they write. */
const COMMANDS: Readonly<Record<string, { readonly names: readonly string[]; readonly run: () => unknown }>> = {
  'a page and its numbers': {
    names: ['report.html', 'report.json'],
    run: () =>
      writePage(join(dir, 'report.html'), join(dir, 'report.json'), { a: [1, 2] }, () => '<p>a</p>'.repeat(99)),
  },
  'tables of a backtest': { names: ['fills.csv', 'orders.csv'], run: replayed },
  'a tape as CSV': { names: ['tape.csv'], run: () => exported('tape.csv') },
  'a tape as Parquet': { names: ['tape.parquet'], run: () => exported('tape.parquet') },
};
/** Commands that write only what is not there. */
const NEW: typeof COMMANDS = {
  'a new configuration': { names: ['my.yaml'], run: () => madeAnew(join(dir, 'my.yaml')) },
  'the mark of a paper state': { names: ['PAPER'], run: () => claimState(dir, true) },
};

const filesIn = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (readdirSync(folder, { recursive: true }) as string[])
      .filter(name => statSync(join(folder, name)).isFile())
      .sort()
      .map(name => [name, readFileSync(join(folder, name), 'latin1')]),
  );

/** Kills a command at each of its writes, from the same beginning. */
async function killedAnywhere(run: () => unknown, begin: () => void, names: readonly string[]): Promise<void> {
  begin();
  const before = filesIn(dir);
  disk.writes = 0;
  await run();
  const { writes } = disk;
  const wanted = filesIn(dir);
  expect(Object.keys(wanted)).toEqual(expect.arrayContaining([...names]));
  expect(writes).toBeGreaterThanOrEqual(names.length);
  for (let n = 1; n <= writes; n++) {
    rmSync(dir, { recursive: true });
    mkdirSync(dir);
    begin();
    [disk.writes, disk.killAt] = [0, n];
    await expect((async () => run())(), `write ${n}`).rejects.toThrow(/killed/i);
    disk.killAt = Infinity;
    const left = filesIn(dir);
    for (const name of names) expect([before[name], wanted[name]], `write ${n}: ${name}`).toContain(left[name]);
    await run();
    expect({ n, ...filesIn(dir) }).toEqual({ n, ...wanted });
  }
}

describe('killed at any write and repeated, as if it had not been:', () => {
  test.each(Object.entries({ ...COMMANDS, ...NEW }))('%s', (_, { names, run }) =>
    killedAnywhere(run, () => undefined, names),
  );

  test.each(Object.entries(COMMANDS))('%s, over an earlier one', (_, { names, run }) =>
    killedAnywhere(run, () => names.forEach(name => writeFileSync(join(dir, name), 'an earlier one\n')), names),
  );

  test('a new strategy in a checkout', async () => {
    const index = join(process.cwd(), 'strategies/index.ts');
    const begin = (): void => {
      mkdirSync(join(dir, 'strategies'));
      cpSync(index, join(dir, 'strategies/index.ts'));
    };
    begin();
    const names = newStrategy(dir, 'my-trial');
    expect(() => newStrategy(dir, 'my-trial')).toThrow(/already exists; choose another name/);
    rmSync(dir, { recursive: true });
    mkdirSync(dir);
    await killedAnywhere(() => newStrategy(dir, 'my-trial'), begin, names);
  });

  test('a line of a log, which the next line does not join', () => {
    const file = join(dir, 'log.jsonl');
    appendLine(file, 'one');
    [disk.writes, disk.killAt] = [0, 2];
    expect(() => appendLine(file, 'another')).toThrow(/killed/);
    disk.killAt = Infinity;
    appendLine(file, 'three');
    expect(readFileSync(file, 'utf8').split('\n')).toEqual([
      'one',
      expect.stringMatching(/^anot?h?e?r?$/),
      'three',
      '',
    ]);
  });
});

describe('an output', () => {
  test('keeps the permissions of the file that it replaces, and otherwise has those of any new file', () => {
    const [old, fresh] = [join(dir, 'old.csv'), join(dir, 'new.csv')];
    writeFileSync(old, 'a');
    chmodSync(old, 0o640);
    writeOutputFile(old, 'b');
    writeOutputFile(fresh, 'b');
    const modeOf = (file: string): number => statSync(file).mode & 0o777;
    expect([modeOf(old), modeOf(fresh)]).toEqual([0o640, 0o666 & ~process.umask()]);
  });

  test.each([
    ['a file', true],
    ['nothing yet', false],
  ])('behind a link to %s is written where it leads, and the link stays', (_, isThere) => {
    const [link, target] = [join(dir, 'latest.html'), join(dir, 'pages/today.html')];
    mkdirSync(dirname(target));
    if (isThere) writeFileSync(target, 'earlier');
    symlinkSync('pages/today.html', link);
    writeOutputFile(link, 'now');
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(target, 'utf8')).toBe('now');
    expect(readdirSync(dir).sort()).toEqual(['latest.html', 'pages']);
  });

  test('for a pipe goes through it, and the pipe stays', async () => {
    const pipe = join(dir, 'report.json');
    execFileSync('mkfifo', [pipe]);
    const reader = spawn('cat', [pipe]);
    const read = text(reader.stdout);
    // A pipe without a reader would block the writer for ever.
    await once(reader, 'spawn');
    writeOutputFile(pipe, '{}\n');
    expect(await read).toBe('{}\n');
    expect(lstatSync(pipe).isFIFO()).toBe(true);
  });

  test('for a folder is refused, and the folder stays', () => {
    mkdirSync(join(dir, 'report.json'));
    expect(() => writeOutputFile(join(dir, 'report.json'), '')).toThrow(/EISDIR/);
    expect(readdirSync(dir)).toEqual(['report.json']);
  });

  test('of two that write one file at a time is that of the later one, whole; the other ends with an error', () => {
    const file = join(dir, 'fills.csv');
    const [one, other] = [openOutput(file), openOutput(file)];
    other.write('of the other, ');
    one.write('of the one');
    expect(() => one.finish()).toThrow(/fills\.csv: another process is writing this file/);
    one.discard();
    other.write('whole');
    other.finish();
    expect(filesIn(dir)).toEqual({ 'fills.csv': 'of the other, whole' });
  });
});

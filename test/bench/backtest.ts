/** Events per second of the replay, as shares of what a compiled loop does on the same tape in the same job. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import {
  FLAG,
  REPLAY_THREAD,
  rowsInShared,
  TickBook,
  windowOfLevels,
  type MarketRows,
  type RowWindow,
} from '../../backtest/index.ts';
import { runGolden } from '../scripts/goldenRun.ts';
import { openStoredTape, TapeWriter } from '../../src/tape/index.ts';
import { memoryOfOneMore } from './memoryOfOneMore.ts';
import { production } from './production.ts';
import type { ProductionWork } from './productionThread.ts';
import { REFERENCE_RULES } from '../scripts/referenceRules.ts';
import { decoding, lineOf, secondsSince, type TapeFigures } from './tape.ts';
import { readEventFile, storeEventFile } from '../scripts/eventFile.ts';
import { windowOfTape } from '../scripts/windowOfTape.ts';
import { inUnit } from './inUnit.ts';

const BENCH = process.env['PUNTAS_BENCH'] ?? '../shared/bench';
/** Of the compiled loop's events per second. Of several models or configurations those of all of them count; three models and a tape have no aim of their own. */
export const AIMS = {
  book: 0.5,
  golden: 0.1,
  goldenFromTape: 0.07,
  production: 0.065,
  productionFromTape: null,
  threeModels: null,
  sideBySide: 0.1,
} as const;
export type BacktestSize = {
  /** Events of the reference tape. */
  readonly events: number;
  readonly rounds: number;
  /** Events over which the compiled loop's processor time is taken: the system counts in hundredths of a second. */
  readonly processorEvents: number;
};

type Name = keyof typeof AIMS;
const NAMES = Object.keys(AIMS) as Name[];
/** Configurations beside each other in one thread; over a part of the tape, because each event is one of all of them. */
const SIDE_BY_SIDE = 16;
const SIDE_BY_SIDE_SHARE = 0.2;
const MODELS = ['pessimistic', 'expected', 'optimistic'] as const;

/**
 * The book alone, the golden run and the production path, in alternation with the compiled loop; medians of the rounds. Printed, and
 * returned by name; without ratios where the compiled loop cannot be built, and empty where the tape cannot be made.
 */
export async function backtestBench(
  { events: count, rounds, processorEvents }: BacktestSize,
  say: (line: string) => void = console.log,
): Promise<Readonly<Record<string, number>>> {
  if (!existsSync(join(BENCH, 'gen-tape.mjs'))) {
    say(`backtest: skipped, the reference tape's generator is not at ${BENCH} (PUNTAS_BENCH says where it is)`);
    return {};
  }
  const dir = mkdtempSync(join(tmpdir(), 'puntas-bench-'));
  const threads: Worker[] = [];
  try {
    execFileSync(process.execPath, [join(BENCH, 'gen-tape.mjs'), String(count), join(dir, 'tape')]);
    const compiled = compiledLoop(dir);
    const rows = readEventFile(join(dir, 'tape.bin'));
    const inMillis = inUnit(rows, 0.001);
    const limit: number[] = [];
    const tape = join(dir, 'stored');
    const stored = storeReference(join(dir, 'tape.bin'), tape);
    say(`tape, reference: ${lineOf(stored)}`);
    const shared = rowsInShared(inMillis);
    const part = firstRows(inMillis, Math.ceil(SIDE_BY_SIDE_SHARE * rows.length));
    say(`backtest, one more configuration beside others: ${(await memoryOfOneMore(part)).toFixed(1)} MB (at most 5)`);
    const sharedPart = rowsInShared(part);
    threads.push(...MODELS.map(() => new Worker(new URL('./productionThread.js', import.meta.url), REPLAY_THREAD)));
    const run: Record<Name, () => void | Promise<void>> = {
      book: () => void bookAlone(rows),
      golden: () => golden(rows),
      goldenFromTape: () => golden(windowOfTape(openStoredTape(tape))),
      production: () => void production(inMillis, 'expected'),
      productionFromTape: () => {
        const { to } = openStoredTape(tape);
        production(windowOfLevels(openStoredTape(tape)), 'expected', to);
      },
      threeModels: async () => {
        await Promise.all(MODELS.map((model, i) => inThread(threads[i]!, { rows: shared, what: model })));
      },
      sideBySide: () => inThread(threads[0]!, { rows: sharedPart, what: SIDE_BY_SIDE }),
    };
    const events = Object.fromEntries(NAMES.map(name => [name, rows.length])) as Record<Name, number>;
    events.threeModels = MODELS.length * rows.length;
    events.sideBySide = SIDE_BY_SIDE * part.length;
    const compiledNs: number[] = [];
    const none = () => Object.fromEntries(NAMES.map(name => [name, [] as number[]])) as Record<Name, number[]>;
    const speeds = none();
    const shares = none();
    const cpu = none();
    for (let round = 0; round < rounds; round++) {
      const busy = compiled === null ? null : processorNsOf(dir, rows.length, processorEvents);
      if (busy !== null) compiledNs.push(busy);
      for (const name of NAMES) {
        const before = compiled?.();
        const began = performance.now();
        const busy = process.cpuUsage();
        await run[name]();
        const speed = (events[name] / (performance.now() - began)) * 1000;
        const { user, system } = process.cpuUsage(busy);
        speeds[name].push(speed);
        cpu[name].push((1_000 * (user + system)) / events[name]);
        if (compiled === null || before === undefined) continue;
        // The machine's own pace changes by the minute: each run is held against the loop just before and just after it.
        const beside = (before + compiled()) / 2;
        limit.push(beside);
        shares[name].push(speed / beside);
      }
    }
    if (limit.length > 0) say(`backtest, compiled loop: ${millions(median(limit))} M events/s`);
    else say('backtest: no ratio to the compiled loop, because g++ or its source is not here');
    const figures: Record<string, number> = {
      'backtest.tapeBytesPerRow': stored.bytesPerRow,
      'backtest.tapeDecodeRowsPerSecond': stored.decodeRowsPerSecond,
      ...(limit.length > 0 ? { 'backtest.compiledLoopEventsPerSecond': median(limit) } : {}),
    };
    for (const name of NAMES) {
      const speed = median(speeds[name]);
      const share = limit.length === 0 ? null : median(shares[name]);
      const aim = AIMS[name] === null ? '' : ` (aim ${AIMS[name]})`;
      const ratio = share === null ? '' : `, ${share.toFixed(3)} of the compiled loop${aim}`;
      const ns = median(cpu[name]);
      const ofProcessor = compiledNs.length === 0 ? null : median(compiledNs) / ns;
      const cost = `${ns.toFixed(0)} ns of processor time an event`;
      const beside = ofProcessor === null ? '' : `, ${ofProcessor.toFixed(3)} of it by processor time`;
      say(`backtest, ${name}: ${millions(speed)} M events/s${ratio}; ${cost}${beside}`);
      figures[`backtest.${name}EventsPerSecond`] = speed;
      if (ofProcessor !== null) figures[`backtest.${name}ProcessorTimeToCompiledLoop`] = ofProcessor;
      figures[`backtest.${name}ProcessorNsPerEvent`] = ns;
      if (share !== null) figures[`backtest.${name}ToCompiledLoop`] = share;
    }
    return figures;
  } finally {
    await Promise.all(threads.map(thread => thread.terminate()));
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Events per second of the compiled loop, or null where it cannot be built. */
function compiledLoop(dir: string): (() => number) | null {
  const source = join(BENCH, 'book-limit.cpp');
  if (!existsSync(source)) return null;
  try {
    execFileSync('g++', ['-O3', '-march=native', '-o', join(dir, 'limit'), source], { stdio: 'ignore' });
  } catch {
    return null;
  }
  return () => {
    const out = execFileSync(join(dir, 'limit'), [join(dir, 'tape.bin'), '3', '0'], { encoding: 'utf8' });
    return Number(/-> ([\d.]+) M ev\/s/.exec(out)![1]) * 1e6;
  };
}

/** Processor time of the compiled loop for an event, in ns: what many passes take beyond one. Null where the system does not say what children took. */
function processorNsOf(dir: string, events: number, processorEvents: number): number | null {
  const passes = Math.ceil(processorEvents / events);
  const taken = (times: number): number | null => {
    const before = secondsOfChildren();
    execFileSync(join(dir, 'limit'), [join(dir, 'tape.bin'), String(times), '0']);
    const after = secondsOfChildren();
    return before === null || after === null ? null : after - before;
  };
  const [one, more] = [taken(1), taken(1 + passes)];
  return one === null || more === null ? null : ((more - one) / passes / events) * 1e9;
}

/** User and system time of all children that have ended. */
function secondsOfChildren(): number | null {
  if (!existsSync('/proc/self/stat')) return null;
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // What follows the name of the program begins with the third field; these are the sixteenth and the next, in hundredths.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

function storeReference(file: string, dir: string): TapeFigures {
  const began = process.cpuUsage();
  const writer = new TapeWriter({ dir, rules: REFERENCE_RULES, lot: '0.001', source: 'the reference tape' });
  storeEventFile(file, writer);
  writer.close();
  const encodeRowsPerSecond = writer.rows / secondsSince(began);
  return { ...decoding(dir), encodeRowsPerSecond };
}

/** The first so many of them, as a tape of its own. */
function firstRows(rows: MarketRows, length: number): MarketRows {
  const { base, places, depth, place, lots, flags } = rows;
  const until = (times: Float64Array): Float64Array => times.slice(0, length + 1).fill(Infinity, length);
  return {
    length,
    base,
    places,
    depth,
    at: until(rows.at),
    local: until(rows.local),
    place,
    lots,
    flags,
    orders: null,
  };
}

function bookAlone({ length, places, place, lots, flags }: MarketRows): number {
  const book = new TickBook({ places });
  let traded = 0;
  for (let row = 0; row < length; row++) {
    const flag = flags[row]!;
    if ((flag & FLAG.trade) !== 0) traded += lots[row]!;
    else if ((flag & FLAG.sell) !== 0) book.setAsk(place[row]!, lots[row]!);
    else book.setBid(place[row]!, lots[row]!);
  }
  return traded + book.bid + book.ask;
}

/** In a thread that lives on, begun as the program begins its own. */
function inThread(thread: Worker, work: ProductionWork): Promise<void> {
  return new Promise((resolve, reject) => {
    const over = (settle: () => void) => {
      thread.off('error', onError).off('message', onMessage);
      settle();
    };
    const onError = (error: Error) => over(() => reject(error));
    const onMessage = () => over(resolve);
    thread.on('error', onError).on('message', onMessage);
    thread.postMessage(work);
  });
}

function golden(rows: MarketRows | RowWindow): void {
  const options = { halfSpreadTicks: 2, interval: 100_000, latency: 10_000, orderLots: 50, positionMaxLots: 1_000 };
  const { fills } = runGolden(rows, options);
  if (fills === 0) throw new Error('the golden run had no fill');
}

const millions = (perSecond: number): string => (perSecond / 1e6).toFixed(1);
const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;

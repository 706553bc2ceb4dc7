/** Events per second of the replay, as shares of what a compiled loop does on the same tape in the same job. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  constantLatency,
  FLAG,
  fillModel,
  inUnit,
  readEventFile,
  runGolden,
  runReplay,
  storeEventFile,
  TickBook,
  windowOfTape,
} from '../../backtest/index.ts';
import type { MarketRows, RowWindow } from '../../backtest/index.ts';
import { Engine, instrumentOf, money } from '../../src/core/index.ts';
import type { Amount, EngineNews, Value } from '../../src/core/index.ts';
import { openStoredTape, TapeWriter } from '../../src/tape/index.ts';
import { strategies } from '../../strategies/index.ts';
import { decoding, lineOf, secondsSince } from './tape.ts';
import type { TapeFigures } from './tape.ts';

const BENCH = process.env['PUNTAS_BENCH'] ?? '../shared/bench';
const EVENTS = Number(process.env['PUNTAS_BENCH_EVENTS'] ?? 10_000_000);
const ROUNDS = 3;
const AIMS = { book: 0.5, golden: 0.1, goldenFromTape: 0.07, production: 0.03 };
const NAMES = ['book', 'golden', 'goldenFromTape', 'production'] as const;

/**
 * The book alone, the golden run and the production path, in alternation with the compiled loop; medians of the rounds. Printed, and
 * returned by name; without ratios where the compiled loop cannot be built, and empty where the tape cannot be made.
 */
export async function backtestBench(
  say: (line: string) => void = console.log,
): Promise<Readonly<Record<string, number>>> {
  if (!existsSync(join(BENCH, 'gen-tape.mjs'))) {
    say(`backtest: skipped, the reference tape's generator is not at ${BENCH} (PUNTAS_BENCH says where it is)`);
    return {};
  }
  const dir = mkdtempSync(join(tmpdir(), 'puntas-bench-'));
  try {
    execFileSync(process.execPath, [join(BENCH, 'gen-tape.mjs'), String(EVENTS), join(dir, 'tape')]);
    const compiled = compiledLoop(dir);
    const rows = readEventFile(join(dir, 'tape.bin'));
    const inMillis = inUnit(rows, 0.001);
    const limit: number[] = [];
    const tape = join(dir, 'stored');
    const stored = storeReference(join(dir, 'tape.bin'), tape);
    say(`tape, reference: ${lineOf(stored)}`);
    const run = {
      book: () => bookAlone(rows),
      golden: () => golden(rows),
      goldenFromTape: () => golden(windowOfTape(openStoredTape(tape))),
      production: () => production(inMillis),
    };
    const none = () =>
      ({ book: [], golden: [], goldenFromTape: [], production: [] }) as Record<(typeof NAMES)[number], number[]>;
    const speeds = none();
    const shares = none();
    for (let round = 0; round < ROUNDS; round++) {
      for (const name of NAMES) {
        const before = compiled?.();
        const began = performance.now();
        run[name]();
        const speed = (rows.length / (performance.now() - began)) * 1000;
        speeds[name].push(speed);
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
    };
    for (const name of NAMES) {
      const speed = median(speeds[name]);
      const share = limit.length === 0 ? null : median(shares[name]);
      const ratio = share === null ? '' : `, ${share.toFixed(3)} of the compiled loop (aim ${AIMS[name]})`;
      say(`backtest, ${name}: ${millions(speed)} M events/s${ratio}`);
      figures[`backtest.${name}EventsPerSecond`] = speed;
      if (share !== null) figures[`backtest.${name}ToCompiledLoop`] = share;
    }
    return figures;
  } finally {
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

/** What the reference tape says of itself nowhere. */
export const REFERENCE_RULES = {
  book: 'btc_usd',
  tickSize: '0.1',
  minimumAmount: '0.001',
  maximumAmount: '500',
  minimumPrice: '0.1',
  maximumPrice: '1000000',
  minimumValue: '1',
  maximumValue: '200000000',
};

function storeReference(file: string, dir: string): TapeFigures {
  const began = process.cpuUsage();
  const writer = new TapeWriter({ dir, rules: REFERENCE_RULES, lot: '0.001', source: 'the reference tape' });
  storeEventFile(file, writer);
  writer.close();
  const encodeRowsPerSecond = writer.rows / secondsSince(began);
  return { ...decoding(dir), encodeRowsPerSecond };
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

function golden(rows: MarketRows | RowWindow): void {
  const options = { halfSpreadTicks: 2, interval: 100_000, latency: 10_000, orderLots: 50, positionMaxLots: 1_000 };
  const { fills } = runGolden(rows, options);
  if (fills === 0) throw new Error('the golden run had no fill');
}

/** The engine with its gate, a ladder of two levels a side, accounting, one fill model; distances and times as in the default configuration. */
function production(rows: MarketRows): void {
  const instrument = instrumentOf(REFERENCE_RULES, '0.001');
  const kind = strategies.ladder;
  const parameters = kind.parameters.parse({
    halfSpreadBps: 10.6,
    levels: 2,
    levelSpacingBps: 6,
    amount: '0.05',
    refreshToleranceBps: 4,
    minEdgeBps: 0,
  });
  const many = 100_000;
  const engine = (_rates: object, onNews: (news: EngineNews) => void): Engine =>
    new Engine({
      instrument,
      strategy: kind.make(parameters, instrument),
      limits: {
        positionMax: 2_000 as Amount,
        orderValueMax: (10n ** 12n) as Value,
        ordersMax: 40,
        collarBps: 500,
        staleAfterMs: 60_000,
      },
      halts: {
        drawdownMax: money(10n ** 30n),
        dayLossMax: money(10n ** 30n),
        fillsPer10Min: many,
        refusalsPerMinute: many,
        unknownsPerMinute: many,
        messagesPerMinute: many,
      },
      tolerance: kind.tolerance(parameters),
      instance: 'bench',
      run: 1,
      target: null,
      patience: {
        fenceMs: 50_000,
        settleMs: 20_000,
        cancelAgainMs: 2_000,
        decideEveryMs: 1_000,
        lookEveryMs: 500,
        privateStaleAfterMs: 10_000,
      },
      onNews,
    });
  const result = runReplay({
    instrument,
    rows,
    gaps: [],
    model: fillModel('expected', rows),
    latency: constantLatency(10, 10),
    fees: { tiers: [{ volume: '9999999999', maker: '0', taker: '0.0005' }], volume30d: '0' },
    balances: { btc: '1000', usd: '10000000' },
    decideEveryMs: 1_000,
    privatePollMs: 2_000,
    privatePerMinute: 300,
    engine,
  });
  if (result.snapshot.fills === 0 || result.haltedBecause !== null) throw new Error('the replay traded nothing');
  if (process.env['PUNTAS_BENCH_DETAIL']) {
    const { fills, counts, uptime } = result.snapshot;
    console.log(JSON.stringify({ fills, counts, uptime, decisions: result.decisions, requests: result.requests }));
  }
}

const millions = (perSecond: number): string => (perSecond / 1e6).toFixed(1);
const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;

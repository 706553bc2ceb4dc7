/** Runs the golden strategy on a recorded event file and prints its counts, amounts and speed as one line of JSON: `npm run golden`. */
import { statSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { RowWindow } from '../../backtest/index.ts';
import { money, textOfMoney } from '../../src/core/index.ts';
import { openStoredTape, TapeWriter } from '../../src/tape/index.ts';
import { runGolden, type GoldenCounts } from './goldenRun.ts';
import { REFERENCE_RULES } from './referenceRules.ts';
import { readEventFile, storeEventFile } from './eventFile.ts';
import { windowOfTape } from './windowOfTape.ts';

/** Of the golden run: tick 0.1, lot 0.001, orders of 0.05, at most 1.0 held, 10 ms each way, a rebate of 1 bp. Rows are in microseconds. */
const LATENCY_US = 10_000;
const ORDER_LOTS = 50;
const POSITION_MAX_LOTS = 1_000;
const LOT = 10n ** 15n;
const TICK_LOT = 10n ** 14n;
const REBATE_BPS = 1n;
const SHOWN = 10n ** 14n;

type Flags = {
  readonly tape: string;
  readonly halfSpread: number;
  readonly intervalMs: number;
  readonly store?: string;
  readonly times: number;
};

const program = new Command('golden')
  .description('the golden run on an event file or a stored tape')
  .requiredOption(
    '--tape <path>',
    'event file, or folder of a stored tape: read while it is run, decoded ahead by a thread',
  )
  .option('--half-spread <ticks>', 'half spread in ticks', aboveZero, 2)
  .option('--interval-ms <ms>', 'time between decisions', aboveZero, 100)
  .option('--store <dir>', 'instead of running, write the event file as a stored tape into this folder')
  .option('--times <n>', 'with --store: so many times, one after another', aboveZero, 1)
  .action(({ tape, halfSpread, intervalMs, store, times }: Flags) => {
    if (store !== undefined) {
      console.log(JSON.stringify(stored(tape, store, times)));
      return;
    }
    const isStored = statSync(tape).isDirectory();
    let began = process.hrtime.bigint();
    const rows = isStored ? windowOfTape(openStoredTape(tape)) : readEventFile(tape);
    // Of an event file the run alone is timed; of a tape the reading is a part of it.
    if (!isStored) began = process.hrtime.bigint();
    const counts = runGolden(rows, {
      halfSpreadTicks: halfSpread,
      interval: intervalMs * 1000,
      latency: LATENCY_US,
      orderLots: ORDER_LOTS,
      positionMaxLots: POSITION_MAX_LOTS,
    });
    const seconds = Number(process.hrtime.bigint() - began) / 1e9;
    const events = rows instanceof RowWindow ? rows.total : rows.length;
    console.log(JSON.stringify({ ...shown(counts), events, eventsPerSecond: Math.round(events / seconds) }));
  });

program.parseAsync().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});

function stored(file: string, dir: string, times: number): object {
  const writer = new TapeWriter({ dir, rules: REFERENCE_RULES, lot: '0.001', source: file });
  storeEventFile(file, writer, times);
  writer.close();
  const { rows, bytes } = openStoredTape(dir);
  return { rows, bytes, bytesPerRow: bytes / rows };
}

/** Sums are exact until here, and shown to four decimals; a fee that is received is negative. */
function shown({ steps, submits, cancels, fills, positionLots, cash, turnover, volumeLots }: GoldenCounts): object {
  const number = (atto: bigint): number => Number(textOfMoney(money(atto)));
  return {
    steps,
    submits,
    cancels,
    fills,
    position: number(BigInt(positionLots) * LOT),
    balance: number(cash * TICK_LOT),
    fee: number(-toFourDecimals((turnover * TICK_LOT * REBATE_BPS) / 10_000n)),
    volume: number(BigInt(volumeLots) * LOT),
  };
}

/** The nearest; of a sum that is not negative. */
function toFourDecimals(atto: bigint): bigint {
  return ((atto + SHOWN / 2n) / SHOWN) * SHOWN;
}

function aboveZero(text: string): number {
  const n = Number(text);
  if (!(n > 0 && n < Infinity)) throw new InvalidArgumentError('expected a number above 0.');
  return n;
}

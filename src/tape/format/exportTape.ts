/**
 * Export of a stored tape to one file for other programs: Parquet (DuckDB, pandas, Polars) or CSV. Memory use is
 * constant, and numbers keep all their digits.
 */
import { gzipSync } from 'node:zlib';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { textOfAmount, textOfPrice, type Amount, type Instrument, type Price } from '../../core/index.ts';
import { openOutput, type OutputFile } from '../../guard/index.ts';
import type { TapeChunk } from './chunkReader.ts';
import type { StoredTape } from './storedTape.ts';
import { KIND } from '../model/tape.ts';

const KIND_NAMES: readonly string[] = Object.entries(KIND)
  .sort(([, a], [, b]) => a - b)
  .map(([name]) => name);
const SIDE_NAMES: readonly (string | null)[] = ['buy', 'sell', null];
const hasAmount = (kind: number): boolean => kind !== KIND.clear;
const hasId = (kind: number): boolean => kind >= KIND.trade;

/**
 * Writes the rows to a file whose ending, .parquet or .csv, selects the format. Columns: exchange_time and local_time
 * (UTC, in microseconds), kind, side, price, amount, id; missing values are null. `onRows` receives the number of rows
 * written. The file gets its name only when it is complete. Throws an Error of one line for any other ending.
 */
export async function exportTape(tape: StoredTape, file: string, onRows: (rows: number) => void): Promise<void> {
  const write = file.endsWith('.parquet') ? toParquet : file.endsWith('.csv') ? toCsv : null;
  if (write === null) throw new Error(`${file}: expected a file name that ends in .parquet or .csv`);
  const output = openOutput(file);
  try {
    await write(tape, output, onRows);
    output.finish();
  } catch (error) {
    output.discard();
    throw error;
  }
}

/** Maximum number of digits of a 64-bit Parquet decimal. */
const PRECISION = 18;

async function toParquet(tape: StoredTape, file: OutputFile, onRows: (rows: number) => void): Promise<void> {
  const priceScale = Math.max(...tape.rules.map(({ rules }) => decimalsOf(rules.tickSize)));
  const amountScale = decimalsOf(tape.lot);
  const time = { type: 'INT64', repetition_type: 'REQUIRED', converted_type: 'TIMESTAMP_MICROS' } as const;
  const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const;
  const decimal = {
    type: 'INT64',
    converted_type: 'DECIMAL',
    precision: PRECISION,
    repetition_type: 'OPTIONAL',
  } as const;
  const writer = new ParquetWriter({
    writer: new BlockWriter(file),
    schema: [
      { name: 'root', num_children: 7 },
      { name: 'exchange_time', ...time },
      { name: 'local_time', ...time },
      { name: 'kind', ...text, repetition_type: 'REQUIRED' },
      { name: 'side', ...text, repetition_type: 'OPTIONAL' },
      { name: 'price', ...decimal, scale: priceScale },
      { name: 'amount', ...decimal, scale: amountScale },
      { name: 'id', type: 'INT64', repetition_type: 'OPTIONAL' },
    ],
    codec: 'GZIP',
    compressors: { GZIP: bytes => gzipSync(bytes) },
    createdBy: 'puntas',
    kvMetadata: [
      { key: 'puntas.book', value: tape.book },
      { key: 'puntas.source', value: tape.source },
      { key: 'puntas.rules', value: JSON.stringify(tape.rules) },
      { key: 'puntas.gaps', value: JSON.stringify(tape.gaps) },
    ],
  });
  for (const { columns, instrument } of tape.chunksAhead({ micros: true })) {
    const { length, kind, side, at, local, price, amount, id } = columns;
    const tick = scaledBy(instrument.tick, priceScale);
    const lot = scaledBy(instrument.lot, amountScale);
    const each = <T>(of: (row: number) => T): T[] => Array.from({ length }, (_, row) => of(row));
    await writer.write({
      rowGroupSize: length,
      columnData: [
        {
          name: 'exchange_time',
          data: BigInt64Array.from(each(row => BigInt(at[row]!))),
          encoding: 'DELTA_BINARY_PACKED',
        },
        {
          name: 'local_time',
          data: BigInt64Array.from(each(row => BigInt(local[row]!))),
          encoding: 'DELTA_BINARY_PACKED',
        },
        { name: 'kind', data: each(row => KIND_NAMES[kind[row]!] ?? '') },
        { name: 'side', data: each(row => SIDE_NAMES[side[row]!] ?? null) },
        { name: 'price', data: each(row => (hasAmount(kind[row]!) ? inDecimal(price[row]!, tick) : null)) },
        { name: 'amount', data: each(row => (hasAmount(kind[row]!) ? inDecimal(amount[row]!, lot) : null)) },
        { name: 'id', data: each(row => (hasId(kind[row]!) ? BigInt(id[row]!) : null)) },
      ],
    });
    onRows(length);
  }
  await writer.finish();
}

/** Number of bytes that are collected and then written as one block. */
const BLOCK_BYTES = 1_000_000;

/** Output of the Parquet library, written to a file in blocks. */
class BlockWriter extends ByteWriter {
  readonly #file: OutputFile;

  constructor(file: OutputFile) {
    super();
    this.#file = file;
  }

  override ensure(size: number): void {
    if (this.index > BLOCK_BYTES) this.#flush();
    super.ensure(size);
  }

  override finish(): void {
    this.#flush();
  }

  #flush(): void {
    this.#file.write(new Uint8Array(this.buffer, 0, this.index));
    this.index = 0;
  }
}

const decimalsOf = (text: string): number => (text.split('.')[1] ?? '').length;
const scaledBy = (text: string, scale: number): bigint => {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(scale, '0'));
};

const LIMIT = 10n ** BigInt(PRECISION);

function inDecimal(units: number, unit: bigint): bigint {
  const scaled = BigInt(units) * unit;
  if (scaled >= LIMIT || -scaled >= LIMIT) {
    throw new RangeError(
      `a price or amount of ${units} ticks or lots has more than ${PRECISION} digits, the maximum of a Parquet decimal; export to .csv`,
    );
  }
  return scaled;
}

const HEADER = 'exchange_time,local_time,kind,side,price,amount,id\n';

async function toCsv(tape: StoredTape, file: OutputFile, onRows: (rows: number) => void): Promise<void> {
  file.write(HEADER);
  for (const chunk of tape.chunksAhead({ micros: true })) {
    file.write(Buffer.from(linesOf(chunk), 'latin1'));
    onRows(chunk.columns.length);
  }
}

function linesOf({ columns, instrument }: TapeChunk): string {
  const { length, kind, side, at, local, price, amount, id } = columns;
  let text = '';
  for (let row = 0; row < length; row++) {
    const what = kind[row]!;
    const numbers = hasAmount(what)
      ? `${priceText(instrument, price[row]!)},${textOfAmount(instrument, amount[row]! as Amount)}`
      : ',';
    const name = hasId(what) ? String(id[row]) : '';
    text += `${timeText(at[row]!)},${timeText(local[row]!)},${KIND_NAMES[what] ?? ''},${SIDE_NAMES[side[row]!] ?? ''},${numbers},${name}\n`;
  }
  return text;
}

const priceText = (instrument: Instrument, ticks: number): string =>
  ticks < 0 ? `-${textOfPrice(instrument, -ticks as Price)}` : textOfPrice(instrument, ticks as Price);

/** Formats microseconds since 1970, such as 2026-11-21T00:00:00.000001Z. */
function timeText(micros: number): string {
  const millis = Math.floor(micros / 1000);
  return `${new Date(millis).toISOString().slice(0, -1)}${String(micros - millis * 1000).padStart(3, '0')}Z`;
}

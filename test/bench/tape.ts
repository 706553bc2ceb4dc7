/** Stored tapes: bytes a row and decoding speed, of the reference tape and of the recordings where they lie. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStoredTape, openTape, TapeWriter, type Tape } from '../../src/tape/index.ts';

const DATA = process.env['PUNTAS_DATA'] ?? '../shared/data';
const AIMS = { bytesPerRow: 6, decodeRowsPerSecond: 16e6 };

export type TapeFigures = {
  readonly rows: number;
  readonly bytesPerRow: number;
  readonly encodeRowsPerSecond: number;
  readonly decodeRowsPerSecond: number;
};

/** Figures by the name of the recording, of the first `count` folders. Rows per second are of processor time of this thread. */
export async function tapeBench(
  count: number,
  say: (line: string) => void = console.log,
): Promise<Readonly<Record<string, TapeFigures>>> {
  const figures: Record<string, TapeFigures> = {};
  if (!existsSync(DATA)) say(`tapes: no recordings at ${DATA} (PUNTAS_DATA says where they are)`);
  else {
    for (const set of readdirSync(DATA).sort().slice(0, count)) {
      for (const tape of await tapesIn(join(DATA, set))) {
        const name = `${set} ${tape.instrument.symbol}`;
        figures[name] = stored(tape);
        say(`tape, ${name}: ${lineOf(figures[name])}`);
      }
    }
  }
  return figures;
}

export const lineOf = ({ rows, bytesPerRow, encodeRowsPerSecond, decodeRowsPerSecond }: TapeFigures): string =>
  `${rows} rows, ${bytesPerRow.toFixed(2)} bytes a row (aim at most ${AIMS.bytesPerRow}), decoded ${(decodeRowsPerSecond / 1e6).toFixed(1)} M rows/s ` +
  `(aim ${AIMS.decodeRowsPerSecond / 1e6}), written ${(encodeRowsPerSecond / 1e6).toFixed(2)} M rows/s`;

/** Every book of a folder; none where it is no recording of a market. */
async function tapesIn(dir: string): Promise<Tape[]> {
  try {
    return [await openTape(dir)];
  } catch (error) {
    const books = /choose one of: (.*)$/.exec(error instanceof Error ? error.message : '')?.[1]?.split(', ') ?? [];
    return Promise.all(books.map(book => openTape(dir, { book })));
  }
}

function stored({ columns, rules, source, instrument }: Tape): TapeFigures {
  const dir = mkdtempSync(join(tmpdir(), 'puntas-bench-tape-'));
  try {
    const began = process.cpuUsage();
    const writer = new TapeWriter({ dir, rules, lot: instrument.lot, source });
    writer.append(columns);
    writer.close();
    return { ...decoding(dir), encodeRowsPerSecond: columns.length / secondsSince(began) };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The best of some passes over all rows. */
export function decoding(dir: string): Omit<TapeFigures, 'encodeRowsPerSecond'> {
  const tape = openStoredTape(dir);
  let best = 0;
  let passes = Math.max(3, Math.ceil(2_000_000 / tape.rows));
  for (; passes > 0; passes--) {
    const began = process.cpuUsage();
    let rows = 0;
    for (const { columns } of tape.chunks()) rows += columns.length;
    best = Math.max(best, rows / secondsSince(began));
  }
  return { rows: tape.rows, bytesPerRow: tape.bytes / tape.rows, decodeRowsPerSecond: best };
}

export function secondsSince(began: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1e6;
}

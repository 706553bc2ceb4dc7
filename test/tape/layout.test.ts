/** Written from docs/development/tape-layout.md alone: it must read what the writer wrote. Slow, and shares nothing with the reader of the program. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { amount, price } from '../../src/core/index.ts';
import { KIND, SIDE, TapeBuilder, TapeWriter, type Columns } from '../../src/tape/index.ts';
import { plainColumns, RULES, START } from './storedRows.ts';

/** Kind, side, both times in milliseconds, price, amount, id. */
type Row = readonly number[];

function readDay(folder: string): Row[] {
  const rows: Row[] = [];
  for (const name of readdirSync(folder).sort().reverse()) {
    const file = readFileSync(join(folder, name));
    for (let at = 0; at < file.length; at += 16 + file.readUInt32LE(at + 4)) {
      if (file.toString('latin1', at, at + 4) !== 'ROWS') continue;
      rows.push(...readBlock(file.subarray(at + 16, at + 16 + file.readUInt32LE(at + 4))));
    }
  }
  return rows;
}

function readBlock(block: Buffer): Row[] {
  const count = block.readUInt32LE(0);
  const ids = block.readUInt32LE(68);
  let raw = 76 + 6 * 20;
  const deflated = block.readUInt32LE(72);
  const inflated = deflated === 0 ? block : inflateRawSync(block.subarray(block.length - deflated));
  let next = 0;
  const columns = Array.from({ length: 6 }, (_, column) => {
    const place = 76 + 20 * column;
    const length = column === 5 ? ids : count;
    const planes = Array.from({ length: block[place + 1]! }, (_, plane) => {
      if (((block[place + 2]! >> plane) & 1) === 1) return inflated.subarray(next, (next += length));
      return block.subarray(raw, (raw += length));
    });
    return numbers(length, block[place]!, block.readDoubleLE(place + 4), block.readDoubleLE(place + 12), planes);
  });
  let time = block.readDoubleLE(16);
  let id = 0;
  return Array.from({ length: count }, (_, row) => {
    const [mark, step, delay, ticks, lots] = columns.map(column => column[row]!) as [
      number,
      number,
      number,
      number,
      number,
    ];
    const kind = mark % 16;
    time += step;
    const name = kind >= 2 ? columns[5]![id++]! : 0;
    return [kind, Math.floor(mark / 16), time / 1000, (time + delay) / 1000, kind === 0 ? 0 : ticks, lots, name];
  });
}

function numbers(length: number, coding: number, base: number, scale: number, planes: readonly Uint8Array[]): number[] {
  let before = base;
  return Array.from({ length }, (_, i) => {
    if (coding === 0) return base;
    if (coding === 3) return Buffer.from(planes.map(plane => plane[i]!)).readDoubleLE(0);
    const u = planes.reduce((sum, plane, p) => sum + plane[i]! * 256 ** p, 0);
    if (coding === 1) return base + scale * u;
    before += scale * (u % 2 === 0 ? u / 2 : -(u + 1) / 2);
    return before;
  });
}

function market(): Columns {
  const tape = new TapeBuilder();
  for (let i = 0; i < 6_000; i++) {
    const micros = START * 1000 + i * 7_000 + (i % 3);
    const at = micros / 1000;
    const local = (micros + ((i * 7919) % 5_000) - 1_000) / 1000;
    if (i % 500 === 0) tape.clear(at, local);
    else if (i % 5 === 1)
      tape.trade(at, local, (i % 3) as 0 | 1 | 2, price(50_000 + (i % 90)), amount(i * 31_000), 10_000_000 + i);
    else if (i % 5 === 2) tape.order(KIND.add, at, local, SIDE.buy, price(49_000 + (i % 70)), amount(17), i * 1e12);
    else if (i % 5 === 3) tape.order(KIND.remove, at, local, SIDE.buy, price(Number.MAX_SAFE_INTEGER), amount(0), i);
    else tape.level(at, local, SIDE.sell, price(-50_000 - ((i * i) % 80)), amount((i % 9) * 1000));
  }
  return tape.columns();
}

test('a reader written from docs/development/tape-layout.md reads a tape, sealed and not yet sealed', () => {
  const dir = mkdtempSync(join(tmpdir(), 'puntas-layout-'));
  try {
    const columns = market();
    const tape = new TapeWriter({ dir, rules: RULES, source: 'a test', blockRows: 2_500 });
    tape.append(columns);
    tape.flush();
    const folder = join(dir, 'book=btc_mxn', 'day=2026-11-21');
    expect(readdirSync(folder).sort()).toEqual(['rows.tail', 'rows.tape']);
    expect(readDay(folder)).toEqual(plainColumns(columns));
    tape.close();
    expect(readdirSync(folder)).toEqual(['rows.tape']);
    expect(readDay(folder)).toEqual(plainColumns(columns));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

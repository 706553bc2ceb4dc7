/** Readers of the kinds of tables in a mapping file: quotes, books, levels, orders, trades. */
import { amount, type Amount, type DecimalText, type Instrument, type Price } from '../../../core/index.ts';
import { SIDE } from '../../model/tape.ts';
import { lotsOf, plainText, ticksOf, timesUnit, withPoint } from '../digits.ts';
import type { Findings } from '../read/findings.ts';
import { shown } from '../lines.ts';
import { RecentKeys } from '../recentKeys.ts';
import { knownSide, sideIn, type Cells, type Numbers, type RowReader } from './cells.ts';
import { ordersReader } from './singleOrders.ts';
import { SnapshotRows } from './snapshotRows.ts';
import type { Table, TableOf, Time } from './mapping.ts';

/** Returns the columns that a time consists of. */
export const timeColumns = ({ column, hour, clock }: Time): readonly string[] =>
  [...column, hour, clock].filter(name => name !== undefined);

/** Returns the columns that a table's reader needs. */
export function columnsOf(table: Table): readonly string[] {
  const named = [table.time, ...(table.received ? [table.received] : [])].flatMap(timeColumns);
  const given = (columns: readonly (string | undefined)[]) => columns.filter(name => name !== undefined);
  const own = (): readonly string[] => {
    if (table.kind === 'quotes') return given([table.bid, table.ask, table.bidAmount, table.askAmount]);
    if (table.kind === 'books') return bookColumns(table).flat();
    if (table.kind === 'levels')
      return given([table.side.column, table.price, table.amount, table.snapshot?.column, table.removed?.column]);
    if (table.kind === 'orders')
      return given([
        ...[table.event.column, table.id, table.newId, table.side.column, table.price, table.amount],
        table.snapshot?.column,
      ]);
    return given([table.price, table.amount, table.id, table.side?.column]);
  };
  return [...new Set([...named, ...Object.keys(table.where), ...own()])];
}

/** Returns the reader for all files of a table. The reader keeps its state from file to file. */
export function readerOf(table: Table, instrument: Instrument, findings: Findings): RowReader {
  const plain = (text: string, unit: DecimalText) =>
    timesUnit(
      plainText(withPoint(text, table.decimal, table.thousands), () => undefined),
      unit,
    );
  const numbers: Numbers = {
    price: text => ticksOf(instrument, plain(text, table.priceUnit)),
    lots: text => lotsOf(instrument, plain(text, table.amountUnit)),
  };
  if (table.kind === 'quotes') return quotes(table, numbers);
  if (table.kind === 'books') return books(table, numbers);
  if (table.kind === 'levels') return levels(table, numbers);
  if (table.kind === 'orders') return ordersReader(table, numbers, findings);
  return trades(table, numbers, findings);
}

type Level = { readonly price: Price; readonly lots: Amount };

/**
 * Returns a reader of quotes. Missing amounts become placeholders of one lot. An empty price means an empty side or, if
 * the mapping says so, an unchanged side.
 */
function quotes(table: TableOf<'quotes'>, { price, lots }: Numbers): RowReader {
  let [bid, ask]: (Level | null)[] = [null, null];
  const next = (cells: Cells, column: string, size: string | undefined, before: Level | null): Level | null => {
    const text = cells(column);
    if (text === table.unchanged) return before;
    if (text === '') return null;
    return { price: price(text), lots: size === undefined ? amount(1) : lots(cells(size)) };
  };
  return (cells, at, local, rows) => {
    [bid, ask] = [
      next(cells, table.bid, table.bidAmount, bid ?? null),
      next(cells, table.ask, table.askAmount, ask ?? null),
    ];
    rows.clear(at, local);
    if (bid) rows.level(at, local, SIDE.buy, bid.price, bid.lots);
    if (ask) rows.level(at, local, SIDE.sell, ask.price, ask.lots);
  };
}

/**
 * Returns the column names of both sides. Each side has alternating columns of prices and amounts, or one column with
 * all its levels.
 */
function bookColumns(table: TableOf<'books'>): readonly [readonly string[], readonly string[]] {
  const side = (price: string, size: string | undefined) =>
    table.packed !== undefined
      ? [price]
      : Array.from({ length: table.levels }, () => [price, size ?? '']).flatMap((pair, i) =>
          pair.map(name => name.replace('{}', String(i + table.first))),
        );
  return [side(table.bid, table.bidAmount), side(table.ask, table.askAmount)];
}

function books(table: TableOf<'books'>, { price, lots }: Numbers): RowReader {
  const columns = bookColumns(table);
  const [between, within] = table.packed ?? '';
  const cellsOf = (cells: Cells, names: readonly string[]): readonly string[] => {
    if (between === undefined || within === undefined) return names.map(cells);
    const text = cells(names[0]!);
    return text === '' ? [] : text.split(between).flatMap(level => pairOf(level, within));
  };
  return (cells, at, local, rows) => {
    rows.clear(at, local);
    for (const [i, side] of [SIDE.buy, SIDE.sell].entries()) {
      const of = cellsOf(cells, columns[i]!);
      for (let level = 0; level < of.length; level += 2)
        if (of[level] !== '' && table.empty?.includes(of[level]!) !== true)
          rows.level(at, local, side, price(of[level]!), lots(of[level + 1]!));
    }
  };
}

function pairOf(level: string, within: string): readonly string[] {
  const pair = level.split(within);
  if (pair.length !== 2) throw new RangeError(`expected price${within}amount, found ${shown(level)}`);
  return pair;
}

/** Returns a reader of levels and of book snapshots of levels. */
function levels(table: TableOf<'levels'>, { price, lots }: Numbers): RowReader {
  const snapshot = new SnapshotRows(table.snapshot);
  return (cells, at, local, rows) => {
    const side = knownSide(table.side, cells);
    const isRemoved = table.removed?.words.includes(cells(table.removed.column)) === true;
    const [ticks, left] = [price(cells(table.price)), isRemoved ? amount(0) : lots(cells(table.amount))];
    if (snapshot.begins(cells, local)) rows.clear(at, local);
    rows.level(at, local, side, ticks, left);
  };
}

/**
 * Returns a reader of trades. A trade whose id occurred recently is dropped. The tape stores only ids that are numbers.
 */
function trades(table: TableOf<'trades'>, { price, lots }: Numbers, findings: Findings): RowReader {
  const known = new RecentKeys();
  return (cells, at, local, rows) => {
    const id = table.id === undefined ? '' : cells(table.id);
    const ticks = price(cells(table.price));
    const size = table.amount === undefined ? amount(1) : lots(cells(table.amount));
    if (id !== '' && known.has(id)) return findings.found('repeated trades', 'dropped', rows.place);
    const taker = table.side === undefined ? SIDE.unknown : sideIn(table.side, cells);
    rows.trade(at, local, taker, ticks, size, numberOf(id));
  };
}

const numberOf = (id: string): number => (/^[1-9]\d*$/.test(id) && Number.isSafeInteger(Number(id)) ? Number(id) : 0);

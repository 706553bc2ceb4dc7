/** What each kind of table of a mapping file makes of a row: quotes, books, levels, single orders, trades. */
import { amount } from '../../../core/index.ts';
import type { Amount, DecimalText, Instrument, Millis, Price } from '../../../core/index.ts';
import { KIND, SIDE } from '../../model/tape.ts';
import type { SideCode } from '../../model/tape.ts';
import { lotsOf, plainText, ticksOf, timesUnit, withPoint } from '../digits.ts';
import type { Findings } from '../findings.ts';
import { shown } from '../lines.ts';
import { Remembered } from '../remembered.ts';
import type { RowBuffer } from '../rows.ts';
import type { SideWords, Table, TableOf, Time } from './mapping.ts';

/** The cell of a column. */
export type Cells = (column: string) => string;
/** Puts what a row says; a RangeError says that it cannot be read. */
export type RowReader = (cells: Cells, at: Millis, local: Millis, rows: RowBuffer) => void;

type Numbers = { readonly price: (text: string) => Price; readonly lots: (text: string) => Amount };

/** The columns that tell a time. */
export const timeColumns = ({ column, hour, clock }: Time): readonly string[] =>
  [...column, hour, clock].filter(name => name !== undefined);

/** The columns that a table's reader asks for. */
export function columnsOf(table: Table): readonly string[] {
  const named = [table.time, ...(table.received ? [table.received] : [])].flatMap(timeColumns);
  const given = (columns: readonly (string | undefined)[]) => columns.filter(name => name !== undefined);
  const own = (): readonly string[] => {
    if (table.kind === 'quotes') return given([table.bid, table.ask, table.bidAmount, table.askAmount]);
    if (table.kind === 'books') return bookColumns(table).flat();
    if (table.kind === 'levels')
      return given([table.side.column, table.price, table.amount, table.snapshot?.column, table.removed?.column]);
    if (table.kind === 'orders') return [table.event.column, table.id, table.side.column, table.price, table.amount];
    return given([table.price, table.amount, table.id, table.side?.column]);
  };
  return [...new Set([...named, ...Object.keys(table.where), ...own()])];
}

/** A reader with a memory of its own, for all files of the table. */
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
  if (table.kind === 'orders') return orders(table, numbers);
  return trades(table, numbers, findings);
}

type Level = { readonly price: Price; readonly lots: Amount };

/** Without amounts they are one lot each, a stand-in. An empty price is an empty side, unless it is the word for "unchanged". */
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

/** Of both sides: the names of its columns, prices and amounts in turn, or of its one cell. */
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

/** Rows of a whole book were received at one time: those of another are the next one. */
function levels(table: TableOf<'levels'>, { price, lots }: Numbers): RowReader {
  let snapshotOf: Millis | null = null;
  return (cells, at, local, rows) => {
    const side = knownSide(table.side, cells);
    const isRemoved = table.removed?.words.includes(cells(table.removed.column)) === true;
    const [ticks, left] = [price(cells(table.price)), isRemoved ? amount(0) : lots(cells(table.amount))];
    const isSnapshot = table.snapshot?.words.includes(cells(table.snapshot.column)) === true;
    if (isSnapshot && snapshotOf !== local) rows.clear(at, local);
    snapshotOf = isSnapshot ? local : null;
    rows.level(at, local, side, ticks, left);
  };
}

function orders(table: TableOf<'orders'>, { price, lots }: Numbers): RowReader {
  const { event } = table;
  return (cells, at, local, rows) => {
    const what = cells(event.column);
    const kind = event.add.includes(what)
      ? KIND.add
      : event.change.includes(what)
        ? KIND.change
        : event.remove.includes(what)
          ? KIND.remove
          : null;
    if (kind === null) throw new RangeError(`expected an event that adds, changes or removes, found ${shown(what)}`);
    const id = numberOf(cells(table.id));
    if (id === 0) throw new RangeError(`expected the number of an order, found ${shown(cells(table.id))}`);
    rows.push(kind, knownSide(table.side, cells), at, local, price(cells(table.price)), lots(cells(table.amount)), id);
  };
}

/** A trade whose id was there lately is dropped; ids that are no numbers are not kept. */
function trades(table: TableOf<'trades'>, { price, lots }: Numbers, findings: Findings): RowReader {
  const known = new Remembered();
  return (cells, at, local, rows) => {
    const id = table.id === undefined ? '' : cells(table.id);
    const [ticks, size] = [price(cells(table.price)), lots(cells(table.amount))];
    if (id !== '' && known.has(id)) return findings.found('trades that appear twice', 'dropped', rows.place);
    const taker = table.side === undefined ? SIDE.unknown : sideOf(table.side, cells);
    rows.trade(at, local, taker, ticks, size, numberOf(id));
  };
}

/** `unknown` for a word that is neither. */
function sideOf({ column, buy, sell }: SideWords, cells: Cells): SideCode {
  const word = cells(column);
  return buy.includes(word) ? SIDE.buy : sell.includes(word) ? SIDE.sell : SIDE.unknown;
}

function knownSide(words: SideWords, cells: Cells): SideCode {
  const side = sideOf(words, cells);
  if (side === SIDE.unknown)
    throw new RangeError(
      `expected ${[...words.buy, ...words.sell].join(' or ')} in ${words.column}, found ${shown(cells(words.column))}`,
    );
  return side;
}

const numberOf = (id: string): number => (/^[1-9]\d*$/.test(id) && Number.isSafeInteger(Number(id)) ? Number(id) : 0);

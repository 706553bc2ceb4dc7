/**
 * Importer for recorded replies of Bitso's REST API, one JSON per line: order_book, trades and available_books. The
 * time of receipt is optional.
 */
import {
  counted,
  instrumentOf,
  isDecimalText,
  type BookRules,
  type DecimalText,
  type Instrument,
  type Millis,
} from '../../core/index.ts';
import { SIDE, type SideCode } from '../model/tape.ts';
import { tapeRules } from '../model/tapeRules.ts';
import { lotsOf, ticksOf } from './digits.ts';
import { GridFinder } from './inferredGrid.ts';
import { lineBatches, rowsOfLines, shown, sourceOf, type ImportReading } from './lines.ts';
import type { Recording } from './recording.ts';
import type { Chunk } from './rows.ts';

/** Time without a book after which a gap is recorded, in ms. Polling programs read a book every few seconds. */
const GAP_MS = 30_000;
/** Number of levels per side of an aggregated book (public facts 4.3). */
const DEPTH = 50;

type Entry = { readonly book?: string; readonly price: string; readonly amount: string; readonly oid?: string };
type Book = {
  readonly bids: readonly Entry[];
  readonly asks: readonly Entry[];
  readonly sequence?: string | number;
  readonly updated_at: string;
};
type Trade = {
  readonly book: string;
  readonly created_at: string;
  readonly amount: string;
  readonly maker_side: 'buy' | 'sell';
  readonly price: string;
  readonly tid: number | string;
};
type Rules = { readonly book: string; readonly tick_size?: string } & Readonly<Record<string, unknown>>;

type Reply =
  | { readonly kind: 'book'; readonly book: string | null; readonly value: Book }
  | { readonly kind: 'trades'; readonly value: readonly Trade[] }
  | { readonly kind: 'rules'; readonly value: readonly Rules[] }
  /** Error, or reply that is not about a market. */
  | { readonly kind: 'other' };

/**
 * Reply with its time of receipt. `pages`: whether the request has the parameter `marker`, which asks for the next page
 * of a list. The next page shares no trade with the previous reply, so it does not show whether trades are missing.
 */
type Received = { readonly reply: Reply; readonly local: Millis | null; readonly pages: boolean };

/** Contents of one or more files of replies for one book. */
export type RepliesOfBook = {
  readonly book: string;
  readonly grid: GridFinder;
  readonly books: number;
  readonly whole: boolean;
  /** Rules in the recording, in order of appearance, without consecutive repeats. */
  readonly rules: readonly BookRules[];
};

/** Returns the contents of the files by book. Unreadable lines are ignored here, because the readers report them. */
export async function surveyReplies(
  files: readonly string[],
  onBytes: (count: number) => void = () => undefined,
): Promise<readonly RepliesOfBook[]> {
  const found = new Map<
    string,
    { book: string; grid: GridFinder; books: number; whole: boolean; rules: BookRules[] }
  >();
  const of = (book: string) => {
    const known = found.get(book) ?? { book, grid: new GridFinder(), books: 0, whole: false, rules: [] };
    found.set(book, known);
    return known;
  };
  for (const file of files) {
    for await (const lines of lineBatches(file, onBytes)) {
      for (const line of lines) {
        try {
          look(receivedIn(line).reply, of);
        } catch {
          continue;
        }
      }
    }
  }
  return [...found.values()].filter(({ books }) => books > 0);
}

function look(
  reply: Reply,
  of: (book: string) => { readonly grid: GridFinder; books: number; whole: boolean; readonly rules: BookRules[] },
): void {
  if (reply.kind === 'trades') for (const { book, price } of reply.value) of(book).grid.price(price);
  else if (reply.kind === 'book' && reply.book !== null) {
    const entry = of(reply.book);
    entry.books++;
    for (const { price, amount, oid } of [...reply.value.bids, ...reply.value.asks]) {
      entry.grid.price(price);
      entry.grid.amount(amount);
      entry.whole ||= oid !== undefined;
    }
  } else if (reply.kind === 'rules') {
    for (const row of reply.value) {
      const rules = rulesOf(row);
      const known = of(row.book).rules;
      if (rules && JSON.stringify(known.at(-1)) !== JSON.stringify(rules)) known.push(rules);
    }
  }
}

/**
 * Opens one book. The rules come from the recording. The tick is the tick in `given`, else the finest tick in the
 * recorded rules, else it is inferred from the prices.
 */
export function bitsoReplies(
  files: readonly string[],
  { book, grid, whole, rules }: RepliesOfBook,
  given: { readonly tick?: DecimalText; readonly lot?: DecimalText },
): Recording {
  const notes: string[] = [];
  const [first] = [...rules].sort((a, b) => Number(a.tickSize) - Number(b.tickSize));
  const tick = given.tick ?? first?.tickSize ?? grid.grid().tick;
  if (given.tick === undefined && first === undefined)
    notes.push(
      `tick size ${tick} was inferred from ${counted(grid.prices, 'price')}, because the recording has no available_books reply (override with --tick)`,
    );
  if (new Set(rules.map(({ tickSize }) => tickSize)).size > 1)
    notes.push(
      `the tick size changed during the recording (${rules.map(({ tickSize }) => tickSize).join(', ')}); all prices are stored in ticks of ${tick}`,
    );
  else if (rules.length > 1)
    notes.push(
      `the rules of the book changed ${counted(rules.length - 1, 'time')} during the recording; a replay keeps the rules of its start`,
    );
  const instrument =
    first === undefined
      ? tapeRules(book, tick, given.lot).instrument
      : instrumentOf({ ...first, tickSize: tick }, given.lot);
  return {
    source: sourceOf(files),
    format: 'bitso-replies',
    files,
    passes: 2,
    instrument,
    ...(first === undefined ? {} : { rules: { ...first, tickSize: tick } }),
    fromOrders: false,
    depth: whole ? Infinity : DEPTH,
    quotesOnly: false,
    notes: [
      ...notes,
      'trades have times in whole seconds, so all trades of a second are placed before the books of that second',
    ],
    streams: reading => [trades(files, reading), books(files, reading)],
  };
}

function books(files: readonly string[], reading: ImportReading): AsyncGenerator<Chunk> {
  const { instrument, findings } = reading;
  let before = { at: Number.NaN, sequence: -1n };
  const reportSilence = (at: number): void => {
    if (at - before.at > GAP_MS) reading.gap({ from: before.at, to: at, why: 'no book during the gap' });
  };
  reading.onEnd(reportSilence);
  return rowsOfLines(files, reading, (line, _number, rows) => {
    const { reply, local } = receivedIn(line);
    if (reply.kind === 'other') findings.found('replies without market data', 'left out', rows.place);
    if (reply.kind !== 'book' || (reply.book !== null && reply.book !== instrument.symbol)) return;
    const { bids, asks, sequence, updated_at } = reply.value;
    const at = isoTimeOf(updated_at);
    const step = sequence === undefined ? null : BigInt(sequence);
    if (step !== null && step <= before.sequence) {
      const what =
        step === before.sequence ? 'repeated reads of an unchanged book' : 'books older than the previous book';
      findings.found(what, 'left out', rows.place);
      if (step === before.sequence && at > before.at) before = { ...before, at };
      return;
    }
    rows.clear(at, local ?? at);
    for (const [side, entries] of [
      [SIDE.buy, bids],
      [SIDE.sell, asks],
    ] as const) {
      for (const [price, lots] of summed(instrument, entries)) rows.push(1, side, at, local ?? at, price, lots, 0);
    }
    reportSilence(at);
    before = { at, sequence: step ?? -1n };
  });
}

/** Returns the total amount per price, because a full book lists each order of a price separately. */
function summed(instrument: Instrument, entries: readonly Entry[]): ReadonlyMap<number, number> {
  const levels = new Map<number, number>();
  for (const { price, amount } of entries) {
    const ticks = ticksOf(instrument, price);
    levels.set(ticks, (levels.get(ticks) ?? 0) + lotsOf(instrument, amount));
  }
  return levels;
}

/** Reads the trades from recorded replies. Replies overlap, so each trade id is used once. */
function trades(files: readonly string[], reading: ImportReading): AsyncGenerator<Chunk> {
  const { instrument, findings } = reading;
  let last = -1;
  return rowsOfLines(files, reading, (line, _number, rows) => {
    const { reply, local, pages } = receivedIn(line);
    if (reply.kind !== 'trades') return;
    const ours = reply.value.filter(({ book }) => book === instrument.symbol);
    const page = ours.map(trade => ({ ...trade, tid: idOf(trade.tid) })).sort((a, b) => a.tid - b.tid);
    const fresh = page.filter(({ tid }) => tid > last);
    if (last >= 0 && !pages && fresh.length > 0 && fresh.length === page.length)
      findings.found(
        'trade replies that share no trade with the previous reply',
        'trades between the two replies may be missing',
        rows.place,
      );
    for (const { created_at, price, amount, maker_side, tid } of fresh) {
      const at = isoTimeOf(created_at);
      // The reply has the side of the maker; the taker is on the other side.
      const side: SideCode | null = maker_side === 'buy' ? SIDE.sell : maker_side === 'sell' ? SIDE.buy : null;
      if (side === null) throw new RangeError(`expected maker_side buy or sell, found ${shown(String(maker_side))}`);
      rows.trade(at, local ?? at, side, ticksOf(instrument, price), lotsOf(instrument, amount), tid);
    }
    last = fresh.at(-1)?.tid ?? last;
  });
}

/**
 * Parses a line `{at, url | path, body}` or a bare body. `at` is in milliseconds or ISO text; `body` is a JSON value or
 * JSON as text.
 */
function receivedIn(line: string): Received {
  const outer = JSON.parse(line) as Readonly<Record<string, unknown>>;
  if (typeof outer !== 'object' || outer === null) throw new RangeError('expected a JSON object');
  const { at, url, path, body } = outer;
  if (body === undefined) return { reply: replyOf(outer, null), local: null, pages: false };
  const local = typeof at === 'number' ? at : typeof at === 'string' ? isoTimeOf(at) : null;
  if (at !== undefined && !(local !== null && Number.isFinite(local)))
    throw new RangeError(`expected "at" in milliseconds or as ISO time, found ${shown(JSON.stringify(at))}`);
  const asked = typeof url === 'string' ? url : typeof path === 'string' ? path : '';
  const inner = (typeof body === 'string' ? JSON.parse(body) : body) as Readonly<Record<string, unknown>>;
  const book = /[?&]book=([a-z0-9]+_[a-z0-9]+)/.exec(asked)?.[1] ?? null;
  return { reply: replyOf(inner, book), local, pages: /[?&]marker=/.test(asked) };
}

/** Classifies a reply by the shape of its payload. */
function replyOf(body: Readonly<Record<string, unknown>>, asked: string | null): Reply {
  const { payload } = body;
  if (Array.isArray(payload)) {
    const [first] = payload as readonly Readonly<Record<string, unknown>>[];
    if (first && 'tid' in first && 'maker_side' in first && !('oid' in first))
      return { kind: 'trades', value: payload as readonly Trade[] };
    if (first && 'minimum_value' in first) return { kind: 'rules', value: payload as readonly Rules[] };
    return { kind: 'other' };
  }
  const value = payload as Book | undefined | null;
  if (!value || ![value.bids, value.asks].every(side => Array.isArray(side))) return { kind: 'other' };
  const [first] = [...value.bids, ...value.asks];
  return { kind: 'book', book: asked ?? first?.book ?? null, value };
}

/** Parses rules; `null` for old rows, which have no tick. */
function rulesOf(row: Rules): BookRules | null {
  const text = (field: string): string => {
    const value = row[field];
    return isDecimalText(value) ? value : '';
  };
  const rules: BookRules = {
    book: row.book,
    tickSize: text('tick_size'),
    minimumAmount: text('minimum_amount'),
    maximumAmount: text('maximum_amount'),
    minimumPrice: text('minimum_price'),
    maximumPrice: text('maximum_price'),
    minimumValue: text('minimum_value'),
    maximumValue: text('maximum_value'),
  };
  return Object.values(rules).every(value => value !== '') ? rules : null;
}

/** Parses times with `+0000` or `+00:00`, with or without a fraction of a second (public facts 3). */
function isoTimeOf(text: string): Millis {
  const at = Date.parse(text);
  if (!/^\d{4}-\d\d-\d\dT/.test(text) || Number.isNaN(at))
    throw new RangeError(`expected an ISO 8601 time, found ${shown(String(text))}`);
  return at;
}

function idOf(tid: number | string): number {
  const id = Number(tid);
  if (!(Number.isSafeInteger(id) && id > 0)) throw new RangeError(`expected a trade id, found ${shown(String(tid))}`);
  return id;
}

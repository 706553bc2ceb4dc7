/** Text lines of the engine's inputs and answers, from which a run can be replayed step by step. */
import {
  DEPTH_LEVELS,
  emptyDepth,
  type Amount,
  type BookLevels,
  type Command,
  type Depth,
  type EngineEvent,
  type OrderBook,
  type Price,
  type Quote,
  type RestoredLedger,
  type Side,
} from '../../core/index.ts';
import { ledgerOf, textOfLedger } from './ledgerText.ts';

/** One line of the recording. */
export type RecordingLine =
  /**
   * Input of the engine. `levels`: changes of the best levels since the previous line of this book that has levels, each
   * as side, price and amount.
   */
  | { readonly kind: 'input'; readonly event: RecordedEvent; readonly levels: readonly LevelChange[] }
  /** Quotes that a strategy file returned during the next input, for each log of `Engine.quoteLogs`. */
  | { readonly kind: 'quotes'; readonly quotes: readonly (readonly Quote[])[] }
  | Answer
  /** Placeholder for lines that the disk did not accept. */
  | { readonly kind: 'gap' };

type BookEvent = Extract<EngineEvent, { kind: 'book' }>;
/** Event in a recording. A `book` event has no book, because the line has the changed levels. */
export type RecordedEvent = Exclude<EngineEvent, BookEvent> | Omit<BookEvent, 'book'>;

/** Engine's answer to the previous input. An answer without commands is not recorded. */
export type Answer =
  | { readonly kind: 'commands'; readonly commands: readonly Command[] }
  | { readonly kind: 'broke'; readonly message: string };

export type LevelChange = readonly [side: 0 | 1, price: number, amount: number];

/** Text of a gap line. */
export const GAP = 'g';

/** Levels of one book that a writer has written. */
type WrittenLevels = Record<Side, Map<number, number>>;

/**
 * Writer of lines. The writer remembers the levels of each book that it has written, so that a line needs only the
 * changes.
 */
export class LineWriter {
  readonly #depth = emptyDepth(DEPTH_LEVELS);
  /** Written levels by symbol; by `undefined` if there is one book. */
  readonly #written = new Map<string | undefined, WrittenLevels>();

  input(told: EngineEvent): string {
    if (told.kind !== 'book') return `i${JSON.stringify({ event: told }, encode)}`;
    const { book, ...event } = told;
    const levels = this.#changes(book, event.symbol);
    return `i${JSON.stringify(levels.length === 0 ? { event } : { event, levels })}`;
  }

  quotes(quotes: readonly (readonly Quote[])[]): string {
    return `q${JSON.stringify(quotes)}`;
  }

  commands(commands: readonly Command[]): string {
    return `o${JSON.stringify(commands)}`;
  }

  broke(error: unknown): string {
    return `x${JSON.stringify(brokenBy(error))}`;
  }

  #changes(book: BookLevels, symbol: string | undefined): LevelChange[] {
    book.depth(this.#depth);
    const written: WrittenLevels = this.#written.get(symbol) ?? { buy: new Map(), sell: new Map() };
    this.#written.set(symbol, written);
    const changes: LevelChange[] = [];
    for (const side of ['buy', 'sell'] as const) {
      const now = levelsOf(this.#depth, side);
      const before = written[side];
      const code = side === 'buy' ? 0 : 1;
      for (const price of before.keys()) if (!now.has(price)) changes.push([code, price, 0]);
      for (const [price, amount] of now) if (before.get(price) !== amount) changes.push([code, price, amount]);
      written[side] = now;
    }
    return changes;
  }
}

/**
 * Returns the answer of a failed engine. The answer has only the error message: replays compare answers, and a stack
 * trace would differ between machines.
 */
export const brokenBy = (error: unknown): Answer => ({
  kind: 'broke',
  message: error instanceof Error ? error.message : String(error),
});

/** Parses a line. Throws a RangeError on an invalid line, a SyntaxError on damaged JSON. */
export function lineOf(text: string): RecordingLine {
  const body = text.slice(1);
  if (text === GAP) return { kind: 'gap' };
  if (text.startsWith('o')) return { kind: 'commands', commands: JSON.parse(body) as Command[] };
  if (text.startsWith('q')) return { kind: 'quotes', quotes: JSON.parse(body) as Quote[][] };
  if (text.startsWith('x')) return JSON.parse(body) as Answer;
  if (!text.startsWith('i'))
    throw new RangeError(
      `expected a recorded line that starts with g, i, o, q or x, found ${JSON.stringify(text.slice(0, 1))}`,
    );
  const { event, levels } = JSON.parse(body, decode) as { event: RecordedEvent; levels?: LevelChange[] };
  return { kind: 'input', event, levels: levels ?? [] };
}

/**
 * Returns the event of an input, and applies the changed levels of the line to `book`. If the event is a `book` event,
 * it refers to `book`. Throws RangeError on an impossible level.
 */
export function eventOf({ event, levels }: Extract<RecordingLine, { kind: 'input' }>, book: OrderBook): EngineEvent {
  for (const [side, price, amount] of levels) book.set(side === 0 ? 'buy' : 'sell', price as Price, amount as Amount);
  return event.kind === 'book' ? { ...event, book } : event;
}

function levelsOf(depth: Depth, side: Side): Map<number, number> {
  const [prices, amounts, count] =
    side === 'buy' ? [depth.bidPrices, depth.bidAmounts, depth.bids] : [depth.askPrices, depth.askAmounts, depth.asks];
  const levels = new Map<number, number>();
  for (let i = 0; i < count; i++) levels.set(prices[i]!, amounts[i]!);
  return levels;
}

/** Encodes 64-bit integers and ledgers, which JSON cannot express, as objects with one key. */
function encode(key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return { $bigint: value.toString() };
  if (key === 'ledger' && value !== null) return { $ledger: textOfLedger(value as RestoredLedger) };
  return value;
}

function decode(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if ('$bigint' in value) return BigInt(String(value.$bigint));
  if ('$ledger' in value) return ledgerOf(String(value.$ledger));
  return value;
}

/**
 * Book by levels of Kraken's version 2 stream, with its checksum: CRC-32 of the best ten levels of each side. Source:
 * docs.kraken.com/exchange/guides/websockets/book-checksum-v2.
 */
import { crc32 } from 'node:zlib';
import { counted, moneyOf, trimmedEnd, type BookEntry, type Money } from '../../../core/index.ts';
import { fault, list, row } from '../../wire/wire.ts';
import { krakenDecimal } from '../wire/numbers.ts';

/** Number of decimals of a book's prices and amounts. The checksum is computed from digits with these decimals. */
export type Precision = { readonly price: number; readonly amount: number };

export type StreamLevel = { readonly price: string; readonly amount: string };
type Sides = { readonly bids: readonly StreamLevel[]; readonly asks: readonly StreamLevel[] };
type SideName = keyof Sides;
/** Level with its price as a number, by which levels are sorted and found. */
type KeptLevel = StreamLevel & { readonly key: Money };

/** Number of levels per side that the checksum covers. */
const CHECKED_LEVELS = 10;

/** Reads the changed levels of a side. An amount of zero removes a level. */
export const changedLevels = (value: unknown, field: SideName): readonly StreamLevel[] =>
  list(
    value,
    element => {
      const of = row(element, field);
      return { price: krakenDecimal(of, 'price'), amount: krakenDecimal(of, 'qty') };
    },
    field,
  );

/** One book, best prices first, with at most `depth` levels per side. */
export class LevelBook {
  readonly #depth: number;
  #sides: { bids: KeptLevel[]; asks: KeptLevel[] } = { bids: [], asks: [] };

  constructor(depth: number) {
    this.#depth = depth;
  }

  /** Replaces all levels. Throws a WireFault if a price is repeated. */
  replace({ bids, asks }: Sides): void {
    this.#sides = { bids: [], asks: [] };
    this.update({ bids, asks });
    const { bids: haveBids, asks: haveAsks } = this.#sides;
    if (haveBids.length < Math.min(bids.length, this.#depth) || haveAsks.length < Math.min(asks.length, this.#depth))
      throw fault('levels', 'each price once, with an amount above zero', 'fewer levels');
  }

  /** Applies changes in their order, then drops the levels beyond the depth, because no changes of them are sent. */
  update(changes: Sides): void {
    for (const name of ['bids', 'asks'] as const) {
      for (const level of changes[name]) this.#put(name, level);
      this.#sides[name].splice(this.#depth);
    }
  }

  #put(name: SideName, { price, amount }: StreamLevel): void {
    const side = this.#sides[name];
    const key = moneyOf(price);
    const found = side.findIndex(other => (name === 'bids' ? other.key <= key : other.key >= key));
    const at = found < 0 ? side.length : found;
    const isSame = side[at]?.key === key;
    const isGone = !/[1-9]/.test(amount);
    side.splice(at, isSame ? 1 : 0, ...(isGone ? [] : [{ price, amount, key }]));
  }

  /** Returns the levels of a side, best price first. */
  side(name: SideName): readonly BookEntry[] {
    return this.#sides[name].map(({ price, amount }) => ({ price, amount }));
  }

  /** Whether the best bid is at or above the best ask, which shows that the book is wrong. */
  get isCrossed(): boolean {
    const [bid, ask] = [this.#sides.bids[0], this.#sides.asks[0]];
    return bid !== undefined && ask !== undefined && bid.key >= ask.key;
  }

  /** Returns the checksum. Throws a WireFault if a level has more decimals than its book. */
  checksum(precision: Precision): number {
    const { asks, bids } = this.#sides;
    const text = [...asks.slice(0, CHECKED_LEVELS), ...bids.slice(0, CHECKED_LEVELS)]
      .map(({ price, amount }) => digitsOf(price, precision.price) + digitsOf(amount, precision.amount))
      .join('');
    return crc32(text);
  }
}

/** Returns the digits of a decimal with `decimals` places, without the point and without leading zeros. */
function digitsOf(text: string, decimals: number): string {
  const [whole = '', fraction = ''] = text.split('.');
  const kept = trimmedEnd(fraction, '0');
  if (kept.length > decimals) throw fault('level', `at most ${counted(decimals, 'decimal')}`, text);
  return (whole + kept.padEnd(decimals, '0')).replace(/^0+/, '');
}

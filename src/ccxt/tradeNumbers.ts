/**
 * Numbers of public trades for a tape, which needs increasing whole numbers. The exchange's own ids are used if they
 * are whole numbers; otherwise trades are numbered by their time.
 */
import type { PublicTrade } from '../core/index.ts';
import type { TextTrade } from './messages.ts';

/** Maximum number of trades whose assigned numbers are remembered. */
const REMEMBERED_MAX = 20_000;

export class TradeNumbers {
  /** Whether the numbers are the exchange's ids; `null` before the first trade. */
  #usesIds: boolean | null = null;
  #last = 0;
  readonly #numbers = new Map<string, number>();

  /** Returns the trades that can be numbered, in order. A trade that was numbered before keeps its number. */
  numbered(
    book: string,
    trades: readonly TextTrade[],
  ): { readonly trades: readonly PublicTrade[]; readonly odd: number } {
    if (trades.length === 0) return { trades: [], odd: 0 };
    this.#usesIds ??= trades.every(({ id }) => wholeNumber(id) !== null);
    let odd = 0;
    const numbered: (PublicTrade & { readonly number: number })[] = [];
    for (const trade of trades) {
      const number = this.#usesIds ? wholeNumber(trade.id) : this.#assigned(trade);
      if (number === null) {
        odd++;
        continue;
      }
      const { at, price, amount, takerSide } = trade;
      const makerSide = takerSide === 'buy' ? 'sell' : 'buy';
      numbered.push({ number, book, tid: String(number), createdAt: at, price, amount, makerSide });
    }
    const inOrder = numbered.sort((a, b) => a.number - b.number);
    return { trades: inOrder.map(({ number: _, ...trade }) => trade), odd };
  }

  /** Returns the number of a trade without a usable id: microseconds of its time, or the next free number. */
  #assigned({ id, at, price, amount, takerSide }: TextTrade): number {
    // Trades without an id count as one trade if all of their fields are equal.
    const key = id ?? `${at} ${price} ${amount} ${takerSide}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#last = Math.max(this.#last + 1, Math.floor(at * 1_000));
    this.#numbers.set(key, this.#last);
    if (this.#numbers.size > REMEMBERED_MAX)
      for (const old of [...this.#numbers.keys()].slice(0, REMEMBERED_MAX / 2)) this.#numbers.delete(old);
    return this.#last;
  }
}

function wholeNumber(id: string | null): number | null {
  const number = id !== null && /^\d{1,16}$/.test(id) ? Number(id) : NaN;
  return Number.isSafeInteger(number) && number > 0 ? number : null;
}

/** Complete book after the rows so far. A read from the middle of a tape starts with this book. */
import { amount, price, type Millis } from '../../core/index.ts';
import { KIND, SIDE, TapeBuilder, type Columns, type SideCode } from './tape.ts';

type Resting = { readonly side: number; readonly price: number; readonly amount: number };

/** State of the book. Levels and individual orders are stored separately, because a tape may contain both. */
export class TapeSnapshot {
  readonly #levels = [new Map<number, number>(), new Map<number, number>()] as const;
  /** Resting orders by id, in order of arrival. */
  readonly #orders = new Map<number, Resting>();
  #known = false;

  apply(kind: number, side: number, priceTicks: number, lots: number, id: number): void {
    if (kind === KIND.trade) return;
    this.#known = true;
    if (kind === KIND.clear) this.#empty();
    else if (kind === KIND.level) {
      const levels = this.#levels[side === SIDE.sell ? 1 : 0];
      if (lots > 0) levels.set(priceTicks, lots);
      else levels.delete(priceTicks);
    } else if (kind === KIND.remove || lots === 0) this.#orders.delete(id);
    else if (kind === KIND.add || this.#orders.has(id)) this.#orders.set(id, { side, price: priceTicks, amount: lots });
  }

  applyRows({ kind, side, price: prices, amount: amounts, id }: Columns, from: number, to: number): void {
    for (let row = from; row < to; row++) this.apply(kind[row]!, side[row]!, prices[row]!, amounts[row]!, id[row]!);
  }

  /** Discards the book, because its state is unknown. */
  forget(): void {
    this.#empty();
    this.#known = false;
  }

  /** Whether two books have the same levels, and the same orders in the same order of arrival. */
  equals(other: TapeSnapshot): boolean {
    const same = (a: ReadonlyMap<number, number>, b: ReadonlyMap<number, number>) =>
      a.size === b.size && [...a].every(([ticks, lots]) => b.get(ticks) === lots);
    if (!this.#levels.every((levels, i) => same(levels, other.#levels[i]!))) return false;
    const theirs = [...other.#orders];
    return (
      this.#orders.size === theirs.length &&
      [...this.#orders].every(([id, { side, price, amount }], i) => {
        const [otherId, their] = theirs[i]!;
        return id === otherId && side === their.side && price === their.price && amount === their.amount;
      })
    );
  }

  #empty(): void {
    this.#levels[0].clear();
    this.#levels[1].clear();
    this.#orders.clear();
  }

  /**
   * Returns the book as rows: a `clear`, then all levels and orders. Returns no rows if the book has received no row
   * yet.
   */
  rows(at: Millis): Columns {
    const rows = new TapeBuilder();
    if (this.#known) rows.clear(at, at);
    for (const side of [SIDE.buy, SIDE.sell]) {
      for (const [ticks, lots] of this.#levels[side]) rows.level(at, at, side, price(ticks), amount(lots));
    }
    for (const [id, order] of this.#orders) {
      rows.order(KIND.add, at, at, order.side as SideCode, price(order.price), amount(order.amount), id);
    }
    return rows.columns();
  }
}

/** Receiver of the rows of a recording, with one method per kind of row. */
import type { Amount, Millis, Price } from '../../core/index.ts';
import { KIND, SIDE, type Columns, type Kind, type SideCode } from './columns.ts';

export abstract class RowSink {
  clear(at: Millis, local: Millis): void {
    this.push(KIND.clear, SIDE.unknown, at, local, 0, 0, 0);
  }

  level(at: Millis, local: Millis, side: SideCode, price: Price, amount: Amount): void {
    this.push(KIND.level, side, at, local, price, amount, 0);
  }

  trade(at: Millis, local: Millis, side: SideCode, price: Price, amount: Amount, id = 0): void {
    this.push(KIND.trade, side, at, local, price, amount, id);
  }

  order(
    kind: typeof KIND.add | typeof KIND.change | typeof KIND.remove,
    at: Millis,
    local: Millis,
    side: SideCode,
    price: Price,
    amount: Amount,
    id: number,
  ): void {
    this.push(kind, side, at, local, price, amount, id);
  }

  append({ length, kind, side, at, local, price, amount, id }: Columns): void {
    for (let row = 0; row < length; row++) {
      this.push(kind[row]! as Kind, side[row]! as SideCode, at[row]!, local[row]!, price[row]!, amount[row]!, id[row]!);
    }
  }

  protected abstract push(
    kind: Kind,
    side: SideCode,
    at: Millis,
    local: Millis,
    price: number,
    amount: number,
    id: number,
  ): void;
}

/** Bookings of an account in which one book trades, and that book's inventory, put together as the engine does it. */
import { price, type Amount, type Instrument, type OwnTrade } from '../../../src/core/index.ts';
import { Bookings } from '../../../src/core/accounting/bookings.ts';
import { Inventory } from '../../../src/core/accounting/inventory.ts';

export class OneBook extends Bookings {
  readonly inventory: Inventory;
  /** Under which origin id a trade in the book is ours; null: it is not. */
  id: string | null = 'a-1-1';

  constructor(instrument: Instrument, target: Amount | null) {
    super(booked => {
      if (booked.kind === 'trade' && booked.trade.book === instrument.symbol)
        this.inventory.trade(booked.trade, price(1), this.id);
      else this.inventory.moved(booked, 0);
    });
    this.inventory = new Inventory(instrument, target);
  }

  take(trade: OwnTrade, id: string | null): void {
    this.id = id;
    this.trade(trade);
  }
}

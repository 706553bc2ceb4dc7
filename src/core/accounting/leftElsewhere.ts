/**
 * Ledger of the exchanges where this run has no account. Amounts that an earlier run left there still count as held,
 * and only the operator changes them.
 */
import type { TransferEvent } from './accountEvents.ts';
import { Ledger, type Change, type LedgerEntry } from './ledger.ts';
import { atPlace, placeInName, tickerInName, type PlacedRows } from './placeNames.ts';
import type { ElsewhereChange } from './elsewhereAccount.ts';
import { money, type Money } from '../model/units.ts';

export class LeftElsewhere {
  readonly #onChange: (change: ElsewhereChange) => void;
  readonly #ledger = new Ledger();
  /** Currencies that a run with access to their exchange must still open. */
  #unopened: PlacedRows['unopened'];
  /** Roundings of these exchanges, for a run with access to them. */
  #roundings: PlacedRows['roundings'];

  /** `onChange` receives each booking with its currency, except restored bookings. */
  constructor(onChange: (change: ElsewhereChange) => void) {
    this.#onChange = onChange;
  }

  get version(): number {
    return this.#ledger.version;
  }

  /** Returns the amount of a currency that all of these exchanges hold together. */
  held(currency: string): Money {
    let sum = 0n;
    for (const [name, balance] of this.#ledger.balances) if (name.startsWith(`${currency}@`)) sum += balance;
    return money(sum);
  }

  /** Books a transfer with a known cause. The currency of the event names the exchange, like `usdt@other`. */
  transfer(event: TransferEvent): void {
    const { cause, currency, amount, occurredAt: at, why } = event;
    const place = placeInName(currency) ?? '';
    const source = atPlace(event.source, place);
    const changes: readonly Change[] = [{ cause, currency, amount }];
    if (!this.#ledger.book({ source, at, why, changes })) return;
    this.#onChange({
      ...{ kind: 'transfer', currency: tickerInName(currency), major: amount },
      transfer: { ...event, source },
    });
  }

  /** Calls `call` with every later ledger entry. */
  onEntry(call: (entry: LedgerEntry) => void): void {
    this.#ledger.listen(call);
  }

  /** Rows of this ledger, to be stored in the ledger of all accounts. */
  get rows(): PlacedRows {
    const { causes, sources } = this.#ledger;
    return { causes, sources, unopened: this.#unopened, roundings: this.#roundings };
  }

  /** Restores the rows of all exchanges where this run has no account. */
  restore({ causes, sources, unopened, roundings }: PlacedRows): void {
    this.#ledger.restore(causes, sources);
    this.#unopened = unopened;
    this.#roundings = roundings;
  }
}

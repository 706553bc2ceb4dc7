/**
 * Transfers that the operator made between both exchanges: a fall on one side and a rise on the other, by the same
 * amount less a fee. Both are booked; any other difference is left to the comparison of balances.
 */
import {
  atPlace,
  money,
  textOfMoney,
  type Engine,
  type Millis,
  type Money,
  type TransferEvent,
} from '../../core/index.ts';
import type { RunContext } from '../runContext.ts';

export type PlaceTransferOptions = {
  readonly run: RunContext;
  readonly engine: Engine;
  readonly place: string;
  /** Whether the bot's own exchange lists its transfers, which are then booked from its lists first. */
  readonly hasLists: boolean;
  /** Maximum fee of a transfer, by currency; 0 for other currencies. */
  readonly feeMax: ReadonlyMap<string, Money>;
  /** Maximum time between the two sides of a transfer. */
  readonly waitMs: Millis;
};

/** Transfer of the own exchange that was booked from its lists. */
type Listed = { readonly currency: string; readonly amount: Money; readonly at: Millis; readonly source: string };
type Pair = { readonly here: Money; readonly there: Money; readonly source: string; readonly isBookedHere: boolean };

/** Reason of both bookings. */
const BETWEEN = 'transfer between both exchanges';
/** Maximum number of remembered transfers. */
const LISTED_MAX = 100;

export class PlaceTransfers {
  readonly #o: PlaceTransferOptions;
  #listed: readonly Listed[] = [];

  constructor(options: PlaceTransferOptions) {
    this.#o = options;
  }

  /** Remembers a booked transfer of the own exchange, whose other side may be the other exchange. */
  onTransfer({ cause, currency, amount, source, why }: TransferEvent): void {
    if ((cause !== 'deposits' && cause !== 'withdrawals') || currency.includes('@') || why === BETWEEN) return;
    const at = this.#o.run.clock.elapsed();
    this.#listed = [...this.#listed.slice(-LISTED_MAX), { currency, amount, at, source }];
  }

  /** Books the transfers that explain lasting differences there. Call this after a quiet read of the balances there. */
  explain(): void {
    const { engine, place } = this.#o;
    const view = engine.elsewhere?.view;
    if (!view || view.unexplained === null || view.isConverting) return;
    for (const { currency: name, difference } of view.differences()) {
      const currency = name.slice(0, -atPlace('', place).length);
      const pair = this.#pairOf(currency, difference);
      if (pair !== null) this.#book(currency, pair);
    }
  }

  #pairOf(currency: string, there: Money): Pair | null {
    const { engine, run, hasLists, waitMs } = this.#o;
    const now = run.clock.elapsed();
    const listed = this.#listed.find(
      one => one.currency === currency && now - one.at <= waitMs && this.#fits(currency, one.amount, there),
    );
    if (listed !== undefined) {
      this.#listed = this.#listed.filter(one => one !== listed);
      return { here: listed.amount, there, source: listed.source, isBookedHere: true };
    }
    if (hasLists || engine.account.unexplained === null || engine.account.isConverting) return null;
    const here = engine.account.differences().find(one => one.currency === currency)?.difference;
    if (here === undefined || !this.#fits(currency, here, there)) return null;
    return { here, there, source: `transfer ${currency} ${run.time()}`, isBookedHere: false };
  }

  /** Whether the amounts have opposite signs, and what is lost between them is at most the maximum fee. */
  #fits(currency: string, here: Money, there: Money): boolean {
    const lost = -(here + there);
    return here < 0n !== there < 0n && lost >= 0n && lost <= (this.#o.feeMax.get(currency) ?? 0n);
  }

  #book(currency: string, { here, there, source, isBookedHere }: Pair): void {
    const { place, run } = this.#o;
    const at = run.time();
    const fee = money(here + there);
    const sides = [
      ...(isBookedHere ? [] : [{ currency, amount: here }]),
      { currency: atPlace(currency, place), amount: money(-here) },
    ];
    for (const { currency: name, amount } of sides) {
      const cause = amount > 0n ? 'deposits' : 'withdrawals';
      run.step({ kind: 'transfer', at, source, cause, currency: name, amount, occurredAt: at, why: BETWEEN });
    }
    if (fee !== 0n)
      run.step({
        ...{ kind: 'transfer', at, source: `${source} fee`, cause: 'fees', currency: atPlace(currency, place) },
        ...{ amount: fee, occurredAt: at, why: 'fee of the transfer' },
      });
    const text = `${textOfMoney(money(here < 0n ? -here : here))} ${currency}`;
    const way = here < 0n ? `to ${place}` : `from ${place}`;
    run.log.info(
      { source, fee: textOfMoney(fee) },
      `booked a transfer of ${text} ${way}, fee ${textOfMoney(money(-fee))}`,
    );
  }
}

/** Hedge route through another exchange: its price, its order as stored and sent, and the booking of its outcome. */
import {
  haveSameGrid,
  latencyRiskBps,
  money,
  moneyOf,
  multiplyMoneyFloor,
  priceElsewhere,
  smallestAmountAt,
  textOfAmount,
  textOfMoney,
  textOfPrice,
  valueFloor,
  type ElsewhereEvent,
  type HedgeOffer,
  type HedgeRow,
  type Money,
  type OwnTrade,
  type PlacedOrder,
} from '../core/index.ts';
import type { ElsewhereSetup, SendResult } from './elsewhereDesk.ts';
import { conversionOf } from './hedgeText.ts';
import { isBelowAmountMinimum, isBelowOrderMinimum } from './orderMinimum.ts';
import type { ExecutableRoute } from './pricedRoutes.ts';
import type { HedgeRun } from './setup.ts';
import type { HedgeInputs } from './hedgeInputs.ts';

/** End of an order on the other exchange. `trades` is empty if the order executed nothing. */
export type ElsewhereEnd = { readonly filled: Money; readonly trades: readonly OwnTrade[] };

export class ElsewhereRoute {
  readonly #setup: ElsewhereSetup;
  readonly #run: Pick<HedgeRun, 'time' | 'step'>;

  constructor(setup: ElsewhereSetup, run: Pick<HedgeRun, 'time' | 'step'>) {
    this.#setup = setup;
    this.#run = run;
  }

  /** Whether a hedge of `amount` waits for more inventory, because its value is below the minimum. */
  isTooSmall({ mid }: Pick<HedgeInputs, 'mid'>, amount: Money): boolean {
    return ((amount < 0n ? -amount : amount) * mid) / ONE < this.#setup.valueMin;
  }

  /**
   * Whether an order of `amount` is below a minimum of the other exchange's book, at the worst accepted price. If the
   * exchange rate of its quote currency is unknown, only the minimum amount is checked.
   */
  isBelowMinimum({ mid }: Pick<HedgeInputs, 'mid'>, amount: Money, costMaxBps: number): boolean {
    const { instrument, rate, marginBps } = this.#setup;
    const unit = rate();
    if (unit === null) return isBelowAmountMinimum(instrument, amount);
    return isBelowOrderMinimum(instrument, amount, mid, unit, costMaxBps + marginBps);
  }

  /**
   * Prices a hedge of `amount`, or of the part that the funds on the other exchange allow. A positive amount is sold.
   * `reconciled`: number of hedges that have reconciled on that exchange; the first ones have the smallest size.
   * `isAll`: amounts below the minimum value are hedged too.
   */
  async price(
    { instrument, mid }: HedgeInputs,
    amount: Money,
    { reconciled, isAll }: { readonly reconciled: number; readonly isAll: boolean },
  ): Promise<ExecutableRoute> {
    const { desk, rate, funds, closedBecause, latencyMs, riskZ, perRootSecond } = this.#setup;
    const none = (unavailableReason: string): ExecutableRoute => ({
      by: 'nothing',
      out: { way: 'elsewhere', unavailableReason },
    });
    const sells = amount > 0n;
    const closed = desk.isOpen
      ? 'an earlier order on the other exchange is still open'
      : closedBecause(sells ? 'sell' : 'buy');
    if (closed !== null) return none(closed);
    if (!isAll && this.isTooSmall({ mid }, amount))
      return none('the value of the hedge is below hedge.elsewhere.valueMin');
    const read = await desk.depth();
    if (typeof read === 'string') return none(read);
    const { instrument: there } = read;
    // The amounts of the terms below are in lots of the latest rules.
    if (!haveSameGrid(there, this.#setup.instrument))
      return none('tick or lot of the book on the other exchange changed during the check');
    const now = rate();
    if (now === null) return none('no exchange rate is known for the quote currency on the other exchange');
    const free = funds(sells ? there.major : there.minor);
    if (!(free > 0n)) return none('no free funds for this hedge on the other exchange');
    const wanted = sells ? amount : money(-amount);
    const size = sells && free < wanted ? free : wanted;
    const riskBps = latencyRiskBps(perRootSecond(), latencyMs, riskZ);
    const { smallestUntil, bounds } = this.#setup;
    const limited = reconciled < smallestUntil ? { orderAmountMax: smallestAmountAt(there, read.depth) } : {};
    const payable = sells ? bounds.orderValueMax : valueFloor(there, textOfMoney(money((free * 99n) / 100n)));
    const orderValueMax = payable < bounds.orderValueMax ? payable : bounds.orderValueMax;
    const terms = {
      ...this.#setup,
      bounds: { ...bounds, ...limited, orderValueMax },
      rate: now,
      midHere: mid,
      riskBps,
    };
    const priced = priceElsewhere(instrument.minor, read.depth, sells ? size : money(-size), terms);
    if ('unavailableReason' in priced) return { by: 'nothing', out: priced };
    return { by: 'elsewhere', out: priced.out, take: priced.take, there, rate: now, pricedAt: read.startedAt };
  }

  /**
   * Returns the offer and the order of a new hedge, before they are stored. The amounts are those at the limit price, in
   * the tick and lot of the pricing.
   */
  rowOf(
    id: string,
    { take, there, rate }: Extract<ExecutableRoute, { by: 'elsewhere' }>,
  ): { readonly offer: HedgeOffer; readonly elsewhere: PlacedOrder } {
    const { at } = this.#setup;
    const { side } = take;
    const [price, amount] = [textOfPrice(there, take.price), textOfAmount(there, take.amount)];
    const base = { currency: there.major, amount };
    const quote = { currency: there.minor, amount: textOfMoney(multiplyMoneyFloor(moneyOf(price), moneyOf(amount))) };
    const legs = side === 'sell' ? { give: base, get: quote } : { give: quote, get: base };
    return {
      offer: { way: 'elsewhere', id, ...legs, lifeMs: 0 },
      elsewhere: { ...at, order: { id, book: there.symbol, side, price, amount }, rate: textOfMoney(rate) },
    };
  }

  /** Reports to the engine that the order of a hedge may be executed from now on. */
  fly(row: HedgeRow): void {
    this.#run.step({ kind: 'elsewhere', at: this.#run.time(), phase: 'in flight', conversion: conversionOf(row) });
  }

  /** Continues with the order of an earlier run. It is only looked up, never sent. */
  restore(row: HedgeRow): void {
    this.#setup.desk.restore(placedOf(row).order, row.state === 'executing');
    this.fly(row);
  }

  /** Sends the order of a hedge that is stored on disk; see `ElsewhereDesk.send`. */
  send(row: HedgeRow, isWanted: () => boolean): Promise<SendResult> {
    return this.#setup.desk.send(placedOf(row).order, isWanted);
  }

  /** Whether an answer has shown that the exchange accepted the open order. */
  get isAccepted(): boolean {
    return this.#setup.desk.isAccepted;
  }

  /** Whether only the operator can state the outcome of the open order. */
  get isUndecidable(): boolean {
    return this.#setup.desk.isUndecidable;
  }

  /**
   * Returns the end of a hedge's order as the operator states it, and stops looking the order up. If `stated` is
   * `null`, nothing was executed.
   */
  endAsStated(row: HedgeRow, stated: StatedExecution | null): ElsewhereEnd {
    this.#setup.desk.drop();
    if (stated === null) return NOTHING_EXECUTED;
    const { order } = placedOf(row);
    const { base, quote, fee, feeCurrency } = stated;
    const trade: OwnTrade = {
      ...{ book: order.book, tid: `settled-${row.id}`, oid: order.id, originId: order.id, createdAt: this.#run.time() },
      ...{ side: order.side, price: textOfMoney(money((quote * ONE) / base)), maker: false },
      ...{ major: textOfMoney(base), minor: textOfMoney(quote) },
      ...{ feeAmount: textOfMoney(fee), feeCurrency },
    };
    return { filled: base, trades: [trade] };
  }

  /** Looks up the order of a hedge; returns its end, or the reason why the end is not proven. */
  async find(): Promise<ElsewhereEnd | string> {
    const verdict = await this.#setup.desk.find(this.#setup.readMoved);
    if (verdict.kind === 'unknown') return verdict.reason;
    if (verdict.kind === 'live')
      return 'the other exchange left the immediate-or-cancel order open; the bot cancels the order';
    return verdict.kind === 'ended' ? verdict : NOTHING_EXECUTED;
  }

  /**
   * Returns, as text, the fees in other currencies than those of the book. The ledger contains them, the profit does
   * not.
   */
  feesBesides({ trades }: ElsewhereEnd): readonly string[] {
    const { major, minor } = this.#setup.instrument;
    const sums = new Map<string, bigint>();
    for (const { feeCurrency, feeAmount } of trades)
      if (feeCurrency !== major && feeCurrency !== minor)
        sums.set(feeCurrency, (sums.get(feeCurrency) ?? 0n) + moneyOf(feeAmount));
    return [...sums].flatMap(([currency, sum]) =>
      sum === 0n ? [] : [`fee of ${textOfMoney(money(sum))} ${currency}, not included in the profit`],
    );
  }

  /** Books the end of a hedge's order in the ledger, at the exchange rate of the decision. */
  end(row: HedgeRow, { trades }: ElsewhereEnd): void {
    const rate = moneyOf(placedOf(row).rate);
    const event: ElsewhereEvent = {
      ...{ kind: 'elsewhere', at: this.#run.time(), phase: 'ended', conversion: conversionOf(row) },
      trades,
      rate,
    };
    this.#run.step(event);
  }
}

/** Amounts that an order executed, as the operator states them. `fee` is in `feeCurrency`. */
export type StatedExecution = {
  readonly base: Money;
  readonly quote: Money;
  readonly fee: Money;
  readonly feeCurrency: string;
};

/** End of an order that was certainly not executed. */
export const NOTHING_EXECUTED: ElsewhereEnd = { filled: money(0n), trades: [] };

function placedOf({ id, elsewhere }: HedgeRow): PlacedOrder {
  if (elsewhere === undefined) throw new Error(`hedge ${id} has no order on another exchange`);
  return elsewhere;
}

const ONE = 10n ** 18n;

/** A bot with an account on another exchange: a toy exchange of its own, and the true balances there. */
import {
  isAtPlace,
  money,
  moneyOf,
  sumOfCauses,
  textOfMoney,
  type Conversion,
  type EngineOptions,
  type HedgeBounds,
  type Money,
  type OwnTrade,
  type Side,
  type TransitLimits,
} from '../../src/core/index.ts';
import { ledgerOf, textOfLedger } from '../../src/live/recording/ledgerText.ts';
import { ToyExchange } from './toyExchange.ts';

/** Bounds that never bind. */
const WIDE: HedgeBounds = {
  band: moneyOf('1000000'),
  debtMax: moneyOf('1000000'),
  failuresMax: 20,
  isOnlyRoute: false,
};
const ELSEWHERE = { place: 'binance', major: 'btc', minor: 'usdt', bounds: WIDE } as const;
const RATE = moneyOf('18.25');
export const UNIT = 10n ** 18n;

type LedgerToStore = Parameters<typeof textOfLedger>[0];

type TwoToyExchangesOptions = Partial<EngineOptions> & {
  readonly bounds?: Partial<HedgeBounds>;
  readonly transfers?: TransitLimits;
};

/** A toy exchange with an account on another, and the true balances there. */
export class TwoToyExchanges {
  toy: ToyExchange;
  readonly truth = new Map([
    ['btc', moneyOf('500')],
    ['usdt', moneyOf('90000')],
    ['bnb', moneyOf('3')],
  ]);
  #tid = 0;
  #lastId = '';
  readonly #options: Partial<EngineOptions>;
  /** Value of one usdt that the next reads report; `null` if unknown. */
  rate: Money | null = RATE;

  constructor({ bounds = {}, transfers, ...options }: TwoToyExchangesOptions = {}) {
    const elsewhere = { ...ELSEWHERE, bounds: { ...WIDE, ...bounds }, ...(transfers ? { transfers } : {}) };
    this.#options = { elsewhere, target: 1e9 as never, ...options };
    this.toy = new ToyExchange(this.#options);
  }

  readThere(quiet = true): void {
    const { now } = this.toy;
    const balances = [...this.truth].map(([currency, sum]) => {
      const total = textOfMoney(sum);
      return { currency, total, locked: '0', available: total };
    });
    const rate = this.rate === null ? {} : { rate: this.rate };
    this.toy.step({ kind: 'balances', at: now, startedAt: now, quiet, balances, place: 'binance', ...rate });
  }

  /** An order there for `lots`, of which the parts fill. */
  order(id: string, side: Side, lots: number, price: number, parts: readonly number[], feeIn: string, rate = RATE) {
    const conversion = this.#flies(id, side, lots, price);
    return () => {
      const trades = parts.map((part): OwnTrade => {
        const minor = part * price;
        const fee = moneyOf(feeIn === 'btc' ? `0.00${part}` : feeIn === 'usdt' ? `0.${minor}` : '0.000123');
        const sign = side === 'buy' ? 1n : -1n;
        const move = (currency: string, by: bigint) => this.truth.set(currency, money(this.truth.get(currency)! + by));
        move('btc', sign * BigInt(part) * UNIT);
        move('usdt', -sign * BigInt(minor) * UNIT);
        move(feeIn, -fee);
        return {
          ...{ book: 'btc_usdt', tid: String(++this.#tid), oid: id, originId: id, createdAt: this.toy.now, side },
          ...{ price: String(price), major: String(part), minor: String(minor), maker: false },
          ...{ feeAmount: textOfMoney(fee), feeCurrency: feeIn },
        };
      });
      this.toy.step({ kind: 'elsewhere', at: this.toy.now, phase: 'ended', conversion, trades, rate });
      return trades;
    };
  }

  /** A later run reports the open order of an earlier one. */
  flyAgain(side: Side, lots: number, price: number): void {
    this.#flies(this.#lastId, side, lots, price);
  }

  #flies(id: string, side: Side, lots: number, price: number): Conversion {
    this.#lastId = id;
    const [base, quote] = [money(BigInt(lots) * UNIT), money(BigInt(lots * price) * UNIT)];
    const [give, get] = side === 'sell' ? (['btc', 'usdt'] as const) : (['usdt', 'btc'] as const);
    const [gives, gets] = side === 'sell' ? [base, quote] : [quote, base];
    const conversion = { id, give: { currency: give, amount: gives }, get: { currency: get, amount: gets } };
    this.toy.step({ kind: 'elsewhere', at: this.toy.now, phase: 'in flight', conversion });
    return conversion;
  }

  /**
   * Starts the next run from the stored text of the ledger; without `isThere`, one that has no account there. `was` returns
   * the ledger as another version or configuration would have stored it.
   */
  restart(run = 8, isThere = true, was = (ledger: LedgerToStore): LedgerToStore => ledger): void {
    const left = this.toy.engine.ledger([]);
    const ledger = left && ledgerOf(textOfLedger(was(left)));
    const before = this.toy;
    const { elsewhere, ...others } = this.#options;
    this.toy = new ToyExchange({ ...others, ...(isThere && elsewhere ? { elsewhere } : {}), run });
    this.toy.now = before.now + 1_000;
    this.toy.step({ kind: 'restore', at: this.toy.now, orders: [], ledger });
  }

  /** A deposit (above 0) or withdrawal there, with its cause known. */
  transfers(source: string, currency: string, amount: Money): void {
    this.truth.set(currency, money(this.truth.get(currency)! + amount));
    this.toy.step({
      ...{ kind: 'transfer', at: this.toy.now, source, why: source, occurredAt: this.toy.now, amount },
      ...{ cause: amount > 0n ? 'deposits' : 'withdrawals', currency: `${currency}@binance` },
    });
  }

  get inventory(): string {
    return textOfMoney(this.toy.engine.book.snapshot(this.toy.now).booked.inventory);
  }

  /** Sums of the ledger there. */
  get ledger(): Record<string, string> {
    const { causes } = this.toy.engine.ledger([])!;
    const rows = [...causes].filter(([name]) => isAtPlace(name, 'binance'));
    return Object.fromEntries(rows.map(([name, row]) => [name.split('@')[0]!, textOfMoney(sumOfCauses(row))]));
  }
}

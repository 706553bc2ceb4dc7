/**
 * Comparison of the account and two of its books with a slow model, on one list of operations. Ledger, funds,
 * comparison with balances, positions and profits must be equal.
 */
import {
  amount,
  instrumentOf,
  money,
  price,
  type Balance,
  type Instrument,
  type OwnTrade,
  type Profit,
  type Random,
} from '../../src/core/index.ts';
import type { Conversion } from '../../src/core/accounting/accountEvents.ts';
import { Inventory } from '../../src/core/accounting/inventory.ts';
import { TradingAccount } from '../../src/core/accounting/tradingAccount.ts';
import {
  AccountModel,
  BookModel,
  CAUSES,
  decimal,
  REFUSE_AFTER,
  textOf,
  TRADE_DELAY,
  type ModelConversion,
  type ModelMemory,
  type ModelProfit,
  type ModelTrade,
} from '../core/accounting/accountModel.ts';
import { bookRules } from '../core/market.ts';
import { differs, type Divergence, type Subject } from './subject.ts';

const CURRENCIES = ['btc', 'mxn', 'usd'] as const;
type Currency = (typeof CURRENCIES)[number];
const BOOKS = ['btc_mxn', 'btc_usd', 'usd_mxn', 'odd'] as const;
const TRANSFER_CAUSES = ['fees', 'deposits', 'withdrawals', 'refunds', 'adjustments'] as const;
const PHASES = ['planned', 'in flight', 'done', 'failed'] as const;

/** One operation. Amounts are in thousandths, `differences` in 10^-9. `which` counts back from the newest item, 0. */
export type AccountOperation =
  | {
      readonly kind: 'trade';
      readonly book: (typeof BOOKS)[number];
      readonly isBuy: boolean;
      readonly major: number;
      readonly minor: number;
      readonly fee: number;
      readonly feeCurrency: Currency;
      readonly isMaker: boolean;
      readonly isOwn: boolean;
      /** Whether the trade has the id of the trade before it, because the account traded with itself. */
      readonly isOtherSide: boolean;
    }
  | { readonly kind: 'repeated trade'; readonly which: number; readonly isChanged: boolean }
  | {
      readonly kind: 'conversion';
      readonly phase: (typeof PHASES)[number];
      readonly give: Currency;
      readonly get: Currency;
      readonly given: number;
      readonly got: number;
      readonly worth: number | null;
    }
  | { readonly kind: 'known conversion'; readonly which: number; readonly phase: (typeof PHASES)[number] }
  | {
      readonly kind: 'transfer';
      readonly which: number;
      readonly isNew: boolean;
      readonly cause: (typeof TRANSFER_CAUSES)[number];
      readonly currency: Currency;
      readonly amount: number;
    }
  | {
      readonly kind: 'balances';
      /** Reported total of each currency minus the ledger's; `null` if the currency is not reported. */
      readonly differences: readonly (number | null)[];
      /** Conversions in flight that the reported totals already include. */
      readonly converted: 'none' | 'first' | 'all';
      readonly locked: readonly number[];
      readonly lockedByBot: readonly number[];
      readonly isQuiet: boolean;
    }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'resume' }
  | { readonly kind: 'mid'; readonly book: number; readonly halfTicks: number }
  | { readonly kind: 'restart'; readonly trades: number };

export type AccountSetting = ModelMemory & {
  readonly listWait: number;
  /** Target inventory of each book, in lots; `null` if the target is the opening balance. */
  readonly targets: readonly (number | null)[];
};

const START = 1.7e12;
const LISTED_BOOKS = BOOKS.slice(0, 2);
const ruled = (book: string): Instrument =>
  instrumentOf(
    bookRules({
      ...{ book, tickSize: '1', minimumAmount: '1', maximumAmount: '1000000', minimumPrice: '1' },
      ...{ maximumPrice: '1000000', minimumValue: '1', maximumValue: '1000000000000' },
    }),
    '1',
  );
const INSTRUMENTS = LISTED_BOOKS.map(ruled);

export const account: Subject<AccountOperation, AccountSetting> = {
  listLength: 120,
  compareEvery: 6,
  drawSetting(random) {
    const pick = <T>(values: readonly T[]): T => values[random.integer(0, values.length - 1)]!;
    const setting = {
      ...{ tradesMax: pick([1, 3, 8]), sourcesMax: pick([1, 3, 8]) },
      ...{ listWait: pick([0, 4_000, REFUSE_AFTER, 30_000]), targets: [pick([null, 0, 7]), pick([null, 3])] },
    };
    const held = { difference: 0 };
    return { setting, draw: () => drawOperation(random, held) };
  },
  divergence: (operations, setting, every = 1) => divergenceOf(operations, setting, every, () => undefined),
};

/**
 * Returns the first difference, or `null`. Calls `onReached` with each source of entries and each state that occurs.
 */
export function divergenceOf(
  operations: readonly AccountOperation[],
  setting: AccountSetting,
  every: number,
  onReached: (what: string) => void,
): Divergence | null {
  const pair = new Pair(setting, onReached);
  const last = operations.length - 1;
  for (const [at, operation] of operations.entries()) {
    try {
      const what = pair.apply(operation) ?? pair.difference((at + 1) % every === 0 || at === last);
      if (what !== null) return { at, what };
    } catch (error) {
      return { at, what: `the program throws ${String(error)}` };
    }
  }
  return null;
}

/** Draws one operation. `held` is the difference of the balances, which persists for several reads. */
function drawOperation(random: Random, held: { difference: number }): AccountOperation {
  const pick = <T>(values: readonly T[]): T => values[random.integer(0, values.length - 1)]!;
  const isLikely = (chance: number) => random.next() < chance;
  const which = () => random.integer(0, 4);
  const kind = random.integer(0, 99);
  if (kind < 25)
    return {
      ...{ kind: 'trade', book: pick(BOOKS), isBuy: isLikely(0.5), major: random.integer(1, 5_000) },
      ...{ minor: random.integer(1, 50_000), fee: random.integer(0, 20), feeCurrency: pick(CURRENCIES) },
      ...{ isMaker: isLikely(0.7), isOwn: isLikely(0.7), isOtherSide: isLikely(0.1) },
    };
  if (kind < 33) return { kind: 'repeated trade', which: which(), isChanged: isLikely(0.1) };
  if (kind < 40) {
    const give = pick(CURRENCIES);
    return {
      ...{ kind: 'conversion', phase: pick(PHASES), give, get: pick(CURRENCIES.filter(one => one !== give)) },
      ...{ given: random.integer(1, 2_000), got: random.integer(1, 2_000) },
      worth: isLikely(0.5) ? null : random.integer(1, 2_000),
    };
  }
  if (kind < 48) return { kind: 'known conversion', which: which(), phase: pick(PHASES) };
  if (kind < 54)
    return {
      ...{ kind: 'transfer', which: which(), isNew: isLikely(0.8), cause: pick(TRANSFER_CAUSES) },
      ...{ currency: pick(CURRENCIES), amount: random.integer(-900, 900) },
    };
  if (kind < 76) {
    if (isLikely(0.3)) held.difference = pick([0, 0, 5, 10, 11, 20, 1_000_000]) * pick([1, -1]);
    const where = random.integer(0, CURRENCIES.length - 1);
    return {
      kind: 'balances',
      differences: CURRENCIES.map((_, i) =>
        isLikely(0.05) ? null : i === where || isLikely(0.1) ? held.difference : 0,
      ),
      ...{ converted: pick(['none', 'first', 'all']), isQuiet: isLikely(0.8) },
      ...{ locked: CURRENCIES.map(() => pick([0, 40])), lockedByBot: CURRENCIES.map(() => pick([0, 30, 50])) },
    };
  }
  if (kind < 86) return { kind: 'wait', ms: pick([1, 1_999, 2_000, 4_000, 10_000, 20_000, 30_000]) };
  if (kind < 91) return { kind: 'resume' };
  if (kind < 98) return { kind: 'mid', book: random.integer(0, 1), halfTicks: random.integer(1, 40) };
  return { kind: 'restart', trades: random.integer(0, 10) };
}

const MILLI = 10n ** 15n;
const NANO = 10n ** 9n;
const milli = (n: number): bigint => BigInt(n) * MILLI;

/** Real account and model account of one run. */
class Run {
  readonly model: AccountModel;
  readonly account: TradingAccount;
  readonly inventories: readonly Inventory[];
  /** Whether the current trade filled an order of the bot. */
  isOwn = false;

  constructor({ targets, listWait, ...memory }: AccountSetting) {
    const books = LISTED_BOOKS.map((book, i) => {
      const [major, minor] = book.split('_');
      return new BookModel(major!, minor!, targets[i]!);
    });
    this.model = new AccountModel(memory, listWait, books);
    this.inventories = INSTRUMENTS.map((instrument, i) => {
      const target = targets[i]!;
      return new Inventory(instrument, target === null ? null : amount(target));
    });
    const delays = { tradeReportDelayMaxMs: TRADE_DELAY, listWaitMs: listWait };
    const booked: ConstructorParameters<typeof TradingAccount>[1] = one => {
      for (const [i, inventory] of this.inventories.entries())
        if (one.kind === 'trade' && one.trade.book === LISTED_BOOKS[i])
          inventory.trade(one.trade, price(1), this.isOwn ? 'bot-1-1' : null);
        else inventory.moved(one, START);
    };
    this.account = new TradingAccount(delays, booked, undefined, memory);
  }
}

class Pair {
  readonly #setting: AccountSetting;
  readonly #onReached: (what: string) => void;
  #run: Run;
  #now = START;
  readonly #trades: ModelTrade[] = [];
  readonly #conversions: ModelConversion[] = [];
  #transfers = 0;

  constructor(setting: AccountSetting, onReached: (what: string) => void) {
    this.#setting = setting;
    this.#onReached = onReached;
    this.#run = new Run(setting);
    this.apply({
      kind: 'balances',
      ...{ differences: [1e10 + 500_000_000, 1e12, null], converted: 'none', isQuiet: true },
      ...{ locked: [0, 0, 0], lockedByBot: [0, 0, 0] },
    });
  }

  /** Applies the operation to the account and the model. Returns the first difference between their results. */
  apply(op: AccountOperation): string | null {
    const { account: real, model, inventories } = this.#run;
    const now = this.#now;
    if (op.kind === 'trade') {
      const { book, isBuy, feeCurrency, isMaker, isOwn } = op;
      const n = this.#trades.length;
      const last = this.#trades.at(-1);
      const trade = {
        ...{ tid: op.isOtherSide && last !== undefined ? last.tid : `t${n}`, oid: `o${n}`, book, isBuy },
        ...{ major: milli(op.major), minor: milli(op.minor), fee: milli(op.fee), feeCurrency, isMaker, isOwn },
      };
      this.#trades.push(trade);
      return this.#trade(trade);
    }
    if (op.kind === 'repeated trade') {
      const trade = this.#trades.at(-1 - op.which);
      if (trade === undefined) return null;
      return this.#trade(op.isChanged ? { ...trade, minor: trade.minor + MILLI } : trade);
    }
    if (op.kind === 'conversion') {
      const conversion: ModelConversion = {
        ...{ id: `c${this.#conversions.length}`, give: [op.give, milli(op.given)], get: [op.get, milli(op.got)] },
        worth: op.worth === null ? null : milli(op.worth),
      };
      this.#conversions.push(conversion);
      this.#convert(op.phase, conversion);
    } else if (op.kind === 'known conversion') {
      const conversion = this.#conversions.at(-1 - op.which);
      if (conversion !== undefined) this.#convert(op.phase, conversion);
    } else if (op.kind === 'transfer') {
      if (op.isNew) this.#transfers++;
      const source = `transfer ${op.isNew ? this.#transfers : this.#transfers - op.which}`;
      const { cause, currency } = op;
      const sum = milli(op.amount);
      real.transfer({
        ...{ kind: 'transfer', at: now, source, cause, currency, amount: money(sum), occurredAt: now, why: 'drawn' },
      });
      model.transfer(source, cause, currency, sum);
    } else if (op.kind === 'balances') return this.#balances(op);
    else if (op.kind === 'wait') this.#now += op.ms;
    else if (op.kind === 'resume') {
      real.resumed(now);
      model.resume(now);
    } else if (op.kind === 'mid') {
      inventories[op.book]!.mark(op.halfTicks);
      model.books[op.book]!.mids.push(BigInt(op.halfTicks));
    } else this.#restart(op.trades);
    return null;
  }

  difference(isAll: boolean): string | null {
    const { account: real, model, inventories } = this.#run;
    const difference = model.unexplained;
    if (model.differs) this.#onReached('quotes stop');
    // The first balances have no usd.
    if (model.sum('usd', 'opening') !== 0n) this.#onReached('late opening');
    for (const source of model.sources) this.#onReached(source.split(' ')[0]!);
    const { unexplained, checked } = real;
    const found = unexplained === null ? null : `${unexplained.difference} until ${unexplained.haltsAt}`;
    const what =
      differs('number of entries', real.version, model.entries) ??
      differs('differs', real.differs, model.differs) ??
      differs('unexplained', found, difference) ??
      differs('reconciled', real.isReconciled, model.isReconciled) ??
      differs('missing data', real.missing === null, model.isReconciled) ??
      differs(
        'converting',
        real.isConverting,
        model.pending.some(one => one.isInFlight),
      );
    if (what !== null || !isAll) return what;
    for (const currency of CURRENCIES) {
      const one =
        differs(`total ${currency}`, real.total(currency), model.total(currency)) ??
        differs(`funds ${currency}`, real.funds(currency), model.funds(currency));
      if (one !== null) return one;
    }
    for (const [i, inventory] of inventories.entries()) {
      const book = model.books[i]!;
      const lots = Number(book.position() / 10n ** 18n);
      const name = LISTED_BOOKS[i]!;
      const one =
        differs(`position ${name}`, inventory.position(), book.position()) ??
        differs(`lots ${name}`, inventory.positionLots() + 0, lots + 0) ??
        differs(`total profit ${name}`, inventory.profit().total, book.profit().total) ??
        this.#differenceOfBook(i);
      if (one !== null) return one;
    }
    return (
      differs('currencies', [...real.totals.keys()].join(), model.currencies().join()) ??
      differs('differences', textOfAll(real.differences()), textOf(model.differences())) ??
      differs('time of the comparison', checked?.at, model.checked?.at) ??
      differs(
        'differences at the comparison',
        checked === null ? undefined : textOf([...checked.differences]),
        model.checked?.differences,
      ) ??
      this.#differenceOfLedger()
    );
  }

  #differenceOfBook(i: number): string | null {
    const [inventory, book] = [this.#run.inventories[i]!, this.#run.model.books[i]!];
    const { spread, fees, hedging } = book.profit();
    const held = this.#run.model.total(book.major);
    const ofTrading = book.mids.length === 0 ? null : spread + fees + hedging;
    const converting = this.#run.account.converting(INSTRUMENTS[i]!);
    const lotsOf = (leg: 'give' | 'get') =>
      Number((this.#run.model.pendingOf(leg, book.major) + 10n ** 18n - 1n) / 10n ** 18n);
    return (
      differs('profit', textOfProfit(inventory.profit()), textOfProfit(book.profit())) ??
      differs('profit of trading', inventory.profitOfTrading(), ofTrading) ??
      differs(
        'profit since the opening',
        textOfProfit(inventory.profitSinceOpening(this.#now).profit),
        textOfProfit(book.profitSinceOpening()),
      ) ??
      differs(
        'mid price of the profit',
        inventory.profitSinceOpening(this.#now).twiceMid ?? null,
        book.mid === null ? null : book.mid * 10n ** 18n,
      ) ??
      differs('target', inventory.target(this.#run.account.total(book.major)), book.targetMoney(held)) ??
      differs('conversions to buy', converting.buy, lotsOf('get')) ??
      differs('conversions to sell', converting.sell, lotsOf('give'))
    );
  }

  #differenceOfLedger(): string | null {
    const { account: real, model } = this.#run;
    const { causes, sources, seen } = real.stateToSave(this.#trades.map(({ tid }) => tid));
    for (const currency of model.currencies())
      for (const cause of CAUSES) {
        const what = differs(`${cause} ${currency}`, causes.get(currency)?.[cause], model.sum(currency, cause));
        if (what !== null) return what;
      }
    const known = new Set(model.trades.map(({ tid }) => tid));
    const expected = [...new Set(this.#trades.map(({ tid }) => tid))].filter(tid => known.has(tid));
    return (
      differs('sources', sources.join(), model.sources.join()) ??
      differs('remembered trades', [...seen.keys()].join(), expected.join())
    );
  }

  #trade(trade: ModelTrade): string | null {
    const { account: real, model } = this.#run;
    const { tid, oid, book, isBuy, feeCurrency, isMaker: maker } = trade;
    const own: OwnTrade = {
      ...{ book, tid, oid, createdAt: this.#now, side: isBuy ? 'buy' : 'sell', price: '1', maker },
      ...{ major: decimal(trade.major), minor: decimal(trade.minor), feeAmount: decimal(trade.fee), feeCurrency },
    };
    this.#run.isOwn = trade.isOwn;
    let isSame = true;
    try {
      real.trade(own);
    } catch (error) {
      if (!String(error).includes('was first reported as')) throw error;
      isSame = false;
    }
    return differs('trade is as it was reported before', isSame, model.trade(trade));
  }

  #convert(phase: (typeof PHASES)[number], conversion: ModelConversion): void {
    const { id, give, get, worth } = conversion;
    const event: Conversion = {
      id,
      give: { currency: give[0], amount: money(give[1]) },
      get: { currency: get[0], amount: money(get[1]) },
      ...(worth === null ? {} : { worth: money(worth) }),
    };
    this.#run.account.convert({ kind: 'conversion', at: this.#now, phase, conversion: event });
    this.#run.model.convert(phase, conversion);
  }

  #balances(op: Extract<AccountOperation, { kind: 'balances' }>): string | null {
    const { account: real, model } = this.#run;
    const flying = model.pending.filter(one => one.isInFlight).map(({ conversion }) => conversion);
    const converted = flying.slice(0, { none: 0, first: 1, all: flying.length }[op.converted]);
    const rows = CURRENCIES.flatMap((currency, i) => {
      const difference = op.differences[i]!;
      if (difference === null) return [];
      let total = model.total(currency) + BigInt(difference) * NANO;
      for (const { give, get } of converted) {
        if (give[0] === currency) total -= give[1];
        if (get[0] === currency) total += get[1];
      }
      return { currency, total, locked: milli(op.locked[i]!) };
    });
    const own = CURRENCIES.map((currency, i) => [currency, milli(op.lockedByBot[i]!)] as const);
    const balances = rows.map(({ currency, total, locked }): Balance => {
      return { currency, total: decimal(total), locked: decimal(locked), available: decimal(total - locked) };
    });
    const event = { kind: 'balances', at: this.#now, startedAt: this.#now, quiet: op.isQuiet, balances } as const;
    const halt = real.read(event, new Map(own.map(([currency, sum]) => [currency, money(sum)])));
    if (halt !== null) this.#onReached('halt');
    return differs('halt', halt !== null, model.read(rows, own, this.#now, op.isQuiet));
  }

  #restart(trades: number): void {
    const before = this.#run;
    const recent = [...new Set(this.#trades.slice(-trades).map(({ tid }) => tid))];
    const run = new Run(this.#setting);
    run.account.restore(before.account.stateToSave(recent));
    for (const [i, inventory] of run.inventories.entries()) {
      const earlier = before.inventories[i]!;
      const held = before.account.total(earlier.currency);
      inventory.restore(
        run.account.total(earlier.currency),
        earlier.target(held),
        earlier.profitSinceOpening(this.#now),
      );
    }
    run.model.restore(before.model, recent);
    this.#run = run;
  }
}

const textOfAll = (all: readonly { readonly currency: string; readonly difference: bigint }[]): string =>
  textOf(all.map(({ currency, difference }) => [currency, difference] as const));

const textOfProfit = ({ spread, inventory, fees, hedging, total }: Profit | ModelProfit): string =>
  [spread, inventory, fees, hedging, total].join(' ');

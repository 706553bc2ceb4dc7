/** Exact text format of a ledger, its entries and its checkpoint. */
import type { HedgeRow } from '../../hedge/index.ts';
import {
  CAUSES,
  causesOf,
  money,
  moneyOf,
  placeInName,
  textOfMoney,
  type Amount,
  type BookState,
  type Cause,
  type Causes,
  type BalanceCheck,
  type ElsewhereCheck,
  type LedgerEntry,
  type Millis,
  type Money,
  type Profit,
  type ProfitSinceOpening,
  type RestoredLedger,
  type TransitItem,
} from '../../core/index.ts';

/** Profit since the opening. Sums and `twiceMid` are decimal text. */
export type WrittenProfit = {
  readonly since: Millis | null;
  readonly at: Millis | null;
  readonly twiceMid: string | null;
  readonly profit: Readonly<Record<keyof Profit, string>>;
};

type WrittenCauses = [currency: string, causes: Partial<Record<Cause, string>>][];

/** State of one book. Properties that are `undefined` are not written. */
type WrittenBook = {
  target: number;
  /** Part of the target beyond complete lots, as decimal text. */
  targetRest?: string | undefined;
  guard: { drawdown: string; day: number; dayLoss: string } | null;
  adverse?: BookState['adverse'] | undefined;
  pastPrices?: BookState['pastPrices'] | undefined;
  bases?: BookState['bases'] | undefined;
  hedgeDebt?: BookState['hedgeDebt'] | undefined;
  priceDoubt?: BookState['priceDoubt'] | undefined;
  profit?: WrittenProfit | undefined;
  /** Held base currency, as decimal text. */
  held?: string | undefined;
};

type Written = WrittenBook & {
  /** Amounts by cause and currency; zero amounts are omitted. */
  causes: WrittenCauses;
  sources: readonly string[];
  seen: [tid: string, content: string][];
  unopened?: RestoredLedger['unopened'];
  roundings?: readonly (readonly [currency: string, decimals: number, amounts: number])[] | undefined;
  /** Amounts are decimal text. */
  transit?: readonly (Omit<TransitItem, 'amount'> & { readonly amount: string })[] | undefined;
  openings?: RestoredLedger['openings'] | undefined;
  symbol?: string | undefined;
  books?: Readonly<Record<string, WrittenBook>> | undefined;
  covariance?: RestoredLedger['covariance'] | undefined;
  firstFills?: RestoredLedger['firstFills'] | undefined;
};

/** Older format of a ledger, with balances but without causes. */
type WrittenBefore = Omit<Written, 'causes' | 'sources'> & { totals: [currency: string, total: string][] };

/**
 * Returns the ledger as JSON. Amounts by cause are decimal text, sums of the kill switch are in units of 10^-18,
 * targets are in lots.
 */
export const textOfLedger = (ledger: RestoredLedger): string => {
  const { causes, sources, seen, unopened, roundings, transit, openings, symbol, books, covariance, firstFills } =
    ledger;
  const { profit, held, ...state } = writtenBook(ledger);
  return JSON.stringify({
    causes: [...causes].map(([currency, row]) => [currency, writtenCauses(row)]),
    sources,
    seen: [...seen],
    unopened,
    roundings: roundings && [...roundings].map(([currency, { decimals, amounts }]) => [currency, decimals, amounts]),
    ...state,
    openings,
    profit,
    transit: transit?.map(item => ({ ...item, amount: textOfMoney(item.amount) })),
    held,
    symbol,
    books: books && Object.fromEntries(Object.entries(books).map(([name, book]) => [name, writtenBook(book)])),
    covariance,
    firstFills,
  } satisfies Written);
};

/** Parses a ledger. Balances in the older format without causes become openings. Throws on damaged JSON or sums. */
export function ledgerOf(text: string): RestoredLedger {
  const written = JSON.parse(text) as Written | WrittenBefore;
  const { seen, unopened, roundings, transit, openings, symbol, books, covariance, firstFills } = written;
  return {
    causes: 'totals' in written ? openingOf(written.totals) : causesIn(written.causes),
    sources: 'totals' in written ? [] : written.sources,
    seen: new Map(seen),
    ...(unopened === undefined ? {} : { unopened }),
    ...(roundings === undefined
      ? {}
      : { roundings: new Map(roundings.map(([currency, decimals, amounts]) => [currency, { decimals, amounts }])) }),
    ...bookStateOf(written),
    ...(openings === undefined ? {} : { openings }),
    ...(transit === undefined ? {} : { transit: transit.map(item => ({ ...item, amount: moneyOf(item.amount) })) }),
    ...(symbol === undefined ? {} : { symbol }),
    ...(books === undefined
      ? {}
      : { books: Object.fromEntries(Object.entries(books).map(([name, book]) => [name, bookStateOf(book)])) }),
    ...(covariance === undefined ? {} : { covariance }),
    ...(firstFills === undefined ? {} : { firstFills }),
  };
}

const writtenBook = ({ target, targetRest, guard, profit, held, ...rest }: BookState): WrittenBook => ({
  target,
  targetRest: targetRest === undefined ? undefined : textOfMoney(targetRest),
  guard: guard && { drawdown: guard.drawdown.toString(), day: guard.day, dayLoss: guard.dayLoss.toString() },
  adverse: rest.adverse,
  pastPrices: rest.pastPrices,
  bases: rest.bases,
  hedgeDebt: rest.hedgeDebt,
  priceDoubt: rest.priceDoubt,
  profit: profit && writtenProfit(profit),
  held: held === undefined ? undefined : textOfMoney(held),
});

function bookStateOf(written: WrittenBook): BookState {
  const { target, targetRest, guard, adverse, pastPrices, bases, hedgeDebt, priceDoubt, profit, held } = written;
  return {
    target: target as Amount,
    ...(targetRest === undefined ? {} : { targetRest: moneyOf(targetRest) }),
    guard: guard && { drawdown: money(BigInt(guard.drawdown)), day: guard.day, dayLoss: money(BigInt(guard.dayLoss)) },
    ...(adverse === undefined ? {} : { adverse }),
    ...(pastPrices === undefined ? {} : { pastPrices }),
    ...(bases === undefined ? {} : { bases }),
    ...(hedgeDebt === undefined ? {} : { hedgeDebt }),
    ...(priceDoubt === undefined ? {} : { priceDoubt }),
    ...(profit === undefined ? {} : { profit: profitSinceOpeningOf(profit) }),
    ...(held === undefined ? {} : { held: moneyOf(held) }),
  };
}

/** Returns the profit with its sums as decimal text. */
export const writtenProfit = ({ since, at, twiceMid, profit }: ProfitSinceOpening): WrittenProfit => ({
  ...{ since, at, twiceMid: twiceMid === null ? null : textOfMoney(twiceMid) },
  profit: profitOf(profit, textOfMoney),
});

/** Parses the output of `writtenProfit`. Throws on damaged sums. */
export const profitSinceOpeningOf = ({ since, at, twiceMid, profit }: WrittenProfit): ProfitSinceOpening => ({
  ...{ since, at, twiceMid: twiceMid === null ? null : moneyOf(twiceMid) },
  profit: profitOf(profit, moneyOf),
});

function writtenCauses(row: Causes): Partial<Record<Cause, string>> {
  const written: Partial<Record<Cause, string>> = {};
  for (const cause of CAUSES) if (row[cause] !== 0n) written[cause] = textOfMoney(row[cause]);
  return written;
}

function causesIn(written: WrittenCauses): Map<string, Causes> {
  return new Map(
    written.map(([currency, row]) => {
      const some: Partial<Record<Cause, Money>> = {};
      for (const cause of CAUSES) if (row[cause] !== undefined) some[cause] = moneyOf(row[cause]);
      return [currency, causesOf(some)];
    }),
  );
}

const openingOf = (totals: WrittenBefore['totals']): Map<string, Causes> =>
  new Map(totals.map(([currency, total]) => [currency, causesOf({ opening: moneyOf(total) })]));

/** Returns the changes of an entry as text, without source and time, which are stored separately. */
export const textOfEntry = ({ why, changes }: Pick<LedgerEntry, 'why' | 'changes'>): string =>
  JSON.stringify([
    why,
    ...changes
      .filter(({ amount }) => amount !== 0n)
      .map(({ cause, currency, amount }) => [cause, currency, textOfMoney(amount)]),
  ]);

/** Parses the output of `textOfEntry`; `at` in ms since 1970. Throws on damaged JSON or sums. */
export function entryOf(source: string, at: Millis, text: string): LedgerEntry {
  const [why, ...changes] = JSON.parse(text) as [string | null, ...[cause: Cause, currency: string, amount: string][]];
  return {
    source,
    at,
    why,
    changes: changes.map(([cause, currency, amount]) => ({ cause, currency, amount: moneyOf(amount) })),
  };
}

/** Ledger at one point in time, with everything needed to continue it. */
export type LedgerCheckpoint = {
  readonly ledger: RestoredLedger;
  readonly marker: string | undefined;
  readonly live: readonly {
    readonly id: string;
    readonly filled: Amount;
    readonly oid: string | null;
    /** Price of the order, in the ticks of the checkpoint. Absent in checkpoints of an older Puntas. */
    readonly price?: number;
    /** Amount of the order, in the lots of the checkpoint. Absent in checkpoints of an older Puntas. */
    readonly amount?: number;
    /** Filled amount beyond complete lots, in the base currency; absent if zero. */
    readonly rest?: string;
  }[];
  readonly hedges?: readonly HedgeRow[];
  /** Tick and lot of all prices and amounts; `null` in checkpoints of an older Puntas. */
  readonly units?: { readonly tick: string; readonly lot: string } | null;
  /** Tick and lot of each book but the first, by symbol; absent or `null` with one book. */
  readonly bookUnits?: Readonly<Record<string, { readonly tick: string; readonly lot: string }>> | null;
  /** Ids of listed transfers that the ledger contains or that are older than the ledger; `null` if unknown. */
  readonly transfers?: readonly string[] | null;
  /** Currencies with an unreadable trade; their balances cannot equal the ledger. */
  readonly uncounted?: readonly string[];
  /** Last comparison of the ledger with the balances of the bot's own exchange, for display. */
  readonly checked?: BalanceCheck | null;
  /** This run's last comparison of the ledger with the balances of the other exchange; `null` if none. */
  readonly checkedThere?: ElsewhereCheck | null;
  /** Profit of all runs since the opening, including this run; `null` if an older Puntas stored no profit. */
  readonly profit?: Profit | null;
};

type Sums = [currency: string, sum: string][];
type WrittenCheck = { readonly at: Millis; readonly reported: Sums; readonly differences: Sums };
type WrittenMark = Omit<LedgerCheckpoint, 'ledger' | 'marker' | 'checked' | 'checkedThere' | 'profit'> & {
  readonly ledger: string;
  readonly marker: string | null;
  readonly checked?: WrittenCheck | null;
  readonly checkedThere?: (WrittenCheck & { readonly place: string }) | null;
  readonly profit?: Readonly<Record<keyof Profit, string>> | null;
};

/**
 * Returns the checkpoint as JSON, with the ledger as text inside. Sums are decimal text, `filled` is in lots, times are
 * in ms since 1970.
 */
export const textOfCheckpoint = ({
  ledger,
  marker,
  live,
  hedges = [],
  transfers = null,
  units = null,
  uncounted = [],
  ...rest
}: LedgerCheckpoint): string => {
  const { checked = null, checkedThere = null, profit = null, bookUnits = null } = rest;
  return JSON.stringify({
    ledger: textOfLedger(ledger),
    marker: marker ?? null,
    live,
    hedges,
    transfers,
    ...(units === null ? {} : { units }),
    ...(bookUnits === null ? {} : { bookUnits }),
    ...(uncounted.length === 0 ? {} : { uncounted }),
    checked: checked && writtenCheck(checked),
    ...(checkedThere === null ? {} : { checkedThere: { place: checkedThere.place, ...writtenCheck(checkedThere) } }),
    profit: profit && profitOf(profit, textOfMoney),
  } satisfies WrittenMark);
};

/**
 * Parses a checkpoint. Fields that an older Puntas did not write are `null`, and `hedges` is empty. Throws on damaged
 * JSON or sums.
 */
export function checkpointOf(text: string): Required<LedgerCheckpoint> {
  const mark = JSON.parse(text) as WrittenMark;
  const { ledger, marker, live, hedges, transfers, units, bookUnits, uncounted, checked, checkedThere, profit } = mark;
  return {
    ledger: ledgerOf(ledger),
    marker: marker ?? undefined,
    live,
    hedges: hedges ?? [],
    transfers: transfers ?? null,
    units: units ?? null,
    bookUnits: bookUnits ?? null,
    uncounted: uncounted ?? [],
    checked: checked ? checkOf(checked, name => placeInName(name) === null) : null,
    checkedThere: checkedThere ? { place: checkedThere.place, ...checkOf(checkedThere, () => true) } : null,
    profit: profit ? profitOf(profit, moneyOf) : null,
  };
}

const writtenCheck = ({ at, reported, differences }: BalanceCheck): WrittenCheck => ({
  at,
  reported: written(reported),
  differences: written(differences),
});

/**
 * Returns the comparison of one exchange's balances with the ledger. An older Puntas wrote one comparison for both
 * exchanges, with the time of the comparison on the bot's own exchange.
 */
const checkOf = (
  { at, reported, differences }: WrittenCheck,
  isOfAccount: (name: string) => boolean,
): BalanceCheck => ({
  at,
  reported: read(reported.filter(([name]) => isOfAccount(name))),
  differences: read(differences.filter(([name]) => isOfAccount(name))),
});

const profitOf = <A, B>({ spread, inventory, fees, hedging, total }: Record<keyof Profit, A>, as: (sum: A) => B) => ({
  spread: as(spread),
  inventory: as(inventory),
  fees: as(fees),
  hedging: as(hedging),
  total: as(total),
});

const written = (sums: ReadonlyMap<string, Money>): Sums =>
  [...sums].map(([currency, sum]) => [currency, textOfMoney(sum)]);
const read = (sums: Sums): Map<string, Money> => new Map(sums.map(([currency, sum]) => [currency, moneyOf(sum)]));

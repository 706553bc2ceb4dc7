/**
 * Deposits, withdrawals, refunds and rebates from the exchange's lists. Reads a bounded number of the newest lines and
 * reports each line once.
 */
import {
  money,
  type EngineEvent,
  type Millis,
  type TransferList,
  type TransferLists,
  type TransferLine,
  type Money,
} from '../../core/index.ts';
import { isFailed, type Failed } from '../failedRequest.ts';
import { failedBy, isAboutCurrency, unreadableOf } from '../unreadableRows.ts';

/** Transfer as an engine event. */
export type Booking = Omit<Extract<EngineEvent, { kind: 'transfer' }>, 'kind' | 'at'>;
/** Transfer from a list; `id` is the id of its line. */
export type ListedTransfer = Booking & { readonly id: string };

/**
 * Result of a read: transfers that are not in the ledger, oldest first. `ids` has the ids of all lines that were read,
 * including lines whose transfers are in the ledger.
 */
export type FoundTransfers = { readonly transfers: readonly ListedTransfer[]; readonly ids: readonly string[] };

const PAGES_MAX = 10;
/** Maximum number of remembered line ids: one page of each list, and recent lines of earlier pages. */
const KNOWN_MAX = 500;

export class TransferReads {
  readonly #lists: TransferLists;
  /** Ids of lines whose transfers are in the ledger or its opening balances; `null` while unknown. */
  #known: ReadonlySet<string> | null;
  #list: readonly string[] | null;
  /**
   * Time at which each new line was first read while balances equaled the ledger. The balances may or may not include
   * the transfer of the line yet.
   */
  readonly #early = new Map<string, Millis>();
  readonly #aheadMaxMs: Millis;
  /** Currencies for which every line must be readable. */
  readonly #currencies: readonly string[];

  /** `aheadMaxMs`: maximum time between the listing of a transfer and its effect on the balances. */
  constructor(
    lists: TransferLists,
    known: readonly string[] | null,
    aheadMaxMs: Millis,
    currencies: readonly string[] = [],
  ) {
    this.#currencies = currencies;
    this.#lists = lists;
    this.#aheadMaxMs = aheadMaxMs;
    this.#list = known;
    this.#known = known === null ? null : new Set(known);
  }

  get known(): readonly string[] | null {
    return this.#list;
  }

  /**
   * Reads the transfer lists. Before the first comparison with the ledger, no line counts as a new transfer. If
   * balances that are read later equal the ledger, pass the result to `seenEqual`.
   */
  async look(): Promise<FoundTransfers | Failed> {
    const transfers: ListedTransfer[] = [];
    const ids: string[] = [];
    for (const list of this.#lists.lists) {
      const moved = await this.#newest(list);
      if (isFailed(moved)) return moved;
      for (const each of moved) ids.push(`${list.name} ${each.id}`);
      // Lists are newest first. The sort keeps the sequence of lines with the same time, and a withdrawal must come
      // before its return: a return that ends no withdrawal would leave the withdrawal in transit.
      for (const each of moved.toReversed()) {
        const id = `${list.name} ${each.id}`;
        if (this.#known !== null && !this.#known.has(id)) transfers.push(...transfersOf(list, each, id));
      }
    }
    transfers.sort((a, b) => a.occurredAt - b.occurredAt);
    return { transfers, ids };
  }

  /** Whether the transfer was already listed at a time when the balances equaled the ledger. */
  isEarly({ id }: ListedTransfer): boolean {
    return this.#early.has(id);
  }

  /**
   * Records that the ledger equals balances that were read after this read of the transfer lists. The balances include
   * transfers whose lines were first read more than `aheadMaxMs` ago. The balances might not include the transfers of
   * newer lines yet. At the first call, all lines count as older than the ledger.
   */
  seenEqual(found: FoundTransfers, now: Millis): void {
    const isFirst = this.#known === null;
    const settled = found.ids.filter(id => {
      if (isFirst || this.#known?.has(id)) return true;
      const since = this.#early.get(id) ?? now;
      this.#early.set(id, since);
      return now - since >= this.#aheadMaxMs;
    });
    this.#know(settled, found.ids);
  }

  /**
   * Records that the ledger contains the transfers in `booked`. The other found transfers can be booked later, because
   * the balances may not include them yet. Must be called in the synchronous step that passes `booked` to the engine.
   */
  take({ transfers, ids }: FoundTransfers, booked: readonly ListedTransfer[], now: Millis): void {
    const isBooked = new Set(booked);
    const left = new Set(transfers.filter(each => !isBooked.has(each)).map(({ id }) => id));
    for (const id of left) this.#early.set(id, this.#early.get(id) ?? now);
    this.#know(
      ids.filter(id => !left.has(id)),
      ids,
    );
  }

  /**
   * Remembers the lines in `settled`. `read` has all lines of the last read. If `#early` has too many lines, forgets
   * those that are not in `read`.
   */
  #know(settled: readonly string[], read: readonly string[]): void {
    const known = new Set(this.#known ?? []);
    for (const id of newestLast(settled)) {
      this.#early.delete(id);
      known.delete(id);
      known.add(id);
    }
    // An early line in the last read is never forgotten. Otherwise its time would restart, and it might never settle.
    const isRead = new Set(read);
    for (const id of this.#early.keys()) if (this.#early.size > KNOWN_MAX && !isRead.has(id)) this.#early.delete(id);
    this.#list = [...known].slice(-KNOWN_MAX);
    this.#known = new Set(this.#list);
  }

  /** Reads one list, newest line first, up to the page with a line whose transfer is in the ledger. */
  async #newest(list: TransferList): Promise<readonly TransferLine[] | Failed> {
    const all: TransferLine[] = [];
    let marker: string | undefined;
    const limit = this.#lists.linesPage;
    for (let page = 0; page < PAGES_MAX; page++) {
      const outcome = await this.#lists.transferLines(list.name, {
        limit,
        ...(marker === undefined ? {} : { marker }),
      });
      if (outcome.kind !== 'done') return outcome;
      const rows = unreadableOf(outcome);
      const own = rows.find(row => isAboutCurrency(row, this.#currencies) !== 'no');
      if (own) return failedBy(list.name, own);
      // Fees of trades are booked with their trades, so only rebates are used from the list of fees, and only from its
      // newest page.
      all.push(...(list.of === 'fees' ? outcome.value.filter(isGain) : outcome.value));
      marker = outcome.value.at(-1)?.id;
      // Without a readable line, there is no position from which to continue, and the list would start again.
      if (marker === undefined) break;
      const meets = outcome.value.some(({ id }) => this.#known?.has(`${list.name} ${id}`) ?? true);
      if (meets || list.of === 'fees' || outcome.value.length + rows.length < limit) break;
    }
    return all;
  }
}

/**
 * Sorts ids so that the newest of each list come last, because a limit on the number of ids drops the first ones. The
 * given ids are newest first within each list.
 */
function newestLast(ids: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  const ranked = ids.map(id => {
    const list = id.slice(0, id.indexOf(' '));
    const rank = counts.get(list) ?? 0;
    counts.set(list, rank + 1);
    return { id, rank };
  });
  return ranked.sort((a, b) => b.rank - a.rank).map(({ id }) => id);
}

const isGain = ({ updates }: TransferLine): boolean => updates.every(({ amount }) => amount > 0n);

/** Returns the cause of a transfer. A negative deposit was reversed; a positive withdrawal was returned. */
function transferCause({ of }: TransferList, amount: Money): ListedTransfer['cause'] {
  if (of === 'fees') return 'fees';
  if (of === 'deposits') return amount > 0n ? 'deposits' : 'refunds';
  return amount < 0n ? 'withdrawals' : 'refunds';
}

function transfersOf(
  list: TransferList,
  { id, createdAt, updates, ref }: TransferLine,
  line: string,
): ListedTransfer[] {
  const sums = new Map<string, bigint>();
  for (const { currency, amount } of updates) sums.set(currency, (sums.get(currency) ?? 0n) + amount);
  return [...sums]
    .filter(([, sum]) => sum !== 0n)
    .map(([currency, sum]) => ({
      id: line,
      source: `${list.name} ${id}${sums.size > 1 ? ` ${currency}` : ''}`,
      cause: transferCause(list, money(sum)),
      currency,
      amount: money(sum),
      occurredAt: createdAt,
      why: ref === undefined ? `listed under ${list.name}` : `listed under ${list.name} as ${ref}`,
    }));
}

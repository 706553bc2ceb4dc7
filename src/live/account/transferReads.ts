/** Deposits, withdrawals, refunds and rebates, from the exchange's own lists: a bounded read of what is newest there, told once each. */
import { money } from '../../core/index.ts';
import type { EngineEvent, Millis, TransferList, TransferLists, TransferLine, Money } from '../../core/index.ts';
import { isFailed } from '../failed.ts';
import type { Failed } from '../failed.ts';
import { failedBy, isAboutCurrency, unreadableOf } from '../unreadableRows.ts';

/** A transfer as the engine is told of it. */
export type Booking = Omit<Extract<EngineEvent, { kind: 'transfer' }>, 'kind' | 'at'>;
/** One that the lists show; `id` is that of its line there. */
export type ListedTransfer = Booking & { readonly id: string };

/** What a look found: transfers that are not in the ledger, oldest first. `ids` are to be given to `take` with them. */
export type FoundTransfers = { readonly transfers: readonly ListedTransfer[]; readonly ids: readonly string[] };

const PAGES_MAX = 10;
/** Ids remembered: a page of each list, and what came lately. */
const KNOWN_MAX = 500;

export class TransferReads {
  readonly #lists: TransferLists;
  /** What is in the ledger, or was in the balances that it began with; null while that is not known. */
  #known: ReadonlySet<string> | null;
  #list: readonly string[] | null;
  /** When lines were first seen while nothing differed. They may be in the balances already, or come into them yet. */
  readonly #early = new Map<string, Millis>();
  readonly #aheadMaxMs: Millis;
  /** Currencies of which every line must be read. */
  readonly #currencies: readonly string[];

  /** `aheadMaxMs`: a line is not shown longer than this before what it tells of is in the balances. */
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
   * Reads the lists. While nothing is known every id on the newest pages is new, and no transfer: whoever finds the ledger equal to balances
   * that were read after this may `take` them.
   */
  async look(): Promise<FoundTransfers | Failed> {
    const transfers: ListedTransfer[] = [];
    const ids: string[] = [];
    for (const list of this.#lists.lists) {
      const moved = await this.#newest(list);
      if (isFailed(moved)) return moved;
      for (const each of moved) {
        const id = `${list.name} ${each.id}`;
        ids.push(id);
        if (this.#known !== null && !this.#known.has(id)) transfers.push(...transfersOf(list, each, id));
      }
    }
    transfers.sort((a, b) => a.occurredAt - b.occurredAt);
    return { transfers, ids };
  }

  /** Listed when nothing differed. */
  isEarly({ id }: ListedTransfer): boolean {
    return this.#early.has(id);
  }

  /**
   * The ledger equals balances that were read after this look. What was listed so long ago is in them; what is new may be ahead of them. The
   * first look of all learns what was there before the ledger.
   */
  seenEqual(found: FoundTransfers, now: Millis): void {
    const isFirst = this.#known === null;
    const settled = found.ids.filter(id => {
      if (isFirst || this.#known?.has(id)) return true;
      const since = this.#early.get(id) ?? now;
      this.#early.set(id, since);
      return now - since >= this.#aheadMaxMs;
    });
    this.#know(settled);
  }

  /** In the same breath in which the engine is told of `booked`, some of what was found; the others may be ahead of the balances. */
  take({ transfers, ids }: FoundTransfers, booked: readonly ListedTransfer[], now: Millis): void {
    const isBooked = new Set(booked);
    const left = new Set(transfers.filter(each => !isBooked.has(each)).map(({ id }) => id));
    for (const id of left) this.#early.set(id, this.#early.get(id) ?? now);
    this.#know(ids.filter(id => !left.has(id)));
  }

  #know(ids: readonly string[]): void {
    const known = new Set(this.#known ?? []);
    for (const id of ids) {
      this.#early.delete(id);
      known.delete(id);
      known.add(id);
    }
    for (const id of this.#early.keys()) if (this.#early.size > KNOWN_MAX) this.#early.delete(id);
    this.#list = [...known].slice(-KNOWN_MAX);
    this.#known = new Set(this.#list);
  }

  /** Of one list, newest first, down to one that is known. */
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
      // Trades fill the list of fees, and their fees are theirs: only what came back is looked for, among the newest.
      all.push(...(list.of === 'fees' ? outcome.value.filter(isGain) : outcome.value));
      marker = outcome.value[outcome.value.length - 1]?.id;
      const meets = outcome.value.some(({ id }) => this.#known?.has(`${list.name} ${id}`) ?? true);
      if (meets || list.of === 'fees' || outcome.value.length + rows.length < limit) break;
    }
    return all;
  }
}

const isGain = ({ updates }: TransferLine): boolean => updates.every(({ amount }) => amount > 0n);

/** A deposit below zero was taken back, a withdrawal above zero came back. */
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

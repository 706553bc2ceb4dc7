/** Judges why the bot says that its balances are what they are: trades, fees and transfers are those that were, each booked once. */
import { CAUSES, causesFrom, moneyOf, type Causes, type LedgerEntry } from '../../../src/core/index.ts';
import type { EmbeddedExchange } from '../../../src/sandbox/index.ts';

export type BooksJudgeOptions = {
  readonly exchange: EmbeddedExchange;
  readonly accountId: string;
  readonly breaks: (law: string, what: string) => void;
  /** Balances that the account was opened with. */
  readonly began: Readonly<Record<string, string>>;
};

export class BooksJudge {
  readonly #o: BooksJudgeOptions;
  /** Transfers that were there before the bot was. */
  readonly #before: ReadonlySet<string>;

  constructor(options: BooksJudgeOptions) {
    this.#o = options;
    this.#before = new Set(this.#transfers().map(({ id }) => id));
  }

  /** Once everything is quiet. */
  check(books: ReadonlyMap<string, Causes> | null, entries: readonly LedgerEntry[]): void {
    this.#checkTransfers(entries);
    for (const [currency, row] of books ?? []) {
      const onDisk = causesFrom(entries).get(currency);
      const wrong = CAUSES.find(cause => (onDisk?.[cause] ?? 0n) !== row[cause]);
      if (wrong) this.#o.breaks('A7', `${currency}: ${wrong} are ${row[wrong]}, the entries on disk lead elsewhere`);
    }
    // Else something had been traded before the ledger began.
    const isWhole = [...(books ?? [])].every(([name, { opening }]) => opening === moneyOf(this.#o.began[name] ?? '0'));
    if (books && isWhole) this.#checkTrades(books);
  }

  #transfers() {
    return this.#o.exchange.venue.accounts.get(this.#o.accountId)?.transfers.list() ?? [];
  }

  /** A6. */
  #checkTrades(books: ReadonlyMap<string, Causes>): void {
    const truth = new Map<string, { trades: bigint; fees: bigint }>();
    const add = (name: string, cause: 'trades' | 'fees', sum: bigint) => {
      const row = truth.get(name) ?? { trades: 0n, fees: 0n };
      row[cause] += sum;
      truth.set(name, row);
    };
    for (const { order, amount, minor, fee } of this.#o.exchange.truth().accounts.get(this.#o.accountId)?.trades ??
      []) {
      const { side, instrument } = order;
      const sign = side === 'buy' ? 1n : -1n;
      add(instrument.major, 'trades', sign * BigInt(amount) * instrument.lotMoney);
      add(instrument.minor, 'trades', -sign * minor);
      add(side === 'buy' ? instrument.major : instrument.minor, 'fees', -fee);
    }
    for (const [name, { trades, fees }] of truth) {
      const row = books.get(name);
      if (row?.trades === trades && row.fees === fees) continue;
      const what = `booked were ${row?.trades} and ${row?.fees}`;
      this.#o.breaks('A6', `${name}: trades brought ${trades} and fees ${fees}, ${what}`);
    }
  }

  /** A7: what was booked from the lists was listed, once, with this sum, and not before the ledger began. */
  #checkTransfers(entries: readonly LedgerEntry[]): void {
    const listed = new Map(this.#transfers().map(transfer => [transfer.id, transfer]));
    const booked = new Set<string>();
    for (const { source, changes } of entries) {
      const id = /^(?:fundings|withdrawals|fees) .(.*)$/.exec(source)?.[1];
      if (id === undefined) continue;
      const sums = listed.get(id)?.updates.map(({ currency, sum }) => `${sum} ${currency}`);
      const ours = changes.map(({ currency, amount }) => `${amount} ${currency}`);
      if (sums?.join() !== ours.join() || booked.has(id) || this.#before.has(id))
        this.#o.breaks(
          'A7',
          `${source} was booked as ${ours.join()}; the exchange has ${sums?.join() ?? 'none of it'}`,
        );
      booked.add(id);
    }
  }
}

/** List of the exchange's books and currencies, read when first needed and again at each read of the book rules. */
import type { Clock, Millis, Outcome, UnreadableRow } from '../../../core/index.ts';
import type { KrakenAsk, KrakenRequest } from '../wire/protocol.ts';
import { fault } from '../../wire/wire.ts';
import {
  assetDecimals,
  currencyDecimals,
  assetNames,
  assetPairs,
  pairNames,
  type Assets,
  type KrakenPair,
  type PairNames,
} from '../wire/names.ts';

/** Names and rules of books and currencies, as of one read of the exchange's lists. */
export type Listing = {
  readonly assets: Assets;
  readonly byBook: ReadonlyMap<string, KrakenPair>;
  readonly names: PairNames;
  /** Number of decimals to which changes of a balance are rounded, by currency; absent if it is not listed. */
  readonly decimals: ReadonlyMap<string, number>;
  /** Currencies of the listed books. */
  readonly currencies: ReadonlySet<string>;
  readonly unreadable: readonly UnreadableRow[];
};

export type Pairs = {
  /**
   * Returns the latest listing, and waits only if none has been read yet. If a reply named a pair that the listing
   * lacks, also starts another read, without waiting for it.
   */
  readonly known: () => Promise<Outcome<Listing>>;
  /** Reads the listing. Calls at the same time share one read. */
  readonly read: () => Promise<Outcome<Listing>>;
  /** Returns the pair of a book. If the listing lacks the book, the listing is read again, at most once per minute. */
  readonly of: (book: string) => Promise<Outcome<{ readonly listing: Listing; readonly pair: KrakenPair }>>;
};

/**
 * Maximum number of JSON parts (objects, lists, members and elements) in the list of pairs. The list has about 2,000
 * pairs of 150 parts each (common knowledge).
 */
const PARTS_MAX = 1_000_000;
/** Minimum time between reads that are caused by a book or pair missing from the listing. */
const AGAIN_AFTER_MS: Millis = 60_000;
/** Maximum number of pair names that are remembered as missing from the listing. */
const MISSING_MAX = 1_000;

/** Creates the reader. */
export function pairsReader(ask: KrakenAsk, clock: Clock): Pairs {
  let listing: Listing | undefined;
  let triedAt: Millis = -Infinity;
  let reading: Promise<Outcome<Listing>> | undefined;
  /** Names of pairs that occurred in replies but are missing from the listing. */
  const missing = new Set<string>();
  /** Names of pairs that were missing from the listing even after a new read. They cause no further read. */
  const missingForGood = new Set<string>();

  async function readNow(): Promise<Outcome<Listing>> {
    triedAt = clock.elapsed();
    const listed = await ask(
      listRequest('Assets', result => ({ assets: assetNames(result), decimals: assetDecimals(result) })),
    );
    if (listed.kind !== 'done') return listed;
    const { assets, decimals } = listed.value;
    const unreadable: UnreadableRow[] = [];
    const pairs = await ask(listRequest('AssetPairs', result => assetPairs(result, assets, unreadable, decimals)));
    if (pairs.kind !== 'done') return pairs;
    const { byBook, all } = pairs.value;
    const names = pairNames(all, assets);
    listing = {
      assets,
      byBook,
      names: { ...names, named: name => names.named(name) ?? noted(name) },
      decimals: currencyDecimals(assets, decimals, all),
      currencies: new Set([...byBook.values()].flatMap(({ base, quote }) => [base, quote])),
      unreadable,
    };
    if (missingForGood.size > MISSING_MAX) missingForGood.clear();
    for (const name of missing) if (names.named(name) === undefined) missingForGood.add(name);
    missing.clear();
    return { kind: 'done', value: listing };
  }

  function noted(name: string): undefined {
    if (missing.size < MISSING_MAX && !missingForGood.has(name)) missing.add(name);
  }

  const read = (): Promise<Outcome<Listing>> =>
    (reading ??= readNow().finally(() => {
      reading = undefined;
    }));
  const isAgainDue = (): boolean => clock.elapsed() - triedAt >= AGAIN_AFTER_MS;
  const known = (): Promise<Outcome<Listing>> => {
    if (listing === undefined) return read();
    if (missing.size > 0 && isAgainDue()) void read();
    return Promise.resolve({ kind: 'done', value: listing });
  };
  return {
    known,
    read,
    of: async book => {
      let outcome = await known();
      if (outcome.kind === 'done' && !outcome.value.byBook.has(book) && isAgainDue()) outcome = await read();
      if (outcome.kind !== 'done') return outcome;
      const pair = outcome.value.byBook.get(book);
      if (pair !== undefined) return { kind: 'done', value: { listing: outcome.value, pair } };
      const { message } = fault('book', 'a book of this exchange', book);
      return { kind: 'refused', code: 'not-sent', message, meaning: 'rules' };
    },
  };
}

const listRequest = <T>(name: string, read: (result: unknown) => T): KrakenRequest<T> => ({
  endpoint: `GET ${name}`,
  lane: 'public read',
  method: 'GET',
  path: `/public/${name}`,
  effect: 'read',
  partsMax: PARTS_MAX,
  read,
});

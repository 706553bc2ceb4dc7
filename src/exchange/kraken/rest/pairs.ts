/** Books and currencies of the exchange, read when first needed and again with the rules. */
import type { Clock, Millis, Outcome, UnreadableRow } from '../../../core/index.ts';
import type { KrakenAsk, KrakenRequest } from '../wire/protocol.ts';
import { fault } from '../../wire/wire.ts';
import { assetNames, assetPairs, pairNames, type Assets, type KrakenPair, type PairNames } from '../wire/names.ts';

/** Names and rules as of one read. */
export type Listing = {
  readonly assets: Assets;
  readonly byBook: ReadonlyMap<string, KrakenPair>;
  readonly names: PairNames;
  /** Currencies of the listed books. */
  readonly currencies: ReadonlySet<string>;
  readonly unreadable: readonly UnreadableRow[];
};

export type Pairs = {
  /**
   * Returns the latest listing. Reads it if there is none yet, and, at most once per minute, after a reply with a pair
   * that it lacks.
   */
  readonly known: () => Promise<Outcome<Listing>>;
  /** Reads the listing. Calls at the same time share one read. */
  readonly read: () => Promise<Outcome<Listing>>;
  /** Returns the pair of a book. A book that is not listed is looked for again, at most once per minute. */
  readonly of: (book: string) => Promise<Outcome<{ readonly listing: Listing; readonly pair: KrakenPair }>>;
};

/** Maximum number of parts of the list of pairs: about 150 parts for each of 2,000 pairs (common knowledge). */
const PARTS_MAX = 1_000_000;
const AGAIN_AFTER_MS: Millis = 60_000;

/** Creates the reader. */
export function pairsReader(ask: KrakenAsk, clock: Clock): Pairs {
  let listing: Listing | undefined;
  let readAt: Millis = -Infinity;
  let reading: Promise<Outcome<Listing>> | undefined;
  /** Whether a reply had the name of a pair that the listing lacks. */
  let lacksPair = false;

  async function readNow(): Promise<Outcome<Listing>> {
    const assets = await ask(listRequest('Assets', assetNames));
    if (assets.kind !== 'done') return assets;
    const unreadable: UnreadableRow[] = [];
    const pairs = await ask(listRequest('AssetPairs', result => assetPairs(result, assets.value, unreadable)));
    if (pairs.kind !== 'done') return pairs;
    const { byBook, all } = pairs.value;
    listing = {
      assets: assets.value,
      byBook,
      names: pairNames(all, assets.value, () => (lacksPair = true)),
      currencies: new Set([...byBook.values()].flatMap(({ base, quote }) => [base, quote])),
      unreadable,
    };
    lacksPair = false;
    readAt = clock.elapsed();
    return { kind: 'done', value: listing };
  }

  const read = (): Promise<Outcome<Listing>> =>
    (reading ??= readNow().finally(() => {
      reading = undefined;
    }));
  const isAgainDue = (): boolean => clock.elapsed() - readAt >= AGAIN_AFTER_MS;
  const known = async (): Promise<Outcome<Listing>> => {
    if (listing === undefined) return read();
    const before: Outcome<Listing> = { kind: 'done', value: listing };
    if (!lacksPair || !isAgainDue()) return before;
    const outcome = await read();
    return outcome.kind === 'done' ? outcome : before;
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

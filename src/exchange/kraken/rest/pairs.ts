/** Books and currencies of the exchange, read when first needed and again with the rules. */
import type { Clock, Millis, Outcome, UnreadableRow } from '../../../core/index.ts';
import type { KrakenAsk, KrakenRequest } from '../wire/protocol.ts';
import { fault } from '../../wire/wire.ts';
import { assetNames, assetPairs, type Assets, type KrakenPair } from '../wire/names.ts';
import type { PairsByName } from '../wire/replies.ts';

/** Names and rules as of one read. */
export type Listing = {
  readonly assets: Assets;
  readonly byBook: ReadonlyMap<string, KrakenPair>;
  readonly byName: PairsByName;
  /** Currencies of the listed books. */
  readonly currencies: ReadonlySet<string>;
  readonly unreadable: readonly UnreadableRow[];
};

export type Pairs = {
  /** Returns the latest listing. Reads it if there is none yet. */
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

  async function readNow(): Promise<Outcome<Listing>> {
    const assets = await ask(listRequest('Assets', assetNames));
    if (assets.kind !== 'done') return assets;
    const unreadable: UnreadableRow[] = [];
    const pairs = await ask(listRequest('AssetPairs', result => assetPairs(result, assets.value, unreadable)));
    if (pairs.kind !== 'done') return pairs;
    const all = [...pairs.value.values()];
    listing = {
      assets: assets.value,
      byBook: pairs.value,
      byName: new Map(all.flatMap(pair => [pair.wsname, pair.altname, pair.id].map(name => [name, pair] as const))),
      currencies: new Set(all.flatMap(({ base, quote }) => [base, quote])),
      unreadable,
    };
    readAt = clock.elapsed();
    return { kind: 'done', value: listing };
  }

  const read = (): Promise<Outcome<Listing>> =>
    (reading ??= readNow().finally(() => {
      reading = undefined;
    }));
  const known = (): Promise<Outcome<Listing>> =>
    listing === undefined ? read() : Promise.resolve({ kind: 'done', value: listing });
  return {
    known,
    read,
    of: async book => {
      let outcome = await known();
      if (outcome.kind === 'done' && !outcome.value.byBook.has(book) && clock.elapsed() - readAt >= AGAIN_AFTER_MS)
        outcome = await read();
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

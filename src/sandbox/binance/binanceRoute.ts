/** Route of the second exchange: one row of the table with its weight, its security and its handler. */
import type { Clock, WireRequest } from '../../core/index.ts';
import type { Account, Permission } from '../venue/accounts.ts';
import type { Venue } from '../venue/venue.ts';
import type { VenueBook } from '../venue/venueBook.ts';
import type { SecondSwitches } from './binanceSwitches.ts';
import { BinanceFailure, REFUSALS } from './failures.ts';
import type { RequestFields } from './requestFields.ts';
import type { RequestWeights } from './requestWeights.ts';
import { symbolOf, type ShownBooks } from './symbols.ts';

/** Exchange as its handlers see it. */
export type BinanceWorld = {
  readonly venue: Venue;
  readonly clock: Clock;
  readonly switches: SecondSwitches;
  readonly shown: ShownBooks;
  readonly weights: RequestWeights;
  /** Returns a random client order id. */
  clientId(): string;
  /** Returns whether a fault occurs, by a random draw. `pips` is the probability of the fault, in parts of 10,000. */
  draws(pips: number): boolean;
};

export type BinanceRequest = { readonly world: BinanceWorld; readonly fields: RequestFields };

type Common = {
  readonly method: WireRequest['method'];
  readonly path: string;
  /** Weight of a request; a function if the weight depends on parameters. */
  readonly weight: number | ((fields: RequestFields) => number);
};

export type BinanceRoute =
  | (Common & { readonly security: 'none'; readonly handle: (ask: BinanceRequest) => unknown })
  | (Common & {
      readonly security: Permission;
      /** Present for new orders, which count against the limits of orders. */
      readonly order?: true;
      readonly handle: (ask: BinanceRequest & { readonly account: Account }) => unknown;
    });

/**
 * Returns the book of the request's symbol. Throws -1102 if the symbol is absent, -1100 if malformed, -1121 if unknown.
 */
export function bookAsked({ world, fields }: BinanceRequest): VenueBook {
  return bookNamed(world, fields.needed('symbol'));
}

/** Returns the book of the request's symbol; `undefined` if the symbol is absent. */
export function bookMaybe({ world, fields }: BinanceRequest): VenueBook | undefined {
  const symbol = fields.text('symbol');
  return symbol === undefined ? undefined : bookNamed(world, symbol);
}

/** Returns the book of a symbol. Throws -1100 if the symbol is malformed, -1121 if unknown. */
export function bookNamed({ venue }: BinanceWorld, symbol: string): VenueBook {
  if (!/^[A-Z0-9]{1,20}$/.test(symbol)) throw REFUSALS.illegal('symbol', '^[A-Z0-9-_.]{1,20}$');
  for (const book of venue.books.values()) if (symbolOf(book.instrument) === symbol) return book;
  throw REFUSALS.symbol();
}

/**
 * Returns the number of rows that a list request asks for: `fallback` if absent, at most `max`. Throws -1130 for zero.
 */
export const listLimit = (fields: RequestFields, fallback = 500, max = 1_000): number => {
  const limit = fields.whole('limit') ?? fallback;
  if (limit < 1) throw REFUSALS.invalid('limit');
  return Math.min(max, limit);
};

/** Time range of a list request, in epoch ms, both ends included. */
export type TimeSpan = { readonly from: number | undefined; readonly to: number | undefined };

const SPAN_MAX_MS = 86_400_000;

/** Returns the time range of a list request. Throws -1127 if the range is longer than 24 hours. */
export function timeSpan(fields: RequestFields): TimeSpan {
  const [from, to] = [fields.whole('startTime'), fields.whole('endTime')];
  if (from !== undefined && to !== undefined && !(to - from <= SPAN_MAX_MS))
    throw new BinanceFailure(-1127, 'More than 24 hours between startTime and endTime.');
  return { from, to };
}

/**
 * Returns up to `limit` rows in ascending order: the oldest rows if the request has a start time or a first id,
 * otherwise the newest rows. Source: rest-api.md, general API information.
 */
export function pageOfRows<R>(
  rows: readonly R[],
  limit: number,
  { from, to }: TimeSpan,
  timeOf: (row: R) => number,
  isFromId: ((row: R) => boolean) | null,
): R[] {
  const kept = rows.filter(
    row =>
      (from === undefined || timeOf(row) >= from) &&
      (to === undefined || timeOf(row) <= to) &&
      (isFromId === null || isFromId(row)),
  );
  return from !== undefined || isFromId !== null ? kept.slice(0, limit) : kept.slice(-limit);
}

/** Stored states of the books of one account, by symbol. The earlier and the present run can have different books. */
import { targetMoney, storedTarget } from '../accounting/inventory.ts';
import { pairOf } from '../model/bookName.ts';
import type { Instrument } from '../model/instrument.ts';
import { money, type Amount, type Money } from '../model/units.ts';
import type { BookState, RestoredLedger } from './event.ts';

const NOTHING = money(0n);

/** States by symbol. */
export type BookStates = ReadonlyMap<string, BookState>;

/** States for the books of this run, and for books that only earlier runs had. */
export type ContinuedStates = {
  /** States of books of this run; a book that is new has none. */
  readonly states: BookStates;
  /** States of books that this run does not have. */
  readonly kept: BookStates;
};

/**
 * Returns all stored states. `first` is the symbol for the state of a ledger that stores no symbol, which has one book.
 */
export function bookStatesIn(ledger: RestoredLedger, first: string): BookStates {
  const { causes: _causes, sources: _sources, seen: _seen, openings: _openings, transit: _transit, ...rest } = ledger;
  const { symbol = first, books = {}, covariance: _covariance, ...state } = rest;
  return new Map<string, BookState>([[symbol, state], ...Object.entries(books)]);
}

/** Returns the state with its complete target in `targetRest`, which is readable without the lot size of the book. */
export function withoutLots(state: BookState, instrument: Pick<Instrument, 'lotMoney'>): BookState {
  return { ...state, target: 0 as Amount, targetRest: targetMoney(instrument, state) };
}

/**
 * Assigns stored states to the books of this run, which can differ from the books of the earlier run, also in order.
 * `heldOf` returns the amount of a base currency that the account holds.
 *
 * A book that both runs have keeps its inventory. The home of a currency (its first book) takes over the target of the
 * earlier home, and the inventory of the books that this run does not have. The sum over the books is therefore
 * unchanged.
 */
export function continuedStates(
  stored: BookStates,
  books: readonly Instrument[],
  heldOf: (major: string) => Money,
): ContinuedStates {
  const states = new Map<string, BookState>();
  const kept = new Map(stored);
  for (const { symbol } of books) kept.delete(symbol);
  for (const major of new Set(books.map(book => book.major))) {
    const before = [...stored].filter(([symbol]) => majorOf(symbol, books) === major);
    const [oldHome, oldState] = before.find(([, { held }]) => held === undefined) ?? [null, null];
    const [home, ...others] = books.filter(book => book.major === major);
    const lotMoney = books.find(({ symbol }) => symbol === oldHome)?.lotMoney ?? NOTHING;
    const target = oldState === null ? null : targetMoney({ lotMoney }, oldState);
    const heldByOthers = before.reduce((sum, [, { held = NOTHING }]) => sum + held, 0n);
    const ofOldHome = money(heldOf(major) - heldByOthers - (target ?? 0n));
    for (const { symbol } of others) {
      const state = stored.get(symbol);
      if (state === undefined) continue;
      const { targetRest: _, ...rest } = state;
      states.set(symbol, { ...rest, target: 0 as Amount, held: state.held ?? ofOldHome });
    }
    const own = stored.get(home!.symbol);
    if (home!.symbol === oldHome) states.set(home!.symbol, own!);
    else if (own !== undefined || target !== null) {
      const { held: _, targetRest: __, ...rest } = own ?? { guard: null };
      states.set(home!.symbol, { ...rest, ...storedTarget(home!, target ?? NOTHING) });
    }
    for (const [symbol] of before) {
      const state = kept.get(symbol);
      if (state !== undefined) kept.set(symbol, { ...state, target: 0 as Amount, targetRest: NOTHING, held: NOTHING });
    }
  }
  return { states, kept };
}

/**
 * Returns the kept states after an amount of a base currency was booked that changes no inventory: if no book of this run
 * has the currency, the target of its kept home changes.
 */
export function withMovedTarget(kept: BookStates, currency: string, amount: Money): BookStates {
  const home = [...kept].find(([symbol, { held }]) => held === undefined && majorOf(symbol, []) === currency);
  if (home === undefined) return kept;
  const [symbol, state] = home;
  return new Map(kept).set(symbol, { ...state, targetRest: money((state.targetRest ?? NOTHING) + amount) });
}

const majorOf = (symbol: string, books: readonly Instrument[]): string =>
  books.find(book => book.symbol === symbol)?.major ?? pairOf(symbol)[0];

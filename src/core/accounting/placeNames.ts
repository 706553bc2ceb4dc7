/**
 * Names of currencies and ledger entries on another exchange, like `usdt@other`; the part after @ is the place. Names
 * on the bot's own exchange have no place.
 */
import type { AccountLedger } from './accountEvents.ts';
import { money, textOfMoney, type Money } from '../model/units.ts';

/** Returns the name of a currency or an entry at a place. */
export const atPlace = (name: string, place: string): string => `${name}@${place}`;

/** Returns the currency in a name, without the place. */
export const tickerInName = (name: string): string => name.split('@')[0]!;

/** Returns the place in a name; `null` for a name of the bot's own exchange. */
export const placeInName = (name: string): string | null => name.split('@')[1] ?? null;

/** Whether the name ends with this place. */
export const isAtPlace = (name: string, place: string): boolean => name.endsWith(`@${place}`);

/** Returns the command that books an amount out of the ledger; the operator adds the YAML file and the reason. */
export const bookOutCommand = (name: string, amount: Money): string =>
  `puntas ledger adjust -c FILE --currency ${name} --amount=${textOfMoney(money(-amount))} --reason "..."`;

/** Rows of a ledger for other exchanges and for money in transit, with names like `usdt@other`. */
export type PlacedRows = Pick<AccountLedger, 'causes' | 'sources' | 'unopened' | 'roundings'>;

/** Splits rows into those whose names `isWanted` accepts, and the others. */
export function splitRows(
  { causes, sources, unopened, roundings }: PlacedRows,
  isWanted: (name: string) => boolean,
): readonly [wanted: PlacedRows, others: PlacedRows] {
  const part = (is: boolean): PlacedRows => ({
    causes: new Map([...causes].filter(([currency]) => isWanted(currency) === is)),
    sources: sources.filter(source => isWanted(source) === is),
    unopened: unopened?.filter(currency => isWanted(currency) === is),
    roundings: roundings && new Map([...roundings].filter(([currency]) => isWanted(currency) === is)),
  });
  return [part(true), part(false)];
}

/**
 * Splits the rows of other exchanges and of money in transit from a ledger; returns both parts. The bot's own account
 * must never restore these rows, even if this run has no account on the other exchange.
 */
export function splitPlaces<L extends AccountLedger>(ledger: L): readonly [placed: PlacedRows, own: L] {
  const places = new Set([...ledger.causes.keys()].flatMap(currency => currency.split('@').slice(1)));
  const [placed, own] = splitRows(ledger, name => [...places].some(place => isAtPlace(name, place)));
  return [placed, { ...ledger, ...own }];
}

/**
 * Returns the ledger with the rows added.
 * @throws Error if both have a row of one currency, because one row would replace the other.
 */
export function withRows<L extends AccountLedger>(ledger: L, rows: PlacedRows): L {
  const { causes, sources } = rows;
  const both = [...causes.keys()].find(currency => ledger.causes.has(currency));
  if (both !== undefined) throw new Error(`cannot merge two ledgers that both contain ${both}`);
  const unopened = [ledger, rows].flatMap(each => each.unopened ?? []);
  const roundings = new Map([ledger, rows].flatMap(each => [...(each.roundings ?? [])]));
  return {
    ...ledger,
    causes: new Map([...ledger.causes, ...causes]),
    sources: [...ledger.sources, ...sources],
    unopened: unopened.length === 0 ? undefined : unopened,
    roundings: roundings.size === 0 ? undefined : roundings,
  };
}

/** Readers for the body of an operator's call. Each reader returns the exact value or throws an error of one line. */
import { isDecimalText, moneyOf, type Money } from '../../core/index.ts';
import type { Account } from '../venue/accounts.ts';
import type { EmbeddedExchange } from '../exchange.ts';
import { objectOf } from '../http/parameters.ts';
import type { Venue } from '../venue/venue.ts';
import type { Fields } from '../venue/orderChecks.ts';
import { SMALLEST } from '../wire/rounding.ts';

export class OperatorFault extends Error {
  readonly status: number;
  constructor(message: string, status = 400) {
    super(message);
    this.name = 'OperatorFault';
    this.status = status;
  }
}

export type OperatorFields = {
  readonly all: Fields;
  /** Returns the text of a field; `undefined` if absent. */
  text(name: string): string | undefined;
  oneOf<T extends string>(name: string, allowed: readonly T[], otherwise: T): T;
  flag(name: string): boolean | undefined;
  /** Returns a required, positive amount with at most eight decimals. */
  amount(name: string): Money;
  amounts(name: string): Record<string, string>;
  /** Returns a list of texts; `undefined` if absent. */
  words(name: string): readonly string[] | undefined;
  /** Returns readers for the fields of an object; `undefined` if absent. */
  part(name: string): OperatorFields | undefined;
};

/** Call of the operator interface, as passed to its handler. */
export type OperatorRequest<E = EmbeddedExchange> = {
  readonly exchange: E;
  readonly fields: OperatorFields;
  readonly path: Readonly<Record<string, string>>;
  readonly query: ReadonlyMap<string, string>;
};

/**
 * Returns readers of the body's fields; an empty body has no fields. Throws an `OperatorFault` of 400 if the body is
 * not a JSON object. The readers throw such a fault on an invalid value.
 */
export function fieldsIn(body: string): OperatorFields {
  if (body === '') return reader({});
  const parsed = objectOf(body);
  if (parsed.kind === 'refused') throw new OperatorFault('the body must be a JSON object');
  return reader(parsed.value);
}

/** Returns the named account, or the oldest account. Throws an `OperatorFault` of 404 if there is no such account. */
export function accountOf(exchange: { readonly venue: Venue }, id: string | undefined): Account {
  const { accounts } = exchange.venue;
  const account = id === undefined ? accounts.values().next().value : accounts.get(id);
  if (!account)
    throw new OperatorFault(
      id === undefined ? 'the exchange has no account; open one with POST /operator/accounts' : `no account ${id}`,
      404,
    );
  return account;
}

function reader(all: Fields): OperatorFields {
  const text = (name: string): string | undefined => {
    const found = all[name];
    if (found === undefined || found === null) return undefined;
    if (typeof found !== 'string' || found === '' || found.length > 500)
      throw new OperatorFault(`${name}: expected text`);
    return found;
  };
  const object = (name: string): Fields | undefined => {
    const found = all[name];
    if (found === undefined || found === null) return undefined;
    if (typeof found !== 'object' || Array.isArray(found)) throw new OperatorFault(`${name}: expected an object`);
    return found as Fields;
  };
  return {
    all,
    text,
    oneOf: (name, allowed, otherwise) => {
      const given = text(name) ?? otherwise;
      const found = allowed.find(each => each === given);
      if (found === undefined) throw new OperatorFault(`${name}: expected one of ${allowed.join(', ')}`);
      return found;
    },
    flag: name => {
      const found = all[name];
      if (found !== undefined && typeof found !== 'boolean') throw new OperatorFault(`${name}: expected true or false`);
      return found;
    },
    amount: name => positive(name, all[name]),
    amounts: name =>
      Object.fromEntries(
        Object.entries(object(name) ?? {}).map(([currency, sum]) => {
          positive(`${name}.${currency}`, sum);
          return [currency.toLowerCase(), sum as string];
        }),
      ),
    words: name => {
      const found = all[name];
      if (found === undefined) return undefined;
      if (!Array.isArray(found) || !found.every(each => typeof each === 'string'))
        throw new OperatorFault(`${name}: expected a list of strings`);
      return found;
    },
    part: name => {
      const found = object(name);
      return found && reader(found);
    },
  };
}

function positive(name: string, found: unknown): Money {
  const sum = isDecimalText(found) ? moneyOf(found) : 0n;
  if (!(sum > 0n && sum % SMALLEST === 0n))
    throw new OperatorFault(`${name}: expected a positive amount as text, with at most 8 decimals`);
  return sum as Money;
}

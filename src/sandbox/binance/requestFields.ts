/**
 * Parameters of a request, from its query and its body; a name may occur once in each of them. Source of the codes:
 * errors.md of github.com/binance/binance-spot-api-docs at a5e0bc3.
 */
import { isDecimalText, moneyOf, type Money, type WireRequest } from '../../core/index.ts';
import { BinanceFailure, REFUSALS } from './failures.ts';

const missing = (name: string) =>
  new BinanceFailure(-1102, `Mandatory parameter '${name}' was not sent, was empty/null, or malformed.`);

export class RequestFields {
  readonly #values: ReadonlyMap<string, string>;
  readonly #read = new Set<string>();

  constructor(values: ReadonlyMap<string, string>) {
    this.#values = values;
  }

  /** Returns the text of a parameter; `undefined` if absent. Throws -1105 if the text is empty. */
  text(name: string): string | undefined {
    this.#read.add(name);
    const value = this.#values.get(name);
    if (value === '') throw new BinanceFailure(-1105, `Parameter '${name}' was empty.`);
    return value;
  }

  /** Returns the text of a mandatory parameter. Throws -1102 if absent. */
  needed(name: string): string {
    const value = this.text(name);
    if (value === undefined) throw missing(name);
    return value;
  }

  /** Returns one of the allowed words; `undefined` if absent. Throws `failure` for any other word. */
  word<T extends string>(name: string, allowed: readonly T[], failure: () => BinanceFailure): T | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const found = allowed.find(each => each === value);
    if (found === undefined) throw failure();
    return found;
  }

  /** Returns a whole number; `undefined` if absent. */
  whole(name: string): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (!/^\d{1,15}$/.test(value)) throw REFUSALS.illegal(name, '^[0-9]{1,20}$');
    return Number(value);
  }

  /** Returns a decimal of at least 0; `undefined` if absent. */
  decimal(name: string): Money | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (!/^\d{1,20}(?:\.\d{1,20})?$/.test(value) || !isDecimalText(value))
      throw REFUSALS.illegal(name, '^([0-9]{1,20})(\\.[0-9]{1,20})?$');
    if ((value.split('.')[1] ?? '').length > 8)
      throw new BinanceFailure(-1111, `Parameter '${name}' has too much precision.`);
    return moneyOf(value);
  }

  /** Throws -1106 if the parameter was sent. */
  absent(name: string): void {
    if (this.text(name) !== undefined) throw new BinanceFailure(-1106, `Parameter '${name}' sent when not required.`);
  }

  /** Throws -1104 if a parameter was sent that the handler has not read. */
  end(): void {
    const unread = [...this.#values.keys()].filter(name => !this.#read.has(name));
    if (unread.length === 0) return;
    const sent = this.#values.size;
    throw new BinanceFailure(
      -1104,
      `Not all sent parameters were read; read '${sent - unread.length}' parameter(s) but was sent '${sent}'.`,
    );
  }
}

/**
 * Parses the parameters of a request. If a name occurs in both query and body, the value in the query is used. Throws
 * -1101 if a name occurs twice in the query or twice in the body.
 */
export function requestFieldsOf(request: Pick<WireRequest, 'method' | 'body'>, query: string): RequestFields {
  const values = new Map<string, string>();
  const parts = request.method === 'GET' ? [query] : [query, request.body];
  for (const [i, part] of parts.entries()) {
    const seen = new Set<string>();
    for (const [name, value] of new URLSearchParams(part)) {
      if (seen.has(name)) throw new BinanceFailure(-1101, 'Duplicate values for a parameter detected.');
      seen.add(name);
      if (i === 0 || !values.has(name)) values.set(name, value);
    }
  }
  return new RequestFields(values);
}

/**
 * Requests as the standard libraries of PHP 8.2, Ruby 3.1 and Go 1.19 write them: their texts were taken from these programs. No client of the
 * exchange in one of these languages, and no MCP server for it, could be had from the registries that the tests may use.
 */
import { describe, expect, test } from 'vitest';
import { arena, read } from '../sandbox/trader.ts';
import type { Switches } from '../../src/sandbox/index.ts';

const ORDER = '"book":"btc_mxn","side":"sell","type":"limit"';

/** The code of the answer to a body or a query as it is, or the price and amount of the order that was placed. */
function outcomeOf(
  method: 'POST' | 'DELETE' | 'GET',
  target: string,
  body: string,
  switches: Partial<Switches>,
): unknown {
  const { exchange, ann } = arena(switches);
  const { status, body: answer } = read(
    exchange.respond({ method, target, headers: ann.headers(method, target, body), body }, '127.0.0.1'),
  );
  if (status !== 200) return answer.error.code;
  if (method !== 'POST') return 'ok';
  const placed = ann.order((answer.payload as { oid: string }).oid)!;
  return [placed['price'], placed['original_amount']];
}

describe('an order with its price and amount as numbers', () => {
  test.each([
    ['PHP, json_encode of floats', '"price":1500000,"major":0.1', ['1500000', '0.10000000']],
    ['PHP, with a fraction', '"price":1500010.0,"major":0.12345678', ['1500010', '0.12345678']],
    ['PHP, a small float', '"price":1500000,"major":1.0e-8', '0372'],
    ['Ruby, to_json of floats', '"price":1500000.0,"major":0.1', ['1500000', '0.10000000']],
    ['Ruby, to_json of BigDecimal, which is text', '"price":"0.15e7","major":"0.1e0"', '0408'],
    ['Go, json.Marshal of float64', '"major":0.1,"price":1500000', ['1500000', '0.10000000']],
    ['Go, a small float64', '"major":1e-8,"price":1500000', '0372'],
    ['more digits than a double holds', '"major":0.1,"price":1500000.000000000001', '0407'],
  ])('as %s: refused, and with `orderNumbers` accepted taken digit by digit, or refused', (_, fields, accepted) => {
    const body = `{${ORDER},${fields}}`;
    const isText = fields.includes('"0.');
    expect(outcomeOf('POST', '/api/v3/orders', body, {})).toBe(isText ? accepted : '0372');
    expect(outcomeOf('POST', '/api/v3/orders', body, { orderNumbers: 'accepted' })).toEqual(accepted);
  });
});

describe('a list in a query', () => {
  test.each([
    ['Go, with a comma', 'oids=a%2Cb', 'ok'],
    ['Ruby, the name twice', 'oids=a&oids=b', '0304'],
    ['PHP, with numbers in brackets', 'oids%5B0%5D=a&oids%5B1%5D=b', '0304'],
  ])('of ids as %s', (_, query, outcome) => {
    expect(outcomeOf('DELETE', `/api/v3/orders?${query}`, '', {})).toBe(outcome);
  });

  test('narrows no cancel of all as PHP writes it either', () =>
    expect(outcomeOf('DELETE', '/api/v3/orders/all?book%5B0%5D=btc_mxn', '', {})).toBe('0304'));
});

describe('a truth value in a query', () => {
  test.each([
    ['Go and Ruby', 'false', 'ok'],
    ['Python', 'False', 'ok'],
    ['PHP', '0', '0304'],
  ])('of %s', (_, aggregate, outcome) =>
    expect(outcomeOf('GET', `/api/v3/order_book?book=btc_mxn&aggregate=${aggregate}`, '', {})).toBe(outcome),
  );
});

/** The parsers on replies that other people recorded: whole, cut at every byte, changed and hostile. */
import fc from 'fast-check';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isDecimalText, type Outcome } from '../../../src/core/index.ts';
import type { Client } from '../../../src/exchange/bitso/client.ts';
import { json, scriptedClient } from './fakes.ts';

const ROOT = join(process.env['PUNTAS_DATA'] ?? '../shared/data', 'bitso-api-fixtures');
const missing = !existsSync(ROOT);
if (missing) console.log(`skipped: no recorded replies at ${ROOT} (set PUNTAS_DATA)`);
const text = (file: string): string => (missing ? '{}' : readFileSync(join(ROOT, file), 'utf8'));
const part = (file: string, ...path: (string | number)[]): string =>
  JSON.stringify(
    path.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], JSON.parse(text(file))) ?? {},
  );

type Call = (client: Client) => Promise<Outcome<unknown>>;

/** Name, the recorded reply, the call that asks for it, and how many things it must find. */
const RECORDED: readonly [string, string, Call, number][] = [
  ['trades of 2017', text('bitso-java/publicTrades.json'), c => c.trades('btc_mxn'), 25],
  ['all tickers of 2017', text('bitso-java/publicTicker.json'), c => c.tickers(), 6],
  ['ticker of 2025', text('xchange-2025-06-05/ticker_btc_mxn_response.json'), c => c.ticker('btc_mxn'), 1],
  ['ticker of 2018', part('vcr-2018-2019/ticker_2018-07-18.json', 0, 'body'), c => c.ticker('btc_mxn'), 1],
  ['placed order', text('bitso-java/privatePlaceOrder.json'), c => c.place(ORDER), 1],
  ['open orders of 2016', text('bitso-java/privateOpenOrders.json'), c => c.openOrders({}), 3],
  ['available books', text('ccxt-static/available_books_from_markets_info_subset.json'), c => c.availableBooks(), 2],
  ['RFQ pairs', part('rfq-webhook/rfq.json', 'pairs_response'), c => c.rfq.pairs(), 1],
  ['RFQ quote', part('rfq-webhook/rfq.json', 'quote_response_active'), c => c.rfq.quote('q'), 1],
  [
    'conversion quote',
    `{"success":true,"payload":${part('rfq-webhook/rfq.json', 'v4_conversion_quote')}}`,
    c => c.requestConversion({ from: 'mxn', to: 'usd', receive: '100' }),
    1,
  ],
  ['order book of 2017', text('bitso-java/publicOrderBook.json'), c => c.orderBook('btc_mxn'), 1],
];

const ORDER = {
  book: 'btc_mxn',
  side: 'buy',
  price: '1',
  major: '1',
  originId: 'a',
  timeInForce: 'post only',
} as const;

const asking = (reply: string, call: Call, status = 200) => call(scriptedClient(() => json(reply, status)).client);

/** Fields of outcomes that must be decimal text wherever they turn up. */
const DECIMALS =
  /^(price|amount|major|minor|feeAmount|bid|ask|high|low|last|volume|rate|.*Amount|.*Price|.*Value|tickSize|maker|taker)$/;

function checkNumbers(found: unknown, field = ''): void {
  if (Array.isArray(found)) for (const each of found) checkNumbers(each, field);
  else if (typeof found === 'object' && found !== null)
    for (const [name, each] of Object.entries(found)) checkNumbers(each, name);
  else if (typeof found === 'number') expect(Number.isSafeInteger(found), `${field} ${found}`).toBe(true);
  else if (DECIMALS.test(field) && typeof found === 'string')
    expect(isDecimalText(found), `${field} ${found}`).toBe(true);
}

describe.skipIf(missing)('a recorded reply', () => {
  it.each(RECORDED)('(%s) is read whole', async (_, reply, call, count) => {
    const outcome = await asking(reply, call);
    expect(outcome.kind, outcome.kind === 'unknown' ? outcome.reason : '').toBe('done');
    if (outcome.kind !== 'done') return;
    expect(Array.isArray(outcome.value) ? outcome.value.length : 1).toBe(count);
    checkNumbers(outcome.value);
  });

  it.each(RECORDED)('(%s) is unknown when cut at any byte', async (_, reply, call) => {
    const whole = reply.trimEnd();
    for (let end = 0; end < whole.length; end++) {
      expect((await asking(whole.slice(0, end), call)).kind, `cut at ${end}`).toBe('unknown');
    }
  });

  it.each(RECORDED)(
    '(%s) with changed characters ends in an outcome without a number that is none',
    async (_, reply, call) => {
      const change = fc.record({
        at: fc.nat(Math.max(reply.length - 1, 0)),
        cut: fc.nat(6),
        put: fc.oneof(
          fc.constantFrom(
            '-',
            'e9',
            '0x',
            'NaN',
            'null',
            '"',
            '[',
            '{}',
            ',',
            '\\u0000',
            '1e400',
            '12345678901234567890',
            '.',
          ),
          fc.string({ maxLength: 4 }),
        ),
      });
      await fc.assert(
        fc.asyncProperty(
          fc.array(change, { minLength: 1, maxLength: 4 }),
          fc.constantFrom(200, 200, 400, 500),
          async (changes, status) => {
            let hurt = reply;
            for (const { at, cut, put } of changes) hurt = hurt.slice(0, at) + put + hurt.slice(at + cut);
            const outcome = await asking(hurt, call, status);
            expect(['done', 'refused', 'unknown']).toContain(outcome.kind);
            if (outcome.kind === 'done') checkNumbers(outcome.value);
          },
        ),
        { numRuns: 150 },
      );
    },
  );

  it('(any JSON at all) ends in an outcome for every call', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...RECORDED), fc.jsonValue(), fc.boolean(), async ([, , call], value, wrap) => {
        const outcome = await asking(JSON.stringify(wrap ? { success: true, payload: value } : value), call);
        if (outcome.kind === 'done') checkNumbers(outcome.value);
      }),
      { numRuns: 500 },
    );
  });

  it('(order book of 2017) of another book than was asked for is unknown', async () => {
    expect((await asking(text('bitso-java/publicOrderBook.json'), c => c.orderBook('eth_mxn'))).kind).toBe('unknown');
  });

  it('(available books of 2017) without tick sizes has no book, and names each', async () => {
    const outcome = await asking(text('bitso-java/publicAvailableBooks.json'), c => c.availableBooks());
    expect(outcome).toMatchObject({ kind: 'done', value: [] });
    expect(outcome.kind === 'done' ? outcome.unreadable?.[0] : null).toMatchObject({ book: 'btc_mxn' });
  });

  it('(errors of 2026) is refused with the code that was sent', async () => {
    const codes: string[] = [];
    for (const { status, body } of JSON.parse(text('wire-2026-09/rest_errors.json')) as {
      status: number;
      body: unknown;
    }[]) {
      const outcome = await asking(JSON.stringify(body), c => c.ticker('nope_usd'), status);
      codes.push(outcome.kind === 'refused' ? outcome.code : outcome.kind);
    }
    expect(codes).toEqual(['20', '0301']);
  });
});

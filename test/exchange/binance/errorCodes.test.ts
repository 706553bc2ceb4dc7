/** Tests of the proof that each code and status gives about a write. */
import { describe, expect, test } from 'vitest';
import type { NewOrder, WireReply } from '../../../src/core/index.ts';
import { BINANCE_CODES } from '../../../src/exchange/binance/wire/errorCodes.ts';
import { scriptedBinance, SYMBOLS } from './fakes.ts';

const order: NewOrder = {
  ...{ book: 'btc_usdt', side: 'buy', price: '29000', major: '0.01', originId: 'a-1-1', timeInForce: 'post only' },
};
const reply = (status: number, body: unknown, headers: Record<string, string> = {}): WireReply => ({
  status,
  headers,
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
const placed = (answer: WireReply) => scriptedBinance(() => answer).client.place(order);
const read = (answer: WireReply) => scriptedBinance(() => answer).client.openOrders({});

describe('the table of codes', () => {
  test('has each code once, with its source', () => {
    const codes = BINANCE_CODES.map(({ code }) => code);
    expect(new Set(codes).size).toBe(codes.length);
    expect(codes.length).toBeGreaterThan(100);
    expect(BINANCE_CODES.every(({ source, text }) => source !== '' && text !== '')).toBe(true);
    expect(BINANCE_CODES.filter(({ is, meaning }) => is === 'unknown' && meaning !== undefined)).toEqual([]);
  });

  test.each(BINANCE_CODES.filter(({ code }) => !code.includes(':')))('$code: $text', async ({ code, is, meaning }) => {
    const outcome = await placed(reply(400, { code: Number(code), msg: 'text' }));
    expect(outcome).toMatchObject(is === 'refused' ? { kind: 'refused', code } : { kind: 'unknown' });
    expect(outcome.kind === 'refused' ? outcome.meaning : undefined).toBe(meaning);
    // The answer to a read changes nothing, so that every code is a rejection.
    expect(await read(reply(400, { code: Number(code), msg: 'text' }))).toMatchObject({ kind: 'refused' });
  });

  test.each(BINANCE_CODES.flatMap(({ code }) => (code.includes(':') ? [] : [code])))(
    'a look-up that is answered with %s proves that the orders do not exist only if that is what it says',
    async code => {
      for (const originIds of [['a-1-1'], ['a-1-1', 'a-1-2', 'a-1-3']]) {
        const answer = reply(400, { code: Number(code), msg: 'text' });
        const { client, clock } = scriptedBinance(() => answer);
        let outcome = null as Awaited<ReturnType<typeof client.lookUp>> | null;
        void client.lookUp({ originIds }).then(found => (outcome = found));
        // Too many requests pause the next ones.
        for (let n = 0; n < 100 && outcome === null; n++) await clock.advance(n === 0 ? 0 : 2_000);
        if (['-2013', '-2026'].includes(code)) expect(outcome).toEqual({ kind: 'done', value: [] });
        else expect(outcome).toMatchObject({ kind: expect.stringMatching(/^(refused|unknown)$/) as string });
      }
    },
  );

  test.each([
    [-2010, 'Duplicate order sent.', '-2010:duplicate', 'duplicate id'],
    [-2010, 'Order would immediately match and take.', '-2010:would take', 'post only'],
    [-2010, 'Account has insufficient balance for requested action.', '-2010:funds', undefined],
    [-2010, 'Market is closed.', '-2010:closed', 'rules'],
    [-2010, 'This account may not place or cancel orders.', '-2010:no trading', 'person'],
    [-1013, 'Filter failure: PRICE_FILTER', '-1013:PRICE_FILTER', 'rules'],
    [-1013, 'Filter failure: NOTIONAL', '-1013:NOTIONAL', 'rules'],
    [-1013, 'Filter failure: PERCENT_PRICE_BY_SIDE', '-1013:PERCENT_PRICE', undefined],
    [-1013, 'Filter failure: MAX_NUM_ORDERS', '-1013:MAX_NUM_ORDERS', undefined],
    [-2010, 'A text that nobody has seen.', '-2010', undefined],
  ] as const)('%i %s has its own entry', async (code, msg, refined, meaning) => {
    const outcome = await placed(reply(400, { code, msg }));
    expect(outcome).toMatchObject({ kind: 'refused', code: refined, message: msg });
    expect(outcome.kind === 'refused' ? outcome.meaning : '').toBe(meaning);
  });
});

describe('the list of all symbols', () => {
  test('is read whole, thousands of them, without those that do not trade or whose names no book can have', async () => {
    const [symbol] = SYMBOLS.symbols;
    const rows = Array.from({ length: 2_500 }, (_, n) => ({
      ...{ ...symbol, symbol: `C${n}USDT`, baseAsset: `C${n}`, orderTypes: Array.from({ length: 20 }, () => 'LIMIT') },
      ...(n === 7 ? { status: 'BREAK' } : n === 8 ? { baseAsset: '１２３' } : n === 9 ? { filters: [] } : {}),
    }));
    const { client } = scriptedBinance(() => reply(200, {}), undefined, rows);
    const books = await client.availableBooks();
    expect(books).toMatchObject({ kind: 'done', unreadable: [{ book: 'c9_usdt' }] });
    expect(books.kind === 'done' && books.value.length).toBe(2_497);
  });
});

describe('the outcome of a write', () => {
  test.each([
    ['a code that is not in the table', reply(400, { code: -9999, msg: 'new' })],
    ['a sure code with a server error', reply(500, { code: -2010, msg: 'Account has insufficient balance' })],
    ['a sure code with success', reply(200, { code: -2010, msg: 'Account has insufficient balance' })],
    ['a page of the firewall', reply(403, '<html>403</html>')],
    ['a bare 429', reply(429, '')],
    ['a bare 418', reply(418, 'teapot')],
    ['a bare 400', reply(400, '')],
    ['a redirect', reply(302, '')],
    ['a cut answer', reply(200, '{"symbol":"BTCUSDT","orderId":1')],
    ['an empty success', reply(200, '')],
    ['an error without text', reply(400, { code: -2010 })],
    ['an error without number', reply(400, { code: '-2010', msg: 'x' })],
    ['the order of another symbol', reply(200, { symbol: 'ETHUSDT', orderId: 1, clientOrderId: 'a-1-1' })],
    ['the order of another id', reply(200, { symbol: 'BTCUSDT', orderId: 1, clientOrderId: 'a-1-2' })],
    ['an order without id', reply(200, { symbol: 'BTCUSDT', clientOrderId: 'a-1-1' })],
  ])('is unknown after %s', async (_, answer) => {
    expect(await placed(answer)).toMatchObject({ kind: 'unknown' });
  });

  test('keeps every digit of an id beyond 2^53', async () => {
    const answer = reply(200, '{"symbol":"BTCUSDT","orderId":9223372036854775807,"clientOrderId":"a-1-1"}');
    expect(await placed(answer)).toEqual({ kind: 'done', value: { oid: '9223372036854775807' } });
  });

  test('that was throttled pauses as long as the exchange says: all requests, or new orders only', async () => {
    for (const [code, status, isOrders] of [
      [-1003, 429, false],
      [-1003, 418, false],
      [-1015, 429, true],
    ] as const) {
      const answers = [reply(status, { code, msg: 'too many' }, { 'retry-after': '120' })];
      const again = reply(200, []);
      const { client, clock } = scriptedBinance(() => answers.shift() ?? again);
      expect(await client.place(order)).toMatchObject({ kind: 'refused', code: String(code) });
      const reading = client.openOrders({});
      await clock.advance(5_000);
      expect(await reading).toMatchObject(isOrders ? { kind: 'done' } : { kind: 'refused', code: 'budget' });
      const placing = client.place(order);
      await clock.advance(5_000);
      expect(await placing).toMatchObject({ kind: 'refused', code: 'budget' });
      await clock.advance(120_000);
      expect(await client.openOrders({})).toMatchObject({ kind: 'done' });
    }
  });

  test('shows neither key nor secret', async () => {
    const outcome = await placed(reply(400, { code: -2015, msg: 'the-key and the-secret' }));
    expect(JSON.stringify(outcome)).not.toMatch(/the-key|the-secret/);
  });
});

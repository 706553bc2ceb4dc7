/** Every call of the client on the second exchange, which speaks the interface of Binance. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  instrumentOf,
  settle,
  TransportFailure,
  type Amount,
  type NewOrder,
  type OrderReport,
  type Page,
  type Price,
  type TimeInForce,
} from '../../../src/core/index.ts';
import { BINANCE_LIMITS, orderMeters } from '../../../src/exchange/binance/client.ts';
import { done } from '../../conformance/driver.ts';
import { runsOf } from '../../many.ts';
import { deskOn, scriptedBinance, SYMBOLS, type Desk } from './fakes.ts';

const order = (side: 'buy' | 'sell', price: string, originId: string, timeInForce: TimeInForce): NewOrder => ({
  ...{ book: 'btc_usdt', side, price, major: '0.01', originId, timeInForce },
});
const place = (desk: Desk, ...of: Parameters<typeof order>) => desk.run(desk.client.place(order(...of)));

describe('rules and books', () => {
  test('of the own book have tick, step and bounds; a book that is not listed is absent from the whole list', async () => {
    const desk = deskOn();
    const [row, ...more] = done(await desk.run(desk.client.availableBooks()));
    expect(more).toEqual([]);
    expect(row).toMatchObject({
      ...{ book: 'btc_usdt', tickSize: '0.01', lotSize: '0.00001', minimumAmount: '0.00001', maximumAmount: '9000' },
      ...{ minimumPrice: '0.01', maximumPrice: '1000000', minimumValue: '5', maximumValue: '9000000' },
    });
    const { lot, amountMin } = instrumentOf(row!);
    expect([lot, amountMin]).toEqual(['0.00001', 1]);
    for (const book of ['bt_cusdt', 'btcu_sdt', 'no_such'])
      expect(await desk.run(desk.client.orderBook(book))).toMatchObject({ kind: 'refused' });
  });

  test('show levels with the sequence of the exchange, and trades in both orders', async () => {
    const desk = deskOn();
    const { client, other, run } = desk;
    await place(desk, 'buy', '30000', 'a-1-1', 'post only');
    await run(other.place(order('sell', '30000', 'b-1-1', 'immediate or cancel')));
    await run(other.place(order('sell', '30010', 'b-1-2', 'post only')));
    const book = done(await run(client.orderBook('btc_usdt')));
    expect([book.bids, book.asks]).toEqual([[], [{ price: '30010.00000000', amount: '0.01000000' }]]);
    const [newest] = done(await run(client.trades('btc_usdt', { limit: 1 })));
    expect(newest).toMatchObject({ price: '30000.00000000', amount: '0.01000000', makerSide: 'buy' });
    const after = await run(client.trades('btc_usdt', { marker: newest!.tid, sort: 'asc', limit: 10 }));
    expect(done(after)).toEqual([]);
    const from = await run(client.trades('btc_usdt', { marker: `${BigInt(newest!.tid) - 1n}`, sort: 'asc' }));
    expect(done(from)).toEqual([newest]);
    expect(await run(client.trades('btc_usdt', { marker: '1', sort: 'desc' }))).toMatchObject({ code: 'not-sent' });
  });
});

describe('an order', () => {
  test('is placed, listed, found by both ids, canceled by each, and then reported as canceled', async () => {
    const desk = deskOn();
    const { client, run } = desk;
    const first = done(await place(desk, 'buy', '29000', 'a-1-1', 'post only'));
    const second = done(await place(desk, 'buy', '29001', 'a-1-2', 'good till canceled'));
    const open = done(await run(client.openOrders({ book: 'btc_usdt' })));
    expect(open.map(({ oid, originId, status }) => [oid, originId, status])).toEqual([
      [first.oid, 'a-1-1', 'open'],
      [second.oid, 'a-1-2', 'open'],
    ]);
    const found = done(await run(client.lookUp({ originIds: ['a-1-1', 'a-9-9', 'a-1-2'] })));
    expect(found).toEqual(open);
    expect(done(await run(client.lookUp({ oids: [first.oid, '999999'] })))).toEqual([open[0]]);
    const canceled = await run(client.cancel({ originIds: ['a-1-1', 'a-9-9'] }));
    expect(done(canceled)).toEqual([first.oid]);
    expect(done(await run(client.cancel({ oids: [second.oid] })))).toEqual([second.oid]);
    expect(done(await run(client.cancel({ oids: [second.oid] })))).toEqual([]);
    const ended = done(await run(client.lookUp({ originIds: ['a-1-1'] })));
    expect(ended).toMatchObject([{ originId: 'a-1-1', status: 'cancelled', unfilledAmount: '0.01' }]);
    expect(done(await run(client.openOrders({})))).toEqual([]);
  });

  test('of each time in force does what it says; the rest of an immediate order is reported as unfilled', async () => {
    const desk = deskOn();
    const { client, other, run } = desk;
    await run(other.place({ ...order('sell', '30000', 'b-1-1', 'post only'), major: '0.004' }));
    const killed = done(await place(desk, 'buy', '30000', 'a-1-1', 'fill or kill'));
    expect(done(await run(client.lookUp({ oids: [killed.oid] })))).toMatchObject([{ status: 'cancelled' }]);
    const taker = done(await place(desk, 'buy', '30000', 'a-1-2', 'immediate or cancel'));
    expect(done(await run(client.lookUp({ oids: [taker.oid] })))).toMatchObject([
      { originId: 'a-1-2', status: 'cancelled', originalAmount: '0.01000000', unfilledAmount: '0.006' },
    ]);
    const trades = done(await run(client.orderTrades({ originId: 'a-1-2' })));
    expect(trades).toMatchObject([
      {
        ...{ oid: taker.oid, originId: 'a-1-2', side: 'buy', price: '30000.00000000', major: '0.00400000' },
        ...{ minor: '120.00000000', feeAmount: '0.00000400', feeCurrency: 'btc', maker: false },
      },
    ]);
    await run(other.place(order('sell', '30005', 'b-1-2', 'post only')));
    expect(await place(desk, 'buy', '30005', 'a-1-3', 'post only')).toMatchObject({
      ...{ kind: 'refused', code: '-2010:would take', meaning: 'post only' },
    });
  });

  test('with an id that is open already is a duplicate; with an unfit id or amount it is not sent', async () => {
    const desk = deskOn();
    await place(desk, 'buy', '29000', 'a-1-1', 'post only');
    expect(await place(desk, 'buy', '29000', 'a-1-1', 'post only')).toMatchObject({ meaning: 'duplicate id' });
    const before = desk.sent.length;
    for (const [price, id] of [
      ['29000', 'x'.repeat(37)],
      ['29000', 'a b'],
      ['0', 'a-1-2'],
      ['1e5', 'a-1-3'],
    ] as const)
      expect(await place(desk, 'buy', price, id, 'post only')).toMatchObject({ kind: 'refused', code: 'not-sent' });
    expect(desk.sent.length).toBe(before);
    expect(await place(desk, 'buy', '29000.001', 'a-1-4', 'post only')).toMatchObject({ meaning: 'rules' });
    expect(await place(desk, 'buy', '500000000', 'a-1-5', 'post only')).toMatchObject({ kind: 'refused' });
  });

  test('of many is looked up with one list of the open ones, and the result is that of single look-ups', async () => {
    const desk = deskOn();
    const ids = Array.from({ length: 9 }, (_, n) => `a-1-${n + 1}`);
    for (const [n, id] of ids.slice(0, 7).entries())
      expect(await place(desk, 'buy', String(1_000 + n), id, 'post only')).toMatchObject({ kind: 'done' });
    await desk.run(desk.client.cancel({ originIds: ids.slice(0, 2) }));
    const single: OrderReport[] = [];
    for (const id of ids) {
      const one = await desk.run(desk.client.lookUp({ originIds: [id] }));
      if (one.kind === 'done') single.push(...one.value);
    }
    expect(single).toHaveLength(7);
    const asked = [{ originIds: ids }, { oids: single.map(({ oid }) => oid) }];
    for (const [n, of] of asked.entries()) {
      desk.sent.length = 0;
      const all = await desk.run(desk.client.lookUp(of));
      expect(all).toEqual({ kind: 'done', value: single });
      const names = desk.sent.map(({ target }) => /v3\/(\w+)/.exec(target)![1]);
      expect(names).toEqual(['openOrders', ...Array.from({ length: n === 0 ? 4 : 2 }, () => 'order')]);
    }
    for (const count of [1, 2, 3]) {
      desk.sent.length = 0;
      await desk.run(desk.client.lookUp({ originIds: ids.slice(2, 2 + count) }));
      expect(desk.sent.map(({ target }) => target.includes('/openOrders'))).toEqual(
        count < 3 ? Array.from({ length: count }, () => false) : [true],
      );
    }
  });

  test('whose answer is lost is unknown, and its look-up tells the truth', async () => {
    for (const lostAs of ['closed', 'silence'] as const)
      for (const fault of ['answerLostPips', 'requestLostPips'] as const) {
        const desk = deskOn({ [fault]: 10_000, lostAs });
        expect(await place(desk, 'buy', '29000', 'a-1-1', 'post only')).toMatchObject({ kind: 'unknown' });
        desk.exchange.set({ [fault]: 0 });
        const found = done(await desk.run(desk.client.lookUp({ originIds: ['a-1-1'] })));
        expect(found.map(({ originId }) => originId)).toEqual(fault === 'answerLostPips' ? ['a-1-1'] : []);
      }
  });
});

describe('a symbol that does not trade', () => {
  test('is read and its orders are canceled by a client that never saw it trade', async () => {
    const desk = deskOn();
    const { client, run, exchange } = desk;
    const { oid } = done(await place(desk, 'buy', '29000', 'a-1-1', 'post only'));
    exchange.set({ trading: 'off' });
    const fresh = desk.again();
    expect(done(await run(fresh.availableBooks()))).toEqual([]);
    expect(done(await run(fresh.openOrders({})))).toMatchObject([{ oid, originId: 'a-1-1' }]);
    expect(done(await run(fresh.lookUp({ originIds: ['a-1-1'] })))).toMatchObject([{ oid, status: 'open' }]);
    expect(await run(fresh.place(order('buy', '29000', 'a-1-2', 'post only')))).toMatchObject({
      kind: 'refused',
      status: 400,
    });
    expect(done(await run(desk.again().cancel({ originIds: ['a-1-1'] })))).toEqual([oid]);
    expect(done(await run(client.openOrders({})))).toEqual([]);
  });
});

describe('a list of symbols', () => {
  test('is read once for calls at the same time, and again after a failure', async () => {
    const { client, transport } = scriptedBinance(() => ({ status: 200, headers: {}, body: '[]' }));
    const { answer } = transport;
    let isLost = true;
    transport.answer = request => {
      if (isLost && request.target.includes('/exchangeInfo')) throw new TransportFailure('no complete answer', true);
      return answer(request);
    };
    const both = () => Promise.all([client.openOrders({}), client.userTrades({ sort: 'asc' })]);
    expect((await both()).map(({ kind }) => kind)).toEqual(['unknown', 'unknown']);
    isLost = false;
    expect((await both()).map(({ kind }) => kind)).toEqual(['done', 'done']);
    const lists = transport.requests.filter(({ target }) => target.includes('/exchangeInfo'));
    expect(lists.length).toBe(2);
  });
});

describe('a list of symbols that is not answered', () => {
  test('stops no cancel, and a placement is certainly not sent', async () => {
    const { client, transport } = scriptedBinance(({ method }) => {
      expect(method).toBe('DELETE');
      const body = JSON.stringify({ symbol: 'BTCUSDT', orderId: 7 });
      return { status: 200, headers: {}, body };
    });
    const { answer } = transport;
    transport.answer = request => {
      if (request.target.includes('/exchangeInfo')) throw new TransportFailure('no complete answer', true);
      return answer(request);
    };
    expect(await client.cancel({ originIds: ['a-1-1'] })).toEqual({ kind: 'done', value: ['7'] });
    const placed = await client.place(order('buy', '29000', 'a-1-1', 'post only'));
    expect(placed).toMatchObject({ kind: 'refused', code: 'not-sent' });
    expect(transport.requests.some(({ method }) => method === 'POST')).toBe(false);
  });
});

describe('own trades', () => {
  test('of an order with more than a page are read completely, the oldest first', async () => {
    const desk = deskOn({ rateLimits: 'off' });
    const { client, run, exchange } = desk;
    const place = exchange.marketplace('btc_usdt');
    for (let n = 0; n < 2_345; n++) place.place('sell', 3_000_000 as Price, 1 as Amount, 'GTC');
    const taken = { ...order('buy', '30000', 'a-1-1', 'immediate or cancel'), major: '0.02345' };
    const { oid } = done(await run(client.place(taken)));
    const trades = done(await run(client.orderTrades({ oid })));
    expect(trades).toHaveLength(2_345);
    expect(new Set(trades.map(({ tid }) => tid)).size).toBe(2_345);
    const tids = trades.map(({ tid }) => BigInt(tid));
    expect([...tids].sort((a, b) => (a < b ? -1 : 1))).toEqual(tids);
  });

  test('are readable beside one whose order has an id that is not text; an order without an id is of another program', async () => {
    const row = (id: number, orderId: number) => ({
      ...{ symbol: 'BTCUSDT', id, orderId, price: '30000', qty: '0.1', quoteQty: '3000', commission: '1' },
      ...{ commissionAsset: 'USDT', time: 1_700_000_000_000, isBuyer: true, isMaker: true },
    });
    const ids: readonly unknown[] = ['a-1-1', 17, '', 'web_x'];
    const { client } = scriptedBinance(({ target }) => {
      const orderId = Number(/orderId=(\d+)/.exec(target)?.[1]);
      const body = target.includes('/myTrades')
        ? ids.map((_, n) => row(n + 1, n))
        : { symbol: 'BTCUSDT', orderId, clientOrderId: ids[orderId] };
      return { status: 200, headers: {}, body: JSON.stringify(body) };
    });
    const outcome = await client.userTrades({ sort: 'asc' });
    expect(done(outcome).map(({ tid, originId }) => [tid, originId])).toEqual([
      ['1', 'a-1-1'],
      ['3', undefined],
      ['4', 'web_x'],
    ]);
    expect(outcome).toMatchObject({
      unreadable: [{ book: 'btc_usdt', oid: '1', id: '2', currencies: ['btc', 'usdt'] }],
    });
  });

  test('are unreadable exactly where the id of their own order is, each for the reason of that order', async () => {
    // The id of each order: a text, none, or a number, which is unreadable.
    const idsDrawn = fc.array(fc.constantFrom<'text' | 'none' | 'number'>('text', 'text', 'none', 'number'), {
      minLength: 1,
      maxLength: 6,
    });
    const tradesDrawn = fc.array(fc.nat(5), { minLength: 1, maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(idsDrawn, fc.array(tradesDrawn, { minLength: 1, maxLength: 3 }), async (kinds, reads) => {
        const idOf = (n: number) => ({ text: `a-1-${n}`, none: '', number: 7_000 + n })[kinds[n]!];
        let orders: readonly number[] = [];
        const { client } = scriptedBinance(({ target }) => {
          const orderId = Number(/orderId=(\d+)/.exec(target)?.[1]);
          const body = target.includes('/myTrades')
            ? orders.map((order, n) => ({
                ...{ symbol: 'BTCUSDT', id: n + 1, orderId: order, price: '30000', qty: '0.1', quoteQty: '3000' },
                ...{ commission: '1', commissionAsset: 'BNB', time: 1_700_000_000_000, isBuyer: true, isMaker: true },
              }))
            : { symbol: 'BTCUSDT', orderId, clientOrderId: idOf(orderId) };
          return { status: 200, headers: {}, body: JSON.stringify(body) };
        });
        // Ids that an earlier read has found are not read again.
        for (const drawn of reads) {
          orders = drawn.map(n => n % kinds.length);
          const outcome = await client.userTrades({ sort: 'asc' });
          if (outcome.kind !== 'done') throw new Error('the trades were read');
          const tids = (isUnreadable: boolean) =>
            orders.flatMap((n, i) => ((kinds[n] === 'number') === isUnreadable ? [String(i + 1)] : []));
          expect(outcome.value.map(({ tid }) => tid)).toEqual(tids(false));
          for (const { oid, originId } of outcome.value)
            expect(originId).toBe(kinds[Number(oid)] === 'text' ? idOf(Number(oid)) : undefined);
          const unreadable = outcome.unreadable ?? [];
          expect(unreadable.map(({ id }) => id)).toEqual(tids(true));
          for (const { currencies } of unreadable) expect(currencies).toEqual(['btc', 'usdt', 'bnb']);
          for (const { oid, why } of unreadable) expect(why).toContain(String(idOf(Number(oid))));
        }
      }),
      runsOf(500, 40),
    );
  });

  test('are read from an id in order, each with the id of its order, also after a restart of the client', async () => {
    const desk = deskOn({ bnbFees: 'on' });
    const { client, other, run } = desk;
    // The price of BNB, in which fees are paid.
    const bnb = { ...order('buy', '600', 'a-0-1', 'post only'), book: 'bnb_usdt', major: '1' };
    await run(client.place(bnb));
    await run(client.place({ ...bnb, side: 'sell', price: '601', originId: 'a-0-2' }));
    await run(other.place(order('sell', '40000', 'b-0-1', 'post only')));
    await run(other.place(order('buy', '20000', 'b-0-2', 'post only')));
    for (let n = 1; n <= 5; n++) {
      await place(desk, 'buy', `2900${n}`, `a-1-${n}`, 'post only');
      await run(other.place(order('sell', `2900${n}`, `b-1-${n}`, 'immediate or cancel')));
    }
    const all = done(await run(client.userTrades({ sort: 'asc', limit: 1_000 })));
    expect(all.map(({ originId }) => originId)).toEqual(['a-1-1', 'a-1-2', 'a-1-3', 'a-1-4', 'a-1-5']);
    expect(all.map(({ maker, side, feeCurrency }) => [maker, side, feeCurrency])).toEqual(
      all.map(() => [true, 'buy', 'bnb']),
    );
    const next = await run(client.userTrades({ sort: 'asc', marker: all[1]!.tid, limit: 2 }));
    expect(done(next)).toEqual(all.slice(2, 4));
    expect(done(await run(client.userTrades({ limit: 2, sort: 'desc' })))).toEqual([all[4], all[3]]);
    expect(done(await run(client.account!.hasTrade(all[2]!.tid)))).toBe(true);
    // A list from an id begins with the next trade if there is none with this id.
    expect(done(await run(client.account!.hasTrade(`${BigInt(all[0]!.tid) - 1n}`)))).toBe(false);
    expect(done(await run(client.account!.hasTrade('999999999')))).toBe(false);
    // Another client of the other account knows none of the ids before it reads them.
    const theirs = done(await run(other.userTrades({ sort: 'asc' })));
    expect(theirs.map(({ originId }) => originId)).toEqual(['b-1-1', 'b-1-2', 'b-1-3', 'b-1-4', 'b-1-5']);
  });

  test('are unknown as long as the order of one cannot be found', async () => {
    const desk = deskOn();
    await place(desk, 'buy', '29000', 'a-1-1', 'post only');
    // The other client has forgotten its order's answer.
    desk.exchange.set({ answerLostPips: 10_000 });
    await desk.run(desk.other.place(order('sell', '29000', 'b-1-1', 'immediate or cancel')));
    desk.exchange.set({ answerLostPips: 0, lookupDelayMs: 60_000 });
    expect(await desk.run(desk.other.userTrades({ sort: 'asc' }))).toMatchObject({ kind: 'unknown' });
    await desk.clock.advance(60_000);
    const trades = done(await desk.run(desk.other.userTrades({ sort: 'asc' })));
    expect(trades.map(({ originId }) => originId)).toEqual(['b-1-1']);
  });
});

describe('an order of the scripted exchange', () => {
  const json = (body: unknown, status = 200) => ({ status, headers: {}, body: JSON.stringify(body) });
  const orderWith = (orderId: number, clientOrderId: string, status = 'NEW') => ({
    ...{ symbol: 'BTCUSDT', orderId, clientOrderId, type: 'LIMIT', side: 'BUY', status, origQty: '0.01' },
    ...{ executedQty: '0', price: '29000', time: 1_700_000_000_000 },
  });
  const tradeWith = (id: number, commission = '1') => ({
    ...{ symbol: 'BTCUSDT', id, orderId: 5, price: '30000', qty: '0.1', quoteQty: '3000', commission },
    ...{ commissionAsset: 'USDT', time: 1_700_000_000_000, isBuyer: true, isMaker: true },
  });

  test.each(['placed', 'listed', 'looked up'] as const)(
    'that the client has %s is known by its first id, and is not read again for its trades',
    async how => {
      let id = 'a-1-1';
      const { client, transport } = scriptedBinance(({ method, target }) => {
        if (target.includes('/myTrades')) return json([tradeWith(1)]);
        if (target.includes('/openOrders')) return json([orderWith(5, id)]);
        return json(method === 'POST' ? { symbol: 'BTCUSDT', orderId: 5, clientOrderId: id } : orderWith(5, id));
      });
      if (how === 'placed') done(await client.place(order('buy', '29000', id, 'post only')));
      else if (how === 'listed') done(await client.openOrders({}));
      else done(await client.lookUp({ originIds: [id] }));
      // A cancel request may give an order another id.
      id = 'web_9';
      done(await client.openOrders({}));
      const before = transport.requests.length;
      expect(done(await client.userTrades({ sort: 'asc' }))).toMatchObject([{ oid: '5', originId: 'a-1-1' }]);
      expect(transport.requests.slice(before).map(({ target }) => /v3\/(\w+)/.exec(target)![1])).toEqual(['myTrades']);
    },
  );

  test('that is canceled keeps the id that was asked; a live one with another id, or another order, is no answer', async () => {
    for (const [status, isAnswer] of [
      ['CANCELED', true],
      ['NEW', false],
      ['FILLED', false],
    ] as const) {
      const { client } = scriptedBinance(() => json(orderWith(5, 'web_9', status)));
      const outcome = await client.lookUp({ originIds: ['a-1-1'] });
      expect(outcome.kind === 'done').toBe(isAnswer);
      if (outcome.kind === 'done') expect(outcome.value).toMatchObject([{ oid: '5', originId: 'a-1-1' }]);
      expect((await client.lookUp({ oids: ['6'] })).kind).not.toBe('done');
    }
  });

  test('is absent only if the exchange says that it does not exist', async () => {
    for (const code of [-2013, -2026, -2011, -1021, -1100, -2015]) {
      const { client } = scriptedBinance(() => json({ code, msg: 'no' }, 400));
      const { kind } = await client.lookUp({ originIds: ['a-1-1'] });
      expect(kind === 'done').toBe([-2013, -2026].includes(code));
    }
  });

  test('has all trades of its pages, each once, with the unreadable rows of every page', async () => {
    const unreadable = [500, 1_500, 2_400];
    const rows = Array.from({ length: 2_500 }, (_, n) => tradeWith(n + 1, unreadable.includes(n + 1) ? 'x' : '1'));
    const { client } = scriptedBinance(({ target }) => {
      if (!target.includes('/myTrades')) return json(orderWith(5, 'a-1-1'));
      const from = Number(/fromId=(\d+)/.exec(target)![1]);
      return json(rows.filter(({ id }) => id >= from).slice(0, 1_000));
    });
    const outcome = await client.orderTrades({ oid: '5' });
    const readable = rows.flatMap(({ id }) => (unreadable.includes(id) ? [] : [String(id)]));
    expect(done(outcome).map(({ tid }) => tid)).toEqual(readable);
    expect(outcome).toMatchObject({ unreadable: unreadable.map(id => ({ id: String(id) })) });
  });

  test('is not sent if it is no longer wanted when its turn comes', async () => {
    const { client, transport } = scriptedBinance(() => json({}));
    expect(await client.place(order('buy', '29000', 'a-1-1', 'post only'), () => false)).toMatchObject({
      ...{ kind: 'refused', code: 'not-sent' },
    });
    expect(transport.requests.some(({ method }) => method === 'POST')).toBe(false);
  });
});

test('public trades are listed the newest first, and those after a marker in their order', async () => {
  const { client, transport } = scriptedBinance(() => ({
    ...{ status: 200, headers: {} },
    body: JSON.stringify(
      [11, 12, 13].map(id => ({ id, time: 1_700_000_000_000, price: '30000', qty: '0.1', isBuyerMaker: true })),
    ),
  }));
  const tidsOf = async (page: Page) => done(await client.trades('btc_usdt', page)).map(({ tid }) => tid);
  expect(await tidsOf({})).toEqual(['13', '12', '11']);
  expect(await tidsOf({ sort: 'asc', marker: '10' })).toEqual(['11', '12', '13']);
  expect(transport.requests.at(-1)!.target).toContain('fromId=11');
});

test.each([
  [30, 40, 30, 40],
  [40, 30, 40, 30],
  // Nine tenths of a weight of 6,000 per minute; a short book has a weight of 5.
  [50_000, 90_000, 1_080, 5_400],
])('budgets of %i public and %i private requests leave %i and %i', (open, own, openLeft, ownLeft) => {
  const { client } = scriptedBinance(() => expect.unreachable(), undefined, undefined, { public: open, private: own });
  expect(client.budget()).toEqual({ public: openLeft, private: ownLeft });
});

test('the whole list of books is read if the symbol of the own book is that of another pair', async () => {
  const [symbol] = SYMBOLS.symbols;
  const others = [{ ...symbol, baseAsset: 'BT', quoteAsset: 'CUSDT' }];
  const { client, transport } = scriptedBinance(() => expect.unreachable(), undefined, others);
  expect(done(await client.availableBooks()).map(({ book }) => book)).toEqual(['bt_cusdt']);
  const asked = transport.requests.filter(({ target }) => target.includes('/exchangeInfo'));
  expect(asked.map(({ target }) => target.includes('symbol=BTCUSDT'))).toEqual([true, false]);
});

describe('the account', () => {
  test('has balances with locked amounts, fees and a number; currencies of zero are listed for the book only', async () => {
    const desk = deskOn();
    const { client, run } = desk;
    await place(desk, 'buy', '29000', 'a-1-1', 'post only');
    const balances = done(await run(client.balances()));
    const usdt = balances.find(({ currency }) => currency === 'usdt');
    expect(usdt).toEqual({
      ...{ currency: 'usdt', total: '1000000', locked: '290.00000000', available: '999710.00000000' },
    });
    expect(balances.map(({ currency }) => currency).sort()).toEqual(['bnb', 'btc', 'usdt']);
    expect(done(await run(client.fees()))).toEqual([{ book: 'btc_usdt', maker: '0.001', taker: '0.001' }]);
    expect(done(await run(client.account!.id()))).toMatch(/^\d+$/);
  });

  test('has a row for each currency of the book, that was asked for or that once had a balance, and no other', async () => {
    const names = ['btc', 'usdt', 'bnb', 'eth', 'sol'] as const;
    const read = fc.record({
      held: fc.subarray([...names]),
      also: fc.option(fc.subarray([...names]), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(read, { minLength: 1, maxLength: 4 }), async reads => {
        let held: readonly string[] = [];
        const { client } = scriptedBinance(() => {
          const balances = names.map(name => ({
            ...{ asset: name.toUpperCase(), free: held.includes(name) ? '1.5' : '0.00000000', locked: '0' },
          }));
          return { status: 200, headers: {}, body: JSON.stringify({ balances }) };
        });
        const shown = new Set<string>(['btc', 'usdt']);
        for (const { held: now, also } of reads) {
          held = now;
          for (const currency of [...now, ...(also ?? [])]) shown.add(currency);
          const rows = done(await client.balances(also === undefined ? undefined : { also }));
          expect(rows.map(({ currency, total }) => [currency, Number(total)])).toEqual(
            names.filter(name => shown.has(name)).map(name => [name, now.includes(name) ? 1.5 : 0]),
          );
        }
      }),
      runsOf(200, 20),
    );
  });

  test('of a wrong key needs a person', async () => {
    const desk = deskOn({ throttle: 'off' });
    const outcome = await desk.run(desk.client.place({ ...order('buy', '29000', 'a-1-1', 'post only'), major: '50' }));
    expect(outcome).toMatchObject({ kind: 'refused', code: '-2010:funds' });
    desk.exchange.set({ rejectPips: 10_000, rejectAs: '-2015' });
    expect(await place(desk, 'buy', '29000', 'a-1-2', 'post only')).toMatchObject({ code: '-2015', meaning: 'person' });
  });
});

describe('the clock', () => {
  /** A client whose measurements of the time are answered by the test. */
  const measured = () => {
    const answers: (() => void)[] = [];
    const { client, clock, transport } = scriptedBinance(({ method }) => {
      const body = method === 'DELETE' ? { symbol: 'BTCUSDT', orderId: 7 } : method === 'GET' ? [] : {};
      return { status: 200, headers: {}, body: JSON.stringify(body) };
    });
    const { answer } = transport;
    transport.answer = request =>
      request.target.includes('/v3/time')
        ? new Promise(resolve => answers.push(() => resolve(answer(request))))
        : answer(request);
    return { client, clock, answers };
  };

  test('that is not measured yet, or is measured again, keeps no cancel waiting; a read waits for the first time only', async () => {
    const { client, clock, answers } = measured();
    expect((await client.cancel({ originIds: ['a-1-1'] })).kind).toBe('done');
    // The cancel has asked for the time, so that the next one has it.
    expect(answers.length).toBe(1);
    let isRead = false;
    const reading = client.openOrders({}).then(() => (isRead = true));
    await settle();
    expect([isRead, answers.length]).toEqual([false, 1]);
    answers[0]!();
    await reading;
    await clock.advance(31 * 60_000);
    expect((await client.openOrders({})).kind).toBe('done');
    expect((await client.cancel({ originIds: ['a-1-1'] })).kind).toBe('done');
    expect(answers.length).toBe(2);
  });

  test('of this machine may be hours off: the time of the exchange is measured', async () => {
    for (const clockOffsetMs of [-7_200_000, -3_000, 3_000, 86_000_000]) {
      const desk = deskOn({ clockOffsetMs, requestDelayMaxMs: 400, answerDelayMaxMs: 400 });
      expect(await place(desk, 'buy', '29000', 'a-1-1', 'post only')).toMatchObject({ kind: 'done' });
    }
  });

  test('of the exchange that jumps is measured again after one rejection', async () => {
    const desk = deskOn();
    await place(desk, 'buy', '29000', 'a-1-1', 'post only');
    desk.exchange.set({ clockOffsetMs: 60_000 });
    expect(await place(desk, 'buy', '29000', 'a-1-2', 'post only')).toMatchObject({ code: '-1021', meaning: 'nonce' });
    expect(await place(desk, 'buy', '29000', 'a-1-2', 'post only')).toMatchObject({ kind: 'done' });
  });

  test('makes a request dead that arrives after its deadline', async () => {
    const desk = deskOn({ requestDelayMinMs: 5_300, requestDelayMaxMs: 5_300, answerDelayMinMs: 0 });
    await desk.run(desk.client.place(order('buy', '29000', 'a-1-1', 'post only')));
    await desk.clock.advance(60_000);
    desk.exchange.set({ requestDelayMinMs: 0, requestDelayMaxMs: 0 });
    expect(done(await desk.run(desk.client.lookUp({ originIds: ['a-1-1'] })))).toEqual([]);
  });
});

describe('the budget', () => {
  test('falls by weight, rises by what the exchange reports, and pauses as long as it says', async () => {
    const desk = deskOn();
    const { client, run, exchange, clock } = desk;
    await run(client.orderBook('btc_usdt'));
    const before = client.budget().public;
    await run(client.orderBook('btc_usdt'));
    expect(before - client.budget().public).toBe(1);
    exchange.set({ throttle: '429', retryAfterS: 7 });
    expect(await run(client.orderBook('btc_usdt'))).toMatchObject({ kind: 'refused', code: '-1003' });
    exchange.set({ throttle: 'off' });
    expect(client.budget()).toEqual({ public: 0, private: 0 });
    expect(await run(client.cancel({ originIds: ['a-1-1'] }))).toMatchObject({ kind: 'refused', code: 'budget' });
    await clock.advance(7_000);
    expect(await run(client.orderBook('btc_usdt'))).toMatchObject({ kind: 'done' });
  });

  test('of orders stops new orders only: 50 in 10 s, and cancels go on', async () => {
    const desk = deskOn();
    const { client, run } = desk;
    const placed = await run(
      Promise.all(Array.from({ length: 60 }, (_, n) => client.place(order('buy', '20000', `a-1-${n}`, 'post only')))),
    );
    expect(placed.filter(({ kind }) => kind === 'done').length).toBe(50);
    expect(placed.filter(one => one.kind === 'refused' && one.code === 'budget').length).toBe(10);
    expect(done(await run(client.cancel({ originIds: ['a-1-0'] }))).length).toBe(1);
  });

  test('of orders has room again ten seconds after each burst, for the orders of a day', async () => {
    const desk = deskOn();
    for (let burst = 0; burst < 4; burst++) {
      const placed = await desk.run(
        Promise.all(
          Array.from({ length: 60 }, (_, n) =>
            desk.client.place(order('buy', '20000', `a-${burst}-${n}`, 'good till canceled')),
          ),
        ),
      );
      expect(placed.filter(({ kind }) => kind === 'done').length).toBe(50);
      await desk.clock.advance(10_000);
    }
    const afterMs = fc.constantFrom(0, 9_999, 10_000, 10_000, 3_600_000, 86_400_000);
    const burst = fc.record({ afterMs, share: fc.nat(10) });
    fc.assert(
      fc.property(fc.array(burst, { minLength: 12, maxLength: 24 }), bursts => {
        const meters = orderMeters();
        const sent: { readonly at: number; readonly count: number }[] = [];
        let now = 0;
        for (const { afterMs: ms, share } of bursts) {
          now += ms;
          const within = (windowMs: number) =>
            sent.reduce((sum, { at, count }) => sum + (at + windowMs > now ? count : 0), 0);
          const { ordersPer10s, ordersPerDay } = BINANCE_LIMITS;
          const room = Math.min(ordersPer10s - within(10_000), ordersPerDay - within(86_400_000));
          expect(Math.min(...meters.map(meter => meter.room(now)))).toBe(room);
          // More than one burst could have, so that the limit of a day is reached.
          const count = share * 5_000;
          for (const meter of meters) {
            meter.start(count, now);
            meter.end(true, count, now);
          }
          sent.push({ at: now, count });
        }
      }),
      runsOf(200, 30),
    );
  });
});

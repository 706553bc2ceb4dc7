/** Counters, order of requests and deadlines of Kraken's senders. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { settle, TransportFailure, VirtualClock, type NewOrder, type WireReply } from '../../../src/core/index.ts';
import { tierByCalls } from '../../../src/exchange/kraken/wire/protocol.ts';
import { runsOf } from '../../many.ts';
import { reply, scriptedKraken, type Seen } from './scripted.ts';

let counter = 0;
const order = (over: Partial<NewOrder> = {}): NewOrder => ({
  ...{ book: 'btc_usd', side: 'buy', price: '100', major: '1', originId: `a-1-${++counter}`, timeInForce: 'post only' },
  ...over,
});
const accepted = (): WireReply => reply({ txid: [`O${counter}`] });

describe('requests', () => {
  test('are sent one at a time, with rising nonces, and cancels go first', async () => {
    const answers: (() => void)[] = [];
    const { client, sent } = scriptedKraken(
      ({ name }) =>
        new Promise<WireReply>(resolve => {
          answers.push(() =>
            resolve(name === 'CancelOrder' ? reply({ count: 1 }) : name === 'AddOrder' ? accepted() : reply({})),
          );
        }),
    );
    await client.availableBooks();
    const first = client.balances();
    await settle();
    const all = [first, client.place(order()), client.balances(), client.cancel({ oids: ['OA-B'] })];
    await settle();
    for (let n = 0; n < 4; n++) {
      for (let turn = 0; turn < 10 && sent.length <= n; turn++) await settle();
      expect(sent).toHaveLength(n + 1);
      answers[n]!();
    }
    await Promise.all(all);
    expect(sent.slice(1).map(({ name }) => name)).toEqual(['CancelOrder', 'AddOrder', 'BalanceEx']);
    const nonces = sent.map(({ form }) => BigInt(form['nonce']!));
    expect([...nonces].sort((a, b) => (a < b ? -1 : 1))).toEqual(nonces);
  });

  test('without a key are not sent, and an order in an unknown book is not either', async () => {
    const { client, sent } = scriptedKraken(accepted);
    expect(await client.place(order({ book: 'btc_eur' }))).toMatchObject({ kind: 'refused', meaning: 'rules' });
    expect(await client.place(order({ timeInForce: 'fill or kill' }))).toMatchObject({ code: 'not-sent' });
    expect(await client.place(order({ price: '0' }))).toMatchObject({ code: 'not-sent' });
    expect(await client.place(order(), () => false)).toMatchObject({ code: 'not-sent' });
    expect(sent).toEqual([]);
  });
});

describe('counters', () => {
  test('of calls fall by the rate of the tier', async () => {
    const { client, clock } = scriptedKraken(() => reply({}), { privatePerMinute: 20 });
    const outcomes: string[] = [];
    for (let n = 0; n < 15; n++) void client.balances().then(({ kind }) => outcomes.push(kind));
    await clock.advance(10);
    // 15 less the distance that is kept.
    expect(outcomes).toEqual(Array.from({ length: 14 }, () => 'done'));
    await clock.advance(3_100);
    expect(outcomes).toHaveLength(15);
    expect(client.budget().private).toBe(0);
    await clock.advance(30_000);
    expect(client.budget().private).toBe(9);
  });

  test('of tiers are those of the documents; more than any tier is the lowest', () => {
    expect(tierByCalls(60)).toEqual({ calls: { max: 20, perSecond: 1 }, orders: { max: 180, perSecond: 3.75 } });
    expect(tierByCalls(30).orders.max).toBe(125);
    expect(tierByCalls(20)).toEqual({ calls: { max: 15, perSecond: 0.33 }, orders: { max: 60, perSecond: 1 } });
    expect(tierByCalls(270)).toEqual(tierByCalls(20));
    expect(tierByCalls(Number.NaN)).toEqual(tierByCalls(20));
    expect(tierByCalls(6).calls.perSecond).toBe(0.1);
  });

  test('of orders hold placements back, but no cancel', async () => {
    const { client, sent, clock } = scriptedKraken(
      ({ name }) => (name === 'CancelOrder' ? reply({ count: 1 }) : accepted()),
      { privatePerMinute: 20 },
    );
    const placed: string[] = [];
    // A young order costs one count to place and eight to cancel: seven of them are more than 60.
    for (let n = 0; n < 7; n++) {
      const one = order();
      placed.push(one.originId);
      await client.place(one);
    }
    for (const originId of placed) await client.cancel({ originIds: [originId] });
    const waiting = client.place(order());
    await clock.advance(1_100);
    expect(await waiting).toMatchObject({ kind: 'refused', code: 'budget' });
    expect((await client.cancel({ originIds: [placed[0]!] })).kind).toBe('done');
    expect((await client.place(order({ book: 'ltc_usdt' }))).kind).toBe('done');
    await clock.advance(30_000);
    expect((await client.place(order())).kind).toBe('done');
    expect(sent.filter(({ name }) => name === 'AddOrder')).toHaveLength(9);
  });

  test('a rejection by the order counter pauses placements in its book only', async () => {
    let isFull = true;
    const { client, clock } = scriptedKraken(({ name, form }) => {
      if (name === 'CancelOrder') return reply({ count: 1 });
      return isFull && form['pair'] === 'XXBTZUSD' ? reply(undefined, ['EOrder:Rate limit exceeded']) : accepted();
    });
    expect(await client.place(order())).toMatchObject({ kind: 'refused', code: 'EOrder:Rate limit exceeded' });
    isFull = false;
    const waiting = client.place(order());
    expect((await client.cancel({ oids: ['OA-B'] })).kind).toBe('done');
    expect((await client.place(order({ book: 'ltc_usdt' }))).kind).toBe('done');
    await clock.advance(900);
    expect((await waiting).kind).toBe('done');
  });

  test('a rejection by the call counter pauses reads, but no order', async () => {
    let count = 0;
    const { client, clock } = scriptedKraken(({ name }) => {
      if (name === 'AddOrder') return accepted();
      return count++ === 0 ? reply(undefined, ['EAPI:Rate limit exceeded']) : reply({});
    });
    expect(await client.balances()).toMatchObject({ kind: 'refused', code: 'EAPI:Rate limit exceeded' });
    expect((await client.place(order())).kind).toBe('done');
    expect(client.budget().private).toBe(0);
    await clock.advance(15_100);
    expect((await client.balances()).kind).toBe('done');
  });
});

describe('a cancel', () => {
  test('behind a read that is not answered is sent when the read has timed out, however long that takes', async () => {
    const clock = new VirtualClock(1_700_000_000_000);
    const { client, sent } = scriptedKraken(
      ({ name }) =>
        name === 'CancelOrder'
          ? reply({ count: 1 })
          : new Promise<WireReply>((_, reject) => {
              clock.after(30_000, () => reject(new TransportFailure('no complete answer', true)));
            }),
      { clock },
    );
    await client.availableBooks();
    const reading = client.balances();
    await settle();
    const canceling = client.cancel({ oids: ['OA-B'] });
    await clock.advance(30_000);
    expect((await reading).kind).toBe('unknown');
    expect(await canceling).toEqual({ kind: 'done', value: ['OA-B'] });
    expect(sent.map(({ name }) => name)).toEqual(['BalanceEx', 'CancelOrder']);
  });
});

describe('a cancel of orders whose ids are unknown', () => {
  const lists = (isHung: boolean, clock: VirtualClock) =>
    scriptedKraken(
      ({ name, form }) => {
        if (name === 'CancelOrder') return reply({ count: form['cl_ord_id'] === 'a-0-9' ? 0 : 1 });
        if (isHung) return new Promise<WireReply>(() => undefined);
        const open = Object.fromEntries(['a-0-1', 'a-0-2'].map(id => [`O${id}`, { ...orderRow, cl_ord_id: id }]));
        return reply({ open });
      },
      { clock },
    );

  test('reads the lists once for all of them, and is unknown where they do not answer within 5 s', async () => {
    const clock = new VirtualClock(1_700_000_000_000);
    const { client, sent } = lists(false, clock);
    const outcome = await client.cancel({ originIds: ['a-0-1', 'a-0-9', 'a-0-2'] });
    expect(outcome).toEqual({ kind: 'done', value: ['Oa-0-1', 'Oa-0-2'] });
    expect(sent.map(({ name }) => name)).toEqual(['CancelOrder', 'CancelOrder', 'CancelOrder', 'OpenOrders']);
    const hung = lists(true, clock);
    let kind = '';
    void hung.client.cancel({ originIds: ['a-0-1'] }).then(each => (kind = each.kind));
    await clock.advance(4_900);
    expect(kind).toBe('');
    await clock.advance(200);
    expect(kind).toBe('unknown');
  });
});

describe('a backlog of trades', () => {
  test('of any length is read in the lowest tier, each call continuing after the last', async () => {
    const all = Array.from({ length: 700 }, (_, n) => [`T${n}`, tradeRow(n)] as const).reverse();
    const { client, clock } = scriptedKraken(
      ({ name, form }) => {
        if (name === 'QueryOrders')
          return reply(Object.fromEntries(form['txid']!.split(',').map(oid => [oid, { ...orderRow, cl_ord_id: oid }])));
        const rows = all.filter(([, { time }]) => Number(time) > Number(form['start'] ?? 0));
        const offset = Number(form['ofs']);
        return reply({ trades: Object.fromEntries(rows.slice(offset, offset + 50)), count: rows.length });
      },
      { privatePerMinute: 20 },
    );
    const tids: string[] = [];
    for (let marker: string | undefined; tids.length < 700;) {
      const call = client.userTrades({ sort: 'asc', ...(marker === undefined ? {} : { marker }) });
      await clock.advance(200_000);
      const outcome = await call;
      expect(outcome.kind).toBe('done');
      if (outcome.kind !== 'done' || outcome.value.length === 0) break;
      tids.push(...outcome.value.map(({ tid }) => tid));
      marker = tids.at(-1);
    }
    expect(tids.length).toBe(700);
    expect(new Set(tids).size).toBe(700);
  });
});

const tradeRow = (n: number) => ({
  ...{ ordertxid: `O${n % 60}`, pair: 'XXBTZUSD', time: String(1_700_000_000 + n), type: 'buy', ordertype: 'limit' },
  ...{ price: '30000', cost: '3000', fee: '1', vol: '0.1', margin: '0', maker: true, trade_id: n },
});
const orderRow = {
  ...{ status: 'closed', opentm: 1_700_000_000, vol: '1.00000000', vol_exec: '1.00000000', oflags: 'fciq' },
  descr: { pair: 'XBTUSD', type: 'buy', ordertype: 'limit', price: '30000.0', price2: '0' },
};

describe('the deadline of an order', () => {
  const deadlineOf = ({ form }: Seen): number => Date.parse(form['deadline']!);

  test('is by the clock of the exchange, never later than intended, whatever the clock of this machine says', async () => {
    for (const off of [-3_600_000, -5_000, 0, 700, 86_400_000]) {
      const clock = new VirtualClock(1_700_000_000_000);
      // The exchange's own time; its header has whole seconds.
      const server = () => 1_700_000_000_000 + clock.elapsed();
      const { client, sent } = scriptedKraken(
        ({ name }) => ({
          ...(name === 'AddOrder' ? accepted() : reply({})),
          headers: { date: new Date(Math.floor(server() / 1_000) * 1_000).toUTCString() },
        }),
        { clock },
      );
      await clock.advance(1_234);
      await client.balances();
      clock.step(off);
      await client.place(order());
      const valid = deadlineOf(sent.at(-1)!) - server();
      expect(valid).toBeLessThanOrEqual(5_000);
      expect(valid).toBeGreaterThan(4_000);
    }
  });
});

describe('a cancel of several orders', () => {
  const ANSWERS = {
    canceled: () => reply({ count: 1 }),
    'none canceled': () => reply({ count: 0 }),
    pending: () => reply({ count: 1, pending: true }),
    'not open': () => reply(undefined, ['EOrder:Unknown order']),
    refused: () => reply(undefined, ['EGeneral:Permission denied']),
    busy: () => reply(undefined, ['EService:Unavailable']),
    unreadable: () => ({ status: 200, headers: {}, body: '<html>' }),
    lost: () => Promise.reject(new TransportFailure('no answer', true)),
    'no number': () => reply({ count: 'many' }),
  } as const;
  const fates = fc.array(fc.constantFrom(...(Object.keys(ANSWERS) as (keyof typeof ANSWERS)[])), {
    minLength: 1,
    maxLength: 6,
  });

  test('has each order canceled only on the evidence of its own answer, by either id', async () => {
    await fc.assert(
      fc.asyncProperty(fates, fc.boolean(), async (drawn, isByOid) => {
        const oids = drawn.map((_, n) => `OA-${n}`);
        const originIds = drawn.map((_, n) => `mm-1-${n + 1}`);
        let placed = 0;
        const of = new Map<string, keyof typeof ANSWERS>();
        const { client, clock } = scriptedKraken(({ name, form }) => {
          if (name === 'AddOrder') {
            const oid = oids[placed]!;
            of.set(form['cl_ord_id']!, drawn[placed]!).set(oid, drawn[placed++]!);
            return reply({ txid: [oid] });
          }
          return ANSWERS[of.get(form['txid'] ?? form['cl_ord_id']!)!]();
        });
        for (const originId of originIds) await client.place(order({ originId }));
        let outcome: Awaited<ReturnType<typeof client.cancel>> | null = null;
        void client.cancel(isByOid ? { oids } : { originIds }).then(result => (outcome = result));
        await clock.advance(600_000);
        const answered = drawn.filter(fate => ['canceled', 'none canceled', 'not open'].includes(fate));
        if (answered.length === 0) expect(outcome).not.toMatchObject({ kind: 'done' });
        else expect(outcome).toEqual({ kind: 'done', value: oids.filter((_, n) => drawn[n] === 'canceled') });
      }),
      runsOf(300, 30),
    );
  });
});

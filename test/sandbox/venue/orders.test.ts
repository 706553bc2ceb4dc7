import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { amount, money, price, textOfMoney, type Side } from '../../../src/core/index.ts';
import type { Switches } from '../../../src/sandbox/index.ts';
import { SMALLEST } from '../../../src/sandbox/wire/rounding.ts';
import { runsOf } from '../../many.ts';
import { arena, publicCall } from '../trader.ts';

type Row = Record<string, string | null>;

describe('an order at the embedded exchange', () => {
  it('rests with its value locked, and gives it back when cancelled', () => {
    const { ann } = arena();
    const oid = ann.limit('btc_mxn', 'buy', '1500000', '0.5', { origin_id: 'first-1' });
    expect(oid).toMatch(/^[A-Za-z0-9]{16}$/);
    expect(ann.balance('mxn')).toEqual({
      currency: 'mxn',
      total: '10000000.00000000',
      locked: '750000.00000000',
      available: '9250000.00000000',
    });
    const [open] = ann.get<Row[]>('GET', '/api/v3/open_orders?book=btc_mxn');
    expect(open).toEqual({
      book: 'btc_mxn',
      oid,
      origin_id: 'first-1',
      original_amount: '0.50000000',
      unfilled_amount: '0.50000000',
      original_value: '750000.00000000',
      price: '1500000',
      side: 'buy',
      type: 'limit',
      status: 'open',
      time_in_force: 'goodtillcancelled',
      created_at: '2026-09-21T14:13:20.000+00:00',
      updated_at: '2026-09-21T14:13:20.000+00:00',
    });
    expect(ann.get('DELETE', `/api/v3/orders?origin_ids=first-1`)).toEqual([oid]);
    expect(ann.balance('mxn').locked).toBe('0.00000000');
    expect(ann.get('DELETE', `/api/v3/orders/${oid}`)).toEqual([]);
    expect(ann.order(oid)!['status']).toBe('cancelled');
  });

  it('fills at the resting price, and each side pays its fee out of what it receives', () => {
    const { ann, bob } = arena();
    const maker = ann.limit('btc_mxn', 'sell', '1500000', '0.2');
    const taker = bob.limit('btc_mxn', 'buy', '1510000', '0.3');
    expect(ann.order(maker)!['status']).toBe('completed');
    expect(bob.order(taker)).toMatchObject({ status: 'partially filled', unfilled_amount: '0.10000000' });
    // Bob: 0.2 x 1,500,000 paid, 0.1 x 1,510,000 locked; 0.78 percent of 0.2 BTC as taker.
    expect(bob.balance('mxn')).toMatchObject({ total: '9700000.00000000', locked: '151000.00000000' });
    expect(bob.balance('btc').total).toBe('10.19844000');
    // Ann: 0.6 percent of 300,000 as maker.
    expect(ann.balance('mxn').total).toBe('10298200.00000000');
    expect(ann.balance('btc')).toMatchObject({ total: '9.80000000', locked: '0.00000000' });
    const [mine] = ann.get<Row[]>('GET', '/v3/user_trades/');
    expect(mine).toEqual({
      book: 'btc_mxn',
      created_at: '2026-09-21T14:13:20+0000',
      fees_amount: '1800.00000000',
      fees_currency: 'mxn',
      major: '-0.20000000',
      major_currency: 'btc',
      maker_side: 'sell',
      minor: '300000.00000000',
      minor_currency: 'mxn',
      oid: maker,
      price: '1500000',
      side: 'sell',
      tid: '100000001',
    });
    const [his] = bob.get<Row[]>('GET', `/api/v3/order_trades/${taker}`);
    expect(his).toMatchObject({
      minor: '-300000.00000000',
      fees_currency: 'btc',
      fees_amount: '0.00156000',
      side: 'buy',
      maker_side: 'sell',
    });
    expect(his!['created_at']).toBe('2026-09-21T14:13:20.000+00:00');
  });

  it('has its origin_id to itself while it is active, and no longer', () => {
    const { ann, bob } = arena();
    const first = ann.limit('btc_mxn', 'buy', '1500000', '0.1', { origin_id: 'same' });
    expect(ann.limit('eth_mxn', 'buy', '50000', '0.1', { origin_id: 'same' })).toBe('0356');
    expect(bob.limit('btc_mxn', 'buy', '1500000', '0.1', { origin_id: 'same' })).toMatch(/^\w{16}$/);
    ann.get('DELETE', `/api/v3/orders/${first}`);
    const second = ann.limit('btc_mxn', 'buy', '1500000', '0.1', { origin_id: 'same' });
    expect(ann.get<Row[]>('GET', '/api/v3/orders?origin_ids=same').map(o => o['oid'])).toEqual([second, first]);
  });

  it('is queued until the engine decides, and may be cancelled or filled in that order where cancels queue too', async () => {
    const { ann, bob, clock } = arena({ cancelTiming: 'queued', engineDelayMinMs: 5, engineDelayMaxMs: 5 });
    const oid = ann.limit('btc_mxn', 'buy', '1500000', '0.1');
    expect(ann.order(oid)!['status']).toBe('queued');
    expect(ann.balance('mxn').locked).toBe('150000.00000000');
    await clock.advance(5);
    expect(ann.order(oid)!['status']).toBe('open');
    bob.limit('btc_mxn', 'sell', '1500000', '0.1');
    expect(ann.get('DELETE', `/api/v3/orders/${oid}`)).toEqual([oid]);
    await clock.advance(20);
    // The fill was first in the queue: a listed cancel promises nothing.
    expect(ann.order(oid)!['status']).toBe('completed');
  });

  it('obeys its time in force', () => {
    const { ann, bob } = arena();
    ann.limit('btc_mxn', 'sell', '1500000', '0.1');
    const post = bob.limit('btc_mxn', 'buy', '1500000', '0.1', { time_in_force: 'postonly' });
    expect(bob.order(post)).toMatchObject({ status: 'cancelled', unfilled_amount: '0.10000000' });
    const all = bob.limit('btc_mxn', 'buy', '1500000', '0.2', { time_in_force: 'fillorkill' });
    expect(bob.order(all)).toMatchObject({ status: 'cancelled', unfilled_amount: '0.20000000' });
    const now = bob.limit('btc_mxn', 'buy', '1500000', '0.3', { time_in_force: 'immediateorcancel' });
    expect(bob.order(now)).toMatchObject({ status: 'cancelled', unfilled_amount: '0.20000000' });
    expect(bob.balance('mxn').locked).toBe('0.00000000');
    const rests = bob.limit('btc_mxn', 'buy', '1400000', '0.1', { time_in_force: 'postonly' });
    expect(bob.order(rests)!['status']).toBe('open');
  });

  it('of type market sweeps by amount or by value, and what finds nothing is cancelled', () => {
    const { ann, bob } = arena();
    ann.limit('btc_mxn', 'sell', '1500000', '0.1');
    ann.limit('btc_mxn', 'sell', '1600000', '0.1');
    const value = bob.place({ book: 'btc_mxn', side: 'buy', type: 'market', minor: '166000' });
    expect(bob.order(value)).toMatchObject({ status: 'completed', original_value: '166000.00000000' });
    expect(bob.balance('mxn').total).toBe('9834000.00000000');
    const lots = bob.place({ book: 'btc_mxn', side: 'buy', type: 'market', major: '1' });
    expect(bob.order(lots)).toMatchObject({ status: 'cancelled', unfilled_amount: '0.91000000' });
    expect(bob.balance('mxn').locked).toBe('0.00000000');
    const empty = bob.place({ book: 'btc_mxn', side: 'sell', type: 'market', major: '1' });
    expect(bob.order(empty)).toMatchObject({ status: 'cancelled', unfilled_amount: '1.00000000' });
    const kept = ann.place({ book: 'btc_mxn', side: 'sell', type: 'market', minor: '1000' });
    expect(ann.order(kept)!['status']).toBe('cancelled');
  });

  it('of type market stays within its slippage tolerance', () => {
    const { ann, bob } = arena();
    for (const at of ['1500000', '1507000', '1520000']) ann.limit('btc_mxn', 'sell', at, '0.1');
    const oid = bob.place({ book: 'btc_mxn', side: 'buy', type: 'market', major: '0.3', slippage_tolerance: 0.5 });
    expect(bob.order(oid)).toMatchObject({ status: 'cancelled', unfilled_amount: '0.10000000' });
    expect(bob.place({ book: 'btc_mxn', side: 'buy', type: 'market', major: '0.3', slippage_tolerance: 101 })).toBe(
      '0304',
    );
    const strict = arena({ slippageOutcome: 'refuse' });
    strict.ann.limit('btc_mxn', 'sell', '1500000', '0.1');
    expect(
      strict.bob.place({ book: 'btc_mxn', side: 'buy', type: 'market', major: '0.3', slippage_tolerance: 1 }),
    ).toBe('1002');
  });

  it('with a stop waits outside the book for the last trade to reach it', () => {
    const { ann, bob } = arena();
    const stop = ann.place({ book: 'btc_mxn', side: 'sell', type: 'market', major: '0.1', stop: '1400000' });
    expect(ann.order(stop)).toMatchObject({ status: 'queued', stop: '1400000', triggered_at: null });
    expect(ann.balance('btc').locked).toBe('0.10000000');
    bob.limit('btc_mxn', 'buy', '1390000', '1');
    ann.limit('btc_mxn', 'sell', '1390000', '0.01');
    expect(ann.order(stop)).toMatchObject({ status: 'completed', triggered_at: '2026-09-21T14:13:20.000+00:00' });
    const limit = ann.limit('btc_mxn', 'buy', '1390000', '0.1', { stop: '1395000' });
    expect(ann.order(limit)!['status']).toBe('queued');
    expect(ann.get('DELETE', `/api/v3/orders/${limit}`)).toEqual([limit]);
    expect(ann.balance('mxn').locked).toBe('0.00000000');
  });

  it('is shown for an hour after its end, and its trades longer', async () => {
    const { ann, bob, clock } = arena();
    const oid = ann.limit('btc_mxn', 'sell', '1500000', '0.1');
    bob.limit('btc_mxn', 'buy', '1500000', '0.1');
    await clock.advance(3_599_000);
    expect(ann.order(oid)!['status']).toBe('completed');
    await clock.advance(2_000);
    expect(ann.order(oid)).toBeUndefined();
    expect(ann.get<Row[]>('GET', `/api/v3/order_trades/${oid}`)).toHaveLength(1);
  });

  it('answers order_trades with 0378 before a match and 0377 while records are written', async () => {
    const { ann, bob, clock } = arena({ tradeRecordDelayMs: 100 });
    const oid = ann.limit('btc_mxn', 'sell', '1500000', '0.1', { origin_id: 'mine' });
    expect(ann.call('GET', `/api/v3/order_trades/${oid}`).body.error.code).toBe('0378');
    bob.limit('btc_mxn', 'buy', '1500000', '0.1');
    expect(ann.call('GET', `/api/v3/order_trades?origin_id=mine`).body.error.code).toBe('0377');
    expect(ann.get('GET', '/api/v3/user_trades')).toEqual([]);
    await clock.advance(100);
    expect(ann.get<Row[]>('GET', `/api/v3/order_trades/${oid}`)).toHaveLength(1);
    expect(ann.get('GET', '/api/v3/order_trades/nobodysOrder0000')).toEqual([]);
  });

  it('matches house orders by the same price-time rules', () => {
    const { ann, exchange } = arena();
    const house = exchange.marketplace('btc_mxn');
    const fills: number[] = [];
    house.onSyntheticFill((id, _side, _price, traded, maker) => void fills.push(maker ? traded : -id));
    const { id, rested } = house.place('sell', price(150_000), amount(10_000_000), 'GTC');
    expect(rested).toBe(10_000_000);
    const oid = ann.limit('btc_mxn', 'buy', '1500000', '0.04');
    expect(ann.order(oid)!['status']).toBe('completed');
    expect(fills).toEqual([4_000_000]);
    expect(house.reduce(id, amount(1_000_000))).toBe(5_000_000);
    expect(house.cancel(id)).toBe(5_000_000);
    expect(house.bestAsk()).toBe(0);
    const whole = publicCall(exchange, '/api/v3/order_book?book=btc_mxn&aggregate=false');
    expect(whole.body.payload).toMatchObject({ asks: [], bids: [] });
  });
});

describe('a book that stops trading', () => {
  it('cancels its orders, gives back all they hold, and is unknown from then on', async () => {
    const { ann, exchange, clock } = arena({ engineDelayMinMs: 5, engineDelayMaxMs: 5 });
    const resting = ann.limit('btc_mxn', 'buy', '1400000', '1');
    const waiting = ann.limit('btc_mxn', 'sell', '1300000', '1', { stop: '1300000' });
    await clock.advance(5);
    ann.get('PATCH', `/api/v4/orders/${resting}`, { major: '2' });
    const queued = ann.limit('btc_mxn', 'buy', '1400000', '1');
    expect(ann.balance('mxn').locked).toBe('4200000.00000000');
    exchange.venue.closeBook('btc_mxn');
    for (const oid of [resting, waiting, queued]) expect(ann.order(oid)!['status']).toBe('cancelled');
    expect(ann.balance('mxn').locked).toBe('0.00000000');
    expect(ann.balance('btc').locked).toBe('0.00000000');
    expect(ann.limit('btc_mxn', 'buy', '1400000', '1')).toBe('0301');
    expect(publicCall(exchange, '/api/v3/order_book?book=btc_mxn').body.error.code).toBe('0301');
    await clock.advance(100);
    expect([...exchange.truth().imbalance.values()].every(sum => sum === 0n)).toBe(true);
  });
});

describe('v4 modify', () => {
  it('keeps the oid, loses the place in the queue, and needs only the difference', () => {
    const { ann, bob, exchange } = arena();
    const first = ann.limit('btc_mxn', 'sell', '1500000', '0.1', { origin_id: 'keep' });
    const second = bob.limit('btc_mxn', 'sell', '1500000', '0.1');
    const seen: [number, string][] = [];
    exchange.venue.onBookEvent(e => void seen.push(...e.changes.map((c): [number, string] => [e.sequence, c.status])));
    expect(ann.get('PATCH', `/api/v4/orders/${first}`, { major: '0.2' })).toEqual({ oid: first });
    expect(seen.map(([, status]) => status)).toEqual(['cancelled', 'open']);
    expect(seen[1]![0]).toBe(seen[0]![0] + 1);
    bob.limit('btc_mxn', 'buy', '1500000', '0.1');
    expect(bob.order(second)!['status']).toBe('completed');
    expect(ann.order(first)).toMatchObject({ status: 'open', origin_id: 'keep', original_amount: '0.20000000' });
    expect(ann.balance('btc').locked).toBe('0.20000000');
  });

  it('of a buy by price alone keeps the value and recomputes the amount', () => {
    const { ann } = arena();
    const oid = ann.limit('btc_mxn', 'buy', '100000', '1');
    ann.get('PATCH', `/api/v4/orders?oid=${oid}`, { price: '120000' });
    expect(ann.order(oid)).toMatchObject({ price: '120000', original_amount: '0.83333333' });
    ann.get('PATCH', `/api/v4/orders/${oid}`, { price: '130000', major: '1' });
    expect(ann.balance('mxn').locked).toBe('130000.00000000');
    expect(ann.call('PATCH', `/api/v4/orders/${oid}`, { cancel: true }).body.error.code).toBe('0360');
    expect(ann.call('PATCH', `/api/v4/orders/${oid}`, { price: '40000000', major: '1' }).body.error.code).toBe('0379');
  });

  it('that cannot be processed leaves a post-only order as it was, or cancels it when asked', () => {
    const { ann, bob } = arena();
    bob.limit('btc_mxn', 'sell', '1500000', '0.1');
    const oid = ann.limit('btc_mxn', 'buy', '1400000', '0.1', { time_in_force: 'postonly' });
    ann.get('PATCH', `/api/v4/orders/${oid}`, { price: '1500000' });
    expect(ann.order(oid)).toMatchObject({ status: 'open', price: '1400000' });
    ann.get('PATCH', `/api/v4/orders/${oid}`, { price: '1500000', cancel: '1' });
    expect(ann.order(oid)!['status']).toBe('cancelled');
    expect(ann.balance('mxn').locked).toBe('0.00000000');
  });
});

describe('v3 replace', () => {
  it('gives a new order without the old origin_id, even when the old one filled meanwhile', async () => {
    const { ann, bob, clock } = arena({ engineDelayMinMs: 10, engineDelayMaxMs: 10 });
    const old = ann.limit('btc_mxn', 'sell', '1500000', '0.1', { origin_id: 'old' });
    await clock.advance(10);
    bob.limit('btc_mxn', 'buy', '1500000', '0.1');
    const { oid } = ann.get<{ oid: string }>('PATCH', `/api/v3/orders?origin_id=old`, { price: '1510000' });
    expect(oid).not.toBe(old);
    expect(ann.balance('btc').locked).toBe('0.20000000');
    await clock.advance(20);
    expect(ann.order(old)!['status']).toBe('completed');
    expect(ann.order(oid)).toMatchObject({ status: 'open', price: '1510000', original_amount: '0.10000000' });
    expect(ann.order(oid)!['origin_id']).toBeUndefined();
  });
});

describe('a change of an order that is partly filled', () => {
  const text = (lots: number) => textOfMoney(money(BigInt(lots) * SMALLEST), 8);
  const lotsOf = (shown: string | null | undefined) => Math.round(Number(shown) * 1e8);
  const ticks = fc.integer({ min: 100_000, max: 200_000 });
  const lots = fc.integer({ min: 1_000_000, max: 5_000_000 });
  const change = fc.oneof(
    fc.record({ ticks }),
    fc.record({ lots }),
    fc.record({ ticks, lots }),
    fc.record({ ticks, value: lots }),
    fc.record({ value: lots }),
  ) as fc.Arbitrary<{ readonly ticks?: number; readonly lots?: number; readonly value?: number }>;
  type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;
  const mode = fc.constantFrom<Switches['modifyMajor']>('original', 'remaining');

  it('leaves open and locked what the same change leaves of a new order that is as much as was left, again and again', () => {
    /** The body of a change; `filled` is what its amount or value has to count besides. */
    const bodyOf = ({ ticks: to, lots: major, value }: Change, at: number, filled: number) => ({
      price: to === undefined ? undefined : String(to * 10),
      major: major === undefined ? undefined : text(major + filled),
      // The value in lots at one price, and some that is not worth a lot more.
      minor:
        value === undefined
          ? undefined
          : textOfMoney(money(BigInt(value + filled) * BigInt(at) * 10n * SMALLEST + 7n * SMALLEST), 8),
    });
    const run = (side: Side, modifyMajor: Switches['modifyMajor'], first: readonly [number, number]) => {
      const { ann, bob } = arena({ modifyMajor });
      const oid = ann.limit('btc_mxn', side, String(first[0] * 10), text(first[1]));
      const seen = () => {
        const { unfilled_amount, original_amount, price: at } = ann.order(oid)!;
        const locked = ann.balance(side === 'buy' ? 'mxn' : 'btc').locked;
        return { left: lotsOf(unfilled_amount), original: lotsOf(original_amount), at: Number(at) / 10, locked };
      };
      const changed = (body: ReturnType<typeof bodyOf>) => {
        const { status, text: reply } = ann.call('PATCH', `/api/v4/orders/${oid}`, body);
        return status === 200 ? 'changed' : reply;
      };
      const fill = (some: number) => {
        const against = side === 'buy' ? 'sell' : 'buy';
        const at = String(seen().at * 10);
        const taker = bob.limit('btc_mxn', against, at, text(some), { time_in_force: 'immediateorcancel' });
        return some - lotsOf(bob.order(taker)!['unfilled_amount']);
      };
      return { seen, changed, fill };
    };
    const turn = fc.record({ part: fc.integer({ min: 0, max: 90 }), change });
    fc.assert(
      fc.property(
        fc.constantFrom<Side>('buy', 'sell'),
        mode,
        fc.tuple(ticks, lots),
        fc.array(turn, { minLength: 1, maxLength: 3 }),
        (side, modifyMajor, first, turns) => {
          const order = run(side, modifyMajor, first);
          let filled = 0;
          for (const { part, change: asked } of turns) {
            const before = order.seen();
            const drawn = Math.floor((before.left * part) / 100);
            // A smaller order of the taker would be below the book's minimum value.
            const some = drawn * before.at * 10 < 10e8 ? 0 : drawn;
            if (some > 0) expect(order.fill(some)).toBe(some);
            filled += some;
            const { left, at, original } = order.seen();
            expect([left, original - left]).toEqual([before.left - some, filled]);
            const fresh = run(side, modifyMajor, [at, left]);
            const to = asked.ticks ?? at;
            const outcome = fresh.changed(bodyOf(asked, to, 0));
            expect(order.changed(bodyOf(asked, to, modifyMajor === 'original' ? filled : 0))).toBe(outcome);
            expect(outcome).toBe('changed');
            const wanted = fresh.seen();
            expect(order.seen()).toEqual({ ...wanted, original: wanted.original + filled });
          }
          const { left } = order.seen();
          expect(order.fill(left + 1_000_000)).toBe(left);
        },
      ),
      {
        ...runsOf(200, 25),
        examples: [
          // The third part is worth less than the minimum value of an order.
          [
            'buy',
            'original',
            [100_000, 1_000_000],
            [
              { part: 38, change: { ticks: 100_000 } },
              { part: 84, change: { ticks: 100_000 } },
              { part: 1, change: { ticks: 100_000, lots: 1_000_000 } },
            ],
          ],
        ],
      },
    );
  });
});

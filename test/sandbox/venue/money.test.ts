import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { amount, money, moneyOf, price, textOfMoney, type Side } from '../../../src/core/index.ts';
import { ceil8, feeOn, floor8, SMALLEST } from '../../../src/sandbox/wire/rounding.ts';
import type { Switches } from '../../../src/sandbox/index.ts';
import { arena } from '../trader.ts';
import { impliedLock } from './impliedLock.ts';
import { runsOf } from '../../many.ts';

const pick = <T>(...values: readonly T[]) => fc.constantFrom(...values);
const side = pick<Side>('buy', 'sell');
const who = fc.integer({ min: 0, max: 2 });
const which = fc.nat(60);
/** xrp_mxn: a tick-lot has eleven decimals there, so that trade values are cut. */
const priceText = fc.integer({ min: 10_000, max: 10_040 }).map(ticks => (ticks / 1000).toFixed(3));
const majorText = fc
  .integer({ min: 100_000_000, max: 3_000_000_000 })
  .map(lots => textOfMoney(money(BigInt(lots) * SMALLEST), 8));

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: pick('limit' as const),
      who,
      side,
      price: priceText,
      major: majorText,
      time_in_force: pick('goodtillcancelled', 'goodtillcancelled', 'postonly', 'immediateorcancel', 'fillorkill'),
      stop: fc.option(priceText, { freq: 8, nil: undefined }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: pick('market' as const),
      who,
      side,
      amount: majorText,
      by: pick('major', 'minor'),
      stop: fc.option(priceText, { freq: 4, nil: undefined }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: pick('cancel' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: pick('cancelAll' as const), who }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: pick('modify' as const, 'replace' as const),
      which,
      price: fc.option(priceText, { nil: undefined }),
      major: fc.option(majorText, { nil: undefined }),
      cancel: fc.boolean(),
      /** Further modifications, while the first may still wait in the engine. */
      again: fc.array(fc.record({ price: priceText, major: majorText }), { maxLength: 2 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: pick('house' as const),
      side,
      ticks: fc.integer({ min: 10_000, max: 10_040 }),
      lots: fc.integer({ min: 1, max: 2_000_000_000 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: pick('wait' as const), ms: fc.integer({ min: 0, max: 30 }) }) },
);

const setups: fc.Arbitrary<Partial<Switches>> = fc.record({
  engineDelayMaxMs: pick(0, 20),
  cancelTiming: pick('queued' as const, 'at once' as const),
  selfTrade: pick('allow' as const, 'drop-new' as const, 'remove-old' as const),
  stopLocks: pick('at placement' as const, 'at trigger' as const),
  feeRounding: pick('half up' as const, 'up' as const, 'down' as const),
  modifyPriority: pick('lost' as const, 'kept when reduced' as const),
  replaceRace: pick('created' as const, 'dropped' as const),
});

describe('money at the embedded exchange', () => {
  it('is never made or lost, never locked beyond what open orders imply, and never below zero, whatever the accounts do', async () => {
    await fc.assert(
      fc.asyncProperty(setups, fc.array(step, { minLength: 5, maxLength: 60 }), async (switches, steps) => {
        const { clock, exchange, open, ann, bob } = arena(switches);
        const poor = open({ mxn: '300', xrp: '20' });
        for (const { id } of [ann, bob]) {
          exchange.venue.deposit(exchange.venue.accounts.get(id)!, 'xrp', moneyOf('1000'));
        }
        const traders = [ann, bob, poor];
        const house = exchange.marketplace('xrp_mxn');
        const placed: { who: number; oid: string }[] = [];
        const check = () => {
          const { accounts, imbalance } = exchange.truth();
          for (const [currency, sum] of imbalance) expect(`${currency} ${sum}`).toBe(`${currency} 0`);
          for (const account of accounts.values()) {
            const locks = new Map<string, bigint>();
            for (const order of account.live) {
              expect(order.locked).toBe(impliedLock(order));
              const currency = order.side === 'buy' ? 'mxn' : 'xrp';
              locks.set(currency, (locks.get(currency) ?? 0n) + order.locked + order.reserved);
              expect(order.filled).toBeLessThanOrEqual(order.minor === undefined ? order.original : Infinity);
            }
            for (const [currency, { total, locked }] of account.balances) {
              expect(locked).toBe(locks.get(currency) ?? 0n);
              expect(locked >= 0n && locked <= total).toBe(true);
              expect(total % SMALLEST).toBe(0n);
            }
          }
          const { engine } = exchange.venue.books.get('xrp_mxn')!;
          if (engine.bestBid() > 0 && engine.bestAsk() > 0) expect(engine.bestBid()).toBeLessThan(engine.bestAsk());
        };
        for (const s of steps) {
          if (s.kind === 'limit' || s.kind === 'market') {
            const body =
              s.kind === 'limit'
                ? { side: s.side, price: s.price, major: s.major, time_in_force: s.time_in_force, stop: s.stop }
                : { side: s.side, type: 'market', [s.by]: s.amount, stop: s.stop };
            const oid = traders[s.who]!.place({ book: 'xrp_mxn', ...body });
            if (oid.length === 16) placed.push({ who: s.who, oid });
          } else if (s.kind === 'house') {
            house.place(s.side, price(s.ticks), amount(s.lots), 'GTC');
          } else if (s.kind === 'wait') await clock.advance(s.ms);
          else if (s.kind === 'cancelAll') traders[s.who]!.get('DELETE', '/api/v3/orders/all');
          else if (placed.length > 0) {
            const target = placed[s.which % placed.length]!;
            const trader = traders[target.who]!;
            if (s.kind === 'cancel') trader.get('DELETE', `/api/v3/orders/${target.oid}`);
            else {
              const ways = { modify: `/api/v4/orders/${target.oid}`, replace: `/api/v3/orders/${target.oid}` };
              const { price, major, cancel } = s;
              const reply = trader.call('PATCH', ways[s.kind], { price, major, cancel });
              if (reply.body.success && s.kind === 'replace') {
                placed.push({ who: target.who, oid: (reply.body.payload as { oid: string }).oid });
              }
              for (const more of s.again) trader.call('PATCH', ways.modify, more);
            }
          }
          check();
        }
        await clock.advance(100);
        // No modification waits any more.
        for (const { live } of exchange.truth().accounts.values())
          for (const { reserved } of live) expect(reserved).toBe(0n);
        for (const trader of traders) trader.get('DELETE', '/api/v3/orders/all');
        await clock.advance(100);
        check();
        for (const account of exchange.truth().accounts.values()) expect(account.live).toEqual([]);
      }),
      runsOf(150, 50),
    );
  });

  it('equals what the trade records say: opening balance plus received minus paid minus fees', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ who: fc.integer({ min: 0, max: 1 }), side, price: priceText, major: majorText }), {
          maxLength: 40,
        }),
        list => {
          const { exchange, open } = arena();
          const traders = [open({ mxn: '5000', xrp: '500' }), open({ mxn: '5000', xrp: '500' })];
          for (const { who, ...order } of list) traders[who]!.place({ book: 'xrp_mxn', ...order });
          for (const trader of traders) {
            const sums: Record<string, bigint> = { mxn: moneyOf('5000'), xrp: moneyOf('500') };
            type Row = { major: string; minor: string; fees_amount: string; fees_currency: string };
            for (const row of trader.get<Row[]>('GET', '/api/v3/user_trades?limit=100')) {
              sums['xrp']! += moneyOf(row.major);
              sums['mxn']! += moneyOf(row.minor);
              sums[row.fees_currency]! -= moneyOf(row.fees_amount);
            }
            for (const [currency, sum] of Object.entries(sums))
              expect(trader.balance(currency).total).toBe(textOfMoney(money(sum), 8));
          }
          expect([...exchange.truth().imbalance.values()].every(sum => sum === 0n)).toBe(true);
        },
      ),
    );
  });

  it('rounds at eight decimals in the direction that the name says', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), fc.bigInt({ min: 0n, max: 10n ** 8n }), (sum, rate) => {
        const exact = money(sum);
        expect(floor8(exact) <= exact && exact - floor8(exact) < SMALLEST).toBe(true);
        expect(ceil8(exact) >= exact && ceil8(exact) - exact < SMALLEST).toBe(true);
        const [down, half, up] = (['down', 'half up', 'up'] as const).map(r => feeOn(exact, rate, r));
        const scaled = sum * rate;
        expect(down! * 10n ** 8n <= scaled && up! * 10n ** 8n >= scaled).toBe(true);
        const error = half! * 10n ** 8n - scaled;
        expect(2n * (error < 0n ? -error : error) <= SMALLEST * 10n ** 8n).toBe(true);
        expect([down, half, up].every(fee => fee! % SMALLEST === 0n)).toBe(true);
      }),
    );
    expect(feeOn(money(SMALLEST), 50_000_000n, 'half up')).toBe(SMALLEST);
  });

  it('sits an account in the fee tier of its volume, and moves it as it trades', () => {
    const { exchange } = arena();
    const { venue } = exchange;
    const { id } = exchange.openAccount({ volume30d: { mxn: '19999.99' } });
    const account = venue.accounts.get(id)!;
    const book = venue.books.get('btc_mxn')!;
    const maker = () => {
      const { tiers, index } = venue.tierFor(account, book);
      return tiers[index]!.maker;
    };
    expect(maker()).toBe('0.00600');
    account.addVolume('mxn', moneyOf('0.01'), venue.clock.now());
    // The bound itself still belongs to the tier.
    expect(maker()).toBe('0.00600');
    account.addVolume('mxn', moneyOf('0.01'), venue.clock.now());
    expect(maker()).toBe('0.00590');
    const rich = exchange.openAccount({ volume30d: { mxn: '999999999999' } });
    const { tiers, index } = venue.tierFor(venue.accounts.get(rich.id)!, book);
    expect(tiers[index]!.taker).toBe('0.00130');
  });

  it('counts a trade for the tier during thirty days', async () => {
    const { exchange, clock, ann } = arena();
    const account = exchange.venue.accounts.get(ann.id)!;
    account.addVolume('mxn', moneyOf('100'), clock.now());
    await clock.advance(29 * 86_400_000);
    expect(account.volume('mxn', clock.now())).toBe(moneyOf('100'));
    await clock.advance(86_400_000);
    expect(account.volume('mxn', clock.now())).toBe(0n);
  });
});

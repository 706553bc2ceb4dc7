/**
 * Tests that the gate rejects invalid, unknown or unlimited values, and that no sequence of approvals exceeds a limit.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  approveByIds,
  approvePlace,
  CANCEL_CHUNK,
  mayLive,
  moneyOf,
  positionRoom,
  quotingRefusal,
  remaining,
  takingRefusal,
  type Order,
  type OrderState,
  type PlaceCommand,
  type RiskLimits,
  type Side,
  type RiskContext,
} from '../../../src/core/index.ts';
import type { QuotingRefusal } from '../../../src/core/risk/preTradeRisk.ts';
import { depthOf, plain } from '../market.ts';

const limits = {
  positionMax: 100,
  orderValueMax: 1_000_000n,
  ordersMax: 10,
  collarBps: 1000,
  staleAfterMs: 1000,
} as unknown as RiskLimits;
const rich = moneyOf('1000000000000');
const quiet: RiskContext = {
  instrument: plain,
  limits,
  stopping: false,
  halted: false,
  paused: false,
  missing: null,
  bookAge: 0,
  privateAge: 0,
  privateStaleAfterMs: 1000,
  ledgerDiffers: false,
  sentinelMissing: false,
  heldBySentinel: false,
  depth: depthOf([[999, 50]], [[1001, 50]]),
  pastPrice: 0,
  foreignBests: { buy: null, sell: null },
  position: 0,
  converting: { buy: 0, sell: 0 },
  orders: [],
  majorFunds: rich,
  minorFunds: rich,
  reduceOnly: false,
  unknownMax: 2,
};
/** Each refusal of all quotes with a cause of it, in the order in which they are checked. */
const CAUSES: Readonly<Record<QuotingRefusal, Partial<RiskContext>>> = {
  stopping: { stopping: true },
  halted: { halted: true },
  'paused by a person': { paused: true },
  'rules of the book changed': { bookRefusal: 'rules of the book changed' },
  'book is not traded any more': { bookRefusal: 'book is not traded any more' },
  'not ready': { missing: 'the balances have not been read yet' },
  'no limits': { limits: null },
  'held by the sentinel': { heldBySentinel: true },
  'sentinel is missing': { sentinelMissing: true },
  'ledger differs from the balances': { ledgerDiffers: true },
  'book stale': { bookAge: 1001 },
  'book one-sided': { depth: depthOf([[999, 50]], []) },
  'book crossed': { depth: depthOf([[1001, 1]], [[1001, 1]]) },
  'no live price': { livePriceMissing: '0 of 1 sources used, at least 1 needed' },
  'price moved too far': { limits: { ...limits, priceMove: { bps: 1, windowMs: 1 } }, pastPrice: 1 },
  'private data stale': { privateAge: 1001 },
  'too many unknown orders': { unknownMax: -1 },
};
const place = (side: Side, price: number, amount: number): PlaceCommand =>
  ({ kind: 'place', id: 'x', side, price, amount }) as unknown as PlaceCommand;
let serial = 0;
const order = (side: Side, price: number, amount: number, state: OrderState, changes: object = {}): Order =>
  ({
    id: `o${serial++}`,
    side,
    price,
    amount,
    placedAt: 0,
    filled: 0,
    state,
    ending: null,
    oid: null,
    finalFilled: null,
    ...changes,
  }) as unknown as Order;
function withOwn(side: Side, price: number): Partial<RiskContext> {
  return {
    orders: [order(side, price, 1, 'open'), order(side === 'buy' ? 'sell' : 'buy', price, 1, 'closed-unsettled')],
  };
}
/** Returns a reduce-only context with `closing` lots in an open order, an ended order and a pending conversion. */
function reducing(position: number, closing = 0): Partial<RiskContext> {
  const orders =
    closing === 0 ? [] : [order('sell', 1002, 2, 'open', { filled: 1 }), order('sell', 1002, 1, 'closed-unsettled')];
  return { reduceOnly: true, position, orders, converting: { buy: 0, sell: Math.max(0, closing - 2) } };
}
function reach(bid: number, majorFunds = '1000'): Partial<RiskContext> {
  return { position: 10, majorFunds: moneyOf(majorFunds), orders: [order('buy', bid, 1, 'canceling')] };
}
function minor(funds: string): Partial<RiskContext> {
  return { minorFunds: moneyOf(funds) };
}
function bidding(funds: string): Partial<RiskContext> {
  const orders = [order('buy', 900, 3, 'open', { filled: 1 }), order('buy', 900, 2, 'closed-unsettled', { filled: 1 })];
  return { minorFunds: moneyOf(funds), orders: [...orders, order('sell', 1100, 50, 'open')] };
}
const isApproved = (command: PlaceCommand, standing: RiskContext): boolean =>
  typeof approvePlace(command, standing) !== 'string';

describe('the gate', () => {
  it('approves a modest order in a quiet market, as the same command', () => {
    const command = place('buy', 999, 10);
    expect(approvePlace(command, quiet)).toBe(command);
    expect(quotingRefusal(quiet)).toBeNull();
  });

  it('lets no order trade at once, up to the tick at which it would', () => {
    for (const [side, near, far] of [
      ['buy', 1000, 1001],
      ['sell', 1000, 999],
    ] as const) {
      expect(isApproved(place(side, near, 10), quiet)).toBe(true);
      expect(approvePlace(place(side, far, 10), quiet)).toBe('would cross the book');
    }
  });

  it.each([
    ['stopping', { stopping: true }],
    ['halted', { halted: true }],
    ['paused by a person', { paused: true }],
    ['not ready', { missing: 'the balances have not been read yet' }],
    ['no limits', { limits: null }],
    ['ledger differs from the balances', { ledgerDiffers: true }],
    ['held by the sentinel', { heldBySentinel: true }],
    ['sentinel is missing', { sentinelMissing: true }],
    ['rules of the book changed', { bookRefusal: 'rules of the book changed' }],
    ['book is not traded any more', { bookRefusal: 'book is not traded any more' }],
    ['book stale', { bookAge: 1001 }],
    ['book stale', { bookAge: Number.NaN }],
    ['book stale', { bookAge: Infinity }],
    ['book stale', { limits: { ...limits, staleAfterMs: Number.NaN } }],
    ['book one-sided', { depth: depthOf([], [[1001, 1]]) }],
    ['book one-sided', { depth: depthOf([[999, 1]], []) }],
    ['book crossed', { depth: depthOf([[1001, 1]], [[1001, 1]]) }],
    ['book crossed', { depth: depthOf([[1002, 1]], [[1001, 1]]) }],
    ['book crossed', { depth: depthOf([[Number.NaN, 1]], [[1001, 1]]) }],
    ['private data stale', { privateAge: 1001 }],
    ['private data stale', { privateAge: Infinity }],
    ['private data stale', { privateAge: Number.NaN }],
    ['private data stale', { privateStaleAfterMs: Number.NaN }],
    ['too many unknown orders', { orders: [1, 2, 3].map(() => order('buy', 900, 1, 'unknown')) }],
    ['too many unknown orders', { unknownMax: Number.NaN }],
    ['position limit', { position: Number.NaN }],
    ['position limit', { position: 91 }],
    ['position limit', { limits: { ...limits, positionMax: Number.NaN } }],
    ['position limit', { orders: [order('buy', 900, 91, 'closed-unsettled')] }],
    ['position limit', { orders: [order('buy', 900, Number.NaN, 'open')] }],
    ['price or amount outside the book rules', { instrument: { ...plain, valueMin: 9991n } }],
    ['price or amount outside the book rules', { instrument: { ...plain, valueMax: 9989n } }],
    ['price or amount outside the book rules', { instrument: { ...plain, priceMin: 1000 } }],
    ['price or amount outside the book rules', { instrument: { ...plain, priceMax: 998 } }],
    ['price or amount outside the book rules', { instrument: { ...plain, amountMin: 11 } }],
    ['price or amount outside the book rules', { instrument: { ...plain, amountMax: 9 } }],
    ['order value limit', { limits: { ...limits, orderValueMax: 9989n } }],
    ['order amount limit', { limits: { ...limits, orderAmountMax: 9 } }],
    ['order amount limit', { limits: { ...limits, orderAmountMax: Number.NaN } }],
    ['price moved too far', { limits: { ...limits, priceMove: { bps: 100, windowMs: 1 } }, pastPrice: 2021 }],
    ['price moved too far', { limits: { ...limits, priceMove: { bps: 100, windowMs: 1 } }, pastPrice: 0 }],
    ['price moved too far', { limits: { ...limits, priceMove: { bps: Number.NaN, windowMs: 1 } }, pastPrice: 2000 }],
    [
      'price too far from past prices',
      { limits: { ...limits, priceMove: { bps: 100, windowMs: 1 } }, pastPrice: 2019 },
    ],
    ['order count limit', { limits: { ...limits, ordersMax: 0 } }],
    ['order count limit', { limits: { ...limits, ordersMax: Number.NaN } }],
    ['price outside the collar', { limits: { ...limits, collarBps: 9 } }],
    ['price outside the collar', { limits: { ...limits, collarBps: Number.NaN } }],
    ['would cross our own order', { orders: [order('sell', 999, 1, 'open')] }],
    ['would cross our own order', { orders: [order('sell', 998, 1, 'unknown')] }],
    ['would cross our own order', { orders: [order('sell', 998, 1, 'canceling')] }],
    ['would cross another order of the account', { foreignBests: { buy: null, sell: 999 } }],
    ['would cross another order of the account', { foreignBests: { buy: null, sell: Number.NaN } }],
    ['insufficient funds', { minorFunds: moneyOf('9989') }],
    ['insufficient funds', { minorFunds: moneyOf('9990'), orders: [order('buy', 900, 1, 'unknown')] }],
  ] as const)('says "%s" to a bid of 10 at 999 (case %#)', (refusal, changes) => {
    expect(approvePlace(place('buy', 999, 10), { ...quiet, ...(changes as unknown as Partial<RiskContext>) })).toBe(
      refusal,
    );
  });

  it('says the first of several reasons against every order, in the order in which they are listed', () => {
    const all = Object.entries(CAUSES);
    all.forEach(([reason], n) => {
      // Of two causes that exclude each other, the first applies.
      const causes = all
        .slice(n)
        .toReversed()
        .map(([, of]) => of);
      const standing = { ...quiet, ...Object.assign({}, ...causes) } as RiskContext;
      expect(quotingRefusal(standing)).toBe(reason);
      expect(approvePlace(place('buy', -1, -1), standing)).toBe(reason);
    });
    const unlimited = { ...quiet, limits: null, heldBySentinel: true };
    expect([quotingRefusal(unlimited), quotingRefusal({ ...unlimited, missing: 'x' })]).toEqual([
      'no limits',
      'not ready',
    ]);
  });

  const takes = (side: Side, price: number, amount: number): PlaceCommand => ({
    ...place(side, price, amount),
    takes: true,
  });
  const from = (past: number): Partial<RiskContext> => ({
    limits: { ...limits, priceMove: { bps: 100, windowMs: 1 } },
    pastPrice: 2 * past,
  });
  const foreign = { foreignBests: { buy: 1001, sell: 999 } as RiskContext['foreignBests'] };
  const over = (bid: number) => ({
    position: 10,
    foreignBests: { buy: bid, sell: null } as RiskContext['foreignBests'],
  });
  it.each<readonly [string, PlaceCommand, Partial<RiskContext>, PlaceCommand, Partial<RiskContext>]>([
    ['book stale', place('buy', 999, 10), { bookAge: 1000 }, place('buy', 999, 10), { bookAge: 1000.5 }],
    ['private data stale', place('buy', 999, 10), { privateAge: 1000 }, place('buy', 999, 10), { privateAge: 1000.5 }],
    [
      'too many unknown orders',
      ...[place('buy', 999, 10), { orders: [1, 2].map(() => order('buy', 900, 1, 'unknown')) }],
      ...[place('buy', 999, 10), { orders: [1, 2, 3].map(() => order('sell', 1100, 1, 'unknown')) }],
    ] as const,
    [
      'order value limit',
      ...[place('buy', 999, 10), { limits: { ...limits, orderValueMax: 9990n } as RiskLimits }],
      ...[place('buy', 999, 10), { limits: { ...limits, orderValueMax: 9989n } as RiskLimits }],
    ] as const,
    [
      'order amount limit',
      ...[place('buy', 999, 7), { limits: { ...limits, orderAmountMax: 7 as never } }],
      ...[place('buy', 999, 8), { limits: { ...limits, orderAmountMax: 7 as never } }],
    ] as const,
    // The limit is 1% from a past price of 991: 981.09 to 1000.91.
    ['price too far from past prices', place('buy', 982, 1), from(991), place('buy', 981, 1), from(991)],
    ['price too far from past prices', place('sell', 1000, 1), from(991), place('sell', 1001, 1), from(991)],
    ['price moved too far', place('buy', 999, 1), from(991), place('buy', 999, 1), from(990)],
    ['price moved too far', place('sell', 1001, 1), from(1010), place('sell', 1001, 1), from(1010.5)],
    // The collar allows prices up to 10% from the mid price of 1000.
    ['price outside the collar', place('buy', 900, 1), {}, place('buy', 899, 1), {}],
    ['price outside the collar', place('sell', 1100, 1), {}, place('sell', 1101, 1), {}],
    [
      'would cross our own order',
      place('buy', 999, 1),
      withOwn('sell', 1000),
      place('buy', 1000, 1),
      withOwn('sell', 1000),
    ],
    [
      'would cross our own order',
      place('sell', 1001, 1),
      withOwn('buy', 1000),
      place('sell', 1000, 1),
      withOwn('buy', 1000),
    ],
    [
      'would cross our own order',
      place('buy', 1000, 1),
      withOwn('buy', 1000),
      place('buy', 1000, 1),
      withOwn('sell', 1000),
    ],
    ['would cross another order of the account', place('buy', 998, 1), foreign, place('buy', 999, 1), foreign],
    ['would cross another order of the account', place('sell', 1002, 1), foreign, place('sell', 1001, 1), foreign],
    ['would cross another order of the account', takes('sell', 999, 1), over(998), takes('sell', 999, 1), over(999)],
    ['position limit', place('buy', 999, 7), { position: 93 }, place('buy', 999, 8), { position: 93 }],
    ['position limit', place('sell', 1001, 7), { position: -93 }, place('sell', 1001, 8), { position: -93 }],
    ['reduce only', place('sell', 1001, 10), reducing(10), place('sell', 1001, 11), reducing(10)],
    ['reduce only', place('buy', 999, 10), reducing(-10), place('buy', 999, 11), reducing(-10)],
    ['reduce only', place('sell', 1001, 6), reducing(10, 4), place('sell', 1001, 7), reducing(10, 4)],
    ['reduce only', place('sell', 1001, 1), reducing(1), place('buy', 999, 1), reducing(1)],
    ['not towards the target', takes('sell', 999, 10), { position: 10 }, takes('sell', 999, 11), { position: 10 }],
    ['not towards the target', takes('buy', 1001, 10), { position: -10 }, takes('buy', 1001, 11), { position: -10 }],
    ['not towards the target', takes('sell', 1005, 1), { position: 1 }, takes('buy', 999, 1), { position: 1 }],
    ['not towards the target', takes('sell', 999, 1), { position: 1 }, takes('sell', 999, 1), { position: Number.NaN }],
    ['would cross our own order', takes('sell', 999, 1), reach(998), takes('sell', 999, 1), reach(999)],
    ['insufficient funds', takes('sell', 999, 5), reach(1, '5'), takes('sell', 999, 6), reach(1, '5')],
    [
      'insufficient funds',
      place('buy', 999, 10),
      minor('9990'),
      place('buy', 999, 10),
      minor('9989.999999999999999999'),
    ],
    // An order with 3 of 5 lots unfilled at 900 reserves 2,700, even if it is closed but not settled.
    ['insufficient funds', place('buy', 999, 10), bidding('12690'), place('buy', 999, 10), bidding('12689')],
  ])('says "%s" from the first step beyond the bound (case %#)', (reason, good, goodAt, bad, badAt) => {
    expect(approvePlace(good, { ...quiet, ...goodAt })).toBe(good);
    expect(approvePlace(bad, { ...quiet, ...badAt })).toBe(reason);
  });

  it.each(Object.entries(CAUSES))(
    'says "%s" also to a taker order, except that it needs no live price',
    (reason, of) => {
      const standing = { ...quiet, position: 10, ...of };
      const expected = reason === 'no live price' ? null : reason;
      expect([quotingRefusal(standing), takingRefusal(standing)]).toEqual([reason, expected]);
      const command = { ...place('sell', 999, 10), takes: true as const };
      expect(approvePlace(command, standing)).toBe(expected ?? command);
    },
  );

  it('takes nothing from an order that only says that it does not take', () => {
    // The type allows only true.
    const command = { ...place('buy', 1001, 10), takes: false as true };
    expect(approvePlace(command, quiet)).toBe('would cross the book');
  });

  it('has without limits no room but what closes inventory', () => {
    const standing = { ...quiet, limits: null, position: 7, converting: { buy: 2, sell: 3 } };
    expect([positionRoom('buy', standing), positionRoom('sell', standing)]).toEqual([-9, 4]);
  });

  it('approves what lies exactly on every bound of the book', () => {
    const bounds = { priceMin: 999, priceMax: 999, amountMin: 10, amountMax: 10, valueMin: 9990n, valueMax: 9990n };
    const instrument = { ...plain, ...bounds } as unknown as RiskContext['instrument'];
    expect(isApproved(place('buy', 999, 10), { ...quiet, instrument })).toBe(true);
  });

  it.each([
    [Number.NaN, 10],
    [Infinity, 10],
    [999.5, 10],
    [-999, 10],
    [0, 10],
    [999, Number.NaN],
    [999, Infinity],
    [999, 0.5],
    [999, 0],
    [999, -10],
    [999, 2 ** 53],
  ])('refuses %s x %s as outside the rules, and does not throw', (price, amount) => {
    for (const side of ['buy', 'sell'] as const) {
      expect(approvePlace(place(side, price, amount), quiet)).toBe('price or amount outside the book rules');
    }
  });

  it.each(['intent', 'sending', 'open', 'partially filled', 'canceling', 'unknown', 'closed-unsettled'] as const)(
    'counts an order that is %s against ordersMax exactly while it may be in the book',
    state => {
      const orders = Array.from({ length: limits.ordersMax }, () => order('buy', 900, 1, state));
      const standing = { ...quiet, unknownMax: 100 };
      const isRoom = approvePlace(place('buy', 999, 1), { ...standing, orders });
      expect(isRoom).toEqual(state === 'closed-unsettled' ? place('buy', 999, 1) : 'order count limit');
      expect(isApproved(place('buy', 999, 1), { ...standing, orders: orders.slice(1) })).toBe(true);
    },
  );

  it('sells with what its other asks have left of it, to the last lot', () => {
    const standing = { ...quiet, majorFunds: moneyOf('15'), orders: [order('sell', 1001, 7, 'open', { filled: 2 })] };
    expect(isApproved(place('sell', 1001, 10), standing)).toBe(true);
    expect(approvePlace(place('sell', 1001, 11), standing)).toBe('insufficient funds');
  });

  it('leaves room for what conversions may still bring, on the side on which they do', () => {
    const standing = { ...quiet, converting: { buy: 95, sell: 20 } };
    expect([5, 6].map(lots => isApproved(place('buy', 999, lots), standing))).toEqual([true, false]);
    expect([80, 81].map(lots => isApproved(place('sell', 1001, lots), standing))).toEqual([true, false]);
    expect(approvePlace(place('buy', 999, 6), standing)).toBe('position limit');
  });

  it('allows over several books exactly what fills of an order at its best price leave in the room of its side', () => {
    const gap = fc.option(fc.integer({ min: -2, max: 2 }), { nil: undefined });
    const near = fc.integer({ min: 900, max: 1_100 });
    const drawn = fc.record({
      ...{ side: fc.constantFrom<Side>('buy', 'sell'), isTaker: fc.boolean(), amount: fc.integer({ min: 1, max: 50 }) },
      ...{ price: near, mid: near, bids: fc.nat(20), asks: fc.nat(20), filled: fc.nat(3) },
      ...{ baseGap: gap, quoteGap: gap, valueGap: gap },
    });
    fc.assert(
      fc.property(drawn, ({ side, isTaker, amount, price, mid, bids, asks, filled, ...gaps }) => {
        fc.pre(isTaker || (side === 'buy' ? price < mid + 1 : price > mid - 1));
        const resting = { buy: [800, bids], sell: [1_200, asks] } as const;
        const orders = (['buy', 'sell'] as const).map(of =>
          order(of, resting[of][0], resting[of][1] + filled, 'open', { filled }),
        );
        // A taker order to sell may get the best bid; every other order gets at most its price.
        const best = isTaker && side === 'sell' ? Math.max(price, mid - 1) : price;
        const [restingPrice, restingLots] = resting[side];
        const base = restingLots + amount;
        const quote = restingLots * restingPrice + best * amount;
        const roomOf = (most: number, by: number | undefined) => (by === undefined ? null : moneyOf(`${most + by}`));
        const none = { base: moneyOf('-1'), quote: moneyOf('-1') };
        const room = { base: roomOf(base, gaps.baseGap), quote: roomOf(quote, gaps.quoteGap) };
        const currencyRooms = side === 'buy' ? { buy: room, sell: none } : { buy: none, sell: room };
        const standing: RiskContext = {
          ...{ ...quiet, orders, currencyRooms, position: side === 'buy' ? -50 : 50 },
          ...{ limits: { ...limits, collarBps: 5_000 }, depth: depthOf([[mid - 1, 50]], [[mid + 1, 50]]) },
        };
        const isShort = (by: number | undefined) => by !== undefined && by < 0;
        const reason = isShort(gaps.baseGap) || isShort(gaps.quoteGap) ? 'currency limit' : null;
        const command = (isTaker ? takes : place)(side, price, amount);
        expect(approvePlace(command, standing)).toEqual(reason ?? command);
      }),
      { numRuns: 500 },
    );
  });

  it('sells only what is held', () => {
    expect(approvePlace(place('sell', 1001, 10), { ...quiet, majorFunds: moneyOf('9') })).toBe('insufficient funds');
    expect(isApproved(place('sell', 1001, 10), { ...quiet, majorFunds: moneyOf('10') })).toBe(true);
  });

  it('never approves anything when one number of its standing is not a number', () => {
    const numbers = ['bookAge', 'privateAge', 'privateStaleAfterMs', 'position', 'unknownMax'] as const;
    const ofLimits = ['positionMax', 'ordersMax', 'collarBps', 'staleAfterMs'] as const;
    fc.assert(
      fc.property(
        fc.constantFrom<Side>('buy', 'sell'),
        fc.integer({ min: 950, max: 1050 }),
        fc.integer({ min: 1, max: 50 }),
        (side, price, amount) => {
          const command = place(side, price, amount);
          for (const name of numbers) expect(isApproved(command, { ...quiet, [name]: Number.NaN })).toBe(false);
          for (const name of ofLimits)
            expect(isApproved(command, { ...quiet, limits: { ...limits, [name]: Number.NaN } })).toBe(false);
        },
      ),
    );
  });

  const attempts = fc.array(
    fc.record({
      side: fc.constantFrom<Side>('buy', 'sell'),
      price: fc.integer({ min: 900, max: 1100 }),
      amount: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 60 })),
      state: fc.constantFrom<OrderState>(
        'intent',
        'sending',
        'open',
        'partially filled',
        'canceling',
        'unknown',
        'closed-unsettled',
      ),
      filled: fc.integer({ min: 0, max: 59 }),
      isTaker: fc.boolean(),
    }),
    { maxLength: 30 },
  );

  it('keeps the worst-case position within its limit, no order crossing, none over the count, whatever is asked', () => {
    fc.assert(
      fc.property(attempts, fc.integer({ min: -150, max: 150 }), (asked, start) => {
        const orders: Order[] = [];
        let position = start;
        for (const { side, price, amount, state, filled, isTaker } of asked) {
          const standing = { ...quiet, unknownMax: 100, position, orders: [...orders] };
          if (!isApproved((isTaker ? takes : place)(side, price, amount), standing)) continue;
          if (isTaker) expect(amount).toBeLessThanOrEqual(side === 'sell' ? position : -position);
          else expect(side === 'buy' ? price : -price).toBeLessThan(side === 'buy' ? 1001 : -999);
          // Part of the order may fill immediately. The filled part changes the position; the rest remains reserved.
          const lots = Math.min(filled, amount - 1);
          position += side === 'buy' ? lots : -lots;
          orders.push(order(side, price, amount, state, { filled: lots, takes: isTaker }));
          const reserved = (of: Side) => orders.filter(o => o.side === of).reduce((sum, o) => sum + remaining(o), 0);
          if (side === 'buy') expect(position + reserved('buy')).toBeLessThanOrEqual(100);
          else expect(reserved('sell') - position).toBeLessThanOrEqual(100);
          const live = orders.filter(mayLive);
          expect(live.length).toBeLessThanOrEqual(limits.ordersMax);
          const bids = live.filter(o => o.side === 'buy').map(o => o.price);
          const asks = live.filter(o => o.side === 'sell').map(o => o.price);
          expect(Math.max(...bids, -Infinity)).toBeLessThan(Math.min(...asks, Infinity));
        }
        // If the position starts within the limit, the worst case remains within it on both sides.
        if (Math.abs(start) <= 100) {
          const reserved = (of: Side) => orders.filter(o => o.side === of).reduce((sum, o) => sum + remaining(o), 0);
          expect(position + reserved('buy')).toBeLessThanOrEqual(100);
          expect(reserved('sell') - position).toBeLessThanOrEqual(100);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('without limits approves nothing', () => {
    fc.assert(
      fc.property(attempts, asked => {
        for (const { side, price, amount } of asked) {
          expect(approvePlace(place(side, price, amount), { ...quiet, limits: null })).toBe('no limits');
        }
      }),
    );
  });
});

describe('cancels and look-ups', () => {
  it.each([0, 1, 49, 50, 51, 500])('for %i ids go out whole, in order, in chunks of at most 50', count => {
    const ids = Array.from({ length: count }, (_, n) => `id-${n}`);
    for (const kind of ['cancel', 'look'] as const) {
      const commands = approveByIds(kind, ids);
      expect(commands.flatMap(command => command.ids)).toEqual(ids);
      for (const command of commands) {
        expect(command.kind).toBe(kind);
        expect(command.ids.length).toBeLessThanOrEqual(CANCEL_CHUNK);
      }
      expect(commands.length).toBe(Math.ceil(count / CANCEL_CHUNK));
    }
  });
});

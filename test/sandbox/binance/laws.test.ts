/** Laws of the second exchange over drawn requests: its money, its trades, its books by REST and stream, its faults. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SECOND_SWITCHES, type SecondExchange, type SecondSwitches } from '../../../src/sandbox/index.ts';
import type { ServedReply } from '../../../src/sandbox/http/server.ts';
import { runsOf } from '../../many.ts';
import { read, stage, type Caller, type Stage } from './caller.ts';

type Row = Record<string, string | number | boolean>;

const SIDES = ['BUY', 'SELL'] as const;
type Step = {
  readonly who: number;
  readonly what: 'limit' | 'maker' | 'market' | 'value' | 'cancel' | 'wait';
  readonly side: (typeof SIDES)[number];
  readonly tick: number;
  readonly lots: number;
  readonly lifetime: string;
};

const steps = (lengthMax: number) =>
  fc.array(
    fc.record<Step>({
      who: fc.integer({ min: 0, max: 1 }),
      what: fc.constantFrom('limit', 'limit', 'limit', 'maker', 'market', 'value', 'cancel', 'wait'),
      side: fc.constantFrom(...SIDES),
      tick: fc.integer({ min: -20, max: 20 }),
      lots: fc.integer({ min: 1, max: 30_000 }),
      lifetime: fc.constantFrom('GTC', 'GTC', 'IOC', 'FOK'),
    }),
    { minLength: 1, maxLength: lengthMax },
  );

const price = (tick: number) => ((8_000_000 + tick) / 100).toFixed(2);
const quantity = (lots: number) => (lots / 100_000).toFixed(5);

/** Does one step; a refusal is an outcome like any other. */
async function act({ clock }: Stage, callers: readonly Caller[], step: Step): Promise<void> {
  const { what, side, tick, lots, lifetime: timeInForce } = step;
  const caller = callers[step.who]!;
  const symbol = 'BTCUSDT';
  if (what === 'wait') return clock.advance(30 + lots / 100);
  if (what === 'cancel') {
    const open = caller.get<Row[]>('GET', '/api/v3/openOrders', { symbol });
    const found = open[lots % Math.max(1, open.length)];
    if (found) caller.call('DELETE', '/api/v3/order', { symbol, orderId: found['orderId'] as number });
    return;
  }
  const fields = {
    limit: { type: 'LIMIT', timeInForce, price: price(tick), quantity: quantity(lots) },
    maker: { type: 'LIMIT_MAKER', price: price(tick), quantity: quantity(lots) },
    market: { type: 'MARKET', quantity: quantity(lots) },
    value: { type: 'MARKET', quoteOrderQty: (lots / 10).toFixed(2) },
  }[what];
  caller.call('POST', '/api/v3/order', { symbol, side, ...fields });
}

describe('whatever two accounts do', () => {
  it('no money comes or goes but by fees, each trade is listed once for each side, and orders have what their trades add up to', async () => {
    await fc.assert(
      fc.asyncProperty(steps(60), fc.boolean(), async (drawn, paysBnb) => {
        const made = stage({ bnbFees: paysBnb ? 'on' : 'off', iocFillPips: 7_000 });
        const callers = [made.caller({ btc: '1', usdt: '60000', bnb: '1' }), made.caller({ btc: '1', usdt: '60000' })];
        const bnb = made.exchange.marketplace('bnb_usdt');
        bnb.place('buy', 59_900 as never, 1_000 as never, 'GTC');
        bnb.place('sell', 60_100 as never, 1_000 as never, 'GTC');
        for (const step of drawn) await act(made, callers, step);
        const truth = made.exchange.truth();
        expect([...truth.imbalance.values()].every(sum => sum === 0n)).toBe(true);
        const trades = callers.flatMap(caller =>
          caller.get<Row[]>('GET', '/api/v3/myTrades', { symbol: 'BTCUSDT', limit: 1_000 }),
        );
        const times = new Map<unknown, number>();
        for (const { id } of trades) times.set(id, (times.get(id) ?? 0) + 1);
        expect([...times.values()].every(count => count === 2)).toBe(true);
        expect([...times.keys()].sort((a, b) => Number(a) - Number(b))).toEqual(
          Array.from({ length: times.size }, (_, i) => i + 1),
        );
        for (const caller of callers) {
          for (const order of caller.get<Row[]>('GET', '/api/v3/allOrders', { symbol: 'BTCUSDT' })) {
            const own = trades.filter(({ orderId }) => orderId === order['orderId']);
            const lots = own.reduce((sum, { qty }) => sum + Math.round(Number(qty) * 1e5), 0);
            expect(lots).toBe(Math.round(Number(order['executedQty']) * 1e5));
          }
          const open = caller.get<Row[]>('GET', '/api/v3/openOrders', { symbol: 'BTCUSDT' });
          const { balances } = caller.get<{ balances: Row[] }>('GET', '/api/v3/account');
          const locked = balances.reduce((sum, row) => sum + Number(row['locked']), 0);
          expect(locked > 0).toBe(open.length > 0);
        }
      }),
      runsOf(300, 25),
    );
  });

  it('the book that a client keeps by snapshot and changes is the book of the exchange, and a gap is seen', async () => {
    await fc.assert(
      fc.asyncProperty(steps(60), fc.constantFrom(0, 3), fc.nat({ max: 20 }), async (drawn, dropEvery, snapshotAt) => {
        const made = stage({ streamDropEvery: dropEvery });
        const callers = [made.caller(), made.caller()];
        const kept = new KeptBook(made.exchange);
        for (const [i, step] of drawn.entries()) {
          if (i === snapshotAt) kept.snapshot();
          await act(made, callers, step);
          if (!kept.hasGap) kept.check();
        }
        if (!kept.isSynced) kept.snapshot();
        await made.clock.advance(200);
        if (dropEvery === 0) expect(kept.hasGap).toBe(false);
        if (!kept.hasGap) kept.check(dropEvery === 0);
        made.exchange.close();
      }),
      runsOf(300, 25),
    );
  });
});

/** A book kept by the procedure of web-socket-streams.md: buffered changes, a snapshot, then changes without a gap. */
class KeptBook {
  readonly #exchange: SecondExchange;
  readonly #levels = { b: new Map<string, string>(), a: new Map<string, string>() };
  #buffer: { U: number; u: number; b: [string, string][]; a: [string, string][] }[] = [];
  #last: number | null = null;
  hasGap = false;

  constructor(exchange: SecondExchange) {
    this.#exchange = exchange;
    exchange.stream.connect(
      frame => {
        const update = JSON.parse(frame) as { readonly e: string };
        if (update.e === 'depthUpdate') this.#receive(update as never);
      },
      () => undefined,
      { target: '/ws/btcusdt@depth@100ms' },
    );
  }

  get isSynced(): boolean {
    return this.#last !== null;
  }

  snapshot(): void {
    type Depth = { lastUpdateId: number; bids: [string, string][]; asks: [string, string][] };
    const { lastUpdateId, bids, asks } = read<Depth>(this.#exchange, '/api/v3/depth?symbol=BTCUSDT&limit=5000');
    this.#levels.b = new Map(bids);
    this.#levels.a = new Map(asks);
    this.#last = lastUpdateId;
    for (const update of this.#buffer) this.#receive(update);
    this.#buffer = [];
  }

  #receive(update: { U: number; u: number; b: [string, string][]; a: [string, string][] }): void {
    if (this.#last === null) {
      this.#buffer.push(update);
      return;
    }
    if (update.u <= this.#last) return;
    if (update.U > this.#last + 1) this.hasGap = true;
    this.#last = update.u;
    for (const side of ['b', 'a'] as const)
      for (const [at, qty] of update[side]) {
        if (Number(qty) === 0) this.#levels[side].delete(at);
        else this.#levels[side].set(at, qty);
      }
  }

  /** Compares with the exchange, if all its changes have come; `must` if they must have. */
  check(must = false): void {
    type Depth = { lastUpdateId: number; bids: [string, string][]; asks: [string, string][] };
    const { lastUpdateId, bids, asks } = read<Depth>(this.#exchange, '/api/v3/depth?symbol=BTCUSDT&limit=5000');
    if (must) expect(this.#last).toBe(lastUpdateId);
    if (this.#last !== lastUpdateId) return;
    expect([...this.#levels.b].sort()).toEqual([...bids].sort());
    expect([...this.#levels.a].sort()).toEqual([...asks].sort());
  }
}

/** Cases of a request: its outcome, and whether its order exists afterwards. */
async function outcomeOf(switches: Partial<SecondSwitches>): Promise<readonly [served: string, exists: boolean]> {
  const { clock, exchange, caller } = stage(switches);
  const who = caller();
  const order = { symbol: 'BTCUSDT', side: 'BUY', type: 'LIMIT', timeInForce: 'GTC', price: '70000', quantity: '0.1' };
  let served: ServedReply | undefined;
  exchange.serveRequest(who.signed('POST', '/api/v3/order', order), '127.0.0.1', answer => (served = answer));
  await clock.advance(60_000);
  const kind =
    served === undefined
      ? 'none'
      : typeof served === 'string'
        ? served
        : 'cut' in served
          ? 'cut'
          : String(served.status);
  exchange.set({ clockOffsetMs: 0 });
  return [kind, who.get<Row[]>('GET', '/api/v3/openOrders').length === 1];
}

describe('a fault', () => {
  it.each<[Partial<SecondSwitches>, string, boolean]>([
    [{}, '200', true],
    [{ requestLostPips: 10_000 }, 'closed', false],
    [{ requestLostPips: 10_000, lostAs: 'silence' }, 'silence', false],
    [{ answerLostPips: 10_000 }, 'closed', true],
    [{ answerCutPips: 10_000 }, 'cut', true],
    [{ serverErrorPips: 10_000, serverErrorExecutes: 'always' }, '502', true],
    [{ serverErrorPips: 10_000, serverErrorExecutes: 'never' }, '502', false],
    [{ rejectPips: 10_000 }, '400', false],
    [{ rejectPips: 10_000, rejectAs: '-1015' }, '429', false],
    [{ rejectPips: 10_000, rejectAs: '-2015' }, '401', false],
    [{ throttle: '418' }, '418', false],
    [{ trading: 'off' }, '400', false],
    [{ requestDelayMinMs: 5_000, requestDelayMaxMs: 5_000 }, '200', true],
    [{ requestDelayMinMs: 5_001, requestDelayMaxMs: 5_001 }, '400', false],
    [{ answerDelayMinMs: 30_000, answerDelayMaxMs: 30_000 }, '200', true],
    [{ answerDelayMinMs: 60_001, answerDelayMaxMs: 60_001 }, 'none', true],
    [{ clockOffsetMs: 5_001 }, '400', false],
    [{ clockOffsetMs: -1_000 }, '400', false],
    [{ openOrdersMax: 1 }, '200', true],
    // Look-ups do not show the order yet.
    [{ lookupDelayMs: 60_001 }, '200', false],
  ])('%o: answered by %s, the order exists: %s', async (switches, kind, exists) => {
    expect(await outcomeOf(switches)).toEqual([kind, exists]);
  });

  it('hits a drawn share of the requests in its scope, and no other', async () => {
    const { clock, exchange, caller } = stage({ answerLostPips: 500, faultScope: 'signed' });
    const who = caller();
    const count = async (request: () => Parameters<SecondExchange['serveRequest']>[0]) => {
      let lost = 0;
      for (let i = 0; i < 2_000; i++)
        exchange.serveRequest(request(), '127.0.0.1', served => (lost += served === 'closed' ? 1 : 0));
      await clock.advance(1);
      return lost;
    };
    // 2,000 draws of 5%: 100, standard deviation 10.
    const lost = await count(() => who.signed('GET', '/api/v3/account'));
    expect(lost).toBeGreaterThan(50);
    expect(lost).toBeLessThan(150);
    expect(await count(() => ({ method: 'GET', target: '/api/v3/ping', headers: {}, body: '' }))).toBe(0);
  });

  it('of IOC orders fills a share, and the rest ends', () => {
    const { caller } = stage({ iocFillPips: 2_500 });
    caller().limit('SELL', '80000', '1');
    const answer = caller().limit('BUY', '80000', '1', { timeInForce: 'IOC' });
    expect(answer.body).toMatchObject({ origQty: '1.00000000', executedQty: '0.25000000', status: 'EXPIRED' });
  });

  it('of IOC orders fills nothing where the share is less than a lot, and the order ends', () => {
    for (const [pips, size] of [
      [0, '1'],
      [1_000, '0.00005'],
    ] as const) {
      const { caller, exchange } = stage({ iocFillPips: pips });
      caller().limit('SELL', '100000', '1');
      const answer = caller().limit('BUY', '100000', size, { timeInForce: 'IOC' });
      expect(answer.body).toMatchObject({ executedQty: '0.00000000', status: 'EXPIRED' });
      for (const { balances } of exchange.truth().accounts.values())
        for (const [currency, { locked }] of balances) if (currency === 'usdt') expect(locked).toBe(0n);
    }
  });

  it('of a frozen book shows the old book by REST and stream, while orders trade', async () => {
    const made = stage();
    const maker = made.caller();
    maker.limit('SELL', '80000', '1');
    const frames: string[] = [];
    const streams = 'btcusdt@depth@100ms/btcusdt@bookTicker/btcusdt@trade';
    made.exchange.stream.connect(
      text => frames.push(text),
      () => undefined,
      { target: `/stream?streams=${streams}` },
    );
    made.exchange.set({ books: 'frozen' });
    const depth = () => read(made.exchange, '/api/v3/depth?symbol=BTCUSDT');
    const before = depth();
    expect(made.caller().limit('BUY', '80000', '0.4').body).toMatchObject({ status: 'FILLED' });
    await made.clock.advance(1_000);
    expect(depth()).toEqual(before);
    const names = () => frames.map(frame => (JSON.parse(frame) as { stream: string }).stream);
    expect(names()).toEqual(['btcusdt@trade']);
    made.exchange.set({ books: 'live' });
    await made.clock.advance(100);
    expect(names()).toEqual(['btcusdt@trade', 'btcusdt@depth@100ms']);
    expect(JSON.parse(frames[1]!)).toMatchObject({ data: { a: [['80000.00000000', '0.60000000']], b: [] } });
    made.exchange.close();
  });

  it('has a switch that is known, and a value within its bounds', () => {
    const { exchange } = stage();
    expect(() => exchange.set({ answerLostPips: 10_001 })).toThrow(
      /answerLostPips: expected a whole number from 0 to 10000/,
    );
    expect(() => exchange.set({ lostAs: 'never' as never })).toThrow(/lostAs: expected one of closed, silence/);
    expect(() => exchange.set({ requestDelayMinMs: 5 })).toThrow(
      /switch requestDelayMinMs: expected at most \d+ \(requestDelayMaxMs\), found \d+/,
    );
    expect(Object.keys(exchange.switches)).toEqual(Object.keys(SECOND_SWITCHES));
  });
});

describe('the stream', () => {
  function session(target: string, switches: Partial<SecondSwitches> = {}) {
    const made = stage(switches);
    const frames: never[] = [];
    const closed: number[] = [];
    const pings: string[] = [];
    const socket = made.exchange.stream.connect(
      text => frames.push(JSON.parse(text) as never),
      code => closed.push(code),
      { target, ping: payload => pings.push(payload) },
    );
    return { ...made, frames, closed, pings, socket };
  }

  it('sends each trade and each change of the best prices as it happens, raw or combined', async () => {
    const { clock, caller, frames, socket } = session('/ws/btcusdt@trade/btcusdt@bookTicker/btcusdt@aggTrade');
    caller().limit('SELL', '80000', '1');
    caller().limit('BUY', '80000', '0.4');
    await clock.advance(1);
    expect(frames).toMatchObject([
      { s: 'BTCUSDT', a: '80000.00000000', A: '1.00000000', b: '0.00000000', B: '0.00000000' },
      { e: 'trade', s: 'BTCUSDT', t: 1, p: '80000.00000000', q: '0.40000000', m: false, M: true },
      { e: 'aggTrade', a: 1, f: 1, l: 1, q: '0.40000000', m: false },
      { A: '0.60000000' },
    ]);
    frames.length = 0;
    socket.receive(JSON.stringify({ method: 'SET_PROPERTY', params: ['combined', true], id: 1 }));
    caller().limit('BUY', '80000', '0.1');
    await clock.advance(1);
    expect(frames[1]).toMatchObject({ stream: 'btcusdt@trade', data: { t: 2 } });
  });

  it('sends the best levels each interval, and answers requests by their id', async () => {
    const { clock, caller, frames, socket } = session('/stream?streams=btcusdt@depth5@100ms');
    caller().limit('SELL', '80000', '1');
    await clock.advance(200);
    expect(frames).toHaveLength(2);
    expect(frames[0]).toMatchObject({
      stream: 'btcusdt@depth5@100ms',
      data: { bids: [], asks: [['80000.00000000', '1.00000000']] },
    });
    frames.length = 0;
    socket.receive(JSON.stringify({ method: 'UNSUBSCRIBE', params: ['btcusdt@depth5@100ms'], id: 'x1' }));
    socket.receive(JSON.stringify({ method: 'SUBSCRIBE', params: ['btcusdt@depth'], id: 2 }));
    socket.receive(JSON.stringify({ method: 'LIST_SUBSCRIPTIONS', id: 3 }));
    socket.receive('{');
    expect(frames).toMatchObject([
      { result: null, id: 'x1' },
      { result: null, id: 2 },
      { result: ['btcusdt@depth'], id: 3 },
      { code: 3 },
    ]);
    caller().limit('SELL', '80001', '1');
    await clock.advance(900);
    expect(frames.slice(4)).toMatchObject([{ data: { e: 'depthUpdate', a: [['80001.00000000', '1.00000000']] } }]);
  });

  it('ends a socket that does not answer pings, that asks too much, that is a day old, or that is told to', async () => {
    const quiet = session('/ws/btcusdt@trade');
    await quiet.clock.advance(60_000);
    expect(quiet.pings).toHaveLength(3);
    expect(quiet.closed).toEqual([]);
    await quiet.clock.advance(20_000);
    expect(quiet.closed).toEqual([1008]);
    const loud = session('/ws');
    for (let i = 0; i < 6; i++) loud.socket.receive(JSON.stringify({ method: 'LIST_SUBSCRIPTIONS', id: i }));
    expect(loud.closed).toEqual([1008]);
    const old = session('/ws', { streamPingMs: 0, streamLifeMs: 5_000 });
    await old.clock.advance(5_000);
    expect(old.closed).toEqual([1001]);
    const cut = session('/ws/btcusdt@trade', { streamCloseEvery: 1 });
    cut.caller().limit('SELL', '80000', '1');
    cut.caller().limit('BUY', '80000', '1');
    expect(cut.closed).toEqual([1011]);
    const gone = session('/ws');
    gone.exchange.close();
    expect(gone.frames).toMatchObject([{ e: 'serverShutdown' }]);
    expect(gone.closed).toEqual([1001]);
  });

  it('is silent while its frames are withheld', async () => {
    const { clock, caller, exchange, frames } = session('/ws/btcusdt@trade', { streamFrames: 'withheld' });
    caller().limit('SELL', '80000', '1');
    caller().limit('BUY', '80000', '0.5');
    expect(frames).toEqual([]);
    exchange.set({ streamFrames: 'sent', streamDelayMs: 70 });
    caller().limit('BUY', '80000', '0.5');
    await clock.advance(69);
    expect(frames).toEqual([]);
    await clock.advance(1);
    expect(frames).toMatchObject([{ t: 2 }]);
  });
});

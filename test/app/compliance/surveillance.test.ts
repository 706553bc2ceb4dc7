/** Tests of the surveillance measures: each measure equals a simple count over all pairs. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  FlowCollector,
  layeringIn,
  momentumIn,
  stuffingIn,
  washIn,
  type FlowOrder,
  type FlowTrade,
  type OwnFlow,
} from '../../../src/app/compliance/ownFlow.ts';
import {
  ratiosOf,
  surveillance,
  surveillanceJson,
  surveyedDay,
  WARN_FROM,
} from '../../../src/app/compliance/surveillance.ts';
import { surveillanceSection, surveillanceText } from '../../../src/app/compliance/surveillanceText.ts';
import { textOfHtml } from '../../../src/pages/index.ts';
import { moneyOf, VirtualClock, type Command, type EngineEvent, type Side } from '../../../src/core/index.ts';
import { lineOf } from '../../../src/live/recording/recording.ts';
import { readRecording, recordingsIn } from '../../../src/live/recording/recordings.ts';
import { keysOf } from '../../cli/jsonPage.ts';
import { Folders } from '../../live/states.ts';
import { started, worldOf } from '../../live/world.ts';

const folders = new Folders();
afterAll(() => folders.clear());
const WINDOWS = { afterFillMs: 40, shortLifeMs: 30, momentumMs: 60 };
/** Whether a time, from 0 to 400 ms, is in the first of two days of 200 ms. */
const isInDay = (at: number): boolean => at < 200;

const side = fc.constantFrom<Side>('buy', 'sell');
const time = fc.integer({ min: 0, max: 400 });
const flowOrder = fc
  .record({
    ...{ side, price: fc.integer({ min: 1, max: 4 }), lots: fc.integer({ min: 1, max: 9 }), sentAt: time },
    ...{ life: fc.option(fc.integer({ min: 0, max: 80 })), isKilled: fc.boolean() },
    ...{ isRejected: fc.boolean(), isFilled: fc.boolean() },
  })
  .map(({ life, ...of }): FlowOrder => ({ ...of, id: 'a-1-1', canceledAt: life === null ? null : of.sentAt + life }));
const flowTrade = fc
  .record({
    ...{ at: time, createdAt: fc.integer({ min: 0, max: 3 }), tid: fc.constantFrom('1', '2', '3', '4'), side },
    ...{ price: fc.constantFrom('1000', '1001', '1000.5', '990'), major: fc.constantFrom('1', '2') },
    ...{ isMaker: fc.boolean(), isOwn: fc.boolean() },
  })
  .map((trade): FlowTrade => trade);
const flows = fc
  .record({
    orders: fc.array(flowOrder, { maxLength: 14 }),
    trades: fc.array(flowTrade, { maxLength: 10 }),
    requests: fc.array(
      fc.integer({ min: 0, max: 400 }).map(at => at * 100),
      { maxLength: 30 },
    ),
  })
  // The bot reads its trades in order of time.
  .map(({ trades, ...of }): OwnFlow => ({ ...of, trades: trades.sort((a, b) => a.at - b.at), runs: [[0, 400]] }));

const isCanceled = ({ canceledAt, isFilled, isRejected }: FlowOrder) => canceledAt !== null && !isFilled && !isRejected;

describe('for any order flow', () => {
  test('layering counts what each fill has after it on the other side', () => {
    fc.assert(
      fc.property(flows, flow => {
        const own = flow.trades.filter(({ isOwn }) => isOwn);
        const fills = own.filter((a, i) => own.findIndex(b => b.at === a.at && b.side === a.side) === i);
        const isAfter = (order: FlowOrder, fill: FlowTrade) =>
          isCanceled(order) &&
          order.side !== fill.side &&
          order.sentAt <= fill.at &&
          order.canceledAt! >= fill.at &&
          order.canceledAt! - fill.at <= WINDOWS.afterFillMs;
        const layered = fills.filter(
          fill => new Set(flow.orders.filter(order => isAfter(order, fill)).map(({ price }) => price)).size >= 2,
        );
        const canceled = flow.orders.filter(order => isCanceled(order) && isInDay(order.canceledAt!));
        expect(layeringIn(flow, isInDay, WINDOWS)).toEqual({
          fills: fills.filter(({ at }) => isInDay(at)).length,
          layered: layered.filter(({ at }) => isInDay(at)).length,
          canceledUnfilled: canceled.length,
          canceledAfterFill: canceled.filter(order => fills.some(fill => isAfter(order, fill))).length,
        });
      }),
    );
  });

  test('stuffing counts the messages of every second, and the orders that lived shortly', () => {
    fc.assert(
      fc.property(flows, flow => {
        // Request times have a larger scale, because the peak is counted per second.
        const isEarly = (at: number): boolean => at < 20_000;
        const { peakPerSecond, requests } = stuffingIn(flow, isEarly, WINDOWS);
        const perEnd = flow.requests
          .filter(isEarly)
          .map(end => flow.requests.filter(at => at <= end && at > end - 1_000).length);
        expect([peakPerSecond, requests]).toEqual([Math.max(0, ...perEnd), perEnd.length]);
        const canceled = flow.orders.filter(order => order.canceledAt !== null && isInDay(order.canceledAt));
        const unfilled = canceled.filter(isCanceled);
        expect(stuffingIn(flow, isInDay, WINDOWS)).toMatchObject({
          placed: flow.orders.filter(({ sentAt }) => isInDay(sentAt)).length,
          canceled: canceled.filter(({ isKilled }) => !isKilled).length,
          executions: flow.trades.filter(({ at, isOwn }) => isOwn && isInDay(at)).length,
          placedLots: flow.orders
            .filter(({ sentAt }) => isInDay(sentAt))
            .reduce((sum, { lots }) => sum + BigInt(lots), 0n),
          canceledUnfilled: unfilled.length,
          shortLived: unfilled.filter(({ sentAt, canceledAt }) => canceledAt! < sentAt + WINDOWS.shortLifeMs).length,
        });
      }),
    );
  });

  test('wash trades are the ids with both sides, and pairs of one time, price and amount that are left', () => {
    fc.assert(
      fc.property(flows, flow => {
        const rows = flow.trades.filter(({ at }) => isInDay(at));
        const both = [...new Set(rows.map(({ tid }) => tid))].map(tid => {
          const of = (one: Side) => rows.filter(row => row.tid === tid && row.side === one);
          return { tid, buys: of('buy'), sells: of('sell') };
        });
        const matched = both.filter(({ buys, sells }) => buys.length > 0 && sells.length > 0);
        const own = matched.filter(({ buys, sells }) => [buys, sells].every(list => list.some(({ isOwn }) => isOwn)));
        const left = rows.filter(({ tid }) => !matched.some(one => one.tid === tid));
        let pairs = 0;
        // Removes one matching pair of a buy and a sell at a time, until no pair matches.
        for (let found = true; found;) {
          found = false;
          for (const buy of left.filter(({ side: one }) => one === 'buy')) {
            const sell = left.find(
              row =>
                row.side === 'sell' &&
                row.isMaker !== buy.isMaker &&
                row.createdAt === buy.createdAt &&
                row.price === buy.price &&
                row.major === buy.major,
            );
            if (sell === undefined) continue;
            left.splice(left.indexOf(sell), 1);
            left.splice(left.indexOf(buy), 1);
            pairs++;
            found = true;
            break;
          }
        }
        expect(washIn(flow, isInDay, WINDOWS)).toEqual({
          ...{ ownBoth: own.length, accountBoth: matched.length - own.length, sameTerms: pairs },
        });
      }),
    );
  });

  test('a reversal is a fill at ten basis points of gain against the first of two aggressive trades before it', () => {
    fc.assert(
      fc.property(flows, flow => {
        const own = flow.trades.filter(({ isOwn }) => isOwn);
        const reversals = own.filter((fill, i) => {
          const before = own
            .slice(0, i)
            .filter(
              ({ side: one, isMaker, at }) => one !== fill.side && !isMaker && fill.at - at <= WINDOWS.momentumMs,
            );
          if (before.length < 2) return false;
          const [opened, closed] = [Number(before[0]!.price), Number(fill.price)];
          const gain = fill.side === 'sell' ? closed - opened : opened - closed;
          return Math.round(gain * 10) * 1_000 >= Math.round(opened * 10);
        });
        expect(momentumIn(moneyOf)(flow, isInDay, WINDOWS)).toEqual({
          taken: own.filter(({ at, isMaker }) => !isMaker && isInDay(at)).length,
          reversals: reversals.filter(({ at }) => isInDay(at)).length,
        });
      }),
    );
  });
});

const seen = (collector: FlowCollector, event: object, commands: readonly object[] = [], isHalted = false) =>
  collector.see({ book: 'btc_mxn', instance: 'a', isHalted }, event as EngineEvent, commands as readonly Command[]);
const ownTrade = (changes: object) => ({
  ...{ book: 'btc_mxn', tid: '7', oid: 'x1', createdAt: 5, side: 'buy', price: '10', major: '1', minor: '10' },
  ...{ feeAmount: '0', feeCurrency: 'btc', maker: true, ...changes },
});

describe('the order flow of inputs and commands', () => {
  test('has each order once with its first cancel, and each trade once however often it is listed', () => {
    const collector = new FlowCollector();
    collector.begin();
    const place = (id: string) => ({ kind: 'place', id, side: 'buy', price: 9, amount: 4 });
    seen(collector, { kind: 'timer', at: 1 }, [place('a-1-1'), place('a-1-2'), place('a-1-3')]);
    seen(collector, { kind: 'placed', at: 2, id: 'a-1-1', outcome: { kind: 'done', value: { oid: 'x1' } } });
    seen(collector, { kind: 'placed', at: 2, id: 'a-1-2', outcome: { kind: 'refused', code: '0', message: 'no' } });
    const exists = { kind: 'refused', code: '0', message: 'is there', meaning: 'duplicate id' };
    seen(collector, { kind: 'placed', at: 2, id: 'a-1-3', outcome: exists });
    seen(collector, { kind: 'timer', at: 3 }, [
      { kind: 'cancel', ids: ['a-1-1', 'a-1-3', 'a-0-9'] },
      { kind: 'look', ids: ['a-1-1'] },
    ]);
    seen(collector, { kind: 'timer', at: 4 }, [{ kind: 'cancel', ids: ['a-1-1', 'a-1-2'] }], true);
    const trades = [
      ownTrade({}),
      ownTrade({ tid: '8', oid: 'z', originId: 'b-1-1' }),
      ownTrade({ tid: '9', book: 'eth_mxn' }),
    ];
    seen(collector, { kind: 'trades', at: 5, startedAt: 4, complete: true, trades });
    seen(collector, { kind: 'trades', at: 6, startedAt: 5, complete: true, trades });
    const { flow } = collector;
    expect(flow.orders.map(one => [one.id, one.canceledAt, one.isKilled, one.isRejected, one.isFilled])).toEqual([
      ['a-1-1', 3, false, false, true],
      ['a-1-2', 4, true, true, false],
      ['a-1-3', 3, false, false, false],
    ]);
    expect(flow.trades.map(({ tid, at, isOwn }) => [tid, at, isOwn])).toEqual([
      ['7', 5, true],
      ['8', 5, false],
    ]);
    expect([flow.requests, flow.runs]).toEqual([[1, 1, 1, 3, 4], [[1, 6]]]);
  });
});

test('placements that the client never sent are no orders and no requests', () => {
  const collector = new FlowCollector();
  collector.begin();
  const codes = ['budget', 'not-sent', 'closed', '0379'];
  const placements = codes.map(code => ({ kind: 'place', id: code, side: 'buy', price: 9, amount: 4 }));
  seen(collector, { kind: 'timer', at: 1 }, placements.slice(0, 2));
  seen(collector, { kind: 'timer', at: 2 }, placements.slice(2));
  for (const code of codes)
    seen(collector, { kind: 'placed', at: 3, id: code, outcome: { kind: 'refused', code, message: 'no' } });
  expect(collector.flow.orders.map(({ id }) => id)).toEqual(['0379']);
  expect(collector.flow.requests).toEqual([2]);
});

describe('the surveillance of a recorded bot', () => {
  let dir: string;
  beforeAll(async () => {
    const near = { halfSpreadBps: 10.2, levelSpacingBps: 4, minEdgeBps: 0, refreshToleranceBps: 1 };
    // The run starts before midnight and ends after midnight.
    const world = worldOf(91, { strategy: near }, 'sandbox', new VirtualClock(Date.UTC(2026, 10, 22) - 120_000));
    const running = await started(world);
    await world.clock.advance(240_000);
    await running.stop();
    dir = folders.copyOf(world.stateDir);
    world.end();
  });
  const windows = { afterFillMs: 1_000, shortLifeMs: 1_000, momentumMs: 60_000 };

  test('counts the orders, requests and executions that the lines of the recording have', () => {
    const lines = recordingsIn(dir).flatMap(({ run }) => [...readRecording(dir, run)!.lines].map(lineOf));
    const commands = lines.flatMap(line => (line.kind === 'commands' ? line.commands : []));
    const executions = new Set(
      lines.flatMap(line =>
        line.kind === 'input' && line.event.kind === 'trades' ? line.event.trades.map(({ tid }) => tid) : [],
      ),
    );
    const { days, recordings } = surveillance({ dir, windows });
    expect([days.length, recordings.map(({ difference }) => difference)]).toEqual([2, [null]]);
    const [first, second] = days;
    const sums = <T extends object>(a: T, b: T) =>
      Object.fromEntries(Object.entries(a).map(([name, value]) => [name, value + b[name as keyof T]])) as T;
    const stuffing = sums(first!.stuffing, second!.stuffing);
    const layering = sums(first!.layering, second!.layering);
    const [wash, momentum] = [sums(first!.wash, second!.wash), sums(first!.momentum, second!.momentum)];
    expect(Math.min(first!.stuffing.placed, second!.stuffing.placed)).toBeGreaterThan(0);
    expect(stuffing.placed).toBe(commands.filter(({ kind }) => kind === 'place').length);
    expect(stuffing.requests).toBe(commands.filter(({ kind }) => kind !== 'look').length);
    expect(stuffing.canceled).toBe(new Set(commands.flatMap(one => (one.kind === 'cancel' ? one.ids : []))).size);
    expect(stuffing.executions).toBe(executions.size);
    expect(Math.min(stuffing.placed, stuffing.executions, stuffing.canceled, layering.fills)).toBeGreaterThan(0);
    expect([wash, momentum]).toEqual([
      { ownBoth: 0, accountBoth: 0, sameTerms: 0 },
      { taken: 0, reversals: 0 },
    ]);
  });

  test('of one day is that day of all days', () => {
    const { days } = surveillance({ dir, windows });
    for (const day of days) expect(surveillance({ dir, windows, from: day.from, to: day.from }).days).toEqual([day]);
  });

  test('has the keys of the page on JSON, and the same numbers in the text', () => {
    const measured = surveillance({ dir, windows });
    const json = surveillanceJson(measured) as { days: { orderToTrade: { number: string; volume: string } }[] };
    expect([...Object.keys(json), ...Object.keys(json.days[0]!)]).toEqual(keysOf('surveillance'));
    const text = surveillanceText(measured).join('\n');
    for (const said of [text, textOfHtml(surveillanceSection(measured))]) {
      expect(said).toContain(json.days[0]!.orderToTrade.number);
      expect(said).toContain(json.days[0]!.orderToTrade.volume);
    }
    expect(text.split('\n').every(line => line.length <= 80 || line.startsWith('  20'))).toBe(true);
  });

  test('says in text and page which recording was not wholly replayed', () => {
    const measured = surveillance({ dir, windows });
    const [recording] = measured.recordings;
    for (const [change, line] of [
      [
        { difference: 'line 7 differs' },
        ': this version of Puntas decides differently from the recording, so the rest',
      ],
      [{ gap: true }, 'was not recorded to its end, because the disk was full'],
    ] as const) {
      const changed = { ...measured, recordings: [{ ...recording!, ...change }] };
      for (const said of [surveillanceText(changed).join(' '), textOfHtml(surveillanceSection(changed))])
        expect(said).toContain(line);
    }
    expect(surveillanceText(measured).join(' ')).not.toContain('INCOMPLETE');
  });

  test('warns from each level, and not below it', () => {
    const { instrument } = surveillance({ dir, windows });
    const order = (id: number, of: Partial<FlowOrder>): FlowOrder => ({
      ...{ id: String(id), side: 'sell', price: id, lots: 1, sentAt: 0, canceledAt: 5_000 },
      ...{ isKilled: false, isRejected: false, isFilled: false, ...of },
    });
    const many = (count: number, of: Partial<FlowOrder>) => Array.from({ length: count }, (_, i) => order(i, of));
    const fill = (at: number, of: Partial<FlowTrade> = {}): FlowTrade => ({
      ...{
        at,
        createdAt: at,
        tid: String(at),
        side: 'buy',
        price: '1000',
        major: '1',
        isMaker: true,
        isOwn: true,
        ...of,
      },
    });
    const warningsOf = (flow: Partial<OwnFlow>) =>
      surveyedDay({ orders: [], trades: [], requests: [], runs: [], ...flow }, 0, windows, instrument).warnings.map(
        text => text.split(':')[0],
      );
    expect(warningsOf({})).toEqual([]);
    expect(warningsOf({ requests: Array.from({ length: WARN_FROM.peakPerSecond }, () => 1) })).toEqual([
      'most requests in one second',
    ]);
    expect(warningsOf({ requests: Array.from({ length: WARN_FROM.peakPerSecond - 1 }, () => 1) })).toEqual([]);
    expect(warningsOf({ orders: [...many(10, { canceledAt: 999 }), ...many(10, {})] })).toEqual(['short-lived']);
    expect(warningsOf({ orders: [...many(9, { canceledAt: 999 }), ...many(10, {})] })).toEqual([]);
    expect(warningsOf({ orders: [...many(9, { canceledAt: 999 }), ...many(11, {})] })).toEqual([]);
    const fills = Array.from({ length: 20 }, (_, i) => fill(4_500 + i));
    expect(warningsOf({ orders: many(2, {}), trades: fills })).toEqual(['layering']);
    expect(warningsOf({ orders: many(1, {}), trades: fills })).toEqual([]);
    const messages = (count: number) => ({ orders: many(count, { canceledAt: null }), trades: [fill(9_000)] });
    expect(warningsOf(messages(WARN_FROM.orderToTrade + 1))).toEqual(['order-to-trade ratio']);
    expect(warningsOf(messages(WARN_FROM.orderToTrade))).toEqual([]);
    expect(warningsOf({ trades: [fill(1), fill(1, { side: 'sell', isMaker: false })] })).toEqual(['self-trades']);
    const taken = [fill(1, { isMaker: false }), fill(2, { isMaker: false })];
    expect(warningsOf({ trades: [...taken, fill(3, { side: 'sell', price: '1001' })] })).toEqual([
      'reversals after aggressive trades',
    ]);
    expect(warningsOf({ trades: [...taken, fill(3, { side: 'sell', price: '1000.9' })] })).toEqual([]);
  });

  test('has ratios of messages and amounts for each execution, minus one, rounded down', () => {
    const stuffing = { placed: 7, canceled: 3, executions: 3, placedLots: 5n } as Parameters<
      typeof ratiosOf
    >[0]['stuffing'];
    const of = { lotMoney: moneyOf('0.5') };
    expect(ratiosOf({ stuffing, executed: moneyOf('2') }, of)).toEqual({ number: 233n, volume: 25n });
    expect(ratiosOf({ stuffing: { ...stuffing, executions: 0 }, executed: 0n }, of)).toEqual({
      number: null,
      volume: null,
    });
  });
});

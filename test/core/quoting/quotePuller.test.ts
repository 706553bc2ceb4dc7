import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config.ts';
import {
  LARGE_PRINT,
  LEADER_MOVED,
  price,
  QuotePuller,
  type EngineOptions,
  type PullRules,
  type Side,
} from '../../../src/core/index.ts';
import { ToyExchange, quoteAround } from '../toyExchange.ts';

const LEADER = { basisMemoryMs: 600_000, maxAgeMs: 10_000, share: 1, marginBps: 0 };
const PRINT = { lots: 50, withinMs: 1_000, holdMs: 5_000 };
const MID = 1_000;

/** A toy exchange with quotes 2 ticks of 1,000 from the middle, 20 bps, that has looked at the reference for a minute. */
function deskOf(pull: PullRules | undefined, more: Partial<EngineOptions> = {}): ToyExchange {
  const toy = new ToyExchange({
    strategy: quoteAround(2),
    ...(pull ? { pull } : {}),
    isTraced: true,
    ...more,
  }).open();
  toy.showsOwn = false;
  for (let n = 0; n < 12; n++) {
    toy.rounds(5, 1_000);
    tell(toy, 50 * MID);
  }
  return toy;
}

const tell = (toy: ToyExchange, reference: number): void =>
  void toy.step({ kind: 'reference', at: toy.now, startedAt: toy.now, price: reference });
const trade = (toy: ToyExchange, side: Side, lots: number): void =>
  void toy.step({ kind: 'public trade', at: toy.now, price: price(MID), amount: lots as never, side });
const shown = (toy: ToyExchange) => ({ bids: toy.prices('buy'), asks: toy.prices('sell') });
const BOTH = { bids: [MID - 2], asks: [MID + 2] };

describe('a leader that moves', () => {
  test('past our bid takes it away at once, says why, and brings it back once our book has come after it', () => {
    const toy = deskOf({ leader: LEADER });
    expect(shown(toy)).toEqual(BOTH);
    // The reference is fifty times our price: it falls by 30 bps, our bid bears 20.
    tell(toy, 50 * MID * 0.997);
    expect(shown(toy)).toEqual({ bids: [], asks: BOTH.asks });
    const why = toy.engine.book.decision?.decided.find(({ side, action }) => side === 'buy' && action === 'not placed');
    expect(why).toMatchObject({ reason: LEADER_MOVED, detail: 'pulled: the leader moved (-30.0 bps)' });
    toy.bids = [[987, 50]];
    toy.asks = [[1007, 50]];
    toy.round(1_000);
    expect(shown(toy)).toEqual({ bids: [995], asks: [999] });
  });

  test('sends cancels that count as messages, so that pulling without end halts', () => {
    const toy = deskOf(
      { leader: LEADER },
      {
        halts: {
          ...{ drawdownMax: 10n ** 30n, dayLossMax: 10n ** 30n },
          ...{ fillsPer10Min: 1_000, refusalsPerMinute: 1_000, unknownsPerMinute: 1_000, messagesPerMinute: 1_000 },
        } as never,
      },
    );
    const sent = () =>
      Number(toy.engine.book.limitUses(toy.now).find(({ limit }) => limit === 'messagesPerMinute')?.used);
    const before = sent();
    const commands = toy.log.length;
    tell(toy, 50 * MID * 0.997);
    expect(toy.log.slice(commands).filter(({ kind }) => kind === 'cancel')).toHaveLength(1);
    expect(sent() - before).toBe(toy.log.slice(commands).filter(({ kind }) => kind !== 'look').length);
  });

  test('within what the distance bears, upwards for a bid, or when it is too old, takes nothing away', () => {
    const toy = deskOf({ leader: LEADER });
    tell(toy, 50 * MID * 0.9985);
    expect(shown(toy)).toEqual(BOTH);
    tell(toy, 50 * MID * 1.003);
    expect(shown(toy)).toEqual({ bids: BOTH.bids, asks: [] });
    toy.rounds(11, 1_000);
    expect(shown(toy)).toEqual(BOTH);
  });

  test('that stands still pulls nothing when our own book moves', () => {
    for (const move of [-8, 8]) {
      const toy = deskOf({ leader: LEADER }, { tolerance: { priceBps: 0.1, amountShare: 0.5, maxAgeMs: 3_600_000 } });
      toy.bids = [[990 + move, 50]];
      toy.asks = [[1010 + move, 50]];
      toy.rounds(2, 1_000);
      expect(shown(toy)).toEqual({ bids: [MID - 2 + move], asks: [MID + 2 + move] });
    }
  });

  test('counts by its share, and with the margin that a quote must keep', () => {
    const half = deskOf({ leader: { ...LEADER, share: 0.5 } });
    tell(half, 50 * MID * 0.997);
    expect(shown(half)).toEqual(BOTH);
    const careful = deskOf({ leader: { ...LEADER, marginBps: 10 } });
    tell(careful, 50 * MID * 0.9985);
    expect(shown(careful)).toEqual({ bids: [], asks: BOTH.asks });
  });

  test('pulls nothing without the rule, and before the process has looked since it stood still', () => {
    const without = deskOf(undefined);
    tell(without, 50 * MID * 0.9);
    expect(shown(without)).toEqual(BOTH);
    const puller = new QuotePuller({ leader: LEADER });
    puller.apply({ kind: 'reference', at: 0, startedAt: 0, price: 500 }, MID);
    puller.apply({ kind: 'reference', at: 5_000, startedAt: 5_000, price: 400 }, MID);
    expect(puller.pullReason('buy', MID - 2, 5_000, MID)).toContain(LEADER_MOVED);
    puller.slept(6_000);
    puller.apply({ kind: 'reference', at: 6_500, startedAt: 5_900, price: 400 }, MID);
    expect(puller.pullReason('buy', MID - 2, 6_500, MID)).toBeNull();
  });

  test('never takes away a side that it moves away from, however it got there', () => {
    const readings = fc.array(fc.tuple(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 900, max: 1_100 })), {
      minLength: 1,
      maxLength: 50,
    });
    fc.assert(
      fc.property(readings, steps => {
        const puller = new QuotePuller({ leader: LEADER });
        let [at, lowest, highest] = [0, Infinity, -Infinity];
        for (const [passed, reference] of steps) {
          at += passed;
          [lowest, highest] = [Math.min(lowest, reference), Math.max(highest, reference)];
          puller.apply({ kind: 'reference', at, startedAt: at, price: reference }, MID);
          // At its lowest it is not above what is usual, at its highest not below.
          if (reference === lowest) expect(puller.pullReason('sell', MID + 2, at, MID)).toBeNull();
          if (reference === highest) expect(puller.pullReason('buy', MID - 2, at, MID)).toBeNull();
        }
      }),
    );
  });
});

describe('a large trade', () => {
  test('takes the side away that it took from, also of several trades, for as long as it says', () => {
    const toy = deskOf({ print: PRINT });
    trade(toy, 'sell', 30);
    expect(shown(toy)).toEqual(BOTH);
    toy.now += 500;
    trade(toy, 'sell', 20);
    expect(shown(toy)).toEqual({ bids: [], asks: BOTH.asks });
    const why = toy.engine.book.decision?.decided.find(({ side, action }) => side === 'buy' && action === 'not placed');
    expect(why?.reason).toBe(LARGE_PRINT);
    toy.rounds(4, 1_000);
    expect(toy.prices('buy')).toEqual([]);
    toy.rounds(2, 1_000);
    expect(shown(toy)).toEqual(BOTH);
  });

  test('is none when its parts were missed and are reported together, with their times', () => {
    const toy = deskOf({ print: PRINT });
    const late = (tradedAt: number) =>
      void toy.step({
        ...{ kind: 'public trade', at: toy.now, price: price(MID), amount: 30 as never, side: 'sell', tradedAt },
      });
    for (const ago of [9_000, 6_000, 3_000, 0]) late(toy.now - ago);
    expect(shown(toy)).toEqual(BOTH);
    late(toy.now);
    expect(shown(toy)).toEqual({ bids: [], asks: BOTH.asks });
  });

  test('is none when its parts lie further apart, are of both sides, or tell no amount', () => {
    const toy = deskOf({ print: PRINT });
    for (let n = 0; n < 4; n++) {
      trade(toy, 'sell', 30);
      trade(toy, 'buy', 15);
      toy.round(1_001);
    }
    void toy.step({ kind: 'public trade', at: toy.now, price: price(1) });
    expect(shown(toy)).toEqual(BOTH);
    expect(toy.engine.book.wantsTrades).toBe(true);
    expect(deskOf({ leader: LEADER }).engine.book.wantsTrades).toBe(false);
  });
});

test('what the book shows pulls nothing, however one-sided its amounts are', () => {
  const toy = deskOf({ leader: LEADER, print: PRINT });
  toy.bids = [[990, 1]];
  toy.asks = [[1010, 1_000_000]];
  toy.rounds(3, 1_000);
  expect(shown(toy)).toEqual(BOTH);
});

test.each([
  ['pull: { leader: {} }', '', 'pull.leader: needs a reference price; add reference: { books: [...] }'],
  [
    'pull: { print: { amount: "1" } }',
    '  stream: false\n',
    'pull.print: needs the stream, which reports every trade, but exchange.stream is false; enable the stream, or remove this key',
  ],
])('%s is refused where it would hear nothing', (pull, exchange, line) => {
  const file = readFileSync(new URL('../../../config/sandbox.yaml', import.meta.url), 'utf8');
  const loaded = loadConfig(`${file.replace('exchange:\n', `exchange:\n${exchange}`)}\n${pull}\n`, 'a.yaml');
  expect(loaded.ok ? '' : loaded.errors.join('\n')).toContain(line);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { VirtualClock, type Engine } from '../../../src/core/index.ts';
import { EventDrivenReads } from '../../../src/live/account/eventDrivenReads.ts';

/** Reads that take 20 ms; trades appear when a test says so. */
function reader(budget = 300) {
  const clock = new VirtualClock();
  const told = { trades: 0, balances: 0, looks: [] as string[][], broken: [] as unknown[] };
  const state = { newest: '5', budget, alive: ['a', 'b'], onTrades: () => undefined as unknown };
  const wait = () => new Promise<void>(resolve => clock.after(20, resolve));
  const reads = {
    get newest() {
      return state.newest;
    },
  };
  const prompt = new EventDrivenReads({
    clock,
    reads,
    engine: {
      get liveOrders() {
        return state.alive.map(oid => ({ id: `id-${oid}`, oid }));
      },
    } as unknown as Engine,
    exchange: { budget: () => ({ public: 60, private: state.budget }) },
    readTrades: async () => {
      told.trades++;
      state.onTrades();
      await wait();
    },
    readBalances: async () => {
      told.balances++;
      await wait();
    },
    look: async ids => {
      told.looks.push([...ids]);
      await wait();
    },
    onBroken: error => void told.broken.push(error),
  });
  return { clock, prompt, told, state };
}

describe('what the stream shows of ours', () => {
  test('in one moment is read once, at once', async () => {
    const { clock, prompt, told } = reader();
    for (let i = 0; i < 20; i++) prompt.seen({ kind: 'traded', tid: '5' });
    prompt.seen({ kind: 'gone', oid: 'a' });
    prompt.seen({ kind: 'gone', oid: 'b' });
    await clock.advance(60);
    expect(told).toEqual({ trades: 1, balances: 0, looks: [['id-a', 'id-b']], broken: [] });
  });

  test('is read again while its record is late, and given up in the end', async () => {
    const { clock, prompt, told, state } = reader();
    state.onTrades = () => told.trades === 3 && (state.newest = '6');
    prompt.seen({ kind: 'traded', tid: '6' });
    await clock.advance(5_000);
    expect(told.trades).toBe(3);
    prompt.seen({ kind: 'traded', tid: '99' });
    await clock.advance(20_000);
    expect(told.trades).toBe(3 + 6);
  });

  test('is read at most thirty times in a burst and once a second for long', async () => {
    const { clock, prompt, told } = reader();
    for (let i = 0; i < 600; i++) {
      prompt.seen({ kind: 'traded', tid: null });
      await clock.advance(100);
    }
    expect(told.trades).toBeGreaterThan(80);
    expect(told.trades).toBeLessThanOrEqual(91);
  });

  test('is left to the polls when the budget runs low', async () => {
    const { clock, prompt, told } = reader(60);
    prompt.seen({ kind: 'traded', tid: '9' });
    prompt.seen({ kind: 'gone', oid: 'a' });
    await clock.advance(10_000);
    expect([told.trades, told.looks]).toEqual([0, []]);
  });

  test('is not looked up when the engine knows that it is over', async () => {
    const { clock, prompt, told } = reader();
    prompt.seen({ kind: 'gone', oid: 'x' });
    await clock.advance(100);
    expect(told.looks).toEqual([]);
  });

  test('is no longer read after a stop, and a stop waits for what is under way', async () => {
    const { clock, prompt, told } = reader();
    prompt.seen({ kind: 'traded', tid: '9' });
    await clock.advance(5);
    let over = false;
    void prompt.stop().then(() => (over = true));
    await clock.advance(1);
    expect(over).toBe(false);
    await clock.advance(1_000);
    prompt.seen({ kind: 'traded', tid: '10' });
    await clock.advance(1_000);
    expect([over, told.trades]).toEqual([true, 1]);
  });

  test('that breaks something of our own is told', async () => {
    const { clock, prompt, told, state } = reader();
    state.onTrades = () => {
      throw new Error('broken');
    };
    prompt.seen({ kind: 'traded', tid: null });
    await clock.advance(10);
    expect(told.broken).toEqual([new Error('broken')]);
  });

  test('news of money are one look at the balances, and one every five seconds however many come', async () => {
    const { clock, prompt, told } = reader();
    for (let i = 0; i < 100; i++) prompt.seen({ kind: 'moved' });
    await clock.advance(100);
    expect(told.balances).toBe(1);
    for (let i = 0; i < 100; i++) {
      prompt.seen({ kind: 'moved' });
      await clock.advance(100);
    }
    expect(told.balances).toBeLessThanOrEqual(3);
  });

  test('news of money are read unless the last such read started less than five seconds ago, however close they follow', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 30, max: 7_000 }), { minLength: 2, maxLength: 20 }), async pauses => {
        const { clock, prompt, told } = reader();
        let [reads, readAt] = [0, -Infinity];
        for (const pause of pauses) {
          if (clock.elapsed() - readAt >= 5_000) [reads, readAt] = [reads + 1, clock.elapsed()];
          prompt.seen({ kind: 'moved' });
          await clock.advance(pause);
          expect(told.balances).toBe(reads);
        }
      }),
      { numRuns: 30 },
    );
  });

  test('each late trade is tried as often as the first, whatever was given up before it', async () => {
    const { clock, prompt, told, state } = reader();
    for (const tid of ['10', '11', '12']) {
      const before = told.trades;
      prompt.seen({ kind: 'traded', tid });
      await clock.advance(20_000);
      expect(told.trades - before).toBe(6);
      state.newest = tid;
    }
  });
});

/** Balances are compared with the ledger only on a quiet cut: when no trade was recorded between the readings around them. */
import { mkdirSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import {
  money,
  textOfMoney,
  VirtualClock,
  type Balance,
  type Engine,
  type EngineEvent,
  type Exchange,
  type TransferLists,
  type TransferLine,
  type Outcome,
  type OwnTrade,
} from '../../../src/core/index.ts';
import { BalanceReads, type Explanations } from '../../../src/live/account/balanceReads.ts';
import { ConnectivityLog } from '../../../src/live/connectivityLog.ts';
import { Reads } from '../../../src/live/account/reads.ts';
import { NumberedMailbox } from '../../../src/live/mailbox/mailbox.ts';
import { isFailed } from '../../../src/live/failedRequest.ts';
import { ToyExchange, PATIENCE } from '../../core/toyExchange.ts';
import { BOOKS, SharedAccount } from '../../core/sharedAccount.ts';
import { runsOf } from '../../many.ts';
import { memoryLog } from '../../memoryLog.ts';
import { Folders } from '../states.ts';

const folders = new Folders();
afterAll(() => folders.clear());

const trade: OwnTrade = {
  ...{ book: 'btc_mxn', tid: '7', oid: 'x', createdAt: 0, side: 'buy', price: '1000', major: '1', minor: '1000' },
  ...{ feeAmount: '0', feeCurrency: 'btc', maker: true },
};

const balance = (currency: string) => ({ currency, total: '1000000000', locked: '0', available: '1000000000' });

const balanceOf = (currency: string, total: number) => ({
  ...{ currency, total: String(total), locked: '0', available: String(total) },
});

/** Balances of an engine that holds 1000000000 of each, over an exchange of these trades; `onBalances` before each answer, which it may replace. */
function readsOver(
  trades: OwnTrade[],
  onBalances: () => Outcome<readonly Balance[]> | null | Promise<null>,
  lists?: TransferLists,
  {
    persist = () => true,
    listWaitMs = 0,
    listAheadMaxMs = 0,
    engine = new ToyExchange({ timing: { ...PATIENCE, listWaitMs } }).open().engine,
    ...explanations
  }: Partial<Pick<Explanations, 'adjustments' | 'isTransferable' | 'isUnread' | 'listAheadMaxMs'>> & {
    persist?: () => boolean;
    listWaitMs?: number;
    engine?: Engine;
  } = {},
) {
  const clock = new VirtualClock();
  /** Currencies of which each read wanted a row. */
  const asked: unknown[] = [];
  const exchange = {
    limits: { ordersPage: 500, tradesPage: 100, depth: 50 },
    userTrades: async () => ({ kind: 'done', value: [...trades] }),
    balances: async query =>
      (asked.push(query?.also), await onBalances()) ?? { kind: 'done', value: [balance('btc'), balance('mxn')] },
  } as Partial<Exchange> as Exchange;
  const time = () => 1_000_000 + clock.elapsed();
  const reads = new Reads(exchange, 'btc_mxn', undefined, time, 20_000);
  const events: EngineEvent[] = [];
  const step = (event: EngineEvent) => {
    events.push(event);
    engine.step(event);
  };
  const { log, lines } = memoryLog();
  const readTrades = async () => {
    const event = await reads.trades();
    if (isFailed(event)) return false;
    step(event);
    reads.take(event);
    return event.complete;
  };
  const balances = new BalanceReads({
    ...{ engine, reads, readTrades, run: { clock, log, time, step } },
    explained: { lists, ...explanations, known: null, listAheadMaxMs },
    connectivity: new ConnectivityLog(log, clock),
    note: () => undefined,
    persist,
  });
  return { asked, balances, clock, engine, events, lines, readTrades };
}

describe('a read of the balances', () => {
  test.each([
    [600_000, /; trading halts if the difference lasts another 588 s \(timing\.transferListDelayMaxMs\)\. If you know/],
    [
      Infinity,
      /quoting is paused\. The trial order does not search for the cause; the bot searches at its next start\. If you know/,
    ],
  ])('says until when a difference may last: %d ms', async (listWaitMs, says) => {
    const value = [balance('btc'), { ...balance('mxn'), total: '5' }];
    const { balances, clock, engine, lines } = readsOver([], () => ({ kind: 'done', value }), undefined, {
      listWaitMs,
    });
    for (let n = 0; n < 3; n++) {
      await balances.read();
      await clock.advance(6_000);
    }
    expect(lines.map(({ text }) => text)).toEqual([expect.stringMatching(says)]);
    expect(engine.book.haltedBecause).toBeNull();
  });

  test('says that balances differ, whichever of several books are halted, unless all are', async () => {
    const value = [balanceOf('btc', 1_000), balanceOf('eth', 999), balanceOf('usd', 1e6), balanceOf('mxn', 1e6)];
    await fc.assert(
      fc.asyncProperty(fc.subarray([...BOOKS]), async halted => {
        const timing = { ...PATIENCE, listWaitMs: 600_000 };
        const { engine } = new SharedAccount({}, BOOKS, 1, null, { shared: { timing } }).open();
        const { balances, clock, lines } = readsOver([], () => ({ kind: 'done', value }), undefined, { engine });
        for (const { symbol } of halted) engine.step({ kind: 'halt', symbol, at: 1_000_200, reason: 'a test' });
        for (let n = 0; n < 3; n++) {
          await balances.read();
          await clock.advance(6_000);
        }
        const says = expect.stringContaining("differ from the bot's ledger by -1 eth") as string;
        expect(lines.map(({ text }) => text)).toEqual(halted.length === BOOKS.length ? [] : [says]);
      }),
      { ...runsOf(50, 10), examples: [[[BOOKS[1]!]], [[...BOOKS]]] },
    );
  });

  test('asks for a row of each currency of the ledger, so that a fall to zero is compared', async () => {
    const { asked, balances } = readsOver([], () => null);
    await balances.read();
    expect(asked).toEqual([['btc', 'mxn']]);
  });

  test('is a quiet cut unless a trade is recorded during it, whichever read of the trades takes it', async () => {
    const each = [false, true];
    for (const before of each)
      for (const during of each)
        for (const takenMeanwhile of each) {
          const trades: OwnTrade[] = before ? [trade] : [];
          const { balances, events, readTrades } = readsOver(trades, async () => {
            if (during) trades.push({ ...trade, tid: '8' });
            // As the stream triggers it, while the answer is under way.
            if (takenMeanwhile) await readTrades();
            return null;
          });
          const quiet = !during;
          expect(await balances.read()).toBe(quiet);
          expect(events.find(({ kind }) => kind === 'balances')).toMatchObject({ quiet });
        }
  });

  test('learns what the lists showed also from the next one when the balances could not be read', async () => {
    let looks = 0;
    let isFirst = true;
    const updates = [{ currency: 'mxn', amount: money(5n) }];
    const line: TransferLine = { id: 'f1', operation: 'funding', createdAt: 0, updates };
    const moneyMoved: TransferLists['transferLines'] = async list => {
      looks++;
      return { kind: 'done', value: list === 'fundings' ? [line] : [] };
    };
    const failed = { kind: 'unknown', reason: 'no answer' } as const;
    const { balances } = readsOver(
      [],
      () => {
        const answer = isFirst ? failed : null;
        isFirst = false;
        return answer;
      },
      {
        lists: [
          { name: 'fundings', of: 'deposits' },
          { name: 'withdrawals', of: 'withdrawals' },
          { name: 'fees', of: 'fees' },
        ],
        linesPage: 100,
        transferLines: moneyMoved,
      },
    );
    expect([await balances.read(), balances.known]).toEqual([false, null]);
    expect([await balances.read(), balances.known]).toEqual([true, ['fundings f1']]);
    expect(looks).toBe(3);
  });
});

test('balances count as unread from a minute after the first failure in a row, whatever came before', async () => {
  const reading = fc.record({ afterMs: fc.integer({ min: 1, max: 70_000 }), fails: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(reading, { minLength: 2, maxLength: 12 }), async readings => {
      let fails = false;
      const failed = { kind: 'unknown', reason: 'no answer' } as const;
      const { balances, clock, events } = readsOver([], () => (fails ? failed : null));
      let since: number | null = null;
      for (const next of readings) {
        await clock.advance(next.afterMs);
        fails = next.fails;
        since = fails ? (since ?? clock.elapsed()) : null;
        const before = events.length;
        await balances.read();
        const isUnread = events.slice(before).some(({ kind }) => kind === 'balances unread');
        expect(isUnread).toBe(since !== null && clock.elapsed() - since >= 60_000);
      }
    }),
    runsOf(300, 60),
  );
});

test('a comparison is right only after a quiet read without a difference, and unknown only without any quiet read', async () => {
  const answer = fc.constantFrom('equal', 'differs', 'fails', 'trade');
  await fc.assert(
    fc.asyncProperty(fc.array(answer, { minLength: 10, maxLength: 10 }), async answers => {
      const trades: OwnTrade[] = [];
      let reads = 0;
      const { balances, clock } = readsOver(trades, () => {
        const next = answers[reads++];
        if (next === 'fails') return { kind: 'unknown', reason: 'no answer' };
        // Balances from before a trade that is recorded while they are read.
        const [lots, differs] = [trades.length, next === 'differs' ? 1 : 0];
        if (next === 'trade') trades.push({ ...trade, tid: String(8 + reads) });
        const value = [balanceOf('btc', 1e9 + lots), balanceOf('mxn', 1e9 - 1_000 * lots + differs)];
        return { kind: 'done', value };
      });
      let match: boolean | null | undefined;
      void balances.match().then(found => (match = found));
      await clock.advance(10_000);
      const last = answers.slice(0, reads);
      expect(match).toBe(last.at(-1) === 'equal' ? true : last.includes('differs') ? false : null);
      expect(last.slice(0, -1)).not.toContain('equal');
    }),
    runsOf(300, 60),
  );
});

test('the lists of transfers are read at most once in each pause, whether they answer or not', async () => {
  const turn = fc.record({ differs: fc.boolean(), answers: fc.boolean(), reads: fc.integer({ min: 20, max: 60 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 2, maxLength: 6 }), async turns => {
      let now: (typeof turns)[number] = { differs: false, answers: true, reads: 0 };
      const value = () => [balanceOf('btc', 1e9), balanceOf('mxn', now.differs ? 1e9 + 1 : 1e9)];
      const at: number[] = [];
      const lists: TransferLists = {
        lists: [{ name: 'fundings', of: 'deposits' }],
        linesPage: 100,
        transferLines: async () => {
          at.push(made.clock.elapsed());
          return now.answers ? { kind: 'done', value: [] } : { kind: 'unknown', reason: 'no answer' };
        },
      };
      const made = readsOver([], () => ({ kind: 'done', value: value() }), lists, {
        ...{ listWaitMs: Infinity, listAheadMaxMs: 30_000 },
      });
      // The first read of the lists precedes the first comparison.
      await made.balances.read();
      for (const each of turns) {
        now = each;
        const before = at.length;
        const everyMs = each.differs ? 500 : 15_000;
        for (let n = 0; n < each.reads; n++) {
          await made.clock.advance(everyMs);
          await made.balances.read();
        }
        // Besides, one read where balances start or cease to differ, and one while a list may still be ahead.
        const pause = each.differs ? 1_500 : each.answers ? 600_000 : 60_000;
        expect(at.length - before).toBeLessThanOrEqual(2 + (each.reads * everyMs) / pause);
      }
    }),
    runsOf(60, 10),
  );
});

test('a booking of an operator is waiting, on disk or refused, over full disks and crashes, and in the ledger once', () => {
  const op = fc.oneof(
    fc.record({
      what: fc.constant('request'),
      units: fc.integer({ min: -9, max: 9 }).filter(units => units !== 0),
      inTransit: fc.boolean(),
    }),
    fc.record({ what: fc.constantFrom('booked', 'full disk', 'crash', 'transferable', 'unread') }),
  );
  fc.assert(
    fc.property(fc.array(op, { maxLength: 8 }), ops => {
      const dir = folders.fresh();
      mkdirSync(dir);
      const adjustments = new NumberedMailbox(dir, 'adjust');
      const waiting = () => adjustments.waiting().map(({ id }) => `adjust ${id}`);
      /** Bookings as the disk has them, and those that the running process has. */
      let onDisk: EngineEvent[] = [];
      let isFull = false;
      let isTransferable = false;
      let isUnread = false;
      /** Log lines of each process. */
      const logs: ReturnType<typeof readsOver>['lines'][] = [];
      const persist = () => {
        if (!isFull) onDisk = bot.events.filter(({ kind }) => kind === 'transfer');
        return !isFull;
      };
      const begun = () => {
        const made = readsOver([], () => null, undefined, {
          ...{ adjustments, persist, isTransferable: () => isTransferable, isUnread: () => isUnread },
        });
        for (const event of onDisk) made.engine.step(event);
        made.events.push(...onDisk);
        logs.push(made.lines);
        return made;
      };
      let bot = begun();
      const asked = new Map<string, bigint>();
      const sources = () => onDisk.flatMap(event => (event.kind === 'transfer' ? [event.source] : []));
      const refused = () =>
        logs.flat().flatMap(({ text }) => {
          const [, id] = /^not booked: .* in transit \(ana: (\S+)\), .* without --in-transit$/.exec(text) ?? [];
          return id === undefined ? [] : [`adjust ${id}`];
        });
      for (const [n, each] of [...ops, { what: 'last' } as const].entries()) {
        isFull = each.what === 'full disk';
        if (each.what === 'last') [isTransferable, isUnread] = [true, false];
        if (each.what === 'crash') bot = begun();
        else if (each.what === 'transferable') isTransferable = !isTransferable;
        else if (each.what === 'unread') isUnread = !isUnread;
        else if (each.what === 'request') {
          const id = `0000-000${n}`;
          const amount = money(BigInt('units' in each ? each.units : 0));
          asked.set(`adjust ${id}`, amount);
          const inTransit = 'inTransit' in each && each.inTransit ? { inTransit: true } : {};
          const of = { currency: 'mxn', amount, reason: id, by: 'ana', ...inTransit };
          adjustments.put({ id, at: 1_700_000_000_000 + n, ...of });
        } else bot.balances.bookAdjustments();
        const there = [...waiting(), ...sources(), ...refused()];
        expect([...asked.keys()].filter(source => !there.includes(source))).toEqual([]);
        // Only a request of an account that is not read yet waits longer.
        if (each.what === 'booked' && !isUnread) expect(waiting()).toEqual([]);
      }
      expect(waiting()).toEqual([]);
      const kept = [...asked].filter(([source]) => sources().includes(source));
      const total = 1_000_000_000n * 10n ** 18n + kept.reduce((sum, [, amount]) => sum + amount, 0n);
      expect(textOfMoney(bot.engine.account.total('mxn'))).toBe(textOfMoney(money(total)));
      expect(sources().sort()).toEqual(kept.map(([source]) => source).sort());
    }),
    runsOf(200, 15),
  );
});

test('a request file that cannot be deleted is named, and a refused one is not said to be booked', () => {
  const dir = folders.fresh();
  mkdirSync(dir);
  class Undeletable extends NumberedMailbox<'adjust'> {
    override done(): void {
      throw new Error('read-only');
    }
  }
  const adjustments = new Undeletable(dir, 'adjust');
  const ids = ['0000-0001', '0000-0002'] as const;
  const of = { at: 1_700_000_000_000, currency: 'mxn', amount: money(1n), reason: 'gift', by: 'ana' };
  adjustments.put({ ...of, id: ids[0] });
  adjustments.put({ ...of, id: ids[1], inTransit: true });
  const { balances, events, lines } = readsOver([], () => null, undefined, { adjustments });
  for (let times = 0; times < 2; times++) balances.bookAdjustments();
  expect(events).toMatchObject([{ source: `adjust ${ids[0]}` }]);
  const [booked, refused] = ids.map(id => adjustments.path(id));
  expect(lines.flatMap(({ level, text }) => (text.includes('could not be deleted') ? [[level, text]] : []))).toEqual([
    ['warn', `a booking is in the ledger, but its request file could not be deleted: ${booked}`],
    ['error', `an adjustment was refused and not booked, but its request file could not be deleted; delete ${refused}`],
  ]);
});

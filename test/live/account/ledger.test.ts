/** Money that comes and goes under a running bot: found in the exchange's lists, booked once whatever dies, never profit, and nothing stops for it. */
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import {
  CAUSES,
  counted,
  money,
  moneyOf,
  textOfMoney,
  type Cause,
  type LedgerEntry,
  type WireRequest,
} from '../../../src/core/index.ts';
import { adjust, ledger } from '../../../src/app/inspect/ledger.ts';
import { replay } from '../../../src/app/inspect/replayCheck.ts';
import { NumberedMailbox } from '../../../src/live/mailbox/mailbox.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { ledgerFileIn } from '../../../src/live/state/ledgerFile.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { keysOf } from '../../cli/jsonPage.ts';
import { doomed, restarted } from '../crashes.ts';
import type { Fate } from '../inProcess.ts';
import { Folders } from '../states.ts';
import { started, worldOf, type Running, type World } from '../world.ts';
import { few, sized } from '../../many.ts';

const SECOND = 1_000;
const folders = new Folders();
const worlds: World[] = [];
afterEach(() => worlds.splice(0).forEach(world => world.end()));
afterAll(() => folders.clear());

/** Limits on losses that any deposit or withdrawal below would break if it counted. */
function world(seed: number, changes: object = {}): World {
  const made = worldOf(seed, {
    limits: { drawdownMax: '900', dayLossMax: '900' },
    inventory: { target: undefined },
    ...changes,
  });
  worlds.push(made);
  return made;
}

const account = ({ box }: World) => box.exchange.venue.accounts.get(box.account.id)!;
const deposit = (at: World, currency: string, sum: string, listed: 'funding' | 'fee' | null = 'funding') =>
  at.box.exchange.venue.deposit(account(at), currency, moneyOf(sum), listed);
const withdraw = (at: World, currency: string, sum: string) =>
  expect(at.box.exchange.venue.withdraw(account(at), currency, moneyOf(sum))).toBe(true);
const live = (at: World, side: 'buy' | 'sell') => [...account(at).active.values()].filter(o => o.side === side).length;
const texts = (running: Running) => running.log.map(({ text }) => text).join('\n');
const isLook = ({ target }: WireRequest) => target.includes('/v3/ledger/');

/** What is on disk, which must lead from the opening to the exchange's own balance. */
async function booked(at: World, dir: string, currency: string): Promise<Record<Cause, string>> {
  const file = await ledgerFileIn(dir, realClock());
  const row = file?.causes.get(currency);
  if (!file || !row) throw new Error(`nothing is booked in ${currency}`);
  const sum = Object.values(row).reduce((all, each) => all + each, 0n);
  expect(textOfMoney(money(sum))).toBe(textOfMoney(account(at).total(currency)));
  return Object.fromEntries(Object.entries(row).map(([cause, each]) => [cause, textOfMoney(each)])) as never;
}

describe('a deposit and a withdrawal while it runs', () => {
  test('are booked from the lists, and quotes, limits and profit know nothing of them', async () => {
    const at = world(41);
    const running = await started(at);
    await at.clock.advance(30 * SECOND);
    deposit(at, 'mxn', '1000000');
    withdraw(at, 'btc', '0.4');
    await at.clock.advance(15 * SECOND);
    expect([live(at, 'buy'), live(at, 'sell')].every(count => count > 0)).toBe(true);
    deposit(at, 'btc', '0.7');
    withdraw(at, 'mxn', '400000.12345678');
    await at.clock.advance(45 * SECOND);
    expect([live(at, 'buy'), live(at, 'sell')].every(count => count > 0)).toBe(true);
    expect(texts(running)).not.toMatch(/halted|differ/);
    const { summary, failure } = await running.stop();
    expect({ failure, matches: summary.ledgerMatches, refused: summary.orders.refused }).toEqual({
      ...{ failure: null, matches: true, refused: 0 },
    });
    // They were worth more than half a million mxn; what is left is the market's.
    expect(Math.abs(Number(summary.pnl!.total))).toBeLessThan(600);
    expect(await booked(at, at.stateDir, 'mxn')).toMatchObject({
      deposits: '1000000',
      withdrawals: '-400000.12345678',
    });
    expect(await booked(at, at.stateDir, 'btc')).toMatchObject({ deposits: '0.7', withdrawals: '-0.4' });
    // What was decided can be decided again from what was recorded.
    expect(replay(at.stateDir, 'all', () => undefined)).toBe(true);
  });

  test('that cancel each other out before anybody looks are in the ledger too', async () => {
    const at = world(42);
    const first = await doomed(at, folders);
    await at.clock.advance(15 * SECOND);
    const dir = first.kill();
    deposit(at, 'mxn', '5000');
    withdraw(at, 'mxn', '5000');
    // Until the lists show it.
    await at.clock.advance(2 * SECOND);
    const second = await restarted(at, dir);
    await at.clock.advance(5 * SECOND);
    await second.stop();
    expect(await booked(at, dir, 'mxn')).toMatchObject({ deposits: '5000', withdrawals: '-5000' });
    await first.running.stop();
  });

  test('change what can be quoted: without money no bid, with it one', async () => {
    const at = world(43, { exchange: { balances: { btc: '1.5', mxn: '100' } } });
    const running = await started(at);
    await at.clock.advance(20 * SECOND);
    expect([live(at, 'buy') < 3, live(at, 'sell')]).toEqual([true, 3]);
    deposit(at, 'mxn', '2000000');
    await at.clock.advance(20 * SECOND);
    expect([live(at, 'buy'), live(at, 'sell')]).toEqual([3, 3]);
    const { summary } = await running.stop();
    expect({ matches: summary.ledgerMatches, refused: summary.orders.refused }).toEqual({ matches: true, refused: 0 });
    expect(texts(running)).not.toMatch(/halted/);
  });

  test('that its lists tell of while it is not running are found at the next start', async () => {
    const at = world(44);
    const first = await doomed(at, folders);
    await at.clock.advance(25 * SECOND);
    const dir = first.kill();
    deposit(at, 'btc', '0.25');
    withdraw(at, 'mxn', '1234.5');
    await at.clock.advance(60 * SECOND);
    const second = await restarted(at, dir);
    await at.clock.advance(40 * SECOND);
    expect(live(at, 'buy')).toBeGreaterThan(0);
    const { summary } = await second.stop();
    expect(summary.ledgerMatches).toBe(true);
    expect(Math.abs(Number(summary.pnl!.total))).toBeLessThan(600);
    expect(await booked(at, dir, 'btc')).toMatchObject({ deposits: '0.25', adjustments: '0' });
    expect(await booked(at, dir, 'mxn')).toMatchObject({ withdrawals: '-1234.5', adjustments: '0' });
    await first.running.stop();
  });
});

describe('refunds and rebates', () => {
  test('of a redemption are refunds, of a fee are fees: they alone are profit', async () => {
    const at = world(45);
    const { transactions } = at.box.exchange;
    const running = await started(at);
    await at.clock.advance(25 * SECOND);
    const refund = { steps: ['PLATFORM_TRANSFER', 'TOKEN_MINT', 'TOKEN_TRANSFER'], outcome: 'COMPLETE' } as const;
    const redemption = { network: 'ARBITRUM', asset: 'mxn', sum: moneyOf('7000'), clabe: null, fiatId: null } as const;
    transactions.start(
      account(at),
      { kind: 'REDEMPTION', method: 'SPEI', ...redemption },
      { failure: null, refund },
      null,
    );
    deposit(at, 'mxn', '3.5', 'fee');
    await at.clock.advance(60 * SECOND);
    const { summary } = await running.stop();
    expect(summary.ledgerMatches).toBe(true);
    const mxn = await booked(at, at.stateDir, 'mxn');
    expect(mxn).toMatchObject({ withdrawals: '-7000', refunds: '7000', deposits: '0', adjustments: '0' });
    expect((await ledger(at.stateDir, { entries: true, form: 'text' }, realClock())).join('\n')).toMatch(
      /fees 3\.5 mxn/,
    );
  });
});

describe('a kill in the middle of booking', () => {
  test.each(few([2, 0, 9, 1, 3], 2))(
    'at the request %i after the lists were asked for books everything once',
    async later => {
      const at = world(46);
      let toGo = Infinity;
      let moved = false;
      const first = await doomed(at, folders, request => {
        if (toGo === Infinity && moved && isLook(request)) toGo = later;
        return toGo-- === 0 ? 'unanswered' : null;
      });
      await at.clock.advance(25 * SECOND);
      deposit(at, 'mxn', '1000.00000001');
      withdraw(at, 'btc', '0.1');
      moved = true;
      await at.clock.advance(40 * SECOND);
      const dir = first.left();
      if (dir === null) throw new Error('it was not killed');
      const second = await restarted(at, dir);
      await at.clock.advance(60 * SECOND);
      const { summary } = await second.stop();
      expect({ matches: summary.ledgerMatches, halted: summary.halted }).toEqual({ matches: true, halted: undefined });
      expect(await booked(at, dir, 'mxn')).toMatchObject({ deposits: '1000.00000001', adjustments: '0' });
      expect(await booked(at, dir, 'btc')).toMatchObject({ withdrawals: '-0.1', adjustments: '0' });
      const entries = (await ledgerFileIn(dir, realClock()))?.entries ?? [];
      expect(entries.filter(({ source }) => /^(fundings|withdrawals) /.test(source))).toHaveLength(2);
      await first.running.stop();
    },
  );
});

describe('what no list tells of', () => {
  const unreadable = (request: WireRequest): Fate => (isLook(request) ? 'not sent' : 'arrives');
  test.each([
    ['because the lists cannot be read', 'funding', unreadable],
    ['because they do not have it', null, () => 'arrives' as Fate],
  ] as const)(
    '%s stops quoting and says so; a person books it, and the halt stays until it is lifted',
    async (_, listed, fate) => {
      const at = world(47, { timing: { transferListDelayMaxMs: 20_000 } });
      const running = await started(at, { fate });
      await at.clock.advance(30 * SECOND);
      deposit(at, 'mxn', '77.25', listed);
      await at.clock.advance(45 * SECOND);
      expect(latchIn(at.stateDir).read()?.reason).toMatch(/differ from our ledger by 77\.25 mxn/);
      expect([live(at, 'buy'), live(at, 'sell')]).toEqual([0, 0]);

      const ask = { currency: 'MXN', amount: '77.25', reason: 'gift of the house', by: 'ana' };
      expect(await adjust(at.stateDir, ask, at.clock)).toMatch(/to end a halt, resume with: /);
      const waits = await ledger(at.stateDir, { entries: false, form: 'text' }, realClock());
      expect(waits.at(-1)).toBe(
        'pending adjustment, which the bot has not booked yet: 77.25 mxn (ana: gift of the house)',
      );
      const [left] = new NumberedMailbox(at.stateDir, 'adjust').waiting();
      await at.clock.advance(30 * SECOND);
      expect(new NumberedMailbox(at.stateDir, 'adjust').waiting()).toEqual([]);
      expect(await booked(at, at.stateDir, 'mxn')).toMatchObject({ adjustments: '77.25' });
      // The same command again, after it was booked.
      expect(await adjust(at.stateDir, ask, at.clock)).toMatch(
        /^nothing was booked, because ana already booked 77\.25 mxn with this reason at 20.*; to book the amount again, give another --reason$/,
      );
      expect(new NumberedMailbox(at.stateDir, 'adjust').waiting()).toEqual([]);
      expect(latchIn(at.stateDir).read()).not.toBeNull();
      expect(live(at, 'buy')).toBe(0);
      // A kill before the file was gone leaves it to be taken up again: it is known.
      if (left) new NumberedMailbox(at.stateDir, 'adjust').put(left);
      await at.clock.advance(10 * SECOND);

      latchIn(at.stateDir).lift('booked');
      await at.clock.advance(30 * SECOND);
      expect(live(at, 'buy')).toBeGreaterThan(0);
      const { summary } = await running.stop();
      expect(summary.ledgerMatches).toBe(true);
      expect(await booked(at, at.stateDir, 'mxn')).toMatchObject({ adjustments: '77.25', deposits: '0' });
      // Any argument that differs makes it another booking.
      for (const change of [{ currency: 'btc' }, { amount: '-77.25' }, { reason: 'another gift' }, { by: 'ben' }])
        expect(await adjust(at.stateDir, { ...ask, ...change }, at.clock)).toMatch(/^requested: /);
      expect(new NumberedMailbox(at.stateDir, 'adjust').waiting()).toHaveLength(4);
    },
  );

  test('and is booked while the bot is stopped is taken up at its next start, before it quotes, once', async () => {
    const at = world(48);
    const first = await doomed(at, folders);
    await at.clock.advance(25 * SECOND);
    const dir = first.kill();
    deposit(at, 'btc', '0.5', null);
    await adjust(dir, { currency: 'btc', amount: '0.5', reason: 'from the vault' }, at.clock);
    const [left] = new NumberedMailbox(dir, 'adjust').waiting();
    const second = await doomed({ ...at, config: { ...at.config, state: { dir } } }, folders);
    await at.clock.advance(20 * SECOND);
    expect(texts(second.running)).not.toMatch(/halted/);
    const next = second.kill();
    if (left) new NumberedMailbox(next, 'adjust').put(left);
    const third = await restarted(at, next);
    await at.clock.advance(30 * SECOND);
    const { summary } = await third.stop();
    expect({ matches: summary.ledgerMatches, halted: summary.halted }).toEqual({ matches: true, halted: undefined });
    expect(await booked(at, next, 'btc')).toMatchObject({ adjustments: '0.5' });
    await second.running.stop();
    await first.running.stop();
  });

  test.each([
    [{ amount: '0' }, /--amount: expected an amount other than 0/],
    [{ amount: '1e3' }, /--amount: expected decimal digits like 12\.5 or -12\.5, found 1e3/],
    [
      { currency: 'b/c' },
      /--currency: expected a ticker like btc, or usdt@PLACE for a currency on another exchange, found b\/c/,
    ],
    [{ reason: ' x ' }, /--reason: expected a few words that say/],
  ])('%j is refused in one line', async (change, says) => {
    const at = world(49);
    await (await started(at)).stop();
    const ask = { currency: 'btc', amount: '1', reason: 'because of it', ...change };
    await expect(adjust(at.stateDir, ask, at.clock)).rejects.toThrow(says);
    const good = { ...ask, reason: 'because of it', currency: 'btc', amount: '1' };
    await expect(adjust(folders.fresh(), good, at.clock)).rejects.toThrow(/no puntas\.db found/);
  });
});

describe('the printed ledger', () => {
  test('says the same while the bot runs and when it is stopped: every column leads to the exchange’s balance', async () => {
    const at = world(50);
    const running = await started(at);
    await at.clock.advance(240 * SECOND);
    deposit(at, 'mxn', '10.5');
    await at.clock.advance(30 * SECOND);
    const lines = await ledger(at.stateDir, { entries: false, form: 'text' }, realClock());
    expect(lines.slice(1).map(line => line.split(/\s+/)[0])).toEqual(
      [...['', 'opening', 'trades', 'fees', 'conversions', 'deposits', 'withdrawals', 'refunds', 'adjustments']].concat(
        ...['closing', 'exchange', 'difference', 'profit'],
      ),
    );
    await running.stop();
    const [csv = '', ...rows] = await ledger(at.stateDir, { entries: false, form: 'csv' }, realClock());
    const truth = at.box.exchange.truth().accounts.get(at.box.account.id)!;
    for (const row of rows) {
      const cells = new Map(csv.split(',').map((name, i) => [name, row.split(',')[i] ?? '']));
      const cell = (name: string) => moneyOf(cells.get(name) ?? '');
      expect(cell('closing')).toBe(truth.balances.get(cells.get('currency') ?? '')!.total);
      expect([cell('exchange'), cell('difference')]).toEqual([cell('closing'), 0n]);
    }
    const [text = ''] = await ledger(at.stateDir, { currency: 'mxn', entries: false, form: 'json' }, realClock());
    const json = JSON.parse(text) as { currencies: Record<string, Record<string, string>>; entries: number };
    expect(json.currencies).toMatchObject({ mxn: { deposits: '10.5', adjustments: '0', difference: '0' } });
    expect(Object.keys(json.currencies)).toEqual(['mxn']);
    expect(Object.keys(json)).toEqual(keysOf('ledger'));
    const entries = await ledger(at.stateDir, { currency: 'mxn', entries: true, form: 'json' }, realClock());
    expect(entries).toHaveLength(json.entries);

    // From any moment on, what was before is the opening.
    const deposited = entries
      .map(line => JSON.parse(line) as { at: string; source: string })
      .find(e => /^fundings/.test(e.source));
    const since = Date.parse(deposited?.at ?? '');
    const [later = ''] = await ledger(
      at.stateDir,
      { currency: 'mxn', since, entries: false, form: 'json' },
      realClock(),
    );
    const after = (JSON.parse(later) as typeof json).currencies['mxn'] ?? {};
    const all = json.currencies['mxn'] ?? {};
    expect([after['closing'], after['deposits']]).toEqual([all['closing'], '10.5']);
    expect(after['opening']).not.toBe(all['opening']);
    // The same from the entries themselves: the opening is the sum of all before, and a moment belongs to what follows.
    const of = (await ledgerFileIn(at.stateDir, realClock()))!.entries;
    const times = [of[0]!.at, of[of.length >> 1]!.at, since + 1, of.at(-1)!.at];
    for (const from of times) {
      const [shown = ''] = await ledger(at.stateDir, { since: from, entries: false, form: 'json' }, realClock());
      const told = JSON.parse(shown) as typeof json & { readonly since: string };
      const within = of.filter(entry => entry.at >= from);
      expect([told.since, told.entries]).toEqual([new Date(from).toISOString(), within.length]);
      for (const [currency, row] of Object.entries(told.currencies)) {
        const sum = (entries: readonly LedgerEntry[], cause?: Cause): bigint =>
          entries
            .flatMap(entry => entry.changes)
            .filter(change => change.currency === currency && (cause ?? change.cause) === change.cause)
            .reduce((all_, { amount }) => all_ + amount, 0n);
        for (const cause of CAUSES) {
          const before = cause === 'opening' ? sum(of.filter(entry => entry.at < from)) : 0n;
          expect([currency, cause, row[cause]]).toEqual([currency, cause, textOfMoney(money(sum(within, cause) + before))]); // prettier-ignore
        }
        expect(row['closing']).toBe(textOfMoney(money(sum(of))));
      }
    }
    const [head] = await ledger(at.stateDir, { since, entries: false, form: 'text' }, realClock());
    const count = of.filter(entry => entry.at >= since).length;
    expect(head).toContain(`: ${counted(count, 'entry', 'entries')} since ${new Date(since).toISOString()}; balances`);
    // Lines of one currency have no other.
    for (const currency of ['btc', 'mxn']) {
      const lines_ = await ledger(at.stateDir, { currency, entries: true, form: 'csv' }, realClock());
      expect(new Set(lines_.slice(1).map(line => line.split(',')[3]))).toEqual(new Set([currency]));
      const changed = of
        .flatMap(entry => entry.changes)
        .filter(each => each.currency === currency && each.amount !== 0n);
      expect(lines_).toHaveLength(1 + changed.length);
      const own = await ledger(at.stateDir, { currency, entries: true, form: 'json' }, realClock());
      expect(own).toHaveLength(of.filter(({ changes }) => changes.some(each => each.currency === currency)).length);
    }
    await expect(ledger(at.stateDir, { currency: 'eth', entries: false, form: 'text' }, realClock())).rejects.toThrow(
      /the ledger has no entry in eth; it has entries in btc, mxn/,
    );
    await expect(ledger(folders.fresh(), { entries: false, form: 'text' }, realClock())).rejects.toThrow(
      /no ledger yet/,
    );
  });

  test('has the trades of every run, each with its price, under a header, and what all of them earned', async () => {
    const at = world(51);
    const runs = [await started(at)];
    await at.clock.advance(sized(600, 200) * SECOND);
    const first = await runs[0]!.stop();
    runs.push(await restarted(at, at.stateDir));
    await at.clock.advance(sized(600, 200) * SECOND);
    const second = await runs[1]!.stop();
    expect(Math.min(first.summary.fills!, second.summary.fills!)).toBeGreaterThan(0);

    const [header = '', ...rows] = await ledger(at.stateDir, { entries: true, form: 'csv' }, realClock());
    expect(header).toBe('at,source,cause,currency,amount,price,why,time,trade_id,order_id,client_order_id,role,level');
    const cells = rows.map(row => row.split(','));
    expect(new Set(cells.map(row => row.length))).toEqual(new Set([13]));
    const trades = cells.filter(([, , cause]) => cause === 'trades');
    const names = new Set(trades.map(([, source]) => source!));
    expect(names.size).toBe(first.summary.fills! + second.summary.fills!);
    for (const name of names) {
      const [major, minor] = ['btc', 'mxn'].map(c => trades.find(([, source, , of]) => source === name && of === c)!);
      const [sold, got, price] = [major![4]!, minor![4]!, major![5]!].map(text => moneyOf(text)) as never as [
        bigint,
        bigint,
        bigint,
      ];
      expect(sold * price).toBe(-got * 10n ** 18n);
    }
    expect(cells.filter(([, , cause]) => cause !== 'trades' && cause !== 'fees').every(row => row[5] === '')).toBe(
      true,
    );

    const [text = ''] = await ledger(at.stateDir, { entries: false, form: 'json' }, realClock());
    const { profit } = JSON.parse(text) as { profit: Record<string, string> };
    for (const part of ['spread', 'fees'] as const)
      expect(profit[part], part).toBe(
        textOfMoney(money(moneyOf(first.summary.pnl![part]) + moneyOf(second.summary.pnl![part]))),
      );
    // With what the inventory gained between the runs.
    expect(profit).toEqual(second.summary.profit);
  });
});

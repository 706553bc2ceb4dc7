/** A whole bot over two exchanges: a fill is hedged on the second at once, both ledgers are exact, and a replay decides the same. */
import { afterEach, expect, test } from 'vitest';
import { recordedConfig } from '../../../src/config.ts';
import {
  amountFloor,
  money,
  moneyOf,
  randomOf,
  Secret,
  textOfMoney,
  type WireRequest,
} from '../../../src/core/index.ts';
import { executeAction } from '../../../src/app/actions/executeAction.ts';
import { adjust, ledger } from '../../../src/app/inspect/ledger.ts';
import { withoutElsewhere } from '../../../src/wiring/elsewhereHedging.ts';
import { tryOrder } from '../../../src/app/doctor/trialOrder.ts';
import { hedgesIn } from '../../../src/app/inspect/hedges.ts';
import { hedgeEvidence, settleHedge } from '../../../src/app/inspect/settleHedge.ts';
import { mayStillExecute } from '../../../src/hedge/index.ts';
import { NumberedMailbox } from '../../../src/live/mailbox/mailbox.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { firstRules, replayRun } from '../../../src/live/replay/replay.ts';
import { readRecording, recordingsIn } from '../../../src/live/recording/recordings.ts';
import { engineOf } from '../../../src/wiring/bot.ts';
import { ledgerFileIn } from '../../../src/live/state/ledgerFile.ts';
import { heardLog } from '../../memoryLog.ts';
import { Trader } from '../../sandbox/trader.ts';
import { stopSummary } from '../../../src/alerts/sentences.ts';
import { isAllGone } from '../../../src/live/loop/loopOptions.ts';
import { wireTo, type Fate } from '../inProcess.ts';
import { advanceUntil, started, worldOf, type Running, type World } from '../world.ts';

let world: World | null = null;
afterEach(() => world?.end());

test('a fill is hedged there long before the next check, the summary has both accounts, and a replay gives the same commands', async () => {
  const at = worldOf(7, { hedge: { everyMs: 60_000 } }, 'elsewhere');
  world = at;
  const { box, clock } = at;
  const orders: { readonly at: number; readonly request: WireRequest }[] = [];
  const run = await started(at, {
    fateThere: request => {
      if (request.method === 'POST') orders.push({ at: clock.now(), request });
      return 'arrives';
    },
  });
  // The first check of the hedger has passed, and the next is a minute away.
  await clock.advance(20_000);
  const seller = new Trader(box.exchange, box.exchange.openAccount({ balances: { btc: '50', mxn: '0' } }));
  seller.limit('btc_mxn', 'sell', '1480000', '8');
  await clock.advance(15_000);
  const fill = box.exchange.truth().accounts.get(box.account.id)!.trades[0]!;
  expect(orders.length).toBeGreaterThan(0);
  // Private reads are polled here, every few seconds; the hedge follows the read.
  expect(orders[0]!.at - fill.at).toBeLessThan(at.config.timing.privatePollMs + 1_000);
  await clock.advance(10_000);
  const { summary } = await run.stop();
  expect([summary.ledgerMatches, summary.halted]).toEqual([true, undefined]);
  expect(summary.elsewhere).toMatchObject({ place: 'binance', debt: '0', openOrders: 0 });
  const there = box.second!.exchange.truth().accounts.get(box.second!.account.id)!;
  const balances = new Map([...there.balances].map(([currency, { total }]) => [currency, total] as const));
  expect(Number(summary.elsewhere!.funds.base)).toBeCloseTo(Number(balances.get('btc')!) / 1e18, 12);
  const number = recordingsIn(at.stateDir)[0]!.run;
  const setup = recordedConfig(readRecording(at.stateDir, number)!.of.setup);
  const engine = engineOf(setup, firstRules(at.stateDir, number)!, number);
  const { difference, commands } = replayRun(at.stateDir, number, engine);
  expect(difference).toBeNull();
  expect(commands).toBeGreaterThan(0);
});

const isOrder = ({ method }: WireRequest) => method === 'POST';

/** A bot whose next order there, and from then on each look-up there while `isMute`, meets its fate. */
async function withLostHedge(
  changes: Parameters<typeof worldOf>[1],
  fate: Fate,
): Promise<{ readonly run: Running; readonly mute: { is: boolean } }> {
  const at = worldOf(7, changes, 'elsewhere');
  world = at;
  const mute = { is: false };
  let orders = 0;
  const run = await started(at, {
    fateThere: request => {
      if (isOrder(request) && orders++ === 0) return fate;
      return mute.is && /\/(order|myTrades)\?/.test(request.target) ? 'lost' : 'arrives';
    },
  });
  mute.is = true;
  await at.clock.advance(20_000);
  const seller = new Trader(at.box.exchange, at.box.exchange.openAccount({ balances: { btc: '50', mxn: '0' } }));
  seller.limit('btc_mxn', 'sell', '1480000', '8');
  await advanceUntil(at.clock, 100, () => orders > 0);
  return { run, mute };
}

test('a stop that cannot prove the outcome of a hedge there names its order, and is not clean', async () => {
  const { run } = await withLostHedge({}, 'unanswered');
  const ended = await run.stop();
  const [order] = world!.box.second!.exchange.truth().accounts.get(world!.box.second!.account.id)!.trades;
  expect(ended.left).toEqual([]);
  expect(ended.openHedge).toMatch(
    new RegExp(`^hedge here-h\\d+-\\d+ \\(order ${order!.order.originId} at binance\\)$`),
  );
  expect(isAllGone(ended)).toBe(false);
  const { summary } = ended;
  expect(stopSummary('SIGTERM', { ...ended, ledgerMatches: summary.ledgerMatches })).toContain(
    `orders may still be open: ${ended.openHedge}`,
  );
  expect(summary.elsewhere).toMatchObject({ openOrders: 1 });
});

test.each(['lost', 'unanswered'] as const)(
  'the shortest stop that the configuration may have proves a hedge that was sent last, which is %s',
  async fate => {
    // A request lives 5 s; then two times 10 s for the lists, and 5 s for the requests.
    const changes = { hedge: { elsewhere: { listingDelayMs: 10_000 } }, timing: { shutdownMs: 30_000 } };
    const { run, mute } = await withLostHedge(changes, fate);
    mute.is = false;
    const ended = await run.stop();
    expect([ended.openHedge, isAllGone(ended), ended.summary.ledgerMatches]).toEqual([undefined, true, true]);
  },
);

test('a hedge that a run begins ends before the next run does: nothing of it is written later', async () => {
  const at = worldOf(7, { hedge: { everyMs: 60_000 } }, 'elsewhere');
  world = at;
  const { box, clock, stateDir } = at;
  let next: 'armed' | 'slow' | null = null;
  let isFilled = false;
  const run = await started(at, {
    onLine: ({ text }) => {
      if (next !== 'armed' || !/^bought /.test(text)) return;
      [next, isFilled] = ['slow', true];
    },
    // The first read of the book there after a fill is that of its hedge.
    fateThere: ({ target }) => {
      if (next !== 'slow' || !/\/depth\?.*limit/.test(target)) return 'arrives';
      next = null;
      return { answeredMs: 4_900 };
    },
  });
  await clock.advance(20_000);
  next = 'armed';
  const seller = new Trader(box.exchange, box.exchange.openAccount({ balances: { btc: '50', mxn: '0' } }));
  seller.limit('btc_mxn', 'sell', '1480000', '8');
  await advanceUntil(clock, 100, () => isFilled);
  const ask = { id: 'c-1', action: 'cancel', reason: 'a test', by: 'ann', via: 'command' } as const;
  void executeAction({ stateDir }, ask, clock);
  await clock.advance(60_000);
  const [first] = recordingsIn(stateDir);
  expect(recordingsIn(stateDir)).toHaveLength(2);
  // The run that ends writes the end of its hedge itself, instead of leaving it open.
  const left = hedgesIn(stateDir).filter(({ id }) => id.startsWith(`here-h${first!.run}-`));
  expect(left.at(-1)).toMatchObject({ state: 'failed', why: 'the book cannot be used: stopping' });
  const { summary, failure } = await run.stop();
  expect([failure, summary.ledgerMatches]).toEqual([null, true]);
  expect(run.log.filter(({ level }) => level === 'error')).toEqual([]);
});

test('no run takes over while a hedge there has no known outcome', async () => {
  const { run, mute } = await withLostHedge({ journal: { rollHours: 0.03 } }, 'lost');
  const { clock, stateDir } = world!;
  await clock.advance(300_000);
  expect(recordingsIn(stateDir)).toHaveLength(1);
  mute.is = false;
  await clock.advance(120_000);
  expect(recordingsIn(stateDir).length).toBeGreaterThan(1);
  const { summary, openHedge } = await run.stop();
  expect([openHedge, summary.ledgerMatches]).toEqual([undefined, true]);
});

test.each([
  ['executed', 'unanswered'],
  ['failed', 'lost'],
] as const)(
  'a hedge there that no look-up can prove is settled as %s, once no request can execute it',
  async (as, fate) => {
    const { run, mute } = await withLostHedge({ hedge: { band: '0.005' } }, fate);
    const { box, clock, stateDir } = world!;
    const [row] = hedgesIn(stateDir).filter(mayStillExecute);
    await clock.advance(2_500);
    const { trades } = box.second!.exchange.truth().accounts.get(box.second!.account.id)!;
    const sumOf = (part: (trade: (typeof trades)[number]) => bigint) =>
      textOfMoney(money(trades.reduce((sum, trade) => sum + part(trade), 0n)));
    const amounts = trades[0] && {
      base: sumOf(({ amount, order }) => BigInt(amount) * order.instrument.lotMoney),
      quote: sumOf(({ minor }) => minor),
      fee: `${sumOf(({ fee }) => fee)} ${trades[0].feeCurrency}`,
    };
    const evidence = (await hedgeEvidence(stateDir, row!.id, realClock())).join('\n');
    expect(evidence).toMatch(/btc@binance: exchange balance before the hedge: 1.5 .*; after the hedge: 1.\d+ /);
    // Unchanged balances prove nothing yet, because the exchange may still execute the request.
    expect(evidence).toContain(
      as === 'executed' ? 'outcome according to the balances: executed' : 'the balances do not show the outcome',
    );
    const ask = { id: row!.id, as, reason: 'listed in its history', by: 'ann', ...amounts };
    for (const [change, says] of [
      ...(as === 'failed'
        ? ([[{ base: '1' }, /found --base 1$/]] as const)
        : ([
            [{ as: 'failed', base: undefined, quote: undefined, fee: undefined }, /contradict/],
            [{ fee: undefined }, /like --base .* found --base \S+ --quote \S+$/],
            [{ base: '1' }, /--base: expected at most the amount of the order/],
            [{ quote: '1' }, /--quote: expected at least/],
          ] as const)),
    ] as const)
      await expect(settleHedge(stateDir, { ...ask, ...change } as never, realClock())).rejects.toThrow(says);
    await settleHedge(stateDir, ask, realClock());
    // A request lives 5 s there, and the lists may be 2 s late.
    const stateOf = () => hedgesIn(stateDir).find(({ id }) => id === row!.id)!;
    await clock.advance(3_000);
    expect(mayStillExecute(stateOf())).toBe(true);
    await clock.advance(20_000);
    const why = `settled as ${as} by ann: listed in its history`;
    expect(stateOf()).toMatchObject({ state: as === 'executed' ? 'completed' : 'failed', why });
    expect(new NumberedMailbox(stateDir, 'settle').waiting()).toEqual([]);
    // What was not executed is hedged again.
    mute.is = false;
    const { summary, openHedge, failure } = await run.stop();
    expect([openHedge, failure, summary.halted, summary.ledgerMatches]).toEqual([undefined, null, undefined, true]);
    const number = recordingsIn(stateDir)[0]!.run;
    const setup = recordedConfig(readRecording(stateDir, number)!.of.setup);
    expect(replayRun(stateDir, number, engineOf(setup, firstRules(stateDir, number)!, number)).difference).toBeNull();
  },
);

test('one lost answer about the rules there does not end a start; two in sequence do', async () => {
  for (const lost of [1, 2]) {
    const at = worldOf(7, {}, 'elsewhere');
    world = at;
    let asked = 0;
    const starting = started(at, {
      fateThere: ({ target }) => (target.includes('/commission') && asked++ < lost ? 'lost' : 'arrives'),
    });
    if (lost < 2) await (await starting).stop();
    else
      await expect(starting).rejects.toMatchObject({
        message: expect.stringMatching(/binance \(section elsewhere\): cannot read fees: no answer/) as string,
        mayPass: true,
      });
    expect(asked).toBe(2);
    at.end();
  }
});

test('a rate limit there ends a start for the time being, with its own text and remedy', async () => {
  const at = worldOf(7, {}, 'elsewhere');
  world = at;
  let asked = 0;
  const body = JSON.stringify({ code: -1003, msg: 'Too much request weight used' });
  const limited = { instead: { status: 429, headers: { 'retry-after': '120' }, body } };
  const starting = started(at, {
    fateThere: ({ target }) => (target.includes('/commission') ? (asked++, limited) : 'arrives'),
  });
  await expect(starting).rejects.toMatchObject({
    message: expect.stringMatching(/^binance \(section elsewhere\): cannot read fees: .*-1003: Too much/) as string,
    mayPass: true,
    remedy: expect.stringMatching(/^wait until the exchange accepts requests/) as string,
  });
  expect(asked).toBe(1);
});

test('what the operator sends from there and books as in transit is not hedged, before and after its arrival', async () => {
  const at = worldOf(7, { hedge: { everyMs: 1_000 } }, 'elsewhere');
  world = at;
  const { box, clock, stateDir } = at;
  const orders: WireRequest[] = [];
  const run = await started(at, {
    fateThere: request => {
      if (isOrder(request)) orders.push(request);
      return 'arrives';
    },
  });
  const [home, there] = [box, box.second!].map(({ exchange, account }) => exchange.venue.accounts.get(account.id)!);
  await clock.advance(20_000);
  expect(box.second!.exchange.venue.withdraw(there!, 'btc', moneyOf('0.3'))).toBe(true);
  await clock.advance(15_000);
  const ask = { currency: 'btc@binance', amount: '-0.3', reason: 'sent home', by: 'ann', inTransit: true };
  await expect(adjust(stateDir, { ...ask, currency: 'mxn' }, clock)).rejects.toThrow(
    /^--in-transit: expected a currency that both exchanges can have, one of btc, btc@binance, .*, found mxn$/,
  );
  expect(await adjust(stateDir, ask, clock)).toMatch(/^requested: an adjustment of -0\.3 btc@binance in transit; /);
  expect(await adjust(stateDir, ask, clock)).toMatch(/^requested: /);
  await expect(adjust(stateDir, { ...ask, inTransit: false }, clock)).rejects.toThrow(
    /^--in-transit: a pending request/,
  );
  // An amount that was never sent can be booked as in transit, and taken back.
  for (const amount of ['0.01', '-0.01'])
    await adjust(stateDir, { ...ask, currency: 'btc@transit', amount, inTransit: false }, clock);
  await clock.advance(15_000);
  const inTransit = () => run.log.filter(({ text }) => text.includes('in transit now: ')).map(({ text }) => text);
  // Requests of one moment have no order.
  expect(inTransit()).toContainEqual(expect.stringMatching(/-0\.3 btc@binance; /));
  expect(inTransit().at(-1)).toMatch(/in transit now: 0\.3 btc$/);
  box.exchange.venue.deposit(home!, 'btc', moneyOf('0.2999'), 'funding');
  await clock.advance(90_000);
  const { summary } = await run.stop();
  expect([summary.ledgerMatches, summary.halted]).toEqual([true, undefined]);
  // Fills are hedged meanwhile, which are smaller by far.
  const sizes = orders.map(({ body = '' }) => Number(new URLSearchParams(String(body)).get('quantity')));
  expect(Math.max(0, ...sizes)).toBeLessThan(0.1);
});

test('what is said to be in transit is refused by a bot without another exchange, and the ledger stays', async () => {
  const at = worldOf(7);
  world = at;
  const run = await started(at);
  await at.clock.advance(10_000);
  const ask = { currency: 'btc', amount: '-0.3', reason: 'sent', by: 'ann', inTransit: true };
  await expect(adjust(at.stateDir, ask, at.clock)).rejects.toThrow(
    /no account on another exchange \(hedge\.elsewhere\); omit --in-transit$/,
  );
  const box = new NumberedMailbox(at.stateDir, 'adjust');
  box.put({ ...ask, id: 'a0a0a0a0-1', at: at.clock.now(), amount: moneyOf(ask.amount) });
  await at.clock.advance(10_000);
  expect(box.waiting()).toEqual([]);
  const { summary } = await run.stop();
  expect(summary.ledgerMatches).toBe(true);
  expect(run.log.map(({ text }) => text)).toContainEqual(
    expect.stringMatching(
      /^not booked: -0\.3 btc in transit \(ann: sent\), because this bot does not hedge on another exchange .* without --in-transit$/,
    ),
  );
});

/** Tries the smallest order on the bot's own exchange; returns the finding and the texts of the log. */
async function tried({ box, clock, config, seed, stateDir }: World) {
  const { instrument } = firstRules(stateDir, recordingsIn(stateDir)[0]!.run)!;
  let isOver = false;
  const log: string[] = [];
  const trial = tryOrder(
    { instrument, side: 'buy', lots: amountFloor(instrument, '0.001'), others: [], text: 'the smallest order' },
    {
      ...{ config, clock, seed, version: 'test', which: { stateDir }, onStarted: () => undefined },
      log: heardLog(({ text }) => void log.push(text)),
      venue: {
        ...{ restUrl: 'http://127.0.0.1/api', key: box.account.key, secret: new Secret(box.account.secret), speed: 1 },
        transport: wireTo({
          exchange: box.exchange,
          ...{ clock, random: randomOf(seed), deadlineMs: config.exchange.requestTimeoutMs },
        }),
      },
    },
  ).finally(() => (isOver = true));
  await advanceUntil(clock, 500, () => isOver);
  return { ...(await trial).finding, log };
}

test('a trial order leaves transfers between both exchanges and bookings to the next run, which hedges none of them', async () => {
  const at = worldOf(7, { hedge: { everyMs: 1_000 } }, 'elsewhere');
  world = at;
  const { box, clock, stateDir } = at;
  const first = await started(at);
  await clock.advance(20_000);
  await first.stop();
  const before = (await ledgerFileIn(stateDir, realClock()))!.entries.length;
  const home = box.exchange.venue.accounts.get(box.account.id)!;
  expect(box.exchange.venue.withdraw(home, 'btc', moneyOf('0.3'))).toBe(true);
  const ask = { currency: 'btc@binance', amount: '-0.0001', reason: 'fee there', by: 'ann' };
  await adjust(stateDir, ask, clock);

  const { result, says, todo, log } = await tried(at);
  expect([result, says]).toEqual(['fail', expect.stringMatching(/^trial order not sent: (?!stopping)/)]);
  expect(todo).toMatch(/start the bot, which books pending transfers/);
  expect(log.join('\n')).not.toMatch(/booked under/);
  const after = (await ledgerFileIn(stateDir, realClock()))!;
  expect(after.entries).toHaveLength(before);
  expect(new NumberedMailbox(stateDir, 'adjust').waiting()).toHaveLength(1);

  const orders: WireRequest[] = [];
  const second = await started(at, {
    fateThere: request => {
      if (isOrder(request)) orders.push(request);
      return 'arrives';
    },
  });
  await clock.advance(60_000);
  expect(second.log.map(({ text }) => text)).toContainEqual(
    expect.stringMatching(/-0\.3 btc; in transit now: 0\.3 btc$/),
  );
  const sizes = orders.map(({ body = '' }) => Number(new URLSearchParams(String(body)).get('quantity')));
  expect(Math.max(0, ...sizes)).toBeLessThan(0.1);
  await second.stop();
});

test('a trial order of a bot that is about to hedge on another exchange leaves bookings to it too', async () => {
  const at = worldOf(7, {}, 'elsewhere');
  world = at;
  const { clock, stateDir, config } = at;
  const alone = await started(at, { config: withoutElsewhere(config) });
  await clock.advance(20_000);
  await alone.stop();
  const ask = { currency: 'btc', amount: '-0.0001', reason: 'fee of a transfer', by: 'ann' };
  await adjust(stateDir, ask, clock);
  const { result, says } = await tried(at);
  expect([result, says]).toEqual(['pass', expect.stringContaining('accepted and canceled')]);
  expect(new NumberedMailbox(stateDir, 'adjust').waiting()).toHaveLength(1);
});

test('a trial order that is not sent because a transfer is in doubt says so, as the bot does at its start', async () => {
  const at = worldOf(7, {}, 'elsewhere');
  world = at;
  const { clock, stateDir } = at;
  const first = await started(at);
  await clock.advance(20_000);
  // A third exchange is not read, so that its departure may be older than the opening balances.
  const ask = { currency: 'btc@kraken', amount: moneyOf('-0.1'), reason: 'sent', by: 'ann', inTransit: true };
  new NumberedMailbox(stateDir, 'adjust').put({ ...ask, id: 'a0a0a0a0-2', at: clock.now() });
  await clock.advance(10_000);
  await first.stop();
  const doubt = '0\\.1 btc was sent to the other exchange, possibly before the bot read the opening balances there; ';
  expect((await tried(at)).says).toMatch(new RegExp(`^trial order not sent: ${doubt}`));
  const second = await started(at);
  await clock.advance(10_000);
  await second.stop();
  expect(second.log.map(({ text }) => text)).toContainEqual(
    expect.stringMatching(new RegExp(`^not quoting: not ready \\(${doubt}`)),
  );
});

test('puntas ledger compares each account at its own time, and says nothing of one that was not read', async () => {
  const at = worldOf(13, {}, 'elsewhere');
  world = at;
  const { clock, stateDir } = at;
  type Shown = {
    readonly comparedAt: string | null;
    readonly comparedThereAt: Readonly<Record<string, string | null>>;
    readonly currencies: Readonly<Record<string, Readonly<Record<string, string | null>>>>;
  };
  const shown = async () => {
    const [line = ''] = await ledger(stateDir, { entries: false, form: 'json' }, realClock());
    const { comparedAt, comparedThereAt, currencies } = JSON.parse(line) as Shown;
    const of = (name: string) => [
      currencies[name]!['exchange'] === currencies[name]!['closing'],
      currencies[name]!['difference'],
    ];
    return { comparedAt, there: comparedThereAt['binance'], btc: of('btc'), btcThere: of('btc@binance') };
  };
  const head = async () => (await ledger(stateDir, { entries: false, form: 'text' }, realClock()))[0];
  const csv = async () =>
    (await ledger(stateDir, { entries: false, form: 'csv' }, realClock())).find(row => row.startsWith('btc@'));
  let isMute = false;
  const fateThere = ({ target }: WireRequest): Fate =>
    isMute && target.includes('/account?') ? 'not sent' : 'arrives';
  const first = await started(at, { fateThere });
  await clock.advance(30_000);
  isMute = true;
  await clock.advance(80_000);
  const late = await shown();
  expect([late.btc, late.btcThere]).toEqual([
    [true, '0'],
    [true, '0'],
  ]);
  expect(Date.parse(late.comparedAt!) - Date.parse(late.there!)).toBeGreaterThan(30_000);
  expect(await head()).toMatch(/; balances compared with the exchange at (\S+), with binance at (?!\1)\S+$/);
  await first.stop();
  const second = await started(at, { fateThere });
  await clock.advance(30_000);
  const { btc, btcThere, there } = await shown();
  expect([btc, btcThere, there]).toEqual([[true, '0'], [false, null], null]);
  expect(await head()).toMatch(/; balances compared with the exchange at .*, not yet with binance$/);
  expect(await csv()).toMatch(/,,$/);
  isMute = false;
  await clock.advance(30_000);
  expect((await shown()).btcThere).toEqual([true, '0']);
  await second.stop();
});

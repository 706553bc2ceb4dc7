import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { askReload } from '../../../src/app/actions/askReload.ts';
import { digestOf } from '../../../src/app/run/reloading.ts';
import { randomOf, textOfMoney, type Random, type WireRequest } from '../../../src/core/index.ts';
import { readRecording, recordingsIn } from '../../../src/live/recording/recordings.ts';
import { ledgerFileIn } from '../../../src/live/state/ledgerFile.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { ReloadBox, RequestBox } from '../../../src/live/mailbox/mailbox.ts';
import { accountName } from '../../../src/wiring/elsewhere/access.ts';
import { recordTrial } from '../../../src/app/untried/untried.ts';
import { few } from '../../many.ts';
import type { Fate } from '../inProcess.ts';
import type { RunChanges } from '../world.ts';
import { ReloadedBot, type Tree } from './reloadedBot.ts';

const SECOND = 1_000;

async function botOf(seed: number, changes: RunChanges = {}): Promise<ReloadedBot> {
  const bot = new ReloadedBot(seed);
  await bot.start(changes);
  return bot;
}

const spreadOf = (bot: ReloadedBot): number => {
  const of = (side: string) =>
    bot
      .ours()
      .filter(order => order.side === side)
      .map(({ price }) => price);
  return Math.min(...of('sell')) - Math.max(...of('buy'));
};

describe('a new configuration for a bot that runs', () => {
  test('is shown with the quotes before and after, and changes nothing while it is only shown', async () => {
    const bot = await botOf(91);
    bot.change({ strategy: { halfSpreadBps: 40 } });
    const answer = await bot.ask(true);
    expect(answer.end).toBe('shown');
    expect(answer.lines[0]).toBe('strategy.halfSpreadBps: 16 -> 40');
    expect(answer.lines.filter(line => /^ {2}(ask|bid) \d {2}\S+ at \d+ +\S+ at \d+$/.test(line))).toHaveLength(6);
    expect(recordingsIn(bot.world.stateDir)).toHaveLength(1);
    expect(await bot.away(10)).toBe(0);
    // Its log does not read like a reload, also if nothing has changed, or if the file is refused.
    for (const [change, end] of [
      [{ strategy: { halfSpreadBps: 16 } }, 'nothing to do'],
      [{ state: { dir: './elsewhere' } }, 'kept'],
    ] as const) {
      bot.change(change);
      expect((await bot.ask(true)).end).toBe(end);
    }
    const said = bot.running.log.map(({ text }) => text).filter(text => text.startsWith('reload'));
    expect(said).toEqual(['reload: previewed', 'reload: previewed', 'reload: previewed']);
    await bot.end();
  });

  test('is taken at a change of runs, quotes as it was shown, and is the recorded one from there on', async () => {
    const bot = await botOf(92);
    bot.change({ strategy: { halfSpreadBps: 40 } });
    const narrow = spreadOf(bot);
    const [answer, away] = await Promise.all([bot.ask(), bot.away(10)]);
    expect(answer.end).toBe('taken');
    expect(answer.lines.at(-1)).toMatch(/^applied: run \d+ resumed with the new configuration after \d\.\d s$/);
    expect(away).toBeLessThan(4);
    expect(spreadOf(bot)).toBeGreaterThan(2 * narrow);
    const last = recordingsIn(bot.world.stateDir).at(-1)!.run;
    expect(JSON.parse(readRecording(bot.world.stateDir, last)!.of.setup)).toEqual(bot.read().config);
    const kept = readFileSync(join(bot.world.stateDir, 'reloads.jsonl'), 'utf8').trim().split('\n');
    expect(kept.map(line => JSON.parse(line) as object)).toMatchObject([
      { by: 'ann', reason: 'a test', end: 'taken', changes: [{ key: 'strategy.halfSpreadBps', to: '40' }] },
    ]);
    await bot.end();
  });

  test('is noted at a restart with its digest, once, and not at a restart without one', async () => {
    const bot = await botOf(94);
    const { stateDir } = bot.world;
    const notes = () =>
      existsSync(join(stateDir, 'reloads.jsonl'))
        ? readFileSync(join(stateDir, 'reloads.jsonl'), 'utf8').trim().split('\n')
        : [];
    const again = async () => {
      await bot.running.stop();
      await bot.start();
    };
    await again();
    expect(notes()).toEqual([]);
    bot.change({ strategy: { halfSpreadBps: 40 } });
    await bot.running.stop();
    await bot.world.clock.advance(600 * SECOND);
    const stopped = (await ledgerFileIn(stateDir, bot.world.clock))!.profit!;
    await bot.start();
    await again();
    const [note, ...others] = notes().map(line => JSON.parse(line) as { profit: { at: number; twiceMid: string } });
    // The previous configuration has the price move of the stop: the profit is valued at a mid price of the new run.
    expect(note!.profit.twiceMid).not.toBe(textOfMoney(stopped.twiceMid!));
    expect(note!.profit.at).toBeGreaterThan(stopped.at! + 600 * SECOND - 1);
    expect(others).toEqual([]);
    expect(note).toMatchObject({
      ...{ by: 'start', reason: 'restart', end: 'started', digest: digestOf(bot.text) },
      changes: [{ key: 'strategy.halfSpreadBps', from: '16', to: '40' }],
      ...{ run: recordingsIn(stateDir).at(-2)!.run, profit: { profit: {} } },
    });
    await bot.end();
  });

  test('of the log alone is taken at once: no quote moves', async () => {
    const bot = await botOf(93);
    bot.change({ log: { level: 'warn' } });
    expect((await bot.ask()).lines).toEqual(['log.level: "info" -> "warn"', 'applied; no quote was moved']);
    expect(recordingsIn(bot.world.stateDir)).toHaveLength(1);
    expect(await bot.ask()).toMatchObject({ end: 'nothing to do' });
    await bot.running.stop();
    await bot.start();
    // A restart does not find the change again.
    expect(readFileSync(join(bot.world.stateDir, 'reloads.jsonl'), 'utf8').trim().split('\n')).toHaveLength(1);
    await bot.end();
  });

  test('of the log alone is in the next recording, whatever ends the run', async () => {
    const bot = await botOf(96);
    const { stateDir, clock } = bot.world;
    bot.change({ log: { level: 'warn' } });
    await bot.ask();
    new RequestBox(stateDir, 'cancel', 'cancelAnswer').put({ id: 'c-1', at: clock.now(), by: 'ann', reason: 'a test' });
    await clock.advance(20 * SECOND);
    expect(recordingsIn(stateDir)).toHaveLength(2);
    const { run } = recordingsIn(stateDir).at(-1)!;
    expect(JSON.parse(readRecording(stateDir, run)!.of.setup)).toEqual(bot.read().config);
    await bot.end();
  });

  test('of what recordings may take holds for those of earlier runs from there on', async () => {
    const bot = await botOf(98);
    const bytes = () => recordingsIn(bot.world.stateDir).reduce((sum, each) => sum + each.bytes, 0);
    await bot.world.clock.advance(800 * SECOND);
    expect(bytes()).toBeGreaterThan(100_000);
    bot.change({ journal: { keepMb: 0.1 } });
    expect((await bot.ask()).end).toBe('taken');
    expect(bytes()).toBeLessThanOrEqual(100_000);
    await bot.end();
  });

  test.each([
    ['an unknown key', { strategy: { halfSpreadBpz: 1 } }, /strategy.halfSpreadBpz: unknown key; did you mean/],
    ['a bad value', { limits: { ordersMax: -1 } }, /limits.ordersMax/],
    ['what contradicts itself', { limits: { ordersMax: 2 } }, /ordersMax/],
    ['the instance', { instance: 'other' }, /^instance: "demo" -> "other": takes effect only after a restart$/],
    ['the exchange', { exchange: { seed: 6 } }, /^exchange.seed: 5 -> 6: takes effect only after a restart$/],
    ['a spread that cannot pay the fee', { strategy: { halfSpreadBps: 9 } }, /widen the spread to at least 21 bps/],
    ['orders that cannot be', { strategy: { amount: '0.00000001', levelAmountStep: '0' } }, /the bot would not quote/],
  ])('with %s is refused by name, whole, and nothing moves', async (_, changes, told) => {
    const bot = await botOf(94);
    bot.change({ strategy: { levelSpacingBps: 7 } });
    bot.change(changes as unknown as Tree);
    const answer = await bot.ask();
    expect(answer.end).toBe('kept');
    expect(answer.lines.some(line => told.test(line))).toBe(true);
    expect(answer.lines.at(-1)).toBe('no change was applied; the previous configuration stays in force');
    expect(recordingsIn(bot.world.stateDir)).toHaveLength(1);
    expect(await bot.away(10)).toBe(0);
    await bot.end();
  });

  test('is refused when the file is not what the person read', async () => {
    const bot = await botOf(95);
    bot.change({ strategy: { levels: 2 } });
    expect((await bot.ask(false, digestOf('something else'))).lines[0]).toMatch(/differs from the previewed file/);
    expect((await bot.ask(false, digestOf(bot.text))).end).toBe('taken');
    await bot.end();
  });

  test.each([
    [
      'a limit below what is held',
      { limits: { positionMax: '0.0101' }, strategy: { amount: '0.001' } },
      /inventory|position/,
    ],
    ['a loss limit below what was lost', { limits: { drawdownMax: '0.01', dayLossMax: '0.01' } }, /drawdown|loss/i],
  ])('with %s would halt at once: kept out with the reason, also when it is only shown', async (_, changes, told) => {
    const bot = await botOf(91);
    // Until something is held, and something lost.
    await bot.world.clock.advance(400 * SECOND);
    bot.change(changes);
    for (const isPreview of [true, false]) {
      const answer = await bot.ask(isPreview);
      expect(answer.end, answer.lines.join('; ')).toBe('kept');
      expect(answer.lines[0]).toMatch(/^the bot would halt immediately: /);
      expect(answer.lines[0]).toMatch(told);
    }
    expect(await bot.away(10)).toBe(0);
    expect(latchIn(bot.world.stateDir).read()).toBeNull();
    await bot.end();
  });

  test('by SIGHUP is the same, told in the log', async () => {
    const bot = await botOf(96);
    bot.change({ strategy: { levels: 1 } });
    bot.running.hangUp();
    await bot.world.clock.advance(10 * SECOND);
    expect(bot.ours()).toHaveLength(2);
    const texts = bot.running.log.map(({ text }) => text);
    expect(texts).toContain('reload: strategy.levels: 3 -> 1');
    expect(texts.some(text => /^reload: applied: run \d+/.test(text))).toBe(true);
    bot.change({ instance: 'x' } as unknown as Tree);
    bot.running.hangUp();
    await bot.world.clock.advance(SECOND);
    expect(bot.running.log.at(-1)).toMatchObject({ level: 'warn' });
    expect(bot.running.log.at(-1)!.text).toMatch(/^reload: instance: "demo" -> "x": takes effect only after a restart/);
    await bot.end();
  });

  test('that is kept out, because an order stays unknown for two minutes or the rules cannot be read, is a change as before for the next request', async () => {
    let fate = (_: WireRequest): Fate => 'arrives';
    const bot = await botOf(97, { fate: request => fate(request) });
    bot.change({ strategy: { levels: 2 } });
    // The exchange cancels every order, and those that the bot places instead never arrive.
    fate = ({ method }) => (method === 'POST' ? 'lost' : 'arrives');
    const { box } = bot.world;
    for (const order of [...box.exchange.venue.accounts.get(box.account.id)!.active.values()])
      box.exchange.venue.cancel(order);
    await bot.world.clock.advance(5 * SECOND);
    for (const [lost, why] of [
      [/\/orders/, /^the next run could not start within 120 s, because the outcome of a request stayed unknown/],
      [/./, /^cannot read/],
    ] as const) {
      fate = ({ target }) => (lost.test(target) ? 'lost' : 'arrives');
      const answer = await bot.ask();
      expect(answer.end).toBe('kept');
      expect(
        answer.lines.some(line => why.test(line)),
        answer.lines.join('; '),
      ).toBe(true);
    }
    fate = () => 'arrives';
    await bot.world.clock.advance(60 * SECOND);
    const { end, lines } = await bot.ask();
    expect(end, lines.join('; ')).toBe('taken');
    expect(lines[0]).toBe('strategy.levels: 3 -> 2');
    await bot.end();
  });

  test('a stop while it is under way leaves nothing', async () => {
    const bot = await botOf(99);
    bot.change({ strategy: { levels: 2 } });
    bot.running.hangUp();
    await bot.world.clock.advance(300);
    await bot.end();
  });
});

test('a second command leaves the request of another, which waits, as it is', async () => {
  const bot = new ReloadedBot(100);
  const { clock, stateDir } = bot.world;
  const config = join(stateDir, 'my.yaml');
  writeFileSync(config, bot.text);
  const box = new ReloadBox(stateDir);
  box.put({ id: 'bobs', at: clock.now(), by: 'bob', reason: '', digest: null, isPreview: false });
  const asked = { config, paper: false, preview: false, reason: '', by: 'ann', id: 'anns' };
  await expect(askReload(asked, clock)).rejects.toThrow(/a request by bob is still pending/);
  expect(box.waiting()?.id).toBe('bobs');
  bot.world.end();
});

/** One change, and whether it must be taken. */
function drawn(random: Random): { readonly changes: Tree | string; readonly isGood: boolean } {
  const pick = <T>(from: readonly T[]): T => from[random.integer(0, from.length - 1)]!;
  const good = (): Tree =>
    pick<() => Tree>([
      () => ({ strategy: { halfSpreadBps: random.integer(11, 40) } }),
      () => ({ strategy: { levels: random.integer(1, 4), amount: `0.00${random.integer(2, 9)}` } }),
      () => ({ strategy: { levelSpacingBps: random.integer(3, 12), refreshToleranceBps: random.integer(1, 6) } }),
      () => ({ limits: { positionMax: `0.${random.integer(1, 9)}`, collarBps: random.integer(150, 300) } }),
      () => ({ timing: { decideEveryMs: random.integer(200, 2_000), privatePollMs: random.integer(1_000, 3_000) } }),
      () => ({ regimes: pick([{ calmMs: 60_000 }, { leaveShare: 0.5 }]) }),
    ])();
  if (random.next() < 0.6) return { changes: good(), isGood: true };
  const bad = pick<Tree | string>([
    'book: [',
    { strategy: { levelz: 1 } },
    { strategy: { halfSpreadBps: 8 } },
    { limits: { ordersMax: 0 } },
    { book: 'eth_mxn' } as unknown as Tree,
    { instance: 'other' } as unknown as Tree,
    { exchange: { engineDelayMs: 20 } },
  ]);
  // With something good beside it: whole or not at all.
  return { changes: typeof bad === 'string' ? bad : { ...good(), ...bad }, isGood: false };
}

test.each(few([1, 2], 1))(
  'a dozen random ones, good and bad, of seed %i: each run has one of them whole',
  async seed => {
    const bot = await botOf(200 + seed);
    const random = randomOf(seed);
    let away = 0;
    let taken = 0;
    for (let i = 0; i < 12; i++) {
      const before = bot.text;
      const { changes, isGood } = drawn(random);
      if (typeof changes === 'string') bot.text = changes;
      else bot.change(changes);
      const runs = recordingsIn(bot.world.stateDir).length;
      const [answer, gone] = await Promise.all([bot.ask(), bot.away(random.integer(4, 9))]);
      // Drawn as it was already: nothing to do.
      const ends = isGood ? ['taken', 'nothing to do'] : ['kept'];
      expect(ends, `seed ${seed}, change ${i}: ${JSON.stringify(changes)}`).toContain(answer.end);
      if (answer.end === 'taken') taken++;
      away = Math.max(away, gone);
      expect(recordingsIn(bot.world.stateDir)).toHaveLength(answer.end === 'taken' ? runs + 1 : runs);
      if (!isGood) bot.text = before;
      const last = recordingsIn(bot.world.stateDir).at(-1)!.run;
      expect(JSON.parse(readRecording(bot.world.stateDir, last)!.of.setup)).toEqual(bot.read().config);
    }
    expect(taken).toBeGreaterThan(2);
    expect(away).toBeLessThan(8);
    await bot.end();
  },
);

test.each([
  ['', true, 'add acceptUntried: binance to the section elsewhere'],
  ['binance', false, 'elsewhere: no passed trial order at binance with this address and API key is recorded in'],
  ['binance', true, null],
] as const)(
  'hedges on an exchange that was tried on doubles only, accepted by %j and with a recorded trial order (%s), are refused: %s',
  async (acceptUntried, isTried, refused) => {
    const bot = new ReloadedBot(7, 'elsewhere');
    const { hedge } = parse(bot.text) as Tree;
    const remote = { kind: 'remote', restUrl: 'https://example.com' };
    const accepted = acceptUntried === '' ? {} : { acceptUntried };
    const tree = parse(bot.text) as Tree;
    delete tree['hedge'];
    const elsewhere = { ...remote, venue: 'binance', book: 'btc_usdt', ...accepted };
    bot.text = stringify({ ...tree, exchange: remote, elsewhere });
    await bot.start();
    const { account } = bot.world.box.second!;
    const access = accountName({ restUrl: 'http://127.0.0.1', key: account.key });
    if (isTried)
      recordTrial(bot.world.stateDir, { section: 'elsewhere', name: 'binance', account: access }, 'accepted', 0);
    bot.change({ hedge: hedge! });
    for (const isPreview of [true, false]) {
      const answer = await bot.ask(isPreview);
      expect(answer.end).toBe(refused === null ? (isPreview ? 'shown' : 'taken') : 'kept');
      if (refused !== null) expect(answer.lines.join('\n')).toContain(refused);
    }
    await bot.running.stop();
    bot.world.end();
  },
);

/** The kill command: it latches, takes the bot's orders out beside the bot and after it, and says what may be left. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { clientOf } from '../../../src/wiring/bot.ts';
import { cancelOwn, latchHalt, nothingToCancel } from '../../../src/app/inspect/halt.ts';
import { lastConfigOf } from '../../../src/app/inspect/botOfFolder.ts';
import { randomOf, Secret, type WireRequest } from '../../../src/core/index.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { wireTo, type Fate } from '../inProcess.ts';
import { memoryLog } from '../../memoryLog.ts';
import { started, worldOf, type World } from '../world.ts';
import { testInMany } from '../../many.ts';

const SECOND = 1_000;
const ours = (world: World) =>
  [...world.box.exchange.venue.accounts.get(world.box.account.id)!.active.values()].flatMap(({ originId }) =>
    originId?.startsWith('demo-') === true ? [originId] : [],
  );

/** Cancels with the bot's own key, over a wire of its own, while time passes. */
async function cancel(
  world: Pick<World, 'clock' | 'box' | 'config'>,
  fate: (request: WireRequest) => Fate = () => 'arrives',
) {
  const { clock, box, config } = world;
  const asked: WireRequest[] = [];
  const transport = wireTo({
    exchange: box.exchange,
    ...{ clock, random: randomOf(91), deadlineMs: config.exchange.requestTimeoutMs, fate },
    onArrival: request => void asked.push(request),
  });
  const { key, secret } = box.account;
  const venue = { restUrl: 'http://127.0.0.1/api', key, secret: new Secret(secret), speed: 1, transport };
  let done: Awaited<ReturnType<typeof cancelOwn>> | null = null;
  void cancelOwn(config, venue, clock, 6, memoryLog().log).then(result => (done = result));
  for (let s = 0; done === null && s < 400; s++) await clock.advance(SECOND);
  return { ...done!, asked };
}

describe('puntas halt', () => {
  test('takes out the orders of a bot that runs on, with its own key beside it, and the bot stays halted', async () => {
    const world = worldOf(71);
    const bot = await started(world);
    await world.clock.advance(20 * SECOND);
    expect(ours(world).length).toBeGreaterThan(0);
    const halted = latchHalt({ stateDir: world.stateDir, configFile: 'my.yaml' }, 'look at it', world.clock.now());
    expect([halted.code, halted.isLatched]).toEqual([0, true]);
    expect(halted.text).toMatch(/investigate, then resume with: puntas resume -c \S+\/my\.yaml --reason "\.\.\."$/);
    const { code, lines, asked } = await cancel(world);
    expect([code, ours(world)]).toEqual([0, []]);
    expect(lines.join()).toMatch(/^verified: no open orders of demo left on btc_mxn/);
    expect(asked.filter(({ method }) => method === 'POST')).toEqual([]);
    expect(asked.some(({ method }) => method === 'DELETE')).toBe(true);
    await world.clock.advance(30 * SECOND);
    expect(ours(world)).toEqual([]);
    expect(latchHalt({ stateDir: world.stateDir }, 'once more', 0).text).toMatch(
      /trading is already halted by a person \(look at it/,
    );
    expect((await bot.stop()).failure).toBeNull();
    world.end();
  });

  test('with the file of another instance says which orders of the state it did not cancel, and ends as with orders left', async () => {
    const world = worldOf(78);
    const bot = await started(world);
    await world.clock.advance(20 * SECOND);
    const live = ours(world);
    expect(live.length).toBeGreaterThan(0);
    const { clock, box, config, stateDir } = world;
    const { code, lines } = await cancel({ clock, box, config: { ...config, instance: 'other' } });
    expect(code).toBe(3);
    expect(lines.slice(1, -1).sort()).toEqual(live.map(id => `order ${id} may still be open`).sort());
    expect(lines.at(-1)).toContain(
      `orders of an instance other than other; cancel them with  puntas halt --cancel --state ${stateDir}`,
    );
    expect(ours(world).length).toBeGreaterThan(0);
    await bot.stop();
    world.end();
  });

  test('is told before what it keeps back: a bot that decides right after it says that trading is halted, and tries nothing', async () => {
    const world = worldOf(77);
    const bot = await started(world);
    await world.clock.advance(20 * SECOND);
    const from = bot.log.length;
    latchHalt({ stateDir: world.stateDir, configFile: 'my.yaml' }, 'look at it', world.clock.now());
    // Its orders go, as a venue's own cancels do: it decides at once, long before it looks at the latch by itself.
    for (const order of [...world.box.exchange.venue.accounts.get(world.box.account.id)!.active.values()])
      world.box.exchange.venue.cancel(order);
    await world.clock.advance(6 * SECOND);
    const said = bot.log.slice(from).map(({ text }) => text);
    const refused = said.findIndex(text => /refused/.test(text));
    const halted = said.findIndex(text => /^halted: look at it/.test(text));
    expect(halted).toBeGreaterThanOrEqual(0);
    expect(refused === -1 || refused > halted).toBe(true);
    expect(said.filter(text => /^(?:quoting|nothing is quoted: .*refusals)/.test(text))).toEqual([]);
    await bot.stop();
    world.end();
  });

  test('works where each nonce must be higher than the last one of the key, and the bot was ahead of the clock', async () => {
    const world = worldOf(76);
    const { clock, box, config, stateDir } = world;
    const bot = await started(world);
    await clock.advance(20 * SECOND);
    await bot.stop();
    world.other().limit('btc_mxn', 'buy', '1000000', '0.001', { origin_id: 'demo-1-1' });
    box.exchange.venue.set({ nonce: 'v1' });
    const { key, secret } = box.account;
    const transport = wireTo({ exchange: box.exchange, clock, random: randomOf(92) });
    const venue = { restUrl: 'http://127.0.0.1/api', key, secret: new Secret(secret), speed: 1, transport };
    const ahead = clientOf(config, venue, clock, 9, {
      nonceAbove: BigInt(Math.floor(clock.now()) + 30 * SECOND) * 1_000_000n,
    });
    const asked = ahead.openOrders({ book: 'btc_mxn' });
    await clock.advance(SECOND);
    expect((await asked).kind).toBe('done');
    latchHalt({ stateDir }, 'look at it', 0);
    const { code } = await cancel(world);
    expect([code, ours(world)]).toEqual([0, []]);
    await ahead.close();
    world.end();
  });

  test('takes out what a killed bot left, also what arrives late, and knows the exchange from the state alone', async () => {
    const world = worldOf(72);
    const bot = await started(world);
    await world.clock.advance(20 * SECOND);
    expect(lastConfigOf(world.stateDir)).toEqual(world.config);
    await bot.stop();
    const left = world.other();
    left.limit('btc_mxn', 'buy', '1000000', '0.001', { origin_id: 'demo-1-1' });
    // As if it had been killed: its heart says nothing of a clean stop.
    latchHalt({ stateDir: world.stateDir }, 'killed, and not to come back', 0);
    writeFileSync(join(world.stateDir, 'heartbeat.json'), '{"counter":99,"state":"alive"}');
    world.clock.after(20 * SECOND, () => {
      left.limit('btc_mxn', 'buy', '1000000', '0.001', { origin_id: 'demo-1-2' });
    });
    const { code, lines } = await cancel(world);
    expect([code, ours(world)]).toEqual([0, []]);
    expect(lines.join()).toContain('(orders that were still open and were canceled: 2)');
    world.end();
  });

  test.each([
    ['alive', '{"counter":99,"state":"alive"}'],
    ['kept out', '{"counter":99,"state":"kept out"}'],
    ['in a state of another version', '{"counter":99,"state":"resting"}'],
    ['without a counter', '{"state":"stopped"}'],
    ['unreadable', '{"counter":99,"state":"sto'],
    ['missing', null],
  ])(
    'waits for what may still arrive of a bot unless it stopped cleanly: its heartbeat is %s',
    async (_, heartbeat) => {
      const world = worldOf(78);
      world.box.stop();
      if (heartbeat !== null) writeFileSync(join(world.stateDir, 'heartbeat.json'), heartbeat);
      const left = world.other();
      world.clock.after(world.config.timing.requestDelayMaxMs - 2 * SECOND, () => {
        left.limit('btc_mxn', 'buy', '1000000', '0.001', { origin_id: 'demo-1-2' });
      });
      const { code, lines } = await cancel(world);
      expect([code, ours(world)]).toEqual([0, []]);
      expect(lines.join()).toContain('(orders that were still open and were canceled: 1)');
      world.end();
    },
  );

  test('says what may be left when the exchange answers nothing, with code 3', async () => {
    const world = worldOf(73);
    const bot = await started(world);
    await world.clock.advance(20 * SECOND);
    const live = ours(world);
    const { code, lines } = await cancel(world, () => 'lost');
    expect(code).toBe(3);
    expect(lines[0]).toBe('open orders could not be read; see the log above');
    for (const id of live) expect(lines).toContain(`order ${id} may still be open`);
    await bot.stop();
    world.end();
  });

  test('cancels by what the state knows while no open orders can be read', async () => {
    const world = worldOf(74);
    const bot = await started(world);
    await world.clock.advance(20 * SECOND);
    expect(ours(world).length).toBeGreaterThan(0);
    latchHalt({ stateDir: world.stateDir }, 'look at it', 0);
    const locked = { status: 420, headers: {}, body: '{"success":false,"error":{"code":"0801","message":"locked"}}' };
    const { code } = await cancel(world, ({ method }) => (method === 'GET' ? { instead: locked } : 'arrives'));
    expect([code, ours(world)]).toEqual([3, []]);
    await bot.stop();
    world.end();
  });

  testInMany(
    'says that nothing can be verified behind a full list of orders of others, and what to do, with code 3',
    async () => {
      const world = worldOf(77);
      const bot = await started(world);
      await world.clock.advance(20 * SECOND);
      expect(ours(world).length).toBeGreaterThan(0);
      latchHalt({ stateDir: world.stateDir }, 'look at it', 0);
      // As an exchange answers that shows 500 orders and no more, the newest first.
      const other = world.other();
      other.limit('btc_mxn', 'buy', '1000000', '0.001', { origin_id: 'other-1' });
      const [row] = other.get<{ readonly origin_id: string }[]>('GET', '/api/v3/open_orders?book=btc_mxn&limit=1');
      expect(row?.origin_id).toBe('other-1');
      const body = JSON.stringify({ success: true, payload: Array.from({ length: 500 }, () => row) });
      const full = { status: 200, headers: {}, body };
      const { code, lines } = await cancel(world, ({ target }) =>
        /open_orders/.test(target) ? { instead: full } : 'arrives',
      );
      // Orders of the state were canceled and looked up one by one.
      expect([code, ours(world)]).toEqual([3, []]);
      expect(lines.join('\n')).toMatch(
        /^the list of open orders on btc_mxn is full of orders of other programs, and may omit orders of demo \(the \d+ known orders of demo were looked up one by one\); cancel some orders of the other programs, then run this command again, or check manually at the exchange\norders of demo may still be open on btc_mxn/,
      );
      expect(lines.join('\n')).not.toMatch(/order \S+ may still be open/);
      await bot.stop();
      world.end();
    },
  );

  test('wants a reason, and a bot; and has nothing to cancel where all ends with the process', () => {
    const world = worldOf(75);
    expect(() => latchHalt({ stateDir: world.stateDir }, 'no', 0)).toThrow(/--reason/);
    expect(() => latchHalt({ stateDir: `${world.stateDir}/none` }, 'look at it', 0)).toThrow(/no such folder/);
    expect(existsSync(`${world.stateDir}/none`)).toBe(false);
    expect(() => lastConfigOf(world.stateDir)).toThrow(/pass its YAML file with -c FILE/);
    expect(nothingToCancel(world.config, world.stateDir)).toMatch(/the embedded exchange is part of the bot's process/);
    expect(latchIn(world.stateDir).read()).toBeNull();
    world.end();
  });
});

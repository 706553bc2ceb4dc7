/** `puntas check` and `puntas doctor` of a bot with two exchanges: both count what both accounts hold, as a run does. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { botStatus } from '../../../src/app/actions/botStatus.ts';
import { doctor } from '../../../src/app/doctor/doctor.ts';
import { check } from '../../../src/app/inspect/check.ts';
import { adjust } from '../../../src/app/inspect/ledger.ts';
import { previewNow } from '../../../src/app/inspect/previewNow.ts';
import type { Config } from '../../../src/config.ts';
import { readRules } from '../../../src/live/loop/opening.ts';
import { clientOf } from '../../../src/wiring/bot.ts';
import { sourceAccessOf } from '../../../src/wiring/feeds.ts';
import { withoutPlace } from '../../../src/wiring/place.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { withVenue } from '../../../src/wiring/venueAccess.ts';
import { memoryLog } from '../../memoryLog.ts';
import { sandboxConfig, started, worldOf, type World } from '../../live/world.ts';

const dir = mkdtempSync(join(tmpdir(), 'puntas-check-there-'));
afterAll(() => rmSync(dir, { recursive: true }));
let world: World | null = null;
afterEach(() => world?.end());
const clock = realClock();
const openLog = () => memoryLog().log;

/** Inventory of a run before its first fill, and why it halted. */
async function inventoryOfRun(changes: Readonly<Record<string, unknown>>) {
  world = worldOf(7, changes, 'elsewhere');
  const run = await started(world);
  await world.clock.advance(2_000);
  const { run: status } = await botStatus(world.stateDir, clock);
  const { summary } = await run.stop();
  expect(status?.recorded.fills).toBe(0);
  return { inventory: Number(status?.recorded.inventory), halted: summary.halted };
}

test.each([
  // At its target, above it within the maximum position, and a mistake of a digit: home 2, there 3.
  ['3', '1.5', '1.5'],
  ['3', '1.5', '1.54'],
  ['10', '2', '3'],
])('with the target %s, %s here and %s there, the preview has the inventory and the halt of a run', async (...of) => {
  const [target, here, there] = of;
  const changes = {
    exchange: { balances: { btc: here, mxn: '2000000' } },
    elsewhere: { balances: { btc: there, usdt: '120000' } },
    hedge: { band: '0.05' },
    inventory: { target },
  };
  const config = sandboxConfig({ ...changes, state: { dir } }, 'elsewhere');
  const { text } = await withVenue(config, null, { speed: 1, openLog }, clock, venue =>
    check(config, venue, clock, 5, undefined),
  );
  const said = /^inventory on both exchanges: ([+-][\d.]+) btc from its target$/m.exec(text)?.[1];
  const halted = /^the bot would halt immediately after its start: (.*)$/m.exec(text)?.[1];
  expect({ inventory: Number(said), halted }).toEqual(await inventoryOfRun(changes));
});

test('what is in transit counts as in a run, also without hedges on the other exchange', async () => {
  const changes = {
    exchange: { balances: { btc: '1.5', mxn: '2000000' } },
    elsewhere: { balances: { btc: '1.54', usdt: '120000' } },
    hedge: { band: '0.05' },
    inventory: { target: '3' },
  };
  world = worldOf(7, changes, 'elsewhere');
  const { stateDir } = world;
  const run = await started(world);
  await world.clock.advance(2_000);
  const ask = { reason: 'left before the first run', by: 'ann', inTransit: false };
  await adjust(stateDir, { ...ask, currency: 'btc@transit', amount: '-0.03' }, clock);
  await world.clock.advance(2_000);
  const { run: status } = await botStatus(stateDir, clock);
  await run.stop();
  expect([status?.recorded.fills, status?.recorded.inventory]).toEqual([0, '0.01']);
  const config = sandboxConfig({ ...changes, state: { dir: stateDir } }, 'elsewhere');
  await withVenue(config, null, { speed: 1, openLog }, clock, async venue => {
    const { text } = await check(config, venue, clock, 5, undefined);
    expect(text).toContain('inventory on both exchanges: +0.01000000 btc from its target\n');
    // What the other exchange holds is in the ledger only, and the target is the stored one.
    const alone = withoutPlace(config);
    const client = clientOf(alone, venue, clock, 5);
    const rules = await readRules(client, alone.book);
    const access = { ...sourceAccessOf(venue, client), there: null };
    const position = async (of: Config) => (await previewNow(of, client, rules, clock, access)).riskContext.position;
    expect(await position(alone)).toBe(1_000_000);
    // Without the balances there, the preview is that of a bot at its target.
    expect(await position(config)).toBe(0);
    await client.close();
  });
});

test('doctor fails if the inventory of both exchanges would halt a run', async () => {
  const config = sandboxConfig({ inventory: { target: '10' }, state: { dir } }, 'elsewhere');
  const { findings } = await doctor({
    ...{ config, which: { configFile: undefined, stateDir: dir }, clock, seed: 5, version: 'test', openLog },
    tell: () => undefined,
    onStarted: () => undefined,
  });
  expect(findings.find(({ check }) => check === 'quotes')).toMatchObject({
    result: 'fail',
    says: expect.stringMatching(/would halt immediately after its start: position: -7 btc/) as string,
  });
});

/** `puntas check` and `puntas doctor` of a bot with two exchanges: both count what both accounts hold, as a run does. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { botStatus } from '../../../src/app/actions/botStatus.ts';
import { doctor } from '../../../src/app/doctor/doctor.ts';
import { adjust } from '../../../src/app/inspect/ledger.ts';
import { check } from '../../../src/app/doctor/check.ts';
import { money, moneyOf, textOfMoney } from '../../../src/core/index.ts';
import { NumberedMailbox } from '../../../src/live/mailbox/mailbox.ts';
import { STATE_FILE } from '../../../src/live/state/stateFile.ts';
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
  const { text } = await withVenue(config, [], { speed: 1, openLog }, clock, venue =>
    check(config, venue, clock, 5, undefined),
  );
  const said = /^inventory on both exchanges: ([+-][\d.]+) btc from its target$/m.exec(text)?.[1];
  const halted = /^the bot would halt immediately after its start: (.*)$/m.exec(text)?.[1];
  expect({ inventory: Number(said), halted }).toEqual(await inventoryOfRun(changes));
});

test('what a run counts in transit is named beside quotes that do not count it', async () => {
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
  const told: string[] = [];
  const checked = () =>
    withVenue(config, [], { speed: 1, openLog }, clock, async venue => {
      told.push(...(await check(config, venue, clock, 5, undefined)).text.split('\n'));
    });
  await checked();
  expect(told).toContain('inventory on both exchanges: +0.04000000 btc from its target');
  expect(told).toContain(
    `not counted in these quotes, but counted by a run: -0.03 btc in transit (from the ledger of ${stateDir})`,
  );
  const { findings } = await doctor({
    ...{ config, which: { configFile: undefined, stateDir }, clock, seed: 5, version: 'test', openLog },
    tell: () => undefined,
    onStarted: () => undefined,
  });
  expect(findings.map(({ says }) => says)).toContain(
    'the quotes above do not count -0.03 btc in transit, but a run does',
  );
  writeFileSync(join(stateDir, STATE_FILE), 'no database');
  await checked();
  expect(told.filter(line => line.startsWith('not counted in these quotes')).at(-1)).toMatch(
    /: any amounts on other exchanges \(the ledger of \S+ is unreadable: /,
  );
});

/** Rows of the ledger beyond both accounts, with the remedy that doctor names for each counted one. */
const ROWS: readonly (readonly (readonly [currency: string, amount: string, todo: RegExp | null])[])[] = [
  [
    ['btc@transit', '-0.03', /after the transfer has arrived/],
    ['usdt@transit', '500', null],
  ],
  [
    [
      'btc@kraken',
      '0.02',
      /^remove from the ledger any amount that is no longer at kraken, for example with puntas ledger adjust -c FILE --currency btc@kraken --amount=-0\.02 --reason "\.\.\."; /,
    ],
    ['usdt@kraken', '-12', null],
    ['eth@kraken', '3', null],
  ],
  [
    ['btc@kraken', '-0.02', /--amount=0\.02/],
    ['btc@transit', '0.01', /after the transfer has arrived/],
    ['mxn@transit', '7', null],
  ],
];

test.each(ROWS.map(rows => [rows.map(([currency, amount]) => `${amount} ${currency}`).join(', '), rows] as const))(
  'with %s in the ledger, the inventory of check and the amounts that it names are the inventory of a run',
  async (_, rows) => {
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
    const box = new NumberedMailbox(stateDir, 'adjust');
    for (const [n, [currency, amount]] of rows.entries())
      box.put({
        ...{ id: `a0a0a0a0-${n + 1}`, at: world.clock.now(), currency, amount: moneyOf(amount) },
        ...{ reason: 'left before the first run', by: 'ann' },
      });
    await world.clock.advance(2_000);
    const { run: status } = await botStatus(stateDir, clock);
    await run.stop();
    expect([status?.recorded.fills, box.waiting()]).toEqual([0, []]);
    const config = sandboxConfig({ ...changes, state: { dir: stateDir } }, 'elsewhere');
    const { text } = await withVenue(config, [], { speed: 1, openLog }, clock, venue =>
      check(config, venue, clock, 5, undefined),
    );
    const shown = /^inventory on both exchanges: ([+-][\d.]+) btc from its target$/m.exec(text)?.[1];
    const named = /^not counted in these quotes, but counted by a run: (.*) \(from/m.exec(text)?.[1] ?? '';
    const amounts = named.split(', ').map(each => /^(-?[\d.]+) btc (?:in transit|at \w+)$/.exec(each)?.[1]);
    const sum = [shown, ...amounts].reduce((all, each) => all + moneyOf((each ?? 'none').replace('+', '')), 0n);
    expect(textOfMoney(money(sum))).toBe(status?.recorded.inventory);
    const { findings } = await doctor({
      ...{ config, which: { configFile: undefined, stateDir }, clock, seed: 5, version: 'test', openLog },
      tell: () => undefined,
      onStarted: () => undefined,
    });
    const todo = findings.find(({ check: of }) => of === 'inventory')?.todo;
    for (const [, , says] of rows) if (says !== null) expect(todo).toMatch(says);
    expect(todo).not.toMatch(rows.some(([currency]) => currency === 'btc@transit') ? /usdt|mxn/ : /arrival|usdt|eth/);
  },
);

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

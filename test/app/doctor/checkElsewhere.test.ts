/** `puntas check` and `puntas doctor` of a bot with two exchanges: both count what both accounts hold, as a run does. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { botStatus } from '../../../src/app/actions/botStatus.ts';
import { doctor } from '../../../src/app/doctor/doctor.ts';
import { check } from '../../../src/app/doctor/check.ts';
import { moneyOf, randomOf, Secret, settle } from '../../../src/core/index.ts';
import { NumberedMailbox } from '../../../src/live/mailbox/mailbox.ts';
import { STATE_FILE } from '../../../src/live/state/stateFile.ts';
import { SECOND_VENUE } from '../../../src/sandbox/index.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { withVenue } from '../../../src/wiring/venueAccess.ts';
import { memoryLog } from '../../memoryLog.ts';
import { wireTo, type Wire } from '../../live/inProcess.ts';
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

const TWO = {
  exchange: { balances: { btc: '1.5', mxn: '2000000' } },
  elsewhere: { balances: { btc: '1.54', usdt: '120000' } },
  hedge: { band: '0.05' },
  inventory: { target: '3' },
};

/** Text that `puntas check` shows for the state and the exchanges of a world. */
async function checkIn({ box, clock, config, seed }: World): Promise<string> {
  const [wire, wireThere] = [box.exchange, box.second!.exchange].map((exchange, n) =>
    wireTo({ exchange, clock, random: randomOf(seed + n) }),
  ) as [Wire, Wire];
  let text: string | null = null;
  const asked = check(
    config,
    {
      ...{ restUrl: 'http://127.0.0.1/api', key: box.account.key, secret: new Secret(box.account.secret), speed: 1 },
      transport: wire,
      elsewhere: {
        ...{ venue: SECOND_VENUE, book: config.elsewhere!.book, restUrl: 'http://127.0.0.1', transport: wireThere },
        ...{ key: box.second!.account.key, secret: new Secret(box.second!.account.secret) },
      },
    },
    clock,
    5,
    undefined,
  ).then(result => (text = result.text));
  asked.catch(() => undefined);
  for (let turns = 0; text === null; turns++) {
    if (turns > 20_000) throw new Error('check did not end');
    await settle();
    if (text === null) clock.runNext();
  }
  return text;
}

const inventoryIn = (text: string): string | undefined =>
  /^inventory on both exchanges: ([+-][\d.]+) btc from its target$/m.exec(text)?.[1];

/** Passes the bookings of the operator to a bot, which books them when it runs. */
function asks({ stateDir, clock: time }: World, rows: readonly (readonly [currency: string, amount: string])[]): void {
  const box = new NumberedMailbox(stateDir, 'adjust');
  for (const [n, [currency, amount]] of rows.entries())
    box.put({
      ...{ id: `a0a0a0a0-${n + 1}`, at: time.now(), currency, amount: moneyOf(amount) },
      ...{ reason: 'left before the first run', by: 'ann' },
    });
}

function arrivesThere({ box }: World, btc: string): void {
  const { venue } = box.second!.exchange;
  venue.deposit(venue.accounts.get(box.second!.account.id)!, 'btc', moneyOf(btc));
}

/** Inventory that the next run of the world's state has before its first fill. */
async function inventoryOfNextRun(of: World): Promise<string | undefined> {
  const run = await started(of);
  await of.clock.advance(2_000);
  const { run: status } = await botStatus(of.stateDir, of.clock);
  await run.stop();
  expect(status?.recorded.fills).toBe(0);
  return status?.recorded.inventory;
}

/** Rows of the ledger beyond both accounts. */
const ROWS: readonly (readonly (readonly [currency: string, amount: string])[])[] = [
  [
    ['btc@transit', '-0.03'],
    ['usdt@transit', '500'],
  ],
  [
    ['btc@kraken', '0.02'],
    ['usdt@kraken', '-12'],
    ['eth@kraken', '3'],
  ],
  [
    ['btc@kraken', '-0.02'],
    ['btc@transit', '0.01'],
    ['mxn@transit', '7'],
  ],
];

test.each(ROWS.map(rows => [rows.map(([currency, amount]) => `${amount} ${currency}`).join(', '), rows] as const))(
  'with %s in the ledger, check shows the inventory and the quotes of the next run',
  async (_, rows) => {
    world = worldOf(7, TWO, 'elsewhere');
    const first = await started(world);
    await world.clock.advance(2_000);
    asks(world, rows);
    await world.clock.advance(2_000);
    await first.stop();
    const text = await checkIn(world);
    expect(text).not.toMatch(/^not counted in these quotes|^the balances differ/m);
    expect(Number(inventoryIn(text))).toBe(Number(await inventoryOfNextRun(world)));
  },
);

test('bookings of the operator that wait for the next run count in check, and remain for that run', async () => {
  world = worldOf(7, TWO, 'elsewhere');
  const first = await started(world);
  await world.clock.advance(2_000);
  await first.stop();
  asks(world, [
    ['btc@transit', '-0.03'],
    ['btc@kraken', '0.01'],
  ]);
  const text = await checkIn(world);
  expect(inventoryIn(text)).toBe('+0.02000000');
  expect(new NumberedMailbox(world.stateDir, 'adjust').waiting().length).toBe(2);
  expect(Number(await inventoryOfNextRun(world))).toBe(0.02);
});

test('what has left one exchange counts once in check, before and after it arrives at the other', async () => {
  world = worldOf(7, TWO, 'elsewhere');
  const first = await started(world);
  await world.clock.advance(2_000);
  asks(world, [['btc@transit', '0.03']]);
  await world.clock.advance(2_000);
  await first.stop();
  const before = await checkIn(world);
  arrivesThere(world, '0.03');
  const after = await checkIn(world);
  expect([before, after].map(inventoryIn)).toEqual(['+0.07000000', '+0.07000000']);
  expect(after).not.toMatch(/^the balances differ/m);
  expect(Number(await inventoryOfNextRun(world))).toBe(0.07);
});

test('a difference that no transfer explains is named, and check shows that a run would not quote', async () => {
  world = worldOf(7, TWO, 'elsewhere');
  const first = await started(world);
  await world.clock.advance(2_000);
  await first.stop();
  arrivesThere(world, '0.2');
  const text = await checkIn(world);
  expect(text).toMatch(/^the balances differ from the ledger of \S+ by 0\.2 btc@/m);
  expect(text).toMatch(/^no quote would be placed now \(not ready\)/m);
  expect(inventoryIn(text)).toBe('+0.04000000');
});

test('a currency there that fell to nothing is a difference, though the exchange lists it no more', async () => {
  const { elsewhere } = TWO;
  world = worldOf(7, { ...TWO, elsewhere: { balances: { ...elsewhere.balances, bnb: '0.75' } } }, 'elsewhere');
  const first = await started(world);
  await world.clock.advance(2_000);
  await first.stop();
  const { venue } = world.box.second!.exchange;
  venue.withdraw(venue.accounts.get(world.box.second!.account.id)!, 'bnb', moneyOf('0.75'));
  expect(await checkIn(world)).toMatch(/^the balances differ from the ledger of \S+ by -0\.75 bnb@/m);
});

test('the state of an embedded exchange that no longer exists is not counted, because no run continues it', async () => {
  world = worldOf(7, TWO, 'elsewhere');
  const first = await started(world);
  await world.clock.advance(2_000);
  asks(world, [['btc@transit', '-0.03']]);
  await world.clock.advance(2_000);
  await first.stop();
  const config = sandboxConfig({ ...TWO, state: { dir: world.stateDir } }, 'elsewhere');
  const { text } = await withVenue(config, [], { speed: 1, openLog }, clock, venue =>
    check(config, venue, clock, 5, undefined),
  );
  expect(text).not.toMatch(/^not counted/m);
  expect(inventoryIn(text)).toBe('+0.04000000');
});

test('a ledger that cannot be read is named beside quotes that do not count it, by check and doctor', async () => {
  const stateDir = mkdtempSync(join(dir, 'unreadable-'));
  const config = sandboxConfig({ ...TWO, state: { dir: stateDir } }, 'elsewhere');
  writeFileSync(join(stateDir, STATE_FILE), 'no database');
  const { text } = await withVenue(config, [], { speed: 1, openLog }, clock, venue =>
    check(config, venue, clock, 5, undefined),
  );
  expect(text).toMatch(
    /^not counted in these quotes, but counted by a run: any amounts on other exchanges \(the ledger of \S+ is unreadable: /m,
  );
  const { findings } = await doctor({
    ...{ config, which: { configFile: undefined, stateDir }, clock, seed: 5, version: 'test', openLog },
    tell: () => undefined,
    onStarted: () => undefined,
  });
  expect(findings.map(({ says }) => says)).toContainEqual(
    expect.stringMatching(/^the quotes above do not count any amounts on other exchanges/),
  );
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

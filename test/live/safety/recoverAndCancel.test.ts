import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/wiring/usageError.ts';
import type { WireRequest } from '../../../src/core/index.ts';
import { STATE_FILE } from '../../../src/live/state/journal.ts';
import { doomed, failedStart } from '../crashes.ts';
import type { Fate } from '../inProcess.ts';
import { Folders } from '../states.ts';
import { advanceUntil, started, worldOf, type World } from '../world.ts';

const folders = new Folders();
afterAll(() => folders.clear());

const SECOND = 1_000;
const remote = { exchange: { kind: 'remote' as const, restUrl: 'http://127.0.0.1' } };
const account = (world: World) => world.box.exchange.venue.accounts.get(world.box.account.id)!;
const ours = (world: World) =>
  [...account(world).active.values()].filter(order => order.originId?.startsWith('demo-') === true);

/** The end of a start on this folder, and what reached the exchange meanwhile. */
async function startOn(world: World, dir: string, fate: (request: WireRequest) => Fate = () => 'arrives') {
  const arrived: WireRequest[] = [];
  let over = false;
  const config = { ...world.config, state: { dir } };
  // As it would be against an exchange that has outlived the bot.
  const outside = { ...config, exchange: { ...config.exchange, ...remote } } as typeof config;
  const ended = started(world, { config: outside, fate, onArrival: request => void arrived.push(request) })
    .then(
      () => null,
      (error: unknown) => error,
    )
    .finally(() => (over = true));
  await advanceUntil(world.clock, SECOND, () => over);
  const error = await ended;
  if (!(error instanceof UsageError)) throw new Error(`expected an end with an exit code, found ${String(error)}`);
  return { error, arrived };
}

/** A folder as a killed bot left it, with its file damaged, and its orders alive. */
async function damaged(world: World) {
  const first = await doomed(world, folders);
  await world.clock.advance(30 * SECOND);
  const dir = first.kill();
  // A file whose log is whole mends itself.
  for (const name of readdirSync(dir)) if (name.startsWith(STATE_FILE)) rmSync(join(dir, name));
  writeFileSync(join(dir, STATE_FILE), 'no database '.repeat(1_000));
  expect(ours(world).length).toBeGreaterThan(3);
  return { first, dir };
}

describe('a start on a damaged state', () => {
  test("places nothing, takes every order of its name out, no one else's, and ends with code 1 and what to do", async () => {
    const world = worldOf(51);
    const { first, dir } = await damaged(world);
    const other = world.other();
    const theirs = [
      other.limit('btc_mxn', 'buy', '1000000', '0.001'),
      other.limit('btc_mxn', 'buy', '1000010', '0.001', { origin_id: 'demo2-1-1' }),
    ];
    const before = readFileSync(join(dir, STATE_FILE));
    const { error, arrived } = await startOn(world, dir);
    expect(error.code).toBe(1);
    expect(error.message).toMatch(
      /^the state file .*puntas\.db cannot be used: .*\. Puntas placed no order, canceled \d+ orders, and found no open order of demo in two reads\. To continue, check the orders and balances of the account, move .* away/,
    );
    expect(ours(world)).toEqual([]);
    expect([...account(world).active.keys()].sort()).toEqual([...theirs].sort());
    expect(arrived.filter(({ method }) => method === 'POST')).toEqual([]);
    // What is damaged stays as it was found.
    expect(readFileSync(join(dir, STATE_FILE)).equals(before)).toBe(true);
    await first.running.stop();
    world.end();
  });

  test('takes out what arrives while a request of before may still be held', async () => {
    const world = worldOf(52);
    const { first, dir } = await damaged(world);
    const late = world.other();
    world.clock.after(world.config.timing.requestDelayMaxMs - 2 * SECOND, () => {
      late.limit('btc_mxn', 'buy', '1000000', '0.001', { origin_id: 'demo-1-77' });
    });
    const { error } = await startOn(world, dir);
    expect(error.code).toBe(1);
    expect(ours(world)).toEqual([]);
    await first.running.stop();
    world.end();
  });

  test.each([
    [
      'cancels do not arrive',
      ({ method }: WireRequest) => (method === 'DELETE' ? 'lost' : 'arrives'),
      /orders of demo may still be open \(demo-/,
    ],
    ['nothing arrives', () => 'lost', /open orders could not be read/],
  ] as const)('ends in bounded time with code 3 when %s, and says what may be left', async (_, fate, says) => {
    const world = worldOf(53);
    const { first, dir } = await damaged(world);
    const from = world.clock.elapsed();
    const { error } = await startOn(world, dir, fate as (request: WireRequest) => Fate);
    const { requestDelayMaxMs, shutdownMs } = world.config.timing;
    expect(world.clock.elapsed() - from).toBeLessThan(requestDelayMaxMs + shutdownMs + 20 * SECOND);
    expect(error.code).toBe(3);
    expect(error.message).toMatch(says);
    expect(ours(world).length).toBeGreaterThan(0);
    await first.running.stop();
    world.end();
  });
});

test('a start after a kill with a secret that is refused asks no longer than a few reads: what was left is named, with code 3', async () => {
  const world = worldOf(54);
  const first = await doomed(world, folders);
  await world.clock.advance(30 * SECOND);
  const dir = first.kill();
  const left = ours(world).map(({ originId }) => originId!);
  expect(left.length).toBeGreaterThan(1);
  const asked: WireRequest[] = [];
  const from = world.clock.elapsed();
  const secret = 'of-another-key';
  const error = await failedStart(world, dir, { secret, onArrival: request => void asked.push(request) });
  if (!(error instanceof UsageError)) throw new Error(`expected an end with an exit code, found ${String(error)}`);
  expect(error.message).toMatch(/0215/);
  for (const id of left) expect(error.message).toContain(`order ${id} may still be open`);
  expect(error.code).toBe(3);
  expect(world.clock.elapsed() - from).toBeLessThan(10 * SECOND);
  expect(asked.filter(({ headers }) => headers['authorization'] !== undefined).length).toBeLessThan(10);
  await first.running.stop();
  world.end();
});

test.each<[string, Fate]>([
  ['has no answer', 'lost'],
  ['is refused', { instead: { status: 500, headers: {}, body: 'internal error' } }],
])(
  'a failed start cancels the orders of the last run though the list of open orders %s, and names them with code 3',
  async (_, list) => {
    const world = worldOf(55);
    const first = await doomed(world, folders);
    await world.clock.advance(30 * SECOND);
    const dir = first.kill();
    const left = ours(world).map(({ originId }) => originId!);
    expect(left.length).toBeGreaterThan(1);
    const error = await failedStart(world, dir, {
      refusal: new Error('refused by the test'),
      fate: ({ method }) => (method === 'GET' ? list : 'arrives'),
    });
    if (!(error instanceof UsageError)) throw new Error(`expected an end with an exit code, found ${String(error)}`);
    expect(ours(world)).toEqual([]);
    for (const id of left) expect(error.message).toContain(`order ${id} may still be open`);
    expect(error.code).toBe(3);
    await first.running.stop();
    world.end();
  },
);

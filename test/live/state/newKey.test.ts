/** A new key of the same account takes the state up, a key of another account does not: the exchange says whose it is. */
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openOwnState } from '../../../src/app/run/ownState.ts';
import { Secret } from '../../../src/core/index.ts';
import { closeDatabase, openDatabase, STATE_FILE } from '../../../src/live/state/journal.ts';
import type { Owner } from '../../../src/live/state/owner.ts';
import { sumOf } from '../../../src/live/state/rowChecksums.ts';
import { doomed, failedStart, restarted } from '../crashes.ts';
import { Folders } from '../states.ts';
import { worldOf, type World } from '../world.ts';

const folders = new Folders();
afterAll(() => folders.clear());

const SECOND = 1_000;

/** As it would be against an exchange that outlives the bot. */
const outside = ({ config }: World) =>
  ({
    ...config,
    exchange: { ...config.exchange, kind: 'remote', restUrl: 'http://127.0.0.1' },
  }) as unknown as World['config'];

async function killed(world: World): Promise<{ dir: string; end: () => Promise<unknown> }> {
  const first = await doomed(world, folders, undefined, { config: outside(world) });
  await world.clock.advance(30 * SECOND);
  return { dir: first.kill(), end: () => first.running.stop() };
}

function ownerOf(dir: string, change?: (owner: Owner) => Owner): Owner {
  const db = openDatabase(join(dir, STATE_FILE));
  const { owner: text } = db.prepare('SELECT owner FROM owner').get() as { owner: string };
  const owner = JSON.parse(text) as Owner;
  if (change) {
    const changed = JSON.stringify(change(owner));
    db.prepare('UPDATE owner SET owner = ?, sum = ?').run(changed, sumOf(changed));
  }
  closeDatabase(db);
  return owner;
}

const before = ({ client: _, ...owner }: Owner): Owner => owner;

describe('a new key of the same account', () => {
  test.each([
    ['of this version', (owner: Owner) => owner],
    ['of the version before, which knew keys alone', before],
  ])('takes up a state %s: orders are taken out, the ledger goes on, it quotes', async (_, change) => {
    const world = worldOf(61);
    const { dir, end } = await killed(world);
    const old = ownerOf(folders.copyOf(dir));
    expect(old.client).toBe(world.box.account.id);
    ownerOf(dir, change);
    const fresh = world.box.exchange.venue.addKey(world.box.account.id, {});
    const again = await restarted(world, dir, { config: outside(world), ...fresh });
    await world.clock.advance(60 * SECOND);
    expect(again.log.filter(({ level }) => level === 'error')).toEqual([]);
    const { summary, left } = await again.stop();
    expect(left).toEqual([]);
    expect(summary.ledgerMatches).toBe(true);
    const now = ownerOf(dir);
    expect(now).toMatchObject({ client: old.client });
    expect(now.key).not.toBe(old.key);
    await end();
    world.end();
  });
});

describe('a key of another account', () => {
  test.each([
    [
      'of this version',
      (owner: Owner) => owner,
      /belongs to account .*, but this key belongs to account .*; give every account/,
    ],
    ['of the version before', before, /no data in the state shows that this key .* belongs to the same account/],
  ])('is refused by name on a state %s, and nothing is placed or canceled', async (_, change, says) => {
    const world = worldOf(62);
    const { dir, end } = await killed(world);
    ownerOf(dir, change);
    const { venue } = world.box.exchange;
    const alive = [...venue.accounts.get(world.box.account.id)!.active.keys()];
    const other = venue.openAccount({ balances: { btc: '1', mxn: '1000000' } });
    const error = await failedStart(world, dir, { config: outside(world), key: other.key, secret: other.secret });
    expect(String(error)).toMatch(says);
    expect([...venue.accounts.get(world.box.account.id)!.active.keys()]).toEqual(alive);
    expect(venue.accounts.get(other.id)!.active.size).toBe(0);
    await end();
    world.end();
  });
});

test.each([
  [400, true],
  [401, false],
])('a nonce of a new key that is rejected with HTTP %i may pass later: %s', async (status, mayPass) => {
  const world = worldOf(63);
  const { dir, end } = await killed(world);
  const body = JSON.stringify({ success: false, error: { code: '0201', message: 'Invalid nonce' } });
  const opened = openOwnState({
    ...{ clock: world.clock, seed: 1, config: { ...outside(world), state: { dir } } },
    venue: {
      ...{ restUrl: 'http://127.0.0.1/api', key: 'other', secret: new Secret('secret'), speed: 1 },
      transport: { send: () => Promise.resolve({ status, headers: {}, body }), close: () => Promise.resolve() },
    },
  } as never);
  const failed = expect(opened).rejects.toMatchObject({ code: '0201', mayPass });
  await world.clock.advance(10 * SECOND);
  await failed;
  await end();
  world.end();
});

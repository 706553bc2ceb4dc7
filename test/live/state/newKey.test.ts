/** A new key of the same account takes the state up, a key of another account does not: the exchange says whose it is. */
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openOwnState } from '../../../src/app/run/ownState.ts';
import { randomOf, Secret, type WireRequest } from '../../../src/core/index.ts';
import { CannotStart } from '../../../src/live/loop/opening.ts';
import { closeDatabase, DamagedState, openDatabase, STATE_FILE } from '../../../src/live/state/journal.ts';
import type { Owner } from '../../../src/live/state/owner.ts';
import { sumOf } from '../../../src/live/state/rowChecksums.ts';
import { wireTo, type Fate } from '../inProcess.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { doomed, failedStart, restarted } from '../crashes.ts';
import { Folders } from '../states.ts';
import { advanceUntil, worldOf, type World } from '../world.ts';

const folders = new Folders();
afterAll(() => folders.clear());

const SECOND = 1_000;

/** As it would be against an exchange that outlives the bot. */
const outside = ({ config }: World) =>
  ({
    ...config,
    exchange: { ...config.exchange, kind: 'remote', restUrl: 'http://127.0.0.1' },
  }) as unknown as World['config'];

async function killed(world: World, afterMs = 30 * SECOND): Promise<{ dir: string; end: () => Promise<unknown> }> {
  const first = await doomed(world, folders, undefined, { config: outside(world) });
  await world.clock.advance(afterMs);
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
    [
      'of the version before',
      before,
      /no data in the state shows that this key .* belongs to the account of this state/,
    ],
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

const answer = (status: number, code: string): Fate => ({
  instead: { status, headers: {}, body: JSON.stringify({ success: false, error: { code, message: 'by the test' } }) },
});
const FATES: Readonly<Record<string, Fate>> = {
  answered: 'arrives',
  lost: 'lost',
  'not sent': 'not sent',
  throttled: answer(429, '0801'),
  'behind a broken proxy': { instead: { status: 502, headers: {}, body: '' } },
  forbidden: answer(403, '0202'),
};
/** Opens the state with a key. Returns `opened` or the error. */
async function endOfOpening(
  world: World,
  dir: string,
  { key, secret }: { readonly key: string; readonly secret: string },
  fate: (request: WireRequest) => Fate,
): Promise<unknown> {
  let end: unknown = null;
  const { respond } = world.box.exchange;
  const transport = wireTo({
    ...{ exchange: { respond }, clock: world.clock, random: randomOf(1), deadlineMs: 500, fate },
  });
  void openOwnState({
    ...{ clock: world.clock, seed: 1, config: { ...outside(world), state: { dir: folders.copyOf(dir) } } },
    venue: { restUrl: 'http://127.0.0.1/api', key, secret: new Secret(secret), speed: 1, transport },
  } as never).then(
    opened => {
      if (!(opened instanceof DamagedState)) opened.close();
      end = 'opened';
    },
    (error: unknown) => (end = error),
  );
  await advanceUntil(world.clock, 100, () => end !== null);
  return end;
}
const endText = (end: unknown): string =>
  end instanceof CannotStart ? `may pass: ${end.mayPass}` : end instanceof UsageError ? 'UsageError' : String(end);
/** Fates after which only the exchange's own "no" is known. */
const FINAL = ['answered', 'forbidden'];

test('a failed read of the proof leaves the account of a new key open: only an answer refuses it for good', async () => {
  const world = worldOf(64);
  // The bot has traded, and has live orders.
  const { dir, end } = await killed(world, 300 * SECOND);
  ownerOf(dir, before);
  const { venue } = world.box.exchange;
  const own = venue.addKey(world.box.account.id, {});
  const other = venue.openAccount({ balances: { btc: '1', mxn: '1000000' } });
  const outcomeOf = (of: typeof own, trade: Fate, orders: Fate) =>
    endOfOpening(world, dir, of, ({ target }) =>
      /user_trades/.test(target) ? trade : /open_orders/.test(target) ? orders : 'arrives',
    );
  for (const [trade, ofTrade] of Object.entries(FATES))
    for (const [orders, ofOrders] of Object.entries(FATES)) {
      const says = `trade ${trade}, orders ${orders}`;
      const mine = await outcomeOf(own, ofTrade, ofOrders);
      const theirs = await outcomeOf(other, ofTrade, ofOrders);
      const isOpen = ![trade, orders].every(one => FINAL.includes(one));
      // A rate limit pauses all requests of the client.
      const isProven = trade === 'answered' || (orders === 'answered' && trade !== 'throttled');
      const unproven = isOpen ? 'may pass: true' : 'UsageError';
      expect([says, endText(theirs)]).toEqual([says, unproven]);
      expect([says, endText(mine)]).toEqual([says, isProven ? 'opened' : unproven]);
    }
  // One lost answer of each read changes nothing.
  for (const [of, says] of [
    [own, 'opened'],
    [other, 'UsageError'],
  ] as const) {
    const lost = new Set<string>();
    const once = ({ target }: WireRequest): Fate => {
      const [path = ''] = target.split('?');
      if (lost.has(path)) return 'arrives';
      lost.add(path);
      return 'lost';
    };
    expect([endText(await endOfOpening(world, dir, of, once)), lost.size > 1]).toEqual([says, true]);
  }
  await end();
  world.end();
});

test('an unreadable row of the open orders leaves the account of a new key open only without an id, and names the old key', async () => {
  const world = worldOf(66);
  const { dir, end } = await killed(world);
  ownerOf(dir, before);
  const { venue } = world.box.exchange;
  const [live] = [...venue.accounts.get(world.box.account.id)!.active.values()];
  const other = venue.openAccount({ balances: { btc: '1', mxn: '1000000' } });
  for (const [row, says] of [
    [{ origin_id: live!.originId }, 'opened'],
    [{ origin_id: 'mm-1-1' }, 'UsageError'],
    [{ origin_id: null }, 'UsageError'],
    [{}, 'UsageError'],
    [{ origin_id: '?' }, 'may pass: true'],
  ] as const) {
    const payload = [{ book: world.config.book, oid: 'a1', price: 'damaged', ...row }];
    const body = JSON.stringify({ success: true, payload });
    const ended = await endOfOpening(world, dir, other, ({ target }) =>
      /open_orders/.test(target) ? { instead: { status: 200, headers: {}, body } } : 'arrives',
    );
    expect([row, endText(ended)]).toEqual([row, says]);
    if (says !== 'opened') expect(String(ended)).toMatch(/start the bot .*\bonce with the old key\b/);
  }
  await end();
  world.end();
});

test.each([
  ['not sent', 'not sent', /cannot read account_status: request not sent \(not-sent: /],
  ['forbidden', answer(403, '0202'), /cannot read account_status: rejected by the exchange \(0202: /],
] as const)('an account number that is %s is named as such', async (_, fate, says) => {
  const world = worldOf(65);
  const { dir, end } = await killed(world);
  const { key, secret } = world.box.exchange.venue.addKey(world.box.account.id, {});
  const error = await failedStart(world, dir, {
    ...{ config: outside(world), key, secret },
    fate: ({ target }) => (/account_status/.test(target) ? fate : 'arrives'),
  });
  expect(String(error)).toMatch(says);
  await end();
  world.end();
});

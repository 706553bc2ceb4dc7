/** Nonces of both accounts over restarts and any clock: each is above all that left before with its key. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { parse, stringify } from 'yaml';
import { afterAll, expect, test } from 'vitest';
import { loadConfig, type Config } from '../../src/config.ts';
import {
  randomOf,
  Secret,
  VirtualClock,
  type NonceSource,
  type Outcome,
  type Transport,
  type VenueClient,
  type WireRequest,
} from '../../src/core/index.ts';
import { aheadUntil, storedNonces } from '../../src/live/state/durableNonces.ts';
import { readBookRow } from '../../src/live/loop/opening.ts';
import { openJournal } from '../../src/live/state/journal.ts';
import { nonceMarkOf } from '../../src/live/state/stateSummary.ts';
import { clientBesideBot, clientOf } from '../../src/wiring/bot.ts';
import { shippedConfig } from '../../src/wiring/configFile.ts';
import { accountName } from '../../src/wiring/elsewhere/access.ts';
import { elsewhereClientOf } from '../../src/wiring/elsewhereHedging.ts';
import { VENUES } from '../../src/wiring/venueRegistry.ts';
import { BOOKS, endOf, listAnswer } from '../exchange/everyVenue.ts';
import { KrakenDouble } from '../krakenDouble/server.ts';
import { AT, Folders, OPENING, OWNER } from '../live/states.ts';
import { runsOf } from '../many.ts';

const folders = new Folders();
afterAll(() => folders.clear());

function configOf(venue: string): Config {
  const tree = parse(readFileSync(shippedConfig('elsewhere'), 'utf8')) as Record<string, Record<string, unknown>>;
  const restUrl = 'https://example.com';
  tree['exchange'] = { kind: 'remote', restUrl };
  tree['elsewhere'] = { kind: 'remote', venue: 'binance', book: 'btc_usdt', restUrl };
  const read = loadConfig(stringify(tree), 'my.yaml');
  if (!read.ok) throw new Error(read.errors.join('\n'));
  const { exchange, elsewhere, ...others } = read.config;
  return {
    ...others,
    exchange: { ...exchange, venue },
    elsewhere: { ...elsewhere, venue, book: BOOKS[venue] },
  } as Config;
}

/** Transport that keeps the nonces of its requests. */
const kept = (nonces: bigint[]): Transport => ({
  send: request => {
    const nonce = /\bnonce=(\d+)/.exec(request.body)?.[1] ?? request.headers['authorization']?.split(':')[1];
    if (nonce !== undefined) nonces.push(BigInt(nonce));
    return Promise.resolve(listAnswer(request) ?? { status: 200, headers: {}, body: '{"error":["EService:Busy"]}' });
  },
  close: () => Promise.resolve(),
});

const STEP = fc.record({
  ms: fc.integer({ min: 0, max: 100_000 }),
  wall: fc.integer({ min: -7_200_000, max: 3_600_000 }),
  requests: fc.integer({ min: 1, max: 3 }),
  /** Change before the requests. */
  before: fc.constantFrom('restart', 'next run', 'nothing'),
});

test.each(VENUES.map(({ name }) => name))('%s: rise for the key of each account', async name => {
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { minLength: 2, maxLength: 6 }), async steps => {
      const clock = new VirtualClock(AT);
      const config = configOf(name);
      const dir = folders.fresh();
      const sent = { here: [] as bigint[], there: [] as bigint[] };
      const life = () => {
        const journal = openJournal(dir, { ...OPENING, owner: OWNER });
        const access = { restUrl: 'https://example.com', speed: 1 };
        const secret = new Secret('c2VjcmV0');
        const elsewhere = { ...access, venue: name, book: BOOKS[name]!, key: 'b', secret, transport: kept(sent.there) };
        const home = { ...access, key: 'a', secret, transport: kept(sent.here), elsewhere };
        const clients = [
          clientOf(config, home, clock, 1, { journal }),
          elsewhereClientOf(config, home, clock, 1, journal)!,
        ];
        return { journal, clients };
      };
      let { journal, clients } = life();
      for (const { ms, wall, requests, before } of steps) {
        await clock.advance(ms);
        clock.step(wall);
        if (before === 'restart') {
          journal.close();
          ({ journal, clients } = life());
        }
        // The clients keep the journal with which the process began.
        if (before === 'next run') journal = journal.next(AT);
        for (let n = 0; n < requests; n++) for (const client of clients) await endOf(clock, client.balances());
      }
      for (const nonces of Object.values(sent)) {
        if (name !== 'binance') expect(nonces.length).toBeGreaterThanOrEqual(steps.length);
        for (const [n, nonce] of nonces.entries()) expect(nonce).toBeGreaterThan(nonces[n - 1] ?? 0n);
      }
      journal.close();
      const highest = sent.here.at(-1);
      if (highest !== undefined) expect(await nonceMarkOf(dir, clock)).toBeGreaterThanOrEqual(highest);
    }),
    runsOf(200, 12),
  );
});

const READS: Readonly<Record<string, (client: VenueClient) => Promise<Outcome<unknown>>>> = {
  balances: client => client.balances(),
  fees: client => client.fees(),
  'open orders': client => client.openOrders({ book: BOOKS['kraken']! }),
  trades: client => client.userTrades({ limit: 1, sort: 'desc' }),
  'a look-up': client => client.lookUp({ originIds: ['mm-7-1'] }),
};

test.each(Object.entries(READS))(
  'at kraken, a read of %s that a request of the bot overtook is sent again, and none of its nonces is above the clock',
  async (_, read) => {
    const clock = new VirtualClock(AT);
    const double = new KrakenDouble({ a: 'c2VjcmV0' }, () => clock.now());
    const config = configOf('kraken');
    const access = { restUrl: 'http://127.0.0.1/0', key: 'a', secret: new Secret('c2VjcmV0'), speed: 1 };
    const send = (request: WireRequest) => Promise.resolve(double.respond(request));
    const close = () => Promise.resolve();
    const bot = clientOf(config, { ...access, transport: { send, close } }, clock, 1);
    // The lists of books need no nonce.
    await endOf(clock, bot.balances());
    let isFirst = true;
    const nonces: bigint[] = [];
    const transport: Transport = {
      send: async request => {
        const nonce = /\bnonce=(\d+)/.exec(request.body)?.[1];
        if (nonce === undefined) return send(request);
        nonces.push(BigInt(nonce));
        if (!isFirst) return send(request);
        // The bot sends its request later, and the exchange has it first.
        isFirst = false;
        clock.step(5);
        await bot.balances();
        clock.step(1);
        return send(request);
      },
      close,
    };
    const client = clientBesideBot(clientOf(config, { ...access, transport }, clock, 2), { config, clock });
    const outcome = await endOf(clock, read(client));
    expect(outcome).toMatchObject({ kind: 'done' });
    expect(nonces.length).toBeGreaterThanOrEqual(2);
    for (const nonce of nonces) expect(nonce).toBeLessThanOrEqual(BigInt(clock.now()) * 1_000_000n + 10n);
    await Promise.all([bot.close(), client.close()]);
  },
);

test('the exchanges that want rising nonces are marked', () => {
  for (const venue of VENUES) {
    const sources: NonceSource[] = [];
    void venue
      .connect({
        ...{ clock: new VirtualClock(AT), random: randomOf(1), restUrl: venue.restUrl('http://127.0.0.1') },
        ...{ deadlineMs: 1_000, budgets: { public: 60, private: 60 } },
        credentials: { key: 'a', secret: new Secret('c2Vj'), nonceAbove: 0n, durable: of => (sources.push(of), of) },
      })
      .close();
    expect([venue.name, sources.some(({ ordered }) => ordered)]).toEqual([
      venue.name,
      venue.wantsRisingNonces === true,
    ]);
  }
});

const SENT: typeof READS = { ...READS, 'a cancel': client => client.cancel({ originIds: ['mm-0-0'] }) };
const CASES = Object.entries(SENT).flatMap(([name, send]) =>
  [-7_200_000, 60_000, 7_200_000].flatMap(aheadMs =>
    ['here', 'there'].map(where => [name, aheadMs, where, send] as const),
  ),
);

test.each(CASES)(
  'at kraken, %s beside nonces %i ms from the clock %s: two are rejected, and the outcome names the cause',
  async (_, aheadMs, where, send) => {
    const clock = new VirtualClock(AT);
    const double = new KrakenDouble({ a: 'c2VjcmV0' }, () => clock.now());
    const dir = folders.fresh();
    const config = { ...configOf('kraken'), state: { dir } };
    const mark = BigInt(AT + aheadMs) * 1_000_000n;
    let rejected = 0;
    const transport: Transport = {
      send: request => {
        const reply = double.respond(request);
        if (/nonce/i.test(reply.body)) rejected++;
        return Promise.resolve(reply);
      },
      close: () => Promise.resolve(),
    };
    const access = { restUrl: 'http://127.0.0.1/0', key: 'a', secret: new Secret('c2VjcmV0'), speed: 1, transport };
    const there = { ...access, venue: 'kraken', book: BOOKS['kraken']! };
    const journal = openJournal(dir, { ...OPENING, owner: OWNER });
    if (where === 'here') journal.reserveNonces(mark);
    else journal.noncesElsewhere(accountName(there)).reserveNonces(mark);
    journal.close();
    // Whoever uses the key, its nonces are an hour ahead of the clock.
    const other = clientOf(config, access, clock, 1, { nonceAbove: BigInt(AT + 3_600_000) * 1_000_000n });
    await endOf(clock, other.balances());
    const client = clientBesideBot(
      where === 'here'
        ? clientOf(config, access, clock, 2)
        : elsewhereClientOf(config, { elsewhere: there }, clock, 2, null)!,
      { config, clock, ...(where === 'here' ? {} : { there }) },
    );
    const outcome = await endOf(clock, send(client));
    expect([outcome?.kind === 'done', rejected]).toEqual([false, 2]);
    const cause =
      /ahead of this machine's clock; give this command a second key .* run the command again after 2026-01-01T02:00:00/;
    const restart =
      /restarted within the last minute .* run this command again after 2026-01-01T00:01:00\S+ if the exchange rejects the nonce then too, another program uses this key/;
    const text = JSON.stringify(outcome);
    if (aheadMs > 70_000) expect(text).toMatch(cause);
    else if (aheadMs > 0) expect(text).toMatch(restart);
    else expect(text).not.toMatch(/second key|another program/);
    await Promise.all([other.close(), client.close()]);
  },
);

const LIFE = fc.record({ restAfterMs: fc.integer({ min: 2, max: 200_000 }), requests: fc.array(fc.nat(30_000)) });

test.each(VENUES.filter(({ wantsRisingNonces }) => wantsRisingNonces === true))(
  '$name: the nonces of a bot whose clock is right are never called certainly ahead of it, at any time of any run',
  async venue => {
    await fc.assert(
      fc.asyncProperty(fc.array(LIFE, { minLength: 1, maxLength: 5 }), async lives => {
        const clock = new VirtualClock(AT);
        const store = { nonceMark: 0n, reserveNonces: (mark: bigint) => void (store.nonceMark = mark) };
        const isAhead = () => aheadUntil(store.nonceMark, clock.now())?.isCertain === true;
        for (const { restAfterMs, requests } of lives) {
          const client = venue.connect({
            ...{ clock, random: randomOf(1), restUrl: venue.restUrl('http://127.0.0.1'), deadlineMs: 1_000 },
            ...{ transport: kept([]), budgets: { public: 60, private: 60 }, book: BOOKS[venue.name]! },
            credentials: { key: 'a', secret: new Secret('c2Vj'), ...storedNonces(store, clock) },
          });
          for (const apartMs of requests) {
            expect(isAhead()).toBe(false);
            void client.balances();
            await clock.advance(apartMs);
          }
          await client.close();
          await clock.advance(restAfterMs);
          expect(isAhead()).toBe(false);
        }
        expect(lives.every(({ requests }) => requests.length === 0) || store.nonceMark > 0n).toBe(true);
      }),
      runsOf(500, 30),
    );
  },
);

test.each([
  [400, true],
  [401, false],
])('a start that a nonce with HTTP %i ends may pass later: %s', async (status, mayPass) => {
  const refused = { kind: 'refused', code: 'c', message: 'nonce', status, meaning: 'nonce' } as const;
  const read = readBookRow({ availableBooks: () => Promise.resolve(refused) }, 'btc_mxn');
  await expect(read).rejects.toMatchObject({ mayPass });
});

/** Requests per minute of the lowest class of account, where classes differ (docs/exchanges.md). */
const LOWEST: Readonly<Record<string, number>> = { kraken: 20 };

test.each(VENUES)('$name: the client there keeps to the limits of the lowest class of account', async venue => {
  const { name, allows } = venue;
  const access = {
    restUrl: 'https://example.com',
    venue: name,
    book: BOOKS[name]!,
    key: 'b',
    secret: new Secret('c2Vj'),
  };
  const clock = new VirtualClock(AT);
  const there = elsewhereClientOf(configOf(name), { elsewhere: access }, clock, 1, null)!;
  const lowest = venue.connect({
    ...{ clock, random: randomOf(1), restUrl: venue.restUrl(access.restUrl), deadlineMs: 1_000 },
    budgets: { public: allows?.public ?? 600, private: LOWEST[name] ?? allows?.private ?? 600 },
  });
  expect(there.budget().private).toBeLessThanOrEqual(lowest.budget().private);
  await Promise.all([there.close(), lowest.close()]);
});

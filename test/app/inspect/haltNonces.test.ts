/** `puntas halt` of a dead bot whose nonces are ahead of the clock: every exchange that wants rising nonces is left without orders. */
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { cancelOwn } from '../../../src/app/inspect/halt.ts';
import { loadConfig, type Config } from '../../../src/config.ts';
import { randomOf, Secret, VirtualClock, type WireRequest } from '../../../src/core/index.ts';
import { openJournal } from '../../../src/live/state/journal.ts';
import { clientOf } from '../../../src/wiring/bot.ts';
import { VENUES } from '../../../src/wiring/venueRegistry.ts';
import { KrakenDouble } from '../../krakenDouble/server.ts';
import { wireTo, type Fate } from '../../live/inProcess.ts';
import { AT, Folders, OPENING, OWNER, place } from '../../live/states.ts';
import { runsOf } from '../../many.ts';
import { memoryLog } from '../../memoryLog.ts';
import { BOOKS } from '../../exchange/everyVenue.ts';

const [KEY, SECRET] = ['bot-key', Buffer.from('bot secret').toString('base64')];
const DELAY_MAX_MS = 5_000;
const PER_MS = 1_000_000n;
/** More than the time for which a cancel waits for the first read. */
const TIMEOUT_MS = 4_000;
const folders = new Folders();
afterAll(() => folders.clear());

type OrderedDouble = {
  readonly respond: KrakenDouble['respond'];
  /** Ids of the bot's open orders. */
  readonly open: () => readonly (string | undefined)[];
};

const DOUBLES: Readonly<Record<string, (clock: VirtualClock) => OrderedDouble>> = {
  kraken: clock => {
    const double = new KrakenDouble({ [KEY]: SECRET }, () => clock.now());
    const open = () => double.exchange.orders.filter(each => each.owner === KEY && each.status === 'open');
    return { respond: request => double.respond(request), open: () => open().map(({ clientId }) => clientId) };
  },
};

const ordered = VENUES.filter(({ wantsRisingNonces }) => wantsRisingNonces === true).map(({ name }) => name);

function configOf(venue: string, dir: string, requestTimeoutMs: number): Config {
  const loaded = loadConfig(
    `
book: ${BOOKS[venue]!}
instance: mm
exchange: { kind: remote, venue: ${venue}, restUrl: 'http://127.0.0.1', requestTimeoutMs: ${requestTimeoutMs} }
strategy: { name: ladder, halfSpreadBps: 50, levels: 1, levelSpacingBps: 1, amount: '0.1', levelAmountStep: '0', refreshToleranceBps: 20, minEdgeBps: 1, skew: { priceBpsAtLimit: 1, sizeRange: '1' } }
limits: { positionMax: '1', orderValueMax: '20000', ordersMax: 4, collarBps: 500, drawdownMax: '5000', dayLossMax: '5000' }
timing: { decideEveryMs: 50, bookPollMs: 2000, privatePollMs: 3000, requestDelayMaxMs: ${DELAY_MAX_MS}, tradeReportDelayMaxMs: 500, shutdownMs: 20000 }
state: { dir: '${dir}' }
`,
    'halted.yaml',
  );
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  return loaded.config;
}

/** Fate of the first private request; the later ones arrive. */
function firstReadIs(fate: Fate | null): (request: WireRequest) => Fate {
  let isFirst = true;
  return ({ method }) => {
    if (method !== 'POST' || !isFirst) return 'arrives';
    isFirst = false;
    return fate ?? 'arrives';
  };
}

/** Time in which a call ends on a virtual clock. */
async function timeOf(clock: VirtualClock, call: Promise<unknown>): Promise<number> {
  const from = clock.elapsed();
  let isOver = false;
  void call.finally(() => (isOver = true));
  while (!isOver) await clock.advance(50);
  return clock.elapsed() - from;
}

test('the exchanges that want nonces in order have doubles here', () => {
  expect(ordered).toEqual(Object.keys(DOUBLES));
});

test.each(ordered)(
  'at %s no order is left within two request delays, and the time that a first read without an answer takes, and few nonces are rejected',
  async name => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: -100_000, max: 100_000 }),
        fc.integer({ min: 0, max: 4 }),
        fc.integer({ min: 0, max: 1_000 }),
        fc.constantFrom(null, 'unanswered' as const, { heldMs: 60_000 }),
        async (aheadMs, orders, seed, firstRead) => {
          const clock = new VirtualClock(AT);
          const double = DOUBLES[name]!(clock);
          const config = configOf(name, folders.fresh(), TIMEOUT_MS);
          const journal = openJournal(config.state.dir, { ...OPENING, owner: { ...OWNER, instance: 'mm' } });
          const ids = Array.from({ length: orders }, (_, n) => `mm-7-${n + 1}`);
          journal.intend(
            ids.map(id => place(id)),
            AT,
          );
          const mark = (BigInt(AT) + BigInt(aheadMs)) * PER_MS;
          journal.reserveNonces(mark);
          journal.close();
          let rejected = 0;
          const venueOf = (isHalt = false) => ({
            ...{ restUrl: 'http://127.0.0.1/0', key: KEY, secret: new Secret(SECRET), speed: 1 },
            transport: wireTo({
              exchange: {
                respond: request => {
                  const reply = double.respond(request);
                  if (/nonce/i.test(reply.body)) rejected++;
                  return reply;
                },
              },
              ...{ clock, random: randomOf(seed), deadlineMs: TIMEOUT_MS },
              ...(isHalt && { fate: firstReadIs(firstRead) }),
            }),
          });
          // The bot has used its nonces up to the mark, and the last one for a read.
          const bot = clientOf(config, venueOf(), clock, 1, { nonceAbove: mark - BigInt(orders) - 1n });
          for (const id of ids)
            await timeOf(
              clock,
              bot.place({
                ...{ book: config.book, side: 'buy', price: '100', major: '0.1', originId: id },
                timeInForce: 'post only',
              } as never),
            );
          await timeOf(clock, bot.balances());
          await bot.close();
          expect([double.open().length, rejected]).toEqual([orders, 0]);
          for (let run = 0; run < 2; run++) {
            let emptyAfter = Infinity;
            const from = clock.elapsed();
            const halted = cancelOwn(config, venueOf(true), clock, seed, memoryLog().log);
            const isEmpty = (): void => {
              if (double.open().length === 0) emptyAfter = Math.min(emptyAfter, clock.elapsed() - from);
              else clock.after(50, isEmpty);
            };
            isEmpty();
            const hang = firstRead === null ? 0 : TIMEOUT_MS;
            expect(await timeOf(clock, halted)).toBeLessThan(2 * DELAY_MAX_MS + hang);
            // A first read without an answer delays the cancels by one second. If the nonce of only one of several
            // cancels is rejected, this order waits for the list of open orders.
            expect(emptyAfter).toBeLessThan(hang + 2_000);
            expect([double.open(), (await halted).code]).toEqual([[], 0]);
          }
          // Beside a first read without an answer, the nonce of each cancel can be rejected.
          expect(rejected).toBeLessThanOrEqual(firstRead === null ? 4 : 2 * (orders + 3));
        },
      ),
      runsOf(100, 8),
    );
  },
);

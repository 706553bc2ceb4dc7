import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Amount, Price, Side, WireRequest } from '../../src/core/index.ts';
import { FITTED_KIND } from '../../src/fills/index.ts';
import { realClock } from '../../src/live/realClock.ts';
import { fromCopy } from '../../src/live/state/stateCopy.ts';
import { openPaperAccount, readPaperAccount } from '../../src/live/state/paperAccount.ts';
import type { StoredQueues } from '../../src/sandbox/markets/followed.ts';
import { storedText, valueOfStored } from '../../src/sandbox/venue/storedText.ts';
import type { Fate } from './inProcess.ts';
import { paperWorld, type PaperWorld } from './paperWorld.ts';

const SECOND = 1_000;
const BOOK = 'btc_mxn';
const ACCOUNT_FILES = ['paper-account.db', 'paper-account.db-wal', 'paper-account.db-shm', 'paper-account.commits'];

/** Rows of the ledger in a state directory. */
const lookIntoEntries = async (dir: string): Promise<readonly unknown[]> =>
  (await fromCopy(dir, realClock(), db => db.prepare('SELECT n FROM entries').all())) ?? [];

/** Everybody's levels of a book; on paper without what our own orders add. */
function levels(venue: PaperWorld['paper']['exchange']['venue'], own: ReturnType<PaperWorld['ours']> = []) {
  const all: [Side, Price, number][] = [];
  for (const side of ['buy', 'sell'] as const) {
    venue.books.get(BOOK)!.engine.eachLevel(side, (price, total) => {
      const ours = own.filter(order => order.side === side && order.price === price && order.engineId > 0);
      const others = ours.reduce((left, order) => left - (order.original - order.filled), total as number);
      if (others > 0) all.push([side, price, others]);
      return true;
    });
  }
  return all;
}

const isPublicRead = ({ method, target, headers, body }: WireRequest): boolean =>
  method === 'GET' &&
  /^\/api\/v3\/(available_books$|order_book\?|trades\?)/.test(target) &&
  Object.keys(headers).every(name => name.toLowerCase() !== 'authorization') &&
  body === '';

/** Runs a bot on paper under the fill model `fitted`, with the parameters of a file. */
async function fittedWorld(file: object, paper: object = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'puntas-fitted-'));
  const fittedFile = join(dir, 'fills.json');
  const text = JSON.stringify(file);
  writeFileSync(fittedFile, text);
  const hash = createHash('sha256').update(text).digest('hex');
  const remove = (): void => rmSync(dir, { recursive: true, force: true });
  try {
    return { world: await paperWorld({ paper: { fills: 'fitted', fittedFile, ...paper } }), hash, remove };
  } catch (error) {
    remove();
    throw error;
  }
}
const fittedOn = (book: string, own: number, fallback: string | null = null) => ({
  ...{ kind: FITTED_KIND, book, fallback },
  hypotheses: [{ cancels: 'behind', shown: 1, own, weight: 1 }],
});

/** Lots of the bot that fill when a taker trades a little at the price of its best ask, where others came after it. */
async function filledAtItsPrice(world: PaperWorld): Promise<number> {
  await world.clock.advance(20 * SECOND);
  world.followed.stop();
  const asks = world.ours().filter(({ side }) => side === 'sell');
  const price = Math.min(...asks.map(order => order.price)) as Price;
  const place = world.followed.exchange.marketplace(BOOK);
  place.place('sell', price, 9_000_000 as Amount, 'GTC');
  await world.clock.advance(SECOND);
  for (let best = place.bestAsk(); best < price; best = place.bestAsk())
    place.place('buy', best, place.amountAt('sell', best), 'IOC');
  const before = world.paper.counts().filledLots;
  place.place('buy', price, 1_000 as Amount, 'IOC');
  await world.clock.advance(100);
  return world.paper.counts().filledLots - before;
}

test('a start that gets no book says why: what the exchange answered, or that nothing came', async () => {
  const refused = { status: 429, headers: {}, body: '{"success":false,"error":{"code":"0801","message":"too many"}}' };
  for (const [instead, why] of [
    [refused, /^cannot read the order book of btc_mxn from \S+: rejected by the exchange \(0801: .*too many/],
    ['lost', /^cannot read the order book of btc_mxn from \S+: (?:no answer|no book within 15 s)/],
  ] as const) {
    const fate = (request: WireRequest): Fate =>
      !request.target.includes('/order_book') ? 'arrives' : instead === 'lost' ? 'lost' : { instead };
    await expect(paperWorld({ stream: false, fate })).rejects.toThrow(why);
  }
});

describe('trading on paper with fitted fills', () => {
  test.each([
    ['no lot', 0, 1_000],
    ['many lots', 50, 0],
  ])('fills by the file: with %s ahead, and with its hash in the recording', async (_name, own, lots) => {
    const { world, hash, remove } = await fittedWorld(fittedOn(BOOK, own));
    expect(world.paper.config.paper.fittedSha256).toBe(hash);
    expect(await filledAtItsPrice(world)).toBe(lots);
    const { summary } = await world.end();
    remove();
    expect([summary.ledgerMatches, summary.paper?.fills, world.broken]).toEqual([true, 'fitted', []]);
  });

  test('says why it works like expected, if the file has no fit', async () => {
    const { world, remove } = await fittedWorld(fittedOn(BOOK, 1, 'too few fills: 3 of 60'));
    await world.end();
    remove();
    expect(world.said()).toContain('fill model fitted works like expected: too few fills: 3 of 60');
  });

  test.each([
    ['of another book', fittedOn('eth_mxn', 1), {}, 'was fitted on "eth_mxn", expected btc_mxn'],
    ['with another hash', fittedOn(BOOK, 1), { fittedSha256: 'a'.repeat(64) }, 'expected the SHA-256 hash of'],
  ])('does not start with a file %s', async (_name, file, paper, reason) => {
    await expect(fittedWorld(file, paper)).rejects.toThrow(reason);
  });
});

describe('trading on paper', () => {
  test('is filled, ends clean with a ledger that equals the balances, and sends the followed exchange nothing but public reads', async () => {
    const world = await paperWorld();
    await world.clock.advance(150 * SECOND);
    expect(world.ours().length).toBeGreaterThan(0);
    const { lots, filledLots } = world.paper.counts();
    expect(filledLots).toBeGreaterThan(0);
    expect(filledLots).toBeLessThan(lots);
    const { summary, left } = await world.end();
    expect(summary.fills).toBeGreaterThan(0);
    expect([summary.ledgerMatches, left, world.broken]).toEqual([true, [], []]);
    expect(summary.paper).toEqual({ follows: 'https://api.bitso.com', fills: 'pessimistic' });
    expect(world.asked.filter(request => !isPublicRead(request))).toEqual([]);
    expect(world.asked.length).toBeGreaterThan(2);
    expect([...new Set(world.line.sent)]).toEqual([
      '{"action":"subscribe","book":"btc_mxn","type":"diff-orders"}',
      '{"action":"subscribe","book":"btc_mxn","type":"trades"}',
    ]);
    const { account, exchange } = world.followed;
    expect(exchange.venue.accounts.get(account.id)!.active.size).toBe(0);
    expect(exchange.venue.accounts.size).toBe(1);
  });

  test.each([true, false])('shows the levels of the followed book when that stands still; stream: %s', async stream => {
    const world = await paperWorld({ stream });
    await world.clock.advance(30 * SECOND);
    world.followed.stop();
    await world.clock.advance(6 * SECOND);
    const [paper, followed] = [levels(world.paper.exchange.venue, world.ours()), levels(world.followed.exchange.venue)];
    expect(paper.length).toBeGreaterThan(20);
    expect(paper).toEqual(followed);
    await world.end();
  });

  test('with the same seed does the same again, to the last fill', async () => {
    const once = async () => {
      const world = await paperWorld({ seed: 5, paper: { fills: 'expected' } });
      await world.clock.advance(60 * SECOND);
      const { summary } = await world.end();
      // The state directory and the port of the metrics are new each time.
      return { summary, log: world.said().filter(text => !text.startsWith('metrics at')), asked: world.asked };
    };
    expect(await once()).toEqual(await once());
  });

  test('withdraws its quotes while the followed exchange is gone, and quotes again when it is back', async () => {
    let gone = false;
    const world = await paperWorld({ seed: 2, fate: () => (gone ? 'lost' : 'arrives') });
    await world.clock.advance(20 * SECOND);
    expect(world.ours().length).toBeGreaterThan(0);
    gone = true;
    world.line.cut();
    await world.clock.advance(10 * SECOND);
    expect(world.ours()).toEqual([]);
    const { filledLots, trades } = world.paper.counts();
    await world.clock.advance(30 * SECOND);
    expect(world.ours()).toEqual([]);
    expect(world.paper.counts()).toMatchObject({ filledLots, trades });
    gone = false;
    world.line.mend();
    await world.clock.advance(60 * SECOND);
    expect(world.ours().length).toBeGreaterThan(0);
    expect(world.said().filter(text => text.startsWith('the live market'))).toEqual([
      'the live market is read by polling',
      'the live market is read from the stream',
      'the live market is available',
      'the live market is read by polling: this program closed the connection',
      'the live market sends no data, lags behind or is unreachable; paper trading has no market data until the live data is current again',
      'the live market is available',
      'the live market is read from the stream',
    ]);
    expect((await world.end()).summary.ledgerMatches).toBe(true);
  });

  test('goes on by polling while the stream is cut, and takes every trade once', async () => {
    const world = await paperWorld({ seed: 4, paper: { fills: 'expected' } });
    const { history } = world.followed.exchange.venue.books.get(BOOK)!;
    await world.clock.advance(20 * SECOND);
    const known = world.paper.counts().trades;
    const before = history.page(10_000, 'desc').length;
    for (let i = 0; i < 3; i++) {
      world.line.cut();
      await world.clock.advance(20 * SECOND);
      expect(world.ours().length).toBeGreaterThan(0);
      world.line.mend();
      await world.clock.advance(40 * SECOND);
    }
    world.followed.stop();
    await world.clock.advance(20 * SECOND);
    expect(history.page(10_000, 'desc').length - before).toBeGreaterThan(10);
    expect(world.paper.counts().trades - known).toBe(history.page(10_000, 'desc').length - before);
    expect((await world.end()).summary.ledgerMatches).toBe(true);
  });

  test('notices a stream that is silent while the book moves, and lost frames', async () => {
    const world = await paperWorld({ seed: 6 });
    const { venue } = world.followed.exchange;
    await world.clock.advance(20 * SECOND);
    venue.set({ streamFrames: 'withheld' });
    await world.clock.advance(20 * SECOND);
    expect(world.said()).toContain(
      'the live market is read by polling: the book of the stream is older than the polled book',
    );
    venue.set({ streamFrames: 'sent', streamDropEvery: 40 });
    await world.clock.advance(60 * SECOND);
    expect(world.said()).toContain('the live market is read by polling: a frame was lost');
    venue.set({ streamDropEvery: 0 });
    await world.clock.advance(60 * SECOND);
    world.followed.stop();
    await world.clock.advance(6 * SECOND);
    expect(levels(world.paper.exchange.venue, world.ours())).toEqual(levels(venue));
    await world.end();
  });

  test('stores when the market was last current, also while it still counts as current after the link is lost', async () => {
    let gone = false;
    const world = await paperWorld({ seed: 2, fate: () => (gone ? 'lost' : 'arrives') });
    await world.clock.advance(20 * SECOND);
    gone = true;
    world.line.cut();
    const lostAt = world.clock.now();
    await world.clock.advance(3 * SECOND);
    const rows = await readPaperAccount(world.stateDir, realClock());
    const seen = valueOfStored(rows.find(({ key }) => key === 'seen')!.text) as number;
    expect(seen).toBeLessThanOrEqual(lostAt);
    expect(seen).toBeGreaterThan(lostAt - 3 * SECOND);
    gone = false;
    world.line.mend();
    await world.end();
  });

  test('says in one line that an intact account cannot be restored, and how to start a new one', async () => {
    const world = await paperWorld({ seed: 8 });
    await world.clock.advance(5 * SECOND);
    const again = world.restart(1_000, dir => {
      const file = openPaperAccount(dir);
      const rows = new Map(file.read().map(({ key, text }) => [key, text]));
      const queues = valueOfStored(rows.get('queues')!) as StoredQueues;
      const levels = [{ side: 'buy', price: 1, displayed: 5, queue: [-5] }];
      file.write([{ key: 'queues', text: storedText({ ...queues, levels }) }], true);
      file.close();
    });
    await expect(again).rejects.toThrow(
      /^the paper account in \S+ cannot be continued: [^\n]+; restore \S+ from a copy, or start a new account with puntas run --paper --fresh$/,
    );
    world.followed.stop();
    rmSync(world.stateDir, { recursive: true });
  });

  test('refuses a new account beside the ledger of an earlier one, whatever is lost, and keeps that ledger', async () => {
    const world = await paperWorld({ seed: 8 });
    await world.clock.advance(20 * SECOND);
    const losses: readonly (readonly [string, (dir: string) => void, RegExp])[] = [
      [
        'the account and the number of its commits',
        dir => ACCOUNT_FILES.forEach(name => rmSync(join(dir, name), { force: true })),
        /has the ledger of a paper account, but the account file paper-account\.db is missing/,
      ],
      [
        'the account, for which another stands',
        dir => {
          ACCOUNT_FILES.forEach(name => rmSync(join(dir, name), { force: true }));
          ACCOUNT_FILES.forEach(
            name => existsSync(join(other, name)) && copyFileSync(join(other, name), join(dir, name)),
          );
        },
        /or is that of another account/,
      ],
      ...[() => older, () => previous].map(
        copy =>
          [
            'the account, for which an older copy stands',
            (dir: string) => {
              ACCOUNT_FILES.forEach(name => rmSync(join(dir, name), { force: true }));
              ACCOUNT_FILES.forEach(
                name => existsSync(join(copy(), name)) && copyFileSync(join(copy(), name), join(dir, name)),
              );
            },
            /the file of the account is older than the ledger of its bot/,
          ] as const,
      ),
    ];
    const copied = (of: string) => {
      const copy = mkdtempSync(join(tmpdir(), 'puntas-paper-'));
      cpSync(of, copy, { recursive: true });
      return copy;
    };
    const older = copied(world.stateDir);
    await world.kill(1_000);
    await world.clock.advance(5 * SECOND);
    const previous = copied(world.stateDir);
    await world.kill(1_000);
    const foreign = await paperWorld({ seed: 9 });
    await foreign.clock.advance(SECOND);
    const other = copied(foreign.stateDir);
    await foreign.end();
    const left = copied(world.stateDir);
    const entries = (await lookIntoEntries(left)).length;
    expect(entries).toBeGreaterThan(0);
    for (const [, lose, why] of losses) {
      const dir = copied(left);
      lose(dir);
      // A second start, as by a supervisor, is refused as the first.
      for (let i = 0; i < 3; i++) await expect(world.startOn(dir)).rejects.toThrow(why);
      expect((await lookIntoEntries(dir)).length).toBe(entries);
      rmSync(dir, { recursive: true });
    }
    await world.end();
    for (const dir of [older, previous, other, left]) rmSync(dir, { recursive: true });
  });

  test('quotes around other books, which it reads from the followed exchange within its budget', async () => {
    const reference = { books: ['btc_usd', 'usd_mxn'], everyMs: 5_000 };
    const peg = { name: 'peg', halfSpreadBps: 10.6, amount: '0.0005', maxAgeMs: 10_000, maxDivergenceBps: 60 };
    const world = await paperWorld({
      followed: { reference, timing: { bookPollMs: 2_500 } },
      more: { reference, strategy: peg, timing: { bookPollMs: 2_500 } },
    });
    await world.clock.advance(60 * SECOND);
    expect(world.ours().length).toBe(2);
    const books = world.asked.filter(({ target }) => target.includes('/order_book?'));
    expect(books.filter(({ target }) => target.includes('book=usd_mxn')).length).toBeGreaterThan(8);
    expect(books.length).toBeLessThan(60);
    expect(world.asked.filter(request => !isPublicRead(request))).toEqual([]);
    expect((await world.end()).summary.ledgerMatches).toBe(true);
  });
});

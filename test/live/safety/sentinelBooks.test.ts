/** The sentinel beside a bot that is reloaded. */
import { renameSync, symlinkSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { sentinel } from '../../../src/app/run/sentinel.ts';
import { randomOf, Secret, type WireRequest } from '../../../src/core/index.ts';
import { memoryLog } from '../../memoryLog.ts';
import { doomed } from '../crashes.ts';
import { wireTo, type Fate } from '../inProcess.ts';
import { ReloadedBot } from '../loop/reloadedBot.ts';
import { Folders } from '../states.ts';
import { advanceUntil } from '../world.ts';

const folders = new Folders();
afterAll(() => folders.clear());

const SECOND = 1_000;

type Setup = {
  readonly shipped: 'desk' | 'sandbox';
  readonly before: (text: string) => string;
  readonly readsAfterKill?: Fate;
};

/** A bot whose file is changed, and a sentinel that read the file before the change. */
async function watched({ shipped, before, readsAfterKill = 'arrives' }: Setup) {
  const bot = new ReloadedBot(5, shipped);
  const { world } = bot;
  const { clock, box } = world;
  const whole = bot.text;
  bot.text = before(whole);
  const { config } = bot.read();
  const read = () => bot.read();
  const bound = await doomed(world, folders, () => null, {
    config,
    source: { file: 'my.yaml', given: config, read, inspect: read },
  });
  // The path that the sentinel knows leads to the bot's folder, and after a kill to what it left.
  const link = folders.fresh();
  symlinkSync(world.stateDir, link);
  const key = box.exchange.venue.addKey(box.account.id, {});
  const { log, lines } = memoryLog();
  const ended = new AbortController();
  const fate = ({ method }: WireRequest): Fate =>
    method === 'GET' && bound.left() !== null ? readsAfterKill : 'arrives';
  const transport = wireTo({ exchange: box.exchange, clock, random: randomOf(77), fate });
  const over = sentinel(
    { ...config, state: { dir: link } },
    { restUrl: 'http://127.0.0.1/api', key: key.key, secret: new Secret(key.secret), speed: 1, transport },
    ...([clock, 5, log, ended.signal] as const),
  );
  return {
    ...{ clock, config, whole },
    reload: (text: string) => {
      bot.text = text;
      bound.running.hangUp();
    },
    /** Books of the bot's open orders, one entry for each order. */
    open: (): readonly string[] => {
      const { active } = box.exchange.venue.accounts.get(box.account.id)!;
      return [...active.values()].map(({ instrument }) => instrument.symbol);
    },
    kill: () => {
      symlinkSync(bound.kill(), `${link}.new`);
      renameSync(`${link}.new`, link);
    },
    texts: () => lines.map(({ text }) => text).join('\n'),
    end: async () => {
      ended.abort();
      await clock.advance(5 * SECOND);
      await over;
      await bound.running.stop();
      world.end();
    },
  };
}

test('a sentinel cancels the orders in the state of a dead bot, though the exchange answers no read', async () => {
  const { clock, config, open, kill, end } = await watched({
    ...{ shipped: 'sandbox', before: text => text, readsAfterKill: 'lost' },
  });
  await advanceUntil(clock, SECOND, () => open().length > 1);
  kill();
  await clock.advance(config.sentinel.ttlMs + 30 * SECOND);
  expect(open()).toEqual([]);
  await end();
});

test('a sentinel that started beside one book cancels the orders in all books that a reload added', async () => {
  const { clock, config, whole, open, reload, kill, texts, end } = await watched({
    shipped: 'desk',
    before: text => {
      const { books, book: _, jointInventory: _joint, ...file } = parse(text) as Desk;
      const { symbol, ...sections } = books[0]!;
      return stringify({ ...file, ...sections, book: symbol });
    },
  });
  const count = () => new Set(open()).size;
  await advanceUntil(clock, SECOND, () => count() === 1);
  reload(whole);
  await advanceUntil(clock, SECOND, () => count() === 3);
  kill();
  await clock.advance(config.sentinel.ttlMs + 10 * SECOND);
  expect(open(), texts()).toEqual([]);
  await end();
});

type Desk = Record<string, object> & { books: Record<string, unknown>[] };

test('a sentinel that started before a reload raised the limit of live orders does not halt the bot', async () => {
  const within = (levels: number) => (text: string) =>
    text.replace(/levels: \d+/, `levels: ${levels}`).replace(/ordersMax: \d+/, `ordersMax: ${2 * levels}`);
  const { clock, whole, open, reload, texts, end } = await watched({ shipped: 'sandbox', before: within(2) });
  await advanceUntil(clock, SECOND, () => open().length === 4);
  reload(within(4)(whole));
  await advanceUntil(clock, SECOND, () => open().length === 8);
  for (let s = 0; s < 60; s++) {
    await clock.advance(SECOND);
    expect(texts()).not.toContain('live orders');
  }
  // And down again: what the new run cancels first is not too many.
  reload(within(1)(whole));
  await advanceUntil(clock, SECOND, () => open().length === 2);
  await clock.advance(60 * SECOND);
  expect([open().length, texts().includes('live orders')]).toEqual([2, false]);
  await end();
});

import { renameSync, symlinkSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { sentinel } from '../../../src/app/run/sentinel.ts';
import { randomOf, Secret } from '../../../src/core/index.ts';
import { memoryLog } from '../../memoryLog.ts';
import { doomed } from '../crashes.ts';
import { wireTo } from '../inProcess.ts';
import { ReloadedBot } from '../loop/reloadedBot.ts';
import { Folders } from '../states.ts';
import { advanceUntil } from '../world.ts';

const folders = new Folders();
afterAll(() => folders.clear());

const SECOND = 1_000;

test('a sentinel that started beside one book cancels the orders in all books that a reload added', async () => {
  const bot = new ReloadedBot(5, 'desk');
  const { world } = bot;
  const { clock, box } = world;
  const whole = bot.text;
  const {
    books,
    book: _,
    jointInventory: _joint,
    ...file
  } = parse(whole) as Record<string, object> & {
    books: Record<string, unknown>[];
  };
  const { symbol, ...sections } = books[0]!;
  bot.text = stringify({ ...file, ...sections, book: symbol });
  const { config } = bot.read();
  const read = () => bot.read();
  const first = await doomed(world, folders, () => null, {
    config,
    source: { file: 'my.yaml', given: config, read, inspect: read },
  });
  // The path that the sentinel knows leads to the bot's folder, and after the kill to what it left.
  const link = folders.fresh();
  symlinkSync(world.stateDir, link);
  const key = box.exchange.venue.addKey(box.account.id, {});
  const { log, lines } = memoryLog();
  const ended = new AbortController();
  const transport = wireTo({ exchange: box.exchange, clock, random: randomOf(77) });
  const over = sentinel(
    { ...config, state: { dir: link } },
    { restUrl: 'http://127.0.0.1/api', key: key.key, secret: new Secret(key.secret), speed: 1, transport },
    ...([clock, 5, log, ended.signal] as const),
  );
  const open = () => {
    const { active } = box.exchange.venue.accounts.get(box.account.id)!;
    return [...new Set([...active.values()].map(({ instrument }) => instrument.symbol))].toSorted();
  };
  await advanceUntil(clock, SECOND, () => open().length === 1);
  bot.text = whole;
  first.running.hangUp();
  await advanceUntil(clock, SECOND, () => open().length === 3);
  const left = first.kill();
  symlinkSync(left, `${link}.new`);
  renameSync(`${link}.new`, link);
  await clock.advance(config.sentinel.ttlMs + 10 * SECOND);
  expect(open(), lines.map(({ text }) => text).join('\n')).toEqual([]);
  ended.abort();
  await clock.advance(5 * SECOND);
  await over;
  await first.running.stop();
  world.end();
});

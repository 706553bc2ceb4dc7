/** Books that only an earlier run had: settled without a quote, while reloads, cancels and rotations go on. */
import { afterAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { replay } from '../../../src/app/inspect/replayCheck.ts';
import { booksOf, recordedConfig } from '../../../src/config.ts';
import type { WireRequest } from '../../../src/core/index.ts';
import { recordedRunOf, recordingsIn } from '../../../src/live/recording/recordings.ts';
import { ReloadBox, RequestBox } from '../../../src/live/mailbox/mailbox.ts';
import { doomed } from '../crashes.ts';
import { Folders } from '../states.ts';
import { advanceUntil, started, type Running } from '../world.ts';
import { ReloadedBot } from './reloadedBot.ts';

const folders = new Folders();
afterAll(() => folders.clear());

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

type Tree = Record<string, unknown>;

/** A bot with one book, started on what a killed bot with three books left; one of its orders cannot be canceled. */
class Scene {
  readonly bot: ReloadedBot;
  readonly dir: string;
  readonly next: Running;
  readonly #first: Running;
  readonly #stuck: { id: string; isFree: boolean };

  private constructor(bot: ReloadedBot, dir: string, next: Running, first: Running, stuck: Scene['stuck']) {
    [this.bot, this.dir, this.next, this.#first, this.#stuck] = [bot, dir, next, first, stuck];
  }

  get stuck(): { id: string; isFree: boolean } {
    return this.#stuck;
  }

  static async start(): Promise<Scene> {
    const bot = new ReloadedBot(8, 'desk');
    const { world } = bot;
    const first = await doomed(world, folders, () => null, { config: bot.read().config });
    await world.clock.advance(MINUTE);
    const dir = first.kill();
    const { active } = world.box.exchange.venue.accounts.get(world.box.account.id)!;
    const order = [...active.values()].find(({ instrument }) => instrument.symbol === 'eth_mxn')!;
    const stuck = { id: order.originId!, isFree: false };
    const { books, book: _, jointInventory: _joint, ...file } = parse(bot.text) as Tree & { books: Tree[] };
    const { symbol, ...sections } = books[0]!;
    const timing = { ...(file['timing'] as Tree), shutdownMs: 10_000, tradeReportDelayMaxMs: 10_000 };
    bot.text = stringify({ ...file, ...sections, book: symbol, state: { dir }, timing });
    const isStuck = ({ method, target, body }: WireRequest) =>
      !stuck.isFree && method === 'DELETE' && `${target}${String(body ?? '')}`.includes(stuck.id);
    const read = () => bot.read();
    const { config } = read();
    const source = { file: 'my.yaml', given: config, read, inspect: read };
    const next = await started(world, { config, source, fate: request => (isStuck(request) ? 'lost' : 'arrives') });
    return new Scene(bot, dir, next, first.running, stuck);
  }

  /** Books in which the started bot has placed an order. */
  placed(): readonly string[] {
    const posts = this.next.arrived.filter(({ method, target }) => method === 'POST' && target === '/api/v3/orders');
    return [...new Set(posts.map(({ body }) => (JSON.parse(String(body)) as { book: string }).book))];
  }

  open(book: string): number {
    const { active } = this.bot.world.box.exchange.venue.accounts.get(this.bot.world.box.account.id)!;
    return [...active.values()].filter(({ instrument }) => instrument.symbol === book).length;
  }

  told(text: string): readonly string[] {
    return this.next.log.filter(line => line.text.includes(text)).map(line => line.text);
  }

  /** Books that the newest run records, with half-spread and log level of the file. */
  recorded(): { books: string[]; halfSpreadBps: unknown; level: string } {
    const { run } = recordingsIn(this.dir).at(-1)!;
    const config = recordedConfig(recordedRunOf(this.dir, run)!.setup);
    const { halfSpreadBps } = config.strategy as unknown as Tree;
    return { books: booksOf(config).map(({ book }) => book), halfSpreadBps, level: config.log.level };
  }

  change(strategy: Tree, level?: string): void {
    const file = parse(this.bot.text) as Tree;
    this.bot.text = stringify({
      ...file,
      strategy: { ...(file['strategy'] as Tree), ...strategy },
      ...(level === undefined ? {} : { log: { level } }),
    });
  }

  /** Asks for a reload, and returns its end and its duration in ms. */
  async reload(id: string): Promise<{ end: string; ms: number; lines: string }> {
    const { clock } = this.bot.world;
    const box = new ReloadBox(this.dir);
    box.put({ id, at: clock.now(), by: 'ann', reason: 'a test', digest: null, isPreview: false });
    for (let ms = 0; ms < 200_000; ms += 100) {
      await clock.advance(100);
      const answer = box.answered();
      if (answer?.id === id) return { end: answer.end, ms, lines: answer.lines.join('; ') };
    }
    throw new Error('no answer');
  }

  async cancel(id: string): Promise<string> {
    const { clock } = this.bot.world;
    const box = new RequestBox(this.dir, 'cancel', 'cancelAnswer');
    box.put({ id, at: clock.now(), by: 'ann', reason: 'a test' });
    for (let ms = 0; ms < 200_000; ms += 100) {
      await clock.advance(100);
      const answer = box.answered();
      if (answer?.id === id) return answer.end;
    }
    throw new Error('no answer');
  }

  async end(): Promise<void> {
    this.stuck.isFree = true;
    const result = await this.next.stop();
    expect(result).toMatchObject({ left: [], failure: null, summary: { ledgerMatches: true, openOrdersLeft: 0 } });
    expect(replay(this.dir, 'all', () => undefined)).toBe(true);
    await this.#first.stop();
    this.bot.world.end();
  }
}

test('a left book is never quoted, however long its order cannot be canceled, and the other book is quoted', async () => {
  const scene = await Scene.start();
  const { clock } = scene.bot.world;
  await clock.advance(40 * SECOND);
  expect(scene.recorded().books).toEqual(['btc_mxn', 'btc_usd', 'eth_mxn']);
  expect([scene.open('eth_mxn'), scene.open('btc_usd')]).toEqual([1, 0]);
  expect(scene.open('btc_mxn')).toBeGreaterThan(0);
  scene.stuck.isFree = true;
  await advanceUntil(clock, SECOND, () => scene.told('resumed without btc_usd, eth_mxn;').length > 0);
  expect(scene.recorded().books).toEqual(['btc_mxn']);
  await clock.advance(5 * SECOND);
  expect(scene.placed()).toEqual(['btc_mxn']);
  await scene.end();
});

test('reloads and a cancel apply while a left book is settled, and are not reverted', async () => {
  const scene = await Scene.start();
  const { clock } = scene.bot.world;
  await advanceUntil(clock, SECOND, () => scene.open('btc_usd') === 0 && scene.open('btc_mxn') > 0);
  await clock.advance(5 * SECOND);
  scene.change({ halfSpreadBps: 40 });
  const answer = await scene.reload('spread');
  expect([answer.end, answer.ms < MINUTE], answer.lines).toEqual(['taken', true]);
  // The settled book has left with this run.
  expect(scene.recorded()).toMatchObject({ books: ['btc_mxn', 'eth_mxn'], halfSpreadBps: 40 });
  // A change without a new run must not lose the left book in the next recording, whose run still has it.
  scene.change({}, 'debug');
  expect((await scene.reload('level')).end).toBe('taken');
  expect(await scene.cancel('cancel')).toBe('left');
  expect(scene.recorded()).toMatchObject({ books: ['btc_mxn', 'eth_mxn'], halfSpreadBps: 40, level: 'debug' });
  scene.stuck.isFree = true;
  await advanceUntil(clock, SECOND, () => scene.recorded().books.length === 1);
  expect(scene.recorded()).toMatchObject({ books: ['btc_mxn'], halfSpreadBps: 40, level: 'debug' });
  expect(scene.placed()).toEqual(['btc_mxn']);
  await scene.end();
});

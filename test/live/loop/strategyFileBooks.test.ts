/** Strategy files of several books: each book has its own instance, its own history and its own failures. */
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { botStatus } from '../../../src/app/actions/botStatus.ts';
import { explain, replayedMoment } from '../../../src/app/inspect/explain.ts';
import { replay } from '../../../src/app/inspect/replayCheck.ts';
import { approvedStrategiesIn } from '../../../src/app/run/approvedStrategy.ts';
import { reloadDigestOf } from '../../../src/app/run/reloading.ts';
import { loadConfig, strategyHashesIn, withFileIn, type FoundStrategyFile } from '../../../src/config.ts';
import { ReloadBox } from '../../../src/live/mailbox/mailbox.ts';
import { readRecording, recordingsIn } from '../../../src/live/recording/recordings.ts';
import { inProcessStream } from '../../../src/sandbox/stream/streamInProcess.ts';
import { shippedConfig, type StrategyApproval } from '../../../src/wiring/configFile.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { changedOwn } from '../../strategies/ownFile.ts';
import { started, worldOf, type Running, type World } from '../world.ts';

/** Values that the strategy files of a test read and write outside of themselves. */
type Outside = {
  /** Calls by book, as each instance counts them in a variable of its module. */
  counts: Record<string, number>;
  /** Times of trades by book. */
  heard: Record<string, number[]>;
  /** Book whose strategy fails. */
  fails: string | null;
  /** Number of times that a file was evaluated. */
  loads: number;
};
const nothing = (): Outside => ({ counts: {}, heard: {}, fails: null, loads: 0 });
const outside = nothing();
(globalThis as { deskTest?: Outside }).deskTest = outside;
afterEach(() => void Object.assign(outside, nothing()));

/** A strategy that counts its calls in a variable of its module, and quotes by this count. */
const COUNTING = changedOwn(
  'type Flow =',
  `const outside = (globalThis as any).deskTest;
outside.loads += 1;
let count = 0;
type Flow =`,
)
  .replace(
    'const unknown =',
    `const { symbol } = instrument;
      outside.counts[symbol] = ++count;
      if (outside.fails === symbol) throw new Error('no luck');
      flow.share = (Math.floor(count / 60) % 5) / 5;
      const unknown =`,
  )
  .replace(
    'trade: ({ side }) =>',
    'trade: ({ side, at }) => void (outside.heard[instrument.symbol] ??= []).push(at), was: ({ side }: any) =>',
  );

const ALL = ['btc_mxn', 'eth_mxn', 'btc_usd'];
const secondOf = (at: number): number => Math.floor(at / 1_000);
const own = (amount: string, file = './own.ts') => ({
  file,
  halfSpreadBps: 16,
  amount,
  levels: 2,
  refreshToleranceBps: 4,
});

class FileDesk {
  readonly world: World;
  readonly codes: Record<string, string>;
  text: string;
  running!: Running;
  #asked = 0;

  /** `strategies`: sections by book; a book without one has that of the file, a ladder. */
  constructor(seed: number, codes: Record<string, string>, strategies: Readonly<Record<string, object>>) {
    this.codes = codes;
    this.world = worldOf(seed, {}, 'desk');
    const tree = parse(readFileSync(shippedConfig('desk'), 'utf8')) as { books: { symbol: string }[] };
    const books = tree.books.map(entry => {
      const strategy = strategies[entry.symbol];
      return strategy === undefined ? entry : { ...entry, strategy };
    });
    this.text = stringify({ ...tree, books, metrics: { port: 0 }, state: { dir: this.world.stateDir } });
  }

  read(isRun = true, assertApproved: StrategyApproval = () => undefined) {
    const { text } = this;
    const files = {
      isRun,
      read: (file: string) => this.codes[file]!,
      assertMayRun: (found: FoundStrategyFile) => assertApproved(found, text),
    };
    const loaded = loadConfig(text, 'my.yaml', undefined, files);
    if (!loaded.ok) throw new UsageError(loaded.errors);
    return { config: loaded.config, text };
  }

  async start(): Promise<this> {
    const { config } = this.read();
    const read = (assertApproved: StrategyApproval) => this.read(true, assertApproved);
    const source = { file: 'my.yaml', given: config, read, inspect: () => this.read(false) };
    const stream = inProcessStream(this.world.box.exchange.stream, this.world.clock);
    this.running = await started(this.world, { stream, source, config });
    await this.world.clock.advance(20_000);
    return this;
  }

  async ask(digest: string | null = null, isPreview = false) {
    const { clock, stateDir } = this.world;
    const box = new ReloadBox(stateDir);
    const id = `ask-${this.#asked++}`;
    box.put({ id, at: clock.now(), by: 'ann', reason: 'a test', digest, isPreview });
    for (let ms = 0; ms < 200_000; ms += 100) {
      await clock.advance(100);
      const answer = box.answered();
      if (answer?.id === id) return answer;
    }
    throw new Error('no answer');
  }

  /** Books in which the account has open orders, by the exchange. */
  quoted(): readonly string[] {
    const open = this.world.other().get<{ book: string }[]>('GET', '/api/v3/open_orders');
    return ALL.filter(symbol => open.some(({ book }) => book === symbol));
  }

  async end(): Promise<void> {
    const result = await this.running.stop();
    expect(result).toMatchObject({ left: [], failure: null });
    const seen = JSON.stringify(outside);
    const lines: string[] = [];
    expect(replay(this.world.stateDir, 'all', line => lines.push(line))).toBe(true);
    // A replay runs no line of a file.
    expect(JSON.stringify(outside)).toBe(seen);
    this.world.end();
  }
}

describe('strategy files of several books', () => {
  test('give each book its own instance of one file, and are replayed and explained without it', async () => {
    const desk = await new FileDesk(
      401,
      { './own.ts': COUNTING },
      {
        btc_mxn: own('0.004'),
        eth_mxn: own('0.1'),
      },
    ).start();
    await desk.world.clock.advance(60_000);
    expect(desk.quoted()).toEqual(ALL);
    const { counts } = outside;
    expect(Object.keys(counts).toSorted()).toEqual(['btc_mxn', 'eth_mxn']);
    // Each book counts only its own calls: a module that both shared would count those of both.
    const { run } = recordingsIn(desk.world.stateDir)[0]!;
    const logged = [0, 0];
    for (const line of readRecording(desk.world.stateDir, run)!.lines)
      if (line.startsWith('q'))
        (JSON.parse(line.slice(1)) as unknown[][]).forEach((quotes, i) => (logged[i]! += quotes.length));
    // The recording of the last second is not on disk yet.
    const unwritten = ['btc_mxn', 'eth_mxn'].map((book, i) => counts[book]! - logged[i]!);
    expect(logged.every(calls => calls > 20)).toBe(true);
    expect(unwritten.every(calls => calls >= 0 && calls < 20)).toBe(true);
    const { stateDir } = desk.world;
    const [btc, eth, usd] = ALL.map(book => explain({ dir: stateDir, at: null, book }));
    const { name } = withFileIn(desk.read().config)[0]!.strategy;
    expect([btc!.strategy, eth!.strategy, usd!.strategy]).toEqual([name, name, 'ladder']);
    expect(eth!.levels.flatMap(({ steps }) => steps.map(step => step.name))).toContain('takers');
    expect(approvedStrategiesIn(stateDir)).toMatchObject([{ file: './own.ts', code: COUNTING }]);
    await desk.end();
  });

  test('fail by book: the others quote on, and a reload makes the strategy again', async () => {
    const desk = await new FileDesk(
      402,
      { './own.ts': COUNTING },
      {
        btc_mxn: own('0.004'),
        eth_mxn: own('0.1'),
      },
    ).start();
    outside.fails = 'eth_mxn';
    await desk.world.clock.advance(40_000);
    expect(desk.quoted()).toEqual(['btc_mxn', 'btc_usd']);
    const [stopped, quoting] = [outside.counts['eth_mxn'], outside.counts['btc_mxn']!];
    outside.fails = null;
    await desk.world.clock.advance(40_000);
    expect(outside.counts['eth_mxn']).toBe(stopped);
    expect(outside.counts['btc_mxn']).toBeGreaterThan(quoting);
    expect(desk.quoted()).toEqual(['btc_mxn', 'btc_usd']);
    const { stateDir, clock } = desk.world;
    expect(JSON.stringify(await botStatus(stateDir, clock))).toContain('own.ts:');
    const answer = await desk.ask();
    expect(answer.end).toBe('taken');
    expect(answer.lines.join('\n')).toMatch(
      /^the strategy of eth_mxn is made again, because \.\/own\.ts:\d+ failed: no luck/m,
    );
    await clock.advance(20_000);
    expect(desk.quoted()).toEqual(ALL);
    await desk.end();
  });

  test('that loop end within the limit in a reload too, and the other books quote', async () => {
    const looping = COUNTING.replace("throw new Error('no luck')", 'for (;;) outside.loads += 0');
    const strategies = { btc_mxn: own('0.004'), eth_mxn: own('0.1') };
    const desk = await new FileDesk(403, { './own.ts': looping }, strategies).start();
    outside.fails = 'eth_mxn';
    desk.text = desk.text.replace('halfSpreadBps: 16', 'halfSpreadBps: 17');
    const answer = await desk.ask();
    expect(answer.lines.join('\n')).toContain('expected an end within 2 s, found none');
    await desk.world.clock.advance(20_000);
    expect(desk.quoted()).toEqual(['btc_mxn', 'btc_usd']);
    await desk.end();
  });

  test('get the trades of their own book from earlier runs, and quote at once', async () => {
    const code = COUNTING.replace('contract: 1', 'contract: 1, history: () => 120_000');
    const strategies = { btc_mxn: own('0.004'), eth_mxn: own('0.1') };
    const desk = await new FileDesk(404, { './own.ts': code }, strategies).start();
    await desk.world.clock.advance(200_000);
    await desk.running.stop();
    const first = structuredClone(outside.heard);
    outside.heard = {};
    await desk.world.clock.advance(15_000);
    await desk.start();
    expect(desk.quoted()).toEqual(ALL);
    const texts = desk.running.log.map(({ text }) => text).join('\n');
    for (const symbol of ['btc_mxn', 'eth_mxn']) {
      const { history } = [...desk.world.box.exchange.venue.books.values()].find(({ rules }) => rules.book === symbol)!;
      const listed = history.page(10_000, 'asc').map(({ at }) => at);
      const heard = outside.heard[symbol]!;
      // Every trade of this book up to now, and none of another. A list of the exchange has whole seconds.
      expect(heard.map(secondOf)).toEqual(listed.slice(-heard.length).map(secondOf));
      expect(heard.filter(at => first[symbol]!.includes(at)).length).toBeGreaterThan(10);
      const got = 'the strategy got \\d+ trades from the recordings and the exchange: the last 120 s';
      expect(texts).toMatch(new RegExp(`${symbol}: ${got}`));
    }
    await desk.end();
  });

  test('run in a reload only if its digest has all of them, and a preview runs none in the bot', async () => {
    const desk = await new FileDesk(
      405,
      { './a.ts': COUNTING, './b.ts': COUNTING },
      {
        btc_mxn: own('0.004', './a.ts'),
        eth_mxn: own('0.1', './b.ts'),
      },
    ).start();
    const { stateDir } = desk.world;
    desk.codes['./a.ts'] = `${COUNTING}// a\n`;
    desk.codes['./b.ts'] = `${COUNTING}// b\n`;
    const { config, text } = desk.read(false);
    const digest = reloadDigestOf(text, config);
    expect(strategyHashesIn(config)).toHaveLength(2);
    const loads = outside.loads;
    const preview = await desk.ask(digest, true);
    // The asking command shows the changes of the files.
    expect([preview.end, outside.loads]).toEqual(['nothing to do', loads]);
    desk.codes['./b.ts'] = `${COUNTING}// another\n`;
    const before = outside.loads;
    const refused = await desk.ask(digest);
    expect([refused.end, refused.lines[0]]).toEqual([
      'kept',
      expect.stringContaining('differs from the previewed file'),
    ]);
    expect(outside.loads).toBe(before);
    desk.codes['./b.ts'] = `${COUNTING}// b\n`;
    const taken = await desk.ask(digest);
    expect(taken.end).toBe('taken');
    expect(taken.lines.join('\n')).toMatch(/books\.btc_mxn\.strategy\.name: .*\n.*books\.eth_mxn\.strategy\.name: /);
    expect(approvedStrategiesIn(stateDir).map(({ code }) => code.slice(-2, -1))).toEqual(['a', 'b']);
    // The first inputs of the new run are not on disk yet.
    await desk.world.clock.advance(5_000);
    const { setup } = replayedMoment({ dir: stateDir, at: null, book: 'eth_mxn' });
    expect(setup.strategy.name).toBe(withFileIn(config)[1]!.strategy.name);
    await desk.end();
  });
});

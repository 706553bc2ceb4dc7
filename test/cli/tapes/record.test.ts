import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { describeRecorded } from '../../../src/app/tapes/record.ts';
import { openStoredTape, type StoredTape } from '../../../src/tape/index.ts';
import { openExchange } from '../embeddedExchange.ts';
import { Bench, complaints, puntas, ran, type Program } from '../program.ts';

const bench = new Bench();
const running: Program[] = [];
afterAll(() => {
  for (const program of running) program.signal('SIGKILL');
  bench.clear();
});
const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

type Face = { readonly url: string; readonly stream: string };

/** An exchange as a process of its own, ten times as busy as the real one, and a configuration that names it as any remote one: without a key. */
async function exchange(): Promise<Face & { readonly program: Program; readonly config: string }> {
  const { program, ...face } = await openExchange(bench.config(), '--speed', '10');
  running.push(program);
  const config = bench.config('live', yaml =>
    yaml.replace(/restUrl: .*/, `restUrl: ${face.url}`).replace(/streamUrl: .*/, `streamUrl: ${face.stream}`),
  );
  return { ...face, program, config };
}

/** Listens to the same stream, on its own: when each frame was sent. */
function listen(address: string): { readonly frames: number[]; close(): void } {
  const socket = new WebSocket(address);
  const frames: number[] = [];
  socket.on('open', () => socket.send(JSON.stringify({ action: 'subscribe', book: 'btc_mxn', type: 'diff-orders' })));
  socket.on('message', (data: Buffer) => {
    const frame = JSON.parse(data.toString()) as { sequence?: number; sent: number };
    if (frame.sequence !== undefined) frames.push(frame.sent);
  });
  return { frames, close: () => socket.terminate() };
}

function timesOf(stored: StoredTape): ReadonlySet<number> {
  const times = new Set<number>();
  for (const { columns } of stored.chunks()) for (const at of columns.at.subarray(0, columns.length)) times.add(at);
  return times;
}

/** Of the exchange's clock. */
const BEGINS_WITHIN_MS = 2_000;

/** Nothing while the tape's first line is not written whole. */
function countOf(kept: () => readonly number[]): number {
  try {
    return kept().length;
  } catch {
    return 0;
  }
}

describe('puntas record', () => {
  test('says at its end for each book whether nothing was recorded', () => {
    const counts = { trades: 0, gaps: 0, gapMs: 0, orders: 0, source: 'none', bytes: 900 } as const;
    const books = [
      { ...counts, book: 'btc_mxn', rows: 7 },
      { ...counts, book: 'eth_mxn', rows: 0 },
    ];
    const [first, second] = describeRecorded({ books, seconds: 12.4, out: 'tape', failure: null }).split('\n');
    expect(first).toMatch(/^btc_mxn: 7 rows, 0 trades in 12 s, no gap; /);
    expect(second).toBe('eth_mxn: nothing was recorded in 12 s, because no complete book was received');
  });

  test('killed at any moment keeps all that was on its disk, damages nothing, and goes on with the same tape', async () => {
    const { program, config, stream } = await exchange();
    const ear = listen(stream);
    const out = bench.path('killed');
    let earlier = 0;
    for (const frames of [20, 31]) {
      const recorder = puntas(['record', '-c', config, '--out', out]);
      running.push(recorder);
      await recorder.sees(/recording from the stream/);
      // How soon what was heard is on disk is held in virtual time (test/tape/recorder.test.ts): here it is read while it is written.
      const kept = () => {
        const times = [...timesOf(openStoredTape(out))].filter(at => at > earlier);
        // A recording begins with a whole book, which holds what was sent before it.
        const from = Math.min(...times) + BEGINS_WITHIN_MS;
        return ear.frames.filter(sent => sent > from && sent <= Math.max(...times));
      };
      while (countOf(kept) < frames) await sleep(100);
      const before = kept();
      recorder.signal('SIGKILL');
      await recorder.ended;
      const times = timesOf(openStoredTape(out));
      expect(before.filter(sent => !times.has(sent))).toEqual([]);
      earlier = Math.max(...times);
    }
    const ended = await ran(['record', '-c', config, '--out', out, '--for', '2s', '--json']);
    ear.close();
    program.signal('SIGTERM');
    await program.ended;
    expect(ended.code).toBe(0);
    const report = JSON.parse(ended.stdout) as { books: { book: string; gaps: number; rows: number }[]; failure: null };
    expect(report).toMatchObject({ failure: null, books: [{ book: 'btc_mxn', gaps: 1 }] });
    const stored = openStoredTape(out);
    expect(stored.gaps.map(({ why }) => why)).toEqual(['the recorder was not running', 'the recorder was not running']);
    expect(stored.days.every(({ closed }) => closed)).toBe(true);
  });

  test('on the embedded exchange records a tape that a backtest takes', async () => {
    const out = bench.path('embedded');
    const ended = await ran(['record', '-c', bench.config(), '--out', out, '--speed', '50', '--for', '4s']);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toMatch(/^btc_mxn: [1-9]\d* rows, \d+ trades in \d+ s, (?:no gap|\d+ gap)/);
    const backtest = await ran(['backtest', '--tape', out, '--models', 'expected', '--json']);
    expect(backtest.stderr).toBe('');
    const { tape, models } = JSON.parse(backtest.stdout) as { tape: { source: string }; models: { model: string }[] };
    expect(tape.source).toMatch(/^http:/);
    expect(models.map(({ model }) => model)).toEqual(['expected']);
  });

  test('on the embedded exchange has a market in a book other than the configured one', async () => {
    const out = bench.path('others');
    const args = ['record', '-c', bench.config(), '--book', 'eth_mxn', '--out', out, '--speed', '10', '--for', '10s'];
    const ended = await ran(args);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toMatch(/^eth_mxn: [1-9]\d+ rows, [1-9]\d* trades/);
  });

  test('of a configuration with several books records them all, for a backtest of them', async () => {
    const out = bench.path('desk');
    const desk = join(import.meta.dirname, '../../../config/desk.yaml');
    const recorded = await ran(['record', '-c', desk, '--out', out, '--speed', '20', '--for', '5s']);
    expect([recorded.code, readdirSync(out).toSorted()]).toEqual([0, ['book=btc_mxn', 'book=btc_usd', 'book=eth_mxn']]);
    const replayed = await ran(['backtest', '-c', desk, '--tape', out, '--models', 'expected', '--json']);
    expect([replayed.code, replayed.stderr.replaceAll(/[^\n]*%[^\n]*\n/g, '')]).toEqual([0, '']);
  });

  test.each([[['--book', 'nothing_here'], /nothing_here: not listed by the exchange; expected one of .*btc_mxn/]])(
    'says in one line what is wrong with %j',
    async (args, sentence) => {
      const ended = await ran(['record', '-c', bench.config(), '--out', bench.path('none'), ...args]);
      expect(ended.code).toBe(2);
      expect(ended.stderr).toMatch(sentence);
      expect(complaints(ended)).toHaveLength(1);
    },
  );
});

describe('puntas import', () => {
  test('makes a tape of what a bot saw, and never writes over one', async () => {
    const config = bench.config('sandbox', text => text.replace(/dir: .*state-\d+/, `dir: ${bench.path('seen')}`));
    const bot = puntas(['run', '-c', config, '--speed', '10', '--json']);
    await bot.sees(/bought|sold/);
    bot.signal('SIGTERM');
    expect((await bot.ended).code).toBe(0);
    const out = bench.path('seen-tape');
    const args = ['import', '--from', bench.path('seen'), '--out', out];
    const ended = await ran([...args, '--json']);
    expect([ended.code, ended.stderr]).toEqual([0, '']);
    const report = JSON.parse(ended.stdout) as {
      format: string;
      book: string;
      trades: number;
      rows: number;
      days: number;
    };
    expect(report).toMatchObject({ format: 'state', book: 'btc_mxn' });
    expect(report.trades).toBeGreaterThan(0);
    expect(openStoredTape(out).rows).toBe(report.rows);
    const again = await ran(args);
    expect(again.code).toBe(2);
    expect(again.stderr).toMatch(/book=btc_mxn already exists; append to this tape/);
  });

  test('that goes on with a tape and is killed half way leaves it as it was, and can be repeated', async () => {
    const START = Date.parse('2025-09-03T23:59:50Z');
    const books = Array.from(
      { length: 40 },
      (_, i) => `${START / 1000},1,${START + i * 500},${100 + (i % 3)}.0,1.5,${103 + (i % 2)}.0,2.0`,
    );
    // Enough for seconds: the import is killed while its folder is there.
    const TRADES = 400_000;
    const trades = Array.from(
      { length: TRADES },
      (_, i) => `${START / 1000},103.0,0.25,buy,${i + 1},${START + Math.floor((i * 20_000) / TRADES)}`,
    );
    const heads = {
      orderbooks: 'timestamp,sequence,exchange_timestamp,bid_price_0,bid_size_0,ask_price_0,ask_size_0',
      trades: 'timestamp,price,size,side,trade_id,exchange_timestamp',
    };
    const written = (folder: string, part: number) => {
      mkdirSync(bench.path(folder));
      for (const [kind, lines] of [
        ['orderbooks', books],
        ['trades', trades],
      ] as const)
        bench.file(`${folder}/${kind}_BTC.csv`, [heads[kind], ...lines.slice(0, lines.length * part)].join('\n'));
      return bench.path(folder);
    };
    const [some, all] = [written('some', 0.375), written('all', 1)];
    const [out, once] = [bench.path('killed-tape'), bench.path('once-tape')];
    expect((await ran(['import', '--from', all, '--out', once])).code).toBe(0);
    expect((await ran(['import', '--from', some, '--out', out, '--append'])).code).toBe(0);
    const hash = openStoredTape(out).hash();
    const reading = puntas(['import', '--from', all, '--out', out, '--append']);
    const work = () => readdirSync(out).filter(name => name.startsWith('.unfinished-import-'));
    await expect.poll(work, { timeout: 200_000, interval: 2 }).toHaveLength(1);
    reading.signal('SIGKILL');
    expect((await reading.ended).code).toBeNull();
    expect(openStoredTape(out).hash()).toBe(hash);
    const repeated = await ran(['import', '--from', all, '--out', out, '--append', '--json']);
    expect([repeated.code, openStoredTape(out).hash()]).toEqual([0, openStoredTape(once).hash()]);
    expect(openStoredTape(out).days.map(({ day }) => day)).toEqual(['2025-09-03', '2025-09-04']);
  });

  test('leaves nothing behind when it cannot finish, and says in one line why', async () => {
    const head = 'exchange,symbol,timestamp,local_timestamp,is_snapshot,side,price,amount\n';
    const good = 'x,ETHUSD,1700000000000000,1700000000000000,true,bid,5.1,1\n';
    const from = bench.file('bad.csv', `${head}${good}${good.replace('bid', 'bed')}`);
    const out = bench.path('bad-tape');
    const ended = await ran(['import', '--from', from, '--out', out]);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toBe(`${from}: line 3: expected side bid or ask, found "bed"\n`);
    expect(existsSync(out) ? readdirSync(out) : []).toEqual([]);
  });

  test.each([
    [['--from', '/nowhere/at/all'], /nowhere\/at\/all: no such file or folder/],
    [['--from', 'docs', '--tick', 'fine'], /expected a decimal number above 0, like 0\.01/],
  ])('says in one line what is wrong with %j', async (args, sentence) => {
    const ended = await ran(['import', '--out', join(bench.dir, 'none'), ...args]);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(sentence);
    expect(complaints(ended)).toHaveLength(1);
  });
});

import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { readConfig, readShipped } from '../../src/wiring/configFile.ts';
import { assertNoOldState } from '../../src/app/run/oldStateCheck.ts';
import { VirtualClock } from '../../src/core/index.ts';
import { openJournal } from '../../src/live/state/journal.ts';
import { latchIn } from '../../src/live/safety/latch.ts';
import type { Log } from '../../src/live/log.ts';
import { markOf, OPENING, OWNER, place } from '../live/states.ts';
import { Bench, puntas, ran, ROOT } from './program.ts';

const bench = new Bench();
afterAll(() => bench.clear());

const shipped = (name: string) => parse(readFileSync(join(ROOT, 'config', `${name}.yaml`), 'utf8')) as object;

/** A file in a folder of its own that names its state, its recording and its feed by relative paths. */
function written(folder: string, changes: object, name = 'sandbox'): string {
  mkdirSync(bench.path(folder), { recursive: true });
  return bench.file(`${folder}/bot.yaml`, stringify({ ...shipped(name), metrics: { port: 0 }, ...changes }));
}

describe('a relative path in a configuration', () => {
  test('is taken from the folder of the file, for every path that it can name', () => {
    const file = written('a', {
      exchange: {
        kind: 'embedded',
        market: { kind: 'tape', dir: '../tapes/btc', books: { eth_mxn: { dir: '../tapes/eth' } } },
      },
      state: { dir: './kept' },
      paper: { stateDir: 'on-paper' },
    });
    const config = readConfig(file);
    expect(config.state.dir).toBe(bench.path('a/kept'));
    expect(config.paper.stateDir).toBe(bench.path('a/on-paper'));
    expect(config.exchange).toMatchObject({
      market: { dir: bench.path('tapes/btc'), books: { eth_mxn: { dir: bench.path('tapes/eth') } } },
    });
  });

  test('of a feed is taken from there too, and an absolute one stays', () => {
    const feeds = [
      { book: 'btc_usd', file: 'price.txt' },
      { book: 'usd_mxn', file: '/run/price' },
    ];
    const file = written('b', { reference: { feeds } });
    expect(readConfig(file).reference?.feeds.map(feed => feed.file)).toEqual([bench.path('b/price.txt'), '/run/price']);
  });

  test('of a feed of one of several books is taken from there too', () => {
    const { books, ...shared } = shipped('desk') as { books: readonly object[] };
    const reference = {
      feeds: [
        { book: 'eth_usd', file: 'price.txt' },
        { book: 'usd_mxn', file: '/run/price' },
      ],
    };
    const own = [books[0]!, { ...books[1]!, reference }, ...books.slice(2)];
    const file = bench.file('several.yaml', stringify({ ...shared, metrics: { port: 0 }, books: own }));
    expect(readConfig(file).books?.[1]?.reference?.feeds.map(feed => feed.file)).toEqual([
      bench.path('price.txt'),
      '/run/price',
    ]);
  });

  test('is taken from the working directory where no file is named: it is nobody’s folder', () => {
    expect(readShipped('sandbox').state.dir).toBe('./state');
  });

  test('means the same state from another working directory: a halt there is seen by check', async () => {
    const file = written('c', { state: { dir: './kept' } });
    mkdirSync(bench.path('c/kept'));
    latchIn(bench.path('c/kept')).set({ reason: 'drawdown of the test', at: 0, by: 'bot' });
    const told = await ran(['check', '-c', file]);
    expect(told.stdout).toContain('drawdown of the test');
    expect(told.code).toBe(0);
  });
});

describe('a command that names neither configuration nor state', () => {
  const told = async (names: readonly string[]) => {
    const cwd = bench.path(`here-${names.length}`);
    for (const name of names) openJournal(join(cwd, name), OPENING).close();
    mkdirSync(join(cwd, 'other'), { recursive: true });
    return puntas(['status'], {}, { cwd }).ended;
  };
  const asked = 'pass the configuration of the bot with -c FILE, or its state directory with --state DIR';

  test('is told the state directories that are here, and reads none of them', async () => {
    const [none, seven] = await Promise.all([told([]), told(['state', 'a', 'c', 'b', 'e', 'f', 'd'])]);
    expect(none).toMatchObject({ code: 2, stdout: '', stderr: `${asked}\n` });
    const found = `${asked}; state directories here: a, b, c, d, e, and 2 more\n`;
    expect(seven).toMatchObject({ code: 2, stdout: '', stderr: found });
  });
});

describe('a state where the working directory put it before', () => {
  const remote = { kind: 'remote', restUrl: 'https://exchange.test' };
  let n = 0;
  /** The YAML's folder, a working directory with a state of that bot, and what is said. */
  function earlier(change: (dir: string) => void, owner = {}) {
    const [folder, cwd] = [`yaml-${++n}`, bench.path(`cwd-${n}`)];
    const file = written(folder, { exchange: remote, state: { dir: './state' } }, 'live');
    const { book, instance } = readConfig(file);
    const dir = join(cwd, 'state');
    const journal = openJournal(dir, { ...OPENING, owner: { ...OWNER, book, instance, ...owner } });
    journal.intend([place('a-1')], OPENING.at);
    journal.ended('a-1', 'canceled');
    journal.flush(markOf('1000', '7'));
    change(dir);
    journal.close();
    const warned: string[] = [];
    const log = { warn: (_: object, text: string) => void warned.push(text) } as unknown as Log;
    return {
      file,
      dir,
      warned,
      heed: () => assertNoOldState(readConfig(file), file, cwd, new VirtualClock(), log),
    };
  }

  test('that holds a halt is refused, with the reason and the command that moves it', async () => {
    const { heed, dir, file } = earlier(at => latchIn(at).set({ reason: 'too many losses', at: 0, by: 'bot' }));
    await expect(heed()).rejects.toThrow(/a halt \(too many losses\).*mv /);
    await expect(heed()).rejects.toThrow(`mv ${dir} ${file.replace('bot.yaml', 'state')}`);
  });

  test('that holds orders which may live is refused, and names them, also when the new place is in use', async () => {
    const { heed, dir, file } = earlier(() => undefined);
    const journal = openJournal(dir, { ...OPENING, owner: ownerOf(file) });
    journal.intend([place('a-2')], OPENING.at);
    journal.close();
    await expect(heed()).rejects.toThrow(/1 order that may still be open \(a-2\).*mv /);
    openJournal(file.replace('bot.yaml', 'state'), { ...OPENING, owner: ownerOf(file) }).close();
    await expect(heed()).rejects.toThrow(`then run puntas run -c ${file} --state ${dir}`);
  });

  test('that holds a ledger which the new place lacks is refused; beside a used one it is only told of', async () => {
    const { heed, warned, file } = earlier(() => undefined);
    await expect(heed()).rejects.toThrow(/its ledger.*mv /);
    openJournal(file.replace('bot.yaml', 'state'), { ...OPENING, owner: ownerOf(file) }).close();
    await heed();
    expect(warned).toHaveLength(1);
  });

  test('of another bot, or of the same bot elsewhere, is not ours to speak of', async () => {
    for (const owner of [{ instance: 'zz' }, { book: 'eth_mxn' }, { venue: 'https://other.test' }]) {
      const { heed, warned } = earlier(at => latchIn(at).set({ reason: 'its own', at: 0, by: 'bot' }), owner);
      await heed();
      expect(warned).toEqual([]);
    }
  });

  const ownerOf = (file: string) => {
    const { book, instance } = readConfig(file);
    return { ...OWNER, book, instance };
  };
});

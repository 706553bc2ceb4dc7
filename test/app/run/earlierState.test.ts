/** Messages of a start about an earlier run: orders behind a failed start, and a state in the folder of older versions. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { assertNoOldState } from '../../../src/app/run/oldStateCheck.ts';
import { withRemainingOrders } from '../../../src/app/run/remainingOrders.ts';
import { instrumentOf } from '../../../src/core/index.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { LineWriter } from '../../../src/live/recording/recording.ts';
import { recorderIn } from '../../../src/live/recording/recordings.ts';
import { bookLatchIn } from '../../../src/live/safety/bookLatch.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { openJournal } from '../../../src/live/state/journal.ts';
import type { Owner } from '../../../src/live/state/owner.ts';
import { StateInUse } from '../../../src/live/state/stateFile.ts';
import { codeOf } from '../../../src/messages/exits.ts';
import { readConfig, shippedConfig } from '../../../src/wiring/configFile.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { bookRules } from '../../core/market.ts';
import { heardLog } from '../../memoryLog.ts';
import { OPENING, place } from '../../live/states.ts';

const clock = realClock();
const root = mkdtempSync(join(tmpdir(), 'puntas-earlier-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const URL = 'https://exchange.test';
const OWNER: Owner = { venue: `${URL}/api`, key: 'k', book: 'btc_mxn', instance: 'mine' };
const shipped = (name: string) => parse(readFileSync(shippedConfig(name), 'utf8')) as Record<string, unknown>;
const [desk, sandbox] = [shipped('desk'), shipped('sandbox')];
const REMOTE = { kind: 'remote', venue: 'bitso', restUrl: URL };

/** A folder with a file of a bot with several books on an exchange; its state is where the file says. */
function botFile(
  changes: Record<string, unknown> = {},
  given = desk,
): { readonly folder: string; readonly file: string } {
  const folder = mkdtempSync(join(root, 'bot-'));
  const file = join(folder, 'my.yaml');
  writeFileSync(file, stringify({ ...given, instance: 'mine', exchange: REMOTE, state: { dir: './its' }, ...changes }));
  return { folder, file };
}

/** Leaves the state of a bot with orders: `count` of the first book, then one of each further book. */
function left(dir: string, count: number, others: readonly string[] = [], owner: Owner = OWNER): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const journal = openJournal(dir, { ...OPENING, owner });
  const first = Array.from({ length: count }, (_, i) => place(`mine-1-${10 + i}`, i % 2 ? 'sell' : 'buy', 1000 + i, 5 + i)); // prettier-ignore
  const more = others.map((symbol, i) => ({ ...place(`mine-2-${10 + i}`, 'sell', 70 + i, 3), symbol }));
  if (count + others.length > 0) journal.intend([...first, ...more], OPENING.at);
  journal.close();
}

/** Leaves the recording of the newest run, or of one before it, with the rules of each book of the desk. */
function recorded(dir: string, run: number, config: object): void {
  const recorder = recorderIn(dir, { run: 10 ** 9 + run, startedAt: 1, setup: JSON.stringify(config), format: 2 });
  const writer = new LineWriter();
  const ticks = { btc_mxn: '10', eth_mxn: '0.5', btc_usd: '0.01' };
  for (const [book, tickSize] of Object.entries(ticks)) {
    const instrument = instrumentOf(bookRules({ book, tickSize }), '0.001');
    recorder.write([
      writer.input({ kind: 'rules', at: 1, symbol: book, instrument, makerRate: 0, takerRate: 0 } as never),
    ]);
  }
  recorder.close();
}

const failure = new UsageError('the key is wrong', 2);
const told = async (error: unknown): Promise<readonly string[]> => {
  expect([error === failure, codeOf(error)]).toEqual([false, 3]);
  return (error as Error).message.split('\n');
};

describe('a start that failed before it opened its state', () => {
  test('names each order of the earlier run in its book and its units, and counts those beyond twenty', async () => {
    const { folder, file } = botFile();
    const dir = join(folder, 'its');
    left(dir, 21, ['eth_mxn', 'btc_usd', 'sol_mxn']);
    recorded(dir, 1, {});
    recorded(dir, 2, readConfig(file));
    const [why, many, ...rows] = await told(await withRemainingOrders(failure, { file }, clock));
    expect([why, many]).toEqual([
      'the key is wrong',
      `according to the state in ${dir}, 24 orders of an earlier run may still be open at the exchange:`,
    ]);
    expect(rows.slice(0, 2)).toEqual(['  mine-1-10 buy 0.005 btc at 10000', '  mine-1-11 sell 0.006 btc at 10010']);
    expect(rows.slice(19, 21)).toEqual(['  mine-1-29 sell 0.024 btc at 10190', '  and 4 more']);
    expect(rows.slice(21)).toEqual([
      `fix the error and start again, which cancels the orders; or cancel the orders with  puntas halt --cancel -c ${file} --reason "..."  (needs a working key), or at the exchange`,
    ]);
    const other = botFile();
    left(join(other.folder, 'its'), 17, ['eth_mxn', 'btc_usd', 'sol_mxn']);
    recorded(join(other.folder, 'its'), 7, readConfig(other.file));
    const [, twenty, ...all] = await told(await withRemainingOrders(failure, { file: other.file }, clock));
    expect([twenty!.includes(', 20 orders of'), all.length]).toEqual([true, 21]);
    // A book without known rules has no units.
    expect(all.slice(17, 20)).toEqual([
      '  mine-2-10 sell 0.003 eth at 35.0',
      '  mine-2-11 sell 0.003 btc at 0.71',
      '  mine-2-12 sell',
    ]);
  });

  test.each<readonly [string, Record<string, unknown>, Partial<Owner>, boolean]>([
    ['the file of this bot', {}, {}, true],
    ['the file of another instance', { instance: 'another' }, {}, false],
    ['the state of another book', {}, { book: 'eth_mxn' }, false],
    ['the state of another exchange', {}, { venue: 'https://elsewhere.test/api' }, false],
    ['the file of a bot on an embedded exchange', { exchange: desk['exchange'] }, {}, false],
    ['a file with errors', { limits: {} }, {}, false],
  ])('names with %s the command that cancels those orders', async (_, changes, owner, isByFile) => {
    const { folder, file } = botFile(changes);
    const dir = join(folder, 'its');
    left(dir, 1, [], { ...OWNER, ...owner });
    const lines = await told(await withRemainingOrders(failure, { file }, clock));
    expect(lines[1]).toContain(`${dir}, 1 order of an earlier run`);
    expect(lines[2]).toBe('  mine-1-10 buy');
    expect(lines.at(-1)).toContain(isByFile ? ` -c ${file} ` : ` --state ${dir} `);
    // A state that replaces that of the file is named as it is.
    const named = await told(await withRemainingOrders(failure, { file, state: dir }, clock));
    expect(named.at(-1)).toContain(` --state ${dir} `);
  });

  test('looks where a file that cannot be read would have its state, and says nothing more without orders', async () => {
    const { folder, file } = botFile();
    for (const [text, dir] of [
      ['state: {dir: ./its}\nlimits: [', join(folder, 'its')],
      ['a: [', join(folder, 'state')],
      ['state: {dir: ""}', join(folder, 'state')],
      ['state: {dir: 7}', join(folder, 'state')],
    ] as const) {
      writeFileSync(file, text);
      rmSync(dir, { recursive: true, force: true });
      expect(await withRemainingOrders(failure, { file }, clock)).toBe(failure);
      left(dir, 0);
      expect(await withRemainingOrders(failure, { file }, clock)).toBe(failure);
      rmSync(dir, { recursive: true });
      left(dir, 2);
      const lines = await told(await withRemainingOrders(failure, { file }, clock));
      expect(lines[1]).toContain(`${dir}, 2 orders`);
    }
    expect(await withRemainingOrders(failure, { file: join(folder, 'none.yaml') }, clock)).toBe(failure);
  });

  test('says nothing of orders that a running bot manages, or that ended with their exchange', async () => {
    const { folder, file } = botFile();
    left(join(folder, 'its'), 1);
    const inUse = new UsageError('in use');
    inUse.cause = new StateInUse('in use');
    expect(await withRemainingOrders(inUse, { file }, clock)).toBe(inUse);
    const embedded = botFile();
    left(join(embedded.folder, 'its'), 1, [], { ...OWNER, venue: null });
    expect(await withRemainingOrders(failure, { file: embedded.file }, clock)).toBe(failure);
  });
});

describe('a state in the folder that older versions used', () => {
  const STOP = { reason: 'odd fills', at: 1, by: 'person', who: 'ana' } as const;
  /** The text of the refusal, or the warnings of a start that goes on; the working directory has the older state. */
  async function started(
    leave: (earlier: string) => void,
    { isKept = false, isPlay = false, hasDir = false, changes = {} } = {},
  ) {
    const given = isPlay ? sandbox : desk;
    const { folder, file } = botFile({ ...(isPlay && { exchange: sandbox['exchange'] }), ...changes }, given);
    const cwd = mkdtempSync(join(root, 'cwd-'));
    const [earlier, dir] = [join(cwd, 'its'), join(folder, 'its')];
    leave(earlier);
    if (hasDir) mkdirSync(dir, { mode: 0o700 });
    if (isKept) left(dir, 0);
    const warnings: string[] = [];
    const log = heardLog(({ text }) => warnings.push(text));
    const refusal = await assertNoOldState(readConfig(file), file, cwd, clock, log).then(
      () => null,
      (error: unknown) => (error as Error).message.replaceAll(earlier, 'EARLIER').replaceAll(dir, 'DIR').replaceAll(file, 'FILE'), // prettier-ignore
    );
    return { refusal, warnings: warnings.map(text => text.replaceAll(earlier, 'EARLIER').replaceAll(dir, 'DIR')) };
  }
  const isQuiet = { refusal: null, warnings: [] };
  const PLAY: Owner = { ...OWNER, venue: null };

  test('is moved or settled first: each halt, order and ledger that it has is named, with the commands', async () => {
    const stopped = (earlier: string) => {
      left(earlier, 2);
      latchIn(earlier).set(STOP);
      bookLatchIn(earlier, 'eth_mxn').setReduce({ ...STOP, reason: 'too much eth' });
    };
    const what =
      'the state directory of FILE is DIR, but EARLIER contains an older state of mine on btc_mxn at https://exchange.test/api, with';
    const found =
      'a halt (odd fills) and a halt of eth_mxn (too much eth) and 2 orders that may still be open (mine-1-10, mine-1-11).';
    const because =
      'Older versions of Puntas used that directory, because they resolved state.dir from the working directory instead of the folder of the configuration file.';
    const resume = 'puntas resume --state EARLIER';
    const settle = `Investigate, then run ${resume} --reason "what you found" and ${resume} --book eth_mxn --reason "what you found" and puntas run -c FILE --state EARLIER --for 10s, and then move EARLIER away`;
    const move = (command: string) => `Move the older state with ${command}, then start the bot again`;
    expect((await started(stopped, { isKept: true })).refusal).toBe(`${what} ${found} ${because} ${settle}`);
    expect((await started(stopped)).refusal).toBe(`${what} ${found} ${because} ${move('mv EARLIER DIR')}`);
    expect((await started(stopped, { hasDir: true })).refusal).toBe(
      `${what} ${found} ${because} ${move('mv EARLIER/* DIR/')}`,
    );
    expect((await started(earlier => left(earlier, 0))).refusal).toBe(
      `${what} its ledger. ${because} ${move('mv EARLIER DIR')}`,
    );
  });

  test('with nothing to settle is named beside a state of its own, and is nothing to an embedded exchange', async () => {
    expect(await started(earlier => left(earlier, 0), { isKept: true })).toEqual({
      refusal: null,
      warnings: ['an old state of this bot in EARLIER is not used; this run uses DIR'],
    });
    for (const isKept of [false, true]) {
      expect(await started(earlier => left(earlier, 3, [], PLAY), { isPlay: true, isKept })).toEqual(isQuiet);
      const { refusal } = await started(
        earlier => {
          left(earlier, 3, [], PLAY);
          latchIn(earlier).set(STOP);
        },
        { isPlay: true, isKept },
      );
      expect(refusal).toContain('at an embedded exchange, with a halt (odd fills). ');
      expect(refusal).not.toContain('puntas run');
    }
  });

  test.each<readonly [string, Owner]>([
    ['another book', { ...OWNER, book: 'eth_mxn' }],
    ['another instance', { ...OWNER, instance: 'other' }],
    ['another exchange', { ...OWNER, venue: 'https://elsewhere.test/api' }],
    ['an embedded exchange', PLAY],
  ])('that is of %s is of another bot', async (_, owner) => {
    expect(await started(earlier => left(earlier, 1, [], owner))).toEqual(isQuiet);
  });

  test('is looked for only where the folder differs, and a bot on an embedded exchange leaves that of a real one', async () => {
    expect(await started(() => undefined)).toEqual(isQuiet);
    const halted = (earlier: string) => {
      left(earlier, 1);
      latchIn(earlier).set(STOP);
    };
    expect(await started(halted, { isPlay: true })).toEqual(isQuiet);
    const { folder, file } = botFile();
    left(join(folder, 'its'), 1);
    await assertNoOldState(
      readConfig(file),
      file,
      folder,
      clock,
      heardLog(({ text }) => expect.unreachable(text)),
    );
  });
});

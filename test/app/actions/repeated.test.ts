/** A command that is killed at any of its writes, and then repeated: it does what one does that nobody kills, and no more. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ACTION_NAMES, type ActionName, type FlattenAsk, type PauseAsk } from '../../../src/app/actions/actions.ts';
import { executeAction } from '../../../src/app/actions/executeAction.ts';
import { hedgesIn } from '../../../src/app/inspect/hedges.ts';
import { adjust, type AdjustAsk } from '../../../src/app/inspect/ledger.ts';
import { settleHedge, type SettleAsk } from '../../../src/app/inspect/settleHedge.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { VirtualClock, type WireRequest } from '../../../src/core/index.ts';
import { flattenIn } from '../../../src/live/safety/flatten.ts';
import { NumberedMailbox } from '../../../src/live/mailbox/mailbox.ts';
import { bookLatchIn } from '../../../src/live/safety/bookLatch.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { STATE_FILE } from '../../../src/live/state/stateFile.ts';
import { doomed } from '../../live/crashes.ts';
import { hedgedWorld, isAccept } from '../../hedge/hedgedWorld.ts';
import { Folders } from '../../live/states.ts';
import type { World } from '../../live/world.ts';
import { disk, hookDisk } from '../killedDisk.ts';

const root = mkdtempSync(join(tmpdir(), 'puntas-repeated-'));
const dir = join(root, 'state');
const snapshot = join(root, 'snapshot');
let unhook = (): void => undefined;
beforeAll(() => (unhook = hookDisk()));
afterAll(() => {
  unhook();
  rmSync(root, { recursive: true, force: true });
});
beforeEach(() => {
  rmSync(dir, { recursive: true, force: true });
  rmSync(snapshot, { recursive: true, force: true });
  mkdirSync(dir, { mode: 0o700 });
});

const clock = new VirtualClock(1_800_000_000_000);
const said = { id: 'a-1', reason: 'a look', by: 'ann', via: 'command' } as const;
const act = (action: 'pause' | 'resume' | 'reduce' | 'halt', book?: string) =>
  executeAction({ stateDir: dir }, { ...said, action, ...(book === undefined ? {} : { book }) }, clock);
/** A book that the bot had: it has a folder of stops, and none is in force. */
const knowsBook = () => mkdirSync(join(dir, 'books', 'eth_mxn'), { recursive: true, mode: 0o700 });
const earlier = { reason: 'an earlier one', at: 1, by: 'person', who: 'ben' } as const;

const textOf = (flatten: ReturnType<ReturnType<typeof flattenIn>['read']>) =>
  flatten && `${flatten.by} ${flatten.reason} ${flatten.costMax}`;

/** What holds there: without the journal of actions, which has a line for each command. */
function holds() {
  const latch = latchIn(dir);
  const own = bookLatchIn(dir, 'eth_mxn');
  const held = [latch.read(), latch.readPause(), latch.readReduce(), latch.readHold()];
  return {
    held: held.map(one => one?.reason ?? null),
    heldInBook: [own.read(), own.readPause(), own.readReduce()].map(one => one?.reason ?? null),
    adjustments: new NumberedMailbox(dir, 'adjust').waiting().map(({ currency, amount }) => `${amount} ${currency}`),
    flatten: textOf(flattenIn(dir).read()),
    settlements: new NumberedMailbox(dir, 'settle').waiting().map(({ id, as, by }) => `${id} ${as} ${by}`),
    unfinished: readdirSync(dir).filter(name => /\.over$|^resuming/.test(name)),
  };
}

/** A command that finds its work done may say that there is nothing to do. */
async function done(command: () => unknown): Promise<void> {
  try {
    await command();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
  }
}

/** The state directory becomes that of a bot that was killed: after 40 s, or at the first request that `isFatal`. */
async function leftBy(world: World, isFatal: (request: WireRequest) => boolean = () => false): Promise<void> {
  const folders = new Folders();
  const bot = await doomed(world, folders, request => (isFatal(request) ? 'unanswered' : null));
  await world.clock.advance(40_000);
  rmSync(dir, { recursive: true });
  cpSync(bot.left() ?? bot.kill(), dir, { recursive: true });
  await bot.running.stop();
  world.end();
  folders.clear();
}

async function killedAnywhere(command: () => unknown): Promise<void> {
  rmSync(snapshot, { recursive: true, force: true });
  cpSync(dir, snapshot, { recursive: true });
  [disk.writes, disk.killAt] = [0, Infinity];
  await command();
  const { writes } = disk;
  const wanted = holds();
  expect(writes).toBeGreaterThan(2);
  for (let n = 1; n <= writes; n++) {
    rmSync(dir, { recursive: true });
    cpSync(snapshot, dir, { recursive: true });
    [disk.writes, disk.killAt] = [0, n];
    // Some go on where they cannot write: a halt is said all the same.
    await Promise.resolve()
      .then(command)
      .catch(() => undefined);
    disk.killAt = Infinity;
    await done(command);
    expect({ n, ...holds() }).toEqual({ n, ...wanted });
  }
}

/** Arguments of a command, without what names the request and its channel. */
type Arguments<A> = Omit<A, 'id' | 'action' | 'via' | 'agent'>;

/**
 * Begins where `killedAnywhere` began. After `command` with `base` and then with one argument changed, `seen` has all
 * that it has after the changed command alone: no argument is ignored where a repetition is told from another command.
 */
async function isAnotherWithEach<A extends object>(
  base: A,
  changes: { readonly [K in keyof Arguments<A>]-?: A[K] },
  command: (ask: A) => unknown,
  seen: () => readonly string[],
): Promise<void> {
  for (const key of Object.keys(changes) as (keyof Arguments<A>)[]) {
    const found = [];
    const changed = { ...base, id: 'another', [key]: changes[key] };
    for (const asks of [[changed], [base, changed]]) {
      rmSync(dir, { recursive: true });
      cpSync(snapshot, dir, { recursive: true });
      for (const ask of asks) await command(ask);
      found.push(seen());
    }
    const [alone, after] = found;
    expect(alone).not.toEqual([]);
    expect({ key, seen: after }).toEqual({ key, seen: expect.arrayContaining([...alone!]) as unknown });
  }
}

/** Verbs without a test below, each with what makes its repetition harmless. */
const ASKED_OF_A_BOT: Partial<Record<ActionName, string>> = {
  cancel: 'its orders are canceled again at the change of runs',
  reload: 'the same file is taken up again',
  set: 'the key has its value already',
};

test('every verb is tried below, or is asked of a bot that runs', () => {
  const tests = readFileSync(fileURLToPath(import.meta.url), 'utf8');
  const missing = ACTION_NAMES.filter(name => !(name in ASKED_OF_A_BOT) && !tests.includes(`  test('${name}`));
  expect(missing).toEqual([]);
});

describe('a command that is killed at any write and repeated leaves what one leaves that is not killed:', () => {
  test('pause', async () => {
    knowsBook();
    await killedAnywhere(() => act('pause'));
    await isAnotherWithEach<PauseAsk>(
      { ...said, action: 'pause', untilMs: clock.now() + 60_000 },
      { reason: 'another one', by: 'ben', untilMs: clock.now() + 30_000, book: 'eth_mxn' },
      ask => executeAction({ stateDir: dir }, ask, clock),
      () =>
        [latchIn(dir), bookLatchIn(dir, 'eth_mxn')].flatMap(latch => {
          const pause = latch.readPause();
          return pause === null ? [] : [JSON.stringify(pause)];
        }),
    );
  });
  test('reduce', () => killedAnywhere(() => act('reduce')));
  test('halt', () => killedAnywhere(() => act('halt')));

  test.each(['pause', 'reduce', 'halt'] as const)('%s of one book', async action => {
    knowsBook();
    await killedAnywhere(() => act(action, 'eth_mxn'));
    expect(holds().held).toEqual([null, null, null, null]);
    expect(holds().heldInBook.filter(reason => reason === said.reason)).toHaveLength(1);
  });

  test('resume of one book, which lifts no halt behind its pause, and none of the whole bot', async () => {
    latchIn(dir).set(earlier);
    const own = bookLatchIn(dir, 'eth_mxn');
    own.set(earlier);
    own.setPause({ ...earlier, until: null });
    await killedAnywhere(() => act('resume', 'eth_mxn'));
    expect(holds().heldInBook).toEqual([earlier.reason, null, null]);
    await killedAnywhere(() => act('resume', 'eth_mxn'));
    expect(holds().heldInBook).toEqual([null, null, null]);
    expect(holds().held).toEqual([earlier.reason, null, null, null]);
  });

  test('resume of a halt', async () => {
    latchIn(dir).set(earlier);
    latchIn(dir).setReduce(earlier);
    await killedAnywhere(() => act('resume'));
    expect(holds().held).toEqual([null, null, null, null]);
  });

  test('resume of a pause, which lifts no halt behind it', async () => {
    latchIn(dir).set(earlier);
    latchIn(dir).setPause({ ...earlier, until: null });
    await killedAnywhere(() => act('resume'));
    expect(holds().held).toEqual([earlier.reason, null, null, null]);
    // Asked once more, after all of that, it is another one.
    expect((await act('resume')).end).toBe('done');
    expect(holds().held).toEqual([null, null, null, null]);
  });

  test('ledger adjust, which books once', async () => {
    writeFileSync(join(dir, STATE_FILE), '');
    const ask = { currency: 'btc', amount: '0.5', reason: 'a gift', by: 'ann' };
    await killedAnywhere(() => adjust(dir, ask, clock));
    expect(holds().adjustments).toHaveLength(1);
    await adjust(dir, { ...ask, reason: 'another gift' }, clock);
    expect(holds().adjustments).toHaveLength(2);
    expect(existsSync(join(dir, STATE_FILE)) && readFileSync(join(dir, STATE_FILE), 'utf8')).toBe('');
    await isAnotherWithEach<Required<Omit<AdjustAsk, 'inTransit'>>>(
      ask,
      { currency: 'mxn', amount: '-0.5', reason: 'another gift', by: 'ben' },
      one => adjust(dir, one, clock),
      () =>
        new NumberedMailbox(dir, 'adjust')
          .waiting()
          .map(({ currency, amount, reason, by }) => `${amount} ${currency} ${reason} ${by}`),
    );
  });

  test('ledger adjust, which is not requested again if the bot books the first request meanwhile', async () => {
    writeFileSync(join(dir, STATE_FILE), '');
    const ask = { currency: 'btc', amount: '0.5', reason: 'a gift', by: 'ann' };
    await adjust(dir, ask, clock);
    const again = adjust(dir, ask, clock);
    // The bot has booked the request, and removes its file, while the repeated command reads the ledger.
    const box = new NumberedMailbox(dir, 'adjust');
    for (const request of box.waiting()) box.done(request.id);
    await again;
    expect(holds().adjustments).toEqual([]);
  });

  test('flatten, which is one request with one sum to spend', async () => {
    await leftBy(hedgedWorld(3, { band: '0.09', venues: ['book'] }));
    const flatten = (id: string) =>
      executeAction({ stateDir: dir }, { ...said, id, action: 'flatten', costMax: '900' }, clock);
    await killedAnywhere(() => flatten('a-1'));
    const { id } = flattenIn(dir).read()!;
    // By its id the hedger knows what it has cost so far.
    await flatten('a-2');
    expect(flattenIn(dir).read()?.id).toBe(id);
    await isAnotherWithEach<FlattenAsk>(
      { ...said, action: 'flatten', costMax: '900' },
      { reason: 'another one', by: 'ben', costMax: '899.99' },
      ask => executeAction({ stateDir: dir }, ask, clock),
      () => [`${flattenIn(dir).read()?.id} ${textOf(flattenIn(dir).read())}`],
    );
  });

  test('hedges settle, which settles one hedge once', async () => {
    await leftBy(hedgedWorld(92, { venues: ['conversion'], pauseMs: 600_000, costMaxBps: 150 }), isAccept);
    const { id } = hedgesIn(dir).find(({ state }) => state === 'unknown' || state === 'accepted')!;
    const ask = { id, as: 'executed', reason: 'seen on its web page', by: 'ann' } as const;
    await killedAnywhere(() => settleHedge(dir, ask, clock));
    await settleHedge(dir, ask, clock);
    expect(holds().settlements).toEqual([`${id} executed ann`]);
    await isAnotherWithEach<Pick<SettleAsk, 'as' | 'reason' | 'by'>>(
      ask,
      { as: 'failed', reason: 'called the exchange', by: 'ben' },
      one => settleHedge(dir, { ...one, id }, clock),
      () => new NumberedMailbox(dir, 'settle').waiting().map(({ as, reason, by }) => `${as} ${reason} ${by}`),
    );
  });
});

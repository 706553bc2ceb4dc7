/** A command that is killed at any of its writes, and then repeated: it does what one does that nobody kills, and no more. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { carryOut } from '../../../src/app/actions/carryOut.ts';
import { adjust } from '../../../src/app/inspect/ledger.ts';
import { UsageError } from '../../../src/app/wiring/usageError.ts';
import { VirtualClock } from '../../../src/core/index.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { NumberedMailbox } from '../../../src/live/mailbox/mailbox.ts';
import { STATE_FILE } from '../../../src/live/state/stateFile.ts';
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
const act = (action: 'pause' | 'resume' | 'reduce' | 'halt') => carryOut({ stateDir: dir }, { ...said, action }, clock);
const earlier = { reason: 'an earlier one', at: 1, by: 'person', who: 'ben' } as const;

/** What holds there: without the journal of actions, which has a line for each command. */
function holds() {
  const latch = latchIn(dir);
  const held = [latch.read(), latch.readPause(), latch.readReduce(), latch.readHold()];
  return {
    held: held.map(one => one?.reason ?? null),
    adjustments: new NumberedMailbox(dir, 'adjust').waiting().map(({ currency, amount }) => `${amount} ${currency}`),
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

async function killedAnywhere(command: () => unknown): Promise<void> {
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

describe('a command that is killed at any write and repeated leaves what one leaves that is not killed:', () => {
  test('pause', () => killedAnywhere(() => act('pause')));
  test('reduce', () => killedAnywhere(() => act('reduce')));
  test('halt', () => killedAnywhere(() => act('halt')));

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
    await killedAnywhere(() => adjust(dir, ask, 1));
    expect(holds().adjustments).toHaveLength(1);
    adjust(dir, { ...ask, reason: 'another gift' }, 2);
    expect(holds().adjustments).toHaveLength(2);
    expect(existsSync(join(dir, STATE_FILE)) && readFileSync(join(dir, STATE_FILE), 'utf8')).toBe('');
  });
});

/** A request to a bot is answered, or ends at once where no bot can answer any more. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { askBot } from '../../../src/app/inspect/askBot.ts';
import { VirtualClock } from '../../../src/core/index.ts';
import { heartbeatIn } from '../../../src/live/safety/heartbeat.ts';
import { ReloadBox } from '../../../src/live/mailbox/mailbox.ts';
import { Folders } from '../../live/states.ts';

const folders = new Folders();
afterAll(() => folders.clear());

const request = { id: 'r1', at: 0, by: 'ana', reason: 'to see', digest: 'd', isPreview: false };
/** A process that has ended. */
const gone = (): number => spawnSync(process.execPath, ['-e', '']).pid;

type Life = { readonly state?: string; readonly process?: { readonly pid: number; readonly host: string } };

/** How the ask ends, and after how many seconds; `then` happens two seconds after the bot has taken it up. */
async function askedOf(life: Life, isTaken: boolean, then: Life = life): Promise<readonly [string, number]> {
  const dir = folders.fresh();
  mkdirSync(dir, { recursive: true });
  const clock = new VirtualClock();
  const beat = (of: Life, counter = 1) =>
    writeFileSync(
      join(dir, 'heartbeat.json'),
      JSON.stringify({ ...{ counter, born: 1, reads: 1, unreadMs: 0, state: 'alive' }, ...of }),
    );
  beat(life);
  const box = new ReloadBox(dir);
  let end: string | null = null;
  const asked = askBot(dir, box, { ...request, at: clock.now() }, clock, 'Start it').then(
    () => (end = 'answered'),
    (error: unknown) => (end = (error as Error).message),
  );
  const began = clock.elapsed();
  for (let steps = 1; end === null; steps++) {
    await clock.advance(100);
    if (isTaken && steps === 5) box.take();
    if (steps === 25) beat(then);
    if (steps > 4_000) throw new Error('nothing ends it');
  }
  await asked;
  expect(box.waiting()).toBeNull();
  return [end, (clock.elapsed() - began) / 1000];
}

const here = (pid: number) => ({ process: { pid, host: hostname() } });

describe('a request to a bot', () => {
  test.each([
    ['that is dead', here(gone()), false, here(gone()), 'the bot is down: its process does not exist', 3],
    [
      'that dies while it works on it',
      here(process.pid),
      true,
      here(gone()),
      'the bot is down: its process does not exist',
      3,
    ],
    ['that stops while it works on it', here(process.pid), true, { state: 'stopped' }, 'the bot has stopped', 3],
    [
      'that cannot be looked for, and hangs',
      { process: { pid: 1, host: 'elsewhere' } },
      true,
      { process: { pid: 1, host: 'elsewhere' } },
      'no heartbeat from the bot for 90 s',
      95,
    ],
  ])('%s ends with why, soon', async (_, life, isTaken, then, says, within) => {
    const [end, seconds] = await askedOf(life, isTaken, then);
    expect(end).toContain(says);
    expect(end).toMatch(/(?:; |If it is not running: )Start it/);
    expect(seconds).toBeLessThan(within);
  });

  test('that lives is waited for', async () => {
    const dir = folders.fresh();
    mkdirSync(dir, { recursive: true });
    const clock = new VirtualClock();
    const heart = heartbeatIn(dir, 'bot', clock);
    heart.beat('alive');
    const box = new ReloadBox(dir);
    const asked = askBot(dir, box, { ...request, at: clock.now() }, clock, 'Start it');
    await clock.advance(1_000);
    box.take();
    for (let s = 0; s < 200; s++) {
      heart.beat('alive');
      await clock.advance(1_000);
    }
    box.answer({ id: 'r1', at: clock.now(), end: 'taken', lines: [] } as never);
    await clock.advance(1_000);
    expect((await asked).id).toBe('r1');
  });
});

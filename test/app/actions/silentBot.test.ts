/** Actions on a bot that shows no heartbeat: each says so, and names the process that does not react. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { executeAction } from '../../../src/app/actions/executeAction.ts';
import { frozenText } from '../../../src/app/inspect/botLife.ts';
import { HEARTBEAT_FILES, heartbeatIn } from '../../../src/live/safety/heartbeat.ts';
import { realClock } from '../../../src/live/realClock.ts';

const clock = realClock();
const children: ChildProcess[] = [];
afterAll(() => children.forEach(child => child.kill('SIGKILL')));

/** A state directory whose last heartbeat is `agoMs` old and names a process that loops, or that has ended. */
function silentFor(agoMs: number, isLooping: boolean) {
  const stateDir = mkdtempSync(join(tmpdir(), 'puntas-silent-'));
  heartbeatIn(stateDir, 'bot', clock, 1).beat('alive');
  const file = join(stateDir, HEARTBEAT_FILES.bot);
  let pid = 2 ** 22 + 1;
  if (isLooping) {
    const child = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
    children.push(child);
    pid = child.pid!;
  }
  const beat = JSON.parse(readFileSync(file, 'utf8')) as { readonly process: object };
  writeFileSync(file, JSON.stringify({ ...beat, process: { ...beat.process, pid } }));
  const at = (clock.now() - agoMs) / 1_000;
  utimesSync(file, at, at);
  return { stateDir, pid };
}

let asked = 0;
const ACTIONS = ['halt', 'reduce', 'pause'] as const;
const linesOf = async (stateDir: string, action: (typeof ACTIONS)[number]): Promise<string> => {
  const { end, lines } = await executeAction(
    { stateDir },
    { id: `ask-${asked++}`, action, reason: 'a test', by: 'ann', via: 'command' },
    clock,
  );
  expect(end).toBe('done');
  return lines.join('\n');
};

test.each(ACTIONS)('%s of a bot without a heartbeat says that the bot may not execute it', async action => {
  const frozen = silentFor(40_000, true);
  expect(await linesOf(frozen.stateDir, action)).toMatch(
    new RegExp(
      `\\nNO HEARTBEAT for 4\\d s, and the bot was not stopped: it may execute nothing, and its orders may still be open; the bot's process ${frozen.pid} exists but does not react; signals may have no effect, so end it with kill -9 ${frozen.pid}; cancel all orders with: puntas halt --cancel --state ${frozen.stateDir} `,
    ),
  );
  // A second halt finds the first one, and the bot as silent.
  expect(await linesOf(frozen.stateDir, 'halt')).toContain('NO HEARTBEAT');
  const killed = await linesOf(silentFor(1_000, false).stateDir, action);
  expect(killed).toMatch(/\nNO HEARTBEAT for 1 s, .* still be open; cancel all orders with: puntas halt --cancel /);
  const alive = await linesOf(silentFor(1_000, true).stateDir, action);
  expect(alive).not.toContain('NO HEARTBEAT');
});

test('the status of a process that does not react points to its strategy file', () => {
  const { stateDir, pid } = silentFor(40_000, true);
  expect(frozenText(stateDir, clock.now(), 'own.ts@123')).toMatch(
    new RegExp(`^the bot's process ${pid} exists but .*; look for a loop in the strategy file own\\.ts@123$`),
  );
  expect(frozenText(stateDir, clock.now(), null)).not.toContain('strategy');
});

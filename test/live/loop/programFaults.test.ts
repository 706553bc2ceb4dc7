import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { explain } from '../../../src/app/inspect/explain.ts';
import { explanationText } from '../../../src/app/inspect/explainText.ts';
import { replay } from '../../../src/app/inspect/replayCheck.ts';
import { Engine, type EngineEvent } from '../../../src/core/index.ts';
import { Folders } from '../states.ts';
import { started, worldOf, type RunChanges, type World } from '../world.ts';

const folders = new Folders();
const SECOND = 1_000;
afterAll(() => folders.clear());
afterEach(() => void vi.restoreAllMocks());

/** A run of which something breaks in the middle, until it has ended by itself; its state is kept. */
async function broken(world: World, changes: RunChanges) {
  const bot = await started(world, changes);
  let isOver = false;
  void bot.ended.finally(() => (isOver = true));
  for (let s = 0; !isOver && s < 600; s++) await world.clock.advance(SECOND);
  const { failure, left, summary } = await bot.ended;
  const dir = folders.copyOf(world.stateDir);
  world.end();
  return { dir, failure, left, halted: summary.halted, errors: bot.log.filter(line => line.level === 'error') };
}

/** What a replay of the last run says of it, and whether all came out the same. */
function replayed(dir: string): { readonly same: boolean; readonly printed: string } {
  const lines: string[] = [];
  const same = replay(dir, 'last', line => lines.push(line));
  return { same, printed: lines.join('\n') };
}

describe('a bot that breaks', () => {
  test('while it tells of a decision ends its turn first: it stops clean and halted, with a stack, and its recording replays whole', async () => {
    let told = 0;
    const { dir, failure, left, halted, errors } = await broken(worldOf(51), {
      onLine: ({ text }) => {
        if (/^(placing|bought|sold)/.test(text) && ++told > 20) throw new TypeError('no such log');
      },
    });
    expect([failure, halted, left]).toEqual(['no such log', 'no such log', []]);
    expect(errors[0]).toMatchObject({
      text: 'stopping after an internal error: no such log',
      known: { stack: expect.stringMatching(/^TypeError: no such log\n +at .*programFaults\.test\.ts/) as string },
    });
    expect(replayed(dir).printed).toMatch(/^run \d+: \d+ inputs, \d+ commands, all commands identical$/);
    const told2 = explain({ dir, at: null });
    expect([told2.difference, told2.note]).toEqual([null, null]);
    expect(told2.regime).toMatchObject({ regime: 'halted', why: 'no such log' });
  });

  test('in the middle of a decision says so to a person who asks for an explanation, and is no difference', async () => {
    const step = Object.getOwnPropertyDescriptor(Engine.prototype, 'step')!.value as Engine['step'];
    let balances = 0;
    // A defect: the third balances end half of what they began.
    vi.spyOn(Engine.prototype, 'step').mockImplementation(function (this: Engine, event: EngineEvent) {
      const commands = step.call(this, event);
      if (event.kind === 'restore') balances = 0;
      if (event.kind === 'balances' && ++balances === 3) throw new RangeError('not a whole number of lots');
      return commands;
    });
    const { dir, failure, left } = await broken(worldOf(52), {});
    expect([failure, left]).toEqual(['not a whole number of lots', []]);
    expect(replayed(dir)).toEqual({
      same: true,
      printed: expect.stringMatching(
        /^run \d+: \d+ inputs, \d+ commands, all commands identical, and the engine failed as in the recording: not a whole number of lots$/,
      ) as string,
    });
    const told = explain({ dir, at: null });
    expect([told.difference, told.note]).toEqual([null, 'the engine failed in this run: not a whole number of lots']);
    expect(explanationText(told)).not.toContain('DIFFERENT');

    // A Puntas in which the defect is mended decides otherwise from there on.
    vi.restoreAllMocks();
    expect(replayed(dir)).toEqual({
      same: false,
      printed: expect.stringMatching(
        /DIFFERENT after balances at .*but the recorded engine fails with: not a whole/,
      ) as string,
    });
  });
});

import { afterAll, expect, test } from 'vitest';
import { replay } from '../../../src/app/inspect/replayCheck.ts';
import { lineOf } from '../../../src/live/recording/recording.ts';
import { readRecording, recordingsIn } from '../../../src/live/recording/recordings.ts';
import { inProcessStream } from '../../../src/sandbox/index.ts';
import { doomed, restarted } from '../crashes.ts';
import { Folders } from '../states.ts';
import { worldOf } from '../world.ts';

const folders = new Folders();
afterAll(() => folders.clear());
const SECOND = 1_000;

/** Every part, and the price through two other books of the embedded exchange. */
const CHANGES = {
  reference: { books: ['btc_usd', 'usd_mxn'], everyMs: 4_000 },
  timing: { bookPollMs: 2_500 },
  fairValue: {
    withinBps: 80,
    mid: {},
    weightedMid: {},
    microprice: { tick: '10', imbalanceBuckets: 2, spreadsTicks: [], adjustTicks: [[-2, 2]] },
    lastTrades: { memory: '1m', maxAgeMs: 600_000 },
    reference: { basisMemory: '1h' },
    depthImbalance: { bpsPerDeviation: 0.5 },
    orderFlowImbalance: { bpsPerUnit: 0.5, maxBps: 2 },
  },
};

test('a fair value of every part quotes live, begins anew after a kill, and is replayed command by command without the other books', async () => {
  const world = worldOf(72, CHANGES);
  const stream = inProcessStream(world.box.exchange.stream, world.clock, 5);
  const first = await doomed(world, folders, undefined, { stream });
  await world.clock.advance(60 * SECOND);
  const dir = first.kill();
  const second = await restarted(world, dir, { stream });
  await world.clock.advance(60 * SECOND);
  const { summary, left } = await second.stop();
  const printed: string[] = [];
  expect(replay(dir, 'all', line => printed.push(line))).toBe(true);
  expect(printed.filter(line => line.endsWith('all commands identical'))).toHaveLength(2);
  expect([summary.ledgerMatches, left]).toEqual([true, []]);
  expect(Math.min(summary.uptime.bid, summary.uptime.ask)).toBeGreaterThan(0.5);
  for (const { run } of recordingsIn(dir)) {
    const lines = [...(readRecording(dir, run)?.lines ?? [])].map(lineOf);
    const references = lines.filter(line => line.kind === 'input' && line.event.kind === 'reference');
    expect(references.length).toBeGreaterThan(8);
    expect(lines.filter(line => line.kind === 'commands').length).toBeGreaterThan(3);
  }
  await first.running.stop();
  world.end();
});

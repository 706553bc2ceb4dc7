/** The lead of one price over another, estimated while both are read. */
import { expect, test } from 'vitest';
import { normal, randomOf, RunningLead } from '../../../src/core/index.ts';

/** Reads of two prices during `seconds`; `y` follows the common path after `lagMs`. Both have noise of their own. */
function readBoth(seconds: number, lagMs: number, seed: number) {
  const random = randomOf(seed);
  const running = new RunningLead();
  const path = [0];
  for (let i = 1; i <= seconds * 4; i++) path.push(path[i - 1]! + 1e-4 * normal(random));
  const noisy = (i: number) => Math.exp((path[Math.max(0, i)] ?? 0) + 2e-5 * normal(random));
  for (let i = 0; i <= seconds * 4; i++) {
    running.readX(i * 250, noisy(i));
    running.readY(i * 250, noisy(i - lagMs / 250));
  }
  return { running, ...running.estimate(seconds * 1_000) };
}

test('finds a planted lead with its interval, in both directions', () => {
  for (const lagMs of [1_500, -1_500]) {
    const { lead, reason } = readBoth(900, lagMs, 7);
    expect(reason).toBeNull();
    expect(lead!.lagMs).toBe(lagMs);
    expect(lead!.lowMs <= lagMs && lagMs <= lead!.highMs).toBe(true);
    expect(lead!.lowMs * lagMs).toBeGreaterThan(0);
  }
});

test('says why there is no lead: too few reads, or none that stands out of the noise', () => {
  const few = new RunningLead();
  few.readX(0, 100);
  few.readX(10, Number.NaN);
  few.readY(0, 100);
  expect(few.estimate(1_000)).toEqual({
    lead: null,
    reason: "lead unknown until 60 prices each of the source and of the bot's book are read; 1 so far",
  });
  const random = randomOf(3);
  const alone = new RunningLead();
  for (let i = 0; i < 2_400; i++) {
    alone.readX(i * 250, Math.exp(1e-4 * normal(random)));
    alone.readY(i * 250, Math.exp(1e-4 * normal(random)));
  }
  expect(alone.estimate(600_000)).toEqual({ lead: null, reason: 'no lead found in the prices of the last 10 min' });
});

test('forgets what is older than an hour, and estimates at most once per minute', () => {
  const { running, lead } = readBoth(900, 1_500, 7);
  expect(lead).not.toBeNull();
  for (let at = 900_250; at <= 4_600_000; at += 250) {
    running.readX(at, 1);
    running.readY(at, 1);
  }
  const later = running.estimate(4_600_000);
  expect(later).toEqual({ lead: null, reason: 'no lead found in the prices of the last 60 min' });
  expect(running.estimate(4_659_999)).toBe(later);
  expect(running.estimate(4_660_000)).not.toBe(later);
});

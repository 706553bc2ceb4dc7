import { describe, expect, test } from 'vitest';
import { LastScrape } from '../../src/monitor/lastScrape.ts';
import { VirtualClock } from '../../src/core/index.ts';

/** Scrapes at these times, each followed by the next; then the stop. */
async function scraped(...gaps: readonly number[]) {
  const clock = new VirtualClock();
  const scrapes = new LastScrape(clock, 1);
  for (const gap of gaps) {
    await clock.advance(gap);
    scrapes.happened('Prometheus');
  }
  return { clock, scrapes };
}

async function endsAfter(clock: VirtualClock, ends: Promise<void>, atMost: number): Promise<number> {
  const began = clock.elapsed();
  let ended: number | null = null;
  void ends.then(() => (ended = clock.elapsed() - began));
  for (let ms = 0; ms <= atMost && ended === null; ms += 500) await clock.advance(500);
  return ended ?? Number.NaN;
}

describe('the end of a run', () => {
  test('waits for the next scrape of who asks regularly, and not a moment longer', async () => {
    const { clock, scrapes } = await scraped(0, 5_000, 5_100, 4_900);
    await clock.advance(2_000);
    clock.after(3_000, () => scrapes.happened('Prometheus'));
    expect(await endsAfter(clock, scrapes.next(), 20_000)).toBe(3_000);
  });

  test.each([
    ['half a time more than usual when nobody comes', [0, 5_000, 5_000], 7_500],
    ['a quarter of a minute at the most', [0, 60_000, 60_000], 15_000],
    ['not at all for one or two looks at the page', [0, 4_000], 0],
    ['not at all for a person who looks now and then', [0, 2_000, 9_000, 30_000], 0],
  ])('waits %s', async (_, gaps, ms) => {
    const { clock, scrapes } = await scraped(...gaps);
    expect(await endsAfter(clock, scrapes.next(), 60_000)).toBe(ms);
  });

  test('waits for who asks regularly when a person has looked in between, and for no look of that person', async () => {
    const { clock, scrapes } = await scraped(0, 5_000, 5_000);
    for (const ms of [500, 300]) {
      await clock.advance(ms);
      scrapes.happened('curl');
    }
    clock.after(1_000, () => scrapes.happened('curl'));
    clock.after(4_000, () => scrapes.happened('Prometheus'));
    expect(await endsAfter(clock, scrapes.next(), 20_000)).toBe(4_000);
  });

  test('waits for who asks regularly when one of the last times was late', async () => {
    const { clock, scrapes } = await scraped(0, 5_000, 5_000, 5_000, 9_500, 500);
    clock.after(4_000, () => scrapes.happened('Prometheus'));
    expect(await endsAfter(clock, scrapes.next(), 20_000)).toBe(4_000);
  });

  test('waits for who asks regularly when the process stood still and then answered all that had asked meanwhile at once', async () => {
    const { clock, scrapes } = await scraped(0, 2_000, 2_000, 2_000, 20_000, 1, 1, 1, 1, 1, 1, 1, 2_000);
    clock.after(2_000, () => scrapes.happened('Prometheus'));
    expect(await endsAfter(clock, scrapes.next(), 20_000)).toBe(2_000);
  });

  test('does not wait for who has not asked for a while', async () => {
    const { clock, scrapes } = await scraped(0, 5_000, 5_000, 5_000);
    await clock.advance(11_000);
    expect(await endsAfter(clock, scrapes.next(), 20_000)).toBe(0);
  });
});

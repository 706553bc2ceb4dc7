import { describe, expect, test } from 'vitest';
import { LastScrape } from '../../src/monitor/lastScrape.ts';
import { VirtualClock } from '../../src/core/index.ts';

/** Scrapes at these times, each followed by the next; then the stop. All times are real ones, of a clock of any speed. */
async function scraped(gaps: readonly number[], speed = 1) {
  const clock = new VirtualClock();
  const scrapes = new LastScrape(clock, speed);
  for (const gap of gaps) {
    await clock.advance(speed * gap);
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
    const { clock, scrapes } = await scraped([0, 5_000, 5_100, 4_900]);
    await clock.advance(2_000);
    clock.after(3_000, () => scrapes.happened('Prometheus'));
    expect(await endsAfter(clock, scrapes.next(), 20_000)).toBe(3_000);
  });

  test.each(
    [
      ['half a time more than usual when nobody comes', [0, 5_000, 5_000], 7_500] as const,
      ['a quarter of a minute at the most', [0, 60_000, 60_000], 15_000] as const,
      ['not at all for one or two looks at the page', [0, 4_000], 0] as const,
      ['not at all for a person who looks now and then', [0, 2_000, 9_000, 30_000], 0] as const,
      ['by the usual time if some scrapes come together', [0, 5_000, 100, 100, 4_800, 100, 100], 7_500] as const,
    ].flatMap(([name, gaps, ms]) => [1, 10].map(speed => [name, speed, gaps, ms] as const)),
  )('waits %s, at %i times the speed', async (_, speed, gaps, ms) => {
    const { clock, scrapes } = await scraped(gaps, speed);
    expect(await endsAfter(clock, scrapes.next(), 600_000)).toBe(speed * ms);
  });

  test('waits for the sixteen clients whose last scrapes are the newest', async () => {
    const waited = async (...late: readonly string[]) => {
      const clock = new VirtualClock();
      const scrapes = new LastScrape(clock, 1);
      const clients = Array.from({ length: 16 }, (_, i) => `client ${i}`);
      // The last time, they come in the other order.
      for (const round of [clients, clients, clients.toReversed()]) {
        await clock.advance(5_000);
        for (const client of round) scrapes.happened(client);
      }
      scrapes.happened('curl');
      const ends = scrapes.next();
      for (const client of clients) clock.after(late.includes(client) ? 4_000 : 1_000, () => scrapes.happened(client));
      return endsAfter(clock, ends, 20_000);
    };
    expect(await waited('client 0')).toBe(4_000);
    // A seventeenth client takes the place of the one that was first in the last round.
    expect(await waited('client 15')).toBe(1_000);
  });

  test('waits for who asks regularly when a person has looked in between, and for no look of that person', async () => {
    const { clock, scrapes } = await scraped([0, 5_000, 5_000]);
    for (const ms of [500, 300]) {
      await clock.advance(ms);
      scrapes.happened('curl');
    }
    clock.after(1_000, () => scrapes.happened('curl'));
    clock.after(4_000, () => scrapes.happened('Prometheus'));
    expect(await endsAfter(clock, scrapes.next(), 20_000)).toBe(4_000);
  });

  test('waits for who asks regularly when one of the last times was late', async () => {
    const { clock, scrapes } = await scraped([0, 5_000, 5_000, 5_000, 9_500, 500]);
    clock.after(4_000, () => scrapes.happened('Prometheus'));
    expect(await endsAfter(clock, scrapes.next(), 20_000)).toBe(4_000);
  });

  test('waits for who asks regularly when the process stood still and then answered all that had asked meanwhile at once', async () => {
    const { clock, scrapes } = await scraped([0, 2_000, 2_000, 2_000, 20_000, 1, 1, 1, 1, 1, 1, 1, 2_000]);
    clock.after(2_000, () => scrapes.happened('Prometheus'));
    expect(await endsAfter(clock, scrapes.next(), 20_000)).toBe(2_000);
  });

  test('does not wait for who has not asked for a while', async () => {
    const { clock, scrapes } = await scraped([0, 5_000, 5_000, 5_000]);
    await clock.advance(11_000);
    expect(await endsAfter(clock, scrapes.next(), 20_000)).toBe(0);
  });
});

/** A look at ten books of a real server: what it asks for, and what it says when it was ended soon. */
import { describe, expect, test } from 'vitest';
import { describeScouting } from '../../../../backtest/app/scout/scoutText.ts';
import { scoutMarket } from '../../../../backtest/app/scout/scout.ts';
import { realClock } from '../../../../src/live/realClock.ts';
import { lookAtTen } from './scoutLive.ts';
import { NO_PROGRESS } from '../../../app/noProgress.ts';

describe('ten books of a real server', () => {
  test.each([
    ['by its streams', true],
    ['by polls alone', false],
  ])('%s are watched with at most 60 requests in any minute, and none is turned away', async (_, stream) => {
    const { scouted, mostPerMinute, requests, turnedAway } = await lookAtTen({
      seed: 1,
      speed: 20,
      forMs: 140_000,
      stream,
    });
    expect(mostPerMinute).toBeLessThanOrEqual(60);
    expect(turnedAway).toBe(0);
    // Each book was asked for, and polls went on for two minutes.
    expect(requests).toBeGreaterThan(stream ? 20 : 70);
    const { books, leftOut } = scouted.scouting;
    expect([...books.map(({ book }) => book), ...leftOut.map(({ what }) => what)].length).toBe(10);
    // Two minutes of ten books are too little for any verdict, also where a busy machine saw all of them.
    expect(describeScouting(scouted.scouting)).toMatch(
      /^(?:Quoting is not known to be profitable in any book:|There was no data, so) /,
    );
  });

  test('an exchange that cannot be read is one clear line', async () => {
    const { config } = await lookAtTen({ seed: 1, speed: 1_000, forMs: 1_000, stream: false });
    const gone = scoutMarket(
      {
        ...{ config, books: null, fees: 4, latencyMs: 25, seed: 1, version: 'test', progress: NO_PROGRESS },
        isStopped: () => false,
      },
      {
        ...{ clock: realClock(), forMs: 1_000, untilKnown: false },
        ...{ log: () => undefined, onStarted: () => undefined, onChecked: () => undefined },
        addresses: { restUrl: 'http://127.0.0.1:9/api' },
      },
    );
    await expect(gone).rejects.toThrow(
      /^the list of books could not be read from http:\/\/127\.0\.0\.1:9\/api: [^\n]+$/,
    );
  });
});

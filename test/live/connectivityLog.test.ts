import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../../src/core/index.ts';
import { ConnectivityLog } from '../../src/live/connectivityLog.ts';
import { memoryLog } from '../memoryLog.ts';
import { started, worldOf } from './world.ts';
import type { Fate } from './inProcess.ts';

const SECOND = 1_000;
const lost = { kind: 'unknown', reason: 'no complete answer within 5000 ms' } as const;

function reach() {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1, 12, 0, 0));
  const { log, texts } = memoryLog();
  return { clock, texts, reach: new ConnectivityLog(log, clock) };
}

describe('what is said of failed requests', () => {
  test('one lost answer is one line, and no more is said when the next one comes', () => {
    const { texts, reach: r } = reach();
    r.failed('balance', lost);
    r.failed('balance', lost);
    r.answered();
    r.answered();
    expect(texts()).toEqual(['balance: no usable answer']);
  });

  test('an exchange that does not answer is told once, then once a minute, and when it is back', async () => {
    const { clock, texts, reach: r } = reach();
    for (let second = 0; second < 150; second++) {
      for (const what of ['open_orders', 'user_trades', 'order_book', 'balance']) r.failed(what, lost);
      await clock.advance(SECOND);
    }
    r.answered();
    expect(texts()).toEqual([
      'open_orders: no usable answer',
      'the exchange has been unreachable since 12:00:00 UTC (open_orders: no complete answer within 5000 ms)',
      'the exchange is still unreachable since 12:00:00 UTC (open_orders: no complete answer within 5000 ms)',
      'the exchange is still unreachable since 12:00:00 UTC (open_orders: no complete answer within 5000 ms)',
      'the exchange answers again after 150 s',
    ]);
  });

  test('the same refusal is told once a minute, with how often it came', async () => {
    const { clock, texts, reach: r } = reach();
    const refused = { kind: 'refused', code: '0801', message: 'too many', status: 420 } as const;
    for (let second = 0; second <= 60; second++) {
      r.failed('balance', refused);
      await clock.advance(SECOND);
    }
    expect(texts()).toEqual([
      'balance was rejected: too many',
      'balance was rejected: too many (59 repeats since the last line were not logged)',
    ]);
  });

  test('a bot that is cut off for ten minutes writes less than three lines a minute', async () => {
    const world = worldOf(91);
    let fate: Fate = 'arrives';
    const bot = await started(world, { fate: () => fate });
    await world.clock.advance(20 * SECOND);
    const before = bot.log.length;
    fate = 'not sent';
    await world.clock.advance(600 * SECOND);
    fate = 'arrives';
    await world.clock.advance(20 * SECOND);
    const lines = bot.log.slice(before).filter(({ level }) => level === 'warn' || level === 'error');
    const texts = lines.map(({ text }) => text);
    expect(texts.filter(text => / unreachable since \d\d:\d\d:\d\d UTC/.test(text)).length).toBeLessThanOrEqual(11);
    expect(texts.filter(text => /^the exchange answers again after (59|60|61)\d s$/.test(text))).toHaveLength(1);
    expect(lines.length).toBeLessThan(30);
    await bot.stop();
    world.end();
  });
});

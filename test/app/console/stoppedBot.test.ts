/** A page whose bot has ended: nothing on it says that the bot is live. */
import { afterEach, expect, test } from 'vitest';
import { heartbeatIn } from '../../../src/live/safety/heartbeat.ts';
import { panels } from './pageText.ts';
import { WatchedBot } from './watchedBot.ts';

let bot: WatchedBot | null = null;
afterEach(() => bot?.close());

test('a page says live while its bot runs, and not after it was killed or stopped', async () => {
  const textOf = await panels();
  bot = new WatchedBot(7, () => undefined);
  bot.start();
  await bot.clock.advance(30_000);
  const shown = () => {
    const view = bot!.view()!;
    // The button, the text beside the time, and the head of the page.
    return { state: view.bot.state, texts: ['newestText', 'lifeText', 'headPanel'].map(name => textOf(name, view)) };
  };

  const running = shown();
  expect(running.state).toBe('running');
  expect(running.texts.slice(0, 2)).toEqual(['live', 'live']);
  expect(running.texts[2]).toContain(' running ');

  bot.kill();
  // The console looks now and then.
  for (let second = 0; second < 60; second++) {
    bot.view();
    await bot.clock.advance(1_000);
  }
  const killed = shown();
  expect(killed.state).toBe('silent');
  expect(killed.texts.slice(0, 2)).toEqual(['newest', 'no heartbeat']);

  heartbeatIn(bot.dir, 'bot', bot.clock).beat('stopped');
  const stopped = shown();
  expect(stopped.state).toBe('stopped');
  expect(stopped.texts.slice(0, 2)).toEqual(['newest', 'stopped']);

  for (const { texts } of [killed, stopped])
    for (const text of texts) expect(text).not.toMatch(/\b(?:live|running)\b/i);
});

/** A run of the bot that ships, in this process, in real time and over real sockets. */
import { BotProcess, type RunResult } from '../../src/app/run/botProcess.ts';
import { recordTrial, untriedAccounts } from '../../src/app/untried/untried.ts';
import { loadConfig, type Config } from '../../src/config.ts';
import type { VenueAccess } from '../../src/wiring/bot.ts';
import { realClock } from '../../src/live/realClock.ts';
import { memoryLog } from '../memoryLog.ts';

export type SocketRun = {
  readonly texts: () => readonly string[];
  /** Waits until it is true; rejects if the run fails first. */
  readonly until: (isTrue: () => boolean) => Promise<void>;
  readonly stop: () => Promise<RunResult>;
};

function loadedOf(yaml: string): Config {
  const loaded = loadConfig(yaml, 'bot.yaml');
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  return loaded.config;
}

/** Records the trial orders without which a bot refuses to start at an untried exchange. */
export function recordTrials(yaml: string, venue: Omit<VenueAccess, 'speed'>): void {
  const config = loadedOf(yaml);
  for (const of of untriedAccounts(config, venue)) recordTrial(config.state.dir, of, 'accepted', realClock().now());
}

/** Starts a run of a configuration and returns once it quotes. Rejects if it cannot start. */
export async function socketRun(yaml: string, venue: Omit<VenueAccess, 'speed'>): Promise<SocketRun> {
  const { log, texts } = memoryLog();
  let stop: ((why: string) => void) | null = null;
  let failed: unknown = null;
  const result = BotProcess.run({
    ...{ config: loadedOf(yaml), venue: { ...venue, speed: 1 }, clock: realClock(), seed: 1, log, version: 'test' },
    onStarted: call => (stop = call),
  });
  result.catch((error: unknown) => (failed = error));
  const until = async (isTrue: () => boolean) => {
    while (!isTrue()) {
      if (failed !== null) throw failed instanceof Error ? failed : new Error(JSON.stringify(failed));
      await new Promise(resolve => setTimeout(resolve, 20));
    }
  };
  await until(() => stop !== null);
  return { texts, until, stop: () => (stop!('the test is over'), result) };
}

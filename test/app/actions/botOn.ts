/** A bot with a configuration file in virtual time, and the ways to ask it. */
import { previewAction } from '../../../src/app/actions/previewAction.ts';
import { inProcessStream } from '../../../src/sandbox/stream/streamInProcess.ts';
import { readConfigText, readTradedText, type StrategyApproval } from '../../../src/wiring/configFile.ts';
import { advancing, started, type World } from '../../live/world.ts';

/** Starts a bot on a configuration file, and returns it after ten seconds with the ways to ask it. */
export async function botOn(world: World, file: string) {
  const { stateDir, clock } = world;
  const { config } = readTradedText(file);
  const stream = inProcessStream(world.box.exchange.stream, clock);
  const source = {
    ...{ file, given: config, inspect: () => readConfigText(file) },
    read: (assertApproved: StrategyApproval) => readTradedText(file, assertApproved),
  };
  const running = await started(world, { stream, source, config });
  await clock.advance(10_000);
  const bot = { stateDir, configFile: file };
  return {
    running,
    bot,
    passing: <T>(work: Promise<T>) => advancing(clock, 250, work),
    preview: async (ask: Parameters<typeof previewAction>[1]) => (await previewAction(bot, ask, clock)).lines,
  };
}

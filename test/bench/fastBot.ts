/**
 * `puntas run` for a real account, whose exchange is the embedded one in another process with a clock that runs faster: so does this one's. The command itself
 * keeps real time with a remote exchange. `node fastBot.js CONFIG SPEED MARKET_MS WALL_MS`, where the exchange's clock read MARKET_MS when the wall's read WALL_MS.
 */
import { BotProcess } from '../../src/app/run/botProcess.ts';
import { readConfig } from '../../src/wiring/configFile.ts';
import { remoteAccess } from '../../src/wiring/venueAccess.ts';
import { lineRoom, logger } from '../../src/cli/terminal/logger.ts';
import { signalsToStop } from '../../src/cli/terminal/signals.ts';
import { version } from '../../src/cli/terminal/version.ts';
import { realClock } from '../../src/live/realClock.ts';

const [file, ...numbers] = process.argv.slice(2);
const [speed, market, wall] = numbers.map(Number) as [number, number, number];
const signals = signalsToStop();
const config = readConfig(file!);
if (config.exchange.kind !== 'remote') throw new Error(`${file}: expected an exchange of kind remote`);
const venue = { ...remoteAccess(config.exchange), speed };
const { summary, left, failure } = await BotProcess.run({
  config,
  configFile: file,
  venue,
  clock: realClock(speed, market + (Date.now() - wall) * speed),
  seed: 1,
  log: logger(config.log.level, [venue.secret.reveal(), venue.key]),
  version: version(),
  rowRoom: lineRoom,
  onStarted: (stop, broke) => {
    signals.tell(stop);
    process.on('uncaughtException', broke);
  },
});
console.log(JSON.stringify(summary));
if (left.length > 0 || failure !== null || summary.halted !== undefined) process.exitCode = 1;

/**
 * `puntas run` or `puntas sentinel` for a real account, whose exchanges are the embedded ones in another process with a clock that runs faster: so does this
 * one's. The commands themselves keep real time with a remote exchange. `node fastBot.js CONFIG SPEED MARKET_MS WALL_MS [sentinel]`, where the exchange's
 * clock read MARKET_MS when the wall's read WALL_MS.
 */
import { BotProcess } from '../../src/app/run/botProcess.ts';
import { sentinel } from '../../src/app/run/sentinel.ts';
import { readConfig } from '../../src/wiring/configFile.ts';
import { remoteAccess, remoteElsewhere } from '../../src/wiring/venueAccess.ts';
import { recordTrial, refuseUntried, untriedAccounts } from '../../src/app/untried/untried.ts';
import { lineRoom, logger } from '../../src/cli/terminal/logger.ts';
import { signalsToStop } from '../../src/cli/terminal/signals.ts';
import { version } from '../../src/cli/terminal/version.ts';
import { realClock } from '../../src/live/realClock.ts';
import { isAllGone } from '../../src/live/loop/loopOptions.ts';

const [file, ...numbers] = process.argv.slice(2, 6);
const isSentinel = process.argv[6] === 'sentinel';
const [speed, market, wall] = numbers.map(Number) as [number, number, number];
const signals = signalsToStop();
const config = readConfig(file!);
const { exchange, elsewhere } = config;
if (exchange.kind !== 'remote') throw new Error(`${file}: expected an exchange of kind remote`);
refuseUntried(config);
const there = elsewhere?.kind === 'remote' && !isSentinel ? remoteElsewhere(elsewhere) : undefined;
const venue = { ...remoteAccess(exchange), speed, ...(there && { elsewhere: there }) };
const hidden = [venue, there].flatMap(access => (access ? [access.secret.reveal(), access.key] : []));
const log = logger(config.log.level, hidden);
const clock = realClock(speed, market + (Date.now() - wall) * speed);
if (isSentinel) {
  const ended = new AbortController();
  signals.tell(() => ended.abort());
  await sentinel(config, venue, clock, 2, log, ended.signal, file);
} else {
  for (const of of untriedAccounts(config, venue))
    recordTrial(config.state.dir, of, 'the exchange is a double', clock.now());
  const result = await BotProcess.run({
    config,
    configFile: file,
    venue,
    clock,
    seed: 1,
    log,
    version: version(),
    rowRoom: lineRoom,
    onStarted: (stop, broke) => {
      signals.tell(stop);
      process.on('uncaughtException', broke);
    },
  });
  const { summary, failure } = result;
  console.log(JSON.stringify(summary));
  if (!isAllGone(result) || failure !== null || summary.halted !== undefined || summary.ledgerMatches === false)
    process.exitCode = 1;
}

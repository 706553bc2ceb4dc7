/** Command that runs trials of studies from other processes or machines. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { Option, type Command } from 'commander';
import { EXIT } from '../../src/messages/exits.ts';
import { UsageError } from '../../src/wiring/usageError.ts';
import { realClock } from '../../src/live/realClock.ts';
import { durationFlag, threadNumber } from '../../src/cli/terminal/flags.ts';
import { sizeFlag, queueFlags } from './flags.ts';
import { refuseGiven } from '../../src/cli/terminal/givenFlags.ts';
import { logger } from '../../src/cli/terminal/logger.ts';
import { signalsToStop } from '../../src/cli/terminal/signals.ts';
import { version } from '../../src/cli/terminal/version.ts';

type WorkerFlags = {
  readonly queue: string;
  readonly tapes?: string;
  readonly cache: string;
  readonly cacheMax: number;
  readonly threads: number;
  readonly grace: number;
  readonly strategyFiles: boolean;
};

/**
 * Adds the command `worker`. It exits with 0 after a stop. Rejects with `UsageError` if no queue is given, or if a
 * study needs a missing option.
 */
export function addWorkerCommand(program: Command): void {
  program
    .command('worker')
    .description('run trials of puntas tune --queue on this machine until stopped')
    .requiredOption('--queue <url>', 'queue: redis://HOST:6379 or postgres://USER@HOST/DATABASE')
    .option('--tapes <place>', 'store of recordings: shared folder or s3://BUCKET/PREFIX')
    .option('--cache <dir>', 'cache of recordings', 'reports/tapes')
    .addOption(
      new Option('--cache-max <size>', 'maximum size of the cache of recordings')
        .argParser(sizeFlag)
        .default(20e9, '20GB'),
    )
    .option('--threads <n>', 'number of parallel runs', threadNumber, 2)
    .option('--strategy-files', 'run the code of strategy files that studies send', false)
    .addOption(
      new Option('--grace <duration>', 'time to finish trials after SIGTERM')
        .argParser(durationFlag)
        .default(20_000, '20s'),
    )
    .action(async (flags: WorkerFlags, self: Command) => {
      const { queue, tapes, cache, cacheMax: cacheBytesMost, threads, grace: graceMs } = flags;
      if (tapes === undefined)
        refuseGiven(self, ['cache', 'cacheMax'], 'no effect without a store of recordings in --tapes');
      const keys = Object.keys(process.env).filter(name => name.startsWith('PUNTAS_API_'));
      if (keys.length > 0)
        throw new UsageError(
          `a worker must not have an API key, but ${keys.join(', ')} ${keys.length === 1 ? 'is' : 'are'} in its environment; start the worker with env ${keys.map(name => `-u ${name}`).join(' ')} puntas worker ...`,
        );
      const { address, store } = await queueFlags(queue, tapes);
      const { password } = new URL(address.url);
      const log = logger('info', password === '' ? [] : [password, decodeURIComponent(password)]);
      const stop = new AbortController();
      signalsToStop('exiting; other workers take over the trials of this worker', EXIT.broken).tell(() => stop.abort());
      const { runWorker } = await import('../app/queue/trialWorker.ts');
      const clock = realClock();
      // In containers, several workers may have process id 1 and equal host names.
      const who = `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`;
      await runWorker({
        ...{ address, store, cache, cacheBytesMost, threads, graceMs, log, stop: stop.signal },
        runsStrategyFiles: flags.strategyFiles,
        ...{ version: version(), who, now: () => clock.now() },
      });
    });
}

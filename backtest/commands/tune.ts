/** Command that searches parameters on recordings and evaluates the result. */
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { tuningPage, type HedgeVenue } from '../index.ts';
import { pageParts } from '../../src/wiring/outFiles.ts';
import { EXIT } from '../../src/messages/exits.ts';
import type { VenueFees } from '../app/backtest/backtest.ts';
import { tune, type Tuned } from '../app/tune/tune.ts';
import { writeTuning } from '../app/tune/tuningFiles.ts';
import { describeTuning } from '../app/tune/tuneText.ts';
import { UsageError } from '../../src/wiring/usageError.ts';
import { realClock } from '../../src/live/realClock.ts';
import { threadNumber } from '../../src/cli/terminal/flags.ts';
import { HEDGE_FLAGS, hedgeFlags, venueFees, queueFlags, type HedgeFlags } from './flags.ts';
import { hedgeVenueOf } from './recordings.ts';
import { refuseGiven } from '../../src/cli/terminal/givenFlags.ts';
import { progressBar } from '../../src/cli/terminal/progressBar.ts';
import { signalsToStop } from '../../src/cli/terminal/signals.ts';
import { version } from '../../src/cli/terminal/version.ts';
import { print, printError } from '../../src/cli/terminal/output.ts';

type TuneFlags = HedgeFlags & {
  readonly config: string;
  readonly registry: string;
  readonly openHoldout: boolean;
  readonly threads: number;
  readonly venueFees?: VenueFees;
  readonly queue?: string;
  readonly tapes?: string;
  readonly out?: string;
  readonly yaml?: string;
  readonly anyway: boolean;
  readonly json: boolean;
};

/**
 * Adds the command `tune`. It exits with 0 even if no trial is better than not trading. Rejects with
 * `UsageError` for invalid flags, studies and recordings. Also rejects if the holdout rule forbids trials or the
 * opening of the holdout.
 */
export function addTuneCommand(program: Command): void {
  hedgeFlags(venueFees(program.command('tune')))
    .description('optimize parameters of a configuration on recordings')
    .requiredOption('-c, --config <file>', 'study file')
    .option('--registry <dir>', 'folder for the registry of all trials', 'reports/trials')
    .option('--open-holdout', 'run the best trial on the holdout, once', false)
    .option('--threads <n>', 'number of parallel runs', threadNumber, 2)
    .option('--queue <url>', 'queue: redis://HOST:6379 or postgres://USER@HOST/DATABASE')
    .option('--tapes <place>', 'store of recordings: shared folder or s3://BUCKET/PREFIX')
    .option('--out <file>', 'write NAME.html and NAME.json')
    .option('--yaml <file>', 'write the best configuration, if it is better than not trading')
    .option('--anyway', 'with --yaml: write the file even if no trial is better than not trading', false)
    .option('--json', 'print one JSON object', false)
    .action(async (flags: TuneFlags, self: Command) => {
      if (flags.queue !== undefined && !flags.openHoldout)
        refuseGiven(
          self,
          ['threads'],
          'no effect with --queue, where each worker has its own --threads; remove the flag',
        );
      if (flags.queue !== undefined)
        refuseGiven(
          self,
          HEDGE_FLAGS,
          'not supported with --queue, because the workers do not have this recording; remove the flag, or --queue',
        );
      const { out, yaml: file, anyway } = flags;
      if (out !== undefined && !/\.html?$/i.test(out))
        throw new UsageError(`--out: expected a name that ends in .html, found ${JSON.stringify(out)}`);
      if (anyway && file === undefined) throw new UsageError('--anyway needs --yaml FILE');
      const found = await tuned(flags, await hedgeVenueOf(flags, self));
      const { tuning } = found;
      const isWritten = writeTuning(found, flags, one => tuningPage(one, pageParts()));
      const lines = [
        describeTuning(tuning),
        `registry: ${join(flags.registry, 'trials.jsonl')}`,
        ...(out === undefined ? [] : [`page: ${out}`]),
        ...(file === undefined
          ? []
          : [isWritten ? `configuration: ${file}` : `${file} was not written: no trial is better than not trading`]),
      ];
      print(flags.json ? JSON.stringify(tuning) : lines.join('\n'));
    });
}

/** Runs the study in this process or on the workers of a queue. The queue is connected before any recording is read. */
async function tuned(
  { config, registry, openHoldout, threads, queue: url, tapes, venueFees: fees }: TuneFlags,
  hedge: HedgeVenue | null,
): Promise<Tuned> {
  if (tapes !== undefined && url === undefined) throw new UsageError('--tapes needs --queue URL');
  const clock = realClock();
  const shared = { version: version(), by: whoami(), now: () => clock.now(), progress: progressBar() };
  const options = { file: config, registry, openHoldout, threads, hedge, ...(fees && { venueFees: fees }), ...shared };
  if (url === undefined) return tune(options);
  const [{ openTrialQueue }, { address, store }] = await Promise.all([
    import('../app/queue/trialsOnQueue.ts'),
    queueFlags(url, tapes),
  ]);
  const stop = new AbortController();
  signalsToStop('exiting; pending trials in the queue expire after a day', EXIT.broken).tell(() => stop.abort());
  const tell = (line: string): void => printError(line);
  const queue = await openTrialQueue({ ...shared, address, store, tell, stop: stop.signal });
  try {
    return await tune({ ...options, elsewhere: setup => queue.executor(setup) });
  } finally {
    await queue.end();
  }
}

/** Returns the operator's name and host for the registry. A user without a name is identified by number. */
function whoami(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    return `user ${process.getuid?.() ?? '?'}@${hostname()}`;
  }
}

/** The command that looks for parameters on recordings, and judges what it finds. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { tuningPage } from '../index.ts';
import { pageParts, written } from '../../src/wiring/outFiles.ts';
import { EXIT } from '../../src/messages/exits.ts';
import type { VenueFees } from '../app/backtest/backtest.ts';
import { tune } from '../app/tune/tune.ts';
import type { Tuned } from '../app/tune/tune.ts';
import { describeTuning } from '../app/tune/tuneText.ts';
import { UsageError } from '../../src/wiring/usageError.ts';
import { realClock } from '../../src/live/realClock.ts';
import { threadNumber } from '../../src/cli/terminal/flags.ts';
import { venueFees } from './flags.ts';
import { progressBar } from '../../src/cli/terminal/progressBar.ts';
import { signalsToStop } from '../../src/cli/terminal/signals.ts';
import { version } from '../../src/cli/terminal/version.ts';
import { queueFlags } from './flags.ts';
import { print, printError } from '../../src/cli/terminal/output.ts';

type TuneFlags = {
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

/** `tune` ends in 0 also where nothing is better than not trading. Rejects with `UsageError` on flags, studies, recordings, and where the law of the holdout forbids it. */
export function addTuneCommand(program: Command): void {
  venueFees(program.command('tune'))
    .description(
      'search parameters on recordings, test them out of sample, and write a configuration with its evidence; resumes after an interruption',
    )
    .requiredOption('-c, --config <file>', 'YAML file of the study (docs/tuning.md)')
    .option('--registry <dir>', 'folder of the registry of all trials', 'reports/trials')
    .option(
      '--open-holdout',
      'run the best configuration on the holdout, once; these hours cannot be used for tuning afterwards',
      false,
    )
    .option('--threads <n>', 'parallel runs; does not change the results', threadNumber, 2)
    .option(
      '--queue <url>',
      'run the trials on workers of a queue: redis://HOST:6379 or postgres://USER@HOST/DATABASE (docs/tuning.md)',
    )
    .option(
      '--tapes <place>',
      'with --queue: location of the recordings for workers, a shared folder or s3://BUCKET/PREFIX',
    )
    .option('--out <file>', 'NAME.html for the page; NAME.json is written next to it')
    .option('--yaml <file>', 'file for the best configuration, written if it is better than not trading')
    .option('--anyway', 'with --yaml: write it even if it is not better', false)
    .option('--json', 'print the numbers as one JSON object', false)
    .action(async (flags: TuneFlags) => {
      const { out, yaml: file, anyway } = flags;
      if (out !== undefined && !/\.html?$/i.test(out))
        throw new UsageError(`--out: expected a name that ends in .html, found ${JSON.stringify(out)}`);
      if (anyway && file === undefined) throw new UsageError('--anyway needs --yaml FILE');
      const { tuning, yaml } = await tuned(flags);
      if (out !== undefined) {
        const json = out.replace(/\.html?$/i, '.json');
        written(json, () => mkdirSync(dirname(json), { recursive: true }));
        written(json, () => writeFileSync(json, `${JSON.stringify(tuning)}\n`));
        written(out, () => writeFileSync(out, tuningPage(tuning, pageParts())));
      }
      const text =
        yaml !== null && file !== undefined && (tuning.verdict.better || anyway) ? yaml(dirname(file)) : null;
      if (file !== undefined && text !== null) {
        written(file, () => mkdirSync(dirname(file), { recursive: true }));
        written(file, () => writeFileSync(file, text));
      }
      const lines = [
        describeTuning(tuning),
        `registry: ${join(flags.registry, 'trials.jsonl')}`,
        ...(out === undefined ? [] : [`page: ${out}`]),
        ...(file === undefined
          ? []
          : [text === null ? `${file} was not written: nothing is better than not trading` : `configuration: ${file}`]),
      ];
      print(flags.json ? JSON.stringify(tuning) : lines.join('\n'));
    });
}

/** Here, or by the workers of a queue, which is connected before anything is read. */
async function tuned({
  config,
  registry,
  openHoldout,
  threads,
  queue: address,
  tapes,
  venueFees: fees,
}: TuneFlags): Promise<Tuned> {
  if (tapes !== undefined && address === undefined) throw new UsageError('--tapes needs --queue URL');
  const clock = realClock();
  const shared = { version: version(), by: whoami(), now: () => clock.now(), progress: progressBar() };
  const options = { file: config, registry, openHoldout, threads, ...(fees && { venueFees: fees }), ...shared };
  if (address === undefined) return tune(options);
  const [{ openTrialQueue }, { place, store }] = await Promise.all([
    import('../app/queue/trialsOnQueue.ts'),
    queueFlags(address, tapes),
  ]);
  const stop = new AbortController();
  signalsToStop('exiting; pending trials in the queue expire after a day', EXIT.broken).tell(() => stop.abort());
  const tell = (line: string): void => printError(line);
  const queue = await openTrialQueue({ ...shared, place, store, tell, stop: stop.signal });
  try {
    return await tune({ ...options, elsewhere: setup => queue.executor(setup) });
  } finally {
    await queue.end();
  }
}

/** For the registry; a process without a user is told by its number. */
function whoami(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    return `user ${process.getuid?.() ?? '?'}@${hostname()}`;
  }
}

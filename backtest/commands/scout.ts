/** Command that finds books in which quoting pays. */
import { HOUR_MS } from '../../src/core/index.ts';
import { resolve } from 'node:path';
import { Option, type Command } from 'commander';
import { scoutPage } from '../index.ts';
import { jsonBeside, pageParts, writeOut, writePage } from '../../src/wiring/outFiles.ts';
import { scoutMarket, scoutRecordings, type FeesAsked, type Scouted, type ScoutCommand } from '../app/scout/scout.ts';
import { scoutConfig } from '../app/scout/scoutConfig.ts';
import { describeScouting } from '../app/scout/scoutText.ts';
import { wrapped } from '../../src/messages/wrapped.ts';
import { EXIT } from '../../src/messages/exits.ts';
import { readConfig, readShipped, refuseBooks } from '../../src/wiring/configFile.ts';
import { UsageError } from '../../src/wiring/usageError.ts';
import { realClock } from '../../src/live/realClock.ts';
import { durationFlag, seedNumber, sessionHours, speed } from '../../src/cli/terminal/flags.ts';
import { hedgeCostFlags, latencyMsFlag, tierOrFeeFlag, type HedgeFlags } from './flags.ts';
import { hedgeVenueOf } from './recordings.ts';
import { logger } from '../../src/cli/terminal/logger.ts';
import { progressBar } from '../../src/cli/terminal/progressBar.ts';
import { signalsToStop } from '../../src/cli/terminal/signals.ts';
import { version } from '../../src/cli/terminal/version.ts';
import { withMarketOf } from '../../src/cli/commands/source.ts';
import { print } from '../../src/cli/terminal/output.ts';

type ScoutFlags = HedgeFlags & {
  readonly config?: string;
  readonly tape?: readonly string[];
  readonly session?: string;
  readonly books?: readonly string[];
  readonly for: number;
  readonly untilKnown: boolean;
  readonly fees: FeesAsked;
  readonly latencyMs: number;
  readonly speed: number;
  readonly seed?: number;
  readonly out?: string;
  readonly yaml?: string;
  readonly json: boolean;
};

/** Default of `--for` with `--until-known`. */
const UNTIL_KNOWN_MS = 24 * HOUR_MS;

/**
 * Adds the command `scout`. It exits with 0 even if quoting pays in no book, and also after a stop. Rejects with
 * `UsageError` for invalid flags, configurations and recordings, and if the exchange cannot be read.
 */
export function addScoutCommand(program: Command): void {
  hedgeCostFlags(sessionHours(program.command('scout')))
    .description('rank books by the expected profit of quoting; needs no API key')
    .option('-c, --config <file>', 'configuration (default: the embedded exchange with ten books)')
    .option('--books <names>', 'books, comma-separated (default: all)', text => text.split(','))
    .option('--tape <paths...>', 'recordings instead of a live market')
    .addOption(
      new Option('--for <duration>', 'observation time, like 10m; Ctrl-C ends it')
        .argParser(durationFlag)
        .default(HOUR_MS, '1h')
        .conflicts('tape'),
    )
    .addOption(
      new Option('--until-known', 'end when each verdict is known, at most after --for (default then: 24h)')
        .default(false)
        .conflicts('tape'),
    )
    .option('--fees <tier>', 'fee tier (config, best, entry) or maker fee (bps)', tierOrFeeFlag, 'config')
    .option('--latency-ms <n>', 'request latency each way (ms)', latencyMsFlag, 25)
    .option('--out <file>', 'write NAME.html and NAME.json')
    .option('--yaml <file>', 'write a configuration for the best book, if quoting is profitable')
    .option('--json', 'print one JSON object', false)
    .addOption(
      new Option('--speed <n>', 'speed of the embedded exchange and its clients (1 is real time)')
        .argParser(speed)
        .default(1)
        .conflicts('tape'),
    )
    .option('--seed <n>', 'random seed', seedNumber)
    .action(async (flags: ScoutFlags, self: Command) => {
      const { out, yaml } = flags;
      if (out !== undefined && !/\.html?$/i.test(out))
        throw new UsageError(`--out: expected a name that ends in .html, found ${JSON.stringify(out)}`);
      const config = flags.config === undefined ? readShipped('sandbox') : readConfig(flags.config);
      refuseBooks(config, 'this command');
      const signals = signalsToStop('exiting immediately; the observed data is discarded', EXIT.broken);
      const scouted = await look(flags, self, config, signals);
      const { scouting } = scouted;
      if (out !== undefined) writePage(out, jsonBeside(out), scouting, () => scoutPage(scouting, pageParts()));
      const written = yaml === undefined ? null : scoutConfig(scouted, config);
      if (yaml !== undefined && written !== null) writeOut(yaml, () => written.text);
      if (flags.json) print(JSON.stringify(scouting));
      else
        print(
          [
            describeScouting(scouting),
            ...(out === undefined ? [] : [`page: ${out}`]),
            ...(yaml === undefined
              ? []
              : [
                  written === null
                    ? `${yaml} was not written, because quoting is not profitable in any book`
                    : `configuration: ${yaml}`,
                ]),
            ...(written?.note ? wrapped(written.note, 80) : []),
          ].join('\n'),
        );
    });
}

async function look(
  flags: ScoutFlags,
  command: Command,
  config: ReturnType<typeof readConfig>,
  signals: ReturnType<typeof signalsToStop>,
): Promise<Scouted> {
  const { books = null, fees, latencyMs, tape, session } = flags;
  if (session !== undefined && tape === undefined)
    throw new UsageError('--session needs recordings; pass the recordings with --tape');
  const hedge = await hedgeVenueOf(flags, command, session, config.hedge?.elsewhere?.backBps);
  if (hedge !== null && tape === undefined)
    throw new UsageError(
      '--hedge-tape needs recordings of the quoted books for the same hours; pass those recordings with --tape',
    );
  let isStopped = false;
  const asked = (seed: number): ScoutCommand => ({
    ...{ config, books, fees, latencyMs, seed, version: version(), progress: progressBar() },
    isStopped: () => isStopped,
  });
  if (tape !== undefined) {
    signals.tell(() => (isStopped = true));
    return scoutRecordings(
      asked(flags.seed ?? 1),
      tape.map(path => resolve(path)),
      session,
      hedge,
    );
  }
  const clock = realClock(flags.speed);
  const log = logger(config.log.level, []);
  const { untilKnown } = flags;
  const isDefault = command.getOptionValueSource('for') === 'default';
  const forMs = (untilKnown && isDefault ? UNTIL_KNOWN_MS : flags.for) * flags.speed;
  let scouted: Scouted | null = null;
  await withMarketOf(config, [], { ...flags, tape: '', allBooks: true }, clock, async (addresses, seed) => {
    scouted = await scoutMarket(asked(seed), {
      ...{ addresses, clock, forMs, untilKnown },
      log: line => log.debug({}, line),
      onStarted: stop => signals.tell(stop),
      onChecked: line => log.info({}, line),
    });
  });
  if (scouted === null) throw new Error('scouting stopped before any book was observed');
  return scouted;
}

/** Command that checks an exchange against its interface documents. */
import type { Command } from 'commander';
import type { ConformanceCheck } from '../../core/index.ts';
import { checkConformance, verdictCounts } from '../../app/conformance/conformance.ts';
import { realClock } from '../../live/realClock.ts';
import { EXIT } from '../../messages/exits.ts';
import { wrapped } from '../../messages/wrapped.ts';
import { readConfig, readShipped } from '../../wiring/configFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { withVenue } from '../../wiring/venueAccess.ts';
import { logger } from '../terminal/logger.ts';
import { outputTerminal, print } from '../terminal/output.ts';
import { signalsToStop } from '../terminal/signals.ts';
import { configuredTapes } from './source.ts';

type ConformanceFlags = {
  readonly config?: string;
  readonly yes: boolean;
  readonly trade: boolean;
  readonly json: boolean;
};

/**
 * Adds the command `conformance`, which ends with exit code 1 if a check failed, and 3 if an order may remain. Wrong
 * use throws a `UsageError`.
 */
export function addConformanceCommand(program: Command): void {
  program
    .command('conformance')
    .description('check the exchange against its API documents, call by call')
    .option('-c, --config <file>', 'configuration (default: the embedded exchange)')
    .option('--yes', 'on a real exchange, also place and cancel the smallest orders', false)
    .option('--trade', 'with --yes, also buy and sell the smallest amount', false)
    .option('--json', 'print one JSON object', false)
    .action(async ({ config: file, yes, trade, json }: ConformanceFlags) => {
      const given = file === undefined ? readShipped('sandbox') : readConfig(file);
      const { exchange } = given;
      const isEmbedded = exchange.kind === 'embedded';
      if (!isEmbedded && given.paper.only)
        throw new UsageError(
          'this configuration is for paper trading only (paper.only) and has no account to check; use another configuration',
        );
      if (trade && !yes && !isEmbedded) throw new UsageError('--trade needs --yes');
      // Any free port is used, because a bot may already use the configured port.
      const config = isEmbedded ? { ...given, exchange: { ...exchange, port: 0 } } : given;
      const tapes = await configuredTapes(config);
      let isStopped = false;
      signalsToStop().tell(() => (isStopped = true));
      const clock = realClock();
      const openLog = (_: string, secrets: readonly string[]) => logger('error', secrets);
      process.exitCode = await withVenue(config, tapes, { speed: 1, openLog }, clock, async (venue, _, seed) => {
        const { checks, left } = await checkConformance({
          ...{ config, venue, clock, seed },
          mayOrder: isEmbedded || yes,
          mayTrade: isEmbedded || (yes && trade),
          tell: check => (json ? undefined : print(checkText(check))),
          isStopped: () => isStopped,
        });
        const counts = verdictCounts(checks);
        if (json) print(JSON.stringify({ ...counts, checks, left }));
        else print(`${counts.pass} pass, ${counts.fail} fail, ${counts.skipped} skipped`);
        return left.length > 0 ? EXIT.leftOrders : counts.fail > 0 ? EXIT.broken : EXIT.clean;
      });
    });
}

const VERDICT = 9;

/** Returns the text of a check: verdict and name, then what was expected and what was found. */
export function checkText(
  { name, source, expected, found, verdict }: ConformanceCheck,
  columns = outputTerminal().columns,
): string {
  const indent = ' '.repeat(VERDICT);
  const width = columns === undefined ? Infinity : Math.max(40, columns - 1) - VERDICT;
  const rows = [`${name} (${source})`, `expected: ${expected}`, `found: ${found}`].flatMap(row => wrapped(row, width));
  return rows.map((row, i) => `${i === 0 ? verdict.padEnd(VERDICT) : indent}${row}`).join('\n');
}

/** The commands `new-strategy` and `check-strategy` for strategy developers. */
import { Option, type Command } from 'commander';
import { checkStrategy, verdictLines } from '../../app/develop/checkStrategy.ts';
import { newStrategy } from '../../app/develop/newStrategy.ts';
import { EXIT } from '../../messages/exits.ts';
import { durationFlag } from '../terminal/flags.ts';
import { print, printError } from '../terminal/output.ts';

/**
 * Adds `new-strategy`, which prints each written path, and `check-strategy`, which prints a line per law. Laws that one
 * error breaks share a line; a broken law gives exit code 1. Both throw `UsageError` for arguments that cannot be used.
 */
export function addDevelopCommands(program: Command): void {
  program
    .command('new-strategy')
    .description('create a strategy in a checkout of the Puntas sources')
    .argument('<name>', 'name of the strategy (lower-case letters, digits and dashes), like order-flow')
    .option('--root <dir>', 'folder of the checkout', '.')
    .action((name: string, { root }: { root: string }) => {
      for (const path of newStrategy(root, name)) print(path);
      print(`next: npm run build, then npx puntas run -c config/${name}.yaml`);
      print(
        'before you commit, run: npm run format, npm run docs, npx vitest run test/strategies (see docs/development/strategies.md)',
      );
    });
  program
    .command('check-strategy')
    .description('check a strategy file of your own against the laws of all strategies')
    .argument('<file>', 'strategy file, like my-strategy.ts')
    .option('-c, --config <file>', 'configuration with values of its parameters (default: their defaults)')
    .addOption(
      new Option('--timeout <duration>', 'maximum time of the check').argParser(durationFlag).default(60_000, '1m'),
    )
    .action(async (file: string, { config, timeout }: { config?: string; timeout: number }) => {
      const { name, verdicts } = await checkStrategy(file, config, timeout, printError);
      print(name);
      for (const line of verdictLines(verdicts)) print(line);
      if (verdicts.some(({ violation }) => violation !== null)) process.exitCode = EXIT.broken;
    });
}

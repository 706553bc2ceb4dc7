/** The command `new-strategy` for strategy developers. */
import type { Command } from 'commander';
import { newStrategy } from '../../app/develop/newStrategy.ts';
import { print } from '../terminal/output.ts';

/**
 * Adds `new-strategy`, which prints each written path. Throws `UsageError` if the name is invalid or exists, or if
 * `--root` is not a checkout.
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
}

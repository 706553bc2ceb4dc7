/** Command for strategy developers: new-strategy. */
import type { Command } from 'commander';
import { newStrategy } from '../../app/develop/newStrategy.ts';
import { print } from '../terminal/output.ts';

/**
 * Adds `new-strategy`, which prints each written path. Throws `UsageError` for an invalid or existing name, and outside
 * a checkout.
 */
export function addDevelopCommands(program: Command): void {
  program
    .command('new-strategy')
    .description('create a strategy in a checkout of the sources')
    .argument('<name>', 'name of lower-case letters, digits and dashes, like order-flow')
    .option('--root <dir>', 'folder of the checkout', '.')
    .action((name: string, { root }: { root: string }) => {
      for (const path of newStrategy(root, name)) print(path);
      print('next: npm run format and npm run docs, then npx vitest run test/strategies (docs/strategies.md)');
    });
}

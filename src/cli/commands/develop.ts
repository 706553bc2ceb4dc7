/** The command for whoever writes strategies: new-strategy. */
import type { Command } from 'commander';
import { newStrategy } from '../../app/develop/newStrategy.ts';
import { print } from '../terminal/output.ts';

/** `new-strategy`: prints each path that it wrote. Throws `UsageError` on a name that is none or taken, and outside a checkout. */
export function addDevelopCommands(program: Command): void {
  program
    .command('new-strategy')
    .description('create a strategy in a checkout: folder, entry in the index, configuration, test')
    .argument('<name>', 'name in lower-case letters, digits and dashes, like order-flow')
    .option('--root <dir>', 'folder of the checkout', '.')
    .action((name: string, { root }: { root: string }) => {
      for (const path of newStrategy(root, name)) print(path);
      print('next: npm run format and npm run docs, then npx vitest run test/strategies (docs/strategies.md)');
    });
}

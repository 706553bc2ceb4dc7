/** The commands on a state directory: replay, resume. */
import type { Command } from 'commander';
import { EXIT } from '../exits.ts';
import { replay, resume } from '../stateCommands.ts';

export function addStateCommands(program: Command): void {
  program
    .command('replay')
    .description('feed a recorded run through the engine again: every command must come out the same')
    .argument('<dir>', 'state directory of the run')
    .option('--run <n>', 'number of the run; without it the last one')
    .option('--all', 'every recorded run', false)
    .action((dir: string, options: { run?: string; all: boolean }) => {
      const which = options.all ? 'all' : options.run === undefined ? 'last' : Number(options.run);
      process.exitCode = replay(dir, which, line => console.log(line)) ? EXIT.clean : EXIT.broken;
    });

  program
    .command('resume')
    .description('lift a halt after you have looked: the only way to go on')
    .requiredOption('--reason <text>', 'what you found; kept beside the state')
    .option('--state <dir>', 'state directory', './state')
    .action((options: { reason: string; state: string }) => console.log(resume(options.state, options.reason)));
}

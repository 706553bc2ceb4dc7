/** The command line: adds every command and turns every end into an exit code. Importing it runs it; `main.ts` does. */
import { Command, CommanderError } from 'commander';
import { refuseUncheckedCertificates } from '../wiring/safeProcess.ts';
import { addCommands, guardsMoney } from './commands/index.ts';
import {
  outputLost,
  outputTerminal,
  errorTerminal,
  printError,
  settleOutput,
  writeError,
  writeOutput,
} from './terminal/output.ts';
import { guardTerminal, printed } from './terminal/terminal.ts';
import { version } from './terminal/version.ts';

guardTerminal({ log: outputTerminal(), error: errorTerminal() });

const program = new Command('puntas')
  .description('A market maker: quotes both sides of an order book from a YAML file and an API key.')
  .version(version())
  .exitOverride()
  .configureOutput({
    writeOut: text => writeOutput(printed(text, outputTerminal())),
    writeErr: text => writeError(text),
    outputError: (text, write) =>
      write(`${printed(`${text.replace(/^error: /, '').trimEnd()} (see puntas --help)`, errorTerminal())}\n`),
  });

// What is written is for who runs it: state, keys and tapes tell of an account.
process.umask(0o077);

const args = process.argv.slice(2);
const asksOnly =
  args[0] === undefined || args[0] === 'help' || args.some(arg => /^(-h|--help|-V|--version)$/.test(arg));

// A pager may take any time; a command that places or cancels ends although nothing reads what it prints.
const stuckMsMax = guardsMoney(args[0]) ? 2_000 : Infinity;

try {
  // For every command, those that speak to nobody too, so that none is forgotten; and before anything of theirs is loaded.
  if (!asksOnly) refuseUncheckedCertificates(process.env);
  await addCommands(program, args);
  await program.parseAsync();
  await settleOutput(stuckMsMax);
  const { count, code } = outputLost();
  // The exit code of a command that places or cancels tells of orders, whatever became of its output.
  if (count > 0 && code !== 'EPIPE' && !guardsMoney(args[0])) {
    printError(`could not write the output (${code})`);
    process.exitCode ||= 1;
  }
} catch (error) {
  const { codeOf, EXIT, sentenceOf } = await import('../messages/exits.ts');
  const isCommander = error instanceof CommanderError;
  if (!isCommander) {
    printError(sentenceOf(error));
    if (error instanceof Error && process.env['PUNTAS_DEBUG']) printError(error.stack ?? '');
  }
  await settleOutput(stuckMsMax);
  if (isCommander) process.exit(error.exitCode === 0 ? EXIT.clean : EXIT.misused);
  process.exit(codeOf(error));
}

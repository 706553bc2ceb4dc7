/**
 * Command line: adds every command and converts each result to an exit code. `main.ts` imports this file, which runs
 * the command line.
 */
import { Command, CommanderError, Help } from 'commander';
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
  .description('A market maker that quotes both sides of an order book, configured by one YAML file.')
  .version(version())
  .exitOverride()
  .configureHelp({
    // A flag that is off by default needs no default in the help.
    optionDescription(option) {
      return option.defaultValue === false ? option.description : Help.prototype.optionDescription.call(this, option);
    },
  })
  .configureOutput({
    writeOut: text => writeOutput(printed(text, outputTerminal())),
    writeErr: text => writeError(text),
    outputError: (text, write) => write(`${printed(`${sentence(text)}${hintOf(text)}`, errorTerminal())}\n`),
  });

// Written files are private to the user, because state, keys and tapes reveal an account.
process.umask(0o077);

const args = process.argv.slice(2);

/** Returns a message of the command line without its prefix and without a period at its end. */
function sentence(text: string): string {
  const whole = text.replace(/^error: /, '').trimEnd();
  return whole.endsWith('.') ? whole.slice(0, -1) : whole;
}

/** Returns the end of a message about wrong options: what was probably meant, and where the options are listed. */
function hintOf(text: string): string {
  const command = program.commands.find(each => each.name() === args[0]);
  const file = args.slice(1).find(arg => /\.ya?ml$/.test(arg));
  const isNamed = args.some(arg => arg === '-c' || arg.startsWith('--config'));
  const takesFile = !isNamed && command?.options.some(({ long }) => long === '--config') === true;
  const meant =
    text.includes('too many arguments') && takesFile && file !== undefined ? `; did you mean -c ${file}?` : '';
  return `${meant} (see puntas ${command === undefined ? '' : `${command.name()} `}--help)`;
}
const asksOnly =
  args[0] === undefined || args[0] === 'help' || args.some(arg => /^(-h|--help|-V|--version)$/.test(arg));

// A command that places or cancels orders must end even if its output is not read. All other commands wait, because a
// pager may read the output much later.
const stuckMsMax = guardsMoney(args[0]) ? 2_000 : Infinity;

try {
  // The certificate check applies to every command, even without an exchange, and runs before the command's modules are
  // loaded.
  if (!asksOnly) refuseUncheckedCertificates(process.env);
  await addCommands(program, args);
  await program.parseAsync();
  await settleOutput(stuckMsMax);
  const { count, code } = outputLost();
  // The exit code of a command that places or cancels orders depends on the orders, not on its output.
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

#!/usr/bin/env node
/** The command line: adds every command and turns every end into an exit code. */
import { Command, CommanderError } from 'commander';
import { smallLimitOf } from './app/wiring/processLimits.ts';
import { closeToDebuggers, refuseUncheckedCertificates } from './app/wiring/safeProcess.ts';
import { addCommands } from './cli/commands/index.ts';
import { guardTerminal, printed } from './cli/terminal/terminal.ts';
import { version } from './cli/terminal/version.ts';

closeToDebuggers();
guardTerminal();

const program = new Command('puntas')
  .description('A market maker: quotes both sides of an order book from a YAML file and an API key.')
  .version(version())
  .exitOverride()
  .configureOutput({
    writeOut: text => process.stdout.write(printed(text, process.stdout)),
    outputError: (text, write) =>
      write(`${printed(`${text.replace(/^error: /, '').trimEnd()} (see puntas --help)`, process.stderr)}\n`),
  });

// What is written is for who runs it: state, keys and tapes tell of an account.
process.umask(0o077);

const args = process.argv.slice(2);
const asksOnly =
  args[0] === undefined || args[0] === 'help' || args.some(arg => /^(-h|--help|-V|--version)$/.test(arg));

// Before anything is loaded: with too few files nothing more can be, not even what makes sentences of errors.
const tooSmall = asksOnly ? null : smallLimitOf(args[0]);
if (tooSmall !== null) {
  console.error(tooSmall);
  process.exit(2);
}

try {
  // For every command, those that speak to nobody too, so that none is forgotten; and before anything of theirs is loaded.
  if (!asksOnly) refuseUncheckedCertificates(process.env);
  await addCommands(program, args);
  await program.parseAsync();
} catch (error) {
  const { codeOf, EXIT, sentenceOf } = await import('./app/messages/exits.ts');
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? EXIT.clean : EXIT.misused);
  console.error(sentenceOf(error));
  if (error instanceof Error && process.env['PUNTAS_DEBUG']) console.error(error.stack);
  process.exit(codeOf(error));
}

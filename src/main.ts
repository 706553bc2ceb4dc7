#!/usr/bin/env node
/** The command line: adds every command and turns every end into an exit code. */
import { Command, CommanderError } from 'commander';
import { addCompareCommand } from './cli/commands/compare.ts';
import { addLedgerCommands } from './cli/commands/ledger.ts';
import { addRecordCommands } from './cli/commands/record.ts';
import { addDevelopCommands } from './cli/commands/develop.ts';
import { addStateCommands } from './cli/commands/state.ts';
import { addTapeCommands } from './cli/commands/tape.ts';
import { addTradeCommands } from './cli/commands/trade.ts';
import { addWebhookCommands } from './cli/commands/webhooks.ts';
import { codeOf, EXIT, sentenceOf } from './app/messages/exits.ts';
import { version } from './cli/commands/source.ts';
import { guardTerminal } from './cli/terminal/terminal.ts';

guardTerminal();

const program = new Command('puntas')
  .description('A market maker: quotes both sides of an order book from a YAML file and an API key.')
  .version(version())
  .exitOverride()
  .configureOutput({
    outputError: (text, write) => write(`${text.replace(/^error: /, '').trimEnd()} (see puntas --help)\n`),
  });

addTradeCommands(program);
addRecordCommands(program);
addTapeCommands(program);
addCompareCommand(program);
addStateCommands(program);
addLedgerCommands(program);
addDevelopCommands(program);
addWebhookCommands(program);

// What is written is for who runs it: state, keys and tapes tell of an account.
process.umask(0o077);

program.parseAsync().catch((error: unknown) => {
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? EXIT.clean : EXIT.misused);
  console.error(sentenceOf(error));
  if (error instanceof Error && process.env['PUNTAS_DEBUG']) console.error(error.stack);
  process.exit(codeOf(error));
});

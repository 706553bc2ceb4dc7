/** Commands on the ledger of a state directory: print it, and write a booking for the bot. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { realClock } from '../../live/realClock.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { durationFlag } from '../terminal/flags.ts';
import { adjust, ledger, type AdjustAsk } from '../../app/inspect/ledger.ts';
import { print } from '../terminal/output.ts';
import { folderOf, folderToRead, ofBot, type BotFlags } from './botFlags.ts';

/**
 * Adds `ledger` and `ledger adjust`; --since becomes ms since 1970. Both commands throw a `UsageError` if no state
 * directory is given, or if the directory has no ledger.
 */
export function addLedgerCommands(program: Command): void {
  const command = ofBot(
    program.command('ledger').description('show the ledger by currency and its difference from the exchange'),
  )
    .option('--currency <ticker>', 'show only this currency')
    .addOption(new Option('--since <time>', 'start: time or age, like 24h').argParser(instant))
    .option('--entries', 'list every entry', false)
    .addOption(new Option('--json', 'print one JSON object').conflicts('csv'))
    .option('--csv', 'print CSV')
    .action(
      async (options: BotFlags & { currency?: string; since?: number; entries: boolean; json?: true; csv?: true }) => {
        const { currency, since, entries, json, csv } = options;
        const ask = {
          entries,
          form: json ? ('json' as const) : csv ? ('csv' as const) : ('text' as const),
          ...(currency === undefined ? {} : { currency: currency.toLowerCase() }),
          ...(since === undefined ? {} : { since }),
        };
        for (const line of await ledger(folderToRead(options), ask, realClock())) print(line);
      },
    );

  // The parent command parses these four options anywhere; they are repeated here for the help.
  ofBot(command.command('adjust').description('book a difference that only you can explain'))
    .usage('(-c FILE | --state DIR) --currency TICKER --amount N --reason TEXT [--by NAME]')
    .option('--currency <ticker>', 'currency of the difference')
    .requiredOption('--amount <n>', 'exchange balance minus ledger balance')
    .requiredOption('--reason <text>', 'reason for the record')
    .option('--by <name>', 'your name for the record (default: your login)')
    .action(async (_: unknown, self: Command) => {
      const options = self.optsWithGlobals<BotFlags & Partial<AdjustAsk>>();
      const { currency, amount = '', reason = '', by } = options;
      if (currency === undefined) throw new UsageError('--currency: expected a ticker like btc');
      const ask = { currency, amount, reason, ...(by === undefined ? {} : { by }) };
      print(await adjust(folderOf(options), ask, realClock()));
    });
}

/** Parses a time to ms since 1970. */
function instant(text: string): number {
  if (/^\d+(?:\.\d+)?[smh]$/.test(text)) return realClock().now() - durationFlag(text);
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isFinite(at))
    throw new InvalidArgumentError('expected a time like 2026-01-31T12:00:00Z, or a time ago, like 24h.');
  return at;
}

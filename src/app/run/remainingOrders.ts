/**
 * Report of orders that may be live after a start that failed before it opened its state, with the command that cancels
 * these orders.
 */
import { readRegularFile, TEXT_FILE } from '../../guard/index.ts';
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { counted, textOfAmount, textOfPrice, type Clock, type Instrument } from '../../core/index.ts';
import { booksOf, recordedConfig } from '../../config.ts';
import { recordedRunOf, recordingsIn } from '../../live/recording/recordings.ts';
import { firstRulesOfBooks } from '../../live/replay/replay.ts';
import { StateInUse } from '../../live/state/stateFile.ts';
import type { Owner } from '../../live/state/owner.ts';
import { lookInto, type LiveOrder } from '../../live/state/stateSummary.ts';
import { readConfig } from '../../wiring/configFile.ts';
import { venueNamed } from '../../wiring/venueRegistry.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { EXIT, sentenceOf } from '../../messages/exits.ts';
import { ownCommand, type WhichBot } from '../../messages/ownCommand.ts';

/** Returns the command that cancels a bot's remaining orders, as a clause for a message. */
export const cancelCommand = (which: WhichBot): string =>
  `cancel the orders with  ${ownCommand('halt --cancel', which)}  (needs a working key), or at the exchange`;

/** Maximum number of orders listed; further orders are counted. */
const NAMED_MAX = 20;

/**
 * Returns the error of a failed start, to which the orders that may be live are added. Without such orders, returns the
 * error unchanged.
 */
export async function withRemainingOrders(
  error: unknown,
  of: { readonly file: string; readonly state?: string },
  clock: Clock,
): Promise<unknown> {
  // A running bot that uses the state manages its own orders.
  if (error instanceof UsageError && error.cause instanceof StateInUse) return error;
  const dir = of.state ?? stateNamedIn(of.file);
  const found = dir === null ? null : await lookInto(dir, clock).catch(() => null);
  if (dir === null || found === null || found.orders.length === 0 || (found.owner?.venue ?? null) === null)
    return error;
  const { orders } = found;
  const configFile = of.state === undefined && isOwnerOf(of.file, found.owner) ? of.file : undefined;
  const more = orders.length > NAMED_MAX ? [`and ${orders.length - NAMED_MAX} more`] : [];
  return new UsageError(
    [
      sentenceOf(error),
      `according to the state in ${dir}, ${counted(orders.length, 'order')} of an earlier run may still be open at the exchange:`,
      ...[...rowsOf(dir, orders.slice(0, NAMED_MAX)), ...more].map(row => `  ${row}`),
      `fix the error and start again, which cancels the orders; or ${cancelCommand({ configFile, stateDir: dir })}`,
    ],
    EXIT.leftOrders,
  );
}

/**
 * Whether a command with this file would cancel the orders: the file must be valid, and name the bot that owns the
 * state.
 */
function isOwnerOf(file: string, owner: Owner | null): boolean {
  try {
    const { exchange, book, instance } = readConfig(file);
    const venue = exchange.kind === 'remote' ? venueNamed(exchange.venue).restUrl(exchange.restUrl) : null;
    return venue === owner?.venue && book === owner.book && instance === owner.instance;
  } catch {
    return false;
  }
}

/** Returns the state directory that a possibly invalid file names; `null` if the file does not exist. */
function stateNamedIn(file: string): string | null {
  if (!existsSync(file)) return null;
  let named: unknown;
  try {
    named = parseDocument(readRegularFile(file, TEXT_FILE)).getIn(['state', 'dir']);
  } catch {
    // The text is not YAML, so the default directory is used.
  }
  return resolve(dirname(resolve(file)), typeof named === 'string' && named !== '' ? named : './state');
}

function rowsOf(dir: string, orders: readonly LiveOrder[]): string[] {
  const instruments = instrumentsOf(dir);
  return orders.map(({ id, side, price, amount, symbol }) => {
    const instrument = symbol === undefined ? instruments[0] : instruments.find(one => one.symbol === symbol);
    return instrument === undefined
      ? `${id} ${side}`
      : `${id} ${side} ${textOfAmount(instrument, amount)} ${instrument.major} at ${textOfPrice(instrument, price)}`;
  });
}

/** Returns the instruments of the last recorded run, from the rules that it read; empty if there is no readable run. */
function instrumentsOf(dir: string): readonly Instrument[] {
  try {
    const last = recordingsIn(dir).at(-1);
    const setup = last && recordedRunOf(dir, last.run)?.setup;
    if (last === undefined || setup === undefined) return [];
    return firstRulesOfBooks(dir, last.run, booksOf(recordedConfig(setup)).length).map(({ instrument }) => instrument);
  } catch {
    return [];
  }
}

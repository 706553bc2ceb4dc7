/**
 * State that the next run of a bot would continue, for a preview: ledger, amounts in transit, open hedges, and trades
 * since the last checkpoint. Changes nothing on disk.
 */
import {
  bookOutCommand,
  pairOf,
  placeInName,
  sumOfCauses,
  textOfError,
  textOfMoney,
  tickerInName,
  TRANSIT,
  type Clock,
  type Engine,
  type EngineEvent,
  type Instrument,
  type Millis,
} from '../../core/index.ts';
import type { Config } from '../../config.ts';
import { conversionOf, mayStillExecute } from '../../hedge/index.ts';
import type { Log } from '../../live/log.ts';
import { CannotStart } from '../../live/loop/opening.ts';
import { ElsewhereTransfers } from '../../live/loop/elsewhereTransfers.ts';
import { NumberedMailbox } from '../../live/mailbox/mailbox.ts';
import { leftoversOf, type Leftovers } from '../../live/state/journal.ts';
import { inUnitsOf } from '../../live/state/unitConversion.ts';
import type { VenueAccess } from '../../wiring/bot.ts';
import { accountName } from '../../wiring/elsewhere/access.ts';
import { elsewhereNameOf } from '../../wiring/elsewhereHedging.ts';
import { ownerOf } from '../run/ownState.ts';

/** State of this bot; `null` if a run would open a new ledger. `unreadable` is the error if the state cannot be read. */
export type StoredState = Leftovers | { readonly unreadable: string } | null;

/** Reads the state that a run with this configuration and this access would continue. Never rejects. */
export async function storedStateOf(config: Config, venue: VenueAccess, clock: Clock): Promise<StoredState> {
  try {
    const owned = { owner: ownerOf(config, venue), account: accountName(venue) };
    const left = await leftoversOf(config.state.dir, clock, owned);
    return left === null || left.ledger === null ? null : left;
  } catch (error) {
    return { unreadable: textOfError(error) };
  }
}

/** Amount that a run counts, such as `0.03 btc in transit`, with the remedy as a clause. */
export type Uncounted = { readonly text: string; readonly remedy: string };

/**
 * Returns the amounts of base currency in the ledger that a run counts as held but that are on no exchange that was
 * read. If the state is unreadable, returns one text that says this.
 */
export function uncountedIn({ state, book, elsewhere, hedge }: Config, stored: StoredState): readonly Uncounted[] {
  if (stored === null) return [];
  if ('unreadable' in stored) {
    const text = `any amounts on other exchanges (the ledger of ${state.dir} is unreadable: ${stored.unreadable})`;
    return [{ text, remedy: 'run puntas doctor again' }];
  }
  const own = hedge?.elsewhere === undefined || elsewhere === undefined ? null : elsewhereNameOf(elsewhere);
  return [...(stored.ledger?.causes ?? [])].flatMap(([name, causes]) => {
    const [currency, place, amount] = [tickerInName(name), placeInName(name), sumOfCauses(causes)];
    if (place === null || amount === 0n || currency !== pairOf(book)[0]) return [];
    const text = `${textOfMoney(amount)} ${currency} ${place === TRANSIT ? 'in transit' : `at ${place}`}`;
    const remedy =
      place === TRANSIT
        ? 'run puntas doctor again after the transfer has arrived'
        : place === own
          ? `run puntas doctor again when the balances at ${place} can be read`
          : `remove from the ledger any amount that is no longer at ${place}, for example with ${bookOutCommand(name, amount)}`;
    return [{ text, remedy }];
  });
}

/** Restores a state in the engine of a preview as a run does, but with no order, because a run cancels all orders. */
export function restoreIn(
  engine: Engine,
  stored: Leftovers,
  instrument: Instrument,
  at: Millis,
  smallestUntil: number,
): void {
  let ledger: Leftovers['ledger'];
  try {
    ({ ledger } = inUnitsOf({ ...stored, orders: [] }, stored.units, instrument));
  } catch (error) {
    if (error instanceof RangeError) throw new CannotStart(error.message);
    throw error;
  }
  engine.step({ kind: 'restore', at, orders: [], ledger, smallestUntil });
  for (const row of stored.hedges)
    if (mayStillExecute(row) && row.offer !== null && row.offer.way !== 'book') {
      const of = { at, phase: 'in flight', conversion: conversionOf(row) } as const;
      if (row.offer.way !== 'elsewhere') engine.step({ kind: 'conversion', ...of });
      else if (engine.elsewhere !== null) engine.step({ kind: 'elsewhere', ...of });
    }
}

type Driver = { readonly clock: Clock; readonly log: Log; readonly time: () => Millis };

/** Returns the transfers between both exchanges in the engine of a preview; `null` if the bot has one exchange. */
function transfersBetween(
  engine: Engine,
  { elsewhere }: Pick<Config, 'elsewhere'>,
  driver: Driver,
): ElsewhereTransfers | null {
  if (elsewhere === undefined || engine.elsewhere === null) return null;
  const run = { ...driver, step: (event: EngineEvent) => void engine.step(event) };
  // The own exchange counts as one without transfer lists: a run finds the arrival in the list, and books the same.
  return new ElsewhereTransfers({
    ...{ run, engine, hasLists: false, place: elsewhereNameOf(elsewhere), currencies: pairOf(elsewhere.book) },
  });
}

/** Books the adjustments of the operator that wait for the next run, in the engine only. */
export function bookWaiting(engine: Engine, config: Config, driver: Driver): void {
  const transfers = transfersBetween(engine, config, driver);
  for (const request of new NumberedMailbox(config.state.dir, 'adjust').waiting()) {
    const { id, at: occurredAt, currency, amount, reason, by, inTransit = false } = request;
    // A run books the first kind later, and rejects the second.
    if (transfers?.isUnread(currency) === true) continue;
    if (inTransit && transfers?.isTransferable(currency) !== true) continue;
    engine.step({
      ...{ kind: 'transfer', at: driver.time(), source: `adjust ${id}`, cause: 'adjustments', currency, amount },
      ...{ occurredAt, why: `${by}: ${reason}`, ...(inTransit ? { inTransit: true } : {}) },
    });
  }
}

/**
 * Books the arrivals that complete a transfer between both exchanges, and compares the balances with the ledger again
 * if it booked any. `balances`: the events of both exchanges, which the engine has applied.
 */
export function bookArrivals(
  engine: Engine,
  config: Pick<Config, 'elsewhere'>,
  balances: readonly Extract<EngineEvent, { kind: 'balances' }>[],
  driver: Driver,
): void {
  const before = engine.ledgerVersion;
  transfersBetween(engine, config, driver)?.bookCompleted();
  if (engine.ledgerVersion !== before) for (const event of balances) engine.step({ ...event, at: driver.time() });
}

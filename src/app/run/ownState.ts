/** Opening of a run's state. The state must belong to this bot; another key of the same account is accepted. */
import type { Config } from '../../config.ts';
import type { Outcome, VenueClient } from '../../core/index.ts';
import { CannotStart, mayPassLater } from '../../live/loop/opening.ts';
import { recordingLimits } from '../../live/recording/recordings.ts';
import { DamagedState, openJournal, type Journal } from '../../live/state/journal.ts';
import { OtherKey, type AccountEvidence, type Owner } from '../../live/state/owner.ts';
import { claimState } from '../../live/state/paperMark.ts';
import { clientOf, type VenueAccess } from '../../wiring/bot.ts';
import { accountName, fingerprintOf } from '../../wiring/elsewhere/access.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { sentenceOf } from '../../messages/exits.ts';
import type { RunOptions } from './runOptions.ts';

/**
 * Opens the state of a bot. Rejects with one line for the operator if the state belongs to another bot, or if a
 * permission is missing.
 */
export async function openOwnState({ config, venue, clock, seed }: RunOptions): Promise<Journal | DamagedState> {
  // A state is restored only if the account name, which the first key gave, is unchanged.
  const account = accountName(venue);
  const setup = JSON.stringify(config);
  const { recordings } = recordingLimits(config.journal);
  const owner = ownerOf(config, venue);
  const open = (told: { readonly client?: string }) =>
    openState(() => {
      claimState(config.state.dir, venue.paper !== undefined);
      const earlierBytesMax = recordings;
      return openJournal(config.state.dir, { account, owner, ...told, at: clock.now(), setup, earlierBytesMax });
    });
  let opened = open({});
  if (opened instanceof OtherKey) {
    const asked = clientOf(config, venue, clock, seed);
    const client = await verifiedAccountOf(asked, opened, config.book).finally(() => asked.close());
    opened = open({ client });
  }
  if (opened instanceof OtherKey) throw opened;
  return opened;
}

/**
 * Opens a state. Throws if a permission is missing, because the operator must fix it; returns the error of a damaged
 * state.
 */
function openState(open: () => Journal): Journal | DamagedState | OtherKey {
  try {
    return open();
  } catch (error) {
    return error instanceof DamagedState || error instanceof OtherKey
      ? error
      : throwAsUsageError(new Error(sentenceOf(error)), error);
  }
}

/** Throws the error as a `UsageError`, because the operator must fix the configuration. */
export function throwAsUsageError(error: unknown, cause: unknown = error): never {
  const wrong = new UsageError(error instanceof Error ? error.message : String(error));
  wrong.cause = cause;
  throw wrong;
}

/** Returns the owner of a bot's state. */
export const ownerOf = ({ exchange, book, instance }: Config, venue: VenueAccess): Owner => ({
  venue: exchange.kind === 'embedded' ? null : venue.restUrl,
  key: exchange.kind === 'embedded' ? '' : fingerprintOf(venue.key),
  book,
  instance,
});

type AccountReads = Pick<VenueClient, 'limits' | 'account' | 'openOrders'>;

/**
 * Returns the account number with which the state may be opened. Rejects with one line if the key is not proven to be
 * of the same account.
 */
async function verifiedAccountOf(exchange: AccountReads, other: OtherKey, book: string): Promise<string> {
  if (!exchange.account) throw new UsageError(other.message);
  const clientId = answered('read account_status', await exchange.account.id());
  // If the state has an account number, it is compared when the state is opened.
  if (other.known.client !== null || (await isKnownBy(exchange, other.known, book))) return clientId;
  throw new UsageError(
    `${other.message.split(', and ')[0]}, and no data in the state shows that this key (of account ${clientId}) belongs to the same account; start the bot once with the old key. If the old key no longer works, check the old account for orders of the bot${other.known.orders.length === 0 ? '' : ` (${other.known.orders.join(', ')})`}, and give the new key its own state.dir`,
  );
}

/**
 * Whether the account is the account of the state, proven by the newest trade or a live order in the state. A state
 * without trades and orders is accepted, because it cannot harm another account.
 */
async function isKnownBy(exchange: AccountReads, { tid, orders }: AccountEvidence, book: string): Promise<boolean> {
  if (tid === null && orders.length === 0) return true;
  if (tid !== null) {
    const has = await exchange.account?.hasTrade(tid);
    if (has?.kind === 'done' && has.value) return true;
  }
  const live = orders.length === 0 ? null : await exchange.openOrders({ book, limit: exchange.limits.ordersPage });
  return live?.kind === 'done' && live.value.some(({ originId }) => orders.some(id => id === originId));
}

function answered<T>(what: string, outcome: Outcome<T>): T {
  if (outcome.kind === 'done') return outcome.value;
  if (outcome.kind === 'unknown') throw new CannotStart(`cannot ${what}: no answer (${outcome.reason})`, null, true);
  const { code, message, remedy } = outcome;
  const text = `cannot ${what}: the exchange rejected the request (${code}: ${message})`;
  throw new CannotStart(text, code, mayPassLater(outcome), remedy);
}

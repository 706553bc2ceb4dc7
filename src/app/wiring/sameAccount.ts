/** Verification with the exchange that a new API key belongs to the account of a state directory. */
import type { Outcome, VenueClient } from '../../core/index.ts';
import type { AccountEvidence, OtherKey } from '../../live/state/owner.ts';
import { CannotStart } from '../../live/loop/opening.ts';
import { UsageError } from './usageError.ts';

type Asked = Pick<VenueClient, 'limits' | 'account' | 'openOrders'>;

/**
 * Returns the account number for which the state may then be opened. Rejects with one line if the key is not proven to
 * be of the same account.
 */
export async function verifiedAccountOf(exchange: Asked, other: OtherKey, book: string): Promise<string> {
  if (!exchange.account) throw new UsageError(other.message);
  const clientId = answered('read account_status', await exchange.account.id());
  // A number known to the state is compared when it is opened.
  if (other.known.client !== null || (await isKnownBy(exchange, other.known, book))) return clientId;
  throw new UsageError(
    `${other.message.split(', and ')[0]}, and nothing in it shows that this key (of account ${clientId}) is of the same account: start once with the old key if it still works; else look at the old account for orders of the bot${other.known.orders.length === 0 ? '' : ` (${other.known.orders.join(', ')})`}, and give this key its own state.dir`,
  );
}

/** Checks the newest own trade, or a live order. A state with neither cannot harm another account. */
async function isKnownBy(exchange: Asked, { tid, orders }: AccountEvidence, book: string): Promise<boolean> {
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
  throw new CannotStart(`cannot ${what}: the exchange refused (${code}: ${message})`, code, false, remedy);
}

/** Opens the state of a run: this bot's and nobody else's, also after its key was changed for another of the same account. */
import { createHash } from 'node:crypto';
import type { Config } from '../../config.ts';
import type { Outcome, VenueClient } from '../../core/index.ts';
import { CannotStart } from '../../live/loop/opening.ts';
import { DamagedState, openJournal } from '../../live/state/journal.ts';
import type { Journal } from '../../live/state/journal.ts';
import { OtherKey } from '../../live/state/owner.ts';
import type { AccountEvidence, Owner } from '../../live/state/owner.ts';
import { claimState } from '../../live/state/paperMark.ts';
import { clientOf } from '../../wiring/bot.ts';
import type { VenueAccess } from '../../wiring/bot.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { sentenceOf } from '../../messages/exits.ts';
import type { RunOptions } from './runOptions.ts';

/** Rejects with one line for a person where the state is another bot's, or cannot be used for want of a permission. */
export async function openOwnState({ config, venue, clock, seed }: RunOptions): Promise<Journal | DamagedState> {
  const account = accountName(venue);
  const setup = JSON.stringify(config);
  const { recordings } = journalLimits(config);
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

const HOUR_MS = 3_600_000;
const MB = 1_000_000;

/** A recording may become a quarter of all, the last eighth only at no good moment: together they never take more than `keepMb`. */
export function journalLimits({ journal: { rollHours, keepMb } }: Config) {
  const bytes = (keepMb * MB) / 8;
  return { afterMs: rollHours * HOUR_MS, bytes, recordings: 6 * bytes };
}

/** What a folder or a port does not let us do is a person's to mend in the configuration; a damaged state is not. */
function openState(open: () => Journal): Journal | DamagedState | OtherKey {
  try {
    return open();
  } catch (error) {
    return error instanceof DamagedState || error instanceof OtherKey
      ? error
      : misplaced(new Error(sentenceOf(error)), error);
  }
}

/** Throws it as something that a person mends in the configuration. */
export function misplaced(error: unknown, cause: unknown = error): never {
  const wrong = new UsageError(error instanceof Error ? error.message : String(error));
  wrong.cause = cause;
  throw wrong;
}

/** Names an account at its venue without naming its first key: what was left there is only taken up again there. */
const accountName = ({ restUrl, key, born = 0 }: VenueAccess): string => digest(`${restUrl}\n${key}\n${born}`);

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

/** Whose state it is. */
export const ownerOf = ({ exchange, book, instance }: Config, venue: VenueAccess): Owner => ({
  venue: exchange.kind === 'embedded' ? null : venue.restUrl,
  key: exchange.kind === 'embedded' ? '' : digest(venue.key),
  book,
  instance,
});

type AccountReads = Pick<VenueClient, 'limits' | 'account' | 'openOrders'>;

/** The number of the account, for which the state may then be opened. Rejects in one line when the key is not known to be of the same account. */
async function verifiedAccountOf(exchange: AccountReads, other: OtherKey, book: string): Promise<string> {
  if (!exchange.account) throw new UsageError(other.message);
  const clientId = answered('read account_status', await exchange.account.id());
  // What the state knows is compared where it is opened.
  if (other.known.client !== null || (await isKnownBy(exchange, other.known, book))) return clientId;
  throw new UsageError(
    `${other.message.split(', and ')[0]}, and nothing in it shows that this key (of account ${clientId}) belongs to the same account; start once with the old key if it still works; otherwise check the old account for orders of the bot${other.known.orders.length === 0 ? '' : ` (${other.known.orders.join(', ')})`}, and give this key its own state.dir`,
  );
}

/** By the newest own trade, or an order that lives; a state with neither has nothing that another account could be harmed by. */
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
  throw new CannotStart(`cannot ${what}: the exchange refused (${code}: ${message})`, code, false, remedy);
}

/** Opening of a run's state. The state must belong to this bot; another key of the same account is accepted. */
import type { Config } from '../../config.ts';
import {
  describeRow,
  textOfFailure,
  type Outcome,
  type UnreadableRow,
  type VenueClient,
  textOfError,
} from '../../core/index.ts';
import { CannotStart, mayPassLater, repeatIfUnknown, valueOrCannotStart } from '../../live/loop/opening.ts';
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
export async function openOwnState({ config, venue, clock, seed, log }: RunOptions): Promise<Journal | DamagedState> {
  // The state is stored under this name, unless an earlier key has already given the state its name.
  const account = accountName(venue);
  const setup = JSON.stringify(config);
  const { recordings } = recordingLimits(config.journal);
  const owner = ownerOf(config, venue);
  const open = (told: { readonly client?: string }) =>
    openState(() => {
      claimState(config.state.dir, venue.paper !== undefined);
      const earlierBytesMax = recordings;
      const { dir } = config.state;
      const onEndedLedger = () => log.info({ dir }, endedLedgerText(owner));
      return openJournal(dir, { account, owner, ...told, at: clock.now(), setup, earlierBytesMax, onEndedLedger });
    });
  let opened = open({});
  if (opened instanceof OtherKey) {
    const asked = clientOf(config, venue, clock, seed);
    // If the bot has several books, a live order in any of them proves the account.
    const of = config.books === undefined ? { book: config.book } : {};
    try {
      opened = open({ client: await verifiedAccountOf(asked, opened, of) });
    } finally {
      await asked.close();
    }
  }
  if (opened instanceof OtherKey) throw opened;
  return opened;
}

/** Returns the log line for a state with the ledger of an account that ended with its embedded exchange. */
const endedLedgerText = ({ venue, paperAccount }: Owner): string =>
  venue === null && paperAccount === undefined
    ? 'the embedded exchange starts with a new account, because the account of the last run ended with its process; profit and ledger start again; to keep an account over restarts, use puntas run --paper'
    : 'the ledger in this state was of an account on an embedded exchange, which ended with its process; profit and ledger start again with this account';

/**
 * Opens a state. Returns the error if the state is damaged or belongs to another key. Throws every other error as a
 * `UsageError`, because the operator must fix the cause.
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
  const wrong = new UsageError(textOfError(error));
  wrong.cause = cause;
  throw wrong;
}

/** Returns the owner of a bot's state. */
export const ownerOf = ({ exchange, book, instance }: Config, venue: VenueAccess): Owner => ({
  venue: exchange.kind === 'embedded' ? null : venue.restUrl,
  key: exchange.kind === 'embedded' ? '' : fingerprintOf(venue.key),
  book,
  instance,
  ...(venue.paper && {
    paperAccount: { account: accountName(venue), opens: venue.paper.opens, start: venue.paper.start },
  }),
});

type AccountReads = Pick<VenueClient, 'limits' | 'account' | 'openOrders'>;

/**
 * Returns the account number with which the state may be opened. Rejects with one line if nothing proves that the key
 * belongs to the same account. If the only cause is a failed read, rejects with a `CannotStart` that may pass later.
 * `of`: book whose open orders are read; without a book, the open orders of all books.
 */
async function verifiedAccountOf(
  exchange: AccountReads,
  other: OtherKey,
  of: { readonly book?: string },
): Promise<string> {
  if (!exchange.account) throw new UsageError(other.message);
  const { account } = exchange;
  const clientId = valueOrCannotStart('read account_status', await repeatIfUnknown(() => account.id()));
  // If the state has an account number, it is compared when the state is opened.
  if (other.known.client !== null) return clientId;
  const proof = await proofOf(exchange, other.known, of);
  if (proof.kind === 'proven') return clientId;
  const [sameKey] = other.message.split(', and ');
  if (proof.kind === 'unread')
    throw new CannotStart(
      `${sameKey}; Puntas could not check whether the configured key (of account ${clientId}) belongs to the account of this state: ${proof.why}; start the bot again later, or once with the old key`,
      null,
      true,
    );
  const failed = proof.rejected === null ? '' : ` (${proof.rejected})`;
  throw new UsageError(
    `${sameKey}, and no data in the state shows that this key (of account ${clientId}) belongs to the account of this state${failed}; start the bot once with the old key. If the old key no longer works, check the old account for orders of the bot${other.known.orders.length === 0 ? '' : ` (${other.known.orders.join(', ')})`}, and give the new key its own state.dir`,
  );
}

type AccountProof =
  | { readonly kind: 'proven' }
  /**
   * Every read has a final answer, and no answer is a proof. `rejected`: text of the reads that the exchange rejected
   * for good; `null` if it rejected no read.
   */
  | { readonly kind: 'none'; readonly rejected: string | null }
  /** A read failed that may succeed at a later start. */
  | { readonly kind: 'unread'; readonly why: string };

/**
 * Returns whether the account is the account of the state, proven by the newest trade or a live order in the state. A
 * state without trades and orders is accepted, because it cannot harm another account.
 */
async function proofOf(
  exchange: AccountReads,
  { tid, orders }: AccountEvidence,
  of: { readonly book?: string },
): Promise<AccountProof> {
  if (tid === null && orders.length === 0) return { kind: 'proven' };
  const [unread, rejected]: [string[], string[]] = [[], []];
  const failed = (what: string, outcome: Exclude<Outcome<unknown>, { kind: 'done' }>): void => {
    const isOpen = outcome.kind === 'unknown' || mayPassLater(outcome);
    (isOpen ? unread : rejected).push(`${what}: ${textOfFailure(outcome)}`);
  };
  const { account } = exchange;
  if (tid !== null && account) {
    const has = await repeatIfUnknown(() => account.hasTrade(tid));
    if (has.kind !== 'done') failed(`trade ${tid}`, has);
    else if (has.value) return { kind: 'proven' };
  }
  if (orders.length > 0) {
    const live = await repeatIfUnknown(() => exchange.openOrders({ ...of, limit: exchange.limits.ordersPage }));
    if (live.kind !== 'done') failed('open orders', live);
    else {
      const unreadable = live.unreadable ?? [];
      // The order id in a row is proof even if the other fields of the row are unreadable.
      const isOwn = ({ originId }: Pick<UnreadableRow, 'originId'>) => orders.some(id => id === originId);
      if ([...live.value, ...unreadable].some(isOwn)) return { kind: 'proven' };
      const nameless = unreadable.filter(({ originId }) => originId === undefined);
      unread.push(...nameless.map(row => `open orders: ${describeRow(row)}`));
    }
  }
  if (unread.length > 0) return { kind: 'unread', why: unread.join('; ') };
  return { kind: 'none', rejected: rejected.length === 0 ? null : rejected.join('; ') };
}

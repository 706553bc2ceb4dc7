/**
 * Opening of a run's state, which must belong to this bot, also after its key was replaced by another of the same
 * account.
 */
import { createHash } from 'node:crypto';
import type { Config } from '../../config.ts';
import { DamagedState, openJournal } from '../../live/state/journal.ts';
import type { Journal } from '../../live/state/journal.ts';
import { OtherKey } from '../../live/state/owner.ts';
import type { Owner } from '../../live/state/owner.ts';
import { claimState } from '../../live/state/paperMark.ts';
import { clientOf } from '../wiring/bot.ts';
import type { VenueAccess } from '../wiring/bot.ts';
import { UsageError } from '../wiring/usageError.ts';
import { verifiedAccountOf } from '../wiring/sameAccount.ts';
import { sentenceOf } from '../messages/exits.ts';
import type { RunOptions } from './runOptions.ts';

/**
 * Opens the state. Rejects with one line for the operator if it belongs to another bot, or if a permission is missing.
 */
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

/**
 * A recording may take a quarter of the total, its last eighth only if no suitable time for a change of runs comes.
 * Together they never exceed `keepMb`.
 */
export function journalLimits({ journal: { rollHours, keepMb } }: Config) {
  const bytes = (keepMb * MB) / 8;
  return { afterMs: rollHours * HOUR_MS, bytes, recordings: 6 * bytes };
}

/** The operator must fix a denied folder or port in the configuration, but not a damaged state. */
function openState(open: () => Journal): Journal | DamagedState | OtherKey {
  try {
    return open();
  } catch (error) {
    return error instanceof DamagedState || error instanceof OtherKey
      ? error
      : misplaced(new Error(sentenceOf(error)), error);
  }
}

/** Throws the error as one that the operator must fix in the configuration. */
export function misplaced(error: unknown, cause: unknown = error): never {
  const wrong = new UsageError(error instanceof Error ? error.message : String(error));
  wrong.cause = cause;
  throw wrong;
}

/**
 * Returns a name of an account at its exchange, without showing its first key. State is only restored for the same
 * name.
 */
const accountName = ({ restUrl, key, born = 0 }: VenueAccess): string => digest(`${restUrl}\n${key}\n${born}`);

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

/** Returns the owner of a bot's state. */
export const ownerOf = ({ exchange, book, instance }: Config, venue: VenueAccess): Owner => ({
  venue: exchange.kind === 'embedded' ? null : venue.restUrl,
  key: exchange.kind === 'embedded' ? '' : digest(venue.key),
  book,
  instance,
});

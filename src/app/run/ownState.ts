/** Opens the state of a run: this bot's and nobody else's, also after its key was changed for another of the same account. */
import { createHash } from 'node:crypto';
import type { Config } from '../../config.ts';
import { DamagedState, openJournal } from '../../live/state/journal.ts';
import type { Journal } from '../../live/state/journal.ts';
import { OtherKey } from '../../live/state/owner.ts';
import type { Owner } from '../../live/state/owner.ts';
import { claimState } from '../../live/state/paperMark.ts';
import { clientOf } from '../../wiring/bot.ts';
import type { VenueAccess } from '../../wiring/bot.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { verifiedAccountOf } from '../../wiring/sameAccount.ts';
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

/**
 * Real orders on exchanges whose client has traded only with test doubles. They need the key `acceptUntried`, and a
 * recorded trial order of the account.
 */
import { placeInName, type Millis } from '../../core/index.ts';
import type { Config } from '../../config.ts';
import { claimStateDir } from '../../live/files/stateDir.ts';
import { Mailbox, sentenceOfRefusal } from '../../live/mailbox/mailbox.ts';
import type { MailMessage } from '../../live/mailbox/kinds.ts';
import type { Leftovers } from '../../live/state/journal.ts';
import { SMALLEST_UNTIL } from '../../wiring/elsewhereHedging.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { venueNamed } from '../../wiring/venueRegistry.ts';
import { accountName, type ElsewhereAccess } from '../../wiring/elsewhere/access.ts';

type Sections = Pick<Config, 'exchange' | 'elsewhere' | 'hedge'>;
/** Access to the exchanges, as far as it tells accounts apart. `paper` is present in paper trading. */
type Access = Pick<ElsewhereAccess, 'restUrl' | 'key'> & {
  readonly paper?: unknown;
  readonly elsewhere?: ElsewhereAccess | undefined;
};

/** Returns the sections that send real orders to an exchange whose client has traded only with test doubles. */
function untriedSections({ exchange, elsewhere, hedge }: Sections) {
  const sections = { exchange, ...(hedge?.elsewhere && elsewhere ? { elsewhere } : {}) };
  return Object.entries(sections).flatMap(([section, settings]) => {
    if (settings.kind !== 'remote') return [];
    const { name, tried } = venueNamed(settings.venue);
    const isAccepted = settings.acceptUntried === name;
    return tried === undefined ? [] : [{ section: section as 'exchange' | 'elsewhere', name, isAccepted }];
  });
}

/**
 * Rejects real orders on a venue whose client has traded only with test doubles, unless the configuration accepts it.
 * @throws UsageError with the line to add.
 */
export function refuseUntried(config: Sections): void {
  for (const { section, name, isAccepted } of untriedSections(config))
    if (!isAccepted)
      throw new UsageError(
        `${section}.acceptUntried: the client of ${name} has traded only with test doubles, never with ${name} itself; try one order with puntas doctor --order --yes, then add acceptUntried: ${name} to the section ${section}, and start with the smallest amounts`,
      );
}

/** Account that needs a recorded trial order. `account` is a fingerprint of the exchange's address and the API key. */
export type UntriedAccount = {
  readonly section: 'exchange' | 'elsewhere';
  readonly name: string;
  readonly account: string;
};

/** Returns the accounts that need a recorded trial order before a bot sends real orders; empty in paper trading. */
export function untriedAccounts(config: Sections, access: Access): readonly UntriedAccount[] {
  if (access.paper !== undefined) return [];
  return untriedSections(config).flatMap(({ section, name }) => {
    const of = section === 'exchange' ? access : access.elsewhere;
    return of === undefined ? [] : [{ section, name, account: accountName(of) }];
  });
}

/** Returns the number of fills on the bot's own exchange that must reconcile before orders may exceed the smallest size. */
export const smallestUntilOf = (config: Sections, access: Access): number =>
  untriedAccounts(config, access).some(({ section }) => section === 'exchange') ? SMALLEST_UNTIL : 0;

const trialId = ({ name, account }: UntriedAccount): string => `${name}-${account}`;

/** Stores a passed trial order in the state directory, durable on return. `order` describes the order and its result. */
export function recordTrial(dir: string, of: UntriedAccount, order: string, at: Millis): void {
  claimStateDir(dir);
  new Mailbox(dir, 'trial').put({ id: trialId(of), at, exchange: of.name, account: of.account, order });
}

/** Returns the record of a passed trial order; `refused` is the reason why its file cannot be used; `null` if there is none. */
export function recordedTrial(
  dir: string,
  of: UntriedAccount,
): { readonly trial: MailMessage<'trial'> } | { readonly refused: string } | null {
  const found = new Mailbox(dir, 'trial').read(trialId(of));
  if (found === null) return null;
  if (found.refused !== undefined) return { refused: sentenceOfRefusal(found.refused) };
  const { exchange, account } = found.message;
  return exchange === of.name && account === of.account ? { trial: found.message } : null;
}

/**
 * Whether the state has a fill or a hedge of this account. It counts as a trial order, because earlier versions did not
 * record trial orders.
 */
export const hasTraded = ({ ledger, hedges }: Pick<Leftovers, 'ledger' | 'hedges'>, of: UntriedAccount): boolean =>
  of.section === 'exchange'
    ? [...(ledger?.causes ?? [])].some(([currency, { trades }]) => placeInName(currency) === null && trades !== 0n)
    : hedges.some(({ elsewhere, state }) => elsewhere?.account === of.account && state === 'completed');

/** Reason why the bot may not send real orders to an account, as a clause. */
export type MissingTrial = { readonly section: UntriedAccount['section']; readonly why: string };

/**
 * Returns the accounts that need a recorded trial order, have none, and have not traded in this state. `leftovers`:
 * state of the bot; `null` if there is none.
 */
export function missingTrials(
  config: Config,
  access: Access,
  leftovers: Pick<Leftovers, 'ledger' | 'hedges'> | null,
): readonly MissingTrial[] {
  const { dir } = config.state;
  return untriedAccounts(config, access).flatMap(of => {
    const found = recordedTrial(dir, of);
    if ((found !== null && 'trial' in found) || (leftovers !== null && hasTraded(leftovers, of))) return [];
    const why = found === null ? '' : ` (${found.refused})`;
    return [
      {
        section: of.section,
        why: `no passed trial order at ${of.name} with this address and API key is recorded in ${dir}${why}`,
      },
    ];
  });
}

/**
 * Asserts that no recorded trial order is missing.
 * @throws UsageError with `trialCommand`, the command that tries an order.
 */
export function assertTried(config: Config, access: Access, leftovers: Leftovers, trialCommand: string): void {
  const [missing] = missingTrials(config, access, leftovers);
  if (missing === undefined) return;
  throw new UsageError(`${missing.section}: ${missing.why}; run ${trialCommand}, then start again`);
}

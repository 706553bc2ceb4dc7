/** Records of passed trial orders, which real orders on an untried exchange need. */
import type { Config } from '../../config.ts';
import { textOfError, type Clock } from '../../core/index.ts';
import { trialCommand, type WhichBot } from '../../messages/ownCommand.ts';
import type { VenueAccess } from '../../wiring/bot.ts';
import { missingTrials, recordTrial, untriedAccounts, type UntriedAccount } from '../untried/untried.ts';
import { finding, type Finding } from './finding.ts';
import type { StoredState } from './storedState.ts';

const CHECK = 'trial record';

/**
 * Stores the trial orders of a section in the state directory if all of them passed and the exchange is untried.
 * Returns a finding about the record; none if nothing was to be stored. Never throws.
 */
export function recordIfPassed(
  { config, clock }: { readonly config: Config; readonly clock: Clock },
  venue: VenueAccess,
  section: UntriedAccount['section'],
  tried: readonly Finding[],
): readonly Finding[] {
  const of = untriedAccounts(config, venue).find(each => each.section === section);
  if (of === undefined || tried.length === 0 || tried.some(({ result }) => result !== 'pass')) return [];
  const { dir } = config.state;
  try {
    recordTrial(dir, of, tried.map(({ says }) => says).join('; '), clock.now());
    return [finding.pass(CHECK, `the trial order at ${of.name} is recorded in ${dir}`)];
  } catch (error) {
    const todo = 'fix the cause, then run puntas doctor --order --yes again';
    return [finding.fail(CHECK, `the trial order at ${of.name} could not be recorded: ${textOfError(error)}`, todo)];
  }
}

/** Returns a finding for each recorded trial order without which the bot would not start. */
export const trialRecordFindings = (
  config: Config,
  venue: VenueAccess,
  which: WhichBot,
  stored: StoredState,
): readonly Finding[] =>
  missingRecords(config, venue, stored).map(({ section, why }) =>
    finding.fail(CHECK, `${section}: the bot would not start, because ${why}`, `run ${trialCommand(which)}`),
  );

/** Returns the missing records of trial orders. `stored`: state of the bot. */
export const missingRecords = (config: Config, venue: VenueAccess, stored: StoredState) =>
  missingTrials(config, venue, stored === null || 'unreadable' in stored ? null : stored);

/** Check that the bot's exchange and the other exchange are two accounts. Hedges of one account would count twice. */
import type { VenueClient } from '../../core/index.ts';
import type { Config } from '../../config.ts';
import { CannotStart } from '../../live/loop/opening.ts';
import type { VenueAccess } from '../bot.ts';
import { UsageError } from '../usageError.ts';
import { venueNamed, venueOf } from '../venueRegistry.ts';

type AccountClient = Pick<VenueClient, 'account'>;
type OneAccount = {
  readonly text: string;
  /** Whether the accounts may differ, because an account number could not be read. */
  readonly mayPass: boolean;
};

const REMEDY =
  'every hedge would count twice; set PUNTAS_ELSEWHERE_API_KEY and PUNTAS_ELSEWHERE_API_SECRET to a key of another account, or remove hedge.elsewhere';

/**
 * Returns why both exchanges are one account, or cannot be told apart; `null` if they are two accounts. `home` and
 * `there` are clients of the two accounts, which are asked only at one venue with different keys.
 */
export async function oneAccountProblem(
  config: Config,
  { key, elsewhere }: Pick<VenueAccess, 'key' | 'elsewhere'>,
  home: AccountClient,
  there: AccountClient | undefined,
): Promise<OneAccount | null> {
  if (elsewhere === undefined) return null;
  const { name } = venueOf(config);
  if (venueNamed(elsewhere.venue).name !== name) return null;
  if (elsewhere.key === key)
    return {
      text: `elsewhere: the key is the key of exchange, found one account at ${name}; ${REMEDY}`,
      mayPass: false,
    };
  if (home.account === undefined || there?.account === undefined) return null;
  const [own, other] = [await home.account.id(), await there.account.id()];
  for (const [section, read] of Object.entries({ exchange: own, elsewhere: other })) {
    if (read.kind === 'done') continue;
    const why = read.kind === 'refused' ? `${read.code}: ${read.message}` : read.reason;
    return {
      text: `elsewhere: cannot prove that exchange and elsewhere are two accounts at ${name}, because the account number of ${section} was not read (${why}); check that the keys may read the account`,
      mayPass: read.kind === 'unknown',
    };
  }
  if (own.kind !== 'done' || other.kind !== 'done' || own.value !== other.value) return null;
  return {
    text: `elsewhere: the key is of account ${other.value} of ${name}, which is the account of exchange; ${REMEDY}`,
    mayPass: false,
  };
}

/** Throws the problem if the configuration hedges on the other exchange. */
export function assertTwoAccounts({ hedge }: Config, problem: OneAccount | null): void {
  if (problem === null || hedge?.elsewhere === undefined) return;
  throw problem.mayPass ? new CannotStart(problem.text, null, true) : new UsageError(problem.text);
}

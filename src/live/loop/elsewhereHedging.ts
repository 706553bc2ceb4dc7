/** The other exchange, on which a run hedges, and the hedges there with which a run continues. */
import {
  bookOutCommand,
  isAtPlace,
  money,
  sumOfCauses,
  textOfMoney,
  TRANSIT,
  type HedgeRow,
  type Millis,
  type PlacedOrder,
  type VenueClient,
} from '../../core/index.ts';
import { mayStillExecute, type ElsewhereHedging } from '../../hedge/index.ts';
import { CannotStart } from './opening.ts';
import type { MailMessage } from '../mailbox/kinds.ts';
import type { Leftovers } from '../state/journal.ts';
import { settledWhy } from '../state/settlements.ts';
import type { ElsewhereRules } from './elsewhereRules.ts';

/** The other exchange, for all runs of a process. */
export type LiveElsewhereHedging = ElsewhereHedging & { readonly client: VenueClient; readonly rules: ElsewhereRules };

/** Returns the hedge on another exchange whose outcome is not proven, as text; `undefined` if there is none. */
export function openHedgeElsewhere(rows: readonly HedgeRow[]): string | undefined {
  const open = openElsewhere(rows);
  return open && `hedge ${open.id} (order ${open.elsewhere.order.id} at ${open.elsewhere.place})`;
}

const NONE = money(0n);

const openElsewhere = (rows: readonly HedgeRow[]) =>
  rows.find(
    (row): row is HedgeRow & Required<Pick<HedgeRow, 'elsewhere'>> =>
      row.elsewhere !== undefined && mayStillExecute(row),
  );

/**
 * Once this time has passed since a hedge was accepted, the operator's statement that it failed needs no look-ups. The
 * time is longer than the longest delay with which any of the exchanges executes or lists a request.
 */
export const SETTLED_AFTER_MS: Millis = 600_000;

/**
 * Returns the hedges with which a run continues. An open hedge on another exchange must be looked up in its own
 * account, because a look-up in another account would wrongly show that it was never executed. If this configuration
 * has another account, the hedge ends only if the operator has settled it as failed; `settled` then has its row.
 * `place` is `undefined` if the bot does not hedge on another exchange.
 * @throws CannotStart with the remedy.
 */
export function hedgesToContinue(
  { hedges }: Leftovers,
  place: AccountOfOrders | undefined,
  settlements: readonly MailMessage<'settle'>[],
  at: Millis,
): { readonly hedges: readonly HedgeRow[]; readonly settled: readonly HedgeRow[] } {
  const open = openElsewhere(hedges);
  const unlike = open === undefined ? null : otherAccount(open.elsewhere, place);
  if (open === undefined || unlike === null) return { hedges, settled: [] };
  const { place: name, order } = open.elsewhere;
  const text = `hedge ${open.id} in the book ${order.book} at ${name} has no known outcome, but ${unlike} until the hedge has ended`;
  const said = settlements.find(({ id, as }) => id === open.id && as === 'failed');
  if (said === undefined)
    throw new CannotStart(`${text}, or settle the hedge with puntas hedges settle ${open.id} --as failed`);
  const dueAt = (open.acceptedAt ?? at) + SETTLED_AFTER_MS;
  if (!(at >= dueAt))
    throw new CannotStart(
      `${text}; the outcome stated with puntas hedges settle takes effect at ${new Date(dueAt).toISOString()}; start the bot again then`,
      null,
      true,
    );
  const row: HedgeRow = { ...open, state: 'failed', why: settledWhy(said) };
  return { hedges: hedges.map(each => (each === open ? row : each)), settled: [row] };
}

/** Returns how the configuration differs from the account of an order, with the remedy; `null` if it does not. */
function otherAccount({ place: name, account, order }: PlacedOrder, place: AccountOfOrders | undefined): string | null {
  if (place === undefined)
    return 'this configuration has no hedges on another exchange; restore the sections elsewhere and hedge.elsewhere';
  if (place.name !== name || place.rules.book !== order.book)
    return `the section elsewhere has the book ${place.rules.book} at ${place.name}; restore the former book and exchange`;
  if (place.account === account) return null;
  return 'the section elsewhere has another address or API key; restore the former address and key';
}

/** Account and book in which orders of a run are looked up. */
type AccountOfOrders = Pick<LiveElsewhereHedging, 'name' | 'account'> & {
  readonly rules: Pick<ElsewhereRules, 'book'>;
};

/**
 * Returns the amounts of the ledger at exchanges other than `place`, as text with the remedy; `null` if there are none.
 */
export function heldLeftElsewhere({ ledger }: Leftovers, place: string | null): string | null {
  const held = [...(ledger?.causes ?? [])].flatMap(([currency, causes]) => {
    const isKept =
      currency.includes('@') && (place === null || ![place, TRANSIT].some(known => isAtPlace(currency, known)));
    const sum = isKept ? sumOfCauses(causes) : NONE;
    return sum === 0n ? [] : [{ currency, sum }];
  });
  const [first] = held;
  if (first === undefined) return null;
  const all = held.map(({ currency, sum }) => `${textOfMoney(sum)} ${currency}`).join(', ');
  return `the ledger also has ${all}, in accounts whose balances this bot does not read; base currency in these accounts still counts as holdings. Book out each amount that is no longer in its account, for example: ${bookOutCommand(first.currency, first.sum)}${place === null ? '' : ' (add --in-transit only if you sent the amount to an exchange that this bot reads and the first balances read there did not include the amount)'}`;
}

/**
 * Returns, as text, the adjustments that an older Puntas wrote to the entries but not to the sums of the ledger, and
 * that the sums now include; `null` if there are none.
 */
export function addedText({ added = new Map() }: Pick<Leftovers, 'added'>): string | null {
  if (added.size === 0) return null;
  const all = [...added].map(([currency, amount]) => `${textOfMoney(amount)} ${currency}`).join(', ');
  return `the ledger has entries for adjustments of ${all} that an older version of Puntas did not add to the sums of the ledger; the sums now include these adjustments`;
}

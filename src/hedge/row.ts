/** What a hedge's state means for those who carry it on, and its comparison as text. */
import { moneyOf, textOfMoney } from '../core/index.ts';
import type { Conversion, HedgeDecision, HedgeRow } from '../core/index.ts';
import { secondId } from './routes.ts';

export type { HedgeRow };

/** Nothing carries it on any more; stranded is over too, though a person must see to it. */
export const isOver = ({ state }: HedgeRow): boolean =>
  state === 'completed' || state === 'failed' || state === 'stranded';
/** Its acceptance may have left: from here on it counts both ways. */
export const mayMove = ({ state }: HedgeRow): boolean =>
  state === 'accepted' || state === 'executing' || state === 'unknown';

/** What its offer, or the leg of its route that is under way, exchanges. Throws when it has no offer yet. */
export function conversionOf({ id, offer, route }: HedgeRow): Conversion {
  if (offer === null) throw new Error(`hedge ${id} has no offer`);
  const { give, get } = offer;
  return {
    id: route?.leg === 2 ? secondId(id) : id,
    give: { currency: give.currency, amount: moneyOf(give.amount) },
    get: { currency: get.currency, amount: moneyOf(get.amount) },
    ...(route ? { worth: moneyOf(route.worth) } : {}),
  };
}

/** Its end, in a sentence. */
export function toldOf({ id, state, why, offer }: HedgeRow, conversion?: Conversion): string {
  if (state === 'stranded') return `hedge ${id} is stranded: ${why}`;
  if (state === 'failed') return `hedge ${id} was not carried out: ${why}`;
  if (conversion === undefined)
    return `hedge ${id}: taken from the book by ${offer?.id}${why === null ? '' : ` (${why})`}`;
  const { give, get } = conversion;
  return `hedge ${id}: ${textOfMoney(give.amount)} ${give.currency} became ${textOfMoney(get.amount)} ${get.currency}`;
}

/** Costs become decimal text of the minor currency, below zero when the way earns; bps stay as they are. */
export const weighedText = ({ weighed }: HedgeDecision): HedgeRow['weighed'] =>
  weighed.map(({ way, cost, bps, not }) => ({ way, cost: cost === null ? null : textOfMoney(cost), bps, not }));

/** The comparison in one line. */
export const explained = (weighed: HedgeRow['weighed']): string =>
  weighed
    .map(({ way, bps, not }) =>
      `${way} ${bps === null ? '' : `${bps.toFixed(1)} bps`}${not === null ? ' (taken)' : ` (${not})`}`.replace(
        '  ',
        ' ',
      ),
    )
    .join(', ');

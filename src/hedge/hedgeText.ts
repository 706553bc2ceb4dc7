/** States of a hedge, its conversion, and its texts for the log. */
import { moneyOf, textOfMoney, type Conversion, type HedgeDecision, type HedgeRow } from '../core/index.ts';
import { secondId } from './thirdCurrencyRoutes.ts';

export type { HedgeRow };

/** Whether the hedge has ended. A stranded hedge has ended, although the operator must act. */
export const isOver = ({ state }: HedgeRow): boolean =>
  state === 'completed' || state === 'failed' || state === 'stranded';
/**
 * Whether the hedge may still execute, because its acceptance may have been sent. In this case, limits count both
 * possible outcomes.
 */
export const mayStillExecute = ({ state }: HedgeRow): boolean =>
  state === 'accepted' || state === 'executing' || state === 'unknown';

/**
 * Returns the conversion of the hedge's offer, or of the active leg of its route. Throws if the hedge has no offer yet.
 */
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

/** Returns one sentence for the log that states the result of a hedge. */
export function describeHedge({ id, state, why, offer }: HedgeRow, conversion?: Conversion): string {
  if (state === 'stranded') return `hedge ${id} is stranded: ${why}`;
  if (state === 'failed') return `hedge ${id} was not executed: ${why}`;
  if (conversion === undefined)
    return `hedge ${id}: filled ${offer?.way === 'elsewhere' ? 'on the other exchange' : "in the bot's book"} by order ${offer?.id}${why === null ? '' : ` (${why})`}`;
  const { give, get } = conversion;
  return `hedge ${id}: converted ${textOfMoney(give.amount)} ${give.currency} to ${textOfMoney(get.amount)} ${get.currency}`;
}

/**
 * Converts the comparison of routes to text. Costs become decimals of the quote currency, negative for a gain; bps
 * remain numbers.
 */
export const comparisonRows = ({ compared }: HedgeDecision): HedgeRow['weighed'] =>
  compared.map(({ way, cost, bps, rejectedReason }) => ({
    way,
    cost: cost === null ? null : textOfMoney(cost),
    bps,
    not: rejectedReason,
  }));

/** Formats the comparison of routes in one line. */
export const hedgeComparisonText = (weighed: HedgeRow['weighed']): string =>
  weighed
    .map(({ way, bps, not }) =>
      `${way} ${bps === null ? '' : `${bps.toFixed(1)} bps`}${not === null ? ' (taken)' : ` (${not})`}`.replace(
        '  ',
        ' ',
      ),
    )
    .join(', ');

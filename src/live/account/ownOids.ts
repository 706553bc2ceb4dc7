/** Ids that the exchange gave to the bot's orders (oids), from an event. */
import type { EngineEvent } from '../../core/index.ts';

export type OurOid = { readonly oid: string; readonly id?: string };

/**
 * Returns the oids in an event that belong to the bot, with their origin ids if present. Cancels use origin ids, so
 * every oid in their answer belongs to the bot.
 */
export function oursIn(event: EngineEvent, prefix: string): readonly OurOid[] {
  if (event.kind === 'open orders') return withOurPrefix(event.orders, prefix);
  if (event.kind === 'trades') return withOurPrefix(event.trades, prefix);
  if (event.kind !== 'placed' && event.kind !== 'canceled' && event.kind !== 'looked up') return [];
  if (event.outcome.kind !== 'done') return [];
  if (event.kind === 'looked up') return withOurPrefix(event.outcome.value, prefix);
  if (event.kind === 'placed') return [{ oid: event.outcome.value.oid, id: event.id }];
  return event.outcome.value.map(oid => ({ oid }));
}

const withOurPrefix = (
  rows: readonly { readonly oid: string; readonly originId?: string }[],
  prefix: string,
): readonly OurOid[] =>
  rows.flatMap(({ oid, originId }) => (originId?.startsWith(prefix) ? [{ oid, id: originId }] : []));

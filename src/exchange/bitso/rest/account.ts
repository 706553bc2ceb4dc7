/** Account endpoints: balances, fees and account status. */
import * as replies from '../wire/accountReplies.ts';
import type { BitsoAsk, BitsoRequest } from '../wire/protocol.ts';

export type AccountEndpoints = ReturnType<typeof account>;

/**
 * Returns the endpoints that read the account (rest-api 4.5, 4.9, public-facts 9.1). Sums are decimal text; maker and
 * taker rates are fractions.
 */
export function account(ask: BitsoAsk) {
  return {
    balances: () => ask(reading('balance', replies.balanceList)),
    /** Requests the account's maker and taker fee rates for each book. */
    fees: () => ask(reading('fees', (payload, unreadable) => replies.fees(payload, unreadable).books)),
    /** Requests the account's fee rates for each book, and the fees of deposits and withdrawals. */
    feeSchedule: () => ask(reading('fees', replies.fees)),
    accountStatus: () => ask(reading('account_status', replies.accountStatus)),
  };
}

const reading = <T>(name: string, read: BitsoRequest<T>['read']): BitsoRequest<T> => ({
  endpoint: `GET ${name}`,
  lane: 'private read',
  method: 'GET',
  path: `/v3/${name}`,
  effect: 'read',
  envelope: 'payload',
  read,
});
